package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.internal.record.PerThread;
import org.brickprofiler.internal.record.SpanContents;
import org.brickprofiler.internal.record.SpanCopy;
import org.brickprofiler.internal.record.StepFollower;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.brickprofiler.trace.SlowSteps.PhaseSteps;
import org.brickprofiler.trace.internal.StopLog;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the steps whose spans a timeline keeps: of each phase of each profiler, the slowest ones and one whose
 * duration is close to the median. It also keeps the places of the time of a sample of steps, so that a slow step can
 * be compared with typical ones. One lock guards everything; a step that is not chosen acquires it twice and allocates
 * little.
 *
 * <p>The spans of chosen steps are copied from the recorder's buffers, which stay unchanged. A chosen step waits for
 * the copy until some more steps have been chosen, or until a buffer is about to overwrite its spans. Meanwhile workers
 * finish and devices resolve their work, and a step that is soon displaced by a slower one is usually not copied.
 */
final class SlowStepKeeper {

    /** The number of waiting steps at which their spans are copied. */
    private static final int MOST_WAITING = 16;

    /** The number of steps after which the buffers of ended threads are freed. */
    private static final int STEPS_BETWEEN_SWEEPS = 1_024;

    /** The most times that the spans of a step are copied while a device has not resolved all of them. */
    private static final int MOST_SETTLED = 4;

    private static final StepInfo.Phase[] PHASES = StepInfo.Phase.values();

    private static final Comparator<StepWindow> SLOWEST_FIRST = Comparator.<StepWindow>comparingLong(
                    StepWindow::durationNs)
            .reversed()
            .thenComparingLong(StepWindow::index);

    private final int most;
    private final LongUnaryOperator unixMs;
    private final SystemTimes times;
    private final StopLog stops;
    private final ProcessorWaits waits;
    private final AtomicLong room;
    private final Supplier<List<StepWindow.Source>> sources;

    /** The profilers that had a step. Guarded by this, like everything below. */
    private final List<OfProfiler> profilers = new ArrayList<>();

    /** The steps of unreachable profilers, by phase. */
    private final Past[] past = Arrays.stream(PHASES).map(phase -> new Past()).toArray(Past[]::new);

    /** The threads with a step under way. */
    private final List<Place> underWay = new ArrayList<>();

    /** The latest samples of stacks; null if none are taken. */
    private @Nullable LatestSamples samples;

    private long endedSteps;

    /** The number of entries that were written to buffers that have been freed since. */
    private long writtenBefore;

    /**
     * Creates a keeper.
     *
     * @param most the slowest steps of each phase
     * @param times the times of threads that the system reports
     * @param unixMs converts a reading of the clock to ms since 1970; called while the keeper is locked
     * @param stops the stops of the virtual machine
     * @param waits receives how long the threads of steps waited for a processor
     * @param room the entries that kept steps may have in all
     * @param sources all buffers of the recorder
     */
    SlowStepKeeper(
            int most,
            SystemTimes times,
            LongUnaryOperator unixMs,
            StopLog stops,
            ProcessorWaits waits,
            AtomicLong room,
            Supplier<List<StepWindow.Source>> sources) {
        this.unixMs = unixMs;
        this.stops = stops;
        this.waits = waits;
        this.most = most;
        this.times = times;
        this.room = room;
        this.sources = sources;
    }

    /**
     * Frees the buffers of ended threads, so that short-lived threads do not accumulate, except buffers with spans that
     * a waiting step needs.
     */
    private void freeEnded(long nowNs) {
        long neededNs = nowNs;
        for (OfProfiler profiler : profilers) {
            profiler.settle(false);
            for (StepWindow window : profiler.waiting) {
                neededNs = Math.min(neededNs, window.startNs());
            }
        }
        for (StepWindow.Source source : sources.get()) {
            writtenBefore += source.contents().freeEnded(neededNs);
        }
    }

    /** Returns the follower of the steps of a profiler. */
    StepFollower follow(SpanContents contents) {
        return new OfProfiler(contents);
    }

    /** The state of a thread that begins steps. */
    private static final class Place extends PerThread.Owned {

        private static final long NO_END = Long.MIN_VALUE;

        private long line;
        private StepFollower.@Nullable Size size;
        private long startNs;

        /** The end of its previous step; {@link #NO_END} before the first one. */
        private long previousEndNs = NO_END;

        private long collectedNs;
        private final Set<Place> others = new HashSet<>();

        /** Whether no span of the step was cleared. Guarded by the keeper. */
        private boolean isWhole;

        Place(@Nullable Thread thread) {
            super(thread);
        }

        long threadId() {
            Thread thread = owner();
            return thread == null ? -1 : thread.getId();
        }
    }

    /** Removes the step that is under way on a thread, because it has ended or is discarded. */
    private void forget(Place place) {
        underWay.remove(place);
        place.size = null;
        place.others.clear();
    }

    // ---- one profiler ----

    /** The steps of one profiler. */
    private final class OfProfiler implements StepFollower, PerThread.Keeper<Place, @Nullable Void> {
        private final SpanContents contents;
        private final PerThread<Place, @Nullable Void> places = new PerThread<>(this, null, false);
        private final OfPhase[] phases =
                Arrays.stream(PHASES).map(phase -> new OfPhase()).toArray(OfPhase[]::new);

        /** The chosen steps whose spans have not been copied for good yet, oldest first. */
        private final List<StepWindow> waiting = new ArrayList<>();

        /**
         * The latest end of a step at which no deferred measurement was pending: all steps that ended by then have
         * their spans.
         */
        private long resolvedNs = Long.MIN_VALUE;

        OfProfiler(SpanContents contents) {
            this.contents = contents;
        }

        @Override
        public Place make(@Nullable Thread owner) {
            return new Place(owner);
        }

        @Override
        public ThreadTimes ofThisThread() {
            return times.ofThisThread();
        }

        @Override
        public void beforeStep() {
            Place mine = places.mine();
            synchronized (SlowStepKeeper.this) {
                forget(mine);
                underWay.removeIf(place -> !place.isOwnerAlive());
                for (Place other : underWay) {
                    other.others.add(mine);
                    mine.others.add(other);
                }
                underWay.add(mine);
                mine.isWhole = true;
            }
            mine.collectedNs = times.collectedNs();
        }

        @Override
        public void stepBegan(Size size, long startNs, long line, long waitedNs) {
            Place mine = places.mine();
            if (mine.previousEndNs != Place.NO_END) {
                waits.add(mine.threadId(), mine.previousEndNs, startNs, waitedNs, false);
            }
            mine.line = line;
            mine.startNs = startNs;
            mine.size = size;
        }

        @Override
        public void stepEnded(long index, long endNs, long ranNs, long waitedNs, boolean deferred) {
            Place mine = places.mineOrNull();
            if (mine == null) {
                return;
            }
            Size size = mine.size;
            mine.previousEndNs = index == NO_STEP ? Place.NO_END : endNs;
            if (size == null || index == NO_STEP) {
                synchronized (SlowStepKeeper.this) {
                    forget(mine);
                }
                return;
            }
            waits.add(mine.threadId(), mine.startNs, endNs, waitedNs, true);
            StepParts.Times threadTimes =
                    new StepParts.Times(ranNs, waitedNs, ThreadTimes.betweenNs(mine.collectedNs, times.collectedNs()));
            synchronized (SlowStepKeeper.this) {
                if (!deferred) {
                    resolvedNs = Math.max(resolvedNs, endNs);
                }
                OfPhase phase = phases[size.phase()];
                phase.count(Math.max(0, endNs - mine.startNs));
                if (phase.isChosen(endNs - mine.startNs)) {
                    choose(phase, index, mine, size, endNs, threadTimes);
                }
                forget(mine);
                if (++endedSteps % STEPS_BETWEEN_SWEEPS == 0) {
                    freeEnded(mine.startNs);
                }
                if (!waiting.isEmpty()
                        && (waiting.size() >= MOST_WAITING
                                || isLosing(waiting.get(0).startNs()))) {
                    settle(false);
                }
            }
        }

        private void choose(OfPhase phase, long index, Place mine, Size size, long endNs, StepParts.Times threadTimes) {
            if (phase.isEmpty()) {
                register(this);
            }
            Set<Long> lines = new HashSet<>();
            for (Place other : mine.others) {
                if (other.line != mine.line || mine.line < 0) {
                    lines.add(other.line);
                }
            }
            StepInfo info = new StepInfo(
                    PHASES[size.phase()],
                    size.batch(),
                    size.prefillTokens(),
                    size.kvLength(),
                    size.outputTokens(),
                    size.draftedTokens());
            StepWindow window = new StepWindow(
                    index,
                    info,
                    mine.startNs,
                    unixMs.applyAsLong(mine.startNs),
                    endNs,
                    mine.threadId(),
                    mine.line,
                    lines,
                    threadTimes,
                    mine.isWhole);
            phase.offer(window);
            waiting.add(window);
            waiting.removeIf(each -> !each.isWanted());
        }

        /**
         * Copies the spans of the waiting steps.
         *
         * @param isLook true if the steps keep waiting: a timeline needs the spans now, and more of them may arrive
         */
        private void settle(boolean isLook) {
            List<StepWindow.Source> all = sources.get();
            for (StepWindow window : waiting) {
                if (window.isWanted()) {
                    room.addAndGet(window.heldCount());
                    window.take(all, contents, stops, resolvedNs);
                    if (!window.keepsSpans()) {
                        window.dropSpans();
                    } else if (room.addAndGet(-window.heldCount()) < 0) {
                        room.addAndGet(window.heldCount());
                        window.refuseSpans();
                    }
                }
            }
            waiting.removeIf(window ->
                    !window.isWanted() || (!isLook && (!window.isUnresolved() || ++window.settled >= MOST_SETTLED)));
        }

        private boolean isLosing(long ns) {
            return sources.get().stream().anyMatch(source -> source.contents().isLosing(ns));
        }

        private List<StepWindow> kept() {
            List<StepWindow> kept = new ArrayList<>();
            for (OfPhase phase : phases) {
                kept.addAll(phase.kept());
            }
            return kept;
        }
    }

    private void register(OfProfiler profiler) {
        if (!profilers.contains(profiler)) {
            profilers.add(profiler);
        }
    }

    // ---- one phase ----

    /** The steps of one phase of one profiler. */
    private final class OfPhase {
        private final PriorityQueue<StepWindow> slowest = new PriorityQueue<>(SLOWEST_FIRST.reversed());

        /** A uniform sample of all steps: reservoir sampling (Vitter 1985). */
        private final List<StepWindow> sampled = new ArrayList<>();

        private final SplittableRandom random = new SplittableRandom(1);
        private @Nullable StepWindow median;
        private long steps;

        /** The index in the sample for the step that ended last; -1 if the step is not sampled. */
        private int place;

        /** The histogram of durations, the bucket of the median, and the number of steps in lower buckets. */
        private final int[] durations = new int[LatencyBuckets.COUNT];

        private int medianBucket;
        private long below;

        boolean isEmpty() {
            return sampled.isEmpty();
        }

        void count(long durationNs) {
            int bucket = LatencyBuckets.indexOf(durationNs);
            durations[bucket]++;
            below += bucket < medianBucket ? 1 : 0;
            long rank = steps++ / 2;
            while (below > rank) {
                below -= durations[--medianBucket];
            }
            while (below + durations[medianBucket] <= rank) {
                below += durations[medianBucket++];
            }
            long drawn = steps <= SlowSteps.SAMPLED ? steps - 1 : random.nextLong(steps);
            place = drawn < SlowSteps.SAMPLED ? (int) drawn : -1;
        }

        private int fromMedian(long durationNs) {
            return Math.abs(LatencyBuckets.indexOf(durationNs) - medianBucket);
        }

        boolean isChosen(long durationNs) {
            return place >= 0 || isSlow(durationNs) || isMedian(durationNs);
        }

        private boolean isSlow(long durationNs) {
            return slowest.size() < most || durationNs > slowest.element().durationNs();
        }

        private boolean isMedian(long durationNs) {
            StepWindow now = median;
            return now == null || fromMedian(durationNs) < fromMedian(now.durationNs());
        }

        void offer(StepWindow window) {
            if (isSlow(window.durationNs())) {
                window.isSlow = true;
                slowest.add(window);
                if (slowest.size() > most) {
                    StepWindow fastest = slowest.remove();
                    fastest.isSlow = false;
                    forgetSpans(fastest);
                }
            }
            if (isMedian(window.durationNs())) {
                StepWindow before = median;
                median = window;
                window.isMedian = true;
                if (before != null) {
                    before.isMedian = false;
                    forgetSpans(before);
                }
            }
            if (place >= sampled.size()) {
                window.isSampled = true;
                sampled.add(window);
            } else if (place >= 0) {
                window.isSampled = true;
                sampled.set(place, window).isSampled = false;
            }
        }

        List<StepWindow> kept() {
            return SlowStepKeeper.kept(slowest, median);
        }

        void addSamples(LatestSamples latest) {
            slowest.forEach(window -> window.addSamples(latest));
        }

        void readQuota() {
            sampled.forEach(window -> window.readQuota(stops));
            slowest.forEach(window -> window.readQuota(stops));
        }

        /**
         * Returns the kept step whose duration is closest to the median: in a short run this is one of the slowest
         * steps.
         */
        @Nullable
        StepWindow closestToMedian() {
            return kept().stream()
                    .min(Comparator.<StepWindow>comparingInt(window -> fromMedian(window.durationNs()))
                            .thenComparingLong(StepWindow::index))
                    .orElse(null);
        }

        List<StepWindow.Facts> sampledFacts() {
            return sampled.stream().map(StepWindow::facts).toList();
        }
    }

    private void forgetSpans(StepWindow window) {
        if (!window.keepsSpans()) {
            room.addAndGet(window.heldCount());
            window.dropSpans();
        }
    }

    // ---- profilers that are gone ----

    /** A step of a removed profiler, which was explained when the profiler was removed. */
    private record PastStep(StepWindow window, Explained explained) {}

    /**
     * The steps of one phase of all removed profilers together. However many profilers are removed, no more steps are
     * kept than of one profiler.
     */
    private final class Past {
        private final PriorityQueue<PastStep> slowest =
                new PriorityQueue<>(Comparator.comparing(PastStep::window, SLOWEST_FIRST.reversed()));

        /** The step close to the median, of the profiler with the most steps. */
        private @Nullable StepWindow median;

        private long medianSteps;
        private long steps;

        void add(OfPhase gone) {
            steps += gone.steps;
            gone.readQuota();
            for (StepWindow window : gone.slowest) {
                window.addStops(stops);
                slowest.add(new PastStep(window, window.facts().explain(gone.sampledFacts())));
            }
            gone.sampled.forEach(window -> window.isSampled = false);
            while (slowest.size() > most) {
                StepWindow fastest = slowest.remove().window();
                fastest.isSlow = false;
                forgetSpans(fastest);
            }
            StepWindow other = gone.median;
            if (other != null && gone.steps > medianSteps) {
                medianSteps = gone.steps;
                StepWindow before = median;
                median = other;
                other = before;
            }
            if (other != null) {
                other.isMedian = false;
                forgetSpans(other);
            }
        }

        void addSamples(LatestSamples latest) {
            slowest.forEach(step -> step.window().addSamples(latest));
        }

        List<StepWindow> kept() {
            return SlowStepKeeper.kept(slowest.stream().map(PastStep::window).toList(), median);
        }
    }

    /** Removes an unreachable profiler. Its steps stay if they are among the slowest of all removed profilers. */
    private void end(OfProfiler profiler) {
        for (int phase = 0; phase < PHASES.length; phase++) {
            past[phase].add(profiler.phases[phase]);
        }
        profilers.remove(profiler);
    }

    private static List<StepWindow> kept(Collection<StepWindow> slowest, @Nullable StepWindow median) {
        List<StepWindow> kept = new ArrayList<>(slowest);
        if (median != null && !median.isSlow) {
            kept.add(median);
        }
        return kept;
    }

    /** Returns all kept steps. */
    private List<StepWindow> keptWindows() {
        List<StepWindow> windows = new ArrayList<>();
        profilers.forEach(profiler -> windows.addAll(profiler.kept()));
        for (Past ofPhase : past) {
            windows.addAll(ofPhase.kept());
        }
        return windows;
    }

    // ---- results ----

    /** The steps of one phase of all profilers, while they are counted. */
    private static final class Count {
        private long steps;
        private int kept;
        private long most;
        private long median = -1;

        void add(long count, Collection<StepWindow> windows, @Nullable StepWindow typical, long typicalSteps) {
            steps += count;
            kept += (int)
                    windows.stream().filter(window -> !window.held().isEmpty()).count();
            if (typical != null && typicalSteps > most) {
                most = typicalSteps;
                median = typical.index();
            }
        }
    }

    private List<PhaseSteps> phaseSteps() {
        List<PhaseSteps> phases = new ArrayList<>();
        for (int phase = 0; phase < PHASES.length; phase++) {
            Count count = new Count();
            Past gone = past[phase];
            count.add(gone.steps, gone.kept(), gone.median, gone.medianSteps);
            for (OfProfiler profiler : profilers) {
                OfPhase of = profiler.phases[phase];
                count.add(of.steps, of.kept(), of.closestToMedian(), of.steps);
            }
            if (count.steps > 0) {
                phases.add(new PhaseSteps(PHASES[phase], count.steps, count.kept, count.median));
            }
        }
        return phases;
    }

    /** The kept spans of each buffer, and the explanation of their steps. Immutable. */
    record Kept(SlowSteps steps, List<StepWindow.Held> held) {

        /** Returns the kept spans of a source: a copy for each step and buffer. */
        List<SpanCopy> of(SpanContents contents) {
            return held.stream()
                    .filter(each -> each.contents() == contents)
                    .map(StepWindow.Held::spans)
                    .toList();
        }
    }

    /**
     * Notes how long a CPU quota throttled the kept and sampled steps. Call it once in a while: only the latest
     * readings of the quota stay.
     */
    synchronized void readQuota() {
        profilers.forEach(profiler -> Arrays.stream(profiler.phases).forEach(OfPhase::readQuota));
    }

    /**
     * Counts the samples of the slow steps. Call it once in a while: only the latest samples stay.
     *
     * @param latest the latest samples
     */
    synchronized void addSamples(LatestSamples latest) {
        samples = latest;
        profilers.forEach(profiler -> Arrays.stream(profiler.phases).forEach(steps -> steps.addSamples(latest)));
        Arrays.stream(past).forEach(steps -> steps.addSamples(latest));
    }

    /** A slow step, and the sample of its phase. Immutable. */
    private record Comparison(StepWindow.Facts step, List<StepWindow.Facts> sample) {}

    /** What is known of the kept steps at one moment. Immutable. */
    private record Known(
            List<Comparison> comparisons,
            List<Explained> past,
            List<List<StepWindow.Held>> held,
            List<PhaseSteps> phases,
            long written) {}

    /**
     * Returns the kept steps. They are compared without the lock, for which a thread that ends a step would wait
     * meanwhile.
     */
    Kept kept() {
        Known known = known();
        List<Explained> explained = new ArrayList<>(known.past());
        known.comparisons().forEach(each -> explained.add(each.step().explain(each.sample())));
        List<StepWindow.Held> held = distinct(known.held());
        long keptCount = held.stream().mapToLong(each -> each.spans().size()).sum();
        explained.sort(
                Comparator.comparingLong(Explained::durationNs).reversed().thenComparingLong(Explained::index));
        SlowSteps steps = new SlowSteps(known.phases(), explained, keptCount, Math.max(0, known.written() - keptCount));
        return new Kept(steps, held);
    }

    private synchronized Known known() {
        readQuota();
        if (samples != null) {
            addSamples(samples);
        }
        List<Comparison> comparisons = new ArrayList<>();
        for (OfProfiler profiler : profilers) {
            profiler.settle(true);
            profiler.kept().forEach(window -> window.addStops(stops));
            for (OfPhase steps : profiler.phases) {
                List<StepWindow.Facts> sample = steps.sampledFacts();
                steps.slowest.forEach(window -> comparisons.add(new Comparison(window.facts(), sample)));
            }
        }
        List<Explained> ofPast = new ArrayList<>();
        for (Past ofPhase : past) {
            ofPhase.slowest.stream()
                    .map(step -> step.explained().withSamples(step.window().samples()))
                    .forEach(ofPast::add);
        }
        List<StepWindow> windows = keptWindows();
        windows.sort(Comparator.comparingLong(StepWindow::startNs));
        long written = sources.get().stream()
                .mapToLong(source -> source.contents().writtenCount())
                .sum();
        return new Known(
                comparisons,
                ofPast,
                windows.stream().map(StepWindow::held).toList(),
                phaseSteps(),
                writtenBefore + written);
    }

    /**
     * Returns the spans of all steps. A span that belongs to several steps is returned once, with the first of them.
     */
    private static List<StepWindow.Held> distinct(List<List<StepWindow.Held>> ofSteps) {
        List<StepWindow.Held> all = new ArrayList<>();
        Map<Object, Set<Long>> seen = new HashMap<>();
        for (List<StepWindow.Held> ofStep : ofSteps) {
            for (StepWindow.Held held : ofStep) {
                SpanCopy spans = held.spans();
                Set<Long> ofBuffer = seen.computeIfAbsent(spans.buffer(), buffer -> new HashSet<>());
                SpanCopy fresh = spans.select(entry -> ofBuffer.add(spans.number(entry)));
                if (fresh.size() > 0) {
                    all.add(new StepWindow.Held(held.contents(), fresh));
                }
            }
        }
        return all;
    }

    /**
     * Copies the spans of all waiting steps, because the buffers of a profiler are about to be freed.
     *
     * @return the entries of these buffers that are kept
     */
    synchronized List<SpanCopy> settle(SpanContents contents) {
        for (OfProfiler profiler : List.copyOf(profilers)) {
            profiler.settle(false);
            if (profiler.contents == contents) {
                end(profiler);
            }
        }
        List<SpanCopy> kept = new ArrayList<>();
        keptWindows().forEach(window -> kept.addAll(window.heldOf(contents)));
        writtenBefore += contents.writtenCount();
        return kept;
    }

    /** Returns whether a kept step has entries of these buffers. */
    synchronized boolean holds(SpanContents contents) {
        return keptWindows().stream()
                .anyMatch(window -> !window.heldOf(contents).isEmpty());
    }

    /**
     * Forgets all steps that have ended; those that are under way will lack spans. Call it before and after the buffers
     * are emptied: a step may begin or end meanwhile.
     */
    synchronized void clear() {
        underWay.forEach(place -> place.isWhole = false);
        keptWindows().forEach(window -> room.addAndGet(window.heldCount()));
        Arrays.setAll(past, phase -> new Past());
        for (OfProfiler profiler : profilers) {
            profiler.waiting.clear();
            Arrays.setAll(profiler.phases, phase -> new OfPhase());
        }
        profilers.clear();
        samples = null;
        endedSteps = 0;
        writtenBefore = 0;
    }
}
