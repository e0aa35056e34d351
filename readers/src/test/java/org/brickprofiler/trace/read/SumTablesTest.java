package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.brickprofiler.trace.read.Traces.refused;
import static org.brickprofiler.trace.read.Traces.totalNs;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceProfile.Counting;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that hold sums of kernels and no timeline. */
final class SumTablesTest {

    private static final ReadOptions OPTIONS = ReadOptions.defaults();
    private static final Path FOLDER = Path.of("src", "test", "resources", "traces");
    private static final String TRT = "trt-resnet-fp16.profile.json";
    private static final String NSYS = "nsys-stats-kern-sum-ferrum-m3.csv";
    private static final String UNITRACE = "unitrace-device-timing-gemm.txt";
    private static final String VULKAN = "llama-vulkan-perf-logger.log.gz";

    @TempDir
    private Path folder;

    private static final String HEADER =
            "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n";

    private static String text(String file) throws IOException {
        try (InputStream bytes = Files.newInputStream(FOLDER.resolve(file))) {
            return new String((file.endsWith(".gz") ? new GZIPInputStream(bytes) : bytes).readAllBytes(), UTF_8);
        }
    }

    // ---- real files ----

    /**
     * The totals are those of {@code README.md} beside the files; the shares of Other are those of the table in docs.
     */
    @ParameterizedTest
    @CsvSource({
        TRT + ", 36, 1016832, 0, 7.0",
        NSYS + ", 741326, 6738360758, 0, 2.1",
        UNITRACE + ", 10, 22005440, 5580956648, 0.0",
        VULKAN + ", 1958, 1495852295, 0, 1.1"
    })
    void theTotalOfARealFileIsExact(String file, long executions, long totalNs, long wallNs, double other)
            throws IOException {
        TraceProfile profile = Traces.read(FOLDER.resolve(file), OPTIONS);

        assertThat(profile.snapshot().totalNs()).isEqualTo(totalNs);
        assertThat(profile.eventsCounted()).isEqualTo(executions);
        assertThat(profile.wallNs()).isEqualTo(wallNs);
        assertThat(profile.counting()).isEqualTo(Counting.SUMS);
        assertThat(Omissions.faults(profile.omissions())).isEmpty();
        long otherNs = profile.snapshot().bricks().stream()
                .filter(brick -> brick.category() == BrickCategory.OTHER)
                .mapToLong(BrickStats::totalNs)
                .sum();
        assertThat(Math.round(1_000.0 * otherNs / totalNs) / 10.0).isEqualTo(other);
        assertThat(profile.summary()).contains("busy, idle  not known: the file holds sums, and no timeline");
        byte[] packed = Traces.packed(text(file));
        assertThat(Traces.read(packed, OPTIONS).snapshot().bricks())
                .as("packed, from a stream")
                .isEqualTo(profile.snapshot().bricks());
    }

    @ParameterizedTest
    @ValueSource(strings = {TRT, NSYS, UNITRACE, VULKAN})
    void thereIsNoTimeline(String file) throws IOException {
        Path path = FOLDER.resolve(file);

        assertThat(refused(() -> TraceReader.timeline(path, OPTIONS)))
                .hasMessageContaining("there is no timeline in what ")
                .matches(refused -> !refused.isDamage());
        try (TraceReader.Contents contents = TraceReader.read(path, OPTIONS)) {
            assertThat(contents.timeline()).isEmpty();
            assertThat(contents.profile().snapshot().bricks()).isNotEmpty();
        }
    }

    @Test
    void rulesApply() throws IOException {
        ReadOptions options = OPTIONS.withRules(TraceRules.parse("""
                First  <- cat=/^kernel$/ name=/^hgemm/
                ignore <- cat=/^gpu_memcpy$/
                """));
        TraceProfile profile = Traces.read(FOLDER.resolve(UNITRACE), options);

        assertThat(totalNs(profile, "First")).isEqualTo(4_706_560 + 4_491_360);
        assertThat(Omissions.ignored(profile)).containsEntry(Reason.RULE, 7L);
    }

    // ---- executions whose single times are not known ----

    @Test
    void theSumOfSeveralCallsHasNoExtremesUnlessTheyAreStated() throws IOException {
        BrickStats known = Traces.read(HEADER + "100.0,30,3,10.0,9.0,5,16,1.0,gemm\n")
                .snapshot()
                .brick("Gemm")
                .orElseThrow();
        BrickStats sum = Traces.read("Vulkan Timings:\nADD: 3 x 10 us = 30 us\nTotal time: 30 us.\n")
                .snapshot()
                .brick("Add")
                .orElseThrow();

        assertThat(known.hasExtremes()).isTrue();
        assertThat(tuple(known.count(), known.minNs(), known.maxNs())).isEqualTo(tuple(3L, 5L, 16L));
        assertThat(known.latency()).isEmpty();
        assertThat(sum.hasExtremes()).isFalse();
        assertThat(tuple(sum.count(), sum.totalNs(), sum.minNs(), sum.maxNs())).isEqualTo(tuple(3L, 30_000L, 0L, 0L));
    }

    // ---- TensorRT ----

    private static String trt(int runs, String... layers) {
        return "[\n  { \"count\" : " + runs + " }\n, " + String.join("\n, ", layers) + "\n]\n";
    }

    private static String layer(String name, String timeMs, String averageMs, String percentage) {
        return "{ \"name\" : \"%s\", \"timeMs\" : %s, \"averageMs\" : %s, \"percentage\" : %s }"
                .formatted(name, timeMs, averageMs, percentage);
    }

    /** Names of a real engine, whose fused layers list their nodes or operations. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            /encoder/layers.0/self_attn/q_proj/MatMul + PWN(/Add)                       | QkvProjection
            reshape_before_/encoder/layers.0/self_attn/v_proj/MatMul                    | Reshape
            reshape_after_/encoder/layers.0/self_attn/v_proj/MatMul + /Transpose_1      | Reshape
            __myl_MoveMeanSubMulMeanAddSqrtDivMulMulAdd_myl98_0                         | LayerNorm
            __myl_CastMulMeanAddSqrtDivMul_myl3_0                                       | RmsNorm
            PWN(/model/encoder/layers.2/Add_1)                                          | Elementwise
            PWN(PWN(/layers.0/Sigmoid), /layers.0/Mul)                                  | Activation
            """)
    void theNameOfALayerOfTensorRtGivesItsBrick(String name, String brick) throws IOException {
        TraceProfile profile = Traces.read(trt(200, layer(name, "30", "0.15", "100")));

        assertThat(profile.snapshot().bricks()).extracting(BrickStats::name).containsExactly(brick);
    }

    @Test
    void layersOfTensorRtRanAsOftenAsTheEngine() throws IOException {
        TraceProfile profile = Traces.read(trt(
                200,
                layer("Conv_0 + Relu_1", "30", "0.15", "75"),
                layer("/model/layers.0/self_attn/q_proj/MatMul", "10", "0.05", "25"),
                layer("reshape_after_Gemm_48", "0", "0", "0")));

        assertThat(profile.snapshot().bricks())
                .extracting(BrickStats::name, BrickStats::count, BrickStats::totalNs)
                .containsExactly(
                        tuple("Convolution", 200L, 30_000_000L),
                        tuple("QkvProjection", 200L, 10_000_000L),
                        tuple("Reshape", 200L, 0L));
    }

    @ParameterizedTest
    @CsvSource({
        "'30', '0.15', '60', 'layer 1 has 75.0000 % of the time and states 60.0000 %'",
        "'31', '0.15', '75', '200 calls of 150000 ns on average are not 31000000 ns'",
        "'-3', '0.15', '75', '''-3'' is no time'",
        "'1e30', '0.15', '75', '''1e30'' is no time'",
        "'\"x\"', '0.15', '75', '''x'' is no time'"
    })
    void aLayerThatContradictsItselfIsRefused(String timeMs, String averageMs, String share, String fault) {
        assertThat(refused(trt(200, layer("b", "10", "0.05", "25"), layer("a", timeMs, averageMs, share)))
                        .fault())
                .contains(fault);
    }

    /** Runs whose H2d, compute and D2h take 1, {@code computeMs} and 2 ms; enqueueing takes 3 ms. */
    private static String times(double... computeMs) {
        return Arrays.stream(computeMs)
                .mapToObj(ms -> ("{ \"startEnqMs\" : 0, \"endEnqMs\" : 3, \"startH2dMs\" : 10, \"endH2dMs\" : 11,"
                                + " \"startComputeMs\" : 11, \"endComputeMs\" : %1$s, \"startD2hMs\" : %1$s, \"endD2hMs\" : %2$s }")
                        .formatted(11 + ms, 13 + ms))
                .collect(Collectors.joining("\n, ", "[\n  ", "\n]\n"));
    }

    private TraceProfile together(String one, String other) throws IOException {
        List<Path> files = List.of(
                Files.writeString(folder.resolve("one.json"), one),
                Files.write(folder.resolve("other.json.gz"), Traces.packed(other.getBytes(UTF_8))));
        try (InputStream text = TraceReader.together(files)) {
            return TraceReader.profile(text, OPTIONS);
        }
    }

    @Test
    void timesBesideTheProfileAreThoseOfRunsAndNotOfBricks() throws IOException {
        String layers = trt(200, layer("Conv_0", "30", "0.15", "75"), layer("softmax", "10", "0.05", "25"));
        TraceProfile alone = Traces.read(layers);

        TraceProfile profile = together(layers, times(0.1, 0.2));

        assertThat(profile.snapshot().bricks()).isEqualTo(alone.snapshot().bricks());
        assertThat(alone.runs()).isEmpty();
        TraceReader.Summary runs = profile.runs().orElseThrow();
        assertThat(runs.values().get("has_bricks")).isEqualTo(true);
        assertThat(runs.values().get("parts"))
                .asInstanceOf(InstanceOfAssertFactories.list(Map.class))
                .extracting(part -> part.get("part") + " " + part.get("mean_ns"))
                .containsExactly("h2d 1000000", "compute 150000", "d2h 2000000", "latency 3150000", "enqueue 3000000");
        assertThat(profile.summary())
                .contains(
                        "layers      200.0 us a run in the profile, 133.3 % of the compute here; both may be of different runs\n")
                .doesNotContain("bricks ");
        assertThat(together(times(0.1, 0.2), layers).runs().orElseThrow().text())
                .isEqualTo(runs.text());
    }

    @Test
    void otherFilesBesideAProfileAreRefused() throws IOException {
        String layers = trt(2, layer("a", "2", "1", "100"));

        for (String other : List.of(layers, "[{\"startInMs\": 0}]", "{\"traceEvents\": []}")) {
            assertThatThrownBy(() -> together(layers, other)).isInstanceOf(IOException.class);
        }
        assertThat(refused(() -> Traces.read(layers + "[{\"startInMs\": 0}]")).fault())
                .isEqualTo("there is no endInMs");
        assertThat(refused(() -> Traces.read(layers + times(1).replace(']', ' ')))
                        .fault())
                .startsWith("from here on, the text is no JSON");
        assertThat(refused(() -> Traces.read(layers + "[{\"startEnqMs\": 1, \"endEnqMs\": 0}]"))
                        .fault())
                .isEqualTo("endEnqMs 0 is before startEnqMs 1");
    }

    // ---- nsys stats ----

    @Test
    void onlyTablesOfKernelsAndCopiesCountAndEachOnce() throws IOException {
        String kernels =
                HEADER + "60.0,60,2,30.0,30.0,20,40,1.0,gemm\n40.0,40,1,40.0,40.0,40,40,0.0,\"f<a, b>(\"\"x\"\")\"\n";
        String copies = HEADER.replace("Instances", "Count").replace("Name", "Operation")
                + "100.0,7,1,7.0,7.0,7,7,0.0,[CUDA memcpy Host-to-Device]\n";
        String calls =
                HEADER.replace("Instances", "Num Calls") + "100.0,900,1,900.0,900.0,900,900,0.0,cudaLaunchKernel\n";
        String ranges = HEADER.replace("Name", "Style,Range") + "100.0,800,1,800.0,800.0,800,800,0.0,PushPop,:step\n";
        TraceProfile profile = Traces.read("Processing [a.sqlite] with [x.py]...\n" + calls + "\n" + kernels
                + "\nProcessing\n" + ranges + "\n" + copies + "\n" + kernels);

        assertThat(profile.snapshot().bricks())
                .extracting(BrickStats::name, BrickStats::totalNs)
                .containsExactlyInAnyOrder(tuple("Gemm", 60L), tuple("f<a, b>(\"x\")", 40L), tuple("HostToDevice", 7L));
        assertThat(profile.omissions())
                .filteredOn(omission -> omission.reason() == Reason.OTHER_TABLE)
                .extracting(Omission::name, Omission::count)
                .containsExactlyInAnyOrder(tuple("calls of an API", 1L), tuple("Range", 1L), tuple("Name", 2L));
        assertThat(refused(calls).fault())
                .contains("sums of calls of an API, and none of kernels")
                .contains("cuda_gpu_kern_sum");
        assertThat(refused(ranges).fault()).contains("sums of Range, and none of kernels");
    }

    /**
     * The names of the reports are in the user guide of Nsight Systems: mpi_event_sum, openmp_sum, cuda_api_gpu_sum.
     */
    private static final String KERNELS = HEADER + "100.0,300,3,100.0,100.0,90,110,1.0,gemm\n";

    private static final String COPIES = HEADER.replace("Instances", "Count").replace("Name", "Operation")
            + "100.0,400,4,100.0,100.0,90,110,1.0,[CUDA memcpy Host-to-Device]\n";
    private static final String MIXED = HEADER.replace("Name", "Category,Operation")
            + "42.9,300,3,100.0,100.0,90,110,1.0,CUDA_KERNEL,gemm\n"
            + "57.1,400,4,100.0,100.0,90,110,1.0,MEMORY_OPER,[CUDA memcpy Host-to-Device]\n";
    private static final String SIZES = "Total (MB),Count,Avg (MB),Operation\n0.5,4,0.1,[CUDA memcpy Host-to-Device]\n";

    /** Each letter is a report: kernels, copies, both, and sizes of copies. */
    @ParameterizedTest
    @ValueSource(strings = {"KC", "CK", "B", "KB", "BK", "CB", "BC", "KCB", "BCK", "CBK", "KSC", "SKC", "CSK"})
    void reportsOfOneRunMayFollowOneAnotherInAnyOrder(String order) throws IOException {
        Map<Character, String> reports = Map.of('K', KERNELS, 'C', COPIES, 'B', MIXED, 'S', SIZES);
        for (String between : List.of("", "\n", "\nProcessing [a.sqlite] with [x.py]...\n")) {
            String text =
                    order.chars().mapToObj(report -> reports.get((char) report)).collect(Collectors.joining(between));

            TraceProfile profile = Traces.read(text, OPTIONS);

            assertThat(profile.snapshot().bricks())
                    .extracting(BrickStats::name, BrickStats::count, BrickStats::totalNs)
                    .containsExactlyInAnyOrder(tuple("Gemm", 3L, 300L), tuple("HostToDevice", 4L, 400L));
            assertThat(Omissions.faults(profile.omissions())).isEmpty();
        }
    }

    @Test
    void reportsOfSeveralRunsAreRefused() {
        String other = KERNELS.replace("300,3", "400,4");

        assertThat(refused(KERNELS + "\n" + COPIES + "\n" + other).fault())
                .isEqualTo("the kernels of this table sum to 400 ns, and those of an earlier one to 300 ns: the tables"
                        + " are of several runs; give those of one");
    }

    @Test
    void aQuotationMarkThatIsNotClosedBeforeOrAfterATableIsNoHeader() throws IOException {
        assertThat(Traces.read("\"Processing\n" + KERNELS + "\n\"x\n" + COPIES + "\n\"", OPTIONS)
                        .snapshot()
                        .totalNs())
                .isEqualTo(700);
    }

    @Test
    void copiesOfUnifiedMemoryAreTransfers() throws IOException {
        String unified = COPIES.replace("[CUDA memcpy Host-to-Device]", "[CUDA Unified Memory memcpy HtoD]");

        assertThat(Traces.read(unified, OPTIONS).snapshot().bricks())
                .extracting(BrickStats::name)
                .containsExactly("HostToDevice");
    }

    @Test
    void aTableWithoutTheColumnsThatCountIsRefused() {
        assertThat(refused("Time (%),Total Time (ns),Instances,Name\n100.0,300,3,gemm\n")
                        .fault())
                .isEqualTo("the table of nsys stats has no columns Avg, Min and Max");
    }

    @Test
    void eventsOfTheHostAreNoKernels() throws IOException {
        String mpi = HEADER.replace("Name", "Source,Name")
                + "100.0,600,3,200.0,200.0,200,200,0.0,Collectives,MPI_Allreduce\n";
        String openMp = HEADER.replace("Instances", "Count") + "100.0,500,1,500.0,500.0,500,500,0.0,Parallel\n";
        String kernels = HEADER + "100.0,60,2,30.0,30.0,20,40,1.0,gemm\n";
        TraceProfile ofKernels = Traces.read(mpi + "\n" + openMp + "\n" + kernels);
        TraceProfile mixed = Traces.read(HEADER.replace("Name", "Category,Operation")
                + "60.0,600,3,200.0,200.0,200,200,0.0,CUDA_API,cudaDeviceSynchronize\n"
                + "30.0,300,3,100.0,100.0,100,100,0.0,CUDA_KERNEL,gemm\n"
                + "10.0,100,1,100.0,100.0,100,100,0.0,MEMORY_OPER,[CUDA memcpy Host-to-Device]\n");

        assertThat(ofKernels.snapshot().bricks())
                .extracting(BrickStats::name, BrickStats::totalNs)
                .containsExactly(tuple("Gemm", 60L));
        assertThat(Omissions.ignored(ofKernels)).isEqualTo(Map.of(Reason.OTHER_TABLE, 2L));
        assertThat(refused(mpi).fault()).contains("sums of events that are no kernels, and none of kernels");
        assertThat(mixed.snapshot().bricks())
                .extracting(BrickStats::name, BrickStats::totalNs)
                .containsExactlyInAnyOrder(tuple("Gemm", 300L), tuple("HostToDevice", 100L));
        assertThat(Omissions.ignored(mixed)).isEqualTo(Map.of(Reason.OTHER_TABLE, 1L));
        assertThat(Omissions.faults(mixed.omissions())).isEmpty();
    }

    @Test
    void unitsAndOlderHeadersAreRead() throws IOException {
        String older = """
                "Time(%)","Total Time (ns)","Instances","Average","Minimum","Maximum","Name"
                100.0,30,3,10.0,5,16,gemm
                """.replace("\n", "\r\n");

        assertThat(totalNs(Traces.read(older), "Gemm")).isEqualTo(30);
        assertThat(totalNs(
                        Traces.read(HEADER.replace("(ns)", "(us)") + "100.0,1.5,3,0.5,0.5,0.25,0.75,0,gemm\n"), "Gemm"))
                .isEqualTo(1_500);
    }

    @Test
    void lostRowsAndACutLineAreReported() throws IOException {
        String whole = HEADER + "60.0,60,2,30.0,30.0,20,40,1.0,gemm\n40.0,40,1,40.0,40.0,40,40,0.0,other\n";
        TraceProfile lost = Traces.read(whole.substring(0, whole.indexOf("40.0,40,1")));
        TraceProfile open = Traces.read(whole.strip());

        assertThat(Traces.repair(lost, Reason.MISSING_ROWS).count()).isEqualTo(1);
        assertThat(Traces.repair(open, Reason.OPEN_LINE).firstOffset()).isEqualTo(whole.length() - 1);
        assertThat(open.snapshot().totalNs()).isEqualTo(100);
    }

    // ---- llama.cpp's Vulkan logger ----

    private static final String BLOCKS = """
            load_backend: loaded
            ----------------
            Vulkan Timings:
            MUL_MAT f16 m=5 n=36 k=7: 2 x 1.09e+07 us = 2.18e+07 us (1.5 GFLOPS/s)
            RMS_NORM_MUL RMS_NORM(256,1,1,1): 1 x 25 us = 25 us
            Total time: 2.18e+07 us.
            token
            ----------------
            Vulkan Timings:
            MUL_MAT_VEC f16 m=5 n=1 k=7: 2 x 0.7 us = 1.401 us (1e+03 GFLOPS/s)
            Total time: 1.401 us.
            """;

    @Test
    void eachBlockOfTheVulkanLoggerIsAStep() throws IOException {
        TraceProfile profile = Traces.read(BLOCKS);
        TraceProfile second = Traces.read(BLOCKS, OPTIONS.withSkipSteps(1));

        assertThat(profile.steps()).isEqualTo(2);
        assertThat(totalNs(profile, "Gemm")).isEqualTo(21_800_001_401L);
        assertThat(totalNs(profile, "RmsNorm")).isEqualTo(25_000);
        assertThat(profile.summary()).contains("  steps       2 blocks of sums\n");
        assertThat(second.snapshot().totalNs()).isEqualTo(1_401);
        assertThat(Omissions.leftOut(second)).extracting(Omission::count).containsExactly(2L, 1L);
        assertThat(refused(() -> Traces.read(BLOCKS, OPTIONS.withSkipSteps(2))))
                .hasMessageContaining("cannot skip 2 steps: the trace marks 2");
    }

    @Test
    void blocksOfOlderBuildsAreRead() throws IOException {
        String withoutSums = "Vulkan Timings:\nROPE: 3 x 0.333 us (1 GFLOPS/s)\nTotal time: 1 us.\n";
        String inMs =
                "Vulkan Timings:\nROPE: 3 x 0.5 ms\nADD: 1 x 2 ms\n----------------\nVulkan Timings:\nADD: 1 x 1 ms\n";
        TraceProfile oldest = Traces.read(inMs);

        assertThat(totalNs(Traces.read(withoutSums), "RopeEmbedding")).isEqualTo(999);
        assertThat(oldest.snapshot().totalNs()).isEqualTo(4_500_000);
        assertThat(oldest.steps()).isEqualTo(2);
        assertThat(Traces.repair(oldest, Reason.NO_TOTAL).count()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            Total time: 2.18e+07 us. | Total time: 2.19e+07 us. | the rows of a block add up to 21800025000 ns, and its total is 21900000000 ns
            1 x 25 us = 25 us        | 1 x 25 us = 26 us        | 1 call of 25000 ns on average are not 26000 ns
            2.18e+07 us (1.5         | 2.18e+ us (1.5           | is no whole row of the Vulkan logger
            Total time: 2.18e+07 us. | token                    | a block of the Vulkan logger ends without its total
            token                    | ROPE: 1 x 5 us = 5 us    | is a row outside of a block
            token                    | Total time: 5 us.        | a total of a block whose begin
            """)
    void aDamagedBlockIsRefused(String whole, String damaged, String fault) {
        assertThat(refused(BLOCKS.replace(whole, damaged)).fault()).contains(fault);
    }

    // ---- unitrace ----

    private static final String SUMMARY = """
            === Device Timing Summary ===

                            Total Execution Time (ns):  1000
                Total Device Time for L0 backend (ns):  150
                Total Device Time for CL GPU backend (ns):  7

            == L0 Backend ==

                  Kernel, Calls, Time (ns), Time (%), Average (ns), Min (ns), Max (ns)
            "gemm<int, float>[SIMD16 {1;1;1}]", 3, 100, 66.67, 33, 30, 40
            "gemm<int, float>[SIMD16 {1;1;1}]", 1, 20, 13.33, 20, 20, 20
            zeCommandListAppendBarrier, 10, 25, 16.67, 2, 2, 3
            zeCommandListAppendEventReset, 5, 5, 3.33, 1, 1, 1

            == CL GPU Backend ==

                  Kernel, Calls, Time (ns), Time (%), Average (ns), Min (ns), Max (ns)
            softmax, 1, 7, 100.0, 7, 7, 7

            === Kernel Properties ===

            Kernel, Compiled
            softmax, AOT
            """;

    @Test
    void barriersAndResetsOfUnitraceHaveTheirOwnBricks() throws IOException {
        TraceProfile profile = Traces.read(SUMMARY);

        assertThat(profile.snapshot().bricks())
                .extracting(BrickStats::name, BrickStats::count, BrickStats::totalNs)
                .containsExactly(
                        tuple("Gemm", 4L, 120L),
                        tuple("Barrier", 10L, 25L),
                        tuple("AttentionSoftmax", 1L, 7L),
                        tuple("EventReset", 5L, 5L));
        assertThat(profile.wallNs()).isEqualTo(1_000);
        assertThat(Traces.read("\n" + SUMMARY).snapshot().bricks())
                .isEqualTo(profile.snapshot().bricks());
        assertThat(Traces.read(FOLDER.resolve(UNITRACE), OPTIONS)
                        .snapshot()
                        .brick("HostToDevice")
                        .orElseThrow()
                        .totalBytes())
                .isEqualTo(3 * 128_000_000 + 4);
    }

    /** Each summary has a wall time of its own, and the processes ran at once. */
    @Test
    void theSummariesOfSeveralProcessesAreRefused() {
        assertThat(refused(SUMMARY + SUMMARY).fault()).contains("the summaries of several processes");
    }

    @Test
    void aSummaryWithoutATableIsRefused() {
        assertThat(refused("=== Device Timing Summary ===\n\n  Total Execution Time (ns):   98\n")
                        .fault())
                .contains("has no table of kernels");
    }

    // ---- damage ----

    /**
     * Each file is cut at 40 places, and 60 of its digits are changed, one at a time. The reader refuses the damaged
     * file, or the profile lists a fault, or its total differs by less than the precision of the numbers in the file.
     */
    @ParameterizedTest
    @ValueSource(strings = {TRT, NSYS, UNITRACE, VULKAN})
    void aDamagedFileIsNeverAWrongSumInSilence(String file) throws IOException {
        String log = text(file);
        // Four steps of the long log are enough.
        String[] blocks = log.split("-{16}\n", 6);
        String whole = file.equals(VULKAN) ? String.join("", Arrays.copyOfRange(blocks, 1, 5)) : log;
        long totalNs = Traces.read(whole).snapshot().totalNs();
        int refusals = 0;
        for (int i = 1; i <= 40; i++) {
            refusals += isRefused(whole.substring(0, (int) ((long) whole.length() * i / 41)), totalNs) ? 1 : 0;
        }
        assertThat(refusals).as("cuts that are refused").isGreaterThan(5);
        List<Integer> digits = whole.chars().boxed().toList();
        for (int i = 1, at = 0; i <= 60; i++) {
            at = Math.max(at + 1, whole.length() / 61 * i);
            while (at < whole.length() - 1 && !Character.isDigit(digits.get(at))) {
                at++;
            }
            char other = whole.charAt(at) == '9' ? '4' : '9';
            isRefused(whole.substring(0, at) + other + whole.substring(at + 1), totalNs);
        }
    }

    private static boolean isRefused(String damaged, long totalNs) throws IOException {
        TraceProfile read;
        try {
            read = Traces.read(damaged);
        } catch (TraceFormatException refused) {
            assertThat(refused.fault()).isNotBlank();
            if (refused.isDamage()) {
                TraceProfile salvaged = Traces.read(damaged, OPTIONS.withSalvage(true));
                assertThat(salvaged.omissions()).anyMatch(omission -> omission.reason() == Reason.DAMAGE);
            }
            return true;
        }
        boolean isFaulty = !Omissions.faults(read.omissions()).isEmpty();
        double difference = Math.abs(read.snapshot().totalNs() - totalNs) / (double) totalNs;
        // A log that ends between two blocks is a log of fewer steps.
        boolean isBetweenBlocks =
                read.steps() > 0 && damaged.lastIndexOf("Total time") > damaged.lastIndexOf("Timings:");
        assertThat(isFaulty || difference < 1e-4 || isBetweenBlocks)
                .as(
                        "a total of %s instead of %s ns is reported",
                        read.snapshot().totalNs(), totalNs)
                .isTrue();
        return false;
    }

    @Test
    void aTruncatedPackedLogIsRefused() throws IOException {
        byte[] packed = Traces.packed(BLOCKS);
        byte[] cut = Arrays.copyOf(packed, packed.length - 12);

        TraceFormatException refused = refused(() -> TraceReader.profile(new ByteArrayInputStream(cut), OPTIONS));
        assertThat(refused.fault()).contains("the packed file ends too early");
    }

    @Test
    void aTableWithAnotherSeparatorMayHaveDecimalCommas() throws IOException {
        for (char separator : new char[] {';', '\t'}) {
            String table = KERNELS.replace(',', separator).replace('.', ',');
            assertThat(Traces.read(table, OPTIONS).snapshot().totalNs()).isEqualTo(300);
            assertThat(refused(table.replace("100,0" + separator + "300", "100,0" + separator + "0,300"))
                            .fault())
                    .as("thousands or a fraction")
                    .contains("'0,300' is no time");
        }
    }
}
