package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.RunningProcess;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code brick attach} with engines that run. */
@Timeout(120)
class AttachIT extends WovenApplication {

    /** Steps until a file ends it. */
    private static final String ENGINE = """
            package app;

            import java.nio.file.Files;
            import java.nio.file.Path;

            public final class Steps {
                static void step() throws Exception {
                    product();
                    norm();
                }

                static void product() throws Exception {
                    Thread.sleep(1);
                }

                static void norm() {}

                public static void main(String[] args) throws Exception {
                    while (!Files.exists(Path.of("end"))) {
                        step();
                        if (!Files.exists(Path.of("ready"))) {
                            Files.createFile(Path.of("ready"));
                        }
                    }
                }
            }
            """;

    @BeforeEach
    void compileEngine() throws IOException {
        compile(folder, "app/Steps.java", ENGINE);
        Files.writeString(folder.resolve("product.yaml"), """
                step: {in: app.Steps.step}
                bricks:
                  - {in: app.Steps.product, brick: QKV_PROJECTION}
                """);
        Files.writeString(folder.resolve("norm.yaml"), """
                step: {in: app.Steps.step}
                bricks:
                  - {in: app.Steps.norm, brick: RMS_NORM}
                  - {in: app.Steps.nrom, brick: RESIDUAL_ADD}
                """);
    }

    private RunningProcess engine(String... jvmOptions) throws Exception {
        RunningProcess engine = ChildProcess.java()
                .jvmOptions(List.of("-XX:+EnableDynamicAgentLoading"))
                .jvmOptions(List.of(jvmOptions))
                .jvmOptions(List.of("-cp", classes.toString(), "app.Steps"))
                .without(AgentOptions.OUT_VARIABLE)
                .in(folder)
                .start();
        await("ready");
        return engine;
    }

    private ProcessResult attach(String pid, String... options) throws IOException {
        return brick(List.of("attach", pid, "--agent", JAR.toString()), options);
    }

    private ProcessResult attach(RunningProcess engine, String... options) throws IOException {
        return attach(Long.toString(engine.pid()), options);
    }

    private ProcessResult brick(List<String> words, String... more) throws IOException {
        List<String> arguments = new ArrayList<>(words);
        arguments.addAll(List.of(more));
        return ChildProcess.jar(Path.of(System.getProperty("cli.jar")).toAbsolutePath())
                .arguments(arguments)
                .in(folder)
                .run();
    }

    private static void assertRefused(ProcessResult result, String reason) {
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).startsWith("brick: ").hasLineCount(1).contains(reason);
    }

    private ProfileSnapshot snapshot(RunningProcess engine, String file) throws IOException {
        assertThat(attach(engine, "--snapshot", file).assertSucceeded().out())
                .contains("the profile up to now is in " + folder.resolve(file).toRealPath());
        return JsonReport.read(folder.resolve(file));
    }

    private static List<String> names(ProfileSnapshot snapshot) {
        return snapshot.bricks().stream().map(BrickStats::name).toList();
    }

    @Test
    void startsTheAgentChangesItsRulesAndSwitchesRecording() throws Exception {
        try (RunningProcess engine = engine()) {
            assertRefused(attach(engine, "--off"), "no agent is running in this JVM whose recording could be switched");
            assertRefused(
                    attach(engine, "--rules", "none.yaml"),
                    "cannot read " + folder.toRealPath().resolve("none.yaml"));

            ProcessResult started =
                    attach(engine, "--rules", "product.yaml", "--port").assertSucceeded();
            assertThat(started.out()).contains("2 of 2 rules apply\n", "the live report is at http://localhost:");
            ProfileSnapshot first = snapshot(engine, "first.json");
            assertThat(names(first)).containsExactly("QkvProjection");
            assertThat(first.steps().count()).isPositive();

            ProcessResult changed = attach(engine, "--rules", "norm.yaml").assertSucceeded();
            assertThat(changed.out())
                    .contains(
                            "the rules were changed to those of ",
                            "app.Steps has no method 'nrom'",
                            "2 of 3 rules apply so far\n");
            Thread.sleep(100);
            ProfileSnapshot second = snapshot(engine, "second.json");
            assertThat(names(second)).containsExactly("RmsNorm");
            assertThat(second.steps().count()).isPositive();
            assertThat(second.brick("RmsNorm").orElseThrow().count())
                    .isBetween(second.steps().count() - 1, second.steps().count() + 5);
            assertThat(second.facts().disturbances())
                    .anyMatch(remark -> remark.startsWith("the rules were changed to those of "));

            assertThat(attach(engine, "--off").assertSucceeded().out()).isEqualTo("recording is off\n");
            long steps = snapshot(engine, "off.json").steps().count();
            Thread.sleep(100);
            assertThat(snapshot(engine, "still.json").steps().count()).isEqualTo(steps);
            assertThat(attach(engine, "--on").assertSucceeded().out()).isEqualTo("recording is on\n");
            Thread.sleep(100);
            assertThat(snapshot(engine, "on.json").steps().count()).isGreaterThan(steps);

            Files.createFile(folder.resolve("end"));
            engine.result().assertSucceeded();
        }
    }

    @Test
    void anAgentRefusesWithItsReason() throws Exception {
        Files.writeString(folder.resolve("bad.yaml"), "bricks:\n  - in: app.Steps.norm\n    brick: RMSNORMM\n");
        try (RunningProcess engine = engine("-javaagent:" + JAR + "=rules=product.yaml");
                ServerSocket taken = new ServerSocket(0)) {
            String port = Integer.toString(taken.getLocalPort());
            assertRefused(attach(engine, "--port", port), "refuses: port " + port + " is not opened: ");
            assertRefused(attach(engine, "--rules", "bad.yaml"), "bad.yaml:3: there is no brick 'RMSNORMM'");
            assertRefused(
                    attach(engine, "--rules", "product.yaml", "--options", "out=x.json"),
                    "an agent is already running");
            assertRefused(attach(engine, "--snapshot", "now.csv"), "ends in none of .json");
            assertRefused(attach(engine, "--snapshot", "now.pftrace"), "the running agent records none");
            assertRefused(attach(engine, "--snapshot", "a,b.json"), "has a comma");
            ProcessResult tooLong = attach(engine, "--snapshot", "long".repeat(300) + ".json");
            assertThat(tooLong.exitCode()).isEqualTo(2);
            assertThat(tooLong.err()).containsAnyOf("1024: give shorter paths", "too long");
            assertRefused(attach(engine), "nothing to do: give --rules");
            assertThat(names(snapshot(engine, "now.json"))).containsExactly("QkvProjection");
            Files.createFile(folder.resolve("end"));
            engine.result().assertSucceeded();
        }
    }

    @Test
    void saysWhichProcessesCannotBeReached() throws Exception {
        assertRefused(attach("4194304999", "--off"), "there is no process 4194304999");
        assertRefused(attach("x", "--off"), "'x' is no id of a process");
        try (RunningProcess other =
                ChildProcess.of("sleep").arguments(List.of("60")).start()) {
            assertRefused(attach(other, "--off"), "is no Java process of this user");
            assertThat(ProcessHandle.of(other.pid())).get().matches(ProcessHandle::isAlive);
            other.terminate();
        }
        try (RunningProcess engine = engine("-XX:+DisableAttachMechanism")) {
            assertRefused(attach(engine, "--off"), "cannot be reached: ");
            assertRefused(
                    brick(List.of("attach", Long.toString(engine.pid()), "--agent", "none.jar", "--off")),
                    "there is no jar of the agent at ");
            Files.createFile(folder.resolve("end"));
            engine.result().assertSucceeded();
        }
    }

    /** An agent that knows neither answers nor switches, as the first one did. */
    private static final String OLD_AGENT = """
            package old;

            public final class Agent {
                public static void agentmain(String options) {
                    if (!options.equals("snapshot=" + System.getProperty("known"))) {
                        throw new IllegalArgumentException("there is no option in " + options);
                    }
                }
            }
            """;

    @Test
    void saysSoIfTheAgentIsOfAnEarlierVersion() throws Exception {
        Path old = folder.resolve("old.jar");
        Path code = compile(folder, "old/Agent.java", OLD_AGENT).resolve("old/Agent.class");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Agent-Class", "old.Agent");
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(old), manifest)) {
            jar.putNextEntry(new JarEntry("old/Agent.class"));
            jar.write(Files.readAllBytes(code));
        }
        Path known = folder.toRealPath().resolve("now.json");
        try (RunningProcess engine = engine("-Dknown=" + known)) {
            List<String> words = List.of("attach", Long.toString(engine.pid()), "--agent", old.toString());
            assertThat(brick(words, "--snapshot", known.toString())
                            .assertSucceeded()
                            .out())
                    .isEqualTo("done by an agent of an earlier version, which states no more\n");
            assertRefused(
                    brick(words, "--snapshot", "other.json"),
                    "is of an earlier version, and refuses snapshot=" + known.resolveSibling("other.json"));
            assertRefused(brick(words, "--off"), "is of an earlier version, which does not know recording=off");
            assertRefused(
                    brick(List.of(
                            "attach", Long.toString(engine.pid()), "--agent", System.getProperty("cli.jar"), "--off")),
                    " cannot load ");
            Files.createFile(folder.resolve("end"));
            engine.result().assertSucceeded();
        }
    }
}
