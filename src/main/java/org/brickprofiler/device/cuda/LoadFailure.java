package org.brickprofiler.device.cuda;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds out why JCuda could not be loaded. Its error holds the stack traces of two attempts as one text; a later error
 * for the same reason holds the first one as its cause.
 */
final class LoadFailure {

    private static final String ERROR = "java.lang.UnsatisfiedLinkError: ";

    private LoadFailure() {}

    /** The reason in words, on one line. */
    static String reason(Throwable failure) {
        List<String> errors = new ArrayList<>();
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String.valueOf(cause.getMessage())
                    .lines()
                    .filter(line -> line.contains(ERROR))
                    .map(line -> line.substring(line.lastIndexOf(ERROR) + ERROR.length()))
                    .filter(line -> !line.startsWith("Error while loading"))
                    .forEach(errors::add);
        }
        for (String error : errors) {
            if (error.contains("libcuda.so")) {
                return "the NVIDIA driver's library cannot be loaded: " + error;
            }
        }
        if (!errors.isEmpty()) {
            return "JCuda's native library cannot be loaded: " + errors.get(0);
        }
        return "JCuda cannot be loaded: " + failure;
    }
}
