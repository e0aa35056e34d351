package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.brickprofiler.trace.read.Traces.refused;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceProfile.Counting;
import org.brickprofiler.trace.write.TraceFiles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Profiles of XLA: XSpaces, and the JSON that XLA makes of them. */
@OneJdk
final class XlaReadTest {

    private static final ReadOptions ALL = ReadOptions.defaults().withKeepWarmup(true);
    private static final Path TRACES = Path.of("src", "test", "resources", "traces");
    private static final Path CPU = TRACES.resolve("jax-cpu.xplane.pb.gz");
    private static final Path CPU_JSON = TRACES.resolve("jax-cpu.trace.json.gz");
    private static final Path MI300 = TRACES.resolve("jax-mi300-conv.xplane.pb.gz");

    @TempDir
    Path folder;

    static byte[] unpacked(Path file) throws IOException {
        try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
            return in.readAllBytes();
        }
    }

    private static Map<String, Long> totals(TraceProfile profile) {
        Map<String, Long> totals = new TreeMap<>();
        for (BrickStats brick : profile.snapshot().bricks()) {
            totals.put(brick.name() + " x " + brick.count(), brick.totalNs());
        }
        return totals;
    }

    // ---- the samples ----

    @ParameterizedTest
    @ValueSource(strings = {"jax-cpu.xplane.pb.gz", "jax-cpu.trace.json.gz"})
    void theOperationsOfAProcessorCountAlone(String file) throws IOException {
        TraceProfile profile = Traces.read(TRACES.resolve(file), ALL);

        assertThat(profile.counting()).isEqualTo(Counting.OPERATIONS);
        assertThat(profile.eventsCounted()).isEqualTo(620);
        assertThat(profile.snapshot().totalNs()).isEqualTo(3_415_166);
        assertThat(profile.busyNs()).isEqualTo(3_415_166);
        assertThat(profile.rows()).isEqualTo(2);
        assertThat(Omissions.ignored(profile)).containsEntry(Reason.HOST, 841L).containsEntry(Reason.ANNOTATION, 10L);
        assertThat(Omissions.faults(profile.omissions())).isEmpty();
        assertThat(profile.steps()).isEqualTo(10);

        TraceProfile fewer = Traces.read(TRACES.resolve(file), ALL.withSkipSteps(4));
        assertThat(fewer.eventsCounted()).isEqualTo(620 * 6 / 10);
        assertThat(Omissions.leftOut(fewer)).extracting(Omission::reason).containsOnly(Reason.SKIPPED_STEP);
    }

    /** The two files differ in one thing: the JSON lacks the compiled programs, from which scopes come. */
    @Test
    void bothFilesOfOneProfileAgree() throws IOException {
        byte[] withoutPrograms = withoutFirstPlane(unpacked(CPU));

        TraceProfile space = Traces.read(withoutPrograms, ALL);
        TraceProfile json = Traces.read(CPU_JSON, ALL);

        assertThat(totals(space)).isEqualTo(totals(json)).hasSize(62);
        assertThat(space.wallNs())
                .isEqualTo(json.wallNs())
                .isEqualTo(Traces.read(CPU, ALL).wallNs());
        assertThat(space.snapshot().startedAt()).hasToString("2026-11-23T09:02:11.267579767Z");
    }

    /** Removes the plane of metadata, which comes first. */
    private static byte[] withoutFirstPlane(byte[] space) {
        int length = 0;
        int at = 1;
        for (int shift = 0; ; shift += 7) {
            int next = space[at++];
            length |= (next & 0x7f) << shift;
            if (next >= 0) {
                break;
            }
        }
        byte[] rest = new byte[space.length - at - length];
        System.arraycopy(space, at + length, rest, 0, rest.length);
        return rest;
    }

    @Test
    void scopesNameTheBricks() throws IOException {
        ProfileSnapshot profile = Traces.read(CPU, ALL).snapshot();

        Map<String, Long> counts = new TreeMap<>();
        profile.bricks().forEach(brick -> counts.put(brick.name(), brick.count()));
        assertThat(counts)
                .containsEntry("QkvProjection", 100L)
                .containsEntry("OutputProjection", 80L)
                .containsEntry("AttentionScore", 20L)
                .containsEntry("AttentionSoftmax", 100L)
                .containsEntry("FfnProjection", 60L)
                .containsEntry("RmsNorm", 150L)
                .containsEntry("LmHead", 10L)
                .containsEntry("Embedding", 10L);
        long unnamedNs = profile.bricks().stream()
                .filter(brick ->
                        brick.category() == BrickCategory.OTHER && brick.name().startsWith("wrapped_"))
                .mapToLong(BrickStats::totalNs)
                .sum();
        assertThat(100.0 * unnamedNs / profile.totalNs()).isLessThan(2);
    }

    /** A separate program computed the sum from the file, over the events of all lines of the planes of devices. */
    @Test
    void theStreamsOfDevicesCountAlone() throws IOException {
        TraceProfile profile = Traces.read(MI300, ALL);
        TraceProfile json = Traces.read(Traces.XLA, ALL);

        assertThat(profile.counting()).isEqualTo(Counting.DEVICE_EVENTS);
        assertThat(profile.eventsCounted()).isEqualTo(235);
        assertThat(profile.snapshot().totalNs()).isEqualTo(28_137_077);
        assertThat(profile.busyNs()).isEqualTo(json.busyNs());
        assertThat(profile.wallNs()).isEqualTo(json.wallNs());
        assertThat(profile.rows()).isEqualTo(json.rows());
    }

    @ParameterizedTest
    @CsvSource({"jax-cpu.xplane.pb.gz, pftrace", "jax-cpu.xplane.pb.gz, json.gz", "jax-mi300-conv.xplane.pb.gz, pftrace"
    })
    void aTimelineHasTheSameProfile(String file, String ending) throws IOException {
        Path out = folder.resolve("out." + ending);
        try (TraceTimeline timeline = TraceReader.timeline(TRACES.resolve(file), ALL)) {
            TraceFiles.write(timeline.timeline(), out, TraceFiles.Origin.OTHER);
            assertThat(Omissions.arguments(timeline)).containsKey("hlo_op");
        }
        TraceProfile expected = Traces.read(TRACES.resolve(file), ALL);

        TraceProfile converted = Traces.read(out, ALL);

        assertThat(totals(converted)).isEqualTo(totals(expected));
        assertThat(converted.counting()).isEqualTo(expected.counting());
        assertThat(converted.wallNs()).isEqualTo(expected.wallNs());
    }

    // ---- layouts that the samples do not have ----

    /**
     * The lines of a TPU, from XLA's xplane_schema.cc: steps around modules around operations, and copies beside them.
     */
    @Test
    void theOperationsOfATpuCountAlone() throws IOException {
        XSpaces.Plane tpu = new XSpaces.Plane("/device:TPU:0");
        tpu.line("Steps", 1_000, tpu.event("0", 0, 9_000_000));
        tpu.line("XLA Modules", 1_000, tpu.event("jit_step(3)", 0, 8_000_000));
        tpu.line(
                "XLA Ops",
                1_000,
                tpu.event("while.3", 0, 5_000_000, "tf_op", "jit(step)/while:"),
                tpu.event(
                        "fusion.1", 1_000_000, 2_000_000, "tf_op", "jit(step)/layers_7/self_attn/q_proj/dot_general:"),
                tpu.event(
                        "fusion.22",
                        3_000_000,
                        1_000_000,
                        "tf_op",
                        "jit(step)/layers_8/self_attn/q_proj/dot_general:"));
        tpu.line("Async XLA Ops", 1_000, tpu.event("copy-start.1", 0, 7_000_000));
        tpu.line("_counters_", 1_000, tpu.event("hbm", 0, 6_000_000));

        TraceProfile profile = Traces.read(XSpaces.space(tpu), ALL);

        assertThat(totals(profile)).isEqualTo(Map.of("QkvProjection x 2", 3_000L, "while @ while x 1", 2_000L));
        assertThat(Omissions.ignored(profile)).containsEntry(Reason.ANNOTATION, 4L);
    }

    @Test
    void launchesAreNoWork() throws IOException {
        XSpaces.Plane gpu = new XSpaces.Plane("/device:GPU:0");
        gpu.line(
                "Stream #1(Kernel)",
                0,
                gpu.event("gemm_1.kd", 10_000, 4_000, "hlo_op", "gemm.1", "name", "jit(f)/mlp/dot_general"));
        XSpaces.Plane host = new XSpaces.Plane("/host:CPU");
        host.line(
                "Host Threads/7",
                0,
                host.event("hipModuleLaunchKernel", 0, 9_000, "hlo_op", "gemm.1", "name", "jit(f)/mlp/dot_general"));

        assertThat(totals(Traces.read(XSpaces.space(gpu, host), ALL))).isEqualTo(Map.of("FfnProjection x 1", 4L));
        // Without the device, the launch is the only event with an operation of XLA, and counts as one.
        assertThat(Traces.read(XSpaces.space(host), ALL).counting()).isEqualTo(Counting.OPERATIONS);
    }

    /**
     * As JAX writes them on an NVIDIA GPU: a call is named after its kernel, or launches a graph of several kernels.
     * The device is a step behind the host.
     */
    @Test
    void kernelsBelongToTheAnnotationAroundTheirLaunch() throws IOException {
        XSpaces.Plane gpu = new XSpaces.Plane("/device:GPU:0");
        gpu.line(
                "Stream #14(Compute)",
                0,
                gpu.event("second", 6_000_000, 2_000_000, "correlation_id", "1"),
                gpu.event("first", 8_000_000, 1_000_000, "correlation_id", "1"),
                gpu.event("second", 11_000_000, 3_000_000, "correlation_id", "2"),
                gpu.event("second", 14_000_000, 5_000_000, "correlation_id", "3"));
        XSpaces.Plane host = new XSpaces.Plane("/host:CPU");
        host.line(
                "python",
                0,
                host.event("decode", 0, 5_000_000, "step_num", "0"),
                host.event("cuGraphLaunch (CudaGraph:34)", 1_000_000, 1_000_000, "correlation_id", "1"),
                host.event("decode", 5_000_000, 5_000_000, "step_num", "1"),
                host.event("second", 6_000_000, 1_000_000, "correlation_id", "2"),
                host.event("decode", 10_000_000, 5_000_000, "step_num", "2"),
                host.event("second", 11_000_000, 1_000_000, "correlation_id", "3"));
        byte[] space = XSpaces.space(gpu, host);
        String text = """
                {"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
                {"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},
                {"ph":"M","pid":2,"name":"process_name","args":{"name":"/host:CPU"}},
                {"ph":"X","pid":1,"tid":1,"name":"first","ts":6,"dur":3,"args":{"hlo_op":"first","correlation_id":"1"}},
                {"ph":"X","pid":1,"tid":1,"name":"second","ts":11,"dur":3,"args":{"correlation_id":"2"}},
                {"ph":"X","pid":2,"tid":1,"name":"decode","ts":0,"dur":5,"args":{"step_num":"0"}},
                {"ph":"X","pid":2,"tid":1,"name":"cuGraphLaunch","ts":1,"dur":1,"args":{"correlation_id":"1"}},
                {"ph":"X","pid":2,"tid":1,"name":"decode","ts":5,"dur":5,"args":{"step_num":"1"}},
                {"ph":"X","pid":2,"tid":1,"name":"second","ts":7,"dur":1,"args":{"correlation_id":"2"}}]}""";

        assertThat(totals(Traces.read(space, ALL))).isEqualTo(Map.of("second x 3", 10_000L, "first x 1", 1_000L));
        assertThat(totals(Traces.read(space, ALL.withSkipSteps(1)))).isEqualTo(Map.of("second x 2", 8_000L));
        TraceProfile last = Traces.read(space, ALL.withSkipSteps(2));
        assertThat(totals(last)).isEqualTo(Map.of("second x 1", 5_000L));
        assertThat(Omissions.counted(last)).isEmpty();
        assertThat(totals(Traces.read(text, ALL.withSkipSteps(1)))).isEqualTo(Map.of("second x 1", 3_000L));
    }

    /** As {@code jax.profiler.StepTraceAnnotation} writes them; without a launch, the begin of a kernel decides. */
    @Test
    void numberedAnnotationsAreSteps() throws IOException {
        XSpaces.Plane gpu = new XSpaces.Plane("/device:GPU:0");
        gpu.line(
                "Stream #1(Kernel)",
                0,
                gpu.event("first", 1_000_000, 3_000_000),
                gpu.event("second", 6_000_000, 2_000_000),
                gpu.event("third", 11_000_000, 5_000_000));
        XSpaces.Plane host = new XSpaces.Plane("/host:CPU");
        host.line(
                "python",
                0,
                host.event("train", 0, 5_000_000, "step_num", "7"),
                host.event("train", 5_000_000, 5_000_000, "step_num", "8"),
                host.event("train", 10_000_000, 5_000_000, "step_num", "9"),
                host.event("no number", 0, 1_000_000, "step_num", "x"));

        TraceProfile profile = Traces.read(XSpaces.space(gpu, host), ALL.withSkipSteps(1));

        assertThat(profile.steps()).isEqualTo(3);
        assertThat(totals(profile)).isEqualTo(Map.of("second x 1", 2_000L, "third x 1", 5_000L));
    }

    /** Ends and starts are rounded, so 1,000 operations of 1.0005 ns end after 1,001 ns and do not overlap. */
    @Test
    void picosecondsAddUp() throws IOException {
        XSpaces.Plane tpu = new XSpaces.Plane("/device:TPU:0");
        XSpaces.Message[] events = new XSpaces.Message[1_000];
        StringBuilder json = new StringBuilder("{\"displayTimeUnit\":\"ns\",\"traceEvents\":["
                + "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"/device:TPU:0\"}},"
                + "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"XLA Ops\"}}");
        for (int i = 0; i < events.length; i++) {
            long ps = i * 1_000L + i / 2;
            long durationPs = (i + 1) * 1_000L + (i + 1) / 2 - ps;
            events[i] = tpu.event("op", ps, durationPs);
            json.append(",{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"op\",\"ts\":%d.%06d,\"dur\":0.%06d}"
                    .formatted(ps / 1_000_000, ps % 1_000_000, durationPs));
        }
        tpu.line("XLA Ops", 0, events);

        TraceProfile space = Traces.read(XSpaces.space(tpu), ALL);
        TraceProfile text = Traces.read(json.append("]}").toString(), ALL);

        assertThat(space.snapshot().totalNs()).isEqualTo(1_001);
        assertThat(Omissions.faults(space.omissions())).isEmpty();
        assertThat(text.snapshot().totalNs()).isEqualTo(1_001);
        assertThat(Omissions.faults(text.omissions())).isEmpty();
    }

    @Test
    void aFusionHasTheScopeOfItsProduct() throws IOException {
        XSpaces.Message module = new XSpaces.Message()
                .message(
                        3,
                        XSpaces.computation(
                                1,
                                XSpaces.instruction("a", "add", "jit(f)/layer_2/mlp/add"),
                                XSpaces.instruction("d", "dot", "jit(f)/layer_2/attention/o_proj/dot_general")))
                .message(
                        3,
                        XSpaces.computation(
                                2,
                                XSpaces.instruction("e", "exponential", "jit(f)/layer_2/attention/softmax/exp"),
                                XSpaces.instruction("b", "broadcast", "")))
                .message(
                        3,
                        XSpaces.computation(
                                3,
                                XSpaces.instruction("fusion.1", "fusion", "jit(f)/layer_2/mlp/add", 1),
                                XSpaces.instruction("fusion.2", "fusion", "", 2),
                                XSpaces.instruction("fusion.3", "fusion", "")));
        XSpaces.Plane metadata = new XSpaces.Plane("/host:metadata").program("jit_f(5)", module);
        XSpaces.Plane host = new XSpaces.Plane("/host:CPU");
        host.line(
                "a thread",
                0,
                host.event("fusion.1", 0, 1_000, "hlo_op", "fusion.1", "program_id", "5"),
                host.event("fusion.2", 1_000, 1_000, "hlo_op", "fusion.2", "program_id", "5"),
                host.event("fusion.3", 2_000, 1_000, "hlo_op", "fusion.3", "program_id", "5"));
        byte[] space = XSpaces.space(metadata, host);

        assertThat(totals(Traces.read(space, ALL)).keySet())
                .containsExactly("AttentionSoftmax x 1", "OutputProjection x 1", "fusion.3 x 1");
        TraceRules rules = TraceRules.parse("mine <- name=/o_proj/ args.hlo_op=/^fusion.1$/");
        assertThat(totals(Traces.read(space, ALL.withRules(rules)))).containsKey("mine x 1");
    }

    /** A separate program computed the sum from the file, over the events of the one stream. */
    @Test
    void theKernelsOfACudaGraphHaveTheScopesOfTheirFusions() throws IOException {
        TraceProfile profile = Traces.read(TRACES.resolve("jax-h200-graph.xplane.pb.gz"), ALL);

        assertThat(profile.snapshot().totalNs()).isEqualTo(1_389_071);
        assertThat(totals(profile).keySet())
                .containsExactly(
                        "Activation x 20",
                        "Attention x 160",
                        "FfnProjection x 40",
                        "Gemm x 5",
                        "RmsNorm x 40",
                        "loop_add_fusion @ add x 20");
    }

    @Test
    void aKernelThatFusionsOfSeveralScopesShareHasNone() throws IOException {
        XSpaces.Message module = new XSpaces.Message()
                .message(3, XSpaces.computation(1, XSpaces.instruction("a", "add", "jit(f)/layer_1/mlp/add")))
                .message(3, XSpaces.computation(2, XSpaces.instruction("b", "add", "jit(f)/layer_2/mlp/add")))
                .message(3, XSpaces.computation(3, XSpaces.instruction("c", "dot", "jit(f)/attention/o_proj/dot")))
                .message(3, XSpaces.computation(4, XSpaces.instruction("d", "dot", "jit(f)/mlp/up_proj/dot")))
                .message(
                        3,
                        XSpaces.computation(
                                5,
                                XSpaces.instruction("add-fusion.1", "fusion", "", 1),
                                XSpaces.instruction("add-fusion.2", "fusion", "", 2),
                                XSpaces.instruction("fusion.3", "fusion", "", 3),
                                XSpaces.instruction("fusion.4", "fusion", "", 4)));
        XSpaces.Plane metadata = new XSpaces.Plane("/host:metadata").program("jit_f(5)", module);
        XSpaces.Plane gpu = new XSpaces.Plane("/device:GPU:0");
        gpu.line(
                "Stream #1(Compute)",
                0,
                gpu.event("add_fusion_1", 0, 1_000, "hlo_op", "command_buffer", "program_id", "5"),
                gpu.event("fusion_3", 1_000, 1_000, "hlo_op", "command_buffer", "program_id", "5"));

        assertThat(totals(Traces.read(XSpaces.space(metadata, gpu), ALL)).keySet())
                .containsExactly("Ffn x 1", "fusion_3 x 1");
    }

    @ParameterizedTest
    @CsvSource({
        "jit(f)/layers_3/self_attn/q_proj/dot_general, layers/self_attn/q_proj/dot_general, 3",
        "jit(f)/jit(main)/h.11/mlp/jit(silu)/mul, h/mlp/silu/mul, 11",
        "jit(f)/model/layers/2/attn/add;jit(f)/model/layers/9/add, model/layers/attn/add, 2",
        "jit(f)/transpose(jvp(decoder_layer_4))/add, transpose(jvp(decoder_layer))/add, 4",
        "'jit(loss)/jvp(bsd,de->bse)/dot_general', 'jvp(bsd,de->bse)/dot_general', -1",
        "model/dense_1/MatMul:, model/dense_1/MatMul, -1",
        "kernel, '', -1",
        "XlaModule:, '', -1",
    })
    void aScopeLacksProgramAndLayer(String text, String path, int layer) {
        assertThat(XlaName.scope(text)).isEqualTo(new XlaName.Scope(path, layer));
    }

    @Test
    void aTimelineHasTheLayers() throws IOException {
        try (TraceTimeline timeline = TraceReader.timeline(CPU, ALL)) {
            ByteArrayOutputStream layers = new ByteArrayOutputStream();
            for (int track = 0; track < timeline.timeline().tracks().size(); track++) {
                timeline.timeline().replay(track, new LayerVisitor(layers));
            }
            assertThat(layers.toByteArray()).contains(0, 1).doesNotContain(2);
        }
    }

    private record LayerVisitor(ByteArrayOutputStream layers) implements org.brickprofiler.trace.TimelineVisitor {
        @Override
        public void span(org.brickprofiler.trace.Span span) {
            layers.write(span.layer() < 0 ? 99 : span.layer());
        }

        @Override
        public void instant(long atNs, int name) {
            // Only spans have layers.
        }

        @Override
        public void counter(long atNs, double value) {
            // As above.
        }
    }

    // ---- faults ----

    @Test
    void errorsOfTheProfilerAreReported() throws IOException {
        XSpaces.Plane tpu = new XSpaces.Plane("/device:TPU:0");
        tpu.line("XLA Ops", 0, tpu.event("a", 0, 1_000));
        byte[] error = new XSpaces.Message().text(2, "the buffer was full").toBytes();
        ByteArrayOutputStream space = new ByteArrayOutputStream();
        space.writeBytes(XSpaces.space(tpu));
        space.writeBytes(error);

        TraceProfile profile = Traces.read(space.toByteArray(), ALL);

        assertThat(Omissions.faults(profile.omissions()))
                .extracting(Omission::reason)
                .containsExactly(Reason.PROFILER_ERROR);
        assertThat(profile.summary()).contains("1 noted as an error by the profiler, which may have lost events");
    }

    @Test
    void sumsAndImpossibleTimesAreDropped() throws IOException {
        XSpaces.Plane tpu = new XSpaces.Plane("/device:TPU:0");
        XSpaces.Message sum =
                new XSpaces.Message().number(1, 1).number(3, 5_000).number(5, 9);
        tpu.line("XLA Ops", 0, tpu.event("a", 0, 1_000), sum, tpu.event("a", 0, -1), tpu.event("a", Long.MAX_VALUE, 1));

        TraceProfile profile = Traces.read(XSpaces.space(tpu), ALL);

        assertThat(profile.snapshot().totalNs()).isEqualTo(1);
        assertThat(Omissions.faults(profile.omissions()))
                .extracting(Omission::reason)
                .containsExactlyInAnyOrder(Reason.NO_TIME, Reason.TIME_OUT_OF_RANGE);
    }

    @Test
    void anEventMayBeginBeforeItsLine() throws IOException {
        XSpaces.Plane gpu = new XSpaces.Plane("/device:GPU:0");
        gpu.line(
                "Stream #14(Compute)",
                10_000,
                gpu.event("a", -5_000_400, 2_000_000),
                gpu.event("b", 1_000_000, 3_000_000));
        TraceProfile profile = Traces.read(XSpaces.space(gpu), ALL);

        assertThat(totals(profile)).isEqualTo(Map.of("a x 1", 2_000L, "b x 1", 3_000L));
        assertThat(profile.wallNs()).isEqualTo(14_000 - 5_000);
    }

    /** See GetTraceViewerMaxEvents in xplane_to_trace_events.cc of XLA. */
    @Test
    void aJsonWithTheMostSlicesIsReported() throws IOException {
        String slice =
                "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"f\",\"ts\":1,\"dur\":0,\"args\":{\"hlo_op\":\"f\"}},";
        String head = "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\"traceEvents\":["
                + "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"/device:GPU:0\"}},";
        String most = slice.repeat((int) XlaName.MOST_SLICES - 1);

        assertThat(Traces.read(head + most + "{}]}", ALL).omissions()).noneMatch(Omission::isFault);
        assertThat(Traces.repair(Traces.read(head + most + slice + "{}]}", ALL), Reason.VIEWER_LIMIT)
                        .count())
                .isEqualTo(XlaName.MOST_SLICES);
    }

    @Test
    void aPlaneThatIsCutIsLeftOutWhole() throws IOException {
        XSpaces.Plane first = new XSpaces.Plane("/device:TPU:0");
        first.line("XLA Ops", 0, first.event("a", 0, 1_000));
        XSpaces.Plane second = new XSpaces.Plane("/device:TPU:1");
        second.line("XLA Ops", 0, second.event("a", 0, 2_000), second.event("b", 2_000, 3_000));
        byte[] whole = XSpaces.space(first, second);
        byte[] cut = Arrays.copyOf(whole, whole.length - 12);

        assertThat(refused(() -> Traces.read(cut, ALL)).isDamage()).isTrue();
        TraceProfile salvaged = Traces.read(cut, ALL.withSalvage(true));
        assertThat(salvaged.snapshot().totalNs()).isEqualTo(1);
        assertThat(salvaged.omissions()).extracting(Omission::reason).contains(Reason.DAMAGE);
    }

    @Test
    void streamsAndPackedFilesAreReadAlike() throws IOException {
        byte[] bytes = unpacked(CPU);
        Path file = Files.write(folder.resolve("a.xplane.pb"), bytes);

        TraceProfile expected = Traces.read(CPU, ALL);

        assertThat(List.of(
                        Traces.read(file, ALL),
                        TraceReader.profile(new ByteArrayInputStream(bytes), ALL),
                        TraceReader.profile(new ByteArrayInputStream(Files.readAllBytes(CPU)), ALL)))
                .allMatch(expected::equals);
    }
}
