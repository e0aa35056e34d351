package org.brickprofiler.device.cuda;

import java.util.Map;
import java.util.stream.Collectors;
import jcuda.driver.CUresult;

/**
 * Names of the driver's error codes, and their meaning for a thread that marks. A code means a loss if the driver's
 * documentation, as of CUDA 13.1, states that the process, the context or the stream cannot be used any more. Codes
 * that only mean that a call failed (such as 701, a launch that asks for too much, or 999, an unknown error) may be
 * temporary.
 */
final class CudaErrors {

    /** The way to time marks of a capture, for messages. */
    private static final String WITHOUT_SCOPE = " outside of a scope of CudaStream.capture()";

    // Codes of drivers that are newer than JCuda.
    private static final int CUDA_ERROR_CONTAINED = 226;
    private static final int CUDA_ERROR_TENSOR_MEMORY_LEAK = 721;
    private static final int CUDA_ERROR_STREAM_DETACHED = 917;

    private CudaErrors() {}

    /** Returns whether a code means that the stream, the context or the process cannot be used any more. */
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

    /** Returns whether a code means that a call is refused because of a capture. */
    static boolean isOfCapture(int code) {
        return code >= CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                && code <= CUresult.CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    }

    /** Names the lost resource. */
    static String loss(int code) {
        return code == CUDA_ERROR_STREAM_DETACHED
                ? "the stream is lost, since its green context was destroyed"
                : "the device is lost";
    }

    /**
     * Explains an error code; empty if its name is clear enough. An event that was recorded while its stream was
     * captured has a code of its own, but after the capture drivers return the code of any invalid argument.
     */
    static String explain(DriverCall call, int code) {
        return switch (code) {
            case CUresult.CUDA_ERROR_CAPTURED_EVENT ->
                ": set while the stream was captured into a graph, a mark has no time" + WITHOUT_SCOPE;
            case CUresult.CUDA_ERROR_INVALID_VALUE ->
                call.asksForEvents()
                        ? ": drivers return this for a mark that was set while the stream was captured into a graph,"
                                + " which has no time" + WITHOUT_SCOPE
                        : "";
            case CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ->
                ": a stream that waits for the default one was captured" + " into a graph, which this spoils";
            default -> "";
        };
    }

    /** Returns whether a code is the answer for an event that was recorded while its stream was captured. */
    static boolean isCaptured(int code) {
        return code == CUresult.CUDA_ERROR_CAPTURED_EVENT || code == CUresult.CUDA_ERROR_INVALID_VALUE;
    }

    /** Returns whether a call may have another answer if another context is current. */
    static boolean isWrongContext(int code) {
        return code == CUresult.CUDA_ERROR_INVALID_CONTEXT || code == CUresult.CUDA_ERROR_INVALID_HANDLE;
    }

    /** Describes the answer of a call, with its number. */
    static String describe(DriverCall call, int code) {
        return call.function() + " returned " + name(code) + " (" + code + ")";
    }

    private static String name(int code) {
        if (code == CUresult.CUDA_SUCCESS) {
            return "CUDA_SUCCESS";
        }
        String name = Names.OF_CODES.get(code);
        return name == null ? "an unknown code" : "CUDA_ERROR_" + name;
    }

    /** The names in the header of CUDA 12.6, and of later codes that mean a loss, without their common prefix. */
    private static final class Names {
        static final Map<Integer, String> OF_CODES = """
            1 INVALID_VALUE
            2 OUT_OF_MEMORY
            3 NOT_INITIALIZED
            4 DEINITIALIZED
            5 PROFILER_DISABLED
            6 PROFILER_NOT_INITIALIZED
            7 PROFILER_ALREADY_STARTED
            8 PROFILER_ALREADY_STOPPED
            34 STUB_LIBRARY
            46 DEVICE_UNAVAILABLE
            100 NO_DEVICE
            101 INVALID_DEVICE
            102 DEVICE_NOT_LICENSED
            200 INVALID_IMAGE
            201 INVALID_CONTEXT
            202 CONTEXT_ALREADY_CURRENT
            205 MAP_FAILED
            206 UNMAP_FAILED
            207 ARRAY_IS_MAPPED
            208 ALREADY_MAPPED
            209 NO_BINARY_FOR_GPU
            210 ALREADY_ACQUIRED
            211 NOT_MAPPED
            212 NOT_MAPPED_AS_ARRAY
            213 NOT_MAPPED_AS_POINTER
            214 ECC_UNCORRECTABLE
            215 UNSUPPORTED_LIMIT
            216 CONTEXT_ALREADY_IN_USE
            217 PEER_ACCESS_UNSUPPORTED
            218 INVALID_PTX
            219 INVALID_GRAPHICS_CONTEXT
            220 NVLINK_UNCORRECTABLE
            221 JIT_COMPILER_NOT_FOUND
            222 UNSUPPORTED_PTX_VERSION
            223 JIT_COMPILATION_DISABLED
            224 UNSUPPORTED_EXEC_AFFINITY
            226 CONTAINED
            300 INVALID_SOURCE
            301 FILE_NOT_FOUND
            302 SHARED_OBJECT_SYMBOL_NOT_FOUND
            303 SHARED_OBJECT_INIT_FAILED
            304 OPERATING_SYSTEM
            400 INVALID_HANDLE
            401 ILLEGAL_STATE
            500 NOT_FOUND
            600 NOT_READY
            700 ILLEGAL_ADDRESS
            701 LAUNCH_OUT_OF_RESOURCES
            702 LAUNCH_TIMEOUT
            703 LAUNCH_INCOMPATIBLE_TEXTURING
            704 PEER_ACCESS_ALREADY_ENABLED
            705 PEER_ACCESS_NOT_ENABLED
            706 PEER_MEMORY_ALREADY_REGISTERED
            707 PEER_MEMORY_NOT_REGISTERED
            708 PRIMARY_CONTEXT_ACTIVE
            709 CONTEXT_IS_DESTROYED
            710 ASSERT
            711 TOO_MANY_PEERS
            712 HOST_MEMORY_ALREADY_REGISTERED
            713 HOST_MEMORY_NOT_REGISTERED
            714 HARDWARE_STACK_ERROR
            715 ILLEGAL_INSTRUCTION
            716 MISALIGNED_ADDRESS
            717 INVALID_ADDRESS_SPACE
            718 INVALID_PC
            719 LAUNCH_FAILED
            720 COOPERATIVE_LAUNCH_TOO_LARGE
            721 TENSOR_MEMORY_LEAK
            800 NOT_PERMITTED
            801 NOT_SUPPORTED
            802 SYSTEM_NOT_READY
            803 SYSTEM_DRIVER_MISMATCH
            804 COMPAT_NOT_SUPPORTED_ON_DEVICE
            805 MPS_CONNECTION_FAILED
            806 MPS_RPC_FAILURE
            807 MPS_SERVER_NOT_READY
            808 MPS_MAX_CLIENTS_REACHED
            809 MPS_MAX_CONNECTIONS_REACHED
            810 MPS_CLIENT_TERMINATED
            811 CDP_NOT_SUPPORTED
            812 CDP_VERSION_MISMATCH
            900 STREAM_CAPTURE_UNSUPPORTED
            901 STREAM_CAPTURE_INVALIDATED
            902 STREAM_CAPTURE_MERGE
            903 STREAM_CAPTURE_UNMATCHED
            904 STREAM_CAPTURE_UNJOINED
            905 STREAM_CAPTURE_ISOLATION
            906 STREAM_CAPTURE_IMPLICIT
            907 CAPTURED_EVENT
            908 STREAM_CAPTURE_WRONG_THREAD
            909 TIMEOUT
            910 GRAPH_EXEC_UPDATE_FAILURE
            911 EXTERNAL_DEVICE
            912 INVALID_CLUSTER_SIZE
            917 STREAM_DETACHED
            999 UNKNOWN
            """.lines()
                .map(line -> line.split(" ", -1))
                .collect(Collectors.toUnmodifiableMap(line -> Integer.valueOf(line[0]), line -> line[1]));
    }
}
