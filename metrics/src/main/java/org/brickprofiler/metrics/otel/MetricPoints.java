package org.brickprofiler.metrics.otel;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.DoubleExemplarData;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.GaugeData;
import io.opentelemetry.sdk.metrics.data.HistogramData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.LongExemplarData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.PointData;
import io.opentelemetry.sdk.metrics.data.SumData;
import java.util.Collection;
import java.util.List;
import java.util.OptionalDouble;

/**
 * The data types of OpenTelemetry's SDK. The SDK declares them as interfaces, and has factories for them from 1.50.0
 * on; these records replace the factories, so that earlier releases work, too. Immutable.
 */
final class MetricPoints {

    private MetricPoints() {}

    /**
     * The period and the attributes of a point.
     *
     * @param startNs the beginning, ns since 1970
     * @param endNs the end, ns since 1970
     * @param attributes the attributes
     */
    record Place(long startNs, long endNs, Attributes attributes) {}

    /** A point that takes its period and its attributes from its place. */
    private interface Placed extends PointData {
        Place place();

        @Override
        default long getStartEpochNanos() {
            return place().startNs;
        }

        @Override
        default long getEpochNanos() {
            return place().endNs;
        }

        @Override
        default Attributes getAttributes() {
            return place().attributes;
        }
    }

    /** A point with a whole number. */
    record LongPoint(Place place, long value) implements LongPointData, Placed {
        @Override
        public long getValue() {
            return value;
        }

        @Override
        public List<LongExemplarData> getExemplars() {
            return List.of();
        }
    }

    /** A point with a time. */
    record DoublePoint(Place place, double value) implements DoublePointData, Placed {
        @Override
        public double getValue() {
            return value;
        }

        @Override
        public List<DoubleExemplarData> getExemplars() {
            return List.of();
        }
    }

    /** A histogram; the smallest and the largest value are empty if they are unknown. */
    record HistogramPoint(
            Place place, double sum, OptionalDouble min, OptionalDouble max, List<Double> boundaries, List<Long> counts)
            implements HistogramPointData, Placed {
        @Override
        public double getSum() {
            return sum;
        }

        @Override
        public long getCount() {
            return counts.stream().mapToLong(Long::longValue).sum();
        }

        @Override
        public boolean hasMin() {
            return min.isPresent();
        }

        @Override
        public double getMin() {
            return min.orElse(0);
        }

        @Override
        public boolean hasMax() {
            return max.isPresent();
        }

        @Override
        public double getMax() {
            return max.orElse(0);
        }

        @Override
        public List<Double> getBoundaries() {
            return boundaries;
        }

        @Override
        public List<Long> getCounts() {
            return counts;
        }

        @Override
        public List<DoubleExemplarData> getExemplars() {
            return List.of();
        }
    }

    /** Cumulative sums that only grow. */
    record Sum<T extends PointData>(List<T> points) implements SumData<T> {
        @Override
        public boolean isMonotonic() {
            return true;
        }

        @Override
        public AggregationTemporality getAggregationTemporality() {
            return AggregationTemporality.CUMULATIVE;
        }

        @Override
        public Collection<T> getPoints() {
            return points;
        }
    }

    /** Values of a moment. */
    record Gauge<T extends PointData>(List<T> points) implements GaugeData<T> {
        @Override
        public Collection<T> getPoints() {
            return points;
        }
    }

    /** Cumulative histograms. */
    record Histogram(List<HistogramPointData> points) implements HistogramData {
        @Override
        public AggregationTemporality getAggregationTemporality() {
            return AggregationTemporality.CUMULATIVE;
        }

        @Override
        public Collection<HistogramPointData> getPoints() {
            return points;
        }
    }
}
