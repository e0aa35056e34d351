package org.brickprofiler.internal.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The coverage of the intervals of percentiles whose samples have marks in part, with fixed seeds. */
@OneJdk
class PercentileIntervalsTest {

    private static final int PROGRAMS = 150;
    private static final int EVERY = 16;

    /** The durations of successive bricks of a row. */
    enum Kind {
        STEADY {
            @Override
            double ns(int i, int of, SplittableRandom random) {
                return 10_000 * Math.exp(0.1 * random.nextGaussian());
            }
        },
        GROWING {
            @Override
            double ns(int i, int of, SplittableRandom random) {
                return 10_000 * (1 + 3.0 * i / of) * Math.exp(0.05 * random.nextGaussian());
            }
        },
        ALTERNATING {
            @Override
            double ns(int i, int of, SplittableRandom random) {
                return (i % 2 == 0 ? 5_000 : 20_000) * Math.exp(0.05 * random.nextGaussian());
            }
        },
        SOMETIMES_LONG {
            @Override
            double ns(int i, int of, SplittableRandom random) {
                return (random.nextInt(20) == 0 ? 50_000 : 10_000) * Math.exp(0.1 * random.nextGaussian());
            }
        };

        abstract double ns(int i, int of, SplittableRandom random);
    }

    /** A row of one program: its statistics, and the distribution of all its bricks. */
    private record Program(BrickStats brick, LatencyDistribution all) {

        static Program of(int count, LongUnaryOperator ns, long seed) {
            SampledRow row = new SampledRow(0, new DrawnBlocks(EVERY), seed, false, true);
            DrawnBlocks blocks = new DrawnBlocks(EVERY);
            long[] all = new long[LatencyBuckets.COUNT];
            long[] sampled = new long[LatencyBuckets.COUNT];
            for (int i = 0; i < count; i++) {
                long elapsedNs = ns.applyAsLong(i);
                int bucket = LatencyBuckets.indexOf(elapsedNs);
                all[bucket]++;
                if (blocks.next(seed, i) == i) {
                    row.sample(elapsedNs, blocks.size(i));
                    sampled[bucket]++;
                } else {
                    row.stop(0, true);
                }
            }
            row.close();
            row.advance();
            row.count();
            row.addBuckets(sampled);
            Estimate estimate = row.estimate();
            return new Program(
                    brick(estimate, LatencyDistribution.ofCounts(sampled)), LatencyDistribution.ofCounts(all));
        }

        private static BrickStats brick(Estimate estimate, LatencyDistribution latency) {
            return BrickStats.builder("row", BrickCategory.OTHER)
                    .samples(latency.count(), estimate.markedNs() + estimate.unmarkedNs(), 0, 1L << 40)
                    .latency(Optional.of(latency))
                    .device(new DeviceTime(
                            estimate.marked(),
                            0,
                            0,
                            0,
                            0,
                            0,
                            0,
                            estimate.unmarked(),
                            0,
                            0,
                            0,
                            estimate.weightProducts(),
                            DeviceTime.MarkTime.NONE))
                    .build();
        }

        boolean isCovered(double percent) {
            long truth = all.percentileNs(percent);
            OptionalLong least = brick.percentileAtLeastNs(percent);
            OptionalLong most = brick.percentileAtMostNs(percent);
            return least.orElse(0) <= truth && truth <= most.orElse(Long.MAX_VALUE);
        }
    }

    @Spec("12.50")
    @ParameterizedTest
    @CsvSource({"60, 50, true", "300, 50, true", "300, 99, false", "3000, 50, true", "3000, 99, true"})
    void intervalsContainThePercentileOfAllBricks(int count, double percent, boolean isKnown) {
        for (Kind kind : Kind.values()) {
            SplittableRandom random = new SplittableRandom(count + kind.name().length());
            int covered = 0;
            for (int i = 0; i < PROGRAMS; i++) {
                Program program =
                        Program.of(count, n -> Math.round(kind.ns((int) n, count, random)), random.nextLong());
                covered += program.isCovered(percent) ? 1 : 0;
                assertThat(program.brick().percentileAtLeastNs(percent).isPresent())
                        .isEqualTo(isKnown);
            }
            assertThat(SamplingStudy.isBelow(covered, PROGRAMS))
                    .as("%s, %d bricks, p%.0f: %d of %d", kind, count, percent, covered, PROGRAMS)
                    .isFalse();
        }
    }

    @Test
    void theFirstBricksAreExact() {
        BrickStats exact = Program.of(32, i -> 1_000 * (i + 1), 1).brick();

        assertThat(exact.device().weightProducts()).isZero();
        assertThat(exact.percentileAtLeastNs(50)).hasValue(exact.percentileNs(50));
        assertThat(exact.percentileAtMostNs(99)).hasValue(exact.percentileNs(99));
    }

    @Test
    void equalDurationsHaveAnIntervalWithoutWidth() {
        BrickStats equal = Program.of(10_000, i -> 7_000, 1).brick();

        assertThat(equal.percentileAtLeastNs(50)).hasValue(equal.percentileNs(50));
        assertThat(equal.percentileAtMostNs(99)).hasValue(equal.percentileNs(99));
    }

    @Test
    void anEndBeyondAllSamplesIsOpen() {
        BrickStats brick = Program.of(3_000, i -> 1_000 + i, 1).brick();

        assertThat(brick.percentileAtLeastNs(99)).isPresent();
        assertThat(brick.percentileAtMostNs(99)).isEmpty();
        assertThat(brick.percentileAtLeastNs(0)).isEmpty();
        assertThat(brick.percentileAtMostNs(100)).isEmpty();
    }

    /** The sum of w (w - 1) is that of the marks: those of complete blocks, and the open one by its bricks so far. */
    @Test
    void theOpenBlockCountsByItsBricks() {
        for (int count : new int[] {33, 34, 47, 63, 64, 65, 500, 501, 1_003}) {
            BrickStats brick = Program.of(count, i -> 1_000, count).brick();
            DrawnBlocks blocks = new DrawnBlocks(EVERY);
            long[] weights = new long[count];
            int marks = 0;
            for (int i = 0; i < count; i++) {
                if (blocks.next(count, i) == i) {
                    weights[marks++] = blocks.size(i);
                }
            }
            weights[marks - 1] += count - Arrays.stream(weights).sum();
            assertThat(brick.device().weightProducts())
                    .as("%d bricks", count)
                    .isEqualTo(Arrays.stream(weights)
                            .mapToDouble(w -> w * (w - 1.0))
                            .sum());
        }
    }

    @Test
    void fewMarksOrUnknownWeightsHaveNoInterval() {
        BrickStats whole = Program.of(1_000, i -> 1_000 + i, 1).brick();
        BrickStats unknown = withProducts(whole, 0);
        BrickStats few =
                withProducts(whole, 1_000 * 1_000 / 7.9 - 2.0 * whole.device().unmarked());

        for (BrickStats brick : new BrickStats[] {unknown, few}) {
            assertThat(brick.percentileAtLeastNs(50)).isEmpty();
            assertThat(brick.percentileAtMostNs(50)).isEmpty();
        }
        assertThat(withProducts(
                                whole,
                                1_000 * 1_000 / 8.1 - 2.0 * whole.device().unmarked())
                        .percentileAtLeastNs(50))
                .isPresent();
        assertThat(BrickStats.builder("host", BrickCategory.OTHER).build().percentileAtLeastNs(50))
                .isEmpty();
    }

    private static BrickStats withProducts(BrickStats brick, double products) {
        DeviceTime device = brick.device();
        return brick.toBuilder()
                .device(new DeviceTime(
                        device.measured(), 0, 0, 0, 0, 0, 0, device.unmarked(), 0, 0, 0, products, device.marks()))
                .build();
    }
}
