package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class TilingProperties {

    @Property
    void blocksCoverTheMatrixOnceAndFitTheCache(
            @ForAll @IntRange(min = 1, max = 100_000) int rows,
            @ForAll @IntRange(min = 1, max = 100_000) int cols,
            @ForAll @IntRange(min = 1, max = 64) int threads) {
        TiledProduct.Tiling tiling = TiledProduct.Tiling.of(rows, cols, threads);

        assertThat((long) tiling.blockRows() * tiling.blockCols())
                .isBetween(1L, (long) TiledProduct.Tiling.BLOCK_FLOATS);
        assertThat(tiling.firstRowOf(0)).isZero();
        assertThat(tiling.firstRowOf(tiling.rowBlocks() - 1)).isLessThan(rows);
        assertThat(tiling.firstRowOf(tiling.rowBlocks())).isEqualTo(rows);
        assertThat(tiling.firstColOf(0)).isZero();
        assertThat(tiling.firstColOf(tiling.colBlocks() - 1)).isLessThan(cols);
        assertThat(tiling.firstColOf(tiling.colBlocks())).isEqualTo(cols);
    }

    @Property
    void bandsHoldEveryBlockOnceAndAboutTheSameNumberOfThem(
            @ForAll @IntRange(min = 1, max = 100_000) int rows,
            @ForAll @IntRange(min = 1, max = 10_000) int cols,
            @ForAll @IntRange(min = 1, max = 64) int threads) {
        TiledProduct.Tiling tiling = TiledProduct.Tiling.of(rows, cols, threads);

        int perBand = tiling.rowBlocks() / tiling.bands();
        assertThat(tiling.firstBlockOf(0)).isZero();
        assertThat(tiling.firstBlockOf(tiling.bands())).isEqualTo(tiling.rowBlocks());
        for (int band = 0; band < tiling.bands(); band++) {
            assertThat(tiling.firstBlockOf(band + 1) - tiling.firstBlockOf(band))
                    .isBetween(perBand, perBand + 1);
        }
    }

    @Property
    void blocksDoNotDependOnTheNumberOfThreads(
            @ForAll @IntRange(min = 1, max = 100_000) int rows,
            @ForAll @IntRange(min = 1, max = 100_000) int cols,
            @ForAll @IntRange(min = 1, max = 64) int threads) {
        TiledProduct.Tiling one = TiledProduct.Tiling.of(rows, cols, 1);
        TiledProduct.Tiling many = TiledProduct.Tiling.of(rows, cols, threads);

        assertThat(many.blockRows()).isEqualTo(one.blockRows());
        assertThat(many.blockCols()).isEqualTo(one.blockCols());
        assertThat(many.bands()).isBetween(one.bands(), 4 * threads);
    }
}
