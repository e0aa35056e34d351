package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.brickprofiler.trace.read.NsightExport.globalPid;
import static org.brickprofiler.trace.read.NsightExport.globalTid;
import static org.brickprofiler.trace.read.Traces.refused;
import static org.brickprofiler.trace.read.Traces.totalNs;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.trace.Track;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceProfile.Range;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Exports of Nsight Systems: the ranges of kernels, and the effects of versions and faults of the exporter. */
final class NsightReadTest {

    private static final ReadOptions OPTIONS = ReadOptions.defaults();

    @TempDir
    Path folder;

    private Path file() {
        return folder.resolve("export.sqlite");
    }

    private TraceProfile read() throws IOException {
        return Traces.read(file(), OPTIONS);
    }

    /** Two nested ranges on one thread, a launch in each of them and one in none; the kernels run later. */
    private void writeNested(String... lacking) throws SQLException {
        try (NsightExport export = new NsightExport(file(), lacking)) {
            export.range(111, 5, 1_000, 9_000, "layer");
            export.range(111, 5, 2_000, 4_000, "my norm");
            export.launch(111, 5, 1, 2_500);
            export.launch(111, 5, 2, 5_000);
            export.launch(111, 5, 3, 9_000);
            export.kernel(111, 1, 100_000, 100_010, "inner");
            export.kernel(111, 2, 100_010, 100_110, "outer");
            export.kernel(111, 3, 100_110, 101_110, "none");
            export.kernel(111, 4, 101_110, 111_110, "unlaunched");
        }
    }

    @Test
    void aKernelBelongsToTheInnermostRangeOfItsLaunch() throws Exception {
        writeNested();
        TraceProfile profile = read();

        assertThat(profile.ranges())
                .containsExactly(
                        new Range(Range.NO_LAUNCH, 1, 10_000),
                        new Range(Range.NO_RANGE, 1, 1_000),
                        new Range("layer", 1, 100),
                        new Range("my norm", 1, 10));
        assertThat(profile.snapshot().totalNs()).isEqualTo(11_110);
        assertThat(profile.snapshot().startedAt()).hasToString("2026-05-24T13:40:14.975816426Z");
        assertThat(profile.summary())
                .contains("  ranges      2 of 4 events, 1.0 % of device time, launched in a range")
                .contains("                my norm: 1 event, 10 ns\n")
                .contains("                (no launch): 1 event, 10.00 us\n");
        assertThat(Omissions.ignored(profile)).isEqualTo(Map.of(Reason.ANNOTATION, 2L, Reason.HOST, 3L));
    }

    @Test
    void correlationsOfTwoProcessesAreApart() throws Exception {
        try (NsightExport export = new NsightExport(file())) {
            for (int process = 1; process <= 2; process++) {
                export.range(process, 9, 0, 1_000, "process " + process);
                export.launch(process, 9, 77, 500);
                export.kernel(process, 77, 10_000L * process, 10_000L * process + process, "k");
            }
            export.kernel(3, 77, 50_000, 50_004, "k");
        }

        assertThat(read().ranges())
                .containsExactly(
                        new Range(Range.NO_LAUNCH, 1, 4), new Range("process 2", 1, 2), new Range("process 1", 1, 1));
    }

    @Test
    void aKernelWithoutCorrelationHasNoLaunch() throws Exception {
        try (NsightExport export = new NsightExport(file())) {
            export.range(1, 1, 0, 1_000, "r");
            export.insert(
                    "CUPTI_ACTIVITY_KIND_RUNTIME",
                    "start",
                    5,
                    "end",
                    6,
                    "globalTid",
                    globalTid(1, 1),
                    "nameId",
                    export.string("cudaFree"));
            export.insert(
                    "CUPTI_ACTIVITY_KIND_KERNEL",
                    "start",
                    600,
                    "end",
                    700,
                    "globalPid",
                    globalPid(1),
                    "shortName",
                    export.string("k"));
        }
        assertThat(read().ranges()).containsExactly(new Range(Range.NO_LAUNCH, 1, 100));
        try (TraceTimeline timeline = TraceReader.timeline(file(), OPTIONS)) {
            assertThat(timeline.differences()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void rangesAreThoseThatTheDatabaseFinds(long seed) throws Exception {
        Random random = new Random(seed);
        Map<String, List<Long>> expected;
        try (NsightExport export = new NsightExport(file())) {
            for (int i = 0; i < 300; i++) {
                // Both processes have all correlations.
                int process = 1 + i % 2;
                export.launch(process, 1 + random.nextInt(2), i / 2, random.nextInt(1_000));
                export.kernel(process, i / 2, 10_000 + 100L * i, 10_000 + 100L * i + random.nextInt(100), "k");
            }
            for (int i = 0; i < 200; i++) {
                long start = random.nextInt(1_000);
                // No two ranges of one thread are equal, so that there is one innermost range.
                export.range(
                        1 + i % 2,
                        1 + i / 2 % 2,
                        start,
                        start + 1 + random.nextInt(400),
                        "range " + start + " of " + i);
            }
            expected = export.kernelsByRange();
        }
        Map<String, List<Long>> found = new TreeMap<>();
        read().ranges().forEach(range -> found.put(range.name(), List.of(range.events(), range.elapsedNs())));

        long kernels = expected.values().stream().mapToLong(sums -> sums.get(0)).sum();
        assertThat(kernels).isPositive();
        assertThat(found).isEqualTo(expected);
    }

    @Test
    void invalidTimesAreFaulty() throws Exception {
        try (NsightExport export = new NsightExport(file())) {
            export.kernel(1, 1, 100, 90, "k");
            export.kernel(1, 1, Long.MIN_VALUE, 90, "k");
            export.kernel(1, 1, 0, Long.MAX_VALUE, "k");
            export.insert("CUPTI_ACTIVITY_KIND_KERNEL", "start", 5);
            export.range(1, 1, Long.MIN_VALUE, 70, "r");
            export.kernel(1, 1, 5, 8, "k");
        }
        TraceProfile profile = read();

        assertThat(profile.snapshot().totalNs()).isEqualTo(3);
        assertThat(Omissions.faults(profile.omissions()))
                .extracting(Omission::reason, Omission::count)
                .containsExactly(
                        tuple(Reason.NO_TIME, 1L),
                        tuple(Reason.TIME_OUT_OF_RANGE, 2L),
                        tuple(Reason.NEGATIVE_DURATION, 1L));
    }

    @Test
    void ofRangesThatBeginTogetherTheShortestIsInnermost() throws Exception {
        try (NsightExport export = new NsightExport(file())) {
            export.range(1, 1, 100, 200, "inner");
            export.range(1, 1, 100, 300, "outer");
            export.launch(1, 1, 1, 100);
            export.launch(1, 1, 2, 200);
            export.kernel(1, 1, 1_000, 1_001, "k");
            export.kernel(1, 2, 2_000, 2_002, "k");
        }

        assertThat(read().ranges()).containsExactly(new Range("outer", 1, 2), new Range("inner", 1, 1));
    }

    // ---- versions of the exporter ----

    @ParameterizedTest
    @ValueSource(
            strings = {
                "globalPid",
                "domainId textId",
                "endGlobalTid rangeId",
                "CUPTI_ACTIVITY_KIND_MEMCPY CUPTI_ACTIVITY_KIND_MEMSET",
                "CUPTI_ACTIVITY_KIND_GRAPH_TRACE ThreadNames TARGET_INFO_GPU",
                "graphNodeId",
                "CUDA_GRAPH_NODE_EVENTS originalGraphNodeId"
            })
    void tablesAndColumnsMayBeMissing(String lacking) throws Exception {
        try (NsightExport export = new NsightExport(file(), lacking.split(" "))) {
            export.range(1, 1, 0, 1_000, "r");
            export.launch(1, 1, 1, 500);
            if (lacking.equals("globalPid")) {
                export.insert("CUPTI_ACTIVITY_KIND_KERNEL", "start", 600, "end", 700, "correlationId", 1);
            } else {
                export.kernel(1, 1, 600, 700, "k");
            }
        }

        assertThat(read().ranges()).containsExactly(new Range("r", 1, 100));
    }

    @Test
    void kernelsAreReadWithoutRangesOrLaunches() throws Exception {
        try (NsightExport export = new NsightExport(file(), "NVTX_EVENTS")) {
            export.kernel(1, 1, 600, 700, "k");
        }
        assertThat(read().ranges()).isEmpty();

        Files.delete(file());
        try (NsightExport export = new NsightExport(file(), "CUPTI_ACTIVITY_KIND_RUNTIME")) {
            export.range(1, 1, 0, 1_000, "r");
            export.kernel(1, 1, 600, 700, "k");
        }
        assertThat(read().ranges()).containsExactly(new Range(Range.NO_LAUNCH, 1, 100));
    }

    @Test
    void namesAreTextsOrRegisteredStringsAfterTheirDomain() throws Exception {
        try (NsightExport export = new NsightExport(file())) {
            export.insert(
                    "NVTX_EVENTS",
                    "eventType",
                    NsightExport.DOMAIN,
                    "text",
                    "NCCL",
                    "domainId",
                    3,
                    "globalTid",
                    globalTid(1, 1),
                    "start",
                    0);
            export.insert(
                    "NVTX_EVENTS",
                    "eventType",
                    NsightExport.PUSH_POP,
                    "textId",
                    export.string("ncclAllReduce"),
                    "domainId",
                    3,
                    "globalTid",
                    globalTid(1, 2),
                    "start",
                    0,
                    "end",
                    100);
            export.insert(
                    "NVTX_EVENTS",
                    "eventType",
                    NsightExport.PUSH_POP,
                    "textId",
                    export.string("plain"),
                    "domainId",
                    0,
                    "globalTid",
                    globalTid(1, 2),
                    "start",
                    200,
                    "end",
                    300);
            export.range(1, 2, 400, 500, "aten::mm, op_id = 17");
            export.range(1, 2, 600, 700, "aten::mm, seq = 4, op_id = 18");
            for (int i = 0; i < 4; i++) {
                export.launch(1, 2, i, 200L * i + 50);
                export.kernel(1, i, 1_000L * i + 5_000, 1_000L * i + 5_001, "k");
            }
        }

        assertThat(read().ranges())
                .containsExactly(
                        new Range("aten::mm", 2, 2), new Range("NCCL:ncclAllReduce", 1, 1), new Range("plain", 1, 1));
    }

    @Test
    void rangesAcrossThreadsAndOpenRangesHoldNothing() throws Exception {
        try (NsightExport export = new NsightExport(file())) {
            export.insert(
                    "NVTX_EVENTS",
                    "eventType",
                    NsightExport.START_END,
                    "text",
                    "of one",
                    "globalTid",
                    globalTid(1, 1),
                    "endGlobalTid",
                    globalTid(1, 1),
                    "start",
                    0,
                    "end",
                    1_000);
            export.insert(
                    "NVTX_EVENTS",
                    "eventType",
                    NsightExport.START_END,
                    "text",
                    "across",
                    "globalTid",
                    globalTid(1, 1),
                    "endGlobalTid",
                    globalTid(1, 2),
                    "start",
                    10,
                    "end",
                    1_000);
            export.insert(
                    "NVTX_EVENTS",
                    "eventType",
                    NsightExport.PUSH_POP,
                    "text",
                    "open",
                    "globalTid",
                    globalTid(1, 1),
                    "start",
                    20);
            export.insert(
                    "NVTX_EVENTS",
                    "eventType",
                    NsightExport.MARK,
                    "text",
                    "mark",
                    "globalTid",
                    globalTid(1, 1),
                    "start",
                    30);
            export.launch(1, 1, 1, 50);
            export.kernel(1, 1, 100, 150, "k");
        }
        TraceProfile profile = Traces.read(file(), OPTIONS);

        assertThat(profile.ranges()).containsExactly(new Range("of one", 1, 50));
        assertThat(Omissions.ignored(profile))
                .isEqualTo(Map.of(Reason.ANNOTATION, 2L, Reason.ASYNC, 1L, Reason.INSTANT, 1L, Reason.HOST, 1L));
    }

    // ---- bricks of events ----

    @Test
    void graphsThatWereTracedAsOneBlockAreNamedSo() throws Exception {
        try (NsightExport export = new NsightExport(file())) {
            export.range(1, 1, 0, 1_000, "decode");
            export.launch(1, 1, 5, 50);
            export.insert(
                    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                    "start",
                    100,
                    "end",
                    900,
                    "deviceId",
                    0,
                    "streamId",
                    7,
                    "correlationId",
                    5,
                    "globalPid",
                    globalPid(1),
                    "graphId",
                    12);
            // Kernels of a graph that was traced by nodes have the correlation of its launch.
            export.launch(1, 1, 6, 60);
            export.kernel(1, 6, 1_000, 1_010, "k");
            export.kernel(1, 6, 1_010, 1_030, "k");
        }
        TraceProfile profile = read();

        assertThat(totalNs(profile, "CUDA graph 12, traced as one block")).isEqualTo(800);
        assertThat(profile.ranges()).containsExactly(new Range("decode", 3, 830));
    }

    /** The ranges of a capture are over before the graph is instantiated, and long before it is replayed. */
    @Test
    void theRangesOfACaptureNameTheKernelsOfItsReplays() throws Exception {
        long graph = 7L << 32;
        long exec = 9L << 32;
        try (NsightExport export = new NsightExport(file())) {
            export.range(1, 1, 0, 1_000, "capture");
            export.range(1, 1, 100, 200, "layers.0.input_layernorm.rms_norm");
            export.range(1, 1, 200, 300, "layers.0.mlp.down_proj");
            export.node(1, 1, 110, graph | 1, null);
            export.node(1, 1, 210, graph | 2, null);
            export.node(1, 1, 400, graph | 3, null);
            export.range(1, 1, 2_000, 3_000, "instantiate");
            for (int node = 1; node <= 3; node++) {
                export.node(1, 1, 2_100 + node, exec | node, null);
                export.node(1, 1, 2_200 + node, exec | node, graph | node);
            }
            export.range(1, 2, 4_000, 9_000, "decode");
            for (int replay = 0; replay < 2; replay++) {
                export.launch(1, 2, replay, 5_000L + 2_000L * replay);
                for (int node = 1; node <= 4; node++) {
                    long start = 6_000L + 2_000L * replay + 100L * node;
                    export.replayed(1, replay, start, start + node, "my_kernel", exec | node);
                }
            }
            export.launch(1, 2, 2, 8_900);
            export.kernel(1, 2, 9_000, 9_007, "my_kernel");
        }

        TraceProfile profile = read();

        assertThat(profile.ranges())
                .containsExactlyInAnyOrder(
                        new Range("layers.0.input_layernorm.rms_norm", 2, 2 * 1),
                        new Range("layers.0.mlp.down_proj", 2, 2 * 2),
                        new Range("capture", 2, 2 * 3),
                        new Range("decode", 3, 2 * 4 + 7));
        assertThat(totalNs(profile, "RmsNorm")).isEqualTo(2);
        assertThat(totalNs(profile, "DownProjection")).isEqualTo(4);
        assertThat(totalNs(profile, "my_kernel")).isEqualTo(6 + 8 + 7);
        assertThat(Omissions.counted(profile)).containsEntry(Reason.UNKNOWN_CAPTURE, 2L);
    }

    /** Nodes of another process, two originals, and a circle of copies show no creation. */
    @Test
    void nodesWhoseCreationIsNotKnownBelongToTheRangeOfTheReplay() throws Exception {
        try (NsightExport export = new NsightExport(file())) {
            export.range(2, 1, 0, 100, "of another process");
            export.node(2, 1, 10, 1, null);
            export.range(1, 1, 0, 100, "captured");
            export.node(1, 1, 20, 2, null);
            export.node(1, 1, 30, 3, null);
            export.node(1, 1, 200, 12, 2L);
            export.node(1, 1, 201, 12, 3L);
            export.node(1, 1, 202, 13, 14L);
            export.node(1, 1, 203, 14, 13L);
            export.node(1, 1, 204, 15, null);
            export.node(1, 1, 20, 16, null);
            export.node(1, 1, 30, 16, null);
            export.range(1, 1, 1_000, 2_000, "replay");
            export.launch(1, 1, 1, 1_100);
            int at = 1_200;
            for (long node : new long[] {1, 12, 13, 15, 16}) {
                export.replayed(1, 1, at, at + 10, "my_kernel", node);
                at += 20;
            }
        }

        TraceProfile profile = read();

        assertThat(profile.ranges()).containsExactly(new Range("replay", 5, 50));
        assertThat(Omissions.counted(profile))
                .as("the creation of node 15 is known, and in no range")
                .containsEntry(Reason.UNKNOWN_CAPTURE, 4L);
    }

    @Test
    void copiesAndFillsCountWithTheirBytes() throws Exception {
        try (NsightExport export = new NsightExport(file())) {
            Object[] device = {
                "deviceId", 0, "streamId", 7, "correlationId", 1, "globalPid", globalPid(1), "bytes", 4_096
            };
            export.execute("CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id, name)");
            export.insert("ENUM_CUDA_MEMCPY_OPER", "id", 15, "name", "CUDA_MEMCPY_KIND_UVM_DTOH");
            for (long kind = 1; kind <= 16; kind++) {
                Object[] copy = {"start", 100 * kind, "end", 100 * kind + kind, "copyKind", kind};
                Object[] row = Arrays.copyOf(copy, copy.length + device.length);
                System.arraycopy(device, 0, row, copy.length, device.length);
                export.insert("CUPTI_ACTIVITY_KIND_MEMCPY", row);
            }
            export.insert(
                    "CUPTI_ACTIVITY_KIND_MEMSET",
                    "start",
                    5_000,
                    "end",
                    5_020,
                    "deviceId",
                    0,
                    "streamId",
                    7,
                    "bytes",
                    64);
            export.insert("TARGET_INFO_GPU", "id", 0, "name", "a device", "totalMemory", 1L << 36);
        }
        TraceProfile profile = read();

        assertThat(totalNs(profile, "HostToDevice")).isEqualTo(1 + 11);
        assertThat(totalNs(profile, "DeviceToHost")).isEqualTo(2 + 12 + 15);
        assertThat(totalNs(profile, "DeviceToDevice")).isEqualTo(8 + 13);
        assertThat(totalNs(profile, "MemoryCopy")).isEqualTo(3 + 4 + 5 + 6 + 7 + 14 + 16);
        assertThat(totalNs(profile, "Memset")).isEqualTo(20);
        assertThat(profile.snapshot().bricks()).extracting(BrickStats::category).containsOnly(BrickCategory.TRANSFER);
        assertThat(profile.snapshot().brick("HostToDevice").orElseThrow().totalBytes())
                .isEqualTo(2 * 4_096);
        assertThat(profile.snapshot().environments()).extracting("cpu").containsExactly("a device");
    }

    @ParameterizedTest
    @CsvSource({
        "my_kernel, rms_norm, RmsNorm",
        "my_kernel, layers.3.mlp.down_proj, DownProjection",
        "my_kernel, engine:lm_head, LmHead",
        "my_kernel, decode, my_kernel",
        "rotary_kernel, rms_norm, RopeEmbedding",
        "special, rms_norm, mine",
        "other, layer 7, theirs"
    })
    void aKernelThatNoRuleKnowsIsTheBrickOfItsRange(String kernel, String range, String brick) throws Exception {
        try (NsightExport export = new NsightExport(file())) {
            export.range(1, 1, 0, 1_000, range);
            export.launch(1, 1, 1, 500);
            export.kernel(1, 1, 600, 700, kernel);
        }
        TraceRules rules = TraceRules.parse("""
                mine   <- name=/special/
                theirs <- args.range=/^layer \\d+$/
                """);
        TraceProfile profile = Traces.read(file(), OPTIONS.withRules(rules.then(TraceRules.builtIn())));

        assertThat(profile.snapshot().bricks()).extracting("name").containsExactly(brick);
    }

    // ---- timelines ----

    @Test
    void itsTimelineHasRangesCallsAndStreams() throws Exception {
        try (NsightExport export = new NsightExport(file())) {
            export.insert("ThreadNames", "nameId", export.string("main loop"), "globalTid", globalTid(111, 5));
            export.range(111, 5, 1_000, 9_000, "layer");
            export.launch(111, 5, 1, 2_500);
            export.kernel(111, 1, 100_000, 100_010, "k");
        }
        try (TraceTimeline read = TraceReader.timeline(file(), OPTIONS)) {
            assertThat(read.timeline().tracks())
                    .extracting(Track::name)
                    .containsExactly("main loop", "device 0", "stream 7");
            assertThat(TimelineLines.lines(read))
                    .containsExactly(
                            "main loop: layer 1000..9000",
                            "main loop: cudaLaunchKernel_v7000 2500..3500 out 1",
                            "stream 7: k 100000..100010 in 1");
            assertThat(read.differences()).isEqualTo("1 argument left out (eventClass 1)");
        }
    }

    @Test
    void itsTimelineCountsTheColumnsThatItHasNoPlaceFor() throws Exception {
        try (NsightExport export = new NsightExport(file())) {
            export.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN registersPerThread INTEGER");
            export.kernel(111, 1, 100_000, 100_010, "k");
            export.kernel(111, 2, 100_020, 100_030, "k");
            export.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET registersPerThread = 32, graphNodeId = NULL");
        }
        try (TraceTimeline read = TraceReader.timeline(file(), OPTIONS)) {
            assertThat(read.differences()).isEqualTo("2 arguments left out (registersPerThread 2)");
        }
    }

    // ---- files that are no exports ----

    @Test
    void anotherDatabaseIsRefused() throws Exception {
        try (NsightExport export = new NsightExport(
                file(),
                "CUPTI_ACTIVITY_KIND_KERNEL",
                "CUPTI_ACTIVITY_KIND_MEMCPY",
                "CUPTI_ACTIVITY_KIND_MEMSET",
                "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                "CUPTI_ACTIVITY_KIND_RUNTIME",
                "NVTX_EVENTS")) {
            export.string("nothing else");
        }

        assertThat(refused(this::read))
                .hasMessageStartingWith(
                        file() + ", offset 0: it is an SQLite database, but no export of Nsight Systems")
                .hasMessageEndingWith("NVTX_EVENTS; and no profile of rocmProfileData, rocprofv3 or rocprof");
    }

    @Test
    void anExportWithoutWorkOfADeviceIsRefusedWithTheReasonThatItStates() throws Exception {
        try (NsightExport export = new NsightExport(file(), "CUPTI_ACTIVITY_KIND_KERNEL")) {
            export.range(1, 1, 0, 1_000, "r");
            export.launch(1, 1, 1, 500);
        }
        assertThat(refused(this::read).fault()).startsWith("the export has no work of a device: no kernel, copy or");

        try (NsightExport export = new NsightExport(file().resolveSibling("noted.sqlite"))) {
            export.launch(1, 1, 1, 500);
            export.execute("CREATE TABLE DIAGNOSTIC_EVENT (timestamp, severity, text)");
            export.insert("DIAGNOSTIC_EVENT", "severity", 1, "text", "Daemon was started.");
            export.insert("DIAGNOSTIC_EVENT", "severity", 2, "text", "CUDA profiling might have not\nbeen started.");
        }
        Path noted = file().resolveSibling("noted.sqlite");
        assertThat(refused(() -> Traces.read(noted, OPTIONS)).fault())
                .endsWith("; Nsight Systems noted: CUDA profiling might have not been started.");
        try (TraceTimeline timeline = TraceReader.timeline(noted, OPTIONS)) {
            assertThat(TimelineLines.lines(timeline)).hasSize(1);
        }
    }

    @Test
    void aDamagedDatabaseIsRefusedOrReadUpToTheDamage() throws Exception {
        try (NsightExport export = new NsightExport(file())) {
            for (int i = 0; i < 2_000; i++) {
                export.launch(1, 1, i, 10L * i);
            }
        }
        try (RandomAccessFile bytes = new RandomAccessFile(file().toFile(), "rw")) {
            bytes.seek(bytes.length() - 2 * 4_096);
            bytes.write(new byte[4_096]);
        }

        TraceFormatException refused = refused(this::read);
        assertThat(refused.isDamage()).isTrue();
        assertThat(refused.fault()).startsWith("the SQLite database is damaged: ");
        TraceProfile salvaged = TraceReader.profile(file(), OPTIONS.withSalvage(true));
        assertThat(salvaged.eventsRead()).isPositive().isLessThan(2_000);
        assertThat(salvaged.omissions()).extracting(Omission::reason).contains(Reason.DAMAGE);
    }

    @Test
    void readsStreamsAndPackedFilesAlike() throws Exception {
        writeNested();
        byte[] bytes = Files.readAllBytes(file());
        Path packed = Files.write(folder.resolve("export.gz"), Traces.packed(bytes));
        Path asked = Files.write(folder.resolve("why? 100%;.sqlite"), bytes);

        assertThat(Traces.read(bytes, OPTIONS)).isEqualTo(read());
        assertThat(Traces.read(packed, OPTIONS)).isEqualTo(read());
        assertThat(Traces.read(asked, OPTIONS)).isEqualTo(read());
        assertThat(Files.readAllBytes(file())).isEqualTo(bytes);
        assertThat(refused(() -> TraceReader.profile(
                        new ByteArrayInputStream(Arrays.copyOf(Traces.packed(bytes), 400)), OPTIONS)))
                .hasMessageContaining("the packed file ends too early");
    }

    @Test
    void leavesTheFileAndItsFolderAlone() throws Exception {
        try (NsightExport export = new NsightExport(file())) {
            export.kernel(1, 1, 600, 700, "k");
        }
        byte[] bytes = Files.readAllBytes(file());
        // The file format versions for a write-ahead log (WAL), for which SQLite creates files beside the database.
        bytes[18] = 2;
        bytes[19] = 2;
        Files.write(file(), bytes);

        assertThat(read().eventsCounted()).isEqualTo(1);
        assertThat(file()).hasBinaryContent(bytes);
        assertThat(folder).isDirectoryNotContaining(beside -> !beside.equals(file()));
    }

    @Test
    void withoutADriverTheMessageNamesIt() throws Exception {
        writeNested();
        String separator = System.getProperty("path.separator");
        String classPath = Pattern.compile(Pattern.quote(separator))
                .splitAsStream(System.getProperty("java.class.path"))
                .filter(entry -> !entry.contains("sqlite-jdbc"))
                .collect(Collectors.joining(separator));
        ProcessResult process = ChildProcess.java(Reading.class, classPath)
                .arguments(List.of(file().toString()))
                .run();

        assertThat(process.exitCode()).isEqualTo(1);
        assertThat(process.err())
                .contains("cannot read " + file()
                        + ": an SQLite database needs org.xerial:sqlite-jdbc on the class path");
    }

    /** Reads a file in another process. Unlike the test class, this class needs no driver. */
    static final class Reading {
        public static void main(String[] arguments) throws IOException {
            TraceReader.profile(Path.of(arguments[0]));
        }
    }

    @Test
    void limitsHoldHereToo() throws Exception {
        writeNested();

        assertThatThrownBy(() -> TraceReader.profile(
                        file(), OPTIONS.withLimits(new ReadOptions.Limits(200, 1 << 20, 4_058, 1, 1_024))))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("more than 1 rows");
    }
}
