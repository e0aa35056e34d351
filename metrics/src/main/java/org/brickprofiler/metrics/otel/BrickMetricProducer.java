package org.brickprofiler.metrics.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.Data;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.HistogramData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.metrics.data.SumData;
import io.opentelemetry.sdk.metrics.export.MetricProducer;
import io.opentelemetry.sdk.resources.Resource;
import java.security.CodeSource;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToLongFunction;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.CategoryStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.internal.setting.OptionalPart;
import org.brickprofiler.metrics.BrickSeries;
import org.brickprofiler.metrics.BrickSeries.Labels;
import org.brickprofiler.metrics.RequestLatencies;
import org.brickprofiler.request.LatencyHistogram;
import org.brickprofiler.request.LatencyHistogram.Kind;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.stats.LatencyDistribution;

/**
 * The bricks of a profiler as metrics of OpenTelemetry. All metrics of one collection are read from one snapshot, so
 * that recording a sample costs nothing more. The metrics are cumulative sums. They start when the profiler was first
 * on since its last reset, so a reset is visible.
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
 * <tr><td>{@code brick.time}</td><td>s</td><td>{@code brick.name}, {@code brick.category}</td><td>time of the
 *     samples</td></tr>
 * <tr><td>{@code brick.samples}</td><td>{sample}</td><td>the same</td><td>their number</td></tr>
 * <tr><td>{@code brick.elements}</td><td>{element}</td><td>the same</td><td>elements that they processed</td></tr>
 * <tr><td>{@code brick.step.time}</td><td>s</td><td>{@code brick.step.phase}</td><td>time of the steps</td></tr>
 * <tr><td>{@code brick.steps}</td><td>{step}</td><td>the same</td><td>their number</td></tr>
 * <tr><td>{@code brick.step.prefill_tokens}</td><td>{token}</td><td>the same</td><td>tokens of prompts</td></tr>
 * <tr><td>{@code brick.step.output_tokens}</td><td>{token}</td><td>the same</td><td>generated tokens</td></tr>
 * <tr><td>{@code brick.requests}</td><td>{request}</td><td>{@code brick.request.outcome}</td><td>requests that
 *     finished</td></tr>
 * <tr><td>{@code brick.request.time}</td><td>s</td><td>{@code brick.request.cause}</td><td>time of these requests by
 *     cause</td></tr>
 * <tr><td>{@code brick.wall}</td><td>s</td><td></td><td>time for which the profiler was on</td></tr>
 * <tr><td>{@code brick.overhead}</td><td>s</td><td></td><td>estimated cost of recording</td></tr>
 * </table>
 *
 * <p>If the producer is created with the attributes of OpenTelemetry's semantic conventions for generative AI, it also
 * produces the histograms {@code gen_ai.server.time_to_first_token} and {@code gen_ai.server.time_per_output_token} of
 * these conventions, in s, with the bucket boundaries that the conventions advise. If the profiler has recorded
 * requests, they are those of the requests that finished with an answer, and {@code gen_ai.server.request.duration} is
 * produced as well, in which {@code error.type} is the outcome of the other requests; so is
 * {@code brick.request.queue_time}. All of these are exact. Without requests, the first two are those of the steps, and
 * durations are assigned to buckets within {@link LatencyDistribution#RELATIVE_ERROR}.
 *
 * <p>256 bricks have their own series; further bricks share one for each category, named
 * {@value BrickProfiler#OTHER_NAMES}. Any thread.
 *
 * <p>Needs {@value #ARTIFACT} {@value #OLDEST} or later; with an older version, the methods of {@link Factory} throw an
 * {@link IllegalStateException} that names the artifact.
 */
public final class BrickMetricProducer implements MetricProducer {

    static final String ARTIFACT = "io.opentelemetry:opentelemetry-sdk-metrics";

    /** The first release that creates points and sums by public methods. */
    static final String OLDEST = "1.50.0";

    private static final InstrumentationScopeInfo SCOPE = InstrumentationScopeInfo.create("org.brickprofiler");
    private static final AttributeKey<String> NAME = AttributeKey.stringKey("brick.name");
    private static final AttributeKey<String> CATEGORY = AttributeKey.stringKey("brick.category");
    private static final AttributeKey<String> PHASE = AttributeKey.stringKey("brick.step.phase");
    private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("brick.request.outcome");
    private static final AttributeKey<String> CAUSE = AttributeKey.stringKey("brick.request.cause");

    /** The attributes that the conventions for generative AI require on their metrics. */
    private static final List<AttributeKey<String>> REQUIRED =
            List.of(AttributeKey.stringKey("gen_ai.operation.name"), AttributeKey.stringKey("gen_ai.provider.name"));

    private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");

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
         * @throws IllegalStateException if OpenTelemetry is missing or older than 1.50.0; the message names the
         *     artifact to add
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
         * @throws IllegalStateException if OpenTelemetry is missing or older than 1.50.0; the message names the
         *     artifact to add
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

    private final BrickSeries series = new BrickSeries(BrickSeries.DEFAULT_MOST);

    private BrickMetricProducer(BrickProfiler profiler, Attributes genAi) {
        requireRelease();
        this.profiler = Objects.requireNonNull(profiler, "profiler");
        this.genAi = genAi;
    }

    /** Refuses an older release, which would otherwise fail in its own thread, at the first collection. */
    private static void requireRelease() {
        boolean isOld = Arrays.stream(SumData.class.getMethods())
                .noneMatch(each -> each.getName().equals("createLongSumData"));
        if (isOld) {
            CodeSource source = SumData.class.getProtectionDomain().getCodeSource();
            throw new IllegalStateException("metrics of OpenTelemetry need " + ARTIFACT + " " + OLDEST
                    + " or later; an older" + " one was found" + (source == null ? "" : " in " + source.getLocation())
                    + ": replace it");
        }
    }

    /** {@inheritDoc} */
    @Override
    public Collection<MetricData> produce(Resource resource) {
        Objects.requireNonNull(resource, "resource");
        ProfileSnapshot snapshot = profiler.snapshot();
        Collected to = new Collected(resource, unixNs(snapshot.startedAt()), unixNs(snapshot.endedAt()));
        Map<Attributes, CategoryStats> bricks = byAttributes(series.sums(snapshot));
        to.seconds("brick.time", "Time of the executions of a brick.", bricks, CategoryStats::totalNs);
        to.counts("brick.samples", "Executions of a brick.", "{sample}", bricks, CategoryStats::count);
        to.counts(
                "brick.elements",
                "Elements that a brick processed: tokens, rows, pages.",
                "{element}",
                bricks,
                CategoryStats::totalElements);
        addSteps(to, snapshot.steps());
        RequestStats requests = snapshot.requests();
        if (requests.isRecorded()) {
            addRequests(to, requests);
        }
        if (!genAi.isEmpty()) {
            addGenAi(to, snapshot);
        }
        Map<Attributes, ProfileSnapshot> whole = Map.of(Attributes.empty(), snapshot);
        to.seconds("brick.wall", "Time the profiler was switched on for.", whole, ProfileSnapshot::wallNs);
        to.seconds("brick.overhead", "Estimated time that recording took.", whole, ProfileSnapshot::overheadNs);
        return to.metrics;
    }

    private void addSteps(Collected to, Steps steps) {
        Map<Attributes, StepStats> phases = new LinkedHashMap<>();
        steps.phases()
                .forEach(phase ->
                        phases.put(Attributes.of(PHASE, phase.phase().name().toLowerCase(Locale.ROOT)), phase));
        to.seconds("brick.step.time", "Time of the steps of a phase.", phases, StepStats::totalNs);
        to.counts("brick.steps", "Steps of a phase.", "{step}", phases, StepStats::count);
        to.counts(
                "brick.step.prefill_tokens",
                "Tokens of prompts that steps processed.",
                "{token}",
                phases,
                StepStats::prefillTokens);
        to.counts(
                "brick.step.output_tokens", "Tokens that steps generated.", "{token}", phases, StepStats::outputTokens);
    }

    private static void addRequests(Collected to, RequestStats requests) {
        Map<Attributes, Long> finished = new LinkedHashMap<>();
        requests.counts()
                .finished()
                .forEach((outcome, number) ->
                        finished.put(Attributes.of(OUTCOME, outcome.name().toLowerCase(Locale.ROOT)), number));
        to.counts("brick.requests", "Requests that finished.", "{request}", finished, Long::longValue);
        Map<Attributes, Long> causes = new LinkedHashMap<>();
        requests.causeNs()
                .forEach((cause, ns) ->
                        causes.put(Attributes.of(CAUSE, cause.name().toLowerCase(Locale.ROOT)), ns));
        to.seconds("brick.request.time", "Time of the requests that finished, by cause.", causes, Long::longValue);
    }

    private void addGenAi(Collected to, ProfileSnapshot snapshot) {
        RequestStats requests = snapshot.requests();
        if (!requests.hasRequests()) {
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
            return;
        }
        to.histograms(
                "gen_ai.server.time_to_first_token",
                "Time from the arrival of a request to its first token.",
                Map.of(genAi, RequestLatencies.answered(requests, Kind.TIME_TO_FIRST_TOKEN)));
        to.histograms(
                "gen_ai.server.time_per_output_token",
                "Time per output token after the first one.",
                Map.of(genAi, RequestLatencies.answered(requests, Kind.TIME_PER_OUTPUT_TOKEN)));
        to.histograms(
                "gen_ai.server.request.duration",
                "Time from the arrival of a request to its finish.",
                byError(requests, Kind.DURATION));
        to.histograms(
                "brick.request.queue_time",
                "Time that a request waited for its first step.",
                byError(requests, Kind.QUEUE_TIME));
    }

    private Map<Attributes, LatencyHistogram> byError(RequestStats requests, Kind kind) {
        return RequestLatencies.byError(requests, kind, genAi, outcome -> genAi.toBuilder()
                .put(ERROR, outcome)
                .build());
    }

    private static Map<Attributes, CategoryStats> byAttributes(Map<Labels, CategoryStats> sums) {
        Map<Attributes, CategoryStats> named = new LinkedHashMap<>();
        sums.forEach((labels, sum) -> named.put(
                Attributes.of(NAME, labels.brick(), CATEGORY, labels.category().displayName()), sum));
        return named;
    }

    private static long unixNs(Instant at) {
        return at.getEpochSecond() * 1_000_000_000L + at.getNano();
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

        <T> void seconds(String name, String description, Map<Attributes, T> sums, ToLongFunction<T> ns) {
            List<DoublePointData> points = new ArrayList<>();
            sums.forEach((attributes, sum) -> points.add(
                    DoublePointData.create(startNs, endNs, attributes, ns.applyAsLong(sum) / 1e9, List.of())));
            add(
                    name,
                    description,
                    "s",
                    MetricDataType.DOUBLE_SUM,
                    SumData.createDoubleSumData(true, AggregationTemporality.CUMULATIVE, points));
        }

        <T> void counts(
                String name, String description, String unit, Map<Attributes, T> sums, ToLongFunction<T> count) {
            List<LongPointData> points = new ArrayList<>();
            sums.forEach((attributes, sum) ->
                    points.add(LongPointData.create(startNs, endNs, attributes, count.applyAsLong(sum))));
            add(
                    name,
                    description,
                    unit,
                    MetricDataType.LONG_SUM,
                    SumData.createLongSumData(true, AggregationTemporality.CUMULATIVE, points));
        }

        /** Adds exact histograms; those without requests are left out. */
        void histograms(String name, String description, Map<Attributes, LatencyHistogram> histograms) {
            List<HistogramPointData> points = new ArrayList<>();
            histograms.forEach((attributes, histogram) -> {
                if (histogram.count() > 0) {
                    points.add(HistogramPointData.create(
                            startNs,
                            endNs,
                            attributes,
                            histogram.sumNs() / 1e9,
                            false,
                            0,
                            false,
                            0,
                            seconds(histogram.kind()),
                            histogram.counts()));
                }
            });
            add(
                    name,
                    description,
                    "s",
                    MetricDataType.HISTOGRAM,
                    HistogramData.create(AggregationTemporality.CUMULATIVE, points));
        }

        private static List<Double> seconds(Kind kind) {
            return kind.boundsNs().stream().map(ns -> ns / 1e9).toList();
        }

        /** Adds a distribution as a histogram with the bounds of a latency. */
        void distribution(
                String name, String description, Attributes attributes, Kind kind, LatencyDistribution distribution) {
            List<Double> boundaries = seconds(kind);
            Long[] counts = new Long[boundaries.size() + 1];
            Arrays.fill(counts, 0L);
            double sum = 0;
            double min = LatencyBuckets.valueNs(distribution.firstBucket()) / 1e9;
            double max = 0;
            long[] buckets = distribution.counts();
            for (int i = 0; i < buckets.length; i++) {
                if (buckets[i] > 0) {
                    double seconds = LatencyBuckets.valueNs(i) / 1e9;
                    int place = Collections.binarySearch(boundaries, seconds);
                    counts[place < 0 ? -place - 1 : place] += buckets[i];
                    max = seconds;
                    sum += seconds * buckets[i];
                }
            }
            boolean some = distribution.count() > 0;
            HistogramPointData point = HistogramPointData.create(
                    startNs, endNs, attributes, sum, some, min, some, max, boundaries, List.of(counts));
            add(
                    name,
                    description,
                    "s",
                    MetricDataType.HISTOGRAM,
                    HistogramData.create(AggregationTemporality.CUMULATIVE, some ? List.of(point) : List.of()));
        }

        private void add(String name, String description, String unit, MetricDataType type, Data<?> data) {
            if (!data.getPoints().isEmpty()) {
                metrics.add(new Metric(resource, name, description, unit, type, data));
            }
        }
    }

    /** A metric; the SDK has only an interface for it. */
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
    }
}
