package org.brickprofiler.metrics.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Offset;
import org.assertj.core.data.Percentage;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.access.ProfilerAccess;
import org.brickprofiler.metrics.Recent;
import org.brickprofiler.metrics.prometheus.MetricsPage;
import org.brickprofiler.request.LatencyHistogram;
import org.brickprofiler.request.LatencyHistogram.Kind;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.testing.Collected;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class BrickMetricsTest {

    private final FakeClock clock = new FakeClock();
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    BrickMetricsTest() {
        profiler.enable();
    }

    private BrickMetrics metrics(int most) {
        return metrics(most, Tags.of("engine", "a"));
    }

    private BrickMetrics metrics(int most, Tags tags) {
        return new BrickMetrics(
                new Recent<>(() -> ProfilerAccess.sums(profiler), Duration.ofNanos(1), clock), tags, most);
    }

    private FunctionCounter ofBrick(String name, String brick) {
        return registry.get(name).tag("brick", brick).functionCounter();
    }

    private double samples(String brick) {
        return ofBrick("brick.samples", brick).count();
    }

    private double elements(String brick) {
        return ofBrick("brick.elements", brick).count();
    }

    private double count(String name, String... tags) {
        return registry.get(name).tags(tags).functionCounter().count();
    }

    @Spec("20.1")
    @Test
    void theMetersHaveTheSumsOfTheSnapshot() {
        profiler.record(BrickId.RMS_NORM, 1_500_000_000, 7);
        profiler.record(BrickId.RMS_NORM, 500_000_000, 1);
        metrics(9).bindTo(registry);
        clock.advance(2_500_000_000L);

        assertThat(samples("RmsNorm")).isEqualTo(2);
        assertThat(ofBrick("brick.time", "RmsNorm").count()).isEqualTo(2.0);
        assertThat(ofBrick("brick.time", "RmsNorm").getId())
                .satisfies(id -> assertThat(id.getTag("category")).isEqualTo("Norm"))
                .satisfies(id -> assertThat(id.getTag("phase")).isEqualTo("none"));
        assertThat(elements("RmsNorm")).isEqualTo(8);
        assertThat(count("brick.wall", "engine", "a")).isEqualTo(2.5);
        assertThat(count("brick.overhead")).isEqualTo(profiler.snapshot().overheadNs() / 1e9);
        assertThat(count("brick.unresolved")).isZero();
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
        count("brick.wall");

        assertThat(samples("RopeEmbedding")).isEqualTo(1);
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
        long waiting = requests.arrived(1);
        count("brick.wall");

        assertThat(count("brick.requests", "outcome", "cancelled")).isEqualTo(1);
        assertThat(count("brick.requests.arrived")).isEqualTo(2);
        assertThat(count("brick.request.tokens", "kind", "prompt")).isEqualTo(100);
        assertThat(registry.get("brick.requests.waiting").gauge().value()).isEqualTo(1);
        assertThat(registry.get("brick.requests.running").gauge().value()).isZero();
        requests.abandoned(waiting);
        assertThat(count("brick.request.time", "cause", "queued_idle")).isCloseTo(0.3, Offset.offset(1e-9));
        assertThat(registry.get("brick.first.token")
                        .tag("percentile", "50")
                        .timeGauge()
                        .value(TimeUnit.MILLISECONDS))
                .isCloseTo(364, Percentage.withPercentage(1));
    }

    /** The meters of a request without a model stay as they are when another request names one. */
    @Spec("25.28")
    @Test
    void requestsThatNameTheirModelHaveMetersOfTheirOwn() {
        metrics(9).bindTo(registry);
        RequestRecorder requests = profiler.requests();
        for (String model : List.of("", "m")) {
            long request = requests.arrived(7);
            requests.model(request, model);
            clock.advance(1_000_000);
            requests.finished(request, Outcome.COMPLETED);
            clock.advance(2_000_000_000);
            count("brick.wall");
        }

        assertThat(registry.get("gen_ai.server.request.duration").functionTimers())
                .extracting(timer -> timer.getId().getTag("gen_ai_request_model"), FunctionTimer::count)
                .containsExactlyInAnyOrder(tuple(null, 1.0), tuple("m", 1.0));
        assertThat(count("brick.requests", "outcome", "completed")).isEqualTo(2);
        assertThat(count("brick.model.requests", "outcome", "completed", "gen_ai_request_model", "m"))
                .isEqualTo(1);
        assertThat(count("brick.model.request.tokens", "kind", "prompt", "gen_ai_request_model", "(unknown)"))
                .isEqualTo(7);
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
        count("brick.wall");

        assertThat(count("brick.steps", "phase", "decode")).isEqualTo(1);
        assertThat(count("brick.step.time", "phase", "decode")).isCloseTo(0.016, Offset.offset(1e-12));
        assertThat(count("brick.step.sequences", "phase", "decode")).isEqualTo(4);
        assertThat(count("brick.step.tokens", "phase", "prefill", "kind", "prompt"))
                .isEqualTo(100);
        assertThat(count("brick.step.tokens", "phase", "decode", "kind", "output"))
                .isEqualTo(4);
        assertThat(registry.get("brick.batch").tag("phase", "decode").gauge().value())
                .isEqualTo(4);
        assertThat(registry.get("brick.kv_cache.tokens").gauges())
                .singleElement()
                .satisfies(decode -> assertThat(decode.value()).isEqualTo(101));
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
            count("brick.wall");
        }

        assertThat(registry.find("brick.time").meters()).hasSize(4);
        assertThat(samples("(other names)")).isEqualTo(497);
    }

    @Spec("20.3")
    @Test
    void valuesThatAreReadTogetherComeFromOneSnapshot() {
        profiler.record(BrickId.ROPE_EMBEDDING, 30, 4);
        metrics(9).bindTo(registry);
        double before = samples("RopeEmbedding");
        profiler.record(BrickId.ROPE_EMBEDDING, 30, 4);

        assertThat(before).isEqualTo(1);
        assertThat(elements("RopeEmbedding")).isEqualTo(4);
        clock.advance(1);
        assertThat(elements("RopeEmbedding")).isEqualTo(8);
    }

    @Test
    void aResetOfTheProfilerIsAResetOfTheCounters() {
        profiler.record(BrickId.ROPE_EMBEDDING, 30, 4);
        metrics(9).bindTo(registry);
        assertThat(samples("RopeEmbedding")).isEqualTo(1);
        profiler.reset();
        clock.advance(1);

        assertThat(samples("RopeEmbedding")).isZero();
        assertThat(elements("RopeEmbedding")).isZero();
    }

    /** A registry has only a weak reference to the object whose function a meter reads. */
    @Test
    void theMetersKeepTheirBinder() {
        WeakReference<BrickMetrics> binder = bound();
        Collected.until(new WeakReference<>(new Object()));
        profiler.record(BrickId.ROPE_EMBEDDING, 30, 4);
        clock.advance(1);

        assertThat(elements("RopeEmbedding")).isEqualTo(5);
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
        CountDownLatch registered = new CountDownLatch(6);
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
                    .anyMatch(line -> line.startsWith("brick_time_seconds_total") && !line.endsWith(" 0.0"))
                    .anyMatch(line -> line.startsWith("brick_samples_total") && line.endsWith(" 1.0"))
                    .anyMatch(line -> line.startsWith("brick_elements_total") && !line.endsWith(" 0.0"));
        }
        assertThat(scrape).contains("brick_step_tokens_total{kind=\"prompt\",phase=\"prefill\"} 7.0");
    }

    private void serve(long firstNs, Outcome outcome) {
        RequestRecorder requests = profiler.requests();
        long request = requests.arrived(10);
        for (int i = 0; i < 3; i++) {
            profiler.beginStep(i == 0 ? StepInfo.prefill(10) : StepInfo.decode(10 + i));
            requests.inStep(request, i == 0 ? 10 : 0);
            clock.advance(i == 0 ? firstNs : 20_000_000);
            profiler.endPass();
        }
        requests.finished(request, outcome);
    }

    private static String name(Kind kind) {
        return (kind == Kind.QUEUE_TIME
                        ? "brick.request."
                        : kind == Kind.DURATION ? "gen_ai.server.request." : "gen_ai.server.")
                + kind.name().toLowerCase(Locale.ROOT);
    }

    @Spec("20.14")
    @ParameterizedTest
    @EnumSource(Kind.class)
    void prometheusGetsTheExactHistograms(Kind kind) {
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        prometheus.config().commonTags("application", "shop");
        metrics(9).bindTo(new CompositeMeterRegistry(Clock.SYSTEM, List.of(prometheus)));
        serve(100_000_000, Outcome.COMPLETED);
        serve(100_000_001, Outcome.LENGTH);
        serve(12_000_000_000L, Outcome.FAILED);

        String scrape = prometheus.scrape();

        String series = name(kind).replace('.', '_') + "_seconds";
        LatencyHistogram exact =
                profiler.snapshot().requests().histogram(kind, List.of(Outcome.COMPLETED, Outcome.LENGTH));
        List<String> lines = scrape.lines()
                .filter(line -> line.startsWith(series + "_bucket{") && !line.contains("error_type"))
                .toList();
        assertThat(lines).allMatch(line -> line.contains("application=\"shop\",engine=\"a\""));
        long below = 0;
        for (int i = 0; i < exact.counts().size(); i++) {
            below += exact.counts().get(i);
            String bound =
                    i < kind.boundsNs().size() ? String.valueOf(kind.boundsNs().get(i) / 1e9) : "+Inf";
            assertThat(lines.get(i)).contains("le=\"" + bound + "\"").endsWith(" " + below);
        }
        assertThat(lines).hasSize(exact.counts().size());
        assertThat(below).isEqualTo(2);
        assertThat(scrape).contains(series + "_sum{application=\"shop\",engine=\"a\"} " + exact.sumNs() / 1e9 + "\n");
        boolean hasErrors = kind == Kind.DURATION || kind == Kind.QUEUE_TIME;
        assertThat(scrape.contains(series + "_count{application=\"shop\",engine=\"a\",error_type=\"failed\"} 1\n"))
                .isEqualTo(hasErrors);
    }

    /** The page of the agent and Prometheus' registry have the same series, names and values. */
    @Spec("20.1")
    @Test
    void prometheusGetsWhatThePageOfTheAgentHas() {
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        profiler.record(BrickId.RMS_NORM, 1_500_000, 7);
        serve(100_000_000, Outcome.COMPLETED);
        serve(200_000_000, Outcome.FAILED);
        metrics(9, Tags.empty()).bindTo(prometheus);

        List<String> scrape = prometheus.scrape().lines().toList();

        List<String> page = new MetricsPage()
                .render(ProfilerAccess.sums(profiler), MetricsPage.Format.PROMETHEUS)
                .lines()
                .filter(line -> !line.startsWith("#") && !line.startsWith("brick_jvm_"))
                .toList();
        assertThat(page).hasSizeGreaterThan(100);
        assertThat(scrape).containsAll(page);
    }

    @Spec("20.14")
    @Test
    void otherRegistriesGetTheNumberAndTheSumOfALatency() {
        metrics(9).bindTo(registry);
        serve(100_000_000, Outcome.COMPLETED);
        serve(300_000_000, Outcome.FAILED);
        count("brick.wall");

        FunctionTimer first = registry.get(name(Kind.TIME_TO_FIRST_TOKEN)).functionTimer();
        assertThat(first.count()).isEqualTo(1);
        assertThat(first.totalTime(TimeUnit.MILLISECONDS)).isEqualTo(100);
        FunctionTimer failed =
                registry.get(name(Kind.DURATION)).tag("error_type", "failed").functionTimer();
        assertThat(failed.totalTime(TimeUnit.MILLISECONDS)).isEqualTo(340);
    }

    /** A registry shows the first meter of a name and its tags, so the second profiler would never be seen. */
    @Test
    void twoProfilersNeedTagsOfTheirOwn() {
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        BrickMetrics first = metrics(9);
        first.bindTo(prometheus);
        first.bindTo(prometheus);
        serve(100_000_000, Outcome.COMPLETED);
        BrickMetrics second = metrics(9);
        assertThatThrownBy(() -> second.bindTo(prometheus))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("engine");

        metrics(9, Tags.of("engine", "b")).bindTo(prometheus);

        assertThat(prometheus.scrape().lines().filter(line -> line.startsWith("gen_ai_server_request_duration")))
                .filteredOn(line -> line.contains("_count{"))
                .containsExactlyInAnyOrder(
                        "gen_ai_server_request_duration_seconds_count{engine=\"a\"} 1",
                        "gen_ai_server_request_duration_seconds_count{engine=\"b\"} 1");
    }

    @Test
    void tagsThatCollideAreRefused() {
        assertThatThrownBy(() -> metrics(9, Tags.of("phase", "test")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("phase");
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        BrickMetrics colliding = metrics(9, Tags.of("data.center", "a", "data_center", "b"));
        assertThatThrownBy(() -> colliding.bindTo(prometheus))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("data_center");
        metrics(9, Tags.of("data.center", "a", "data_center", "b")).bindTo(registry);
    }

    @Test
    void aClosedRegistryIsLeftAlone() {
        metrics(9).bindTo(registry);
        SimpleMeterRegistry open = new SimpleMeterRegistry();
        BrickMetrics metrics = metrics(9);
        metrics.bindTo(open);
        registry.close();
        profiler.record(BrickId.ROPE_EMBEDDING, 30, 4);
        clock.advance(1);

        assertThat(open.get("brick.wall").functionCounter().count()).isPositive();
        assertThat(open.get("brick.samples").functionCounter().count()).isEqualTo(1);
        assertThat(registry.find("brick.samples").meters()).isEmpty();
    }
}
