package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.brickprofiler.Brick;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.testing.AllocatedBytes;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.objectweb.asm.ClassReader;

class WeaverTest {

    private static final String ENGINE = "  - in: org.brickprofiler.agent.Engine.";

    private static final String TASKS =
            "Runnable, Callable, Consumer, IntConsumer, LongConsumer, or an interface of the "
                    + "engine's own with one method to implement";

    private static Object call(Class<?> type, String name, @Nullable Object... arguments) throws Exception {
        for (Method method : type.getDeclaredMethods()) {
            if (method.getName().equals(name)) {
                method.setAccessible(true);
                var constructor = type.getDeclaredConstructor();
                constructor.setAccessible(true);
                Object result = method.invoke(constructor.newInstance(), arguments);
                assertThat(Woven.OPEN)
                        .as("timers that were started and not stopped")
                        .hasValue(0);
                return result == null ? "" : result;
            }
        }
        throw new AssertionError(name);
    }

    private static void weaveAndCall(String rules, String name, Object... arguments) throws Exception {
        call(Woven.load(Engine.class, rules), name, arguments);
    }

    @Test
    void countsAWholeMethodAndItsElements() throws Exception {
        weaveAndCall(
                "bricks:\n" + ENGINE + "forward\n    brick: my block\n    category: FFN\n    elements: tokens.length\n"
                        + ENGINE + "product\n    brick: gemm of mine\n    category: FFN\n    elements: n\n",
                "forward",
                new int[7],
                2);
        assertThat(Woven.recorded()).isEqualTo("{gemm of mine=6/120, my block=1/7}");
    }

    @Test
    void countsSpansBetweenCalls() throws Exception {
        weaveAndCall(
                "bricks:\n" + ENGINE + "forward\n    call: product 1\n    brick: GATE_PROJECTION\n" + ENGINE
                        + "forward\n    call: product 2\n    brick: UP_PROJECTION\n    elements: tokens.length\n"
                        + ENGINE
                        + "forward\n    from: after product 2\n    to: before softmax\n    brick: DOWN_PROJECTION\n"
                        + ENGINE + "forward\n    call: product\n    brick: each\n    category: Other\n" + ENGINE
                        + "forward\n    from: entry\n    to: before Engine.product 1\n    brick: EMBEDDING\n",
                "forward",
                new int[5],
                3);
        // The span from the entry ends in the first turn of the loop; no other turn begins it again.
        assertThat(Woven.recorded())
                .isEqualTo("{DownProjection=3/3, Embedding=1/1, GateProjection=3/3, UpProjection=3/15, each=9/9}");
    }

    @ParameterizedTest
    @CsvSource({"0, 3", "1, 2", "2, 3", "3, 2", "4, 12", "5, 0"})
    void closesASpanOnEveryWayOut(int how, int expected) throws Exception {
        Class<?> woven = Woven.load(
                Engine.class,
                "bricks:\n" + ENGINE + "leave\n    from: before product\n    to: after softmax\n    brick: my block\n"
                        + "    category: FFN\n    elements: how\n" + ENGINE + "leave\n    brick: RMS_NORM\n");
        if (how == 5) {
            assertThatThrownBy(() -> call(woven, "leave", how))
                    .isInstanceOf(InvocationTargetException.class)
                    .hasRootCauseMessage("at 7");
            assertThat(Woven.OPEN).hasValue(0);
        } else {
            assertThat(call(woven, "leave", how)).isEqualTo(how == 4 ? 13 : expected);
        }
        int spans = how == 1 || how == 3 ? 2 : 3;
        assertThat(Woven.recorded()).isEqualTo("{RmsNorm=1/1, my block=" + spans + "/" + spans * how + "}");
    }

    @Test
    void addsAHandlerOnlyToAMethodThatMayThrow() throws Exception {
        assertThat(bytesAddedTo("half")).isEqualTo(11);
        assertThat(bytesAddedTo("quotient")).isEqualTo(17);
    }

    /** Returns the size of the code that a brick of a whole method adds to the method, bytes. */
    private static int bytesAddedTo(String method) throws Exception {
        Weaver.Result result = Woven.result(
                Looping.class,
                "bricks:\n  - in: org.brickprofiler.agent.WeaverTest$Looping." + method + "\n    brick: RMS_NORM\n");
        byte[] woven = Objects.requireNonNull(result.bytes());
        return codeSize(woven, method) - codeSize(Woven.file(Looping.class), method);
    }

    private static int codeSize(byte[] file, String method) {
        return ClassFiles.codeSizes(new ClassReader(file)).entrySet().stream()
                .filter(each -> each.getKey().startsWith(method + "("))
                .mapToInt(Map.Entry::getValue)
                .sum();
    }

    @Test
    void readsAnnotationsIfTheRulesNameThePackage() throws Exception {
        call(Woven.load(Annotated.class, "annotated: [org.brickprofiler.agent]\n"), "activate", new float[] {1, 2, 3});
        assertThat(Woven.recorded()).isEqualTo("{Activation=1/3}");
        assertThat(Woven.result(Annotated.class, "annotated: [org.brickprofiler.agen]\n")
                        .bytes())
                .isNull();
        assertThat(Woven.messages(Woven.result(Engine.class, "annotated: [org.brickprofiler.agent]\n")))
                .containsExactly(
                        "1: org.brickprofiler.agent.Engine.sample(): '1 or 2' is not a number of elements: write a number, "
                                + "or a path that begins with a parameter or this");
    }

    @Test
    void keepsTheTimersOfARecursionApart() throws Exception {
        Class<?> woven =
                Woven.load(Engine.class, "bricks:\n" + ENGINE + "factorial\n    brick: SAMPLING\n    elements: n\n");
        assertThat(call(woven, "factorial", 10)).isEqualTo(3_628_800L);
        assertThat(Woven.recorded()).isEqualTo("{Sampling=10/55}");
    }

    @Test
    void weavesTheLambdaThatACallTakes() throws Exception {
        weaveAndCall(
                "bricks:\n" + ENGINE + "lambdas\n    lambda: each 1\n    from: entry\n    to: before softmax\n"
                        + "    brick: ATTENTION_SCORE\n" + ENGINE + "lambdas\n    lambda: each 1\n"
                        + "    from: after softmax\n    to: exit\n    brick: ATTENTION_OUTPUT\n",
                "lambdas",
                4,
                new AtomicInteger());
        assertThat(Woven.recorded()).isEqualTo("{AttentionOutput=4/4, AttentionScore=4/4}");
        assertThat(Woven.messages(Woven.result(
                        Engine.class, "bricks:\n" + ENGINE + "lambdas\n    lambda: each 2\n    brick: RMS_NORM\n")))
                .containsExactly("2: each 2 takes a reference to the method java.lang.Math.abs: name that one");
    }

    @ParameterizedTest
    @CsvSource({
        "17, 17",
        "this.dim, 12",
        "this.shape.rows, 3",
        "this.shape.columns(), 5",
        "this.state.length, 4",
        "tokens.length, 9",
        "layers, 2",
        "arg1, 2",
        "arg0.length, 9"
    })
    void takesElementsFromThePathInTheRule(String elements, int expected) throws Exception {
        weaveAndCall(
                "bricks:\n" + ENGINE + "forward\n    call: softmax\n    brick: RMS_NORM\n    elements: " + elements,
                "forward",
                new int[9],
                2);
        assertThat(Woven.recorded()).isEqualTo("{RmsNorm=2/" + 2 * expected + "}");
    }

    @Test
    void keepsTheResultOfTheMethod() throws Exception {
        Class<?> woven = Woven.load(
                Engine.class,
                "bricks:\n" + ENGINE + "wide\n    brick: RMS_NORM\n    elements: a\n" + ENGINE
                        + "wide\n    from: before softmax 1\n    to: after fail\n    brick: SOFT\n    category: Other\n"
                        + "    elements: c\n");
        assertThat(call(woven, "wide", 3L, 2.0, 40L)).isEqualTo(3L);
        assertThat(call(woven, "wide", 3L, 0.5, 40L)).isEqualTo(3L);
        assertThatThrownBy(() -> call(woven, "wide", 7L, 2.0, 41L)).hasRootCauseMessage("at 7");
        assertThat(Woven.recorded()).isEqualTo("{RmsNorm=3/13, SOFT=2/81}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "forwrd       |                    | Engine has no method 'forwrd'; the closest that exist: forward,",
                "nothing      |                    | nothing is native: it has no code to weave",
                "overloaded   |                    | has more than one overloaded; there are overloaded(int) and overloaded(float[])",
                "overloaded(long) |                | has no overloaded(long); there are overloaded(int) and overloaded(float[])",
                "forward      | call: produkt 1    | forward does not call produkt; the closest that exist: product, softmax",
                "forward      | call: product 4    | forward calls product at 3 places, and not at 4",
                "forward      | lambda: product 1  | forward passes no lambda to product 1 of which this is certain",
                "forward      | elements: toks     | forward has no parameter 'toks'; the closest that exist: tokens, layers",
                "forward      | elements: tokens   | 'tokens' is not a whole number but has the type int[]",
                "forward      | elements: this.dm  | Engine has no field 'dm'; the closest that exist: dim,",
                "product      | elements: this.dim | there is no 'this' in the static method product",
                "forward      | elements: call.arg0  | 'call.arg0' is known only where a span begins before a call: from: before NAME",
                "generate     | {call: evaluate 1, elements: call.arg5} | evaluate 1 takes 5 arguments: there is no call.arg5",
                "generate     | {call: evaluate 1, elements: call.arg4} | 'call.arg4' is not a whole number but has the type boolean",
                "size         | elements: other.colums() | Shape has no method 'colums()'; the closest that exist: columns",
            })
    void namesTheTargetThatARuleDoesNotFind(String method, String line, String message) throws Exception {
        Weaver.Result result = Woven.result(
                Engine.class,
                "bricks:\n" + ENGINE + method + "\n    brick: RMS_NORM\n"
                        + (line == null
                                ? ""
                                : "    " + line.replaceAll("[{}]", "").replace(", ", "\n    ") + "\n"));
        assertThat(result.bytes()).isNull();
        assertThat(Woven.messages(result))
                .singleElement()
                .asString()
                .startsWith("2: ")
                .contains(message);
    }

    @Test
    void saysThatAnEndIsNeverReachedAndAppliesTheOtherRules() throws Exception {
        Weaver.Result result = Woven.result(
                Engine.class,
                "bricks:\n" + ENGINE + "endless\n    from: after softmax\n    to: before product\n    brick: RMS_NORM\n"
                        + ENGINE + "endless\n    brick: EMBEDDING\n" + ENGINE
                        + "reassigned\n    call: softmax\n    brick: EMBEDDING\n    elements: tokens.length\n" + ENGINE
                        + "reassigned\n    brick: EMBEDDING\n    elements: tokens.length\n"
                        + "  - in: org.brickprofiler.agent.Engine$Kernel.run\n    brick: RMS_NORM\n");
        assertThat(Woven.messages(result))
                .containsExactly(
                        "2: in endless, before product is not reached from after softmax",
                        "8: reassigned gives the parameter 'tokens' another value: it is known at entry only");
        assertThat(result.applied()).hasSize(2);
        assertThat(Woven.messages(Woven.result(
                        Engine.Kernel.class,
                        "bricks:\n  - in: org.brickprofiler.agent.Engine$Kernel.run\n    brick: RMS_NORM\n")))
                .containsExactly("2: run is abstract: name it in a class that implements it");
    }

    @Test
    void refusesAMethodThatWouldNoLongerBeCompiled() throws Exception {
        byte[] file = SizedClass.of("work", "()V", 7_990);
        Weaver weaver = Woven.weaver("bricks:\n  - in: Sized.work\n    brick: RMS_NORM\n");
        Weaver.Result result = weaver.weave(file, null);
        assertThat(result.bytes()).isNull();
        assertThat(Woven.messages(result))
                .singleElement()
                .asString()
                .matches("2: work would grow from 7990 to 80\\d\\d bytes "
                        + "of bytecode, past the 8000 up to which methods are compiled");
        assertThat(weaver.weave(SizedClass.of("work", "()V", 8_100), null).applied())
                .hasSize(1);
    }

    @Test
    void warnsOfAMethodThatIsNoLongerInlinedAndRefusesItIfItTakesVectors() throws Exception {
        Weaver weaver = Woven.weaver("bricks:\n  - in: Sized.work\n    brick: RMS_NORM\n");
        Weaver.Result plain = weaver.weave(SizedClass.of("work", "()V", 320), null);
        assertThat(plain.applied()).hasSize(1);
        assertThat(Woven.messages(plain))
                .singleElement()
                .asString()
                .matches(
                        "2: work grows from 320 to 3\\d\\d bytes of bytecode, past the 325 up to which it is inlined where it is hot");
        String vectors = "(Ljdk/incubator/vector/FloatVector;)V";
        Weaver.Result refused = weaver.weave(SizedClass.of("work", vectors, 320), null);
        assertThat(refused.bytes()).isNull();
        assertThat(Woven.messages(refused)).singleElement().asString().endsWith("and its vectors would become objects");
        assertThat(weaver.weave(SizedClass.of("work", vectors, 200), null).problems())
                .isEmpty();
    }

    @Test
    void countsLayersAndStepsAndHandsTheLayerOnToTasks() throws Exception {
        Class<?> woven = Woven.load(
                Engine.class,
                "step:\n  in: org.brickprofiler.agent.Engine.pass\nlayer:\n  in: org.brickprofiler.agent.Engine.pass\n"
                        + "  from: before product\n  to: after onThread\ntasks:\n  - in: org.brickprofiler.agent.Engine.onThread\n"
                        + "bricks:\n" + ENGINE + "pass\n    call: product\n    brick: RMS_NORM\n");
        List<Integer> layers = new ArrayList<>();
        Runnable look = () -> layers.add(Woven.PROFILER.currentLayer());
        call(woven, "pass", 3, look);
        call(woven, "pass", 2, look);
        assertThat(layers).containsExactly(0, 0, 1, 1, 2, 2, 0, 0, 1, 1);
        assertThat(Woven.PROFILER.currentLayer()).isEqualTo(-1);
        assertThat(Woven.recorded()).isEqualTo("{RmsNorm=5/5}");
        assertThat(Woven.messages(
                        Woven.result(Engine.class, "tasks:\n  - in: org.brickprofiler.agent.Engine.product\n")))
                .containsExactly("2: product takes no task: " + TASKS);
    }

    /** The agent weaves the call that hands the task over, not the called method; each of two methods is a step. */
    @Test
    void handsTheLayerOnAtOneCall() throws Exception {
        Class<?> woven = Woven.load(
                Engine.class,
                "step:\n" + ENGINE + "pass\n" + ENGINE + "factorial\n    tokens: n\nlayer:\n"
                        + "  - in: org.brickprofiler.agent.Engine.pass\n    from: before product\n    to: after onThread\n"
                        + "tasks:\n" + ENGINE + "pass\n    call: onThread 1\n"
                        + "bricks:\n" + ENGINE + "pass\n    call: product\n    brick: RMS_NORM\n");
        List<Integer> layers = new ArrayList<>();
        Runnable look = () -> layers.add(Woven.PROFILER.currentLayer());
        call(woven, "pass", 2, look);
        assertThat(layers).containsExactly(0, 0, 1, 1);
        call(woven, "factorial", 1);
        assertThat(Woven.PROFILER.snapshot().steps().count()).isEqualTo(2);
        assertThat(Woven.messages(Woven.result(Engine.class, "tasks:\n" + ENGINE + "pass\n    call: product\n")))
                .containsExactly("2: product takes no task as its last argument: " + TASKS);
    }

    /** Such a step outputs no token. */
    @ParameterizedTest
    @CsvSource({"true, PREFILL, 0", "false, DECODE, 1"})
    void aStepOfOneTokenIsAPromptIfTheRuleSaysSo(String prompt, StepInfo.Phase phase, long given) throws Exception {
        Class<?> woven = Woven.load(
                Engine.class, "step:\n" + ENGINE + "factorial\n    tokens: n\n    kv: 7\n    prompt: " + prompt + "\n");
        call(woven, "factorial", 1);
        StepStats steps = Woven.PROFILER.snapshot().steps().phase(phase).orElseThrow();
        assertThat(steps.count()).isEqualTo(1);
        assertThat(steps.prefillTokens()).isEqualTo(1 - given);
        assertThat(steps.outputTokens()).isEqualTo(given);
        assertThat(steps.kvLength()).isEqualTo(7);
        assertThat(Woven.PROFILER.snapshot().steps().timeToFirstToken().count()).isZero();
    }

    /**
     * A prompt of seven tokens in three parts, the last of one token, and two more tokens: the first token comes once.
     */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{from: before evaluate 1, to: after softmax, tokens: call.arg1.length, kv: call.arg3, output: call.arg4, prompt: true} "
                        + "| {from: before evaluate 2, to: after softmax, kv: call.arg3}",
                "{call: evaluate, tokens: call.arg1.length, kv: call.arg3, output: call.arg4}|''",
            })
    void countsThePartsOfAPromptAsOneWaitForItsFirstToken(String prompt, String others) throws Exception {
        String in = "  - {in: org.brickprofiler.agent.Engine.generate, ";
        Class<?> woven = Woven.load(
                Engine.class,
                "step:\n" + in + prompt.substring(1) + "\n" + (others.isEmpty() ? "" : in + others.substring(1) + "\n")
                        + "bricks:\n" + ENGINE + "generate\n    call: softmax\n    brick: SAMPLING\n");
        assertThat(call(woven, "generate", new int[][] {new int[3], new int[3], new int[1]}, 2))
                .isEqualTo(903);
        Steps steps = Woven.PROFILER.snapshot().steps();
        StepStats prefill = steps.phase(StepInfo.Phase.PREFILL).orElseThrow();
        assertThat(prefill.count()).isEqualTo(3);
        assertThat(prefill.prefillTokens()).isEqualTo(7);
        assertThat(prefill.kvLength()).isEqualTo(0 + 3 + 6);
        assertThat(prefill.outputTokens()).isEqualTo(1);
        StepStats decode = steps.phase(StepInfo.Phase.DECODE).orElseThrow();
        assertThat(decode.count()).isEqualTo(2);
        assertThat(decode.kvLength()).isEqualTo(7 + 8);
        assertThat(decode.outputTokens()).isEqualTo(2);
        assertThat(steps.timeToFirstToken().count()).isEqualTo(1);
        assertThat(steps.timePerOutputToken().count()).isEqualTo(2);
        assertThat(steps.abandoned()).isZero();
    }

    /** The second rule names the span in other words, one of its several places, or another brick. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "call: product 1, brick: RMS_NORM | call: product 1, brick: RMS_NORM | 1",
                "call: product 1, brick: RMS_NORM | from: before product 1, to: after product 1, brick: EMBEDDING | 1",
                "call: product, brick: RMS_NORM | call: product 2, brick: RMS_NORM | 3",
                "brick: RMS_NORM | from: entry, to: exit, brick: EMBEDDING | 1",
            })
    void refusesASecondRuleForOneSpan(String first, String second, int counted) throws Exception {
        String in = "  - {in: org.brickprofiler.agent.Engine.forward, ";
        String rules = "bricks:\n" + in + first + "}\n" + in + second + "}\n";
        Weaver.Result result = Woven.result(Engine.class, rules);
        assertThat(Woven.messages(result))
                .singleElement()
                .asString()
                .startsWith("3: the span from ")
                .endsWith(" of forward would count twice: the rule of line 2 has it already");
        assertThat(result.applied()).extracting(WeaveRule::line).containsExactly(2);
        call(Woven.load(Engine.class, "bricks:\n" + in + first + "}\n"), "forward", new int[1], 1);
        assertThat(Woven.recorded()).isEqualTo("{RmsNorm=" + counted + "/" + counted + "}");
    }

    @Test
    void refusesARuleForASpanThatAnAnnotationHas() throws Exception {
        Weaver.Result result = Woven.result(
                Annotated.class,
                "annotated: [org.brickprofiler.agent]\nbricks:\n  - in: " + Annotated.class.getName()
                        + ".activate\n    brick: ACTIVATION\n");
        assertThat(Woven.messages(result))
                .containsExactly(
                        "1: the span from entry to exit of activate would count twice: the rule of line 3 has it already");
    }

    /** A span within another one counts in both, and so does one that begins at the same place and ends elsewhere. */
    @Test
    void letsSpansLieWithinEachOther() throws Exception {
        weaveAndCall(
                "bricks:\n" + ENGINE
                        + "forward\n    from: before product 1\n    to: after softmax\n    brick: RMS_NORM\n" + ENGINE
                        + "forward\n    call: product 1\n    brick: EMBEDDING\n",
                "forward",
                new int[1],
                2);
        assertThat(Woven.recorded()).isEqualTo("{Embedding=2/2, RmsNorm=2/2}");
    }

    /** A step without a token is a part of a prompt, within which the warm-up does not end. */
    @ParameterizedTest
    @CsvSource({"1, 2", "2, 2", "3, 3", "5, 5", "7, 8", "8, 8"})
    void theWarmUpDropsAsManySteps(long warmup, int dropped) {
        BrickProfiler profiler = BrickProfiler.enabled();
        Recorder.StepCounts steps = new Recorder.StepCounts(warmup, profiler::reset, null);
        Recorder recorder = Woven.recorder(profiler, steps, new AgentLosses(message -> {}), message -> {});
        // Two prompts of two parts, each followed by four tokens.
        int number = 0;
        for (long output : new long[] {0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1}) {
            assertThat(steps.isWarmingUp()).as("at step " + number).isEqualTo(number < dropped);
            recorder.endStep(recorder.startStep(output == 0 ? 16 : 1, 0, output, output == 0));
            number++;
        }
        assertThat(profiler.snapshot().steps().count()).isEqualTo(12 - dropped);
    }

    @Test
    void aWarmUpWithinAPromptStatesThatItHasNoToken() {
        Recorder.StepCounts steps = new Recorder.StepCounts(2, () -> {}, null);
        Recorder recorder =
                Woven.recorder(BrickProfiler.enabled(), steps, new AgentLosses(message -> {}), message -> {});
        recorder.endStep(recorder.startStep(16, 0, 0, true));
        assertThat(steps.warmupText()).isEqualTo("1 of the 2 steps of its warm-up");
        recorder.endStep(recorder.startStep(16, 16, 0, true));
        recorder.endStep(recorder.startStep(16, 32, 0, true));
        assertThat(steps.warmupText()).isEqualTo("2 of the 2 steps of its warm-up and no token after them");
    }

    /** The parts of a prompt before its first token belong to the warm-up. */
    @Test
    void endsTheWarmUpWithAToken() {
        BrickProfiler profiler = BrickProfiler.enabled();
        List<String> said = new ArrayList<>();
        Recorder recorder = Woven.recorder(
                profiler, new Recorder.StepCounts(1, profiler::reset, null), new AgentLosses(said::add), said::add);
        for (int prompt = 0; prompt < 2; prompt++) {
            recorder.endStep(recorder.startStep(16, 0, 0, true));
            recorder.endStep(recorder.startStep(16, 16, 0, true));
            recorder.endStep(recorder.startStep(4, 32, 1, true));
        }
        Steps steps = profiler.snapshot().steps();
        assertThat(steps.phase(StepInfo.Phase.PREFILL).orElseThrow().prefillTokens())
                .isEqualTo(36);
        assertThat(steps.timeToFirstToken().count()).isEqualTo(1);
        assertThat(said).isEmpty();
    }

    /** It cannot be known whether the tokens at the first positions belonged to a prompt or were generated. */
    @ParameterizedTest
    @CsvSource({"0, 1, true", "0, 3, true", "3, 1, false", "1, 1, false"})
    void aSequenceWithoutAPromptIsNamed(int promptSteps, int sequences, boolean isNamed) {
        Recorder.StepCounts steps = new Recorder.StepCounts(0, () -> {}, null);
        Recorder recorder =
                Woven.recorder(BrickProfiler.enabled(), steps, new AgentLosses(message -> {}), message -> {});
        for (int sequence = 0; sequence < sequences; sequence++) {
            long prompt = recorder.startPrompt(promptSteps, 0);
            for (int position = 0; position < 6; position++) {
                recorder.endStep(recorder.startStep(1, position, 1, false));
            }
            recorder.endPrompt(prompt);
        }
        if (isNamed) {
            assertThat(steps.doubtText().orElseThrow())
                    .startsWith("no step was a prompt in " + sequences + " sequence")
                    .contains("tokens/s is too high");
        } else {
            assertThat(steps.doubtText()).isEmpty();
        }
    }

    /** As with a rule for the loop over tokens beside one for the forward pass: a token is output once. */
    @Test
    void ofStepsWithinStepsTheInnerOneCounts() throws Exception {
        AtomicLong warmedUpAt = new AtomicLong();
        AtomicLong begun = new AtomicLong();
        BrickProfiler profiler = BrickProfiler.enabled();
        Recorder.StepCounts steps = new Recorder.StepCounts(3, () -> warmedUpAt.set(begun.get()), null);
        Recorder recorder = Woven.recorder(profiler, steps, new AgentLosses(message -> {}), message -> {});
        for (int token = 0; token < 3; token++) {
            assertThat(steps.isWarmingUp()).isTrue();
            begun.incrementAndGet();
            long outer = recorder.startStep(1, token, 1, false);
            recorder.endStep(recorder.startStep(1, token, 1, false));
            recorder.endStep(outer);
        }

        assertThat(warmedUpAt).hasValue(3);
        assertThat(steps.isWarmingUp()).isFalse();
        assertThat(steps.nestedText().orElseThrow()).startsWith("3 steps began within another step");
        Steps recorded = profiler.snapshot().steps();
        assertThat(recorded.phase(StepInfo.Phase.DECODE).orElseThrow().outputTokens())
                .isEqualTo(3);

        recorder.endStep(recorder.startStep(1, 3, 1, false));
        assertThat(steps.nestedText().orElseThrow()).startsWith("3 steps began");
    }

    /** Decodes the tokens of a prompt as any other token, as engines without prefill do. */
    static final class Decoding {
        private int forwards;

        private void forward(int position) {
            forwards += position;
        }

        /** Samples after the pass that follows the prompt. */
        int generate(List<Integer> prompt, int count) {
            for (int i = 0; i < prompt.size() + count; i++) {
                forward(i);
            }
            return forwards;
        }
    }

    /** Each case: how many tokens the last step of the prompt outputs, and the steps of the phases. */
    @ParameterizedTest
    @CsvSource({"0, 5, 2", "1, 4, 3"})
    void stepsOfAPromptOutputNothing(int output, int prefills, int decodes) throws Exception {
        String in = "in: " + Decoding.class.getName() + ".";
        Class<?> woven = Woven.load(
                Decoding.class,
                "step:\n  " + in + "forward\n  kv: position\nprompts:\n  - " + in
                        + "generate\n    steps: prompt.size()\n" + "    output: " + output + "\n");
        for (int i = 0; i < 2; i++) {
            call(woven, "generate", List.of(7, 8, 9, 10), 3);
        }
        call(woven, "forward", 99);
        Steps steps = Woven.PROFILER.snapshot().steps();
        StepStats prefill = steps.phase(StepInfo.Phase.PREFILL).orElseThrow();
        StepStats decode = steps.phase(StepInfo.Phase.DECODE).orElseThrow();
        assertThat(List.of(prefill.count(), prefill.prefillTokens(), prefill.outputTokens()))
                .isEqualTo(List.of(2L * prefills, 2L * prefills, 2L));
        assertThat(List.of(decode.count(), decode.outputTokens()))
                .isEqualTo(List.of(2L * decodes + 1, 2L * decodes + 1));
        assertThat(steps.timeToFirstToken().count()).isEqualTo(2);
    }

    /** The engine's method tolerates null, and so does the path of the rule. */
    @ParameterizedTest
    @CsvSource({"other.rows, NullPointerException", "arg0.columns(), NullPointerException"})
    void countsANumberThatCannotBeRead(String elements, String failure) throws Exception {
        Class<?> woven = Woven.load(
                Engine.class, "bricks:\n" + ENGINE + "tolerant\n    brick: RMS_NORM\n    elements: " + elements + "\n");
        Woven.SAID.clear();
        for (int i = 0; i < 3; i++) {
            assertThat(call(woven, "tolerant", (Object) null)).isEqualTo(-1);
        }
        assertThat(Woven.recorded()).isEqualTo("{RmsNorm=3/0}");
        assertThat(Woven.SAID)
                .singleElement()
                .asString()
                .startsWith("line 2, '" + elements + "' cannot be read, and counts as 0: java.lang." + failure);
        assertThat(Woven.LOSSES.summary())
                .contains("line 2, '" + elements + "' could not be read 3 times, and counts as 0 there");
    }

    @Test
    void countsExceptionsOfCallsInAPath() throws Exception {
        Class<?> woven = Woven.load(
                Engine.class,
                "bricks:\n" + ENGINE + "forward\n    brick: RMS_NORM\n    elements: this.shape.failing()\n");
        call(woven, "forward", new int[1], 1);
        assertThat(Woven.recorded()).isEqualTo("{RmsNorm=1/0}");
        assertThat(Woven.LOSSES.summary())
                .contains("line 2, 'this.shape.failing()' could not be read 1 time, and counts as 0 there");
    }

    /** As of another version of a class than the rule was checked against: the places are linked, and read nothing. */
    @Test
    void countsEachReadingOfANumberThatDoesNotExist() throws Throwable {
        AgentLosses losses = new AgentLosses(message -> {});
        Recorder recorder =
                Woven.recorder(new BrickProfiler(), new Recorder.StepCounts(0, () -> {}, null), losses, message -> {});
        MethodHandles.Lookup caller = MethodHandles.lookup();
        MethodType number = MethodType.methodType(long.class, String.class);
        MethodHandle elements = recorder.elements(caller, number, "a", "gone:I");
        MethodHandle object =
                recorder.elements(caller, MethodType.methodType(Object.class, String.class), "b", "gone:I");
        MethodHandle amount = recorder.amount(caller, number, "c", "gone:I");
        MethodHandle weight = recorder.weight(caller, number, "d", "", "gone:I");
        MethodHandle outcome =
                recorder.outcome(caller, MethodType.methodType(int.class, String.class), "e", "", "gone:I");
        for (int i = 0; i < 3; i++) {
            assertThat((long) elements.invoke("")).isZero();
            assertThat((Object) object.invoke("")).isNull();
            assertThat((long) amount.invoke("")).isEqualTo(WovenWork.UNREAD);
            assertThat((long) weight.invoke("")).isEqualTo(WovenWork.UNREAD);
            assertThat((int) outcome.invoke("")).isEqualTo(Outcomes.number(Outcome.COMPLETED));
        }
        assertThat(losses.summary())
                .contains(
                        "a could not be read 3 times, and counts as 0 there",
                        "b could not be read 3 times, and counts as 0 there",
                        "c could not be read 3 times",
                        "d could not be read 3 times",
                        "e could not be read 3 times, and counts as 0 there");
    }

    @Test
    void countsNegativeElementsAsNone() {
        AgentLosses losses = new AgentLosses(message -> {});
        Recorder recorder =
                Woven.recorder(new BrickProfiler(), new Recorder.StepCounts(0, () -> {}, null), losses, message -> {});
        recorder.stopBrick(recorder.startBrick(1), -4);
        assertThat(losses.summary()).containsExactly("elements: of a brick was negative 1 time, and counts as 0 there");
    }

    /** A full heap, a full stack, and an unexpected error of the profiler. */
    @Test
    void keepsFailuresOfTheProfilerFromTheEngine() throws Exception {
        Class<?> woven = Woven.load(
                Engine.class,
                "bricks:\n" + ENGINE + "forward\n    brick: RMS_NORM\n" + ENGINE
                        + "softmax\n    brick: ATTENTION_SOFTMAX\n");
        double expected = (double) call(woven, "forward", new int[1], 2);
        for (Supplier<Error> error : List.<Supplier<Error>>of(
                () -> new OutOfMemoryError("on purpose"), StackOverflowError::new, LinkageError::new)) {
            Woven.failing = error;
            try {
                assertThat(call(woven, "forward", new int[1], 2)).isEqualTo(expected);
            } finally {
                Woven.failing = null;
            }
        }
        assertThat(Woven.recorded()).isEqualTo("{AttentionSoftmax=2/2, RmsNorm=1/1}");
        assertThat(Woven.LOSSES.summary())
                .contains("18 calls of the profiler failed and recorded nothing, the first of them with "
                        + "java.lang.OutOfMemoryError: on purpose");
    }

    /** The bridge that checks whether the profiler calls itself is for the JDK's classes; others do not pay for it. */
    @Test
    void callsTheGuardedBridgeInClassesOfTheJdk() throws Exception {
        Weaver weaver = Woven.weaver("step:\n  in: Sized.work\nbricks:\n  - in: Sized.work\n    brick: RMS_NORM\n");
        byte[] file = SizedClass.of("work", "()V", 10);
        Weaver.Result ofJdk = weaver.weave(file, null);
        assertThat(Woven.messages(ofJdk))
                .containsExactly(
                        "2: Sized is a class of the JDK: requests, prompts, steps and layers belong to the engine, name one of its methods");
        assertThat(new String(Objects.requireNonNull(ofJdk.bytes()), StandardCharsets.ISO_8859_1))
                .contains("bridge/JdkBridge");
        assertThat(new String(
                        Objects.requireNonNull(
                                weaver.weave(file, getClass().getClassLoader()).bytes()),
                        StandardCharsets.ISO_8859_1))
                .contains("bridge/Bridge")
                .doesNotContain("bridge/JdkBridge");
    }

    /** The rule reads an argument, by name or position, or a constant. A negative number makes it the next layer. */
    @ParameterizedTest
    @CsvSource({
        "Engine.block, index, '[7, 7, 7, 2, 2, 2, 2, 2, 2, 3, 3, 3]'",
        "Engine.block, arg0, '[7, 7, 7, 2, 2, 2, 2, 2, 2, 3, 3, 3]'",
        "Engine.block, 6, '[6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6]'",
    })
    void layersHaveTheNumberThatTheRuleReads(String method, String number, String expected) throws Exception {
        Class<?> woven = Woven.load(
                Engine.class,
                "step:\n" + ENGINE + "blocks\nlayer:\n  in: org.brickprofiler.agent." + method + "\n  number: " + number
                        + "\ntasks:\n" + ENGINE + "inParts\n" + "bricks:\n" + ENGINE
                        + "product\n    brick: RMS_NORM\n");
        List<Integer> layers = Collections.synchronizedList(new ArrayList<>());
        IntConsumer look = to -> layers.add(Woven.PROFILER.currentLayer());
        Woven.SAID.clear();
        call(woven, "blocks", new int[] {7, 2, 2, -5}, look);
        assertThat(layers).hasToString(expected);
        assertThat(Woven.PROFILER.currentLayer()).isEqualTo(-1);
        assertThat(Woven.recorded()).isEqualTo("{RmsNorm=8/8}");
        assertThat(Woven.SAID).isEmpty();
    }

    @Test
    void theNumberOfALayerMayBeAField() throws Exception {
        String block = Block.class.getName();
        String rules = "layer:\n  - in: " + block + ".forward\n    number: this.index\nbricks:\n  - in: " + block
                + ".forward\n    brick: RMS_NORM\n";
        Class<?> woven = Woven.load(Block.class, rules);
        List<Integer> layers = new ArrayList<>();
        IntConsumer look = index -> layers.add(Woven.PROFILER.currentLayer());
        for (int index : new int[] {5, 2}) {
            Object layer = woven.getDeclaredConstructor(int.class).newInstance(index);
            woven.getDeclaredMethod("forward", IntConsumer.class).invoke(layer, look);
        }
        assertThat(layers).containsExactly(5, 2);
        assertThat(Woven.recorded()).isEqualTo("{RmsNorm=2/2}");
        Woven.PROFILER.endPass();
        assertThat(Woven.messages(Woven.result(Block.class, rules.replace("this.index", "this.indx"))))
                .containsExactly("2: " + block + " has no field 'indx'; the closest that exist: index");
    }

    @Test
    void handsTheLayerOnWithTasksOfTheEnginesOwn() throws Exception {
        Class<?> woven = Woven.load(
                Engine.class, "layer:\n" + ENGINE + "block\ntasks:\n" + ENGINE + "block\n    call: inParts\n");
        List<Integer> layers = Collections.synchronizedList(new ArrayList<>());
        IntConsumer look = to -> layers.add(Woven.PROFILER.currentLayer());
        call(woven, "blocks", new int[] {0, 0}, look);
        assertThat(layers).containsExactly(0, 0, 0, 1, 1, 1);
        Woven.PROFILER.endPass();
        assertThat(Woven.messages(Woven.result(Engine.class, "tasks:\n" + ENGINE + "either\n" + ENGINE + "unit\n")))
                .containsExactly(
                        "2: either has several parameters that may be tasks, org.brickprofiler.agent.Engine$Task and "
                                + "org.brickprofiler.agent.Engine$Task: name a call whose last argument is the task",
                        "3: unit takes no task: " + TASKS);
    }

    @Test
    void weavesConstructorsOnceTheObjectExists() throws Exception {
        String in = "bricks:\n  - in: org.brickprofiler.agent.WeaverTest$Table.<init>\n";
        Class<?> woven = Woven.load(
                Table.class,
                in + "    brick: EMBEDDING\n    elements: rows\n" + in.substring(8)
                        + "    call: sqrt\n    brick: RMS_NORM\n    elements: this.width\n");
        assertThat(woven.getDeclaredConstructor(int.class).newInstance(3)).hasToString("4.0");
        assertThatThrownBy(() -> woven.getDeclaredConstructor(int.class).newInstance(-3))
                .hasRootCauseInstanceOf(NegativeArraySizeException.class);
        assertThat(Woven.OPEN).hasValue(0);
        assertThat(Woven.recorded()).isEqualTo("{Embedding=2/3, RmsNorm=1/2}");
        assertThat(Woven.messages(Woven.result(Table.class, in + "    call: max\n    brick: RMS_NORM\n")))
                .containsExactly("2: before max lies before the object exists");
    }

    @Test
    void allocatesNothing() throws Exception {
        Class<?> woven = Woven.load(Looping.class, """
                bricks:
                  - in: org.brickprofiler.agent.WeaverTest$Looping.run
                    call: half
                    brick: RMS_NORM
                    elements: this.size
                """);
        Runnable loop = (Runnable) woven.getDeclaredConstructor().newInstance();
        loop.run();
        assertThat(AllocatedBytes.fewest(10, () -> AllocatedBytes.of(loop))).isZero();
        assertThat(loop.toString()).isNotEqualTo("0.0");
        assertThat(Woven.PROFILER.brickStats(BrickId.RMS_NORM).count()).isPositive();
    }

    /** A class whose constructor calls another one, with a call before that one and one after. */
    public static final class Table extends Base {
        private final int width = 2;
        private final float[] first;
        private final double root;

        /** For the test. */
        public Table(int rows) {
            super(new int[Math.max(rows, 1)]);
            first = new float[rows];
            root = Math.sqrt(4 * first.length + width * width);
        }

        @Override
        public String toString() {
            return Double.toString(root);
        }
    }

    /** A layer that knows its number. */
    public static final class Block {
        private final int index;

        /** For the test. */
        public Block(int index) {
            this.index = index;
        }

        /** For the test. */
        public void forward(IntConsumer look) {
            look.accept(index);
        }
    }

    /** The superclass. */
    public static class Base {
        /** For the test. */
        public Base(int[] sizes) {}
    }

    /** A class with an annotated method. */
    public static final class Annotated {
        @Brick(value = BrickId.ACTIVATION, elements = "gate.length")
        static float activate(float[] gate) {
            return gate[0];
        }
    }

    /** A loop over a brick. */
    public static final class Looping implements Runnable {
        private final int size = 3;
        private double sum;

        /** For the test. */
        public Looping() {}

        @Override
        public void run() {
            for (int n = 0; n < 10_000; n++) {
                sum += half(n * size);
            }
        }

        @Override
        public String toString() {
            return Double.toString(sum);
        }

        private static double half(int n) {
            return n * 0.5;
        }

        /** Throws for 0. */
        static int quotient(int n) {
            return 12 / n;
        }
    }
}
