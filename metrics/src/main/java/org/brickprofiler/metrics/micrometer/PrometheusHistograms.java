package org.brickprofiler.metrics.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.metrics.ProfileMetrics;
import org.brickprofiler.metrics.ProfileMetrics.Histograms;
import org.brickprofiler.metrics.prometheus.PrometheusPoints;

/**
 * The histograms of requests in a registry of Prometheus: of all binders of this registry, since a name may be there
 * once. Needs Micrometer's registry of Prometheus. Any thread.
 */
final class PrometheusHistograms implements MultiCollector {

    /** The collector of each registry, which the registry keeps alive. */
    private static final Map<PrometheusRegistry, WeakReference<PrometheusHistograms>> ALL = new WeakHashMap<>();

    /**
     * The requests of one binder.
     *
     * @param binder the binder
     * @param labels its tags as labels
     */
    private record Source(BrickMetrics binder, Map<String, String> labels) {}

    private final List<Source> sources = new CopyOnWriteArrayList<>();

    private PrometheusHistograms() {}

    /**
     * Adds the histograms of a binder to a registry of Prometheus.
     *
     * @throws IllegalArgumentException when two tags of the binder are one label in Prometheus
     */
    static void add(MeterRegistry registry, BrickMetrics binder) {
        PrometheusRegistry all = ((PrometheusMeterRegistry) registry).getPrometheusRegistry();
        Source source = new Source(binder, labels(registry, binder));
        synchronized (ALL) {
            WeakReference<PrometheusHistograms> known = ALL.get(all);
            PrometheusHistograms histograms = known == null ? null : known.get();
            if (histograms == null) {
                histograms = new PrometheusHistograms();
                all.register(histograms);
                ALL.put(all, new WeakReference<>(histograms));
            }
            histograms.sources.add(source);
        }
    }

    private static Map<String, String> labels(MeterRegistry registry, BrickMetrics binder) {
        Map<String, Tag> tags = new LinkedHashMap<>();
        for (Tag tag : binder.tagsIn(registry)) {
            Tag other = tags.put(registry.config().namingConvention().tagKey(tag.getKey()), tag);
            if (other != null) {
                throw new IllegalArgumentException(
                        "the tags " + other + " and " + tag + " are the same label in Prometheus: rename one of them");
            }
        }
        Map<String, String> labels = new LinkedHashMap<>();
        tags.forEach((key, tag) -> labels.put(key, tag.getValue()));
        return labels;
    }

    @Override
    public MetricSnapshots collect() {
        Map<String, Histograms> all = new LinkedHashMap<>();
        Map<String, List<HistogramDataPointSnapshot>> points = new LinkedHashMap<>();
        for (Source source : sources) {
            ProfileSnapshot snapshot = source.binder.read().snapshot();
            if (snapshot.requests().isRecorded()) {
                long createdMs = snapshot.startedAt().toEpochMilli();
                for (Histograms each : ProfileMetrics.histograms(
                        snapshot.requests(), snapshot.identity().model())) {
                    all.put(each.name(), each);
                    points.computeIfAbsent(each.name(), name -> new ArrayList<>())
                            .addAll(PrometheusPoints.points(each, source.labels, createdMs));
                }
            }
        }
        MetricSnapshots.Builder snapshots = MetricSnapshots.builder();
        points.forEach((name, each) ->
                snapshots.metricSnapshot(PrometheusPoints.metric(Objects.requireNonNull(all.get(name)), each)));
        return snapshots.build();
    }
}
