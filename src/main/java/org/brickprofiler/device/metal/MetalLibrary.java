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

/**
 * Binds {@link MetalShim} to the library, by direct mapping: a call then costs a fraction of one through an interface.
 * Stateless but for the binding, which is the virtual machine's.
 */
final class MetalLibrary {

    private static final Pattern UPPER_CASE = Pattern.compile("[A-Z]");

    private MetalLibrary() {}

    /**
     * Binds the shim.
     *
     * @param file the library
     * @param architecture what this virtual machine runs on
     * @return why that failed, or empty
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
            // Also what a library for another processor comes to: the system's own words say which.
            return Optional.of(file + " cannot be used by this virtual machine (" + architecture + "): "
                    + e.getMessage());
        }
    }

    /** Where the bytes of a direct buffer are, as long as it is kept. */
    static long address(ByteBuffer direct) {
        return Pointer.nativeValue(Native.getDirectBufferPointer(direct));
    }

    private static String underscored(String method) {
        return UPPER_CASE.matcher(method).replaceAll("_$0").toLowerCase(Locale.ROOT);
    }
}
