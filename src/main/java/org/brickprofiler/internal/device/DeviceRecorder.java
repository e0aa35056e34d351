package org.brickprofiler.internal.device;

import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.internal.base.CloseActions;
import org.brickprofiler.internal.mark.GraphMarks;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * Times work on devices: sets a mark where a brick starts and one where it stops, and queries the time between them
 * once the device has passed both. Rows are numbers, whose meaning only the caller knows.
 *
 * <p>Any thread may start and stop bricks, and never waits. Nothing is allocated once rows and queues have their size.
 * Threads that resolve or read exclude each other while the host computes; no thread waits for a device meanwhile. A
 * thread that waits for a device therefore delays no reader and no other waiting thread.
 *
 * <p><b>Owner of a sample.</b> A sample belongs to the thread that ended it. A boundary of a thread concerns the
 * streams on which the thread ended samples. There it waits for the last mark of these samples; never for later work or
 * for the work of other threads.
 *
 * <p><b>Nothing is made up.</b> A sample whose time a stream does not know is counted as unresolved: no mark was left,
 * a mark failed, the device was lost, the timer was stopped again after its first sample was resolved.
 */
public final class DeviceRecorder {

    /** The value of a time that is not known. */
    public static final long NO_TIME = Long.MIN_VALUE;

    /** The owner that stands for all threads. */
    static final long EVERYBODY = -1;

    /** The most streams of a recorder. */
    public static final int MAX_STREAMS = MarkToken.MAX_STREAMS;

    /**
     * The maximum number of waits of a boundary for one stream: if one wait is not enough, as for a mark that was set
     * during a capture, the thread waits for the next mark.
     */
    private static final int MOST_WAITS = 64;

    /** Provides sinks for the work of device streams as spans. */
    @FunctionalInterface
    public interface Tracing {

        /** Provides no sink. */
        Tracing NONE = (place, catchUp) -> null;

        /**
         * Returns the sink of a stream.
         *
         * @param place identifies the stream
         * @param catchUp resolves the samples that the device has finished, if the calling thread may query the device,
         *     and returns whether samples still wait for their time; run it before the spans are read, on any thread
         * @return the sink; null if none is wanted
         */
        SpanSink.@Nullable Stream of(SpanSink.Place place, BooleanSupplier catchUp);
    }

    private final NanoClock clock;
    private final MarkedStream[] streams;

    /** By stream: the bricks whose marks are drawn; empty if each brick is marked. Set before the first brick. */
    private SampledRows[] drawn = {};

    /** Those of the first stream, where most bricks are: finding them needs no stream. */
    private @Nullable SampledRows drawnFirst;

    private final SampleQueue queue;
    private final DeviceFigures.Sums sums;

    /** Held by the thread that resolves or reads. */
    private final ReentrantLock turn = new ReentrantLock();

    /** Referred to here, because streams refer to them weakly. */
    private final List<GraphMarks.Follower> followers = new ArrayList<>();

    /** Whether launches of captured graphs are timed. */
    private volatile BooleanSupplier timesLaunches = () -> true;

    /** Returns the phase of the samples of the calling thread. */
    private volatile IntSupplier phases = () -> PhaseKey.NO_PHASE;

    /**
     * Creates a recorder.
     *
     * @param clock the host's clock
     * @param bricks receives device times, and launches on the lines of their threads
     * @param streams the streams; bricks that name none are on the first one
     * @param launchesEvery the host's launch time is measured for one brick in this many, at random; for each brick if
     *     spans are wanted
     * @param tracing provides the sinks of the samples as spans; asked once for each stream
     * @throws IllegalArgumentException when there are none or more than {@link #MAX_STREAMS}
     */
    public DeviceRecorder(
            NanoClock clock, TableRegistry bricks, List<DeviceStream> streams, int launchesEvery, Tracing tracing) {
        Objects.requireNonNull(clock, "clock");
        Objects.requireNonNull(bricks, "bricks");
        Objects.requireNonNull(streams, "streams");
        Objects.requireNonNull(tracing, "tracing");
        if (streams.isEmpty() || streams.size() > MAX_STREAMS) {
            throw new IllegalArgumentException(streams.size() + " device streams: 1 to " + MAX_STREAMS);
        }
        this.clock = clock;
        TableRegistry launches = new TableRegistry(0, false);
        this.queue = new SampleQueue(launches, new Taking());
        this.sums = new DeviceFigures.Sums(bricks, launches);
        this.streams = new MarkedStream[streams.size()];
        MarkedStream.Shared shared =
                new MarkedStream.Shared(clock, new Readings(), queue, sums, bricks, () -> phases.getAsInt());
        // A sink may call catchUp as soon as it knows the stream.
        turn.lock();
        try {
            for (int i = 0; i < this.streams.length; i++) {
                DeviceStream stream = streams.get(i);
                int index = i;
                SpanSink.Place place = new SpanSink.Place(
                        stream.backend(), stream.deviceIndex(), stream.deviceName(), stream.name(), i);
                SpanSink.Stream spans = tracing.of(place, () -> catchUpAndIsWaiting(index));
                this.streams[i] = new MarkedStream(stream, i, shared, launchesEvery, this::makeRoom, spans);
            }
        } finally {
            turn.unlock();
        }
        for (MarkedStream marked : this.streams) {
            int index = marked.index();
            Forgotten.CLEANER.register(this, marked.giveBackAll());
            marked.stream().beforeClose(CloseActions.unlessForgotten(this, recorder -> recorder.catchUp(index)));
            GraphMarks captured = GraphMarks.of(marked.stream());
            if (captured != null) {
                GraphMarks.Follower follower = new Captures(marked);
                followers.add(follower);
                captured.follow(follower);
            }
        }
    }

    /**
     * Sets when launches of captured graphs are timed; by default, they always are.
     *
     * @param condition returns whether a launch is timed; any thread
     */
    public void timeLaunchesWhile(BooleanSupplier condition) {
        timesLaunches = Objects.requireNonNull(condition, "condition");
    }

    /**
     * Sets the phases of samples; by default, they have none. A sample has the phase of the moment at which it was
     * stopped, and the bricks of a captured graph have that of the launch.
     *
     * @param ofCaller returns the number of the phase of the calling thread's samples, or {@link PhaseKey#NO_PHASE};
     *     any thread
     */
    public void takePhasesFrom(IntSupplier ofCaller) {
        phases = Objects.requireNonNull(ofCaller, "ofCaller");
    }

    /**
     * Draws the bricks that are marked; by default, all are. Call it before the first brick.
     *
     * @param sampling how they are drawn
     * @param hasPercentiles whether the durations of all bricks are counted by bucket
     */
    public void sample(DeviceSampling sampling, boolean hasPercentiles) {
        drawn = Arrays.stream(streams)
                .map(stream -> stream.sample(sampling, hasPercentiles))
                .toArray(SampledRows[]::new);
        drawnFirst = drawn[0];
    }

    /** Follows the captures and launches of one stream. */
    private final class Captures implements GraphMarks.Follower {

        private final MarkedStream marked;

        Captures(MarkedStream marked) {
            this.marked = marked;
        }

        @Override
        public void opened(int capture) {
            long before = marked.markCapture();
            turn.lock();
            try {
                marked.openCapture(capture, before);
            } finally {
                turn.unlock();
            }
        }

        @Override
        public void began() {
            marked.captureBegan();
        }

        @Override
        public void launched(int capture) {
            if (timesLaunches.getAsBoolean()) {
                marked.launched(capture);
            }
        }

        @Override
        public void released(int capture) {
            turn.lock();
            try {
                takeQueued();
                marked.releaseCapture(capture);
            } finally {
                turn.unlock();
            }
        }
    }

    // ---- the hot path ----

    /**
     * Starts a brick at the end of a stream's queue.
     *
     * @param row its row, up to {@link TimerToken#MAX_KEY}; with {@link #sample drawn marks} the {@link PhaseKey} of
     *     its row and the phase; not checked
     * @param stream the number of the stream, in the order in which they were given
     * @return the timer, for {@link #stop} and {@link #lap}
     */
    public long start(int row, int stream) {
        return streams[stream].start(row);
    }

    /**
     * Starts a brick that has no marks, if the calling thread counts it in a row of its own, like nearly all of these.
     *
     * @param row its row, as for {@link #start}
     * @param stream the number of the stream
     * @return its timer; {@link TimerToken#VOID} if this may be another brick, which is still to be started
     */
    public long startUnmarked(int row, int stream) {
        SampledRows rows = stream == 0 ? drawnFirst : drawnOn(stream);
        return rows == null ? TimerToken.VOID : rows.startUnmarked(row);
    }

    private @Nullable SampledRows drawnOn(int stream) {
        return stream < drawn.length ? drawn[stream] : null;
    }

    /** Returns the rows of a timer's stream if they may know it. */
    private @Nullable SampledRows drawnOf(long timer) {
        SampledRows rows = drawnFirst;
        if (rows == null || rows.mayCount(timer)) {
            return rows;
        }
        rows = drawnOn(MarkToken.stream(timer));
        return rows != null && rows.mayCount(timer) ? rows : null;
    }

    /**
     * Stops a brick at the end of its stream's queue.
     *
     * @param timer the timer that starting the brick returned; a {@linkplain MarkToken#isDevice device's}
     * @param elements elements it processed
     * @return the host's clock when it was stopped; {@link #NO_TIME} if it was not read, or if the brick's time will
     *     not be known
     */
    public long stop(long timer, long elements) {
        return streamOf(timer).stop(timer, elements);
    }

    /**
     * Stops a brick that has no marks, if the calling thread has begun it in a row of its own, like nearly all of
     * these.
     *
     * @param timer any timer
     * @param elements elements it processed
     * @return false if this is another timer, which is still to be stopped, or if the elements are negative or too many
     */
    public boolean stopUnmarked(long timer, long elements) {
        SampledRows rows = drawnOf(timer);
        return rows != null && rows.stopUnmarked(timer, elements);
    }

    /**
     * Stops a brick that has no marks and starts one on the same stream that needs none, if the calling thread counts
     * both in rows of its own.
     *
     * @param timer any timer
     * @param elements elements the brick processed
     * @param nextRow the row of the brick that begins, as for {@link #start}
     * @return the timer of the next brick; {@link TimerToken#VOID} if nothing has been done
     */
    public long lapUnmarked(long timer, long elements, int nextRow) {
        SampledRows rows = drawnOf(timer);
        return rows == null ? TimerToken.VOID : rows.lapUnmarked(timer, elements, nextRow);
    }

    /**
     * Stops a brick and starts the next on the same stream, with one mark.
     *
     * @param timer the timer that starting the brick returned; a {@linkplain MarkToken#isDevice device's}
     * @param elements elements it processed
     * @param nextRow the row of the brick that begins, as for {@link #start}
     * @return the timer of the next brick
     */
    public long lap(long timer, long elements, int nextRow) {
        return streamOf(timer).lap(timer, elements, nextRow);
    }

    /**
     * Reads the host's clock and sets a mark at the end of a stream's queue, at which {@link #endSince} lets samples
     * begin. Once the device has reached the mark, its time is stored and the mark goes back to the stream. At least
     * 32,768 starts at which no sample has begun so far are stored, and of the other starts at least those among the
     * latest 4,096 starts.
     *
     * @param stream the number of the stream
     * @return the host's clock, ns; later than every earlier reading on any stream, by 1 ns if the clock stands still
     */
    public long markStart(int stream) {
        return streams[stream].markStart();
    }

    /**
     * Ends, at the end of a stream's queue, a brick that began at a reading of {@link #markStart}. The brick lasts from
     * the mark of this reading. If no such start is known, because the clock was read otherwise or for another stream,
     * no mark was left, or the start is not stored any more, the brick is unresolved, and counted as one without a
     * start.
     *
     * @param key its row
     * @param stream the number of the stream
     * @param sinceNs the host's clock when it began
     * @param elements elements it processed
     */
    public void endSince(int key, int stream, long sinceNs, long elements) {
        streams[stream].endSince(key, sinceNs, elements);
    }

    /**
     * Returns when a brick started.
     *
     * @param timer the timer that starting the brick returned; a {@linkplain MarkToken#isDevice device's}
     * @return the host's clock; {@link #NO_TIME} if it was not read, if no mark was set, or if the mark now belongs to
     *     another brick
     */
    public long startedNs(long timer) {
        return streamOf(timer).startedNs(timer);
    }

    /**
     * Returns the stream of a timer.
     *
     * @param timer a {@linkplain MarkToken#isDevice device's} timer
     * @return its number; 0 if a timer of another recorder names a stream that is not there
     */
    public int stream(long timer) {
        int stream = MarkToken.stream(timer);
        return stream < streams.length ? stream : 0;
    }

    private MarkedStream streamOf(long timer) {
        return streams[stream(timer)];
    }

    /**
     * Makes room for marks. Returns false if no room can be made, or if another thread has the turn: a thread that sets
     * a mark never waits.
     */
    private boolean makeRoom(MarkedStream marked) {
        if (!marked.stream().isUsable() || !turn.tryLock()) {
            return false;
        }
        try {
            takeQueued();
            marked.poll();
            marked.reclaim();
            return true;
        } finally {
            turn.unlock();
        }
    }

    /** Measures the host's launch time of every brick from now on. */
    public void timeEveryLaunch() {
        Arrays.stream(streams).forEach(MarkedStream::timeEveryLaunch);
    }

    /**
     * Marks every brick from now on.
     *
     * @return whether some would not have been marked
     */
    public boolean markAll() {
        boolean isChange = false;
        for (MarkedStream stream : streams) {
            isChange |= stream.markAll();
        }
        return isChange;
    }

    // ---- resolving ----

    /** Waits for the samples that the calling thread ended, once for each stream, and resolves them. */
    public void await() {
        long owner = drain();
        for (MarkedStream stream : streams) {
            await(stream, owner);
        }
    }

    /**
     * Ends a pass of the calling thread, on the streams on which it ended samples: the time until the next mark is no
     * idle time. Samples that other threads ended are resolved if this takes no wait.
     *
     * @param waits whether to wait for pending samples
     * @return a bit for each of these streams, for {@link #measureMarks(long)}
     */
    public long endPass(boolean waits) {
        long owner = drain();
        for (MarkedStream stream : streams) {
            closePass(stream, owner);
        }
        if (waits) {
            for (MarkedStream stream : streams) {
                await(stream, owner);
            }
        }
        long own = 0;
        turn.lock();
        try {
            for (MarkedStream stream : streams) {
                own |= stream.hasMarked(owner) ? 1L << stream.index() : 0;
                pollAfter(stream, owner, waits);
                stream.endPass(owner);
                stream.reachBoundary();
            }
        } finally {
            turn.unlock();
        }
        tryAgain(own);
        return own;
    }

    /** Sets the mark at the end of the pass, if marks are drawn and the thread ends the pass. */
    private void closePass(MarkedStream stream, long owner) {
        long pass = stream.isSampled() ? passToEnd(stream, owner) : Marks.NONE;
        if (pass != Marks.NONE) {
            long end = stream.markPassEnd();
            turn.lock();
            try {
                stream.takePass(owner, pass, end);
            } finally {
                turn.unlock();
            }
        }
    }

    private long passToEnd(MarkedStream stream, long owner) {
        turn.lock();
        try {
            return stream.passToEnd(owner);
        } finally {
            turn.unlock();
        }
    }

    /**
     * Announces the end of a pass to the streams that the calling thread marked, which may then try again what was
     * refused. The caller does not hold the turn, because this may take long.
     */
    private void tryAgain(long own) {
        for (MarkedStream stream : streams) {
            if ((own & (1L << stream.index())) != 0) {
                stream.stream().passEnded();
            }
        }
    }

    /** Lets each stream measure what marks add. The calling thread holds no turn, because this may take long. */
    public void measureMarks() {
        measureMarks(-1);
    }

    /**
     * Lets some streams measure what marks add. The calling thread holds no turn, because this may take long.
     *
     * @param own a bit for each of the streams
     */
    public void measureMarks(long own) {
        for (MarkedStream stream : streams) {
            if ((own & (1L << stream.index())) != 0) {
                stream.measureMarks();
            }
        }
    }

    /**
     * Resolves the finished samples of a stream: of one that the calling thread marked, unless the thread has waited
     * there; of another one, only if querying it changes nothing for the thread.
     */
    private void pollAfter(MarkedStream stream, long owner, boolean waited) {
        boolean own = stream.hasMarked(owner);
        if (stream.pendingCount() > 0 && (own ? !waited : stream.stream().answersHere())) {
            stream.poll();
        }
    }

    /**
     * Ends a pass of one stream alone, whichever threads ended samples there.
     *
     * @param stream the number of the stream
     * @param waits whether to wait for pending samples
     */
    public void endPass(int stream, boolean waits) {
        MarkedStream marked = streams[stream];
        drain();
        closePass(marked, EVERYBODY);
        if (waits) {
            await(marked, EVERYBODY);
        }
        turn.lock();
        try {
            if (!waits) {
                marked.poll();
            }
            marked.endPass(EVERYBODY);
            marked.reachBoundary();
        } finally {
            turn.unlock();
        }
        tryAgain(1L << stream);
        if (waits) {
            measureMarks(1L << stream);
        }
    }

    /**
     * Resolves the samples that the devices have finished. If marks are drawn, the pass of the calling thread ends: the
     * bricks without marks count once the device has finished it. Waits for no device.
     *
     * @param endNs the latest reading of {@link #markStart} on some stream, or {@link #NO_TIME}
     */
    public void poll(long endNs) {
        long owner = drain();
        for (MarkedStream stream : streams) {
            closePass(stream, owner);
        }
        long own = 0;
        turn.lock();
        try {
            for (MarkedStream stream : streams) {
                long bit = 1L << stream.index();
                own |= stream.hasStart(endNs) || stream.hasMarked(owner) ? bit : 0;
                if ((own & bit) != 0 || stream.stream().answersHere()) {
                    stream.poll();
                }
                stream.reachBoundary();
            }
        } finally {
            turn.unlock();
        }
        tryAgain(own);
    }

    /** Resolves the samples that a device has finished, before its stream closes or its spans are read. */
    private void catchUp(int stream) {
        long owner = drain();
        MarkedStream marked = streams[stream];
        turn.lock();
        try {
            if (marked.hasMarked(owner) || marked.stream().answersHere()) {
                marked.poll();
            }
        } finally {
            turn.unlock();
        }
    }

    /** Takes all queued samples, and returns the calling thread as an owner of samples. */
    private long drain() {
        turn.lock();
        try {
            takeQueued();
        } finally {
            turn.unlock();
        }
        return queue.caller();
    }

    /** Takes all queued samples. The caller holds the turn. */
    private void takeQueued() {
        boolean hasLaunched;
        do {
            queue.drain();
            hasLaunched = false;
            for (MarkedStream stream : streams) {
                hasLaunched |= stream.hasTakenLaunches();
            }
        } while (hasLaunched);
        boolean hasUnmatched = false;
        for (MarkedStream stream : streams) {
            stream.settleLaunches();
            hasUnmatched |= stream.hasUnmatched();
        }
        if (hasUnmatched) {
            queue.drainStarts();
            for (MarkedStream stream : streams) {
                stream.matchAgain();
            }
        }
    }

    /** Waits for the last sample of a thread, or of all threads, without the turn. */
    private void await(MarkedStream marked, long owner) {
        long mark = holdEndToAwait(marked, owner);
        boolean isReached = true;
        for (int wait = 0; isReached && mark != Marks.NONE && wait < MOST_WAITS; wait++) {
            int number = Marks.mark(mark);
            boolean wasReached = marked.stream().isReached(number);
            isReached = wasReached || marked.stream().waitFor(number);
            long lookedNs = clock.nanoTime();
            turn.lock();
            try {
                if (isReached) {
                    mark = marked.resolve(owner, mark, wasReached, lookedNs);
                } else {
                    marked.poll();
                    if (marked.stream().isStalled()) {
                        marked.giveUp(owner);
                    }
                }
            } finally {
                turn.unlock();
            }
        }
        marked.letGo(mark);
    }

    private long holdEndToAwait(MarkedStream marked, long owner) {
        turn.lock();
        try {
            return marked.holdEndToAwait(owner);
        } finally {
            turn.unlock();
        }
    }

    /** Forgets the samples that wait. */
    public void discard() {
        turn.lock();
        try {
            takeQueued();
            Arrays.stream(streams).forEach(MarkedStream::discard);
        } finally {
            turn.unlock();
        }
    }

    /**
     * Gives back the marks of running timers and of starts. A timer that is stopped later is unresolved, and so is a
     * sample from such a start. Samples that have ended keep waiting.
     */
    public void giveBack() {
        turn.lock();
        try {
            takeQueued();
            Arrays.stream(streams).forEach(MarkedStream::giveBack);
        } finally {
            turn.unlock();
        }
    }

    /** Takes samples from the queue. The caller holds the turn. */
    private final class Taking implements SampleQueue.Taker {
        @Override
        public void take(long owner, int stream, int row, long start, int end, long elements) {
            streams[stream].take(owner, row, start, end, elements);
        }

        @Override
        public void takeDeferred(long owner, int stream, int row, int end, long elements) {
            streams[stream].takeDeferred(owner, row, end, elements);
        }

        @Override
        public void takeLaunch(long owner, int stream, int phase, int capture, int end) {
            streams[stream].takeLaunch(owner, phase, capture, end);
        }

        @Override
        public void takeStart(int stream, long start, long readingNs) {
            streams[stream].takeStart(start, readingNs);
        }
    }

    /** Gives back the marks of recorders that have become garbage. */
    private static final class Forgotten {
        static final Cleaner CLEANER = Cleaner.create();
    }

    // ---- readers ----

    /**
     * Returns how many samples wait for their time.
     *
     * @return 0 or more; exact while no thread is recording
     */
    public int pendingCount() {
        turn.lock();
        try {
            boolean hasCaptures = false;
            for (MarkedStream stream : streams) {
                hasCaptures |= stream.hasCaptures();
            }
            if (hasCaptures) {
                // A launch in the queue is one entry, whatever the number of its bricks.
                takeQueued();
            }
            long count = queue.size();
            for (MarkedStream stream : streams) {
                count += stream.pendingCount();
            }
            return (int) Math.min(Integer.MAX_VALUE, count);
        } finally {
            turn.unlock();
        }
    }

    private boolean catchUpAndIsWaiting(int stream) {
        catchUp(stream);
        return pendingCount() > 0;
    }

    /**
     * Reads or resets while nothing is resolved, so that device times, launches and totals belong together. Queries no
     * device.
     *
     * @param <T> the type of the result
     * @param reader reads or resets
     * @return its result
     */
    public <T> T whileQuiet(Supplier<T> reader) {
        turn.lock();
        try {
            return reader.get();
        } finally {
            turn.unlock();
        }
    }

    /**
     * Returns the figures of device samples other than their times since the last reset.
     *
     * @param fromKey the first row that is asked for
     * @param toKey the row after the last
     * @return the figures
     */
    public DeviceFigures figures(int fromKey, int toKey) {
        return whileQuiet(() -> sums.figures(fromKey, toKey, totals(), estimates(fromKey, toKey)));
    }

    /**
     * Returns the figures of device samples other than their times since the last reset, and resets them.
     *
     * @return the figures of all rows
     */
    public DeviceFigures figuresAndReset() {
        return whileQuiet(() -> {
            DeviceFigures ended = sums.figuresAndReset(totals(), estimates(0, TimerToken.MAX_KEY + 1));
            Arrays.stream(streams).forEach(MarkedStream::resetTotals);
            return ended;
        });
    }

    private DeviceFigures.Estimates estimates(int fromKey, int toKey) {
        DeviceFigures.Estimates estimates = new DeviceFigures.Estimates(new HashMap<>(), new HashMap<>());
        for (MarkedStream stream : streams) {
            stream.addEstimates(estimates.rows(), estimates.buckets(), fromKey, toKey);
        }
        return estimates;
    }

    private List<StreamTotals> totals() {
        return Arrays.stream(streams).map(MarkedStream::totals).toList();
    }
}
