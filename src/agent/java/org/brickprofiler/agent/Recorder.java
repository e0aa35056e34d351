package org.brickprofiler.agent;

import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.agent.bridge.Bridge;

/**
 * Records what woven code reports. A record, whose fields compilers take for constants. Any thread; allocates nothing
 * but a few bytes for each step.
 *
 * @param profiler what it is recorded with
 * @param steps counts the steps
 */
record Recorder(BrickProfiler profiler, Steps steps) implements Bridge.Sink {

    private static final long OPEN = 1;

    /** How many steps have ended, and what happens when those of the warm-up have. Any thread. */
    static final class Steps {
        private final AtomicLong ended = new AtomicLong();
        private final long warmup;
        private final Runnable afterWarmup;

        /**
         * A counter.
         *
         * @param warmup how many steps count for nothing
         * @param afterWarmup what to do after these
         */
        Steps(long warmup, Runnable afterWarmup) {
            this.warmup = warmup;
            this.afterWarmup = afterWarmup;
        }

        private void end() {
            if (ended.incrementAndGet() == warmup) {
                afterWarmup.run();
            }
        }
    }

    @Override
    public long startBrick(int key) {
        return profiler.startBrick(key);
    }

    @Override
    public void stopBrick(long timer, long elements) {
        // A rule's path may lead to any number, and an exception would reach the application.
        profiler.stopBrick(timer, Math.max(0, elements));
    }

    @Override
    public long startLayer() {
        profiler.startLayer();
        return OPEN;
    }

    @Override
    public void endLayer(long layer) {
        if (layer != 0) {
            profiler.endLayer();
        }
    }

    @Override
    public long startStep(long tokens, long kvLength) {
        long cached = Math.max(0, kvLength);
        profiler.beginStep(tokens > 1 ? prefill(tokens, cached) : StepInfo.decode(cached));
        return OPEN;
    }

    private static StepInfo prefill(long tokens, long kvLength) {
        return new StepInfo(StepInfo.Phase.PREFILL, 1, tokens, kvLength, 1, 0);
    }

    @Override
    public void endStep(long step) {
        if (step != 0) {
            profiler.endPass();
            steps.end();
        }
    }

    @Override
    public long layerToken() {
        return profiler.layerToken();
    }

    @Override
    public long workFor(long layer) {
        return profiler.workFor(layer);
    }
}
