package org.brickprofiler.metrics.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.assertj.core.data.Offset;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.PrometheusServer;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The real Prometheus server reads the meters, on the loopback interface. */
final class PrometheusIT {

    @TempDir
    private Path folder;

    private final BrickProfiler profiler = BrickProfiler.enabled();
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final HttpServer page;

    PrometheusIT() throws IOException {
        page = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        page.createContext("/metrics", exchange -> {
            byte[] text = registry.scrape().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
            exchange.sendResponseHeaders(200, text.length);
            exchange.getResponseBody().write(text);
            exchange.close();
        });
        page.start();
    }

    @BeforeEach
    void record() {
        profiler.record(BrickId.RMS_NORM, 1_000_000, 7);
        profiler.record(BrickId.QKV_PROJECTION, 2_500_000, 7);
        profiler.record(BrickId.ATTENTION_SCORE, 4_000_123, 7);
        profiler.record("name with \"quotes\", a \\ and\nanother line", 3_141_592, 7);
        profiler.beginStep(StepInfo.prefill(7));
        profiler.endPass();
        BrickMetrics.Factory.create(profiler).bindTo(registry);
    }

    @AfterEach
    void stop() {
        page.stop(0);
    }

    @Spec("20.4")
    @Test
    void promtoolFindsNoFault() throws IOException {
        Fixture.PROMETHEUS.needProgram("promtool");
        Path text = Files.writeString(folder.resolve("metrics"), registry.scrape());
        ProcessResult result = ChildProcess.of("sh")
                .arguments(List.of("-c", "promtool check metrics < " + text))
                .run();

        assertThat(result.output()).isEmpty();
        assertThat(result.exitCode()).isZero();
        assertThat(text)
                .content()
                .contains("brick_time_seconds_total{brick=\"RmsNorm\",category=\"Norm\",phase=\"none\"} 0.001")
                .contains("brick_step_tokens_total{kind=\"prompt\",phase=\"prefill\"} 7.0");
    }

    @Spec("20.4")
    @Test
    @Timeout(100)
    void theSharesOfCategoriesInPrometheusAreThoseOfTheSnapshot() throws Exception {
        Fixture.PROMETHEUS.needProgram("prometheus");
        ProfileSnapshot snapshot = profiler.snapshot();
        try (PrometheusServer prometheus = PrometheusServer.start(
                folder,
                page.getAddress().getHostString() + ":" + page.getAddress().getPort())) {
            Map<String, Double> samples = prometheus.query("sum by (category) (brick_samples_total)", "category");
            assertThat(samples).hasSize(3);
            Map<String, Double> shares = prometheus.query(
                    "100 * sum by (category) (brick_time_seconds_total) / scalar(sum(brick_time_seconds_total))",
                    "category");

            Map<String, Double> expected = new TreeMap<>();
            snapshot.categories().forEach((category, stats) -> {
                if (stats.count() > 0) {
                    expected.put(category.displayName(), stats.percentage(snapshot.totalNs()));
                }
            });
            assertThat(shares.keySet()).isEqualTo(expected.keySet());
            shares.forEach((category, percent) ->
                    assertThat(percent).as(category).isCloseTo(expected.get(category), Offset.offset(1e-9)));
        }
    }
}
