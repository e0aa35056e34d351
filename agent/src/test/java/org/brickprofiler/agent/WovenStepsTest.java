package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.agent.bridge.Bridge;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Steps that fail, layers within layers, and samples within which recording is switched off. */
class WovenStepsTest {

    private static final String IN = "in: " + Failing.class.getName() + ".";

    private static Object make(Class<?> type) throws Exception {
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        return constructor.newInstance();
    }

    private static void call(Object engine, String name, int argument) throws Exception {
        Method method = engine.getClass().getDeclaredMethod(name, int.class);
        method.setAccessible(true);
        method.invoke(engine, argument);
    }

    /** An engine of which some passes fail. */
    static final class Failing {
        private int passes;

        private void forward(int token) {
            passes++;
            if (token % 4 == 3) {
                throw new IllegalStateException("the context is full after " + passes);
            }
        }

        void generate(int tokens) {
            for (int i = 0; i < tokens; i++) {
                forward(i);
            }
        }

        void tolerant(int tokens) {
            for (int i = 0; i < tokens; i++) {
                try {
                    forward(i);
                } catch (IllegalStateException full) {
                    passes--;
                }
            }
        }
    }

    /** Each case: the step is a method, or a call of it, and the failure leaves the method or is caught within it. */
    @Spec("17.5")
    @ParameterizedTest
    @CsvSource({"forward, generate", "generate\\n  call: forward, generate", "tolerant\\n  call: forward, tolerant"})
    void aStepThatAnExceptionEndsOutputsNothing(String step, String method) throws Exception {
        Object engine = make(Woven.load(Failing.class, "step:\n  " + IN + step.replace("\\n", "\n") + "\n  kv: 7\n"));
        if (method.equals("tolerant")) {
            call(engine, method, 8);
        } else {
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> call(engine, method, 8))
                        .isInstanceOf(InvocationTargetException.class)
                        .hasRootCauseInstanceOf(IllegalStateException.class);
            }
        }
        Steps steps = Woven.PROFILER.snapshot().steps();
        StepStats decode = steps.phase(Phase.DECODE).orElseThrow();
        assertThat(List.of(decode.count(), decode.outputTokens(), steps.abandoned()))
                .isEqualTo(List.of(6L, 6L, 2L));
    }

    /** After a part of a prompt that failed, a step of one token decodes. */
    @Test
    void noStepContinuesAPromptThatFailed() {
        BrickProfiler profiler = BrickProfiler.enabled();
        Recorder.StepCounts steps = new Recorder.StepCounts(0, () -> {}, null);
        Recorder recorder = Woven.recorder(profiler, steps, new AgentLosses(message -> {}), message -> {});
        recorder.failStep(recorder.startStep(16, 0, 0, true));
        recorder.endStep(recorder.startStep(1, 16, 1, false));
        assertThat(profiler.snapshot().steps().phase(Phase.DECODE).orElseThrow().outputTokens())
                .isEqualTo(1);
        assertThat(steps.tokensPerSec()).isPresent();
    }

    /** Loaded classes are woven one by one: a step within may lack the layers and bricks of the other classes. */
    @Test
    void stepsThatBeginBeforeAllLoadedClassesAreWovenAreNotRecorded() {
        BrickProfiler profiler = BrickProfiler.enabled();
        AgentLosses losses = new AgentLosses(message -> {});
        ReachedRules reached = new ReachedRules(List.of());
        Recorder recorder = new Recorder(
                profiler,
                new Recorder.StepCounts(0, () -> {}, null),
                new WovenRequests(null, losses),
                new WovenWork(List.of(), rule -> 0, profiler, losses),
                reached,
                losses,
                message -> {});
        int norm = profiler.brickKey("RmsNorm");
        long early = recorder.startStep(1, 0, 1, false);
        recorder.stopBrick(recorder.startBrick(norm), 1);
        reached.weavingEnds();
        recorder.endStep(early);
        assertThat(profiler.snapshot().steps().count()).isZero();

        long whole = recorder.startStep(1, 1, 1, false);
        recorder.stopBrick(recorder.startBrick(norm), 1);
        recorder.endStep(whole);
        assertThat(profiler.snapshot().steps().count()).isEqualTo(1);
        assertThat(profiler.snapshot().bricks(Phase.DECODE))
                .singleElement()
                .satisfies(brick -> assertThat(brick.count()).isEqualTo(1));
        assertThat(reached.beforeStepsText())
                .hasValue("1 sample ended before the first step that began after weaving, thus in no phase: of"
                        + " RmsNorm");
    }

    /** A client of the bean may reset the profile of a run that goes on. */
    @Test
    void otherRulesBeginAnotherWarmup() {
        AtomicInteger ended = new AtomicInteger();
        Recorder.StepCounts steps = new Recorder.StepCounts(0, ended::incrementAndGet, null);
        Recorder recorder = Woven.recorder(new BrickProfiler(), steps, new AgentLosses(message -> {}), message -> {});
        recorder.endStep(recorder.startStep(1, 0, 1, false));
        steps.warmUp(2);
        assertThat(steps.warmupText()).isEqualTo("0 of the 2 steps of its warm-up");
        recorder.endStep(recorder.startStep(1, 1, 1, false));
        assertThat(steps.isWarmingUp()).isTrue();
        recorder.endStep(recorder.startStep(1, 2, 1, false));
        assertThat(steps.isWarmingUp()).isFalse();
        assertThat(ended).hasValue(1);
    }

    @Test
    void theRateOfTokensBeginsAnewWithTheProfile() {
        Recorder.StepCounts steps = new Recorder.StepCounts(0, () -> {}, null);
        Recorder recorder =
                Woven.recorder(BrickProfiler.enabled(), steps, new AgentLosses(message -> {}), message -> {});
        recorder.endStep(recorder.startStep(1, 4, 1_000_000, false));
        double before = steps.tokensPerSec().orElseThrow();
        long underWay = recorder.startStep(1, 5, 1_000_000, false);
        steps.discard();
        recorder.endStep(underWay);
        assertThat(steps.tokensPerSec()).isEmpty();
        recorder.endStep(recorder.startStep(1, 6, 1, false));
        assertThat(steps.tokensPerSec().orElseThrow()).isLessThan(before);
    }

    /** As of an engine with another meaning of these numbers. */
    @Test
    void negativeNumbersOfAStepAreCounted() {
        List<String> said = new ArrayList<>();
        AgentLosses losses = new AgentLosses(said::add);
        BrickProfiler profiler = BrickProfiler.enabled();
        Recorder recorder = Woven.recorder(profiler, new Recorder.StepCounts(0, () -> {}, null), losses, message -> {});
        recorder.endPrompt(recorder.startPrompt(-1, -1));
        for (int step = 0; step < 3; step++) {
            recorder.endStep(recorder.startStep(-7, -step, -1, false));
        }
        assertThat(losses.summary())
                .containsExactly(
                        "kv: of a step was negative 2 times, and counts as 0 there",
                        "output: of a prompt was negative 1 time, and counts as 0 there",
                        "output: of a step was negative 3 times, and counts as 0 there",
                        "steps: of a prompt was negative 1 time, and counts as 0 there",
                        "tokens: of a step was negative 3 times, and counts as 0 there");
        assertThat(said)
                .hasSize(5)
                .contains(
                        "tokens: of a step was negative, and counts as 0: -7",
                        "kv: of a step was negative, and counts as 0: -1");
        StepStats prefill = profiler.snapshot().steps().phase(Phase.PREFILL).orElseThrow();
        assertThat(List.of(prefill.count(), prefill.prefillTokens(), prefill.outputTokens()))
                .isEqualTo(List.of(3L, 0L, 0L));
    }

    /** Losses of the warm-up do not belong to the profile; a class that was not woven remains one. */
    @Test
    void discardingDropsTheLossesOfSamplesAndSteps() {
        BrickProfiler profiler = BrickProfiler.enabled();
        AgentLosses losses = new AgentLosses(message -> {});
        Recorder.StepCounts steps = new Recorder.StepCounts(0, () -> {}, null);
        Recorder recorder = Woven.recorder(profiler, steps, losses, message -> {});
        recorder.stopBrick(recorder.startBrick(1), -4);
        recorder.failed(new IllegalStateException());
        losses.unread("a", new IllegalStateException());
        losses.unreadAmount("b", new IllegalStateException());
        losses.unknownType("c", "d");
        losses.unknownWork("e");
        losses.unknownOutcome("f", "g");
        losses.leftAlone("h", WovenStepsTest.class.getClassLoader());
        for (int position = 0; position < 2; position++) {
            long outer = recorder.startStep(1, position, 1, false);
            recorder.startLayer(-1);
            recorder.endStep(recorder.startStep(1, position, 1, false));
            recorder.endStep(outer);
        }
        assertThat(losses.summary()).hasSize(8);
        assertThat(List.of(steps.doubtText(), steps.nestedText(), steps.nestedLayersText()))
                .allSatisfy(text -> assertThat(text).isPresent());

        losses.discard();
        steps.discard();
        assertThat(losses.summary())
                .containsExactly("1 class was not woven, since its loader does not see the agent's bridge");
        assertThat(List.of(steps.doubtText(), steps.nestedText(), steps.nestedLayersText()))
                .allSatisfy(text -> assertThat(text).isEmpty());
    }

    /**
     * A step of the warm-up may end after it, on another thread; its tokens were output before the time that counts.
     */
    @Test
    void aStepOfTheWarmUpThatEndsAfterItHasNoRate() throws InterruptedException {
        Recorder.StepCounts steps = new Recorder.StepCounts(1, () -> {}, null);
        Recorder recorder =
                Woven.recorder(BrickProfiler.enabled(), steps, new AgentLosses(message -> {}), message -> {});
        long late = recorder.startStep(1, 4, 1_000, false);
        Thread other = new Thread(() -> recorder.endStep(recorder.startStep(1, 4, 1, false)));
        other.start();
        other.join();
        assertThat(steps.isWarmingUp()).isFalse();
        recorder.endStep(late);
        assertThat(steps.tokensPerSec()).isEmpty();
        recorder.endStep(recorder.startStep(1, 5, 1, false));
        assertThat(steps.tokensPerSec()).isPresent();
    }

    /** As with a rule for a method that calls itself for the next layer. */
    @Spec("3.8")
    @Test
    void aLayerEndsWhereAnotherOneBeginsWithinIt() {
        BrickProfiler profiler = BrickProfiler.enabled();
        Recorder.StepCounts steps = new Recorder.StepCounts(0, () -> {}, null);
        Recorder recorder = Woven.recorder(profiler, steps, new AgentLosses(message -> {}), message -> {});
        List<Integer> layers = new ArrayList<>();
        for (int token = 0; token < 2; token++) {
            long step = recorder.startStep(1, 9, 1, false);
            List<Long> open = new ArrayList<>();
            for (int layer = 0; layer < 3; layer++) {
                open.add(0, recorder.startLayer(-1));
                layers.add(profiler.currentLayer());
            }
            for (long each : open) {
                recorder.endLayer(each);
                layers.add(profiler.currentLayer());
            }
            recorder.endStep(step);
        }
        assertThat(layers).containsExactly(0, 1, 2, -1, -1, -1, 0, 1, 2, -1, -1, -1);
        assertThat(steps.nestedLayersText().orElseThrow())
                .startsWith("4 times, a layer or step began within a layer of the same thread");

        recorder.endLayer(recorder.startLayer(-1));
        assertThat(steps.nestedLayersText().orElseThrow()).startsWith("4 times");
    }

    /** As with {@code ab=} while another thread decodes: the sample is lost, and its work is not. */
    @Test
    void workIsUnknownIfRecordingIsSwitchedOffWithinASample() throws Exception {
        Woven.loadWithWork(
                Failing.class,
                "bricks:\n  - " + IN + "forward\n    brick: LM_HEAD\n    work: {matmul: [4, 8], weight: F16}\n");
        int key = Woven.PROFILER.brickKey("LmHead");
        Woven.SAID.clear();
        for (int i = 0; i < 2; i++) {
            Bridge.product(0, 4, 8, 1, WeightTypes.F32);
            long timer = Bridge.startBrick(key);
            if (i > 0) {
                Woven.PROFILER.disable();
            }
            Bridge.stopBrick(timer, 1);
            Woven.PROFILER.enable();
        }
        assertThat(Woven.SAID)
                .containsExactly("the work of LmHead is unknown: recording was switched off within a step or sample");
        assertThat(Woven.work.withoutUnknown(Woven.PROFILER.snapshot()).bricks())
                .filteredOn(each -> each.name().equals("LmHead"))
                .allSatisfy(each -> {
                    assertThat(each.count()).isEqualTo(1);
                    assertThat(each.work().flops()).isZero();
                });
    }
}
