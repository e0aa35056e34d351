package org.brickprofiler.metrics.prometheus;

import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.metrics.ProfileMetrics.Histograms;
import org.brickprofiler.metrics.ProfileMetrics.Label;
import org.brickprofiler.request.LatencyHistogram;

/**
 * Names, labels and histograms as the model of Prometheus' library has them. Apart from {@link MetricsPage}, so that an
 * application needs the model alone. Stateless; any thread.
 */
public final class PrometheusPoints {

    private static final double NS_PER_S = 1e9;

    private PrometheusPoints() {}

    /**
     * Returns histograms as points of a metric.
     *
     * @param histograms the histograms
     * @param further labels that each of them gets in addition
     * @param createdMs when they began, ms since 1970
     * @return a point for each histogram
     */
    public static List<HistogramDataPointSnapshot> points(
            Histograms histograms, Map<String, String> further, long createdMs) {
        Objects.requireNonNull(further, "further");
        List<HistogramDataPointSnapshot> points = new ArrayList<>();
        histograms.values().forEach((labels, histogram) -> {
            Labels.Builder own = Labels.builder();
            further.forEach(own::label);
            HistogramDataPointSnapshot.Builder point = HistogramDataPointSnapshot.builder()
                    .classicHistogramBuckets(buckets(histogram))
                    .labels(own.build().merge(labels(labels)));
            point.sum(histogram.sumNs() / NS_PER_S);
            point.createdTimestampMillis(createdMs);
            points.add(point.build());
        });
        return points;
    }

    /**
     * Returns points as a metric.
     *
     * @param histograms the histograms of one or more profilers, which give the name and the help
     * @param points all of their points
     * @return the metric
     */
    public static HistogramSnapshot metric(Histograms histograms, List<HistogramDataPointSnapshot> points) {
        HistogramSnapshot.Builder metric =
                HistogramSnapshot.builder().name(name(histograms.name(), true)).help(histograms.description());
        points.forEach(metric::dataPoint);
        return metric.build();
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

    static String name(String dotted, boolean isTime) {
        return dotted.replace('.', '_') + (isTime ? "_seconds" : "");
    }

    static Labels labels(Map<Label, String> labels) {
        Labels.Builder all = Labels.builder();
        labels.forEach((label, value) -> all.label(label.key(), value));
        return all.build();
    }
}
