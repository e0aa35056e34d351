package org.brickprofiler;

import static org.brickprofiler.internal.io.Sums.limited;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.internal.record.Listeners;
import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.PerThread;
import org.brickprofiler.internal.record.PhaseRow;
import org.brickprofiler.internal.record.RunPeriod;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.StepFollower;
import org.brickprofiler.internal.record.TableRegistry;
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

    private final TableRegistry registry;
    private final NameTable names;
    private final RunPeriod period;
    private final NanoClock clock;

    /** Chooses the steps whose spans a timeline keeps; null unless it chooses by step. */
    private final @Nullable StepFollower chooser;

    private final PerThread<Place, @Nullable Void> places = new PerThread<>(new Places(), null, false);

    private Sums sums = new Sums(0);

    /** Follows the requests that the steps work on; null if nobody asked for it. */
    private @Nullable RequestRecorder requests;

    /** How many steps have begun: so a step knows whether another one has begun since. */
    private long begun;

    /** How many steps have ended, also before resets. */
    private long ended;

    private final List<Place> underWay = new ArrayList<>();

    /** How many steps of each phase are under way, and up to when the time of such steps is counted. */
    private final int[] underWayOf = new int[PHASES.length];

    private final long[] countedToNs = new long[PHASES.length];

    /** The sums of each phase at the end of its latest step, by category; good if {@link #summed} is true. */
    private final long[][] sumNs = new long[PHASES.length][CATEGORIES.length];

    private final boolean[] summed = new boolean[PHASES.length];

    /** Takes the only phase of which steps are under way. */
    private final IntConsumer onlyPhase;

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

        /** The number of the step that ended last, until it is taken. */
        private long lastIndex = StepFollower.NO_STEP;

        /** The number of the step if its brick time may be known, 0 otherwise. */
        private long alone;

        /** Room for the brick time of a step that ends. */
        private final long[] categoryNs = new long[CATEGORIES.length];

        /** Whether a prompt is under way, and since when. */
        private boolean inPrompt;

        private long promptNs;

        /** Whether the thread's latest step gave tokens, and when. */
        private boolean hasGiven;

        private long gaveNs;

        Place(@Nullable Thread thread) {
            super(thread);
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

    /** The sums of the steps since a reset. Guarded by the recorder. */
    private static final class Sums {
        private final long[] firstToken = new long[LatencyBuckets.COUNT];
        private long firstTokenNs;
        private final long[] perOutputToken = new long[LatencyBuckets.COUNT];
        private final PhaseSums[] phases =
                Arrays.stream(PHASES).map(PhaseSums::new).toArray(PhaseSums[]::new);

        /** The sample; the one that goes when a better one comes is the first. */
        private final PriorityQueue<Step> sampled = new PriorityQueue<>(Steps.BY_CHANCE.reversed());

        /** The number of the first step that counts here. */
        private final long first;

        private long abandoned;

        Sums(long first) {
            this.first = first;
        }

        Steps steps() {
            List<Step> kept = new ArrayList<>(sampled);
            List<StepStats> stats = new ArrayList<>();
            for (PhaseSums phase : phases) {
                kept.addAll(phase.slowest);
                stats.add(phase.stats());
            }
            return new Steps(
                    stats,
                    LatencyDistribution.ofCounts(firstToken),
                    firstTokenNs,
                    LatencyDistribution.ofCounts(perOutputToken),
                    abandoned,
                    kept);
        }
    }

    /** The sums of the steps of a phase. Guarded by the recorder. */
    private static final class PhaseSums {
        private final StepInfo.Phase phase;
        private final long[] durations = new long[LatencyBuckets.COUNT];
        private final long[] categoryNs = new long[CATEGORIES.length];
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
        private long attributed;

        PhaseSums(StepInfo.Phase phase) {
            this.phase = phase;
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

        StepStats stats() {
            return StepStats.builder(phase)
                    .steps(count, wallNs)
                    .durations(totalNs, count == 0 ? 0 : minNs, maxNs, LatencyDistribution.ofCounts(durations))
                    .sequences(sequences)
                    .tokens(prefillTokens, outputTokens, draftedTokens, acceptedTokens)
                    .kvLength(kvLength)
                    .categories(attributed, byCategory(categoryNs))
                    .build();
        }
    }

    /**
     * No steps.
     *
     * @param onlyPhase takes the number of the only phase of which steps are under way when it changes;
     *     {@link PhaseRow#NO_PHASE} if there are none or several
     */
    StepRecorder(TableRegistry registry, NameTable names, RunPeriod period, NanoClock clock, IntConsumer onlyPhase) {
        this.registry = registry;
        this.names = names;
        this.period = period;
        this.clock = clock;
        this.chooser = registry.stepFollower();
        this.onlyPhase = onlyPhase;
    }

    /**
     * Returns the recorder of requests. The first call makes it, and announces the steps that are under way.
     *
     * @param epochNs the clock at 0 of the scale of arrivals, ns
     * @param on whether the profiler is on
     * @param listeners receive the requests that finish
     */
    synchronized RequestRecorder requests(
            LongSupplier epochNs, BooleanSupplier on, Listeners<ProfilerListener> listeners) {
        RequestRecorder recorder = requests;
        if (recorder == null) {
            recorder = new RequestRecorder(clock, epochNs);
            recorder.onFinished(
                    () -> !listeners.isEmpty(), request -> listeners.ofStep(each -> each.requestFinished(request)));
            requests = recorder;
            for (Place place : underWay) {
                StepInfo info = Objects.requireNonNull(place.info, "info");
                place.requestStep = recorder.stepUnderWay(hasPrompts(info), clock.nanoTime());
            }
            // Asked under the lock that a switch takes, too: the recorder misses none.
            switched(on.getAsBoolean());
        }
        return recorder;
    }

    /** The profiler was switched on or off. */
    synchronized void switched(boolean on) {
        if (requests != null && on) {
            requests.enable();
        } else if (requests != null) {
            requests.disable();
        }
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
        long startNs = start(info, pending);
        if (registry.hasSpans()) {
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

    private synchronized long start(StepInfo info, boolean pending) {
        Place mine = places.mine();
        leaveEarlierEpoch(mine);
        if (mine.info != null) {
            abandon(mine);
        }
        abandonEnded();
        begun++;
        mine.alone = pending || !underWay.isEmpty() ? 0 : begun;
        int phase = info.phase().index();
        if (mine.alone != 0 && !summed[phase]) {
            sum(phase, sumNs[phase]);
        }
        summed[phase] = false;
        mine.info = info;
        mine.acceptedTokens = 0;
        underWay.add(mine);
        mine.startNs = clock.nanoTime();
        if (underWayOf[phase]++ == 0) {
            countedToNs[phase] = mine.startNs;
        }
        announceOnly();
        if (!mine.inPrompt) {
            mine.inPrompt = true;
            mine.promptNs = mine.startNs;
        }
        RequestRecorder follower = requests;
        mine.requestStep =
                follower == null ? 0 : follower.stepBegan(hasPrompts(info), info.prefillTokens(), mine.startNs);
        return mine.startNs;
    }

    /**
     * Counts drafted tokens of the step under way as accepted.
     *
     * @throws IllegalArgumentException when there are more of them than were drafted
     */
    synchronized void accept(long tokens) {
        Place mine = places.mineOrNull();
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
     * @param pending whether a measurement is pending
     * @param followed whether any listener wants the step
     * @return the step; null if none was open, or no listener wants it
     */
    @Nullable
    Step end(long endNs, boolean pending, boolean followed) {
        Step step = stop(endNs, pending, followed);
        if (chooser != null) {
            chooser.stepEnded(takeEnded(), endNs);
        }
        return step;
    }

    private synchronized @Nullable Step stop(long endNs, boolean pending, boolean followed) {
        Place mine = places.mineOrNull();
        if (mine == null) {
            return null;
        }
        leaveEarlierEpoch(mine);
        StepInfo info = mine.info;
        if (info == null) {
            return null;
        }
        PhaseSums phase = sums.phases[info.phase().index()];
        leave(mine, info, endNs);
        if (requests != null) {
            requests.stepEnded(mine.requestStep, endNs, mine.acceptedTokens);
        }
        long durationNs = Math.max(0, endNs - mine.startNs);
        phase.add(info, durationNs, mine.acceptedTokens);
        long[] categoryNs = mine.categoryNs;
        Arrays.fill(categoryNs, 0);
        if (mine.alone == begun && !pending) {
            int index = info.phase().index();
            long[] beforeNs = sumNs[index];
            sum(index, categoryNs);
            summed[index] = true;
            phase.attributed++;
            for (int i = 0; i < categoryNs.length; i++) {
                long ofStepNs = Math.max(0, categoryNs[i] - beforeNs[i]);
                beforeNs[i] = categoryNs[i];
                categoryNs[i] = ofStepNs;
                phase.categoryNs[i] += ofStepNs;
            }
        }
        countTokens(mine, info, endNs);
        long index = ended++;
        mine.lastIndex = index;
        if (!followed && !isKept(index, durationNs, phase)) {
            return null;
        }
        Step step = new Step(
                index, period.unixNs(mine.startNs), durationNs, info, mine.acceptedTokens, byCategory(categoryNs));
        keep(step);
        return step;
    }

    /** Reads the time of all samples of a phase so far, by category. */
    private void sum(int phase, long[] categoryNs) {
        Arrays.fill(categoryNs, 0);
        registry.addTotalsNs(PHASES[phase].number(), names, categoryNs);
    }

    private void abandonEnded() {
        for (int i = underWay.size() - 1; i >= 0; i--) {
            if (!underWay.get(i).isOwnerAlive()) {
                abandon(underWay.get(i));
            }
        }
    }

    /** Announces the only phase of which steps are under way, if it has changed. */
    private void announceOnly() {
        int now = PhaseRow.NO_PHASE;
        int phases = 0;
        for (int phase = 0; phase < underWayOf.length; phase++) {
            if (underWayOf[phase] > 0) {
                now = PHASES[phase].number();
                phases++;
            }
        }
        now = phases > 1 ? PhaseRow.NO_PHASE : now;
        if (now != only) {
            only = now;
            onlyPhase.accept(now);
        }
    }

    /** Returns whether a step may be kept: asked before the step is made, since few are kept. */
    private boolean isKept(long index, long durationNs, PhaseSums phase) {
        return sums.sampled.size() < Steps.SAMPLED
                || phase.slowest.size() < Steps.SLOWEST
                || Steps.hash(index) <= Steps.hash(sums.sampled.element().index())
                || durationNs >= phase.slowest.element().durationNs();
    }

    private void countTokens(Place mine, StepInfo info, long endNs) {
        long tokens = limited(info.outputTokens(), mine.acceptedTokens);
        if (tokens == 0) {
            return;
        }
        if (info.phase() == StepInfo.Phase.PREFILL) {
            long sinceNs = Math.max(0, endNs - mine.promptNs);
            sums.firstToken[LatencyBuckets.indexOf(sinceNs)]++;
            sums.firstTokenNs += sinceNs;
        } else if (info.phase() == StepInfo.Phase.DECODE) {
            long sinceNs = Math.max(0, endNs - (mine.hasGiven ? mine.gaveNs : mine.startNs));
            sums.perOutputToken[LatencyBuckets.indexOf(Math.round((double) sinceNs * info.batch() / tokens))]++;
        }
        mine.inPrompt = false;
        mine.hasGiven = true;
        mine.gaveNs = endNs;
    }

    /** Returns the number of the step that the calling thread has ended since the last call, or no step. */
    private synchronized long takeEnded() {
        Place mine = places.mineOrNull();
        if (mine == null) {
            return StepFollower.NO_STEP;
        }
        long index = mine.lastIndex;
        mine.lastIndex = StepFollower.NO_STEP;
        return index;
    }

    /** Makes the next step of the calling thread follow no other: the time before it was not recorded. */
    void interrupt() {
        forgetThread();
        if (chooser != null) {
            chooser.stepEnded(StepFollower.NO_STEP, 0);
        }
    }

    private synchronized void forgetThread() {
        Place mine = places.mineOrNull();
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
        long nowNs = clock.nanoTime();
        leave(mine, info, nowNs);
        if (requests != null) {
            requests.stepAbandoned(mine.requestStep, nowNs);
        }
        mine.forgetSteps();
        sums.abandoned++;
    }

    private void leave(Place mine, StepInfo info, long endNs) {
        mine.info = null;
        underWay.remove(mine);
        int phase = info.phase().index();
        underWayOf[phase]--;
        sums.phases[phase].wallNs += Math.max(0, endNs - countedToNs[phase]);
        countedToNs[phase] = Math.max(countedToNs[phase], endNs);
        announceOnly();
    }

    private void leaveEarlierEpoch(Place mine) {
        if (mine.epoch != epoch) {
            mine.epoch = epoch;
            mine.info = null;
            mine.forgetSteps();
        }
    }

    private void keep(Step step) {
        offer(sums.sampled, step, Steps.SAMPLED, Steps.BY_CHANCE);
        offer(sums.phases[step.info().phase().index()].slowest, step, Steps.SLOWEST, Steps.BY_SLOWNESS);
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
        Supplier<RequestTimeline> timeline = timeline();
        return reading(requests == null ? RequestStats.NONE : requests.stats(), timeline);
    }

    private Supplier<RequestTimeline> timeline() {
        return requests == null ? Reading.NONE.timeline() : requests.timeline();
    }

    private Reading reading(RequestStats ofRequests, Supplier<RequestTimeline> timeline) {
        return new Reading(sums.steps(), ofRequests, timeline, sums.first, ended);
    }

    /** Returns whether no step has ended since a reading. */
    synchronized boolean isEnd(Reading reading) {
        return reading.end() == ended;
    }

    /** Returns the same, and begins anew; steps that are under way count once they end. */
    synchronized Reading readAndReset() {
        abandonEnded();
        Supplier<RequestTimeline> timeline = timeline();
        Reading reading = reading(requests == null ? RequestStats.NONE : requests.statsAndReset(), timeline);
        sums = new Sums(ended);
        return reading;
    }

    /** Forgets everything, the steps that are under way too. */
    synchronized void reset() {
        epoch++;
        sums = new Sums(ended);
        if (requests != null) {
            requests.reset();
        }
        underWay.clear();
        Arrays.fill(underWayOf, 0);
        Arrays.fill(summed, false);
        announceOnly();
        places.sweep();
    }
}
