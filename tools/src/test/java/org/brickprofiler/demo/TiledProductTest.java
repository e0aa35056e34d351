package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileProfiler;
import org.brickprofiler.tile.TileStats;
import org.junit.jupiter.api.Test;

class TiledProductTest {

    private static final int ROWS = 1_000;
    /** More than one block of columns. */
    private static final int COLS = 5_001;

    private final Matrix matrix = Matrix.random(ROWS, COLS, 1.0, new SplittableRandom(1));
    private final float[] input =
            Matrix.random(1, COLS, Math.sqrt(COLS), new SplittableRandom(2)).values();

    @Test
    void equalsThePlainProduct() {
        float[] output = multiply(2, TiledProduct.Probe.NONE);

        for (int row = 0; row < ROWS; row++) {
            double expected = 0;
            for (int col = 0; col < COLS; col++) {
                expected += (double) matrix.values()[row * COLS + col] * input[col];
            }
            assertThat((double) output[row]).isCloseTo(expected, within(1e-5));
        }
    }

    @Test
    void isTheSameToTheLastBitForAnyNumberOfThreads() {
        float[] alone = multiply(1, TiledProduct.Probe.NONE);

        assertThat(multiply(2, TiledProduct.Probe.NONE)).containsExactly(alone);
        assertThat(multiply(3, TiledProduct.Probe.NONE)).containsExactly(alone);
        assertThat(multiply(8, TiledProduct.Probe.NONE)).containsExactly(alone);
    }

    @Test
    void tilesCountTheFloatsTheyTouchAndTwoOperationsAWeight() {
        TileProfiler tiles = new TileProfiler(NanoClock.SYSTEM);
        tiles.enable();

        multiply(2, TiledProduct.Probe.of(tiles));

        // 16 Ki floats make blocks of 8 rows and 2,048 columns: 125 x 3 blocks in 8 bands.
        TileStats macro = tiles.stats(TileLevel.MACRO);
        assertThat(macro.count()).isEqualTo(8);
        assertThat(macro.totalFlops()).isEqualTo(2L * ROWS * COLS);
        assertThat(macro.totalElements()).isEqualTo((long) ROWS * COLS + ROWS + 8 * COLS);
        TileStats midi = tiles.stats(TileLevel.MIDI);
        assertThat(midi.count()).isEqualTo(125 * 3);
        assertThat(midi.totalFlops()).isEqualTo(2L * ROWS * COLS);
        assertThat(midi.totalElements()).isEqualTo((long) ROWS * COLS + 3 * ROWS + 125 * COLS);
        assertThat(midi.totalNs()).isLessThanOrEqualTo(macro.totalNs());
        assertThat(tiles.stats(TileLevel.MICRO).count()).isZero();
    }

    private float[] multiply(int threads, TiledProduct.Probe tiles) {
        float[] output = new float[ROWS];
        try (WorkerPool pool = new WorkerPool(threads)) {
            new TiledProduct(pool, tiles).multiply(matrix, input, output);
        }
        return output;
    }
}
