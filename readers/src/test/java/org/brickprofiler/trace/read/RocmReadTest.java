package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.brickprofiler.trace.read.Traces.refused;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.brickprofiler.BrickStats;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceProfile.Range;
import org.brickprofiler.trace.write.TraceFiles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Profiles of AMD's tools: rocmProfileData, rocprofv3 and the first rocprof, as databases, tables and JSON. */
final class RocmReadTest {

    private static final ReadOptions ALL = ReadOptions.defaults().withKeepWarmup(true);
    private static final Path TRACES = Path.of("src", "test", "resources", "traces");
    private static final Path TABLES = TRACES.resolve("rocprofv3");

    private static final String KERNELS =
            "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n";
    private static final String CALLS = "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\","
            + "\"Start_Timestamp\",\"End_Timestamp\"\n";

    @TempDir
    Path folder;

    private static Map<String, Long> totals(TraceProfile profile) {
        Map<String, Long> totals = new TreeMap<>();
        profile.snapshot().bricks().forEach(brick -> totals.put(brick.name() + " x " + brick.count(), brick.totalNs()));
        return totals;
    }

    private static TraceProfile read(String text) throws IOException {
        return Traces.read(text.getBytes(UTF_8), ALL);
    }

    // ---- the samples ----

    @ParameterizedTest
    @CsvSource({
        "rpd-matmul.rpd.gz, 85, 183918056, 125",
        // The JSON of the tool has whole microseconds: 183,859 are the sum of its durations.
        "rpd-matmul.tracing.json.gz, 85, 183859000, 125",
        "rocprofv3/kernel_trace.csv, 7, 795453, 0",
        "rocprofv3/memory_copy_trace.csv, 2, 1145680, 0",
        "rocprofv1-laplacian.csv.gz, 1004, 2648556655, 0",
        "rocprofv1-laplacian.db.gz, 1004, 2648556655, 0",
    })
    void theWorkOfDevicesCountsAlone(String file, long events, long totalNs, long hostEvents) throws IOException {
        TraceProfile profile = Traces.read(TRACES.resolve(file), ALL);

        assertThat(profile.counting()).isEqualTo(TraceProfile.Counting.DEVICE_EVENTS);
        assertThat(profile.eventsCounted()).isEqualTo(events);
        assertThat(profile.snapshot().totalNs()).isEqualTo(totalNs);
        assertThat(Omissions.ignored(profile).getOrDefault(Reason.HOST, 0L)).isEqualTo(hostEvents);
        assertThat(Omissions.faults(profile.omissions())).isEmpty();
    }

    /** 302 us is the time from the first start to the last end; a separate program computed the busy time. */
    @Test
    void overlappingKernelsAreBusyOnce() throws IOException {
        TraceProfile profile = Traces.read(TABLES.resolve("kernel_trace.csv"), ALL);

        assertThat(profile.rows()).isEqualTo(4);
        assertThat(profile.wallNs()).isEqualTo(301_795);
        assertThat(profile.busyNs()).isEqualTo(299_425);
        assertThat(Traces.read(TABLES.resolve("memory_copy_trace.csv"), ALL)
                        .snapshot()
                        .bricks())
                .extracting(brick -> brick.name())
                .containsExactlyInAnyOrder("HostToDevice", "DeviceToHost");
    }

    @ParameterizedTest
    @CsvSource({
        "rpd-matmul.rpd.gz, pftrace",
        "rpd-matmul.rpd.gz, json.gz",
        "rocprofv3/kernel_trace.csv, pftrace",
        "rocprofv3/kernel_trace.csv, json.gz",
        "rocprofv1-laplacian.db.gz, pftrace"
    })
    void aTimelineHasTheSameProfile(String file, String ending) throws IOException {
        Path out = folder.resolve("out." + ending);
        try (TraceTimeline timeline = TraceReader.timeline(TRACES.resolve(file), ALL)) {
            TraceFiles.write(timeline.timeline(), out, TraceFiles.Origin.OTHER);
        }
        TraceProfile expected = Traces.read(TRACES.resolve(file), ALL);

        TraceProfile converted = Traces.read(out, ALL);

        assertThat(totals(converted)).isEqualTo(totals(expected));
        assertThat(converted.busyNs()).isEqualTo(expected.busyNs());
        assertThat(converted.rows()).isEqualTo(expected.rows());
    }

    // ---- rocmProfileData ----

    private void sql(Path file, String... statements) throws SQLException {
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = database.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    /** Two kernels and a copy of a graph in one launch, under two markers; a kernel of another launch under none. */
    private Path rpd(String... further) throws SQLException, IOException {
        Path file = Files.createTempFile(folder, "a", ".rpd");
        sql(
                file,
                "CREATE TABLE rocpd_string (id integer primary key, string)",
                "INSERT INTO rocpd_string VALUES (1,''),(2,'Task'),(3,'KernelExecution'),(4,'CopyDeviceToHost'),"
                        + "(5,'first'),(6,'second'),(7,'hipGraphLaunch'),(8,'hipLaunchKernel'),(9,'UserMarker'),"
                        + "(10,'model'),(11,'my norm'),(12,'a note')",
                "CREATE TABLE rocpd_op (id integer primary key, gpuId, queueId, sequenceId, start, end, description_id,"
                        + " opType_id)",
                "CREATE TABLE rocpd_api (id integer primary key, pid, tid, start, end, apiName_id, args_id)",
                "CREATE TABLE rocpd_api_ops (id integer primary key, api_id, op_id)",
                "CREATE TABLE rocpd_copyapi (api_ptr_id integer primary key, size)",
                "CREATE VIEW op AS SELECT o.id, gpuId, queueId, start, end, a.string AS description, b.string AS opType"
                        + " FROM rocpd_op o JOIN rocpd_string a ON a.id = description_id"
                        + " JOIN rocpd_string b ON b.id = opType_id",
                "CREATE VIEW api AS SELECT o.id, pid, tid, start, end, a.string AS apiName, b.string AS args"
                        + " FROM rocpd_api o JOIN rocpd_string a ON a.id = apiName_id"
                        + " JOIN rocpd_string b ON b.id = args_id",
                "INSERT INTO rocpd_api VALUES (1,7,7,100,900,9,10),(2,7,7,200,300,9,11),(3,7,7,210,220,7,1),"
                        + "(4,7,7,950,960,8,1),(5,7,7,960,960,9,12)",
                "INSERT INTO rocpd_op VALUES (4294967301,0,1,0,1000,1100,5,2),(4294967302,0,1,0,1100,1300,6,2),"
                        + "(4294967303,0,1,0,1300,1340,1,4),(5,0,1,0,1400,1800,5,3)",
                "INSERT INTO rocpd_api_ops VALUES (1,3,4294967301),(2,3,4294967302),(3,3,4294967303),(4,4,5)",
                "INSERT INTO rocpd_copyapi VALUES (3, 4096)");
        sql(file, further);
        return file;
    }

    @Test
    void theKernelsOfAGraphBelongToItsLaunch() throws Exception {
        TraceProfile profile = Traces.read(rpd(), ALL);

        assertThat(totals(profile)).isEqualTo(Map.of("DeviceToHost x 1", 40L, "first x 2", 500L, "second x 1", 200L));
        assertThat(profile.ranges()).containsExactly(new Range(Range.NO_RANGE, 1, 400), new Range("my norm", 3, 340));
        assertThat(profile.snapshot().brick("DeviceToHost").orElseThrow().totalBytes())
                .isEqualTo(4_096);
        assertThat(Omissions.ignored(profile))
                .isEqualTo(Map.of(Reason.HOST, 2L, Reason.ANNOTATION, 2L, Reason.INSTANT, 1L));
        TraceRules rules = TraceRules.parse("RmsNorm <- args.range=/norm/");
        assertThat(totals(Traces.read(rpd("DELETE FROM rocpd_op WHERE id = 5"), ALL.withRules(rules))))
                .containsKey("RmsNorm x 3");
    }

    /** Otherwise a copy of 4 KiB in two parts would count 8 KiB. */
    @Test
    void theBytesOfEachCopyOfACallWithTwoCopiesAreUnknown() throws Exception {
        Path split = rpd(
                "INSERT INTO rocpd_op VALUES (6,0,1,0,1340,1380,1,4)", "INSERT INTO rocpd_api_ops VALUES (9, 3, 6)");

        BrickStats copies =
                Traces.read(split, ALL).snapshot().brick("DeviceToHost").orElseThrow();
        assertThat(copies.count()).isEqualTo(2);
        assertThat(copies.totalBytes()).isZero();
    }

    @Test
    void anOperationOfTwoCallsCountsOnce() throws Exception {
        assertThat(Traces.read(rpd("INSERT INTO rocpd_api_ops VALUES (9, 4, 4294967301)"), ALL)
                        .snapshot()
                        .totalNs())
                .isEqualTo(740);
    }

    @Test
    void rowsThatTheViewsLeaveOutAreReported() throws Exception {
        TraceProfile profile = Traces.read(rpd("INSERT INTO rocpd_op VALUES (6,0,1,0,1900,2000,99,3)"), ALL);

        assertThat(profile.snapshot().totalNs()).isEqualTo(740);
        assertThat(Omissions.faults(profile.omissions())).containsExactly(new Omission(Reason.LOST_STATE, "", 1, 0, 0));
    }

    @Test
    void aDatabaseWithoutItsViewsIsRefused() throws Exception {
        assertThat(refused(() -> Traces.read(rpd("DROP VIEW op"), ALL)))
                .hasMessageEndingWith("the SQLite database has rocpd_op without the view op");
    }

    /** rocmProfileData draws a slice around the kernels of a graph, and slices of markers around those of a range. */
    @Test
    void slicesThatTheJsonDrawsAroundKernelsAreNoWork() throws IOException {
        String json = """
                [ {}
                ,{"name": "process_name", "ph": "M", "pid":"2","args":{"name":"GPU2"}}
                ,{"pid":"2","tid":"0","name":"k","ts":"10","dur":"5","ph":"X","args":{"desc":"Task"}}
                ,{"pid":"2","tid":"0","name":"Graph 0x12","ts":"10","dur":"30","ph":"X","args":{"kernels":"2"}}
                ,{"pid":"2","tid":"0","name":"k","ts":"30","dur":"10","ph":"X","args":{"desc":"Task"}}
                ]
                """;

        assertThat(totals(read(json))).isEqualTo(Map.of("k x 2", 15_000L));
    }

    // ---- the first rocprof ----

    private static final String OF_DEVICE =
            " (\"BeginNs\", \"EndNs\", \"dev-id\", \"queue-id\", \"Name\", \"pid\", \"tid\", \"Index\")";

    /** A kernel, two copies and a fill, with the calls of HIP and HSA; KERN is as {@code --hip-trace} leaves it. */
    private Path hipTrace(String... further) throws SQLException, IOException {
        Path file = Files.createTempFile(folder, "a", ".db");
        sql(
                file,
                "CREATE TABLE HIP (\"BeginNs\", \"EndNs\", \"pid\", \"tid\", \"Name\", \"args\", \"Index\")",
                "CREATE TABLE HSA (\"BeginNs\", \"EndNs\", \"pid\", \"tid\", \"Name\", \"args\", \"Index\")",
                "CREATE TABLE OPS" + OF_DEVICE,
                "CREATE TABLE COPY" + OF_DEVICE,
                "CREATE TABLE KERN (\"Index\", \"KernelName\", \"gpu-id\", \"queue-id\", \"BeginNs\", \"EndNs\")",
                "INSERT INTO HIP VALUES (1000, 1500, 7, 7, 'hipLaunchKernel', '()', 1)",
                "INSERT INTO HSA VALUES (1100, 1200, 7, 7, 'hsa_queue_create', '()', 1)",
                "INSERT INTO OPS VALUES (2000, 5000, 0, 0, 'Cijk_Ailk_Bljk', 7, 7, 1)",
                "INSERT INTO COPY VALUES (500, 900, 0, 0, 'CopyHostToDevice', 7, 7, 2),"
                        + " (5100, 5700, 0, 0, 'CopyDeviceToHost', 7, 7, 3), (5800, 5807, 0, 0, 'FillBuffer', 7, 7, 4)");
        sql(file, further);
        return file;
    }

    @Test
    void theWorkOfAHipTraceCounts() throws Exception {
        Path file = hipTrace();

        TraceProfile profile = Traces.read(file, ALL);

        assertThat(totals(profile))
                .isEqualTo(Map.of(
                        "Gemm x 1", 3_000L, "HostToDevice x 1", 400L, "DeviceToHost x 1", 600L, "Memset x 1", 7L));
        assertThat(Omissions.ignored(profile)).isEqualTo(Map.of(Reason.HOST, 2L));
        try (TraceTimeline timeline = TraceReader.timeline(file, ALL)) {
            assertThat(timeline.timeline().tracks()).extracting("name").contains("device 0");
        }
    }

    /** {@code --hip-trace --timestamp on} writes each kernel to both tables. */
    @ParameterizedTest
    @CsvSource({"1, 3000, 1", "2, 3200, 1"})
    void kernelsOfTwoTablesCountOnce(int dispatches, long kernelsNs, long repeated) throws Exception {
        Path file = hipTrace(
                "INSERT INTO KERN VALUES (0, '\"Cijk_Ailk_Bljk\"', 0, 0, 2000, 5000)",
                dispatches == 1 ? "SELECT 1" : "INSERT INTO KERN VALUES (1, '\"Cijk_Bljk\"', 0, 0, 5000, 5200)");

        TraceProfile profile = Traces.read(file, ALL);

        assertThat(totals(profile)).containsEntry("Gemm x " + dispatches, kernelsNs);
        assertThat(Omissions.ignored(profile)).containsEntry(Reason.OTHER_TABLE, repeated);
    }

    @Test
    void theCopiesOfAnHsaTraceCount() throws Exception {
        Path file = folder.resolve("hsa.db");
        sql(
                file,
                "CREATE TABLE COPY (\"BeginNs\", \"EndNs\", \"Name\", \"pid\", \"tid\", \"Index\")",
                "INSERT INTO COPY VALUES (500, 900, 'async-copy', 1, 0, 3)");

        assertThat(totals(Traces.read(file, ALL))).isEqualTo(Map.of("MemoryCopy x 1", 400L));
    }

    // ---- the databases of rocprofv3 ----

    /** Views as two versions of rocprofv3 define them, over one table each. */
    @ParameterizedTest
    @ValueSource(strings = {"agent_abs_index", "agent_absolute_index"})
    void theViewsOfRocpdAreReadInEachVersion(String agent) throws Exception {
        Path file = folder.resolve("results.db");
        sql(
                file,
                "CREATE TABLE rocpd_kernel_dispatch_1 (start, end, pid, nid, agent, queue_id, name, stack_id)",
                "CREATE VIEW rocpd_kernel_dispatch AS SELECT * FROM rocpd_kernel_dispatch_1",
                "CREATE VIEW kernels AS SELECT start, end, pid, nid, agent AS " + agent
                        + ", queue_id, name, stack_id FROM rocpd_kernel_dispatch WHERE name IS NOT NULL",
                "INSERT INTO rocpd_kernel_dispatch_1 VALUES (1000,1500,7,0,4,2,'a',3),(1200,1300,7,0,4,2,'b',3),"
                        + "(2000,2100,8,0,4,2,'c',3),(3000,3100,8,0,4,2,NULL,3)",
                "CREATE VIEW memory_copies AS SELECT 4000 AS start, 4700 AS end, 7 AS pid, 0 AS nid, 4 AS dst_" + agent
                        + ", 'GPU' AS dst_agent_type, 0 AS src_" + agent
                        + ", 1 AS queue_id, 'MEMORY_COPY_HOST_TO_DEVICE' AS name, 64 AS size, 0 AS stack_id",
                "CREATE VIEW regions AS SELECT 100 AS start, 200 AS end, 7 AS pid, 0 AS nid, 9 AS tid,"
                        + " 'hipGraphLaunch' AS name, 3 AS stack_id, 'HIP_RUNTIME_API' AS category, '{}' AS extdata"
                        + " UNION ALL SELECT 50, 300, 7, 0, 9, 'roctxRangePushA', 2, 'MARKER_CORE_API',"
                        + " '{\"message\":\"decode\"}'");

        TraceProfile profile = Traces.read(file, ALL);

        assertThat(totals(profile))
                .isEqualTo(Map.of("HostToDevice x 1", 700L, "a x 1", 500L, "b x 1", 100L, "c x 1", 100L));
        assertThat(profile.ranges()).containsExactly(new Range(Range.NO_LAUNCH, 2, 800), new Range("decode", 2, 600));
        assertThat(Omissions.faults(profile.omissions())).containsExactly(new Omission(Reason.LOST_STATE, "", 1, 0, 0));
        assertThat(Omissions.counted(profile)).isEqualTo(Map.of(Reason.CONCURRENT, 1L));
    }

    // ---- the tables of rocprofv3 ----

    @Test
    void theTablesOfOneRunAreReadTogether() throws IOException {
        String text = CALLS
                + "\"MARKER_CORE_API\",\"layer, 1\",5,9,1,100,900\n"
                + "\"MARKER_CORE_API\",\"a note\",5,9,2,100,100\n\n"
                + "\"HIP_RUNTIME_API\",\"hipGraphLaunch\",5,9,3,200,300\n"
                + KERNELS
                + "\"KERNEL_DISPATCH\",\"Agent 4\",1,\"void k<int, \"\"x\"\">()\",3,1000,1500\n"
                + "\"KERNEL_DISPATCH\",\"Agent 4\",1,\"b\",3,1100,1200\n"
                + "\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\","
                + "\"Start_Timestamp\",\"End_Timestamp\"\n"
                + "\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",\"Agent 0\",\"Agent 4\",8,2000,2400\n"
                + "\"Name\",\"Calls\",\"TotalDurationNs\"\n\"b\",1,100\n";

        TraceProfile profile = read(text);

        // A kernel that runs beside another one on its queue counts in full.
        assertThat(totals(profile))
                .isEqualTo(Map.of("HostToDevice x 1", 400L, "void k<int, \"x\">() x 1", 500L, "b x 1", 100L));
        assertThat(profile.busyNs()).isEqualTo(900);
        assertThat(profile.ranges()).containsExactly(new Range("layer, 1", 2, 600), new Range(Range.NO_LAUNCH, 1, 400));
        assertThat(Omissions.ignored(profile))
                .isEqualTo(Map.of(Reason.HOST, 1L, Reason.ANNOTATION, 1L, Reason.INSTANT, 1L));
        assertThat(Omissions.faults(profile.omissions())).isEmpty();
        assertThat(Omissions.counted(profile)).isEqualTo(Map.of(Reason.CONCURRENT, 1L));
        assertThat(profile.summary()).contains("noted       1 beside other work of the row, counted in full");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            "KERNEL_DISPATCH",1,1,"k",3,1000                    | row 2 has 6 cells where 7 are expected
            "KERNEL_DISPATCH",1,1,k<a,b>,3,1000,1001            | row 2 has 8 cells where 7 are expected
            "KERNEL_DISPATCH",1,1,"k                            | the table is damaged in line
            "Kind","Nothing"                                    | no table of rocprof or rocprofv3 has the columns
            """)
    void aDamagedTableIsRefused(String row, String fault) {
        assertThat(refused(() -> read(KERNELS + row))).hasMessageContaining(fault);
    }

    /** The row has a cell for each name, and one too few for the header. */
    @Test
    void aNameThatRepeatsInAHeaderIsAColumnOfItsOwn() throws IOException {
        String header = "Kind,Kind,Agent_Id,Queue_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp\n";

        assertThat(refused(() -> read(header + "KERNEL_DISPATCH,1,1,k,3,1000,1500\n")))
                .hasMessageEndingWith("row 2 has 7 cells where 8 are expected");
        assertThat(totals(read(header + "KERNEL_DISPATCH,,1,1,k,3,1000,1500\n")))
                .isEqualTo(Map.of("k x 1", 500L));
    }

    @Test
    void invalidTimesAreReported() throws IOException {
        TraceProfile profile = read(KERNELS
                + "\"KERNEL_DISPATCH\",1,1,\"k\",1,10,30\n"
                + "\"KERNEL_DISPATCH\",1,1,\"k\",2,40,35\n"
                + "\"KERNEL_DISPATCH\",1,1,\"k\",3,x,60\n"
                + "\"KERNEL_DISPATCH\",1,1,\"k\",4,,60\n"
                + "\"KERNEL_DISPATCH\",1,1,\"k\",5,60,9999999999999999999999\n");

        assertThat(profile.snapshot().totalNs()).isEqualTo(20);
        assertThat(Omissions.faults(profile.omissions()))
                .extracting(Omission::reason)
                .containsExactly(
                        Reason.NO_TIME, Reason.MALFORMED_TIME, Reason.TIME_OUT_OF_RANGE, Reason.NEGATIVE_DURATION);
    }

    @ParameterizedTest
    @ValueSource(strings = {"hip_runtime_trace.csv", "hsa_api_trace.csv", "marker_api_trace.csv"})
    void callsAloneAreNoWork(String table) throws IOException {
        TraceProfile profile = Traces.read(TABLES.resolve(table), ALL);

        assertThat(profile.eventsRead()).isPositive();
        assertThat(profile.snapshot().bricks()).isEmpty();
    }

    @Test
    void countersAreNoTimesOfTheRun() throws IOException {
        String counters = "\"Correlation_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\","
                + "\"End_Timestamp\"\n1,\"k\",\"SQ_WAVES\",16,5,5000\n";

        assertThat(refused(() -> read(counters))).hasMessageContaining("kernels that ran one at a time");
        TraceProfile both = read(counters + KERNELS + "\"KERNEL_DISPATCH\",1,1,\"k\",1,10,30\n");
        assertThat(both.snapshot().totalNs()).isEqualTo(20);
        assertThat(Omissions.ignored(both)).isEqualTo(Map.of(Reason.COUNTER, 1L));
    }

    @Test
    void tablesOfSeveralProcessesAreRefused() {
        String text = CALLS + "\"HIP_RUNTIME_API\",\"hipFree\",5,9,3,200,300\n"
                + "\"HIP_RUNTIME_API\",\"hipFree\",6,9,3,200,300\n";

        assertThat(refused(() -> read(text))).hasMessageContaining("of several processes (5, 6)");
    }

    @Test
    void severalTablesOrAFolderOfThemAreOneProfile() throws IOException {
        Path kernels = Files.copy(TABLES.resolve("kernel_trace.csv"), folder.resolve("7_kernel_trace.csv"));
        Path copies = folder.resolve("7_memory_copy_trace.csv.gz");
        Files.write(copies, Traces.packed(Files.readAllBytes(TABLES.resolve("memory_copy_trace.csv"))));
        Path sums = Files.copy(TABLES.resolve("hip_api_stats.csv"), folder.resolve("7_hip_api_stats.csv"));

        for (List<Path> files : List.of(List.of(sums, copies, kernels), List.of(folder))) {
            try (InputStream text = TraceReader.together(files)) {
                TraceProfile profile = TraceReader.profile(text, ALL);
                assertThat(profile.eventsCounted()).isEqualTo(9);
                assertThat(profile.snapshot().totalNs()).isEqualTo(795_453 + 1_145_680);
            }
        }
        Path other = Files.copy(kernels, folder.resolve("8_kernel_trace.csv"));
        assertThatThrownBy(() -> TraceReader.together(List.of(kernels, other)))
                .hasMessageEndingWith("the tables are of several runs or processes (7, 8); give those of one");
        assertThatThrownBy(() -> TraceReader.together(List.of(kernels, Traces.RPD)))
                .hasMessageStartingWith("cannot read " + Traces.RPD + " together with others: it is no table");
        assertThatThrownBy(() -> TraceReader.together(List.of(sums))).hasMessageContaining("no table there has events");
        Path empty = Files.createDirectory(folder.resolve("empty"));
        assertThatThrownBy(() -> TraceReader.together(List.of(empty)))
                .hasMessageContaining("it is a folder without tables (*.csv)");
    }

    // ---- the JSON of rocprofv3 ----

    @Test
    void theJsonIsReadWithItsNames() throws IOException {
        String json = "{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":7,\"command\":[\"a\"]},"
                + "\"agents\":[{\"id\":{\"handle\":11},\"type\":1,\"node_id\":0,\"product_name\":\"a CPU\"},"
                + "{\"id\":{\"handle\":12},\"type\":2,\"node_id\":4,\"product_name\":\"a GPU\"}],"
                + "\"strings\":{\"buffer_records\":[{\"kind\":\"NONE\",\"operations\":[]},"
                + "{\"kind\":\"HIP\",\"operations\":[\"hipGraphLaunch\"]},{\"kind\":\"MEMORY_COPY\",\"operations\":"
                + "[\"MEMORY_COPY_NONE\",\"MEMORY_COPY_DEVICE_TO_HOST\"]}],"
                + "\"marker_api\":[{\"key\":2,\"value\":\"decode\"}]},"
                + "\"kernel_symbols\":[{\"kernel_id\":5,\"formatted_kernel_name\":\"rms_norm\"}],\"summary\":[],"
                + "\"buffer_records\":{\"kernel_dispatch\":[" + kernel(3, 5, 1_000, 1_400) + ","
                + kernel(3, 6, 1_400, 1_500) + "],"
                + "\"hip_api\":[{\"kind\":1,\"operation\":0,\"thread_id\":9,\"correlation_id\":{\"internal\":3},"
                + "\"start_timestamp\":100,\"end_timestamp\":200}],"
                + "\"marker_api\":[{\"kind\":3,\"operation\":1,\"thread_id\":9,\"correlation_id\":{\"internal\":2},"
                + "\"start_timestamp\":50,\"end_timestamp\":300}],"
                + "\"memory_copy\":[{\"kind\":2,\"operation\":1,\"thread_id\":9,\"correlation_id\":{\"internal\":8},"
                + "\"dst_agent_id\":{\"handle\":11},\"src_agent_id\":{\"handle\":12},\"bytes\":64,"
                + "\"start_timestamp\":1600,\"end_timestamp\":1800}]}}]}";

        TraceProfile profile = read(json);

        assertThat(totals(profile))
                .isEqualTo(Map.of("DeviceToHost x 1", 200L, "RmsNorm x 1", 400L, "kernel 6 x 1", 100L));
        assertThat(profile.ranges()).containsExactly(new Range("decode", 2, 500), new Range(Range.NO_LAUNCH, 1, 200));
        assertThat(profile.snapshot().environments())
                .extracting(machine -> machine.cpu())
                .containsExactly("a GPU");
        assertThat(Omissions.ignored(profile)).isEqualTo(Map.of(Reason.HOST, 1L, Reason.ANNOTATION, 1L));
        TraceFormatException cut = refused(() -> read(json.substring(0, json.indexOf("\"memory_copy\""))));
        assertThat(cut.isDamage()).isTrue();
        byte[] before = json.substring(0, json.indexOf("\"memory_copy\"")).getBytes(UTF_8);
        assertThat(Traces.read(before, ALL.withSalvage(true)).snapshot().totalNs())
                .isEqualTo(500);
    }

    private static String kernel(long correlation, long kernel, long startNs, long endNs) {
        return ("{\"thread_id\":9,\"correlation_id\":{\"internal\":%d},\"start_timestamp\":%d,\"end_timestamp\":%d,"
                        + "\"dispatch_info\":{\"agent_id\":{\"handle\":12},\"queue_id\":{\"handle\":1},\"kernel_id\":%d,"
                        + "\"grid_size\":{\"x\":1}}}")
                .formatted(correlation, startNs, endNs, kernel);
    }

    @Test
    void packedTablesAreReadAlike() throws IOException {
        byte[] table = Files.readAllBytes(TABLES.resolve("kernel_trace.csv"));
        TraceProfile expected = Traces.read(TABLES.resolve("kernel_trace.csv"), ALL);

        assertThat(List.of(Traces.read(table, ALL), Traces.read(Traces.packed(table), ALL)))
                .allMatch(expected::equals);
    }
}
