package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.trace.SlowSteps.Kind;

/**
 * The places in which a step spent its time. Each ns has exactly one place, so the places sum to the duration.
 * Immutable.
 *
 * @param placeNs ns by place: bricks, time between them, locks that blocked the step's thread, and stops of the virtual
 *     machine other than garbage collections
 * @param ofOthersNs the part of {@code placeNs} that belongs to bricks of other threads, ns by place
 * @param collectedNs how long garbage collections had stopped the step's thread, ns, or {@link ThreadTimes#UNKNOWN}
 * @param waitedNs how long the step's thread waited for a processor, ns, or {@link ThreadTimes#UNKNOWN}
 * @param throttledNs the part of {@code waitedNs} in which a CPU quota may have throttled it, ns, or
 *     {@link ThreadTimes#UNKNOWN}
 * @param blockedNs how long the step's thread neither ran nor waited for a processor, without stops of the virtual
 *     machine and locks that are places, ns, or {@link ThreadTimes#UNKNOWN}
 */
record StepParts(
        Map<Place, Long> placeNs,
        Map<Place, Long> ofOthersNs,
        long collectedNs,
        long waitedNs,
        long throttledNs,
        long blockedNs) {

    /** A brick by its name, or a place without one. */
    record Place(Kind kind, String name) {

        static final Place BETWEEN = of(Kind.BETWEEN);

        static Place of(Kind kind) {
            return new Place(kind, kind.displayName());
        }

        static Place lock(String lock) {
            return new Place(Kind.BLOCKED, "blocked by " + lock);
        }

        static Place brick(String name) {
            return new Place(Kind.BRICK, name);
        }
    }

    /** The kinds of work of a span, by precedence: each moment counts for the first kind that is at work. */
    enum Work {
        /** The virtual machine has stopped all threads. */
        STOP,
        /** The step's thread waits for a lock. */
        LOCK,
        /** A brick of the step's own thread. */
        OWN,
        /** A brick of a device. */
        DEVICE,
        /** A brick of another thread. */
        OTHER_THREAD
    }

    /** A span that may account for time of the step. */
    record Busy(Work work, Place place, long startNs, long endNs) {}

    /**
     * Orders spans by the precedence of their work, and the spans of one kind innermost first: the one that began last
     * and, of several, the one that ends first.
     */
    private static final Comparator<Numbered> INNERMOST = Comparator.<Numbered, Work>comparing(each -> each.busy.work)
            .thenComparing(Comparator.<Numbered>comparingLong(each -> each.busy.startNs)
                    .reversed())
            .thenComparingLong(each -> each.busy.endNs)
            .thenComparingInt(each -> each.number);

    private record Numbered(int number, Busy busy) {}

    /**
     * The times of a step that have no place in it, ns, or {@link ThreadTimes#UNKNOWN}.
     *
     * @param ranNs how long its thread ran on a processor
     * @param waitedNs how long it waited for one
     * @param collectedNs how long garbage collections stopped all threads
     */
    record Times(long ranNs, long waitedNs, long collectedNs) {}

    /**
     * Finds the places of a step.
     *
     * @param startNs its beginning
     * @param endNs its end
     * @param spans the spans that were at work meanwhile
     * @param times the times without a place
     */
    static StepParts of(long startNs, long endNs, List<Busy> spans, Times times) {
        Sweep sweep = new Sweep(startNs, endNs, spans);
        Map<Place, Long> places = sweep.places;
        boolean isAlone = spans.stream().allMatch(span -> span.work.compareTo(Work.OWN) <= 0);
        // The times are read shortly before and after the step, and collections are known in whole milliseconds: any
        // surplus does not belong to the step.
        long notRunNs = Math.max(0, endNs - startNs - Math.max(0, times.ranNs));
        long waitedNs = Math.min(times.waitedNs, notRunNs);
        long offNs = notRunNs - Math.max(0, waitedNs);
        // A thread in native code runs on while the virtual machine has stopped the others.
        long stoppedNs = sweep.limit(Kind.OTHER_STOP, offNs);
        long collectedNs = Math.min(times.collectedNs, offNs - stoppedNs);
        long leftNs = offNs - stoppedNs - Math.max(0, collectedNs);
        long blockedNs = leftNs - sweep.limit(Kind.BLOCKED, leftNs);
        boolean knowsBlocked = isAlone && times.ranNs >= 0 && waitedNs >= 0;
        return new StepParts(
                places,
                sweep.ofOthers,
                collectedNs,
                waitedNs,
                waitedNs == 0 ? 0 : ThreadTimes.UNKNOWN,
                knowsBlocked ? blockedNs : ThreadTimes.UNKNOWN);
    }

    /** Returns whether the thread does nothing at a place. */
    private static boolean isStop(Place place) {
        return place.kind == Kind.OTHER_STOP || place.kind == Kind.BLOCKED;
    }

    long ofPlace(Place place) {
        return placeNs.getOrDefault(place, 0L);
    }

    /** Returns the same step, in which bricks of other threads count as time between bricks. */
    StepParts withoutOthers() {
        Map<Place, Long> places = new LinkedHashMap<>(placeNs);
        ofOthersNs.forEach((place, ns) -> {
            places.merge(place, -ns, Long::sum);
            places.merge(Place.BETWEEN, ns, Long::sum);
        });
        places.values().removeIf(ns -> ns == 0);
        return new StepParts(places, Map.of(), collectedNs, waitedNs, throttledNs, blockedNs);
    }

    /** Returns the same step, while which a quota throttled the process for a time, ns. */
    StepParts throttled(long ns) {
        return new StepParts(placeNs, ofOthersNs, collectedNs, waitedNs, Math.min(ns, waitedNs), blockedNs);
    }

    /** Goes through a step from one change of the spans at work to the next. */
    private static final class Sweep {
        private final Map<Place, Long> places = new LinkedHashMap<>();
        private final Map<Place, Long> ofOthers = new LinkedHashMap<>();

        /** The ns that each stop took from each place. */
        private final Map<Place, Map<Place, Long>> stopped = new LinkedHashMap<>();

        Sweep(long startNs, long endNs, List<Busy> spans) {
            List<Numbered> starts = new ArrayList<>();
            for (Busy span : spans) {
                if (Math.max(startNs, span.startNs) < Math.min(endNs, span.endNs)) {
                    starts.add(new Numbered(starts.size(), span));
                }
            }
            List<Numbered> ends = new ArrayList<>(starts);
            starts.sort(Comparator.comparingLong(each -> Math.max(startNs, each.busy.startNs)));
            ends.sort(Comparator.comparingLong(each -> each.busy.endNs));
            SortedSet<Numbered> active = new TreeSet<>(INNERMOST);
            long atNs = startNs;
            int nextStart = 0;
            int nextEnd = 0;
            while (nextEnd < ends.size()) {
                long startsNs = nextStart < starts.size()
                        ? Math.max(startNs, starts.get(nextStart).busy.startNs)
                        : Long.MAX_VALUE;
                long endsNs = Math.min(endNs, ends.get(nextEnd).busy.endNs);
                long changeNs = Math.min(startsNs, endsNs);
                add(active, changeNs - atNs);
                atNs = changeNs;
                if (endsNs <= startsNs) {
                    active.remove(ends.get(nextEnd++));
                } else {
                    active.add(starts.get(nextStart++));
                }
            }
            add(active, endNs - atNs);
        }

        private void add(SortedSet<Numbered> active, long ns) {
            if (ns <= 0) {
                return;
            }
            Place place = active.isEmpty() ? Place.BETWEEN : active.first().busy.place;
            places.merge(place, ns, Long::sum);
            if (!active.isEmpty() && active.first().busy.work == Work.OTHER_THREAD) {
                ofOthers.merge(place, ns, Long::sum);
            }
            if (isStop(place)) {
                Place below = active.stream()
                        .map(each -> each.busy.place)
                        .filter(each -> !isStop(each))
                        .findFirst()
                        .orElse(Place.BETWEEN);
                stopped.computeIfAbsent(place, stop -> new LinkedHashMap<>()).merge(below, ns, Long::sum);
            }
        }

        /**
         * Limits the stops of one kind to a time in which the thread was off the processor, and gives the rest back to
         * the places.
         *
         * @return the time of these stops, ns
         */
        long limit(Kind kind, long mostNs) {
            List<Map.Entry<Place, Map<Place, Long>>> stops = stopped.entrySet().stream()
                    .filter(each -> each.getKey().kind == kind)
                    .toList();
            long allNs = stops.stream()
                    .flatMap(each -> each.getValue().values().stream())
                    .mapToLong(Long::longValue)
                    .sum();
            long surplusNs = Math.max(0, allNs - mostNs);
            long stoppedNs = allNs - surplusNs;
            for (Map.Entry<Place, Map<Place, Long>> stop : stops) {
                for (Map.Entry<Place, Long> below : stop.getValue().entrySet()) {
                    long backNs = Math.max(0, Math.min(surplusNs, below.getValue()));
                    surplusNs -= backNs;
                    places.merge(stop.getKey(), -backNs, Long::sum);
                    places.merge(below.getKey(), backNs, Long::sum);
                }
            }
            places.values().removeIf(ns -> ns == 0);
            return stoppedNs;
        }
    }
}
