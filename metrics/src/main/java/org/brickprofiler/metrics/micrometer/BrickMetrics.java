package org.brickprofiler.metrics.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.internal.access.CurrentSums;
import org.brickprofiler.internal.access.ProfilerAccess;
import org.brickprofiler.internal.setting.OptionalPart;
import org.brickprofiler.metrics.BrickSeries;
import org.brickprofiler.metrics.ProfileMetrics;
import org.brickprofiler.metrics.ProfileMetrics.Histograms;
import org.brickprofiler.metrics.ProfileMetrics.Label;
import org.brickprofiler.metrics.ProfileMetrics.Metric;
import org.brickprofiler.metrics.Recent;
import org.brickprofiler.request.LatencyHistogram;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.stats.LatencyDistribution;
import org.jspecify.annotations.Nullable;

/**
 * The bricks of a profiler as meters of Micrometer. When a registry polls the meters, their values are read from
 * snapshots, so that recording a sample costs nothing more.
 *
 * <pre>{@code
 * BrickMetrics.Factory.create(profiler).bindTo(registry);
 * }</pre>
 *
 * <table>
 * <caption>The meters</caption>
 * <tr><th>name</th><th>type</th><th>tags</th><th>value</th></tr>
 * <tr><td>{@code brick.time}, {@code brick.samples}, {@code brick.elements}</td><td>function counters</td>
 *     <td>{@code brick}, {@code category}, {@code phase}</td><td>the time of the samples (s), their number, and the
 *     elements that they processed</td></tr>
 * <tr><td>{@code brick.step.time}, {@code brick.steps}, {@code brick.step.sequences}</td><td>function counters</td>
 *     <td>{@code phase}</td><td>the time of the steps (s), their number, and the sum of their batches</td></tr>
 * <tr><td>{@code brick.step.tokens}</td><td>function counter</td><td>{@code phase}, {@code kind}</td><td>tokens of
 *     prompts, and generated ones, of which accepted drafted ones are a part</td></tr>
 * <tr><td>{@code brick.step.cpu_time}</td><td>function counter, s</td><td>{@code phase}, {@code state}</td>
 *     <td>time in which the threads of steps ran on a processor, and waited for one, if it is measured</td></tr>
 * <tr><td>{@code brick.batch}, {@code brick.kv_cache.tokens}</td><td>gauges</td><td>{@code phase}</td><td>the batch of
 *     the latest step, and the positions that the key-value cache held when it began, if the engine states them</td></tr>
 * <tr><td>{@code gen_ai.server.time_to_first_token}, {@code gen_ai.server.time_per_output_token}</td><td>see below</td>
 *     <td></td><td>of requests that finished with an answer</td></tr>
 * <tr><td>{@code gen_ai.server.request.duration}, {@code brick.request.queue_time}</td><td>see below</td>
 *     <td>{@code error_type}</td><td>of requests that finished; the tag is the outcome of those without an answer</td></tr>
 * <tr><td>{@code brick.first.token}, {@code brick.output.token}</td><td>time gauges</td><td>{@code percentile}</td>
 *     <td>time to first token, and per output token: median, 90th and 99th percentile since the last reset; of requests
 *     if the profiler has recorded any, else of steps</td></tr>
 * <tr><td>{@code brick.requests}</td><td>function counter</td><td>{@code outcome}</td><td>requests that finished</td></tr>
 * <tr><td>{@code brick.requests.arrived}, {@code brick.requests.abandoned}</td><td>function counters</td><td></td>
 *     <td>requests that arrived, and those that were given up</td></tr>
 * <tr><td>{@code brick.requests.waiting}, {@code brick.requests.running}</td><td>gauges</td><td></td><td>requests
 *     without a step so far, and the others that have not finished</td></tr>
 * <tr><td>{@code brick.request.time}</td><td>function counter, s</td><td>{@code cause}</td>
 *     <td>time of the finished requests by cause</td></tr>
 * <tr><td>{@code brick.request.tokens}</td><td>function counter</td><td>{@code kind}</td><td>tokens of these requests:
 *     of prompts, the cached ones of these, output</td></tr>
 * <tr><td>{@code brick.jvm.gc_time}, {@code brick.jvm.compilation_time}</td><td>function counters, s</td><td></td>
 *     <td>time that the garbage collectors and the compilers report since the start of the virtual machine</td></tr>
 * <tr><td>{@code brick.run}</td><td>gauge</td><td>{@code model}, if it is known</td><td>1</td></tr>
 * <tr><td>{@code brick.wall}</td><td>function counter, s</td><td></td><td>time for which the profiler was on</td></tr>
 * <tr><td>{@code brick.overhead}</td><td>function counter, s</td><td></td><td>estimated cost of recording</td></tr>
 * <tr><td>{@code brick.unresolved}</td><td>function counter</td><td></td>
 *     <td>samples whose time a device did not report</td></tr>
 * </table>
 *
 * <p><b>Histograms.</b> Micrometer has no histogram that is read from counts. A {@code PrometheusMeterRegistry}
 * therefore gets a collector with the histograms of {@code RequestStats.histogram}, which are exact, at the bounds of
 * OpenTelemetry's conventions for generative AI. The collector has the tags of {@code brick.wall}, so that common tags
 * of the registry are included; other filters do not reach it. Any other registry gets the four latencies as function
 * timers, with their number and their sum only, and has the percentiles of {@code brick.first.token} and
 * {@code brick.output.token} instead. The parts of a composite registry are treated one by one, as they are when the
 * binder is bound.
 *
 * <p>A new brick, and a new phase of steps, gets its meters within {@value #LOOK_SECONDS} seconds: a daemon thread
 * looks for new ones, so that a registry's next reading shows all their meters. An earlier reading also finds new
 * bricks, but the registry may show only some of their meters, or none, until its next reading. A limited number of
 * bricks have their own series; further bricks share one for each category, named {@value BrickProfiler#OTHER_NAMES}. A
 * reset of the profiler resets the counters, except those of the virtual machine. Any thread. The registry keeps the
 * profiler alive.
 */
public final class BrickMetrics implements MeterBinder {

    private static final int[] PERCENTILES = {50, 90, 99};

    /** The binders of each registry, to refuse a second profiler with the same tags. */
    private static final Map<MeterRegistry, List<WeakReference<BrickMetrics>>> BOUND = new WeakHashMap<>();

    /**
     * The interval of looking for new bricks: shorter than that between readings of a registry, and long enough to cost
     * nothing.
     */
    static final int LOOK_SECONDS = 2;

    /** The thread that looks for new bricks of all binders; it ends when there is no binder. */
    private static final class Looks {
        private static final ScheduledThreadPoolExecutor THREAD = thread();

        private static ScheduledThreadPoolExecutor thread() {
            ScheduledThreadPoolExecutor made = new ScheduledThreadPoolExecutor(1, task -> {
                Thread thread = new Thread(task, "brick-metrics");
                thread.setDaemon(true);
                return thread;
            });
            made.setKeepAliveTime(LOOK_SECONDS, TimeUnit.SECONDS);
            made.allowCoreThreadTimeOut(true);
            made.setRemoveOnCancelPolicy(true);
            return made;
        }

        /** Looks for new bricks repeatedly, until the binder is unreachable. */
        static void follow(BrickMetrics binder) {
            Look look = new Look(binder);
            look.again = THREAD.scheduleWithFixedDelay(look, LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** Looks once for new bricks of a binder; does not keep the binder alive. */
    private static final class Look implements Runnable {
        private final WeakReference<BrickMetrics> binder;
        private volatile @Nullable Future<?> again;

        Look(BrickMetrics binder) {
            this.binder = new WeakReference<>(binder);
        }

        @Override
        public void run() {
            BrickMetrics metrics = binder.get();
            Future<?> looks = again;
            if ((metrics == null || !metrics.look()) && looks != null) {
                looks.cancel(false);
            }
        }
    }

    /**
     * The identity of a meter.
     *
     * @param name its name
     * @param labels its labels
     */
    private record Key(String name, Map<Label, String> labels) {}

    /**
     * Creates meters. The virtual machine loads this class without Micrometer, but not {@link BrickMetrics}, which
     * implements an interface of it. Stateless; any thread.
     */
    public static final class Factory {

        private Factory() {}

        /**
         * Creates meters without further tags; at most 256 bricks have their own series. A snapshot is reused for one
         * second.
         *
         * @param profiler the profiler
         * @return the new object
         * @throws IllegalStateException if Micrometer is missing; the message names the artifact to add
         */
        public static BrickMetrics create(BrickProfiler profiler) {
            OptionalPart.MICROMETER.require("BrickMetrics");
            return create(profiler, Tags.empty(), BrickSeries.DEFAULT_MOST, Recent.DEFAULT_AGE);
        }

        /**
         * Creates meters with options.
         *
         * @param profiler the profiler
         * @param tags tags of every meter; needed if a registry has the meters of several profilers
         * @param mostBricks the most bricks with series of their own, 0 or more
         * @param snapshotAge the time for which a snapshot is reused: longer than a reading of all meters, shorter than
         *     the time between two readings
         * @return the new object
         * @throws IllegalArgumentException when the number or the age is negative, or a tag has a key that the meters
         *     use
         * @throws IllegalStateException if Micrometer is missing; the message names the artifact to add
         */
        public static BrickMetrics create(
                BrickProfiler profiler, Iterable<Tag> tags, int mostBricks, Duration snapshotAge) {
            OptionalPart.MICROMETER.require("BrickMetrics");
            Objects.requireNonNull(profiler, "profiler");
            Objects.requireNonNull(snapshotAge, "snapshotAge");
            return new BrickMetrics(
                    new Recent<>(() -> ProfilerAccess.sums(profiler), snapshotAge, NanoClock.SYSTEM), tags, mostBricks);
        }
    }

    private final Recent<CurrentSums> recent;
    private final ProfileMetrics metrics;
    private final Tags tags;

    /** The latest reading; null before the first one. Guarded by {@code this}, like all following fields. */
    private @Nullable CurrentSums latest;

    private Map<Key, Number> values = Map.of();
    private Map<Key, LatencyHistogram> latencies = Map.of();
    private final Map<Key, Metric> known = new LinkedHashMap<>();
    private final Map<Key, Histograms> knownLatencies = new LinkedHashMap<>();
    private boolean hasSteps;
    private final List<MeterRegistry> registries = new ArrayList<>();

    BrickMetrics(Recent<CurrentSums> recent, Iterable<Tag> tags, int mostBricks) {
        this.recent = recent;
        this.tags = Tags.of(Objects.requireNonNull(tags, "tags"));
        this.metrics = new ProfileMetrics(mostBricks);
        for (Tag tag : this.tags) {
            if (tag.getKey().equals("percentile")
                    || Arrays.stream(Label.values())
                            .anyMatch(label -> label.key().equals(tag.getKey()))) {
                throw new IllegalArgumentException("tag " + tag + ": the meters have a tag of this key, use another");
            }
        }
    }

    /**
     * Registers the meters. Does nothing if they are registered there already.
     *
     * @throws IllegalArgumentException when the registry has the meters of another binder with the same tags, of which
     *     it would show those that came first; or two tags are one label in Prometheus
     */
    @Override
    public void bindTo(MeterRegistry registry) {
        Objects.requireNonNull(registry, "registry");
        if (!claim(registry)) {
            return;
        }
        synchronized (this) {
            if (registries.isEmpty()) {
                Looks.follow(this);
            }
            registries.add(registry);
            known.forEach((key, metric) -> register(registry, key, metric));
            knownLatencies.forEach((key, latency) -> registerTimers(registry, key, latency));
            if (hasSteps) {
                registerTokenTimes(registry);
            }
            read();
        }
        leaves(registry).filter(BrickMetrics::showsHistograms).forEach(leaf -> PrometheusHistograms.add(leaf, this));
    }

    /**
     * Returns whether this binder is new to a registry.
     *
     * @throws IllegalArgumentException when the registry has another binder with the same tags
     */
    private boolean claim(MeterRegistry registry) {
        synchronized (BOUND) {
            List<WeakReference<BrickMetrics>> binders = BOUND.computeIfAbsent(registry, ignored -> new ArrayList<>());
            binders.removeIf(each -> each.get() == null);
            for (WeakReference<BrickMetrics> each : binders) {
                BrickMetrics other = each.get();
                if (other == this) {
                    return false;
                }
                if (other != null && other.tags.equals(tags)) {
                    throw new IllegalArgumentException(
                            "the registry has the meters of another BrickMetrics with the tags " + tags
                                    + ": give each profiler tags of its own");
                }
            }
            binders.add(new WeakReference<>(this));
            return true;
        }
    }

    /** Returns the parts of a composite registry, or the registry itself. */
    private static Stream<MeterRegistry> leaves(MeterRegistry registry) {
        return registry instanceof CompositeMeterRegistry composite
                ? composite.getRegistries().stream().flatMap(BrickMetrics::leaves)
                : Stream.of(registry);
    }

    /** Returns whether a registry is Prometheus', without a need for its classes. */
    private static boolean showsHistograms(MeterRegistry registry) {
        for (Class<?> type = registry.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().equals("io.micrometer.prometheusmetrics.PrometheusMeterRegistry")) {
                return true;
            }
        }
        return false;
    }

    private Tags tags(Key key) {
        Tags all = tags;
        for (Map.Entry<Label, String> label : key.labels.entrySet()) {
            all = all.and(label.getKey().key(), label.getValue());
        }
        return all;
    }

    private void register(MeterRegistry registry, Key key, Metric metric) {
        String unit = metric.isTime() ? "seconds" : null;
        // A registry references this object only weakly; the function references it strongly.
        if (metric.isCounter()) {
            FunctionCounter.builder(key.name, this, ignored -> value(key))
                    .baseUnit(unit)
                    .description(metric.description())
                    .tags(tags(key))
                    .register(registry);
        } else {
            Gauge.builder(key.name, () -> value(key))
                    .baseUnit(unit)
                    .description(metric.description())
                    .tags(tags(key))
                    .register(registry);
        }
    }

    /** Registers the number and the sum of a latency in the registries that cannot show its histogram. */
    private void registerTimers(MeterRegistry registry, Key key, Histograms histograms) {
        leaves(registry).filter(leaf -> !showsHistograms(leaf)).forEach(leaf -> FunctionTimer.builder(
                        key.name,
                        this,
                        ignored -> latency(key).map(LatencyHistogram::count).orElse(0L),
                        ignored -> latency(key).map(LatencyHistogram::sumNs).orElse(0L),
                        TimeUnit.NANOSECONDS)
                .description(histograms.description())
                .tags(tags(key))
                .register(leaf));
    }

    private void registerTokenTimes(MeterRegistry registry) {
        for (int percentile : PERCENTILES) {
            gauge(
                    registry,
                    "brick.first.token",
                    "Time to first token: of requests if they are recorded, else of prompts.",
                    percentile,
                    ProfileSnapshot::timeToFirstToken);
            gauge(
                    registry,
                    "brick.output.token",
                    "Time between two output tokens.",
                    percentile,
                    ProfileSnapshot::timePerOutputToken);
        }
    }

    private void gauge(
            MeterRegistry registry,
            String name,
            String description,
            int percentile,
            Function<ProfileSnapshot, LatencyDistribution> times) {
        TimeGauge.builder(name, this, TimeUnit.NANOSECONDS, ignored -> times.apply(read().snapshot())
                        .percentileNs(percentile))
                .description(description)
                .tags(tags.and("percentile", String.valueOf(percentile)))
                .register(registry);
    }

    private synchronized double value(Key key) {
        read();
        Number value = values.get(key);
        return value == null ? 0 : value.doubleValue();
    }

    private synchronized Optional<LatencyHistogram> latency(Key key) {
        read();
        return Optional.ofNullable(latencies.get(key));
    }

    /** Returns the tags of this binder in a registry, with those that the registry adds to all meters. */
    Tags tagsIn(MeterRegistry registry) {
        return registry.find("brick.wall").tags(tags).functionCounters().stream()
                .map(meter -> Tags.of(meter.getId().getTagsAsIterable()))
                .min(Comparator.comparingLong(all -> all.stream().count()))
                .orElse(tags);
    }

    /** Returns the current reading. If it is new, registers the meters of its new series. */
    @SuppressWarnings("ReferenceEquality") // the same object as long as it is reused
    synchronized CurrentSums read() {
        CurrentSums now = recent.read();
        if (now != latest) {
            latest = now;
            List<Metric> current = metrics.metrics(now);
            Map<Key, Number> read = new HashMap<>();
            current.forEach(metric ->
                    metric.values().forEach((labels, value) -> read.put(new Key(metric.name(), labels), value)));
            values = read;
            latencies = byKey(histograms(now));
            registerNew(current, now);
        }
        return now;
    }

    private static List<Histograms> histograms(CurrentSums sums) {
        RequestStats requests = sums.snapshot().requests();
        return requests.isRecorded()
                ? ProfileMetrics.histograms(requests, sums.snapshot().identity().model())
                : List.of();
    }

    private static Map<Key, LatencyHistogram> byKey(List<Histograms> histograms) {
        Map<Key, LatencyHistogram> all = new HashMap<>();
        histograms.forEach(
                each -> each.values().forEach((labels, value) -> all.put(new Key(each.name(), labels), value)));
        return all;
    }

    /**
     * Registers new series, between the readings of registries.
     *
     * @return false if all registries are closed
     */
    private boolean look() {
        CurrentSums now = recent.takeAnother();
        synchronized (this) {
            registries.removeIf(MeterRegistry::isClosed);
            registerNew(metrics.metrics(now), now);
            return !registries.isEmpty();
        }
    }

    private void registerNew(List<Metric> current, CurrentSums now) {
        for (Metric metric : current) {
            for (Map<Label, String> labels : metric.values().keySet()) {
                Key key = new Key(metric.name(), labels);
                if (known.putIfAbsent(key, metric) == null) {
                    registries.forEach(registry -> register(registry, key, metric));
                }
            }
        }
        for (Histograms each : histograms(now)) {
            for (Map<Label, String> labels : each.values().keySet()) {
                Key key = new Key(each.name(), labels);
                if (knownLatencies.putIfAbsent(key, each) == null) {
                    registries.forEach(registry -> registerTimers(registry, key, each));
                }
            }
        }
        if (!hasSteps && !now.snapshot().steps().phases().isEmpty()) {
            hasSteps = true;
            registries.forEach(this::registerTokenTimes);
        }
    }
}
