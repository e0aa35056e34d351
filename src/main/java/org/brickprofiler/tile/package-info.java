/**
 * Times the tiles of cache-blocked work from many worker threads at once. Start at
 * {@link org.brickprofiler.tile.TileProfiler}.
 */
@NullMarked
package org.brickprofiler.tile;

import org.jspecify.annotations.NullMarked;
