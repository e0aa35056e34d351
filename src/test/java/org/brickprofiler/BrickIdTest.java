package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.brickprofiler.BrickCategory.ATTENTION;
import static org.brickprofiler.BrickCategory.COMMUNICATION;
import static org.brickprofiler.BrickCategory.FFN;
import static org.brickprofiler.BrickCategory.NORM;
import static org.brickprofiler.BrickCategory.OTHER;
import static org.brickprofiler.BrickCategory.QUANTIZATION;
import static org.brickprofiler.BrickCategory.SOLVER;
import static org.brickprofiler.BrickCategory.SPARSE;
import static org.brickprofiler.BrickCategory.TRANSFER;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class BrickIdTest {

    private static final int COUNT = 36;

    /** The published table: names and numbers that files and other programs rely on. */
    static Stream<Arguments> published() {
        return Stream.of(
                row(0, BrickId.RMS_NORM, "RmsNorm", NORM),
                row(1, BrickId.LAYER_NORM, "LayerNorm", NORM),
                row(2, BrickId.QKV_PROJECTION, "QkvProjection", ATTENTION, "Qkv"),
                row(3, BrickId.ROPE_EMBEDDING, "RopeEmbedding", ATTENTION, "Rope", "RoPE"),
                row(4, BrickId.ATTENTION_SCORE, "AttentionScore", ATTENTION),
                row(5, BrickId.ATTENTION_SOFTMAX, "AttentionSoftmax", ATTENTION, "Softmax"),
                row(6, BrickId.ATTENTION_OUTPUT, "AttentionOutput", ATTENTION),
                row(7, BrickId.OUTPUT_PROJECTION, "OutputProjection", ATTENTION, "OutProj"),
                row(8, BrickId.GATE_PROJECTION, "GateProjection", FFN, "Gate"),
                row(9, BrickId.UP_PROJECTION, "UpProjection", FFN, "Up"),
                row(10, BrickId.ACTIVATION, "Activation", FFN, "SiLU", "GELU", "ReLU"),
                row(11, BrickId.DOWN_PROJECTION, "DownProjection", FFN, "Down"),
                row(12, BrickId.EMBEDDING, "Embedding", OTHER, "Embed"),
                row(13, BrickId.LM_HEAD, "LmHead", OTHER, "Head"),
                row(14, BrickId.SAMPLING, "Sampling", OTHER, "Sample"),
                row(15, BrickId.SPMV, "SpMV", SPARSE, "spmv"),
                row(16, BrickId.SPMM, "SpMM", SPARSE, "spmm"),
                row(17, BrickId.FORMAT_CONVERT, "FormatConvert", SPARSE),
                row(18, BrickId.FFT_1D, "FFT1D", BrickCategory.FFT, "fft1d", "FFT"),
                row(19, BrickId.FFT_2D, "FFT2D", BrickCategory.FFT, "fft2d"),
                row(20, BrickId.LU_FACTORIZE, "LUFactorize", SOLVER, "LU"),
                row(21, BrickId.QR_FACTORIZE, "QRFactorize", SOLVER, "QR"),
                row(22, BrickId.SVD_COMPUTE, "SVDCompute", SOLVER, "SVD"),
                row(23, BrickId.KV_CACHE_UPDATE, "KvCacheUpdate", ATTENTION),
                row(24, BrickId.FUSED_ATTENTION, "FusedAttention", ATTENTION),
                row(25, BrickId.RESIDUAL_ADD, "ResidualAdd", OTHER),
                row(26, BrickId.MOE_ROUTER, "MoeRouter", FFN),
                row(27, BrickId.MOE_EXPERT, "MoeExpert", FFN),
                row(28, BrickId.QUANTIZE, "Quantize", QUANTIZATION),
                row(29, BrickId.DEQUANTIZE, "Dequantize", QUANTIZATION),
                row(30, BrickId.ALL_REDUCE, "AllReduce", COMMUNICATION),
                row(31, BrickId.ALL_GATHER, "AllGather", COMMUNICATION),
                row(32, BrickId.REDUCE_SCATTER, "ReduceScatter", COMMUNICATION),
                row(33, BrickId.ALL_TO_ALL, "AllToAll", COMMUNICATION),
                row(34, BrickId.HOST_TO_DEVICE, "HostToDevice", TRANSFER),
                row(35, BrickId.DEVICE_TO_HOST, "DeviceToHost", TRANSFER));
    }

    private static Arguments row(int number, BrickId id, String name, BrickCategory category, String... aliases) {
        return arguments(number, id, name, category, List.of(aliases));
    }

    @Spec("1.1")
    @ParameterizedTest
    @MethodSource("published")
    void isAsPublished(int number, BrickId id, String name, BrickCategory category, List<String> aliases) {
        assertThat(Arrays.asList(BrickId.values()).indexOf(id)).isEqualTo(number);
        assertThat(id.index()).isEqualTo(number);
        assertThat(id.displayName()).isEqualTo(name);
        assertThat(id.category()).isSameAs(category);
        assertThat(id.aliases()).containsExactlyElementsOf(aliases);
        assertThat(BrickId.parse(name)).contains(id);
        assertThat(aliases).allSatisfy(alias -> assertThat(BrickId.parse(alias)).contains(id));
    }

    @Spec("1.1")
    @Test
    void thePublishedTableIsComplete() {
        assertThat(BrickId.values()).hasSize(COUNT);
        assertThat(published()).hasSize(COUNT);
        assertThat(BrickId.all()).containsExactly(BrickId.values());
    }

    @Test
    void noNameStandsForTwoBricks() {
        assertThat(BrickId.all().stream()
                        .flatMap(id -> Stream.concat(Stream.of(id.displayName()), id.aliases().stream())))
                .doesNotHaveDuplicates()
                .doesNotContain(BrickProfiler.OTHER_NAMES);
    }

    // ---- other spellings ----

    @Spec("1.2")
    @Test
    void everyNameMayHaveAnyCaseAndAnyUnderscores() {
        for (BrickId id : BrickId.values()) {
            Stream.concat(Stream.of(id.name(), id.displayName()), id.aliases().stream())
                    .flatMap(BrickIdTest::spellings)
                    .forEach(name -> assertThat(BrickId.parse(name)).as(name).contains(id));
        }
    }

    private static Stream<String> spellings(String name) {
        String bare = name.replace("_", "");
        return Stream.of(
                name,
                name.toLowerCase(Locale.ROOT),
                name.toUpperCase(Locale.ROOT),
                bare,
                bare.toLowerCase(Locale.ROOT),
                bare.toUpperCase(Locale.ROOT),
                String.join("_", bare.split("(?<=.)", -1)),
                "_" + name + "__");
    }

    static Stream<Arguments> written() {
        return Stream.of(
                by(BrickId.RMS_NORM, "RMSNorm", "rms_norm", "rmsnorm", "RMS_NORM", "LlamaRMSNorm", "RMSNormalization"),
                by(BrickId.LAYER_NORM, "layernorm", "layer_norm", "LayerNormalization", "ln_f"),
                by(BrickId.QKV_PROJECTION, "qkv_proj", "QKVProj", "attn_qkv", "wqkv", "c_attn", "query_key_value"),
                by(BrickId.ROPE_EMBEDDING, "rope", "ROPE", "rotary_emb", "apply_rotary_pos_emb", "ropeRotation"),
                by(BrickId.ATTENTION_SCORE, "kq", "attn_scores"),
                by(BrickId.ATTENTION_SOFTMAX, "softmax", "soft_max", "SOFT_MAX", "kq_soft_max"),
                by(BrickId.ATTENTION_OUTPUT, "attention_output", "kqv"),
                by(BrickId.OUTPUT_PROJECTION, "o_proj", "out_proj", "wo", "OProj"),
                by(BrickId.GATE_PROJECTION, "gate_proj", "ffn_gate", "GateProj"),
                by(BrickId.UP_PROJECTION, "up_proj", "ffn_up"),
                by(BrickId.ACTIVATION, "SwiGLU", "swiglu", "silu", "SiluAndMul", "gelu_new", "act_fn"),
                by(BrickId.DOWN_PROJECTION, "down_proj", "ffn_down"),
                by(BrickId.EMBEDDING, "embed_tokens", "token_embd", "tok_embeddings", "wte", "word_embeddings"),
                by(BrickId.LM_HEAD, "lm_head", "LMHead", "lmhead", "wcls", "result_output", "embed_out"),
                by(BrickId.SAMPLING, "sampler", "Sampler", "sample"),
                by(BrickId.KV_CACHE_UPDATE, "kv_cache_update", "reshape_and_cache", "copyToCache"),
                by(BrickId.FUSED_ATTENTION, "flash_attn", "FLASH_ATTN_EXT", "scaled_dot_product_attention", "sdpa"),
                by(BrickId.RESIDUAL_ADD, "residual", "residual_add"),
                by(BrickId.MOE_ROUTER, "router", "moe_gate", "ffn_gate_inp"),
                by(BrickId.MOE_EXPERT, "experts", "FusedMoE"),
                by(BrickId.QUANTIZE, "quant"),
                by(BrickId.DEQUANTIZE, "dequant"),
                by(BrickId.ALL_REDUCE, "allreduce", "all_reduce", "ncclAllReduce"),
                by(BrickId.HOST_TO_DEVICE, "h2d", "MemcpyHtoD"),
                by(BrickId.DEVICE_TO_HOST, "d2h", "MemcpyDtoH"));
    }

    private static Arguments by(BrickId id, String... names) {
        return arguments(id, List.of(names));
    }

    @Spec("1.2")
    @ParameterizedTest
    @MethodSource("written")
    void spellingsOfEnginesAreKnown(BrickId id, List<String> names) {
        assertThat(names).allSatisfy(name -> {
            assertThat(BrickId.parse(name)).contains(id);
            assertThat(BrickId.newNameTable().find(name)).isEqualTo(id.index());
        });
    }

    @Spec("1.2")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "mlp",
                "ffn",
                "feed_forward",
                "attn",
                "attention",
                "self_attn",
                "gate_up_proj",
                "q_proj",
                "k_proj",
                "v_proj",
                "norm",
                "attn_norm",
                "ffn_norm",
                "input_layernorm",
                "post_attention_layernorm",
                "attn_output",
                "c_proj",
                "dense",
                "w1",
                "w2",
                "w3",
                "logits",
                "add",
                "mul_mat",
                "_",
                "___",
                "rms-norm",
                "rms norm",
                "RM\u017f_NORM",
                "l\u0131near"
            })
    void anAmbiguousSpellingIsNoKnownBrick(String name) {
        assertThat(BrickId.parse(name)).isEmpty();
        assertThat(BrickId.newNameTable().find(name)).isEqualTo(NameTable.NONE);
    }

    @Spec("1.2")
    @Test
    void parsesNothingElse() {
        assertThat(BrickId.parse("")).isEmpty();
        assertThat(BrickId.parse(" RmsNorm")).isEmpty();
        assertThat(BrickId.parse("something new")).isEmpty();
        assertThat(BrickId.parse(null)).isEmpty();
    }

    @Test
    void everyTableHasOneRowForEachBrick() {
        NameTable names = BrickId.newNameTable();
        assertThat(names.size()).isEqualTo(COUNT + 1).isEqualTo(BrickId.FIXED_KEYS);
        for (BrickId id : BrickId.values()) {
            assertThat(names.name(id.index())).isEqualTo(id.displayName());
            assertThat(names.find(id.displayName())).isEqualTo(id.index());
        }

        BrickProfiler profiler = BrickProfiler.builder().clock(new FakeClock()).build();
        profiler.enable();
        for (BrickId id : BrickId.values()) {
            profiler.record(id, 10 + id.index(), 1);
        }
        assertThat(profiler.allBrickStats()).hasSize(COUNT);
        for (BrickId id : BrickId.values()) {
            assertThat(profiler.brickStats(id).name()).isEqualTo(id.displayName());
            assertThat(profiler.brickStats(id).category()).isSameAs(id.category());
            assertThat(profiler.brickStats(id).count()).isEqualTo(1);
            assertThat(profiler.brickStats(id).totalNs()).isEqualTo(10 + id.index());
        }
    }

    @Test
    void everyDisplayNameAndAliasHasTheKeyOfItsBrick() {
        NameTable names = BrickId.newNameTable();
        for (BrickId id : BrickId.values()) {
            assertThat(names.find(id.displayName())).isEqualTo(id.index());
            assertThat(id.aliases())
                    .allSatisfy(alias -> assertThat(names.find(alias)).isEqualTo(id.index()));
            assertThat(BrickCategory.of(names.tag(id.index()))).isSameAs(id.category());
        }
    }

    @Test
    void theKeyAfterTheKnownBricksIsForNamesPastTheBound() {
        NameTable names = BrickId.newNameTable();

        assertThat(names.find("(other names)")).isEqualTo(BrickId.FIXED_KEYS - 1);
        assertThat(BrickCategory.of(names.tag(BrickId.FIXED_KEYS - 1))).isSameAs(BrickCategory.OTHER);
    }

    @Spec("1.5")
    @Test
    void thereIsRoomForFourThousandDynamicBricks() {
        assertThat(TimerToken.MAX_KEY + 1 - BrickId.FIXED_KEYS).isGreaterThanOrEqualTo(4_000);
    }

    @Test
    void everyCategoryHasATagOfItsOwn() {
        for (BrickCategory category : BrickCategory.values()) {
            assertThat(BrickCategory.of(category.index())).isSameAs(category);
        }
    }
}
