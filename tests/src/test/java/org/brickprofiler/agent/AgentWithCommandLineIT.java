package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickStats;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.RunningProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The command line with applications that the agent profiles. */
@Timeout(120)
class AgentWithCommandLineIT extends WovenApplication {

    /** {@code brick top} gets the process id; the agent registers its profiler some seconds after its start. */
    @Test
    void isWatchedByTop() throws Exception {
        ChildProcess agent = ChildProcess.java()
                .jvmOptions(List.of("-javaagent:" + JAR + "=rules=bricks.yaml,out=run.json"))
                .jvmOptions(List.of("-cp", classes.toString(), "app.Main"))
                .arguments(List.of("wait"))
                .in(folder);
        try (RunningProcess running = agent.start()) {
            await("ready");
            ProcessResult top = brick("top", Long.toString(running.pid()), "--count", "1");
            while (top.err().contains("has no profiler that can be read")) {
                top = brick("top", Long.toString(running.pid()), "--count", "1");
            }
            Files.writeString(folder.resolve("go"), "");
            Files.writeString(folder.resolve("end"), "");
            assertThat(top.assertSucceeded().out()).contains(", agent, ", "The last ");
            running.result().assertSucceeded();
        }
        assertThat(recorded("run.json")).contains("QkvProjection=");
    }

    @Test
    void suggestsRulesThatApply() throws Exception {
        ProcessResult result = brick("suggest", classes.toString()).assertSucceeded();
        assertThat(result.out()).isEqualTo("""
                # no method named like a forward pass calls two of these bricks: write the step
                bricks:
                  - in: app.Main.rmsNorm
                    brick: RMS_NORM
                """);
        Files.writeString(folder.resolve("bricks.yaml"), result.out());
        assertThat(application("rules=bricks.yaml,out=run.json").run().err()).contains("1 of 1 rules apply");
        assertThat(brick("suggest", folder.resolve("missing.jar").toString()).err())
                .contains("brick: there are no classes in ");
    }

    /** Three runs of 0.7 s. The last one has a rule for a method that is too short. */
    @Test
    void suggestsFromRuns() throws Exception {
        compile(folder, "app/Busy.java", """
                package app;

                public class Busy {
                    static double sum;

                    static void multiply(double[] matrix, double[] x) {
                        for (int i = 0; i < matrix.length; i++) {
                            sum += add(matrix[i], x[i % x.length]);
                        }
                    }

                    static double add(double a, double b) {
                        return a * b + Math.sqrt(a);
                    }

                    static void token(double[][] weights, double[] x, int position) {
                        multiply(weights[0], x);
                        multiply(weights[1], x);
                        multiply(weights[2], x);
                    }

                    public static void main(String[] args) {
                        double[][] weights = new double[3][1_000_000];
                        long endNs = System.nanoTime() + 700_000_000L;
                        for (int position = 0; System.nanoTime() < endNs; position++) {
                            token(weights, weights[1], position);
                        }
                        System.out.println(sum);
                    }
                }
                """);
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        ProcessResult result = brick(
                "suggest",
                "--run",
                "-o",
                "busy.yaml",
                "--agent",
                JAR.toString(),
                "--",
                java,
                "-cp",
                classes.toString(),
                "app.Busy");
        result.assertSucceeded();
        assertThat(Files.readString(folder.resolve("busy.yaml")))
                .contains("  - in: app.Busy.token\n    kv: arg2\n")
                .contains(
                        "    call: multiply 1\n    brick: Busy.token multiply 1\n",
                        "    call: multiply 2\n    brick: Busy.token multiply 2\n",
                        "    call: multiply 3\n    brick: Busy.token multiply 3\n")
                .doesNotContain("add");
        Files.writeString(folder.resolve("short.yaml"), """
                bricks:
                  - {in: app.Busy.add, brick: sum, category: OTHER}
                  - {in: app.Busy.multiply, brick: product, category: MATRIX_PRODUCT}
                """);
        ProcessResult dropping = ChildProcess.of(java)
                .jvmOptions(List.of("-javaagent:" + JAR + "=rules=short.yaml,out=short.json"))
                .jvmOptions(List.of("-Dbrick.profiler.shortest_ns=1000", "-cp", classes.toString(), "app.Busy"))
                .in(folder)
                .run()
                .assertSucceeded();
        assertThat(dropping.err())
                .contains("brick agent: bricks whose samples take less than 1000 ns on average are dropped: line 2\n");
        assertThat(JsonReport.read(folder.resolve("short.json")).bricks())
                .extracting(BrickStats::name)
                .containsExactly("product");
    }

    /** The JDK alone records the proposed methods, and {@code brick report} reads the recording. */
    @Test
    void suggestsSettingsThatTheFlightRecorderTakes() throws Exception {
        assumeTrue(Runtime.version().feature() >= 25, "the flight recorder times methods from JDK 25 on");
        Path settings = folder.resolve("engine.jfc");
        brick("suggest", "--jfc", classes.toString(), "-o", settings.toString()).assertSucceeded();
        for (String each : List.of("", ",jdk.MethodTiming#enabled=false,jdk.MethodTrace#enabled=true")) {
            ChildProcess.java()
                    .jvmOptions(List.of("-XX:StartFlightRecording:settings=" + settings + ",filename=run.jfr" + each))
                    .jvmOptions(List.of("-cp", classes.toString(), "app.Main"))
                    .in(folder)
                    .run()
                    .assertSucceeded();
            ProcessResult report = brick("report", folder.resolve("run.jfr").toString(), "--json")
                    .assertSucceeded();
            BrickStats norm = JsonReport.fromJson(report.out())
                    .brick(BrickId.RMS_NORM.displayName())
                    .orElseThrow();
            assertThat(norm.count()).isEqualTo(12);
        }
    }

    private ProcessResult brick(String... arguments) throws IOException {
        return ChildProcess.jar(Path.of(System.getProperty("cli.jar")).toAbsolutePath())
                .arguments(List.of(arguments))
                .in(folder)
                .run();
    }
}
