package org.brickprofiler.demo;

import org.brickprofiler.BrickProfiler;

/**
 * What watches a decoder at work.
 *
 * @param runner runs its bricks
 * @param tiles times its tiles
 */
record Instruments(PassRunner runner, TileProbe tiles) {

    /** Nothing watches: no call of a profiler is made. */
    static final Instruments NONE = new Instruments(PassRunner.PLAIN, TileProbe.NONE);

    /** A profiler watches, as far as it is switched on. */
    static Instruments of(BrickProfiler profiler) {
        return new Instruments(new ProfiledRunner(profiler), TileProbe.of(profiler.tiles()));
    }
}
