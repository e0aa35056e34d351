package org.brickprofiler.metrics.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.Data;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.GaugeData;
import io.opentelemetry.sdk.metrics.data.HistogramData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.metrics.data.SumData;
import io.opentelemetry.sdk.metrics.export.MetricProducer;
import io.opentelemetry.sdk.resources.Resource;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.internal.access.CurrentSums;
import org.brickprofiler.internal.access.ProfilerAccess;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.internal.setting.OptionalPart;
import org.brickprofiler.metrics.BrickSeries;
import org.brickprofiler.metrics.ProfileMetrics;
import org.brickprofiler.metrics.ProfileMetrics.Label;
import org.brickprofiler.request.LatencyHistogram.Kind;
import org.brickprofiler.stats.LatencyDistribution;

/**
 * The bricks of a profiler as metrics of OpenTelemetry. All metrics of one collection are read at one moment, so that
 * recording a sample costs nothing more. The metrics are cumulative sums, except the gauges. They start when the
 * profiler was first on since its last reset, so a reset is visible; those of the virtual machine start with it.
 *
 * <pre>{@code
 * SdkMeterProvider.builder()
 *         .registerMetricReader(reader)
 *         .registerMetricProducer(BrickMetricProducer.Factory.create(profiler))
 * }</pre>
 *
 * <table>
 * <caption>The metrics</caption>
 * <tr><th>name</th><th>unit</th><th>attributes</th><th>value</th></tr>
 * <tr><td>{@code brick.time}</td><td>s</td><td>{@code brick.name}, {@code brick.category},
 *     {@code brick.step.phase}</td><td>time of the samples</td></tr>
 * <tr><td>{@code brick.samples}</td><td>{sample}</td><td>the same</td><td>their number</td></tr>
 * <tr><td>{@code brick.elements}</td><td>{element}</td><td>the same</td><td>elements that they processed</td></tr>
 * <tr><td>{@code brick.step.time}</td><td>s</td><td>{@code brick.step.phase}</td><td>time of the steps</td></tr>
 * <tr><td>{@code brick.steps}</td><td>{step}</td><td>the same</td><td>their number</td></tr>
 * <tr><td>{@code brick.step.sequences}</td><td>{sequence}</td><td>the same</td><td>the sum of their batches</td></tr>
 * <tr><td>{@code brick.step.tokens}</td><td>{token}</td><td>the same, {@code brick.token.kind}</td><td>tokens of
 *     prompts, and generated ones, of which accepted drafted ones are a part</td></tr>
 * <tr><td>{@code brick.step.cpu_time}</td><td>s</td><td>{@code brick.step.phase}, {@code brick.thread.state}</td>
 *     <td>time in which the threads of steps ran on a processor, and waited for one, if it is measured</td></tr>
 * <tr><td>{@code brick.batch}</td><td>{sequence}</td><td>{@code brick.step.phase}</td><td>gauge: the batch of the latest
 *     step</td></tr>
 * <tr><td>{@code brick.kv_cache.tokens}</td><td>{token}</td><td>the same</td><td>gauge: positions that the key-value
 *     cache held when this step began, if the engine states them</td></tr>
 * <tr><td>{@code brick.requests}</td><td>{request}</td><td>{@code brick.request.outcome}</td><td>requests that
 *     finished</td></tr>
 * <tr><td>{@code brick.requests.arrived}, {@code brick.requests.abandoned}</td><td>{request}</td><td></td><td>requests
 *     that arrived, and those that were given up</td></tr>
 * <tr><td>{@code brick.requests.waiting}, {@code brick.requests.running}</td><td>{request}</td><td></td><td>gauges:
 *     requests without a step so far, and the others that have not finished</td></tr>
 * <tr><td>{@code brick.request.time}</td><td>s</td><td>{@code brick.request.cause}</td><td>time of the finished
 *     requests by cause</td></tr>
 * <tr><td>{@code brick.request.tokens}</td><td>{token}</td><td>{@code brick.token.kind}</td><td>tokens of these
 *     requests: of prompts, the cached ones of these, output</td></tr>
 * <tr><td>{@code brick.model.requests}, {@code brick.model.request.tokens}</td><td>the same</td><td>the same,
 *     {@code gen_ai.request.model}</td><td>the same by model, if a request names its model</td></tr>
 * <tr><td>{@code brick.jvm.gc_time}, {@code brick.jvm.compilation_time}</td><td>s</td><td></td><td>time that the garbage
 *     collectors and the compilers of the virtual machine report since its start</td></tr>
 * <tr><td>{@code brick.run}</td><td>{run}</td><td>{@code brick.model}, if it is known</td><td>gauge: 1</td></tr>
 * <tr><td>{@code brick.wall}</td><td>s</td><td></td><td>time for which the profiler was on</td></tr>
 * <tr><td>{@code brick.overhead}</td><td>s</td><td></td><td>estimated cost of recording</td></tr>
 * <tr><td>{@code brick.unresolved}</td><td>{sample}</td><td></td><td>samples whose time a device did not report</td></tr>
 * </table>
 *
 * <p>If the producer is created with the attributes of OpenTelemetry's semantic conventions for generative AI, it also
 * produces the histograms {@code gen_ai.server.time_to_first_token} and {@code gen_ai.server.time_per_output_token} of
 * these conventions, in s, with the bucket boundaries that the conventions advise. If the profiler has recorded
 * requests, they are those of the requests that finished with an answer, and {@code gen_ai.server.request.duration} is
 * produced as well, in which {@code error.type} is the outcome of the other requests; so is
 * {@code brick.request.queue_time}. All of these are exact, and their {@code gen_ai.request.model} is the model that
 * the requests name, or else that of the given attributes or of the run. Without requests, the first two are those of
 * the steps, and durations are assigned to buckets within {@link LatencyDistribution#RELATIVE_ERROR}.
 *
 * <p>256 bricks have their own series; further bricks share one for each category, named
 * {@value BrickProfiler#OTHER_NAMES}. The metrics do not name their profiler: two profilers need a meter provider each,
 * with resources of their own. Any thread.
 *
 * <p>Tested with {@code io.opentelemetry:opentelemetry-sdk-metrics} 1.44.1, 1.49.0 and the newest release.
 */
public final class BrickMetricProducer implements MetricProducer {

    private static final InstrumentationScopeInfo SCOPE = InstrumentationScopeInfo.create("org.brickprofiler");
    private static final double NS_PER_S = 1e9;

    /** The attributes that the conventions for generative AI require on their metrics. */
    private static final List<AttributeKey<String>> REQUIRED =
            List.of(AttributeKey.stringKey("gen_ai.operation.name"), AttributeKey.stringKey("gen_ai.provider.name"));

    private static final Map<Label, AttributeKey<String>> KEYS = keys();

    /**
     * Creates producers. The virtual machine loads this class without OpenTelemetry, but not
     * {@link BrickMetricProducer}, which implements an interface of it. Stateless; any thread.
     */
    public static final class Factory {

        private Factory() {}

        /**
         * Creates a producer for one reader, without the histograms of the conventions for generative AI.
         *
         * @param profiler the profiler
         * @return the new object
         * @throws IllegalStateException if OpenTelemetry is missing; the message names the artifact to add
         */
        public static BrickMetricProducer create(BrickProfiler profiler) {
            OptionalPart.OPENTELEMETRY_METRICS.require("BrickMetricProducer");
            return new BrickMetricProducer(profiler, Attributes.empty());
        }

        /**
         * Creates a producer for one reader, with the histograms of the conventions for generative AI.
         *
         * @param profiler the profiler
         * @param genAi the attributes of these histograms: {@code gen_ai.operation.name}, {@code gen_ai.provider.name},
         *     which the conventions require, and others such as {@code gen_ai.request.model}
         * @return the new object
         * @throws IllegalArgumentException when a required attribute is missing; the message names it
         * @throws IllegalStateException if OpenTelemetry is missing; the message names the artifact to add
         */
        public static BrickMetricProducer create(BrickProfiler profiler, Attributes genAi) {
            OptionalPart.OPENTELEMETRY_METRICS.require("BrickMetricProducer");
            Objects.requireNonNull(genAi, "genAi");
            for (AttributeKey<String> required : REQUIRED) {
                if (genAi.get(required) == null) {
                    throw new IllegalArgumentException("genAi " + genAi + " has no attribute " + required);
                }
            }
            return new BrickMetricProducer(profiler, genAi);
        }
    }

    private final BrickProfiler profiler;

    /** The attributes of the histograms of the conventions; empty if these histograms are not wanted. */
    private final Attributes genAi;

    private final ProfileMetrics metrics = new ProfileMetrics(BrickSeries.DEFAULT_MOST);

    private BrickMetricProducer(BrickProfiler profiler, Attributes genAi) {
        this.profiler = Objects.requireNonNull(profiler, "profiler");
        this.genAi = genAi;
    }

    private static Map<Label, AttributeKey<String>> keys() {
        Map<Label, AttributeKey<String>> keys = new EnumMap<>(Label.class);
        for (Label label : Label.values()) {
            keys.put(label, AttributeKey.stringKey(label.attribute()));
        }
        return keys;
    }

    /** {@inheritDoc} */
    @Override
    public Collection<MetricData> produce(Resource resource) {
        Objects.requireNonNull(resource, "resource");
        CurrentSums sums = ProfilerAccess.sums(profiler);
        ProfileSnapshot snapshot = sums.snapshot();
        Collected to = new Collected(resource, unixNs(snapshot.startedAt()), unixNs(snapshot.endedAt()));
        metrics.metrics(sums).forEach(to::metric);
        if (!genAi.isEmpty() && snapshot.requests().hasRequests()) {
            Optional<String> runModel = Optional.ofNullable(genAi.get(KEYS.get(Label.REQUEST_MODEL)))
                    .or(snapshot.identity()::model);
            ProfileMetrics.histograms(snapshot.requests(), runModel).forEach(each -> to.histograms(each, genAi));
        } else if (!genAi.isEmpty()) {
            to.distribution(
                    "gen_ai.server.time_to_first_token",
                    "Time from the beginning of a prompt to its first token.",
                    genAi,
                    Kind.TIME_TO_FIRST_TOKEN,
                    snapshot.timeToFirstToken());
            to.distribution(
                    "gen_ai.server.time_per_output_token",
                    "Time between two output tokens.",
                    genAi,
                    Kind.TIME_PER_OUTPUT_TOKEN,
                    snapshot.timePerOutputToken());
        }
        return to.metrics;
    }

    private static long unixNs(Instant at) {
        return at.getEpochSecond() * 1_000_000_000L + at.getNano();
    }

    /** Returns labels as attributes, beside others. */
    private static Attributes attributes(Map<Label, String> labels, Attributes others) {
        if (labels.isEmpty()) {
            return others;
        }
        AttributesBuilder all = others.toBuilder();
        labels.forEach((label, value) -> all.put(Objects.requireNonNull(KEYS.get(label)), value));
        return all.build();
    }

    /** The metrics of one collection. One thread. */
    private static final class Collected {
        private final List<MetricData> metrics = new ArrayList<>();
        private final Resource resource;
        private final long startNs;
        private final long endNs;

        Collected(Resource resource, long startNs, long endNs) {
            this.resource = resource;
            this.startNs = startNs;
            this.endNs = endNs;
        }

        private MetricPoints.Place place(Map<Label, String> labels, Attributes others) {
            return new MetricPoints.Place(startNs, endNs, attributes(labels, others));
        }

        void metric(ProfileMetrics.Metric metric) {
            if (metric.isTime()) {
                List<DoublePointData> points = new ArrayList<>();
                metric.values()
                        .forEach((labels, value) -> points.add(
                                new MetricPoints.DoublePoint(place(labels, Attributes.empty()), value.doubleValue())));
                add(
                        metric,
                        metric.isCounter() ? MetricDataType.DOUBLE_SUM : MetricDataType.DOUBLE_GAUGE,
                        metric.isCounter() ? new MetricPoints.Sum<>(points) : new MetricPoints.Gauge<>(points));
            } else {
                List<LongPointData> points = new ArrayList<>();
                metric.values()
                        .forEach((labels, value) -> points.add(
                                new MetricPoints.LongPoint(place(labels, Attributes.empty()), value.longValue())));
                add(
                        metric,
                        metric.isCounter() ? MetricDataType.LONG_SUM : MetricDataType.LONG_GAUGE,
                        metric.isCounter() ? new MetricPoints.Sum<>(points) : new MetricPoints.Gauge<>(points));
            }
        }

        private void add(ProfileMetrics.Metric metric, MetricDataType type, Data<?> data) {
            add(metric.name(), metric.description(), metric.unit(), type, data);
        }

        /** Adds exact histograms; those without requests are left out. */
        void histograms(ProfileMetrics.Histograms histograms, Attributes others) {
            List<HistogramPointData> points = new ArrayList<>();
            histograms.values().forEach((labels, histogram) -> {
                if (histogram.count() > 0) {
                    points.add(new MetricPoints.HistogramPoint(
                            place(labels, others),
                            histogram.sumNs() / NS_PER_S,
                            OptionalDouble.empty(),
                            OptionalDouble.empty(),
                            seconds(histogram.kind()),
                            histogram.counts()));
                }
            });
            addHistograms(histograms.name(), histograms.description(), points);
        }

        private static List<Double> seconds(Kind kind) {
            return kind.boundsNs().stream().map(ns -> ns / NS_PER_S).toList();
        }

        /** Adds a distribution as a histogram with the bounds of a latency; one without values is left out. */
        void distribution(
                String name, String description, Attributes attributes, Kind kind, LatencyDistribution distribution) {
            if (distribution.count() == 0) {
                return;
            }
            List<Double> boundaries = seconds(kind);
            Long[] counts = new Long[boundaries.size() + 1];
            Arrays.fill(counts, 0L);
            double sum = 0;
            double max = 0;
            long[] buckets = distribution.counts();
            for (int i = 0; i < buckets.length; i++) {
                if (buckets[i] > 0) {
                    double seconds = LatencyBuckets.valueNs(i) / NS_PER_S;
                    int place = Collections.binarySearch(boundaries, seconds);
                    counts[place < 0 ? -place - 1 : place] += buckets[i];
                    max = seconds;
                    sum += seconds * buckets[i];
                }
            }
            addHistograms(
                    name,
                    description,
                    List.of(new MetricPoints.HistogramPoint(
                            place(Map.of(), attributes),
                            sum,
                            OptionalDouble.of(LatencyBuckets.valueNs(distribution.firstBucket()) / NS_PER_S),
                            OptionalDouble.of(max),
                            boundaries,
                            List.of(counts))));
        }

        private void addHistograms(String name, String description, List<HistogramPointData> points) {
            if (!points.isEmpty()) {
                add(
                        name,
                        description,
                        ProfileMetrics.SECONDS,
                        MetricDataType.HISTOGRAM,
                        new MetricPoints.Histogram(points));
            }
        }

        private void add(String name, String description, String unit, MetricDataType type, Data<?> data) {
            metrics.add(new Metric(resource, name, description, unit, type, data));
        }
    }

    /**
     * A metric; the SDK has only an interface for it. The methods that return data of one type replace those of the
     * interface, because before 1.50.0 these cast to the SDK's own classes.
     */
    private record Metric(
            Resource resource, String name, String description, String unit, MetricDataType type, Data<?> data)
            implements MetricData {
        @Override
        public Resource getResource() {
            return resource;
        }

        @Override
        public InstrumentationScopeInfo getInstrumentationScopeInfo() {
            return SCOPE;
        }

        @Override
        public String getName() {
            return name;
        }

        @Override
        public String getDescription() {
            return description;
        }

        @Override
        public String getUnit() {
            return unit;
        }

        @Override
        public MetricDataType getType() {
            return type;
        }

        @Override
        public Data<?> getData() {
            return data;
        }

        @Override
        @SuppressWarnings("unchecked") // as the type says
        public SumData<LongPointData> getLongSumData() {
            return type == MetricDataType.LONG_SUM ? (SumData<LongPointData>) data : MetricData.super.getLongSumData();
        }

        @Override
        @SuppressWarnings("unchecked") // as the type says
        public SumData<DoublePointData> getDoubleSumData() {
            return type == MetricDataType.DOUBLE_SUM
                    ? (SumData<DoublePointData>) data
                    : MetricData.super.getDoubleSumData();
        }

        @Override
        @SuppressWarnings("unchecked") // as the type says
        public GaugeData<LongPointData> getLongGaugeData() {
            return type == MetricDataType.LONG_GAUGE
                    ? (GaugeData<LongPointData>) data
                    : MetricData.super.getLongGaugeData();
        }

        @Override
        @SuppressWarnings("unchecked") // as the type says
        public GaugeData<DoublePointData> getDoubleGaugeData() {
            return type == MetricDataType.DOUBLE_GAUGE
                    ? (GaugeData<DoublePointData>) data
                    : MetricData.super.getDoubleGaugeData();
        }

        @Override
        public HistogramData getHistogramData() {
            return type == MetricDataType.HISTOGRAM ? (HistogramData) data : MetricData.super.getHistogramData();
        }
    }
}
