package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.OneJdk;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@OneJdk
final class FleetCommandTest {

    private static final String BY_RANK =
            "SELECT rank, brick, sum(total_ns) AS ns FROM brick_window GROUP BY rank, brick ORDER BY rank";

    @TempDir
    Path folder;

    private Path pack;

    @BeforeEach
    void setUp() throws IOException {
        pack = folder.resolve("pack");
        for (int rank = 0; rank < 2; rank++) {
            Path ranks = Files.createDirectories(folder.resolve("runs").resolve("rank-" + rank));
            BrickProfiler profiler = BrickProfiler.enabled();
            profiler.record(BrickId.RMS_NORM, 1000 + rank, 64);
            JsonReport.write(
                    profiler.snapshot()
                            .withIdentity(RunIdentity.builder()
                                    .runId("=r")
                                    .rank(rank)
                                    .worldSize(3)
                                    .window(7)
                                    .build()),
                    ranks.resolve("window-7.json"));
        }
    }

    @Test
    void packsAFolderAndAnswersInFourForms() {
        Cli packed = Cli.run("fleet", "pack", folder.resolve("runs"), "-o", pack);

        assertThat(packed.exitCode()).isZero();
        assertThat(packed.out()).startsWith("Packed 2 of 2 files into " + pack + ", ");
        assertThat(packed.err())
                .startsWith("brick: missing_rank: run =r: rank 2 is missing of 3\n")
                .contains("problems: 1; files or windows left out for them: 0; ");
        Cli text = Cli.run("fleet", "sql", "--pack", pack, BY_RANK);
        assertThat(text.exitCode()).isZero();
        assertThat(text.out()).isEqualTo("""
                        rank  brick      ns
                        ----  -------  ----
                           0  RmsNorm  1000
                           1  RmsNorm  1001
                        """);
        assertThat(Cli.run("fleet", "sql", "--pack", pack, "--markdown", BY_RANK)
                        .out())
                .isEqualTo("""
                        | rank | brick | ns |
                        | ---: | --- | ---: |
                        | 0 | RmsNorm | 1000 |
                        | 1 | RmsNorm | 1001 |
                        """);
        assertThat(Cli.run(
                                "fleet",
                                "sql",
                                "--pack",
                                pack,
                                "--csv",
                                "SELECT DISTINCT run_id AS \"a,b\" FROM rank_window")
                        .out())
                .isEqualTo("\"a,b\"\n'=r\n");
        assertThat(Cli.run("fleet", "sql", "--pack", pack, "--json", "SELECT kind, rank, file FROM pack_problem")
                        .out())
                .isEqualToIgnoringWhitespace("[{\"kind\": \"missing_rank\", \"rank\": 2, \"file\": null}]");
    }

    @Test
    void reportsAPackInFourForms() throws IOException {
        Cli.run("fleet", "pack", folder.resolve("runs"), "-o", pack);
        Path page = folder.resolve("fleet.html");

        assertThat(Cli.run("fleet", "report", "--pack", pack).out())
                .startsWith("2 ranks in 1 run, 1 window: no rank could be tested\n")
                .contains("\n! missing rank: 1 (0 windows left out), such as rank 2 is missing of 3\n")
                .contains("Bricks as recorded, of all ranks and windows\n", "\nRmsNorm  Norm ");
        Cli json = Cli.run("fleet", "report", "--pack", pack, "--json");
        assertThat(json.out()).startsWith("{\"schema_version\":\"1.0\",\"kind\":\"brick-fleet\",");
        assertThat(Cli.run("fleet", "report", "--pack", pack, "--markdown").out())
                .startsWith("**2 ranks in 1 run");
        assertThat(Cli.run("fleet", "report", "--pack", pack, "--html", page).out())
                .isEqualTo("HTML: " + page.toAbsolutePath() + "\n");
        assertThat(page).content().contains(json.out());
        Cli.run(
                        "fleet",
                        "report",
                        "--pack",
                        pack,
                        "--html",
                        folder.resolve("away").resolve("page.html"))
                .assertRefused("does not exist");
    }

    @Test
    void patternsReachAnyDepthAndPacksAreNoProfiles() {
        String pattern = folder.resolve("runs") + "/rank-*/*.json";
        assertThat(Cli.run(
                                "fleet",
                                "pack",
                                pattern,
                                "-o",
                                folder.resolve("runs").resolve("pack"))
                        .out())
                .startsWith("Packed 2 of 2 files");
        assertThat(Cli.run("fleet", "pack", folder.resolve("runs"), "-o", pack).out())
                .startsWith("Packed 2 of 2 files");
        Cli.run("fleet", "pack", folder.resolve("none") + "/*.json", "-o", pack).assertRefused("it holds no profile");
    }

    /** Reports packed with gzip are read, as by {@code brick report}; what is not read is named. */
    @Test
    void packedReportsAreReadAndOtherFilesAreNamed() throws IOException {
        Path ranks = folder.resolve("runs");
        Path plain = ranks.resolve("rank-1").resolve("window-7.json");
        try (OutputStream packed = new GZIPOutputStream(
                Files.newOutputStream(ranks.resolve("rank-1").resolve("window-7.JSON.gz")))) {
            Files.copy(plain, packed);
        }
        Files.delete(plain);
        Path csv = Files.createFile(ranks.resolve("bricks.csv"));
        Path hidden = Files.createFile(ranks.resolve(".window-8.json"));
        Path link = Files.createSymbolicLink(ranks.resolve("rank-2"), ranks.resolve("rank-1"));
        Files.createFile(ranks.resolve("windows.state"));
        Files.createFile(ranks.resolve(".lock"));
        Path former = ranks.resolve("former");
        Cli.run("fleet", "pack", ranks.resolve("rank-0"), "-o", former);

        Cli packed = Cli.run("fleet", "pack", ranks, "-o", ranks.resolve("pack"));

        assertThat(packed.out()).startsWith("Packed 2 of 2 files");
        assertThat(packed.err())
                .contains("brick: passed_over: " + hidden + ": its name begins with a dot\n")
                .contains("brick: passed_over: " + csv + ": its name does not end in .json or .json.gz\n")
                .contains("brick: passed_over: " + former + ": it is a pack\n")
                .contains("brick: passed_over: " + link + ": it is a link\n")
                .contains("problems: 5; ");
        assertThat(Cli.run("fleet", "sql", "--pack", ranks.resolve("pack"), "--csv", BY_RANK)
                        .out())
                .isEqualTo("rank,brick,ns\n0,RmsNorm,1000\n1,RmsNorm,1001\n");
        assertThat(Cli.run("fleet", "report", "--pack", ranks.resolve("pack")).out())
                .contains("! passed over: 4 (4 windows left out), such as ");
        assertThat(Cli.run("fleet", "pack", ranks, "-o", ranks.resolve("pack")).err())
                .contains("problems: 5; ");
        Cli.run("fleet", "pack", ranks + "/rank-?", "-o", pack).assertRefused("it holds no profile");
    }

    /** A packed file that is cut off is a damaged file, and its copy without gzip is a copy. */
    @Test
    void packedReportsAreCheckedAsOthersAre() throws IOException {
        Path plain = folder.resolve("runs").resolve("rank-1").resolve("window-7.json");
        Path copy = plain.resolveSibling("copy.json.gz");
        try (OutputStream packed = new GZIPOutputStream(Files.newOutputStream(copy))) {
            Files.copy(plain, packed);
        }

        assertThat(Cli.run("fleet", "pack", folder.resolve("runs"), "-o", pack).out())
                .startsWith("Packed 2 of 3 files")
                .endsWith("; 1 are copies of others\n");
        byte[] whole = Files.readAllBytes(copy);
        Files.write(copy, Arrays.copyOf(whole, whole.length - 12));
        Files.delete(plain);
        Cli cut = Cli.run("fleet", "pack", folder.resolve("runs"), "-o", pack);
        assertThat(cut.out()).startsWith("Packed 1 of 2 files");
        assertThat(cut.err()).contains("brick: damaged: " + copy + ": ");
    }

    @Test
    void invalidQueriesAreRefusedInOneLine() {
        Cli.run("fleet", "sql", "--pack", pack, "SELECT 1").assertRefused("is no pack of profiles");
        Cli.run("fleet", "pack", folder.resolve("runs/rank-0"), folder.resolve("runs/rank-1"), "-o", pack);

        Cli wrong = Cli.run("fleet", "sql", "--pack", pack, "SELECT nothing FROM rank_window");

        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.err()).contains("brick: DuckDB: ").contains("nothing").hasLineCount(2);
        assertThat(Cli.run("fleet").exitCode()).isEqualTo(2);
    }

    @Test
    void aQuestionReadsThePackOnly() {
        Cli.run("fleet", "pack", folder.resolve("runs/rank-0"), folder.resolve("runs/rank-1"), "-o", pack);

        for (String sql :
                List.of("SELECT * FROM read_text('/etc/hostname')", "COPY (SELECT 1) TO '" + folder + "/new.csv'")) {
            Cli refused = Cli.run("fleet", "sql", "--pack", pack, sql);
            assertThat(refused.exitCode()).isEqualTo(2);
            assertThat(refused.out()).isEmpty();
            assertThat(refused.err())
                    .endsWith("one SELECT over its tables, which reads nothing else and writes nothing\n");
        }
        assertThat(folder.resolve("new.csv")).doesNotExist();
    }

    @Test
    void comparesTheRunsOfTwoPacks() throws IOException {
        Cli.run("fleet", "pack", folder.resolve("runs"), "-o", pack);

        Cli text = Cli.run("fleet", "compare", pack, "--", pack);
        Cli json = Cli.run("fleet", "compare", pack, "--", pack, "--json");

        assertThat(text.exitCode()).isZero();
        assertThat(text.out()).contains("RmsNorm", "too few runs");
        assertThat(json.out()).contains("\"" + pack + ", =r\"");
        assertThat(Cli.run("fleet", "compare", pack).err())
                .contains("the second side is missing: write its packs after --");
    }

    /** A pack that is given twice, or the ranks of a run in two packs, are one observation. */
    @Test
    void aRunInTwoPacksOfASideIsRefused() {
        Path other = folder.resolve("other");
        Cli.run("fleet", "pack", folder.resolve("runs"), "-o", pack);
        Cli.run("fleet", "pack", folder.resolve("runs").resolve("rank-0"), "-o", other);

        assertThat(Cli.run("fleet", "compare", pack, pack, "--", pack).err())
                .contains(pack + ", =r is the same run at the same time as " + pack + ", =r: give each run only once");
        assertThat(Cli.run("fleet", "compare", pack, "--", pack, other).err())
                .contains(other + ", =r is the same run at the same time as " + pack + ", =r: give each run only once");
    }
}
