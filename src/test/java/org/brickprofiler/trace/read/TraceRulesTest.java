package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TraceRulesTest {

    private static Optional<Rule.Target> target(String rules, String name) {
        return target(TraceRules.parse(rules), name);
    }

    private static Optional<Rule.Target> target(TraceRules rules, String name) {
        return rules.target(new Rule.Key(name, "kernel", Map.of()));
    }

    @Spec("14.8")
    @Test
    void theFirstRuleThatHoldsDecides() {
        String rules = "# comment\n\n  First <- name=/ab/ # why\nSecond (FFN) <- name=/a/\n";

        assertThat(target(rules, "xaby")).contains(new Rule.Target("First", BrickCategory.OTHER));
        assertThat(target(rules, "a")).contains(new Rule.Target("Second", BrickCategory.FFN));
        assertThat(target(rules, "c")).isEmpty();
        assertThat(TraceRules.parse(rules).size()).isEqualTo(2);
    }

    @Test
    void namesAndAliasesAreKnownBricks() {
        assertThat(target("Rope <- name=/r/", "r")).contains(Rule.Target.of(BrickId.ROPE_EMBEDDING));
        assertThat(target("RmsNorm (norm) <- name=/r/", "r")).contains(Rule.Target.of(BrickId.RMS_NORM));
    }

    @Test
    void quotationMarksHoldBlanksAndSlashesAreEscaped() {
        assertThat(target("\"my \\\"own\\\" step\"(ffn)<-name=/a\\/b\\d/", "a/b7"))
                .contains(new Rule.Target("my \"own\" step", BrickCategory.FFN));
        assertThat(target("x <- name=/#/", "#")).isPresent();
        assertThat(target("\"ignore\" <- name=/x/", "x")).contains(new Rule.Target("ignore", BrickCategory.OTHER));
    }

    @Test
    void allConditionsMustHold() {
        TraceRules rules = TraceRules.parse("x <- name=/N/i cat=/^kernel$/ args.stream=/^7$/ args.\"a b\"=/c/");

        assertThat(rules.argKeys()).containsExactlyInAnyOrder("stream", "a b");
        Map<String, String> args = Map.of("stream", "7", "a b", "c");
        assertThat(rules.target(new Rule.Key("n", "kernel", args))).isPresent();
        assertThat(rules.target(new Rule.Key("m", "kernel", args))).isEmpty();
        assertThat(rules.target(new Rule.Key("n", "kernels", args))).isEmpty();
        assertThat(rules.target(new Rule.Key("n", "kernel", Map.of("stream", "7")))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '`', value = {
        "x;                            1;  2; there is no <- after the brick",
        "x <-;                         1;  5; there is no condition",
        "<- name=/x/;                  1;  1; the brick has no name",
        "`\"\" <- name=/x/`;           1;  1; the brick has no name",
        "(FFN) <- name=/x/;            1;  1; the brick has no name",
        "x (Ffm) <- name=/x/;          1;  4; there is no category \"Ffm\"",
        "x (FFN <- name=/x/;           1;  3; the category has no )",
        "RmsNorm (FFN) <- name=/x/;    1;  1; RmsNorm is a known brick of category Norm",
        "x <- name;                    1; 10; there is no = after name",
        "x <- name=x;                  1; 11; there is no /regex/ after name=",
        "x <- nome=/x/;                1;  6; \"nome\" is none of",
        "x <- args.=/x/;               1;  6; \"args.\" is none of",
        "x <- name=/x;                 1; 11; there is no second /",
        "x <- name=/x/g;               1; 14; \"g\" follows the regex",
        "x <- name=/a(b/;              1; 15; unclosed group",
        "`\"x <- name=/x/`;            1;  1; there is no second \""
    })
    void faultsAreNamedByLineAndColumn(String rule, int line, int column, String fault) {
        assertThatThrownBy(() -> TraceRules.parse(rule))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("rules, line " + line + ", column " + column + ": ")
                .hasMessageContaining(fault);
        assertThatThrownBy(() -> TraceRules.parse("# one\nok <- name=/x/\n" + rule))
                .hasMessageStartingWith("rules, line 3, column " + column + ": ");
    }

    @Test
    void filesAreRulesToo(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("my.rules"), "x <- name=/x/");
        assertThat(TraceRules.load(file).size()).isOne();

        Files.writeString(file, "x");
        assertThatThrownBy(() -> TraceRules.load(file)).hasMessageStartingWith(file + ", line 1, column 2: ");
        assertThatThrownBy(() -> TraceRules.load(folder.resolve("none")))
                .isInstanceOf(IOException.class)
                .hasMessageEndingWith("it does not exist");
    }

    @Test
    void rulesCanStandBeforeOthers() {
        TraceRules mine = TraceRules.parse("Mine <- name=/gemm/").then(TraceRules.builtIn());

        assertThat(target(mine, "ampere_sgemm_32x32")).contains(new Rule.Target("Mine", BrickCategory.OTHER));
        assertThat(target(mine, "Memcpy HtoD (Pageable -> Device)")).contains(Rule.Target.of(BrickId.HOST_TO_DEVICE));
    }

    /** Names of kernels as their libraries give them; the templates are shortened. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloat16*) | RmsNorm | NORM",
        "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>() | RmsNorm | NORM",
        "void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>() | RmsNorm | NORM",
        "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>() | LayerNorm | NORM",
        "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<float>() | LayerNormBackward | NORM",
        "void vllm::rotary_embedding_kernel<c10::BFloat16, true>() | RopeEmbedding | ATTENTION",
        "_rope_kernel | RopeEmbedding | ATTENTION",
        "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128>>() | FusedAttention | ATTENTION",
        "void cutlass::device_kernel<flash::FlashAttnFwdSm90<>>() | FusedAttention | ATTENTION",
        "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention) | FusedAttention | ATTENTION",
        "void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits>() | AttentionBackward | ATTENTION",
        "void flashinfer::BatchDecodeWithPagedKVCacheKernel<2u>() | FusedAttention | ATTENTION",
        "void vllm::paged_attention_v1_kernel<unsigned short>() | FusedAttention | ATTENTION",
        "kernel_unified_attention_2d | FusedAttention | ATTENTION",
        "void (anonymous namespace)::softmax_warp_forward<float, 8>() | AttentionSoftmax | ATTENTION",
        "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>() | KvCacheUpdate | ATTENTION",
        "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel> | Activation | FFN",
        "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl()> | Activation | FFN",
        "void vllm::moe::topkGatingSoftmax<8, 128>() | MoeRouter | FFN",
        "void vllm::moe::moe_align_block_size_kernel<int>() | MoeRouter | FFN",
        "fused_moe_kernel | MoeExpert | FFN",
        "void vllm::dynamic_per_token_scaled_fp8_quant_kernel<c10::BFloat16>() | Quantize | QUANTIZATION",
        "void vllm::awq::dequantize_weights() | Dequantize | QUANTIZATION",
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>) | AllReduce | COMMUNICATION",
        "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem) | AllGather | COMMUNICATION",
        "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL() | ReduceScatter | COMMUNICATION",
        "ncclDevKernel_SendRecv() | SendRecv | COMMUNICATION",
        "ncclDevKernel_Generic_1() | Collective | COMMUNICATION",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>() | AllReduce | COMMUNICATION",
        "Memcpy DtoH (Device -> Pinned) | DeviceToHost | TRANSFER",
        "Memcpy DtoD (Device -> Device) | DeviceToDevice | TRANSFER",
        "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn | Gemm | OTHER",
        "nvjet_tst_128x64_64x8_2x1_v_bz_TNT | Gemm | OTHER",
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_64x6_tn_align8>() | Gemm | OTHER",
        "Cijk_Alik_Bljk_HHS_BH_MT128x128x32 | Gemm | OTHER",
        "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_cudnn | Convolution | OTHER",
        "void at::native::(anonymous namespace)::indexSelectSmallIndex<float, long>() | Embedding | OTHER",
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>() | Add | OTHER",
        "triton_poi_fused_add_0 | Elementwise | OTHER",
        "void cusparse::csrmv_v3_kernel<float>() | SpMV | SPARSE",
        "void fft2d_r2c_32x32<float>() | FFT2D | FFT"
    })
    void builtInRulesKnowTheFieldsKernels(String kernel, String brick, BrickCategory category) {
        assertThat(target(TraceRules.builtIn(), kernel)).contains(new Rule.Target(brick, category));
        BrickId.parse(brick).ifPresent(id -> assertThat(id.category()).isEqualTo(category));
    }

    @Test
    void builtInRulesGuessNothing() {
        assertThat(target(TraceRules.builtIn(), "my_own_kernel")).isEmpty();
        assertThat(target(TraceRules.builtIn(), "europe_kernel")).isEmpty();
        assertThat(target(TraceRules.builtIn(), "attn")).as("without its category").isEmpty();
    }
}
