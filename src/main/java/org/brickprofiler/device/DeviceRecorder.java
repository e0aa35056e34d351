package org.brickprofiler.device;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.brickprofiler.record.NanoClock;
import org.brickprofiler.record.PendingConsumer;
import org.brickprofiler.record.StreamPlace;
import org.brickprofiler.record.StreamSpans;
import org.brickprofiler.record.TableRegistry;
import org.brickprofiler.record.TimerToken;

/**
 * Times work on devices: sets a mark where a brick starts and one where it stops, and asks for the time between them once
 * the device has passed both. Rows are numbers; what they mean is the caller's to know.
 *
 * <p>Any thread may start and stop, and waits for nobody. Nothing is allocated once rows and queues have their size. Who
 * reads, or waits for a device, waits for others that do; who only polls leaves it to them.
 *
 * <p><b>Nothing is made up.</b> A sample that a stream cannot tell the time of is counted as unresolved: no mark was left,
 * a mark failed, the device was lost, the timer was stopped again after its first sample was resolved.
 */
public final class DeviceRecorder {

    /** Instead of a time: there is none. */
    public static final long NO_TIME = Long.MIN_VALUE;

    /** The most streams of a recorder. */
    public static final int MAX_STREAMS = MarkToken.MAX_STREAMS;

    private final TableRegistry bricks;
    private final MarkedStream[] streams;

    /** The host's times of some samples, and the queue of those that wait. */
    private final TableRegistry launches;

    private final DeviceSums sums;

    /** Held by whoever resolves or reads. */
    private final ReentrantLock turn = new ReentrantLock();

    /** Made once, so that resolving allocates nothing. */
    private final PendingConsumer collector = this::collect;

    /**
     * A recorder.
     *
     * @param clock the host's clock
     * @param bricks where device times go, and launches onto the lines of their threads
     * @param streams the streams, the first of which is the one that bricks go to unless they name another
     * @param launchesEvery the host's side is timed of one brick in so many, by chance; of each where spans are wanted
     * @param tracing who wants the samples as spans, too; asked once for each stream
     * @throws IllegalArgumentException when there are none or more than {@link #MAX_STREAMS}
     */
    public DeviceRecorder(
            NanoClock clock,
            TableRegistry bricks,
            List<DeviceStream> streams,
            int launchesEvery,
            StreamTracing tracing) {
        if (streams.isEmpty() || streams.size() > MAX_STREAMS) {
            throw new IllegalArgumentException(streams.size() + " device streams: 1 to " + MAX_STREAMS);
        }
        this.bricks = bricks;
        this.launches = new TableRegistry(0, false);
        this.sums = new DeviceSums(bricks, launches);
        this.streams = new MarkedStream[streams.size()];
        // Whoever traces may ask for what was waited for as soon as it knows of a stream.
        turn.lock();
        try {
            Arrays.setAll(this.streams, i -> marked(clock, streams.get(i), i, launchesEvery, tracing));
        } finally {
            turn.unlock();
        }
        streams.forEach(stream -> stream.beforeClose(CloseActions.unlessForgotten(this, DeviceRecorder::catchUp)));
    }

    private MarkedStream marked(
            NanoClock clock, DeviceStream stream, int index, int launchesEvery, StreamTracing tracing) {
        StreamPlace place = new StreamPlace(
                stream.backend(), stream.deviceIndex(), stream.deviceName(), stream.name(), index);
        StreamSpans spans = tracing.of(place, this::tellSettled);
        return spans == null
                ? new MarkedStream(stream, clock, index, launchesEvery)
                : TracedStream.of(stream, clock, index, bricks, spans);
    }

    // ---- the hot path ----

    /**
     * Starts a brick at the end of a stream's queue.
     *
     * @param key its row, up to {@link TimerToken#MAX_KEY}; not checked
     * @param stream the number of the stream, in the order in which they were given
     * @return the timer, for {@link #stop} and {@link #lap}
     */
    public long start(int key, int stream) {
        MarkedStream marked = streams[stream];
        boolean timed = marked.draws().next();
        return marked.token(key, mark(marked, 1, timed), timed);
    }

    /**
     * Stops a brick at the end of its stream's queue.
     *
     * @param timer what starting it returned; one of {@link MarkToken#isDevice}
     * @param elements elements it processed
     * @return the host's clock when it was stopped, or {@link #NO_TIME} where it was not read or the brick's time will not
     *     be known
     */
    public long stop(long timer, long elements) {
        MarkedStream marked = streamOf(timer);
        if (!isRunning(marked, timer)) {
            sums.unresolved(MarkToken.key(timer));
            return NO_TIME;
        }
        boolean timed = MarkToken.isTimed(timer);
        int end = mark(marked, 1, timed);
        marked.stopped(timer, end);
        if (end == DeviceStream.NO_MARK) {
            queue(marked, timer, QueuedSample.NO_END, elements);
            return NO_TIME;
        }
        if (queue(marked, timer, end, elements)) {
            return timed ? marked.setNs(end) : NO_TIME;
        }
        marked.giveUp(end);
        return NO_TIME;
    }

    /**
     * Stops a brick and starts the next on the same stream, with one mark.
     *
     * @param timer what starting it returned; one of {@link MarkToken#isDevice}
     * @param elements elements it processed
     * @param nextKey the row of the brick that begins
     * @return the timer of the next brick
     */
    public long lap(long timer, long elements, int nextKey) {
        MarkedStream marked = streamOf(timer);
        boolean running = isRunning(marked, timer);
        boolean timed = marked.draws().next();
        int mark = mark(marked, running ? 2 : 1, timed || (running && MarkToken.isTimed(timer)));
        if (running) {
            marked.stopped(timer, mark);
            // Where the queue refuses, the mark is held once too often; it is reclaimed when marks run out.
            queue(marked, timer, mark == DeviceStream.NO_MARK ? QueuedSample.NO_END : mark, elements);
        } else {
            sums.unresolved(MarkToken.key(timer));
        }
        return marked.token(nextKey, mark, timed);
    }

    /**
     * Ends a brick at the end of a stream's queue whose start the host alone knows. It lasts from there or, where the
     * device was still busy, from the mark before.
     *
     * @param key its row
     * @param stream the number of the stream
     * @param sinceNs the host's clock when it began
     * @param elements elements it processed
     */
    public void endSince(int key, int stream, long sinceNs, long elements) {
        MarkedStream marked = streams[stream];
        int mark = mark(marked, 1, true);
        marked.endedSince(key, sinceNs, mark);
        if (mark == DeviceStream.NO_MARK) {
            sums.unresolved(key);
            return;
        }
        marked.since(mark, sinceNs);
        if (!queue(marked, marked.token(key, mark, true), mark, elements)) {
            marked.giveUp(mark);
        }
    }

    /**
     * When a brick started.
     *
     * @param timer what starting it returned; one of {@link MarkToken#isDevice}
     * @return the host's clock, or {@link #NO_TIME} where it was not read, no mark was set or it was given to another brick
     *     since
     */
    public long startedNs(long timer) {
        MarkedStream marked = streamOf(timer);
        return isRunning(marked, timer) ? marked.setNs(MarkToken.mark(timer)) : NO_TIME;
    }

    /**
     * The stream of a timer.
     *
     * @param timer one of {@link MarkToken#isDevice}
     * @return its number; 0 where a timer of another recorder names one that is not there
     */
    public int stream(long timer) {
        int stream = MarkToken.stream(timer);
        return stream < streams.length ? stream : 0;
    }

    private MarkedStream streamOf(long timer) {
        return streams[stream(timer)];
    }

    private static boolean isRunning(MarkedStream marked, long timer) {
        return MarkToken.generation(timer) != MarkToken.NO_GENERATION && marked.isCurrent(timer);
    }

    private int mark(MarkedStream marked, int holders, boolean reads) {
        int mark = marked.mark(holders, reads);
        return mark != DeviceStream.NO_MARK ? mark : markAfterMakingRoom(marked, holders, reads);
    }

    private int markAfterMakingRoom(MarkedStream marked, int holders, boolean reads) {
        int mark = DeviceStream.NO_MARK;
        if (marked.stream().isUsable() && turn.tryLock()) {
            try {
                launches.drainPending(collector);
                marked.poll(sums);
                marked.reclaim();
                mark = marked.mark(holders, reads);
            } finally {
                turn.unlock();
            }
        }
        if (mark == DeviceStream.NO_MARK) {
            marked.missed();
        }
        return mark;
    }

    private boolean queue(MarkedStream marked, long timer, int end, long elements) {
        int key = MarkToken.key(timer);
        boolean queued =
                launches.defer(QueuedSample.row(marked.index(), key), QueuedSample.marks(timer, end), elements);
        if (!queued) {
            sums.unresolved(key);
        }
        return queued;
    }

    /** From now on the host's side of every brick is timed. */
    public void timeEveryLaunch() {
        Arrays.stream(streams).forEach(stream -> stream.draws().drawAll());
    }

    // ---- resolving ----

    /**
     * Waits for every stream that samples wait for, once each. Their times are asked for when somebody reads, or at the next
     * wait while the device is busy; where the device is lost in between they are unresolved.
     */
    public void await() {
        turn.lock();
        resolve(true, false);
    }

    /** Resolves what the devices have done. Waits for nothing: while another thread resolves, it is left to that one. */
    public void poll() {
        if (turn.tryLock()) {
            resolve(false, false);
        }
    }

    /** Resolves what the devices have done, after whoever does that now. */
    private void catchUp() {
        turn.lock();
        resolve(false, false);
    }

    /**
     * Ends a pass: the time until the next mark is no idle time.
     *
     * @param waits whether to wait for what is pending
     */
    public void endPass(boolean waits) {
        if (waits) {
            turn.lock();
            resolve(true, true);
        } else if (turn.tryLock()) {
            resolve(false, true);
        }
        for (MarkedStream stream : streams) {
            stream.nextPass();
        }
    }

    /** By the holder of the turn, who gives it back. */
    private void resolve(boolean waits, boolean endsPass) {
        try {
            launches.drainPending(collector);
            for (MarkedStream stream : streams) {
                if (waits) {
                    stream.await(sums);
                } else {
                    stream.poll(sums);
                }
                if (endsPass) {
                    stream.forgetPass();
                }
            }
        } finally {
            turn.unlock();
        }
    }

    /** Forgets the samples that wait. */
    public void discard() {
        turn.lock();
        try {
            launches.drainPending(collector);
            Arrays.stream(streams).forEach(MarkedStream::discard);
        } finally {
            turn.unlock();
        }
    }

    private void collect(int row, long marks, long elements) {
        int key = QueuedSample.key(row);
        if (!streams[QueuedSample.stream(row)].take(key, marks, elements)) {
            sums.unresolved(key);
        }
    }

    // ---- readers ----

    /**
     * How many samples wait for their time.
     *
     * @return 0 or more; exact while nobody records
     */
    public int pendingCount() {
        turn.lock();
        try {
            long count = launches.pendingCount();
            for (MarkedStream stream : streams) {
                count += stream.pendingCount();
            }
            return (int) Math.min(Integer.MAX_VALUE, count);
        } finally {
            turn.unlock();
        }
    }

    /**
     * Reads or resets while nothing is resolved, so that device times, launches and totals belong together. What was
     * waited for is in them.
     *
     * @param <T> the type of the result
     * @param reader what to do
     * @return its result
     */
    public <T> T whileQuiet(Supplier<T> reader) {
        turn.lock();
        try {
            tellSettled();
            return reader.get();
        } finally {
            turn.unlock();
        }
    }

    private void tellSettled() {
        turn.lock();
        try {
            Arrays.stream(streams).forEach(stream -> stream.tellSettled(sums));
        } finally {
            turn.unlock();
        }
    }

    /**
     * What the devices told since the last reset, besides the bricks' times.
     *
     * @param fromKey the first row that is asked for
     * @param toKey the row after the last
     * @return the figures
     */
    public DeviceFigures figures(int fromKey, int toKey) {
        return whileQuiet(() -> sums.figures(fromKey, toKey, totals()));
    }

    /**
     * What the devices told since the last reset, besides the bricks' times, and begins anew.
     *
     * @return the figures of all rows
     */
    public DeviceFigures figuresAndReset() {
        return whileQuiet(() -> {
            DeviceFigures ended = sums.figuresAndReset(totals());
            Arrays.stream(streams).forEach(MarkedStream::resetTotals);
            return ended;
        });
    }

    private List<StreamTotals> totals() {
        return Arrays.stream(streams).map(MarkedStream::totals).toList();
    }
}
