package org.brickprofiler.internal.device;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.mark.GraphMarks;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * One stream of a recorder: sets marks where bricks begin and end, and resolves the samples between them. {@link Marks}
 * holds the state of the marks, {@link WaitingSamples} the samples, and a {@link MarkChain} orders the marks as the
 * device does and finds their times. This class connects the three.
 *
 * <p>Any thread starts and stops bricks, without a lock. {@link DeviceRecorder} lets one thread at a time do everything
 * else.
 */
final class MarkedStream {

    private static final Log LOG = Log.of(MarkedStream.class);

    private static final String UNCHECKED =
            "the readings of the device's clock could not be checked, because no brick of a"
                    + " batch had a time of the host: bricks may lie elsewhere on the host's timeline";

    private static final long NO_TIME = DeviceRecorder.NO_TIME;
    private static final long NO_ELEMENTS = -1;

    // The draw that is noted with a mark: the phase of the brick, whether its row is one of its thread alone, its
    // weight.
    private static final int OF_PHASE = 3;
    private static final int OWN = 4;
    private static final int DRAW_SHIFT = 3;
    private static final int WEIGHT_1 = 1 << DRAW_SHIFT;

    /** Takes the place of a thread line if there is none. */
    private static final long NO_LINE = 0;

    /**
     * The maximum number of threads that are remembered as having ended samples but no pass since; beyond it, the
     * oldest is forgotten.
     */
    private static final int MOST_MARKERS = 256;

    private final DeviceStream stream;
    private final NanoClock clock;
    private final int index;

    private final Marks marks;

    /** Makes the readings at the starts of deferred measurements unique among all streams. */
    private final Readings readings;

    /** The phase of the samples that the calling thread ends now: they belong to the step that enqueues them. */
    private final IntSupplier phase;

    private final LaunchDraws draws;
    private final SampleQueue queue;
    private final DeviceFigures.Sums sums;

    /** Makes room if no mark is left; returns false if it cannot. */
    private final Predicate<MarkedStream> roomMaker;

    /** How many launches did not fit into the queue of their thread, by capture. */
    private final Map<Integer, Integer> lostLaunches = new ConcurrentHashMap<>();

    /** The bricks whose marks are drawn; null if each brick is marked. Set before the first brick. */
    private @Nullable SampledRows sampled;

    private final PassMarks pass;

    /** Whether a graph was launched before the first brick of a pass, so that the start of the pass has no mark. */
    private volatile boolean beganByLaunch;

    /** Whether a mark of a capture outside of a scope was found when the latest pass ended. */
    private boolean hadStray;

    /** Whether it was logged that each launch of a graph marks its bricks. */
    private boolean marksGraphs;

    /** Whether the timeline knows that there are net times; racy, since noting them twice does no harm. */
    private boolean hasNotedNetTimes;

    /** Whether it was logged that no mark was left. */
    private final AtomicBoolean exhausted = new AtomicBoolean();

    /** Null if no spans are wanted. */
    private final SpanSink.@Nullable Stream spans;

    /** Holds the timelines of the threads. */
    private final TableRegistry lines;

    // One thread at a time uses the fields below.

    private final WaitingSamples waiting;
    private final MarkChain chain;

    /** The starts at which deferred measurements may begin. */
    private final StartMarks starts;

    /** The bricks of captured graphs; null if the stream knows no captures. */
    private final @Nullable GraphTemplates graphs;

    /** Deferred measurements that were taken before their start: owner, row, end and elements of each. */
    private final Longs unmatched = new Longs();

    /** The threads that ended samples here since they last ended a pass. */
    private final Longs markers = new Longs();

    /** The mark up to which busy and idle time is added up; held. */
    private int counted = DeviceStream.NO_MARK;

    /** The turn of the latest mark up to which time was added up. */
    private long countedTurn;

    /**
     * The last mark of the latest batch, held, from which the next batch continues the stream's timeline. There is none
     * while no start and no waiting sample has a time there.
     */
    private int anchor = DeviceStream.NO_MARK;

    /** The time of the anchor on the stream's timeline. */
    private long anchorNs;

    /** The latest end of a sample that had work, on the stream's timeline, ns. */
    private long workedUntilNs = Long.MIN_VALUE;

    // Sums since the last reset.
    private long samples;
    private long busyNs;
    private long idleNs;
    private long gaps;
    private long shortestGapNs = Long.MAX_VALUE;
    private long waits;
    private long passNs;
    private long lostPasses;
    private long passMarks;
    private long bricksNs;

    /** How many samples contain other marks than those at their ends, or may. */
    private long nested;

    /** The latest error; a reset keeps it. */
    private long clockErrorNs;

    /** Whether bricks were placed by readings of the device's clock that could not be checked; this was logged then. */
    private boolean unchecked;

    /**
     * The parts that the streams of a recorder have in common.
     *
     * @param clock the host's clock
     * @param readings makes the readings at the starts of deferred measurements unique among all streams
     * @param queue receives the samples that threads end
     * @param sums counts resolved and unresolved samples
     * @param lines holds the timelines of the threads, for launches
     * @param phase the number of the phase of the samples that the calling thread ends now
     */
    record Shared(
            NanoClock clock,
            Readings readings,
            SampleQueue queue,
            DeviceFigures.Sums sums,
            TableRegistry lines,
            IntSupplier phase) {}

    /**
     * Creates the state of a stream in which no mark was set so far.
     *
     * @param stream the queue of the device
     * @param index its number among the streams of its recorder
     * @param shared the parts that the streams of the recorder have in common
     * @param launchesEvery the host's launch time is measured for one brick in this many
     * @param roomMaker makes room if no mark is left, and returns whether it could
     * @param spans receives the device's work; null if no spans are wanted
     */
    MarkedStream(
            DeviceStream stream,
            int index,
            Shared shared,
            int launchesEvery,
            Predicate<MarkedStream> roomMaker,
            SpanSink.@Nullable Stream spans) {
        this.stream = stream;
        this.index = index;
        this.clock = shared.clock;
        this.draws = new LaunchDraws(spans == null ? launchesEvery : 1);
        this.queue = shared.queue;
        this.sums = shared.sums;
        this.roomMaker = roomMaker;
        this.lines = shared.lines;
        this.spans = spans;
        this.marks = new Marks(stream);
        this.waiting = new WaitingSamples(stream, marks);
        this.chain = new MarkChain(stream, marks, clock);
        this.starts = new StartMarks(stream, marks);
        GraphMarks captured = GraphMarks.of(stream);
        this.graphs = captured == null ? null : new GraphTemplates(captured, marks, sums);
        this.readings = shared.readings;
        this.phase = shared.phase;
        this.pass = new PassMarks(marks);
    }

    /** Draws the bricks that are marked from now on; nothing has begun so far. Returns their rows. */
    SampledRows sample(DeviceSampling sampling, boolean hasPercentiles) {
        SampledRows drawn = new SampledRows(sampling, index, hasPercentiles, pass, GraphMarks.of(stream));
        sampled = drawn;
        return drawn;
    }

    /** Returns whether not each brick is marked. */
    boolean isSampled() {
        return sampled != null;
    }

    DeviceStream stream() {
        return stream;
    }

    int index() {
        return index;
    }

    // ---- any thread ----

    /** See {@link DeviceRecorder#start}. */
    long start(int row) {
        SampledRows drawn = sampled;
        if (drawn != null) {
            return start(drawn, row, draw(drawn, row));
        }
        boolean timed = draws.next();
        long start = set(true, 1, timed);
        return MarkToken.device(row, index, start, timed);
    }

    /**
     * Returns the draw of a brick that begins, or of a deferred measurement that ends; its weight is 0 without mark.
     */
    private int draw(SampledRows drawn, int row) {
        if (graphs != null && graphs.isCapturing()) {
            // Each launch will be a sample of each brick of the graph.
            return WEIGHT_1 | PhaseKey.phase(row);
        }
        if (pass.isOver()) {
            openPass();
        }
        if (!drawn.isUpdated()) {
            drawn.update();
        }
        boolean isOwn = drawn.isOwn();
        return (drawn.start(row, isOwn) << DRAW_SHIFT) | (isOwn ? OWN : 0) | PhaseKey.phase(row);
    }

    private void openPass() {
        if (pass.claim()) {
            pass.open(set(false, 1, false));
        }
    }

    /** Starts a brick on its own, with a mark if it is drawn. */
    private long start(SampledRows drawn, int row, int draw) {
        return draw < WEIGHT_1
                ? drawn.timer(row, (draw & OWN) != 0)
                : startMarked(drawn, row, draw, 1, draws.next(), false);
    }

    /** Sets the mark of a drawn brick that begins, which may also be the end of a brick before it. */
    private long startMarked(SampledRows drawn, int row, int draw, int holders, boolean timed, boolean reads) {
        long mark = set(true, holders, timed || reads);
        if (mark == Marks.NONE) {
            lose(drawn, row, draw);
        } else {
            marks.setDraw(Marks.mark(mark), draw);
        }
        return MarkToken.device(PhaseKey.key(row), index, mark, timed);
    }

    private void stopUnmarked(long timer, long elements) {
        SampledRows drawn = sampled;
        int row = MarkToken.row(timer);
        if (drawn != null && drawn.isCurrent(timer)) {
            boolean isOwn = MarkToken.isOwn(timer);
            drawn.row(row, isOwn).stop(elements, isOwn && drawn.isOwn());
        } else {
            sums.unresolved(row);
        }
    }

    /** Lets the next sample of a row stand for the bricks of one that has no time. */
    private void lose(int row, int drawnAt) {
        SampledRows drawn = sampled;
        if (drawn != null) {
            lose(drawn, row, marks.draw(drawnAt));
        }
    }

    private static void lose(SampledRows drawn, int row, int draw) {
        drawn.row(row, (draw & OWN) != 0).owe((draw >>> DRAW_SHIFT) - 1L);
    }

    /** Takes back what {@link #lose} lets count: a timer that is stopped again stands for one brick, itself. */
    private void again(int row, int drawnAt) {
        SampledRows drawn = sampled;
        if (drawn != null) {
            int draw = marks.draw(drawnAt);
            drawn.row(row, (draw & OWN) != 0).owe(1L - (draw >>> DRAW_SHIFT));
        }
    }

    /** Returns the row of a brick that began at a mark: with drawn marks in its phase of then, otherwise of now. */
    private int row(int key, long start) {
        return sampled == null ? row(key) : PhaseKey.of(marks.draw(Marks.mark(start)) & OF_PHASE, key);
    }

    /** See {@link DeviceRecorder#stop}. */
    long stop(long timer, long elements) {
        if (MarkToken.isUnmarked(timer)) {
            stopUnmarked(timer, elements);
            return NO_TIME;
        }
        int key = MarkToken.key(timer);
        long start = MarkToken.handle(timer);
        if (!marks.isCurrent(start)) {
            sums.unresolved(row(key));
            return NO_TIME;
        }
        boolean timed = MarkToken.isTimed(timer);
        long end = set(false, 1, timed);
        return end(key, start, end, elements) && timed ? marks.setNs(Marks.mark(end)) : NO_TIME;
    }

    /** See {@link DeviceRecorder#lap}. */
    long lap(long timer, long elements, int nextRow) {
        SampledRows drawn = sampled;
        if (drawn != null) {
            return lap(drawn, timer, elements, nextRow);
        }
        int key = MarkToken.key(timer);
        long start = MarkToken.handle(timer);
        boolean running = marks.isCurrent(start);
        boolean timed = draws.next();
        long mark = set(true, running ? 2 : 1, timed || (running && MarkToken.isTimed(timer)));
        if (running) {
            end(key, start, mark, elements);
        } else {
            sums.unresolved(row(key));
        }
        return MarkToken.device(nextRow, index, mark, timed);
    }

    /** Sets a mark if one of the two bricks is drawn, which both share if both are. */
    private long lap(SampledRows drawn, long timer, long elements, int row) {
        int draw = draw(drawn, row);
        boolean isMarked = !MarkToken.isUnmarked(timer) && marks.isCurrent(MarkToken.handle(timer));
        if (draw < WEIGHT_1 || !isMarked) {
            stop(timer, elements);
            return start(drawn, row, draw);
        }
        long next = startMarked(drawn, row, draw, 2, draws.next(), MarkToken.isTimed(timer));
        end(MarkToken.key(timer), MarkToken.handle(timer), MarkToken.handle(next), elements);
        return next;
    }

    /** Returns the row of a brick in the phase of the calling thread. */
    private int row(int key) {
        return PhaseKey.of(phase.getAsInt(), key);
    }

    /** Ends the sample of a timer at a mark, or without one. Returns false if its time will not be known. */
    private boolean end(int key, long start, long end, long elements) {
        // If marks ran out, the mark of the start may belong to another brick by now.
        if (spans != null && marks.isCurrent(start)) {
            launched(key, marks.setNs(Marks.mark(start)), end);
        }
        boolean isMarked = end != Marks.NONE;
        int row = row(key, start);
        if (!queue.offer(index, row, start, isMarked ? Marks.mark(end) : SampleQueue.NO_END, elements)) {
            sums.unresolved(row);
            lose(row, Marks.mark(start));
            letGo(end);
            return false;
        }
        return isMarked;
    }

    /** See {@link DeviceRecorder#startedNs}. */
    long startedNs(long timer) {
        long start = MarkToken.handle(timer);
        return marks.isCurrent(start) ? marks.setNs(Marks.mark(start)) : NO_TIME;
    }

    /** See {@link DeviceRecorder#markStart}. */
    long markStart() {
        if (sampled != null && pass.isOver() && (graphs == null || !graphs.isCapturing())) {
            openPass();
        }
        long nowNs = clock.nanoTime();
        long readingNs = readings.unique(nowNs);
        int mark = stream.mark();
        if (mark != DeviceStream.NO_MARK) {
            offerStart(marks.setBeginning(mark, 1, nowNs), readingNs);
        } else {
            offerStart(setAfterMakingRoom(true, 1, true), readingNs);
        }
        return readingNs;
    }

    /** Queues a start; without a mark it queues nothing, and no measurement will find the start. */
    private void offerStart(long start, long readingNs) {
        if (start != Marks.NONE && sampled != null) {
            marks.setDraw(Marks.mark(start), 0);
        }
        if (start != Marks.NONE && !queue.offerStart(index, start, readingNs)) {
            marks.letGo(start);
        }
    }

    /** See {@link DeviceRecorder#endSince}. */
    void endSince(int key, long sinceNs, long elements) {
        SampledRows drawn = sampled;
        int row = row(key);
        int draw = drawn == null ? WEIGHT_1 : draw(drawn, row);
        if (drawn != null && draw < WEIGHT_1) {
            boolean isOwn = (draw & OWN) != 0;
            drawn.row(row, isOwn).stop(elements, isOwn);
            return;
        }
        long end = set(false, 1, draws.next());
        if (spans != null) {
            launched(key, sinceNs, end);
        }
        if (end == Marks.NONE) {
            sums.unresolved(row);
            if (drawn != null) {
                lose(drawn, row, draw);
            }
            // The mark at its start has to be given back, like that of a timer without an end.
            queue.offerStart(index, Marks.NONE, sinceNs);
            return;
        }
        int mark = Marks.mark(end);
        marks.setReading(mark, sinceNs);
        if (drawn != null) {
            marks.setDraw(mark, draw);
        }
        if (!queue.offerDeferred(index, row, mark, elements)) {
            sums.unresolved(row);
            lose(row, mark);
            marks.letGo(end);
        }
    }

    /** Sets a mark before a capture; returns its handle, or {@link Marks#NONE}. */
    long markCapture() {
        return set(false, 1, false);
    }

    /** Notes that a capture has begun: its bricks are part of a graph, and each has marks. */
    void captureBegan() {
        SampledRows drawn = sampled;
        if (drawn != null) {
            drawn.update();
        }
    }

    /** Queues the launch of a graph at the end of the stream's queue. */
    void launched(int capture) {
        if (sampled != null && pass.isOver()) {
            beganByLaunch = true;
        }
        long end = set(false, 1, true);
        if (!queue.offerLaunch(
                index, phase.getAsInt(), capture, end == Marks.NONE ? SampleQueue.NO_END : Marks.mark(end))) {
            letGo(end);
            lostLaunches.merge(capture, 1, Integer::sum);
        }
    }

    /** Removes the caller's hold of a mark, if it has one. */
    void letGo(long handle) {
        if (handle != Marks.NONE) {
            marks.letGo(handle);
        }
    }

    /** Sets a mark with a number of holders. Reading the host's clock takes about as long as the rest. */
    private long set(boolean begins, int holders, boolean reads) {
        long mark = trySet(begins, holders, reads);
        return mark != Marks.NONE ? mark : setAfterMakingRoom(begins, holders, reads);
    }

    private long trySet(boolean begins, int holders, boolean reads) {
        long nowNs = reads ? clock.nanoTime() : Marks.NOT_READ;
        int mark = stream.mark();
        if (mark == DeviceStream.NO_MARK) {
            return Marks.NONE;
        }
        return begins ? marks.setBeginning(mark, holders, nowNs) : marks.set(mark, holders, nowNs);
    }

    private long setAfterMakingRoom(boolean begins, int holders, boolean reads) {
        long mark = roomMaker.test(this) ? trySet(begins, holders, reads) : Marks.NONE;
        if (mark == Marks.NONE) {
            miss();
        }
        return mark;
    }

    /** Notes that a brick has no mark, and logs this once, unless the stream has a reason of its own. */
    private void miss() {
        if (!exhausted.get() && stream.failure().isEmpty() && exhausted.compareAndSet(false, true)) {
            LOG.warn(
                    "all {} marks of stream '{}' wait for their bricks{}: until one is free, bricks are unresolved. End"
                            + " passes more often, or give the stream more marks",
                    stream.maxMarks(),
                    stream.name(),
                    hasCaptures() ? " or are part of captured graphs, which keep them until they are released" : "");
        }
        marks.miss();
    }

    /** Puts the launch of a sample onto the line of the calling thread, which has just ended it. */
    private void launched(int key, long sinceNs, long end) {
        boolean isMarked = end != Marks.NONE;
        long endNs = isMarked ? marks.setNs(Marks.mark(end)) : clock.nanoTime();
        long line = lines.mark(SpanKind.ENQUEUED, key, sinceNs, Math.max(0, endNs - sinceNs), NO_ELEMENTS);
        if (isMarked) {
            marks.setLine(Marks.mark(end), line);
        }
    }

    /** Measures the host's launch time of every brick from now on. */
    void timeEveryLaunch() {
        draws.drawAll();
    }

    /** Marks each brick from now on. Returns whether some would not have been marked. */
    boolean markAll() {
        SampledRows drawn = sampled;
        if (drawn != null) {
            drawn.markAll();
        }
        return drawn != null;
    }

    /**
     * Sets the mark at the end of a pass.
     *
     * @return the handle of the mark; {@link Marks#NONE} if no mark can be set
     */
    long markPassEnd() {
        return set(false, 1, false);
    }

    // ---- one thread at a time: waiting samples ----

    /**
     * Takes a sample from the queue. It is unresolved if it has no end, or if its first mark belongs to another brick
     * by now.
     */
    void take(long owner, int row, long start, int end, long elements) {
        int startMark = Marks.mark(start);
        boolean isMarked = end != SampleQueue.NO_END;
        noteMarker(owner);
        if (!marks.isCurrent(start)) {
            sums.unresolved(row);
            if (isMarked) {
                marks.letGo(end);
            }
            return;
        }
        boolean holds = marks.claim(startMark);
        if (isMarked) {
            if (!holds) {
                marks.hold(startMark);
                again(row, startMark);
            }
            if (graphs == null || !graphs.take(row, startMark, end, elements)) {
                waiting.add(row, startMark, end, elements, owner);
            }
        } else {
            sums.unresolved(row);
            lose(row, startMark);
            if (holds) {
                marks.letGo(startMark);
            }
        }
    }

    /**
     * Returns the pass of this stream that the calling thread ends: if it has begun the pass or ended marked samples in
     * it, or if the thread that began the pass is gone.
     *
     * @param owner the calling thread, or {@link DeviceRecorder#EVERYBODY} if the pass ends in any case
     * @return the pass, for {@link #takePass}; {@link Marks#NONE} if the thread ends none
     */
    long passToEnd(long owner) {
        boolean ends = owner == DeviceRecorder.EVERYBODY || pass.isOfCaller() || hasMarked(owner);
        return ends ? pass.opened() : Marks.NONE;
    }

    /**
     * Takes a pass that ends at a mark, unless another thread has ended it: the mark may then lie before the start of
     * the pass that is open now.
     *
     * @param owner the thread that ended it
     * @param ended the pass, as {@link #passToEnd} returned it before the mark was set
     * @param end the handle of the mark at its end, or {@link Marks#NONE}
     */
    void takePass(long owner, long ended, long end) {
        SampledRows drawn = sampled;
        if (drawn == null || pass.opened() != ended) {
            letGo(end);
            return;
        }
        long start = closePass(drawn);
        boolean isMarked = start != Marks.NONE && end != Marks.NONE && marks.isCurrent(start);
        if (isMarked) {
            noteMarker(owner);
            waiting.addPass(Marks.mark(start), Marks.mark(end), owner);
            drawn.close();
            if (pass.end(end)) {
                drawn.advance();
            }
            return;
        }
        letGo(start);
        letGo(end);
        lostPasses++;
        if (!stream.isUsable()) {
            drawn.close();
            drawn.advance();
            drawn.giveUp(sums);
        }
    }

    private long closePass(SampledRows drawn) {
        long start = pass.close();
        drawn.update();
        return start;
    }

    /**
     * Takes a start of deferred measurements from the queue, unless its mark was taken back.
     *
     * @param start the handle of its mark; {@link Marks#NONE} if a measurement that began there got no mark at its end
     * @param readingNs the reading by which it is found
     */
    void takeStart(long start, long readingNs) {
        if (start == Marks.NONE) {
            starts.withdraw(readingNs);
        } else if (marks.isCurrent(start)) {
            starts.put(readingNs, Marks.mark(start));
        }
    }

    /** Takes a deferred measurement from the queue. */
    void takeDeferred(long owner, int row, int end, long elements) {
        noteMarker(owner);
        if (!match(owner, row, end, elements)) {
            unmatched.add(owner);
            unmatched.add(row);
            unmatched.add(end);
            unmatched.add(elements);
        }
    }

    /**
     * Notes that a capture begins.
     *
     * @param before the handle of the mark before it, or {@link Marks#NONE}
     */
    void openCapture(int capture, long before) {
        graphs().open(capture, before == Marks.NONE ? DeviceStream.NO_MARK : Marks.mark(before));
        SampledRows drawn = sampled;
        if (drawn != null && drawn.every() > 1 && !marksGraphs) {
            marksGraphs = true;
            LOG.warn(
                    "deviceSampling({}) does not apply to captured graphs: marks are part of a graph, so each launch in"
                            + " stream '{}' marks each brick of its graph",
                    drawn.every(),
                    stream.name());
        }
    }

    /** Notes that the graph of a capture will not be launched again. */
    void releaseCapture(int capture) {
        graphs().release(capture);
    }

    /** Takes a launch of a captured graph from the queue. */
    void takeLaunch(long owner, int launchPhase, int capture, int end) {
        noteMarker(owner);
        int mark = end == SampleQueue.NO_END ? DeviceStream.NO_MARK : end;
        graphs().takeLaunch(capture, launchPhase, mark, owner, waiting);
    }

    /** Returns the bricks of captured graphs, for calls that only a stream with captures gets. */
    private GraphTemplates graphs() {
        return Objects.requireNonNull(graphs);
    }

    /** Returns whether graphs were captured that are not released. */
    boolean hasCaptures() {
        return graphs != null && !graphs.isEmpty();
    }

    /** Returns whether launches were taken since the last call, whose bricks may still be in the queue. */
    boolean hasTakenLaunches() {
        return graphs != null && graphs.hasTaken();
    }

    /** Counts lost launches, after all bricks of captures that were queued before them were taken. */
    void settleLaunches() {
        if (graphs == null) {
            return;
        }
        if (!lostLaunches.isEmpty()) {
            countLostLaunches(graphs);
        }
        graphs.settle();
    }

    private void countLostLaunches(GraphTemplates templates) {
        for (Integer capture : List.copyOf(lostLaunches.keySet())) {
            Integer lost = lostLaunches.remove(capture);
            for (int i = lost == null ? 0 : lost; i > 0; i--) {
                templates.takeLaunch(
                        capture, PhaseKey.NO_PHASE, DeviceStream.NO_MARK, DeviceRecorder.EVERYBODY, waiting);
            }
        }
    }

    private boolean match(long owner, int row, int end, long elements) {
        int at = starts.find(marks.reading(end));
        if (at == StartMarks.UNKNOWN) {
            return false;
        }
        if (starts.isTime(at)) {
            waiting.addSince(row, starts.useTime(at), end, elements, owner);
        } else {
            waiting.add(row, starts.lend(at), end, elements, owner);
        }
        return true;
    }

    /** Returns whether deferred measurements were taken whose start was not. */
    boolean hasUnmatched() {
        return unmatched.size() > 0;
    }

    /**
     * Matches measurements with starts again, after all starts that were queued before them were taken: a measurement
     * that still has no start never will.
     */
    void matchAgain() {
        for (int at = 0; at < unmatched.size(); at += 4) {
            int row = (int) unmatched.get(at + 1);
            int end = (int) unmatched.get(at + 2);
            if (!match(unmatched.get(at), row, end, unmatched.get(at + 3))) {
                sums.withoutStart(row);
                lose(row, end);
                marks.letGo(end);
            }
        }
        unmatched.clear();
    }

    private void noteMarker(long owner) {
        if (markers.indexOf(owner) < 0) {
            if (markers.size() == MOST_MARKERS) {
                markers.removeAt(0);
            }
            markers.add(owner);
        }
    }

    /** Returns whether a thread ended samples here since it last ended a pass. */
    boolean hasMarked(long owner) {
        return markers.indexOf(owner) >= 0;
    }

    /** Returns how many samples wait for their time. */
    int pendingCount() {
        SampledRows drawn = sampled;
        long unmarked = drawn == null ? 0 : drawn.waiting();
        int marked =
                waiting.size() - waiting.launches() - waiting.passes() + (graphs == null ? 0 : graphs.pendingCount());
        return (int) Math.min(Integer.MAX_VALUE, marked + unmarked);
    }

    /**
     * Returns the mark that a thread, or all threads, have to wait for, held until {@link #letGo}; {@link Marks#NONE}
     * if there is none.
     */
    long holdEndToAwait(long owner) {
        return hold(waiting.endToAwait(owner));
    }

    private long hold(int mark) {
        if (mark == DeviceStream.NO_MARK) {
            return Marks.NONE;
        }
        marks.hold(mark);
        return marks.handle(mark);
    }

    // ---- one thread at a time: resolving ----

    /**
     * Resolves the samples of a thread that has waited for its last mark, and finished samples of other threads.
     *
     * @param owner the thread, or {@link DeviceRecorder#EVERYBODY}
     * @param awaited the mark that it waited for, as {@link #holdEndToAwait} returned it; let go here
     * @param wasReached whether it was reached before, so that the thread did not wait
     * @param lookedNs the host's clock after that
     * @return the mark that it has to wait for next, held; {@link Marks#NONE} for none. There is one if its last mark
     *     is never reached because it is of a capture, or if the samples of a virtual thread arrived in another order
     *     than it ended them
     */
    long resolve(long owner, long awaited, boolean wasReached, long lookedNs) {
        draws.drawNext();
        if (!wasReached) {
            waits++;
        }
        int done = waiting.moveDoneToFront(owner);
        if (done > 0) {
            resolve(done, lookedNs, wasReached ? DeviceStream.NO_MARK : Marks.mark(awaited));
        }
        marks.letGo(awaited);
        return hold(waiting.lastUnreachedEnd(owner));
    }

    /** Resolves the samples that have their time, without waiting. */
    void poll() {
        draws.drawNext();
        int done = stream.isUsable() ? waiting.moveReachedToFront() : waiting.size();
        if (done > 0 || starts.hasReached()) {
            resolve(done, clock.nanoTime(), DeviceStream.NO_MARK);
        }
    }

    /** Counts the samples of a thread that the device has not finished as unresolved, after the timeout of a wait. */
    void giveUp(long owner) {
        waits++;
        int count = waiting.moveOwnToFront(owner);
        for (int i = 0; i < count; i++) {
            if (graphs != null && waiting.isLaunch(i)) {
                graphs.giveUp(waiting.capture(i), waiting.launch(i));
            } else if (waiting.isPass(i)) {
                passEnded(i, NO_TIME);
            } else {
                sums.unresolved(waiting.row(i));
                lose(waiting.row(i), drawnAt(i));
            }
        }
        if (count > 0) {
            marks.giveUpSamples();
        }
        waiting.drop(count);
        // The time since the last counted mark may be theirs: it is neither busy nor idle.
        forgetCounted();
    }

    /** Returns whether a reading of {@link #markStart} is a known start of this stream, which then counts as used. */
    boolean hasStart(long readingNs) {
        int at = starts.find(readingNs);
        if (at == StartMarks.UNKNOWN) {
            return false;
        }
        starts.use(at);
        return true;
    }

    private void resolve(int count, long lookedNs, int awaited) {
        chain.begin();
        if (counted != DeviceStream.NO_MARK) {
            chain.add(counted);
        }
        if (anchor != DeviceStream.NO_MARK) {
            chain.add(anchor);
        }
        for (int i = 0; i < count; i++) {
            if (waiting.isLaunch(i)) {
                if (!addLaunch(i)) {
                    return;
                }
            } else if (waiting.hasStart(i)) {
                chain.addSample(waiting.start(i), waiting.end(i));
            } else {
                chain.addSampleSince(waiting.end(i));
            }
        }
        starts.addReached(chain);
        chain.measure(lookedNs, awaited);
        if (chain.isEarly() && stream.isUsable()) {
            return;
        }
        boolean hasTimeline = chain.continueFrom(anchor, anchorNs);
        if (!hasTimeline || anchor == DeviceStream.NO_MARK) {
            endTimeline();
        }
        sums.begin();
        try {
            for (int i = 0; i < count; i++) {
                if (waiting.isLaunch(i)) {
                    resolveLaunch(i, lookedNs);
                } else if (waiting.isPass(i)) {
                    passEnded(i, chain.elapsedNs(waiting.start(i), waiting.end(i)));
                } else {
                    resolve(i, lookedNs);
                }
            }
        } finally {
            sums.end();
        }
        // Held, because the last mark may become the anchor, and its present holders must not give it back.
        long last = hold(chain.last());
        starts.settle(chain, hasTimeline);
        addUp(count);
        waiting.drop(count);
        goOn(last);
    }

    /**
     * Adds the bricks of a launch to the batch; a launch without times is one sample without a time. Returns false if
     * its times cannot be queried now.
     */
    private boolean addLaunch(int i) {
        int end = waiting.end(i);
        GraphTemplates.Template template = measure(i);
        if (template == null) {
            chain.addSample(waiting.start(i), end);
        } else {
            chain.add(end);
            chain.delimit(end);
            GraphTemplates.addTo(chain, template, end);
        }
        return !graphs().isEarly();
    }

    private GraphTemplates.@Nullable Template measure(int i) {
        return graphs().measure(waiting.capture(i), waiting.launch(i), waiting.start(i), waiting.end(i));
    }

    private void resolveLaunch(int i, long lookedNs) {
        GraphTemplates.Template template = measure(i);
        int behind = waiting.end(i);
        int launchPhase = PhaseKey.phase(waiting.row(i));
        if (template == null) {
            chain.leaveOut(waiting.start(i), behind);
            return;
        }
        for (int brick = 0; brick < template.size(); brick++) {
            int start = template.start(brick);
            int end = template.end(brick);
            long elapsedNs = chain.elapsedNs(start, end);
            if (elapsedNs < 0) {
                sums.unresolved(PhaseKey.of(launchPhase, template.key(brick)));
                chain.leaveOut(start, end);
            } else {
                int row = PhaseKey.of(launchPhase, template.key(brick));
                add(row, end, elapsedNs, template.elements(brick), NO_TIME, lookedNs);
                SampledRows drawn = sampled;
                if (drawn != null) {
                    drawn.launched(row, elapsedNs);
                }
                // In a graph, marks take another time than those that were measured.
                sums.withoutMarkTime(row);
                nested++;
                addSpan(row, end, elapsedNs, template.elements(brick), NO_LINE, marks.setNs(behind));
            }
        }
        graphs().resolved(waiting.capture(i), waiting.launch(i));
    }

    /** Ends the stream's timeline: no start and no waiting sample has a time any more. */
    private void endTimeline() {
        starts.forgetTimes();
        waiting.forgetStarts();
        workedUntilNs = Long.MIN_VALUE;
    }

    private void resolve(int i, long lookedNs) {
        int row = waiting.row(i);
        int start = waiting.start(i);
        int end = waiting.end(i);
        boolean hasStart = waiting.hasStart(i);
        long elapsedNs = hasStart ? elapsedNs(start, end) : elapsedSinceNs(waiting.startNs(i), end);
        if (elapsedNs < 0) {
            sums.unresolved(row);
            lose(row, drawnAt(i));
            if (hasStart) {
                chain.leaveOut(start, end);
            } else {
                chain.leaveOutSince(end);
            }
            return;
        }
        long launchedNs = hasStart ? marks.setNs(start) : marks.reading(end);
        long endedNs = marks.setNs(end);
        boolean isTimed = launchedNs != Marks.NOT_READ && endedNs != Marks.NOT_READ;
        long launchNs = isTimed ? Math.max(0, endedNs - launchedNs) : NO_TIME;
        add(row, end, elapsedNs, waiting.elements(i), launchNs, lookedNs);
        long weight = weigh(row, elapsedNs, marks.draw(drawnAt(i)));
        long inside = hasStart ? marksBetween(start, end) : 1;
        bricksNs += elapsedNs;
        nested += inside > 0 ? 1 : 0;
        if (hasStart) {
            sums.marksInside(row, weight * inside);
        } else {
            sums.withoutMarkTime(row);
        }
        addSpan(row, end, elapsedNs, waiting.elements(i), marks.line(end), launchedNs);
    }

    /** Returns how many marks were set between two others. */
    private long marksBetween(int start, int end) {
        return Math.max(0, marks.turn(end) - marks.turn(start) - 1);
    }

    /** Returns the mark that has the draw of a sample: the start of a timer, or the end of a deferred measurement. */
    private int drawnAt(int i) {
        int start = waiting.start(i);
        return marks.draw(start) == 0 ? waiting.end(i) : start;
    }

    /** Adds a sample to its row, for the bricks for which it was drawn. Returns how many these are. */
    private long weigh(int row, long elapsedNs, int draw) {
        SampledRows drawn = sampled;
        return drawn == null ? 1 : drawn.row(row, (draw & OWN) != 0).sample(elapsedNs, draw >>> DRAW_SHIFT);
    }

    /**
     * Returns whether a part of a pass that ended, or of the one before it, was captured outside of a scope. Its bricks
     * have not run, and which of the unmarked ones these are is not known.
     */
    private boolean hasStray() {
        boolean found = graphs != null && graphs.takeStray();
        boolean has = found || hadStray;
        hadStray = found;
        return has;
    }

    /**
     * Counts the unmarked bricks of a pass whose last mark has its time, or gives them up if it has none or if a part
     * of the pass has not run.
     */
    private void passEnded(int i, long elapsedNs) {
        SampledRows drawn = Objects.requireNonNull(sampled);
        boolean isKnown = elapsedNs >= 0;
        if (isKnown) {
            passNs += elapsedNs;
            passMarks += 1 + marksBetween(waiting.start(i), waiting.end(i));
        } else {
            lostPasses++;
        }
        boolean hasRun = !hasStray();
        if (pass.isFirstEnd(waiting.end(i))) {
            if (isKnown && hasRun) {
                drawn.count();
            } else {
                drawn.giveUp(sums);
            }
            drawn.advance();
            pass.ended();
        }
    }

    private void add(int row, int end, long elapsedNs, long elements, long launchNs, long lookedNs) {
        samples++;
        workedUntilNs = Math.max(workedUntilNs, chain.deviceNs(end));
        sums.resolved(row, elapsedNs, launchNs, chain.isUnbroken() ? chain.hostNs(end) : lookedNs, elements);
    }

    private void addSpan(int row, int end, long elapsedNs, long elements, long line, long launchedNs) {
        if (spans == null) {
            return;
        }
        if (chain.isUnbroken()) {
            spans.clockErrorNs(chain.hostErrorNs());
            spans.sample(row, chain.hostNs(end) - elapsedNs, elapsedNs, elements, line, launchedNs);
        } else {
            spans.sampleWithoutPlace();
        }
    }

    private long elapsedNs(int start, int end) {
        long ns = chain.elapsedNs(start, end);
        return ns < 0 || stream.hasWorkBetween(start, end) ? ns : DeviceStream.UNRESOLVED;
    }

    /**
     * Returns the time from a start before the batch to a mark; unresolved without work in between. Work before the
     * batch is known only by a sample that has ended since the start.
     */
    private long elapsedSinceNs(long startNs, int end) {
        boolean hasWork =
                startNs != WaitingSamples.NO_START && (startNs < workedUntilNs || stream.hasWorkBetween(anchor, end));
        return hasWork ? chain.elapsedSinceNs(startNs, end) : DeviceStream.UNRESOLVED;
    }

    private void addUp(int resolved) {
        chain.addUp(counted, anchor, countedTurn);
        busyNs += chain.busyNs();
        idleNs += chain.idleNs();
        gaps += chain.gaps();
        shortestGapNs = Math.min(shortestGapNs, chain.shortestGapNs());
        if (resolved > 0 && chain.isUnbroken() && chain.hostErrorNs() != MarkChain.NO_ERROR) {
            clockErrorNs = chain.hostErrorNs();
        }
        noteNetTimes();
        if (resolved > 0 && chain.isUnchecked() && !unchecked) {
            unchecked = true;
            LOG.warn("stream '{}': {}", stream.name(), UNCHECKED);
        }
        int last = chain.lastCounted();
        // Nothing more is counted of a pass that is over, unless a sample of it still waits.
        boolean goesOn = last != DeviceStream.NO_MARK
                && (marks.isOfPassNow(last)
                        || (waiting.size() > resolved && marks.areOfOnePass(last, waiting.end(resolved))));
        if (last != DeviceStream.NO_MARK) {
            countedTurn = Math.max(countedTurn, marks.turn(last));
        }
        if (goesOn) {
            marks.hold(last);
        }
        forgetCounted();
        counted = goesOn ? last : DeviceStream.NO_MARK;
    }

    /**
     * Continues the timeline from the last mark of the batch, which is held while a start or a sample has a time there.
     */
    private void goOn(long last) {
        forgetAnchor();
        boolean isWanted = starts.hasTimes() || waiting.hasTimes();
        if (last == Marks.NONE) {
            endTimeline();
        } else if (isWanted) {
            anchor = Marks.mark(last);
            anchorNs = chain.deviceNs(anchor);
        } else {
            marks.letGo(last);
        }
    }

    /** Lets the stream measure what marks add, which may take long. Any thread. */
    void measureMarks() {
        stream.measureMarks();
        noteNetTimes();
    }

    private void noteNetTimes() {
        if (spans != null && !hasNotedNetTimes && stream.markCost().isKnown()) {
            hasNotedNetTimes = true;
            spans.hasNetTimes();
        }
    }

    private void forgetCounted() {
        if (counted != DeviceStream.NO_MARK) {
            marks.letGo(counted);
            counted = DeviceStream.NO_MARK;
        }
    }

    private void forgetAnchor() {
        if (anchor != DeviceStream.NO_MARK) {
            marks.letGo(anchor);
            anchor = DeviceStream.NO_MARK;
        }
    }

    // ---- one thread at a time: boundaries ----

    /** Ends a pass of a thread, or of all threads: the time until the next pass is neither busy nor idle. */
    void endPass(long owner) {
        if (owner == DeviceRecorder.EVERYBODY) {
            markers.clear();
        } else {
            int index = markers.indexOf(owner);
            if (index < 0) {
                return;
            }
            markers.removeAt(index);
        }
        marks.endPass();
        // After the end of a pass, the sums continue only for samples that still wait.
        if (waiting.size() == 0) {
            forgetCounted();
        }
    }

    /** Notes that a thread has ended a pass, here or on another stream, or has finalized pending measurements. */
    void reachBoundary() {
        marks.reachBoundary();
    }

    /** Forgets the samples that wait, and the starts at which they begin. */
    void discard() {
        waiting.drop(waiting.size());
        if (graphs != null) {
            graphs.forgetLaunches();
        }
        starts.forgetLent();
        forgetCounted();
        SampledRows drawn = sampled;
        if (drawn != null) {
            drawn.discard();
            pass.forgetEnds();
            // The time of the pass is that from its next brick on, as its bricks up to now are forgotten.
            letGo(closePass(drawn));
        }
    }

    /**
     * Gives back the marks of running timers and of starts. A timer that is stopped later is unresolved, and so is a
     * sample from such a start. Samples keep waiting.
     */
    void giveBack() {
        starts.clear();
        forgetCounted();
        SampledRows drawn = sampled;
        if (drawn != null) {
            drawn.giveBack();
            lostPasses += pass.isOver() ? 0 : 1;
            letGo(closePass(drawn));
        }
        if (!waiting.hasTimes()) {
            forgetAnchor();
        }
        marks.takeBackBeginnings(kept());
    }

    /**
     * Makes room if no mark is left: takes marks back from timers that were started two boundaries ago or earlier and
     * never stopped. If one of them is stopped after all, its sample is unresolved.
     */
    void reclaim() {
        if (marks.mayHaveAbandoned()) {
            marks.takeBackAbandoned(kept());
        }
    }

    /** Returns the marks that are held by others than timers, by number. */
    private boolean[] kept() {
        boolean[] kept = new boolean[marks.room()];
        for (int i = 0; i < waiting.size(); i++) {
            kept[waiting.start(i)] = true;
            kept[waiting.end(i)] = true;
        }
        if (counted != DeviceStream.NO_MARK) {
            kept[counted] = true;
        }
        if (anchor != DeviceStream.NO_MARK) {
            kept[anchor] = true;
        }
        starts.keep(kept);
        if (graphs != null) {
            graphs.keep(kept);
        }
        return kept;
    }

    /** Returns the action that gives all marks back when the recorder is garbage; it does not refer to the recorder. */
    Runnable giveBackAll() {
        Marks all = marks;
        return all::takeBackAll;
    }

    // ---- one thread at a time: figures ----

    /** Returns the sums of the stream since the last reset. */
    StreamTotals totals() {
        MarkCost cost = stream.markCost();
        StreamTotals.Builder totals = StreamTotals.builder(stream.name(), stream.deviceName(), stream.deviceIndex())
                .identifiers(stream.deviceUuid(), stream.pciAddress());
        SampledRows drawn = sampled;
        if (drawn == null) {
            totals.bricks(samples, busyNs, idleNs).gaps(gaps, gaps == 0 ? 0 : shortestGapNs);
            if (bricksNs == busyNs) {
                // A pass has a mark at the end of each brick and, behind a gap, at the start.
                totals.net(net(cost, busyNs + idleNs, samples + gaps, busyNs, samples, 0));
            }
        } else {
            Estimate all = drawn.sum();
            totals.bricks(all.marked() + all.unmarked(), all.markedNs() + all.unmarkedNs(), 0)
                    .passes(arePassesKnown() ? OptionalLong.of(passNs) : OptionalLong.empty(), true);
            if (arePassesKnown()) {
                totals.net(net(
                        cost,
                        passNs,
                        passMarks,
                        all.markedNs() + all.unmarkedNs(),
                        all.marked() + all.unmarked(),
                        all.variance()));
            }
        }
        return totals.waits(waits)
                .clockErrorNs(clockErrorNs)
                .markCost(cost)
                .failure(stream.failure().or(() -> unchecked ? Optional.of(UNCHECKED) : Optional.empty()))
                .build();
    }

    private boolean arePassesKnown() {
        return lostPasses == 0 && !beganByLaunch;
    }

    /** Returns times without what marks add; empty if that is unknown, or if bricks lie inside one another. */
    private Optional<StreamTotals.Net> net(
            MarkCost cost, long ofPassesNs, long marksOfPasses, long ofBricksNs, long bricks, double variance) {
        if (!cost.isKnown() || nested > 0 || bricks == 0) {
            return Optional.empty();
        }
        return Optional.of(new StreamTotals.Net(
                Math.max(0, Math.round(ofPassesNs - marksOfPasses * cost.markNs())),
                Math.max(0, Math.round(ofBricksNs - bricks * cost.brickNs())),
                Math.round((marksOfPasses + bricks) * cost.errorNs()),
                Math.sqrt(variance)));
    }

    void resetTotals() {
        samples = 0;
        busyNs = 0;
        idleNs = 0;
        gaps = 0;
        shortestGapNs = Long.MAX_VALUE;
        waits = 0;
        passNs = 0;
        lostPasses = 0;
        beganByLaunch = false;
        passMarks = 0;
        bricksNs = 0;
        nested = 0;
        SampledRows drawn = sampled;
        if (drawn != null) {
            drawn.restart();
        }
    }

    /** Adds the estimates of the rows from a key to before another one to others, by row. */
    void addEstimates(Map<Integer, Estimate> sums, Map<Integer, long[]> buckets, int fromKey, int toKey) {
        SampledRows drawn = sampled;
        if (drawn != null) {
            drawn.addTo(sums, fromKey, toKey);
            drawn.addBuckets(buckets, fromKey, toKey);
        }
    }

    /** A short list of longs, in order. Allocates only while it grows. One thread at a time. */
    private static final class Longs {

        private long[] values = new long[4];
        private int size;

        void add(long value) {
            if (size == values.length) {
                values = Arrays.copyOf(values, 2 * size);
            }
            values[size++] = value;
        }

        int size() {
            return size;
        }

        long get(int index) {
            return values[index];
        }

        /** Returns the index of the first of some equal values, or -1. */
        int indexOf(long value) {
            for (int i = 0; i < size; i++) {
                if (values[i] == value) {
                    return i;
                }
            }
            return -1;
        }

        void removeAt(int index) {
            size--;
            System.arraycopy(values, index + 1, values, index, size - index);
        }

        void clear() {
            size = 0;
        }
    }

    /**
     * Chooses the bricks whose launch time the host measures: the first after a boundary, which gives the device's
     * times their place on the host's timeline, and others at random, because a fixed period could coincide with that
     * of a pass. Any thread, without ordering: a lost update draws a number twice. Allocates nothing.
     */
    static final class LaunchDraws {

        private static final int MOST_BETWEEN = 1 << 30;

        private int every;
        private int random = 1;

        /**
         * The number of bricks up to and including the next one that is drawn; negative if a boundary also draws the
         * next one.
         */
        private int left;

        /** Creates draws of one brick in this many. */
        LaunchDraws(int every) {
            this.every = Math.min(every, MOST_BETWEEN);
        }

        /** Returns whether the host measures the launch time of a brick that begins now. */
        boolean next() {
            int until = left;
            if (until > 1) {
                left = until - 1;
                return false;
            }
            left = until < 0 ? -until : nextDistance();
            return true;
        }

        /** Returns a number from 1 to twice the mean less one, all equally likely. */
        private int nextDistance() {
            // Marsaglia's xorshift, 32 bits.
            int drawn = random;
            drawn ^= drawn << 13;
            drawn ^= drawn >>> 17;
            drawn ^= drawn << 5;
            random = drawn;
            return 1 + (int) ((Integer.toUnsignedLong(drawn) * (2L * every - 1)) >>> Integer.SIZE);
        }

        /** Draws the next brick in addition to the others. */
        void drawNext() {
            left = -Math.abs(left);
        }

        /** Draws every brick from now on. */
        void drawAll() {
            every = 1;
            left = 0;
        }
    }
}
