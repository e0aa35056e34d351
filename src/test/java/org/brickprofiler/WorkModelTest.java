package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.brickprofiler.WorkModel.LlamaConfig;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Work from a model's shape, against counts by hand. */
final class WorkModelTest {

    /** Four heads of dimension 4, in pairs that share keys and values; one byte for each number. */
    private static final LlamaConfig TINY =
            LlamaConfig.dense(3, 16, 4, 2, 24, 50).withBits(8, 8, 8);

    /** Returns the bytes of weights and cache in a decode step: the embedding's row, 3 layers, the logits. */
    private static long streamed(long keys) {
        long layer = 16 * 32 + 16 * 16 + 3 * 16 * 24 + 2 * 8 + 2 * 8 * keys;
        return 16 + 3 * layer + 16 * 50;
    }

    private static Work work(Map<BrickId, Work> step, BrickId brick) {
        return Objects.requireNonNull(step.get(brick));
    }

    @Spec("18.3")
    @Test
    void countsADecodeStep() {
        Map<BrickId, Work> step = WorkModel.llama(TINY).decode(1, 10);

        long all = streamed(10);
        assertThat(step)
                .containsEntry(BrickId.EMBEDDING, new Work(0, 32, all))
                .containsEntry(BrickId.RMS_NORM, new Work(7 * 4 * 16, 7 * 48, 48))
                .containsEntry(BrickId.QKV_PROJECTION, new Work(3 * 2 * 16 * 32, 3 * (16 * 32 + 48), all))
                .containsEntry(BrickId.ROPE_EMBEDDING, new Work(3 * 3 * 24, 3 * 48, 48))
                .containsEntry(BrickId.KV_CACHE_UPDATE, new Work(0, 3 * 32, all))
                .containsEntry(BrickId.ATTENTION_SCORE, new Work(3 * 2 * 10 * 16, 3 * (80 + 16), all))
                .containsEntry(BrickId.ATTENTION_SOFTMAX, new Work(3 * 5 * 40, 0, 0))
                .containsEntry(BrickId.ATTENTION_OUTPUT, new Work(3 * 2 * 10 * 16, 3 * (80 + 16), all))
                .containsEntry(BrickId.OUTPUT_PROJECTION, new Work(3 * 2 * 256, 3 * (256 + 32), all))
                .containsEntry(BrickId.RESIDUAL_ADD, new Work(6 * 16, 6 * 48, 48))
                .containsEntry(BrickId.GATE_PROJECTION, new Work(3 * 2 * 384, 3 * (384 + 40), all))
                .containsEntry(BrickId.ACTIVATION, new Work(3 * 5 * 24, 3 * 72, 72))
                .containsEntry(BrickId.DOWN_PROJECTION, new Work(3 * 2 * 384, 3 * (384 + 40), all))
                .containsEntry(BrickId.LM_HEAD, new Work(2 * 800, 800 + 66, all))
                .containsEntry(BrickId.SAMPLING, new Work(50, 50, 50))
                .hasSize(16);
        assertThat(work(step, BrickId.UP_PROJECTION)).isEqualTo(work(step, BrickId.GATE_PROJECTION));
    }

    @Spec("18.3")
    @Test
    void aBatchReadsWeightsOnceAndEachCache() {
        WorkModel model = WorkModel.llama(TINY);
        Work one = work(model.decode(1, 10), BrickId.QKV_PROJECTION);
        Work eight = work(model.decode(8, 10), BrickId.QKV_PROJECTION);
        assertThat(eight.flops()).isEqualTo(8 * one.flops());
        assertThat(eight.bytes() - one.bytes()).isEqualTo(3 * 7 * 48);

        Work scores = work(model.decode(8, 10), BrickId.ATTENTION_SCORE);
        assertThat(scores.flops()).isEqualTo(8 * 3 * 2 * 10 * 16);
        assertThat(scores.bytes()).isEqualTo(8 * 3 * (80 + 16));
    }

    /** The causal mask leaves a triangle, and prompts need logits of their last tokens alone. */
    @Spec("18.3")
    @Test
    void countsAPrompt() {
        Map<BrickId, Work> step = WorkModel.llama(TINY).prefill(2, 6);

        assertThat(work(step, BrickId.QKV_PROJECTION).flops()).isEqualTo(12 * 3 * 2 * 16 * 32);
        long pairs = 2 * (1 + 2 + 3 + 4 + 5 + 6);
        assertThat(work(step, BrickId.ATTENTION_SCORE).flops()).isEqualTo(3 * 2 * pairs * 16);
        assertThat(work(step, BrickId.ATTENTION_SCORE).bytes()).isEqualTo(3 * (2 * 6 * 8 + 12 * 16));
        assertThat(work(step, BrickId.LM_HEAD).flops()).isEqualTo(2 * 2 * 800);
        assertThat(work(step, BrickId.SAMPLING).bytes()).isEqualTo(100);
        assertThat(WorkModel.llama(TINY).prefill(2, 1))
                .isEqualTo(WorkModel.llama(TINY).decode(2, 1));
    }

    /** Attention of the parts adds up to that of the prompt; each part reads the weights again. */
    @Spec("18.3")
    @Test
    void countsAPromptInParts() {
        WorkModel model =
                WorkModel.llama(LlamaConfig.dense(2, 64, 4, 2, 128, 256).withHeadDim(32));
        Map<BrickId, Work> whole = model.prefill(1, 6);
        Map<BrickId, Work> first = model.prefill(1, 4, 0);
        Map<BrickId, Work> second = model.prefill(1, 2, 4);
        for (BrickId brick : List.of(BrickId.ATTENTION_SCORE, BrickId.QKV_PROJECTION)) {
            assertThat(work(first, brick).flops() + work(second, brick).flops())
                    .isEqualTo(work(whole, brick).flops());
        }
        assertThat(work(whole, BrickId.ATTENTION_SCORE).flops()).isEqualTo(2L * 2 * 4 * 32 * (6 * 7 / 2));
        assertThat(model.prefill(1, 1, 6)).isEqualTo(model.decode(1, 7));
        refuses(() -> model.prefill(1, 2, -1), "-1");
    }

    @Spec("18.3")
    @Test
    void bitsDecideOnTheBytesOfEach() {
        Map<BrickId, Work> step = WorkModel.llama(TINY.withBits(4, 16, 32)).decode(1, 10);

        assertThat(work(step, BrickId.QKV_PROJECTION).bytes()).isEqualTo(3 * (16 * 32 / 2 + 4 * 48));
        assertThat(work(step, BrickId.ATTENTION_SCORE).bytes()).isEqualTo(3 * (2 * 80 + 4 * 16));
        assertThat(work(step, BrickId.RESIDUAL_ADD).bytes()).isEqualTo(4 * 6 * 48);
    }

    @Test
    void fusedAttentionIsAllThree() {
        Map<BrickId, Work> step = WorkModel.llama(TINY.withFusedAttention()).decode(1, 10);

        assertThat(step)
                .doesNotContainKeys(BrickId.ATTENTION_SCORE, BrickId.ATTENTION_SOFTMAX, BrickId.ATTENTION_OUTPUT);
        assertThat(work(step, BrickId.FUSED_ATTENTION))
                .isEqualTo(new Work(3 * (4 * 10 * 16 + 5 * 40), 3 * (160 + 32), streamed(10)));
    }

    @Spec("18.4")
    @Test
    void expertsCountOnceHoweverManyTokensUseThem() {
        WorkModel model = WorkModel.llama(TINY.withExperts(8, 2));
        long block = 3 * 16 * 24;
        long vectors = 3 * 16 + 6 * 24;

        Work one = work(model.decode(1, 1), BrickId.MOE_EXPERT);
        assertThat(one.flops()).isEqualTo(3 * 2 * (2 * block + 5 * 24));
        assertThat(one.bytes()).isEqualTo(3 * 2 * (block + vectors));

        Work many = work(model.decode(1_000, 1), BrickId.MOE_EXPERT);
        assertThat(many.bytes()).as("all eight").isEqualTo(3 * (8 * block + 2_000 * vectors));
        assertThat(work(model.decode(1, 1), BrickId.MOE_ROUTER).flops()).isEqualTo(3 * 2 * 16 * 8);
        assertThat(model.decode(1, 1)).doesNotContainKeys(BrickId.GATE_PROJECTION, BrickId.ACTIVATION);
    }

    @Spec("18.4")
    @Test
    void distinctExpertsAreThoseOfAnHonestDraw() {
        SplittableRandom random = new SplittableRandom(7);
        for (int tokens : new int[] {1, 3, 16, 64}) {
            int experts = 32;
            int perToken = 4;
            long distinct = 0;
            int draws = 4_000;
            for (int draw = 0; draw < draws; draw++) {
                BitSet used = new BitSet();
                for (int token = 0; token < tokens; token++) {
                    BitSet own = new BitSet();
                    while (own.cardinality() < perToken) {
                        own.set(random.nextInt(experts));
                    }
                    used.or(own);
                }
                distinct += used.cardinality();
            }
            assertThat(WorkModel.distinctExperts(experts, perToken, tokens))
                    .as("%d tokens", tokens)
                    .isCloseTo((double) distinct / draws, within(0.15));
        }
        assertThat(WorkModel.distinctExperts(8, 8, 0)).isZero();
        assertThat(WorkModel.distinctExperts(8, 8, 3)).isEqualTo(8);
        assertThat(WorkModel.distinctExperts(8, 2, 1)).isEqualTo(2);
    }

    @Test
    void refusesShapesThatCannotBe() {
        refuses(() -> LlamaConfig.dense(3, 16, 0, 2, 24, 50), "heads 0");
        refuses(() -> LlamaConfig.dense(3, 16, 4, 2, -24, 50), "ffnDim -24");
        refuses(() -> TINY.withBits(Double.NaN, 8, 8), "weightBits NaN");
        refuses(() -> TINY.withExperts(4, 5), "5 of 4");
        refuses(() -> TINY.withExperts(4, 0), "0 of 4");
        refuses(() -> WorkModel.llama(TINY).decode(0, 1), "sequences 0");
        refuses(() -> WorkModel.llama(TINY).decode(1, 0), "kvLength 0");
        refuses(() -> WorkModel.llama(TINY).prefill(1, 0), "tokens 0");
        refuses(() -> WorkModel.distinctExperts(4, 5, 1), "5 of 4");
        refuses(() -> WorkModel.distinctExperts(4, 2, -1), "-1");
    }

    private static void refuses(Runnable call, String value) {
        assertThatIllegalArgumentException().isThrownBy(call::run).withMessageContaining(value);
    }
}
