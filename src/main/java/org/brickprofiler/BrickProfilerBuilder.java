package org.brickprofiler;

import org.brickprofiler.record.NanoClock;
import org.brickprofiler.record.SpanSink;
import org.jspecify.annotations.Nullable;

/** Options of a profiler. Not thread-safe; may be used for several profilers. */
public final class BrickProfilerBuilder {
    NanoClock clock = NanoClock.SYSTEM;
    boolean percentiles;
    Attribution attribution = Attribution.LITERAL;
    @Nullable SpanSink tracing = TraceSetting.sink();

    BrickProfilerBuilder() {}

    /**
     * The clock to read; {@link NanoClock#SYSTEM} unless set.
     *
     * @param clock a clock
     * @return this
     */
    public BrickProfilerBuilder clock(NanoClock clock) {
        this.clock = clock;
        return this;
    }

    /**
     * Whether to record how durations are spread; off unless set. It takes 18 KB for each brick and thread.
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
        this.attribution = attribution;
        return this;
    }

    /**
     * Who gets every sample, layer and pass as a span on a timeline. Spans cost time beside the sums:
     * {@code org.brickprofiler.trace.TraceRecorder} is a sink. Unless set, nobody gets them, or a file where the system
     * property {@code brick.profiler.trace} or the environment variable {@code BRICK_PROFILER_TRACE} names one.
     *
     * @param sink the sink
     * @return this
     */
    public BrickProfilerBuilder tracing(SpanSink sink) {
        this.tracing = sink;
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
