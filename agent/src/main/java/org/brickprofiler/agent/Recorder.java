package org.brickprofiler.agent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.agent.WeaveRule.Kind;
import org.brickprofiler.agent.bridge.Bridge;
import org.brickprofiler.internal.base.Plural;
import org.jspecify.annotations.Nullable;

/**
 * Records the calls of woven code. It is a record because JIT compilers treat the fields of records as constants. Any
 * thread; allocates only a few bytes per step.
 *
 * <p>{@link #endStep} has at most 35 bytes: HotSpot's C1 compiler inlines it into the bridge's method, so that C2 does
 * not compile the end of a step twice, once for each of the two methods.
 *
 * @param profiler the profiler that records the calls
 * @param steps counts the steps
 * @param requests records the requests
 * @param work records the work of bricks
 * @param reached notes which rules the engine has reached
 * @param losses counts calls that could not be recorded
 * @param say prints a message
 */
record Recorder(
        BrickProfiler profiler,
        StepCounts steps,
        WovenRequests requests,
        WovenWork work,
        ReachedRules reached,
        AgentLosses losses,
        Consumer<String> say)
        implements Bridge.Sink {

    private static final long OPEN = 1;

    /**
     * Counts the steps of the warm-up, calls an action at its end, and measures the rate of the steps after it. The
     * warm-up ends with the first step that outputs a token and has enough steps before it: if it ended within a
     * prompt, the time to first token would be too short. Any thread.
     */
    static final class StepCounts {
        private static final long ENDED = -1;

        /** The epoch of steps that begin in the warm-up. They do not count, even if they end after it. */
        private static final long WARMUP = -1;

        /** The number of ended steps of the warm-up. */
        private final AtomicLong ended = new AtomicLong();

        private final AtomicBoolean isWarm;

        /** The number of times that everything recorded was discarded. Guarded by this. */
        private long epoch;

        /** Output tokens of the steps that began after the latest discard and after the warm-up. Guarded by this. */
        private long tokens;

        private volatile long warmup;
        private final Runnable afterWarmup;
        private final @Nullable Alternation alternation;

        /** The time at which the first of these steps began; 0 before that. Guarded by this. */
        private long firstNs;

        /** The time at which the latest of these steps ended. Guarded by this. */
        private long lastNs;

        private final ThreadLocal<OfThread> threads = ThreadLocal.withInitial(OfThread::new);

        /** The layers of the steps. */
        private final WovenLayers layers = new WovenLayers();

        /** Steps that began before an earlier step of the same thread had ended. */
        private final AtomicLong nested = new AtomicLong();

        /** Sequences whose first two positions were decoded, so that no step was their prompt. */
        private final AtomicLong withoutPrompt = new AtomicLong();

        /** The steps of a thread. Used by that thread only. */
        private static final class OfThread {
            /** The number of its latest step, from 1. */
            private long step;

            /** The tokens that this step outputs; {@link #ENDED} once it has ended. */
            private long output = ENDED;

            /** The epoch in which it began. */
            private long epoch;

            /**
             * Whether it processed a part of a prompt and output nothing, so that the next step continues the prompt.
             */
            private boolean inPrompt;

            /** Whether it decoded at position 0. */
            private boolean decodedFirst;

            /**
             * The number of the thread's next steps that, by a rule for prompts, process a prompt and output nothing.
             */
            private long promptSteps;

            /** Returns whether a step that outputs the given tokens continues a prompt. */
            private boolean continuesPrompt(long outputTokens) {
                boolean continues = inPrompt;
                inPrompt = outputTokens == 0;
                return continues;
            }

            /** Returns whether the beginning step is one of {@link #promptSteps}; if so, decrements their number. */
            private boolean takesPromptStep() {
                return promptSteps > 0 && promptSteps-- > 0;
            }
        }

        /**
         * Creates a counter.
         *
         * @param warmup the number of steps that are discarded, at least
         * @param afterWarmup the action that runs after the warm-up
         * @param alternation switches recording on and off after the warm-up; null to keep it on
         */
        StepCounts(long warmup, Runnable afterWarmup, @Nullable Alternation alternation) {
            this.warmup = warmup;
            isWarm = new AtomicBoolean(warmup == 0);
            this.afterWarmup = afterWarmup;
            this.alternation = alternation;
        }

        private void begin(OfThread mine, boolean decodes) {
            if (isWarmingUp()) {
                mine.epoch = WARMUP;
                return;
            }
            long nowNs = System.nanoTime();
            mine.epoch = beginAt(nowNs);
            if (alternation != null) {
                alternation.stepBegins(decodes, nowNs);
            }
        }

        private synchronized long beginAt(long nowNs) {
            firstNs = firstNs == 0 ? nowNs : firstNs;
            return epoch;
        }

        private synchronized void count(long outputTokens, long stepEpoch) {
            if (stepEpoch == epoch) {
                lastNs = System.nanoTime();
                tokens += outputTokens;
            }
        }

        /** Begins another warm-up; its steps are those that begin from now on. */
        void warmUp(long steps) {
            warmup = steps;
            ended.set(0);
            isWarm.set(steps == 0);
        }

        /** Discards the counts and the rate, which begin anew; the steps under way do not count. */
        synchronized void discard() {
            epoch++;
            firstNs = 0;
            tokens = 0;
            nested.set(0);
            withoutPrompt.set(0);
            layers.discard();
        }

        /** Sets the number of the thread's next steps that output nothing, and returns the number before. */
        private long setPromptSteps(long number) {
            OfThread mine = threads.get();
            long before = mine.promptSteps;
            mine.promptSteps = number;
            return before;
        }

        /** Notes the position of a step of the calling thread. */
        private void at(OfThread mine, long position, boolean decodes) {
            if (decodes && position == 1 && mine.decodedFirst) {
                withoutPrompt.incrementAndGet();
            }
            mine.decodedFirst = decodes && position == 0;
        }

        /**
         * Opens a step of the calling thread. If another step is open, the earlier step is abandoned, as in the
         * profiler: of nested steps, only the inner one counts.
         *
         * @return its number among the thread's steps, from 1
         */
        private long open(OfThread mine, long outputTokens) {
            if (mine.output != ENDED) {
                nested.incrementAndGet();
            }
            mine.output = outputTokens;
            return ++mine.step;
        }

        /** Closes a step and its open layer, and counts its output tokens unless the step was abandoned. */
        private void close(long step) {
            layers.passEnds();
            OfThread mine = threads.get();
            if (mine.step == step && mine.output != ENDED) {
                long outputTokens = mine.output;
                mine.output = ENDED;
                end(outputTokens, mine.epoch);
            }
        }

        /**
         * Closes a step that an exception ended, and its layer: it outputs nothing, and no step continues its prompt.
         */
        private void fail(long step) {
            layers.passEnds();
            OfThread mine = threads.get();
            if (mine.step == step) {
                mine.output = ENDED;
                mine.inPrompt = false;
            }
        }

        private void end(long outputTokens, long stepEpoch) {
            if (isWarm.get()) {
                if (outputTokens > 0) {
                    count(outputTokens, stepEpoch);
                }
            } else if (ended.incrementAndGet() >= warmup && outputTokens > 0 && isWarm.compareAndSet(false, true)) {
                afterWarmup.run();
            }
        }

        /** Returns whether the warm-up has not ended. */
        boolean isWarmingUp() {
            return !isWarm.get();
        }

        /** Returns the number of ended steps of the warm-up, in words. */
        String warmupText() {
            long steps = ended.get();
            return steps < warmup
                    ? steps + " of the " + warmup + " steps of its warm-up"
                    : warmup + " of the " + warmup + " steps of its warm-up and no token after them";
        }

        /**
         * Returns why the numbers of output tokens may be wrong. An engine that decodes the tokens of a prompt like any
         * other token shows no prompt, and neither does one that generates from a single token.
         *
         * @return a remark in words; empty if each sequence had a prompt, or no rule tells the position of a step
         */
        Optional<String> doubtText() {
            long sequences = withoutPrompt.get();
            return sequences == 0
                    ? Optional.empty()
                    : Optional.of("no step was a prompt in " + Plural.of(sequences, "sequence")
                            + ": if the engine decodes the tokens of a prompt one by one, they count as output tokens"
                            + " and tokens/s is too high; name the method that generates under prompts:");
        }

        /**
         * Returns how often steps were nested.
         *
         * @return a remark in words; empty if no step began within another one
         */
        Optional<String> nestedText() {
            long steps = nested.get();
            return steps == 0
                    ? Optional.empty()
                    : Optional.of(Plural.of(steps, "step") + " began within another step of the same"
                            + " thread, and the outer ones are not counted: name one method for each pass under step:");
        }

        /** Returns how often layers were nested, in words; empty if nothing began within a layer. */
        Optional<String> nestedLayersText() {
            return layers.nestedText();
        }

        /**
         * Returns the output tokens per second of wall time, also if the profiler is off; empty if no step has output
         * any.
         */
        synchronized OptionalDouble tokensPerSec() {
            long wallNs = lastNs - firstNs;
            return tokens == 0 || wallNs <= 0 ? OptionalDouble.empty() : OptionalDouble.of(tokens * 1e9 / wallNs);
        }
    }

    @Override
    public long startBrick(int key) {
        return profiler.startBrick(key);
    }

    @Override
    public void stopBrick(long timer, long elements) {
        long counted = losses.notNegative("elements: of a brick", elements);
        profiler.stopBrick(timer, counted);
        work.stopped(timer, counted);
    }

    @Override
    public void product(int number, long rows, long columns, long vectors, long weight) {
        work.product(number, rows, columns, vectors, weight);
    }

    @Override
    public void model(int number, long value) {
        reached.reach(Kind.MODEL);
        work.model(number, value);
    }

    @Override
    public long startLayer(long number) {
        if (!profiler.isEnabled()) {
            return 0;
        }
        reached.reach(Kind.LAYER);
        cutLayer();
        if (number < 0) {
            profiler.startLayer();
        } else {
            profiler.startLayer((int) Math.min(number, Integer.MAX_VALUE));
        }
        work.layerBegins();
        return steps.layers.open();
    }

    @Override
    public void endLayer(long layer) {
        if (layer != 0 && steps.layers.close(layer)) {
            profiler.endLayer();
            work.layerEnds();
        }
    }

    /** Ends the open layer of the calling thread, within which another layer or a step begins. */
    private void cutLayer() {
        if (steps.layers.cut()) {
            profiler.endLayer();
            work.layerEnds();
        }
    }

    @Override
    public long startPrompt(long number, long outputTokens) {
        reached.reach(Kind.PROMPT);
        long prompt = losses.notNegative("steps: of a prompt", number);
        long output = losses.notNegative("output: of a prompt", outputTokens);
        return OPEN + steps.setPromptSteps(Math.max(0, output > 0 ? prompt - 1 : prompt));
    }

    @Override
    public void endPrompt(long prompt) {
        if (prompt != 0) {
            steps.setPromptSteps(prompt - OPEN);
        }
    }

    @Override
    public long startStep(long tokens, long kvLength, long outputTokens, boolean isPrompt) {
        if (!reached.isWoven()) {
            return 0;
        }
        if (reached.reach(Kind.STEP)) {
            reached.beforeSteps(profiler.allBrickStats());
        }
        cutLayer();
        long processed = losses.notNegative("tokens: of a step", tokens);
        long position = losses.notNegative("kv: of a step", kvLength);
        long given = losses.notNegative("output: of a step", outputTokens);
        StepCounts.OfThread mine = steps.threads.get();
        long output = mine.takesPromptStep() ? 0 : given;
        boolean decodes = !mine.continuesPrompt(output) && !isPrompt && processed <= 1 && output > 0;
        steps.at(mine, kvLength, decodes);
        steps.begin(mine, decodes);
        requests.stepBegins();
        profiler.beginStep(new StepInfo(
                decodes ? StepInfo.Phase.DECODE : StepInfo.Phase.PREFILL,
                1,
                decodes ? 0 : processed,
                position,
                output,
                0));
        requests.stepBegan(output);
        work.stepBegins(tokens, kvLength);
        return steps.open(mine, output);
    }

    @Override
    public void endStep(long step) {
        if (step != 0) {
            work.stepEnds();
            profiler.endPass();
            steps.close(step);
        }
    }

    @Override
    public void failStep(long step) {
        if (step != 0) {
            work.stepEnds();
            profiler.abandonPass();
            steps.fail(step);
        }
    }

    @Override
    public long startRequest(long promptTokens, String from) {
        reached.reach(Kind.REQUEST);
        return requests.startRequest(promptTokens, from);
    }

    @Override
    public long serveArrived(@Nullable Object key, long promptTokens) {
        reached.reach(Kind.REQUEST);
        return requests.serveArrived(key, promptTokens);
    }

    @Override
    public void endRequest(int outcome, long request) {
        requests.endRequest(Outcomes.at(outcome), request);
    }

    @Override
    public void nameRequest(long request, boolean isServed, @Nullable Object id) {
        requests.name(request, isServed, id);
    }

    /** {@inheritDoc} */
    @Override
    public void modelRequest(long request, boolean isServed, @Nullable Object model) {
        requests.model(request, isServed, model);
    }

    @Override
    public long startArrival(@Nullable Object key, long promptTokens, String from) {
        reached.reach(Kind.ARRIVAL);
        return requests.arrived(key, promptTokens, from);
    }

    @Override
    public long startFinish(@Nullable Object key) {
        reached.reach(Kind.FINISH);
        return requests.take(key);
    }

    @Override
    public void endFinish(int outcome, long request) {
        requests.finished(Outcomes.at(outcome), request);
    }

    @Override
    public void inStep(@Nullable Object key, long promptTokens, long tokens) {
        reached.reach(Kind.IN_STEP);
        requests.inStep(key, promptTokens, tokens);
    }

    @Override
    public long layerToken() {
        return profiler.layerToken();
    }

    @Override
    public long workFor(long layer) {
        return profiler.workFor(layer);
    }

    /** Passes tasks on unchanged if their interface cannot be implemented. */
    @Override
    public MethodHandle carrier(MethodHandles.Lookup caller, Class<?> task) {
        try {
            return TaskWeaver.carrier(caller, task);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError failed) {
            say.accept("tasks of the type " + task.getName() + " know no layer: " + failed);
            return MethodHandles.identity(task);
        }
    }

    @Override
    public MethodHandle elements(MethodHandles.Lookup caller, MethodType type, String place, String... path) {
        return ElementsReader.of(caller, type, place, path, losses, ElementsReader.UNREAD);
    }

    @Override
    public MethodHandle amount(MethodHandles.Lookup caller, MethodType type, String place, String... path) {
        return ElementsReader.of(caller, type, place, path, losses, ElementsReader.UNREAD_AMOUNT);
    }

    @Override
    public MethodHandle weight(
            MethodHandles.Lookup caller, MethodType type, String place, String table, String... path) {
        return ElementsReader.of(caller, type, place, path, WeightTypes.parse(place, table, losses), losses);
    }

    @Override
    public MethodHandle outcome(
            MethodHandles.Lookup caller, MethodType type, String place, String table, String... path) {
        return ElementsReader.of(caller, type, place, path, Outcomes.parse(place, table, losses), losses);
    }

    @Override
    public void failed(Throwable failed) {
        losses.failed(failed);
    }
}
