package org.brickprofiler.report.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class HumanUnitsTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 | 0 ns",
                "1 | 1 ns",
                "999 | 999 ns",
                "1000 | 1.000 us",
                "12345 | 12.35 us",
                "99994 | 99.99 us",
                "99996 | 100.0 us",
                "999940 | 999.9 us",
                "999960 | 1.000 ms",
                "1234567 | 1.235 ms",
                "999999999 | 1.000 s",
                "18210000000 | 18.21 s",
                "999960000000 | 1,000 s",
                "12345678000000 | 12,350 s",
                "9223372036854775807 | 9,223,000,000 s",
            })
    void durationsHaveFourDigitsAndTheUnitThatFits(long ns, String expected) {
        assertThat(HumanUnits.duration(ns)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"0.0 | 0 ns", "0.5 | 0.500 ns", "52.25 | 52.25 ns", "813.0 | 813 ns"})
    void meanDurationsMayBeFractionsOfNs(double ns, String expected) {
        assertThat(HumanUnits.duration(ns)).isEqualTo(expected);
    }

    @Test
    void unitsOfCellsAreTwoCharactersWide() {
        assertThat(HumanUnits.durationCell(12_340_000_000L)).isEqualTo("12.34  s");
        assertThat(HumanUnits.durationCell(12_340)).isEqualTo("12.34 us");
        assertThat(HumanUnits.durationCell(12.5)).isEqualTo("12.50 ns");
    }

    @Test
    void ratesAreScaledByThousands() {
        assertThat(HumanUnits.rateCell(0)).isEqualTo("0  ");
        assertThat(HumanUnits.rateCell(812.5)).isEqualTo("812.5  ");
        assertThat(HumanUnits.rateCell(1_234_567)).isEqualTo("1.235 M");
        assertThat(HumanUnits.rateCell(1e18)).isEqualTo("1,000 P");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 | 0.000",
                "0.00004 | 0.000",
                "0.25 | 0.250",
                "20.785 | 20.79",
                "12345 | 12,350",
            })
    void numbersHaveFourDigits(double value, String expected) {
        assertThat(HumanUnits.number(value)).isEqualTo(expected);
    }

    @Test
    void countsKeepAllDigits() {
        assertThat(HumanUnits.count(0)).isEqualTo("0");
        assertThat(HumanUnits.count(1_234_567)).isEqualTo("1,234,567");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 | 0.0",
                "0.001 | <0.1",
                "0.05 | 0.1",
                "42.14 | 42.1",
                "100 | 100.0",
                "1475.0 | 1,475.0",
            })
    void aShareThatIsSomethingNeverReadsAsNothing(double percent, String expected) {
        assertThat(HumanUnits.percent(percent)).isEqualTo(expected);
    }

    @Test
    void percentilesSayWhenTheyMayBeAnyLongerDuration() {
        long[] counts = new long[LatencyBuckets.COUNT];
        counts[LatencyBuckets.indexOf(2_000)] = 1;
        counts[LatencyBuckets.indexOf(3_600_000_000_000L)] = 1;
        LatencyDistribution times = LatencyDistribution.ofCounts(counts);

        assertThat(HumanUnits.percentileCell(times, 50)).isEqualTo("2.008 us");
        assertThat(HumanUnits.percentileCell(times, 100)).isEqualTo(">= 1,095  s");
        assertThat(HumanUnits.percentileCell(LatencyDistribution.EMPTY, 50)).isEqualTo("-");
    }
}
