package org.brickprofiler.trace;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
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
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.SpanContents;
import org.brickprofiler.internal.record.SpanCopy;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.report.JsonReport;
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
    /** For so long, the share of a thread in a processor since samples began says something of its first bricks. */
    private static final long LONGEST_BEGINNING_NS = 5_000_000_000L;

    private static final long LONGEST_WAIT_NS = 1_000_000_000L * LONGEST_WAIT_S;

    private final Supplier<List<Source>> sources;
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

    /** The buffers by their identity. */
    private final Map<Object, Buffer> buffers = new HashMap<>();

    /** The rows of each profiler's bricks, by the {@link PhaseKey} of a brick and its phase. */
    private final Map<SpanContents, @Nullable LineRow[]> rowsOf = new HashMap<>();

    /** The samples after the time until which bricks have been read. */
    private final List<LineSample> arrived = new ArrayList<>();

    /** The processor time of the threads that noted when samples began, by their ids. */
    private final Map<Long, ProcessorTime> begun = new HashMap<>();

    private long fromNs = Long.MIN_VALUE;
    private long readUntilNs = Long.MIN_VALUE;
    private long periodNs;
    private long clockErrorNs;
    private Runnable ending = () -> {};
    private Optional<String> missing = Optional.of("no flight recording has taken samples");

    /**
     * How long processors had run a thread.
     *
     * @param ranNs the time, ns
     * @param atNs when it was read, ns on the recorder's clock
     */
    private record ProcessorTime(long ranNs, long atNs) {}

    /**
     * The bricks that a profiler records.
     *
     * @param contents the buffers of its threads
     * @param names the names of its bricks
     */
    record Source(SpanContents contents, SpanSink.Names names) {}

    /** What has been read of the bricks of a thread. */
    private final class Buffer {
        private final long threadId;
        private final LineSeries series;

        /** The number of the first entry that has not been read. */
        private long next;

        /** The end of the last brick that has been read, from which on the next ones are copied. */
        private long readNs = fromNs;

        /** The latest reading of its processor time; null before the first one. */
        private @Nullable ProcessorTime read;

        /** The share of the latest time in which a processor ran the thread; NaN before it is known. */
        private double processorShare = Double.NaN;

        private boolean isThere = true;
        private boolean runsSteps;

        Buffer(SpanCopy copy) {
            threadId = copy.threadId();
            series = join.newSeries(threadId);
            // Bricks that were overwritten before the first reading are missing like later ones.
            next = copy.dropped() > 0 ? copy.number(0) - 1 : copy.number(0);
        }

        /** Notes new entries, of which some may end later than those that are read now. */
        void found(SpanCopy copy) {
            isThere = true;
            boolean ranSteps = runsSteps;
            for (int entry = 0; !runsSteps && entry < copy.size(); entry++) {
                runsSteps = copy.kind(entry) == SpanKind.PASS_END || copy.kind(entry) == SpanKind.STEP_START;
            }
            if (runsSteps && !ranSteps) {
                join.runsSteps(series);
            }
        }

        /** Reads how long processors ran the thread since the last call. */
        void readProcessorTime(long nowNs) {
            long ns = processorNsOf.applyAsLong(threadId);
            if (ns < 0) {
                // The thread has ended, or its time is unknown.
                return;
            }
            ProcessorTime first = begun.remove(threadId);
            if (read == null && first != null && nowNs - first.atNs() <= LONGEST_BEGINNING_NS) {
                read = first;
            }
            // The first reading is of the whole life of a thread, which may have begun long before its bricks.
            processorShare = read == null ? 1 : Math.min(1, (double) (ns - read.ranNs()) / (nowNs - read.atNs()));
            read = new ProcessorTime(ns, nowNs);
        }

        /** Reads the bricks that have ended until a moment. */
        void read(SpanCopy copy, SpanSink.Names names, @Nullable LineRow[] known, long untilNs) {
            int entry = (int) Math.max(0, next - copy.number(0));
            if (copy.size() > entry && copy.number(entry) > next) {
                series.lostBefore(copy.endNs(entry));
            }
            for (; entry < copy.size() && copy.endNs(entry) <= untilNs; entry++) {
                next = copy.number(entry) + 1;
                switch (copy.kind(entry)) {
                    case SPAN -> {
                        readNs = Math.max(readNs, copy.endNs(entry));
                        if (copy.endNs(entry) >= fromNs) {
                            series.brick(
                                    row(copy, entry, names, known),
                                    copy.startNs(entry),
                                    copy.endNs(entry),
                                    processorShare);
                        }
                    }
                    case PASS_END -> {
                        if (copy.startNs(entry) >= fromNs) {
                            series.passEnded(copy.startNs(entry));
                        }
                    }
                    default -> {
                        // It says nothing of the time of bricks.
                    }
                }
            }
        }

        private LineRow row(SpanCopy copy, int entry, SpanSink.Names names, @Nullable LineRow[] known) {
            int packed = PhaseKey.of(copy.phase(entry), copy.key(entry));
            LineRow row = known[packed];
            if (row == null) {
                row = join.row(
                        names.name(copy.key(entry)),
                        Span.StatedPhase.of(copy.phase(entry)).ofStep());
                known[packed] = row;
            }
            return row;
        }
    }

    /**
     * Makes an empty log.
     *
     * @param sources returns the bricks of all profilers
     * @param processorNsOf returns how long processors have run a thread of this id, ns; negative if that is unknown
     * @param steps receives the latest samples after each report; null if no steps are kept
     */
    LineLog(Supplier<List<Source>> sources, LongUnaryOperator processorNsOf, @Nullable Consumer<LatestSamples> steps) {
        this.sources = sources;
        this.processorNsOf = processorNsOf;
        this.steps = steps;
    }

    // ---- what a recording reports ----

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
            begun.put(threadId, new ProcessorTime(ranNs, atNs));
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
        long lastNs = readUntilNs;
        long firstNs = Long.MAX_VALUE;
        for (Source source : sources.get()) {
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
    public synchronized void sample(long threadId, long atNs, boolean isNative, List<Frame> stack) {
        LineSample sample = new LineSample(threadId, atNs, isNative, stack);
        if (atNs < fromNs) {
            return;
        }
        if (join.waiting() + arrived.size() == MOST_WAITING) {
            join.addTooLate();
            keep(LatestSamples.Placed.withoutRoom(sample));
            return;
        }
        arrived.add(sample);
    }

    /** Counts a sample of a virtual thread, whose bricks are not known by thread. */
    public synchronized void sampleOfVirtualThread() {
        join.addOfVirtualThread();
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
        List<Source> all = sources.get();
        rowsOf.keySet().removeIf(contents -> all.stream().noneMatch(each -> each.contents() == contents));
        buffers.values().forEach(buffer -> buffer.isThere = false);
        List<Runnable> reads = new ArrayList<>();
        for (Source source : all) {
            @Nullable
            LineRow[] known = rowsOf.computeIfAbsent(
                    source.contents(), first -> new LineRow[PhaseKey.PHASES << PhaseKey.KEY_BITS]);
            for (SpanCopy copy : source.contents().copiesAfter(this::readNs)) {
                if (copy.size() > 0 && copy.threadId() >= 0) {
                    Buffer buffer = buffers.computeIfAbsent(copy.buffer(), first -> new Buffer(copy));
                    buffer.found(copy);
                    reads.add(() -> buffer.read(copy, source.names(), known, untilNs));
                }
            }
        }
        buffers.values().forEach(buffer -> buffer.readProcessorTime(nowNs));
        distribute(untilNs);
        reads.forEach(Runnable::run);
        join.settleWorkers();
        for (Iterator<Buffer> each = buffers.values().iterator(); each.hasNext(); ) {
            Buffer buffer = each.next();
            buffer.series.giveUp(untilNs - LONGEST_WAIT_NS);
            if (!buffer.isThere) {
                join.remove(buffer.threadId, buffer.series);
                each.remove();
            }
        }
        return steps == null ? Optional.empty() : Optional.of(latest());
    }

    private long readNs(Object identity) {
        Buffer buffer = buffers.get(identity);
        return buffer == null ? fromNs : buffer.readNs;
    }

    /** Joins the samples up to a moment with bricks that have ended by then. */
    private void distribute(long untilNs) {
        List<LineSample> later = new ArrayList<>();
        for (LineSample sample : arrived) {
            if (sample.atNs() > untilNs) {
                later.add(sample);
            } else {
                if (steps != null) {
                    waiting.add(sample);
                }
                join.add(sample);
            }
        }
        arrived.clear();
        arrived.addAll(later);
    }

    // ---- slow steps ----

    private void counted(LineSample sample) {
        waiting.remove(sample);
        if (sample.hasBricks() || sample.row() != null) {
            keep(LatestSamples.Placed.of(sample));
        }
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
        waiting.forEach(sample -> all.add(LatestSamples.Placed.of(sample)));
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
        buffers.clear();
        rowsOf.clear();
        arrived.clear();
        latest.clear();
        waiting.clear();
        join = new LineJoin(this::counted);
        clockErrorNs = 0;
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
        return new LineProfile(join.samples(arrived.size()), periodNs, clockErrorNs, missing, join.bricks());
    }

    /** Returns a reader of windows, of which the first one has all samples so far. */
    SpanSink.Windows windows() {
        return new Windows();
    }

    /** Reads window by window the samples that were counted in it. Those that wait are in a later one. One thread. */
    private final class Windows implements SpanSink.Windows {

        private LineJoin.Counts earlier = new LineJoin().counts();
        private LineJoin.Counts read = earlier;

        @Override
        public Map<String, Object> read(boolean isAtEnd) {
            if (isAtEnd) {
                end();
            }
            synchronized (LineLog.this) {
                if (isAtEnd) {
                    join.giveUpEarly();
                }
                boolean isSame = earlier.join() == join;
                LineProfile window = new LineProfile(
                        join.samplesSince(isSame ? earlier.samples() : LineProfile.Samples.NONE),
                        periodNs,
                        clockErrorNs,
                        missing,
                        join.bricksSince(isSame ? earlier.rows() : Map.of()));
                read = join.counts();
                return Map.of(JsonReport.LINES, window.valuesOfWindow());
            }
        }

        @Override
        public void next() {
            earlier = read;
        }
    }
}
