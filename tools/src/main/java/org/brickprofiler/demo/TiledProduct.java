package org.brickprofiler.demo;

import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileProfiler;

/**
 * Products of a matrix and a vector, shared by the threads of a pool and timed tile by tile: a band that one thread
 * takes is a {@link TileLevel#MACRO} tile, a cache block in it a {@link TileLevel#MIDI} tile. The rows of a block, a
 * few hundred ns each, are too short to be timed one by one.
 *
 * <p>A tile's elements are the floats it touches: its weights, its part of the input and its part of the output. Its
 * operations are one multiplication and one addition per weight.
 *
 * <p>One thread computes a row's part of a block, and blocks follow each other from left to right: the result is the
 * same, to the last bit, for any number of threads.
 */
final class TiledProduct {

    private final WorkerPool pool;
    private final Probe tiles;

    TiledProduct(WorkerPool pool, Probe tiles) {
        this.pool = pool;
        this.tiles = tiles;
    }

    /**
     * Multiplies a matrix and a vector.
     *
     * @param matrix the matrix
     * @param input one value per column
     * @param output receives one value per row; not the same array as the input
     */
    void multiply(Matrix matrix, float[] input, float[] output) {
        Tiling tiling = Tiling.of(matrix.rows(), matrix.cols(), pool.threads());
        pool.run(tiling.bands(), band -> multiplyBand(matrix, tiling, band, input, output));
    }

    private void multiplyBand(Matrix matrix, Tiling tiling, int band, float[] input, float[] output) {
        int firstBlock = tiling.firstBlockOf(band);
        int endBlock = tiling.firstBlockOf(band + 1);
        long timer = tiles.start(TileLevel.MACRO, band, 0);
        for (int rowBlock = firstBlock; rowBlock < endBlock; rowBlock++) {
            for (int colBlock = 0; colBlock < tiling.colBlocks(); colBlock++) {
                multiplyBlock(matrix, tiling, rowBlock, colBlock, input, output);
            }
        }
        int rows = tiling.firstRowOf(endBlock) - tiling.firstRowOf(firstBlock);
        tiles.stop(timer, touched(rows, tiling.cols()), flops(rows, tiling.cols()));
    }

    private void multiplyBlock(
            Matrix matrix, Tiling tiling, int rowBlock, int colBlock, float[] input, float[] output) {
        int firstRow = tiling.firstRowOf(rowBlock);
        int endRow = tiling.firstRowOf(rowBlock + 1);
        int firstCol = tiling.firstColOf(colBlock);
        int cols = tiling.firstColOf(colBlock + 1) - firstCol;
        long timer = tiles.start(TileLevel.MIDI, rowBlock, colBlock);
        float[] weights = matrix.values();
        for (int row = firstRow; row < endRow; row++) {
            float part = Vectors.dot(weights, row * matrix.cols() + firstCol, input, firstCol, cols);
            output[row] = colBlock == 0 ? part : output[row] + part;
        }
        tiles.stop(timer, touched(endRow - firstRow, cols), flops(endRow - firstRow, cols));
    }

    private static long touched(long rows, long cols) {
        return rows * cols + cols + rows;
    }

    private static long flops(long rows, long cols) {
        return 2 * rows * cols;
    }

    /** Times the tiles of a matrix. Called by many threads at once. */
    interface Probe {

        /** Times nothing. */
        Probe NONE = new Probe() {
            @Override
            public long start(TileLevel level, int row, int col) {
                return 0;
            }

            @Override
            public void stop(long timer, long elements, long flops) {
                // No probe.
            }
        };

        /** Times tiles with a profiler. */
        static Probe of(TileProfiler tiles) {
            return new Probe() {
                @Override
                public long start(TileLevel level, int row, int col) {
                    return tiles.start(level, row, col);
                }

                @Override
                public void stop(long timer, long elements, long flops) {
                    tiles.stop(timer, elements, flops);
                }
            };
        }

        /** Begins a tile; see {@link TileProfiler#start}. */
        long start(TileLevel level, int row, int col);

        /** Ends a tile; see {@link TileProfiler#stop}. */
        void stop(long timer, long elements, long flops);
    }

    /**
     * The division of a matrix: into blocks of rows and columns that fit a cache, and into bands of whole row blocks
     * that threads take one by one. The number of threads does not change the blocks.
     *
     * @param rows rows of the matrix
     * @param cols columns of the matrix
     * @param blockRows rows of a block; the last one may have fewer
     * @param blockCols columns of a block; the last one may have fewer
     * @param bands number of bands
     */
    record Tiling(int rows, int cols, int blockRows, int blockCols, int bands) {

        /** Floats of a block: 64 KiB, which fit in half the L2 cache of any current processor. */
        static final int BLOCK_FLOATS = 16 * 1024;

        /** Columns of a block: their part of the input vector, 8 KiB, stays in the L1 cache. */
        static final int LARGEST_BLOCK_COLS = 2 * 1024;

        /** Bands per thread: enough to even out threads that the system delays. */
        private static final int BANDS_PER_THREAD = 4;

        /** Returns the tiling of a matrix for a number of threads. */
        static Tiling of(int rows, int cols, int threads) {
            int blockCols = Math.min(cols, LARGEST_BLOCK_COLS);
            int blockRows = Math.min(rows, BLOCK_FLOATS / blockCols);
            int rowBlocks = divideUp(rows, blockRows);
            return new Tiling(rows, cols, blockRows, blockCols, Math.min(rowBlocks, BANDS_PER_THREAD * threads));
        }

        /** Returns the number of blocks from top to bottom. */
        int rowBlocks() {
            return divideUp(rows, blockRows);
        }

        /** Returns the number of blocks from left to right. */
        int colBlocks() {
            return divideUp(cols, blockCols);
        }

        /** Returns the first row block of a band; for the band after the last, the number of row blocks. */
        int firstBlockOf(int band) {
            return (int) ((long) band * rowBlocks() / bands);
        }

        /** Returns the first row of a row block; for the block after the last, the number of rows. */
        int firstRowOf(int rowBlock) {
            return (int) Math.min(rows, (long) rowBlock * blockRows);
        }

        /** Returns the first column of a column block; for the block after the last, the number of columns. */
        int firstColOf(int colBlock) {
            return (int) Math.min(cols, (long) colBlock * blockCols);
        }

        private static int divideUp(int value, int by) {
            return (value + by - 1) / by;
        }
    }
}
