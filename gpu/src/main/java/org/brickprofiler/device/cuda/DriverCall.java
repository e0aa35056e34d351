package org.brickprofiler.device.cuda;

import java.util.Arrays;
import java.util.List;

/**
 * The calls of the CUDA driver that this package makes, with the name of each function and its symbol in the library.
 */
enum DriverCall {
    DRIVER_GET_VERSION("cuDriverGetVersion"),
    INIT("cuInit"),
    DEVICE_GET_COUNT("cuDeviceGetCount"),
    DEVICE_GET("cuDeviceGet"),
    DEVICE_GET_NAME("cuDeviceGetName"),
    DEVICE_GET_UUID("cuDeviceGetUuid"),
    DEVICE_GET_PCI_BUS_ID("cuDeviceGetPCIBusId"),
    PRIMARY_CTX_RETAIN("cuDevicePrimaryCtxRetain"),
    PRIMARY_CTX_RELEASE("cuDevicePrimaryCtxRelease", 2),
    CTX_PUSH_CURRENT("cuCtxPushCurrent", 2),
    CTX_POP_CURRENT("cuCtxPopCurrent", 2),
    CTX_GET_CURRENT("cuCtxGetCurrent"),
    CTX_GET_DEVICE("cuCtxGetDevice"),
    STREAM_CREATE("cuStreamCreate"),
    STREAM_DESTROY("cuStreamDestroy", 2),
    STREAM_IS_CAPTURING("cuStreamIsCapturing"),
    STREAM_BEGIN_CAPTURE("cuStreamBeginCapture", 2),
    STREAM_END_CAPTURE("cuStreamEndCapture"),
    GRAPH_DESTROY("cuGraphDestroy"),
    THREAD_EXCHANGE_STREAM_CAPTURE_MODE("cuThreadExchangeStreamCaptureMode"),
    EVENT_CREATE("cuEventCreate"),
    EVENT_RECORD("cuEventRecord"),
    /** Only for captures; drivers have it since CUDA 11.1. */
    EVENT_RECORD_WITH_FLAGS("cuEventRecordWithFlags"),
    EVENT_QUERY("cuEventQuery"),
    EVENT_SYNCHRONIZE("cuEventSynchronize"),
    EVENT_ELAPSED_TIME("cuEventElapsedTime"),
    EVENT_DESTROY("cuEventDestroy", 2),
    MODULE_LOAD_DATA("cuModuleLoadData"),
    MODULE_UNLOAD("cuModuleUnload"),
    MODULE_GET_FUNCTION("cuModuleGetFunction"),
    LAUNCH_KERNEL("cuLaunchKernel");

    private final String function;
    private final String symbol;

    DriverCall(String function) {
        this.function = function;
        this.symbol = function;
    }

    /** A function whose symbol has a version, because the library keeps its first version under the plain name. */
    DriverCall(String function, int version) {
        this.function = function;
        this.symbol = function + "_v" + version;
    }

    /** Returns the name in the driver's documentation. */
    String function() {
        return function;
    }

    /** Returns whether the call queries events. */
    boolean asksForEvents() {
        return this == EVENT_QUERY || this == EVENT_SYNCHRONIZE || this == EVENT_ELAPSED_TIME;
    }

    /** Returns the symbol in the library, which both bindings bind. */
    String symbol() {
        return symbol;
    }

    /**
     * Returns the symbol of a function.
     *
     * @throws IllegalArgumentException if it is none of these
     */
    static String symbolOf(String function) {
        return Arrays.stream(values())
                .filter(call -> call.function.equals(function))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no driver call " + function))
                .symbol;
    }

    /** Returns the symbols of the calls that every driver must have. */
    static List<String> symbols() {
        return Arrays.stream(values())
                .filter(call -> call != EVENT_RECORD_WITH_FLAGS)
                .map(DriverCall::symbol)
                .toList();
    }
}
