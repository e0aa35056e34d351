package org.brickprofiler.trace.jfr;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingStream;
import org.brickprofiler.trace.CallTree;
import org.brickprofiler.trace.Frame;
import org.brickprofiler.trace.LineLog;
import org.jspecify.annotations.Nullable;

/**
 * Gives the stacks that a flight recording samples to the lines of bricks: {@code jdk.ExecutionSample} and
 * {@code jdk.NativeMethodSample}. Another recording of the process that samples more often adds its samples. One
 * thread: that of the stream.
 */
final class StackSamples {

    private static final String IN_JAVA = "jdk.ExecutionSample";
    private static final String IN_NATIVE = "jdk.NativeMethodSample";

    /** The period of the JDK's own default settings. */
    private static final Duration PERIOD = Duration.ofMillis(20);

    /** The beginnings of the names of threads that work for no step: of this library, and of the flight recorder. */
    private static final List<String> OTHER_THREADS = List.of("brick-", "JFR ");

    /** In the names of classes that the virtual machine makes for lambdas; a number follows that each run changes. */
    private static final String LAMBDA = "$$Lambda";

    private static final Frame UNKNOWN = new Frame("(unknown)", Frame.NO_LINE, "");

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
        stream.enable(IN_JAVA).withPeriod(PERIOD);
        stream.enable(IN_NATIVE).withPeriod(PERIOD);
        stream.onEvent(IN_JAVA, event -> sampled(event, false));
        stream.onEvent(IN_NATIVE, event -> sampled(event, true));
        lines.begin(PERIOD.toNanos());
    }

    private void sampled(RecordedEvent event, boolean isNative) {
        RecordedThread thread = event.getThread("sampledThread");
        OptionalLong atNs = clockNs.apply(event.getStartTime());
        if (thread == null || atNs.isEmpty()) {
            lines.sampleWithoutTime();
        } else if (thread.hasField("virtual") && thread.getBoolean("virtual")) {
            lines.sampleOfVirtualThread();
        } else if (isOther(thread.getJavaName())) {
            lines.sampleOfOtherThread();
        } else {
            lines.sample(thread.getJavaThreadId(), atNs.getAsLong(), isNative, stack(event.getStackTrace()));
        }
    }

    /** Returns whether a thread works for no step; one without a name is none of Java's. */
    private static boolean isOther(@Nullable String name) {
        return name == null || OTHER_THREADS.stream().anyMatch(name::startsWith);
    }

    private static List<Frame> stack(@Nullable RecordedStackTrace trace) {
        if (trace == null || trace.getFrames().isEmpty()) {
            return List.of(UNKNOWN);
        }
        List<Frame> frames = new ArrayList<>(trace.getFrames().size() + 1);
        for (RecordedFrame frame : trace.getFrames()) {
            frames.add(frame(frame));
        }
        if (trace.isTruncated()) {
            frames.add(CallTree.CUT);
        }
        return frames;
    }

    private static Frame frame(RecordedFrame frame) {
        RecordedMethod method = frame.getMethod();
        if (method == null) {
            return UNKNOWN;
        }
        String type = method.getType().getName();
        int lambda = type.indexOf(LAMBDA);
        String stable = lambda < 0 ? type : type.substring(0, lambda + LAMBDA.length());
        return new Frame(stable + "." + method.getName(), frame.getLineNumber(), frame.getType());
    }
}
