package org.brickprofiler.demo;

import org.brickprofiler.tile.TileLevel;

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
    private final TileProbe tiles;

    TiledProduct(WorkerPool pool, TileProbe tiles) {
        this.pool = pool;
        this.tiles = tiles;
    }

    /**
     * Multiplies.
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
}
