package org.brickprofiler.device.metal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the structures that the shim copies out, field by field. Owns the bytes that they are copied to; one thread at
 * a time.
 */
final class ShimRecords {

    /** The number of structures that one call copies. */
    private static final int BATCH = 64;

    // brick_metal_buffer
    private static final int BUFFER_BYTES = 120;
    private static final int GPU_START = 8;
    private static final int GPU_END = 16;
    private static final int KERNEL_START = 24;
    private static final int KERNEL_END = 32;
    private static final int ERROR_CODE = 40;
    private static final int STATUS = 48;
    private static final int BUFFER_LABEL = 56;

    // brick_metal_dispatch
    private static final int DISPATCH_BYTES = 160;
    private static final int START_TICKS = 8;
    private static final int END_TICKS = 16;
    private static final int INDEX = 24;
    private static final int DISPATCH_LABEL = 32;
    private static final int OPERATION = DISPATCH_LABEL + MetalShim.LABEL_BYTES;

    // brick_metal_moment
    private static final int HOST_AFTER = 8;
    private static final int DEVICE_TICKS = 16;

    /** The outcomes by the shim's status, which begins at 1. */
    private static final FinishedBuffer.Outcome[] OUTCOMES = FinishedBuffer.Outcome.values();

    private final ByteBuffer bytes =
            ByteBuffer.allocateDirect(BATCH * DISPATCH_BYTES).order(ByteOrder.nativeOrder());

    private final byte[] text = new byte[MetalShim.LABEL_BYTES];

    /** A dispatch with the device's times. */
    record Dispatch(long sequence, String label, String operation, int index, long startTicks, long endTicks) {}

    /**
     * Passes on all command buffers that have ended.
     *
     * @return their number, or the shim's error code
     */
    int drainBuffers(long stream, Consumer<FinishedBuffer> consumer) {
        int total = 0;
        int count;
        do {
            count = MetalShim.drain(stream, bytes, BATCH);
            for (int at = 0; at < count; at++) {
                consumer.accept(buffer(at * BUFFER_BYTES));
            }
            total += count;
        } while (count == BATCH);
        return count < 0 ? count : total;
    }

    private FinishedBuffer buffer(int at) {
        return new FinishedBuffer(
                bytes.getLong(at),
                label(at + BUFFER_LABEL),
                OUTCOMES[bytes.getInt(at + STATUS) - 1],
                bytes.getLong(at + ERROR_CODE),
                bytes.getLong(at + GPU_START),
                bytes.getLong(at + GPU_END),
                bytes.getLong(at + KERNEL_START),
                bytes.getLong(at + KERNEL_END));
    }

    /**
     * Passes on all sampled dispatches whose command buffers have completed.
     *
     * @return their number, or the shim's error code
     */
    int drainDispatches(long stream, Consumer<Dispatch> consumer) {
        int total = 0;
        int count;
        do {
            count = MetalShim.drainDispatches(stream, bytes, BATCH);
            for (int at = 0; at < count; at++) {
                consumer.accept(dispatch(at * DISPATCH_BYTES));
            }
            total += count;
        } while (count == BATCH);
        return count < 0 ? count : total;
    }

    private Dispatch dispatch(int at) {
        return new Dispatch(
                bytes.getLong(at),
                label(at + DISPATCH_LABEL),
                label(at + OPERATION),
                bytes.getInt(at + INDEX),
                bytes.getLong(at + START_TICKS),
                bytes.getLong(at + END_TICKS));
    }

    /** Reads both clocks; null if that failed. */
    ClockCorrelation.@Nullable Moment moment(long stream) {
        return MetalShim.sampleClocks(stream, bytes) == MetalShim.OK
                ? new ClockCorrelation.Moment(bytes.getLong(0), bytes.getLong(HOST_AFTER), bytes.getLong(DEVICE_TICKS))
                : null;
    }

    private String label(int at) {
        bytes.get(at, text);
        return text(text);
    }

    /** Returns the text up to the first zero. */
    static String text(byte[] bytes) {
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, UTF_8);
    }
}
