package org.brickprofiler.demo;

import java.util.List;
import org.brickprofiler.BrickProfiler;

/**
 * Runs a pass and times its bricks. They follow each other without a gap, so that one clock read ends a brick and
 * begins the next.
 */
final class ProfiledRunner implements PassRunner {

    /** A pass decodes one token, and so does each of its bricks. */
    private static final long TOKENS = 1;

    private final BrickProfiler profiler;

    ProfiledRunner(BrickProfiler profiler) {
        this.profiler = profiler;
    }

    @Override
    public void run(Pass pass) {
        time(pass.opening());
        for (List<Step> layer : pass.layers()) {
            profiler.startLayer();
            time(layer);
            profiler.endLayer();
        }
        time(pass.closing());
        profiler.endPass();
    }

    private void time(List<Step> steps) {
        Step step = steps.get(0);
        long timer = profiler.startBrick(step.brick());
        step.operation().run();
        for (int i = 1; i < steps.size(); i++) {
            step = steps.get(i);
            timer = profiler.lap(timer, TOKENS, step.brick());
            step.operation().run();
        }
        profiler.stopBrick(timer, TOKENS);
    }
}
