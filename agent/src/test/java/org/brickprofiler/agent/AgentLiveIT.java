package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.tools.attach.VirtualMachine;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.request.Wait;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.RunningProcess;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The jar of the agent reports on an engine that goes on running, and on one that was killed. */
@Timeout(120)
final class AgentLiveIT {

    private static final Path JAR = Path.of(System.getProperty("agent.jar")).toAbsolutePath();

    /** Each step takes some milliseconds, and one takes 400 ms in its softmax. */
    private static final String ENGINE = """
            package app;

            public final class Engine {
                static void product() {
                    work(2);
                }

                static void softmax(long ms) {
                    work(ms);
                }

                static void work(long ms) {
                    long endNs = System.nanoTime() + ms * 1_000_000;
                    while (System.nanoTime() < endNs) {
                        Thread.onSpinWait();
                    }
                }

                static void step(long ms) {
                    product();
                    softmax(ms);
                }

                public static void main(String[] args) throws Exception {
                    for (int i = 0; i < 40; i++) {
                        step(1);
                    }
                    step(400);
                    for (int i = 0; ; i++) {
                        step(1);
                        if (i == 20) {
                            java.nio.file.Files.createFile(java.nio.file.Path.of("slow"));
                        }
                    }
                }
            }
            """;

    /**
     * A thread serves a request of 30 steps, and then waits for a lock that another thread holds; a second request
     * waits behind it. With an argument, the lock is that of a step, and nothing is a request.
     */
    private static final String SERVER = """
            package app;

            import java.nio.file.Files;
            import java.nio.file.Path;

            public final class Server {
                static final class Log {}

                static final Log LOG = new Log();

                static void step(boolean logs) {
                    if (logs) {
                        log();
                    }
                }

                static void log() {
                    synchronized (LOG) {
                        LOG.hashCode();
                    }
                }

                static void answer() throws Exception {
                    synchronized (Server.class) {
                        for (int i = 0; i < 30; i++) {
                            step(false);
                        }
                        Files.createFile(Path.of("served"));
                        log();
                    }
                }

                static void flush() throws Exception {
                    synchronized (LOG) {
                        Files.createFile(Path.of("held"));
                        while (!Files.exists(Path.of("go"))) {
                            Thread.sleep(10);
                        }
                    }
                }

                interface Work {
                    void run() throws Exception;
                }

                static void start(String name, Work work) {
                    Thread thread = new Thread(() -> {
                        try {
                            work.run();
                        } catch (Exception failed) {
                            throw new IllegalStateException(failed);
                        }
                    }, name);
                    thread.start();
                }

                static void await(String file) throws InterruptedException {
                    while (!Files.exists(Path.of(file))) {
                        Thread.sleep(10);
                    }
                }

                public static void main(String[] args) throws Exception {
                    start("flusher", Server::flush);
                    await("held");
                    if (args.length > 0) {
                        start("stepper", () -> step(true));
                    } else {
                        start("server-1", Server::answer);
                        await("served");
                        start("server-2", Server::answer);
                    }
                    await("end");
                }
            }
            """;

    /**
     * A thread serves requests of two steps, between which it needs a cache that another thread holds most of the time.
     */
    private static final String LOCKED = """
            package app;

            import java.nio.file.Files;
            import java.nio.file.Path;

            public final class Locked {
                static final class Cache {}

                static final Cache CACHE = new Cache();

                static void product() {}

                static void step() {
                    product();
                }

                static void answer() {
                    step();
                    synchronized (CACHE) {
                        CACHE.hashCode();
                    }
                    step();
                }

                static void evict() {
                    try {
                        while (true) {
                            synchronized (CACHE) {
                                Thread.sleep(80);
                            }
                            Thread.sleep(20);
                        }
                    } catch (InterruptedException stopped) {
                        throw new IllegalStateException(stopped);
                    }
                }

                public static void main(String[] args) throws Exception {
                    Thread evictor = new Thread(Locked::evict, "evictor");
                    evictor.setDaemon(true);
                    evictor.start();
                    while (!Files.exists(Path.of("end"))) {
                        answer();
                    }
                }
            }
            """;

    @TempDir
    private Path folder;

    @BeforeEach
    void compile() throws IOException {
        WovenApplication.compile(folder, "app/Engine.java", ENGINE);
        WovenApplication.compile(folder, "app/Server.java", SERVER);
        WovenApplication.compile(folder, "app/Locked.java", LOCKED);
        Files.writeString(folder.resolve("locked.yaml"), """
                step: {in: app.Locked.step}
                request: {in: app.Locked.answer}
                bricks:
                  - {in: app.Locked.product, brick: QKV_PROJECTION}
                """);
        Files.writeString(folder.resolve("server.yaml"), """
                step: {in: app.Server.step}
                request: {in: app.Server.answer}
                bricks:
                  - {in: app.Server.log, brick: SAMPLING}
                """);
        Files.writeString(folder.resolve("bricks.yaml"), """
                step: {in: app.Engine.step}
                bricks:
                  - {in: app.Engine.product, brick: QKV_PROJECTION}
                  - {in: app.Engine.softmax, brick: ATTENTION_SOFTMAX}
                """);
    }

    private RunningProcess engine(String agentOptions, String... jvmOptions) throws IOException {
        List<String> all = new ArrayList<>(List.of("-javaagent:" + JAR + "=rules=bricks.yaml" + agentOptions));
        all.addAll(List.of(jvmOptions));
        all.addAll(List.of("-cp", "classes", "app.Engine"));
        return ChildProcess.java()
                .jvmOptions(all)
                .without(AgentOptions.OUT_VARIABLE)
                .in(folder)
                .start();
    }

    private RunningProcess server(String... arguments) throws IOException {
        return ChildProcess.java()
                .jvmOptions(List.of("-javaagent:" + JAR + "=rules=server.yaml,port=0,out=run.json"))
                .jvmOptions(List.of("-Dbrick.profiler.export_every=200ms", "-cp", "classes", "app.Server"))
                .arguments(List.of(arguments))
                .without(AgentOptions.OUT_VARIABLE)
                .in(folder)
                .start();
    }

    /** Returns a report once the engine stalls or no longer does. */
    private static JsonNode report(RunningProcess engine, boolean stalls) throws Exception {
        while (true) {
            JsonNode report = new ObjectMapper().readTree(get(engine, "/profile.json"));
            if (report.get("now").has("stalled_ns") == stalls) {
                return report;
            }
            Thread.sleep(100);
        }
    }

    private void await(String file) throws InterruptedException {
        for (int i = 0; i < 2_000 && !Files.exists(folder.resolve(file)); i++) {
            Thread.sleep(20);
        }
        assertThat(folder.resolve(file)).exists();
    }

    private static String get(RunningProcess engine, String path) throws Exception {
        Pattern printed = Pattern.compile("the live report is at (http://localhost:\\d+/)");
        Matcher address = printed.matcher(engine.printed());
        while (!address.find()) {
            Thread.sleep(20);
            address = printed.matcher(engine.printed());
        }
        URI page = URI.create(address.group(1)).resolve(path);
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    /** Returns the slowest step of a report, which is the planted one. */
    private static Explained slowest(byte[] report) throws IOException {
        Explained slowest = SlowSteps.ofReport(new ByteArrayInputStream(report))
                .orElseThrow()
                .slowest()
                .get(0);
        assertThat(slowest.durationNs()).isGreaterThan(400_000_000);
        assertThat(slowest.verdict().isExplained()).isTrue();
        assertThat(slowest.parts().stream().map(SlowSteps.Part::name)).contains("AttentionSoftmax");
        return slowest;
    }

    /** Writes what the engine has recorded up to now, by the agent that runs in it. */
    private void snapshot(RunningProcess engine, String file) throws Exception {
        VirtualMachine machine = VirtualMachine.attach(Long.toString(engine.pid()));
        try {
            machine.loadAgent(JAR.toString(), "snapshot=" + folder.resolve(file));
        } finally {
            machine.detach();
        }
    }

    private String text(String file) throws IOException {
        return Files.readString(folder.resolve(file), StandardCharsets.ISO_8859_1);
    }

    @Test
    void slowStepsAreServedWhileTheEngineRunsAndLeftBehindByAKill() throws Exception {
        String sentence;
        try (RunningProcess engine =
                engine(",slow=slow.pftrace,lines=on,out=run.json,port=0", "-Dbrick.profiler.export_every=200ms")) {
            await("slow");
            byte[] served = get(engine, "/profile.json").getBytes(StandardCharsets.UTF_8);
            assertThat(LineProfile.ofReport(new ByteArrayInputStream(served))
                            .orElseThrow()
                            .missing())
                    .isEmpty();
            Explained slowest = slowest(served);
            // The time of day up to its seconds; Instant leaves out a fraction of 0.
            sentence = "Step " + slowest.index() + " at "
                    + slowest.startedAt().orElseThrow().toString().substring(0, "2026-01-02T03:04:05".length());
            assertThat(new String(served, StandardCharsets.UTF_8))
                    .contains("\"kind\": \"slowest_steps\"", " instead of ");
            assertThat(JsonReport.fromJson(new String(served, StandardCharsets.UTF_8))
                            .steps()
                            .count())
                    .isGreaterThan(60);
            assertThat(get(engine, "/")).contains(sentence, "\"shown\"");

            snapshot(engine, "now.pftrace");
            assertThat(text("now.pftrace")).contains("chosen steps only", sentence);
            snapshot(engine, "now.html");
            assertThat(text("now.html")).contains(sentence);

            Files.deleteIfExists(folder.resolve("run.json"));
            Files.deleteIfExists(folder.resolve("slow.pftrace"));
            await("run.json");
            await("slow.pftrace");
        }
        slowest(Files.readAllBytes(folder.resolve("run.json")));
        assertThat(JsonReport.read(folder.resolve("run.json")).facts().disturbances())
                .anyMatch(remark -> remark.startsWith("the process had not ended"));
        assertThat(text("slow.pftrace")).contains("chosen steps only", sentence);
    }

    @Spec("25.33")
    @Test
    void aLivePortServesSlowSteps() throws Exception {
        try (RunningProcess engine = engine(",port=0,out=run.json", "-Dbrick.profiler.export_every=200ms")) {
            await("slow");
            String sentence = "Step "
                    + slowest(get(engine, "/profile.json").getBytes(StandardCharsets.UTF_8))
                            .index()
                    + " at ";
            assertThat(get(engine, "/")).contains(sentence);
            snapshot(engine, "now.pftrace");
            assertThat(text("now.pftrace")).contains("chosen steps only", sentence);
            Files.deleteIfExists(folder.resolve("run.json"));
            await("run.json");
            slowest(Files.readAllBytes(folder.resolve("run.json")));
            assertThat(recordings(engine)).contains("name=");
        }
    }

    /** Returns the flight recordings of a process in words. */
    private static String recordings(RunningProcess engine) throws Exception {
        Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
        Process asked = new ProcessBuilder(jcmd.toString(), Long.toString(engine.pid()), "JFR.check").start();
        return new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Spec("25.33")
    @Test
    void withoutAnOptionThatNeedsThemThereAreNoSlowStepsNoTimelineAndNoRecording() throws Exception {
        try (RunningProcess engine = engine(",out=run.json", "-Dbrick.profiler.export_every=200ms")) {
            await("slow");
            Files.deleteIfExists(folder.resolve("run.json"));
            await("run.json");
            assertThat(text("run.json")).doesNotContain(JsonReport.SLOWEST_STEPS);
            assertThatThrownBy(() -> snapshot(engine, "now.pftrace")).isInstanceOf(Exception.class);
            // The message goes through a pipe.
            while (!engine.printed()
                    .contains("is a timeline, and the running agent records none: start it with slow=")) {
                Thread.sleep(20);
            }
            assertThat(folder.resolve("now.pftrace")).doesNotExist();
            assertThat(recordings(engine)).contains("No available recordings");
        }
    }

    private RunningProcess locked(String agentOptions) throws IOException {
        return ChildProcess.java()
                .jvmOptions(List.of("-javaagent:" + JAR + "=rules=locked.yaml,out=run.json" + agentOptions))
                .jvmOptions(List.of("-cp", "classes", "app.Locked"))
                .without(AgentOptions.OUT_VARIABLE)
                .in(folder)
                .start();
    }

    @Spec("25.32")
    @Test
    void aThreadThatIsBlockedBetweenTheStepsOfItsRequestIsReported() throws Exception {
        try (RunningProcess engine = locked(",port=0")) {
            JsonNode requests = requests(engine);
            for (int i = 0; i < 300 && requests.path("wait_blocked_ns").asLong() < 500_000_000; i++) {
                Thread.sleep(50);
                requests = requests(engine);
            }
            assertThat(requests.at("/wait_sources").asText()).startsWith("a flight recording");
            assertThat(requests.at("/wait_blocked_ns").asLong()).isGreaterThan(500_000_000);
            assertThat(requests.findValuesAsText("lock")).contains("monitor of app.Locked$Cache, held by evictor");
            assertThat(get(engine, "/")).contains("monitor of app.Locked$Cache, held by evictor");
            Files.createFile(folder.resolve("end"));
            engine.result();
        }
        RequestStats last = JsonReport.read(folder.resolve("run.json")).requests();
        // The end waits for what the recording knows.
        assertThat(last.waits().allNs()).isEqualTo(last.causeNs(Cause.QUEUED_IDLE) + last.causeNs(Cause.STALLED_IDLE));
    }

    private static JsonNode requests(RunningProcess engine) throws Exception {
        return new ObjectMapper().readTree(get(engine, "/profile.json")).path("requests");
    }

    @Spec("25.32")
    @Test
    void withoutARecordingLocksAreUnknownAndTheReportSaysWhatItKnows() throws Exception {
        try (RunningProcess engine = locked("")) {
            Thread.sleep(4_000);
            assertThat(recordings(engine)).contains("No available recordings");
            Files.createFile(folder.resolve("end"));
            engine.result();
        }
        RequestStats.Waits waits =
                JsonReport.read(folder.resolve("run.json")).requests().waits();
        assertThat(waits.sources()).containsExactly("the collectors' beans, in whole ms");
        assertThat(waits.ns(Wait.BLOCKED)).isZero();
        assertThat(waits.ns(Wait.UNKNOWN)).isPositive();
    }

    @Spec("25.30")
    @Test
    void aStallNamesTheOldestRequestAndTheHolderOfItsLock() throws Exception {
        try (RunningProcess engine = server()) {
            await("served");
            JsonNode report = report(engine, true);
            JsonNode now = report.get("now");
            JsonNode oldest = report.at("/requests/oldest_live");
            assertThat(now.get("stalled_ns").asLong()).isGreaterThanOrEqualTo(2_000_000_000L);
            assertThat(now.get("steps")).isEmpty();
            assertThat(oldest.at("/0/running").asLong()).isEqualTo(1);
            assertThat(oldest.at("/0/output_tokens").asLong()).isEqualTo(30);
            assertThat(oldest.at("/1/running").asLong()).isZero();
            assertThat(now.get("threads")).hasSize(1);
            JsonNode thread = now.at("/threads/0");
            assertThat(thread.get("thread").asText()).isEqualTo("server-1");
            assertThat(thread.get("state").asText()).isEqualTo("BLOCKED");
            assertThat(thread.at("/frames/0").asText()).startsWith("app.Server.log(Server.java:");
            assertThat(thread.get("lock").asText()).startsWith("app.Server$Log@");
            assertThat(thread.get("owner").asText()).isEqualTo("flusher");
            assertThat(thread.get("owner_frames").toString()).contains("app.Server.flush(Server.java:");
            assertThat(now.at("/text/0").asText())
                    .matches(
                            "Stalled: no step for \\d+\\.\\d s\\. Under way: 0 steps; 1 running request, 1 waiting request\\.");
            assertThat(get(engine, "/")).contains("Stalled: no step for ", "which flusher holds");

            // A process that is killed leaves its stall behind.
            String written = text("run.json");
            for (int i = 0; i < 500 && !written.contains("which flusher holds"); i++) {
                Thread.sleep(20);
                written = text("run.json");
            }
            assertThat(written).contains("which flusher holds");

            Files.createFile(folder.resolve("go"));
            assertThat(report(engine, false).at("/now/threads")).isEmpty();
            Files.createFile(folder.resolve("end"));
            engine.result();
        }
        assertThat(text("run.json")).doesNotContain("\"now\"");
    }

    @Spec("25.30")
    @Test
    void aStepThatWaitsForALockIsAStall() throws Exception {
        try (RunningProcess engine = server("step")) {
            JsonNode now = report(engine, true).get("now");
            assertThat(now.has("since_step_ns")).isFalse();
            assertThat(now.at("/steps/0/thread").asText()).isEqualTo("stepper");
            assertThat(now.get("waiting").asLong() + now.get("running").asLong())
                    .isZero();
            assertThat(now.at("/threads/0/role").asText()).isEqualTo("the thread of a step under way");
            assertThat(now.at("/threads/0/owner").asText()).isEqualTo("flusher");
            assertThat(now.at("/text/0").asText()).startsWith("Stalled: no step has ended yet, for ");
        }
    }
}
