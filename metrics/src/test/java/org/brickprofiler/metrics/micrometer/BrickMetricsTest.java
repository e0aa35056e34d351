package org.brickprofiler.metrics.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Offset;
import org.assertj.core.data.Percentage;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.metrics.RecentSnapshot;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.testing.Collected;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class BrickMetricsTest {

    private final FakeClock clock = new FakeClock();
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    BrickMetricsTest() {
        profiler.enable();
    }

    private BrickMetrics metrics(int most) {
        RecentSnapshot recent = new RecentSnapshot(profiler, Duration.ofNanos(1), clock);
        return new BrickMetrics(recent, Tags.of("engine", "a"), most);
    }

    private FunctionTimer time(String brick) {
        return registry.get("brick.time").tag("brick", brick).functionTimer();
    }

    private FunctionCounter elements(String brick) {
        return registry.get("brick.elements").tag("brick", brick).functionCounter();
    }

    @Spec("20.1")
    @Test
    void theMetersHaveTheSumsOfTheSnapshot() {
        profiler.record(BrickId.RMS_NORM, 1_500_000_000, 7);
        profiler.record(BrickId.RMS_NORM, 500_000_000, 1);
        metrics(9).bindTo(registry);
        clock.advance(2_500_000_000L);

        assertThat(time("RmsNorm").count()).isEqualTo(2);
        assertThat(time("RmsNorm").totalTime(TimeUnit.SECONDS)).isEqualTo(2.0);
        assertThat(time("RmsNorm").getId().getTag("category")).isEqualTo("Norm");
        assertThat(elements("RmsNorm").count()).isEqualTo(8);
        assertThat(registry.get("brick.wall")
                        .tag("engine", "a")
                        .functionCounter()
                        .count())
                .isEqualTo(2.5);
        assertThat(registry.get("brick.overhead").functionCounter().count())
                .isEqualTo(profiler.snapshot().overheadNs() / 1e9);
        assertThat(registry.get("brick.unresolved").functionCounter().count()).isZero();
        assertThat(registry.getMeters()).allSatisfy(meter -> {
            Meter.Id id = meter.getId();
            assertThat(id.getTag("engine")).isEqualTo("a");
            assertThat(id.getDescription()).isNotBlank();
        });
    }

    @Test
    void aBrickThatIsNewGetsItsMetersInEveryRegistry() {
        SimpleMeterRegistry second = new SimpleMeterRegistry();
        BrickMetrics metrics = metrics(9);
        metrics.bindTo(registry);
        metrics.bindTo(second);
        assertThat(registry.find("brick.time").meters()).isEmpty();

        profiler.record(BrickId.ROPE_EMBEDDING, 30, 4);
        clock.advance(1);
        registry.get("brick.wall").functionCounter().count();

        assertThat(time("RopeEmbedding").count()).isEqualTo(1);
        assertThat(second.get("brick.elements").functionCounter().count()).isEqualTo(4);
    }

    @Spec("20.7")
    @Test
    void requestsHaveMetersByOutcomeAndByCause() {
        metrics(9).bindTo(registry);
        RequestRecorder requests = profiler.requests();
        long request = requests.arrived(100);
        clock.advance(300_000_000);
        profiler.beginStep(StepInfo.prefill(100));
        requests.inStep(request, 100);
        clock.advance(64_000_000);
        profiler.endPass();
        requests.finished(request, Outcome.CANCELLED);
        registry.get("brick.wall").functionCounter().count();

        assertThat(registry.get("brick.requests")
                        .tag("outcome", "cancelled")
                        .functionCounter()
                        .count())
                .isEqualTo(1);
        assertThat(registry.get("brick.request.time")
                        .tag("cause", "queued_idle")
                        .functionCounter()
                        .count())
                .isCloseTo(0.3, Offset.offset(1e-9));
        assertThat(registry.get("brick.first.token")
                        .tag("percentile", "50")
                        .timeGauge()
                        .value(TimeUnit.MILLISECONDS))
                .isCloseTo(364, Percentage.withPercentage(1));
    }

    @Spec("20.7")
    @Test
    void stepsHaveMetersByPhaseAndTheTimesOfTokens() {
        metrics(9).bindTo(registry);
        assertThat(registry.find("brick.step.time").meters()).isEmpty();
        profiler.beginStep(StepInfo.prefill(100));
        clock.advance(64_000_000);
        profiler.endPass();
        profiler.beginStep(StepInfo.decode(101).withBatch(4));
        clock.advance(16_000_000);
        profiler.endPass();
        registry.get("brick.wall").functionCounter().count();

        FunctionTimer decode =
                registry.get("brick.step.time").tag("phase", "decode").functionTimer();
        assertThat(decode.count()).isEqualTo(1);
        assertThat(decode.totalTime(TimeUnit.MILLISECONDS)).isCloseTo(16, Offset.offset(1e-9));
        assertThat(registry.get("brick.step.prefill.tokens")
                        .tag("phase", "prefill")
                        .functionCounter()
                        .count())
                .isEqualTo(100);
        assertThat(registry.get("brick.step.output.tokens")
                        .tag("phase", "decode")
                        .functionCounter()
                        .count())
                .isEqualTo(4);
        assertThat(registry.get("brick.first.token")
                        .tag("percentile", "99")
                        .timeGauge()
                        .value(TimeUnit.MILLISECONDS))
                .isCloseTo(64, Percentage.withPercentage(1));
        assertThat(registry.get("brick.output.token")
                        .tag("percentile", "50")
                        .timeGauge()
                        .value(TimeUnit.MILLISECONDS))
                .isCloseTo(16, Percentage.withPercentage(1));
        assertThat(registry.find("brick.first.token").meters()).hasSize(3);

        SimpleMeterRegistry later = new SimpleMeterRegistry();
        metrics(9).bindTo(later);
        assertThat(later.find("brick.step.time").meters()).hasSize(2);
        assertThat(later.find("brick.output.token").meters()).hasSize(3);
    }

    @Spec("20.2")
    @Test
    void noMoreSeriesThanTheBoundAndOnePerCategory() {
        metrics(3).bindTo(registry);
        for (int i = 0; i < 500; i++) {
            profiler.record("request " + i, 10, 1);
            clock.advance(1);
            registry.get("brick.wall").functionCounter().count();
        }

        assertThat(registry.find("brick.time").meters()).hasSize(4);
        assertThat(time("(other names)").count()).isEqualTo(497);
    }

    @Spec("20.3")
    @Test
    void valuesThatAreReadTogetherComeFromOneSnapshot() {
        profiler.record(BrickId.ROPE_EMBEDDING, 30, 4);
        metrics(9).bindTo(registry);
        double before = time("RopeEmbedding").count();
        profiler.record(BrickId.ROPE_EMBEDDING, 30, 4);

        assertThat(before).isEqualTo(1);
        assertThat(elements("RopeEmbedding").count()).isEqualTo(4);
        clock.advance(1);
        assertThat(elements("RopeEmbedding").count()).isEqualTo(8);
    }

    @Test
    void aResetOfTheProfilerIsAResetOfTheCounters() {
        profiler.record(BrickId.ROPE_EMBEDDING, 30, 4);
        metrics(9).bindTo(registry);
        assertThat(time("RopeEmbedding").count()).isEqualTo(1);
        profiler.reset();
        clock.advance(1);

        assertThat(time("RopeEmbedding").count()).isZero();
        assertThat(elements("RopeEmbedding").count()).isZero();
    }

    /** A registry has only a weak reference to the object whose function a meter reads. */
    @Test
    void theMetersKeepTheirBinder() {
        WeakReference<BrickMetrics> binder = bound();
        Collected.until(new WeakReference<>(new Object()));
        profiler.record(BrickId.ROPE_EMBEDDING, 30, 4);
        clock.advance(1);

        assertThat(elements("RopeEmbedding").count()).isEqualTo(5);
        assertThat(binder.get()).isNotNull();
    }

    private WeakReference<BrickMetrics> bound() {
        profiler.record(BrickId.ROPE_EMBEDDING, 30, 1);
        BrickMetrics metrics = Objects.requireNonNull(metrics(9));
        metrics.bindTo(registry);
        return new WeakReference<>(metrics);
    }

    /** New bricks are found even if nothing is read, so the first scrape after them shows all their series. */
    @Spec("20.9")
    @Test
    void theFirstScrapeAfterANewBrickIsWhole() throws InterruptedException {
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        BrickProfiler each = BrickProfiler.enabled();
        BrickMetrics metrics = BrickMetrics.Factory.create(each);
        metrics.bindTo(prometheus);
        CountDownLatch registered = new CountDownLatch(4);
        prometheus.config().onMeterAdded(meter -> {
            if (meter.getId().getTag("brick") != null) {
                registered.countDown();
            }
        });
        each.record(BrickId.LM_HEAD, 3_000_000, 5);
        each.record("mine", 4_000_000, 6);
        each.beginStep(StepInfo.prefill(7));
        each.endPass();
        assertThat(registered.await(60, TimeUnit.SECONDS)).isTrue();
        // The binder registers the other meters of the same snapshot after its bricks, and holds its own lock
        // meanwhile.
        synchronized (metrics) {
            assertThat(prometheus.find("brick.step.time").meters()).hasSize(1);
        }

        String scrape = prometheus.scrape();
        for (String brick : new String[] {"brick=\"LmHead\"", "brick=\"mine\""}) {
            assertThat(scrape.lines().filter(line -> line.contains(brick)))
                    .anyMatch(line -> line.startsWith("brick_time_seconds_sum") && !line.endsWith(" 0.0"))
                    .anyMatch(line -> line.startsWith("brick_time_seconds_count") && line.endsWith(" 1"))
                    .anyMatch(line -> line.startsWith("brick_elements_total") && !line.endsWith(" 0.0"));
        }
        assertThat(scrape).contains("brick_step_prefill_tokens_total{phase=\"prefill\"} 7.0");
    }
}
