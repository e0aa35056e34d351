package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.RunningProcess;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.LineProfile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(
        value = {OS.LINUX, OS.MAC},
        disabledReason = "the commands are of a Unix shell")
class RunCommandTest {

    private static final int PREPARED = 40;
    private static final List<String> SIDES = List.of("before", "after");

    @TempDir
    static Path written;

    @TempDir
    Path folder;

    private Path out;
    private Path order;

    /** The profiles of both sides, written once for all tests. */
    @BeforeAll
    static void writeProfiles() throws IOException {
        for (String side : SIDES) {
            Path profiles = Files.createDirectories(written.resolve(side));
            for (int run = 0; run < PREPARED; run++) {
                JsonReport.write(
                        CompareCommandTest.snapshot(
                                2 * run + (side.equals("after") ? 1 : 0), side.equals("after") ? 1.06 : 1),
                        profiles.resolve(name(run)));
            }
        }
    }

    private static String name(int run) {
        return String.format("%03d.json", run);
    }

    /** Profiles that commands hand out one after the other; {@code brick run} may change them, so they are copies. */
    @BeforeEach
    void prepareProfiles() throws IOException {
        out = folder.resolve("runs");
        order = folder.resolve("order");
        for (String side : SIDES) {
            Path prepared = Files.createDirectories(folder.resolve(side));
            for (int run = 0; run < PREPARED; run++) {
                Files.copy(
                        written.resolve(side).resolve(name(run)),
                        prepared.resolve(name(run)),
                        StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    /** Returns a command that hands out the next profile and logs its side; with the profiler off it does nothing. */
    private String command(String side) {
        return "[ \"$BRICK_PROFILER\" = off ] && exit 0; " + profiled(side);
    }

    private String profiled(String side) {
        return "cd '" + folder + "/" + side + "' && f=$(ls | head -1) && mv $f \"$BRICK_PROFILER_OUT\" && echo " + side
                + " >> ../order && echo ran $f";
    }

    private Cli run(Object... more) {
        return Cli.run(Stream.concat(
                        Stream.of("run", "--out", out, "--before", command("before"), "--after", command("after")),
                        Stream.of(more))
                .toArray());
    }

    private static long profiles(Path side) throws IOException {
        try (Stream<Path> files = Files.list(side)) {
            return files.filter(file -> file.toString().endsWith(".json")).count();
        }
    }

    @Test
    void runsBothSidesInTurnsAndComparesThem() throws IOException {
        Cli run = run("-n", "8");

        assertThat(run.exitCode()).isZero();
        assertThat(run.out())
                .contains("\n8 runs before, 8 after: of the bricks 1 slower, 6 without a difference shown\n")
                .containsPattern("\nGateProjection .* slower\n");
        List<String> turns = Files.readAllLines(order);
        assertThat(turns).hasSize(18);
        for (int pair = 0; pair < turns.size(); pair += 2) {
            assertThat(turns.subList(pair, pair + 2)).containsExactlyInAnyOrder("before", "after");
        }
        assertThat(run.err())
                .contains("brick: before warm-up: ", "brick: after 8: ", " s left", ", the last\n")
                .containsOnlyOnce(
                        "brick: a run without the profiler wrote no tokens per second (setTokensPerSec), so there "
                                + "are no more such runs\n");
        assertThat(profiles(out.resolve("before"))).isEqualTo(8);
        assertThat(out.resolve("before").resolve("001.log")).hasContent("ran 001.json");
        assertThat(Cli.run("compare", out.resolve("before"), "--", out.resolve("after"))
                        .out())
                .contains("\n8 runs before, 8 after: of the bricks 1 slower");
    }

    @Test
    void leavesFailedRunsOutAndCountsThem() {
        String flaky =
                "case $BRICK_PROFILER$BRICK_PROFILER_OUT in off*) exit 0;; */.002.json) echo no memory; exit 7;; "
                        + "*/.003.json) exit 0;; */.004.json) echo {} > "
                        + "\"$BRICK_PROFILER_OUT\"; echo '{\"bricks\": 7}' > \"$BRICK_PROFILER_OUT\";; *) "
                        + command("after")
                        + ";; esac";
        Cli run = Cli.run(
                "run", "--warmup", "0", "-n", "7", "--out", out, "--before", command("before"), "--after", flaky);

        assertThat(run.exitCode()).isZero();
        assertThat(run.err())
                .contains("brick: after 2 failed with exit code 7; its output is in ")
                .contains("brick: after 3 wrote no profile to the file that BRICK_PROFILER_OUT names; ")
                .contains("brick: after 4 wrote no profile that can be read (")
                .containsPattern("brick: 3 of 1[56] runs failed and are left out\n$");
        assertThat(out.resolve("after").resolve("002.log")).hasContent("no memory");
        assertThat(run.out()).contains("\n7 runs before, 4 after: ");
    }

    @Test
    void saysThatASideHasNoRun() {
        Cli run = Cli.run(
                "run", "--warmup", "0", "-n", "2", "--out", out, "--before", "true", "--after", command("after"));

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err())
                .containsPattern(
                        "brick: 2 of [56] runs failed and are left out\nbrick: no run of before left a profile\n$");
    }

    @Test
    void goesOnUntilAChangeWouldHaveBeenFound() throws IOException {
        assertThat(run("--warmup", "0", "--until", "2.5", "--most", "20").exitCode())
                .isZero();
        long some = profiles(out.resolve("before"));
        assertThat(some).isBetween(4L, 19L);

        prepareProfiles();
        out = folder.resolve("more");
        Cli most = run("--warmup", "0", "--until", "0.01", "--floor", "0", "--most", "6");
        assertThat(most.out()).contains("\n6 runs before, 6 after: ");
        assertThat(most.err()).contains(", at most ");
    }

    @Test
    void failsOnARegression() {
        Cli run = run("--warmup", "0", "-n", "8", "--fail-on-regression", "4", "--markdown");
        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(run.out()).contains("\n8 runs before");
    }

    @Test
    void keepsItsRunsWhenItIsStopped() throws Exception {
        String slow = command("before") + "; sleep 0.2";
        String hangs = "case $BRICK_PROFILER$BRICK_PROFILER_OUT in off*) exit 0;; */.003.json) echo {} >"
                + " \"$BRICK_PROFILER_OUT\"; touch '"
                + folder + "/hangs'; sleep 60; true;; *) " + command("after") + ";; esac";
        Set<ProcessHandle> others = ProcessHandle.current().children().collect(Collectors.toSet());
        try (RunningProcess brick = ChildProcess.java(Brick.class)
                .arguments(List.of("run", "--warmup", "0", "--out", out.toString(), "--before", slow, "--after", hangs))
                .limit(Duration.ofSeconds(60))
                .start()) {
            while (!Files.exists(folder.resolve("hangs"))) {
                Thread.sleep(20);
            }
            // As Ctrl-C does, but to the virtual machine alone.
            ProcessHandle handle = ProcessHandle.current()
                    .children()
                    .filter(child -> !others.contains(child))
                    .findFirst()
                    .orElseThrow();
            assertThat(handle.destroy()).isTrue();
            ProcessResult result = brick.result();
            assertThat(result.err()).contains("brick: stopped; to compare the collected runs: brick compare ");
        }
        assertThat(profiles(out.resolve("after")))
                .as("with the unfinished one, which is hidden")
                .isEqualTo(3);
        Cli compare = Cli.run("compare", out.resolve("before"), "--", out.resolve("after"));
        assertThat(compare.out()).containsPattern("\n[23] runs before, 2 after: ");
    }

    @Test
    void namesTheFaultInOneLine() throws IOException {
        Files.createDirectories(out.resolve("before"));
        run().assertRefused("cannot write to " + out + ": it is not empty");
        out = folder.resolve("new");
        run("-n", "0").assertRefused("-n 0 is less than 1");
        run("--warmup", "-1").assertRefused("--warmup -1 is less than 0");
        run("--until", "-3").assertRefused("--until -3.0 is not within 0 to 100");
        Cli.run("run", "--before", "true").assertRefused("Missing required", "--after=CMD");
        Cli.run("run").assertRefused("Missing required", "--overhead=CMD");
        Cli.run("run", "--overhead", "true", "--floor", "3")
                .assertRefused("--overhead runs one command: it can be combined only with -n");
        assertThat(out).doesNotExist();
    }

    /** An engine that knows nothing of {@code brick run}. */
    static final class Engine {
        private Engine() {}

        public static void main(String[] arguments) {
            BrickProfiler profiler = BrickProfiler.enabled();
            for (int i = 0; i < 20; i++) {
                profiler.record(BrickId.RMS_NORM, 1_000_000 + i, 1);
            }
            profiler.setTokensPerSec(20);
        }
    }

    private static String engine() {
        return "'" + ChildProcess.javaProgram() + "' " + ChildProcess.ONE_COMPILER + " -cp '"
                + System.getProperty("java.class.path") + "' '" + Engine.class.getName() + "'";
    }

    @Spec("23.13")
    @Test
    void anInstrumentedEngineNeedsNoCode() throws IOException {
        Cli run = Cli.run("run", "-n", "1", "--warmup", "1", "--out", out, "--before", engine(), "--after", engine());

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.err()).doesNotContain("failed", "no more such runs");
        ProfileSnapshot before = JsonReport.read(out.resolve("before").resolve("001.json"));
        assertThat(before.bricks()).singleElement().satisfies(brick -> assertThat(brick.count())
                .isEqualTo(20));
        assertThat(before.facts().unprofiledTokensPerSec()).hasValue(20);
    }

    @Test
    void aRunOfSeveralProcessesIsRefused() {
        String two = "[ \"$BRICK_PROFILER\" = off ] && exit 0; o=${BRICK_PROFILER_OUT%.json}; cp '" + folder
                + "/before/001.json' $o-17.json; " + profiled("before");
        Cli run =
                Cli.run("run", "-n", "1", "--warmup", "0", "--out", out, "--before", two, "--after", command("after"));

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err())
                .contains("before 1 has profiles of 2 processes, which inherited BRICK_PROFILER_OUT: a run is one"
                        + " process");
    }

    @Test
    void aCommandThatCannotCountEndsAtTheWarmUp() throws IOException {
        Cli none = Cli.run(
                "run", "-n", "50", "--warmup", "3", "--out", out, "--before", command("before"), "--after", "true");
        assertRefusedAtTheWarmUp(
                none, "the command of after wrote no profile to the file that BRICK_PROFILER_OUT names in its warm-up");
        assertThat(profiles(out.resolve("before"))).isZero();
        assertThat(Files.readAllLines(order)).as("one warm-up of three").hasSize(1);

        assertRefusedAtTheWarmUp(
                Cli.run(
                        "run",
                        "-n",
                        "50",
                        "--out",
                        folder.resolve("other"),
                        "--before",
                        "no_such_program",
                        "--after",
                        command("after")),
                "the command of before failed with exit code 127 in its warm-up");
        assertRefusedAtTheWarmUp(
                Cli.run("run", "-n", "50", "--out", folder.resolve("third"), "--overhead", "exit 4"),
                " failed with exit code 4 in its warm-up");
    }

    private static void assertRefusedAtTheWarmUp(Cli run, String reason) {
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines().reduce((first, last) -> last))
                .get()
                .asString()
                .contains(reason);
    }

    @Test
    void aRunThatTakesTooLongIsEndedAndFails() {
        String slow = "case $BRICK_PROFILER$BRICK_PROFILER_OUT in off*) exit 0;; */.002.json) sleep 50;; *) "
                + command("after") + ";; esac";
        long startNs = System.nanoTime();
        Cli run = Cli.run(
                "run",
                "--warmup",
                "0",
                "-n",
                "3",
                "--limit",
                "2",
                "--out",
                out,
                "--before",
                command("before"),
                "--after",
                slow);

        assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(Duration.ofSeconds(45));
        assertThat(run.err())
                .contains("brick: after 2 took longer than the limit of 2.00000 s and was ended; its output is in ");
        assertThat(run.out()).contains("\n3 runs before, 2 after: ");
        run("--limit", "0").assertRefused("--limit 0.0 is not above 0");
    }

    @Test
    void secretsAreNotStoredAndOthersCannotEnterTheFolders() throws IOException {
        String before = "HF_TOKEN=hunter2 " + command("before");
        String after = command("after") + " --password=hunter3";
        Cli.run("run", "-n", "1", "--warmup", "0", "--out", out, "--before", before, "--after", after);

        assertThat(out.resolve("commands.properties"))
                .content()
                .contains("HF_TOKEN\\=***", "--password\\=***")
                .doesNotContain("hunter");
        for (Path each : List.of(out, out.resolve("before"), out.resolve("after"))) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(each)))
                    .isEqualTo("rwx------");
        }
        Cli.run("run", "--add", "-n", "1", "--warmup", "0", "--out", out, "--before", "other", "--after", after)
                .assertRefused("are of the command 'HF_TOKEN=*** ");
        Cli more =
                Cli.run("run", "--add", "-n", "1", "--warmup", "0", "--out", out, "--before", before, "--after", after);
        assertThat(more.out()).contains("\n2 runs before, 2 after: ");
    }

    @Test
    void roundsAreAddedToThoseThatAreThere() throws IOException {
        run("-n", "2", "--warmup", "0");
        Cli more = run("-n", "3", "--add");

        assertThat(more.out()).contains("\n5 runs before, 5 after: ");
        assertThat(more.err()).contains("brick: before 3: ", "brick: after 5: ").doesNotContain(" 1: ");
        assertThat(profiles(out.resolve("after"))).isEqualTo(5);
        assertThat(run("--add", "--warmup", "0", "--until", "0.01", "--floor", "0", "--most", "6")
                        .out())
                .contains("\n6 runs before, 6 after: ");
        Cli.run("run", "--add", "--out", out, "--before", "other", "--after", command("after"))
                .assertRefused("--add: the runs of before in " + out + " are of the command '", "', not of 'other'");
        Cli.run("run", "--add", "--out", folder.resolve("before"), "--before", "a", "--after", "b")
                .assertRefused("nothing in " + folder.resolve("before") + " says by which commands its runs were made");
        Cli.run("run", "--add", "--out", folder.resolve("none"), "--before", "a", "--after", "b")
                .assertRefused("--add: there is no folder " + folder.resolve("none"));
    }

    @Test
    void theSynopsisNamesEveryOptionAndSeparatesExclusiveOnes() {
        String help = Cli.run("run", "--help").out();
        String synopsis = help.substring(0, help.indexOf("Runs two commands"));
        List<String> options = Pattern.compile("(?m)^ +(?:-\\w, )?(--[a-z-]+)")
                .matcher(help.substring(synopsis.length()))
                .results()
                .map(option -> option.group(1))
                .toList();
        assertThat(options).hasSizeGreaterThan(15);
        options.stream().filter(option -> !option.equals("--help")).forEach(option -> assertThat(synopsis)
                .contains(option));
        assertThat(synopsis).contains("(--overhead=CMD | --before=CMD --after=CMD)");
    }

    private static String writesRate(String rate) {
        return "echo '{\"bricks\": [], \"run\": {\"tokens_per_sec\": " + rate + "}}' > \"$BRICK_PROFILER_OUT\"";
    }

    @Test
    void runsEachSideWithoutTheProfilerToo() throws IOException {
        Cli run = Cli.run(
                "run",
                "-n",
                "8",
                "--out",
                out,
                "--before",
                "[ \"$BRICK_PROFILER\" = off ] && { " + writesRate("50") + "; exit 0; }; " + profiled("before"),
                "--after",
                "[ \"$BRICK_PROFILER\" = off ] && { " + writesRate("60") + "; exit 0; }; " + profiled("after"));

        assertThat(run.exitCode()).isZero();
        assertThat(run.err()).contains("brick: after-off 8: ").doesNotContain("no more such runs");
        String rate = "\ntokens/s, unprofiled +rate +50(\\.0*)? +60(\\.0*)? .* faster";
        assertThat(run.out()).contains("\n8 runs before, 8 after: ").containsPattern(rate);
        assertThat(Files.readAllLines(order))
                .as("without the profiler none was handed out")
                .hasSize(18);
        assertThat(Cli.run("compare", out.resolve("before"), "--", out.resolve("after"))
                        .out())
                .containsPattern(rate);
        assertThat(JsonReport.read(out.resolve("after").resolve("003.json"))
                        .facts()
                        .unprofiledTokensPerSec())
                .hasValue(60);
    }

    @EnabledOnOs(value = OS.LINUX, disabledReason = "/proc is Linux's")
    @Test
    void keepsTheActivityOfTheMachineInTheFileOfTheRun() throws IOException {
        run("-n", "1", "--warmup", "0");
        assertThat(JsonReport.read(out.resolve("before").resolve("001.json"))
                        .facts()
                        .machine())
                .containsKey("load_1min");
    }

    @Spec("18.6")
    @Test
    void measuresTheMachineBesideEachRunIfItsRoofIsStored() throws IOException {
        Path roof = Files.writeString(folder.resolve("roof.json"), "{}");
        run("-n", "1", "--warmup", "0", "--roofline", roof.toString());
        assertThat(JsonReport.read(out.resolve("after").resolve("001.json"))
                        .facts()
                        .machine())
                .containsKeys("roof_gflops", "roof_read_gbps");
    }

    @Test
    void asksForLinesAndKeepsThem() throws IOException {
        LineProfile lines = new LineProfile(
                new LineProfile.Samples(0, 0, 7, 0, 0, 0, 0, 0), 20_000_000, 0, Optional.empty(), List.of());
        ProfileSnapshot profile = CompareCommandTest.snapshot(0, 1);
        JsonReport.write(profile, lines.reportEntries(profile), folder.resolve("lines.json"));
        String command = "echo on=$BRICK_PROFILER_LINES,$BRICK_PROFILER >> '" + folder + "/asked'; cp '" + folder
                + "/lines.json' \"$BRICK_PROFILER_OUT\"";
        Cli.run("run", "-n", "1", "--warmup", "0", "--lines", "--out", out, "--before", command, "--after", command);
        assertThat(Files.readAllLines(folder.resolve("asked"))).contains("on=on,", "on=,off");
        Path kept = out.resolve("before").resolve("001.json");
        assertThat(LineProfile.ofReport(Files.newInputStream(kept))).contains(lines);
    }

    @Test
    void asksProgramsThatAreComparedForPercentiles() throws IOException {
        String asked = "echo $BRICK_PROFILER_PERCENTILES >> '" + folder + "/asked'; ";
        Cli.run(
                "run",
                "-n",
                "1",
                "--warmup",
                "0",
                "--out",
                out,
                "--before",
                asked + command("before"),
                "--after",
                "BRICK_PROFILER_PERCENTILES=off; " + asked + command("after"));
        assertThat(Files.readAllLines(folder.resolve("asked"))).contains("on", "off");
        Files.delete(folder.resolve("asked"));
        Cli.run("run", "-n", "1", "--warmup", "0", "--out", folder.resolve("other"), "--overhead", asked + "true");
        assertThat(Files.readAllLines(folder.resolve("asked")))
                .as("--overhead leaves percentiles as they are")
                .containsOnly("");
    }

    @Test
    void measuresTheCostOfProfiling() {
        Cli run = Cli.run(
                "run",
                "-n",
                "3",
                "--warmup",
                "0",
                "--out",
                out,
                "--overhead",
                "if [ \"$BRICK_PROFILER\" = off ]; then " + writesRate("100") + "; else " + writesRate("80") + "; fi");

        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).startsWith("""
            With the profiler on, a token takes +25.00 % (95 % interval +25.00 to +25.00), by 3 runs with it and 3 without.
              without  100.00 tokens/s
              with it  80.00 tokens/s
            """);
        assertThat(run.out()).doesNotContain("Compilers");
        assertThat(run.err()).contains("brick: off 3: ", "brick: on 3: ");
    }

    @Test
    void namesCompilationIfItTookMuchOfTheTime() {
        String machine = "80, \"virtual_machines\": [{\"pid\": 1, \"started_at\": \"2026-01-01T00:00:00Z\", "
                + "\"up_ns\": 2000000000, \"gc_ns\": 0, \"jit_ns\": 800000000}]";
        Cli run = Cli.run("run", "-n", "2", "--warmup", "0", "--out", out, "--overhead", writesRate(machine));

        assertThat(run.out()).contains("! Compilers worked for 40 % of the time of the runs with it");
    }

    @Test
    void measuresTheProcessIfItDoesNotReportItsSpeed() {
        Cli run = Cli.run(
                "run",
                "-n",
                "1",
                "--warmup",
                "0",
                "--out",
                out,
                "--overhead",
                "[ \"$BRICK_PROFILER\" = off ] || sleep 0.3");

        assertThat(run.out())
                .containsPattern(
                        "^With the profiler on, the process takes \\+[1-9][0-9.]+ % \\(fewer than 3 runs a side have"
                                + " no interval\\)")
                .contains(" s, start and end of the process included\n");
        Cli old = Cli.run("run", "--out", folder.resolve("other"), "--overhead", profiled("before"));
        assertThat(old.exitCode()).isEqualTo(2);
        assertThat(old.err()).contains("brick: the command records bricks although BRICK_PROFILER=off: ");
    }

    /** The effect of the variable on the demonstration. */
    @Test
    void theDemonstrationWritesToTheGivenFile() throws Exception {
        Path file = folder.resolve("demo.json");
        List<String> tiny = List.of(
                "demo",
                "--layers",
                "1",
                "--dim",
                "16",
                "--heads",
                "2",
                "--kv-heads",
                "1",
                "--ffn",
                "32",
                "--vocab",
                "50",
                "--tokens",
                "3",
                "--threads",
                "1");
        ProcessResult demo = ChildProcess.java(Brick.class)
                .arguments(tiny)
                .environment(Map.of(ProgramRunner.VARIABLE, file.toString()))
                .run();
        assertThat(demo.exitCode()).isZero();
        assertThat(JsonReport.read(file).bricks()).isNotEmpty();
        assertThat(JsonReport.read(file).facts().tokensPerSec()).isPresent();
        assertThat(JsonReport.read(file).facts().virtualMachines())
                .singleElement()
                .satisfies(machine -> assertThat(machine.jitNs()).isPositive());
        ProcessResult off = ChildProcess.java(Brick.class)
                .arguments(tiny)
                .environment(Map.of(ProgramRunner.VARIABLE, file.toString(), "BRICK_PROFILER", "off"))
                .run();
        assertThat(off.exitCode()).isZero();
        assertThat(JsonReport.read(file).bricks()).isEmpty();
        assertThat(JsonReport.read(file).tiles()).allMatch(tile -> tile.count() == 0);
        assertThat(JsonReport.read(file).facts().tokensPerSec()).isPresent();
        ProcessResult without = ChildProcess.java(Brick.class)
                .arguments(tiny)
                .without(ProgramRunner.VARIABLE)
                .run();
        assertThat(without.exitCode()).isZero();
        assertThat(without.out()).doesNotContain("JSON:");
    }
}
