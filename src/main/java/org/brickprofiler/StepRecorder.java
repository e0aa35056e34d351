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
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.brickprofiler.internal.record.DurationCounts;
import org.brickprofiler.internal.record.Listeners;
import org.brickprofiler.internal.record.NameTable;
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
    private static final int PROPOSALS = 16;

    private final TableRegistry registry;
    private final NameTable names;
    private final RunPeriod period;

    /** The clock that the builder was given; null for the system's. */
    private final @Nullable NanoClock ownClock;

    /** Chooses the steps whose spans a timeline keeps; null unless it chooses by step. */
    private final @Nullable StepFollower chooser;

    /** Makes the reader of a thread's CPU time; null if steps have none. */
    private final @Nullable Supplier<ThreadTimes> threadTimes;

    private final PerThread<Place, @Nullable Void> places = new PerThread<>(new Places(), null, false);

    /** The place of the thread that was here last: nearly always that of the next one. */
    private @Nullable Place recent;

    /** The steps of each phase since the last reset. */
    private final PhaseSums[] phases = Arrays.stream(PHASES).map(PhaseSums::new).toArray(PhaseSums[]::new);

    /** The sampled steps since the last reset; the one that goes when a better one comes is the first. */
    private final PriorityQueue<Step> sampled = new PriorityQueue<>(Steps.BY_CHANCE.reversed());

    /** A step is sampled if its hash is not larger: so that most steps need not look at the sample. */
    private long largestSampledHash = Long.MAX_VALUE;

    /**
     * The latest steps that may be among the kept ones. Several are taken at once: making and comparing a step is much
     * more code than the end of most steps needs, and stays out of its way.
     */
    private final Proposal[] proposals =
            Stream.generate(Proposal::new).limit(PROPOSALS).toArray(Proposal[]::new);

    private int proposed;

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

        /** The thread's times, and those at the beginning and at the end of the step; that thread alone. */
        private @Nullable ThreadTimes times;

        private long startReadNs;
        private long endReadNs;
        private long startRanNs;
        private long startWaitedNs;
        private long endRanNs = ThreadTimes.UNKNOWN;
        private long endWaitedNs;

        /** The number of the step that ended last, until it is taken. */
        private long lastIndex = StepFollower.NO_STEP;

        /** The number of the step if its brick time may be known, 0 otherwise. */
        private long alone;

        /** The place of the step under way that began before; null if there is none. */
        private @Nullable Place before;

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

    /** A step that has ended, and may be among the kept ones. Guarded by the recorder. */
    private static final class Proposal {
        private long index;
        private long startNs;
        private long durationNs;
        private @Nullable StepInfo info;
        private long acceptedTokens;
        private final long[] categoryNs = new long[CATEGORIES.length];
    }

    /** The steps of a phase that are under way, and the sums of those since the last reset. Guarded by the recorder. */
    private static final class PhaseSums {
        private final StepInfo.Phase phase;

        /** How many are under way, and up to when their time is counted. */
        private int underWay;

        private long countedToNs;

        /**
         * The brick time of the phase by category: at the end of its latest attributed step, or at the beginning of the
         * one under way if other samples may have come since; and the reading before.
         */
        private long[] sumNs = new long[CATEGORIES.length];

        private long[] sumBeforeNs = new long[CATEGORIES.length];

        /** Whether the next step of the phase begins with {@code sumNs}. */
        private boolean summed;

        // The sums.

        /**
         * The brick time of the attributed steps is this, and {@code sumNs} less {@code sumNs} when consecutive steps
         * began: what is between is theirs.
         */
        private final long[] categoryNs = new long[CATEGORIES.length];

        private final long[] consecutiveFromNs = new long[CATEGORIES.length];
        private DurationCounts durations = new DurationCounts();

        /** The times to first token of prompts; of decoding the times per output token. */
        private DurationCounts tokenTimes = new DurationCounts();

        private long tokenTimesNs;
        private final PriorityQueue<Step> slowest = new PriorityQueue<>(Steps.BY_SLOWNESS.reversed());

        /** A step is one of the slowest if it lasted as long: so that most steps need not look at them. */
        private long shortestKeptNs;

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
            addConsecutive();
            Arrays.fill(categoryNs, 0);
            durations = new DurationCounts();
            tokenTimes = new DurationCounts();
            tokenTimesNs = 0;
            slowest.clear();
            shortestKeptNs = 0;
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

        /** Adds the brick time of the consecutive steps so far. */
        private void addConsecutive() {
            for (int i = 0; i < categoryNs.length; i++) {
                categoryNs[i] += sumNs[i] - consecutiveFromNs[i];
                consecutiveFromNs[i] = sumNs[i];
            }
        }

        /** Consecutive steps begin here. */
        void sumAnew(TableRegistry registry, NameTable names) {
            addConsecutive();
            sum(registry, names);
            System.arraycopy(sumNs, 0, consecutiveFromNs, 0, sumNs.length);
        }

        /** Reads the brick time of the phase so far. */
        void sum(TableRegistry registry, NameTable names) {
            long[] nowNs = sumBeforeNs;
            Arrays.fill(nowNs, 0);
            registry.addTotalsNs(phase.number(), names, nowNs);
            sumBeforeNs = sumNs;
            sumNs = nowNs;
        }

        void add(StepInfo info, long durationNs, long accepted) {
            count++;
            totalNs = limited(totalNs, durationNs);
            minNs = Math.min(minNs, durationNs);
            maxNs = Math.max(maxNs, durationNs);
            durations.add(durationNs);
            sequences = limited(sequences, info.batch());
            prefillTokens = limited(prefillTokens, info.prefillTokens());
            outputTokens = limited(outputTokens, limited(info.outputTokens(), accepted));
            draftedTokens = limited(draftedTokens, info.draftedTokens());
            acceptedTokens = limited(acceptedTokens, accepted);
            kvLength = limited(kvLength, info.kvLength());
        }

        /** Adds the CPU time of a step. */
        void addCpu(Place of) {
            if (of.endRanNs == ThreadTimes.UNKNOWN || of.startRanNs == ThreadTimes.UNKNOWN) {
                return;
            }
            timed++;
            timedWallNs = limited(timedWallNs, Math.max(0, of.endReadNs - of.startReadNs));
            ranNs = limited(ranNs, Math.max(0, of.endRanNs - of.startRanNs));
            if (of.endWaitedNs != ThreadTimes.UNKNOWN && of.startWaitedNs != ThreadTimes.UNKNOWN) {
                waitTimed++;
                waitedNs = limited(waitedNs, Math.max(0, of.endWaitedNs - of.startWaitedNs));
            }
        }

        private StepStats.CpuTime cpu() {
            boolean knowsWaited = timed > 0 && waitTimed == timed;
            return new StepStats.CpuTime(
                    timed, timedWallNs, ranNs, knowsWaited ? OptionalLong.of(waitedNs) : OptionalLong.empty());
        }

        StepStats stats() {
            addConsecutive();
            return StepStats.builder(phase)
                    .steps(count, wallNs)
                    .durations(totalNs, count == 0 ? 0 : minNs, maxNs, LatencyDistribution.ofCounts(durations.counts()))
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
     * @param threadTimes makes the reader of the calling thread's CPU time; null if steps have none
     * @param onlyPhase takes the number of the only phase of which steps are under way when it changes;
     *     {@link PhaseRow#NO_PHASE} if there are none or several
     */
    StepRecorder(
            TableRegistry registry,
            NameTable names,
            RunPeriod period,
            NanoClock clock,
            @Nullable Supplier<ThreadTimes> threadTimes,
            IntConsumer onlyPhase) {
        this.registry = registry;
        this.names = names;
        this.period = period;
        this.ownClock = clock == NanoClock.SYSTEM ? null : clock;
        this.chooser = registry.stepFollower();
        this.threadTimes = threadTimes;
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
            recorder = new RequestRecorder(ownClock == null ? NanoClock.SYSTEM : ownClock, epochNs);
            recorder.onFinished(
                    () -> !listeners.isEmpty(), request -> listeners.ofStep(each -> each.requestFinished(request)));
            requests = recorder;
            announceUnderWay(recorder, latest);
            // Asked under the lock that a switch takes, too: the recorder misses none.
            switched(on.getAsBoolean());
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

    /** The profiler was switched on or off. */
    synchronized void switched(boolean on) {
        if (requests != null && on) {
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

    /**
     * Reads the CPU time outside of the lock, and of the step: reading it takes some microseconds. The clock is read
     * before, and at the end after it: the thread may lose its processor meanwhile.
     */
    private void readStart(Place mine, Supplier<ThreadTimes> threadTimes) {
        ThreadTimes times = mine.times;
        if (times == null) {
            times = threadTimes.get();
            mine.times = times;
        }
        mine.startReadNs = nanoTime();
        mine.startWaitedNs = times.waitedNs();
        mine.startRanNs = times.ranNs();
    }

    private void readEnd() {
        Place mine = places.mineOrNull();
        ThreadTimes times = mine == null ? null : mine.times;
        if (mine != null && times != null) {
            mine.endRanNs = times.ranNs();
            mine.endWaitedNs = times.waitedNs();
            mine.endReadNs = nanoTime();
        }
    }

    private synchronized long start(StepInfo info, boolean pending) {
        Place mine = mine();
        leaveEarlierEpoch(mine);
        if (mine.info != null) {
            abandon(mine);
        }
        abandonEnded();
        begun++;
        PhaseSums phase = phases[info.phase().index()];
        mine.alone = pending || underWay > 0 ? 0 : begun;
        if (mine.alone != 0 && !phase.summed) {
            phase.sumAnew(registry, names);
        }
        phase.summed = false;
        mine.info = info;
        mine.acceptedTokens = 0;
        mine.before = latest;
        latest = mine;
        underWay++;
        mine.startNs = nanoTime();
        if (phase.underWay++ == 0) {
            phase.countedToNs = mine.startNs;
        }
        announceOnly(phase);
        if (!mine.inPrompt) {
            mine.inPrompt = true;
            mine.promptNs = mine.startNs;
        }
        RequestRecorder follower = requests;
        mine.requestStep =
                follower == null ? 0 : follower.stepBegan(hasPrompts(info), info.prefillTokens(), mine.startNs);
        return mine.startNs;
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
     * @param pending whether a measurement is pending
     * @param followed whether any listener wants the step
     * @return the step; null if none was open, or no listener wants it
     */
    @Nullable
    Step end(long endNs, boolean pending, boolean followed) {
        if (threadTimes != null) {
            readEnd();
        }
        Step step = stop(endNs, pending, followed);
        if (chooser != null) {
            chooser.stepEnded(takeEnded(), endNs);
        }
        return step;
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
        PhaseSums phase = phases[info.phase().index()];
        leave(mine, phase, endNs);
        if (requests != null) {
            requests.stepEnded(mine.requestStep, endNs, mine.acceptedTokens);
        }
        long durationNs = Math.max(0, endNs - mine.startNs);
        phase.add(info, durationNs, mine.acceptedTokens);
        phase.addCpu(mine);
        boolean isAttributed = mine.alone == begun && !pending;
        if (isAttributed) {
            phase.sum(registry, names);
            phase.summed = true;
            phase.attributed++;
        }
        countTokens(mine, info, phase, endNs);
        long index = ended++;
        mine.lastIndex = index;
        if (!followed && !isKept(index, durationNs, phase)) {
            return null;
        }
        propose(mine, info, phase, durationNs, isAttributed);
        if (!followed && proposed < proposals.length) {
            return null;
        }
        Step step = takeProposals();
        return followed ? step : null;
    }

    /** Notes a step that has ended, and may be among the kept ones. */
    private void propose(Place mine, StepInfo info, PhaseSums phase, long durationNs, boolean isAttributed) {
        Proposal step = proposals[proposed++];
        step.index = mine.lastIndex;
        step.startNs = mine.startNs;
        step.durationNs = durationNs;
        step.info = info;
        step.acceptedTokens = mine.acceptedTokens;
        for (int i = 0; i < step.categoryNs.length; i++) {
            step.categoryNs[i] = isAttributed ? Math.max(0, phase.sumNs[i] - phase.sumBeforeNs[i]) : 0;
        }
    }

    /** Keeps the proposed steps that are among the sampled or the slowest ones, and returns the latest of them. */
    private @Nullable Step takeProposals() {
        Step step = null;
        for (int i = 0; i < proposed; i++) {
            Proposal each = proposals[i];
            StepInfo info = Objects.requireNonNull(each.info, "info");
            step = new Step(
                    each.index,
                    period.unixNs(each.startNs),
                    each.durationNs,
                    info,
                    each.acceptedTokens,
                    byCategory(each.categoryNs));
            PhaseSums phase = phases[info.phase().index()];
            if (offer(sampled, step, Steps.SAMPLED, Steps.BY_CHANCE)) {
                largestSampledHash = Steps.hash(sampled.element().index());
            }
            if (offer(phase.slowest, step, Steps.SLOWEST, Steps.BY_SLOWNESS)) {
                phase.shortestKeptNs = phase.slowest.element().durationNs();
            }
        }
        proposed = 0;
        return step;
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
            onlyPhase.accept(now);
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
        return Steps.hash(index) <= largestSampledHash || durationNs >= phase.shortestKeptNs;
    }

    private void countTokens(Place mine, StepInfo info, PhaseSums phase, long endNs) {
        long tokens = limited(info.outputTokens(), mine.acceptedTokens);
        if (tokens == 0) {
            return;
        }
        if (info.phase() == StepInfo.Phase.PREFILL) {
            long sinceNs = Math.max(0, endNs - mine.promptNs);
            phase.tokenTimes.add(sinceNs);
            phase.tokenTimesNs += sinceNs;
        } else if (info.phase() == StepInfo.Phase.DECODE) {
            long sinceNs = Math.max(0, endNs - (mine.hasGiven ? mine.gaveNs : mine.startNs));
            boolean oneEach = tokens == info.batch();
            phase.tokenTimes.add(oneEach ? sinceNs : Math.round((double) sinceNs * info.batch() / tokens));
        }
        mine.inPrompt = false;
        mine.hasGiven = true;
        mine.gaveNs = endNs;
    }

    /** Returns the number of the step that the calling thread has ended since the last call, or no step. */
    private synchronized long takeEnded() {
        Place mine = mineOrNull();
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

    /**
     * Keeps an element among the first ones in an order; the last of these is the first of the queue.
     *
     * @return whether the queue is full
     */
    private static boolean offer(PriorityQueue<Step> queue, Step step, int capacity, Comparator<Step> order) {
        if (queue.size() < capacity) {
            queue.add(step);
        } else if (order.compare(step, queue.element()) < 0) {
            queue.remove();
            queue.add(step);
        }
        return queue.size() == capacity;
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
        takeProposals();
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
                LatencyDistribution.ofCounts(prompts.tokenTimes.counts()),
                prompts.tokenTimesNs,
                LatencyDistribution.ofCounts(decoding.tokenTimes.counts()),
                abandoned,
                kept);
    }

    private void clear() {
        for (PhaseSums phase : phases) {
            phase.clear();
        }
        proposed = 0;
        sampled.clear();
        largestSampledHash = Long.MAX_VALUE;
        first = ended;
        abandoned = 0;
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
        for (PhaseSums phase : phases) {
            phase.underWay = 0;
            phase.summed = false;
            announceOnly(phase);
        }
        places.sweep();
        recent = null;
    }
}
