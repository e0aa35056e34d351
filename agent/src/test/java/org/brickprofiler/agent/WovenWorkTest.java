package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.brickprofiler.Bottleneck;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.Work;
import org.brickprofiler.WorkModel;
import org.brickprofiler.WorkModel.LlamaConfig;
import org.brickprofiler.testing.AllocatedBytes;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The work that rules state, on an engine of two layers that computes nothing. */
class WovenWorkTest {

    private static final String IN = "org.brickprofiler.agent.WovenWorkTest$Tiny.";

    private static final String STEP = """
            step:
              in: %1$sforward
              tokens: tokens.length
              kv: position
              output: logits
            layer:
              in: %1$slayer
            """.formatted(IN);

    private static final String QUERY = """
              - in: %1$slayer
                call: times 1
                brick: QKV_PROJECTION
                work: {matmul: [call.arg1, call.arg2, call.arg0], weight: call.this.type(), bits: {Q9: 9}}
            """.formatted(IN);

    private static final String DOWN = """
              - in: %1$slayer
                call: times 2
                brick: DOWN_PROJECTION
                work: {matmul: [8, this.config.ffn], weight: 4.5, activation: F16, times: 2}
            """.formatted(IN);

    private static final String MODEL = """
            model:
              in: %1$sforward
              layers: this.config.layers
              dim: this.config.dim
              heads: this.config.heads
              kvHeads: this.config.kvHeads()
              ffnDim: this.config.ffn
              vocab: 32
              weight: this.config.type
              bits: {Q9: 9}
              cache: F16
            """.formatted(IN);

    private static final String BRICKS = """
            bricks:
              - {in: %1$sforward, call: embed, brick: EMBEDDING}
              - {in: %1$slayer, call: norm, brick: RMS_NORM, elements: n}
              - {in: %1$slayer, call: times 1, brick: QKV_PROJECTION}
              - {in: %1$sattend, brick: ATTENTION_SCORE}
              - {in: %1$slayer, call: times 2, brick: DOWN_PROJECTION}
              - {in: %1$shead, brick: LM_HEAD}
            """.formatted(IN);

    /** The shape of the engine's model. */
    private static final WorkModel EXPECTED =
            WorkModel.llama(LlamaConfig.dense(2, 8, 2, 1, 16, 32).withBits(9, 16, 32));

    private static Object tiny(String rules) throws Exception {
        Constructor<?> constructor = Woven.loadWithWork(Tiny.class, rules).getDeclaredConstructor();
        constructor.setAccessible(true);
        Woven.SAID.clear();
        return constructor.newInstance();
    }

    private static void step(Object tiny, int tokens, int position, boolean logits) throws Exception {
        Method forward = tiny.getClass().getDeclaredMethod("forward", int[].class, int.class, boolean.class);
        forward.setAccessible(true);
        forward.invoke(tiny, new int[tokens], position, logits);
    }

    private static void set(Object tiny, String field, @Nullable Object value) throws Exception {
        var of = tiny.getClass().getDeclaredField(field);
        of.setAccessible(true);
        of.set(tiny, value);
    }

    private static ProfileSnapshot profile() {
        return Woven.work.withoutUnknown(Woven.PROFILER.snapshot());
    }

    private static Work work(List<BrickStats> bricks, BrickId brick) {
        return bricks.stream()
                .filter(each -> each.name().equals(brick.displayName()))
                .map(BrickStats::work)
                .reduce(Work.NONE, Work::plus);
    }

    @Test
    void recordsTheProductOfEachSampleWithTheWeightsOfTheStepAsWorkingSet() throws Exception {
        Object tiny = tiny(STEP + "bricks:\n" + QUERY + DOWN);
        step(tiny, 3, 0, true);
        step(tiny, 1, 3, true);
        ProfileSnapshot profile = profile();
        // 8 x 8 weights of 9 bits and three vectors, in two layers; 8 x 16 of 4.5 bits, twice.
        long queryBytes = 2 * 72;
        long downBytes = 2 * 2 * 72;
        assertThat(work(profile.bricks(Phase.PREFILL), BrickId.QKV_PROJECTION))
                .isEqualTo(new Work(2 * 2 * 64 * 3, queryBytes + 2 * 3 * 16 * 4, queryBytes + downBytes));
        assertThat(work(profile.bricks(Phase.DECODE), BrickId.QKV_PROJECTION))
                .isEqualTo(new Work(2 * 2 * 64, queryBytes + 2 * 16 * 4, queryBytes + downBytes));
        assertThat(work(profile.bricks(Phase.DECODE), BrickId.DOWN_PROJECTION))
                .isEqualTo(new Work(2 * 2 * 2 * 128, downBytes + 2 * 2 * 24 * 2, queryBytes + downBytes));
        assertThat(Woven.SAID).isEmpty();
    }

    @Test
    void allocatesNothingForAProduct() throws Exception {
        Object tiny = tiny("bricks:\n" + QUERY.replace("layer\n    call: times 1", "run\n    call: times"));
        Runnable loop = (Runnable) tiny;
        loop.run();
        assertThat(AllocatedBytes.fewest(10, () -> AllocatedBytes.of(loop))).isZero();
        assertThat(work(profile().bricks(), BrickId.QKV_PROJECTION).flops()).isPositive();
    }

    /** Attention runs on other threads. A part of a prompt without logits ends in the last layer, before attention. */
    @Test
    void recordsTheWorkOfAModelsBricksForTheLayersInWhichTheyRan() throws Exception {
        Object tiny = tiny(STEP + MODEL + BRICKS);
        step(tiny, 4, 0, false);
        step(tiny, 2, 4, true);
        step(tiny, 1, 6, true);
        ProfileSnapshot profile = profile();
        Map<BrickId, Work> decode = EXPECTED.decode(1, 7);
        for (BrickId brick : List.of(
                BrickId.EMBEDDING,
                BrickId.QKV_PROJECTION,
                BrickId.ATTENTION_SCORE,
                BrickId.DOWN_PROJECTION,
                BrickId.LM_HEAD)) {
            assertThat(work(profile.bricks(Phase.DECODE), brick))
                    .as(brick.name())
                    .isEqualTo(decode.get(brick));
        }
        // Four norms of the five that a whole pass has: the engine has none at the end.
        Work norms = decode.getOrDefault(BrickId.RMS_NORM, Work.NONE);
        assertThat(work(profile.bricks(Phase.DECODE), BrickId.RMS_NORM).flops()).isEqualTo(norms.flops() * 4 / 5);

        Map<BrickId, Work> part = EXPECTED.prefill(1, 4);
        Map<BrickId, Work> rest = EXPECTED.prefill(1, 2, 4);
        assertThat(work(profile.bricks(Phase.PREFILL), BrickId.ATTENTION_SCORE).flops())
                .isEqualTo(flops(part, BrickId.ATTENTION_SCORE) / 2 + flops(rest, BrickId.ATTENTION_SCORE));
        assertThat(work(profile.bricks(Phase.PREFILL), BrickId.QKV_PROJECTION).flops())
                .isEqualTo(flops(part, BrickId.QKV_PROJECTION) + flops(rest, BrickId.QKV_PROJECTION));
        assertThat(work(profile.bricks(Phase.PREFILL), BrickId.LM_HEAD).flops())
                .isEqualTo(flops(rest, BrickId.LM_HEAD));
        assertThat(Woven.SAID).isEmpty();
    }

    private static long flops(Map<BrickId, Work> works, BrickId brick) {
        return works.getOrDefault(brick, Work.NONE).flops();
    }

    /** The place of the model runs twice in a step, each time with the tokens of a half. */
    @Test
    void aStepMayHaveSeveralPasses() throws Exception {
        String halves = MODEL.replace("$Tiny.forward", "$Tiny.half") + "  tokens: n\n  kv: from\n";
        Object tiny =
                tiny(STEP.replace("$Tiny.forward", "$Tiny.halves").replace("tokens.length", "4") + halves + BRICKS);
        Method method = tiny.getClass().getDeclaredMethod("halves", int.class, boolean.class);
        method.setAccessible(true);
        method.invoke(tiny, 0, true);
        assertThat(work(profile().bricks(), BrickId.QKV_PROJECTION).flops())
                .isEqualTo(flops(EXPECTED.prefill(1, 2), BrickId.QKV_PROJECTION)
                        + flops(EXPECTED.prefill(1, 2, 2), BrickId.QKV_PROJECTION));
        assertThat(work(profile().bricks(), BrickId.ATTENTION_SCORE).flops())
                .isEqualTo(flops(EXPECTED.prefill(1, 4), BrickId.ATTENTION_SCORE));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "config | | the work of QkvProjection is known | line 13, 'this.config.ffn' cannot be read",
                "type | WEIRD | the work of DownProjection is known | line 9, 'call.this.type()': the value 'WEIRD' is no known",
                "type | | the work of DownProjection is known | line 9, 'call.this.type()': the value 'null' is no known",
                "rows | -8 | the work of DownProjection is known | a matrix of -8 x 8 and 1 vectors, line 9",
            })
    void aBrickHasNoWorkIfTheWorkOfASampleIsUnknown(String field, @Nullable String value, String other, String message)
            throws Exception {
        Object tiny = tiny(STEP + "bricks:\n" + QUERY + DOWN);
        step(tiny, 1, 0, true);
        set(tiny, field, value == null ? null : field.equals("rows") ? Integer.valueOf(value) : type(tiny, value));
        step(tiny, 1, 1, true);
        step(tiny, 1, 2, true);
        boolean isDown = field.equals("config");
        List<BrickStats> bricks = profile().bricks();
        assertThat(work(bricks, isDown ? BrickId.DOWN_PROJECTION : BrickId.QKV_PROJECTION))
                .isEqualTo(Work.NONE);
        assertThat(work(bricks, isDown ? BrickId.QKV_PROJECTION : BrickId.DOWN_PROJECTION)
                        .flops())
                .as(other)
                .isPositive();
        assertThat(work(profile().bricks(Phase.DECODE), isDown ? BrickId.DOWN_PROJECTION : BrickId.QKV_PROJECTION))
                .isEqualTo(Work.NONE);
        assertThat(bricks).extracting(BrickStats::count).containsOnly(6L);
        assertThat(Woven.SAID).filteredOn(each -> each.contains(message)).hasSize(1);
        assertThat(Woven.losses.summary()).anyMatch(each -> each.startsWith("the work of "));
    }

    private static Object type(Object tiny, String name) throws Exception {
        Class<?> types =
                Class.forName(Tiny.Type.class.getName(), true, tiny.getClass().getClassLoader());
        for (Object each : types.getEnumConstants()) {
            if (each.toString().equals(name)) {
                return each;
            }
        }
        throw new AssertionError(name);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "layers: this.config.layers | layers: 1 | 0 | a pass had 2 layers, and its model has 1",
                "heads: this.config.heads | heads: this.none.heads | 0 | model: heads: could not be read",
                "dim: this.config.dim | dim: 0 | 0 | dim 0.0 is not above 0",
                "forward | unused | 0 | no rule under model: was read in a step",
                "cache: F16 | cache: F16 | -1 | model: kv: -1 is impossible",
            })
    void aModelThatDoesNotFitGivesNoWork(String line, String instead, int position, String message) throws Exception {
        Object tiny = tiny(STEP + MODEL.replace(line, instead) + BRICKS);
        step(tiny, 1, position, true);
        assertThat(profile().bricks()).extracting(BrickStats::work).containsOnly(Work.NONE);
        assertThat(Woven.SAID)
                .last()
                .asString()
                .startsWith("the work of RmsNorm, QkvProjection, ")
                .endsWith(" is unknown: " + message);
    }

    /** The agent is loaded while a step is under way: its last layer is woven, and the method of the step is not. */
    @Test
    void samplesOfAStepThatBeganBeforeWeavingHaveNoPhaseAndCostNoWork() throws Exception {
        Object tiny = tiny(STEP + MODEL + BRICKS);
        Method layer = tiny.getClass().getDeclaredMethod("layer", int.class, boolean.class);
        layer.setAccessible(true);
        layer.invoke(tiny, 1, true);
        assertThat(Woven.reached.beforeStepsText()).isEmpty();
        step(tiny, 1, 0, true);
        step(tiny, 1, 1, true);

        ProfileSnapshot profile = profile();
        BrickStats decoded = profile.bricks(Phase.DECODE).stream()
                .filter(each -> each.name().equals("QkvProjection"))
                .findFirst()
                .orElseThrow();
        assertThat(decoded.count()).isEqualTo(4);
        assertThat(decoded.hasWorkOfAll()).isTrue();
        assertThat(decoded.work().flops())
                .isEqualTo(flops(EXPECTED.decode(1, 1), BrickId.QKV_PROJECTION)
                        + flops(EXPECTED.decode(1, 2), BrickId.QKV_PROJECTION));
        BrickStats all = profile.brick("QkvProjection").orElseThrow();
        assertThat(all.count()).isEqualTo(5);
        assertThat(all.hasWorkOfAll()).isFalse();
        assertThat(Woven.SAID).isEmpty();
        assertThat(Woven.reached.beforeStepsText())
                .hasValue("6 samples ended before the first step that began after weaving, thus in no phase: of"
                        + " AttentionScore, DownProjection, QkvProjection, RmsNorm");
        Woven.reached.discard(profile.bricks());
        assertThat(Woven.reached.beforeStepsText()).isEmpty();
    }

    /** A method that began before a change of rules goes on with the products of the earlier ones. */
    @Test
    void productsOfEarlierRulesKeepTheirNumbers(@TempDir Path folder) throws Exception {
        String rule = "bricks: [{in: a.B.c, brick: %s, work: {matmul: [2, 3], weight: F32}}]";
        Path file = Files.writeString(folder.resolve("rules.yaml"), rule.formatted("LM_HEAD"));
        BrickProfiler profiler = BrickProfiler.enabled();
        WovenWork work = new WovenWork(
                RuleFile.read(file, 0).rules(),
                each -> profiler.brickKey(each.brick()),
                profiler,
                new AgentLosses(message -> {}));
        Files.writeString(file, rule.formatted("QKV_PROJECTION"));
        work.change(RuleFile.read(file, work.nextProduct()).rules());
        profiler.record(BrickId.LM_HEAD, 1, 1);
        profiler.record(BrickId.QKV_PROJECTION, 1, 1);
        work.product(0, 2, 3, 1, WeightTypes.F32);
        work.product(1, 5, 7, 1, WeightTypes.F32);
        assertThat(work.nextProduct()).isEqualTo(2);
        assertThat(profiler.brickStats(BrickId.LM_HEAD).work().flops()).isEqualTo(2 * 2 * 3);
        assertThat(profiler.brickStats(BrickId.QKV_PROJECTION).work().flops()).isEqualTo(2 * 5 * 7);
    }

    @Test
    void anEngineWhoseForwardPassNoRuleNamesReachesNoStep() throws Exception {
        String rules = STEP + MODEL + BRICKS;
        Object tiny = tiny(rules);
        Set<WeaveRule> applied = Set.copyOf(RuleFile.parse("rules", rules).rules());
        assertThat(Woven.reached.never(applied, profile().bricks()).orElseThrow())
                .startsWith("AttentionScore (line ")
                .contains(
                        "QkvProjection (line ", "RmsNorm (line ", "layer: (line 7)", "model: (line ", "step: (line 2)");
        Method attend = tiny.getClass().getDeclaredMethod("attend");
        attend.setAccessible(true);
        attend.invoke(tiny);
        assertThat(Woven.reached
                        .noStep(applied, Woven.reached.never(applied, profile().bricks()))
                        .orElseThrow())
                .startsWith(
                        "no step was reached: the engine called no method that a rule under step: names (line 2), so")
                .contains(". Rules that apply and never ran: DownProjection (line ")
                .doesNotContain("AttentionScore");
        assertThat(Woven.reached.noStep(Set.of(), Optional.empty()).orElseThrow())
                .startsWith(
                        "no step was reached: no rule under step: applies to a class that the engine has loaded (line 2), so");

        step(tiny, 1, 0, false);
        assertThat(Woven.reached.noStep(
                        applied, Woven.reached.never(applied, profile().bricks())))
                .isEmpty();
        assertThat(Woven.reached.never(applied, profile().bricks()))
                .hasValueSatisfying(never -> assertThat(never).matches("LmHead \\(line \\d+\\)"));
        Woven.reached.discard(profile().bricks());
        Woven.PROFILER.reset();
        step(tiny, 1, 1, true);
        Woven.PROFILER.reset();
        assertThat(Woven.reached.never(applied, List.of()))
                .as("a rule that ran in the warm-up")
                .hasValueSatisfying(never -> assertThat(never).doesNotContain("QkvProjection"));
    }

    @Test
    void samplesOutsideOfStepsAndLayersHaveUnknownWork() throws Exception {
        Object tiny = tiny(STEP + MODEL + BRICKS.replace("brick: LM_HEAD", "brick: ACTIVATION"));
        step(tiny, 1, 0, true);
        Method attend = tiny.getClass().getDeclaredMethod("attend");
        attend.setAccessible(true);
        attend.invoke(tiny);
        assertThat(work(profile().bricks(), BrickId.ATTENTION_SCORE)).isEqualTo(Work.NONE);
        assertThat(work(profile().bricks(), BrickId.ACTIVATION)).isEqualTo(Work.NONE);
        assertThat(work(profile().bricks(), BrickId.QKV_PROJECTION).flops()).isPositive();
        assertThat(Woven.SAID)
                .contains(
                        "the work of Activation is unknown: it ran outside of layers",
                        "the work of AttentionScore is unknown: it ran outside of steps, or on another thread while several"
                                + " steps were under way");
    }

    /** Most engines sample after the forward pass, on its thread. */
    @Test
    void samplingBetweenStepsHasTheWorkOfOneToken() throws Exception {
        Object tiny = tiny(STEP + MODEL + BRICKS + "  - {in: %1$sunused, brick: SAMPLING}%n".formatted(IN));
        Method sampler = tiny.getClass().getDeclaredMethod("unused");
        sampler.setAccessible(true);
        step(tiny, 3, 0, true);
        sampler.invoke(tiny);
        step(tiny, 1, 3, true);
        sampler.invoke(tiny);
        Work one = EXPECTED.decode(1, 4).getOrDefault(BrickId.SAMPLING, Work.NONE);
        assertThat(one.flops()).isPositive();
        assertThat(work(profile().bricks(), BrickId.SAMPLING)).isEqualTo(one.plus(one));
        assertThat(Woven.SAID).isEmpty();
    }

    @Test
    void aBrickHasNoWorkIfOnlySomeOfItsRulesStateAny() throws Exception {
        Object tiny = tiny(STEP + "bricks:\n" + QUERY + DOWN + "  - {in: " + IN + "head, brick: DOWN_PROJECTION}\n");
        step(tiny, 1, 0, true);
        assertThat(work(profile().bricks(), BrickId.DOWN_PROJECTION)).isEqualTo(Work.NONE);
        assertThat(work(profile().bricks(), BrickId.QKV_PROJECTION).flops()).isPositive();
        assertThat(Woven.losses.summary())
                .contains("the work of DownProjection is unknown: its rule states none, line 17");
    }

    /** The rule is woven and times its brick; the work that it cannot state is named. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "call.arg1 | call.arg7 | work: times 1 takes 3 arguments: there is no call.arg7",
                "call.arg1 | this.confg.dim | has no field 'confg'",
                "call.arg1 | this.type | 'this.type' is not a whole number but has the type",
                "call.this.type() | call.arg0 | 'call.arg0' has the type int: write the path to an object",
                "matmul: [call.arg1, call.arg2, call.arg0] | matmul: [1, 1] | work: embed is static: there is no call.this",
            })
    void workThatNamesNothingLeavesTheBrickWithoutWork(String part, String instead, String message) throws Exception {
        String query = QUERY.replace(part, instead);
        String rules = STEP + "bricks:\n"
                + (message.contains("embed")
                        ? query.replace("layer\n    call: times 1", "forward\n    call: embed")
                        : query);
        Weaver.Result result = Woven.result(Tiny.class, rules);
        assertThat(Woven.messages(result)).singleElement().asString().contains(message);
        assertThat(result.applied()).hasSize(3);
        Object tiny = tiny(rules);
        step(tiny, 1, 0, true);
        assertThat(profile().bricks()).isNotEmpty().extracting(BrickStats::work).containsOnly(Work.NONE);
    }

    /** A private field of a class of another package. */
    @Test
    void readsMembersThatAreNotPublic() throws Throwable {
        BrickStats.Builder stats = BrickStats.empty("x", BrickCategory.OTHER, Bottleneck.UNKNOWN).toBuilder();
        MethodHandle read = ElementsReader.of(
                MethodHandles.lookup(),
                MethodType.methodType(long.class, BrickStats.Builder.class),
                "place",
                new String[] {"count:J"},
                new AgentLosses(message -> {}),
                ElementsReader.UNREAD_AMOUNT);
        assertThat((long) read.invoke(stats.samples(7, 8, 9, 10))).isEqualTo(7);
        assertThat((long) read.invoke((BrickStats.Builder) null)).isEqualTo(WovenWork.UNREAD);
        assertThat(Woven.messages(Woven.result(
                        Tiny.class, "bricks:\n  - {in: " + IN + "layer, brick: RMS_NORM, elements: this.name.hash}\n")))
                .containsExactly("2: java.lang.String.hash is not public, and of the JDK");
    }

    // ---- the engine ----

    static final class Tiny implements Runnable {
        enum Type {
            Q9,
            Q4_0,
            WEIRD
        }

        static final class Config {
            final int layers = 2;
            final int dim = 8;
            final int heads = 2;
            final int ffn = 16;
            final Type type = Type.Q9;

            int kvHeads() {
                return 1;
            }
        }

        static final class Matrix {
            @Nullable
            Type type;

            Matrix(@Nullable Type type) {
                this.type = type;
            }

            @Nullable
            Type type() {
                return type;
            }

            void times(int vectors, int rows, int columns) {}
        }

        @Nullable
        Config config = new Config();

        @Nullable
        Config none;

        @Nullable
        Type type = Type.Q9;

        int rows = 8;
        final String name = "tiny";

        void forward(int[] tokens, int position, boolean logits) throws InterruptedException {
            embed(tokens.length);
            for (int i = 0; i < 2; i++) {
                layer(tokens.length, logits || i == 0);
            }
            if (logits) {
                head();
            }
        }

        void unused() {}

        void halves(int position, boolean logits) throws InterruptedException {
            half(2, 0);
            half(2, 2);
        }

        @SuppressWarnings("UnusedVariable") // the rule reads the position
        private void half(int n, int from) throws InterruptedException {
            layer(n, true);
            layer(n, true);
        }

        static void embed(int n) {}

        private void layer(int n, boolean isWhole) throws InterruptedException {
            norm();
            new Matrix(type).times(n, rows, 8);
            if (isWhole) {
                CountDownLatch done = new CountDownLatch(2);
                new Thread(() -> onWorker(done)).start();
                new Thread(() -> onWorker(done)).start();
                done.await();
                norm();
                new Matrix(type).times(n, 8, 16);
            }
        }

        private void onWorker(CountDownLatch done) {
            attend();
            done.countDown();
        }

        private void attend() {}

        private void norm() {}

        private void head() {}

        private final Matrix matrix = new Matrix(Type.Q9);

        /** A loop that allocates nothing itself. */
        @Override
        public void run() {
            for (int i = 0; i < 1_000; i++) {
                matrix.times(1, rows, 8);
            }
        }
    }
}
