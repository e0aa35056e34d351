package org.brickprofiler.demo;

import java.util.function.UnaryOperator;
import org.brickprofiler.BrickProfiler;

/**
 * What watches a decoder at work, and what is done to it.
 *
 * @param runner runs its bricks
 * @param tiles times its tiles
 * @param fault changes its pass; refuses one that it does not fit with an {@link IllegalArgumentException}
 */
record Instruments(PassRunner runner, TileProbe tiles, UnaryOperator<Pass> fault) {

    /** Nothing watches: no call of a profiler is made. */
    static final Instruments NONE = new Instruments(PassRunner.PLAIN, TileProbe.NONE, UnaryOperator.identity());

    /** A profiler watches, as far as it is switched on. */
    static Instruments of(BrickProfiler profiler) {
        return new Instruments(
                new ProfiledRunner(profiler), TileProbe.of(profiler.tiles()), UnaryOperator.identity());
    }
}
