package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.brickprofiler.trace.read.TornadoLog.execution;
import static org.brickprofiler.trace.read.TornadoLog.task;
import static org.brickprofiler.trace.read.Traces.refused;
import static org.brickprofiler.trace.read.Traces.totalNs;

import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceProfile.Counting;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The output of TornadoVM's profiler, with any text around it. */
final class TornadoReadTest {

    private static final ReadOptions OPTIONS = ReadOptions.defaults();

    private static final String FIRST = execution(
            "layer_0",
            Map.of(
                    "COPY_IN_TIME", "2048",
                    "TOTAL_COPY_IN_SIZE_BYTES", "8216",
                    "TOTAL_DISPATCH_KERNEL_TIME", "90",
                    "TOTAL_GRAAL_COMPILE_TIME", "7000",
                    "TOTAL_CODE_GENERATION_TIME", "6000",
                    "TOTAL_BYTE_CODE_GENERATION", "500",
                    "TOTAL_KERNEL_TIME", "130",
                    "TOTAL_TASK_GRAPH_TIME", "99000"),
            task(
                    "layer_0.attention",
                    "Layered.processHeads",
                    Map.of(
                            "TASK_KERNEL_TIME", "100",
                            "TASK_COMPILE_GRAAL_TIME", "7000",
                            "TASK_CODE_GENERATION_TIME", "6000",
                            "TASK_COMPILE_DRIVER_TIME", "900")),
            task("layer_0.attn_rms_reduce", 30));

    private static final String SECOND = execution(
            "layer_1",
            Map.of("TOTAL_KERNEL_TIME", "111", "TOTAL_TASK_GRAPH_TIME", "1000"),
            task("layer_1.attention", 111));

    /** A transfer alone, behind which TornadoVM leaves a comma. */
    private static final String THIRD =
            execution("logits", Map.of("COPY_OUT_TIME_SYNC", "40960", "COPY_OUT_SIZE_BYTES_SYNC", "513040"));

    private static final String LOG = FIRST + "\n" + SECOND + "\n" + THIRD + "\n";

    @Test
    void eachTimeCountsOnceUnderItsOwnBrick() throws IOException {
        TraceProfile profile = Traces.read(LOG);

        assertThat(profile.snapshot().bricks())
                .extracting(BrickStats::name, BrickStats::category, BrickStats::count, BrickStats::totalNs)
                .containsExactlyInAnyOrder(
                        tuple("FusedAttention", BrickCategory.ATTENTION, 2L, 211L),
                        tuple("RmsNorm", BrickCategory.NORM, 1L, 30L),
                        tuple("HostToDevice", BrickCategory.TRANSFER, 1L, 2_048L),
                        tuple("DeviceToHost", BrickCategory.TRANSFER, 1L, 40_960L),
                        tuple("KernelDispatch", BrickCategory.OTHER, 1L, 90L));
        assertThat(profile.snapshot().brick("HostToDevice").orElseThrow().totalBytes())
                .isEqualTo(8_216);
        assertThat(profile.snapshot().brick("DeviceToHost").orElseThrow().totalBytes())
                .isEqualTo(513_040);
        assertThat(profile.snapshot().brick("FusedAttention").orElseThrow().lastNs())
                .isEqualTo(111);
        assertThat(profile.counting()).isEqualTo(Counting.TASK_GRAPHS);
        assertThat(profile.wallNs()).isEqualTo(100_000);
        assertThat(profile.busyNs()).isZero();
        assertThat(profile.idleNs()).isZero();
        assertThat(profile.snapshot().environments()).extracting("cpu").containsExactly("a device");
        assertThat(profile.summary())
                .contains("  wall time   100.0 us, the sum over the executions of task graphs\n")
                .contains("  busy, idle  not known");
    }

    @Test
    void compilationsAreWarmup() throws IOException {
        TraceProfile without = Traces.read(LOG);
        TraceProfile with = Traces.read(LOG, OPTIONS.withKeepWarmup(true));

        assertThat(without.omissions())
                .filteredOn(omission -> omission.reason() == Reason.WARM_UP)
                .extracting(Omission::name, Omission::elapsedNs)
                .containsExactly(
                        tuple("TASK_COMPILE_GRAAL_TIME", 7_000L),
                        tuple("TASK_COMPILE_DRIVER_TIME", 900L),
                        tuple("TOTAL_BYTE_CODE_GENERATION", 500L));
        assertThat(totalNs(with, "GraalCompilation")).isEqualTo(7_000);
        assertThat(totalNs(with, "DriverCompilation")).isEqualTo(900);
        assertThat(totalNs(with, "BytecodeGeneration")).isEqualTo(500);
    }

    @Test
    void kernelsBeyondThoseOfTheTasksCountToo() throws IOException {
        String batched = execution("g", Map.of("TOTAL_KERNEL_TIME", "40"), task("g.t0", 10));
        String wrong = execution("g", Map.of("TOTAL_KERNEL_TIME", "7"), task("g.t0", 10));

        assertThat(totalNs(Traces.read(batched), "FurtherKernels")).isEqualTo(30);
        TraceProfile faulty = Traces.read(wrong);
        assertThat(totalNs(faulty, "t0")).isEqualTo(10);
        assertThat(Traces.repair(faulty, Reason.OTHER_TOTAL).firstOffset()).isEqualTo(wrong.indexOf("\"TOTAL_KERNEL"));
    }

    /** COPY_IN_TIME contains the copy of each task's context, whose bytes only the task states. */
    @ParameterizedTest
    @CsvSource({"3680, 24, 3728", "0, 24, 48", "3680, n/a, 0", "n/a, 24, 0", "3680, 999999999999999, 2000000000003678"})
    void copiesToTheDeviceHaveTheBytesOfTheGraphAndOfItsTasks(String graph, String context, long bytes)
            throws IOException {
        Map<String, String> timers = Map.of("TASK_KERNEL_TIME", "5", "TOTAL_COPY_IN_SIZE_BYTES", context);
        TraceProfile profile = Traces.read(execution(
                "g",
                Map.of("COPY_IN_TIME", "700", "TOTAL_COPY_IN_SIZE_BYTES", graph),
                task("g.a", "M.m", timers),
                task("g.b", "M.m", timers)));

        assertThat(profile.snapshot().brick("HostToDevice").orElseThrow().totalBytes())
                .isEqualTo(bytes);
        assertThat(Omissions.faults(profile.omissions()))
                .extracting(Omission::reason)
                .isEqualTo(bytes == 0 ? List.of(Reason.MALFORMED_BYTES) : List.of());
    }

    @Test
    void thereIsNoTimelineOfALog() {
        assertThat(refused(() -> TraceReader.timeline(new ByteArrayInputStream(LOG.getBytes(UTF_8)), OPTIONS)))
                .hasMessageContaining("there is no timeline in what TornadoVM's profiler writes")
                .matches(refused -> !refused.isDamage());
    }

    // ---- text between objects ----

    @ParameterizedTest
    @ValueSource(
            strings = {
                "loading model.gguf\n",
                "\n\nprefill {batch: 4}\n",
                "[INFO] {\"config\": {\"layers\": 12}}\n",
                "{\"config\": {\"name\": \"a\", \"path\": \"b\"}}\n",
                "{ {\"open\n{\"\n",
                "Gl\u00fcck \ud83d\ude00 [\n",
                "WARNING: \"{\" expected }}}\n"
            })
    void outputOfAProgramIsSkipped(String output) throws IOException {
        TraceProfile alone = Traces.read(LOG);
        TraceProfile among = Traces.read(output + FIRST + output + SECOND + output + THIRD + output);

        assertThat(among.snapshot().bricks()).isEqualTo(alone.snapshot().bricks());
        assertThat(among.eventsRead()).isEqualTo(alone.eventsRead());
    }

    @Test
    void readsWhereverTheBufferEnds() throws IOException {
        for (int blanks = 65_536 - LOG.length(); blanks <= 65_536; blanks += 7) {
            assertThat(totalNs(Traces.read(" ".repeat(blanks) + LOG), "FusedAttention"))
                    .as("after %s blanks", blanks)
                    .isEqualTo(211);
        }
    }

    @Test
    void recognisesALogThatBeginsWithATask() throws IOException {
        String text = execution("g", Map.of(), task("g.t0", 10));
        String formerVersion =
                text.replaceAll("\"(BACKEND|METHOD|DEVICE_ID|DEVICE|POWER_USAGE_mW)\": \"[^\"]*\",\\s*", "");

        assertThat(totalNs(Traces.read(text), "t0")).isEqualTo(10);
        assertThat(formerVersion).doesNotContain("METHOD");
        assertThat(totalNs(Traces.read(formerVersion), "t0")).isEqualTo(10);
    }

    @Test
    void aTraceOfAnotherProgramIsNotTakenForALog() throws IOException {
        String call =
                "{\"args\": {\"http\": {\"METHOD\": \"GET\"}}, \"ph\": \"X\", \"name\": \"call\", \"ts\": 1, \"dur\": 5}";

        assertThat(totalNs(Traces.read(Traces.array(call)), "call")).isEqualTo(5_000);
        assertThat(totalNs(Traces.read(Traces.object(call)), "call")).isEqualTo(5_000);
    }

    @Test
    void readsAnArrayOfExecutionsAndPackedLogs() throws IOException {
        TraceProfile alone = Traces.read(LOG);

        assertThat(Traces.read("[" + FIRST + "," + SECOND + "," + THIRD + "]")
                        .snapshot()
                        .bricks())
                .isEqualTo(alone.snapshot().bricks());
        assertThat(Traces.read(Traces.packed(LOG), OPTIONS).snapshot().bricks())
                .isEqualTo(alone.snapshot().bricks());
    }

    // ---- names ----

    @ParameterizedTest
    @CsvSource({
        "qkvmatmul, QkvProjection",
        "attn_rms_qkv_projection, QkvProjection",
        "qmatmul, QkvProjection",
        "kbias, QkvProjection",
        "qk_rmsnorm, RmsNorm",
        "rmsnorm, RmsNorm",
        "reductionsOneBlockFFN, RmsNorm",
        "mapContext, RmsNorm",
        "batch_ffn_rms, RmsNorm",
        "rope_and_kv_cache, RopeEmbedding",
        "ropeRotation, RopeEmbedding",
        "copyToCaches, KvCacheUpdate",
        "parallel-attention, FusedAttention",
        "attention_combine, FusedAttention",
        "attn_output_proj, OutputProjection",
        "matmul1, OutputProjection",
        "woProj, OutputProjection",
        "rms_ffn_gate_up, GateUpProjection",
        "fused_ffn_w1_w3, GateUpProjection",
        "gateUpSiLU, Activation",
        "swiglu, Activation",
        "ffn_down_proj, DownProjection",
        "projectionTwo, DownProjection",
        "w2Resid, ResidualAdd",
        "router_softmax_topk, MoeRouter",
        "routed_experts_down, MoeExpert",
        "vocab_proj, LmHead",
        "projection, LmHead",
        "argmax_sample, Sampling",
        "updateX, Embedding",
        "t0, t0"
    })
    void tasksOfEnginesAreBricksByTheirNames(String task, String brick) throws IOException {
        TraceProfile profile =
                Traces.read(execution("layer_3", Map.of("TOTAL_KERNEL_TIME", "5"), task("layer_3." + task, 5)));

        assertThat(profile.snapshot().bricks()).extracting(BrickStats::name).containsExactly(brick);
    }

    @Test
    void rulesSeeGraphTaskAndMethod() throws IOException {
        ReadOptions options = OPTIONS.withRules(TraceRules.parse("""
                first  <- cat=/^task$/ args.graph=/^layer_0$/ name=/^attention$/
                second <- args.METHOD=/^Kernels\\.run$/ args.BACKEND=/CUDA/ args.DEVICE=/device/
                graal  <- cat=/^compile$/ args.task=/^attention$/ name=/GRAAL/
                ignore <- cat=/^copy$/
                """).then(TraceRules.builtIn()))
                .withKeepWarmup(true);
        TraceProfile profile = Traces.read(LOG, options);

        assertThat(profile.snapshot().bricks())
                .extracting(BrickStats::name, BrickStats::totalNs)
                .contains(tuple("first", 100L), tuple("second", 141L), tuple("graal", 7_000L))
                .doesNotContain(tuple("HostToDevice", 2_048L));
        assertThat(Omissions.ignored(profile)).containsEntry(Reason.RULE, 2L);
    }

    // ---- faults ----

    @Test
    void aTruncatedLogIsReadUpToTheEndOrRefused() throws IOException {
        long[] ends = {FIRST.length() - 1, FIRST.length() + SECOND.length(), LOG.length() - 2};
        for (int cut = FIRST.length(); cut < LOG.length(); cut++) {
            String text = LOG.substring(0, cut);
            long whole = 0;
            for (long end : ends) {
                whole += cut >= end ? 1 : 0;
            }
            TraceProfile salvaged = Traces.read(text, OPTIONS.withSalvage(true));
            assertThat(totalNs(salvaged, "FusedAttention")).as("cut at %s", cut).isEqualTo(whole > 1 ? 211 : 100);
            boolean isDamaged = salvaged.omissions().stream().anyMatch(omission -> omission.reason() == Reason.DAMAGE);
            if (isDamaged) {
                TraceFormatException refused = refused(text);
                assertThat(refused.isDamage()).isTrue();
                assertThat(refused.offset()).isEqualTo(cut);
            } else {
                // Between two executions, or before the name of the graph is over.
                assertThat(text.substring((int) ends[(int) whole - 1])).doesNotContain("\": {");
            }
        }
    }

    @Test
    void anExecutionThatBreaksIsRefusedWithItsPlace() {
        String broken = FIRST.replace("\"100\"", "\"100\" oh");
        TraceFormatException refused = refused(SECOND + broken);

        assertThat(refused.fault()).isEqualTo("'o' is not expected in an execution of a task graph");
        assertThat(refused.offset()).isEqualTo(SECOND.length() + broken.indexOf(" oh") + 1);
        assertThat(refused.isDamage()).isTrue();
    }

    @Test
    void timesAndBytesBeyondTheBoundsAreDroppedAndReported() throws IOException {
        String beyond = Long.toString(Bounds.LONGEST_NS + 1);
        TraceProfile profile = Traces.read(execution(
                "g",
                Map.of(
                        "COPY_IN_TIME",
                        "7",
                        "TOTAL_COPY_IN_SIZE_BYTES",
                        "9007199254740993",
                        "TOTAL_TASK_GRAPH_TIME",
                        beyond),
                task("g.b", "M.m", Map.of("TASK_KERNEL_TIME", beyond)),
                task("g.d", 3)));

        assertThat(profile.snapshot().totalNs()).isEqualTo(3);
        assertThat(profile.wallNs()).isZero();
        assertThat(Omissions.faults(profile.omissions()))
                .extracting(Omission::reason, Omission::count)
                .contains(tuple(Reason.TIME_OUT_OF_RANGE, 1L), tuple(Reason.COUNT_OUT_OF_RANGE, 1L));
    }

    @Test
    void invalidTimesAreDroppedAndReported() throws IOException {
        TraceProfile profile = Traces.read(execution(
                "g",
                Map.of("COPY_IN_TIME", "n/a"),
                task("g.a", -5),
                task("g.b", "M.m", Map.of("TASK_KERNEL_TIME", "9999999999999999999")),
                task("g.c", "M.m", Map.of("TASK_KERNEL_TIME", "")),
                task("g.d", 3)));

        assertThat(profile.snapshot().totalNs()).isEqualTo(3);
        assertThat(Omissions.faults(profile.omissions()))
                .extracting(Omission::reason, Omission::count)
                .containsExactly(
                        tuple(Reason.MALFORMED_TIME, 2L),
                        tuple(Reason.TIME_OUT_OF_RANGE, 1L),
                        tuple(Reason.NEGATIVE_DURATION, 1L));
    }

    @Test
    void stepsCannotBeSkippedIfNoneIsMarked() {
        assertThat(refused(() -> Traces.read(LOG, OPTIONS.withSkipSteps(1))))
                .hasMessageContaining("cannot skip 1 step: the trace marks 0");
    }

    // ---- another reader ----

    @Test
    void sumsAreThoseOfAnotherParser() throws IOException {
        Random random = new Random(7);
        StringBuilder log = new StringBuilder();
        for (int i = 0; i < 2_000; i++) {
            String graph = "g" + random.nextInt(3);
            Map<String, String> timers = new LinkedHashMap<>();
            for (String key :
                    List.of("COPY_IN_TIME", "COPY_OUT_TIME", "TOTAL_DISPATCH_KERNEL_TIME", "TOTAL_TASK_GRAPH_TIME")) {
                if (random.nextBoolean()) {
                    timers.put(key, Long.toString(random.nextInt(1 << 20)));
                }
            }
            String[] tasks = new String[random.nextInt(4)];
            for (int task = 0; task < tasks.length; task++) {
                tasks[task] = task(graph + ".my" + task, random.nextInt(1 << 20));
            }
            log.append(execution(graph, timers, tasks));
        }
        Map<String, Long> expected = new LinkedHashMap<>();
        try (MappingIterator<JsonNode> objects = JsonMapper.builder()
                .enable(JsonReadFeature.ALLOW_TRAILING_COMMA)
                .build()
                .readerFor(JsonNode.class)
                .readValues(log.toString())) {
            objects.forEachRemaining(
                    object -> object.elements().next().properties().forEach(member -> {
                        boolean isTask = member.getValue().isObject();
                        String name = isTask ? member.getKey().substring(3) : member.getKey();
                        String value =
                                (isTask ? member.getValue().get("TASK_KERNEL_TIME") : member.getValue()).asText();
                        expected.merge(name, Long.parseLong(value), Long::sum);
                    }));
        }

        TraceProfile profile = Traces.read(log.toString());
        assertThat(profile.wallNs()).isEqualTo(expected.get("TOTAL_TASK_GRAPH_TIME"));
        assertThat(totalNs(profile, "HostToDevice")).isEqualTo(expected.get("COPY_IN_TIME"));
        assertThat(totalNs(profile, "DeviceToHost")).isEqualTo(expected.get("COPY_OUT_TIME"));
        assertThat(totalNs(profile, "KernelDispatch")).isEqualTo(expected.get("TOTAL_DISPATCH_KERNEL_TIME"));
        for (String task : List.of("my0", "my1", "my2")) {
            assertThat(totalNs(profile, task)).isEqualTo(expected.get(task));
        }
    }

    @Test
    void anExecutionMayBeginWithAPower() throws IOException {
        for (String first :
                List.of("\"s0.t0\":{\"POWER_USAGE_mW\":\"n/a\",", "\"SYSTEM_POWER_mW\":\"7\",\"s0.t0\":{")) {
            TraceProfile profile = Traces.read("output of the program\n{\"s0\":{" + first
                    + "\"METHOD\":\"A.b\",\"DEVICE_ID\":\"0:0\",\"TASK_KERNEL_TIME\":\"1000\"},"
                    + "\"TOTAL_KERNEL_TIME\":\"1000\",\"TOTAL_TASK_GRAPH_TIME\":\"2000\"}}");

            assertThat(profile.snapshot().totalNs()).isEqualTo(1_000);
        }
    }
}
