package org.brickprofiler.device.cuda;

import java.util.HashMap;
import java.util.Map;
import jcuda.CudaException;
import jcuda.driver.CUresult;

/**
 * Names of the driver's error codes, and their meaning for a thread that marks. Those of a loss are the ones of which
 * the driver's documentation says that the process, the context or the stream cannot be used any more, as of CUDA 13.1;
 * what only says that a call did not work (such as 701, a launch that asks for too much, or 999, an unknown error) may
 * pass.
 */
final class CudaErrors {

    /** What gives marks of a capture their times. */
    private static final String WITHOUT_SCOPE = " outside of a scope of CudaStream.capture()";

    /** Instead of a code: an exception without one. */
    static final int UNKNOWN = CUresult.CUDA_ERROR_UNKNOWN;

    // Of later drivers than JCuda knows.
    private static final int CUDA_ERROR_CONTAINED = 226;
    private static final int CUDA_ERROR_TENSOR_MEMORY_LEAK = 721;
    private static final int CUDA_ERROR_STREAM_DETACHED = 917;

    private CudaErrors() {}

    /**
     * Returns whether nothing works any more in the stream or the context where a call answered this, or in the
     * process.
     */
    static boolean isLoss(int code) {
        return switch (code) {
            case CUresult.CUDA_ERROR_DEINITIALIZED,
                    CUresult.CUDA_ERROR_ECC_UNCORRECTABLE,
                    CUresult.CUDA_ERROR_NVLINK_UNCORRECTABLE,
                    CUDA_ERROR_CONTAINED,
                    CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,
                    CUresult.CUDA_ERROR_LAUNCH_TIMEOUT,
                    CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED,
                    CUresult.CUDA_ERROR_ASSERT,
                    CUresult.CUDA_ERROR_HARDWARE_STACK_ERROR,
                    CUresult.CUDA_ERROR_ILLEGAL_INSTRUCTION,
                    CUresult.CUDA_ERROR_MISALIGNED_ADDRESS,
                    CUresult.CUDA_ERROR_INVALID_ADDRESS_SPACE,
                    CUresult.CUDA_ERROR_INVALID_PC,
                    CUresult.CUDA_ERROR_LAUNCH_FAILED,
                    CUDA_ERROR_TENSOR_MEMORY_LEAK,
                    CUresult.CUDA_ERROR_MPS_CLIENT_TERMINATED,
                    CUresult.CUDA_ERROR_EXTERNAL_DEVICE,
                    CUDA_ERROR_STREAM_DETACHED -> true;
            default -> false;
        };
    }

    /** Names the lost resource. */
    static String loss(int code) {
        return code == CUDA_ERROR_STREAM_DETACHED
                ? "the stream is lost, since its green context was destroyed"
                : "the device is lost";
    }

    /**
     * Explains an error code; empty if its name is clear enough. For an event that was recorded while its stream was
     * captured there is a code of its own, but drivers answer, once the capture is over, as they do for any argument
     * that is not valid.
     */
    static String explain(DriverCall call, int code) {
        return switch (code) {
            case CUresult.CUDA_ERROR_CAPTURED_EVENT ->
                ": set while the stream was captured into a graph, a mark has no time" + WITHOUT_SCOPE;
            case CUresult.CUDA_ERROR_INVALID_VALUE ->
                call.asksForEvents()
                        ? ": so drivers answer for a mark that was set while the stream was captured into a graph, which has no time"
                                + WITHOUT_SCOPE
                        : "";
            case CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ->
                ": a stream that waits for the default one was captured" + " into a graph, which this spoils";
            default -> "";
        };
    }

    /** Returns whether an answer is that for an event which was recorded while its stream was captured. */
    static boolean isCaptured(int code) {
        return code == CUresult.CUDA_ERROR_CAPTURED_EVENT || code == CUresult.CUDA_ERROR_INVALID_VALUE;
    }

    /** Returns whether a call may answer otherwise where another context is current. */
    static boolean isWrongContext(int code) {
        return code == CUresult.CUDA_ERROR_INVALID_CONTEXT || code == CUresult.CUDA_ERROR_INVALID_HANDLE;
    }

    /** Describes the answer of a call, with its number. */
    static String describe(DriverCall call, int code) {
        String name =
                switch (code) {
                    case CUDA_ERROR_CONTAINED -> "CUDA_ERROR_CONTAINED";
                    case CUDA_ERROR_TENSOR_MEMORY_LEAK -> "CUDA_ERROR_TENSOR_MEMORY_LEAK";
                    case CUDA_ERROR_STREAM_DETACHED -> "CUDA_ERROR_STREAM_DETACHED";
                    default -> CUresult.stringFor(code);
                };
        return call.function() + " answered " + name + " (" + code + ")";
    }

    /** Returns the code that JCuda made an exception of. */
    static int codeOf(CudaException exception) {
        String name = exception.getMessage();
        Integer code = name == null ? null : Names.CODES.get(name);
        return code == null ? UNKNOWN : code;
    }

    /** The codes by the messages of JCuda's exceptions, which hold nothing else. */
    private static final class Names {
        private static final int CODES_END = 1_000;
        static final Map<String, Integer> CODES = codes();

        private static Map<String, Integer> codes() {
            Map<String, Integer> codes = new HashMap<>();
            for (int code = 1; code < CODES_END; code++) {
                codes.put(CUresult.stringFor(code), code);
            }
            return Map.copyOf(codes);
        }
    }
}
