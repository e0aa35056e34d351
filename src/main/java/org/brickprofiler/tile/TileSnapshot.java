package org.brickprofiler.tile;

import java.util.List;
import java.util.Objects;

/**
 * What a {@link TileProfiler} knew at one moment. Immutable.
 *
 * @param levels one entry per level, in order
 * @param threads platform threads that recorded tiles
 * @param virtualThreads whether virtual threads recorded tiles too; they are not counted
 */
public record TileSnapshot(List<TileStats> levels, int threads, boolean virtualThreads) {

    /** Makes the list unchangeable. */
    public TileSnapshot {
        Objects.requireNonNull(levels, "levels");
        levels = List.copyOf(levels);
    }
}
