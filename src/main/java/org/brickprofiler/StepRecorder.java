package org.brickprofiler;

import static org.brickprofiler.internal.base.Sums.limited;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.brickprofiler.internal.access.CurrentSums;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.internal.record.Listeners;
import org.brickprofiler.internal.record.PerThread;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.RunPeriod;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.StepCpuTimes;
import org.brickprofiler.internal.record.StepFollower;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.internal.record.WallClock;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.request.RequestTimeline;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.stats.LatencyDistribution;
import org.jspecify.annotations.Nullable;

/**
 * Follows the steps of all threads in fixed memory. Thread-safe: one lock guards everything, since steps are rare. A
 * step belongs to the thread that began it, which alone ends it.
 *
 * <p>The brick time of a step is the sum of its phase that all threads had recorded at its end, less the sum at its
 * beginning, so a step adds no cost to its samples. Between steps of a phase, samples of the phase come only from
 * threads that still work for an earlier step; they count in the next one, so the sum at the end of a step is also the
 * sum at the beginning of the next step of the phase. The brick time is known only if no other step was under way
 * meanwhile and no measurement was pending at its beginning or its end, since the difference would include their
 * samples, and only as long as no sum has reached its limit.
 */
final class StepRecorder {

    private static final StepInfo.Phase[] PHASES = StepInfo.Phase.values();
    private static final BrickCategory[] CATEGORIES = BrickCategory.values();

    /** The number of ended steps that are collected before all of them are counted. */
    private static final int UNCOUNTED = 64;

    // The columns of a step that has ended and is not counted yet; a row is three cache lines.
    private static final int START_NS = 0;
    private static final int DURATION_NS = 1;
    private static final int PHASE = 2;
    private static final int BATCH = 3;
    private static final int PREFILL_TOKENS = 4;
    private static final int KV_LENGTH = 5;
    private static final int OUTPUT_TOKENS = 6;
    private static final int DRAFTED_TOKENS = 7;
    private static final int ACCEPTED_TOKENS = 8;

    /** The time to the tokens that the step gave: since the prompt began, or since the thread's previous tokens. */
    private static final int TOKENS_NS = 9;

    /** The brick time of the phase at the end of the step, by category. */
    private static final int TOTALS_NS = 10;

    private static final int COLUMNS = TOTALS_NS + CATEGORIES.length;

    private final Boundaries profiler;
    private final TableRegistry registry;

    /** The category of each brick. */
    private final byte[] tags;

    private final RunPeriod period;

    /** The clock that the builder was given; null for the system's. */
    private final @Nullable NanoClock ownClock;

    /** Chooses the steps whose spans a timeline keeps; null unless it chooses by step. */
    private final @Nullable StepFollower chooser;

    /** Creates the reader of a thread's times; null if neither the sums nor a timeline need them. */
    private final @Nullable Supplier<ThreadTimes> threadTimes;

    /** Whether the sums of steps include CPU times. */
    private final boolean hasCpuTimes;

    private final PerThread<Place, @Nullable Void> places = new PerThread<>(new Places(), null, false);

    /** The place of the thread that called last, which is nearly always the next caller. */
    private @Nullable Place recent;

    /** The steps of each phase. */
    private final PhaseSteps[] phases = new PhaseSteps[PHASES.length];

    /** The sampled steps since the last reset; the head of the queue is the step that a better one replaces. */
    private final PriorityQueue<Step> sampled = new PriorityQueue<>(Steps.BY_CHANCE.reversed());

    // The steps that have ended and are not counted yet. Counting a step touches many objects and executes much code,
    // which costs most if the caches are cold. Steps are therefore counted many at a time. This happens so rarely that
    // the compiler does not inline the code into the end of a step: it inlines methods that have run a hundred times by
    // the time it compiles the caller. All columns of a row are 0 until a step ends there.

    private final long[] uncounted = new long[UNCOUNTED * COLUMNS];
    private int uncountedSteps;

    /** A bit for each uncounted step: whether its brick time is known. */
    private long attributed;

    /**
     * A bit for each phase: whether the brick time at the end of its latest step is also that at the beginning of its
     * next step.
     */
    private int summed;

    /** The number of the first step that ended since the last reset. */
    private long first;

    private long abandoned;

    /**
     * Follows the requests that the steps work on; null before the first call of {@link #requests(LongSupplier,
     * Listeners)}.
     */
    private @Nullable RequestRecorder requests;

    /** The number of steps that have begun. A step compares it to find whether another step has begun since. */
    private long begun;

    /** The number of steps that have ended, including those before resets. */
    private long ended;

    /** The clock at the latest end of a step; 0 before the first one. */
    private long lastEndNs;

    private int underWay;

    /**
     * The place of the step under way that began last; places are linked from later to earlier steps. Stale if none is
     * under way.
     */
    private @Nullable Place latest;

    /** The only phase of the steps under way, as it was last announced to the tables. */
    private int only = PhaseKey.NO_PHASE;

    /** Incremented to forget the steps that are under way. */
    private int epoch;

    /**
     * The sums of the steps since the last reset.
     *
     * @param steps the sums
     * @param requests the requests of these steps
     * @param timeline creates the timeline of these requests
     * @param first the number of the first step that ended since the reset
     * @param end the number after that of the last step
     * @param latest the latest step of each phase that has any, by phase
     */
    record Reading(
            Steps steps,
            RequestStats requests,
            Supplier<RequestTimeline> timeline,
            long first,
            long end,
            Map<StepInfo.Phase, CurrentSums.LatestStep> latest) {
        static final Reading NONE =
                new Reading(Steps.NONE, RequestStats.NONE, () -> RequestTimeline.NONE, 0, 0, Map.of());
    }

    /** The state of a thread. The recorder's lock guards it. */
    private static final class Place extends PerThread.Owned {
        private int epoch;

        /** Whether a step is open; the next fields are those of the open or latest step. */
        private boolean isOpen;

        private int batch;
        private long prefillTokens;
        private long kvLength;
        private long outputTokens;
        private long draftedTokens;
        private long acceptedTokens;
        private long startNs;

        /** The step's token in the recorder of requests; 0 without such a recorder. */
        private long requestStep;

        /**
         * The times of the thread during the open or latest step; null if they are not needed, or before the first
         * step.
         */
        private @Nullable StepCpuTimes times;

        /** The number of the step that ended last, until {@link #takeEnded} returns it. */
        private long lastIndex = StepFollower.NO_STEP;

        /** The number of steps that had begun, this one included, if its brick time may be known; 0 otherwise. */
        private long alone;

        /** The steps of its phase; null before the first step. */
        private @Nullable PhaseSteps phase;

        /** The place of the step under way that began just before; null if there is none. */
        private @Nullable Place before;

        /** Whether a prompt is under way, and since when. */
        private boolean inPrompt;

        private long promptNs;

        /** Whether a step of the thread gave tokens, and when the latest such step ended. */
        private boolean hasGiven;

        private long gaveNs;

        /** Whether the open or latest step follows one whose tokens or prompt it continues. */
        private boolean follows;

        /** Whether the brick time of the latest step is known. */
        private boolean isAttributed;

        Place(@Nullable Thread thread) {
            super(thread);
        }

        /** Forgets the tokens that were given, and the prompt that is under way. */
        void forgetSteps() {
            inPrompt = false;
            hasGiven = false;
        }

        PhaseSteps phase() {
            return Objects.requireNonNull(phase, "phase");
        }

        boolean hasPrompts() {
            return phase().phase != StepInfo.Phase.DECODE;
        }

        /**
         * Returns whether a step that gave tokens ends the prompts that are under way. Steps that decode other
         * sequences may run between the parts of a prompt, and a mixed step in which a sequence got no token has only a
         * part of one.
         */
        boolean endsPrompts() {
            return phase().phase == StepInfo.Phase.PREFILL || (hasPrompts() && outputTokens + acceptedTokens >= batch);
        }
    }

    /** A named class: the first lambda of a virtual machine takes longer to make than a profiler. */
    private static final class Places implements PerThread.Keeper<Place, @Nullable Void> {
        @Override
        public Place make(@Nullable Thread owner) {
            return new Place(owner);
        }
    }

    /** The fields of a phase that every step needs, in one cache line. The recorder's lock guards them. */
    private static final class PhaseSteps {
        private final StepInfo.Phase phase;

        /** The number of the phase among rows of samples, and the bit of the phase. */
        private final int number;

        private final int bit;

        /** The number of steps under way, and the time up to which {@link #wallNs} includes them. */
        private int underWay;

        private long countedToNs;

        /** The time since the last reset during which steps were under way. */
        private long wallNs;

        private final PhaseSums sums;

        PhaseSteps(StepInfo.Phase phase) {
            this.phase = phase;
            this.number = phase.number();
            this.bit = 1 << phase.index();
            this.sums = new PhaseSums(phase);
        }
    }

    /** The sums of the steps of a phase that were counted since the last reset. The recorder's lock guards them. */
    private static final class PhaseSums {
        private final StepInfo.Phase phase;

        /** The brick time of the phase, by category, at the beginning of the next step that is counted. */
        private final long[] sumNs = new long[CATEGORIES.length];

        /** The brick time of the step that was counted last, by category. */
        private final long[] ofStepNs = new long[CATEGORIES.length];

        // The sums.

        private final long[] categoryNs = new long[CATEGORIES.length];
        private final long[] durations = new long[LatencyBuckets.COUNT];

        /** The times to first token in the phase PREFILL, the times per output token in the phase DECODE. */
        private final long[] tokenTimes = new long[LatencyBuckets.COUNT];

        private long tokenTimesNs;
        private final PriorityQueue<Step> slowest = new PriorityQueue<>(Steps.BY_SLOWNESS.reversed());

        private long count;
        private long totalNs;
        private long minNs = Long.MAX_VALUE;
        private long maxNs;
        private long sequences;
        private long prefillTokens;
        private long outputTokens;
        private long draftedTokens;
        private long acceptedTokens;
        private long kvLength;
        private long latestBatch;
        private long latestKvLength;
        private long timed;
        private long timedWallNs;
        private long ranNs;
        private long waitedNs;

        /** The number of steps for which the system reported how long their thread waited for a processor. */
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
            totalNs = 0;
            minNs = Long.MAX_VALUE;
            maxNs = 0;
            sequences = 0;
            prefillTokens = 0;
            outputTokens = 0;
            draftedTokens = 0;
            acceptedTokens = 0;
            kvLength = 0;
            latestBatch = 0;
            latestKvLength = 0;
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
                categoryNs[i] = limited(categoryNs[i], ofStepNs[i]);
                sumNs[i] = totalNs;
            }
        }

        /** Adds a step that has ended, which is a row of {@link #uncounted}. */
        void add(long[] steps, int row) {
            long durationNs = steps[row + DURATION_NS];
            long given = limited(steps[row + OUTPUT_TOKENS], steps[row + ACCEPTED_TOKENS]);
            count++;
            totalNs = limited(totalNs, durationNs);
            minNs = Math.min(minNs, durationNs);
            maxNs = Math.max(maxNs, durationNs);
            durations[LatencyBuckets.indexOf(durationNs)]++;
            sequences = limited(sequences, steps[row + BATCH]);
            prefillTokens = limited(prefillTokens, steps[row + PREFILL_TOKENS]);
            outputTokens = limited(outputTokens, given);
            draftedTokens = limited(draftedTokens, steps[row + DRAFTED_TOKENS]);
            acceptedTokens = limited(acceptedTokens, steps[row + ACCEPTED_TOKENS]);
            kvLength = limited(kvLength, steps[row + KV_LENGTH]);
            latestBatch = steps[row + BATCH];
            latestKvLength = steps[row + KV_LENGTH];
            if (given > 0) {
                addTokens(steps[row + TOKENS_NS], steps[row + BATCH], given);
            }
        }

        /** Adds the time to the tokens of a step that gave some. */
        private void addTokens(long sinceNs, long sequencesOfStep, long given) {
            if (phase == StepInfo.Phase.PREFILL) {
                tokenTimes[LatencyBuckets.indexOf(sinceNs)]++;
                tokenTimesNs = limited(tokenTimesNs, sinceNs);
            } else if (phase == StepInfo.Phase.DECODE) {
                tokenTimes[LatencyBuckets.indexOf(Math.round((double) sinceNs * sequencesOfStep / given))]++;
            }
        }

        /** Adds the CPU time of a step. */
        void addCpu(StepCpuTimes of) {
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

        StepStats stats(long wallNs) {
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
     * Creates a recorder without steps.
     *
     * @param profiler the profiler; the recorder announces the only phase of the steps under way to its tables
     * @param cpuTimes creates the reader of the calling thread's CPU time; null if steps record no CPU time
     */
    StepRecorder(Boundaries profiler, RunPeriod period, NanoClock clock, @Nullable Supplier<ThreadTimes> cpuTimes) {
        Arrays.setAll(phases, index -> new PhaseSteps(PHASES[index]));
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
     * Returns the recorder of requests. The first call creates it, and announces the steps that are under way to it.
     *
     * @param epochNs returns the time of the clock at 0 of the scale of arrivals, ns
     * @param listeners receive the requests that finish
     */
    synchronized RequestRecorder requests(LongSupplier epochNs, Listeners<ProfilerListener> listeners) {
        RequestRecorder recorder = requests;
        if (recorder == null) {
            recorder = new RequestRecorder(
                    clock(),
                    epochNs,
                    profiler.followServingThreads(),
                    ownClock == null ? new WallClock() : period::unixMs);
            recorder.onFinished(
                    () -> !listeners.isEmpty(),
                    (request, trace) -> listeners.ofStep(each -> each.requestFinished(request, trace)));
            requests = recorder;
            announceUnderWay(recorder, latest());
            switched(false);
        }
        return recorder;
    }

    /** Announces the steps that are under way, in the order in which they began. */
    private void announceUnderWay(RequestRecorder recorder, @Nullable Place place) {
        if (place != null) {
            announceUnderWay(recorder, place.before);
            place.requestStep = recorder.stepUnderWay(place.hasPrompts(), nanoTime());
        }
    }

    /**
     * Follows a switch of the profiler. The call reads the profiler's state under the lock, so that after two
     * concurrent switches the last reader sees the final state.
     *
     * @param off whether the profiler was off meanwhile; if so, the steps that are under way lack samples and are
     *     abandoned
     */
    synchronized void switched(boolean off) {
        if (off) {
            for (Place place = latest(); place != null; place = latest()) {
                abandon(place);
            }
        }
        if (requests != null && profiler.isOn()) {
            requests.enable();
        } else if (requests != null) {
            requests.disable();
        }
    }

    private NanoClock clock() {
        return ownClock == null ? NanoClock.SYSTEM : ownClock;
    }

    private long nanoTime() {
        NanoClock own = ownClock;
        return own == null ? System.nanoTime() : own.nanoTime();
    }

    /** Returns the place of the step under way that began last; null if none is under way. */
    private @Nullable Place latest() {
        return underWay == 0 ? null : latest;
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
            times(places.mine(), threadTimes).begin();
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
                        line,
                        mine.times == null ? ThreadTimes.UNKNOWN : mine.times.waitedBetweenNs());
            }
        }
    }

    /**
     * Begins a step of the calling thread. The call reads the switch under the lock, so if the profiler is switched off
     * later, the step is abandoned.
     *
     * @return its place; null if the profiler was switched off meanwhile
     */
    private synchronized @Nullable Place start(StepInfo info, boolean pending) {
        if (!profiler.isOn()) {
            return null;
        }
        Place mine = mine();
        leaveEarlierEpoch(mine);
        if (mine.isOpen) {
            abandon(mine);
        }
        abandonEnded();
        begun++;
        PhaseSteps phase = phase(mine, info.phase());
        mine.alone = pending || underWay > 0 ? 0 : begun;
        int bit = phase.bit;
        if (mine.alone != 0 && (summed & bit) == 0) {
            countEnded(false);
            Arrays.fill(phase.sums.sumNs, 0);
            mine.alone = sum(phase, phase.sums.sumNs, 0) ? begun : 0;
        }
        summed &= ~bit;
        open(mine, phase, info);
        mine.startNs = nanoTime();
        if (phase.underWay++ == 0) {
            phase.countedToNs = mine.startNs;
        }
        announceOnly(phase);
        mine.follows = mine.hasGiven || mine.inPrompt;
        if (!mine.inPrompt && mine.hasPrompts()) {
            mine.inPrompt = true;
            mine.promptNs = mine.startNs;
        }
        RequestRecorder follower = requests;
        mine.requestStep =
                follower == null ? 0 : follower.stepBegan(mine.hasPrompts(), info.prefillTokens(), mine.startNs);
        return mine;
    }

    /** Returns the steps of a phase, which is most often the phase of the thread's latest step. */
    private PhaseSteps phase(Place mine, StepInfo.Phase phase) {
        PhaseSteps before = mine.phase;
        return before != null && before.phase == phase ? before : phases[phase.index()];
    }

    /**
     * Opens a step. Copies the numbers, and stores a reference only if it differs from the present one: the write
     * barrier of a garbage collector executes further code, and reads the collector's own memory.
     */
    private void open(Place mine, PhaseSteps phase, StepInfo info) {
        mine.isOpen = true;
        if (mine.phase != phase) {
            mine.phase = phase;
        }
        mine.batch = info.batch();
        mine.prefillTokens = info.prefillTokens();
        mine.kvLength = info.kvLength();
        mine.outputTokens = info.outputTokens();
        mine.draftedTokens = info.draftedTokens();
        mine.acceptedTokens = 0;
        Place before = latest();
        if (mine.before != before) {
            mine.before = before;
        }
        if (latest != mine) {
            latest = mine;
        }
        underWay++;
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
        if (mine == null || mine.epoch != epoch || !mine.isOpen) {
            return;
        }
        long left = mine.draftedTokens - mine.acceptedTokens;
        if (tokens > left) {
            throw new IllegalArgumentException(
                    "accepted tokens " + tokens + " are more than the " + left + " drafted ones that were left");
        }
        mine.acceptedTokens += tokens;
    }

    /**
     * Ends the step of the calling thread, if one is under way.
     *
     * @param endNs the time of the clock at the end, ns
     * @param resolved whether the deferred measurements until then were resolved
     * @param pending whether a measurement is pending
     * @param followed whether any listener wants the step
     * @return the step; null if none was open, or no listener wants it
     */
    @Nullable
    Step end(long endNs, boolean resolved, boolean pending, boolean followed) {
        Place mine = threadTimes == null ? null : places.mineOrNull();
        StepCpuTimes times = mine == null ? null : mine.times;
        if (times != null) {
            times.end();
        }
        Step step = stop(endNs, pending, followed);
        if (chooser != null) {
            boolean deferred = !resolved && registry.pendingCount() > 0;
            if (mine == null || times == null) {
                chooser.stepEnded(StepFollower.NO_STEP, endNs, ThreadTimes.UNKNOWN, ThreadTimes.UNKNOWN, deferred);
            } else {
                chooser.stepEnded(takeEnded(mine), endNs, times.ranNs(), times.waitedNs(), deferred);
            }
        }
        return step;
    }

    /**
     * Returns the times of the calling thread. They are read without holding the lock, and outside of the step's
     * duration.
     */
    private StepCpuTimes times(Place mine, Supplier<ThreadTimes> reader) {
        StepCpuTimes times = mine.times;
        if (times == null) {
            times = new StepCpuTimes(reader.get(), clock());
            mine.times = times;
        }
        return times;
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
        if (!mine.isOpen) {
            return null;
        }
        PhaseSteps phase = mine.phase();
        leave(mine, phase, endNs);
        if (requests != null) {
            requests.stepEnded(mine.requestStep, endNs, mine.acceptedTokens);
        }
        if (hasCpuTimes && mine.times != null) {
            phase.sums.addCpu(mine.times);
        }
        int row = uncountedSteps * COLUMNS;
        uncounted[row + START_NS] = mine.startNs;
        uncounted[row + DURATION_NS] = Math.max(0, endNs - mine.startNs);
        uncounted[row + PHASE] = phase.number;
        uncounted[row + BATCH] = mine.batch;
        uncounted[row + PREFILL_TOKENS] = mine.prefillTokens;
        uncounted[row + KV_LENGTH] = mine.kvLength;
        uncounted[row + OUTPUT_TOKENS] = mine.outputTokens;
        uncounted[row + DRAFTED_TOKENS] = mine.draftedTokens;
        uncounted[row + ACCEPTED_TOKENS] = mine.acceptedTokens;
        uncounted[row + TOKENS_NS] = tokensNs(mine, phase, endNs);
        // Of marks by sampling, a single step has too few.
        boolean hasTimes = profiler.sampling == 1 && !pending;
        mine.isAttributed = mine.alone == begun && hasTimes && sum(phase, uncounted, row + TOTALS_NS);
        if (mine.isAttributed) {
            attributed |= 1L << uncountedSteps;
            summed |= phase.bit;
        }
        uncountedSteps++;
        lastEndNs = endNs;
        mine.lastIndex = ended++;
        if (!followed && uncountedSteps < UNCOUNTED) {
            return null;
        }
        Step step = countEnded(followed);
        return followed ? step : null;
    }

    /**
     * Adds the time of all samples of a phase so far, by category, to elements that are 0.
     *
     * @return false if a sum has reached its limit
     */
    private boolean sum(PhaseSteps phase, long[] totalsNs, int from) {
        return registry.addTotalsNs(phase.number, tags, totalsNs, from, CATEGORIES.length);
    }

    /**
     * Returns the time to the tokens of a step that ends: since the prompt began, or since the thread's latest tokens;
     * 0 if it gives none.
     */
    private static long tokensNs(Place mine, PhaseSteps phase, long endNs) {
        if ((mine.outputTokens | mine.acceptedTokens) == 0) {
            return 0;
        }
        long gaveNs = mine.hasGiven ? mine.gaveNs : mine.startNs;
        long sinceNs = endNs - (phase.phase == StepInfo.Phase.PREFILL ? mine.promptNs : gaveNs);
        mine.inPrompt &= !mine.endsPrompts();
        mine.hasGiven = true;
        mine.gaveNs = endNs;
        return Math.max(0, sinceNs);
    }

    /**
     * Counts the steps that have ended since the last call.
     *
     * @param wantsLatest whether to return the latest step
     * @return the latest step if {@code wantsLatest} is true; otherwise without meaning
     */
    private @Nullable Step countEnded(boolean wantsLatest) {
        Step latestStep = null;
        for (int i = 0; i < uncountedSteps; i++) {
            int row = i * COLUMNS;
            PhaseSums sums = phases[(int) uncounted[row + PHASE] - 1].sums;
            sums.add(uncounted, row);
            Arrays.fill(sums.ofStepNs, 0);
            if ((attributed & (1L << i)) != 0) {
                sums.attribute(uncounted, row + TOTALS_NS);
            }
            boolean isWanted = wantsLatest && i == uncountedSteps - 1;
            long index = ended - uncountedSteps + i;
            if (isWanted || isKept(index, uncounted[row + DURATION_NS], sums)) {
                latestStep = new Step(
                        index,
                        period.unixNs(uncounted[row + START_NS]),
                        uncounted[row + DURATION_NS],
                        info(sums.phase, row),
                        uncounted[row + ACCEPTED_TOKENS],
                        byCategory(sums.ofStepNs));
                offer(sampled, latestStep, Steps.SAMPLED, Steps.BY_CHANCE);
                offer(sums.slowest, latestStep, Steps.SLOWEST, Steps.BY_SLOWNESS);
            }
        }
        forgetUncounted();
        return latestStep;
    }

    private StepInfo info(StepInfo.Phase phase, int row) {
        return new StepInfo(
                phase,
                (int) uncounted[row + BATCH],
                uncounted[row + PREFILL_TOKENS],
                uncounted[row + KV_LENGTH],
                uncounted[row + OUTPUT_TOKENS],
                uncounted[row + DRAFTED_TOKENS]);
    }

    private void forgetUncounted() {
        Arrays.fill(uncounted, 0, uncountedSteps * COLUMNS, 0);
        uncountedSteps = 0;
        attributed = 0;
    }

    private void abandonEnded() {
        Place place = latest();
        while (place != null) {
            Place before = place.before;
            if (!place.isOwnerAlive()) {
                abandon(place);
            }
            place = before;
        }
    }

    /** Announces the only phase of the steps under way, if it has changed. */
    private void announceOnly(PhaseSteps changed) {
        int now = PhaseKey.NO_PHASE;
        if (underWay > 0) {
            now = changed.underWay == underWay ? changed.number : onlyPhaseOfAll();
        }
        if (now != only) {
            only = now;
            profiler.setOnlyPhase(now);
        }
    }

    private int onlyPhaseOfAll() {
        for (PhaseSteps phase : phases) {
            if (phase.underWay == underWay) {
                return phase.number;
            }
        }
        return PhaseKey.NO_PHASE;
    }

    /** Returns whether a step may be kept. Called before the {@link Step} is created, since few steps are kept. */
    private boolean isKept(long index, long durationNs, PhaseSums sums) {
        return sampled.size() < Steps.SAMPLED
                || sums.slowest.size() < Steps.SLOWEST
                || Steps.hash(index) <= Steps.hash(sampled.element().index())
                || durationNs >= sums.slowest.element().durationNs();
    }

    /** Returns the number of the step that a thread has ended since the last call, or {@link StepFollower#NO_STEP}. */
    private synchronized long takeEnded(Place mine) {
        long index = mine.lastIndex;
        mine.lastIndex = StepFollower.NO_STEP;
        return index;
    }

    /** Makes the next step of the calling thread follow no other step, since the time before it was not recorded. */
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
        if (mine.isOpen) {
            abandon(mine);
        }
        mine.forgetSteps();
    }

    private void abandon(Place mine) {
        long nowNs = nanoTime();
        leave(mine, mine.phase(), nowNs);
        if (requests != null) {
            requests.stepAbandoned(mine.requestStep, nowNs);
        }
        mine.forgetSteps();
        abandoned++;
    }

    private void leave(Place mine, PhaseSteps phase, long endNs) {
        mine.isOpen = false;
        underWay--;
        if (underWay > 0) {
            unlink(mine);
        }
        phase.underWay--;
        long moreNs = endNs - phase.countedToNs;
        if (moreNs > 0) {
            phase.wallNs = limited(phase.wallNs, moreNs);
            phase.countedToNs = endNs;
        }
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
            mine.isOpen = false;
            mine.before = null;
            mine.forgetSteps();
        }
    }

    /**
     * Adds a step to a queue that keeps the first steps in an order. The head of the queue is the last of these steps.
     */
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

    /**
     * Returns the steps that have ended since the last reset.
     *
     * @param whole whether to return the kept steps and the timeline of requests, too
     */
    synchronized Reading read(boolean whole) {
        letGo();
        RequestRecorder of = requests;
        RequestStats stats = of == null ? RequestStats.NONE : whole ? of.stats() : of.sums();
        return reading(stats, whole ? timeline() : Reading.NONE.timeline(), whole);
    }

    /** Returns what is under way. Where threads stand is read without the lock. */
    Progress progress() {
        List<Progress.OpenStep> open = new ArrayList<>();
        OptionalLong sinceStepNs;
        Optional<Thread> latestThread;
        RequestRecorder recorder;
        synchronized (this) {
            letGo();
            long nowNs = nanoTime();
            for (Place place = latest(); place != null; place = place.before) {
                Thread thread = place.owner();
                if (thread != null) {
                    open.add(new Progress.OpenStep(place.phase().phase, Math.max(0, nowNs - place.startNs), thread));
                }
            }
            sinceStepNs = ended == 0 ? OptionalLong.empty() : OptionalLong.of(Math.max(0, nowNs - lastEndNs));
            latestThread = Optional.ofNullable(recent).map(Place::owner);
            recorder = requests;
        }
        open.sort(Comparator.comparingLong(Progress.OpenStep::elapsedNs).reversed());
        RequestRecorder.Live live = recorder == null ? RequestRecorder.Live.NONE : recorder.live();
        return Progress.of(
                sinceStepNs, open, live, recorder == null ? List.of() : recorder.lastMinutes(), latestThread);
    }

    /** Abandons the steps of ended threads, and drops the references to the places of these threads. */
    private void letGo() {
        abandonEnded();
        latest = latest();
        if (recent != null && !recent.isOwnerAlive()) {
            recent = null;
        }
    }

    private Supplier<RequestTimeline> timeline() {
        return requests == null ? Reading.NONE.timeline() : requests.timeline();
    }

    private Reading reading(RequestStats ofRequests, Supplier<RequestTimeline> timeline, boolean whole) {
        Steps ofAll = steps(whole);
        Map<StepInfo.Phase, CurrentSums.LatestStep> latestSteps = new EnumMap<>(StepInfo.Phase.class);
        for (PhaseSteps phase : phases) {
            if (phase.sums.count > 0) {
                latestSteps.put(
                        phase.phase, new CurrentSums.LatestStep(phase.sums.latestBatch, phase.sums.latestKvLength));
            }
        }
        return new Reading(ofAll, ofRequests, timeline, first, ended, latestSteps);
    }

    private Steps steps(boolean whole) {
        countEnded(false);
        List<Step> kept = whole ? new ArrayList<>(sampled) : new ArrayList<>();
        List<StepStats> stats = new ArrayList<>();
        for (PhaseSteps phase : phases) {
            if (whole) {
                kept.addAll(phase.sums.slowest);
            }
            stats.add(phase.sums.stats(phase.wallNs));
        }
        PhaseSums prompts = phases[StepInfo.Phase.PREFILL.index()].sums;
        PhaseSums decoding = phases[StepInfo.Phase.DECODE.index()].sums;
        return new Steps(
                stats,
                LatencyDistribution.ofCounts(prompts.tokenTimes),
                prompts.tokenTimesNs,
                LatencyDistribution.ofCounts(decoding.tokenTimes),
                abandoned,
                kept);
    }

    private void clear() {
        for (PhaseSteps phase : phases) {
            phase.wallNs = 0;
            phase.sums.clear();
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

    /**
     * Returns the steps that have ended since the last reset, and resets. Steps that are under way count once they end.
     */
    synchronized Reading readAndReset() {
        letGo();
        Supplier<RequestTimeline> timeline = timeline();
        Reading reading = reading(requests == null ? RequestStats.NONE : requests.statsAndReset(), timeline, true);
        clear();
        return reading;
    }

    /** Forgets everything, including the steps that are under way. */
    synchronized void reset() {
        epoch++;
        clear();
        if (requests != null) {
            requests.reset();
        }
        latest = null;
        underWay = 0;
        summed = 0;
        for (PhaseSteps phase : phases) {
            phase.underWay = 0;
            announceOnly(phase);
        }
        places.sweep();
        recent = null;
    }
}
