package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.brickprofiler.testing.Spec;

/** Sorting, self times and unions, against sets of single nanoseconds. */
final class IntervalProperties {

    private static final int END = 60;

    @Provide
    Arbitrary<List<DeviceEvent>> events() {
        Arbitrary<Integer> times = Arbitraries.integers().between(0, END);
        return Combinators.combine(times, times, Arbitraries.integers().between(0, 2))
                .as((one, two, row) ->
                        new DeviceEvent(Math.min(one, two), Math.max(one, two), 0, one % 4, row, two % 3))
                .list()
                .ofMaxSize(40)
                .map(IntervalProperties::numbered);
    }

    private static List<DeviceEvent> numbered(List<DeviceEvent> events) {
        List<DeviceEvent> numbered = new ArrayList<>();
        for (DeviceEvent event : events) {
            numbered.add(new DeviceEvent(
                    event.startNs(), event.endNs(), numbered.size(), event.amount(), event.row(), event.kernel()));
        }
        return numbered;
    }

    private static List<DeviceEvent> all(EventSorter.Cursor cursor) throws IOException {
        List<DeviceEvent> all = new ArrayList<>();
        for (DeviceEvent event = cursor.next(); event != null; event = cursor.next()) {
            all.add(event);
        }
        return all;
    }

    private static BitSet bits(DeviceEvent event) {
        BitSet bits = new BitSet();
        bits.set((int) event.startNs(), (int) event.endNs());
        return bits;
    }

    @Property
    void runsInAFileAreSortedAsInMemory(@ForAll("events") List<DeviceEvent> events) throws IOException {
        List<DeviceEvent> sorted = new ArrayList<>(events);
        sorted.sort(DeviceEvent.BY_TIME);
        for (int runEvents : new int[] {1, 3, 7, 1_000}) {
            try (EventSorter sorter = new EventSorter(runEvents)) {
                for (DeviceEvent event : events) {
                    sorter.add(event);
                }
                assertThat(all(sorter.inOrder())).isEqualTo(sorted);
                assertThat(all(sorter.inOrder())).as("once more").isEqualTo(sorted);
                assertThat(sorter.size()).isEqualTo(events.size());
            }
        }
    }

    @Spec("14.4")
    @Property
    void busyAndWallTimeAreUnions(@ForAll("events") List<DeviceEvent> events) {
        List<DeviceEvent> sorted = new ArrayList<>(events);
        sorted.sort(DeviceEvent.BY_TIME);
        BusyTime busy = new BusyTime();
        BitSet counted = new BitSet();
        BitSet leftOutOnly = new BitSet();
        int last = 0;
        int first = END;
        // Left-out events begin before the last one that counts, as warm-up and skipped steps do.
        int lastCounted = -1;
        for (int i = 0; i < sorted.size(); i++) {
            lastCounted = sorted.get(i).amount() > 0 ? i : lastCounted;
        }
        for (int i = 0; i <= lastCounted; i++) {
            DeviceEvent event = sorted.get(i);
            boolean counts = event.amount() > 0;
            busy.add(event, counts);
            (counts ? counted : leftOutOnly).or(bits(event));
            first = counts ? (int) Math.min(first, event.startNs()) : first;
            last = counts ? (int) Math.max(last, event.endNs()) : last;
        }
        leftOutOnly.andNot(counted);

        assertThat(busy.busyNs()).isEqualTo(counted.cardinality());
        if (lastCounted >= 0) {
            assertThat(busy.wallNs())
                    .isEqualTo(last - first - leftOutOnly.get(first, last).cardinality());
        } else {
            assertThat(busy.wallNs()).isZero();
        }
    }

    /** What a pass over events says. */
    private static final class Result implements SelfTimes.Sink {
        final Map<Integer, Long> selfNsByRow = new HashMap<>();
        final List<DeviceEvent> ended = new ArrayList<>();
        boolean overlaps;

        @Override
        public boolean begins(DeviceEvent event) {
            return true;
        }

        @Override
        public void overlaps(DeviceEvent event) {
            overlaps = true;
        }

        @Override
        public void ends(DeviceEvent event, long selfNs, boolean counts) {
            assertThat(selfNs).isBetween(0L, event.elapsedNs());
            selfNsByRow.merge(event.row(), selfNs, Long::sum);
            ended.add(event);
        }
    }

    private static Result selfTimes(List<DeviceEvent> events) throws IOException {
        Result result = new Result();
        try (EventSorter sorter = new EventSorter()) {
            for (DeviceEvent event : events) {
                sorter.add(event);
            }
            SelfTimes.of(sorter.inOrder(), "t", 1_000, result);
        }
        return result;
    }

    private static boolean overlapsWithoutHolding(DeviceEvent one, DeviceEvent two) {
        DeviceEvent first = DeviceEvent.BY_TIME.compare(one, two) < 0 ? one : two;
        DeviceEvent second = first.equals(one) ? two : one;
        return one.row() == two.row() && second.startNs() < first.endNs() && second.endNs() > first.endNs();
    }

    @Property
    void selfTimesOfARowAddUpToItsUnion(@ForAll("events") List<DeviceEvent> events) throws IOException {
        Result result = selfTimes(events);

        assertThat(result.ended).containsExactlyInAnyOrderElementsOf(events);
        boolean overlap = events.stream()
                .anyMatch(one -> events.stream().anyMatch(two -> overlapsWithoutHolding(one, two)));
        assertThat(result.overlaps).isEqualTo(overlap);
        for (int row = 0; row <= 2; row++) {
            BitSet union = new BitSet();
            for (DeviceEvent event : events) {
                if (event.row() == row) {
                    union.or(bits(event));
                }
            }
            long selfNs = result.selfNsByRow.getOrDefault(row, 0L);
            if (overlap) {
                assertThat(selfNs).isGreaterThanOrEqualTo(union.cardinality());
            } else {
                assertThat(selfNs).isEqualTo(union.cardinality());
            }
        }
    }
}
