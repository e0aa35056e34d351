package org.brickprofiler;

import java.lang.ref.WeakReference;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.brickprofiler.checksum.ChecksumOptions;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.device.DeviceRecorder;
import org.brickprofiler.internal.device.DeviceSampling;
import org.brickprofiler.internal.record.BrickRanges;
import org.brickprofiler.internal.record.HostThreadTimes;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.SettingAction;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanSinks;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.internal.setting.Settings;
import org.brickprofiler.internal.setting.SwitchSetting;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.spi.Tracing;
import org.jspecify.annotations.Nullable;

/** Options of a profiler. Not thread-safe; may be used for several profilers. */
public final class BrickProfilerBuilder {
    private static final Log LOG = Log.of(BrickProfilerBuilder.class);
    private static final Supplier<ThreadTimes> OF_HOST = HostThreadTimes::ofThisThread;

    NanoClock clock = NanoClock.SYSTEM;
    boolean percentiles = SwitchSetting.isOn(
            "brick.profiler.percentiles",
            "BRICK_PROFILER_PERCENTILES",
            Settings.ofProfiler(SettingAction.EXPORT) != null);
    private boolean nvtx = SwitchSetting.isOn("brick.profiler.nvtx", "BRICK_PROFILER_NVTX", false);
    Attribution attribution = Attribution.LITERAL;

    private @Nullable SpanSink tracing;
    private boolean isTracingChosen;

    final Map<String, DeviceStream> streams = new LinkedHashMap<>();
    int launchesEvery = 32;
    private int sampling = defaultSampling();
    private final Set<Integer> exact = new HashSet<>();

    /** The seed of the draws; empty for another one in each profiler. Tests set their own. */
    OptionalLong samplingSeed = OptionalLong.empty();

    ChecksumOptions checksums = ChecksumOptions.DEFAULT;

    /** Creates the reader of a thread's CPU time; null if steps record no CPU time. Tests set their own. */
    @Nullable
    Supplier<ThreadTimes> threadTimes;

    /** Null unless set, so that the class is not loaded before a snapshot needs it. */
    @Nullable
    RunIdentity identity;

    BrickProfilerBuilder() {}

    /**
     * Sets the clock; {@link NanoClock#SYSTEM} unless set.
     *
     * @param clock a clock
     * @return this
     */
    public BrickProfilerBuilder clock(NanoClock clock) {
        Objects.requireNonNull(clock, "clock");
        this.clock = clock;
        return this;
    }

    /**
     * Sets whether to record percentiles. Unless set, the system property {@code brick.profiler.percentiles} decides,
     * or else the environment variable {@code BRICK_PROFILER_PERCENTILES}, which {@code brick run} sets; without both,
     * percentiles are on if a setting exports windows, which have no extremes of their own otherwise, and off if not.
     * They take 18 KB for each brick and thread.
     *
     * @param on true to record percentiles
     * @return this
     */
    public BrickProfilerBuilder percentiles(boolean on) {
        this.percentiles = on;
        return this;
    }

    /**
     * Sets how deferred measurements divide the time before a shared synchronisation; {@link Attribution#LITERAL}
     * unless set.
     *
     * @param attribution how they divide the time
     * @return this
     */
    public BrickProfilerBuilder attribution(Attribution attribution) {
        Objects.requireNonNull(attribution, "attribution");
        this.attribution = attribution;
        return this;
    }

    /**
     * Sets the recorder that keeps every sample, layer and pass as a span on a timeline: an
     * {@code org.brickprofiler.trace.TraceRecorder}. Spans cost time in addition to the sums. Unless set, spans are
     * recorded only if the system property {@code brick.profiler.trace} or the environment variable
     * {@code BRICK_PROFILER_TRACE} names a file for them, or {@code brick.profiler.lines} or
     * {@code BRICK_PROFILER_LINES} asks for the lines of bricks.
     *
     * @param recorder the recorder
     * @return this
     * @throws IllegalArgumentException when the recorder does not come from this library
     */
    public BrickProfilerBuilder tracing(Tracing recorder) {
        Objects.requireNonNull(recorder, "recorder");
        return sink(SpanSinks.of(recorder));
    }

    /** Sets the sink of spans; null for none, whatever settings ask for. */
    BrickProfilerBuilder sink(@Nullable SpanSink sink) {
        tracing = sink;
        isTracingChosen = true;
        return this;
    }

    /** Returns the sink of spans; null for none. The sink of settings is opened only if a profiler needs it. */
    @Nullable
    SpanSink sink() {
        return isTracingChosen ? tracing : SettingAction.sink();
    }

    /**
     * Sets whether a tool that follows NVTX, such as Nsight Systems, sees the bricks, layers and steps of this profiler
     * as ranges. Unless set, the system property {@code brick.profiler.nvtx} decides, or else the environment variable
     * {@code BRICK_PROFILER_NVTX}; without both, it is off. Needs the artifact {@code brick-profiler-gpu}. If the tool
     * has not set the variable {@code NVTX_INJECTION64_PATH} of the process, this setting changes nothing.
     *
     * <p>A range belongs to the thread that starts the brick, and encloses the brick's own time by that of the call to
     * the tool. A brick that ends on another thread, or after a brick, layer or step that encloses it, has no range
     * from its next start on; neither have bricks on virtual threads, deferred measurements and layers without
     * {@link BrickProfiler#startLayer}. The first of these is logged for each brick, and their number at the end of the
     * process.
     *
     * @param on true to show ranges
     * @return this
     */
    public BrickProfilerBuilder nvtx(boolean on) {
        this.nvtx = on;
        return this;
    }

    /** Creates the ranges of a profiler; null if no tool is to see any. */
    @Nullable
    BrickRanges ranges(SpanSink.Names names) {
        return nvtx ? SettingAction.ranges(names) : null;
    }

    /**
     * Adds the queue of a device on which bricks are enqueued: their times are then the device's own. Bricks that name
     * no stream belong to the first one that is added. The caller closes the stream, after the last use of the
     * profiler.
     *
     * @param stream a stream, known to {@link BrickProfiler#stream} by its name
     * @return this
     * @throws IllegalArgumentException when a stream of that name or {@value DeviceRecorder#MAX_STREAMS} streams have
     *     been added already
     */
    public BrickProfilerBuilder deviceStream(DeviceStream stream) {
        Objects.requireNonNull(stream, "stream");
        return deviceStream(stream.name(), stream);
    }

    /**
     * Adds the queue of a device under a name that the application chooses.
     *
     * @param name its name for {@link BrickProfiler#stream}
     * @param stream a stream; bricks that name no stream belong to the first one that is added
     * @return this
     * @throws IllegalArgumentException when the name is null, or a stream of that name or
     *     {@value DeviceRecorder#MAX_STREAMS} streams have been added already
     */
    public BrickProfilerBuilder deviceStream(String name, DeviceStream stream) {
        Objects.requireNonNull(stream, "stream");
        BrickStream.requireName(name);
        if (streams.containsKey(name)) {
            throw new IllegalArgumentException("there is a device stream named '" + name + "' already");
        }
        if (streams.size() == DeviceRecorder.MAX_STREAMS) {
            throw new IllegalArgumentException("more than " + DeviceRecorder.MAX_STREAMS + " device streams");
        }
        streams.put(name, stream);
        return this;
    }

    /**
     * Sets the share of bricks on device streams whose launch by the host is timed, too: one in {@code every}, drawn at
     * random; 32 unless set. Timing a launch takes two readings of the clock, about as long as the marks themselves. If
     * a timeline or a graph is recorded, every launch is timed.
     *
     * @param every 1 for every brick, n for one in n
     * @return this
     * @throws IllegalArgumentException when {@code every} is less than 1
     */
    public BrickProfilerBuilder launchTimes(int every) {
        if (every < 1) {
            throw new IllegalArgumentException("launchTimes " + every + ": expected 1 or more");
        }
        launchesEvery = every;
        return this;
    }

    /**
     * Sets the share of bricks on device streams that are marked: of each row (a brick in a phase on a stream), one
     * occurrence is drawn at random out of each block of {@code every} successive ones. The others are only counted,
     * which takes no clock read and no call of the driver. Counts, elements, bytes and work stay exact. Times become
     * estimates: {@link DeviceTime#standardErrorNs}. The first 32 occurrences of a row are all marked, and the blocks
     * then grow to {@code every}.
     *
     * <p>Unless set, the system property {@code brick.profiler.device_sampling} decides, or else the environment
     * variable {@code BRICK_PROFILER_DEVICE_SAMPLING}; without both, each brick is marked. Each brick is also marked in
     * a captured graph and, with a message in the log, while a timeline or a graph is recorded.
     * {@link SyncMode#IMMEDIATE} is refused. Single steps have no times by category.
     *
     * @param every 1 for every brick, n for one in n, up to 4,096
     * @return this
     * @throws IllegalArgumentException when {@code every} is not within 1 to 4,096
     */
    public BrickProfilerBuilder deviceSampling(int every) {
        sampling = new DeviceSampling(every, Set.of(), 0).every();
        return this;
    }

    /**
     * Sets bricks that are always marked, whatever {@link #deviceSampling} says.
     *
     * @param ids the bricks
     * @return this
     */
    public BrickProfilerBuilder exact(BrickId... ids) {
        for (BrickId id : Objects.requireNonNull(ids, "ids")) {
            exact.add(Objects.requireNonNull(id, "ids").index());
        }
        return this;
    }

    private static int defaultSampling() {
        String setting = Settings.ofProfiler("device_sampling");
        try {
            return setting == null ? 1 : new DeviceSampling(Integer.parseInt(setting.strip()), Set.of(), 0).every();
        } catch (IllegalArgumentException refused) {
            LOG.warn(
                    "the setting device_sampling={} is not within 1 to {}: each brick is marked",
                    setting,
                    DeviceSampling.MOST);
            return 1;
        }
    }

    /** Returns the number of bricks of which one is marked. */
    int sampling() {
        return streams.isEmpty() || sink() != null ? 1 : sampling;
    }

    /**
     * Sets how much of an output {@link BrickProfiler#checksums()} covers. Unless set, {@link ChecksumOptions#DEFAULT}
     * applies, which records a checksum and no values. A comparison within a tolerance needs sampled values, too.
     *
     * @param options how much a checksum covers, and how many values are kept
     * @return this
     */
    public BrickProfilerBuilder checksums(ChecksumOptions options) {
        checksums = Objects.requireNonNull(options, "options");
        return this;
    }

    /**
     * Sets whether steps record the CPU time of the thread that begins them, beside their duration; off unless set. The
     * readings then prolong each step by some microseconds. On Linux a step also records how long its thread waited for
     * a processor, which shows whether the machine is shared. See {@link StepStats.CpuTime}. If the profiler uses
     * another clock than the system's, steps record neither of the two times, since these could not be compared with
     * their durations.
     *
     * @param on true to read the times
     * @return this
     */
    public BrickProfilerBuilder stepCpuTimes(boolean on) {
        threadTimes = on ? OF_HOST : null;
        return this;
    }

    @Nullable
    Supplier<ThreadTimes> threadTimes() {
        return threadTimes == OF_HOST && clock != NanoClock.SYSTEM ? null : threadTimes;
    }

    /** Returns the reader of the CPU time of threads that serve requests; without the system's clock, of none. */
    Supplier<ThreadTimes> servingTimes() {
        if (threadTimes != null && threadTimes != OF_HOST) {
            return threadTimes;
        }
        return clock == NanoClock.SYSTEM ? OF_HOST : () -> ThreadTimes.NONE;
    }

    /**
     * Sets the identity of the run and of this part of it. Its values take precedence over the settings and the
     * launcher of the process, see {@link RunIdentity}. Snapshots and reports contain them.
     *
     * @param known the values that the application knows; its steps and its window are ignored
     * @return this
     */
    public BrickProfilerBuilder identity(RunIdentity known) {
        identity = Objects.requireNonNull(known, "known");
        return this;
    }

    /**
     * Makes the profiler.
     *
     * @return a new profiler, off
     */
    public BrickProfiler build() {
        return new BrickProfiler(this);
    }

    /** Makes the recorder of the streams; null without a stream. */
    @Nullable
    DeviceRecorder recorder(TableRegistry registry, SpanSink.Names names, Boundaries owner) {
        if (streams.isEmpty()) {
            return null;
        }
        SpanSink sink = sink();
        DeviceRecorder.Tracing spans = sink == null
                ? DeviceRecorder.Tracing.NONE
                : (place, catchUp) -> sink.stream(place, names, owner, catchUp);
        DeviceRecorder recorder =
                new DeviceRecorder(clock, registry, List.copyOf(streams.values()), launchesEvery, spans);
        if (sampling() > 1) {
            long seed = samplingSeed.orElseGet(ThreadLocalRandom.current()::nextLong);
            recorder.sample(new DeviceSampling(sampling(), exact, seed), percentiles);
        } else if (sampling > 1) {
            LOG.warn(
                    "deviceSampling({}) has no effect: a timeline shows each brick, so each is marked. Omit tracing to"
                            + " mark fewer",
                    sampling);
        }
        // Weak: a timeline refers to the recorder, and must not keep the profiler reachable through it.
        WeakReference<Boundaries> profiler = new WeakReference<>(owner);
        recorder.timeLaunchesWhile(() -> {
            Boundaries alive = profiler.get();
            return alive != null && alive.marksStreams();
        });
        recorder.takePhasesFrom(() -> {
            Boundaries alive = profiler.get();
            return alive == null ? PhaseKey.NO_PHASE : alive.phase();
        });
        return recorder;
    }
}
