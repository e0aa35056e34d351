package org.brickprofiler.agent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
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
 * @param losses counts what is not recorded
 * @param say takes messages
 */
record Recorder(BrickProfiler profiler, Steps steps, Losses losses, Consumer<String> say) implements Bridge.Sink {

    private static final long OPEN = 1;

    /**
     * How many steps with an output token have ended, what happens when those of the warm-up have, and how fast the
     * others follow. Any thread.
     */
    static final class Steps {
        private final AtomicLong ended = new AtomicLong();

        /** Tokens that the steps after the warm-up have output. */
        private final AtomicLong tokens = new AtomicLong();

        private final long warmup;
        private final Runnable afterWarmup;
        private final @Nullable Alternation alternation;

        /** When the first step after the warm-up began; 0 for not yet. */
        private final AtomicLong firstNs = new AtomicLong();

        private volatile long lastNs;

        /**
         * Whether the thread's latest step was a part of a prompt that output nothing, so that the next one belongs to
         * it.
         */
        private final ThreadLocal<Boolean> inPrompt = ThreadLocal.withInitial(() -> false);

        /**
         * A counter.
         *
         * @param warmup how many steps with an output token count for nothing
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

        /** Whether a step of the calling thread goes on with a prompt; the step outputs so many tokens itself. */
        private boolean continuesPrompt(long outputTokens) {
            boolean continues = inPrompt.get();
            inPrompt.set(outputTokens == 0);
            return continues;
        }

        private void end(long outputTokens) {
            if (outputTokens == 0) {
                // A part of a prompt. The warm-up ends with a token: ending within a prompt would shorten its time to
                // the first one.
                return;
            }
            long number = ended.incrementAndGet();
            if (number == warmup) {
                afterWarmup.run();
            } else if (number > warmup) {
                lastNs = System.nanoTime();
                tokens.addAndGet(outputTokens);
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

        /** Output tokens per second of wall time, also if the profiler is off; empty if no step has output any. */
        OptionalDouble tokensPerSec() {
            long wallNs = lastNs - firstNs.get();
            return tokens.get() == 0 || wallNs <= 0
                    ? OptionalDouble.empty()
                    : OptionalDouble.of(tokens.get() * 1e9 / wallNs);
        }
    }

    @Override
    public long startBrick(int key) {
        return profiler.startBrick(key);
    }

    @Override
    public void stopBrick(long timer, long elements) {
        if (elements < 0) {
            losses.negative();
        }
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
    public long startStep(long tokens, long kvLength, long outputTokens, boolean isPrompt) {
        long output = Math.max(0, outputTokens);
        boolean decodes = !steps.continuesPrompt(output) && !isPrompt && tokens <= 1 && output > 0;
        steps.begin(decodes);
        profiler.beginStep(new StepInfo(
                decodes ? StepInfo.Phase.DECODE : StepInfo.Phase.PREFILL,
                1,
                decodes ? 0 : Math.max(0, tokens),
                Math.max(0, kvLength),
                output,
                0));
        return OPEN + output;
    }

    @Override
    public void endStep(long step) {
        if (step != 0) {
            profiler.endPass();
            steps.end(step - OPEN);
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

    /**
     * A path that cannot be linked, as where the class at run time is another one than the rule was checked with, gives
     * 0.
     */
    @Override
    public MethodHandle elements(MethodHandles.Lookup caller, MethodType type, String place, String... path) {
        try {
            return ElementsReader.of(caller, type, place, path, losses);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError failed) {
            losses.unread(place, failed);
            return MethodHandles.dropArguments(MethodHandles.constant(long.class, 0L), 0, type.parameterType(0));
        }
    }

    @Override
    public void failed(Throwable failed) {
        losses.failed(failed);
    }
}
