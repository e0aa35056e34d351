package org.brickprofiler.metrics.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.CategoryStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.internal.setting.OptionalPart;
import org.brickprofiler.metrics.BrickSeries;
import org.brickprofiler.metrics.BrickSeries.Labels;
import org.brickprofiler.metrics.RecentSnapshot;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
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
 * <tr><td>{@code brick.time}</td><td>function timer</td><td>{@code brick}, {@code category}</td>
 *     <td>samples and their time</td></tr>
 * <tr><td>{@code brick.elements}</td><td>function counter</td><td>the same</td><td>elements</td></tr>
 * <tr><td>{@code brick.step.time}</td><td>function timer</td><td>{@code phase}</td><td>steps and their time</td></tr>
 * <tr><td>{@code brick.step.prefill.tokens}</td><td>function counter</td><td>the same</td><td>tokens of prompts</td></tr>
 * <tr><td>{@code brick.step.output.tokens}</td><td>function counter</td><td>the same</td>
 *     <td>generated tokens</td></tr>
 * <tr><td>{@code brick.first.token}, {@code brick.output.token}</td><td>time gauges</td><td>{@code percentile}</td>
 *     <td>time to first token, and per output token: median, 90th and 99th percentile since the last reset; of requests
 *     if the profiler has recorded any, else of steps</td></tr>
 * <tr><td>{@code brick.requests}</td><td>function counter</td><td>{@code outcome}</td><td>requests that finished</td></tr>
 * <tr><td>{@code brick.request.time}</td><td>function counter, s</td><td>{@code cause}</td>
 *     <td>time of these requests by cause</td></tr>
 * <tr><td>{@code brick.wall}</td><td>function counter, s</td><td></td><td>time for which the profiler was on</td></tr>
 * <tr><td>{@code brick.overhead}</td><td>function counter, s</td><td></td><td>estimated cost of recording</td></tr>
 * <tr><td>{@code brick.unresolved}</td><td>function counter</td><td></td>
 *     <td>samples whose time a device did not report</td></tr>
 * </table>
 *
 * <p>A new brick, and a new phase of steps, gets its meters within {@value #LOOK_SECONDS} seconds: a daemon thread
 * looks for new ones, so that a registry's next reading shows all their meters. An earlier reading also finds new
 * bricks, but the registry may show only some of their meters, or none, until its next reading. A limited number of
 * bricks have their own series; further bricks share one for each category, named {@value BrickProfiler#OTHER_NAMES}. A
 * reset of the profiler resets the counters. Any thread. The registry keeps the profiler alive.
 */
public final class BrickMetrics implements MeterBinder {

    private static final int[] PERCENTILES = {50, 90, 99};
    private static final double NS_PER_S = 1e9;

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
            if (metrics != null) {
                metrics.look();
            } else if (looks != null) {
                looks.cancel(false);
            }
        }
    }

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
            return create(profiler, Tags.empty(), BrickSeries.DEFAULT_MOST, RecentSnapshot.DEFAULT_AGE);
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
         * @throws IllegalArgumentException when the number or the age is negative
         * @throws IllegalStateException if Micrometer is missing; the message names the artifact to add
         */
        public static BrickMetrics create(
                BrickProfiler profiler, Iterable<Tag> tags, int mostBricks, Duration snapshotAge) {
            OptionalPart.MICROMETER.require("BrickMetrics");
            Objects.requireNonNull(snapshotAge, "snapshotAge");
            return new BrickMetrics(new RecentSnapshot(profiler, snapshotAge, NanoClock.SYSTEM), tags, mostBricks);
        }
    }

    private final RecentSnapshot recent;
    private final BrickSeries series;
    private final Tags tags;

    /** The latest snapshot; null before the first reading. Guarded by {@code this}, like all following fields. */
    private @Nullable ProfileSnapshot latest;

    private Map<Labels, CategoryStats> sums = Map.of();
    private final Set<Labels> known = new HashSet<>();
    private boolean hasRequests;
    private final Set<StepInfo.Phase> phases = EnumSet.noneOf(StepInfo.Phase.class);
    private final List<MeterRegistry> registries = new ArrayList<>();

    BrickMetrics(RecentSnapshot recent, Iterable<Tag> tags, int mostBricks) {
        this.recent = recent;
        this.tags = Tags.of(Objects.requireNonNull(tags, "tags"));
        this.series = new BrickSeries(mostBricks);
    }

    /** {@inheritDoc} */
    @Override
    public void bindTo(MeterRegistry registry) {
        Objects.requireNonNull(registry, "registry");
        synchronized (this) {
            if (registries.isEmpty()) {
                Looks.follow(this);
            }
            registries.add(registry);
            known.forEach(labels -> register(registry, labels));
            phases.forEach(phase -> register(registry, phase));
            if (!phases.isEmpty()) {
                registerTokenTimes(registry);
            }
            if (hasRequests) {
                registerRequests(registry);
            }
            read();
        }
        counter(
                registry,
                "brick.wall",
                "seconds",
                "Time the profiler was switched on for.",
                all -> all.wallNs() / NS_PER_S);
        counter(
                registry,
                "brick.overhead",
                "seconds",
                "Estimated time that recording took.",
                all -> all.overheadNs() / NS_PER_S);
        counter(
                registry,
                "brick.unresolved",
                null,
                "Samples whose time a device did not report.",
                ProfileSnapshot::unresolved);
    }

    private void counter(
            MeterRegistry registry,
            String name,
            @Nullable String unit,
            String description,
            ToDoubleFunction<ProfileSnapshot> value) {
        // A registry references this object only weakly; the function references it strongly.
        FunctionCounter.builder(name, this, ignored -> value.applyAsDouble(read()))
                .baseUnit(unit)
                .description(description)
                .tags(tags)
                .register(registry);
    }

    private void register(MeterRegistry registry, Labels labels) {
        Tags all =
                tags.and("brick", labels.brick(), "category", labels.category().displayName());
        FunctionTimer.builder(
                        "brick.time",
                        this,
                        ignored -> sum(labels).count(),
                        ignored -> sum(labels).totalNs(),
                        TimeUnit.NANOSECONDS)
                .description("Executions of a brick, and their time.")
                .tags(all)
                .register(registry);
        FunctionCounter.builder("brick.elements", this, ignored -> sum(labels).totalElements())
                .description("Elements that a brick processed: tokens, rows, pages.")
                .tags(all)
                .register(registry);
    }

    private void register(MeterRegistry registry, StepInfo.Phase phase) {
        Tags all = tags.and("phase", phase.name().toLowerCase(Locale.ROOT));
        FunctionTimer.builder(
                        "brick.step.time",
                        this,
                        ignored -> steps(phase, StepStats::count),
                        ignored -> steps(phase, StepStats::totalNs),
                        TimeUnit.NANOSECONDS)
                .description("Steps of a phase, and their time.")
                .tags(all)
                .register(registry);
        FunctionCounter.builder("brick.step.prefill.tokens", this, ignored -> steps(phase, StepStats::prefillTokens))
                .description("Tokens of prompts that steps processed.")
                .tags(all)
                .register(registry);
        FunctionCounter.builder("brick.step.output.tokens", this, ignored -> steps(phase, StepStats::outputTokens))
                .description("Tokens that steps generated.")
                .tags(all)
                .register(registry);
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

    private void registerRequests(MeterRegistry registry) {
        for (Outcome outcome : Outcome.values()) {
            FunctionCounter.builder("brick.requests", this, ignored -> read().requests()
                            .counts()
                            .finished(outcome))
                    .description("Requests that finished.")
                    .tags(tags.and("outcome", outcome.name().toLowerCase(Locale.ROOT)))
                    .register(registry);
        }
        for (Cause cause : Cause.values()) {
            FunctionCounter.builder(
                            "brick.request.time",
                            this,
                            ignored -> read().requests().causeNs(cause) / NS_PER_S)
                    .description("Time of the requests that finished, by cause.")
                    .baseUnit("seconds")
                    .tags(tags.and("cause", cause.name().toLowerCase(Locale.ROOT)))
                    .register(registry);
        }
    }

    private void gauge(
            MeterRegistry registry,
            String name,
            String description,
            int percentile,
            Function<ProfileSnapshot, LatencyDistribution> times) {
        TimeGauge.builder(name, this, TimeUnit.NANOSECONDS, ignored -> times.apply(read())
                        .percentileNs(percentile))
                .description(description)
                .tags(tags.and("percentile", String.valueOf(percentile)))
                .register(registry);
    }

    private long steps(StepInfo.Phase phase, ToLongFunction<StepStats> value) {
        return read().steps().phase(phase).map(value::applyAsLong).orElse(0L);
    }

    private synchronized CategoryStats sum(Labels labels) {
        read();
        return sums.getOrDefault(labels, CategoryStats.EMPTY);
    }

    /** Returns the current snapshot. If it is new, registers the meters of its new series. */
    @SuppressWarnings("ReferenceEquality") // the same object as long as it is reused
    private synchronized ProfileSnapshot read() {
        ProfileSnapshot now = recent.read();
        if (now != latest) {
            latest = now;
            sums = series.sums(now);
            registerNew(sums.keySet(), now);
        }
        return now;
    }

    /** Registers new bricks and phases, between the readings of registries. */
    private void look() {
        ProfileSnapshot now = recent.takeAnother();
        synchronized (this) {
            registerNew(series.sums(now).keySet(), now);
        }
    }

    private void registerNew(Set<Labels> found, ProfileSnapshot now) {
        for (Labels labels : found) {
            if (known.add(labels)) {
                registries.forEach(registry -> register(registry, labels));
            }
        }
        if (!hasRequests && now.requests().isRecorded()) {
            hasRequests = true;
            registries.forEach(this::registerRequests);
        }
        for (StepStats phase : now.steps().phases()) {
            if (phases.isEmpty()) {
                registries.forEach(this::registerTokenTimes);
            }
            if (phases.add(phase.phase())) {
                registries.forEach(registry -> register(registry, phase.phase()));
            }
        }
    }
}
