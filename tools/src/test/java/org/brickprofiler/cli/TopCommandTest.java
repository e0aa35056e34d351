package org.brickprofiler.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.SampleLines;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopCommandTest {

    private final BrickProfiler profiler = new BrickProfiler();
    private final Map<String, Object> further = new HashMap<>();

    private Cli top(int count) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        AtomicInteger answers = new AtomicInteger();
        server.createContext("/profile.json", exchange -> {
            try (exchange) {
                if (answers.getAndIncrement() > count) {
                    return;
                }
                profiler.record(BrickId.RMS_NORM, 1_000_000, 1);
                profiler.record(BrickId.FUSED_ATTENTION, 1_000, 1);
                Map<String, Object> entries = new HashMap<>(profiler.progress().reportEntries());
                entries.putAll(further);
                byte[] json = JsonReport.toJson(profiler.snapshot(), entries).getBytes(UTF_8);
                exchange.sendResponseHeaders(200, json.length);
                exchange.getResponseBody().write(json);
            }
        });
        server.start();
        try {
            return Cli.run("top", "localhost:" + server.getAddress().getPort(), "--count", "5", "--last", "5m");
        } finally {
            server.stop(0);
        }
    }

    /** The engine ends after the first block. */
    @Spec("25.16")
    @Test
    void watchesUntilTheProcessEnds() throws Exception {
        profiler.enable();
        Cli top = top(1);
        assertThat(top.exitCode()).isZero();
        assertThat(top.out())
                .contains("brick top: localhost:", "The last 1", "RmsNorm         Norm")
                .doesNotContain("Under way");
        assertThat(top.err()).contains(" has ended");
    }

    @Test
    void showsTheRequestsUnderWayBeforeTheFirstHasFinished() throws Exception {
        profiler.enable();
        profiler.requests().arrived(1);
        assertThat(top(1).out())
                .contains(
                        "\n\nUnder way: 0 steps; 0 running requests, 1 waiting request.\nThe oldest request arrived ");
    }

    @Test
    void showsTheHottestLinesOfTheLargestBricks() throws Exception {
        profiler.enable();
        further.put(JsonReport.LINES, SampleLines.some().values());
        assertThat(top(1).out())
                .contains("\n\nLines of bricks since the last reset\n", """
                  FusedAttention in decode steps, 525 samples (40 of workers)
                      64 % (60 to 68)    org.example.VectorMath.dot line 88, interpreted
                """)
                .doesNotContain("GateProjection");
        further.put(JsonReport.LINES, Map.of());
        assertThat(top(1).out())
                .contains("reset\n  No lines: in_bricks of lines of bricks is not a whole number: null.\n");
    }

    @Spec("25.17")
    @Test
    void refusesAProfilerThatIsOff() throws Exception {
        Cli top = top(1);
        assertThat(top.exitCode()).isEqualTo(2);
        assertThat(top.err()).contains("is off: BRICK_PROFILER=off switches all profilers off");
    }

    @Spec("25.17")
    @ParameterizedTest
    @CsvSource({
        "engine, 'engine' is neither a process id nor an address such as localhost:8080",
        "https://localhost:1/, is neither a process id nor an address",
        "localhost:1, localhost:1 does not answer: ",
        "4194305, there is no process 4194305"
    })
    void refusesTargetsThatItCannotReach(String target, String message) {
        Cli top = Cli.run("top", target, "--count", "1");
        assertThat(top.exitCode()).isEqualTo(2);
        assertThat(top.err()).startsWith("brick: ").contains(message);
    }

    @Test
    void showsTheLatenciesOfTheLastMinutes() throws Exception {
        profiler.enable();
        profiler.requests().finished(profiler.requests().arrived(1), Outcome.FAILED);
        assertThat(top(1).out())
                .contains("\n\nLast 5 minutes: 1 request finished, 1 of them failed.\n\n")
                .doesNotContain("Last 1 minute");
        assertThat(Cli.run("top", "1", "--last", "2m").err()).contains("--last 2m is none of 1m, 5m and 60m");
    }

    @Test
    void refusesACountOfNone() {
        assertThat(Cli.run("top", "1", "--count", "0").err()).contains("--count 0 is not above 0");
    }
}
