package org.brickprofiler.demo;

import java.util.List;
import org.brickprofiler.BrickProfiler;

/**
 * Runs a pass, times its bricks, and writes a checksum of each output to the profiler's log. The time of a brick does
 * not hold that of its checksum.
 */
final class ChecksumRunner implements PassRunner {

    /** The layer of bricks that belong to none. */
    private static final int NO_LAYER = -1;

    /** A pass decodes one token, and so does each of its bricks. */
    private static final long TOKENS = 1;

    private final BrickProfiler profiler;
    private int position;

    ChecksumRunner(BrickProfiler profiler) {
        this.profiler = profiler;
    }

    @Override
    public void run(Pass pass) {
        run(pass.opening(), NO_LAYER);
        for (int layer = 0; layer < pass.layers().size(); layer++) {
            profiler.startLayer();
            run(pass.layers().get(layer), layer);
            profiler.endLayer();
        }
        run(pass.closing(), NO_LAYER);
        profiler.endPass();
        position++;
    }

    private void run(List<Step> steps, int layer) {
        for (Step step : steps) {
            long timer = profiler.startBrick(step.brick());
            float[] output = step.operation().run();
            profiler.stopBrick(timer, TOKENS);
            profiler.checksums().record(step.brick().displayName(), layer, position, output);
        }
    }
}
