package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

final class StatRowTest {

    private static final StatRow ONE = StatRow.builder()
            .samples(2, 30, 10, 20)
            .last(10, 100)
            .elements(5)
            .bytes(40, 20)
            .cycles(600, 2, 250, 350)
            .work(7)
            .maxTag(3)
            .build();
    private static final StatRow TWO = StatRow.builder()
            .samples(1, 20, 20, 20)
            .last(20, 90)
            .elements(2)
            .bytes(8, 4)
            .cycles(100, 1, 100, 100)
            .work(9)
            .maxTag(4)
            .build();

    @Test
    void addsUpAndKeepsTheExtremes() {
        assertThat(ONE.plus(TWO))
                .isEqualTo(StatRow.builder()
                        .samples(3, 50, 10, 20)
                        .last(10, 100)
                        .elements(7)
                        .bytes(48, 24)
                        .cycles(700, 3, 100, 350)
                        .work(16)
                        .maxTag(4)
                        .build());
    }

    @Test
    void keepsTheTagOfTheLongestSample() {
        StatRow longer =
                StatRow.builder().samples(1, 21, 21, 21).last(21, 90).maxTag(1).build();

        assertThat(ONE.plus(longer).maxTag()).isEqualTo(1);
        assertThat(longer.plus(ONE).maxTag()).isEqualTo(1);
    }

    @Test
    void ofTwoSamplesOfOneMomentTheLongerIsTheLast() {
        StatRow shorter = StatRow.builder().samples(1, 8, 8, 8).last(8, 100).build();
        StatRow longer = StatRow.builder().samples(1, 21, 21, 21).last(21, 100).build();

        assertThat(shorter.plus(longer).lastNs()).isEqualTo(21);
        assertThat(longer.plus(shorter).lastNs()).isEqualTo(21);
    }

    @Test
    void theEmptyRowIsNeutral() {
        assertThat(ONE.plus(StatRow.EMPTY)).isEqualTo(ONE);
        assertThat(StatRow.EMPTY.plus(ONE)).isEqualTo(ONE);
        assertThat(StatRow.EMPTY.plus(StatRow.EMPTY)).isEqualTo(StatRow.EMPTY);
    }

    @Test
    void theSampleBetweenTwoReadings() {
        StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue(), null, null);
        table.addWork(0, 10, 100, 1, 50, 7);
        StatRow earlier = table.read(0);
        table.addWork(0, 25, 200, 3, 80, 9);

        assertThat(table.read(0).samplesSince(earlier))
                .isEqualTo(StatRow.builder()
                        .samples(1, 25, 25, 25)
                        .last(25, 200)
                        .elements(3)
                        .work(80)
                        .maxTag(9)
                        .build());
        assertThat(earlier.samplesSince(earlier)).isEqualTo(StatRow.EMPTY);
        assertThat(earlier.samplesSince(StatRow.EMPTY)).isEqualTo(earlier);
    }

    @Test
    void theSampleBetweenTwoReadingsHasItsBytesAndCycles() {
        StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue(), null, null);
        table.addCycles(0, 10, 100, 1, 1_000);
        StatRow first = table.read(0);
        table.addCycles(0, 5, 200, 1, 400);
        StatRow second = table.read(0);
        table.addBytes(0, 6, 300, 1, 64, 16);

        assertThat(second.samplesSince(first))
                .isEqualTo(StatRow.builder()
                        .samples(1, 5, 5, 5)
                        .last(5, 200)
                        .elements(1)
                        .cycles(400, 1, 400, 400)
                        .build());
        assertThat(table.read(0).samplesSince(second))
                .isEqualTo(StatRow.builder()
                        .samples(1, 6, 6, 6)
                        .last(6, 300)
                        .elements(1)
                        .bytes(64, 16)
                        .build());
    }

    @Test
    void twoSamplesBetweenTwoReadingsAreToldApart() {
        StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue(), null, null);
        table.add(0, 5, 100, 1);
        table.add(0, 90, 200, 1);
        StatRow earlier = table.read(0);
        table.add(0, 20, 300, 2);
        table.add(0, 30, 400, 3);

        assertThat(table.read(0).samplesSince(earlier))
                .isEqualTo(StatRow.builder()
                        .samples(2, 50, 20, 30)
                        .last(30, 400)
                        .elements(5)
                        .build());
    }

    @Test
    void sumsOfMoreSamplesBetweenTwoReadingsAreExact() {
        StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue(), null, null);
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
        assertThat(late.minNs())
                .as("the last, shorter than the mean of the others")
                .isEqualTo(10);
    }

    @Test
    void theMeanStandsForTheExtremesOfMoreSamplesBetweenTwoReadings() {
        StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue(), null, null);
        table.add(0, 5, 100, 1);
        table.add(0, 90, 200, 1);
        StatRow earlier = table.read(0);
        table.add(0, 20, 300, 1);
        table.add(0, 50, 400, 1);
        table.add(0, 70, 500, 1);
        StatRow endsLong = table.read(0).samplesSince(earlier);
        table.add(0, 6, 600, 1);
        StatRow endsShort = table.read(0).samplesSince(earlier);

        assertThat(endsLong.minNs()).as("the mean of 20 and 50").isEqualTo(35);
        assertThat(endsLong.maxNs()).as("the last").isEqualTo(70);
        assertThat(endsShort.minNs()).as("the last").isEqualTo(6);
        assertThat(endsShort.maxNs()).as("the mean of 20, 50 and 70").isEqualTo(46);
        assertThat(endsShort.totalNs()).isEqualTo(146);
    }

    /** Everything that was counted before, including bytes, cycles and work, belongs to an interval that has ended. */
    @Test
    void whatWasThereBeforeIsInNoSumBetweenTwoReadings() {
        StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue(), null, null);
        table.addBytes(0, 10, 100, 1, 64, 16);
        table.addCycles(0, 30, 200, 2, 900);
        table.addCycles(0, 30, 300, 2, 100);
        table.addWork(0, 80, 400, 3, 50, 7);
        StatRow earlier = table.read(0);
        table.addBytes(0, 20, 500, 5, 1_000, 300);
        table.addCycles(0, 40, 600, 6, 500);
        table.addCycles(0, 40, 700, 6, 400);
        table.addWork(0, 50, 800, 7, 60, 9);

        StatRow late = table.read(0).samplesSince(earlier);

        assertThat(late.count()).isEqualTo(4);
        assertThat(late.totalNs()).isEqualTo(150);
        assertThat(late.elements()).isEqualTo(24);
        assertThat(late.bytes()).isEqualTo(1_000);
        assertThat(late.compressedBytes()).isEqualTo(300);
        assertThat(late.cycles()).isEqualTo(900);
        assertThat(late.work()).isEqualTo(60);
        assertThat(late.maxTag()).as("that of a sample before").isEqualTo(StatRow.NO_TAG);
    }

    @Test
    void theMeanStandsForTheExtremesOfCyclesBetweenTwoReadings() {
        StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue(), null, null);
        table.addCycles(0, 30, 100, 1, 900);
        table.addCycles(0, 30, 200, 1, 100);
        StatRow earlier = table.read(0);
        table.addCycles(0, 40, 300, 1, 500);
        table.addCycles(0, 40, 400, 1, 400);

        StatRow late = table.read(0).samplesSince(earlier);

        assertThat(late.cycles()).isEqualTo(900);
        assertThat(late.minCycles()).isEqualTo(450);
        assertThat(late.maxCycles()).isEqualTo(450);
    }

    @Test
    void theMeanOfCyclesBetweenTwoReadingsIsThatOfTheSamplesThatHaveAny() {
        StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue(), null, null);
        table.addCycles(0, 30, 100, 1, 5_000);
        StatRow earlier = table.read(0);
        table.addCycles(0, 40, 300, 1, 5_000);
        table.addCycles(0, 40, 400, 1, 0);
        table.add(0, 40, 400, 1);

        StatRow late = table.read(0).samplesSince(earlier);

        assertThat(late.cycles()).isEqualTo(5_000);
        assertThat(late.minCycles()).isEqualTo(5_000);
        assertThat(late.maxCycles()).isEqualTo(5_000);
    }

    @Test
    void theTagOfAnEquallyLongSampleBeforeIsNotTakenOver() {
        StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue(), null, null);
        table.addWork(0, 80, 100, 1, 50, 9);
        StatRow earlier = table.read(0);
        table.addWork(0, 80, 200, 1, 50, 7);

        StatRow late = table.read(0).samplesSince(earlier);

        assertThat(late.maxNs()).isEqualTo(80);
        assertThat(late.maxTag()).isEqualTo(StatRow.NO_TAG);
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
                    StatTable table = new StatTable(Thread.currentThread(), 1, false, new PendingQueue(), null, null);
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
