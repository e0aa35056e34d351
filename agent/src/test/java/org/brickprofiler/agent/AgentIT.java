package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.tools.attach.AgentInitializationException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.NvtxStandIn;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.RunningProcess;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The agent's jar with an application that knows nothing of it. */
@Timeout(120)
class AgentIT extends WovenApplication {

    @Test
    void profilesAnApplicationWithoutReferencesToIt() throws Exception {
        ProcessResult result = application("rules=bricks.yaml,out=run.json,html=run.html,trace=t.json")
                .run()
                .assertSucceeded();

        assertThat(result.out()).matches("computed \\d+ in module null\\R");
        assertThat(result.err()).contains("brick agent: 7 of 7 rules apply", "the profile is in ");
        assertThat(recorded("run.json")).isEqualTo(RECORDED);
        ProfileSnapshot profile = JsonReport.read(folder.resolve("run.json"));
        assertThat(profile.steps().phase(StepInfo.Phase.PREFILL).orElseThrow().count())
                .isEqualTo(10);
        assertThat(profile.facts().tokensPerSec().orElseThrow()).isPositive();
        assertThat(folder.resolve("run.html")).content().contains("<html");
        // Whichever worker of the pool ran a task, it belongs to the layer in which the task was made.
        assertThat(byLayer("AttentionScore")).isEqualTo(Map.of(0, 160, 1, 160, 2, 160));
    }

    @Test
    void theOptionReplacesTheWarmUpOfTheRulesAndARestartTheFilesOfTheRunBefore() throws Exception {
        String options = "rules=bricks.yaml,out=run.json,html=run.html";
        application(options).run().assertSucceeded();
        ProcessResult second = application(options + ",warmup=7").run().assertSucceeded();
        application(options + ",warmup=0").run().assertSucceeded();

        assertThat(second.err())
                .contains("run.json was there before this run, and is now run.json.1", "and is now run.html.1");
        assertThat(recorded("run.json")).contains("QkvProjection=36/288");
        assertThat(recorded("run.json.1")).contains("QkvProjection=15/120");
        assertThat(recorded("run.json.2")).isEqualTo(RECORDED);
        assertThat(folder.resolve("run.html.2")).exists();
        assertThat(folder.resolve("run.json.3")).doesNotExist();
    }

    @Test
    void aToolThatListensToNvtxSeesTheWovenBricks() throws Exception {
        Path lines = folder.resolve("lines.txt");
        Map<String, String> tool = Map.of(
                "NVTX_INJECTION64_PATH", NvtxStandIn.build().toString(),
                "NVTX_STAND_IN_LINES", lines.toString(),
                "BRICK_PROFILER_NVTX", "on");
        application("rules=bricks.yaml,out=run.json,warmup=0")
                .environment(tool)
                .run()
                .assertSucceeded();

        assertThat(recorded("run.json")).contains("QkvProjection=36/288");
        assertThat(lines).content().startsWith("domain 1 Brick Profiler\n").doesNotContain("error");
        assertThat(Files.readAllLines(lines).stream().filter(line -> line.matches("push \\d+ 1 QkvProjection")))
                .hasSize(36);
    }

    /** Classes that the application compiles stand for async-profiler's. */
    @Spec("13.21")
    @Test
    void wovenBricksAreSpansOfTheApplicationsAsyncProfiler() throws Exception {
        String options = "rules=bricks.yaml,out=run.json,warmup=0,async-profiler=on";
        assertThat(application(options).run().assertSucceeded().err())
                .contains("async-profiler=on: bricks are no spans: ", "add it\n");
        compile(folder, "one/profiler/Recording.java", """
                package one.profiler;
                public final class Recording {
                    public static int state() { return 2; }
                    public static long timestamp() { return System.nanoTime(); }
                    public static long clockFrequency() { return 1_000_000_000; }
                }
                """);
        compile(folder, "one/profiler/Span.java", """
                package one.profiler;
                public final class Span {
                    public static void emitIfProfiled(long start, long end, String tag) { System.out.println(tag); }
                }
                """);
        ProcessResult result = application(options).run().assertSucceeded();
        assertThat(result.err()).doesNotContain("async-profiler");
        assertThat(result.out().lines().filter("brick:prefill:QkvProjection"::equals))
                .hasSize(36);
    }

    /** The rules name a forward pass that this engine does not call, and a brick that it does. */
    @Test
    void thatNoStepWasReachedIsTheFirstRemark() throws Exception {
        Files.writeString(folder.resolve("bricks.yaml"), """
            step:
              in: app.Main.each
            bricks:
              - in: app.Main.product
                brick: SAMPLING
              - in: app.Main.each
                call: join
                brick: QKV_PROJECTION
            """);
        ProcessResult result = application("rules=bricks.yaml").run().assertSucceeded();
        String remark = "no step was reached: the engine called no method that a rule under step: names (line 2),";
        assertThat(result.err())
                .contains("3 of 3 rules apply", "brick agent: " + remark, "\nBrick profile\n! " + remark)
                .contains(". Rules that apply and never ran: QkvProjection (line 6), step: (line 2).\n");
    }

    /** The elements cannot be read in the two steps of the warm-up. */
    @Test
    void discardsTheLossesOfTheWarmUp() throws Exception {
        Files.writeString(folder.resolve("bricks.yaml"), """
                step:
                  in: app.Main.forward
                  tokens: tokens.length
                  warmup: 2
                bricks:
                  - in: app.Main.forward
                    call: product 1
                    brick: QKV_PROJECTION
                    elements: this.late.length
                """);
        ProcessResult result =
                application("rules=bricks.yaml,out=run.json").run().assertSucceeded();
        assertThat(recorded("run.json")).isEqualTo("{QkvProjection=30/90}");
        assertThat(result.err()).contains("'this.late.length' cannot be read").doesNotContain("could not be read");
        assertThat(JsonReport.read(folder.resolve("run.json")).facts().disturbances())
                .isEmpty();
    }

    /**
     * An engine with a pool and tasks of its own, that goes through its layers backwards and through one of them twice.
     */
    private static final String BLOCKS = """
            package app;

            import java.util.concurrent.ArrayBlockingQueue;
            import java.util.concurrent.BlockingQueue;
            import java.util.concurrent.CountDownLatch;

            public final class Blocks {
                interface Task {
                    void run(int from, int to);

                    default int grain() {
                        return 4;
                    }
                }

                private static final BlockingQueue<Runnable> QUEUE = new ArrayBlockingQueue<>(64);

                private final int index;

                Blocks(int index) {
                    this.index = index;
                }

                void forward() throws InterruptedException {
                    norm(8);
                    parallel(16, (from, to) -> attend(index + from));
                }

                static void parallel(int count, Task task) throws InterruptedException {
                    CountDownLatch latch = new CountDownLatch(count / task.grain());
                    for (int i = 0; i < count; i += task.grain()) {
                        int from = i;
                        QUEUE.put(() -> {
                            task.run(from, from + task.grain());
                            latch.countDown();
                        });
                    }
                    latch.await();
                }

                static void pass(Blocks[] blocks) throws InterruptedException {
                    for (int i = blocks.length - 1; i >= 0; i--) {
                        blocks[i].forward();
                    }
                    blocks[1].forward();
                }

                static double attend(int n) {
                    return Math.sqrt(n);
                }

                static double norm(int n) {
                    return Math.sqrt(n);
                }

                public static void main(String[] args) throws Exception {
                    for (int i = 0; i < 3; i++) {
                        Thread worker = new Thread(() -> {
                            while (true) {
                                try {
                                    QUEUE.take().run();
                                } catch (InterruptedException ended) {
                                    return;
                                }
                            }
                        });
                        worker.setDaemon(true);
                        worker.start();
                    }
                    Blocks[] blocks = {new Blocks(0), new Blocks(1), new Blocks(2)};
                    for (int i = 0; i < 10; i++) {
                        pass(blocks);
                    }
                }
            }
            """;

    @Test
    void knowsTheLayersOfAnEngineWithItsOwnOrderAndTasks() throws Exception {
        compile(folder, "app/Blocks.java", BLOCKS);
        Files.writeString(folder.resolve("blocks.yaml"), """
                step:
                  in: app.Blocks.pass
                layer:
                  in: app.Blocks.forward
                  number: this.index
                tasks:
                  - in: app.Blocks.parallel
                bricks:
                  - in: app.Blocks.norm
                    brick: RMS_NORM
                  - in: app.Blocks.attend
                    brick: ATTENTION_SCORE
                """);
        ProcessResult result = ChildProcess.java()
                .jvmOptions(List.of("-javaagent:" + JAR + "=rules=blocks.yaml,out=run.json,trace=t.json"))
                .jvmOptions(List.of("-cp", classes.toString(), "app.Blocks"))
                .without(AgentOptions.OUT_VARIABLE)
                .in(folder)
                .run()
                .assertSucceeded();

        assertThat(result.err()).contains("brick agent: 5 of 5 rules apply").doesNotContain("know no layer");
        assertThat(recorded("run.json")).isEqualTo("{AttentionScore=160/160, RmsNorm=40/40}");
        assertThat(JsonReport.read(folder.resolve("run.json")).steps().count()).isEqualTo(10);
        assertThat(byLayer("RmsNorm")).isEqualTo(Map.of(0, 10, 1, 20, 2, 10));
        assertThat(byLayer("AttentionScore")).isEqualTo(Map.of(0, 40, 1, 80, 2, 40));
    }

    /** Counts the spans of a name in each layer of the timeline. */
    private Map<Integer, Integer> byLayer(String name) throws IOException {
        return byLayer(folder.resolve("t.json"), name);
    }

    static Map<Integer, Integer> byLayer(Path timeline, String name) throws IOException {
        Map<Integer, Integer> found = new TreeMap<>();
        for (JsonNode event : new ObjectMapper().readTree(timeline.toFile()).get("traceEvents")) {
            if (event.get("name").asText().equals(name)) {
                found.merge(event.get("args").path("layer").asInt(-1), 1, Integer::sum);
            }
        }
        return found;
    }

    @Test
    void weavesModules() throws Exception {
        compile(folder, "module-info.java", "module app { }");
        ProcessResult result = ChildProcess.java()
                .jvmOptions(List.of("-javaagent:" + JAR + "=rules=bricks.yaml,out=run.json"))
                .jvmOptions(List.of("--module-path", classes.toString(), "-m", "app/app.Main"))
                .in(folder)
                .run()
                .assertSucceeded();
        assertThat(result.out()).contains("in module app");
        assertThat(result.err()).contains("brick agent: 7 of 7 rules apply");
        assertThat(recorded("run.json")).isEqualTo(RECORDED);
    }

    @ParameterizedTest
    @CsvSource({"exit, 3", "throw, 1"})
    void reportsHoweverTheApplicationEnds(String how, int exitCode) throws Exception {
        ProcessResult result =
                application("rules=bricks.yaml,out=run.json", how).run();
        assertThat(result.exitCode()).isEqualTo(exitCode);
        assertThat(recorded("run.json")).isEqualTo(RECORDED);
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "has no signals")
    void reportsAfterTheSignalToEnd() throws Exception {
        RunningProcess running =
                application("rules=bricks.yaml,out=run.json", "wait").start();
        await("ready");
        running.terminate();
        assertThat(running.result().exitCode()).isEqualTo(143);
        assertThat(recorded("run.json")).isEqualTo(RECORDED);
    }

    /** {@code brick run} measures the cost of profiling like this. */
    @Test
    void measuresTokensPerSecondWithTheProfilerOff() throws Exception {
        application("rules=bricks.yaml,out=run.json")
                .environment(Map.of("BRICK_PROFILER", "off"))
                .run()
                .assertSucceeded();
        ProfileSnapshot profile = JsonReport.read(folder.resolve("run.json"));
        assertThat(profile.bricks()).isEmpty();
        assertThat(profile.facts().tokensPerSec().orElseThrow()).isPositive();
    }

    @Test
    void comparesTokensPerSecondWithRecordingOnAndOff() throws Exception {
        ProcessResult result = application("rules=bricks.yaml,out=run.json,ab=7", "decode")
                .run()
                .assertSucceeded();
        // 200 steps have 199 intervals between their starts; a pair takes two blocks of eight.
        assertThat(result.err())
                .containsPattern(
                        "brick agent: recording on [\\d.]+ tokens/s, off [\\d.]+: a token takes "
                                + "[-+][\\d.]+ % \\(95 % interval [-+][\\d.]+ to [-+][\\d.]+\\), by 12 pairs of blocks of 8 tokens \\(ab=7\\)");
        ProfileSnapshot profile = JsonReport.read(folder.resolve("run.json"));
        assertThat(profile.facts().tokensPerSec().orElseThrow()).isPositive();
        assertThat(profile.facts().unprofiledTokensPerSec().orElseThrow()).isPositive();
        assertThat(profile.steps().phase(StepInfo.Phase.DECODE).orElseThrow().count())
                .isBetween(96L, 104L);
    }

    /** Only this machine can read the report, and the application ends although the port is open. */
    @Test
    void showsTheReportOnAPort() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                RunningProcess running = application("rules=bricks.yaml,out=run.json,port=0", "wait")
                        .start()) {
            await("ready");
            Matcher address = Pattern.compile("the live report is at (http://localhost:(\\d+)/)")
                    .matcher(running.printed());
            assertThat(address.find()).isTrue();
            URI root = URI.create(address.group(1));
            assertThat(get(root).body()).contains("<html", "AttentionScore");
            assertThat(get(root).headers().firstValue("Refresh")).hasValue("10");
            HttpResponse<String> profile = get(root.resolve("profile.json"));
            assertThat(profile.headers().firstValue("Content-Type")).hasValue("application/json; charset=utf-8");
            assertThat(profile.headers().firstValue("Refresh")).isEmpty();
            assertThat(JsonReport.fromJson(profile.body())
                            .brick("AttentionScore")
                            .orElseThrow()
                            .count())
                    .isEqualTo(480);
            assertThat(get(root.resolve("other")).statusCode()).isEqualTo(404);
            assertThat(withHost(Integer.parseInt(address.group(2)), "evil.example"))
                    .startsWith("HTTP/1.1 403");
            ProcessResult second = application("rules=bricks.yaml,out=second.json,port=" + taken.getLocalPort())
                    .run()
                    .assertSucceeded();
            assertThat(second.err())
                    .contains("port " + taken.getLocalPort() + " is not opened: Address already in use");
            assertThat(recorded("second.json")).isEqualTo(RECORDED);
            Files.writeString(folder.resolve("go"), "");
            Files.writeString(folder.resolve("end"), "");
            assertThat(running.result().exitCode()).isZero();
        }
    }

    /** The library of the metrics is in the agent's own loader, and the application has none. */
    @Test
    void servesMetricsOnAPortOfItsOwn() throws Exception {
        try (RunningProcess running =
                application("rules=bricks.yaml,metrics=0", "wait").start()) {
            await("ready");
            Matcher address = Pattern.compile("metrics are at (http://localhost:\\d+/metrics)")
                    .matcher(running.printed());
            assertThat(address.find()).as(running.printed()).isTrue();
            assertThat(get(URI.create(address.group(1))).body())
                    .contains(
                            "brick_samples_total{brick=\"AttentionScore\",category=\"Attention\",phase=\"prefill\"} 480")
                    .doesNotContain("bricks.yaml");
            Files.writeString(folder.resolve("go"), "");
            Files.writeString(folder.resolve("end"), "");
            assertThat(running.result().exitCode()).isZero();
        }
    }

    private static HttpResponse<String> get(URI address) throws Exception {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
    }

    /**
     * Returns the first line of a server's answer to a request with another host's name; the JDK's client cannot send
     * such a name.
     */
    private static String withHost(int port, String host) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream()
                    .write(("GET / HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rules=bricks.yaml,port=web     | not started: java.lang.IllegalArgumentException: port=web is not a whole number from 0 to 65535",
                "rules=bricks.yaml,port=65536   | port=65536 is not a whole number from 0 to 65535",
                "rules=other.yaml,ab=1          | ab= compares steps, and there is no step: in other.yaml",
                "rules=other.yaml,slow=s.pftrace | slow= keeps steps, and there is no step: in other.yaml",
                "''                | not started: java.lang.IllegalArgumentException: no agent is running in this JVM, and the option rules=FILE is missing",
                "rule=bricks.yaml  | there is no option 'rule'; there are rules,",
                "rules=none.yaml   | not started: java.io.IOException: cannot read none.yaml: it does not exist",
                "rules=bad.yaml    | bad.yaml:3: there is no brick 'RMSNORMM'; the closest that exist: RMS_NORM,",
                "rules=other.yaml  | other.yaml:2: there is no class app.Mein; the closest that exist: app.Main",
                "rules=llama3      | the rules llama3 are written for Llama3.java of April 2026",
                "rules=bricks.yaml,trace=t.xyz | not started: java.lang.IllegalArgumentException: ",
            })
    void neverKeepsTheApplicationFromRunning(String options, String message) throws Exception {
        Files.writeString(folder.resolve("bad.yaml"), "bricks:\n  - in: app.Main.product\n    brick: RMSNORMM\n");
        Files.writeString(folder.resolve("other.yaml"), "bricks:\n  - in: app.Mein.product\n    brick: RMS_NORM\n");
        Files.createDirectory(folder.resolve("llama3"));
        ProcessResult result = application(options).run().assertSucceeded();
        assertThat(result.out()).startsWith("computed ");
        assertThat(result.err()).contains("brick agent: ", message);
    }

    @Test
    void appliesTheOtherRulesIfSomeAreMalformed() throws Exception {
        Files.writeString(
                folder.resolve("some.yaml"),
                RULES
                        + "  - in: app.Main.softmax\n    brick: ATENTION_SOFTMAX\n  - in: app.Main.tree\n    brick: SAMPLING\n"
                        + "layers:\n  in: app.Main.forward\n");
        ProcessResult result = application("rules=some.yaml,out=run.json").run().assertSucceeded();
        assertThat(result.err())
                .contains(
                        "some.yaml:31: there is no brick 'ATENTION_SOFTMAX'; the closest that exist: ATTENTION_SOFTMAX",
                        "some.yaml:32: the span from entry to exit of tree would count twice: the rule of line 28 has it already",
                        "some.yaml:34: there is no 'layers:' here; the closest that exist: layer,",
                        "brick agent: 7 of 10 rules apply");
        assertThat(recorded("run.json")).isEqualTo(RECORDED);
    }

    @Test
    void countsVirtualThreads() throws Exception {
        VirtualThreadStarter.orSkip();
        application("rules=bricks.yaml,out=run.json", "virtual").run().assertSucceeded();
        assertThat(recorded("run.json")).contains("Sampling=3015/3015");
    }

    /** The agent is loaded into a running application, queried, and loaded once more without effect. */
    @Test
    void weavesLoadedClassesAndWritesTheProfileOnRequest() throws Exception {
        ChildProcess plain = ChildProcess.java()
                .jvmOptions(List.of("-XX:+EnableDynamicAgentLoading", "-cp", classes.toString(), "app.Main"))
                .arguments(List.of("wait"))
                .in(folder);
        try (RunningProcess running = plain.start()) {
            await("ready");
            String pid = Long.toString(running.pid());
            load(pid, "rules=" + folder.resolve("bricks.yaml") + ",out=" + folder.resolve("run.json"));
            Files.writeString(folder.resolve("go"), "");
            await("done");
            load(pid, "snapshot=" + folder.resolve("live.json"));
            load(pid, "snapshot=" + folder.resolve("live.html"));
            assertThat(recorded("live.json")).contains("QkvProjection=15/120");
            assertThat(folder.resolve("live.html")).content().startsWith("<!DOCTYPE html>");
            Map<String, String> refused = Map.of(
                    "rules=" + folder.resolve("bricks.yaml") + ",out=run.json",
                            "an agent is already running in this JVM; it takes one of",
                    "snapshot=" + folder.resolve("live.csv"), "ends in none of .json",
                    "snapshot=" + folder.resolve("run.json"), " are one file",
                    "snapshot=" + folder.resolve("none/live.json"), "none does not exist");
            for (String options : refused.keySet()) {
                assertThatThrownBy(() -> attach(pid, options)).isInstanceOf(AgentInitializationException.class);
            }
            assertThat(folder.resolve("live.pftrace")).doesNotExist();
            Files.writeString(folder.resolve("end"), "");
            ProcessResult result = running.result().assertSucceeded();
            assertThat(result.err()).contains("the profile up to now is in ").contains(refused.values());
        }
        assertThat(recorded("run.json")).contains("QkvProjection=15/120");
    }

    /** Attaches the agent as a tool does, which gets the failure of {@code agentmain}. */
    private static void attach(String pid, String options) throws Exception {
        VirtualMachine running = VirtualMachine.attach(pid);
        try {
            running.loadAgent(JAR.toString(), options);
        } finally {
            running.detach();
        }
    }

    private static void load(String pid, String options) throws IOException {
        ChildProcess.of(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString())
                .arguments(List.of(pid, "JVMTI.agent_load", JAR.toString(), "\"" + options + "\""))
                .limit(Duration.ofSeconds(60))
                .run()
                .assertSucceeded();
    }

    /** Another agent that transforms the same class again and again, and redefines it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void standsBesideAnotherAgent(boolean first) throws Exception {
        compile(folder, "other/Other.java", """
                package other;

                import java.lang.instrument.*;

                public final class Other {
                    public static void premain(String options, Instrumentation instrumentation) {
                        Thread thread = new Thread(() -> {
                            while (true) {
                                for (Class<?> each : instrumentation.getAllLoadedClasses()) {
                                    if (each.getName().equals("app.Main")) {
                                        try {
                                            byte[] file = each.getResourceAsStream("Main.class").readAllBytes();
                                            instrumentation.retransformClasses(each);
                                            instrumentation.redefineClasses(new ClassDefinition(each, file));
                                        } catch (Exception e) {
                                            throw new IllegalStateException(e);
                                        }
                                    }
                                }
                            }
                        });
                        thread.setDaemon(true);
                        thread.start();
                    }
                }
                """);
        Path other = jar("other.jar", "other/Other.class", "other.Other");
        List<String> agents = new ArrayList<>(
                List.of("-javaagent:" + other, "-javaagent:" + JAR + "=rules=bricks.yaml,out=run.json"));
        if (!first) {
            Collections.reverse(agents);
        }
        ChildProcess.java()
                .jvmOptions(agents)
                .jvmOptions(List.of("-cp", classes.toString(), "app.Main"))
                .in(folder)
                .run()
                .assertSucceeded();
        assertThat(recorded("run.json")).isEqualTo(RECORDED);
    }

    private Path jar(String name, String entry, String premain) throws IOException {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.putValue("Premain-Class", premain);
        attributes.putValue("Can-Redefine-Classes", "true");
        attributes.putValue("Can-Retransform-Classes", "true");
        Path jar = folder.resolve(name);
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(file, manifest)) {
            entries.putNextEntry(new ZipEntry(entry));
            entries.write(Files.readAllBytes(classes.resolve(entry)));
        }
        return jar;
    }

    /** Of three bricks that are too short, one is an annotation's, and one is a call in a method that goes on. */
    @Test
    void keepsTheProfileIfAShortBrickIsInAMethodThatGoesOn() throws Exception {
        compile(
                folder,
                "org/brickprofiler/BrickId.java",
                "package org.brickprofiler; public enum BrickId { SAMPLING }");
        compile(folder, "org/brickprofiler/Brick.java", """
                package org.brickprofiler;

                public @interface Brick {
                    BrickId value();
                }
                """);
        compile(folder, "app/Short.java", """
                package app;

                import org.brickprofiler.Brick;
                import org.brickprofiler.BrickId;

                public class Short {
                    static double sum;

                    static void multiply(double[] matrix) {
                        for (int i = 0; i < matrix.length; i++) {
                            sum += add(matrix[i]);
                        }
                    }

                    @Brick(BrickId.SAMPLING)
                    static double add(double a) {
                        return a + Math.sqrt(a);
                    }

                    static double half(double a) {
                        return a / 2;
                    }

                    public static void main(String[] args) {
                        double[] matrix = new double[20_000];
                        long endNs = System.nanoTime() + 1_500_000_000L;
                        while (System.nanoTime() < endNs) {
                            multiply(matrix);
                            for (int i = 0; i < 1_000; i++) {
                                sum += half(i);
                            }
                        }
                        System.out.println(sum);
                    }
                }
                """);
        Files.writeString(folder.resolve("short.yaml"), """
                annotated: [app]
                bricks:
                  - {in: app.Short.multiply, brick: product, category: MATRIX_PRODUCT}
                  - {in: app.Short.main, call: half, brick: half, category: OTHER}
                """);
        ProcessResult result = ChildProcess.java()
                .jvmOptions(List.of("-javaagent:" + JAR + "=rules=short.yaml,out=short.json"))
                .jvmOptions(List.of("-Dbrick.profiler.shortest_ns=2000", "-cp", classes.toString(), "app.Short"))
                .in(folder)
                .run()
                .assertSucceeded();
        assertThat(result.err().lines().filter(line -> line.contains(" apply")))
                .singleElement()
                .asString()
                .matches(
                        "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z INFO brick agent: 2 of 2 rules and 1 annotation apply so far");
        assertThat(result.err().lines().filter(line -> line.contains("2000 ns") || line.contains("goes on")))
                .hasSizeBetween(2, 3)
                .anySatisfy(line -> assertThat(line).contains("dropped", "the annotation of app.Short.add"))
                .anySatisfy(line -> assertThat(line).contains("dropped", "line 4"))
                .anySatisfy(line -> assertThat(line).contains("'half' goes on"));
        ProfileSnapshot profile = JsonReport.read(folder.resolve("short.json"));
        assertThat(profile.bricks())
                .extracting(BrickStats::name)
                .contains("product", "half")
                .isSubsetOf("product", "half", "Sampling");
        assertThat(profile.facts().disturbances())
                .anySatisfy(remark -> assertThat(remark).contains("'half'"));
        // One call of add may have begun before its annotation was dropped, and ended after the samples were discarded.
        profile.brick("Sampling").ifPresent(rest -> {
            assertThat(rest.count()).isOne();
            assertThat(profile.facts().disturbances())
                    .anySatisfy(remark -> assertThat(remark).contains("'Sampling'"));
        });
    }

    @Test
    void showsTheApplicationOnlyItsEntryPointAndItsBridge() throws Exception {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            List<String> open = jar.stream()
                    .map(ZipEntry::getName)
                    .filter(name -> name.endsWith(".class"))
                    .toList();
            assertThat(open).allMatch(name -> name.matches("org/brickprofiler/agent/(Premain|bridge/.*)\\.class"));
            assertThat(Stream.of("META-INF/LICENSE", "META-INF/THIRD-PARTY.txt", "profiler/META-INF/NOTICE"))
                    .allMatch(name -> jar.getEntry(name) != null);
        }
    }
}
