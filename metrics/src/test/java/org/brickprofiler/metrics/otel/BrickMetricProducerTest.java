package org.brickprofiler.metrics.otel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceResponse;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.export.PeriodicMetricReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.assertj.core.api.Assertions;
import org.assertj.core.data.Percentage;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** OpenTelemetry's own exporter sends the metrics by OTLP, and the classes of its protocol read the messages. */
final class BrickMetricProducerTest {

    private static final Attributes GEN_AI = Attributes.of(
            AttributeKey.stringKey("gen_ai.operation.name"), "chat",
            AttributeKey.stringKey("gen_ai.provider.name"), "test");

    private static final Duration LONGEST_FLUSH = Duration.ofSeconds(20);

    private final FakeClock clock = new FakeClock();
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
    private final List<ExportMetricsServiceRequest> messages = Collections.synchronizedList(new ArrayList<>());
    private final HttpServer receiver;
    private final SdkMeterProvider provider;

    BrickMetricProducerTest() throws IOException {
        profiler.enable();
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/v1/metrics", exchange -> {
            messages.add(ExportMetricsServiceRequest.parseFrom(exchange.getRequestBody()));
            byte[] answer = ExportMetricsServiceResponse.getDefaultInstance().toByteArray();
            exchange.getResponseHeaders().set("Content-Type", "application/x-protobuf");
            exchange.sendResponseHeaders(200, answer.length == 0 ? -1 : answer.length);
            exchange.close();
        });
        receiver.start();
        provider = SdkMeterProvider.builder()
                .registerMetricReader(PeriodicMetricReader.builder(OtlpHttpMetricExporter.builder()
                                .setEndpoint("http://" + receiver.getAddress().getHostString() + ":"
                                        + receiver.getAddress().getPort() + "/v1/metrics")
                                .build())
                        .setInterval(Duration.ofDays(1))
                        .build())
                .registerMetricProducer(BrickMetricProducer.Factory.create(profiler, GEN_AI))
                .build();
    }

    @AfterEach
    void stop() {
        provider.close();
        receiver.stop(0);
    }

    /** The content of one message. */
    private record Received(Map<String, Metric> metrics) {
        Metric metric(String name) {
            return Objects.requireNonNull(metrics.get(name), name);
        }
    }

    /**
     * OpenTelemetry reports the end of an export a moment before it is ready for the next one, and refuses until then.
     */
    private void flush() {
        long endNs = System.nanoTime() + LONGEST_FLUSH.toNanos();
        boolean isFlushed;
        do {
            isFlushed = provider.forceFlush()
                    .join(LONGEST_FLUSH.toSeconds(), TimeUnit.SECONDS)
                    .isSuccess();
        } while (!isFlushed && messages.isEmpty() && System.nanoTime() < endNs);
        assertThat(isFlushed).isTrue();
    }

    private Received export() {
        messages.clear();
        flush();
        assertThat(messages).hasSize(1);
        List<ResourceMetrics> resources = messages.get(0).getResourceMetricsList();
        assertThat(resources).hasSize(1);
        // The SDK sends figures of its own, too.
        return new Received(resources.get(0).getScopeMetricsList().stream()
                .filter(scope -> scope.getScope().getName().equals("org.brickprofiler"))
                .flatMap(scope -> scope.getMetricsList().stream())
                .collect(Collectors.toMap(Metric::getName, Function.identity())));
    }

    private static NumberDataPoint point(Metric metric, String brick) {
        return metric.getSum().getDataPointsList().stream()
                .filter(point -> attribute(point, "brick.name").equals(brick))
                .findFirst()
                .orElseThrow();
    }

    private static String attribute(NumberDataPoint point, String key) {
        return attribute(point.getAttributesList(), key);
    }

    private static String attribute(List<KeyValue> attributes, String key) {
        return attributes.stream()
                .filter(each -> each.getKey().equals(key))
                .map(KeyValue::getValue)
                .map(value -> value.getStringValue())
                .findFirst()
                .orElse("");
    }

    @Spec("20.5")
    @Test
    void theMessageContainsTheSnapshot() {
        profiler.record(BrickId.RMS_NORM, 1_500_000_000, 7);
        profiler.record("mine", 250_000_000, 9);
        profiler.record("mine", 250_000_000, 9);
        clock.advance(2_000_000_000L);
        Received received = export();

        ProfileSnapshot snapshot = profiler.snapshot();
        for (BrickStats brick : snapshot.bricks()) {
            NumberDataPoint time = point(received.metric("brick.time"), brick.name());
            assertThat(time.getAsDouble()).isEqualTo(brick.totalNs() / 1e9);
            assertThat(attribute(time, "brick.category"))
                    .isEqualTo(brick.category().displayName());
            assertThat(point(received.metric("brick.samples"), brick.name()).getAsInt())
                    .isEqualTo(brick.count());
            assertThat(point(received.metric("brick.elements"), brick.name()).getAsInt())
                    .isEqualTo(brick.totalElements());
        }
        assertThat(received.metric("brick.time").getSum().getDataPointsCount()).isEqualTo(2);
        assertThat(received.metric("brick.time").getUnit()).isEqualTo("s");
        assertThat(received.metric("brick.wall").getSum().getDataPoints(0).getAsDouble())
                .isEqualTo(snapshot.wallNs() / 1e9)
                .isEqualTo(2.0);
        assertThat(received.metrics().keySet())
                .containsExactlyInAnyOrder(
                        "brick.time",
                        "brick.samples",
                        "brick.elements",
                        "brick.jvm.gc_time",
                        "brick.jvm.compilation_time",
                        "brick.run",
                        "brick.wall",
                        "brick.overhead",
                        "brick.unresolved");
        assertThat(received.metrics().values())
                .filteredOn(Metric::hasSum)
                .hasSize(8)
                .allSatisfy(metric -> {
                    assertThat(metric.getSum().getIsMonotonic()).isTrue();
                    assertThat(metric.getSum().getAggregationTemporality())
                            .isEqualTo(AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE);
                });
    }

    @Spec("20.5")
    @Test
    void aResetBeginsTheSumsAnew() {
        profiler.record(BrickId.RMS_NORM, 100, 7);
        NumberDataPoint before = point(export().metric("brick.samples"), "RmsNorm");
        profiler.reset();
        profiler.record(BrickId.RMS_NORM, 100, 7);
        NumberDataPoint after = point(export().metric("brick.samples"), "RmsNorm");

        assertThat(after.getAsInt()).isEqualTo(1);
        assertThat(after.getStartTimeUnixNano()).isGreaterThanOrEqualTo(before.getTimeUnixNano());
        assertThat(after.getTimeUnixNano()).isGreaterThanOrEqualTo(after.getStartTimeUnixNano());
    }

    @Spec("20.7")
    @Test
    void stepsArriveAndTheirTokenTimesByTheConventionsForGenerativeModels() {
        profiler.beginStep(StepInfo.prefill(100));
        clock.advance(64_000_000);
        profiler.endPass();
        for (int i = 0; i < 9; i++) {
            profiler.beginStep(StepInfo.decode(101 + i));
            clock.advance(i < 8 ? 16_000_000 : 600_000_000);
            profiler.endPass();
        }
        Received received = export();

        List<NumberDataPoint> steps = received.metric("brick.steps").getSum().getDataPointsList();
        assertThat(steps)
                .extracting(point -> attribute(point, "brick.step.phase"), NumberDataPoint::getAsInt)
                .containsExactly(Assertions.tuple("prefill", 1L), Assertions.tuple("decode", 9L));
        assertThat(received.metric("brick.batch").getGauge().getDataPointsList())
                .extracting(point -> attribute(point, "brick.step.phase"), NumberDataPoint::getAsInt)
                .containsExactly(Assertions.tuple("prefill", 1L), Assertions.tuple("decode", 1L));
        assertThat(received.metric("brick.kv_cache.tokens").getGauge().getDataPointsList())
                .extracting(NumberDataPoint::getAsInt)
                .containsExactly(109L);
        HistogramDataPoint first = histogram(received, "gen_ai.server.time_to_first_token");
        assertThat(first.getCount()).isEqualTo(1);
        assertThat(first.getExplicitBoundsList())
                .startsWith(0.001, 0.005, 0.01)
                .endsWith(5.0, 7.5, 10.0)
                .hasSize(16);
        assertThat(first.getBucketCountsList()).hasSize(17);
        assertThat(first.getBucketCounts(6)).as("above 0.06, to 0.08").isEqualTo(1);
        assertThat(first.getAttributesList())
                .extracting(KeyValue::getKey)
                .containsExactlyInAnyOrder("gen_ai.operation.name", "gen_ai.provider.name");
        HistogramDataPoint each = histogram(received, "gen_ai.server.time_per_output_token");
        assertThat(each.getCount()).isEqualTo(9);
        assertThat(each.getBucketCounts(1)).as("above 0.01, to 0.025").isEqualTo(8);
        assertThat(each.getBucketCounts(10)).as("above 0.5, to 0.75").isEqualTo(1);
        assertThat(each.getSum()).isCloseTo(0.728, Percentage.withPercentage(1));
        assertThat(each.getMin()).isCloseTo(0.016, Percentage.withPercentage(1));
        assertThat(each.getMax()).isCloseTo(0.6, Percentage.withPercentage(1));
    }

    @Spec("20.7")
    @Test
    void ifRequestsAreRecordedTheTimesAreThoseOfRequests() {
        RequestRecorder requests = profiler.requests();
        long request = requests.arrived(100);
        clock.advance(300_000_000);
        profiler.beginStep(StepInfo.prefill(100));
        requests.inStep(request, 100);
        clock.advance(64_000_000);
        profiler.endPass();
        requests.finished(request, Outcome.LENGTH);
        Received received = export();

        HistogramDataPoint first = histogram(received, "gen_ai.server.time_to_first_token");
        assertThat(first.getBucketCounts(9)).as("above 0.25, to 0.5").isEqualTo(1);
        HistogramDataPoint duration = histogram(received, "gen_ai.server.request.duration");
        assertThat(duration.getBucketCounts(6)).as("above 0.32, to 0.64").isEqualTo(1);
        assertThat(duration.getExplicitBoundsList()).startsWith(0.01, 0.02).endsWith(40.96, 81.92);
        assertThat(received.metric("brick.requests").getSum().getDataPointsList())
                .filteredOn(point -> point.getAsInt() > 0)
                .extracting(point -> attribute(point, "brick.request.outcome"), NumberDataPoint::getAsInt)
                .containsExactly(Assertions.tuple("length", 1L));
        assertThat(received.metric("brick.request.time").getSum().getDataPointsList())
                .filteredOn(point -> point.getAsDouble() > 0)
                .extracting(point -> attribute(point, "brick.request.cause"), NumberDataPoint::getAsDouble)
                .containsExactly(Assertions.tuple("queued_idle", 0.3), Assertions.tuple("own_prompt", 0.064));
    }

    /** A request that is cancelled at once may have lasted less than the clock's resolution. */
    @Spec("20.7")
    @Test
    void requestsWithoutAnAnswerHaveTheirOwnDurations() {
        RequestRecorder requests = profiler.requests();
        requests.finished(requests.arrived(1), Outcome.CANCELLED);
        long request = requests.arrived(1);
        clock.advance(1_000_000_000);
        requests.finished(request, Outcome.CANCELLED);

        HistogramDataPoint duration = histogram(export(), "gen_ai.server.request.duration");
        assertThat(attribute(duration.getAttributesList(), "error.type")).isEqualTo("cancelled");
        assertThat(duration.getCount()).isEqualTo(2);
        assertThat(duration.getSum()).isEqualTo(1);
        assertThat(duration.getBucketCounts(0)).isEqualTo(1);
        assertThat(duration.getBucketCounts(7)).as("above 0.64, to 1.28").isEqualTo(1);
    }

    /** Nobody names the model of the run. */
    @Spec("25.28")
    @Test
    void requestsHaveTheModelThatTheyName() {
        RequestRecorder requests = profiler.requests();
        for (String model : List.of("", "other")) {
            long request = requests.arrived(7);
            requests.model(request, model);
            clock.advance(1_000);
            requests.finished(request, Outcome.CANCELLED);
        }
        Received received = export();

        assertThat(received.metric("gen_ai.server.request.duration")
                        .getHistogram()
                        .getDataPointsList())
                .extracting(point -> attribute(point.getAttributesList(), "gen_ai.request.model"))
                .containsExactlyInAnyOrder("", "other");
        assertThat(received.metric("brick.model.requests").getSum().getDataPointsList())
                .filteredOn(point -> point.getAsInt() > 0)
                .extracting(point -> attribute(point, "gen_ai.request.model"))
                .containsExactlyInAnyOrder("(unknown)", "other");
    }

    private static HistogramDataPoint histogram(Received received, String name) {
        assertThat(received.metric(name).getUnit()).isEqualTo("s");
        return received.metric(name).getHistogram().getDataPoints(0);
    }

    @Test
    void requiredAttributesMustBeGiven() {
        assertThatThrownBy(() -> BrickMetricProducer.Factory.create(
                        profiler, Attributes.of(AttributeKey.stringKey("gen_ai.operation.name"), "chat")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("gen_ai.provider.name");
    }
}
