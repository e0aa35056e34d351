package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.tools.ToolProvider;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.RunningProcess;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The reports of a run under the agent's jar, for every end of the run and every combination of options. */
@Timeout(120)
final class AgentEndIT {

    private static final Path JAR = Path.of(System.getProperty("agent.jar")).toAbsolutePath();

    private static final String ENGINE = """
            package app;

            public final class Engine {
                static final java.util.List<byte[]> HELD = new java.util.ArrayList<>();

                static void product() {}

                static void softmax() {}

                static void step() {
                    product();
                    product();
                    softmax();
                }

                public static void main(String[] args) throws InterruptedException {
                    for (int i = 0; i < 3; i++) {
                        step();
                    }
                    if (args.length > 0 && args[0].equals("go on")) {
                        while (!new java.io.File("halt").exists()) {
                            Thread.sleep(1);
                            step();
                        }
                        Runtime.getRuntime().halt(9);
                    }
                    if (args.length > 0) {
                        // The agent has half a second to load what it needs in a full heap.
                        while (Thread.getAllStackTraces().keySet().stream()
                                .anyMatch(each -> each.getName().equals("brick-agent-classes"))) {
                            Thread.sleep(10);
                        }
                        for (int size = 1 << 20; size >= Integer.parseInt(args[0]); ) {
                            try {
                                HELD.add(new byte[size]);
                            } catch (OutOfMemoryError full) {
                                size /= 2;
                            }
                        }
                        // It handles the error for a moment before it ends.
                        Thread.sleep(300);
                    }
                }
            }
            """;

    /** Like the launcher of a jar with nested jars, it loads the engine from a place outside of the class path. */
    private static final String LAUNCHER = """
            package launch;

            public final class Launcher {
                public static void main(String[] args) throws Exception {
                    java.net.URL[] inside = {java.nio.file.Path.of(args[0]).toUri().toURL()};
                    new java.net.URLClassLoader(inside).loadClass("app.Engine")
                            .getMethod("main", String[].class).invoke(null, (Object) new String[0]);
                }
            }
            """;

    @TempDir
    private Path folder;

    @BeforeEach
    void compile() throws IOException {
        compile("app/Engine.java", ENGINE, "engine");
        compile("launch/Launcher.java", LAUNCHER, "launcher");
        rules(0);
    }

    private void compile(String name, String source, String to) throws IOException {
        Path file = folder.resolve("src").resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, source);
        int exit = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "--release",
                        "17",
                        "-d",
                        folder.resolve(to).toString(),
                        file.toString());
        assertThat(exit).as("compiling " + name).isZero();
    }

    private void rules(int warmup) throws IOException {
        Files.writeString(folder.resolve("bricks.yaml"), """
                step: {in: app.Engine.step, warmup: %d}
                bricks:
                  - {in: app.Engine.product, brick: QKV_PROJECTION}
                  - {in: app.Engine.softmax, brick: ATTENTION_SOFTMAX}
                """.formatted(warmup));
    }

    private ChildProcess java(String agentOptions, List<String> jvmOptions, List<String> program) {
        List<String> all = new ArrayList<>(List.of("-javaagent:" + JAR + "=rules=bricks.yaml" + agentOptions));
        all.addAll(jvmOptions);
        all.addAll(program);
        return ChildProcess.java()
                .jvmOptions(all)
                .without(AgentOptions.OUT_VARIABLE)
                .in(folder);
    }

    private ProcessResult engine(String agentOptions, String... jvmOptions) throws IOException {
        return java(agentOptions, List.of(jvmOptions), List.of("-cp", "engine", "app.Engine"))
                .run()
                .assertSucceeded();
    }

    private long samples(String file) throws IOException {
        return JsonReport.read(folder.resolve(file)).bricks().stream()
                .mapToLong(BrickStats::count)
                .sum();
    }

    @Test
    void aWarmUpThatNeverEndedIsNotTheProfile() throws Exception {
        rules(5);
        ProcessResult result = engine(",out=run.json");
        assertThat(result.err())
                .contains("the run ended after 3 of the 5 steps of its warm-up, so the profile is empty");
        ProfileSnapshot profile = JsonReport.read(folder.resolve("run.json"));
        assertThat(profile.bricks()).isEmpty();
        assertThat(profile.steps().count()).isZero();
        assertThat(profile.facts().disturbances()).containsExactly("only 3 of the 5 steps of its warm-up had ended");

        rules(2);
        assertThat(engine(",out=run.json").err()).doesNotContain("warm-up");
        assertThat(samples("run.json")).isEqualTo(3);
    }

    /** What the start does not load costs no time before {@code main}. */
    @Test
    void theStartLoadsNoReportAndNothingThatTheBuildHasReplaced() throws Exception {
        ProcessResult result = ChildProcess.java()
                .jvmOptions(List.of("-javaagent:" + JAR + "=rules=llama3", "-Xlog:class+load"))
                .arguments(List.of("-cp", "engine", "app.Engine"))
                .in(folder)
                .run()
                .assertSucceeded();
        String start = result.out().substring(0, result.out().indexOf(" app.Engine "));
        assertThat(start)
                .contains("org.brickprofiler.agent.ShippedRules", "org.brickprofiler.agent.bridge.Bridge")
                .doesNotContain("org.snakeyaml", "org.brickprofiler.report.", "com.fasterxml", "ProfileSnapshot")
                .doesNotContainPattern("org\\.brickprofiler\\.\\S+\\$\\$Lambda");
        assertThat(result.out()).contains("org.brickprofiler.report.TextReport");
    }

    @Test
    void twoReportsInOneFileAreRefused() throws Exception {
        ProcessResult result = engine(",out=same,html=same");
        assertThat(result.err()).contains("not started: ", "out=same and html=same are one file");
        assertThat(folder.resolve("same")).doesNotExist();
    }

    @Test
    void aMissingFolderIsNamedAtTheStart() throws Exception {
        String err = engine(",html=none/run.html").err();
        assertThat(err)
                .contains(
                        "the page cannot be written to none/run.html unless that changes before the end: the folder ");
        assertThat(err.indexOf("the page cannot be written")).isLessThan(err.indexOf(" rules apply"));
    }

    /**
     * With 65,536 bytes, the application also fills the memory that the agent frees while the application runs. On Java
     * 17, G1 may then leave the virtual machine too little memory to start its shutdown hooks; the profile is lost, but
     * not without a warning. If the thread that watches the heap gets a processor only when the heap is no longer full,
     * there is nothing to warn of.
     */
    @ParameterizedTest
    @CsvSource({
        "SerialGC, 256, 65536",
        "ParallelGC, 256, 65536",
        "G1GC, 64, 65536",
        "G1GC, 128, 65536",
        "G1GC, 256, 65536",
        "G1GC, 256, 1048576"
    })
    void theProfileOfAFullHeapIsWrittenOrTheLossIsAnnounced(String collector, int heapMb, int smallestBytes)
            throws Exception {
        List<String> program = List.of("-cp", "engine", "app.Engine", Integer.toString(smallestBytes));
        ProcessResult result = java(",out=run.json", List.of("-Xmx" + heapMb + "m", "-XX:+Use" + collector), program)
                .run();

        if (Files.exists(folder.resolve("run.json"))) {
            assertThat(samples("run.json")).isEqualTo(9);
        } else {
            assertThat(collector).as(result.err()).isEqualTo("G1GC");
            assertThat(result.err()).contains("brick agent: the heap is full");
        }
    }

    /** By SIGKILL, or by a call that runs no shutdown hooks. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aProcessThatIsKilledLeavesItsLastWindow(boolean halts) throws Exception {
        Path file = folder.resolve("run.json");
        List<String> windows = List.of("-Dbrick.profiler.export_every=100ms");
        try (RunningProcess engine = java(",out=run.json", windows, List.of("-cp", "engine", "app.Engine", "go on"))
                .start()) {
            for (int i = 0; i < 3; i++) {
                FileTime written = Files.exists(file) ? Files.getLastModifiedTime(file) : FileTime.fromMillis(0);
                while (!Files.exists(file) || Files.getLastModifiedTime(file).equals(written)) {
                    Thread.sleep(10);
                }
            }
            if (halts) {
                Files.createFile(folder.resolve("halt"));
                engine.result();
            }
        }
        ProfileSnapshot profile = JsonReport.read(file);
        assertThat(profile.steps().count()).isGreaterThan(3);
        assertThat(profile.facts().disturbances())
                .singleElement()
                .asString()
                .startsWith("the process had not ended: this is its profile up to ");
    }

    /** The end of a process that is not killed replaces the window. */
    @Test
    void theReportAtTheEndIsWhole() throws Exception {
        engine(",out=run.json", "-Dbrick.profiler.export_every=100ms");
        assertThat(samples("run.json")).isEqualTo(9);
        assertThat(JsonReport.read(folder.resolve("run.json")).facts().disturbances())
                .isEmpty();
    }

    @Test
    void stepsAreEventsOfTheFlightRecorder() throws Exception {
        engine(",out=run.json", "-XX:StartFlightRecording:filename=" + folder.resolve("run.jfr"));
        List<RecordedEvent> steps = RecordingFile.readAllEvents(folder.resolve("run.jfr")).stream()
                .filter(each -> each.getEventType().getName().equals("brick.Step"))
                .toList();
        assertThat(steps).hasSize(3);
        assertThat(steps.get(0).getString("phase")).isEqualTo("decode");
    }

    /** {@code --limit-modules} stands for an image that jlink made without java.management. */
    @Test
    void anImageWithoutManagementHasAProfile() throws Exception {
        ProcessResult result =
                engine(",out=run.json,html=run.html", "--limit-modules", "java.base,java.instrument,java.logging");
        assertThat(result.err())
                .contains("the profile is in ", "the page is in ")
                .doesNotContain("Exception", "Error");
        assertThat(samples("run.json")).isEqualTo(9);
    }

    @Test
    void rulesThatApplyLaterAreCountedAgain() throws Exception {
        ProcessResult result = java(
                        ",out=run.json",
                        List.of(),
                        List.of("-cp", "launcher", "launch.Launcher", folder.resolve("engine") + "/"))
                .run()
                .assertSucceeded();
        assertThat(result.err()
                        .lines()
                        .filter(line -> line.endsWith("rules apply") || line.endsWith("so far"))
                        .map(line -> line.substring(line.indexOf("brick agent: "))))
                .containsExactly("brick agent: 0 of 3 rules apply so far", "brick agent: 3 of 3 rules apply");
        assertThat(samples("run.json")).isEqualTo(9);
    }

    @Test
    void theFileOfBrickRunIsWrittenOnceBesideThatOfTheOption() throws Exception {
        for (String option : List.of("", ",out=other.json")) {
            ProcessResult result = java(option, List.of(), List.of("-cp", "engine", "app.Engine"))
                    .environment(Map.of(
                            AgentOptions.OUT_VARIABLE,
                            folder.resolve("run.json").toString()))
                    .run()
                    .assertSucceeded();
            assertThat(result.err()).contains("the profile is in " + folder.resolve("run.json"));
            assertThat(samples("run.json")).isEqualTo(9);
        }
        assertThat(samples("other.json")).isEqualTo(9);
    }
}
