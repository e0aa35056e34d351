package org.brickprofiler.device.metal;

import com.sun.jna.FunctionMapper;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.NativeLibrary;
import org.brickprofiler.testing.SourceTree;
import org.jspecify.annotations.Nullable;

/**
 * Loads and controls the shim over the Metal that {@code src/test/native/metal} simulates: one for the whole virtual
 * machine. It must be started before Metal is first probed.
 *
 * <p>Each native method is the function {@code fake_...} of the same name; it is documented in {@code fake_metal.h}.
 */
public final class SimulatedMetal {

    static final int NIL = 1;
    static final int THROW = 2;
    static final int THROW_OBJECT = 3;

    /** The simulated clock after a reset. */
    static final long BEGIN_NS = 1_000_000_000;

    static final String DEVICE = "Simulated GPU \u00e9";

    private static final Path SHIM = SourceTree.path("native", "metal-shim");
    private static final Path METAL = SourceTree.path("gpu", "src", "test", "native", "metal");

    /** The shim over the simulation, built by the shim's own makefile. */
    static final NativeLibrary LIBRARY = NativeLibrary.ofMake(
            Fixture.METAL,
            "libbrickmetal.so",
            "clang",
            List.of(SHIM, METAL),
            List.of("FAKE=" + METAL.toAbsolutePath()));

    private static @Nullable Path file;

    private SimulatedMetal() {}

    /** Loads the library unless it is loaded, and resets the simulation. Skips the test if it cannot be built. */
    public static synchronized Path start() {
        Path loaded = file;
        if (loaded == null) {
            loaded = load();
            file = loaded;
        }
        reset();
        return loaded;
    }

    private static Path load() {
        Path built = LIBRARY.build();
        System.setProperty("brick.profiler.metal.library", built.toString());
        FunctionMapper mapper = (library, method) ->
                "fake_" + method.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
        Native.register(
                SimulatedMetal.class,
                com.sun.jna.NativeLibrary.getInstance(
                        built.toString(),
                        Map.of(Library.OPTION_FUNCTION_MAPPER, mapper, Library.OPTION_STRING_ENCODING, "UTF-8")));
        return built;
    }

    static native void reset();

    static native void devicePresent(int present);

    static native void supports(int point, int supported);

    static native void fail(String method, int nth, int how);

    static native int faults();

    static native long nowNs();

    static native void advance(long ns);

    static native void runClock();

    static native void samplingTakes(long ns);

    static native void ticks(long origin, long ticks, long ns);

    static native void hang(int hangs);

    static native long waits();

    static native int live();

    static native Pointer queueNew(String label);

    static native Pointer bufferNew(Pointer queue, @Nullable String label);

    static native Pointer passNew();

    static native void release(Pointer object);

    static native void work(Pointer buffer, long ns);

    static native Pointer encoderNew(Pointer buffer, @Nullable Pointer pass);

    static native void encoderWork(Pointer encoder, long ns);

    static native void encoderEnd(Pointer encoder);

    static native void breakBuffer(Pointer buffer, int errorCode);

    static native void commit(Pointer buffer);

    static native int run(int most);

    static native int runElsewhere(int most);

    static native int turnBack(int most, long ns);
}
