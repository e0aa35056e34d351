package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.brickprofiler.trace.read.Traces.totalNs;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Work;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.read.Omission.Effect;
import org.brickprofiler.trace.read.Omission.Reason;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Profiles of ONNX Runtime. A Python program that shares no code with the reader computed the totals of the files: the
 * sums of {@code dur} over {@code model_run} and over the nodes. It subtracted the time of the nodes inside an
 * {@code If} from that of the {@code If}.
 */
final class OnnxRuntimeReadTest {

    private static final Path TRACES = Path.of("src", "test", "resources", "traces");
    private static final long US = 1_000;

    /** Bricks that belong to category Other by their definition. */
    private static final Set<String> OTHER_BY_DEFINITION = Set.of("LmHead", "Embedding", "ResidualAdd", "Sampling");

    private static String session(String name, long ts, long dur) {
        return "{\"cat\" : \"Session\",\"pid\" :1,\"tid\" :2,\"dur\" :%d,\"ts\" :%d,\"ph\" : \"X\",\"name\" :\"%s\",\"args\" : {}}"
                .formatted(dur, ts, name);
    }

    private static String run(long ts, long dur) {
        return session("model_run", ts, dur);
    }

    private static String node(String path, String operator, long ts, long dur) {
        return node(path, operator, 16, ts, dur);
    }

    private static String node(String path, String operator, int rows, long ts, long dur) {
        return ("{\"cat\" : \"Node\",\"pid\" :1,\"tid\" :2,\"dur\" :%d,\"ts\" :%d,\"ph\" : \"X\",\"name\" :\"%s_kernel_time\","
                        + "\"args\" : {\"op_name\" : \"%s\",\"provider\" : \"CPUExecutionProvider\","
                        + "\"input_type_shape\" : [{\"float\":[1,%d,256]}],\"output_type_shape\" : [{\"float\":[1,%d,8]}]}}")
                .formatted(dur, ts, path, operator, rows, rows);
    }

    private static String onCuda(String node) {
        return node.replace("CPUExecutionProvider", "CUDAExecutionProvider");
    }

    private static TraceProfile read(String... events) throws IOException {
        return Traces.read("[\n" + String.join(",\n", events) + "\n]\n");
    }

    private static BrickStats brick(TraceProfile profile, String name) {
        return profile.snapshot().brick(name).orElseThrow();
    }

    @Test
    void nodesThatFellBackToAnotherProviderAreNamed() throws IOException {
        TraceProfile profile = read(
                run(0, 1_000),
                onCuda(node("/a/MatMul", "MatMul", 0, 600)),
                node("/a/Shape", "Shape", 600, 20),
                node("/a/Gather", "Gather", 620, 50),
                node("/b/Shape", "Shape", 670, 50),
                onCuda(node("/b/MatMul", "MatMul", 720, 280)));

        assertThat(profile.providers())
                .containsExactly(
                        new TraceProfile.Provider("CUDAExecutionProvider", 2, 880_000, Map.of("MatMul", 880_000L)),
                        new TraceProfile.Provider(
                                "CPUExecutionProvider", 3, 120_000, Map.of("Shape", 70_000L, "Gather", 50_000L)));
        assertThat(profile.summary())
                .contains("  CUDAExecutionProvider: 88.0 %, 2 nodes, 880.0 us\n")
                .contains(
                        "  CPUExecutionProvider: 12.0 %, 3 nodes, 120.0 us, longest Shape 70.00 us, Gather 50.00 us\n");
    }

    @ParameterizedTest
    @CsvSource({
        "ort-1.22-java, 30, 78128, 3864, 61489",
        "ort-1.30-2threads, 6, 15637, 3356, 12380",
        "ort-decoder-optimum, 6, 5879, 1329, 3157",
        "ort-decoder-merged, 6, 5986, 1299, 5901",
        "ort-decoder-pytorch, 6, 5187, 1012, 2767",
        "ort-decoder-genai, 6, 3384, 721, 2580"
    })
    void theTotalsAreThoseOfTheFile(String file, int runs, long runUs, long firstUs, long nodesUs) throws IOException {
        Path trace = TRACES.resolve(file + ".json.gz");

        TraceProfile all = Traces.read(trace, ReadOptions.defaults().withKeepWarmup(true));
        TraceProfile warm = Traces.read(trace, ReadOptions.defaults());

        assertThat(all.counting()).isEqualTo(TraceProfile.Counting.NODES);
        assertThat(all.steps()).isEqualTo(runs);
        assertThat(all.wallNs()).isEqualTo(runUs * US);
        assertThat(all.snapshot().totalNs()).isEqualTo(nodesUs * US);
        assertThat(warm.wallNs()).isEqualTo((runUs - firstUs) * US);
        assertThat(warm.snapshot().totalNs() + warm.leftOutNs()).isEqualTo(nodesUs * US);
        assertThat(Omissions.leftOut(warm))
                .isNotEmpty()
                .allMatch(part -> part.reason() == Reason.WARM_UP)
                .allMatch(part -> part.elapsedNs() <= firstUs * US);
        assertThat(warm.snapshot().samples()).isEqualTo(all.snapshot().samples() / runs * (runs - 1));
        assertThat(Omissions.faults(all.omissions())).isEmpty();
        assertThat(all.loading())
                .extracting(TraceProfile.Loading::name)
                .containsExactly("session_initialization", "model_loading_uri");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ort-1.22-java",
                "ort-1.30-2threads",
                "ort-decoder-optimum",
                "ort-decoder-merged",
                "ort-decoder-pytorch",
                "ort-decoder-genai"
            })
    void littleTimeIsOther(String file) throws IOException {
        TraceProfile profile = Traces.read(TRACES.resolve(file + ".json.gz"), ReadOptions.defaults());

        long otherNs = profile.snapshot().bricks().stream()
                .filter(brick -> brick.category() == BrickCategory.OTHER)
                .filter(brick -> !OTHER_BY_DEFINITION.contains(brick.name())
                        && !brick.name().equals("ControlFlow"))
                .mapToLong(BrickStats::totalNs)
                .sum();

        assertThat(100.0 * otherNs / profile.snapshot().totalNs()).isLessThan(2.0);
        assertThat(profile.unmatched().events()).isZero();
    }

    /** The same decoder, once with the paths of modules and once with numbers of operators. */
    @Test
    void productsWithoutPathsAreFoundByTheirPlace() throws IOException {
        TraceProfile named = Traces.read(TRACES.resolve("ort-decoder-optimum.json.gz"), ReadOptions.defaults());
        TraceProfile numbered = Traces.read(TRACES.resolve("ort-decoder-pytorch.json.gz"), ReadOptions.defaults());

        for (String product : List.of(
                "QkvProjection",
                "AttentionScore",
                "AttentionOutput",
                "OutputProjection",
                "GateProjection",
                "UpProjection",
                "DownProjection",
                "LmHead")) {
            assertThat(brick(numbered, product).count())
                    .as(product)
                    .isEqualTo(brick(named, product).count());
            assertThat(brick(numbered, product).work().flops())
                    .as(product)
                    .isEqualTo(brick(named, product).work().flops());
        }
        assertThat(numbered.snapshot().brick("Gemm")).isEmpty();
        assertThat(numbered.placements())
                .allMatch(placement -> placement.source() == TraceProfile.Placement.Source.PLACE);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '\'',
            value = {
                "/model/layers.3/self_attn/q_proj/MatMul, MatMul, QkvProjection",
                "/model/layers.3/self_attn/q_proj/Add, Add, QkvProjection",
                "/transformer/h.1/attn/c_attn/Gemm, Gemm, QkvProjection",
                "/bert/encoder/layer.0/attention/self/query/MatMul, MatMul, QkvProjection",
                "/decoder/block.0/layer.0/SelfAttention/q/MatMul, MatMul, QkvProjection",
                "/model/layers.0/attn/qkv_proj/MatMulNBits, MatMulNBits, QkvProjection",
                "/model/layers.0/self_attn/o_proj/MatMul, MatMul, OutputProjection",
                "/bert/encoder/layer.0/attention/output/dense/MatMul, MatMul, OutputProjection",
                "/transformer/h.1/attn/c_proj/Gemm, Gemm, OutputProjection",
                "/bert/encoder/layer.0/intermediate/dense/MatMul, MatMul, UpProjection",
                "/bert/encoder/layer.0/output/dense/MatMul, MatMul, DownProjection",
                "/transformer/h.1/mlp/c_fc/Gemm, Gemm, UpProjection",
                "/transformer/h.1/mlp/c_proj/Gemm, Gemm, DownProjection",
                "/model/layers.0/mlp/gate_up_proj/MatMul, MatMul, GateUpProjection",
                "/model/layers.0/mlp/fc2/MatMul_Q4, MatMulNBits, DownProjection",
                "/model/layers.0/self_attn/MatMul, MatMul, AttentionScore",
                "/model/layers.0/self_attn/MatMul_1, MatMul, AttentionOutput",
                "/model/layers.0/self_attn/Softmax, Softmax, AttentionSoftmax",
                "/model/layers.0/attn/GroupQueryAttention, GroupQueryAttention, FusedAttention",
                "MultiHeadAttention_3, MultiHeadAttention, FusedAttention",
                "SkipSimplifiedLayerNorm_7, SkipSimplifiedLayerNormalization, RmsNorm",
                "SkipLayerNorm_7, SkipLayerNormalization, LayerNorm",
                "/model/layers.0/input_layernorm/Pow, Pow, Norm",
                "/model/rotary_emb/Cos, Cos, RopeEmbedding",
                "MatMulNBits_12, MatMulNBits, Gemm",
                "node_linear_4, MatMul, Gemm",
                "/lm_head/MatMul, MatMul, LmHead",
                "/transformer/wte/Gather, Gather, Embedding",
                "/model/layers.0/mlp/act_fn/Mul, Mul, Activation",
                "/model/layers.0/mlp/Mul, Mul, FfnElementwise",
                "/model/layers.0/Add_1, Add, ResidualAdd",
                "/layer1/layer1.0/conv1/Conv, Conv, Convolution",
                "/conv1/Conv, FusedConv, Convolution",
                "/vae/decoder/up/ConvTranspose, ConvTranspose, Convolution",
                "/model/layers.0/q_proj/DynamicQuantizeLinear, DynamicQuantizeLinear, Quantize",
                "/model/layers.5/moe, QMoE, MoeExpert",
                "/model/layers.5/moe/router/MatMul, MatMul, MoeRouter",
                "/head/Resize, Resize, Resize"
            })
    void thePathOrTheOperatorNamesTheBrick(String path, String operator, String brick) throws IOException {
        TraceProfile profile = read(run(0, 10), node(path, operator, 100, 7), run(99, 10));

        assertThat(profile.snapshot().bricks()).extracting(BrickStats::name).containsExactly(brick);
    }

    /** A parent follows its children in the file. Because of rounding, it may be no longer than they are. */
    @Test
    void aNodeWithASubgraphHasItsSelfTime() throws IOException {
        TraceProfile nested = read(
                node("/a/MatMul", "MatMul", 10, 20),
                node("/b/Resize", "Resize", 30, 21),
                session("SequentialExecutor::Execute", 9, 41),
                node("/if", "If", 8, 42),
                session("SequentialExecutor::Execute", 7, 60),
                run(5, 70));
        TraceProfile equal = read(node("/a/MatMul", "MatMul", 10, 20), node("/if", "If", 10, 20), run(5, 70));
        TraceProfile loop = read(
                node("/a/MatMul", "MatMul", 10, 20),
                node("/if", "If", 10, 20),
                node("/loop", "Loop", 10, 25),
                run(5, 70));

        assertThat(totalNs(nested, "ControlFlow")).isEqualTo(2 * US);
        assertThat(totalNs(nested, "Resize")).isEqualTo(21 * US);
        assertThat(nested.omissions()).noneMatch(Omission::isFault);
        assertThat(totalNs(equal, "ControlFlow")).isZero();
        assertThat(totalNs(equal, "Gemm")).isEqualTo(20 * US);
        assertThat(totalNs(loop, "ControlFlow")).isEqualTo(5 * US);
        assertThat(loop.snapshot().totalNs()).isEqualTo(25 * US);
    }

    @Test
    void aPromptBeforeSingleTokensIsNoWarmup() throws IOException {
        TraceProfile decoding = read(
                node("/a", "MatMul", 16, 0, 5),
                run(0, 9),
                node("/a", "MatMul", 1, 10, 3),
                run(10, 4),
                node("/a", "MatMul", 1, 20, 3),
                run(20, 4));
        TraceProfile repeated = read(
                node("/a", "MatMul", 16, 0, 5),
                run(0, 9),
                node("/a", "MatMul", 1, 10, 3),
                run(10, 4),
                node("/a", "MatMul", 16, 20, 3),
                run(20, 4));

        assertThat(brick(decoding, "Gemm").count()).isEqualTo(3);
        assertThat(decoding.wallNs()).isEqualTo(17 * US);
        assertThat(brick(repeated, "Gemm").count()).isEqualTo(2);
        assertThat(repeated.wallNs()).isEqualTo(8 * US);
        assertThat(repeated.summary()).contains("left out    warm-up: 1 event, 5.000 us");
    }

    /** The shape of the input and the fences of older versions have as many rows for a prompt as for a token. */
    @ParameterizedTest
    @ValueSource(strings = {"Shape_kernel_time", "a_fence_before"})
    void aNodeWithoutActivationsDoesNotMakeAPromptWarmup(String name) throws IOException {
        String before =
                "{\"cat\" : \"Node\",\"pid\" :1,\"tid\" :2,\"dur\" :1,\"ts\" :%d,\"ph\" : \"X\",\"name\" :\"" + name
                        + "\",\"args\" : {\"op_name\" : \"Shape\""
                        + (name.startsWith("Shape") ? ",\"output_type_shape\" : [{\"int64\":[2]}]" : "") + "}}";
        TraceProfile decoding = read(
                before.formatted(0),
                node("/a", "MatMul", 16, 1, 5),
                run(0, 9),
                before.formatted(10),
                node("/a", "MatMul", 1, 11, 2),
                run(10, 4),
                before.formatted(20),
                node("/a", "MatMul", 1, 21, 2),
                run(20, 4));

        assertThat(brick(decoding, "Gemm").count()).isEqualTo(3);
        assertThat(decoding.wallNs()).isEqualTo(17 * US);
    }

    @Test
    void concurrentRunsCountOnceInTheWallTime() throws IOException {
        String other = node("/a", "MatMul", 4, 6).replace("\"tid\" :2", "\"tid\" :3");
        TraceProfile profile = Traces.read(
                "["
                        + String.join(
                                ",",
                                node("/a", "MatMul", 2, 5),
                                other,
                                run(1, 9),
                                run(3, 9).replace("\"tid\" :2", "\"tid\" :3"))
                        + "]",
                ReadOptions.defaults().withKeepWarmup(true));

        assertThat(profile.wallNs()).isEqualTo(11 * US);
        assertThat(profile.busyNs()).isEqualTo(8 * US);
        assertThat(totalNs(profile, "Gemm")).isEqualTo(11 * US);
    }

    /** A profile that was cut off, or of a process that was killed: the parent of the last nodes is missing. */
    @Test
    void nodesOfARunThatDidNotEndAreLeftOut() throws IOException {
        TraceProfile profile =
                read(node("/a", "MatMul", 2, 5), run(1, 9), node("/a", "MatMul", 20, 5), node("/b", "Conv", 26, 3));

        assertThat(profile.snapshot().totalNs()).isEqualTo(5 * US);
        assertThat(profile.wallNs()).isEqualTo(9 * US);
        assertThat(profile.events(Effect.LEFT_OUT)).isEqualTo(2);
        assertThat(profile.leftOutNs()).isEqualTo(8 * US);
        assertThat(profile.summary()).contains("left out    outside of complete runs: 2 events, 8.000 us");
    }

    @Test
    void loadingIsNoBrick() throws IOException {
        TraceProfile profile = read(
                session("model_loading_uri", 0, 500),
                session("session_initialization", 510, 900),
                session("model_loading_array", 1_500, 100),
                node("/a", "MatMul", 2_002, 5),
                run(2_000, 9));

        assertThat(profile.snapshot().bricks()).extracting(BrickStats::name).containsExactly("Gemm");
        assertThat(profile.wallNs()).isEqualTo(9 * US);
        assertThat(profile.loading())
                .containsExactly(
                        new TraceProfile.Loading("session_initialization", 1, 900 * US),
                        new TraceProfile.Loading("model_loading_uri", 1, 500 * US),
                        new TraceProfile.Loading("model_loading_array", 1, 100 * US));
        assertThat(Omissions.ignored(profile)).containsEntry(Reason.LOADING, 3L).containsEntry(Reason.ANNOTATION, 1L);
        assertThat(profile.leftOutNs()).isZero();
        assertThat(profile.summary())
                .contains("loading     session_initialization: 1 event, 900.0 us, no part of the wall time");
    }

    @Test
    void skippedStepsAreRuns() throws IOException {
        String[] events = {
            node("/a", "MatMul", 1, 4),
            run(0, 9),
            node("/a", "MatMul", 11, 3),
            run(10, 5),
            node("/a", "MatMul", 21, 2),
            run(20, 4)
        };
        TraceProfile profile = Traces.read(
                Traces.array(events), ReadOptions.defaults().withSkipSteps(2).withKeepWarmup(true));

        assertThat(profile.steps()).isEqualTo(3);
        assertThat(profile.snapshot().totalNs()).isEqualTo(2 * US);
        assertThat(profile.wallNs()).isEqualTo(4 * US);
        assertThat(Omissions.leftOut(profile)).allMatch(part -> part.reason() == Reason.SKIPPED_STEP);
        assertThat(Traces.refused(() ->
                        Traces.read(Traces.array(events), ReadOptions.defaults().withSkipSteps(3))))
                .hasMessageContaining("cannot skip 3 steps: the trace marks 3");
    }

    @Test
    void rulesSeeOperatorProviderAndTypes() throws IOException {
        TraceRules rules = TraceRules.parse(
                "mine <- args.op_name=/^MatMul$/ args.provider=/^CPU/ args.types=/^float>float$/ name=/^\\/a$/");
        String[] events = {node("/a", "MatMul", 1, 4), node("/b", "MatMul", 5, 2), run(0, 9)};

        TraceProfile profile =
                Traces.read(Traces.array(events), ReadOptions.defaults().withRules(rules));

        assertThat(totalNs(profile, "mine")).isEqualTo(4 * US);
        assertThat(totalNs(profile, "MatMul")).isEqualTo(2 * US);
        assertThat(profile.unmatched()).isEqualTo(new TraceProfile.Unmatched(1, 1, 2 * US));
    }

    @Test
    void aTimelineHasOperatorProviderTypesAndLayers() throws IOException {
        String trace = Traces.array(node("/model/layers.7/self_attn/q_proj/MatMul", "MatMul", 1, 4), run(0, 9));
        List<Integer> layers = new ArrayList<>();
        try (TraceTimeline read = TimelineLines.read(trace)) {
            assertThat(read.timeline().names())
                    .contains(new SpanName(
                            "/model/layers.7/self_attn/q_proj/MatMul", "Node,MatMul,CPUExecutionProvider,float>float"));
            read.timeline().replay(0, new TimelineVisitor() {
                @Override
                public void span(Span span) {
                    layers.add(span.layer());
                }

                @Override
                public void instant(long atNs, int name) {
                    throw new AssertionError(name);
                }

                @Override
                public void counter(long atNs, double value) {
                    throw new AssertionError(value);
                }
            });
            assertThat(layers).containsExactly(-1, 7);
            assertThat(Omissions.arguments(read)).isEqualTo(Map.of("input_type_shape", 1L, "output_type_shape", 1L));
        }
    }

    /** Kernels of a GPU are marked by their category; the nodes are then the host's time. */
    @Test
    void kernelsOfADeviceCountInsteadOfNodes() throws IOException {
        String kernel = node("ampere_sgemm_32x32", "MatMul", 3, 4)
                .replace("\"Node\"", "\"Kernel\"")
                .replace("_kernel_time", "");
        TraceProfile profile = read(node("/a", "MatMul", 1, 1), kernel, run(0, 9));

        assertThat(profile.counting()).isEqualTo(TraceProfile.Counting.DEVICE_EVENTS);
        assertThat(totalNs(profile, "Gemm")).isEqualTo(4 * US);
        assertThat(profile.snapshot().totalNs()).isEqualTo(4 * US);
    }

    @Test
    void aProfileWithTheMostEventsIsReported() throws IOException {
        StringBuilder events = new StringBuilder("[");
        String padding = "{\"ph\":\"i\"},";
        for (long i = 1; i < OnnxRuntime.MOST_EVENTS; i++) {
            events.append(padding);
        }
        TraceProfile full = Traces.read(events + run(0, 9) + "]");

        assertThat(Omissions.faults(full.omissions()))
                .contains(new Omission(Reason.EVENT_LIMIT, "", OnnxRuntime.MOST_EVENTS, 0, 0));
        assertThat(read(run(0, 9)).omissions()).noneMatch(Omission::isFault);
    }

    /**
     * Each of 30 runs has 6 layers, whose product {@code q} multiplies 16 rows by 256 x 256 weights. The working set is
     * the weights of all products, which are packed and not in the file.
     */
    @Test
    void productsHaveTheWorkOfTheirShapesAndTheWorkingSetOfTheModel() throws IOException {
        ReadOptions options = ReadOptions.defaults()
                .withKeepWarmup(true)
                .withRules(TraceRules.parse("q <- name=/q_proj/").then(TraceRules.builtIn()));

        TraceProfile profile = Traces.read(TRACES.resolve("ort-1.22-java.json.gz"), options);

        long weights = 4L * (6 * (4 * 256 * 256 + 3 * 256 * 688) + 256 * 4_000);
        long ofOneAddition = 4L * 3 * 16 * 256;
        assertThat(brick(profile, "q").work()).isEqualTo(new Work(377_487_360, 53_084_160, weights));
        assertThat(brick(profile, "ResidualAdd").work())
                .isEqualTo(new Work(360L * 16 * 256, 360 * ofOneAddition, ofOneAddition));
        assertThat(brick(profile, "RmsNorm").work()).isEqualTo(Work.NONE);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "MatMul | {'float':[2,3]} | {'float':[2,5]} | 60 | 124",
                "MatMul | {'float':[2,3]},{'float':[3,5]} | {'float':[2,5]} | 60 | 124",
                "MatMul | {'float16':[4,2,3]},{'float16':[4,3,5]} | {'float16':[4,2,5]} | 240 | 248",
                "FusedMatMul | {'float':[3,2]},{'float':[5,3]} | {'float':[2,5]} | 60 | 124",
                "Gemm | {'float':[2,3]},{'float':[5]} | {'float':[2,5]} | 60 | 144",
                "MatMul | {'float':[7,9]} | {'float':[2,5]} | 0 | 0",
                "MatMul | {'int4':[2,3]} | {'float':[2,5]} | 0 | 0",
                "MatMul | {'float':[2,3]} | | 0 | 0",
                "MatMulNBits | {'float':[2,32]},{'float':[5]} | {'float':[2,5]} | 0 | 0"
            })
    void workFollowsFromShapesOrIsUnknown(
            String operator, String inputs, @Nullable String outputs, long flops, long bytes) throws IOException {
        String event = node("/a", operator, 1, 4)
                .replace("{\"float\":[1,16,256]}", inputs.replace('\'', '"'))
                .replace("{\"float\":[1,16,8]}", outputs == null ? "" : outputs.replace('\'', '"'));

        Work work = brick(read(event, run(0, 9)), "Gemm").work();

        assertThat(work.flops()).isEqualTo(flops);
        assertThat(work.bytes()).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"[1,\"x\"]", "{}", "[-1,4]", "[1e400]", "[[1]]", "[9223372036854775807,9223372036854775807]"})
    void unreadableShapesDoNotMatterForTimes(String shape) throws IOException {
        TraceProfile profile = read(node("/a", "MatMul", 1, 4).replace("[1,16,8]", shape), run(0, 9));

        assertThat(totalNs(profile, "Gemm")).isEqualTo(4 * US);
    }
}
