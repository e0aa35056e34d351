package org.brickprofiler.trace;

import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.trace.SlowSteps.SampledMethod;
import org.brickprofiler.trace.SlowSteps.SamplesOfStep;
import org.brickprofiler.trace.SlowSteps.SamplesOfStep.State;

/**
 * The latest samples of stacks, for the slow steps in which they were taken. Immutable.
 *
 * @param fromNs the moment from which on none is missing
 * @param untilNs the moment until which all have arrived
 * @param samples the samples by time
 */
record LatestSamples(long fromNs, long untilNs, List<Placed> samples) {

    private static final long NO_THREAD = -1;
    private static final long ANY_THREAD = -2;

    /** What is known of the brick of a sample. */
    enum Kind {
        /** It was taken in one brick. */
        IN_BRICK,
        /** Its thread was in no brick. */
        OUTSIDE,
        /** Its thread was in no brick that has ended so far, and has ended a later one. */
        OUTSIDE_SO_FAR,
        /** Its bricks were overwritten, have not ended in time, or are those of several profilers or steps. */
        UNKNOWN,
        /** Its brick has perhaps not ended. */
        AWAITED
    }

    /**
     * A sample.
     *
     * @param atNs when it was taken
     * @param threadId the thread that it shows
     * @param timedBy the thread that timed its brick; {@link #NO_THREAD}, or {@link #ANY_THREAD} if that is open
     * @param brick the brick; empty unless it was taken in one
     * @param method the method in which the thread stood; empty if that is in doubt
     */
    record Placed(long atNs, long threadId, long timedBy, Kind kind, String brick, String method) {

        static Placed of(LineSample sample) {
            LineRow row = sample.row();
            Kind kind = kind(sample);
            long timedBy = !sample.isDecided() && sample.mayBeOfSteps()
                    ? ANY_THREAD
                    : row != null && sample.found() == 1
                            ? sample.timedBy()
                            : sample.hasBricks() ? sample.threadId() : NO_THREAD;
            return new Placed(
                    sample.atNs(),
                    sample.threadId(),
                    timedBy,
                    kind,
                    row != null && kind == Kind.IN_BRICK ? row.brick() : "",
                    sample.stack().get(0).method());
        }

        private static Kind kind(LineSample sample) {
            if (!sample.isDecided()) {
                return sample.isPassed() && !sample.mayBeOfSteps() ? Kind.OUTSIDE_SO_FAR : Kind.AWAITED;
            }
            if (sample.isInLostBrick()) {
                return Kind.UNKNOWN;
            }
            if (sample.row() != null) {
                return sample.found() == 1 ? Kind.IN_BRICK : Kind.UNKNOWN;
            }
            return sample.without() == LineSample.Without.OUTSIDE && sample.stepDoubt() == LineSample.StepDoubt.NONE
                    ? Kind.OUTSIDE
                    : Kind.UNKNOWN;
        }

        /** Returns the sample of a thread that stood in a method that is in doubt. */
        Placed withoutMethod() {
            return new Placed(atNs, threadId, timedBy, kind, brick, "");
        }

        /** Returns a sample whose brick will not be known: there was no room, or bricks were lost. */
        static Placed withoutBrick(LineSample sample) {
            return new Placed(
                    sample.atNs(),
                    sample.threadId(),
                    NO_THREAD,
                    Kind.UNKNOWN,
                    "",
                    sample.stack().get(0).method());
        }

        /** Returns whether it belongs to a step, by the rules for the bricks of a step. */
        private boolean isOf(long thread, boolean isAlone) {
            boolean isOfOther = kind == Kind.UNKNOWN || (kind == Kind.IN_BRICK && timedBy == threadId);
            return threadId == thread || timedBy == thread || timedBy == ANY_THREAD || (isAlone && isOfOther);
        }

        private boolean isFinal() {
            return kind != Kind.AWAITED && kind != Kind.OUTSIDE_SO_FAR;
        }
    }

    /**
     * Returns the samples of a step.
     *
     * @param startNs its beginning
     * @param endNs its end
     * @param thread its thread
     * @param isAlone whether no other step was under way at the same time
     */
    SamplesOfStep in(long startNs, long endNs, long thread, boolean isAlone) {
        Map<Kind, Long> counts = new EnumMap<>(Kind.class);
        Map<SampledMethod, Long> methods = new HashMap<>();
        for (Placed sample : within(startNs, endNs)) {
            if (sample.isOf(thread, isAlone)) {
                counts.merge(sample.kind, 1L, Long::sum);
                if (sample.kind == Kind.IN_BRICK) {
                    methods.merge(new SampledMethod(sample.brick, sample.method, 0), 1L, Long::sum);
                }
            }
        }
        State state = startNs < fromNs
                ? State.BEGINNING_MISSING
                : endNs > untilNs || counts.containsKey(Kind.AWAITED) ? State.MORE_TO_COME : State.COMPLETE;
        return new SamplesOfStep(
                state,
                counts.getOrDefault(Kind.IN_BRICK, 0L),
                counts.getOrDefault(Kind.OUTSIDE, 0L) + counts.getOrDefault(Kind.OUTSIDE_SO_FAR, 0L),
                counts.getOrDefault(Kind.UNKNOWN, 0L),
                hottest(methods));
    }

    /** Returns whether no sample of a period will arrive, and the bricks of none will be known later. */
    boolean isFinal(long startNs, long endNs) {
        return endNs <= untilNs && within(startNs, endNs).stream().allMatch(Placed::isFinal);
    }

    private static List<SampledMethod> hottest(Map<SampledMethod, Long> methods) {
        return methods.entrySet().stream()
                .map(each ->
                        new SampledMethod(each.getKey().brick(), each.getKey().method(), each.getValue()))
                .sorted(Comparator.comparingLong(SampledMethod::samples)
                        .reversed()
                        .thenComparing(SampledMethod::brick)
                        .thenComparing(SampledMethod::method))
                .limit(SamplesOfStep.MOST_METHODS)
                .toList();
    }

    private List<Placed> within(long startNs, long endNs) {
        int first = firstFrom(startNs);
        return samples.subList(first, Math.max(first, firstFrom(endNs)));
    }

    private int firstFrom(long ns) {
        return LineSeries.firstFrom(samples, Placed::atNs, ns);
    }
}
