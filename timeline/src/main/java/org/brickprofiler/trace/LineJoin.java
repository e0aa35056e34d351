package org.brickprofiler.trace;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.brickprofiler.StepInfo;
import org.jspecify.annotations.Nullable;

/**
 * Counts samples in the bricks of threads. Call trees have {@value #MOST_NODES} nodes in all; paths beyond these are
 * counted as {@linkplain Frame#OTHER_PATHS others}. Not thread-safe.
 */
final class LineJoin {

    static final int MOST_NODES = 50_000;

    /** The most samples that are kept of threads that have ended no brick: those of 80 s of a busy thread. */
    static final int MOST_EARLY = 1 << 12;

    /** The most threads that run steps among which the one with a brick under way is searched. */
    static final int MOST_OF_STEPS = 64;

    private final Consumer<LineSample> counted;
    private final LineTree.Room room = new LineTree.Room(MOST_NODES);

    /** In the order in which they came: sums of fractions depend on it in their last digit. */
    private final Map<Brick, LineRow> rows = new LinkedHashMap<>();

    private final Map<Long, List<LineSeries>> ofThreads = new HashMap<>();
    private final Set<LineSeries> ofSteps = new LinkedHashSet<>();

    /** The number of series that have run steps so far; the passes of several have no common numbers. */
    private int ranSteps;

    /** Samples of threads that have ended no brick so far: a thread's first brick may be a long one. */
    private final Deque<LineSample> early = new ArrayDeque<>();

    private long waiting;
    private long inBricks;
    private long outside;
    private long otherThreads;
    private long severalSteps;
    private long virtualThreads;
    private long notEnded;
    private long tooLate;
    private final LineSums allocatedElsewhere = new LineSums();
    private final LineSums waitedElsewhere = new LineSums();

    private record Brick(String name, Optional<StepInfo.Phase> phase) {}

    /** Makes an empty join. */
    LineJoin() {
        this(sample -> {});
    }

    /**
     * Makes an empty join.
     *
     * @param counted receives each sample once it is counted
     */
    LineJoin(Consumer<LineSample> counted) {
        this.counted = counted;
    }

    // ---- the bricks ----

    /** Returns the row of a brick, the same at each call. */
    LineRow row(String brick, Optional<StepInfo.Phase> phase) {
        return rows.computeIfAbsent(new Brick(brick, phase), first -> new LineRow(brick, phase, room));
    }

    /**
     * Adds a series of the bricks of a thread, in which the samples wait that were taken before its first brick ended.
     */
    LineSeries newSeries(long threadId) {
        LineSeries series = new LineSeries(threadId, this::count);
        ofThreads.computeIfAbsent(threadId, first -> new ArrayList<>()).add(series);
        early.removeIf(sample -> {
            boolean isOwn = sample.threadId() == threadId;
            if (isOwn) {
                waiting++;
                sample.waitIn(List.of(series), List.of(), sample.stepDoubt());
            }
            return isOwn;
        });
        return series;
    }

    /** Notes that the thread of a series runs steps, for which threads without bricks work. */
    void runsSteps(LineSeries series) {
        ofSteps.add(series);
        series.runsPasses();
        ranSteps++;
    }

    /** Removes a series whose bricks are no longer known. */
    void remove(long threadId, LineSeries series) {
        series.forget();
        ofSteps.remove(series);
        List<LineSeries> own = ofThreads.getOrDefault(threadId, List.of());
        own.remove(series);
        if (own.isEmpty()) {
            ofThreads.remove(threadId);
        }
    }

    // ---- the samples ----

    /** Gives a sample of a thread that was given no layer of another one to the bricks in which it may be. */
    void add(LineSample sample) {
        add(sample, List.of());
    }

    /**
     * Gives a sample to the bricks of its thread, and to those of the steps for which the thread worked. If it was
     * given no layer, and runs no steps, these are all steps: the only one with a brick under way counts. But a thread
     * that is in native code waits there more often than it works for a step, and a virtual thread without bricks
     * serves something else.
     *
     * @param sample the sample
     * @param work for which steps the thread worked, by the layers that it was given
     */
    void add(LineSample sample, List<StepWorkers.Work> work) {
        List<LineSeries> own = ofThreads.getOrDefault(sample.threadId(), List.of());
        waiting += sample.event().isPresent() ? 0 : 1;
        if (!work.isEmpty()) {
            boolean areKnown = work.stream().allMatch(each -> isThere(each.step()));
            sample.waitIn(
                    own,
                    areKnown ? otherSteps(work, own) : List.of(),
                    areKnown ? LineSample.StepDoubt.NONE : LineSample.StepDoubt.OVERWRITTEN);
        } else if (!mayWork(sample, own)) {
            sample.waitIn(own, List.of(), LineSample.StepDoubt.NONE);
        } else if (ofSteps.size() > MOST_OF_STEPS) {
            sample.waitIn(own, List.of(), LineSample.StepDoubt.SEVERAL);
        } else {
            sample.waitIn(own, ofSteps, LineSample.StepDoubt.NONE);
        }
        if (sample.isSettled()) {
            count(sample);
        }
    }

    private boolean mayWork(LineSample sample, List<LineSeries> own) {
        return !sample.isNative()
                && !(sample.isOfVirtualThread() && own.isEmpty())
                && own.stream().noneMatch(ofSteps::contains);
    }

    private boolean isThere(@Nullable LineSeries series) {
        return series != null
                && ofThreads.getOrDefault(series.threadId(), List.of()).contains(series);
    }

    private static List<LineSeries> otherSteps(List<StepWorkers.Work> work, List<LineSeries> own) {
        return work.stream()
                .flatMap(each -> Stream.ofNullable(each.step()))
                .filter(step -> !own.contains(step))
                .toList();
    }

    /** Settles the samples of threads that worked for a brick that has ended, once all bricks until then were read. */
    void settleWorkers() {
        for (List<LineSeries> ofThread : ofThreads.values()) {
            for (LineSeries series : ofThread) {
                if (!ofSteps.contains(series)) {
                    series.settleWorkers();
                }
            }
        }
    }

    void addOfVirtualThread() {
        virtualThreads++;
    }

    void addOfOtherThread() {
        otherThreads++;
    }

    void addTooLate() {
        tooLate++;
    }

    /** Adds an event in no brick, or in one that is not known. */
    void addElsewhere(LineEvent event) {
        (event.kind() == LineEvent.Kind.ALLOCATION ? allocatedElsewhere : waitedElsewhere).add(event);
    }

    /** Returns the number of samples that have been given and are not counted yet. */
    long waiting() {
        return waiting;
    }

    /** Counts the samples of threads that have ended no brick so far as those of threads without bricks. */
    void giveUpEarly() {
        early.forEach(this::giveUpEarly);
        early.clear();
    }

    private void giveUpEarly(LineSample sample) {
        if (sample.isOfVirtualThread()) {
            virtualThreads++;
        } else {
            otherThreads++;
        }
    }

    /**
     * Counts the samples before a moment as too late that are of virtual threads without bricks so far: bricks of these
     * may have been overwritten.
     */
    void loseEarlyOfVirtualThreads(long beforeNs) {
        early.removeIf(sample -> {
            boolean isLost = sample.isOfVirtualThread() && sample.atNs() < beforeNs;
            tooLate += isLost ? 1 : 0;
            return isLost;
        });
    }

    /** Counts a sample that all of its series have settled. */
    private void count(LineSample sample) {
        LineRow row = sample.row();
        Optional<LineEvent> event = sample.event();
        if (event.isPresent()) {
            if (row != null && sample.found() == 1) {
                row.add(sample);
            } else {
                addElsewhere(event.get());
            }
            return;
        }
        waiting--;
        if (sample.isInLostBrick()) {
            tooLate++;
        } else if (row != null && sample.found() == 1) {
            inBricks++;
            row.add(sample);
        } else if (row != null || sample.stepDoubt() == LineSample.StepDoubt.SEVERAL) {
            severalSteps++;
        } else if (!sample.hasBricks()) {
            early.add(sample);
            if (early.size() > MOST_EARLY) {
                giveUpEarly(early.removeFirst());
            }
        } else {
            switch (sample.without()) {
                case OUTSIDE -> outside++;
                case NOT_ENDED -> notEnded++;
                case TOO_LATE -> tooLate++;
            }
        }
        counted.accept(sample);
    }

    // ---- results ----

    /**
     * Returns where the samples are. One that waits although its thread has ended a later brick or pass counts as
     * outside for now, and one of a thread that has ended no brick as one of another or of a virtual thread.
     *
     * @param further samples that wait elsewhere
     */
    LineProfile.Samples samples(long further) {
        long passed = ofThreads.values().stream()
                .flatMap(List::stream)
                .mapToLong(LineSeries::passed)
                .sum();
        long ofVirtual = early.stream().filter(LineSample::isOfVirtualThread).count();
        return samples(passed, early.size() - ofVirtual, ofVirtual, waiting - passed + further);
    }

    private LineProfile.Samples samples(long passed, long ofOthers, long ofVirtual, long notYetEnded) {
        return new LineProfile.Samples(
                inBricks,
                outside + passed,
                otherThreads + ofOthers,
                severalSteps,
                virtualThreads + ofVirtual,
                notEnded + notYetEnded,
                tooLate,
                0);
    }

    /**
     * The counts at a moment.
     *
     * @param join where; another one counts from nothing
     * @param samples the samples, without those that wait
     * @param rows the rows
     */
    record Counts(LineJoin join, LineProfile.Samples samples, Map<LineRow, LineRow.Counts> rows) {}

    Counts counts() {
        Map<LineRow, LineRow.Counts> counts = new HashMap<>();
        rows.values().forEach(row -> counts.put(row, row.counts()));
        return new Counts(this, samples(0, 0, 0, 0), counts);
    }

    /** Returns the samples that were counted since a moment. */
    LineProfile.Samples samplesSince(LineProfile.Samples earlier) {
        LineProfile.Samples now = samples(0, 0, 0, 0);
        return new LineProfile.Samples(
                now.inBricks() - earlier.inBricks(),
                now.outside() - earlier.outside(),
                now.otherThreads() - earlier.otherThreads(),
                now.severalSteps() - earlier.severalSteps(),
                now.virtualThreads() - earlier.virtualThreads(),
                now.notEnded() - earlier.notEnded(),
                now.tooLate() - earlier.tooLate(),
                0);
    }

    /**
     * Returns the events in no brick.
     *
     * @param leastWaitNs the duration from which on all waits were recorded, ns; 0 if unknown
     */
    LineProfile.Elsewhere elsewhere(long leastWaitNs) {
        return new LineProfile.Elsewhere(
                allocatedElsewhere.events(),
                allocatedElsewhere.sum(),
                waitedElsewhere.events(),
                waitedElsewhere.sum(),
                leastWaitNs);
    }

    /** Returns the bricks with samples or processor time, most samples first. */
    List<LineProfile.OfBrick> bricks() {
        return bricksSince(Map.of());
    }

    /**
     * Returns the bricks with samples or processor time since a moment, most samples first.
     *
     * @param earlier the counts at that moment
     */
    List<LineProfile.OfBrick> bricksSince(Map<LineRow, LineRow.Counts> earlier) {
        long own = 0;
        double processorNs = 0;
        for (LineRow row : rows.values()) {
            if (row.isTimeKnown()) {
                LineRow.Counts before = earlier.getOrDefault(row, LineRow.Counts.NONE);
                own += row.ofThreads() - before.ofThreads();
                processorNs += row.processorNs() - before.processorNs();
            }
        }
        double samplesPerNs = processorNs > 0 ? own / processorNs : Double.NaN;
        return rows.values().stream()
                .filter(row -> !row.isEmpty(earlier.getOrDefault(row, LineRow.Counts.NONE)))
                .map(row -> row.since(earlier.getOrDefault(row, LineRow.Counts.NONE), samplesPerNs, ranSteps == 1))
                .sorted(Comparator.comparingLong(LineProfile.OfBrick::samples)
                        .reversed()
                        .thenComparing(LineProfile.OfBrick::brick)
                        .thenComparing(row -> row.phase().map(Enum::name).orElse("")))
                .toList();
    }
}
