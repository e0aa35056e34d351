package org.brickprofiler.trace;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.base.MergeSort;
import org.jspecify.annotations.Nullable;

/**
 * The bricks and samples of a recording that has ended, in any order, for those who read such a file. Not thread-safe.
 */
public final class LineRecording {

    private static final int FIRST_CAPACITY = 64;

    /** The phases of a brick, and none. */
    private static final int PHASES = StepInfo.Phase.values().length + 1;

    private final Map<Long, Bricks> bricks = new HashMap<>();
    private final Map<Long, List<Long>> steps = new HashMap<>();
    private final Map<Long, Double> processorShares = new HashMap<>();
    private final List<LineSample> samples = new ArrayList<>();
    private final List<LineSample> events = new ArrayList<>();
    private final LineJoin join = new LineJoin();

    /** The rows of bricks, by their names and by the numbers of their phases, 0 without one. */
    private final Map<String, @Nullable LineRow[]> rows = new HashMap<>();

    /** The thread of the latest brick. */
    private long latestThread;

    private @Nullable Bricks latest;

    /** The bricks of a thread, in columns. */
    private static final class Bricks {
        private LineRow[] rows = new LineRow[FIRST_CAPACITY];
        private long[] startsNs = new long[FIRST_CAPACITY];
        private long[] endsNs = new long[FIRST_CAPACITY];
        private int size;

        void add(LineRow row, long startNs, long endNs) {
            if (size == rows.length) {
                int room = Math.addExact(size, size / 2);
                rows = Arrays.copyOf(rows, room);
                startsNs = Arrays.copyOf(startsNs, room);
                endsNs = Arrays.copyOf(endsNs, room);
            }
            rows[size] = row;
            startsNs[size] = startNs;
            endsNs[size++] = endNs;
        }

        /** Returns the numbers of the bricks in the order in which they ended, each after the bricks inside it. */
        int[] inOrder() {
            int[] order = new int[size];
            Arrays.setAll(order, i -> i);
            MergeSort.sort(order, this::compare);
            return order;
        }

        private int compare(int a, int b) {
            int byEnd = Long.compare(endsNs[a], endsNs[b]);
            return byEnd != 0 ? byEnd : Long.compare(startsNs[b], startsNs[a]);
        }
    }

    /** Makes an empty recording. */
    public LineRecording() {}

    /**
     * Adds a brick that a thread timed.
     *
     * @param threadId the number of the thread
     * @param brick the name of the brick
     * @param phase the phase of its step; empty outside of steps
     * @param startNs its beginning, ns on the clock of the recording
     * @param endNs its end
     * @throws IllegalArgumentException when it ends before it begins
     */
    public void brick(long threadId, String brick, Optional<StepInfo.Phase> phase, long startNs, long endNs) {
        requireNotNegative("endNs - startNs", endNs - startNs);
        Bricks ofThread = latest;
        if (ofThread == null || threadId != latestThread) {
            ofThread = bricks.computeIfAbsent(threadId, first -> new Bricks());
            latest = ofThread;
            latestThread = threadId;
        }
        ofThread.add(
                row(Objects.requireNonNull(brick, "brick"), Objects.requireNonNull(phase, "phase")), startNs, endNs);
    }

    @SuppressWarnings("EnumOrdinal") // the place in an array that lives as long as this
    private LineRow row(String brick, Optional<StepInfo.Phase> phase) {
        @Nullable LineRow[] ofPhases = rows.get(brick);
        if (ofPhases == null) {
            ofPhases = new LineRow[PHASES];
            rows.put(brick, ofPhases);
        }
        int place = phase.isPresent() ? phase.get().ordinal() + 1 : 0;
        LineRow row = ofPhases[place];
        if (row == null) {
            row = join.row(brick, phase);
            ofPhases[place] = row;
        }
        return row;
    }

    /**
     * Notes that a thread ended a step.
     *
     * @param threadId the number of the thread
     * @param endNs the end, ns on the clock of the recording
     */
    public void stepEnded(long threadId, long endNs) {
        steps.computeIfAbsent(threadId, first -> new ArrayList<>()).add(endNs);
    }

    /**
     * Notes the share of its time in which processors ran a thread.
     *
     * @param threadId the number of the thread
     * @param share 0 to 1; a larger one counts as 1
     */
    public void processorShare(long threadId, double share) {
        processorShares.put(threadId, Math.min(1, share));
    }

    /**
     * Adds a sample of a thread.
     *
     * @param threadId the number of the thread
     * @param atNs when it was taken, ns on the clock of the recording
     * @param isNative whether the thread was in native code
     * @param stack its frames, the called one before its caller; not empty
     * @throws IllegalArgumentException when there is no frame
     */
    public void sample(long threadId, long atNs, boolean isNative, List<Frame> stack) {
        samples.add(new LineSample(threadId, atNs, isNative, stack));
    }

    /**
     * Adds memory that a thread allocated, or a time for which it waited.
     *
     * @param threadId the number of the thread
     * @param atNs when it began, ns on the clock of the recording
     * @param event the memory or the wait
     */
    public void event(long threadId, long atNs, LineEvent event) {
        events.add(new LineSample(threadId, atNs, Objects.requireNonNull(event, "event")));
    }

    /**
     * Adds memory or a wait of a thread that works for no step.
     *
     * @param event the memory or the wait
     */
    public void eventElsewhere(LineEvent event) {
        join.addElsewhere(Objects.requireNonNull(event, "event"));
    }

    /**
     * Returns whether a thread has timed a brick so far.
     *
     * @param threadId the number of the thread
     * @return whether {@link #brick} was called for it
     */
    public boolean hasBricks(long threadId) {
        return bricks.containsKey(threadId);
    }

    /** Counts a sample of a virtual thread without bricks. */
    public void sampleOfVirtualThread() {
        join.addOfVirtualThread();
    }

    /** Counts a sample of a thread that works for no step, such as one of this library. */
    public void sampleOfOtherThread() {
        join.addOfOtherThread();
    }

    /**
     * Joins the samples with the bricks. No further call is allowed.
     *
     * @param periodNs the time between two samples of a thread, ns; 0 if unknown
     * @param clockErrorNs the error of the times of samples beside those of bricks, ns
     * @param mode what the samples are of; empty if they are the virtual machine's
     * @param leastWaitNs the duration from which on all waits were recorded, ns; 0 if unknown
     * @return the lines; with a reason if the recording has no bricks or no samples
     * @throws IllegalArgumentException when a time is negative
     */
    public LineProfile join(long periodNs, long clockErrorNs, Optional<String> mode, long leastWaitNs) {
        Map<Long, LineSeries> series = new HashMap<>();
        bricks.keySet().forEach(thread -> {
            series.put(thread, join.newSeries(thread));
            if (steps.containsKey(thread)) {
                join.runsSteps(Objects.requireNonNull(series.get(thread)));
            }
        });
        // A series expects its samples in the order of time.
        Stream.of(samples, events)
                .flatMap(List::stream)
                .sorted(Comparator.comparingLong(LineSample::atNs))
                .forEach(join::add);
        series.forEach(this::read);
        join.settleWorkers();
        series.values().forEach(each -> each.giveUp(Long.MAX_VALUE));
        Optional<String> missing = samples.isEmpty()
                ? Optional.of("the recording has no samples of stacks")
                : bricks.isEmpty() ? Optional.of("the recording has no bricks") : Optional.empty();
        return new LineProfile(
                join.samples(0),
                periodNs,
                clockErrorNs,
                missing,
                join.bricks(),
                join.elsewhere(leastWaitNs),
                mode,
                Optional.empty(),
                Optional.empty());
    }

    private void read(long threadId, LineSeries series) {
        Bricks own = Objects.requireNonNull(bricks.get(threadId));
        List<Long> ends = steps.getOrDefault(threadId, new ArrayList<>());
        ends.sort(Comparator.naturalOrder());
        double share = processorShares.getOrDefault(threadId, Double.NaN);
        int step = 0;
        for (int brick : own.inOrder()) {
            for (; step < ends.size() && ends.get(step) < own.endsNs[brick]; step++) {
                series.passEnded(ends.get(step));
            }
            series.brick(own.rows[brick], own.startsNs[brick], own.endsNs[brick], share);
        }
        for (; step < ends.size(); step++) {
            series.passEnded(ends.get(step));
        }
    }
}
