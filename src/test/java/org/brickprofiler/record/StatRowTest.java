package org.brickprofiler.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

final class StatRowTest {

    private static final StatRow ONE = new StatRow(2, 30, 10, 20, 10, 100, 5, 40, 20, 600, 250, 350, 7, 3);
    private static final StatRow TWO = new StatRow(1, 20, 20, 20, 20, 90, 2, 8, 4, 100, 100, 100, 9, 4);

    @Test
    void addsUpAndKeepsTheExtremes() {
        assertThat(ONE.plus(TWO))
                .isEqualTo(new StatRow(3, 50, 10, 20, 10, 100, 7, 48, 24, 700, 100, 350, 16, 4));
    }

    @Test
    void keepsTheTagOfTheLongestSample() {
        StatRow longer = new StatRow(1, 21, 21, 21, 21, 90, 0, 0, 0, 0, Long.MAX_VALUE, 0, 0, 1);

        assertThat(ONE.plus(longer).maxTag()).isEqualTo(1);
        assertThat(longer.plus(ONE).maxTag()).isEqualTo(1);
    }

    @Test
    void theEmptyRowIsNeutral() {
        assertThat(ONE.plus(StatRow.EMPTY)).isEqualTo(ONE);
        assertThat(StatRow.EMPTY.plus(ONE)).isEqualTo(ONE);
        assertThat(StatRow.EMPTY.plus(StatRow.EMPTY)).isEqualTo(StatRow.EMPTY);
    }

    @Test
    void theSampleBetweenTwoReadings() {
        StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue());
        table.addWork(0, 10, 100, 1, 50, 7);
        StatRow earlier = table.read(0);
        table.addWork(0, 25, 200, 3, 80, 9);

        assertThat(table.read(0).samplesSince(earlier))
                .isEqualTo(new StatRow(1, 25, 25, 25, 25, 200, 3, 0, 0, 0, Long.MAX_VALUE, 0, 80, 9));
        assertThat(earlier.samplesSince(earlier)).isEqualTo(StatRow.EMPTY);
        assertThat(earlier.samplesSince(StatRow.EMPTY)).isEqualTo(earlier);
    }

    @Test
    void theSampleBetweenTwoReadingsHasItsBytesAndCycles() {
        StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue());
        table.addCycles(0, 10, 100, 1, 1_000);
        StatRow first = table.read(0);
        table.addCycles(0, 5, 200, 1, 400);
        StatRow second = table.read(0);
        table.addBytes(0, 6, 300, 1, 64, 16);

        assertThat(second.samplesSince(first))
                .isEqualTo(new StatRow(1, 5, 5, 5, 5, 200, 1, 0, 0, 400, 400, 400, 0, StatRow.NO_TAG));
        assertThat(table.read(0).samplesSince(second))
                .isEqualTo(new StatRow(1, 6, 6, 6, 6, 300, 1, 64, 16, 0, Long.MAX_VALUE, 0, 0, StatRow.NO_TAG));
    }

    @Test
    void twoSamplesBetweenTwoReadingsAreToldApart() {
        StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue());
        table.add(0, 5, 100, 1);
        table.add(0, 90, 200, 1);
        StatRow earlier = table.read(0);
        table.add(0, 20, 300, 2);
        table.add(0, 30, 400, 3);

        assertThat(table.read(0).samplesSince(earlier))
                .isEqualTo(new StatRow(2, 50, 20, 30, 30, 400, 5, 0, 0, 0, Long.MAX_VALUE, 0, 0, StatRow.NO_TAG));
    }

    @Test
    void sumsOfMoreSamplesBetweenTwoReadingsAreExact() {
        StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue());
        table.add(0, 5, 100, 1);
        StatRow earlier = table.read(0);
        table.add(0, 20, 300, 2);
        table.add(0, 40, 400, 3);
        table.add(0, 10, 500, 4);

        StatRow late = table.read(0).samplesSince(earlier);

        assertThat(late.count()).isEqualTo(3);
        assertThat(late.totalNs()).isEqualTo(70);
        assertThat(late.elements()).isEqualTo(9);
        assertThat(late.lastNs()).isEqualTo(10);
        assertThat(late.maxNs()).isEqualTo(40);
        assertThat(late.minNs()).as("the last, shorter than the mean of the others").isEqualTo(10);
    }

    @Property
    void addingIsCommutativeAndAssociative(
            @ForAll("rows") StatRow one, @ForAll("rows") StatRow two, @ForAll("rows") StatRow three) {
        assertThat(one.plus(two)).isEqualTo(two.plus(one));
        assertThat(one.plus(two).plus(three)).isEqualTo(one.plus(two.plus(three)));
    }

    /** Rows as a table makes them, from few different numbers so that ties are common. */
    @Provide
    Arbitrary<StatRow> rows() {
        Arbitrary<Long> few = Arbitraries.longs().between(0, 3);
        Arbitrary<List<Long>> sample = few.list().ofSize(4);
        Arbitrary<Integer> kind = Arbitraries.integers().between(0, 2);
        return Combinators.combine(sample, kind)
                .as((numbers, which) -> {
                    StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue());
                    long a = numbers.get(0);
                    long b = numbers.get(1);
                    switch (which) {
                        case 0 -> table.addBytes(0, a, b, 1, numbers.get(2), numbers.get(3));
                        case 1 -> table.addCycles(0, a, b, 1, numbers.get(2));
                        default -> table.addWork(0, a, b, 1, numbers.get(2), numbers.get(3));
                    }
                    return table.read(0);
                })
                .list()
                .ofMaxSize(4)
                .map(parts -> parts.stream().reduce(StatRow.EMPTY, StatRow::plus));
    }
}
