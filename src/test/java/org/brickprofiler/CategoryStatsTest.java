package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class CategoryStatsTest {

    private static final CategoryStats STATS = new CategoryStats(4_000, 200, 8);

    @Test
    void derivesItsFigures() {
        assertThat(STATS.avgUs()).isEqualTo(0.5);
        assertThat(STATS.throughput()).isEqualTo(5e7);
        assertThat(STATS.percentage(16_000)).isEqualTo(25.0);
        assertThat(STATS.percentage(2_000))
                .as("of wall time, with several threads")
                .isEqualTo(200.0);
    }

    @Spec("4.2")
    @Test
    void everyFigureIsZeroWithoutSamples() {
        assertThat(CategoryStats.EMPTY).isEqualTo(new CategoryStats(0, 0, 0));
        assertThat(CategoryStats.EMPTY.avgUs()).isZero();
        assertThat(CategoryStats.EMPTY.throughput()).isZero();
        assertThat(CategoryStats.EMPTY.percentage(100)).isZero();
        assertThat(CategoryStats.EMPTY.percentage(0)).isZero();
    }

    @Spec("4.5")
    @Test
    void percentageOfNothingIsZero() {
        assertThat(STATS.percentage(0)).isZero();
    }

    @Test
    void throughputOfSamplesWithoutDurationIsZero() {
        assertThat(new CategoryStats(0, 10, 2).throughput()).isZero();
    }

    @Test
    void addsUp() {
        assertThat(STATS.plus(new CategoryStats(1, 2, 3))).isEqualTo(new CategoryStats(4_001, 202, 11));
        assertThat(CategoryStats.sum(List.of(STATS, STATS, STATS))).isEqualTo(new CategoryStats(12_000, 600, 24));
        assertThat(CategoryStats.sum(List.of())).isEqualTo(CategoryStats.EMPTY);
    }

    @Test
    void sumsBricksByCategory() {
        Map<BrickCategory, CategoryStats> sums = CategoryStats.byCategory(List.of(
                Samples.brick("a", BrickCategory.FFN, 10),
                Samples.brick("b", BrickCategory.NORM, 20),
                Samples.brick("c", BrickCategory.FFN, 30, 40)));

        assertThat(sums).isInstanceOf(EnumMap.class).containsOnlyKeys(BrickCategory.values());
        assertThat(sums.get(BrickCategory.FFN)).isEqualTo(new CategoryStats(80, 3, 3));
        assertThat(sums.get(BrickCategory.NORM)).isEqualTo(new CategoryStats(20, 1, 1));
        assertThat(sums.get(BrickCategory.OTHER)).isEqualTo(CategoryStats.EMPTY);
    }
}
