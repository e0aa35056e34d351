package org.brickprofiler.device.opencl;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.brickprofiler.internal.base.Log;
import org.jspecify.annotations.Nullable;

/**
 * Failures of one stream. The latest reason is kept, and the first failure of each function is logged. After the loss
 * of the queue, nothing is logged any more, and no function must be called. Any thread.
 */
final class OpenClFailures {

    private static final Log LOG = Log.of(OpenClStream.class);

    /** The answer of NVIDIA's driver after an illegal access by a kernel; its queues run nothing afterwards. */
    private static final int ILLEGAL_ACCESS = -9999;

    private final String stream;

    /** Guarded by this. */
    private final Set<String> logged = new HashSet<>();

    private volatile @Nullable String latest;
    private volatile boolean lost;

    OpenClFailures(String stream) {
        this.stream = stream;
    }

    /** Reports the error code of a function that failed. */
    void report(String function, int code) {
        boolean losesQueue = code == OpenCl.DEVICE_NOT_AVAILABLE
                || code == OpenCl.INVALID_CONTEXT
                || code == OpenCl.INVALID_COMMAND_QUEUE
                || code == ILLEGAL_ACCESS;
        report(function, function + " returned " + describe(code) + (losesQueue ? ": the queue is lost" : ""));
        if (losesQueue) {
            lost = true;
        }
    }

    void report(String function, String reason) {
        boolean first;
        synchronized (this) {
            if (lost) {
                return;
            }
            latest = reason;
            first = logged.add(function);
        }
        if (first) {
            LOG.warn("OpenCL stream '{}': {}. Not logged again", stream, reason);
        }
    }

    boolean isLost() {
        return lost;
    }

    Optional<String> latest() {
        return Optional.ofNullable(latest);
    }

    /** Returns the name of a code in the specification, for those that a stream meets, and its number. */
    static String describe(int code) {
        String name =
                switch (code) {
                    case OpenCl.DEVICE_NOT_FOUND -> "CL_DEVICE_NOT_FOUND ";
                    case OpenCl.DEVICE_NOT_AVAILABLE -> "CL_DEVICE_NOT_AVAILABLE ";
                    case -4 -> "CL_MEM_OBJECT_ALLOCATION_FAILURE ";
                    case -5 -> "CL_OUT_OF_RESOURCES ";
                    case -6 -> "CL_OUT_OF_HOST_MEMORY ";
                    case -7 -> "CL_PROFILING_INFO_NOT_AVAILABLE ";
                    case -14 -> "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ";
                    case -30 -> "CL_INVALID_VALUE ";
                    case OpenCl.INVALID_CONTEXT -> "CL_INVALID_CONTEXT ";
                    case OpenCl.INVALID_COMMAND_QUEUE -> "CL_INVALID_COMMAND_QUEUE ";
                    case -58 -> "CL_INVALID_EVENT ";
                    case OpenCl.INVALID_OPERATION -> "CL_INVALID_OPERATION ";
                    case OpenCl.PLATFORM_NOT_FOUND -> "CL_PLATFORM_NOT_FOUND_KHR ";
                    case ILLEGAL_ACCESS -> "NVIDIA's code for an illegal access by a kernel ";
                    default -> "";
                };
        return name + "(" + code + ")";
    }
}
