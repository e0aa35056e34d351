package org.brickprofiler.trace.read;

import java.util.Locale;

/** What a slice is by its category. */
enum SliceKind {
    /** Work of the device. */
    KERNEL,
    /** A copy or a fill by the device. */
    COPY,
    /** Somebody's drawing around others. */
    ANNOTATION,
    /** The whole recording. */
    WRAPPER,
    /** A wait, drawn on the device's row. */
    DEVICE_WAIT,
    /** Anything else: of the host, or of a trace that marks nothing as the device's. */
    OTHER,
    /** A begin whose time is wrong; it was dropped and waits for its end. */
    DROPPED;

    /** The categories of Kineto; older versions wrote some with a capital letter. */
    static SliceKind of(String category) {
        return switch (category.toLowerCase(Locale.ROOT)) {
            case "kernel" -> KERNEL;
            case "gpu_memcpy", "gpu_memset", "memcpy", "memset" -> COPY;
            case "user_annotation", "gpu_user_annotation" -> ANNOTATION;
            case "trace" -> WRAPPER;
            case "cuda_sync", "cuda_event" -> DEVICE_WAIT;
            default -> OTHER;
        };
    }

    boolean isDevice() {
        return this == KERNEL || this == COPY;
    }
}
