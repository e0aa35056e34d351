package org.brickprofiler.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.spark.sql.SparkSession;
import org.brickprofiler.BrickId;
import org.brickprofiler.cli.Brick;
import org.brickprofiler.fleet.Manifest.PackFile;
import org.brickprofiler.testing.ChildProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The same SQL over the same files, asked of Spark and of the embedded engine, which has to be there. */
final class SparkEngineTest {

    @TempDir
    private static Path folder;

    /** The simulated ranks serve no requests: four in each window, which wait the longer the higher the rank is. */
    private static final String SERVED = """
            SELECT run_id, rank, win, CAST(4 AS BIGINT) AS finished, wall_ns * (rank + 1) AS queued_behind_prompts_ns,
                wall_ns AS stalled_behind_prompts_ns, wall_ns AS queued_behind_decoding_ns,
                wall_ns AS stalled_behind_decoding_ns, wall_ns AS queued_idle_ns, wall_ns AS stalled_idle_ns,
                wall_ns AS own_prompt_ns, wall_ns AS decode_ns, wall_ns AS decode_beside_prompts_ns,
                wall_ns AS delivery_ns, wall_ns AS own_work_ns
            FROM rank_window""";

    /**
     * The simulated ranks have no phases: half of the samples of each brick belong to steps of decoding. Those of two
     * ranks are estimated, with errors of many sizes.
     */
    private static final String HALF_IN_DECODE = """
            SELECT run_id, rank, win, 'decode' AS phase, category, brick, CAST(floor(count / 2) AS BIGINT) AS count,
                CAST(floor(total_ns / 2) AS BIGINT) AS total_ns, min_ns, max_ns, elements, unresolved, device_samples,
                CASE WHEN rank < 2 THEN CAST(1 AS BIGINT) ELSE unmarked END AS unmarked,
                CASE WHEN rank < 2 THEN total_ns / (3e0 + win) END AS standard_error_ns,
                CASE WHEN rank < 2 THEN 1.1e0 + win END AS degrees_of_freedom, dist
            FROM brick_window""";

    private static FleetEngine duck;
    private static FleetEngine spark;
    private static Map<String, String> files;

    @BeforeAll
    static void start() throws Exception {
        System.setProperty("org.slf4j.simpleLogger.log.org.apache", "error");
        SimulatedFleet.Shape shape = new SimulatedFleet.Shape("007", 64, 24, 5);
        List<SimulatedFleet.Injected> faults = new ArrayList<>(SimulatedFleet.studyFaults(shape));
        // Each question is to have an answer, and no fault of the study is a drift.
        faults.add(
                new SimulatedFleet.Injected(SimulatedFleet.Fault.DRIFT, 5, BrickId.RMS_NORM, 0.15, 0, shape.windows()));
        files = new SimulatedFleet(shape, faults).write(folder, true);
        duck = FleetEngine.open(FleetEngine.DEFAULT, FleetEngine.Options.defaults());
        spark = FleetEngine.open("spark", new FleetEngine.Options(1 << 29, 2, folder, "local[2]"));
    }

    /** Engines of one session share its tables, and a test may have mounted others. */
    @BeforeEach
    void mount() throws IOException {
        for (Map.Entry<String, String> table : files.entrySet()) {
            duck.table(table.getKey(), List.of(table.getValue()));
            spark.table(table.getKey(), List.of(table.getValue()));
        }
        for (FleetEngine engine : List.of(duck, spark)) {
            engine.view(FleetPack.REQUESTS, SERVED);
            engine.view(FleetPack.PHASES, HALF_IN_DECODE);
        }
    }

    @AfterAll
    static void stop() {
        duck.close();
        spark.close();
    }

    @ParameterizedTest
    @EnumSource(FleetQuestion.class)
    void everyQuestionHasEqualAnswers(FleetQuestion question) throws IOException {
        Rows expected = question.answer(duck);
        assertThat(expected.rows()).isNotEmpty();
        assertThat(question.answer(spark)).isEqualTo(expected);
    }

    @Test
    void aRunWhoseNameIsANumberStaysAText() throws IOException {
        spark.view("runs", "SELECT DISTINCT run_id FROM rank_window");
        assertThat(spark.query("SELECT run_id FROM runs"))
                .isEqualTo(new Rows(List.of("run_id"), List.of(List.of("007"))));
    }

    /** Its SQL reads and writes files by address, and calls Java; the command line says so. */
    @Test
    void itCannotBeConfinedAndSaysSo() throws IOException {
        assertThat(spark.confine()).isFalse();
        assertThat(ChildProcess.java(Brick.class)
                        .arguments(List.of(
                                "fleet",
                                "sql",
                                "--pack",
                                pack("unconfined").toString(),
                                "--engine",
                                "spark",
                                "--master",
                                "local[2]",
                                "SELECT 1 AS a"))
                        .run()
                        .assertSucceeded()
                        .err())
                .contains("spark cannot be confined to the pack");
    }

    @Test
    void theCommandLineAsksSparkWhereItIsOnTheClassPath() throws IOException {
        Path pack = pack("asked");
        List<String> question = List.of(
                "fleet",
                "sql",
                "--pack",
                pack.toString(),
                "SELECT brick, sum(total_ns) AS ns FROM brick_window GROUP BY brick ORDER BY brick");
        List<String> spark = new ArrayList<>(question);
        spark.addAll(List.of("--engine", "spark", "--master", "local[2]"));
        String answer = ChildProcess.java(Brick.class)
                .arguments(spark)
                .run()
                .assertSucceeded()
                .out();
        assertThat(answer.lines()).hasSize(2 + 36);
        assertThat(answer)
                .isEqualTo(ChildProcess.java(Brick.class)
                        .arguments(question)
                        .run()
                        .assertSucceeded()
                        .out());
    }

    private static Path pack(String name) throws IOException {
        Path pack = Files.createDirectory(folder.resolve(name));
        List<PackFile> packed = new ArrayList<>();
        for (String table : FleetPack.TABLES) {
            Path of = folder.resolve(table + ".parquet");
            if (!List.of(FleetPack.REQUESTS, FleetPack.PHASES).contains(table)) {
                packed.add(FleetPack.entry(pack, table, Files.copy(of, pack.resolve(table + ".parquet")), 1));
            }
        }
        new Manifest(1, 0, packed, List.of()).write(pack);
        return pack;
    }

    /** The file system of this machine at addresses that only Hadoop knows. */
    public static final class Elsewhere extends RawLocalFileSystem {

        @Override
        public URI getUri() {
            return URI.create("elsewhere:///");
        }
    }

    @Test
    void aPackIsCheckedAndReadWhereOnlySparkReads() throws IOException {
        SparkSession.active().sparkContext().hadoopConfiguration().set("fs.elsewhere.impl", Elsewhere.class.getName());
        Path pack = pack("pack");
        Rows expected = spark.query("SELECT sum(total_ns) AS ns FROM brick_window");
        try (FleetEngine other = FleetEngine.open("spark", new FleetEngine.Options(1 << 29, 2, folder, "local[2]"))) {
            for (String address : List.of("elsewhere://" + pack, pack.toUri().toString(), pack + "/")) {
                FleetPack.open(other, address, false).mount(other);
                assertThat(other.query("SELECT sum(total_ns) AS ns FROM brick_window"))
                        .as(address)
                        .isEqualTo(expected);
            }
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> FleetPack.open(duck, "elsewhere://" + pack, false))
                    .withMessageContaining("of this machine only");
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> FleetPack.open(other, "elsewhere://" + folder, false))
                    .withMessageStartingWith("elsewhere://" + folder + " is no pack");
            Files.write(pack.resolve("step_window.parquet"), new byte[8], StandardOpenOption.WRITE);
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> FleetPack.open(other, "elsewhere://" + pack, false))
                    .withMessageStartingWith("elsewhere://" + pack + "/step_window.parquet is not what was written");
        }
    }

    @Test
    void saysInOneLineWhatIsWrong() {
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> spark.query("SELECT nothing FROM rank_window"))
                .withMessageContaining("Spark: ")
                .withMessageContaining("nothing")
                .withMessageNotContaining("\n");
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> spark.table(
                        "t", List.of(folder.resolve("missing.parquet").toString())))
                .withMessageContaining("missing.parquet");
    }
}
