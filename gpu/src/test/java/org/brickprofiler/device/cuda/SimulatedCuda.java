package org.brickprofiler.device.cuda;

import com.sun.jna.Callback;
import com.sun.jna.FunctionMapper;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import jcuda.NativePointerObject;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.NativeLibrary;
import org.brickprofiler.testing.SourceTree;
import org.jspecify.annotations.Nullable;

/**
 * Loads and controls the CUDA driver that {@code src/test/native/cuda} simulates: one for the whole virtual machine. It
 * must be loaded before JCuda is first used, which then uses it as its driver.
 *
 * <p>Each native method is the function {@code sim_...} of the same name; it is documented there.
 */
public final class SimulatedCuda {

    /** The simulated driver's library. */
    public static final NativeLibrary DRIVER = driver(Fixture.CUDA, "cc");

    /** Returns the simulated driver's library, built by a compiler for any processor. */
    static NativeLibrary driver(Fixture fixture, String compiler) {
        return new NativeLibrary(
                fixture,
                "libcuda.so.1",
                compiler,
                List.of(SourceTree.path("gpu", "src", "test", "native", "cuda")),
                List.of(
                        "-shared",
                        "-fPIC",
                        "-O2",
                        "-Wall",
                        "-Wextra",
                        "-Werror",
                        "-pthread",
                        "-fvisibility=hidden",
                        "-Wl,-soname,libcuda.so.1"));
    }

    private static boolean loaded;

    private SimulatedCuda() {}

    /** Loads the driver unless it is loaded, and resets it and JCuda. Skips the test if it cannot be built. */
    public static synchronized void start() {
        if (!loaded) {
            load();
            loaded = true;
        }
        try {
            JCudaDriver.setExceptionsEnabled(false);
        } catch (LinkageError e) {
            throw new AssertionError("JCuda was used before the simulated driver was there: start it first", e);
        }
        reset();
    }

    private static void load() {
        String platform = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        if (!platform.equals("Linux amd64")) {
            throw Fixture.CUDA.missing("not built on " + platform);
        }
        bind(DRIVER.load());
    }

    /** Loads a driver that was built before, on a processor that JCuda has no native library for. */
    static synchronized void startWithoutJCuda(Path driver) {
        System.load(driver.toString());
        bind(driver);
        loaded = true;
        reset();
    }

    private static void bind(Path file) {
        FunctionMapper mapper = (library, method) -> "sim_" + underscored(method.getName());
        Native.register(
                SimulatedCuda.class,
                com.sun.jna.NativeLibrary.getInstance(file.toString(), Map.of(Library.OPTION_FUNCTION_MAPPER, mapper)));
    }

    /**
     * Gives an executable graph the nodes of a graph. JCuda does not bind the function.
     *
     * @return the driver's code
     */
    public static int updateExec(CUgraphExec exec, CUgraph graph) {
        return com.sun.jna.NativeLibrary.getInstance(DRIVER.load().toString())
                .getFunction("cuGraphExecUpdate_v2")
                .invokeInt(new Object[] {address(exec), address(graph), Pointer.NULL});
    }

    /** Returns the address of a handle, which JCuda shows as text only. */
    public static long address(NativePointerObject handle) {
        return Long.parseUnsignedLong(handle.toString().replaceAll(".*0x([0-9a-fA-F]+).*", "$1"), 16);
    }

    private static String underscored(String name) {
        return name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }

    /** Returns how often each driver call was made; omits calls that were never made. */
    public static SortedMap<String, Long> counts() {
        SortedMap<String, Long> counts = new TreeMap<>();
        for (String name : names()) {
            long calls = calls(name);
            if (calls > 0) {
                counts.put(name, calls);
            }
        }
        return counts;
    }

    /** Returns the names of all driver calls. */
    public static List<String> names() {
        List<String> names = new ArrayList<>();
        for (int call = 0; call < callCount(); call++) {
            names.add(callName(call));
        }
        return names;
    }

    /** Returns the number of driver calls so far. */
    public static long allCalls() {
        return counts().values().stream().mapToLong(Long::longValue).sum();
    }

    /** Lets the {@code nth} call from now on fail; 1 is the next one. */
    public static void failOnce(String name, long nth, int code) {
        planned(fail(name, nth, code, 0), name);
    }

    /** Lets a call fail from now on. */
    public static void failAlways(String name, int code) {
        planned(fail(name, 1, code, 1), name);
    }

    private static void planned(int known, String name) {
        if (known == 0) {
            throw new IllegalArgumentException("no driver call " + name);
        }
    }

    public static native void reset();

    public static native void useRealClock(int real);

    public static native void advance(long ns);

    public static native long now();

    public static native void hang(int hangs);

    public static native void makeGreen();

    public static native void setDestroysAnywhere(int anywhere);

    public static native void setHiddenDevices(int devices);

    public static native int retains();

    public static native int lastEventFlags();

    /** Returns how often the driver read the device's progress. */
    public static native int deviceReads();

    public static native void setDevices(int devices);

    public static native void setDriverVersion(int version);

    public static native void setKernelNs(long ns);

    public static native void setCosts(long markNs, long launchNs);

    public static native void setCopyNs(long ns);

    /** Runs in place of kernels. The caller must keep a reference to it, because JNA does not. */
    public interface KernelBody extends Callback {
        void invoke(String name, Pointer shape, Pointer parameters);
    }

    public static native void setKernels(@Nullable KernelBody body);

    public static native void loseContexts(int code);

    public static native void setCapturedCode(int code);

    public static native void setKeepsUntilReached(int keeps);

    public static native void setIgnoresExternal(int ignores);

    public static native void setRecordsOnce(int once);

    private static native int fail(String name, long nth, int code, int fromThenOn);

    public static native long calls(String name);

    private static native int callCount();

    private static native String callName(int call);

    public static native int liveContexts();

    public static native int liveStreams();

    public static native int liveEvents();

    public static native long synchronisations();

    public static native long staleHandles();

    public static native long spoiltCaptures();

    public static native long launches();

    public static native long currentContext();

    public static native int contextDepth();

    public static native int captureMode();
}
