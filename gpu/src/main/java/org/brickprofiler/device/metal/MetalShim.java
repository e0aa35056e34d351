package org.brickprofiler.device.metal;

import com.sun.jna.FunctionMapper;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The functions of {@code native/metal-shim/brick_metal.h}, where each is documented: {@code open} is
 * {@code brick_metal_open}. Objects of Metal are addresses, 0 for nil; buffers are direct. {@link #bind} binds the
 * functions by direct mapping, which makes a call much cheaper than through an interface; they must not be called
 * before. Any thread.
 */
final class MetalShim {

    /** The version of the interface that this class declares. */
    static final int VERSION = 3;

    static final int OK = 0;
    static final int PENDING = -9;

    static final int LOST_BUFFERS = 0;
    static final int LOST_DISPATCHES = 1;

    static final int LABEL_BYTES = 64;

    private static final Pattern UPPER_CASE = Pattern.compile("[A-Z]");

    private MetalShim() {}

    /**
     * Binds the shim.
     *
     * @param file the library
     * @param architecture the architecture of this virtual machine
     * @return the reason why it failed; empty if it succeeded
     */
    static Optional<String> bind(Path file, String architecture) {
        try {
            FunctionMapper names = (library, method) -> "brick_metal_" + underscored(method.getName());
            NativeLibrary library = NativeLibrary.getInstance(
                    file.toString(),
                    Map.of(
                            Library.OPTION_FUNCTION_MAPPER,
                            names,
                            Library.OPTION_STRING_ENCODING,
                            StandardCharsets.UTF_8.name()));
            int version = library.getFunction("brick_metal_version").invokeInt(new Object[0]);
            if (version != MetalShim.VERSION) {
                return Optional.of(file + " is version " + version + " of the shim, not " + MetalShim.VERSION);
            }
            Native.register(MetalShim.class, library);
            return Optional.empty();
        } catch (UnsatisfiedLinkError e) {
            // Also thrown for a library of another architecture, which the system's message then reports.
            return Optional.of(
                    file + " cannot be used by this virtual machine (" + architecture + "): " + e.getMessage());
        }
    }

    /** Returns the address of a direct buffer, which is valid while the buffer is reachable. */
    static long address(ByteBuffer direct) {
        return Pointer.nativeValue(Native.getDirectBufferPointer(direct));
    }

    private static String underscored(String method) {
        return UPPER_CASE.matcher(method).replaceAll("_$0").toLowerCase(Locale.ROOT);
    }

    static native int version();

    static native String failure();

    static native int probe(byte[] name, int nameBytes);

    static native long open(long queue, int capacity);

    static native int names(long stream, byte[] queue, int queueBytes, byte[] device, int deviceBytes);

    static native long queue(long stream);

    static native long watch(long stream, long commandBuffer, @Nullable String label);

    static native int forget(long stream, long sequence);

    /** Sets a mark; {@code address} is that of the structure to write. */
    static native int mark(long stream, long address);

    static native int pollFor(long stream, long sequence);

    static native int drain(long stream, @Nullable ByteBuffer buffers, int count);

    static native long lost(long stream, int what);

    static native void close(long stream);

    static native int sampleCounters(long stream, int point, int dispatches);

    static native int samplePass(long stream, long sequence, long pass, String operation);

    static native long beginDispatch(long stream, long sequence, long encoder, String operation);

    static native int endDispatch(long stream, long ticket, long encoder);

    static native int drainDispatches(long stream, @Nullable ByteBuffer dispatches, int count);

    static native int sampleClocks(long stream, @Nullable ByteBuffer moment);
}
