package org.brickprofiler.trace.jfr.internal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordedThreadGroup;
import org.brickprofiler.trace.Frame;
import org.jspecify.annotations.Nullable;

/** The stacks and threads of samples of a flight recording. Stateless; any thread. */
public final class RecordedStacks {

    /** The event of a sample of a thread in Java code. */
    public static final String IN_JAVA = "jdk.ExecutionSample";

    /** The event of a sample of a thread in native code. */
    public static final String IN_NATIVE = "jdk.NativeMethodSample";

    /** The event of a sample by the processor time of a thread, in Java or native code, of JDK 25 on Linux. */
    public static final String BY_PROCESSOR_TIME = "jdk.CPUTimeSample";

    /** The event that states how many of these samples of a thread were lost. */
    public static final String LOST_BY_PROCESSOR_TIME = "jdk.CPUTimeSamplesLost";

    /** A longer period stands for an unknown one. */
    private static final Duration LONGEST_PERIOD = Duration.ofDays(1);

    /** The beginnings of the names of threads that work for no step: of this library, the flight recorder, and JMX. */
    private static final List<String> OTHER_THREADS = List.of("brick-", "JFR ", "JMX ", "RMI ");

    /** The group of the threads that run virtual threads, which a sample names only between these. */
    private static final String CARRIERS = "CarrierThreads";

    /** In the names of classes that the virtual machine makes for lambdas; a number follows that each run changes. */
    private static final String LAMBDA = "$$Lambda";

    private static final Frame UNKNOWN = new Frame("(unknown)", Frame.NO_LINE, "");

    private RecordedStacks() {}

    /**
     * Returns whether a thread is a virtual one.
     *
     * @param thread the thread of a sample
     * @return false before JDK 21
     */
    public static boolean isVirtual(RecordedThread thread) {
        return thread.hasField("virtual") && thread.getBoolean("virtual");
    }

    /**
     * Returns whether a thread works for no step.
     *
     * @param thread the thread of a sample
     * @return true for threads of this library, of the flight recorder, and of JMX, which {@code brick top} makes work,
     *     for carriers of virtual threads, and for those that are none of Java's
     */
    public static boolean isOther(RecordedThread thread) {
        String name = thread.getJavaName();
        RecordedThreadGroup group = thread.getThreadGroup();
        return name == null
                || OTHER_THREADS.stream().anyMatch(name::startsWith)
                || (group != null && CARRIERS.equals(group.getName()));
    }

    /**
     * Returns the frames of a stack.
     *
     * @param trace the stack; null if the virtual machine could not walk it
     * @return the called frame before its caller, and last {@link Frame#CUT} if callers are left out; never empty
     */
    public static List<Frame> frames(@Nullable RecordedStackTrace trace) {
        if (trace == null || trace.getFrames().isEmpty()) {
            return List.of(UNKNOWN);
        }
        List<Frame> frames = new ArrayList<>(trace.getFrames().size() + 1);
        for (RecordedFrame frame : trace.getFrames()) {
            frames.add(frame(frame));
        }
        if (trace.isTruncated()) {
            frames.add(Frame.CUT);
        }
        return frames;
    }

    /**
     * Returns the time of a processor after which an event {@link #BY_PROCESSOR_TIME} was taken.
     *
     * @param event the event
     * @return the time, ns; 0 if it is unknown
     */
    public static long periodNs(RecordedEvent event) {
        Duration period = event.getDuration("samplingPeriod");
        return period.isNegative() || period.compareTo(LONGEST_PERIOD) > 0 ? 0 : period.toNanos();
    }

    /**
     * Returns the number of samples that an event {@link #LOST_BY_PROCESSOR_TIME} states to be lost.
     *
     * @param event the event
     * @return 0 or more
     */
    public static long lost(RecordedEvent event) {
        return Math.max(0, event.getLong("lostSamples"));
    }

    /**
     * Returns whether a thread was in native code.
     *
     * @param frames the frames of its stack, the called one before its caller
     * @return whether its innermost method is a native one
     */
    public static boolean isNative(List<Frame> frames) {
        return frames.get(0).isNative();
    }

    private static Frame frame(RecordedFrame frame) {
        RecordedMethod method = frame.getMethod();
        if (method == null) {
            return UNKNOWN;
        }
        String type = method.getType().getName();
        int lambda = type.indexOf(LAMBDA);
        String stable = lambda < 0 ? type : type.substring(0, lambda + LAMBDA.length());
        return new Frame(
                stable.isEmpty() ? method.getName() : stable + "." + method.getName(),
                frame.getLineNumber(),
                frame.getType());
    }
}
