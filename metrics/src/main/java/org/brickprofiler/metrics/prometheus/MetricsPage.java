package org.brickprofiler.metrics.prometheus;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.prometheus.metrics.config.EscapingScheme;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.brickprofiler.internal.access.CurrentSums;
import org.brickprofiler.metrics.BrickSeries;
import org.brickprofiler.metrics.ProfileMetrics;
import org.brickprofiler.metrics.ProfileMetrics.Histograms;
import org.brickprofiler.metrics.ProfileMetrics.Label;
import org.brickprofiler.metrics.ProfileMetrics.Metric;
import org.brickprofiler.request.RequestStats;

/**
 * The page of metrics that Prometheus reads: counters, gauges, and the histograms of requests, all of one reading.
 * Names are those of {@link ProfileMetrics}, as Prometheus writes them. A reset of the profiler sets the counters back,
 * which Prometheus detects. There is neither an id of a request nor a command line on the page. Any thread; renderings
 * of one page wait for each other where they assign series to bricks.
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

    private final ProfileMetrics metrics = new ProfileMetrics(BrickSeries.DEFAULT_MOST);

    /** The labels of all series so far, whose number is limited; the library checks and sorts each that is new. */
    private final Map<Map<Label, String>, Labels> labels = new ConcurrentHashMap<>();

    /** Creates a page of one profiler, of which 256 bricks have their own series. */
    public MetricsPage() {}

    /**
     * Renders the page.
     *
     * @param sums the sums, always of the same profiler
     * @param format the format
     * @return the page
     */
    public String render(CurrentSums sums, Format format) {
        Objects.requireNonNull(sums, "sums");
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try {
            format.writer().write(text, snapshots(sums), EscapingScheme.UNDERSCORE_ESCAPING);
        } catch (IOException unlikely) {
            throw new UncheckedIOException(unlikely); // Memory does not fail.
        }
        return text.toString(UTF_8);
    }

    private MetricSnapshots snapshots(CurrentSums sums) {
        long createdMs = sums.snapshot().startedAt().toEpochMilli();
        MetricSnapshots.Builder all = MetricSnapshots.builder();
        metrics.metrics(sums)
                .forEach(metric -> all.metricSnapshot(metric.isCounter() ? counter(metric, createdMs) : gauge(metric)));
        RequestStats requests = sums.snapshot().requests();
        if (requests.isRecorded()) {
            for (Histograms each : ProfileMetrics.histograms(
                    requests, sums.snapshot().identity().model())) {
                all.metricSnapshot(PrometheusPoints.metric(each, PrometheusPoints.points(each, Map.of(), createdMs)));
            }
        }
        return all.build();
    }

    private Labels labels(Map<Label, String> of) {
        return labels.computeIfAbsent(of, PrometheusPoints::labels);
    }

    private MetricSnapshot counter(Metric metric, long createdMs) {
        CounterSnapshot.Builder counter = CounterSnapshot.builder()
                .name(PrometheusPoints.name(metric.name(), metric.isTime()))
                .help(metric.description());
        metric.values()
                .forEach((of, value) -> counter.dataPoint(CounterDataPointSnapshot.builder()
                        .labels(labels(of))
                        .value(value.doubleValue())
                        .createdTimestampMillis(createdMs)
                        .build()));
        return counter.build();
    }

    private MetricSnapshot gauge(Metric metric) {
        GaugeSnapshot.Builder gauge = GaugeSnapshot.builder()
                .name(PrometheusPoints.name(metric.name(), metric.isTime()))
                .help(metric.description());
        metric.values()
                .forEach((of, value) -> gauge.dataPoint(GaugeDataPointSnapshot.builder()
                        .labels(labels(of))
                        .value(value.doubleValue())
                        .build()));
        return gauge.build();
    }
}
