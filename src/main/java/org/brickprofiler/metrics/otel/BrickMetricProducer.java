package org.brickprofiler.metrics.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.Data;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.metrics.data.SumData;
import io.opentelemetry.sdk.metrics.export.MetricProducer;
import io.opentelemetry.sdk.resources.Resource;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToLongFunction;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.CategoryStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.metrics.BrickSeries;
import org.brickprofiler.metrics.BrickSeries.Labels;

/**
 * The bricks of a profiler as metrics of OpenTelemetry: cumulative sums, all of one collection from one snapshot, so that a
 * sample costs nothing more. They begin when the profiler was first on since its last reset; a reset is therefore known as
 * one.
 *
 * <pre>{@code
 * SdkMeterProvider.builder()
 *         .registerMetricReader(reader)
 *         .registerMetricProducer(new BrickMetricProducer(profiler))
 * }</pre>
 *
 * <table>
 * <caption>The metrics</caption>
 * <tr><th>name</th><th>unit</th><th>attributes</th><th>value</th></tr>
 * <tr><td>{@code brick.time}</td><td>s</td><td>{@code brick.name}, {@code brick.category}</td><td>time of the
 *     samples</td></tr>
 * <tr><td>{@code brick.samples}</td><td>{sample}</td><td>the same</td><td>their number</td></tr>
 * <tr><td>{@code brick.elements}</td><td>{element}</td><td>the same</td><td>elements that they processed</td></tr>
 * <tr><td>{@code brick.wall}</td><td>s</td><td></td><td>time the profiler was on for</td></tr>
 * <tr><td>{@code brick.overhead}</td><td>s</td><td></td><td>what recording cost, estimated</td></tr>
 * </table>
 *
 * <p>256 bricks have series of their own; further ones share one for each category, named
 * {@value BrickProfiler#OTHER_NAMES}. Any thread.
 */
public final class BrickMetricProducer implements MetricProducer {

    private static final InstrumentationScopeInfo SCOPE = InstrumentationScopeInfo.create("org.brickprofiler");
    private static final AttributeKey<String> NAME = AttributeKey.stringKey("brick.name");
    private static final AttributeKey<String> CATEGORY = AttributeKey.stringKey("brick.category");

    private final BrickProfiler profiler;
    private final BrickSeries series = new BrickSeries(BrickSeries.DEFAULT_MOST);

    /**
     * A producer for one reader.
     *
     * @param profiler the profiler
     */
    public BrickMetricProducer(BrickProfiler profiler) {
        this.profiler = Objects.requireNonNull(profiler, "profiler");
    }

    /** {@inheritDoc} */
    @Override
    public Collection<MetricData> produce(Resource resource) {
        Objects.requireNonNull(resource, "resource");
        ProfileSnapshot snapshot = profiler.snapshot();
        Reading reading = new Reading(
                resource, unixNs(snapshot.startedAt()), unixNs(snapshot.endedAt()), series.sums(snapshot));
        List<MetricData> metrics = new ArrayList<>();
        metrics.add(reading.seconds("brick.time", "Time of the executions of a brick.", CategoryStats::totalNs));
        metrics.add(reading.counts(
                "brick.samples", "Executions of a brick.", "{sample}", CategoryStats::count));
        metrics.add(reading.counts(
                "brick.elements", "Elements that a brick processed: tokens, rows, pages.", "{element}",
                CategoryStats::totalElements));
        metrics.add(reading.seconds("brick.wall", "Time the profiler was switched on for.", snapshot.wallNs()));
        metrics.add(reading.seconds(
                "brick.overhead", "Estimated time that recording took.", snapshot.overheadNs()));
        return metrics;
    }

    private static long unixNs(Instant at) {
        return at.getEpochSecond() * 1_000_000_000L + at.getNano();
    }

    /** One collection. */
    private record Reading(Resource resource, long startNs, long endNs, Map<Labels, CategoryStats> sums) {

        MetricData seconds(String name, String description, ToLongFunction<CategoryStats> ns) {
            return metric(name, description, "s", doubles(sums.entrySet().stream()
                    .map(each -> point(attributes(each.getKey()), ns.applyAsLong(each.getValue())))
                    .toList()));
        }

        MetricData seconds(String name, String description, long ns) {
            return metric(name, description, "s", doubles(List.of(point(Attributes.empty(), ns))));
        }

        MetricData counts(String name, String description, String unit, ToLongFunction<CategoryStats> count) {
            List<LongPointData> points = sums.entrySet().stream()
                    .map(each -> LongPointData.create(
                            startNs, endNs, attributes(each.getKey()), count.applyAsLong(each.getValue())))
                    .toList();
            return new Metric(
                    resource, name, description, unit, MetricDataType.LONG_SUM,
                    SumData.createLongSumData(true, AggregationTemporality.CUMULATIVE, points));
        }

        private DoublePointData point(Attributes attributes, long ns) {
            return DoublePointData.create(startNs, endNs, attributes, ns / 1e9, List.of());
        }

        private static SumData<DoublePointData> doubles(List<DoublePointData> points) {
            return SumData.createDoubleSumData(true, AggregationTemporality.CUMULATIVE, points);
        }

        private MetricData metric(String name, String description, String unit, SumData<DoublePointData> data) {
            return new Metric(resource, name, description, unit, MetricDataType.DOUBLE_SUM, data);
        }

        private static Attributes attributes(Labels labels) {
            return Attributes.of(NAME, labels.brick(), CATEGORY, labels.category().displayName());
        }
    }

    /** A metric, of which the SDK has only an interface. */
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
