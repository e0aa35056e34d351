package org.brickprofiler.device.metal;

import java.util.Objects;
import org.brickprofiler.device.MarkPool;
import org.jspecify.annotations.Nullable;

/** Settings of a {@link MetalStream} that is to be opened. One thread. */
public final class MetalStreamBuilder {

    private static final int MAX_BUFFERS = 1 << 16;

    private final long commandQueue;

    private @Nullable String name;
    private int buffers = 4_096;
    private int firstMarks = 1_024;
    private int maxMarks = 1 << 16;

    MetalStreamBuilder(long commandQueue) {
        this.commandQueue = commandQueue;
    }

    /**
     * What people call the stream.
     *
     * @param streamName a name, one among the streams of its device; without it the label of the queue, or "queue" and a
     *     number
     * @return this
     */
    public MetalStreamBuilder name(String streamName) {
        Objects.requireNonNull(streamName, "streamName");
        name = streamName;
        return this;
    }

    /**
     * How many command buffers are kept: the most that are watched and not asked for at once.
     *
     * @param count a power of two from 2 to 65,536; without it 4,096
     * @return this
     * @throws IllegalArgumentException when it is another number
     */
    public MetalStreamBuilder buffers(int count) {
        if (count < 2 || count > MAX_BUFFERS || Integer.bitCount(count) != 1) {
            throw new IllegalArgumentException(count + " buffers: a power of two from 2 to " + MAX_BUFFERS);
        }
        buffers = count;
        return this;
    }

    /**
     * How many marks there are.
     *
     * @param first made at once; without it 1,024
     * @param most there will be, as they are needed; without it 65,536
     * @return this
     * @throws IllegalArgumentException when {@code most} is not in 1 to {@link MarkPool#MAX_BOUND}, or {@code first} not
     *     in 1 to {@code most}
     */
    public MetalStreamBuilder marks(int first, int most) {
        if (most < 1 || most > MarkPool.MAX_BOUND) {
            throw new IllegalArgumentException("at most " + most + " marks: 1 to " + MarkPool.MAX_BOUND);
        }
        if (first < 1 || first > most) {
            throw new IllegalArgumentException(first + " marks at first: 1 to " + most);
        }
        firstMarks = first;
        maxMarks = most;
        return this;
    }

    /**
     * Opens the stream. Loads the library, where nobody did before.
     *
     * @return a stream; where Metal is not available or refuses, one that is not usable and says why
     */
    public MetalStream open() {
        MetalSupport support = MetalSupport.probe();
        if (!support.isAvailable()) {
            return new MetalStream(this, 0, support.toString(), "", "");
        }
        long stream = MetalShim.open(commandQueue, buffers);
        if (stream < 0) {
            return new MetalStream(this, 0, MetalShim.failure(), "", "");
        }
        byte[] label = new byte[MetalShim.LABEL_BYTES];
        byte[] device = new byte[MetalShim.LABEL_BYTES];
        // What Metal does not tell is left empty.
        MetalShim.names(stream, label, label.length, device, device.length);
        return new MetalStream(this, stream, null, ShimRecords.text(label), ShimRecords.text(device));
    }

    /** The name that was set, or the queue's own, or one that is made. */
    String nameOr(String label, long stream) {
        if (name != null) {
            return name;
        }
        return label.isEmpty() ? "queue " + stream : label;
    }

    int buffers() {
        return buffers;
    }

    int firstMarks() {
        return firstMarks;
    }

    int maxMarks() {
        return maxMarks;
    }
}
