package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.brickprofiler.trace.SlowSteps.Kind;
import org.brickprofiler.trace.SlowSteps.Part;
import org.brickprofiler.trace.SlowSteps.Typical;
import org.brickprofiler.trace.SlowSteps.Verdict;
import org.brickprofiler.trace.StepParts.Place;

/** Compares a slow step with typical steps of its size, as {@link SlowSteps} defines them. Stateless; any thread. */
final class StepComparison {

    /** The largest logarithm of the ratio of comparable sizes: they differ by at most a quarter. */
    private static final double FURTHEST = Math.log(1.25);

    private StepComparison() {}

    /** A step that takes part in a comparison. */
    interface Candidate {
        long index();

        long startNs();

        long endNs();

        StepInfo info();

        /** Returns whether its places are known, or the reason why they are not. */
        Verdict verdict();

        StepParts parts();

        /** Returns whether all stops of the virtual machine during the step are known. */
        boolean knowsStops();

        default long durationNs() {
            return endNs() - startNs();
        }
    }

    /** A step in which bricks of other threads count as time between bricks. */
    private record WithoutOthers(Candidate step, StepParts parts) implements Candidate {

        static Candidate of(Candidate step) {
            return new WithoutOthers(step, step.parts().withoutOthers());
        }

        @Override
        public long index() {
            return step.index();
        }

        @Override
        public long startNs() {
            return step.startNs();
        }

        @Override
        public long endNs() {
            return step.endNs();
        }

        @Override
        public StepInfo info() {
            return step.info();
        }

        @Override
        public Verdict verdict() {
            return step.verdict().isExplained() ? Verdict.BESIDE_OTHER_STEPS : step.verdict();
        }

        @Override
        public boolean knowsStops() {
            return step.knowsStops();
        }
    }

    /**
     * Explains a step. If other steps were under way during this step or a compared one, the bricks of other threads
     * are unknown there; they count as time between bricks in all of these steps.
     *
     * @param step the step
     * @param sample the sampled steps of its phase; may include the step itself
     */
    static Explained explain(Candidate step, Collection<? extends Candidate> sample) {
        List<Candidate> usable = new ArrayList<>();
        for (Candidate each : sample) {
            if (each.index() != step.index() && each.verdict().isExplained()) {
                usable.add(each);
            }
        }
        List<Candidate> nearest = nearest(step, usable);
        List<Candidate> all = new ArrayList<>(nearest);
        all.add(step);
        boolean knowsOthers = all.stream().noneMatch(each -> each.verdict() == Verdict.BESIDE_OTHER_STEPS);
        boolean hasOthers =
                all.stream().anyMatch(each -> !each.parts().ofOthersNs().isEmpty());
        return knowsOthers || !hasOthers
                ? explain(step, nearest, usable)
                : explain(
                        WithoutOthers.of(step),
                        nearest.stream().map(WithoutOthers::of).toList(),
                        usable);
    }

    private static Explained explain(Candidate step, List<Candidate> nearest, List<Candidate> usable) {
        Verdict verdict = step.verdict().isExplained() && nearest.size() < SlowSteps.FEWEST
                ? Verdict.FEW_COMPARABLE_STEPS
                : step.verdict();
        List<Part> parts = verdict.isExplained() ? parts(step, nearest) : List.of();
        long excessNs = parts.stream().mapToLong(Part::excessNs).sum();
        Typical typical = new Typical(
                verdict.isExplained() ? step.durationNs() - excessNs : 0,
                nearest.size(),
                (int) nearest.stream()
                        .filter(each -> each.durationNs() >= step.durationNs())
                        .count(),
                nearest.stream().mapToLong(Candidate::durationNs).max().orElse(0),
                usable.size(),
                median(usable, each -> each.info().kvLength()),
                median(usable, each -> each.info().prefillTokens()),
                median(usable, each -> each.info().batch()));
        return new Explained(
                step.index(),
                step.startNs(),
                Optional.empty(),
                step.durationNs(),
                step.info(),
                verdict,
                typical,
                parts,
                unknown(step, verdict.isExplained() ? nearest : List.of(), parts),
                Optional.empty());
    }

    /**
     * Returns the kinds whose time is unknown for the step, or known for too few of the steps that it was compared
     * with.
     */
    private static Set<Kind> unknown(Candidate step, List<Candidate> compared, List<Part> parts) {
        Set<Kind> unknown = EnumSet.noneOf(Kind.class);
        if (!step.knowsStops()) {
            unknown.add(Kind.OTHER_STOP);
        }
        Map<Kind, ToLongFunction<StepParts>> times = Map.of(
                Kind.GARBAGE_COLLECTION, StepParts::collectedNs,
                Kind.NO_PROCESSOR, StepParts::waitedNs,
                Kind.BLOCKED, StepParts::blockedNs);
        times.forEach((kind, time) -> {
            if (isUnknown(time, step, compared)) {
                unknown.add(kind);
            }
        });
        boolean hasNoProcessor = parts.stream().anyMatch(part -> part.kind() == Kind.NO_PROCESSOR);
        if (unknown.contains(Kind.NO_PROCESSOR)
                || (hasNoProcessor && isUnknown(StepParts::throttledNs, step, compared))) {
            unknown.add(Kind.THROTTLED);
        }
        return unknown;
    }

    private static boolean isUnknown(ToLongFunction<StepParts> time, Candidate step, List<Candidate> compared) {
        return time.applyAsLong(step.parts()) < 0 || (!compared.isEmpty() && medianOf(compared, time) < 0);
    }

    // ---- the typical step ----

    /** Returns the nearest of the comparable steps, nearest first, and all that are as near as the last of these. */
    private static List<Candidate> nearest(Candidate step, List<Candidate> sample) {
        ToDoubleFunction<Candidate> distance = each -> distance(step.info(), each.info());
        List<Candidate> comparable = sample.stream()
                .filter(each -> isComparable(step.info(), each.info()))
                .sorted(Comparator.comparingDouble(distance).thenComparingLong(Candidate::index))
                .toList();
        double furthest = comparable.stream()
                .mapToDouble(distance)
                .limit(SlowSteps.NEAREST)
                .max()
                .orElse(0);
        return comparable.stream()
                .filter(each -> distance.applyAsDouble(each) <= furthest)
                .toList();
    }

    private static double distance(StepInfo one, StepInfo two) {
        double[] each = ratios(one, two);
        return Math.sqrt(each[0] * each[0] + each[1] * each[1] + each[2] * each[2]);
    }

    private static boolean isComparable(StepInfo one, StepInfo two) {
        return Arrays.stream(ratios(one, two)).allMatch(ratio -> ratio <= FURTHEST);
    }

    private static double[] ratios(StepInfo one, StepInfo two) {
        return new double[] {
            ratio(one.batch(), two.batch(), slack("batch")),
            ratio(one.prefillTokens(), two.prefillTokens(), slack("number of prompt tokens")),
            ratio(one.kvLength(), two.kvLength(), slack("KV length"))
        };
    }

    private static double ratio(long one, long two, long slack) {
        return Math.abs(Math.log((double) (one + slack) / (two + slack)));
    }

    /** Returns the amount below which a size hardly matters: it is added to both sides of a ratio. */
    static long slack(String what) {
        return what.equals("batch") ? 0 : 16;
    }

    private static long median(Collection<? extends Candidate> steps, ToLongFunction<Candidate> value) {
        long[] values = steps.stream().mapToLong(value).sorted().toArray();
        return values.length == 0 ? 0 : values[(values.length - 1) / 2];
    }

    // ---- the parts ----

    private static List<Part> parts(Candidate step, List<Candidate> nearest) {
        Set<Place> places = new LinkedHashSet<>(step.parts().placeNs().keySet());
        nearest.forEach(each -> places.addAll(each.parts().placeNs().keySet()));
        Map<Place, Long> excess = new LinkedHashMap<>();
        for (Place place : places) {
            long typicalNs = median(nearest, each -> each.parts().ofPlace(place));
            excess.put(place, step.parts().ofPlace(place) - typicalNs);
        }
        Typically typically = Typically.of(nearest, step.durationNs() - sum(excess.values()));
        moveWithoutPlace(Kind.NO_PROCESSOR, above(step.parts().waitedNs(), typically.waitedNs), excess);
        splitThrottled(above(step.parts().throttledNs(), typically.throttledNs), excess);
        moveWithoutPlace(Kind.BLOCKED, above(step.parts().blockedNs(), typically.blockedNs), excess);
        long collectedNs = above(step.parts().collectedNs(), typically.collectedNs);
        // Collections are known to the millisecond, which may be longer than the step.
        moveWithoutPlace(Kind.GARBAGE_COLLECTION, Math.min(collectedNs, aboveTypicalNs(excess)), excess);
        return excess.entrySet().stream()
                .filter(each -> each.getValue() != 0)
                .map(each -> new Part(each.getKey().kind(), each.getKey().name(), each.getValue()))
                .sorted(Comparator.comparingLong(Part::excessNs).reversed().thenComparing(Part::name))
                .toList();
    }

    private static long sum(Collection<Long> values) {
        return values.stream().mapToLong(Long::longValue).sum();
    }

    /**
     * Returns by how much a time without a place exceeds the typical one; 0 if either time is unknown, or the time is
     * shorter.
     */
    private static long above(long ownNs, long typicalNs) {
        return ownNs < 0 || typicalNs < 0 ? 0 : Math.max(0, ownNs - typicalNs);
    }

    /**
     * The times without a place, as far as the medians of the places contain them. If waiting hits one brick in one
     * step and another brick in the next, no median contains it, although each step waits. Therefore these times count
     * as typical only by the amount by which the sum of the medians of the places exceeds the median of the durations
     * without these times.
     *
     * @param collectedNs stopped by garbage collections, ns, or {@link ThreadTimes#UNKNOWN}
     * @param waitedNs waiting for a processor, ns; or unknown
     * @param throttledNs the part of it in which a quota may have throttled the thread, ns; or unknown
     * @param blockedNs neither running nor waiting for a processor, ns; or unknown
     */
    private record Typically(long collectedNs, long waitedNs, long throttledNs, long blockedNs) {

        static Typically of(List<Candidate> nearest, long placesNs) {
            long collected = medianOf(nearest, StepParts::collectedNs);
            long waited = medianOf(nearest, StepParts::waitedNs);
            long blocked = medianOf(nearest, StepParts::blockedNs);
            long all = Math.max(0, collected) + Math.max(0, waited) + Math.max(0, blocked);
            long busy = median(nearest, Typically::busyNs);
            double share = all == 0 ? 0 : (double) Math.max(0, Math.min(all, placesNs - busy)) / all;
            long throttled = medianOf(nearest, StepParts::throttledNs);
            return new Typically(of(collected, share), of(waited, share), of(throttled, share), of(blocked, share));
        }

        private static long of(long ns, double share) {
            return ns < 0 ? ns : (long) (share * ns);
        }

        private static long busyNs(Candidate step) {
            return step.durationNs()
                    - known(step, StepParts::collectedNs)
                    - known(step, StepParts::waitedNs)
                    - known(step, StepParts::blockedNs);
        }

        private static long known(Candidate step, ToLongFunction<StepParts> time) {
            return Math.max(0, time.applyAsLong(step.parts()));
        }
    }

    /** Returns the median of a time, or unknown if too few steps know it. */
    private static long medianOf(List<Candidate> nearest, ToLongFunction<StepParts> time) {
        List<Candidate> known = nearest.stream()
                .filter(each -> time.applyAsLong(each.parts()) >= 0)
                .toList();
        return known.size() < SlowSteps.FEWEST
                ? ThreadTimes.UNKNOWN
                : median(known, each -> time.applyAsLong(each.parts()));
    }

    /**
     * Takes a time from the places that exceed the typical step, in proportion to their excess, and makes it the excess
     * of its kind. The rounding remainder is taken from the largest place.
     */
    private static void moveWithoutPlace(Kind kind, long ns, Map<Place, Long> excess) {
        long positiveNs = aboveTypicalNs(excess);
        if (ns == 0 || positiveNs == 0) {
            return;
        }
        Place largest = Place.BETWEEN;
        for (Map.Entry<Place, Long> each : excess.entrySet()) {
            if (isWork(each.getKey()) && each.getValue() > 0) {
                largest = each.getValue() > excess.getOrDefault(largest, 0L) || !isWork(largest)
                        ? each.getKey()
                        : largest;
            }
        }
        long leftNs = ns;
        for (Map.Entry<Place, Long> each : excess.entrySet()) {
            if (isWork(each.getKey()) && each.getValue() > 0) {
                long taken = Math.min(leftNs, (long) (ns * ((double) each.getValue() / positiveNs)));
                leftNs -= taken;
                each.setValue(each.getValue() - taken);
            }
        }
        excess.merge(largest, -leftNs, Long::sum);
        excess.put(Place.of(kind), ns);
    }

    /** Makes the part of the excess without a processor in which a quota throttled the thread that of its kind. */
    private static void splitThrottled(long throttledNs, Map<Place, Long> excess) {
        Place noProcessor = Place.of(Kind.NO_PROCESSOR);
        long waitedNs = excess.getOrDefault(noProcessor, 0L);
        long ns = Math.min(throttledNs, waitedNs);
        if (ns > 0) {
            excess.put(noProcessor, waitedNs - ns);
            excess.put(Place.of(Kind.THROTTLED), ns);
        }
    }

    /** Returns the sum of the excesses of the places of work that exceed the typical step, ns. */
    private static long aboveTypicalNs(Map<Place, Long> excess) {
        long sumNs = 0;
        for (Map.Entry<Place, Long> each : excess.entrySet()) {
            sumNs += isWork(each.getKey()) ? Math.max(0, each.getValue()) : 0;
        }
        return sumNs;
    }

    private static boolean isWork(Place place) {
        return place.kind() == Kind.BRICK || place.kind() == Kind.BETWEEN;
    }
}
