package org.brickprofiler.trace.read;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import org.brickprofiler.StepInfo;
import org.brickprofiler.trace.Frame;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.LineRecording;
import org.brickprofiler.trace.jfr.internal.RecordedStacks;
import org.jspecify.annotations.Nullable;

/** The lines of the bricks of a flight recording, from its samples of stacks, its bricks and its steps. One thread. */
final class RecordedLines {

    private static final Pattern PERIOD = Pattern.compile("(\\d{1,9}) ?(ns|us|ms|s)");
    private static final Map<String, TimeUnit> UNITS = Map.of(
            "ns", TimeUnit.NANOSECONDS,
            "us", TimeUnit.MICROSECONDS,
            "ms", TimeUnit.MILLISECONDS,
            "s", TimeUnit.SECONDS);

    private final LineRecording lines = new LineRecording();
    private final Map<Long, Load> loads = new HashMap<>();

    /** The shortest period that the settings of an event have had, ns, by the number of its type. */
    private final Map<Long, Long> periods = new HashMap<>();

    private boolean hasSamples;
    private OptionalLong typeOfSamples = OptionalLong.empty();

    /** The mean of the parts of the processors' time that a thread took. */
    private static final class Load {
        private double sum;
        private int count;
    }

    /** Notes an event of the virtual machine; most say nothing about lines. */
    void look(String type, RecordedEvent recorded) {
        switch (type) {
            case RecordedStacks.IN_JAVA -> {
                typeOfSamples = OptionalLong.of(recorded.getEventType().getId());
                sample(recorded, recorded.getThread("sampledThread"), frames(recorded), false);
            }
            case RecordedStacks.IN_NATIVE ->
                sample(recorded, recorded.getThread("sampledThread"), frames(recorded), true);
            case RecordedStacks.BY_PROCESSOR_TIME -> {
                List<Frame> frames = frames(recorded);
                sample(recorded, recorded.getThread(), frames, RecordedStacks.isNative(frames));
            }
            case "jdk.ThreadCPULoad" -> load(recorded);
            case "jdk.ActiveSetting" -> setting(recorded);
            default -> {
                // It says nothing about lines.
            }
        }
    }

    private static List<Frame> frames(RecordedEvent recorded) {
        return RecordedStacks.frames(recorded.getStackTrace());
    }

    private void sample(RecordedEvent recorded, @Nullable RecordedThread thread, List<Frame> frames, boolean isNative) {
        hasSamples = true;
        if (thread == null || RecordedStacks.isOther(thread)) {
            lines.sampleOfOtherThread();
        } else if (RecordedStacks.isVirtual(thread)) {
            lines.sampleOfVirtualThread();
        } else {
            lines.sample(thread.getId(), unixNs(recorded.getStartTime()), isNative, frames);
        }
    }

    private void load(RecordedEvent recorded) {
        RecordedThread thread = recorded.getThread();
        if (thread != null) {
            Load load = loads.computeIfAbsent(thread.getId(), first -> new Load());
            load.sum += recorded.getFloat("user") + recorded.getFloat("system");
            load.count++;
        }
    }

    private void setting(RecordedEvent recorded) {
        String value = recorded.getString("value");
        Matcher period = PERIOD.matcher(value == null ? "" : value);
        if ("period".equals(recorded.getString("name")) && period.matches()) {
            long ns = UNITS.getOrDefault(period.group(2), TimeUnit.SECONDS).toNanos(Long.parseLong(period.group(1)));
            periods.merge(recorded.getLong("id"), ns, Math::min);
        }
    }

    /** Adds a brick. */
    void brick(RecordedEvent recorded, String brick, Optional<StepInfo.Phase> phase, long startNs, long elapsedNs) {
        RecordedThread thread = recorded.getThread();
        if (hasSamples && thread != null) {
            lines.brick(thread.getId(), brick, phase, startNs, startNs + elapsedNs);
        }
    }

    /** Notes the end of a step. */
    void stepEnded(RecordedEvent recorded) {
        RecordedThread thread = recorded.getThread();
        if (thread != null) {
            lines.stepEnded(thread.getId(), unixNs(recorded.getEndTime()));
        }
    }

    /**
     * Joins the samples with the bricks.
     *
     * @param clockErrorNs the error of the relation of the clocks of samples and bricks, ns; empty without one
     * @return the lines; empty if the recording has no samples
     */
    Optional<LineProfile> join(OptionalLong clockErrorNs) {
        if (!hasSamples) {
            return Optional.empty();
        }
        if (clockErrorNs.isEmpty()) {
            return Optional.of(LineProfile.without(
                    "the recording relates the clocks of bricks and samples nowhere (it has no brick.ClockAnchor)"));
        }
        loads.forEach((thread, load) -> lines.processorShare(thread, load.sum / load.count));
        long periodNs = typeOfSamples.isPresent() ? periods.getOrDefault(typeOfSamples.getAsLong(), 0L) : 0;
        return Optional.of(lines.join(periodNs, clockErrorNs.getAsLong()));
    }

    private static long unixNs(Instant at) {
        return ChronoUnit.NANOS.between(Instant.EPOCH, at);
    }
}
