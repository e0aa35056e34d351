package org.brickprofiler.metrics.jmx;

import static org.brickprofiler.internal.base.Checks.requireName;
import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.lang.management.ManagementFactory;
import java.util.Date;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.CategoryStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepStats;
import org.brickprofiler.internal.access.ProfilerAccess;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.setting.OptionalPart;
import org.brickprofiler.metrics.Recent;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.internal.JsonText;
import org.brickprofiler.request.RecentRequests;
import org.brickprofiler.request.RequestIdentity;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.stats.LatencyDistribution;
import org.jspecify.annotations.Nullable;

/**
 * Registers profilers for clients of JMX, which see a {@link BrickProfileMXBean}. Any thread.
 *
 * <pre>{@code
 * BrickProfileBean.register(profiler, "engine"); // org.brickprofiler:type=BrickProfile,name=engine
 * }</pre>
 */
public final class BrickProfileBean implements BrickProfileMXBean {

    private final BrickProfiler profiler;
    private final Recent<ProfileSnapshot> recent;
    private final Recent<Optional<String>> lines;

    /** True if the profiler is on for {@link #watch} only. Guarded by this, like the next field. */
    private boolean isWatched;

    private long watchedToNs;

    private final Runnable reset;

    private BrickProfileBean(BrickProfiler profiler, Runnable reset) {
        this.profiler = profiler;
        this.reset = reset;
        this.recent = new Recent<>(profiler::snapshot, Recent.DEFAULT_AGE, NanoClock.SYSTEM);
        this.lines = new Recent<>(() -> lines(profiler), Recent.DEFAULT_AGE, NanoClock.SYSTEM);
    }

    /**
     * Registers a profiler with the platform's MBean server, as {@code org.brickprofiler:type=BrickProfile,name=NAME}.
     *
     * @param profiler the profiler; the server keeps it alive
     * @param name the name that distinguishes it from other profilers
     * @return the name by which it can be unregistered
     * @throws IllegalArgumentException when another profiler has that name, or the name is null or empty
     */
    public static ObjectName register(BrickProfiler profiler, String name) {
        return register(profiler, name, ManagementFactory.getPlatformMBeanServer());
    }

    /**
     * Registers a profiler with the platform's MBean server, as {@link #register(BrickProfiler, String)} does, for an
     * owner with sums of its own that a reset must also discard.
     *
     * @param profiler the profiler; the server keeps it alive
     * @param name the name that distinguishes it from other profilers
     * @param reset runs instead of {@link BrickProfiler#reset()}, on any thread; it must call that method
     * @return the name by which it can be unregistered
     * @throws IllegalArgumentException when another profiler has that name, or the name is null or empty
     */
    public static ObjectName register(BrickProfiler profiler, String name, Runnable reset) {
        Objects.requireNonNull(reset, "reset");
        return register(profiler, name, ManagementFactory.getPlatformMBeanServer(), reset);
    }

    /**
     * Registers a profiler with an MBean server, as {@link #register(BrickProfiler, String)} does.
     *
     * @param profiler the profiler; the server keeps it alive
     * @param name the name that distinguishes it from other profilers
     * @param server the server
     * @return the name by which it can be unregistered
     * @throws IllegalArgumentException when another profiler has that name, or the name is null or empty
     */
    public static ObjectName register(BrickProfiler profiler, String name, MBeanServer server) {
        Objects.requireNonNull(profiler, "profiler");
        return register(profiler, name, server, profiler::reset);
    }

    private static ObjectName register(BrickProfiler profiler, String name, MBeanServer server, Runnable reset) {
        Objects.requireNonNull(profiler, "profiler");
        requireName("the name of a bean", name);
        boolean plain = name.chars().noneMatch(c -> ",=:\"*?\n".indexOf(c) >= 0);
        try {
            ObjectName key = new ObjectName(
                    "org.brickprofiler:type=BrickProfile,name=" + (plain ? name : ObjectName.quote(name)));
            server.registerMBean(
                    new StandardMBean(new BrickProfileBean(profiler, reset), BrickProfileMXBean.class, true), key);
            return key;
        } catch (InstanceAlreadyExistsException e) {
            throw new IllegalArgumentException("a profiler is registered as '" + name + "' already", e);
        } catch (JMException e) {
            throw new IllegalStateException("cannot register the profiler '" + name + "'", e);
        }
    }

    @Override
    public boolean isEnabled() {
        return profiler.isEnabled();
    }

    @Override
    public synchronized void setEnabled(boolean on) {
        isWatched = false;
        notifyAll();
        if (on) {
            profiler.enable();
        } else {
            profiler.disable();
        }
    }

    @Override
    public Date getStartedAt() {
        return Date.from(recent.read().startedAt());
    }

    @Override
    public Date getEndedAt() {
        return Date.from(recent.read().endedAt());
    }

    @Override
    public long getWallNs() {
        return recent.read().wallNs();
    }

    @Override
    public long getTotalNs() {
        return recent.read().totalNs();
    }

    @Override
    public long getOverheadNs() {
        return recent.read().overheadNs();
    }

    @Override
    public long getSamples() {
        return recent.read().samples();
    }

    @Override
    public int getThreads() {
        return recent.read().threads();
    }

    @Override
    public long getUnresolved() {
        return recent.read().unresolved();
    }

    @Override
    public long getPending() {
        return recent.read().pending();
    }

    @Override
    public List<Brick> getBricks() {
        return recent.read().bricks().stream().<Brick>map(BrickView::new).toList();
    }

    @Override
    public List<Category> getCategories() {
        ProfileSnapshot snapshot = recent.read();
        long totalNs = snapshot.netOrTotalNs();
        return snapshot.categories().entrySet().stream()
                .filter(entry -> entry.getValue().count() > 0)
                .<Category>map(entry -> new CategoryView(entry.getKey(), entry.getValue(), totalNs))
                .toList();
    }

    @Override
    public List<Phase> getPhases() {
        return recent.read().steps().phases().stream()
                .<Phase>map(PhaseView::new)
                .toList();
    }

    @Override
    public Requests getRequests() {
        return new RequestsView(recent.read().requests());
    }

    @Override
    public String[] getProgress() {
        return profiler.progress().lines().toArray(String[]::new);
    }

    @Override
    public String[] getRecentRequests() {
        return profiler.progress().recent().stream().map(RecentRequests::text).toArray(String[]::new);
    }

    @Override
    public @Nullable String lines() {
        return lines.read().orElse(null);
    }

    private static Optional<String> lines(BrickProfiler profiler) {
        // The first window of a new reader has all samples since the last reset.
        return ProfilerAccess.sink(profiler)
                .flatMap(SpanSink::windows)
                .map(window -> window.read(false).get(JsonReport.LINES))
                .map(BrickProfileBean::json);
    }

    private static String json(Object values) {
        OptionalPart.JACKSON_CORE.require("the lines of bricks");
        return JsonText.ofPlain(values);
    }

    @Override
    public synchronized boolean watch(long ms) {
        requireNotNegative("ms", ms);
        if (!isWatched && ms > 0 && !profiler.isEnabled()) {
            profiler.enable();
            isWatched = profiler.isEnabled();
            if (isWatched) {
                Thread ending = new Thread(this::endWatch, "brick-bean-watch");
                ending.setDaemon(true);
                ending.start();
            }
        }
        if (isWatched) {
            watchedToNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
            switchOffIfOver();
            notifyAll();
        }
        return profiler.isEnabled();
    }

    private synchronized void endWatch() {
        try {
            while (isWatched) {
                long leftNs = watchedToNs - System.nanoTime();
                TimeUnit.NANOSECONDS.timedWait(this, leftNs);
                switchOffIfOver();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void switchOffIfOver() {
        if (isWatched && watchedToNs - System.nanoTime() <= 0) {
            isWatched = false;
            profiler.disable();
        }
    }

    @Override
    public void reset() {
        reset.run();
        recent.expire();
        lines.expire();
    }

    private record BrickView(BrickStats stats) implements Brick {
        @Override
        public String getName() {
            return stats.name();
        }

        @Override
        public String getCategory() {
            return stats.category().displayName();
        }

        @Override
        public long getCount() {
            return stats.count();
        }

        @Override
        public long getTotalNs() {
            return stats.totalNs();
        }

        @Override
        public boolean isEstimated() {
            return stats.device().isEstimated();
        }

        @Override
        public double getStandardErrorNs() {
            return stats.device().standardErrorNs();
        }

        @Override
        public long getMeasured() {
            return stats.device().measured();
        }

        @Override
        public @Nullable Long getNetNs() {
            return stats.netNs().isPresent() ? (Long) stats.netNs().getAsLong() : null;
        }

        @Override
        public long getMinNs() {
            return stats.minNs();
        }

        @Override
        public long getP50Ns() {
            return stats.percentileNs(50);
        }

        @Override
        public long getP99Ns() {
            return stats.percentileNs(99);
        }

        @Override
        public long getMaxNs() {
            return stats.maxNs();
        }

        @Override
        public long getElements() {
            return stats.totalElements();
        }

        @Override
        public @Nullable Latency getLatency() {
            return stats.latency().map(LatencyView::new).orElse(null);
        }
    }

    private record PhaseView(StepStats stats) implements Phase {
        @Override
        public String getName() {
            return stats.phase().displayName();
        }

        @Override
        public long getCount() {
            return stats.count();
        }

        @Override
        public long getWallNs() {
            return stats.wallNs();
        }

        @Override
        public long getPromptTokens() {
            return stats.prefillTokens();
        }

        @Override
        public long getOutputTokens() {
            return stats.outputTokens();
        }
    }

    private record LatencyView(LatencyDistribution times) implements Latency {
        @Override
        public long getP50Ns() {
            return times.percentileNs(50);
        }

        @Override
        public long getP99Ns() {
            return times.percentileNs(99);
        }

        @Override
        public int getFirstBucket() {
            return times.firstBucket();
        }

        @Override
        public long[] getCounts() {
            return times.usedCounts();
        }
    }

    private record RequestsView(RequestStats stats) implements Requests {
        @Override
        public long getArrived() {
            return stats.counts().arrived();
        }

        @Override
        public long getWaiting() {
            return stats.counts().waiting();
        }

        @Override
        public long getRunning() {
            return stats.counts().running();
        }

        @Override
        public long getFinished() {
            return stats.counts().allFinished();
        }

        @Override
        public Latency getTimeToFirstToken() {
            return new LatencyView(stats.latencies().timeToFirstToken());
        }

        @Override
        public Latency getTimePerOutputToken() {
            return new LatencyView(stats.latencies().timePerOutputToken());
        }

        @Override
        public String[] getCountedFrom() {
            return stats.countedFrom().toArray(String[]::new);
        }

        @Override
        public Request[] getSlowest() {
            return stats.slowestFirstTokens().stream()
                    .map(each -> new RequestView(each.identity(), each.timeToFirstTokenNs(), false))
                    .toArray(Request[]::new);
        }

        @Override
        public Request[] getOldestLive() {
            return stats.oldestLive().stream()
                    .map(each -> new RequestView(each.identity(), each.ageNs(), each.isRunning()))
                    .toArray(Request[]::new);
        }
    }

    private record RequestView(RequestIdentity identity, long timeNs, boolean isRunning) implements Request {
        @Override
        public @Nullable String getId() {
            return identity.id().orElse(null);
        }

        @Override
        public @Nullable String getModel() {
            return identity.model().orElse(null);
        }

        @Override
        public @Nullable Date getArrivedAt() {
            return identity.arrivedAt().map(Date::from).orElse(null);
        }

        @Override
        public long getTimeNs() {
            return timeNs;
        }
    }

    private record CategoryView(BrickCategory category, CategoryStats stats, long baseNs) implements Category {
        @Override
        public String getName() {
            return category.displayName();
        }

        @Override
        public long getCount() {
            return stats.count();
        }

        @Override
        public long getTotalNs() {
            return stats.totalNs();
        }

        @Override
        public double getStandardErrorNs() {
            return stats.standardErrorNs();
        }

        @Override
        public double getPercentOfBrickTime() {
            return stats.percentage(baseNs);
        }
    }
}
