package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class BrickStatsTest {

    private static final BrickStats STATS = BrickStats.builder("Up", BrickCategory.FFN)
            .bottleneck(Bottleneck.MEMORY)
            .samples(4, 8_000, 500, 5_000)
            .last(700, 42)
            .elements(400)
            .bytes(16_000, 4_000)
            .cycles(24_000, 1_000, 9_000)
            .build();

    private static BrickStats withCycles(long total, long min, long max) {
        return BrickStats.builder("Up", BrickCategory.FFN)
                .samples(1, 10, 10, 10)
                .last(10, 1)
                .elements(1)
                .cycles(total, min, max)
                .build();
    }

    @Spec("4.3")
    @Test
    void ofTwoSamplesOfOneMomentTheLongerIsTheLast() {
        BrickStats shorter = Samples.brick("Up", BrickCategory.FFN, Bottleneck.UNKNOWN, 50, 8);
        BrickStats longer = Samples.brick("Up", BrickCategory.FFN, Bottleneck.UNKNOWN, 50, 21);

        assertThat(shorter.plus(longer).lastNs()).isEqualTo(21);
        assertThat(longer.plus(shorter).lastNs()).isEqualTo(21);
    }

    @Spec("4.1")
    @Test
    void derivesItsFigures() {
        assertThat(STATS.avgUs()).isEqualTo(2.0);
        assertThat(STATS.minUs()).isEqualTo(0.5);
        assertThat(STATS.maxUs()).isEqualTo(5.0);
        assertThat(STATS.throughput()).isEqualTo(5e7);
        assertThat(STATS.tokensPerSec()).isEqualTo(5e7);
        assertThat(STATS.compressionRatio()).isEqualTo(4.0);
        assertThat(STATS.throughputGbps()).as("16,000 bytes in 8,000 ns").isEqualTo(2.0);
        assertThat(STATS.cyclesPerElement()).isEqualTo(60.0);
        assertThat(STATS.avgCycles()).isEqualTo(6_000.0);
        assertThat(STATS.percentage(32_000)).isEqualTo(25.0);
    }

    @Spec("4.2")
    @Test
    void everyFigureIsZeroWithoutSamples() {
        BrickStats empty = BrickStats.empty("Up", BrickCategory.FFN, Bottleneck.COMPUTE);

        assertThat(empty.name()).isEqualTo("Up");
        assertThat(empty.category()).isSameAs(BrickCategory.FFN);
        assertThat(empty.bottleneck()).isSameAs(Bottleneck.COMPUTE);
        assertThat(List.of(
                        empty.count(),
                        empty.totalNs(),
                        empty.minNs(),
                        empty.maxNs(),
                        empty.lastNs(),
                        empty.lastAtUnixNs(),
                        empty.totalElements(),
                        empty.totalBytes(),
                        empty.totalCompressedBytes(),
                        empty.totalCycles(),
                        empty.minCycles(),
                        empty.maxCycles(),
                        empty.percentileNs(50)))
                .containsOnly(0L);
        assertThat(List.of(
                        empty.avgUs(),
                        empty.minUs(),
                        empty.maxUs(),
                        empty.throughput(),
                        empty.tokensPerSec(),
                        empty.throughputGbps(),
                        empty.cyclesPerElement(),
                        empty.avgCycles(),
                        empty.percentage(0),
                        empty.percentage(100)))
                .containsOnly(0.0);
        assertThat(empty.compressionRatio()).isEqualTo(1.0);
        assertThat(empty.latency()).isEmpty();
    }

    @Test
    void figuresOfSamplesWithoutDurationElementsOrBytesAreZero() {
        BrickStats instant = BrickStats.builder("Up", BrickCategory.FFN)
                .samples(3, 0, 0, 0)
                .last(0, 1)
                .bytes(10, 0)
                .cycles(10, 1, 5)
                .build();

        assertThat(instant.avgUs()).isZero();
        assertThat(instant.throughput()).isZero();
        assertThat(instant.throughputGbps()).isZero();
        assertThat(instant.cyclesPerElement()).isZero();
        assertThat(instant.compressionRatio()).as("nothing came out").isEqualTo(1.0);
        assertThat(instant.percentage(0)).isZero();
    }

    private static BrickStats timed(long totalNs, long elements, long cycles) {
        return BrickStats.builder("a", BrickCategory.FFN)
                .samples(2, totalNs, 1, totalNs)
                .last(1, 1)
                .elements(elements)
                .cycles(cycles, 1, cycles)
                .build();
    }

    @Spec("4.1")
    @Test
    void cyclesSayHowFastTheProcessorWorked() {
        BrickStats stats = timed(3_000, 300, 9_000);

        assertThat(stats.cyclesPerNs()).isEqualTo(3);
        assertThat(stats.instructionsPerCycle(1)).isCloseTo(0.0333, within(1e-4));
        assertThat(stats.instructionsPerCycle(45)).isEqualTo(1.5);
        assertThat(timed(0, 5, 0).cyclesPerNs()).isZero();
        assertThat(timed(5, 5, 0).instructionsPerCycle(7)).isZero();
        for (double none : new double[] {-1, Double.NaN}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> stats.instructionsPerCycle(none))
                    .withMessageContaining("instructionsPerElement " + none);
            assertThatIllegalArgumentException().isThrownBy(() -> timed(0, 0, 0).diagnoseCycles(none));
        }
    }

    @Test
    void cyclesAreDiagnosed() {
        assertThat(timed(3_000, 300, 9_000).diagnoseCycles(1)).isEqualTo(BrickStats.CycleDiagnosis.MEMORY);
        assertThat(timed(3_000, 300, 9_000).diagnoseCycles(90)).isEqualTo(BrickStats.CycleDiagnosis.COMPUTE);
        assertThat(timed(3_000, 300, 9_000).diagnoseCycles(30)).isEqualTo(BrickStats.CycleDiagnosis.BALANCED);
        assertThat(timed(9_001, 300, 9_000).diagnoseCycles(30)).isEqualTo(BrickStats.CycleDiagnosis.THROTTLED);
        assertThat(timed(9_000, 300, 9_000).diagnoseCycles(15)).isEqualTo(BrickStats.CycleDiagnosis.BALANCED);
        assertThat(timed(0, 300, 9_000).diagnoseCycles(1)).isEqualTo(BrickStats.CycleDiagnosis.UNKNOWN);
        assertThat(timed(9, 300, 0).diagnoseCycles(1)).isEqualTo(BrickStats.CycleDiagnosis.UNKNOWN);
    }

    @Test
    void bytesThatOnlyCameOutHaveARatioOfZero() {
        BrickStats generated = BrickStats.builder("Up", BrickCategory.FFN)
                .samples(1, 10, 10, 10)
                .last(10, 1)
                .elements(1)
                .bytes(0, 64)
                .build();

        assertThat(generated.compressionRatio()).isZero();
    }

    @Test
    void figuresOfLargeSumsDoNotOverflow() {
        BrickStats large = BrickStats.builder("Up", BrickCategory.FFN)
                .samples(1, Long.MAX_VALUE, 1, Long.MAX_VALUE)
                .last(1, 1)
                .elements(Long.MAX_VALUE)
                .bytes(Long.MAX_VALUE, Long.MAX_VALUE)
                .cycles(Long.MAX_VALUE, 1, 1)
                .build();

        assertThat(large.throughput()).isCloseTo(1e9, within(1.0));
        assertThat(large.throughputGbps()).isEqualTo(1.0);
        assertThat(large.percentage(Long.MAX_VALUE)).isEqualTo(100.0);
    }

    @Spec("4.6")
    @Test
    void percentilesLieBetweenMinAndMax() {
        BrickStats stats = Samples.brick("Up", BrickCategory.FFN, 1_000, 1_000_003, 999);

        assertThat(stats.percentileNs(0)).isEqualTo(999);
        assertThat(stats.percentileNs(100)).isEqualTo(1_000_003);
        assertThat(stats.percentileNs(50)).isBetween(993L, 1_008L);
    }

    @Test
    void refusesSharesOutOfRange() {
        for (double share : new double[] {-0.1, 100.1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> STATS.percentileNs(share))
                    .withMessageContaining(Double.toString(share));
        }
    }

    @Test
    void addsUpAndKeepsTheExtremesAndTheLatest() {
        BrickStats one = Samples.brick("Up", BrickCategory.FFN, Bottleneck.MEMORY, 10, 5, 9);
        BrickStats two = Samples.brick("Up", BrickCategory.FFN, Bottleneck.UNKNOWN, 5, 3, 20, 4);

        BrickStats sum = one.plus(two);

        assertThat(sum.count()).isEqualTo(5);
        assertThat(sum.totalNs()).isEqualTo(41);
        assertThat(sum.minNs()).isEqualTo(3);
        assertThat(sum.maxNs()).isEqualTo(20);
        assertThat(sum.lastNs()).as("recorded at 11, after the other's at 7").isEqualTo(9);
        assertThat(sum.lastAtUnixNs()).isEqualTo(11);
        assertThat(sum.totalElements()).isEqualTo(5);
        assertThat(sum.bottleneck()).isSameAs(Bottleneck.MEMORY);
        assertThat(sum.latency().orElseThrow().count()).isEqualTo(5);
        assertThat(sum.percentileNs(50)).isEqualTo(5);
    }

    @Spec("4.9")
    @Test
    void hasPercentilesOnlyIfAllOfItsSamplesHaveThem() {
        BrickStats with = Samples.brick("Up", BrickCategory.FFN, Bottleneck.UNKNOWN, 10, 5);
        BrickStats without = BrickStats.builder("Up", BrickCategory.FFN)
                .samples(1, 4, 4, 4)
                .last(4, 1)
                .elements(1)
                .build();

        assertThat(with.plus(without).latency()).isEmpty();
        assertThat(without.plus(with).latency()).isEmpty();
        assertThat(without.plus(with).percentileNs(50)).isZero();
    }

    @Test
    void addsBytesAndCyclesUp() {
        BrickStats sum = STATS.plus(STATS);

        assertThat(sum.totalBytes()).isEqualTo(32_000);
        assertThat(sum.totalCompressedBytes()).isEqualTo(8_000);
        assertThat(sum.totalCycles()).isEqualTo(48_000);
    }

    @Test
    void theFewestCyclesAreThoseOfASampleThatHadAny() {
        BrickStats with = withCycles(300, 100, 200);
        BrickStats without = withCycles(0, 0, 0);
        BrickStats fewer = withCycles(50, 50, 50);

        assertThat(with.plus(without).minCycles()).isEqualTo(100);
        assertThat(without.plus(with).minCycles()).isEqualTo(100);
        assertThat(without.plus(without).minCycles()).isZero();
        assertThat(with.plus(fewer).minCycles()).isEqualTo(50);
        assertThat(fewer.plus(with).minCycles()).isEqualTo(50);
        assertThat(fewer.plus(with).maxCycles()).isEqualTo(200);
    }

    @Test
    void anEmptyBrickAddsItsBottleneckOnly() {
        BrickStats empty = BrickStats.empty("Up", BrickCategory.FFN, Bottleneck.COMPUTE);
        BrickStats one = Samples.brick("Up", BrickCategory.FFN, 5);

        assertThat(one.plus(empty).totalNs()).isEqualTo(5);
        assertThat(one.plus(empty).minNs()).isEqualTo(5);
        assertThat(one.plus(empty).bottleneck()).isSameAs(Bottleneck.COMPUTE);
        assertThat(empty.plus(one)).isEqualTo(one.plus(empty));
    }

    @Property
    void addingIsCommutativeAndAssociative(
            @ForAll("bricks") BrickStats one, @ForAll("bricks") BrickStats two, @ForAll("bricks") BrickStats three) {
        assertThat(one.plus(two)).isEqualTo(two.plus(one));
        assertThat(one.plus(two).plus(three)).isEqualTo(one.plus(two.plus(three)));
    }

    /** One brick with few different values, so that ties are common. */
    @Provide
    Arbitrary<BrickStats> bricks() {
        Arbitrary<Long> few = Arbitraries.longs().between(0, 3);
        return Combinators.combine(
                        few.list().ofMaxSize(4),
                        few,
                        Arbitraries.of(Bottleneck.class),
                        few,
                        few,
                        Arbitraries.of(true, false))
                .as((durations, atNs, bottleneck, minCycles, moreCycles, withLatency) -> {
                    long[] ns = durations.stream().mapToLong(Long::longValue).toArray();
                    BrickStats plain = Samples.brick("Up", BrickCategory.FFN, bottleneck, atNs, ns);
                    boolean cycles = plain.count() > 0 && minCycles > 0;
                    return plain.toBuilder()
                            .bytes(plain.count() * 3, plain.count() * 2)
                            .cycles(
                                    cycles ? minCycles + moreCycles : 0,
                                    cycles ? minCycles : 0,
                                    cycles ? minCycles + moreCycles : 0)
                            .latency(withLatency ? plain.latency() : Optional.empty())
                            .device(DeviceTime.NONE)
                            .work(Work.NONE)
                            .build();
                });
    }

    /** If the number of samples wrapped around, the longest of all samples would become the median. */
    @Test
    void distributionsAreNotAddedIfTheNumberOfSamplesOverflows() {
        LatencyDistribution one = LatencyDistribution.ofCounts(100, new long[] {Long.MAX_VALUE - 1});
        LatencyDistribution two = LatencyDistribution.ofCounts(100, new long[] {2});

        assertThat(one.plus(LatencyDistribution.ofCounts(101, new long[] {1})).count())
                .isEqualTo(Long.MAX_VALUE);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> one.plus(two))
                .withMessageContaining("more than 2^63 - 1");
    }
}
