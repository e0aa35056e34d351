package org.brickprofiler.device;

import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.internal.base.CloseActions;
import org.brickprofiler.internal.mark.MarkPool;
import org.brickprofiler.spi.NanoClock;

/**
 * The host as a device: the thread that enqueues work does it at once, so a mark is reached when it is set, and its
 * time is that of a clock. It serves engines that compute on the host instead of a device, and comparisons of the two.
 * Any thread; allocates nothing unless the pool of marks grows.
 */
public final class HostStream implements DeviceStream {

    private static final int CHUNK_SHIFT = 10;
    private static final int CHUNK_MARKS = 1 << CHUNK_SHIFT;
    private static final int MAX_MARKS = 1 << 16;

    private final NanoClock clock;
    private final MarkPool pool;

    /** The times of the marks, in chunks that are made as the pool grows. */
    private final long[][] reachedNs = new long[MAX_MARKS >>> CHUNK_SHIFT][];

    private final CloseActions beforeClose = new CloseActions();

    private volatile boolean closed;

    /** Creates a stream over the system's clock. */
    public HostStream() {
        this(NanoClock.SYSTEM);
    }

    /**
     * Creates a stream over a clock.
     *
     * @param clock reports when marks are reached
     */
    public HostStream(NanoClock clock) {
        Objects.requireNonNull(clock, "clock");
        this.clock = clock;
        this.pool = new MarkPool(CHUNK_MARKS, MAX_MARKS, this::make);
    }

    private int make(int from, int to) {
        reachedNs[from >>> CHUNK_SHIFT] = new long[to - from];
        return to;
    }

    private long reachedNs(int mark) {
        return reachedNs[mark >>> CHUNK_SHIFT][mark & (CHUNK_MARKS - 1)];
    }

    @Override
    public String name() {
        return "host";
    }

    @Override
    public String deviceName() {
        return "host";
    }

    @Override
    public int deviceIndex() {
        return 0;
    }

    @Override
    public int mark() {
        int mark = closed ? NO_MARK : pool.take();
        if (mark != NO_MARK) {
            reachedNs[mark >>> CHUNK_SHIFT][mark & (CHUNK_MARKS - 1)] = clock.nanoTime();
        }
        return mark;
    }

    @Override
    public boolean isReached(int mark) {
        return true;
    }

    @Override
    public long elapsedNs(int from, int to) {
        return closed ? UNRESOLVED : reachedNs(to) - reachedNs(from);
    }

    @Override
    public boolean waitFor(int mark) {
        return !closed;
    }

    @Override
    public void release(int mark) {
        pool.give(mark);
    }

    @Override
    public int maxMarks() {
        return MAX_MARKS;
    }

    @Override
    public boolean isUsable() {
        return !closed;
    }

    @Override
    public Optional<String> failure() {
        return closed ? Optional.of("the stream is closed") : Optional.empty();
    }

    @Override
    public void beforeClose(Runnable action) {
        Objects.requireNonNull(action, "action");
        beforeClose.add(action);
    }

    @Override
    public void close() {
        beforeClose.run();
        closed = true;
    }
}
