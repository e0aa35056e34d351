package org.brickprofiler.trace;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import org.brickprofiler.internal.record.SpanCopy;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.internal.RoughUnits;
import org.jspecify.annotations.Nullable;

/**
 * Joins samples of the stacks of threads with the bricks of a {@link TraceRecorder}. A flight recording gives it the
 * samples of this virtual machine; see {@link org.brickprofiler.trace.jfr.VirtualMachineStops}.
 *
 * <p>Samples arrive later than the bricks end, so the recorder's buffers are read up to the time until which all
 * samples have arrived. A sample waits until a brick of its thread has ended that contains it, until the pass of its
 * thread has ended, or {@value #LONGEST_WAIT_S} s. Memory is bounded: {@value #MOST_WAITING} samples wait at most,
 * {@value #MOST_LATEST} are kept for slow steps, and call trees have a bound. Any thread.
 */
public final class LineLog {

    static final int LONGEST_WAIT_S = 60;
    static final int MOST_WAITING = 1 << 15;

    /** The samples that are kept for slow steps: those of 40 s of 16 busy threads. */
    static final int MOST_LATEST = 1 << 15;

    private static final double NS_PER_S = 1e9;
    private static final long LONGEST_WAIT_NS = 1_000_000_000L * LONGEST_WAIT_S;

    private final Supplier<List<LineBricks.Source>> sources;
    private final LongUnaryOperator processorNsOf;
    private final @Nullable Consumer<LatestSamples> steps;

    /** The samples that are joined. Guarded by this, like everything below. */
    private LineJoin join = new LineJoin(this::counted);

    /** The latest samples that are counted, for slow steps. */
    private final Deque<LatestSamples.Placed> latest = new ArrayDeque<>();

    /** The samples that wait, for slow steps. */
    private final Set<LineSample> waiting = new LinkedHashSet<>();

    /** The moment from which on no sample is missing in these. */
    private long latestFromNs = Long.MIN_VALUE;

    /** The samples after the time until which bricks have been read. */
    private final List<LineSample> arrived = new ArrayList<>();

    /** The processor time of the threads that noted when samples began, by their ids. */
    private final Map<Long, LineBricks.ProcessorTime> begun = new HashMap<>();

    /** The bricks that have ended. */
    private LineBricks bricks;

    private long fromNs = Long.MIN_VALUE;
    private long readUntilNs = Long.MIN_VALUE;
    private long periodNs;
    private long clockErrorNs;
    private Runnable ending = () -> {};
    private Optional<String> missing = Optional.of("no flight recording has taken samples");
    private Optional<String> doubt = Optional.empty();

    /** When the first and the last sample were taken. */
    private long firstSampleNs = Long.MAX_VALUE;

    private long lastSampleNs = Long.MIN_VALUE;

    /** The samples that the virtual machine states to have lost. */
    private long lost;

    /** The samples by processor time; null before the first one, and in that log itself. */
    private @Nullable LineLog byProcessorTime;

    /**
     * Makes an empty log.
     *
     * @param sources returns the bricks of all profilers
     * @param processorNsOf returns how long processors have run a thread of this id, ns; negative if that is unknown
     * @param steps receives the latest samples after each report; null if no steps are kept
     */
    LineLog(
            Supplier<List<LineBricks.Source>> sources,
            LongUnaryOperator processorNsOf,
            @Nullable Consumer<LatestSamples> steps) {
        this.sources = sources;
        this.processorNsOf = processorNsOf;
        this.steps = steps;
        this.bricks = new LineBricks(join, processorNsOf, begun, fromNs);
    }

    // ---- what a recording reports ----

    /**
     * Returns the log of the samples that are taken each time that a thread has used some time of a processor. The
     * other samples are of threads that run, at a rate of their own, and never share a table with these: reports have
     * the kind with more samples, name it, and count the other one. Slow steps have the samples of threads that run.
     *
     * @return the same object each time; this log reports to it
     */
    public synchronized LineLog byProcessorTime() {
        LineLog log = byProcessorTime;
        if (log == null) {
            log = new LineLog(sources, threadId -> -1, null);
            log.clear(fromNs);
            log.doubt = doubt;
            byProcessorTime = log;
        }
        return log;
    }

    /** Returns the log of samples by processor time; empty if it has none. */
    private Optional<LineLog> timed() {
        return Optional.ofNullable(byProcessorTime);
    }

    /**
     * Counts samples that the virtual machine states to have lost.
     *
     * @param samples their number
     * @throws IllegalArgumentException when it is negative
     */
    public synchronized void lost(long samples) {
        requireNotNegative("samples", samples);
        lost += samples;
    }

    /**
     * Notes that samples will come.
     *
     * @param asked the time between two samples of a thread that the recording asks for, ns
     * @throws IllegalArgumentException when it is negative
     */
    public synchronized void begin(long asked) {
        requireNotNegative("asked", asked);
        periodNs = asked;
        missing = Optional.empty();
    }

    /**
     * Notes that the methods and lines of samples may be wrong ones. Then neither findings nor slow steps name them.
     *
     * @param reason why, as reports state it
     */
    public synchronized void doubt(String reason) {
        doubt = Optional.of(Objects.requireNonNull(reason, "reason"));
    }

    /**
     * Notes when samples began. A slow step that began earlier lacks some. An application that never calls this is
     * assumed to give all samples. If the calling thread goes on to run bricks, its processor time is known from now
     * on; that of other threads from the first report after their first brick.
     *
     * @param atNs the moment, ns on the recorder's clock
     */
    public synchronized void sampledFrom(long atNs) {
        latestFromNs = Math.max(latestFromNs, atNs);
        long threadId = Thread.currentThread().getId();
        long ranNs = processorNsOf.applyAsLong(threadId);
        if (ranNs >= 0) {
            begun.put(threadId, new LineBricks.ProcessorTime(ranNs, atNs));
        }
    }

    /**
     * Notes that no samples will come, or that those of some time are lost.
     *
     * @param reason why, as reports state it
     */
    public synchronized void refuse(String reason) {
        missing = Optional.of(Objects.requireNonNull(reason, "reason"));
    }

    /**
     * Notes that no further samples will come, as {@link #refuse} does if bricks ended after those that came: at the
     * end of a process, the flight recorder may end before the application.
     */
    public synchronized void ended() {
        timed().ifPresent(LineLog::ended);
        long lastNs = readUntilNs;
        long firstNs = Long.MAX_VALUE;
        for (LineBricks.Source source : sources.get()) {
            for (SpanCopy copy : source.contents().copiesAfter(identity -> readUntilNs)) {
                for (int entry = 0; entry < copy.size(); entry++) {
                    if (copy.kind(entry) == SpanKind.SPAN && copy.endNs(entry) > readUntilNs) {
                        lastNs = Math.max(lastNs, copy.endNs(entry));
                        firstNs = Math.min(firstNs, copy.startNs(entry));
                    }
                }
            }
        }
        if (firstNs < lastNs && lastNs - Math.max(firstNs, readUntilNs) >= periodNs) {
            refuse(String.format(
                    Locale.ROOT,
                    "the flight recorder did not hand over those of the last %.2f s with bricks",
                    (lastNs - Math.max(firstNs, readUntilNs)) / NS_PER_S));
        }
    }

    /**
     * Sets what ends the samples before the report at the end of the process is written.
     *
     * @param end adds the samples that have not arrived; runs on another thread and may wait some seconds
     */
    public synchronized void endBy(Runnable end) {
        ending = Objects.requireNonNull(end, "end");
    }

    /** Ends the samples: waits for those that have not arrived. */
    void end() {
        Runnable end;
        synchronized (this) {
            end = ending;
        }
        // Without the lock, which the thread that adds samples needs.
        end.run();
    }

    /**
     * Adds a sample of a thread.
     *
     * @param threadId the thread, by {@link Thread#getId()}
     * @param atNs when it was taken, ns on the recorder's clock
     * @param isNative whether the thread was in native code
     * @param stack its frames, the called one before its caller; not empty
     * @throws IllegalArgumentException when there is no frame
     */
    public void sample(long threadId, long atNs, boolean isNative, List<Frame> stack) {
        add(new LineSample(threadId, atNs, isNative, stack));
    }

    /**
     * Adds a sample of a virtual thread. If the thread has no bricks, it works for no step.
     *
     * @param threadId the thread, by {@link Thread#getId()}, and not its carrier
     * @param atNs when it was taken, ns on the recorder's clock
     * @param isNative whether the thread was in native code
     * @param stack its frames, the called one before its caller; not empty
     * @throws IllegalArgumentException when there is no frame
     */
    public void sampleOfVirtualThread(long threadId, long atNs, boolean isNative, List<Frame> stack) {
        add(LineSample.ofVirtualThread(threadId, atNs, isNative, stack));
    }

    private synchronized void add(LineSample sample) {
        if (sample.atNs() < fromNs) {
            return;
        }
        if (join.waiting() + arrived.size() == MOST_WAITING) {
            join.addTooLate();
            keep(LatestSamples.Placed.withoutBrick(sample));
            return;
        }
        firstSampleNs = Math.min(firstSampleNs, sample.atNs());
        lastSampleNs = Math.max(lastSampleNs, sample.atNs());
        arrived.add(sample);
    }

    /** Counts a sample of a thread that works for no step, such as one of this library. */
    public synchronized void sampleOfOtherThread() {
        join.addOfOtherThread();
    }

    /** Counts a sample whose time on the recorder's clock is unknown. */
    public synchronized void sampleWithoutTime() {
        join.addTooLate();
    }

    /**
     * Notes that all samples up to a time have arrived, and joins them with the bricks.
     *
     * @param untilNs the time, ns on the recorder's clock
     * @param nowNs the time now
     * @param errorNs the largest error of the times of samples, ns
     * @throws IllegalArgumentException when the error is negative
     */
    public void reported(long untilNs, long nowNs, long errorNs) {
        requireNotNegative("errorNs", errorNs);
        Optional<LatestSamples> samples = read(untilNs, nowNs, errorNs);
        Optional<LineLog> timed;
        synchronized (this) {
            timed = timed();
        }
        timed.ifPresent(log -> log.reported(untilNs, nowNs, errorNs));
        if (steps != null) {
            samples.ifPresent(steps);
        }
    }

    /**
     * Reads the bricks up to a time, and returns the latest samples for slow steps; empty if none are kept, or if this
     * time was read before.
     */
    private synchronized Optional<LatestSamples> read(long untilNs, long nowNs, long errorNs) {
        clockErrorNs = Math.max(clockErrorNs, errorNs);
        if (untilNs <= readUntilNs) {
            return Optional.empty();
        }
        readUntilNs = untilNs;
        bricks.find(sources.get(), untilNs, nowNs);
        distribute(untilNs);
        bricks.read(untilNs);
        join.settleWorkers();
        bricks.giveUp(untilNs - LONGEST_WAIT_NS);
        return steps == null ? Optional.empty() : Optional.of(latest());
    }

    /** Joins the samples up to a moment with bricks that have ended by then. */
    private void distribute(long untilNs) {
        List<LineSample> later = new ArrayList<>();
        for (LineSample sample : arrived) {
            if (sample.atNs() > untilNs) {
                later.add(sample);
            } else if (sample.isOfVirtualThread() && bricks.isVirtualLost(sample.atNs())) {
                join.addTooLate();
                keep(LatestSamples.Placed.withoutBrick(sample));
            } else {
                if (steps != null) {
                    waiting.add(sample);
                }
                join.add(sample, bricks.work(sample));
            }
        }
        arrived.clear();
        arrived.addAll(later);
    }

    // ---- slow steps ----

    private void counted(LineSample sample) {
        waiting.remove(sample);
        if (sample.hasBricks() || sample.row() != null) {
            keep(placed(sample));
        }
    }

    private LatestSamples.Placed placed(LineSample sample) {
        LatestSamples.Placed placed = LatestSamples.Placed.of(sample);
        return doubt.isEmpty() ? placed : placed.withoutMethod();
    }

    private void keep(LatestSamples.Placed sample) {
        if (steps == null) {
            return;
        }
        if (latest.size() == MOST_LATEST) {
            latestFromNs = Math.max(latestFromNs, latest.removeFirst().atNs() + 1);
        }
        latest.add(sample);
    }

    private LatestSamples latest() {
        List<LatestSamples.Placed> all = new ArrayList<>(latest);
        waiting.forEach(sample -> all.add(placed(sample)));
        all.sort(Comparator.comparingLong(LatestSamples.Placed::atNs));
        return new LatestSamples(Math.max(fromNs, latestFromNs), readUntilNs, all);
    }

    // ---- results ----

    /**
     * Discards all samples, and ignores those that were taken before a moment.
     *
     * @param beginNs the moment, ns on the recorder's clock
     */
    synchronized void clear(long beginNs) {
        fromNs = beginNs;
        readUntilNs = Math.max(readUntilNs, beginNs);
        arrived.clear();
        latest.clear();
        waiting.clear();
        join = new LineJoin(this::counted);
        bricks = new LineBricks(join, processorNsOf, begun, fromNs);
        clockErrorNs = 0;
        lost = 0;
        firstSampleNs = Long.MAX_VALUE;
        lastSampleNs = Long.MIN_VALUE;
        timed().ifPresent(log -> log.clear(beginNs));
    }

    /**
     * Forgets all samples, because a profiler has discarded its own: the lines of a brick would be those of other
     * executions than its time.
     *
     * @param beginNs the moment, ns on the recorder's clock
     * @param profilers the number of profilers; of several, the samples of the others are lost, which is stated
     */
    synchronized void discarded(long beginNs, int profilers) {
        clear(beginNs);
        stateReset(profilers);
        timed().ifPresent(log -> log.stateReset(profilers));
    }

    private synchronized void stateReset(int profilers) {
        if (profilers > 1 && missing.isEmpty()) {
            missing = Optional.of("those before one of " + profilers + " profilers was reset, also of the others");
        }
    }

    /**
     * Returns the samples so far. Those that still wait count as {@linkplain LineProfile.Samples#notEnded not ended},
     * or as outside if their thread has ended a later brick.
     *
     * @return an immutable profile
     */
    public synchronized LineProfile profile() {
        LineProfile own = new LineProfile(join.samples(arrived.size()), periodNs, clockErrorNs, missing, join.bricks())
                .doubted(doubt);
        return timed().map(log -> log.chosen(log.profile(), own, log.takenWithin()))
                .orElse(own);
    }

    /**
     * Returns the profile of the kind with more samples, which states how many the other one has. Called on the log of
     * samples by processor time.
     *
     * @param when when these samples were taken, as it is stated
     */
    private synchronized LineProfile chosen(LineProfile timed, LineProfile running, String when) {
        long ofTimed = timed.samples().total();
        long ofRunning = running.samples().total();
        return ofTimed == 0 || ofTimed < ofRunning
                ? running.withoutOthers(ofTimed, LineProfile.PROCESSOR_TIME, lost)
                : timed.ofMode(LineProfile.PROCESSOR_TIME + when)
                        .withoutOthers(ofRunning, LineProfile.RUNNING_THREADS, lost);
    }

    private synchronized String takenWithin() {
        return " (within " + RoughUnits.duration(Math.max(0, lastSampleNs - firstSampleNs)) + ")";
    }

    /** Returns a reader of windows, of which the first one has all samples so far. */
    SpanSink.Windows windows() {
        return new Windows();
    }

    /** Reads window by window the samples that were counted in it. Those that wait are in a later one. One thread. */
    private final class Windows implements SpanSink.Windows {

        private final Window own = new Window(LineLog.this);
        private @Nullable Window timed;

        @Override
        public Map<String, Object> read(boolean isAtEnd) {
            if (isAtEnd) {
                end();
            }
            synchronized (LineLog.this) {
                LineLog log = byProcessorTime;
                LineProfile window = own.read(isAtEnd);
                if (log != null) {
                    Window ofLog = timed == null ? new Window(log) : timed;
                    timed = ofLog;
                    window = log.chosen(ofLog.read(isAtEnd), window, "");
                }
                return Map.of(JsonReport.LINES, window.valuesOfWindow());
            }
        }

        @Override
        public void next() {
            own.next();
            if (timed != null) {
                timed.next();
            }
        }
    }

    /** The samples of a log that were counted in a window. One thread. */
    private static final class Window {

        private final LineLog log;
        private LineJoin.Counts earlier = new LineJoin().counts();
        private LineJoin.Counts read = earlier;

        Window(LineLog log) {
            this.log = log;
        }

        LineProfile read(boolean isAtEnd) {
            synchronized (log) {
                LineJoin join = log.join;
                if (isAtEnd) {
                    join.giveUpEarly();
                }
                boolean isSame = earlier.join() == join;
                LineProfile window = new LineProfile(
                                join.samplesSince(isSame ? earlier.samples() : LineProfile.Samples.NONE),
                                log.periodNs,
                                log.clockErrorNs,
                                log.missing,
                                join.bricksSince(isSame ? earlier.rows() : Map.of()))
                        .doubted(log.doubt);
                read = join.counts();
                return window;
            }
        }

        void next() {
            earlier = read;
        }
    }
}
