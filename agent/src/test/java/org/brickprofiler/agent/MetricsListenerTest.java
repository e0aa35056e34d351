package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.BindException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.agent.MetricsListener.Place;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.testing.PrometheusServer;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Spec("20.13")
class MetricsListenerTest {

    @TempDir
    private Path folder;

    private final BrickProfiler profiler = BrickProfiler.enabled();

    MetricsListenerTest() {
        profiler.record(BrickId.LM_HEAD, 1_000, 1);
    }

    private static HttpResponse<String> get(URI address, String accept) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(address).header("Accept", accept).build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    /** Returns an address of this machine at which other machines reach it. */
    private static Optional<InetAddress> outside() throws Exception {
        return NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(each -> each instanceof Inet4Address && !each.isLoopbackAddress())
                .findFirst();
    }

    @Test
    void servesBothFormatsAndNothingElse() throws Exception {
        URI address = URI.create(MetricsListener.open(Place.parse("0"), profiler));
        HttpResponse<String> text = get(address, "text/plain");
        assertThat(text.headers().firstValue("Content-Type")).hasValue("text/plain; version=0.0.4; charset=utf-8");
        assertThat(text.body()).contains("brick_samples_total{brick=\"LmHead\"").doesNotContain("# EOF");
        HttpResponse<String> open = get(address, "application/openmetrics-text;version=1.0.0,text/plain;q=0.5");
        assertThat(open.headers().firstValue("Content-Type"))
                .hasValue("application/openmetrics-text; version=1.0.0; charset=utf-8");
        assertThat(open.body()).endsWith("# EOF\n");
        assertThat(get(address.resolve("/profile.json"), "*/*").statusCode()).isEqualTo(404);
        assertThat(get(address.resolve("/"), "*/*").statusCode()).isEqualTo(404);
    }

    /** Prometheus runs elsewhere, and names the machine as it likes. */
    @Test
    void servesAtAnAddressOfOtherMachines() throws Exception {
        Optional<InetAddress> outside = outside();
        assumeTrue(outside.isPresent(), "this machine has no address but the loopback's");
        String host = outside.orElseThrow().getHostAddress();

        URI address = URI.create(MetricsListener.open(Place.parse(host + ":0"), profiler));

        assertThat(address.getHost()).isEqualTo(host);
        assertThat(get(address, "text/plain").body()).contains("LmHead");
    }

    /** The rate of requests and their percentiles, as an alert asks for them. */
    @Test
    @Timeout(100)
    void aPrometheusServerReadsItOverAnAddressOfOtherMachines() throws Exception {
        Optional<InetAddress> outside = outside();
        assumeTrue(outside.isPresent(), "this machine has no address but the loopback's");
        String host = outside.orElseThrow().getHostAddress();
        for (int i = 0; i < 3; i++) {
            profiler.requests().finished(profiler.requests().arrived(1), Outcome.CANCELLED);
        }
        URI address = URI.create(MetricsListener.open(Place.parse(host + ":0"), profiler));

        try (PrometheusServer prometheus = PrometheusServer.start(folder, host + ":" + address.getPort())) {
            assertThat(prometheus.query("sum by (category) (brick_samples_total)", "category"))
                    .containsExactly(Map.entry("Other", 1.0));
            assertThat(prometheus.query("gen_ai_server_request_duration_seconds_count > 0", "error_type"))
                    .containsExactly(Map.entry("cancelled", 3.0));
            assertThat(prometheus.query(
                            "histogram_quantile(0.99, sum by (le) (gen_ai_server_request_duration_seconds_bucket))",
                            ""))
                    .hasEntrySatisfying("", seconds -> assertThat(seconds).isBetween(0.0, 0.01));
        }
    }

    @Test
    void aTakenPortIsAnErrorUnlessFurtherPortsAreAllowed() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int port = taken.getLocalPort();
            assertThatThrownBy(() -> MetricsListener.open(Place.parse(String.valueOf(port)), profiler))
                    .isInstanceOf(BindException.class);

            URI address = URI.create(MetricsListener.open(Place.parse(port + "+"), profiler));

            assertThat(address.getPort()).isBetween(port + 1, port + 15);
            assertThat(get(address, "text/plain").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void readsPlaces() {
        assertThat(Place.parse("9400")).isEqualTo(new Place("", 9_400, 1)).hasToString("9400");
        assertThat(Place.parse("0.0.0.0:9400+"))
                .isEqualTo(new Place("0.0.0.0", 9_400, 16))
                .hasToString("0.0.0.0:9400+");
        assertThat(Place.parse("[::]:9400").host()).isEqualTo("[::]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "65536", "a b:1", ":9400", "9400++", "-1", "::1:9400", "host:"})
    void refusesOtherTexts(String text) {
        assertThatThrownBy(() -> Place.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("metrics=" + text + " is not [HOST:]PORT");
    }
}
