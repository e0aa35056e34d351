package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.brickprofiler.BrickStats;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rules that test the names around the launch of a kernel. */
final class LaunchRulesTest {

    private static final String GEMM = "ampere_sgemm_128x64_nn";

    private static String event(char phase, String category, String name, int process, long ts, int correlation) {
        return "{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":1,\"ts\":%d%s%s}"
                .formatted(
                        phase,
                        category,
                        name,
                        process,
                        ts,
                        phase == 'X' ? ",\"dur\":10" : "",
                        correlation < 0 ? "" : ",\"args\":{\"correlation\":" + correlation + "}");
    }

    /** A kernel that was launched in a slice of the host, and one of the same name that was not. */
    private static List<String> launchedIn(String category, String around, String kernel) {
        return List.of(
                event('B', category, around, 5, 0, -1),
                event('X', "cuda_runtime", "cudaLaunchKernel", 5, 10, 1),
                event('E', category, around, 5, 50, -1),
                event('X', "cuda_runtime", "cudaLaunchKernel", 5, 60, 2),
                event('X', "kernel", kernel, 0, 100, 1),
                event('X', "kernel", kernel, 0, 200, 2));
    }

    private static TraceProfile read(List<String> events, String rules) throws IOException {
        TraceRules all = TraceRules.parse(rules).then(TraceRules.builtIn());
        return Traces.read(
                Traces.array(events.toArray(String[]::new)),
                ReadOptions.defaults().withRules(all));
    }

    private static Map<String, Long> counts(TraceProfile reading) {
        return reading.snapshot().bricks().stream()
                .collect(Collectors.toMap(BrickStats::name, BrickStats::count, Long::sum, TreeMap::new));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "cpu_op | aten::conv2d | ampere_gcgemm_64x64_nt | Convolution | Gemm",
                "cpu_op | aten::cudnn_convolution | void fft2d_r2c_32x32<float, false>(float2*) | Convolution | FFT2D",
                "cpu_op | aten::convolution_backward | void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm>() | Convolution | Gemm",
                "cpu_op | aten::_slow_conv2d_forward | void gemv2T_kernel_val<int, int, float>() | Convolution | Gemm",
                "cpu_op | aten::miopen_convolution | Cijk_Ailk_Bljk_SB_MT64x64x16 | Convolution | Gemm",
                "cpu_op | aten::linear | ampere_sgemm_128x64_nn | Gemm | Gemm",
                "cpu_op | aten::convert_things | ampere_sgemm_128x64_nn | Gemm | Gemm",
                "cpu_op | aten::_convolution | void at::native::elementwise_kernel<128, at::native::CUDAFunctor_add<float>>() | Add | Add",
                "cpu_op | Experts | ampere_sgemm_128x64_nn | MoeExpert | Gemm",
                "cpu_op | GroupedGemm | ampere_sgemm_128x64_nn | MoeExpert | Gemm",
                "user_annotation | Optimizer.step#Adam.step | void multi_tensor_apply_kernel<PointwiseOpScalarListFunctor<float>>() | Optimizer | Elementwise",
                "user_annotation | Optimizer.step#SGD.step | void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>() | Optimizer | Multiply",
                "user_annotation | Optimizer.zero_grad#Adam.zero_grad | void multi_tensor_apply_kernel<ZeroFunctor<float>>() | Elementwise | Elementwise",
                "cpu_op | CompiledFunction | triton_per_fused_add_native_layer_norm_native_layer_norm_backward_34 | LayerNorm | Norm",
                "cpu_op | Torch-Compiled Region: 0/0 | triton_red_fused__fused_rms_norm__fused_rms_norm_backward_1 | RmsNorm | Norm",
                "cpu_op | CompiledFunction | triton_poi_fused__native_batch_norm_legit_functional_relu_threshold_backward_2 | BatchNorm | Norm",
                "cpu_op | CompiledFunctionBackward | triton_per_fused_add_native_layer_norm_native_layer_norm_backward_34 | LayerNormBackward | Norm",
                "cpu_op | CompiledFunctionBackward | triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_2 | RmsNormBackward | RmsNorm",
                "cpu_op | CompiledFunction | triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_2 | RmsNorm | RmsNorm",
                "cpu_op | FusedRMSNormAffineFunctionBackward | void cuComputeGradInput<float, float, float, false>() | RmsNormBackward | LayerNormBackward",
                "cpu_op | aten::native_layer_norm | void at::native::RowwiseMomentsCUDAKernel<float>() | LayerNorm | GroupNorm"
            })
    void theLaunchDecidesWhereANameDoesNot(
            String category, String around, String kernel, String launched, String otherwise) throws IOException {
        Map<String, Long> expected =
                launched.equals(otherwise) ? Map.of(launched, 2L) : Map.of(launched, 1L, otherwise, 1L);

        assertThat(counts(read(launchedIn(category, around, kernel), ""))).isEqualTo(expected);
    }

    @Test
    void allConditionsOnTheLaunchMustHoldAndAnyNameAroundItMayHoldEach() throws IOException {
        List<String> events = new ArrayList<>();
        events.add(event('B', "user_annotation", "outer 1", 5, 0, -1));
        events.add(event('B', "cpu_op", "middle", 5, 1, -1));
        events.addAll(launchedIn("cpu_op", "inner", GEMM));
        events.add(3, event('E', "cpu_op", "middle", 5, 51, -1));
        events.add(4, event('E', "user_annotation", "outer 1", 5, 52, -1));
        events.set(2, event('B', "cpu_op", "inner", 5, 2, -1));

        events.sort((one, other) -> Long.compare(time(one), time(other)));
        assertThat(counts(read(events, "Both <- launch=/^inner$/ launch=/^OUTER \\d/i name=/gemm/")))
                .isEqualTo(Map.of("Both", 1L, "Gemm", 1L));
        assertThat(counts(read(events, "Both <- launch=/^inner$/ launch=/^outer 2/\nLater <- launch=/middle/")))
                .isEqualTo(Map.of("Later", 1L, "Gemm", 1L));
    }

    private static long time(String event) {
        return Long.parseLong(event.replaceAll(".*\"ts\":(\\d+).*", "$1"));
    }

    @Test
    void aRuleMayIgnoreKernelsByTheirLaunchOrCountNoOthers() throws IOException {
        List<String> events = launchedIn("cpu_op", "mine", GEMM);

        TraceProfile without = read(events, "ignore <- launch=/^mine$/");
        assertThat(counts(without)).isEqualTo(Map.of("Gemm", 1L));
        assertThat(Omissions.ignored(without)).containsEntry(Omission.Reason.RULE, 1L);

        TraceProfile only = read(events, "Mine <- launch=/^mine$/\nignore <- name=/./");
        assertThat(counts(only)).isEqualTo(Map.of("Mine", 1L));
        assertThat(Omissions.ignored(only)).containsEntry(Omission.Reason.RULE, 1L);
    }

    @Test
    void conditionsOnLaunchesAreLimited() {
        String rules = IntStream.range(0, 65)
                .mapToObj(at -> "x <- launch=/same/ launch=/" + at + "/\n")
                .collect(Collectors.joining());

        assertThatThrownBy(() -> TraceRules.parse(rules))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("rules, line 64: there are more than 64 different conditions on launches");
    }

    /** The node of the range's name reads the copy. */
    @Test
    void aCopyOfTensorRtIsNoneOfTheLayersThatItServes(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("tensorrt.sqlite");
        try (NsightExport export = new NsightExport(file)) {
            List<String> ranges = List.of(
                    "Reformatting CopyNode for Input Tensor 0 to /layer1/Relu",
                    "/layer1/Relu",
                    "/layer2/MatMul + /layer2/Relu");
            for (int at = 0; at < ranges.size(); at++) {
                export.range(1, 1, 1_000L * at, 1_000L * at + 900, ranges.get(at));
                export.launch(1, 1, at, 1_000L * at + 10);
                export.kernel(1, at, 10_000L + 1_000L * at, 10_100L + 1_000L * at, "genericReformat::copy");
            }
        }

        assertThat(counts(Traces.read(file, ReadOptions.defaults())))
                .isEqualTo(Map.of("Reformat", 1L, "Activation", 1L, "Gemm", 1L));
    }
}
