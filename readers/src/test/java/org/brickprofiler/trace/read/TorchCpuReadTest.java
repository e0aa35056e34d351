package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.brickprofiler.trace.read.Traces.totalNs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Work;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceProfile.Placement.Source;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Traces of PyTorch on a processor, written by Kineto and by the older profiler, which DJL calls. */
final class TorchCpuReadTest {

    private static final Path TRACES = Path.of("src", "test", "resources", "traces");
    private static final Path TRACE = TRACES.resolve("torch-2.13-cpu.json.gz");
    private static final long US = 1_000;

    private static String op(String name, String cat, double ts, double dur, String args) {
        return String.format(
                Locale.ROOT,
                "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":7,\"tid\":7,\"ts\":%.3f,\"dur\":%.3f,\"args\":{%s}}",
                cat,
                name,
                ts,
                dur,
                args);
    }

    private static String op(String name, double ts, double dur) {
        return op(name, "cpu_op", ts, dur, "");
    }

    private static String module(String name, double ts, double dur) {
        return op("nn.Module: " + name, "python_function", ts, dur, "");
    }

    private static String dims(String dims, String types) {
        return "\"Input Dims\": %s, \"Input type\": %s".formatted(dims, types);
    }

    private static String legacy(String name, double ts, double dur, String shape) {
        return String.format(
                Locale.ROOT,
                "{\n\"name\": \"%s\",\n\"ph\": \"X\",\n\"ts\": %s,\n\"dur\": %s,\n\"tid\": 1,\n\"pid\": \"CPU Functions\",\n"
                        + "\"shape\": %s,\n\"args\": {}\n}",
                name,
                ts,
                dur,
                shape);
    }

    /** The program that made the trace printed the table beside it; each row is the self time of an operator. */
    @Test
    void selfTimesAreThoseThatPyTorchPrints() throws IOException {
        ReadOptions names =
                ReadOptions.defaults().withRules(TraceRules.parse("")).withKeepWarmup(true);

        TraceProfile profile = Traces.read(TRACE, names);

        assertThat(profile.snapshot().totalNs()).isEqualTo(7_294_247);
        assertThat(Omissions.ignored(profile)).containsEntry(Reason.ANNOTATION, 10L);
        List<String[]> rows =
                Files.readAllLines(Path.of("src/test/resources/org/brickprofiler/trace/read/torch-2.13-cpu.txt"))
                        .stream()
                        .filter(line -> line.contains("aten::"))
                        .map(line -> line.strip().split(" +"))
                        .toList();
        assertThat(rows).hasSize(11);
        for (String[] row : rows) {
            BrickStats brick = profile.snapshot().brick(row[0]).orElseThrow();
            assertThat(brick.count()).as(row[0]).isEqualTo(Long.parseLong(row[6]));
            String self = row[2].endsWith("ms")
                    ? String.format(Locale.ROOT, "%.3fms", brick.totalNs() / 1e6)
                    : String.format(Locale.ROOT, "%.3fus", brick.totalNs() / 1e3);
            assertThat(self).as(row[0]).isEqualTo(row[2]);
        }
    }

    @Test
    void productsAndAttentionAreNotOther() throws IOException {
        TraceProfile profile = Traces.read(TRACE, ReadOptions.defaults().withKeepWarmup(true));

        assertThat(profile.unmatched().events()).isZero();
        assertThat(profile.snapshot().totalNs()).isEqualTo(7_294_247);
        assertThat(profile.snapshot().brick("Gemm").orElseThrow().count()).isEqualTo(150);
        assertThat(profile.snapshot().brick("FusedAttention").orElseThrow().count())
                .isEqualTo(20);
        assertThat(profile.snapshot().brick("Embedding").orElseThrow().count()).isEqualTo(10);
    }

    @ParameterizedTest
    @CsvSource({
        "aten::mm, Gemm, MATRIX_PRODUCT",
        "aten::addmm, Gemm, MATRIX_PRODUCT",
        "aten::bmm, Gemm, MATRIX_PRODUCT",
        "mkldnn::_linear_pointwise, Gemm, MATRIX_PRODUCT",
        "quantized::linear_dynamic, Gemm, MATRIX_PRODUCT",
        "aten::linear, ProductCall, MATRIX_PRODUCT",
        "aten::matmul, ProductCall, MATRIX_PRODUCT",
        "aten::_scaled_dot_product_flash_attention_for_cpu, FusedAttention, ATTENTION",
        "aten::_softmax, AttentionSoftmax, ATTENTION",
        "aten::conv2d, ConvolutionCall, CONVOLUTION",
        "aten::mkldnn_convolution, Convolution, CONVOLUTION",
        "aten::_convolution, ConvolutionCall, CONVOLUTION",
        "aten::_slow_conv2d_forward, Convolution, CONVOLUTION",
        "aten::softmax, AttentionCall, ATTENTION",
        "aten::scaled_dot_product_attention, AttentionCall, ATTENTION",
        "aten::layer_norm, NormCall, NORM",
        "aten::_batch_norm_impl_index, NormCall, NORM",
        "aten::native_layer_norm, LayerNorm, NORM",
        "aten::_fused_rms_norm, RmsNorm, NORM",
        "aten::native_batch_norm, BatchNorm, NORM",
        "aten::embedding, Embedding, OTHER",
        "aten::gelu, Activation, FFN",
        "aten::silu_, Activation, FFN",
        "aten::max_pool2d_with_indices, Pooling, OTHER",
        "aten::transpose, View, OTHER"
    })
    void operatorsNameBricks(String operator, String brick, BrickCategory category) throws IOException {
        for (String event : List.of(op(operator, 1, 4), legacy(operator, 1, 4, "[]"))) {
            BrickStats found =
                    Traces.read(Traces.array(event)).snapshot().bricks().get(0);

            assertThat(found.name()).isEqualTo(brick);
            assertThat(found.category()).isEqualTo(category);
        }
    }

    /** A module names the products in it, even if it follows its operators in the file. */
    @Test
    void modulesNameProductsAndAddNoTime() throws IOException {
        String[] events = {
            op("aten::linear", 11, 8),
            op("aten::mm", 12, 5),
            op("aten::_scaled_dot_product_flash_attention_for_cpu", 30, 9),
            op("aten::linear", 41, 8),
            op("aten::mm", 42, 6),
            op("aten::mm", 62, 7),
            op("aten::mm", 82, 1),
            module("Linear_0", 10, 10),
            module("Linear_3", 40, 10),
            module("Attn_0", 5, 50),
            module("LMHead_0", 60, 10),
            module("Model_0", 0, 100),
            op("model.py(12): forward", "python_function", 0, 100, "")
        };
        TraceProfile profile = Traces.read(Traces.array(events));

        assertThat(totalNs(profile, "QkvProjection")).isEqualTo(5 * US);
        assertThat(totalNs(profile, "OutputProjection")).isEqualTo(6 * US);
        assertThat(totalNs(profile, "LmHead")).isEqualTo(7 * US);
        assertThat(totalNs(profile, "Gemm")).isEqualTo(US);
        assertThat(profile.snapshot().totalNs()).isEqualTo((8 + 9 + 8 + 7 + 1) * US);
        assertThat(Omissions.ignored(profile)).isEqualTo(Map.of(Reason.PYTHON, 6L));
        assertThat(profile.placements())
                .filteredOn(part -> part.source() == Source.MODULE)
                .extracting(TraceProfile.Placement::brick)
                .contains("QkvProjection", "OutputProjection", "LmHead");
    }

    @Test
    void theOlderFormatHasSelfTimesByThread() throws IOException {
        TraceProfile profile = Traces.read(Traces.array(
                legacy("aten::linear", 0.5, 20.25, "[[1, 64, 256], [1024, 256], [1024]]"),
                legacy("aten::addmm", 2.5, 15, "[[1024], [64, 256], [256, 1024], [], []]"),
                legacy("aten::gelu", 21, 4, "[[1, 64, 1024]]"),
                legacy("aten::addmm", 4, 3, "[]").replace("\"tid\": 1", "\"tid\": 2")));

        assertThat(totalNs(profile, "Gemm")).isEqualTo(18 * US);
        assertThat(totalNs(profile, "ProductCall")).isEqualTo(5_250);
        assertThat(profile.snapshot().totalNs()).isEqualTo(27_250);
        assertThat(profile.rows()).isEqualTo(2);
        // The format has no types, so the bytes are unknown.
        assertThat(profile.snapshot().brick("Gemm").orElseThrow().work()).isEqualTo(Work.NONE);
    }

    /**
     * A run of {@code src/test/engines/DjlEncoder.java}. A Python program computed the sum of the outermost operators.
     */
    @Test
    void aTraceOfDjl() throws IOException {
        TraceProfile profile = Traces.read(
                TRACES.resolve("djl-encoder.json.gz"), ReadOptions.defaults().withKeepWarmup(true));

        assertThat(profile.eventsCounted()).isEqualTo(2_226);
        assertThat(profile.snapshot().totalNs()).isEqualTo(10_586_314);
        assertThat(profile.snapshot().brick("Gemm").orElseThrow().count()).isEqualTo(78 + 24);
        assertThat(profile.snapshot().brick("AttentionSoftmax").orElseThrow().count())
                .isEqualTo(12);
        assertThat(profile.unmatched().events()).isZero();
    }

    // ---- work ----

    /** A Python program computed the sums from the shapes in the file. */
    @Test
    void productsHaveTheWorkOfTheirShapes() throws IOException {
        TraceProfile profile = Traces.read(TRACE, ReadOptions.defaults().withKeepWarmup(true));

        Work work = profile.snapshot().brick("Gemm").orElseThrow().work();
        assertThat(work.flops()).isEqualTo(169_410_560);
        assertThat(work.bytes()).isEqualTo(25_092_160);
        assertThat(profile.snapshot().brick("Multiply").orElseThrow().work()).isEqualTo(Work.NONE);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "aten::mm | [[2, 3], [3, 5]] | [\"float\", \"float\"] | 60 | 124",
                "aten::mm | [[2, 3], [3, 5]] | [\"c10::BFloat16\", \"c10::BFloat16\"] | 60 | 62",
                "aten::bmm | [[4, 2, 3], [4, 3, 5]] | [\"double\", \"double\"] | 240 | 992",
                "aten::addmm | [[5], [2, 3], [3, 5], [], []] | [\"float\", \"float\", \"float\", \"Scalar\", \"Scalar\"] | 60 | 144",
                "aten::mm | [[2, 3], [4, 5]] | [\"float\", \"float\"] | 0 | 0",
                "aten::mm | [[2, 3]] | [\"float\"] | 0 | 0",
                "aten::mm | [[2, 3], [3, 5]] | [\"what\", \"float\"] | 0 | 0",
                "aten::mm | [[2, 3], [3, 5]] | [] | 0 | 0",
                "aten::mm | [[2, -3], [-3, 5]] | [\"float\", \"float\"] | 0 | 0",
                "aten::mm | [[2, 3], \"x\"] | [\"float\", \"float\"] | 0 | 0",
                "aten::mm | [[9000000000000000000, 3], [3, 5]] | [\"float\", \"float\"] | 0 | 0",
                "aten::bmm | [[4, 2, 3], [5, 3, 5]] | [\"float\", \"float\"] | 0 | 0"
            })
    void workFollowsFromShapesOrIsUnknown(String operator, String dims, String types, long flops, long bytes)
            throws IOException {
        TraceProfile profile = Traces.read(Traces.array(op(operator, "cpu_op", 1, 4, dims(dims, types))));

        assertThat(profile.snapshot().brick("Gemm").orElseThrow().work()).isEqualTo(Work.of(flops, bytes));
    }

    /** Work for a part of the time would make each rate too low. */
    @Test
    void oneSampleOfUnknownWorkMakesTheWorkOfItsBrickUnknown() throws IOException {
        String known = op("aten::mm", "cpu_op", 1, 4, dims("[[2, 3], [3, 5]]", "[\"float\", \"float\"]"));

        TraceProfile profile = Traces.read(Traces.array(known, op("aten::mm", 7, 4)));

        assertThat(profile.snapshot().brick("Gemm").orElseThrow().work()).isEqualTo(Work.NONE);
    }
}
