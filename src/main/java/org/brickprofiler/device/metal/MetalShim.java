package org.brickprofiler.device.metal;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The functions of {@code native/metal-shim/brick_metal.h}, where each is documented: {@code open} is
 * {@code brick_metal_open}. Objects of Metal's are addresses, 0 for nil; buffers are direct ones. They are bound by
 * {@link MetalLibrary}, and must not be called before. Any thread.
 */
final class MetalShim {

    /** The version of the interface that is written down here. */
    static final int VERSION = 2;

    static final int OK = 0;

    static final int LOST_BUFFERS = 0;
    static final int LOST_DISPATCHES = 1;

    static final int LABEL_BYTES = 64;

    private MetalShim() {}

    static native int version();

    static native String failure();

    static native int probe(byte[] name, int nameBytes);

    static native long open(long queue, int capacity);

    static native int names(long stream, byte[] queue, int queueBytes, byte[] device, int deviceBytes);

    static native long queue(long stream);

    static native long watch(long stream, long commandBuffer, @Nullable String label);

    static native int forget(long stream, long sequence);

    /** The address is that of the structure to write. */
    static native int mark(long stream, long address);

    static native int waitFor(long stream, long sequence, int handlerMs);

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
