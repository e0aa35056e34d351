package org.brickprofiler.agent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.agent.bridge.Bridge;
import org.brickprofiler.internal.record.TimerToken;
import org.jspecify.annotations.Nullable;

/**
 * Records the calls of woven code. It is a record because JIT compilers treat the fields of records as constants. Any
 * thread; allocates only a few bytes per step.
 *
 * @param profiler the profiler that records the calls
 * @param steps counts the steps
 * @param requests records the requests
 * @param work records the work of bricks
 * @param losses counts calls that could not be recorded
 * @param say takes messages
 */
record Recorder(
        BrickProfiler profiler,
        Steps steps,
        WovenRequests requests,
        WovenWork work,
        Losses losses,
        Consumer<String> say)
        implements Bridge.Sink {

    private static final long OPEN = 1;

    /**
     * Counts the steps that output a token, calls an action at the end of the warm-up, and measures the rate of the
     * steps after it. Any thread.
     */
    static final class Steps {
        private static final int STEP = 0;
        private static final int OUTPUT = 1;
        private static final int EPOCH = 2;
        private static final long ENDED = -1;

        /** The epoch of steps that begin in the warm-up. They do not count, even if they end after it. */
        private static final long WARMUP = -1;

        private final AtomicLong ended = new AtomicLong();

        /** How often everything recorded was discarded. Guarded by this. */
        private long epoch;

        /** Tokens that the steps have output which began since then, after the warm-up. Guarded by this. */
        private long tokens;

        private final long warmup;
        private final Runnable afterWarmup;
        private final @Nullable Alternation alternation;

        /** The time at which the first of these steps began; 0 before that. Guarded by this. */
        private long firstNs;

        /** The end of the latest one. Guarded by this. */
        private long lastNs;

        /**
         * Whether the thread's latest step processed a part of a prompt and output nothing, so that the next step
         * continues the same prompt.
         */
        private final ThreadLocal<Boolean> inPrompt = ThreadLocal.withInitial(() -> false);

        /**
         * The number of the thread's next steps that process a prompt and output nothing, by a rule of the kind prompt.
         */
        private final ThreadLocal<long[]> promptSteps = ThreadLocal.withInitial(() -> new long[1]);

        /** Whether the thread's latest step decoded at position 0. */
        private final ThreadLocal<Boolean> decodedFirst = ThreadLocal.withInitial(() -> false);

        /**
         * The thread's latest step, its output tokens, and the epoch in which it began; {@link #ENDED} for the tokens
         * once the step has ended.
         */
        private final ThreadLocal<long[]> latest = ThreadLocal.withInitial(() -> new long[] {0, ENDED, 0});

        /** The layers of the steps. */
        private final WovenLayers layers = new WovenLayers();

        /** Steps that began before an earlier step of the same thread had ended. */
        private final AtomicLong nested = new AtomicLong();

        /** Sequences whose first two positions were decoded, so that no step was their prompt. */
        private final AtomicLong withoutPrompt = new AtomicLong();

        /**
         * A counter.
         *
         * @param warmup the number of steps with an output token that are discarded
         * @param afterWarmup the action that runs after the warm-up
         * @param alternation switches recording on and off after the warm-up; null to keep it on
         */
        Steps(long warmup, Runnable afterWarmup, @Nullable Alternation alternation) {
            this.warmup = warmup;
            this.afterWarmup = afterWarmup;
            this.alternation = alternation;
        }

        private void begin(boolean decodes) {
            if (isWarmingUp()) {
                latest.get()[EPOCH] = WARMUP;
                return;
            }
            long nowNs = System.nanoTime();
            latest.get()[EPOCH] = beginAt(nowNs);
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

        /**
         * Everything recorded is discarded: the steps under way do not count, and the counts and the rate begin anew.
         */
        synchronized void discard() {
            epoch++;
            firstNs = 0;
            tokens = 0;
            nested.set(0);
            withoutPrompt.set(0);
            layers.discard();
        }

        /** Returns whether a step of the calling thread, which outputs the given tokens, continues a prompt. */
        private boolean continuesPrompt(long outputTokens) {
            boolean continues = inPrompt.get();
            inPrompt.set(outputTokens == 0);
            return continues;
        }

        /** Sets the number of the thread's next steps that output nothing, and returns the number before. */
        private long setPromptSteps(long number) {
            long[] mine = promptSteps.get();
            long before = mine[0];
            mine[0] = number;
            return before;
        }

        /** Returns whether the calling thread's step that begins is one of those that output nothing. */
        private boolean takesPromptStep() {
            long[] mine = promptSteps.get();
            return mine[0] > 0 && mine[0]-- > 0;
        }

        /** Notes the position of a step of the calling thread. */
        private void at(long kvLength, boolean decodes) {
            if (decodes && kvLength == 1 && decodedFirst.get()) {
                withoutPrompt.incrementAndGet();
            }
            decodedFirst.set(decodes && kvLength == 0);
        }

        /**
         * Opens a step of the calling thread. If another one is open, it is given up, as the profiler gives it up: of
         * nested steps, the inner one counts.
         *
         * @return its number among the thread's steps, from 1
         */
        private long open(long outputTokens) {
            long[] mine = latest.get();
            if (mine[OUTPUT] != ENDED) {
                nested.incrementAndGet();
            }
            mine[OUTPUT] = outputTokens;
            return ++mine[STEP];
        }

        /** Closes a step, which has output its tokens unless it was given up. */
        private void close(long step) {
            long[] mine = latest.get();
            if (mine[STEP] == step && mine[OUTPUT] != ENDED) {
                long outputTokens = mine[OUTPUT];
                mine[OUTPUT] = ENDED;
                end(outputTokens, mine[EPOCH]);
            }
        }

        /** Closes a step that an exception ended: it outputs nothing, and no step continues its prompt. */
        private void fail(long step) {
            long[] mine = latest.get();
            if (mine[STEP] == step) {
                mine[OUTPUT] = ENDED;
                inPrompt.set(false);
            }
        }

        private void end(long outputTokens, long stepEpoch) {
            if (outputTokens == 0) {
                // A part of a prompt. The warm-up ends only at a token: if it ended within a prompt, the time to first
                // token would be too short.
                return;
            }
            long number = ended.incrementAndGet();
            if (number == warmup) {
                afterWarmup.run();
            } else if (number > warmup) {
                count(outputTokens, stepEpoch);
            }
        }

        /** Returns whether the warm-up has not ended. */
        boolean isWarmingUp() {
            return ended.get() < warmup;
        }

        /** Returns the number of ended steps of the warm-up, in words. */
        String warmupText() {
            return Math.min(ended.get(), warmup) + " of the " + warmup + " steps of its warm-up";
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
                    : Optional.of("no step was a prompt in " + sequences + (sequences == 1 ? " sequence" : " sequences")
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
                    : Optional.of(steps + (steps == 1 ? " step" : " steps") + " began within another step of the same"
                            + " thread, and the outer ones are not counted: name one method for each pass under step:");
        }

        /** Returns how often layers were nested, in words; empty if nothing began within a layer. */
        Optional<String> nestedLayersText() {
            return layers.nestedText();
        }

        /** Output tokens per second of wall time, also if the profiler is off; empty if no step has output any. */
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
        if (timer != TimerToken.VOID && !profiler.isEnabled()) {
            work.lost(TimerToken.key(timer));
        } else {
            work.sample(TimerToken.key(timer), counted);
        }
    }

    @Override
    public void product(int number, long rows, long columns, long vectors, long weight) {
        work.product(number, rows, columns, vectors, weight);
    }

    @Override
    public void model(int number, long value) {
        work.model(number, value);
    }

    @Override
    public long startLayer(long number) {
        if (!profiler.isEnabled()) {
            return 0;
        }
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
        cutLayer();
        long processed = losses.notNegative("tokens: of a step", tokens);
        long position = losses.notNegative("kv: of a step", kvLength);
        long given = losses.notNegative("output: of a step", outputTokens);
        long output = steps.takesPromptStep() ? 0 : given;
        boolean decodes = !steps.continuesPrompt(output) && !isPrompt && processed <= 1 && output > 0;
        steps.at(kvLength, decodes);
        steps.begin(decodes);
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
        return steps.open(output);
    }

    @Override
    public void endStep(long step) {
        if (step != 0) {
            steps.layers.passEnds();
            work.stepEnds();
            profiler.endPass();
            steps.close(step);
        }
    }

    @Override
    public void failStep(long step) {
        if (step != 0) {
            steps.layers.passEnds();
            work.stepEnds();
            profiler.abandonPass();
            steps.fail(step);
        }
    }

    @Override
    public long startRequest(long promptTokens) {
        return requests.startRequest(promptTokens);
    }

    @Override
    public long serveArrived(@Nullable Object key, long promptTokens) {
        return requests.serveArrived(key, promptTokens);
    }

    @Override
    public void endRequest(int outcome, long request) {
        requests.endRequest(Outcomes.at(outcome), request);
    }

    @Override
    public long startArrival(@Nullable Object key, long promptTokens) {
        return requests.arrived(key, promptTokens);
    }

    @Override
    public long startFinish(@Nullable Object key) {
        return requests.take(key);
    }

    @Override
    public void endFinish(int outcome, long request) {
        requests.finished(Outcomes.at(outcome), request);
    }

    @Override
    public void inStep(@Nullable Object key, long promptTokens, long tokens) {
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
