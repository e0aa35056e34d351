package org.brickprofiler.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.SampleLines;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several replicas of one engine, in {@code brick top} and {@code brick report}. */
class ReplicasTest {

    private static final String NOBODY = "localhost:1";

    @TempDir
    private Path folder;

    private final List<HttpServer> servers = new ArrayList<>();

    @AfterEach
    void stop() {
        servers.forEach(server -> server.stop(0));
    }

    /** Serves a text as the profile, and returns the address. */
    private String serve(Supplier<String> json) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/profile.json", exchange -> {
            try (exchange) {
                byte[] body = json.get().getBytes(UTF_8);
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        server.start();
        servers.add(server);
        return "localhost:" + server.getAddress().getPort();
    }

    /** Serves a replica with some waiting requests, each of whose readings finds another sample. */
    private String replica(int waiting, long sampleNs) throws IOException {
        BrickProfiler profiler = BrickProfiler.enabled();
        for (int i = 0; i < waiting; i++) {
            profiler.requests().arrived(1);
        }
        return serve(() -> {
            profiler.record(BrickId.RMS_NORM, sampleNs, 1);
            profiler.record(BrickId.FUSED_ATTENTION, sampleNs, 1);
            Map<String, Object> further = new HashMap<>(profiler.progress().reportEntries());
            LineProfile lines = waiting == 1 ? SampleLines.some() : LineProfile.without("it has none");
            further.put(JsonReport.LINES, lines.values());
            return JsonReport.toJson(profiler.snapshot(), further);
        });
    }

    private static TopReading reading(long startedMs, long endedMs, LatencyDistribution firstToken) {
        return TopReading.of(
                startedMs,
                endedMs,
                1_000,
                List.of(new TopReading.Brick("norm", "Norm", 3, 30, Optional.of(firstToken), TopReading.OfDevice.NONE)),
                Map.of("decode", new TopReading.Phase(5, 800, 0, 5)),
                new TopReading.Requests(4, 3, 0, 1, firstToken, LatencyDistribution.EMPTY, List.of("arrival")));
    }

    @Spec("25.16")
    @Test
    void addsSumsAndTakesPercentilesOfAllRequests() {
        LatencyDistribution quick = LatencyDistribution.ofCounts(100, new long[] {98});
        LatencyDistribution slow = LatencyDistribution.ofCounts(500, new long[] {2});
        Map<String, TopReading> both = Map.of("a", reading(7, 2_000, quick), "b", reading(9, 2_010, slow));
        TopReading all = TopReading.together(both);
        assertThat(all.requests().running()).isEqualTo(2);
        assertThat(all.requests().arrived()).isEqualTo(8);
        assertThat(all.requests().firstToken()).isEqualTo(quick.plus(slow));
        assertThat(all.requests().firstToken().percentileNs(99)).isEqualTo(slow.percentileNs(50));
        assertThat(all.requests().countedFrom()).containsExactly("arrival");
        assertThat(all.phases()).containsExactly(Map.entry("decode", new TopReading.Phase(10, 800, 0, 10)));
        assertThat(all.bricks())
                .containsExactly(Map.entry(
                        "Norm/norm",
                        new TopReading.Brick(
                                "norm", "Norm", 6, 60, Optional.of(quick.plus(slow)), TopReading.OfDevice.NONE)));
        assertThat(all.endedMs()).isEqualTo(2_005);

        TopReading later = TopReading.together(Map.of("a", reading(7, 3_000, quick), "b", reading(9, 3_010, slow)));
        assertThat(later.continues(all)).isTrue();
        assertThat(TopReading.together(Map.of("a", reading(7, 3_000, quick))).continues(all))
                .isFalse();
        assertThat(TopReading.together(Map.of("a", reading(7, 3_000, quick), "b", reading(2_500, 3_010, slow)))
                        .continues(all))
                .isFalse();
    }

    @Spec("25.16")
    @Test
    void topShowsTheSumsAndEachReplica() throws Exception {
        String one = replica(1, 1_000_000);
        String two = replica(2, 3_000_000);
        Cli top = Cli.run("top", one, two, NOBODY, "--count", "3", "--last", "1m");
        assertThat(top.exitCode()).isZero();
        assertThat(top.out())
                .contains(
                        "brick top: 3 replicas, ",
                        "Requests: 0 running, 3 waiting; ",
                        "a request without an id at " + two + ": ",
                        "\n" + one + ": 0 running, 1 waiting; 0.000 output tokens/s; p99 of first token unknown, ",
                        "\n" + two + ": 0 running, 2 waiting; ",
                        "\n" + NOBODY + " is left out: Connection refused",
                        "\n" + two + ": Last 1 minute: ",
                        "\n" + two + ": Stalled: no step has ended yet, for ",
                        "RmsNorm         Norm",
                        "\n\nLines of bricks since the last reset\n  " + one
                                + ", FusedAttention: In decode steps, 64 % of its samples (60 to 68 %) are in VectorMath.dot"
                                + " line 88, interpreted.\n  " + two + ", samples are missing: it has none.\n");
    }

    @Test
    void topRefusesReplicasThatWouldCountTwiceOrCannotBeRead() throws Exception {
        String one = replica(1, 1_000_000);
        Cli.run("top", one, "http://" + one + "/").assertRefused(one + " is given twice, and would count twice");
        Cli.run("top", one, "engine").assertRefused("'engine' is neither a process id nor an address");
        Cli.run("top", NOBODY, "4194305")
                .assertRefused(
                        "no replica answers: localhost:1 is left out: Connection refused",
                        "process 4194305 is left out: there is no process 4194305.");
    }

    @Test
    void reportMakesOnePageOfAll() throws Exception {
        String one = replica(1, 1_000_000);
        String two = replica(2, 3_000_000);
        Path page = folder.resolve("both.html");
        assertThat(Cli.run("report", "http://" + one, "http://" + two + "/", "--html", page)
                        .exitCode())
                .isZero();
        assertThat(page).content().contains("these are the sums of " + one + " and " + two, "RmsNorm");
        Cli text = Cli.run("report", "http://" + one, "http://" + two, "--json");
        assertThat(JsonReport.fromJson(text.out()).requests().counts().waiting())
                .isEqualTo(3);
        assertThat(JsonReport.fromJson(text.out())
                        .brick("RmsNorm")
                        .orElseThrow()
                        .count())
                .isEqualTo(4);
        Cli.run("report", "http://" + one, "http://" + NOBODY).assertRefused(NOBODY + " does not answer: ");
        Cli.run("report", "http://" + one, "http://" + one).assertRefused("is given twice, and would count twice");
        Cli.run("report", "http://" + one, "run.json")
                .assertRefused("'run.json' is neither a process id nor an address");
    }

    /** A later version of the same format has keys that this one ignores; a later format is refused. */
    @Spec("8.2")
    @Test
    void readsAgentsOfOtherVersionsAsFarAsItUnderstandsThem() throws Exception {
        BrickProfiler profiler = BrickProfiler.enabled();
        profiler.record(BrickId.RMS_NORM, 1_000, 1);
        String json = JsonReport.toJson(profiler.snapshot());
        String version = json.replaceFirst("(?s).*\"schema_version\": \"([^\"]*)\".*", "$1");
        String later =
                json.replace("\"" + version + "\"", "\"1.999\"").replaceFirst("\\{", "{\"unknown\": {\"a\": [1]},");
        String laterFormat = json.replace("\"" + version + "\"", "\"2.0\"");
        assertThat(Cli.run("top", serve(() -> later), "--count", "1", "--last", "1m")
                        .out())
                .contains("Last 1m: the process states no requests of the last minutes.");
        assertThat(Cli.run("report", "http://" + serve(() -> later)).out()).contains("RmsNorm");
        Cli.run("top", serve(() -> laterFormat)).assertRefused("2.0");
        Cli.run("report", Files.writeString(folder.resolve("later.json"), laterFormat))
                .assertRefused("2.0");
    }
}
