package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.CallTree;
import org.brickprofiler.trace.Frame;
import org.brickprofiler.trace.LineProfile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompareCommandTest {

    private static final int RUNS = 8;

    private static final List<BrickId> BRICKS = List.of(
            BrickId.RMS_NORM,
            BrickId.QKV_PROJECTION,
            BrickId.ROPE_EMBEDDING,
            BrickId.OUTPUT_PROJECTION,
            BrickId.GATE_PROJECTION,
            BrickId.DOWN_PROJECTION,
            BrickId.LM_HEAD);

    @TempDir
    Path folder;

    private Path before;
    private Path after;

    /** Files of runs in turns, in which one brick of the second side is 6 % slower. */
    @BeforeEach
    void writeRuns() throws IOException {
        before = Files.createDirectory(folder.resolve("before"));
        after = Files.createDirectory(folder.resolve("after"));
        for (int run = 0; run < RUNS; run++) {
            JsonReport.write(snapshot(2 * run, 1), before.resolve(run + ".json"));
            JsonReport.write(snapshot(2 * run + 1, 1.06), after.resolve(run + ".json"));
        }
    }

    static ProfileSnapshot snapshot(int run, double factor) {
        List<BrickStats> bricks = new ArrayList<>();
        for (int number = 0; number < BRICKS.size(); number++) {
            BrickId brick = BRICKS.get(number);
            double noise = 1 + 0.004 * Math.sin(run * 1.3 + number);
            double meanNs = 20_000 * (1 + number) * noise * (brick == BrickId.GATE_PROJECTION ? factor : 1);
            long count = brick == BrickId.LM_HEAD ? 100 : 1_200;
            bricks.add(BrickStats.builder(brick.displayName(), brick.category())
                    .samples(count, Math.round(count * meanNs), 1, 10_000_000)
                    .last(1, 1)
                    .elements(count)
                    .build());
        }
        long totalNs = bricks.stream().mapToLong(BrickStats::totalNs).sum();
        Instant start = Instant.parse("2026-01-02T03:04:05Z").plusSeconds(60L * run);
        return ProfileSnapshot.builder(start, start.plusSeconds(20), totalNs)
                .threads(1, false)
                .bricks(bricks)
                .build();
    }

    /** The hottest method takes all of the time by which the brick is slower; the other one does not change. */
    @Spec("13.18")
    @Test
    void namesTheMethodsOfASlowerBrick() throws IOException {
        for (int run = 0; run < RUNS; run++) {
            writeWithLines(before.resolve(run + ".json"), 2 * run, 1, 600 + run % 3);
            writeWithLines(after.resolve(run + ".json"), 2 * run + 1, 1.3, 900 + run % 3);
        }
        JsonNode methods = new ObjectMapper()
                .readTree(Cli.run("compare", before, "--", after, "--baseline", "RmsNorm", "--step", "LmHead", "--json")
                        .out())
                .path("methods");
        assertThat(methods).hasSize(1);
        assertThat(methods.path(0).path("brick").asText()).isEqualTo("GateProjection");
        assertThat(methods.path(0).path("lines").findValuesAsText("name"))
                .containsExactly("VectorMath.dot", "Projection.run");
        assertThat(methods.path(0).path("lines").findValuesAsText("verdict"))
                .containsExactly("slower", "no_difference");
        assertThat(methods.path(0).path("lines").path(0).path("share_pct").asDouble())
                .isBetween(60.0, 60.2);
        assertThat(Cli.run("compare", before, "--", after).out())
                .containsPattern(
                        "\n\nMethods of bricks that became slower\n  GateProjection: VectorMath.dot \\+\\d\\d % \\(\\+\\d\\d to \\+\\d\\d %\\)\\.\n$");

        JsonReport.write(snapshot(1, 1.3), after.resolve("0.json"));
        assertThat(Cli.run("compare", before, "--", after).out())
                .endsWith("0.json has fewer than 20 samples of it.\n")
                .contains("  GateProjection: its methods are unknown, since ");

        writeWithLines(after.resolve("0.json"), 1, 1.3, 900, Optional.empty(), Optional.of("loops lack safepoints"));
        assertThat(Cli.run("compare", before, "--", after).out())
                .contains("  GateProjection: its methods are not compared, since those of ")
                .endsWith("0.json may be wrong: loops lack safepoints.\n");

        writeWithLines(
                after.resolve("0.json"), 1, 1.3, 900, Optional.of("processor time (within 2.0 s)"), Optional.empty());
        assertThat(Cli.run("compare", before, "--", after).out())
                .contains("  GateProjection: its methods are not compared, since ")
                .contains("before/0.json has samples of running threads, and ")
                .endsWith("after/0.json of processor time.\n");
    }

    private static void writeWithLines(Path file, int run, double factor, long samples) throws IOException {
        writeWithLines(file, run, factor, samples, Optional.empty(), Optional.empty());
    }

    private static void writeWithLines(
            Path file, int run, double factor, long samples, Optional<String> mode, Optional<String> doubt)
            throws IOException {
        CallTree tree = new CallTree(List.of(
                new CallTree.Node(CallTree.NO_PARENT, new Frame("Projection.run", 3, "JIT compiled"), 400),
                new CallTree.Node(0, new Frame("VectorMath.dot", 88, "JIT compiled"), samples)));
        LineProfile lines = new LineProfile(
                LineProfile.Samples.NONE,
                0,
                0,
                Optional.empty(),
                List.of(new LineProfile.OfBrick(
                        "GateProjection", Optional.empty(), 0, OptionalDouble.empty(), tree, CallTree.EMPTY)),
                LineProfile.Elsewhere.NONE,
                mode,
                Optional.empty(),
                doubt);
        JsonReport.write(snapshot(run, factor), Map.of(JsonReport.LINES, lines.values()), file);
    }

    @Spec("15.1")
    @Test
    void comparesFolders() {
        assertThat(Cli.run("compare", before, "--", after).out())
                .startsWith("1 of 7 bricks is slower: GateProjection +")
                .containsPattern("\nGateProjection .* slower\n")
                .containsPattern(
                        "\n\\d+ other lines: no difference shown \\(--all lists them and explains the columns\\)\\.\n\n1 of 7 bricks is slower: .*\nNext: compare the row of GateProjection in brick report FILE --html OUT of a run of each side\\.\n$")
                .doesNotContain("\nRmsNorm ");
        Cli compare = Cli.run("compare", before, "--", after, "--all");

        assertThat(compare.err()).isEmpty();
        assertThat(compare.exitCode()).isZero();
        assertThat(compare.out())
                .startsWith("8 runs before, 8 after: of the bricks 1 slower, 6 without a difference shown\n")
                .containsPattern("\nGateProjection .* \\+6\\.\\d .* slower\n")
                .contains("A step is one execution of LmHead.");
    }

    @Spec("15.1")
    @Test
    void comparesFilesAndPatternsAlike() {
        List<Object> files = new ArrayList<>(List.of("compare"));
        for (int run = 0; run < RUNS; run++) {
            files.add(before.resolve(run + ".json"));
        }
        files.add("--");
        files.add(after + "/*.json");
        String expected = Cli.run("compare", before, "--", after).out();
        assertThat(Cli.run(files.toArray()).out()).isEqualTo(expected);
        assertThat(Cli.run("compare", before + "/[0-9].json", "--", after).out())
                .isEqualTo(expected);
    }

    @Test
    void knowsTheDisturbancesThatTheFilesHold() throws IOException {
        JsonReport.write(
                snapshot(0, 1).withFacts(RunFacts.NONE.withMachine(Map.of("mhz", 2_000.0), List.of("steal 5 %"))),
                before.resolve("0.json"));
        JsonReport.write(
                snapshot(1, 1.06).withFacts(RunFacts.NONE.withMachine(Map.of("mhz", 3_000.0), List.of())),
                after.resolve("0.json"));

        assertThat(Cli.run("compare", before, "--", after).out())
                .contains("\n! 1 of 16 runs were disturbed: " + before.resolve("0.json") + " (steal 5 %, 2000 MHz).\n");
    }

    @Spec("15.1")
    @Test
    void writesAPageForABrowser() throws IOException {
        Path page = folder.resolve("comparison.html");
        Path run = before.resolve("1.json");
        String kept = Files.readString(run);

        assertThat(Cli.run("compare", before, "--", after, "--html", page))
                .isEqualTo(new Cli(0, "HTML: " + page.toAbsolutePath() + "\n", ""));
        assertThat(Files.readString(page)).contains("\"kind\": \"brick-comparison\"", "8 runs before, 8 after");
        Cli.run("compare", before, "--", after, "--html", run)
                .assertRefused("cannot write " + run + ": it is the input");
        assertThat(run).hasContent(kept);
        Path nowhere = folder.resolve("missing").resolve("a.html");
        Cli.run("compare", before, "--", after, "--html", nowhere).assertRefused("cannot write " + nowhere);
        Cli.run("run", "--before", "exit 9", "--after", "exit 9", "--html", nowhere)
                .assertRefused("cannot write " + nowhere);
    }

    @Test
    void givesNumbersForOneRunASide() {
        Cli compare = Cli.run("compare", before.resolve("0.json"), "--", after.resolve("0.json"));

        assertThat(compare.exitCode()).isZero();
        assertThat(compare.out())
                .startsWith(
                        "No verdict: no brick could be tested.\n1 run before, 1 after: of the bricks 7 of too few runs for"
                                + " a verdict\n")
                .endsWith("\nNext: brick run runs both sides in turns, with enough runs for a verdict.\n")
                .doesNotContain("slower", "faster");
    }

    @Test
    void failsOnARegression() {
        Cli failed = Cli.run("compare", before, "--", after, "--fail-on-regression", "5");
        assertThat(failed.exitCode()).isEqualTo(3);
        assertThat(failed.err())
                .startsWith("brick: slower by 5.0 % or more:\nGateProjection: +")
                .hasLineCount(2);
        assertThat(failed.out())
                .isEqualTo(Cli.run("compare", before, "--", after).out());

        assertThat(Cli.run("compare", before, "--", after, "--fail-on-regression", "9")
                        .exitCode())
                .isZero();
        assertThat(Cli.run("compare", after, "--", before, "--fail-on-regression", "5")
                        .exitCode())
                .isZero();
        assertThat(Cli.run("compare", before, "--", after, "--fail-on-regression", "5", "--floor", "7")
                        .exitCode())
                .isZero();
    }

    @Test
    void failsIfNothingCouldBeCompared() throws IOException {
        Path one = before.resolve("0.json");
        Path other = after.resolve("0.json");
        Cli tooFew = Cli.run("compare", one, "--", other, "--fail-on-regression", "5");
        assertThat(tooFew.exitCode()).isEqualTo(4);
        assertThat(tooFew.err())
                .startsWith(
                        "brick: no line could be compared, so regressions are unknown: brick time of a step (too few runs), ")
                .endsWith(" more\n")
                .hasLineCount(1);
        assertThat(tooFew.out()).isEqualTo(Cli.run("compare", one, "--", other).out());

        for (int run = 0; run < RUNS; run++) {
            ProfileSnapshot snapshot = snapshot(2 * run + 1, 1.06);
            JsonReport.write(
                    snapshot.withIdentity(RunIdentity.builder().model("llama").build()), before.resolve(run + ".json"));
            JsonReport.write(
                    snapshot.withIdentity(RunIdentity.builder().model("qwen").build()), after.resolve(run + ".json"));
        }
        Cli others = Cli.run("compare", before, "--", after, "--fail-on-regression", "5");
        assertThat(others.exitCode()).isEqualTo(4);
        assertThat(others.err())
                .contains("brick time of a step (not comparable: different model: llama before, qwen after)");
    }

    @Test
    void namesRegressionsThatCannotBeSeen() throws IOException {
        for (int run = 0; run < RUNS; run++) {
            ProfileSnapshot snapshot = snapshot(2 * run + 1, 1);
            List<BrickStats> some = snapshot.bricks().stream()
                    .filter(brick -> !brick.name().equals("RmsNorm"))
                    .toList();
            JsonReport.write(with(snapshot, some), after.resolve(run + ".json"));
        }
        Cli missing = Cli.run("compare", before, "--", after, "--fail-on-regression", "5");
        assertThat(missing.exitCode()).isZero();
        assertThat(missing.err())
                .isEqualTo(
                        "brick: 2 of 14 lines could not be compared, so their regressions are unknown: Norm (not comparable: "
                                + "only before), RmsNorm (not comparable: only before)\n");
        Cli low = Cli.run("compare", before, "--", after, "--fail-on-regression", "1");
        assertThat(low.err())
                .contains("a regression of 1.0 % is below the floor: changes below 2.0 % count for nothing\n");

        // So wide a spread that a change of 5 % is found by chance only.
        for (int run = 0; run < RUNS; run++) {
            JsonReport.write(snapshot(2 * run, 1 + 0.1 * (run % 3)), before.resolve(run + ".json"));
            JsonReport.write(snapshot(2 * run + 1, 1 + 0.1 * (run % 3)), after.resolve(run + ".json"));
        }
        Cli coarse = Cli.run("compare", before, "--", after, "--fail-on-regression", "5");
        assertThat(coarse.exitCode()).isZero();
        assertThat(coarse.err())
                .containsPattern("^brick: a regression of 5.0 % may have gone unnoticed in \\d of 14 lines: .*"
                        + "GateProjection \\(shown from \\d+\\.\\d %\\)")
                .doesNotContain("LmHead (shown")
                .hasLineCount(1);
    }

    private static ProfileSnapshot with(ProfileSnapshot snapshot, List<BrickStats> bricks) {
        return ProfileSnapshot.builder(snapshot.startedAt(), snapshot.endedAt(), snapshot.wallNs())
                .threads(snapshot.threads(), false)
                .environments(snapshot.environments())
                .bricks(bricks)
                .build();
    }

    @Test
    void comparesBesideABaseline() throws IOException {
        Cli compare = Cli.run("compare", before, "--", after, "--baseline", "RmsNorm,LmHead", "--all");
        assertThat(compare.err()).isEmpty();
        assertThat(compare.out())
                .contains(
                        "\nbaseline bricks alike ",
                        "without the part that the baseline bricks (RmsNorm, LmHead) of a run have in common")
                .containsPattern("\nGateProjection .* slower\n");
        String json = Cli.run("compare", before, "--", after, "--baseline", "RmsNorm", "--baseline=LmHead", "--json")
                .out();
        assertThat(new ObjectMapper().readTree(json).path("baseline")).hasSize(2);
        Cli.run("compare", before, "--", after, "--baseline", "RmsNorm,Nothing")
                .assertRefused("no run has a brick 'Nothing' for the baseline");
    }

    @Test
    void refusesToRunUntilAChangeThatTheFloorHides() {
        Cli.run("run", "--before", "exit 9", "--after", "exit 9", "--until", "2")
                .assertRefused("--until 2.0 is not above the floor, 2.0: no number of runs finds such a change");
        Cli.run("run", "--before", "exit 9", "--after", "exit 9", "--until", "3", "--floor", "3")
                .assertRefused("--until 3.0 is not above the floor, 3.0");
    }

    @Test
    void printsJsonAndMarkdown() throws IOException {
        String json = Cli.run("compare", before, "--", after, "--json").out();
        assertThat(new ObjectMapper()
                        .readTree(json)
                        .path("lines")
                        .path(0)
                        .path("kind")
                        .asText())
                .isEqualTo("total");
        assertThat(Cli.run("compare", "--markdown", before, "--", after).out())
                .contains("| GateProjection |", "| **slower** |", "<details>");
    }

    @Test
    void learnsTheFloor() {
        String same =
                Cli.run("compare", before, "--", after, "--aa", before, "--all").out();
        assertThat(same).containsPattern("Changes below 0\\.\\d+ % count for nothing");
        Cli.run("compare", before, "--", after, "--aa", before, "--floor", "1").assertRefused("--aa excludes --floor");
        Cli.run("compare", before, "--", after, "--aa", before.resolve("1.json"))
                .assertRefused("at least 4 runs of the same code, not 1");
    }

    @Test
    void comparesTracesByTheirProfiles() {
        Path one = Cli.TRACES.resolve("kineto-simple-add.json.gz");
        Path two = Cli.TRACES.resolve("kineto-training-step.json.gz");
        Cli compare = Cli.run("compare", one, "--", two, "--keep-warmup");

        assertThat(compare.exitCode()).isZero();
        assertThat(compare.out()).contains("not comparable: only before", "not comparable: only after");
    }

    @Test
    void takesAStepFromTheOptions() {
        assertThat(Cli.run("compare", before, "--", after, "--step", "RmsNorm", "--all")
                        .out())
                .contains("A step is one execution of RmsNorm.");
        Cli.run("compare", before, "--", after, "--step", "Nothing")
                .assertRefused("not every run has a brick 'Nothing'");
    }

    @Spec("15.1")
    @Test
    void namesTheFaultInOneLine() throws IOException {
        Path empty = Files.createDirectory(folder.resolve("empty"));
        Path copy = Files.copy(before.resolve("1.json"), folder.resolve("copy.json"));

        Cli.run("compare", before).assertRefused("the second side is missing: write its runs after --");
        Cli.run("compare", "--", after).assertRefused("BEFORE");
        Cli.run("compare", before, "--", empty).assertRefused("cannot read " + empty + ": it holds no run");
        Cli.run("compare", before, "--", empty + "/*.json").assertRefused("it holds no run");
        Cli.run("compare", before, "--", folder.resolve("none")).assertRefused("none: it does not exist");
        Cli.run("compare", before, "--", copy)
                .assertRefused(copy + " contains the same run as " + before.resolve("1.json"));
        Cli.run("compare", before, "--", after, "--floor", "-1").assertRefused("--floor -1.0 is not within 0 to 100");
        Cli.run("compare", before, "--", after, "--fail-on-regression", "x").assertRefused("--fail-on-regression");
        Cli.run("compare", before, "--", after, "--json", "--html", "a.html").assertRefused("mutually exclusive");
        Cli.run("compare", before, "--", after, "--json", "--markdown").assertRefused("mutually exclusive");
        Cli.run("compare", before, "--", after, "--jsn").assertRefused("Unknown option: '--jsn'");
    }

    @Spec("15.2")
    @Test
    void tellsThatNothingWasFound() throws IOException {
        Path one = folder.resolve("one.json");
        Path two = folder.resolve("two.json");
        for (Path file : List.of(one, two)) {
            Instant start = Instant.ofEpochSecond(file.equals(one) ? 1 : 2);
            JsonReport.write(ProfileSnapshot.builder(start, start, 0).build(), file);
        }
        Cli compare = Cli.run("compare", one, "--", two);
        assertThat(compare.exitCode()).isEqualTo(1);
        assertThat(compare.err()).isEqualTo("brick: no run holds a brick that was recorded\n");
    }

    @Spec("13.19")
    @Test
    void sharesOfRecordingsWithoutBricksHaveNoVerdict() throws IOException {
        Path before = Cli.TRACES.resolve("async-ctimer.jfr.gz");
        Path after = Cli.TRACES.resolve("async-both.jfr.gz");
        Path wall = Cli.TRACES.resolve("async-wall.jfr.gz");
        Path rules = Files.writeString(folder.resolve("rules.yaml"), """
                bricks:
                  - {in: SampledEngine.attend, brick: ATTENTION_SCORE}
                  - {in: SampledEngine.project, brick: UP_PROJECTION}
                """);

        Cli compared = Cli.run("compare", before, "--", after, "--agent-rules", rules);
        assertThat(compared.exitCode()).as(compared.err()).isZero();
        assertThat(compared.out())
                .startsWith("Shares of bricks in samples of processor time by async-profiler 4.5.\n")
                .containsPattern("before % +after % +change, points +95 % interval +brick\n")
                .containsPattern("\n +[0-9.]+ +[0-9.]+ +[+-][0-9.]+ +-[0-9.]+ to \\+[0-9.]+  AttentionScore\n")
                .contains("No verdict: recordings without bricks have no times")
                .doesNotContain("slower", "faster", " ms", "NaN");

        Cli gate = Cli.run("compare", before, "--", after, "--agent-rules", rules, "--fail-on-regression", "5");
        assertThat(gate.exitCode()).isEqualTo(4);
        assertThat(gate.err()).startsWith("brick: regressions are unknown: recordings without bricks have no times");
        Cli.run("compare", before, "--", before, "--agent-rules", rules).assertRefused("contains the same run as");
        Cli.run("compare", before, "--", wall, "--agent-rules", rules)
                .assertRefused("of wall-clock time by async-profiler 4.5: their shares cannot be compared");
        Cli.run("compare", before, "--", after, "--agent-rules", rules, "--json")
                .assertRefused("recordings without bricks do not have");

        Path both = folder.resolve("both.jfr.gz");
        Files.write(both, Files.readAllBytes(before));
        Files.write(both, Files.readAllBytes(after), StandardOpenOption.APPEND);
        Cli.run("report", both, "--agent-rules", rules).assertRefused("the recording holds 2 processes (process ");

        Path kept = folder.resolve("kept.json");
        assertThat(Cli.run("convert", before, kept, "--agent-rules", rules).exitCode())
                .isZero();
        assertThat(Cli.run("compare", kept, "--", after, "--agent-rules", rules).err())
                .contains("kept.json is a report; --rules, --agent-rules, ");
        Path other = folder.resolve("other.json");
        assertThat(Cli.run("convert", after, other, "--agent-rules", rules).exitCode())
                .isZero();
        assertThat(Cli.run("compare", kept, "--", other).out()).isEqualTo(compared.out());
        assertThat(Cli.run("report", kept).out()).contains("AttentionScore, 39 samples");
        Cli.run("report", kept, "--csv").assertRefused("a table has the times of bricks, which samples do not show");
        Cli.run("convert", before, folder.resolve("kept.csv"), "--agent-rules", rules)
                .assertRefused("a table has the times of bricks, which samples do not show");
        Cli.run("convert", before, folder.resolve("kept.pftrace"), "--agent-rules", rules)
                .assertRefused("are for profiles, and that is a timeline");
    }
}
