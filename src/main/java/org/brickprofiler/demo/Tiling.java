package org.brickprofiler.demo;

/**
 * How a matrix is cut: into blocks of rows and columns that a cache holds, and into bands of whole row blocks that
 * threads take one by one. Where a block begins does not depend on the number of threads.
 *
 * @param rows rows of the matrix
 * @param cols columns of the matrix
 * @param blockRows rows of a block; the last one may have fewer
 * @param blockCols columns of a block; the last one may have fewer
 * @param bands number of bands
 */
record Tiling(int rows, int cols, int blockRows, int blockCols, int bands) {

    /** Floats of a block: 64 KiB, which half the L2 cache of any current processor holds. */
    static final int BLOCK_FLOATS = 16 * 1024;

    /** Columns of a block: their part of the input vector, 8 KiB, stays in the L1 cache. */
    static final int LARGEST_BLOCK_COLS = 2 * 1024;

    /** Bands per thread: enough to even out threads that the system delays. */
    private static final int BANDS_PER_THREAD = 4;

    /** The tiling of a matrix for a number of threads. */
    static Tiling of(int rows, int cols, int threads) {
        int blockCols = Math.min(cols, LARGEST_BLOCK_COLS);
        int blockRows = Math.min(rows, BLOCK_FLOATS / blockCols);
        int rowBlocks = divideUp(rows, blockRows);
        return new Tiling(rows, cols, blockRows, blockCols, Math.min(rowBlocks, BANDS_PER_THREAD * threads));
    }

    /** Number of blocks from top to bottom. */
    int rowBlocks() {
        return divideUp(rows, blockRows);
    }

    /** Number of blocks from left to right. */
    int colBlocks() {
        return divideUp(cols, blockCols);
    }

    /** The first row block of a band; for the band after the last, the number of row blocks. */
    int firstBlockOf(int band) {
        return (int) ((long) band * rowBlocks() / bands);
    }

    /** The first row of a row block; for the block after the last, the number of rows. */
    int firstRowOf(int rowBlock) {
        return (int) Math.min(rows, (long) rowBlock * blockRows);
    }

    /** The first column of a column block; for the block after the last, the number of columns. */
    int firstColOf(int colBlock) {
        return (int) Math.min(cols, (long) colBlock * blockCols);
    }

    private static int divideUp(int value, int by) {
        return (value + by - 1) / by;
    }
}
