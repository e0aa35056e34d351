package org.brickprofiler.tile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class TileStatsTest {

    private static final TileStats STATS = TileStats.builder(TileLevel.MIDI)
            .samples(4, 8_000, 500, 5_000)
            .work(1_000, 32_000)
            .slowest(3, 7)
            .build();

    @Spec("7.4")
    @Test
    void derivesItsFigures() {
        assertThat(STATS.avgUs()).isEqualTo(2.0);
        assertThat(STATS.minUs()).isEqualTo(0.5);
        assertThat(STATS.maxUs()).isEqualTo(5.0);
        assertThat(STATS.throughput()).isEqualTo(1.25e8);
        assertThat(STATS.gflops()).as("32,000 operations in 8,000 ns").isEqualTo(4.0);
        assertThat(STATS.arithmeticIntensity())
                .as("32,000 operations on 4,000 bytes")
                .isEqualTo(8.0);
        assertThat(STATS.cacheEfficiency(16)).isEqualTo(0.25);
    }

    @Spec("7.3")
    @Test
    void everyFigureIsZeroWithoutSamples() {
        TileStats empty = TileStats.empty(TileLevel.MACRO);

        assertThat(empty).isEqualTo(TileStats.builder(TileLevel.MACRO).build());
        assertThat(List.of(
                        empty.avgUs(),
                        empty.minUs(),
                        empty.maxUs(),
                        empty.throughput(),
                        empty.gflops(),
                        empty.arithmeticIntensity(),
                        empty.cacheEfficiency(10),
                        empty.cacheEfficiency(0)))
                .containsOnly(0.0);
    }

    @Test
    void figuresOfTilesWithoutDurationOrElementsAreZero() {
        TileStats instant = TileStats.builder(TileLevel.MACRO)
                .samples(1, 0, 0, 0)
                .work(0, 100)
                .slowest(0, 0)
                .build();

        assertThat(instant.throughput()).isZero();
        assertThat(instant.gflops()).isZero();
        assertThat(instant.arithmeticIntensity()).isZero();
        assertThat(instant.cacheEfficiency(1)).isZero();
    }

    @Spec("7.4")
    @Test
    void theSizeOfAnElementIsTheCallersToSay() {
        TileStats stats = TileStats.builder(TileLevel.MACRO)
                .samples(1, 10, 10, 10)
                .work(100, 900)
                .slowest(0, 0)
                .build();

        assertThat(stats.arithmeticIntensity())
                .isEqualTo(stats.arithmeticIntensity(4))
                .isEqualTo(2.25);
        assertThat(stats.arithmeticIntensity(0.5625)).isEqualTo(16);
        assertThat(TileStats.empty(TileLevel.MACRO).arithmeticIntensity(2)).isZero();
        for (double none : new double[] {0, -2, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> stats.arithmeticIntensity(none))
                    .withMessageContaining("bytesPerElement " + none);
        }
    }

    @Spec("7.4")
    @Test
    void efficiencyIsAShare() {
        assertThat(STATS.cacheEfficiency(4)).isEqualTo(1.0);
        assertThat(STATS.cacheEfficiency(0.001)).as("above the peak").isEqualTo(1.0);
        assertThat(STATS.cacheEfficiency(0)).isZero();
        assertThat(STATS.cacheEfficiency(Double.POSITIVE_INFINITY)).isZero();
    }

    @Test
    void refusesInvalidPeaks() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> STATS.cacheEfficiency(-1))
                .withMessageContaining("-1.0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> STATS.cacheEfficiency(Double.NaN))
                .withMessageContaining("NaN");
    }

    @Spec("7.3")
    @Test
    void addsUpAndKeepsTheSlowestTile() {
        TileStats other = TileStats.builder(TileLevel.MIDI)
                .samples(1, 6_000, 6_000, 6_000)
                .work(10, 20)
                .slowest(1, 2)
                .build();

        assertThat(STATS.plus(other))
                .isEqualTo(TileStats.builder(TileLevel.MIDI)
                        .samples(5, 14_000, 500, 6_000)
                        .work(1_010, 32_020)
                        .slowest(1, 2)
                        .build());
        assertThat(STATS.plus(TileStats.empty(TileLevel.MIDI))).isEqualTo(STATS);
        assertThat(TileStats.empty(TileLevel.MIDI).plus(STATS)).isEqualTo(STATS);
    }

    @Test
    void refusesToAddAnotherLevel() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> STATS.plus(TileStats.empty(TileLevel.MICRO)))
                .withMessageContaining("MIDI")
                .withMessageContaining("MICRO");
    }

    @Property
    void addingIsCommutativeAndAssociative(
            @ForAll("tiles") TileStats one, @ForAll("tiles") TileStats two, @ForAll("tiles") TileStats three) {
        assertThat(one.plus(two)).isEqualTo(two.plus(one));
        assertThat(one.plus(two).plus(three)).isEqualTo(one.plus(two.plus(three)));
    }

    /** Single tiles and sums of them, from few numbers so that ties are common. */
    @Provide
    Arbitrary<TileStats> tiles() {
        return Arbitraries.integers()
                .between(0, 2)
                .list()
                .ofSize(3)
                .map(n -> TileStats.builder(TileLevel.MICRO)
                        .samples(1, n.get(0), n.get(0), n.get(0))
                        .work(1, 2)
                        .slowest(n.get(1), n.get(2))
                        .build())
                .list()
                .ofMaxSize(3)
                .map(parts -> parts.stream().reduce(TileStats.empty(TileLevel.MICRO), TileStats::plus));
    }
}
