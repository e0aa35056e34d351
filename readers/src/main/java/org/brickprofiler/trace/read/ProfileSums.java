package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.Work;
import org.brickprofiler.trace.read.Kernels.Kernel;
import org.brickprofiler.trace.read.LayerPlaces.Evidence;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceProfile.Placement;
import org.brickprofiler.trace.read.TraceProfile.Placement.Source;
import org.eclipse.collections.impl.set.mutable.primitive.IntHashSet;
import org.jspecify.annotations.Nullable;

/** Sums the executions of a trace that count, and writes the sums into a profile. One thread. */
final class ProfileSums {

    private final ProfileBuilder builder;
    private final Kernels kernels;

    /** The source of the executions; null if the rules alone decide. */
    private final @Nullable LayerPlaces places;

    private final BrickSums bricks = new BrickSums();
    private final Map<StepInfo.Phase, BrickSums> ofPhases = new EnumMap<>(StepInfo.Phase.class);
    private final Map<Placed, long[]> placements = new HashMap<>();
    private final IntHashSet rows = new IntHashSet();
    private final IntHashSet unmatchedKernels = new IntHashSet();
    private long counted;
    private long unmatched;
    private long unmatchedNs;
    private long leftOutNs;

    /** The key of one line of the placements. */
    private record Placed(TraceRule.Target brick, Source source) {
        Placement placement(long[] sums) {
            return new Placement(brick.name(), brick.category(), source, sums[0], sums[1], sums[2]);
        }
    }

    /**
     * Creates empty sums.
     *
     * @param kernels the kernels of the executions
     * @param places the source of the executions; null if the rules alone decide
     */
    ProfileSums(ProfileBuilder builder, Kernels kernels, @Nullable LayerPlaces places) {
        this.builder = builder;
        this.kernels = kernels;
        this.places = places;
    }

    // ---- executions ----

    /**
     * Counts an execution.
     *
     * @param selfNs the time that it counts with, ns
     * @param work its work; {@link Work#NONE} if it is unknown
     * @param phase the phase of its step, if the trace has phases
     * @param evidence the {@link Evidence} for its brick
     * @throws TraceFormatException when a sum is too large
     */
    void count(Execution event, long selfNs, Work work, Optional<StepInfo.Phase> phase, long evidence)
            throws TraceFormatException {
        try {
            TraceRule.Target brick = kernels.get(event.kernel()).target();
            bricks.add(brick, event, selfNs, event.elements(), event.bytes(), work);
            if (phase.isPresent()) {
                ofPhases.computeIfAbsent(phase.get(), added -> new BrickSums())
                        .add(brick, event, selfNs, event.elements(), event.bytes(), work);
            }
            countIn(event, 1, selfNs, evidence);
        } catch (ArithmeticException tooLarge) {
            throw tooLarge(event, tooLarge);
        }
    }

    /**
     * Counts an event that stands for several executions, or for one without a time.
     *
     * @throws TraceFormatException when a sum is too large
     */
    void count(Execution event, TraceEvent.Sum sum) throws TraceFormatException {
        if (sum.executions() == 1) {
            count(event, event.elapsedNs(), Work.NONE, Optional.empty(), Evidence.BY_RULE);
            return;
        }
        try {
            TraceRule.Target brick = kernels.get(event.kernel()).target();
            bricks.add(brick, sum, event.elapsedNs(), event.elements(), event.bytes());
            countIn(event, sum.executions(), event.elapsedNs(), Evidence.BY_RULE);
        } catch (ArithmeticException tooLarge) {
            throw tooLarge(event, tooLarge);
        }
    }

    /**
     * Leaves an event out and adds it to the omissions.
     *
     * @param selfNs the time that it would count with, ns
     * @param sum the executions that it stands for
     * @throws TraceFormatException when a sum is too large
     */
    void leaveOut(Execution event, long selfNs, TraceEvent.Sum sum, Reason reason) throws TraceFormatException {
        try {
            leftOutNs = Math.addExact(leftOutNs, selfNs);
            builder.omissions.addTimed(reason, kernels.get(event.kernel()).name(), sum.executions(), selfNs);
        } catch (ArithmeticException tooLarge) {
            throw tooLarge(event, tooLarge);
        }
    }

    private TraceFormatException tooLarge(Execution event, ArithmeticException tooLarge) {
        return new TraceFormatException(
                builder.source, event.offset(), "the sum of the times, elements or bytes exceeds 2^63 - 1", tooLarge);
    }

    private void countIn(Execution event, long executions, long selfNs, long evidence) {
        Kernel kernel = kernels.get(event.kernel());
        builder.head.disturbances.count(kernel.target().name(), event.row(), event.startNs(), event.endNs());
        addPlacement(kernel.target(), evidence, executions, selfNs);
        rows.add(event.row());
        counted += executions;
        if (!kernel.matched()) {
            unmatchedKernels.add(event.kernel());
            unmatched += executions;
            unmatchedNs += selfNs;
        }
    }

    private void addPlacement(TraceRule.Target brick, long evidence, long events, long selfNs) {
        if (evidence == Evidence.BY_RULE && brick.category() != BrickCategory.MATRIX_PRODUCT) {
            return;
        }
        Source from = evidence == Evidence.BY_RULE
                ? Source.NOT_KNOWN
                : Evidence.isPlace(evidence) ? Source.PLACE : Source.MODULE;
        long[] sums = placements.computeIfAbsent(new Placed(brick, from), added -> new long[3]);
        sums[0] += events;
        sums[1] += selfNs;
        sums[2] += from == Source.PLACE && places != null && !places.repeats(evidence) ? 0 : events;
    }

    // ---- results ----

    /**
     * Returns the profile without its omissions, and without the facts that only some kinds of trace have.
     *
     * @param wallNs the wall time, ns
     * @param busy the intervals of the executions
     * @param steps the number of steps that the trace marks
     * @throws TraceFormatException when the trace's explanation of its steps is malformed
     * @throws IOException when the thread is interrupted
     */
    TraceProfile.Builder profile(TraceProfile.Counting counting, long wallNs, BusyTime busy, int steps)
            throws IOException {
        TraceHead head = builder.head;
        TraceHead.Clock clock = head.clock(busy.firstNs());
        List<Environment> devices = head.deviceNames.stream()
                .map(device -> new Environment("", "", "", "", device, 0, 0))
                .toList();
        ProfileSnapshot snapshot = ProfileSnapshot.builder(
                        clock.instant(busy.firstNs()), clock.instant(busy.lastNs()), wallNs)
                .environments(devices)
                .bricks(bricks(clock))
                .phases(phases(clock))
                .build();
        return TraceProfile.builder(
                        snapshot,
                        counting,
                        new TraceProfile.Unmatched(unmatchedKernels.size(), unmatched, unmatchedNs),
                        new TraceProfile.VirtualMachine(
                                head.clockAnchors(), head.anchorErrorNs(), head.disturbances.list()))
                .times(wallNs, busy.busyNs())
                .unlaunched(busy.unlaunchedNs())
                .rows(rows.size())
                .steps(steps)
                .events(builder.eventsRead(), counted)
                .placements(placements())
                .slowSteps(head.slowSteps())
                .lines(head.lines == null ? Optional.empty() : head.lines.get())
                .runs(Optional.ofNullable(head.runs));
    }

    /** Returns the sums of the events, and the sums of methods for which the trace has no individual calls. */
    private List<BrickStats> bricks(TraceHead.Clock clock) {
        List<BrickStats> all = new ArrayList<>(bricks.stats(clock));
        TraceEvent event = new TraceEvent();
        for (TraceHead.Timing timing : builder.head.timings()) {
            event.clear(0);
            event.name = timing.method();
            event.category = TraceHead.Timing.CATEGORY;
            int kernel = kernels.number(event, false);
            if (kernel >= 0) {
                TraceRule.Target target = kernels.get(kernel).target();
                all.add(BrickStats.builder(target.name(), target.category())
                        .samples(timing.count(), timing.totalNs(), timing.minNs(), timing.maxNs())
                        .last(timing.totalNs() / timing.count(), 0)
                        .build());
            }
        }
        return all;
    }

    private Map<StepInfo.Phase, List<BrickStats>> phases(TraceHead.Clock clock) {
        Map<StepInfo.Phase, List<BrickStats>> phases = new EnumMap<>(StepInfo.Phase.class);
        ofPhases.forEach((phase, sums) -> phases.put(phase, sums.stats(clock)));
        return phases;
    }

    private List<Placement> placements() {
        return placements.entrySet().stream()
                .map(entry -> entry.getKey().placement(entry.getValue()))
                .sorted(Comparator.comparingLong(Placement::elapsedNs)
                        .reversed()
                        .thenComparing(Placement::brick)
                        .thenComparing(Placement::source))
                .toList();
    }
}
