package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.trace.read.TraceProfile.Placement;
import org.brickprofiler.trace.read.TraceProfile.Placement.Source;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The bricks of products and element-wise kernels, by their place and by the modules around their launches. */
final class LayerPlacesTest {

    /** The kernel that each letter stands for. */
    private static final Map<Character, String> KERNELS = Map.ofEntries(
            Map.entry('P', "ampere_bf16_s16816gemm_bf16_128x64"),
            Map.entry('H', "nvjet_tst_192x8_64x8_4x1_v_bz_TNT"),
            Map.entry('k', "void splitKreduce_kernel<float>()"),
            Map.entry('N', "void vllm::rms_norm_kernel<c10::BFloat16>()"),
            Map.entry('A', "void flash_fwd_kernel<Flash_fwd_kernel_traits<128>>()"),
            Map.entry('S', "void softmax_warp_forward<float, 8>()"),
            Map.entry('B', "void softmax_warp_backward<float, float, float, 10, false, false>()"),
            Map.entry('b', "void flash_bwd_dq_dk_dv_loop_kernel<Flash_bwd_kernel_traits>()"),
            Map.entry('t', "void vllm::rotary_embedding_kernel<c10::BFloat16, true>()"),
            Map.entry('G', "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel>"),
            Map.entry('U', "void at::native::vectorized_elementwise_kernel<4, at::native::silu_kernel()>"),
            Map.entry('s', "void at::native::vectorized_elementwise_kernel<4, at::native::sigmoid_kernel_cuda()>"),
            Map.entry('g', "triton_poi_fused_mul_silu_3"),
            Map.entry('y', "triton_poi_fused_mul_sigmoid_4"),
            Map.entry('m', "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>()"),
            Map.entry('+', "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>()"),
            Map.entry('c', "void at::native::elementwise_kernel<128, at::native::direct_copy_kernel_cuda()>"),
            Map.entry('r', "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>()"),
            Map.entry('E', "void indexSelectLargeIndex<c10::BFloat16, long>()"),
            Map.entry('x', "void vllm::moe::topkGatingSoftmax<8, 128>()"),
            Map.entry('X', "fused_moe_kernel"),
            Map.entry('K', "void at::native::sbtopk::gatherTopK<float, unsigned int, 1, false>()"),
            Map.entry('q', "triton_red_fused__to_copy_abs_amax_clamp_div_mul_0"),
            Map.entry('R', "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>()"),
            Map.entry('z', "triton_poi_fused__to_copy_clamp_div_1"),
            Map.entry('L', "triton_red_fused_add_addmm_mul_native_layer_norm_split_16"),
            Map.entry('n', "triton_per_fused__to_copy_add_mean_mul_pow_rsqrt_view_8"),
            Map.entry('u', "triton_poi_fused_addmm_gelu_view_15"),
            Map.entry('v', "triton_poi_fused_addmm_cat_clone_gelu_transpose_34"),
            Map.entry('l', "triton_poi_fused_silu_38"),
            Map.entry('a', "triton_poi_fused__scaled_dot_product_flash_attention_cat_transpose_10"),
            Map.entry('o', "triton_poi_fused_add_cat_mul_neg_stack_transpose_unbind_13"),
            Map.entry('h', "void at::native::vectorized_elementwise_kernel<4, at::native::tanh_kernel_cuda()>"),
            Map.entry('T', "triton_poi_fused_addmm_tanh_8"),
            Map.entry('D', "triton_poi_fused_div_mul_tanh_8"),
            Map.entry('w', "void k_get_rows_float<float, float>()"),
            Map.entry('W', "void k_get_rows_float<float, int>()"),
            Map.entry('d', "void gated_delta_net_cuda<128, false, false>()"),
            Map.entry('C', "void ssm_conv_f32<true, 128ul, 4ul>()"),
            Map.entry('I', "Memcpy HtoD (Pinned -> Device)"),
            Map.entry('O', "Memcpy DtoH (Device -> Pinned)"),
            Map.entry(
                    'M',
                    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MaxOps<float>>>()"),
            Map.entry('f', "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>()"));

    private static final String LAYER = "NPtAPNPGP";

    private static String kernel(char letter) {
        return Objects.requireNonNull(KERNELS.get(letter), "no kernel has this letter");
    }

    /** Kernels of 1 us each, one after the other. */
    private static String[] kernels(String letters, int stream) {
        List<String> events = new ArrayList<>();
        for (int at = 0; at < letters.length(); at++) {
            events.add(Traces.slice(kernel(letters.charAt(at)), "kernel", stream, 10L * at, 1));
        }
        return events.toArray(String[]::new);
    }

    private static TraceProfile read(String letters) throws IOException {
        return Traces.read(Traces.array(kernels(letters, 7)));
    }

    /** Returns the number of events of each brick. */
    private static Map<String, Long> counts(TraceProfile reading) {
        Map<String, Long> counts = new TreeMap<>();
        for (BrickStats brick : reading.snapshot().bricks()) {
            counts.put(brick.name(), brick.count());
        }
        return counts;
    }

    private static Map<String, Long> products(String letters) throws IOException {
        Map<String, Long> counts = counts(read(letters));
        counts.keySet().removeAll(List.of("RmsNorm", "FusedAttention", "RopeEmbedding", "AttentionSoftmax"));
        return counts;
    }

    private static Placement placement(TraceProfile reading, String brick) {
        return reading.placements().stream()
                .filter(placement -> placement.brick().equals(brick))
                .findFirst()
                .orElseThrow(() -> new AssertionError(brick + " is not in " + reading.placements()));
    }

    // ---- by place ----

    @Test
    void productsLieBetweenAttentionNormAndActivation() throws IOException {
        TraceProfile reading = read(LAYER.repeat(5) + "NH");

        assertThat(counts(reading))
                .isEqualTo(Map.of(
                        "QkvProjection",
                        5L,
                        "OutputProjection",
                        5L,
                        "GateUpProjection",
                        5L,
                        "DownProjection",
                        5L,
                        "LmHead",
                        1L,
                        "Activation",
                        5L,
                        "FusedAttention",
                        5L,
                        "RopeEmbedding",
                        5L,
                        "RmsNorm",
                        11L));
        assertThat(reading.placements()).allMatch(placement -> placement.source() == Source.PLACE);
        assertThat(placement(reading, "QkvProjection"))
                .isEqualTo(new Placement("QkvProjection", BrickCategory.ATTENTION, Source.PLACE, 5, 5_000, 4));
        assertThat(placement(reading, "OutputProjection").agreement()).isCloseTo(0.8, within(1e-9));
        assertThat(placement(reading, "LmHead").agreement()).isZero();
        assertThat(reading.summary())
                .contains("\n  placed      by place: 21 events, 21.00 us, 76.2 % of them in layers that repeat\n")
                .contains(
                        "\n                QkvProjection: 5 events, 5.000 us, 80.0 % of them in layers that repeat\n");
    }

    /** CLIP has a projection for each of query, key and value, and a quick GELU. */
    @Test
    void blocksOfClipArePlaced() throws IOException {
        assertThat(counts(read("NPPPcAPN+PmsmP+".repeat(4) + "NH")))
                .containsEntry("QkvProjection", 12L)
                .containsEntry("OutputProjection", 4L)
                .containsEntry("UpProjection", 4L)
                .containsEntry("DownProjection", 4L)
                .doesNotContainKeys("Gemm", "GateUpProjection", "Elementwise", "Multiply");
    }

    /** On a device, kernels run in the program's order, so the first product after the softmax mixes the values. */
    @Test
    void aProductTooManyAfterTheSoftmaxIsNotTakenForLateValues() throws IOException {
        assertThat(counts(read("NPPPSPPPNPUP".repeat(4) + "NH")))
                .doesNotContainKeys("AttentionOutput", "OutputProjection")
                .containsEntry("QkvProjection", 8L)
                .containsEntry("AttentionScore", 4L)
                .containsEntry("Gemm", 12L);
    }

    @Test
    void theFeedForwardBlockShowsByItsActivation() throws IOException {
        assertThat(products("NPAPNPUPNPA")).containsEntry("UpProjection", 1L).containsEntry("DownProjection", 1L);
        assertThat(products("NPAPNPUmPNPA"))
                .containsEntry("GateUpProjection", 1L)
                .containsEntry("Activation", 2L);
        assertThat(products("NPAPNPUPmPNPA"))
                .containsEntry("GateProjection", 1L)
                .containsEntry("UpProjection", 1L)
                .containsEntry("DownProjection", 1L);
        assertThat(products("NPAPNPmsmPNPA")).as("quick GELU of CLIP").containsEntry("UpProjection", 1L);
        assertThat(products("NPAPNPyPNPA")).as("the same, compiled").containsEntry("UpProjection", 1L);
        assertThat(products("NPAPNPsmmPNPA")).as("SiLU and a product").containsEntry("GateUpProjection", 1L);
        assertThat(products("NPAPNPgPNPA")).as("the same, compiled").containsEntry("GateUpProjection", 1L);
        assertThat(products("NPAPNPPNPA")).as("without an activation").containsEntry("Gemm", 2L);
    }

    @Test
    void expertsHaveARouterBeforeThem() throws IOException {
        assertThat(products("NPAPNPfxXXNPA"))
                .isEqualTo(Map.of(
                        "QkvProjection",
                        2L,
                        "OutputProjection",
                        1L,
                        "MoeRouter",
                        2L,
                        "MoeExpert",
                        2L,
                        "FfnElementwise",
                        1L));
    }

    @Test
    void collectivesSeparateProductsAsNormsDo() throws IOException {
        assertThat(products("rPAPrPGPrPA"))
                .isEqualTo(Map.of(
                        "QkvProjection",
                        2L,
                        "OutputProjection",
                        1L,
                        "GateUpProjection",
                        1L,
                        "DownProjection",
                        1L,
                        "Activation",
                        1L,
                        "AllReduce",
                        3L));
    }

    /** A product with which a stream begins may follow others that the trace lacks. */
    @Test
    void aProductBeforeTheFirstAttentionNeedsAKernelBeforeIt() throws IOException {
        assertThat(products("PPA")).isEqualTo(Map.of("Gemm", 2L));
        assertThat(products("NPPA")).isEqualTo(Map.of("QkvProjection", 2L));
    }

    @Test
    void softmaxIsTheAttentionWithoutFusedAttention() throws IOException {
        assertThat(products("NPPPPSPPNPUPNPPPPSPP"))
                .isEqualTo(Map.of(
                        "QkvProjection",
                        6L,
                        "AttentionScore",
                        2L,
                        "AttentionOutput",
                        2L,
                        "OutputProjection",
                        2L,
                        "UpProjection",
                        1L,
                        "DownProjection",
                        1L,
                        "Activation",
                        1L));
    }

    @Test
    void theHeadIsBeforeTheNextPass() throws IOException {
        assertThat(products("NPAPNPGPNPNPAPNPGPNPENPA"))
                .containsEntry("LmHead", 2L)
                .containsEntry("QkvProjection", 3L);
        assertThat(products("NPAPNPGPNPEPNPA"))
                .as("the product behind the embedding is no projection of a layer")
                .containsEntry("LmHead", 1L)
                .containsEntry("Gemm", 1L);
    }

    @Test
    void theSumOfAProductsPartsBelongsToItsBrick() throws IOException {
        assertThat(products("NPkAPkNPGPkNPkA"))
                .isEqualTo(Map.of(
                        "QkvProjection",
                        4L,
                        "OutputProjection",
                        2L,
                        "GateUpProjection",
                        1L,
                        "DownProjection",
                        2L,
                        "Activation",
                        1L));
    }

    @Test
    void generalKernelsBelongToTheBlockAroundThem() throws IOException {
        assertThat(products("NPmm+ccAcP+NPGP+NPtcA"))
                .containsEntry("AttentionCopy", 4L)
                .containsEntry("ResidualAdd", 2L)
                .doesNotContainKeys("Add", "Copy", "Multiply");
        assertThat(counts(read("NPmm+ccAcP+NPGP+NPtcA")))
                .as("two factors and a sum rotate")
                .containsEntry("RopeEmbedding", 4L);
        assertThat(counts(read("NPcfGcfPAPNPcfGcfPNPA")))
                .as("neither a cast nor a fill is an activation")
                .containsEntry("Activation", 2L)
                .containsEntry("FfnElementwise", 4L);
    }

    @Test
    void aBiasAScaleAndKernelsWithoutAMultiplicationRotateNothing() throws IOException {
        for (String between : List.of("+", "m", "+m", "mmc", "fm+", "a", "aa+")) {
            assertThat(counts(read("NP" + between + "AP" + "NPGP" + "NP" + between + "A")))
                    .as(between)
                    .doesNotContainKey("RopeEmbedding")
                    .containsKey("AttentionElementwise");
        }
        assertThat(counts(read("NPoAPNPGPNPcocA"))).containsEntry("RopeEmbedding", 3L);
    }

    @Test
    void quantisationBeforeTheAttentionRotatesNothing() throws IOException {
        assertThat(counts(read("NPqmqzRtcANPGP")))
                .as("with a kernel for the rotation")
                .containsEntry("Quantize", 2L)
                .containsEntry("RopeEmbedding", 1L)
                .containsEntry("AttentionElementwise", 3L);
        assertThat(counts(read("NPRmm+qzANPGP")))
                .as("without a kernel for it")
                .containsEntry("Quantize", 1L)
                .containsEntry("RopeEmbedding", 3L)
                .containsEntry("AttentionElementwise", 2L);
        assertThat(counts(read("NPqzRANPGP")))
                .as("nothing rotates")
                .containsEntry("Quantize", 1L)
                .containsEntry("AttentionElementwise", 2L)
                .doesNotContainKey("RopeEmbedding");
        assertThat(counts(read("NPAPNPRUmPNPA")))
                .as("no activation adds up")
                .containsEntry("FfnElementwise", 1L)
                .containsEntry("Activation", 2L);
    }

    /** As in Qwen3 and Gemma 3. */
    @Test
    void normsOfQueriesAndKeysDivideTheProjections() throws IOException {
        String layers = "A" + "PNPGPNPNPNPA".repeat(3);
        Map<String, Long> named = Map.of(
                "OutputProjection",
                3L,
                "GateUpProjection",
                3L,
                "DownProjection",
                3L,
                "Activation",
                3L,
                "QkvProjection",
                9L);
        assertThat(products(layers)).isEqualTo(named);

        assertThat(products(layers + "PNPGPNHNPNPNPA"))
                .as("with the head between two passes")
                .containsEntry("LmHead", 1L)
                .containsEntry("QkvProjection", 12L)
                .doesNotContainKey("Gemm");
        assertThat(products("S" + "PPNPGPNPNPNPPS".repeat(3)))
                .as("an attention of several kernels")
                .containsEntry("QkvProjection", 9L)
                .containsEntry("AttentionScore", 3L)
                .doesNotContainKey("Gemm");
        for (String other : List.of("APNPGPNPNPPNPA", "APNPNPNPNPA", "APNPGPNPNPUNPA")) {
            assertThat(products(other)).as(other).doesNotContainKey("QkvProjection");
        }
    }

    @Test
    void scalingAndMaskingOfScoresAreNoRotation() throws IOException {
        assertThat(counts(read("S" + "PPNPGPNPmm+cPm+S".repeat(3))))
                .containsEntry("RopeEmbedding", 9L)
                .containsEntry("AttentionElementwise", 6L)
                .containsEntry("AttentionCopy", 3L);
    }

    /** A softmax belongs to an attention only if a product uses it, unlike that of a classifier or a router. */
    @Test
    void aSoftmaxThatNoProductUsesIsNoAttention() throws IOException {
        assertThat(counts(read("NPUPSf"))).as("a classifier at the end").containsEntry("Softmax", 1L);
        assertThat(counts(read("PSRNPSRN")))
                .as("classifiers with a norm behind")
                .containsEntry("Softmax", 2L)
                .doesNotContainKey("AttentionSoftmax");
        assertThat(counts(read("PSRBPPSRBP")))
                .as("a classifier in training")
                .containsEntry("Softmax", 2L)
                .containsEntry("SoftmaxBackward", 2L)
                .doesNotContainKeys("AttentionSoftmax", "AttentionBackward");
        assertThat(counts(read("NPPPPSPPNPSRBPBP")))
                .as("an attention and a classifier in training: their backward passes look alike")
                .containsEntry("AttentionSoftmax", 1L)
                .containsEntry("AttentionBackward", 2L);
        assertThat(counts(read("NPPPPcSfPP".repeat(3))))
                .as("attention; a fill and a copy change nothing")
                .containsEntry("AttentionSoftmax", 3L)
                .doesNotContainKey("Softmax");

        String layer = "NPPPPSPPNPSKXX";
        TraceProfile mixture = read(layer.repeat(3) + "NHSK");
        assertThat(counts(mixture))
                .as("a router's softmax, before the choice of experts, and that of the sampling")
                .containsEntry("AttentionSoftmax", 3L)
                .containsEntry("AttentionScore", 3L)
                .containsEntry("AttentionOutput", 3L)
                .containsEntry("QkvProjection", 9L)
                .containsEntry("OutputProjection", 3L)
                .containsEntry("MoeRouter", 6L)
                .containsEntry("LmHead", 1L)
                .containsEntry("Sampling", 1L)
                .doesNotContainKey("Softmax");
    }

    /** Mixtral's later versions choose first; the Switch Transformer chooses the largest alone. */
    @Test
    void aSoftmaxBesideAChoiceIsNoAttention() throws IOException {
        for (String router : List.of("PKSPUP", "PKcSPUP", "PSMPUP", "PSmMPUP")) {
            assertThat(counts(read(("NPPPPSPPN" + router).repeat(3))))
                    .as(router)
                    .containsEntry("AttentionSoftmax", 3L)
                    .containsEntry("Softmax", 3L);
            assertThat(counts(read(("NPAPN" + router).repeat(3))))
                    .as(router + " beside a fused attention")
                    .containsEntry("Softmax", 3L)
                    .doesNotContainKey("AttentionSoftmax");
        }
    }

    /** Switch-like routers weight all experts, so that nothing is chosen between the softmax and their products. */
    @Test
    void aSoftmaxAfterTheFirstProductBehindAnAttentionIsThatOfARouter() throws IOException {
        assertThat(counts(read("NPAPNPScPUP".repeat(3))))
                .containsEntry("Softmax", 3L)
                .doesNotContainKey("AttentionSoftmax");
        assertThat(counts(read("NPPPPSPPNPSmPUP".repeat(3))))
                .containsEntry("Softmax", 3L)
                .containsEntry("AttentionSoftmax", 3L);
        assertThat(counts(read("NPAPNPUPNPPSPPNPUP".repeat(3))))
                .as("fused and other attentions, in turn")
                .containsEntry("AttentionSoftmax", 3L)
                .doesNotContainKey("Softmax");
        assertThat(counts(read("NPPPPSPPNPPSPPNPUP".repeat(3))))
                .as("a decoder that also attends to an encoder")
                .containsEntry("AttentionSoftmax", 6L)
                .doesNotContainKey("Softmax");
        assertThat(counts(read("NPPPNNPSPPNPUP".repeat(3))))
                .as("norms of queries and keys")
                .containsEntry("AttentionSoftmax", 3L)
                .doesNotContainKey("Softmax");
    }

    /** In llama.cpp, states of recurrent layers and the rows of the output are looked up, too. */
    @Test
    void onlyALookupAtTheBeginningOfAPassIsOfTheEmbedding() throws IOException {
        assertThat(counts(read("wwdwdwdwd")))
                .isEqualTo(Map.of("Embedding", 1L, "RowLookup", 4L, "LinearAttention", 4L));
        String pass = "wNPwCPwdPNPwww+NH";
        assertThat(counts(read("II" + pass + "O" + "I" + pass)))
                .as("after copies from the host")
                .containsEntry("Embedding", 2L)
                .containsEntry("RowLookup", 10L);
        assertThat(counts(read(pass.repeat(3))))
                .as("before the same kernel")
                .containsEntry("Embedding", 3L)
                .containsEntry("RowLookup", 15L);
        assertThat(counts(read("wCwdPwdNwN")))
                .as("a trace that begins within a layer")
                .containsEntry("RowLookup", 4L)
                .doesNotContainKey("Embedding");
        assertThat(counts(read("PPWPW"))).as("none begins a pass").containsEntry("RowLookup", 2L);
        assertThat(counts(read("w"))).as("alone").containsEntry("Embedding", 1L);
    }

    @Test
    void theSoftmaxOfARouterIsNoAttention() throws IOException {
        assertThat(products("A" + "PNPSXXNPA".repeat(3)))
                .as("by place")
                .isEqualTo(Map.of("OutputProjection", 3L, "MoeRouter", 6L, "MoeExpert", 6L, "QkvProjection", 3L));

        List<String> events = new ArrayList<>();
        int launches = 0;
        for (String module : List.of("LlamaAttention_0", "Qwen3MoeTopKRouter_0", "Qwen3MoeSparseMoeBlock_0", "")) {
            launches = launchIn(module, 'S', launches, 20L * launches, events);
        }
        assertThat(counts(Traces.read(Traces.array(events.toArray(String[]::new)))))
                .as("by module; nothing shows the use of the last one")
                .isEqualTo(Map.of("AttentionSoftmax", 1L, "Softmax", 1L, "MoeRouter", 2L));
    }

    @Test
    void aProductBeforeAnActivationIsNoHead() throws IOException {
        String layers = "NPtAPNPGP".repeat(3) + "N";
        for (String head : List.of("H", "HD", "Hmh", "HS")) {
            assertThat(products(layers + head)).as(head).containsEntry("LmHead", 1L);
        }
        assertThat(counts(read(layers + "HmSc" + layers + "H")))
                .as("the softmax of the sampling")
                .containsEntry("Sampling", 1L)
                .containsEntry("LmHead", 2L)
                .doesNotContainKey("AttentionSoftmax");
        for (String pooler : List.of("HT", "Hh", "Hkh", "HU")) {
            assertThat(products(layers + pooler)).as(pooler).doesNotContainKey("LmHead");
        }
    }

    @Test
    void aProductWithoutEvidenceIsAMatrixProduct() throws IOException {
        TraceProfile backward = read("NPtAPNPGPbNPtA");
        assertThat(counts(backward)).containsEntry("Gemm", 4L).containsEntry("QkvProjection", 1L);
        assertThat(backward.snapshot().brick("Gemm").orElseThrow().category()).isEqualTo(BrickCategory.MATRIX_PRODUCT);
        assertThat(placement(backward, "Gemm"))
                .isEqualTo(new Placement("Gemm", BrickCategory.MATRIX_PRODUCT, Source.NOT_KNOWN, 4, 4_000, 4));
        assertThat(backward.summary()).contains("\n              no projection: 4 events, 4.000 us\n");

        assertThat(products("PPNPNP")).as("without attention").isEqualTo(Map.of("Gemm", 4L));
        assertThat(products("APNPGPNPNPNPNPNPA")).as("another layer").containsEntry("Gemm", 8L);
        assertThat(products("APNPUPNPPPPA")).as("four before the attention").containsEntry("Gemm", 4L);
        assertThat(products(LAYER.repeat(2) + "NP"))
                .as("the head, or the next layer's first product")
                .containsEntry("Gemm", 1L);
        assertThat(products("APNPUP")).as("an end that may be cut off").containsEntry("Gemm", 2L);
        assertThat(products("UPNPA")).as("a beginning that is cut off").containsEntry("Gemm", 1L);
        String manyKernels = "f".repeat(LayerPlaces.MOST_KEPT);
        assertThat(products("APNP" + manyKernels + "GPNPA")).as("too long").containsEntry("Gemm", 4L);
    }

    @Test
    void layerNormsSeparateTheBlocksOfADiffusionTransformer() throws IOException {
        String ofTwo = "PLPL" + "PPuPL" + "PPuPL" + "PnPnPnPnPP" + "aA";
        assertThat(products("LPnPnPA" + ofTwo.repeat(3)))
                .as("text and image apart, each with a product that modulates")
                .containsEntry("QkvProjection", 3L + 18L)
                .containsEntry("OutputProjection", 6L)
                .containsEntry("UpProjection", 6L)
                .containsEntry("DownProjection", 6L)
                .containsEntry("Gemm", 6L)
                .containsEntry("AttentionElementwise", 3L);
        assertThat(products("LPnPnPA" + "lPPvPLPPnoPnA".repeat(3)))
                .as("one product after attention and feed-forward block")
                .containsEntry("QkvProjection", 3L + 9L)
                .containsEntry("UpProjection", 3L)
                .containsEntry("OutputDownProjection", 3L)
                .containsEntry("Gemm", 3L);
        assertThat(counts(read("LPnPnPA" + "lPPvPLPPnoPnA"))).containsEntry("RopeEmbedding", 1L);
        assertThat(products("LPnPnPA" + "PLPL" + "PPuPPuPL" + "PPnPA"))
                .as("the first block of text and image together")
                .containsEntry("UpProjection", 2L)
                .containsEntry("DownProjection", 2L)
                .containsEntry("Gemm", 1L);
    }

    @Test
    void embeddingsAndModulationsOfADiffusionTransformerStayProducts() throws IOException {
        assertThat(products("LPnPnPA" + "PLPuPL" + "PlPPlPlP" + "LPPnPA"))
                .as("the embedding of a time before the next pass")
                .containsEntry("UpProjection", 1L)
                .containsEntry("DownProjection", 1L)
                .containsEntry("Gemm", 5L);
        assertThat(products("LPnPnPA" + "PLPuPuPL" + "PPnPA"))
                .as("a product between two activations")
                .containsEntry("Gemm", 3L);
        assertThat(products("LPnPnPA" + "PLPPPuPL" + "PPnPA"))
                .as("two others in the group")
                .containsEntry("Gemm", 4L);
        assertThat(products("LPnPnPA" + "PLPuPL" + "PPPnPA"))
                .as("four products before the attention")
                .containsEntry("QkvProjection", 3L)
                .containsEntry("Gemm", 4L);
        List<String> unequal = new ArrayList<>(List.of(kernels("LPnPnPA" + "PLPuPL" + "PPnPA", 7)));
        unequal.set(9, Traces.slice(kernel('P'), "kernel", 7, 90, 4));
        assertThat(counts(Traces.read(Traces.array(unequal.toArray(String[]::new)))))
                .as("four times the work of the other")
                .containsEntry("Gemm", 2L)
                .doesNotContainKey("UpProjection");
    }

    @Test
    void streamsHaveLayersOfTheirOwn() throws IOException {
        List<String> both = new ArrayList<>(List.of(kernels(LAYER.repeat(2) + "N", 7)));
        both.addAll(List.of(kernels(LAYER.repeat(2) + "N", 8)));

        assertThat(counts(Traces.read(Traces.array(both.toArray(String[]::new)))))
                .containsEntry("QkvProjection", 4L)
                .doesNotContainKey("Gemm");
    }

    @Test
    void bricksOfTheUsersRulesStay() throws IOException {
        ReadOptions options = ReadOptions.defaults()
                .withRules(TraceRules.parse("Mine <- name=/gemm/").then(TraceRules.builtIn()));

        TraceProfile reading = Traces.read(Traces.array(kernels(LAYER.repeat(3), 7)), options);

        assertThat(counts(reading)).containsEntry("Mine", 12L);
        assertThat(reading.placements()).isEmpty();
    }

    // ---- by module ----

    /** A slice on a thread of the host; times in us. */
    private static String host(String name, String category, long ts, long dur) {
        return Traces.slice(name, category, 1, ts, dur);
    }

    private static String launch(int correlation, long ts) {
        return "{\"ph\":\"X\",\"name\":\"cudaLaunchKernel\",\"cat\":\"cuda_runtime\",\"pid\":1,\"tid\":1,\"ts\":" + ts
                + ",\"dur\":1,\"args\":{\"correlation\":" + correlation + "}}";
    }

    private static String launched(char letter, int correlation, long ts) {
        return "{\"ph\":\"X\",\"name\":\"" + kernel(letter) + "\",\"cat\":\"kernel\",\"pid\":0,\"tid\":7,\"ts\":" + ts
                + ",\"dur\":1,\"args\":{\"correlation\":" + correlation + "}}";
    }

    private static String module(String name, long ts, long dur) {
        return host("nn.Module: " + name, "python_function", ts, dur);
    }

    @Test
    void modulesNameTheProducts() throws IOException {
        TraceProfile reading = Traces.read(Traces.array(
                launched('P', 5, 900),
                launched('P', 4, 800),
                launched('A', 3, 700),
                launched('P', 1, 500),
                launched('m', 2, 600),
                launched('P', 9, 950),
                module("LlamaForCausalLM_0", 0, 400),
                module("LlamaDecoderLayer_11", 10, 100),
                module("LlamaAttention_11", 20, 50),
                module("Linear_77", 21, 5),
                launch(1, 22),
                launch(2, 30),
                launch(3, 40),
                module("Linear_78", 50, 5),
                launch(4, 51),
                module("Linear_99", 200, 5),
                launch(5, 201),
                launch(9, 500)));

        assertThat(counts(reading))
                .isEqualTo(Map.of(
                        "QkvProjection",
                        1L,
                        "AttentionElementwise",
                        1L,
                        "FusedAttention",
                        1L,
                        "OutputProjection",
                        1L,
                        "LmHead",
                        1L,
                        "Gemm",
                        1L));
        assertThat(placement(reading, "LmHead").source()).isEqualTo(Source.MODULE);
        assertThat(placement(reading, "LmHead").agreement()).isEqualTo(1.0);
        assertThat(placement(reading, "Gemm").source()).isEqualTo(Source.NOT_KNOWN);
    }

    @ParameterizedTest
    @CsvSource({
        "GPT2LMHeadModel, MODEL",
        "BertLMHeadModel, MODEL",
        "XLMWithLMHeadModel, MODEL",
        "LlamaForCausalLM, MODEL",
        "Qwen3MoeForCausalLM, MODEL",
        "T5ForConditionalGeneration, MODEL",
        "BertForSequenceClassification, OTHER",
        "BertForMaskedLM, OTHER",
        "Qwen3MoeModel, NONE",
        "BertEncoder, NONE",
        "T5Stack, NONE",
        "BertLayer, NONE",
        "GPT2Block, NONE",
        "Qwen3MoeDecoderLayer, NONE",
        "WhisperEncoderLayer, NONE",
        "TransformerBlock, NONE",
        "GraphModule, NONE",
        "DistributedDataParallel, NONE",
        "BertPooler, OTHER",
        "RobertaClassificationHead, OTHER",
        "BertPredictionHeadTransform, OTHER",
        "Dropout, OTHER",
        "UpsamplingBilinear2d, OTHER",
        "SpanPropertyHead, OTHER",
        "ParallelLMHead, HEAD",
        "LogitsProcessor, HEAD",
        "BertOnlyMLMHead, HEAD",
        "BertLMPredictionHead, HEAD",
        "RobertaLMHead, HEAD",
        "LmHeadLinearAllreduce, HEAD",
        "Linear, LINEAR",
        "Conv1D, LINEAR",
        "LinearReLU, LINEAR",
        "LayerNormLinear, LINEAR",
        "Linear8bitLt, LINEAR",
        "NarrowLinear, LINEAR",
        "RowParallelLinear, ROW_PARALLEL",
        "BertSelfOutput, ROW_PARALLEL",
        "ColumnParallelLinear, COLUMN_PARALLEL",
        "MergedColumnParallelLinear, GATE_UP",
        "QKVParallelLinear, QKV",
        "LinearAttention, ATTENTION",
        "T5LayerSelfAttention, ATTENTION",
        "BertSelfAttention, ATTENTION",
        "BertIntermediate, FFN_BEGIN",
        "BertOutput, FFN_END",
        "LayerNormMLP, FFN",
        "MLPBlock, FFN",
        "Qwen3MoeSparseMoeBlock, FFN",
        "T5DenseReluDense, FFN",
        "T5DenseGatedActDense, FFN",
        "T5LayerFF, FFN",
        "FeedForward, FFN",
        "FusedMoE, EXPERTS",
        "GptOssExperts, EXPERTS",
        "GraniteMoeTopKGating, ROUTER",
        "Qwen3MoeRMSNorm, RMS_NORM",
        "T5LayerNorm, RMS_NORM",
        "BertLayerNorm, LAYER_NORM",
        "FusedRMSNormGated, RMS_NORM",
        "LayerNorm, LAYER_NORM",
        "BatchNorm2d, OTHER",
        "YaRNScalingRotaryEmbedding, ROPE",
        "RoPE, ROPE",
        "MRope, ROPE",
        "VocabParallelEmbedding, EMBEDDING",
        "BertEmbeddings, EMBEDDING",
        "SiluAndMul, ACTIVATION",
        "NewGELUActivation, ACTIVATION",
        "ConvReLU, OTHER"
    })
    void theNounDecidesTheKindOfAClass(String name, LaunchSites.Kind kind) {
        assertThat(LaunchSites.Kind.ofClass(name)).isEqualTo(kind);
    }

    /** The feed-forward block of T5 computes its GELU in several kernels, which only the module shows. */
    @ParameterizedTest
    @CsvSource({"true, GateProjection, UpProjection", "false, UpProjection, DownProjection"})
    void anActivationOfSeveralKernelsShowsByItsModule(boolean isGated, String first, String second) throws IOException {
        List<String> events = new ArrayList<>(List.of(
                launched('P', 1, 500),
                launched('m', 2, 510),
                launched('m', 3, 520),
                launched('P', 4, 530),
                module("T5LayerFF_0", 0, 400),
                module("T5DenseGatedActDense_0", 10, 300),
                module("Linear_1", 20, 5),
                launch(1, 21),
                module("NewGELUActivation_0", 30, 20),
                launch(2, 31),
                launch(3, 41),
                module("Linear_2", 60, 5),
                launch(4, 61)));
        if (isGated) {
            events.addAll(List.of(
                    launched('m', 5, 540),
                    launch(5, 71),
                    launched('P', 6, 550),
                    module("Linear_3", 80, 5),
                    launch(6, 81)));
        }
        // The attention of another layer.
        events.addAll(List.of(launched('A', 7, 900), launch(7, 390)));

        Map<String, Long> bricks = counts(Traces.read(Traces.array(events.toArray(String[]::new))));

        assertThat(bricks)
                .containsEntry(first, 1L)
                .containsEntry(second, 1L)
                .containsEntry("DownProjection", 1L)
                .doesNotContainKeys("Gemm", "GateUpProjection");
    }

    /** Two layers of BERT with a head for words, after the modules of its implementation in Transformers. */
    @Test
    void aModelWithAHeadIsNotItsHead() throws IOException {
        List<String> events = new ArrayList<>();
        events.add(module("BertLMHeadModel_0", 0, 1_000));
        events.add(module("BertModel_0", 1, 500));
        events.add(module("BertEncoder_0", 1, 490));
        int correlation = 0;
        for (int layer = 0; layer < 2; layer++) {
            long at = 10 + 100L * layer;
            events.add(module("BertLayer_" + layer, at, 90));
            events.add(module("BertAttention_" + layer, at, 30));
            events.add(module("BertSelfAttention_" + layer, at, 20));
            for (char letter : "PPPA".toCharArray()) {
                correlation = launchIn(letter == 'P' ? "Linear_0" : "", letter, correlation, at += 3, events);
            }
            events.add(module("BertSelfOutput_" + layer, at + 2, 10));
            correlation = launchIn("Linear_1", 'P', correlation, at + 3, events);
            events.add(module("BertIntermediate_" + layer, at + 40, 10));
            correlation = launchIn("Linear_2", 'P', correlation, at + 41, events);
            correlation = launchIn("GELUActivation_0", 'U', correlation, at + 44, events);
            events.add(module("BertOutput_" + layer, at + 55, 12));
            correlation = launchIn("Linear_3", 'P', correlation, at + 56, events);
            correlation = launchIn("", '+', correlation, at + 59, events);
        }
        events.add(module("BertOnlyMLMHead_0", 600, 100));
        events.add(module("BertLMPredictionHead_0", 601, 90));
        events.add(module("BertPredictionHeadTransform_0", 602, 10));
        correlation = launchIn("Linear_8", 'P', correlation, 603, events);
        launchIn("Linear_9", 'P', correlation, 650, events);

        assertThat(counts(Traces.read(Traces.array(events.toArray(String[]::new)))))
                .containsEntry("LmHead", 1L)
                .containsEntry("Gemm", 1L)
                .containsEntry("QkvProjection", 6L)
                .containsEntry("OutputProjection", 2L)
                .containsEntry("UpProjection", 2L)
                .containsEntry("DownProjection", 2L)
                .containsEntry("Activation", 2L);
    }

    /** A head that is one projection, and a head with a transformation ahead of it, as in Transformers. */
    @Test
    void aHeadCountsOncePerPassAndItsTransformationDoesNot() throws IOException {
        List<String> events = new ArrayList<>();
        int correlation = 0;
        for (int pass = 0; pass < 3; pass++) {
            long at = 1_000L * pass;
            correlation = launchIn("Embedding_0", 'E', correlation, at, events);
            correlation = launchIn("RobertaSelfAttention_0", 'A', correlation, at + 10, events);
            events.add(module("RobertaLMHead_0", at + 600, 100));
            correlation = launchIn("Linear_8", 'P', correlation, at + 610, events);
            correlation = launchIn("", 'U', correlation, at + 620, events);
            correlation = launchIn("LayerNorm_8", 'N', correlation, at + 630, events);
            correlation = launchIn("Linear_9", 'P', correlation, at + 640, events);
        }
        assertThat(counts(Traces.read(Traces.array(events.toArray(String[]::new)))))
                .containsEntry("LmHead", 3L)
                .containsEntry("Gemm", 3L);

        events.clear();
        events.add(module("ParallelLMHead_0", 0, 100));
        launchIn("", 'P', launchIn("", 'P', 0, 10, events), 20, events);
        assertThat(counts(Traces.read(Traces.array(events.toArray(String[]::new)))))
                .as("a projection in two chunks")
                .isEqualTo(Map.of("LmHead", 2L));
    }

    /** Adds a launch of a kernel, in a module unless the module's name is empty; returns the number of launches. */
    private static int launchIn(String module, char letter, int launches, long ts, List<String> events) {
        if (!module.isEmpty()) {
            events.add(module(module, ts, 2));
        }
        events.add(launch(launches + 1, ts));
        events.add(launched(letter, launches + 1, 2_000 + 10L * launches));
        return launches + 1;
    }

    @Test
    void theProductOfAPoolerIsNoHead() throws IOException {
        String letters = "NPtAPNPGP".repeat(3) + "NH";
        assertThat(products(letters)).as("by place alone").containsEntry("LmHead", 1L);
        for (String part : List.of("BertPooler_0", "RobertaClassificationHead_0", "LlamaMLP_7")) {
            List<String> events = new ArrayList<>(List.of(kernels(letters.substring(0, letters.length() - 1), 7)));
            events.add(module("LlamaModel_0", 0, 900));
            events.add(module(part, 10, 100));
            events.add(module("Linear_0", 20, 50));
            events.add(launch(1, 30));
            events.add(launched('H', 1, 10L * letters.length()).replace("\"pid\":0", "\"pid\":1"));

            assertThat(counts(Traces.read(Traces.array(events.toArray(String[]::new)))))
                    .as(part)
                    .containsEntry("Gemm", 1L)
                    .doesNotContainKey("LmHead");
        }
    }

    @Test
    void aProjectionWithinANormOrAnEmbeddingIsNoneOfThem() throws IOException {
        for (String part : List.of("TimestepEmbedding_0", "AdaLayerNormZero_0", "RotaryMixer_0")) {
            assertThat(counts(Traces.read(Traces.array(
                            launched('P', 1, 500),
                            module("Model_0", 0, 400),
                            module(part, 10, 100),
                            module("Linear_0", 20, 50),
                            launch(1, 30)))))
                    .as(part)
                    .isEqualTo(Map.of("Gemm", 1L));
        }
    }

    @Test
    void aProjectionInAnUnknownPartOfAModelIsNotItsHead() throws IOException {
        assertThat(counts(Traces.read(Traces.array(
                        launched('P', 1, 500),
                        module("LlavaForCausalLM_0", 0, 400),
                        module("Adapter_0", 10, 100),
                        module("Linear_0", 20, 50),
                        launch(1, 30)))))
                .isEqualTo(Map.of("Gemm", 1L));
    }

    @Test
    void annotationsNameTheProductsToo() throws IOException {
        TraceProfile reading = Traces.read(Traces.array(
                host("model.layers.3.self_attn.o_proj", "user_annotation", 0, 10),
                launch(1, 5),
                host("mlp.gate_up_proj", "user_annotation", 20, 10),
                launch(2, 25),
                host("something else", "user_annotation", 40, 10),
                launch(3, 45),
                launched('P', 1, 100),
                launched('P', 2, 200),
                launched('P', 3, 300)));

        assertThat(counts(reading)).isEqualTo(Map.of("OutputProjection", 1L, "GateUpProjection", 1L, "Gemm", 1L));
        assertThat(reading.placements()).hasSize(3);
    }

    @Test
    void rowsOfTwoProcessesMayHaveOneCorrelation() throws IOException {
        assertThat(counts(Traces.read(Traces.array(
                        module("QKVParallelLinear_0", 0, 10), launch(1, 5), launch(1, 50), launched('P', 1, 100)))))
                .as("two launches of one number are no launch of the kernel")
                .isEqualTo(Map.of("Gemm", 1L));
    }
}
