package org.brickprofiler.trace.read;

import java.util.Locale;

/** What a slice is by its category. */
enum SliceKind {
    /** Work of the device. */
    KERNEL(IgnoredReason.HOST),
    /** A copy or a fill by the device. */
    COPY(IgnoredReason.HOST),
    /** Somebody's drawing around others. */
    ANNOTATION(IgnoredReason.ANNOTATION),
    /** The whole recording. */
    WRAPPER(IgnoredReason.WRAPPER),
    /** A wait, drawn on the device's row. */
    DEVICE_WAIT(IgnoredReason.DEVICE_WAIT),
    /** Anything else: of the host, or of a trace that marks nothing as the device's. */
    OTHER(IgnoredReason.HOST),
    /** A brick of this library's own trace. */
    BRICK(IgnoredReason.HOST),
    /** Something else that this library wrote. */
    NO_BRICK(IgnoredReason.NO_BRICK),
    /** What this library saw of a device. */
    OF_DEVICE(IgnoredReason.DEVICE),
    /** A begin whose time is wrong; it was dropped and waits for its end. */
    DROPPED(IgnoredReason.HOST);

    private final IgnoredReason ignoredAs;

    SliceKind(IgnoredReason ignoredAs) {
        this.ignoredAs = ignoredAs;
    }

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

    /** Why a slice of this kind does not count; {@link IgnoredReason#HOST} where it may. */
    IgnoredReason ignoredAs() {
        return ignoredAs;
    }

    /** Whether a slice of this kind never counts. */
    boolean isWithoutTime() {
        return ignoredAs != IgnoredReason.HOST;
    }

    boolean isDevice() {
        return this == KERNEL || this == COPY;
    }
}
