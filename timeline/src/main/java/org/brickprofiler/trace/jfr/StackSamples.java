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
import org.brickprofiler.trace.jfr.internal.RecordedStacks;

/**
 * Gives the stacks that a flight recording samples to the lines of bricks: {@code jdk.ExecutionSample} and
 * {@code jdk.NativeMethodSample}. Another recording of the process that samples more often adds its samples. One
 * thread: that of the stream.
 */
final class StackSamples {

    /** The period of the JDK's own default settings. */
    private static final Duration PERIOD = Duration.ofMillis(20);

    private final LineLog lines;
    private final Function<Instant, OptionalLong> clockNs;

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
        stream.onEvent(RecordedStacks.IN_JAVA, event -> sampled(event, false));
        stream.onEvent(RecordedStacks.IN_NATIVE, event -> sampled(event, true));
        lines.begin(PERIOD.toNanos());
    }

    private void sampled(RecordedEvent event, boolean isNative) {
        RecordedThread thread = event.getThread("sampledThread");
        OptionalLong atNs = clockNs.apply(event.getStartTime());
        if (thread == null || atNs.isEmpty()) {
            lines.sampleWithoutTime();
            return;
        }
        long threadId = thread.getJavaThreadId();
        List<Frame> frames = RecordedStacks.frames(event.getStackTrace());
        if (RecordedStacks.isVirtual(thread)) {
            lines.sampleOfVirtualThread(threadId, atNs.getAsLong(), isNative, frames);
        } else if (RecordedStacks.isOther(thread)) {
            lines.sampleOfOtherThread();
        } else {
            lines.sample(threadId, atNs.getAsLong(), isNative, frames);
        }
    }
}
