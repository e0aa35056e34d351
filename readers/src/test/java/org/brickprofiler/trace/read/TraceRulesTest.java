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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TraceRulesTest {

    private static Optional<TraceRule.Target> target(String rules, String name) {
        return target(TraceRules.parse(rules), name);
    }

    private static Optional<TraceRule.Target> target(TraceRules rules, String name) {
        return rules.decide(new TraceRule.Key(name, "kernel", Map.of(), 0)).target();
    }

    @Test
    void theFirstRuleThatHoldsDecides() {
        String rules = "# comment\n\n  First <- name=/ab/ # why\nSecond (FFN) <- name=/a/\n";

        assertThat(target(rules, "xaby")).contains(new TraceRule.Target("First", BrickCategory.OTHER));
        assertThat(target(rules, "a")).contains(new TraceRule.Target("Second", BrickCategory.FFN));
        assertThat(target(rules, "c")).isEmpty();
        assertThat(TraceRules.parse(rules).size()).isEqualTo(2);
    }

    @Test
    void namesAndAliasesAreKnownBricks() {
        assertThat(target("Rope <- name=/r/", "r")).contains(TraceRule.Target.of(BrickId.ROPE_EMBEDDING));
        assertThat(target("RmsNorm (norm) <- name=/r/", "r")).contains(TraceRule.Target.of(BrickId.RMS_NORM));
    }

    @Test
    void quotationMarksHoldBlanksAndSlashesAreEscaped() {
        assertThat(target("\"my \\\"own\\\" step\"(ffn)<-name=/a\\/b\\d/", "a/b7"))
                .contains(new TraceRule.Target("my \"own\" step", BrickCategory.FFN));
        assertThat(target("x <- name=/#/", "#")).isPresent();
        assertThat(target("\"ignore\" <- name=/x/", "x")).contains(new TraceRule.Target("ignore", BrickCategory.OTHER));
    }

    @Test
    void allConditionsMustHold() {
        TraceRules rules = TraceRules.parse("x <- name=/N/i cat=/^kernel$/ args.stream=/^7$/ args.\"a b\"=/c/");

        assertThat(rules.argKeys()).containsExactlyInAnyOrder("stream", "a b");
        Map<String, String> args = Map.of("stream", "7", "a b", "c");
        assertThat(rules.decide(new TraceRule.Key("n", "kernel", args, 0)).target())
                .isPresent();
        assertThat(rules.decide(new TraceRule.Key("m", "kernel", args, 0)).target())
                .isEmpty();
        assertThat(rules.decide(new TraceRule.Key("n", "kernels", args, 0)).target())
                .isEmpty();
        assertThat(rules.decide(new TraceRule.Key("n", "kernel", Map.of("stream", "7"), 0))
                        .target())
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
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
    void rulesAreLoadedFromAFile(@TempDir Path folder) throws IOException {
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

        assertThat(target(mine, "ampere_sgemm_32x32")).contains(new TraceRule.Target("Mine", BrickCategory.OTHER));
        assertThat(target(mine, "Memcpy HtoD (Pageable -> Device)"))
                .contains(TraceRule.Target.of(BrickId.HOST_TO_DEVICE));
    }

    /** Names that a public report or a public trace has, each with the program that it is of. */
    @ParameterizedTest
    @CsvFileSource(
            resources = "names-of-kernels.txt",
            delimiter = '|',
            quoteCharacter = '`',
            numLinesToSkip = 1,
            maxCharsPerColumn = 1_000)
    void namesOfPublicTracesAreKnown(String name, String brick, BrickCategory category, String seenIn) {
        assertThat(target(TraceRules.builtIn(), name))
                .as("%s, seen in %s", name, seenIn)
                .contains(new TraceRule.Target(brick, category));
    }

    /** A word in the namespace of a kernel, or in a type of its arguments, does not show what the kernel does. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "void dpsk::grouped_gemm::cuda::utils::transpose<512, 128, 4, 4>(unsigned char const*)",
                "dpsk::grouped_gemm::cuda::utils::fill_tensormaps_kernel(CUtensorMap_st)",
                "void my::matmul_utils::count<int>()",
                "void my::collect<cutlass::half_t>(cutlass::half_t*)",
                "void my::collect<cutlass::bfloat16_t, cutlass::arch::Sm90>()"
            })
    void aNamespaceOrATypeIsNoEvidence(String name) {
        assertThat(target(TraceRules.builtIn(), name)).isEmpty();
    }

    /** Names of kernels as their libraries give them; the templates are shortened. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
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
                "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn | Gemm | MATRIX_PRODUCT",
                "nvjet_tst_128x64_64x8_2x1_v_bz_TNT | Gemm | MATRIX_PRODUCT",
                "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_64x6_tn_align8>() | Gemm | MATRIX_PRODUCT",
                "Cijk_Alik_Bljk_HHS_BH_MT128x128x32 | Gemm | MATRIX_PRODUCT",
                "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_cudnn | Convolution | CONVOLUTION",
                "void at::native::(anonymous namespace)::indexSelectSmallIndex<float, long>() | Embedding | OTHER",
                "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>() | Add | OTHER",
                "triton_poi_fused_add_0 | Elementwise | OTHER",
                "void cusparse::csrmv_v3_kernel<float>() | SpMV | SPARSE",
                "void fft2d_r2c_32x32<float>() | FFT2D | FFT",
                "_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu | MoeExpert | FFN",
                "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1 | MoeExpert | FFN",
                "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_swiGlu_dynBatch_sm100f | MoeExpert | FFN",
                "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_dynBatch_sm100f | MoeExpert | FFN",
                "_topk_forward | MoeRouter | FFN",
                "_combined_routing_compute | MoeRouter | FFN",
                "void fbgemm_gpu::permute_indices_weights_kernel<false, int>() | Index | OTHER",
                "igemm_fwd_gtcx2_nhwc_fp16_bx0_ex0_bt128x128x32 | Convolution | CONVOLUTION",
                "igemm_bwd_gtcx2_nhwc_fp16_bx0 | Convolution | CONVOLUTION",
                "igemm_wrw_gtcx2_nhwc_fp16_bx0 | Convolution | CONVOLUTION",
                "cutlass_tensorop_s1688fprop_optimized_tf32_64x64_16x10_nhwc_align4 | Convolution | CONVOLUTION",
                "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32>() | Convolution | CONVOLUTION",
                "cutlass_tensorop_bf16_s16816wgrad_analytic_bf16 | Convolution | CONVOLUTION",
                "void cudnn::cnn::dgrad_engine<float, 128, 6, 7, 3, 3, 5, true>() | Convolution | CONVOLUTION",
                "void cudnn::cnn::wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, true, 512>() | Convolution | CONVOLUTION",
                "batched_transpose_32x32_half | Convolution | CONVOLUTION",
                "void k_get_rows<32, 2, &(dequantize_q4_0)>(void const*, int const*) | Embedding | OTHER",
                "_paged_attn_decode_v2_w_dot_kernel | FusedAttention | ATTENTION",
                "attn_fwd | FusedAttention | ATTENTION",
                "attn_fwd.kd | FusedAttention | ATTENTION",
                "_attn_fwd | FusedAttention | ATTENTION",
                "sage_fwd | FusedAttention | ATTENTION",
                "_fwd_kernel | FusedAttention | ATTENTION",
                "_fwd_grouped_kernel_stage1 | FusedAttention | ATTENTION",
                "_fwd_kernel_destindex_copy_kv | KvCacheUpdate | ATTENTION",
                "_layer_norm_fwd_1pass_kernel | LayerNorm | NORM",
                "void cudnn::bn_fw_tr_1C11_singleread<float, 512, true>() | BatchNorm | NORM",
                "void cudnn::bn_bw_1C11_singleread<float, 512>() | BatchNormBackward | NORM",
                "void at::native::batch_norm_collect_statistics_kernel<float>() | BatchNorm | NORM",
                "void tensorrt_llm::kernels::quantize_with_block_size<2, __nv_bfloat16, 32, true>() | Quantize | QUANTIZATION",
                "_w8a8_block_fp8_matmul | Gemm | MATRIX_PRODUCT",
                "triton_tem_fused_mm_0 | Gemm | MATRIX_PRODUCT",
                "triton_tem_fused_flex_attention_1 | FusedAttention | ATTENTION",
                "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_2 | RmsNorm | NORM",
                "triton_red_fused_add_as_strided_fmha_v3_fwd_mean_mul_pow_rsqrt_stack_24 | RmsNorm | NORM",
                "triton_poi_fused__to_copy_cat_fmha_v3_fwd_mul_neg_stack_13 | Elementwise | OTHER",
                "triton_poi_fused_moe_forward_shared_0 | Elementwise | OTHER",
                "_ZN2ck6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3INS_13tensor_layout4gemm | Convolution | CONVOLUTION",
                "_ZN2ck6device37kernel_batched_gemm_xdlops_bwd_weightINS_47GridwiseGemm_bk0mk1 | Convolution | CONVOLUTION",
                "cask_cudnn_infer::computeBOffsetsKernel(cask_cudnn_infer::ComputeBOffsetsParams) | Convolution | CONVOLUTION",
                "void moe::dev::routing::routingIndicesOffsetsKernel<moe::dev::routing::KernelParams> | MoeRouter | FFN",
                "SubTensorOpWithCastTensor1d | Convolution | CONVOLUTION",
                "miopenSp3AsmConv_v30_3_1_gfx9_fp16_dot2_edc_f2x3_stride1 | Convolution | CONVOLUTION",
                "naive_conv_nonpacked_wrw_nchw_half_double_half | Convolution | CONVOLUTION",
                "_ZTSN2at6native3xpu36DistributionElementwiseKernelFunctorE | Random | OTHER",
                "transpose_CNHW2NCHW_V2_2D_WG_off64 | Convolution | CONVOLUTION",
                "Im2d2Col_v2 | Convolution | CONVOLUTION",
                "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>() | LogSoftmax | OTHER",
                "void cunn_SoftMaxForward<4, float, at::native::LogSoftMaxForwardEpilogue>() | LogSoftmax | OTHER",
                "void softmax_warp_backward<float, float, float, 10, true, false>() | LogSoftmaxBackward | OTHER",
                "void softmax_warp_backward<float, float, float, 10, false, false>() | AttentionBackward | ATTENTION",
                "void at::native::vectorized_layer_norm_kernel<float, float, true>(int) | RmsNorm | NORM",
                "void at::native::vectorized_layer_norm_kernel<float, float, false>(int) | LayerNorm | NORM",
                "void at::native::layer_norm_grad_input_kernel<float, float, true>(float) | RmsNormBackward | NORM",
                "void at::native::cuComputePartGradGammaBeta<float, float>() | LayerNormBackward | NORM",
                "void at::native::RowwiseMomentsCUDAKernel<float, float>() | GroupNorm | NORM",
                "void at::native::ComputeFusedParamsCUDAKernel<float>() | GroupNorm | NORM",
                "void at::native::ComputeInternalGradientsCUDAKernel<float>() | GroupNormBackward | NORM",
                "void (anonymous namespace)::groupnorm_kernel_dispatch_up<__hip_bfloat16, 1024u>() | GroupNorm | NORM",
                "void wvSpltK_hf_sml_<__hip_bfloat16, 64>() | Gemm | MATRIX_PRODUCT",
                "bwd_kernel_fuse.kd | AttentionBackward | ATTENTION",
                "void rocprim::ROCPRIM_400001_NS::detail::radix_sort_block_sort_kernel<int>() | Sort | OTHER",
                "void rocprim::ROCPRIM_400001_NS::detail::init_lookback_scan_state_kernel<int>() | Scan | OTHER",
                "void at::native::(anonymous namespace)::compute_grad_weight<float>() | EmbeddingBackward | OTHER",
                "void fbgemm_gpu::(anonymous namespace)::_FP8rowwise_to_float_cuda_kernel<float>() | Dequantize | QUANTIZATION",
                "RunAndCheck()::{lambda(sycl::_V1::handler&)#1}::operator()(int) const::__GEMM | Gemm | MATRIX_PRODUCT",
                "gemm_fusion_dot @ jit(f)/transpose(jvp(bsd,de->bse))/transpose | GemmBackward | MATRIX_PRODUCT",
                "void splitKreduce_kernel<float, float, float, float, true, false, false>() | SplitKReduction | MATRIX_PRODUCT",
                "ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymDevArgs) | AllReduce | COMMUNICATION",
                "ncclSymkDevKernel_AllGather_LL() | AllGather | COMMUNICATION",
                "void mul_mat_q<(ggml_type)2, 64, 8, false>(char const*, char const*) | Gemm | MATRIX_PRODUCT",
                "void mul_mat_vec_q<(ggml_type)12, 1>(void const*, void const*) | Gemm | MATRIX_PRODUCT",
                "void flash_attn_ext_f16<128, 128, 8, 8>(char const*) | FusedAttention | ATTENTION",
                "quantize_q8_1(float const*, void*, long, long) | Quantize | QUANTIZATION",
                "void quantize_mmq_q8_1<0>(float const*) | Quantize | QUANTIZATION",
                "void soft_max_f32<true, 0, 0, float>(float const*) | AttentionSoftmax | ATTENTION",
                "void rope_neox<true, false, float>(float const*) | RopeEmbedding | ATTENTION",
                "void rope_norm<true, false, float>(float const*) | RopeEmbedding | ATTENTION",
                "void rms_norm_f32<1024, false>(float const*) | RmsNorm | NORM",
                "void k_bin_bcast<&(op_add(float, float)), float, float, float>() | Add | OTHER",
                "void at::native::multi_tensor_apply_kernel<TensorListMetadata<2>, CopyFunctor<int>>() | Copy | OTHER",
                "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>>() | Optimizer | OTHER"
            })
    void builtInRulesKnowTheFieldsKernels(String kernel, String brick, BrickCategory category) {
        assertThat(target(TraceRules.builtIn(), kernel)).contains(new TraceRule.Target(brick, category));
        BrickId.parse(brick).ifPresent(id -> assertThat(id.category()).isEqualTo(category));
    }

    @Test
    void builtInRulesGuessNothing() {
        assertThat(target(TraceRules.builtIn(), "my_own_kernel")).isEmpty();
        assertThat(target(TraceRules.builtIn(), "europe_kernel")).isEmpty();
        assertThat(target(TraceRules.builtIn(), "attn"))
                .as("without its category")
                .isEmpty();
    }
}
