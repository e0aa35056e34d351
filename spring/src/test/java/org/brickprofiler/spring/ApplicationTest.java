package org.brickprofiler.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An application with a web server, as a user writes it, asked over HTTP. */
class ApplicationTest {

    private static final int TOKENS = 3;

    /** An engine that decodes a token for each HTTP request. */
    @SpringBootApplication
    @RestController
    static class Application {

        private final BrickProfiler profiler;

        Application(BrickProfiler profiler) {
            this.profiler = profiler;
        }

        @GetMapping("/token")
        String token() {
            profiler.beginStep(StepInfo.decode(7));
            long started = profiler.startBrick(BrickId.RMS_NORM);
            profiler.stopBrick(started, 1);
            profiler.endPass();
            return "token";
        }
    }

    private static ConfigurableApplicationContext start(String... properties) {
        List<String> arguments =
                new ArrayList<>(List.of("--server.port=0", "--server.address=127.0.0.1", "--logging.level.root=error"));
        arguments.addAll(List.of(properties));
        return SpringApplication.run(Application.class, arguments.toArray(String[]::new));
    }

    private static HttpResponse<String> get(ConfigurableApplicationContext application, String path)
            throws IOException, InterruptedException {
        String port = application.getEnvironment().getRequiredProperty("local.server.port");
        URI address = URI.create("http://127.0.0.1:" + port + path);
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static void decode(ConfigurableApplicationContext application) throws IOException, InterruptedException {
        for (int token = 0; token < TOKENS; token++) {
            assertThat(get(application, "/token").body()).isEqualTo("token");
        }
    }

    @Test
    void theActuatorHasTheReportAndTheMeters() throws Exception {
        try (ConfigurableApplicationContext application =
                start("--management.endpoints.web.exposure.include=brick,prometheus", "--brick.model=llama-3-8b")) {
            decode(application);

            HttpResponse<String> report = get(application, "/actuator/brick");
            assertThat(report.headers().firstValue("Content-Type").orElseThrow())
                    .isEqualTo("text/plain;charset=UTF-8");
            assertThat(report.body()).contains("llama-3-8b").containsPattern("RmsNorm .* " + TOKENS + " ");
            assertThat(metricsWith(application, "brick_samples_total{"))
                    .containsPattern(
                            "brick_samples_total\\{brick=\"RmsNorm\",.*phase=\"decode\".*} " + TOKENS + "\\.0");
        }
    }

    /** Meters of a brick exist some seconds after its first sample. */
    private static String metricsWith(ConfigurableApplicationContext application, String text) throws Exception {
        while (true) {
            HttpResponse<String> metrics = get(application, "/actuator/prometheus");
            assertThat(metrics.statusCode()).as(metrics.body()).isEqualTo(200);
            if (metrics.body().contains(text)) {
                return metrics.body();
            }
            Thread.sleep(100);
        }
    }

    @Test
    void withoutPropertiesItRecordsAndServesNothing() throws Exception {
        try (ConfigurableApplicationContext application = start()) {
            decode(application);

            ProfileSnapshot snapshot = application.getBean(BrickProfiler.class).snapshot();
            assertThat(snapshot.brick("RmsNorm").orElseThrow().count()).isEqualTo(TOKENS);
            assertThat(get(application, "/actuator/brick").statusCode()).isEqualTo(404);
        }
    }

    @Test
    void switchedOffByAPropertyItRecordsNothing() throws Exception {
        try (ConfigurableApplicationContext application =
                start("--brick.enabled=false", "--management.endpoints.web.exposure.include=brick")) {
            decode(application);

            assertThat(application.getBean(BrickProfiler.class).snapshot().bricks())
                    .isEmpty();
            assertThat(get(application, "/actuator/brick").statusCode()).isEqualTo(200);
        }
    }
}
