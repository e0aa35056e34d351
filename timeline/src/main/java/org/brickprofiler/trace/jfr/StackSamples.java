package org.brickprofiler.trace.jfr;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingStream;
import org.brickprofiler.trace.Frame;
import org.brickprofiler.trace.LineLog;
import org.brickprofiler.trace.jfr.internal.CompiledLoops;
import org.brickprofiler.trace.jfr.internal.RecordedStacks;
import org.jspecify.annotations.Nullable;

/**
 * Gives the stacks that a flight recording samples to the lines of bricks: {@code jdk.ExecutionSample} and
 * {@code jdk.NativeMethodSample}. Another recording of the process that samples more often adds its samples, and one
 * that enables {@code jdk.CPUTimeSample} of JDK 25 adds samples of another kind. One thread: that of the stream.
 */
final class StackSamples {

    /** The field of the thread of a sample. */
    private static final String SAMPLED = "sampledThread";

    /** The period of the JDK's own default settings. */
    private static final Duration PERIOD = Duration.ofMillis(20);

    private final LineLog lines;
    private final Function<Instant, OptionalLong> clockNs;

    /** The time of a processor between two samples of a thread, ns; negative before the first one. */
    private long timedPeriodNs = -1;

    /**
     * Prepares to follow a stream.
     *
     * @param lines receives the samples
     * @param clockNs converts a moment of the recording to {@link System#nanoTime()}, if the clocks are tied
     */
    StackSamples(LineLog lines, Function<Instant, OptionalLong> clockNs) {
        this.lines = lines;
        this.clockNs = clockNs;
    }

    /** Enables the events on a stream that has not started, and follows them. */
    void follow(RecordingStream stream) {
        stream.enable(RecordedStacks.IN_JAVA).withPeriod(PERIOD);
        stream.enable(RecordedStacks.IN_NATIVE).withPeriod(PERIOD);
        stream.onEvent(RecordedStacks.IN_JAVA, event -> sampled(lines, event, event.getThread(SAMPLED), false));
        stream.onEvent(RecordedStacks.IN_NATIVE, event -> sampled(lines, event, event.getThread(SAMPLED), true));
        stream.onEvent(RecordedStacks.BY_PROCESSOR_TIME, this::sampledByProcessorTime);
        stream.onEvent(RecordedStacks.LOST_BY_PROCESSOR_TIME, event -> lines.byProcessorTime()
                .lost(RecordedStacks.lost(event)));
        lines.begin(PERIOD.toNanos());
        CompiledLoops.doubt().ifPresent(lines::doubt);
    }

    private void sampledByProcessorTime(RecordedEvent event) {
        LineLog log = lines.byProcessorTime();
        long periodNs = RecordedStacks.periodNs(event);
        if (periodNs != timedPeriodNs) {
            timedPeriodNs = periodNs;
            log.begin(periodNs);
        }
        List<Frame> frames = RecordedStacks.frames(event.getStackTrace());
        sampled(log, event, event.getThread(), RecordedStacks.isNative(frames));
    }

    private void sampled(LineLog log, RecordedEvent event, @Nullable RecordedThread thread, boolean isNative) {
        OptionalLong atNs = clockNs.apply(event.getStartTime());
        if (thread == null || atNs.isEmpty()) {
            log.sampleWithoutTime();
            return;
        }
        long threadId = thread.getJavaThreadId();
        List<Frame> frames = RecordedStacks.frames(event.getStackTrace());
        if (RecordedStacks.isVirtual(thread)) {
            log.sampleOfVirtualThread(threadId, atNs.getAsLong(), isNative, frames);
        } else if (RecordedStacks.isOther(thread)) {
            log.sampleOfOtherThread();
        } else {
            log.sample(threadId, atNs.getAsLong(), isNative, frames);
        }
    }
}
