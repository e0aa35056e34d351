package org.brickprofiler.demo;

import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileProfiler;

/** Who times the tiles of a matrix. Called by many threads at once. */
interface TileProbe {

    /** Times nothing. */
    TileProbe NONE = new TileProbe() {
        @Override
        public long start(TileLevel level, int row, int col) {
            return 0;
        }

        @Override
        public void stop(long timer, long elements, long flops) {
            // Nobody asked.
        }
    };

    /** Times tiles with a profiler. */
    static TileProbe of(TileProfiler tiles) {
        return new TileProbe() {
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
