package org.brickprofiler;

import static org.brickprofiler.internal.io.Sums.limited;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.internal.record.Listeners;
import org.brickprofiler.internal.record.PerThread;
import org.brickprofiler.internal.record.PhaseRow;
import org.brickprofiler.internal.record.RunPeriod;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.StepFollower;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.request.RequestTimeline;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.stats.LatencyDistribution;
import org.jspecify.annotations.Nullable;

/**
 * Follows the steps of all threads in fixed memory. Any thread: steps are rare, and one lock guards everything. A step
 * belongs to the thread that began it, which alone ends it.
 *
 * <p>The brick time of a step is the sum of its phase that all threads had recorded at its end, less the sum at its
 * beginning: a sample costs nothing more. Between steps of a phase, samples of the phase come only from threads that
 * still work for an earlier step; they count in the next one, so the sum at the end of a step is that at the beginning
 * of the next step of the phase. The brick time is known only if no other step was under way meanwhile and no
 * measurement was pending at either end, since the difference would include them.
 */
final class StepRecorder {

    private static final StepInfo.Phase[] PHASES = StepInfo.Phase.values();
    private static final BrickCategory[] CATEGORIES = BrickCategory.values();

    /** How many steps end before they are counted. */
    private static final int UNCOUNTED = 64;

    // The columns of a step that has ended and is not counted yet; a row is two cache lines.
    private static final int START_NS = 0;
    private static final int DURATION_NS = 1;
    private static final int ACCEPTED = 2;

    /** The time to the tokens that the step gave: since the prompt, or since the tokens before. */
    private static final int TOKENS_NS = 3;

    /** The brick time of the phase at the end of the step, by category. */
    private static final int TOTALS_NS = 4;

    private static final int COLUMNS = TOTALS_NS + CATEGORIES.length;
    private static final long NO_TOKENS = -1;

    /** A thread that loses its processor is not back within this time: two switches of the kernel take longer. */
    private static final long RUNS_ON_NS = 3_000;

    private final BrickProfiler profiler;
    private final TableRegistry registry;

    /** The category of each brick. */
    private final byte[] tags;

    private final RunPeriod period;

    /** The clock that the builder was given; null for the system's. */
    private final @Nullable NanoClock ownClock;

    /** Chooses the steps whose spans a timeline keeps; null unless it chooses by step. */
    private final @Nullable StepFollower chooser;

    /** Makes the reader of a thread's times; null if nobody wants the times of steps. */
    private final @Nullable Supplier<ThreadTimes> threadTimes;

    /** Whether the sums of steps have CPU times. */
    private final boolean hasCpuTimes;

    private final PerThread<Place, @Nullable Void> places = new PerThread<>(new Places(), null, false);

    /** The place of the thread that was here last: nearly always that of the next one. */
    private @Nullable Place recent;

    /** The steps of each phase since the last reset. */
    private final PhaseSums[] phases = Arrays.stream(PHASES).map(PhaseSums::new).toArray(PhaseSums[]::new);

    /** The sampled steps since the last reset; the one that goes when a better one comes is the first. */
    private final PriorityQueue<Step> sampled = new PriorityQueue<>(Steps.BY_CHANCE.reversed());

    // The steps that have ended and are not counted yet. Counting a step touches many objects and takes much code,
    // which
    // costs most in cold memory. So steps are counted many at a time, and so rarely that the compiler keeps that code
    // apart from the end of a step: it inlines what has run a hundred times by the time it compiles the caller.

    private final long[] uncounted = new long[UNCOUNTED * COLUMNS];
    private final @Nullable StepInfo[] uncountedInfos = new StepInfo[UNCOUNTED];
    private int uncountedSteps;

    /** A bit for each of them: whether its brick time is known. */
    private long attributed;

    /** A bit for each phase: whether its next step begins with the brick time of its latest one's end. */
    private int summed;

    /** The number of the first step that ended since the last reset. */
    private long first;

    private long abandoned;

    /** Follows the requests that the steps work on; null if nobody asked for it. */
    private @Nullable RequestRecorder requests;

    /** How many steps have begun: so a step knows whether another one has begun since. */
    private long begun;

    /** How many steps have ended, also before resets. */
    private long ended;

    private int underWay;

    /** The place of the step under way that began last; each knows the one that began before. */
    private @Nullable Place latest;

    /** The only phase of which steps are under way, as the tables know it. */
    private int only = PhaseRow.NO_PHASE;

    /** Incremented to forget the steps that are under way. */
    private int epoch;

    /**
     * The sums of the steps since the last reset.
     *
     * @param steps the sums
     * @param requests the requests of these steps
     * @param timeline makes the time line of these requests
     * @param first the number of the first step that ended since the reset
     * @param end the number after that of the last step
     */
    record Reading(Steps steps, RequestStats requests, Supplier<RequestTimeline> timeline, long first, long end) {
        static final Reading NONE = new Reading(Steps.NONE, RequestStats.NONE, () -> RequestTimeline.NONE, 0, 0);
    }

    /** The state of a thread. Guarded by the recorder. */
    private static final class Place extends PerThread.Owned {
        private int epoch;

        /** The open step; null if there is none. */
        private @Nullable StepInfo info;

        private long startNs;
        private long acceptedTokens;

        /** The step as the recorder of requests knows it; 0 without one. */
        private long requestStep;

        /** The thread's times, and those at the beginning and at the end of the step; that thread alone. */
        private @Nullable ThreadTimes times;

        private long startReadNs;
        private long endReadNs;
        private long startRanNs = ThreadTimes.UNKNOWN;
        private long startWaitedNs = ThreadTimes.UNKNOWN;
        private long endRanNs = ThreadTimes.UNKNOWN;
        private long endWaitedNs = ThreadTimes.UNKNOWN;

        /** The number of the step that ended last, until it is taken. */
        private long lastIndex = StepFollower.NO_STEP;

        /** The number of the step if its brick time may be known, 0 otherwise. */
        private long alone;

        /** The sums of the open step's phase; null before the first step. */
        private @Nullable PhaseSums phase;

        /** The place of the step under way that began before; null if there is none. */
        private @Nullable Place before;

        /** Whether a prompt is under way, and since when. */
        private boolean inPrompt;

        private long promptNs;

        /** Whether the thread's latest step gave tokens, and when. */
        private boolean hasGiven;

        private long gaveNs;

        /** Whether the open or latest step follows one whose tokens or prompt it continues. */
        private boolean follows;

        /** Whether the brick time of the latest step is known. */
        private boolean isAttributed;

        Place(@Nullable Thread thread) {
            super(thread);
        }

        /** The time between both readings. */
        long readNs() {
            return Math.max(0, endReadNs - startReadNs);
        }

        /** How long the thread ran during the step that ended last, ns, or unknown. */
        long ranNs() {
            return Math.min(ThreadTimes.betweenNs(startRanNs, endRanNs), readNs());
        }

        /** How long it waited for a processor. */
        long waitedNs() {
            return ThreadTimes.betweenNs(startWaitedNs, endWaitedNs);
        }

        /** Nothing has been given, and no prompt is under way. */
        void forgetSteps() {
            inPrompt = false;
            hasGiven = false;
        }
    }

    /** A named class: the first lambda of a virtual machine takes longer to make than a profiler. */
    private static final class Places implements PerThread.Keeper<Place, @Nullable Void> {
        @Override
        public Place make(@Nullable Thread owner) {
            return new Place(owner);
        }
    }

    /** The steps of a phase that are under way, and the sums of those since the last reset. Guarded by the recorder. */
    private static final class PhaseSums {
        private final StepInfo.Phase phase;

        /** How many are under way, and up to when their time is counted. */
        private int underWay;

        private long countedToNs;

        /** The brick time of the phase, by category, from which that of the next step that is counted is known. */
        private final long[] sumNs = new long[CATEGORIES.length];

        /** The brick time of the step that was counted last, by category. */
        private final long[] ofStepNs = new long[CATEGORIES.length];

        // The sums.

        private final long[] categoryNs = new long[CATEGORIES.length];
        private final long[] durations = new long[LatencyBuckets.COUNT];

        /** The times to first token of prompts; of decoding the times per output token. */
        private final long[] tokenTimes = new long[LatencyBuckets.COUNT];

        private long tokenTimesNs;
        private final PriorityQueue<Step> slowest = new PriorityQueue<>(Steps.BY_SLOWNESS.reversed());

        private long count;
        private long wallNs;
        private long totalNs;
        private long minNs = Long.MAX_VALUE;
        private long maxNs;
        private long sequences;
        private long prefillTokens;
        private long outputTokens;
        private long draftedTokens;
        private long acceptedTokens;
        private long kvLength;
        private long timed;
        private long timedWallNs;
        private long ranNs;
        private long waitedNs;

        /** The steps of which it is known how long their threads waited for a processor. */
        private long waitTimed;

        private long attributed;

        PhaseSums(StepInfo.Phase phase) {
            this.phase = phase;
        }

        /** Forgets the sums. */
        void clear() {
            Arrays.fill(categoryNs, 0);
            Arrays.fill(durations, 0);
            Arrays.fill(tokenTimes, 0);
            tokenTimesNs = 0;
            slowest.clear();
            count = 0;
            wallNs = 0;
            totalNs = 0;
            minNs = Long.MAX_VALUE;
            maxNs = 0;
            sequences = 0;
            prefillTokens = 0;
            outputTokens = 0;
            draftedTokens = 0;
            acceptedTokens = 0;
            kvLength = 0;
            timed = 0;
            timedWallNs = 0;
            ranNs = 0;
            waitedNs = 0;
            waitTimed = 0;
            attributed = 0;
        }

        /** Attributes the brick time up to the end of a step to that step. */
        void attribute(long[] totals, int from) {
            attributed++;
            for (int i = 0; i < sumNs.length; i++) {
                long totalNs = totals[from + i];
                ofStepNs[i] = Math.max(0, totalNs - sumNs[i]);
                categoryNs[i] += ofStepNs[i];
                sumNs[i] = totalNs;
            }
        }

        void add(StepInfo info, long durationNs, long accepted) {
            count++;
            totalNs = limited(totalNs, durationNs);
            minNs = Math.min(minNs, durationNs);
            maxNs = Math.max(maxNs, durationNs);
            durations[LatencyBuckets.indexOf(durationNs)]++;
            sequences = limited(sequences, info.batch());
            prefillTokens = limited(prefillTokens, info.prefillTokens());
            outputTokens = limited(outputTokens, limited(info.outputTokens(), accepted));
            draftedTokens = limited(draftedTokens, info.draftedTokens());
            acceptedTokens = limited(acceptedTokens, accepted);
            kvLength = limited(kvLength, info.kvLength());
        }

        /** Adds the CPU time of a step. */
        void addCpu(Place of) {
            long stepRanNs = of.ranNs();
            if (stepRanNs == ThreadTimes.UNKNOWN) {
                return;
            }
            timed++;
            timedWallNs = limited(timedWallNs, of.readNs());
            ranNs = limited(ranNs, stepRanNs);
            long stepWaitedNs = of.waitedNs();
            if (stepWaitedNs != ThreadTimes.UNKNOWN) {
                waitTimed++;
                waitedNs = limited(waitedNs, stepWaitedNs);
            }
        }

        private StepStats.CpuTime cpu() {
            boolean knowsWaited = timed > 0 && waitTimed == timed;
            return new StepStats.CpuTime(
                    timed, timedWallNs, ranNs, knowsWaited ? OptionalLong.of(waitedNs) : OptionalLong.empty());
        }

        /** Adds the time to the tokens of a step that gave some. */
        void addTokens(StepInfo info, long accepted, long sinceNs) {
            if (phase == StepInfo.Phase.PREFILL) {
                tokenTimes[LatencyBuckets.indexOf(sinceNs)]++;
                tokenTimesNs += sinceNs;
            } else if (phase == StepInfo.Phase.DECODE) {
                long tokens = limited(info.outputTokens(), accepted);
                tokenTimes[LatencyBuckets.indexOf(Math.round((double) sinceNs * info.batch() / tokens))]++;
            }
        }

        StepStats stats() {
            return StepStats.builder(phase)
                    .steps(count, wallNs)
                    .durations(totalNs, count == 0 ? 0 : minNs, maxNs, LatencyDistribution.ofCounts(durations))
                    .sequences(sequences)
                    .tokens(prefillTokens, outputTokens, draftedTokens, acceptedTokens)
                    .kvLength(kvLength)
                    .cpu(cpu())
                    .categories(attributed, byCategory(categoryNs))
                    .build();
        }
    }

    /**
     * No steps.
     *
     * @param profiler the profiler, whose tables get the only phase of which steps are under way
     * @param cpuTimes makes the reader of the calling thread's CPU time; null if steps have none
     */
    StepRecorder(BrickProfiler profiler, RunPeriod period, NanoClock clock, @Nullable Supplier<ThreadTimes> cpuTimes) {
        this.profiler = profiler;
        this.registry = profiler.registry;
        this.tags = profiler.names.tags();
        this.period = period;
        this.ownClock = clock == NanoClock.SYSTEM ? null : clock;
        StepFollower follower = registry.stepFollower();
        this.chooser = follower;
        this.hasCpuTimes = cpuTimes != null;
        this.threadTimes = cpuTimes != null || follower == null ? cpuTimes : follower::ofThisThread;
    }

    /**
     * Returns the recorder of requests. The first call makes it, and announces the steps that are under way.
     *
     * @param epochNs the clock at 0 of the scale of arrivals, ns
     * @param listeners receive the requests that finish
     */
    synchronized RequestRecorder requests(LongSupplier epochNs, Listeners<ProfilerListener> listeners) {
        RequestRecorder recorder = requests;
        if (recorder == null) {
            recorder = new RequestRecorder(ownClock == null ? NanoClock.SYSTEM : ownClock, epochNs);
            recorder.onFinished(
                    () -> !listeners.isEmpty(), request -> listeners.ofStep(each -> each.requestFinished(request)));
            requests = recorder;
            announceUnderWay(recorder, latest);
            switched(false);
        }
        return recorder;
    }

    /** Announces the steps that are under way, in the order in which they began. */
    private void announceUnderWay(RequestRecorder recorder, @Nullable Place place) {
        if (place != null) {
            announceUnderWay(recorder, place.before);
            StepInfo info = Objects.requireNonNull(place.info, "info");
            place.requestStep = recorder.stepUnderWay(hasPrompts(info), nanoTime());
        }
    }

    /**
     * The profiler was switched on or off. Its state is asked under the lock: of two switches at once, the later one to
     * ask sees the state that remains.
     *
     * @param off whether it was off meanwhile: the steps that are under way then lack samples, and are abandoned
     */
    synchronized void switched(boolean off) {
        while (off && latest != null) {
            abandon(latest);
        }
        if (requests != null && profiler.isEnabled()) {
            requests.enable();
        } else if (requests != null) {
            requests.disable();
        }
    }

    private long nanoTime() {
        NanoClock own = ownClock;
        return own == null ? System.nanoTime() : own.nanoTime();
    }

    private static boolean hasPrompts(StepInfo info) {
        return info.phase() != StepInfo.Phase.DECODE;
    }

    // ---- the thread that drives passes ----

    /**
     * Begins a step of the calling thread; one that is under way is abandoned.
     *
     * @param pending whether a measurement is pending
     */
    void begin(StepInfo info, boolean pending) {
        if (chooser != null) {
            chooser.beforeStep();
        }
        if (threadTimes != null) {
            readStart(places.mine(), threadTimes);
        }
        Place mine = start(info, pending);
        if (mine == null) {
            interrupt();
        } else if (registry.hasSpans()) {
            long startNs = mine.startNs;
            int phase = info.phase().index();
            long tokens = info.prefillTokens() + info.outputTokens() + info.draftedTokens();
            long line = registry.mark(SpanKind.STEP_START, phase, startNs, 0, tokens);
            if (chooser != null) {
                chooser.stepBegan(
                        new StepFollower.Size(
                                phase,
                                info.batch(),
                                info.prefillTokens(),
                                info.kvLength(),
                                info.outputTokens(),
                                info.draftedTokens()),
                        startNs,
                        line);
            }
        }
    }

    /**
     * Reads the thread's times outside of the lock, and of the step: that takes a microsecond. When the kernel is asked
     * how long a thread has run, it looks whether another one is due, so the thread may lose its processor just then.
     * Therefore this time is read first here, and last at the end. If the thread has ended its last step just now, it
     * has run since, and nothing is read.
     */
    private void readStart(Place mine, Supplier<ThreadTimes> threadTimes) {
        ThreadTimes times = mine.times;
        if (times == null) {
            times = threadTimes.get();
            mine.times = times;
        }
        long nowNs = nanoTime();
        long gapNs = nowNs - mine.endReadNs;
        if (mine.endRanNs != ThreadTimes.UNKNOWN && gapNs >= 0 && gapNs <= RUNS_ON_NS) {
            mine.startRanNs = mine.endRanNs + gapNs;
            mine.startReadNs = nowNs;
            mine.startWaitedNs = mine.endWaitedNs;
            return;
        }
        mine.startRanNs = times.ranNs();
        mine.startReadNs = nanoTime();
        mine.startWaitedNs = times.waitedNs();
    }

    private void readEnd() {
        Place mine = places.mineOrNull();
        ThreadTimes times = mine == null ? null : mine.times;
        if (mine != null && times != null) {
            mine.endWaitedNs = times.waitedNs();
            mine.endReadNs = nanoTime();
            mine.endRanNs = times.ranNs();
        }
    }

    /**
     * Begins a step of the calling thread. The switch is asked under the lock: if the profiler is switched off after
     * that, the step is abandoned.
     *
     * @return its place; null if the profiler was switched off meanwhile
     */
    private synchronized @Nullable Place start(StepInfo info, boolean pending) {
        if (!profiler.isEnabled()) {
            return null;
        }
        Place mine = mine();
        leaveEarlierEpoch(mine);
        if (mine.info != null) {
            abandon(mine);
        }
        abandonEnded();
        begun++;
        PhaseSums phase = phases[info.phase().index()];
        mine.alone = pending || underWay > 0 ? 0 : begun;
        int bit = 1 << info.phase().index();
        if (mine.alone != 0 && (summed & bit) == 0) {
            countEnded(false);
            sum(phase, phase.sumNs, 0);
        }
        summed &= ~bit;
        mine.info = info;
        mine.phase = phase;
        mine.acceptedTokens = 0;
        mine.before = latest;
        latest = mine;
        underWay++;
        mine.startNs = nanoTime();
        if (phase.underWay++ == 0) {
            phase.countedToNs = mine.startNs;
        }
        announceOnly(phase);
        mine.follows = mine.hasGiven || mine.inPrompt;
        if (!mine.inPrompt) {
            mine.inPrompt = true;
            mine.promptNs = mine.startNs;
        }
        RequestRecorder follower = requests;
        mine.requestStep =
                follower == null ? 0 : follower.stepBegan(hasPrompts(info), info.prefillTokens(), mine.startNs);
        return mine;
    }

    /** Returns the place of the calling thread. */
    private Place mine() {
        Place hint = recent;
        if (hint != null && hint.isOf(Thread.currentThread())) {
            return hint;
        }
        Place mine = places.mine();
        recent = mine;
        return mine;
    }

    /** Returns the place of the calling thread; null if it has none. */
    private @Nullable Place mineOrNull() {
        Place hint = recent;
        return hint != null && hint.isOf(Thread.currentThread()) ? hint : places.mineOrNull();
    }

    /**
     * Counts drafted tokens of the step under way as accepted.
     *
     * @throws IllegalArgumentException when there are more of them than were drafted
     */
    synchronized void accept(long tokens) {
        Place mine = mineOrNull();
        StepInfo info = mine == null || mine.epoch != epoch ? null : mine.info;
        if (mine == null || info == null) {
            return;
        }
        if (tokens > info.draftedTokens() - mine.acceptedTokens) {
            throw new IllegalArgumentException("accepted tokens " + tokens + " are more than the "
                    + (info.draftedTokens() - mine.acceptedTokens) + " drafted ones that were left");
        }
        mine.acceptedTokens += tokens;
    }

    /**
     * Ends the step of the calling thread, if one is under way.
     *
     * @param endNs the clock
     * @param resolved whether the deferred measurements until then were resolved
     * @param pending whether a measurement is pending
     * @param followed whether any listener wants the step
     * @return the step; null if none was open, or no listener wants it
     */
    @Nullable
    Step end(long endNs, boolean resolved, boolean pending, boolean followed) {
        if (threadTimes != null) {
            readEnd();
        }
        Step step = stop(endNs, pending, followed);
        if (chooser != null) {
            Place mine = places.mineOrNull();
            boolean deferred = !resolved && registry.pendingCount() > 0;
            if (mine == null) {
                chooser.stepEnded(StepFollower.NO_STEP, endNs, ThreadTimes.UNKNOWN, ThreadTimes.UNKNOWN, deferred);
            } else {
                chooser.stepEnded(takeEnded(mine), endNs, mine.ranNs(), mine.waitedNs(), deferred);
            }
        }
        return step;
    }

    /** Reports the step that the calling thread has just ended to a listener. */
    void report(Step step, ProfilerListener listener) {
        Place mine = Objects.requireNonNull(places.mineOrNull(), "mine");
        listener.stepEnded(step, mine.follows, mine.isAttributed);
    }

    private synchronized @Nullable Step stop(long endNs, boolean pending, boolean followed) {
        Place mine = mineOrNull();
        if (mine == null) {
            return null;
        }
        leaveEarlierEpoch(mine);
        StepInfo info = mine.info;
        if (info == null) {
            return null;
        }
        PhaseSums phase = Objects.requireNonNull(mine.phase, "phase");
        leave(mine, phase, endNs);
        if (requests != null) {
            requests.stepEnded(mine.requestStep, endNs, mine.acceptedTokens);
        }
        if (hasCpuTimes) {
            phase.addCpu(mine);
        }
        int row = uncountedSteps * COLUMNS;
        uncounted[row + START_NS] = mine.startNs;
        uncounted[row + DURATION_NS] = Math.max(0, endNs - mine.startNs);
        uncounted[row + ACCEPTED] = mine.acceptedTokens;
        uncounted[row + TOKENS_NS] = tokensNs(mine, info, endNs);
        mine.isAttributed = mine.alone == begun && !pending;
        if (mine.isAttributed) {
            sum(phase, uncounted, row + TOTALS_NS);
            attributed |= 1L << uncountedSteps;
            summed |= 1 << info.phase().index();
        }
        uncountedInfos[uncountedSteps++] = info;
        mine.lastIndex = ended++;
        if (!followed && uncountedSteps < UNCOUNTED) {
            return null;
        }
        Step step = countEnded(followed);
        return followed ? step : null;
    }

    /** Reads the time of all samples of a phase so far, by category. */
    private void sum(PhaseSums phase, long[] totalsNs, int from) {
        Arrays.fill(totalsNs, from, from + CATEGORIES.length, 0);
        registry.addTotalsNs(phase.phase.number(), tags, totalsNs, from, CATEGORIES.length);
    }

    /**
     * Returns the time to the tokens of a step that ends: since the prompt began, or since the thread's latest tokens;
     * {@link #NO_TOKENS} if it gives none.
     */
    private static long tokensNs(Place mine, StepInfo info, long endNs) {
        if (limited(info.outputTokens(), mine.acceptedTokens) == 0) {
            return NO_TOKENS;
        }
        long gaveNs = mine.hasGiven ? mine.gaveNs : mine.startNs;
        long sinceNs = endNs - (info.phase() == StepInfo.Phase.PREFILL ? mine.promptNs : gaveNs);
        mine.inPrompt = false;
        mine.hasGiven = true;
        mine.gaveNs = endNs;
        return Math.max(0, sinceNs);
    }

    /**
     * Counts the steps that have ended since the last call.
     *
     * @param wantsLatest whether to return the latest step
     * @return that step
     */
    private @Nullable Step countEnded(boolean wantsLatest) {
        Step latestStep = null;
        for (int i = 0; i < uncountedSteps; i++) {
            int row = i * COLUMNS;
            StepInfo info = Objects.requireNonNull(uncountedInfos[i], "info");
            PhaseSums phase = phases[info.phase().index()];
            long durationNs = uncounted[row + DURATION_NS];
            long accepted = uncounted[row + ACCEPTED];
            phase.add(info, durationNs, accepted);
            if (uncounted[row + TOKENS_NS] != NO_TOKENS) {
                phase.addTokens(info, accepted, uncounted[row + TOKENS_NS]);
            }
            Arrays.fill(phase.ofStepNs, 0);
            if ((attributed & (1L << i)) != 0) {
                phase.attribute(uncounted, row + TOTALS_NS);
            }
            boolean isWanted = wantsLatest && i == uncountedSteps - 1;
            long index = ended - uncountedSteps + i;
            if (isWanted || isKept(index, durationNs, phase)) {
                latestStep = new Step(
                        index,
                        period.unixNs(uncounted[row + START_NS]),
                        durationNs,
                        info,
                        accepted,
                        byCategory(phase.ofStepNs));
                offer(sampled, latestStep, Steps.SAMPLED, Steps.BY_CHANCE);
                offer(phase.slowest, latestStep, Steps.SLOWEST, Steps.BY_SLOWNESS);
            }
        }
        forgetUncounted();
        return latestStep;
    }

    private void forgetUncounted() {
        Arrays.fill(uncountedInfos, null);
        uncountedSteps = 0;
        attributed = 0;
    }

    private void abandonEnded() {
        Place place = latest;
        while (place != null) {
            Place before = place.before;
            if (!place.isOwnerAlive()) {
                abandon(place);
            }
            place = before;
        }
    }

    /** Announces the only phase of which steps are under way, if it has changed. */
    private void announceOnly(PhaseSums changed) {
        int now = PhaseRow.NO_PHASE;
        if (underWay > 0) {
            now = changed.underWay == underWay ? changed.phase.number() : onlyPhaseOfAll();
        }
        if (now != only) {
            only = now;
            profiler.setOnlyPhase(now);
        }
    }

    private int onlyPhaseOfAll() {
        for (PhaseSums phase : phases) {
            if (phase.underWay == underWay) {
                return phase.phase.number();
            }
        }
        return PhaseRow.NO_PHASE;
    }

    /** Returns whether a step may be kept: asked before the step is made, since few are kept. */
    private boolean isKept(long index, long durationNs, PhaseSums phase) {
        return sampled.size() < Steps.SAMPLED
                || phase.slowest.size() < Steps.SLOWEST
                || Steps.hash(index) <= Steps.hash(sampled.element().index())
                || durationNs >= phase.slowest.element().durationNs();
    }

    /** Returns the number of the step that a thread has ended since the last call, or no step. */
    private synchronized long takeEnded(Place mine) {
        long index = mine.lastIndex;
        mine.lastIndex = StepFollower.NO_STEP;
        return index;
    }

    /** Makes the next step of the calling thread follow no other: the time before it was not recorded. */
    void interrupt() {
        forgetThread();
        if (chooser != null) {
            chooser.stepEnded(StepFollower.NO_STEP, 0, ThreadTimes.UNKNOWN, ThreadTimes.UNKNOWN, true);
        }
    }

    private synchronized void forgetThread() {
        Place mine = mineOrNull();
        if (mine == null) {
            return;
        }
        leaveEarlierEpoch(mine);
        if (mine.info != null) {
            abandon(mine);
        }
        mine.forgetSteps();
    }

    private void abandon(Place mine) {
        StepInfo info = Objects.requireNonNull(mine.info, "info");
        long nowNs = nanoTime();
        leave(mine, phases[info.phase().index()], nowNs);
        if (requests != null) {
            requests.stepAbandoned(mine.requestStep, nowNs);
        }
        mine.forgetSteps();
        abandoned++;
    }

    private void leave(Place mine, PhaseSums phase, long endNs) {
        mine.info = null;
        unlink(mine);
        underWay--;
        phase.underWay--;
        phase.wallNs += Math.max(0, endNs - phase.countedToNs);
        phase.countedToNs = Math.max(phase.countedToNs, endNs);
        announceOnly(phase);
    }

    private void unlink(Place mine) {
        Place after = null;
        for (Place each = latest; each != mine && each != null; each = each.before) {
            after = each;
        }
        if (after == null) {
            latest = mine.before;
        } else {
            after.before = mine.before;
        }
        mine.before = null;
    }

    private void leaveEarlierEpoch(Place mine) {
        if (mine.epoch != epoch) {
            mine.epoch = epoch;
            mine.info = null;
            mine.before = null;
            mine.forgetSteps();
        }
    }

    /** Keeps an element among the first ones in an order; the last of these is the first of the queue. */
    private static void offer(PriorityQueue<Step> queue, Step step, int capacity, Comparator<Step> order) {
        if (queue.size() < capacity) {
            queue.add(step);
        } else if (order.compare(step, queue.element()) < 0) {
            queue.remove();
            queue.add(step);
        }
    }

    private static Map<BrickCategory, Long> byCategory(long[] categoryNs) {
        Map<BrickCategory, Long> byCategory = new EnumMap<>(BrickCategory.class);
        for (BrickCategory category : CATEGORIES) {
            byCategory.put(category, categoryNs[category.index()]);
        }
        return byCategory;
    }

    // ---- readers ----

    /** Returns the steps that have ended since the last reset. */
    synchronized Reading read() {
        abandonEnded();
        if (recent != null && !recent.isOwnerAlive()) {
            recent = null;
        }
        Supplier<RequestTimeline> timeline = timeline();
        return reading(requests == null ? RequestStats.NONE : requests.stats(), timeline);
    }

    private Supplier<RequestTimeline> timeline() {
        return requests == null ? Reading.NONE.timeline() : requests.timeline();
    }

    private Reading reading(RequestStats ofRequests, Supplier<RequestTimeline> timeline) {
        return new Reading(steps(), ofRequests, timeline, first, ended);
    }

    private Steps steps() {
        countEnded(false);
        List<Step> kept = new ArrayList<>(sampled);
        List<StepStats> stats = new ArrayList<>();
        for (PhaseSums phase : phases) {
            kept.addAll(phase.slowest);
            stats.add(phase.stats());
        }
        PhaseSums prompts = phases[StepInfo.Phase.PREFILL.index()];
        PhaseSums decoding = phases[StepInfo.Phase.DECODE.index()];
        return new Steps(
                stats,
                LatencyDistribution.ofCounts(prompts.tokenTimes),
                prompts.tokenTimesNs,
                LatencyDistribution.ofCounts(decoding.tokenTimes),
                abandoned,
                kept);
    }

    private void clear() {
        for (PhaseSums phase : phases) {
            phase.clear();
        }
        forgetUncounted();
        sampled.clear();
        first = ended;
        abandoned = 0;
    }

    /** Returns how many steps have ended since a reading. */
    synchronized long endedSince(Reading reading) {
        return ended - reading.end();
    }

    /** Returns the same, and begins anew; steps that are under way count once they end. */
    synchronized Reading readAndReset() {
        abandonEnded();
        Supplier<RequestTimeline> timeline = timeline();
        Reading reading = reading(requests == null ? RequestStats.NONE : requests.statsAndReset(), timeline);
        clear();
        return reading;
    }

    /** Forgets everything, the steps that are under way too. */
    synchronized void reset() {
        epoch++;
        clear();
        if (requests != null) {
            requests.reset();
        }
        latest = null;
        underWay = 0;
        summed = 0;
        for (PhaseSums phase : phases) {
            phase.underWay = 0;
            announceOnly(phase);
        }
        places.sweep();
        recent = null;
    }
}
