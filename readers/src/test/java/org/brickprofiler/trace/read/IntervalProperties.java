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

/** Sorting, self times and unions, compared with sets of single nanoseconds. */
final class IntervalProperties {

    private static final int END = 60;

    @Provide
    Arbitrary<List<Execution>> events() {
        Arbitrary<Integer> times = Arbitraries.integers().between(0, END);
        return Combinators.combine(times, times, Arbitraries.integers().between(0, 2))
                .as((one, two, row) ->
                        new Execution(Math.min(one, two), Math.max(one, two), 0, one % 4, row, two % 3, 0, 0))
                .list()
                .ofMaxSize(40)
                .map(IntervalProperties::numbered);
    }

    private static List<Execution> numbered(List<Execution> events) {
        List<Execution> numbered = new ArrayList<>();
        for (Execution event : events) {
            numbered.add(new Execution(
                    event.startNs(),
                    event.endNs(),
                    numbered.size(),
                    event.amount(),
                    event.row(),
                    event.kernel(),
                    0,
                    0));
        }
        return numbered;
    }

    private static List<Execution> all(EventStore.Cursor cursor) throws IOException {
        List<Execution> all = new ArrayList<>();
        for (EventStore.Event event = cursor.next(); event != null; event = cursor.next()) {
            all.add(new Execution(event));
        }
        return all;
    }

    private static BitSet bits(Execution event) {
        BitSet bits = new BitSet();
        bits.set((int) event.startNs(), (int) event.endNs());
        return bits;
    }

    @Property
    void runsInAFileAreSortedAsInMemory(@ForAll("events") List<Execution> events) throws IOException {
        List<Execution> sorted = new ArrayList<>(events);
        sorted.sort(Execution.BY_TIME);
        for (int runEvents : new int[] {1, 3, 7, 1_000}) {
            try (EventStore store = new EventStore(EventStore.Order.BY_TIME, runEvents)) {
                addAll(events, store);
                assertThat(all(store.inOrder())).isEqualTo(sorted);
                assertThat(all(store.inOrder())).as("once more").isEqualTo(sorted);
                assertThat(store.size()).isEqualTo(events.size());
            }
        }
    }

    private static void addAll(List<Execution> events, EventStore store) throws IOException {
        for (Execution event : events) {
            store.add(
                    event.row(), event.startNs(), event.endNs(), event.offset(), event.kernel(), event.amount(), 0, 0);
        }
    }

    @Property
    void rowsAreReadOneByOneOrMerged(@ForAll("events") List<Execution> events) throws IOException {
        List<Execution> sorted = new ArrayList<>(events);
        sorted.sort(Execution.BY_TIME);
        for (int runEvents : new int[] {1, 3, 7, 1_000}) {
            try (EventStore store = new EventStore(EventStore.Order.BY_ROW, runEvents)) {
                addAll(events, store);
                for (int row = 0; row <= 3; row++) {
                    int only = row;
                    assertThat(all(store.rows(row)))
                            .isEqualTo(sorted.stream()
                                    .filter(event -> event.row() == only)
                                    .toList());
                }
                assertThat(all(store.rows(2, 0)))
                        .isEqualTo(sorted.stream()
                                .filter(event -> event.row() != 1)
                                .toList());
            }
        }
    }

    @Property
    void busyAndWallTimeAreUnions(@ForAll("events") List<Execution> events) {
        List<Execution> sorted = new ArrayList<>(events);
        sorted.sort(Execution.BY_TIME);
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
            Execution event = sorted.get(i);
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

    /** The results of a pass over events. */
    private static final class Result implements SelfTimes.Sink {
        final Map<Integer, Long> selfNsByRow = new HashMap<>();
        final List<Execution> ended = new ArrayList<>();
        boolean overlaps;

        @Override
        public boolean begins(Execution event) {
            return true;
        }

        @Override
        public void overlaps(Execution event) {
            overlaps = true;
        }

        @Override
        public void ends(Execution event, long selfNs, boolean counts) {
            assertThat(selfNs).isBetween(0L, event.elapsedNs());
            selfNsByRow.merge(event.row(), selfNs, Long::sum);
            ended.add(event);
        }
    }

    private static Result selfTimes(List<Execution> events) throws IOException {
        Result result = new Result();
        try (EventStore store = new EventStore(EventStore.Order.BY_TIME)) {
            addAll(events, store);
            SelfTimes.of(store.inOrder(), "t", 1_000, true, result);
        }
        return result;
    }

    private static boolean overlapsWithoutHolding(Execution one, Execution two) {
        Execution first = Execution.BY_TIME.compare(one, two) < 0 ? one : two;
        Execution second = first.equals(one) ? two : one;
        return one.row() == two.row() && second.startNs() < first.endNs() && second.endNs() > first.endNs();
    }

    @Property
    void selfTimesOfARowAddUpToItsUnion(@ForAll("events") List<Execution> events) throws IOException {
        Result result = selfTimes(events);

        assertThat(result.ended).containsExactlyInAnyOrderElementsOf(events);
        boolean overlap =
                events.stream().anyMatch(one -> events.stream().anyMatch(two -> overlapsWithoutHolding(one, two)));
        assertThat(result.overlaps).isEqualTo(overlap);
        for (int row = 0; row <= 2; row++) {
            BitSet union = new BitSet();
            for (Execution event : events) {
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
