package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.RunningProcess;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the agent's jar tells of an engine that goes on running, and after it was killed. */
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

    @TempDir
    private Path folder;

    @BeforeEach
    void compile() throws IOException {
        WovenApplication.compile(folder, "app/Engine.java", ENGINE);
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

    private void await(String file) throws InterruptedException {
        for (int i = 0; i < 2_000 && !Files.exists(folder.resolve(file)); i++) {
            Thread.sleep(20);
        }
        assertThat(folder.resolve(file)).exists();
    }

    private static String get(RunningProcess engine, String path) throws Exception {
        Matcher address = Pattern.compile("the live report is at (http://localhost:\\d+/)")
                .matcher(engine.printed());
        assertThat(address.find()).as(engine.printed()).isTrue();
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
                engine(",slow=slow.pftrace,out=run.json,port=0", "-Dbrick.profiler.export_every=200ms")) {
            await("slow");
            byte[] served = get(engine, "/profile.json").getBytes(StandardCharsets.UTF_8);
            sentence = "Step " + slowest(served).index() + ": ";
            assertThat(new String(served, StandardCharsets.UTF_8))
                    .contains("\"kind\": \"SLOWEST_STEPS\"", " instead of ");
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

    @Test
    void withoutTheOptionThereAreNoSlowStepsAndNoTimeline() throws Exception {
        try (RunningProcess engine = engine(",port=0")) {
            await("slow");
            assertThat(get(engine, "/profile.json")).doesNotContain(JsonReport.SLOWEST_STEPS);
            assertThatThrownBy(() -> snapshot(engine, "now.pftrace")).isInstanceOf(Exception.class);
            assertThat(engine.printed())
                    .contains("is a timeline, and the running agent records none: start it with slow= or trace=");
            assertThat(folder.resolve("now.pftrace")).doesNotExist();
        }
    }
}
