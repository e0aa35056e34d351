package org.brickprofiler.metrics.prometheus;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.prometheus.metrics.config.EscapingScheme;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepStats;
import org.brickprofiler.metrics.BrickSeries;
import org.brickprofiler.metrics.RequestLatencies;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.LatencyHistogram;
import org.brickprofiler.request.LatencyHistogram.Kind;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestStats;

/**
 * The page of metrics that Prometheus reads: counters, gauges, and the histograms of requests, all of one snapshot.
 * Names are those of {@code BrickMetricProducer}, as Prometheus writes them. A reset of the profiler sets the counters
 * back, which Prometheus detects. There is neither an id of a request nor a command line on the page. Any thread;
 * renderings of one page wait for each other where they assign series to bricks.
 */
public final class MetricsPage {

    /** The formats. */
    public enum Format {
        /** The text format of Prometheus, version 0.0.4. */
        PROMETHEUS("text/plain; version=0.0.4"),
        /** OpenMetrics, version 1.0.0. */
        OPEN_METRICS("application/openmetrics-text; version=1.0.0");

        private final String type;

        Format(String type) {
            this.type = type;
        }

        private ExpositionFormatWriter writer() {
            return this == OPEN_METRICS ? OpenMetricsTextFormatWriter.create() : PrometheusTextFormatWriter.create();
        }

        /**
         * Returns the media type.
         *
         * @return the type without the character set, which is UTF-8
         */
        public String type() {
            return type;
        }
    }

    private static final double NS_PER_S = 1e9;

    private final BrickSeries series = new BrickSeries(BrickSeries.DEFAULT_MOST);

    /** Creates a page of one profiler, of which 256 bricks have their own series. */
    public MetricsPage() {}

    /**
     * Renders the page.
     *
     * @param snapshot a snapshot, always of the same profiler
     * @param format the format
     * @return the page
     */
    public String render(ProfileSnapshot snapshot, Format format) {
        Objects.requireNonNull(snapshot, "snapshot");
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try {
            format.writer().write(text, new Page(snapshot).metrics(), EscapingScheme.UNDERSCORE_ESCAPING);
        } catch (IOException unlikely) {
            throw new UncheckedIOException(unlikely); // Memory does not fail.
        }
        return text.toString(UTF_8);
    }

    /** The metrics of one snapshot. One thread. */
    private final class Page {
        private final MetricSnapshots.Builder metrics = MetricSnapshots.builder();
        private final ProfileSnapshot snapshot;
        private final long createdMs;

        Page(ProfileSnapshot snapshot) {
            this.snapshot = snapshot;
            createdMs = snapshot.startedAt().toEpochMilli();
        }

        MetricSnapshots metrics() {
            bricks();
            steps();
            if (snapshot.requests().isRecorded()) {
                requests(snapshot.requests());
            }
            counter("brick_wall_seconds", "Time the profiler was switched on for.", snapshot.wallNs() / NS_PER_S);
            counter("brick_overhead_seconds", "Estimated time that recording took.", snapshot.overheadNs() / NS_PER_S);
            counter("brick_unresolved", "Samples whose time a device did not report.", (double) snapshot.unresolved());
            return metrics.build();
        }

        private void bricks() {
            Map<Labels, Double> seconds = new LinkedHashMap<>();
            Map<Labels, Double> samples = new LinkedHashMap<>();
            series.sumsByPhase(snapshot)
                    .forEach((phase, sums) -> sums.forEach((labels, sum) -> {
                        Labels all = Labels.of(
                                "brick",
                                labels.brick(),
                                "category",
                                labels.category().displayName(),
                                "phase",
                                phase);
                        seconds.put(all, sum.totalNs() / NS_PER_S);
                        samples.put(all, (double) sum.count());
                    }));
            counter("brick_time_seconds", "Time of the executions of a brick.", seconds);
            counter("brick_samples", "Executions of a brick.", samples);
        }

        private void steps() {
            Map<Labels, Double> steps = new LinkedHashMap<>();
            Map<Labels, Double> seconds = new LinkedHashMap<>();
            Map<Labels, Double> tokens = new LinkedHashMap<>();
            for (StepStats phase : snapshot.steps().phases()) {
                String name = lower(phase.phase());
                steps.put(Labels.of("phase", name), (double) phase.count());
                seconds.put(Labels.of("phase", name), phase.totalNs() / NS_PER_S);
                tokens.put(Labels.of("phase", name, "kind", "prompt"), (double) phase.prefillTokens());
                tokens.put(Labels.of("phase", name, "kind", "output"), (double) phase.outputTokens());
            }
            counter("brick_steps", "Steps of a phase.", steps);
            counter("brick_step_time_seconds", "Time of the steps of a phase.", seconds);
            counter(
                    "brick_step_tokens",
                    "Tokens of prompts that steps processed, and tokens that they generated.",
                    tokens);
        }

        private void requests(RequestStats requests) {
            gauge("brick_requests_waiting", "Requests that no step has worked on.", (double)
                    requests.counts().waiting());
            gauge("brick_requests_running", "Requests that a step has worked on, and that have not finished.", (double)
                    requests.counts().running());
            counter("brick_requests_arrived", "Requests that arrived.", (double)
                    requests.counts().arrived());
            Map<Labels, Double> outcomes = new LinkedHashMap<>();
            for (Outcome outcome : Outcome.values()) {
                outcomes.put(Labels.of("outcome", lower(outcome)), (double)
                        requests.counts().finished(outcome));
            }
            counter("brick_requests", "Requests that finished.", outcomes);
            Map<Labels, Double> causes = new LinkedHashMap<>();
            for (Cause cause : Cause.values()) {
                causes.put(Labels.of("cause", lower(cause)), requests.causeNs(cause) / NS_PER_S);
            }
            counter("brick_request_time_seconds", "Time of the requests that finished, by cause.", causes);
            histogram(
                    "gen_ai_server_time_to_first_token_seconds",
                    "Time from the arrival of a request to its first token.",
                    Map.of(Labels.EMPTY, RequestLatencies.answered(requests, Kind.TIME_TO_FIRST_TOKEN)));
            histogram(
                    "gen_ai_server_time_per_output_token_seconds",
                    "Time per output token after the first one.",
                    Map.of(Labels.EMPTY, RequestLatencies.answered(requests, Kind.TIME_PER_OUTPUT_TOKEN)));
            histogram(
                    "gen_ai_server_request_duration_seconds",
                    "Time from the arrival of a request to its finish.",
                    byError(requests, Kind.DURATION));
            histogram(
                    "brick_request_queue_time_seconds",
                    "Time that a request waited for its first step.",
                    byError(requests, Kind.QUEUE_TIME));
        }

        private static Map<Labels, LatencyHistogram> byError(RequestStats requests, Kind kind) {
            return RequestLatencies.byError(requests, kind, Labels.EMPTY, outcome -> Labels.of("error_type", outcome));
        }

        private static String lower(Enum<?> constant) {
            return constant.name().toLowerCase(Locale.ROOT);
        }

        private void counter(String name, String help, double value) {
            counter(name, help, Map.of(Labels.EMPTY, value));
        }

        private void counter(String name, String help, Map<Labels, Double> values) {
            CounterSnapshot.Builder counter =
                    CounterSnapshot.builder().name(name).help(help);
            values.forEach((labels, value) -> counter.dataPoint(CounterDataPointSnapshot.builder()
                    .labels(labels)
                    .value(value)
                    .createdTimestampMillis(createdMs)
                    .build()));
            metrics.metricSnapshot(counter.build());
        }

        private void gauge(String name, String help, double value) {
            metrics.metricSnapshot(GaugeSnapshot.builder()
                    .name(name)
                    .help(help)
                    .dataPoint(GaugeDataPointSnapshot.builder().value(value).build())
                    .build());
        }

        private void histogram(String name, String help, Map<Labels, LatencyHistogram> histograms) {
            HistogramSnapshot.Builder all =
                    HistogramSnapshot.builder().name(name).help(help);
            histograms.forEach((labels, histogram) -> {
                HistogramDataPointSnapshot.Builder point = HistogramDataPointSnapshot.builder()
                        .classicHistogramBuckets(buckets(histogram))
                        .labels(labels);
                point.sum(histogram.sumNs() / NS_PER_S);
                point.createdTimestampMillis(createdMs);
                all.dataPoint(point.build());
            });
            metrics.metricSnapshot(all.build());
        }

        private static ClassicHistogramBuckets buckets(LatencyHistogram histogram) {
            ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
            List<Long> bounds = histogram.kind().boundsNs();
            for (int i = 0; i < bounds.size(); i++) {
                buckets.bucket(bounds.get(i) / NS_PER_S, histogram.counts().get(i));
            }
            return buckets.bucket(Double.POSITIVE_INFINITY, histogram.counts().get(bounds.size()))
                    .build();
        }
    }
}
