package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class LatencyDistributionTest {

    private static LatencyDistribution of(long... durationsNs) {
        long[] counts = new long[LatencyBuckets.COUNT];
        for (long ns : durationsNs) {
            counts[LatencyBuckets.indexOf(ns)]++;
        }
        return LatencyDistribution.ofCounts(counts);
    }

    private static LatencyDistribution of(List<Long> durationsNs) {
        return of(durationsNs.stream().mapToLong(Long::longValue).toArray());
    }

    @Test
    void isEmptyWithoutSamples() {
        assertThat(LatencyDistribution.EMPTY.count()).isZero();
        assertThat(LatencyDistribution.EMPTY.counts()).isEmpty();
        assertThat(LatencyDistribution.EMPTY.percentileNs(50)).isZero();
        assertThat(LatencyDistribution.ofCounts(new long[100])).isEqualTo(LatencyDistribution.EMPTY);
    }

    @Test
    void givesNearestRanks() {
        LatencyDistribution ten = of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);

        assertThat(ten.percentileNs(0)).isEqualTo(1);
        assertThat(ten.percentileNs(10)).isEqualTo(1);
        assertThat(ten.percentileNs(10.001)).isEqualTo(2);
        assertThat(ten.percentileNs(50)).isEqualTo(5);
        assertThat(ten.percentileNs(90)).isEqualTo(9);
        assertThat(ten.percentileNs(99)).isEqualTo(10);
        assertThat(ten.percentileNs(100)).isEqualTo(10);
    }

    @Test
    void interpolatesWithinABucket() {
        // 1,024 to 1,039 ns share a bucket, and so do 2,048 to 2,079 ns.
        LatencyDistribution two = of(1_025, 1_030, 1_035, 1_039, 2_048, 2_050, 2_070, 2_079);
        assertThat(two.interpolatedPercentileNs(0)).isEqualTo(1_024);
        assertThat(two.interpolatedPercentileNs(25)).isEqualTo(1_032);
        assertThat(two.interpolatedPercentileNs(50)).isEqualTo(1_040);
        assertThat(two.interpolatedPercentileNs(75)).isEqualTo(2_064);
        assertThat(two.interpolatedPercentileNs(100)).isEqualTo(2_080);
        assertThat(LatencyDistribution.EMPTY.interpolatedPercentileNs(90)).isZero();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> two.interpolatedPercentileNs(100.1))
                .withMessage("percentile 100.1 is not within 0 to 100");
    }

    /** Shares such as 7 % or 99.9 % are not binary fractions; rounding must not move the rank by one. */
    @Test
    void theRankIsThatOfTheDecimalShare() {
        for (int count : new int[] {10, 50, 100, 125}) {
            LatencyDistribution ranks =
                    of(java.util.stream.LongStream.rangeClosed(1, count).toArray());
            for (int tenths = 0; tenths <= 1_000; tenths++) {
                BigDecimal share = BigDecimal.valueOf(tenths, 1);
                long rank = share.multiply(BigDecimal.valueOf(count))
                        .divide(BigDecimal.valueOf(100), 0, RoundingMode.CEILING)
                        .longValueExact();
                assertThat(ranks.percentileNs(share.doubleValue()))
                        .as("p%s of %d", share, count)
                        .isEqualTo(Math.max(1, rank));
            }
        }
    }

    @Test
    void theRankIsThatOfTheDecimalShareOfManySamplesToo() {
        for (long count : new long[] {1_000, 3_000, 10_000, 41_000, 1_000_000, 1_000_000_000_000L}) {
            for (String text :
                    List.of("50", "90", "99", "99.9", "99.99", "1.1", "7", "14", "28", "55", "56", "57", "58")) {
                BigDecimal share = new BigDecimal(text);
                long rank = share.multiply(BigDecimal.valueOf(count))
                        .divide(BigDecimal.valueOf(100), 0, RoundingMode.CEILING)
                        .longValueExact();
                // Sample number "rank" took 1 ns and the next 2 ns.
                LatencyDistribution split = LatencyDistribution.ofCounts(new long[] {0, rank, count - rank});
                assertThat(split.percentileNs(share.doubleValue()))
                        .as("p%s of %d", text, count)
                        .isEqualTo(1);
                LatencyDistribution before = LatencyDistribution.ofCounts(new long[] {0, rank - 1, count - rank + 1});
                assertThat(before.percentileNs(share.doubleValue()))
                        .as("p%s of %d", text, count)
                        .isEqualTo(2);
            }
        }
    }

    @Test
    void refusesSharesOutOfRange() {
        for (double share : new double[] {-1, 100.5, Double.NaN, Double.NEGATIVE_INFINITY}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> of(1).percentileNs(share))
                    .withMessageContaining(Double.toString(share));
        }
    }

    @Test
    void theMeanBetweenTwoPercentilesCountsSamplesInPart() {
        LatencyDistribution five = of(10, 20, 30, 40, 100);
        assertThat(five.meanNs(0, 100)).isCloseTo(40, within(1e-9));
        // Three quarters of the second and of the fourth, and the third.
        assertThat(five.meanNs(25, 75)).isCloseTo((0.75 * 20 + 30 + 0.75 * 40) / 2.5, within(1e-9));
        assertThat(five.meanNs(0, 20)).isCloseTo(10, within(1e-9));
        assertThat(LatencyDistribution.EMPTY.meanNs(25, 75)).isZero();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> five.meanNs(75, 25))
                .withMessage("shares 75.0 and 25.0 are not within 0 to 100 in ascending order");
        assertThatIllegalArgumentException().isThrownBy(() -> five.meanNs(Double.NaN, 25));
    }

    @Test
    void refusesNegativeCountsAndTooManyBuckets() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LatencyDistribution.ofCounts(new long[] {3, -2}))
                .withMessageContaining("-2")
                .withMessageContaining("bucket 1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LatencyDistribution.ofCounts(new long[LatencyBuckets.COUNT + 1]))
                .withMessageContaining("2241");
    }

    @Test
    void cannotBeChanged() {
        long[] counts = {1, 2};
        LatencyDistribution distribution = LatencyDistribution.ofCounts(counts);
        counts[0] = 99;
        distribution.counts()[1] = 99;

        assertThat(distribution.counts()).containsExactly(1, 2);
        assertThat(distribution.count()).isEqualTo(3);
    }

    @Test
    void isEqualToOneWithTheSameCounts() {
        assertThat(of(1, 5, 5)).isEqualTo(of(5, 1, 5)).hasSameHashCodeAs(of(5, 1, 5));
        assertThat(of(1, 5)).isNotEqualTo(of(1, 6)).isNotEqualTo("LatencyDistribution");
        assertThat(LatencyDistribution.ofCounts(new long[] {1, 0, 0})).isEqualTo(of(0));
    }

    @Test
    void printsItsMedian() {
        assertThat(of(1, 5, 9)).hasToString("LatencyDistribution[count=3, p50=5 ns, p99=9 ns]");
    }

    @Spec("4.6")
    @Property
    void percentilesAreWithinTheStatedErrorOfTheNearestRank(
            @ForAll("durations") List<Long> durationsNs, @ForAll @IntRange(max = 1_000) int tenths) {
        BigDecimal share = BigDecimal.valueOf(tenths, 1);
        int rank = share.multiply(BigDecimal.valueOf(durationsNs.size()))
                .divide(BigDecimal.valueOf(100), 0, RoundingMode.CEILING)
                .intValueExact();
        long exact = durationsNs.stream().sorted().toList().get(Math.max(1, rank) - 1);

        long read = of(durationsNs).percentileNs(share.doubleValue());
        assertThat((double) Math.abs(read - exact))
                .as("p%s, exactly %d, read as %d", share, exact, read)
                .isLessThanOrEqualTo(LatencyDistribution.RELATIVE_ERROR * exact);
        BrickStats stats = Samples.brick(
                "Up",
                BrickCategory.FFN,
                durationsNs.stream().mapToLong(Long::longValue).toArray());
        assertThat((double) Math.abs(stats.percentileNs(share.doubleValue()) - exact))
                .isLessThanOrEqualTo(LatencyDistribution.RELATIVE_ERROR * exact);
    }

    @Property
    void theSumIsTheDistributionOfAllSamples(@ForAll("durations") List<Long> one, @ForAll("durations") List<Long> two) {
        long[] both = java.util.stream.Stream.concat(one.stream(), two.stream())
                .mapToLong(Long::longValue)
                .toArray();

        assertThat(of(one).plus(of(two))).isEqualTo(of(both));
        assertThat(of(two).plus(of(one))).isEqualTo(of(both));
        assertThat(of(one).plus(LatencyDistribution.EMPTY)).isEqualTo(of(one));
        assertThat(Arrays.stream(of(both).counts()).sum()).isEqualTo(both.length);
    }

    @Provide
    Arbitrary<List<Long>> durations() {
        return Arbitraries.longs()
                .between(0, (1L << 40) - 1)
                .list()
                .ofMinSize(1)
                .ofMaxSize(40);
    }

    @Test
    void countsOfNeighbouringBucketsAreThoseOfAllBuckets() {
        LatencyDistribution some = LatencyDistribution.ofCounts(7, new long[] {0, 2, 0, 5, 0});

        assertThat(some).isEqualTo(LatencyDistribution.ofCounts(new long[] {0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 5}));
        assertThat(some.counts()).containsExactly(0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 5);
        assertThat(some.firstBucket()).isEqualTo(8);
        assertThat(some.usedCounts()).containsExactly(2, 0, 5);
        assertThat(some).isNotEqualTo(LatencyDistribution.ofCounts(8, new long[] {0, 2, 0, 5}));
        LatencyDistribution before = LatencyDistribution.ofCounts(2, new long[] {1});
        assertThat(some.plus(before))
                .isEqualTo(before.plus(some))
                .isEqualTo(LatencyDistribution.ofCounts(new long[] {0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 5}));
        assertThat(some.plus(LatencyDistribution.EMPTY)).isEqualTo(some);
        assertThat(LatencyDistribution.ofCounts(9, new long[3])).isEqualTo(LatencyDistribution.EMPTY);
    }

    @Test
    void refusesBucketsThatDoNotExistAndTooManySamples() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LatencyDistribution.ofCounts(-1, new long[1]))
                .withMessageContaining("bucket -1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LatencyDistribution.ofCounts(LatencyBuckets.COUNT, new long[1]))
                .withMessageContaining("bucket " + LatencyBuckets.COUNT);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LatencyDistribution.ofCounts(3, new long[] {Long.MAX_VALUE, 0, 1}))
                .withMessageContaining("bucket 5 add up to more than 2^63 - 1");
    }
}
