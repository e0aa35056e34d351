package org.brickprofiler.tile;

import java.util.Objects;

/**
 * What was recorded of the tiles of one level in one part of their grid: see {@link TileProfiler#recordPlaces}. Immutable.
 *
 * @param firstRow the first row of the part
 * @param lastRow its last row; of the part at the grid's end also what lies beyond
 * @param firstCol its first column
 * @param lastCol its last column, likewise
 * @param stats what was recorded of the tiles in it
 */
public record TilePlace(int firstRow, int lastRow, int firstCol, int lastCol, TileStats stats) {

    /**
     * Refuses null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public TilePlace {
        Objects.requireNonNull(stats, "stats");
    }
}
