package org.brickprofiler.device.metal;

import static org.brickprofiler.device.DeviceStream.NOT_REACHED;
import static org.brickprofiler.device.DeviceStream.NO_MARK;
import static org.brickprofiler.device.DeviceStream.UNRESOLVED;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.brickprofiler.internal.mark.MarkPool;
import org.jspecify.annotations.Nullable;

/**
 * The marks of an open stream, with their positions in the queue and the times at which the device reached them. Any
 * thread; allocates nothing unless the pool grows.
 */
final class QueueMarks {

    // brick_metal_position
    private static final int POSITION_BYTES = 16;
    private static final int SET_NS = 8;

    private static final int CHUNK_SHIFT = 10;
    private static final int IN_CHUNK = (1 << CHUNK_SHIFT) - 1;

    private final long stream;
    private final BufferReader finished;
    private final MetalFailures failures;
    private final MarkPool pool;

    /** Buffers into which the shim writes the positions of marks, one for each chunk, allocated as the pool grows. */
    private final @Nullable ByteBuffer[] chunks;

    private final long[] addresses;

    QueueMarks(long stream, int first, int bound, BufferReader finished, MetalFailures failures) {
        this.stream = stream;
        this.finished = finished;
        this.failures = failures;
        this.chunks = new ByteBuffer[(bound + IN_CHUNK) >>> CHUNK_SHIFT];
        this.addresses = new long[chunks.length];
        this.pool = new MarkPool(first, bound, this::make);
    }

    private int make(int from, int to) {
        for (int number = from >>> CHUNK_SHIFT; number <= (to - 1) >>> CHUNK_SHIFT; number++) {
            if (chunks[number] == null) {
                ByteBuffer made =
                        ByteBuffer.allocateDirect(POSITION_BYTES << CHUNK_SHIFT).order(ByteOrder.nativeOrder());
                addresses[number] = MetalShim.address(made);
                chunks[number] = made;
            }
        }
        return to;
    }

    /** Sets a mark at the end of the queue. */
    int mark() {
        int mark = pool.take();
        if (mark == NO_MARK) {
            return NO_MARK;
        }
        if (MetalShim.mark(stream, addresses[mark >>> CHUNK_SHIFT] + (long) (mark & IN_CHUNK) * POSITION_BYTES)
                != MetalShim.OK) {
            pool.give(mark);
            if (!finished.isClosed()) {
                failures.report(MetalFailures.Kind.MARKS, "a mark could not be set: " + MetalShim.failure());
            }
            return NO_MARK;
        }
        finished.makeRoom(sequence(mark));
        return mark;
    }

    /** Returns the number of the last command buffer before a mark. */
    long sequence(int mark) {
        return cell(mark, 0);
    }

    private long cell(int mark, int offset) {
        return Objects.requireNonNull(chunks[mark >>> CHUNK_SHIFT])
                .getLong((mark & IN_CHUNK) * POSITION_BYTES + offset);
    }

    private boolean isInside(int mark) {
        return setNs(mark) == FinishedBuffer.NO_TIME;
    }

    private long setNs(int mark) {
        return cell(mark, SET_NS);
    }

    boolean isReached(int mark) {
        return isInside(mark) || finished.hasEnded(sequence(mark));
    }

    long elapsedNs(int from, int to) {
        long fromNs = reachedNs(from);
        long toNs = reachedNs(to);
        if (fromNs == UNRESOLVED || toNs == UNRESOLVED) {
            return UNRESOLVED;
        }
        if (fromNs == NOT_REACHED || toNs == NOT_REACHED) {
            return NOT_REACHED;
        }
        // Marks on either side of a command buffer that failed have their times: the device reported when it ended.
        return finished.isBrokenBetween(sequence(from), sequence(to)) ? UNRESOLVED : toNs - fromNs;
    }

    /** Returns whether there was, or may have been, a command buffer between two marks that was not forgotten. */
    boolean hasWorkBetween(int from, int to) {
        boolean hasWork = isInside(from) || isInside(to) || finished.hasWorkBetween(sequence(from), sequence(to));
        if (!hasWork) {
            failures.report(
                    MetalFailures.Kind.EMPTY,
                    "no watched command buffer lies between two marks of a brick, whose time is therefore not known: watch"
                            + " those that do its work");
        }
        return hasWork;
    }

    private long reachedNs(int mark) {
        long sequence = sequence(mark);
        if (isInside(mark)) {
            failures.report(
                    MetalFailures.Kind.INSIDE,
                    "a mark was set when a command buffer up to number " + sequence
                            + " was not committed, and what is inside of a command buffer cannot be distinguished");
            return UNRESOLVED;
        }
        return finished.hasEnded(sequence) ? finished.reachedNs(sequence, setNs(mark)) : NOT_REACHED;
    }

    void release(int mark) {
        pool.give(mark);
    }
}
