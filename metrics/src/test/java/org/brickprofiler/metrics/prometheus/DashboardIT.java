package org.brickprofiler.metrics.prometheus;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.access.ProfilerAccess;
import org.brickprofiler.metrics.prometheus.MetricsPage.Format;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.PrometheusServer;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The dashboard of Grafana, whose queries a real Prometheus server answers while requests are served. */
@OneJdk
@Spec("20.15")
final class DashboardIT {

    private static final Pattern VALUES = Pattern.compile("label_values\\((.*), (\\w+)\\)");
    private static final Duration LIMIT = Duration.ofSeconds(20);

    @TempDir
    private Path folder;

    private final BrickProfiler profiler = BrickProfiler.builder()
            .stepCpuTimes(true)
            .identity(RunIdentity.builder().model("tiny").build())
            .build();
    private final MetricsPage page = new MetricsPage();
    private final HttpServer http;
    private final Thread server = new Thread(this::serve, "engine");

    DashboardIT() throws IOException {
        profiler.enable();
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.createContext("/metrics", exchange -> {
            byte[] text = text().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", Format.PROMETHEUS.type());
            exchange.sendResponseHeaders(200, text.length);
            exchange.getResponseBody().write(text);
            exchange.close();
        });
    }

    private String text() {
        return page.render(ProfilerAccess.sums(profiler), Format.PROMETHEUS);
    }

    @BeforeEach
    void start() {
        http.start();
        server.start();
    }

    @AfterEach
    void stop() throws InterruptedException {
        server.interrupt();
        server.join();
        http.stop(0);
    }

    /** Serves one request after another until it is interrupted; a second one always waits. */
    private void serve() {
        try {
            long next = profiler.requests().arrived(16);
            for (int served = 0; ; served++) {
                long request = next;
                next = profiler.requests().arrived(16);
                step(request, StepInfo.prefill(16), 16);
                step(request, StepInfo.decode(17), 0);
                step(request, StepInfo.decode(18), 0);
                profiler.requests().finished(request, served % 8 == 7 ? Outcome.FAILED : Outcome.COMPLETED);
            }
        } catch (InterruptedException stopped) {
            // The test has ended.
        }
    }

    private void step(long request, StepInfo info, long promptTokens) throws InterruptedException {
        profiler.beginStep(info);
        profiler.requests().inStep(request, promptTokens);
        long timer = profiler.startBrick(BrickId.LM_HEAD);
        Thread.sleep(3);
        profiler.stopBrick(timer, 1);
        profiler.endPass();
    }

    private static JsonNode dashboard() throws IOException {
        return new ObjectMapper()
                .readTree(SourceTree.path("metrics", "grafana", "brick-profiler.json")
                        .toFile());
    }

    /** Returns the queries of all panels, with values in place of the variables. */
    private static List<String> queries() throws IOException {
        List<String> queries = new ArrayList<>();
        for (JsonNode panel : dashboard().path("panels")) {
            for (JsonNode target : panel.path("targets")) {
                queries.add(filled(target.path("expr").asText()));
            }
        }
        return queries;
    }

    private static String filled(String query) {
        String filled = query.replace("$__rate_interval", "5s")
                .replace("$job", "bricks")
                .replace("$instance", "127.0.0.1:.*")
                .replace("$model", "tiny");
        assertThat(filled).as("a variable without a value").doesNotContain("$");
        return filled;
    }

    @Test
    @Timeout(300)
    void eachQueryHasAResult() throws Exception {
        List<String> queries = queries();
        assertThat(queries).hasSizeGreaterThan(25);
        try (PrometheusServer prometheus = PrometheusServer.start(
                folder,
                http.getAddress().getHostString() + ":" + http.getAddress().getPort())) {
            for (String query : queries) {
                // Some systems do not report how long a thread waited for a processor.
                String waiting = "state=\"waiting\"";
                if (!query.contains(waiting) || text().contains(waiting)) {
                    assertThat(prometheus.hasNumber(query, LIMIT)).as(query).isTrue();
                }
            }
            for (JsonNode variable : dashboard().path("templating").path("list")) {
                if (variable.path("type").asText().equals("query")) {
                    Matcher values =
                            VALUES.matcher(filled(variable.path("definition").asText()));
                    assertThat(values.matches()).as(variable.toString()).isTrue();
                    String series = "count by (%2$s) (%1$s)".formatted(values.group(1), values.group(2));
                    assertThat(prometheus.query(series, values.group(2)))
                            .as(series)
                            .doesNotContainKey("");
                }
            }
            assertThat(prometheus.hasNumber("rate(brick_no_such_series_total[5s])", Duration.ofSeconds(1)))
                    .isFalse();
        }
    }

    @Test
    void panelsHaveAPlaceATitleAndTheDataSourceOfTheVariable() throws Exception {
        Set<Integer> ids = new HashSet<>();
        Set<String> cells = new HashSet<>();
        for (JsonNode panel : dashboard().path("panels")) {
            String title = panel.path("title").asText();
            assertThat(title).isNotBlank();
            assertThat(ids.add(panel.path("id").asInt())).as(title).isTrue();
            JsonNode place = panel.path("gridPos");
            for (int x = 0; x < place.path("w").asInt(); x++) {
                for (int y = 0; y < place.path("h").asInt(); y++) {
                    int column = place.path("x").asInt() + x;
                    assertThat(column).as(title).isLessThan(24);
                    assertThat(cells.add(column + " " + (place.path("y").asInt() + y)))
                            .as(title)
                            .isTrue();
                }
            }
            for (JsonNode target : panel.path("targets")) {
                assertThat(target.path("datasource").path("uid").asText())
                        .as(title)
                        .isEqualTo("${datasource}");
            }
        }
        assertThat(ids).hasSizeGreaterThan(15);
    }
}
