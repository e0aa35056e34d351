package org.brickprofiler;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.checksum.ChecksumOptions;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.internal.device.DeviceRecorder;
import org.brickprofiler.internal.io.SwitchSetting;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanSinkProvider;
import org.brickprofiler.internal.record.SpanSinks;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.spi.Tracing;
import org.jspecify.annotations.Nullable;

/** Options of a profiler. Not thread-safe; may be used for several profilers. */
public final class BrickProfilerBuilder {
    NanoClock clock = NanoClock.SYSTEM;
    boolean percentiles = SwitchSetting.isAskedFor("brick.profiler.percentiles", "BRICK_PROFILER_PERCENTILES");
    Attribution attribution = Attribution.LITERAL;

    @Nullable
    SpanSink tracing = SpanSinkProvider.sinkOfSetting();

    final Map<String, DeviceStream> streams = new LinkedHashMap<>();
    int launchesEvery = 32;
    ChecksumOptions checksums = ChecksumOptions.DEFAULT;

    /** Null where nothing was said: the class is not needed before a snapshot. */
    @Nullable
    RunIdentity identity;

    BrickProfilerBuilder() {}

    /**
     * The clock to read; {@link NanoClock#SYSTEM} unless set.
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
     * Whether to record how durations are spread. Where nothing is set here, the system property
     * {@code brick.profiler.percentiles} decides, or else the environment variable {@code BRICK_PROFILER_PERCENTILES},
     * which {@code brick run} sets; and where they are absent, it is off. It takes 18 KB for each brick and thread.
     *
     * @param on true to record percentiles
     * @return this
     */
    public BrickProfilerBuilder percentiles(boolean on) {
        this.percentiles = on;
        return this;
    }

    /**
     * How deferred measurements share the time; {@link Attribution#LITERAL} unless set.
     *
     * @param attribution the way
     * @return this
     */
    public BrickProfilerBuilder attribution(Attribution attribution) {
        Objects.requireNonNull(attribution, "attribution");
        this.attribution = attribution;
        return this;
    }

    /**
     * What takes every sample, layer and pass as a span on a timeline: an
     * {@code org.brickprofiler.trace.TraceRecorder}. Spans cost time beside the sums. Unless set, there are none, or
     * they go to a file where the system property {@code brick.profiler.trace} or the environment variable
     * {@code BRICK_PROFILER_TRACE} names one.
     *
     * @param recorder the recorder
     * @return this
     * @throws IllegalArgumentException when it is no recorder of this library
     */
    public BrickProfilerBuilder tracing(Tracing recorder) {
        Objects.requireNonNull(recorder, "recorder");
        this.tracing = SpanSinks.of(recorder);
        return this;
    }

    /**
     * The queue of a device that bricks are enqueued on: their times are then the device's own. The first one given is
     * that of all bricks that name no other. The stream stays the caller's to close, after the profiler's last use.
     *
     * @param stream a stream, known to {@link BrickProfiler#stream} by its name
     * @return this
     * @throws IllegalArgumentException when there is one of that name, or there are {@value DeviceRecorder#MAX_STREAMS}
     */
    public BrickProfilerBuilder deviceStream(DeviceStream stream) {
        Objects.requireNonNull(stream, "stream");
        return deviceStream(stream.name(), stream);
    }

    /**
     * The queue of a device, under a name of the application's choice.
     *
     * @param name what {@link BrickProfiler#stream} knows it by
     * @param stream a stream; the first one given is that of all bricks that name no other
     * @return this
     * @throws IllegalArgumentException when there is one of that name, the name is null, or there are
     *     {@value DeviceRecorder#MAX_STREAMS}
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
     * Of how many bricks on device streams the host's side is timed, too: of one in so many, drawn by chance; 32 unless
     * set. It takes two readings of the clock, about as long as the marks themselves. Where there is a timeline or a
     * graph, every one is timed.
     *
     * @param every 1 for every brick
     * @return this
     * @throws IllegalArgumentException when it is not 1 or more
     */
    public BrickProfilerBuilder launchTimes(int every) {
        if (every < 1) {
            throw new IllegalArgumentException("launch times of one brick in " + every + ": 1 or more");
        }
        launchesEvery = every;
        return this;
    }

    /**
     * What {@link BrickProfiler#checksums()} takes of an output; {@link ChecksumOptions#DEFAULT} unless set, which
     * takes a checksum alone. Samples are what it needs for comparing within a tolerance.
     *
     * @param options how much a checksum covers, and how many values are kept
     * @return this
     */
    public BrickProfilerBuilder checksums(ChecksumOptions options) {
        checksums = Objects.requireNonNull(options, "options");
        return this;
    }

    /**
     * Which run it is, and what of it: what is named here goes before the settings and the launcher of the process, see
     * {@link RunIdentity}. Snapshots and reports hold it.
     *
     * @param known what the application knows; its steps and its window are not looked at
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
}
