package org.brickprofiler.agent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.agent.bridge.Bridge;
import org.jspecify.annotations.Nullable;

/**
 * Records what woven code reports. A record, whose fields compilers take for constants. Any thread; allocates nothing
 * but a few bytes for each step.
 *
 * @param profiler what it is recorded with
 * @param steps counts the steps
 * @param say takes messages
 */
record Recorder(BrickProfiler profiler, Steps steps, Consumer<String> say) implements Bridge.Sink {

    private static final long OPEN = 1;

    /** How many steps have ended, what happens when those of the warm-up have, and how fast the others follow. Any thread. */
    static final class Steps {
        private final AtomicLong ended = new AtomicLong();
        private final AtomicLong counted = new AtomicLong();
        private final long warmup;
        private final Runnable afterWarmup;
        private final @Nullable Alternation alternation;

        /** When the first step after the warm-up began; 0 for not yet. */
        private final AtomicLong firstNs = new AtomicLong();

        private volatile long lastNs;

        /**
         * A counter.
         *
         * @param warmup how many steps count for nothing
         * @param afterWarmup what to do after these
         * @param alternation what switches recording on and off after these; null for nothing
         */
        Steps(long warmup, Runnable afterWarmup, @Nullable Alternation alternation) {
            this.warmup = warmup;
            this.afterWarmup = afterWarmup;
            this.alternation = alternation;
        }

        private void begin(boolean decodes) {
            if (ended.get() >= warmup) {
                long nowNs = System.nanoTime();
                if (firstNs.get() == 0) {
                    firstNs.compareAndSet(0, nowNs);
                }
                if (alternation != null) {
                    alternation.stepBegins(decodes, nowNs);
                }
            }
        }

        private void end() {
            long number = ended.incrementAndGet();
            if (number == warmup) {
                afterWarmup.run();
            } else if (number > warmup) {
                lastNs = System.nanoTime();
                counted.incrementAndGet();
            }
        }

        /** Whether the warm-up goes on. */
        boolean isWarmingUp() {
            return ended.get() < warmup;
        }

        /** How many steps of the warm-up have ended, in words. */
        String warmupText() {
            return Math.min(ended.get(), warmup) + " of the " + warmup + " steps of its warm-up";
        }

        /** Tokens per second of wall time, one a step, also where the profiler is off; empty where no step has ended. */
        OptionalDouble tokensPerSec() {
            long wallNs = lastNs - firstNs.get();
            return counted.get() == 0 || wallNs <= 0
                    ? OptionalDouble.empty()
                    : OptionalDouble.of(counted.get() * 1e9 / wallNs);
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
    public long startLayer(long number) {
        if (!profiler.isEnabled()) {
            return 0;
        }
        if (number < 0) {
            profiler.startLayer();
        } else {
            profiler.startLayer((int) Math.min(number, Integer.MAX_VALUE));
        }
        return OPEN;
    }

    @Override
    public void endLayer(long layer) {
        if (layer != 0) {
            profiler.endLayer();
        }
    }

    @Override
    public long startStep(long tokens, long kvLength, boolean promptOnly) {
        boolean decodes = tokens <= 1 && !promptOnly;
        steps.begin(decodes);
        StepInfo info = decodes ? StepInfo.decode(0) : StepInfo.prefill(Math.max(0, tokens));
        profiler.beginStep((promptOnly ? info.partOfPrompt() : info).withKvLength(Math.max(0, kvLength)));
        return OPEN;
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

    /** Where an interface cannot be implemented, its tasks stay what they are. */
    @Override
    public MethodHandle carrier(MethodHandles.Lookup caller, Class<?> task) {
        try {
            return TaskWeaver.carrier(caller, task);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError failed) {
            say.accept("tasks of the type " + task.getName() + " know no layer: " + failed);
            return MethodHandles.identity(task);
        }
    }
}
