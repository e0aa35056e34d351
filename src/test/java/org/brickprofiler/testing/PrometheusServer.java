package org.brickprofiler.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A real Prometheus server that reads one page of metrics five times a second. One thread. */
public final class PrometheusServer implements AutoCloseable {

    private final HttpClient client = HttpClient.newHttpClient();
    private final RunningProcess process;
    private final int port;

    private PrometheusServer(RunningProcess process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Starts a server that reads /metrics at a host and port; skips the test if there is no Prometheus. */
    public static PrometheusServer start(Path folder, String target) throws IOException {
        Fixture.PROMETHEUS.needProgram("prometheus");
        int port = freePort();
        Path config = Files.writeString(folder.resolve("prometheus.yml"), """
                global:
                  scrape_interval: 200ms
                  scrape_timeout: 200ms
                scrape_configs:
                  - job_name: bricks
                    static_configs:
                      - targets: ['%s']
                """.formatted(target));
        return new PrometheusServer(
                ChildProcess.of("prometheus")
                        .arguments(List.of(
                                "--config.file=" + config,
                                "--storage.tsdb.path=" + folder.resolve("data"),
                                "--web.listen-address=127.0.0.1:" + port,
                                "--log.level=error"))
                        .start(),
                port);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Queries the server until it is up and the result is not empty; returns the values by a label. */
    public Map<String, Double> query(String expression, String label) throws Exception {
        Map<String, Double> values = Map.of();
        while (values.isEmpty()) {
            values = queryOnce(expression, label);
        }
        return values;
    }

    /** Queries the server until the result has a number; returns whether it had one in time. */
    public boolean hasNumber(String expression, Duration limit) throws Exception {
        long endNs = System.nanoTime() + limit.toNanos();
        while (System.nanoTime() < endNs) {
            if (queryOnce(expression, "").values().stream().anyMatch(Double::isFinite)) {
                return true;
            }
        }
        return false;
    }

    /** Queries the server; returns the values by a label, or nothing after a pause. */
    private Map<String, Double> queryOnce(String expression, String label) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v1/query?query="
                        + URLEncoder.encode(expression, StandardCharsets.UTF_8)))
                .timeout(Duration.ofSeconds(5))
                .build();
        try {
            Map<String, Double> values =
                    values(client.send(request, BodyHandlers.ofString()).body(), label);
            if (!values.isEmpty()) {
                return values;
            }
        } catch (IOException e) {
            // The server does not listen yet; the limit of the caller ends the attempts.
        }
        Thread.sleep(50);
        return Map.of();
    }

    private static Map<String, Double> values(String answer, String label) throws IOException {
        Map<String, Double> values = new TreeMap<>();
        if (answer.startsWith("{")) {
            JsonNode tree = new ObjectMapper().readTree(answer);
            assertThat(tree.path("status").asText()).as(answer).isEqualTo("success");
            for (JsonNode each : tree.path("data").path("result")) {
                double value =
                        Double.parseDouble(each.path("value").path(1).asText().replace("Inf", "Infinity"));
                values.merge(
                        each.path("metric").path(label).asText(),
                        value,
                        (one, other) -> Double.isFinite(one) ? one : other);
            }
        }
        return values;
    }

    @Override
    public void close() {
        process.close();
    }
}
