package org.brickprofiler.trace.read;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.trace.Frame;
import org.brickprofiler.trace.FrameBricks;
import org.brickprofiler.trace.FrameLines;
import org.brickprofiler.trace.LineEvent;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.LineRecording;
import org.brickprofiler.trace.jfr.internal.RecordedStacks;
import org.brickprofiler.trace.jfr.internal.SpanTag;
import org.jspecify.annotations.Nullable;

/**
 * The lines of the bricks of a flight recording, from its samples of stacks, its bricks and its steps; without bricks,
 * from the frames of the samples. Memory that threads allocated and their waits are joined in the same way. The
 * recording is of the JDK or of async-profiler, whose mode the result names. One thread.
 */
final class RecordedLines {

    private static final String WALL_CLOCK = "profiler.WallClockSample";
    private static final String ALLOCATION = "jdk.ObjectAllocationSample";
    private static final String ALLOCATION_IN_TLAB = "jdk.ObjectAllocationInNewTLAB";
    private static final String ALLOCATION_OUTSIDE = "jdk.ObjectAllocationOutsideTLAB";
    private static final String MONITOR = "jdk.JavaMonitorEnter";
    private static final String PARK = "jdk.ThreadPark";

    private static final String BATCHES = "its samples are of wall-clock time in batches, which have no single times";

    /** In place of a method or a class that the recording does not state. */
    private static final String UNKNOWN = "(unknown)";

    private final Optional<FrameBricks> frameBricks;
    private final LineRecording lines = new LineRecording();

    /** The samples of threads that run, and those by processor time, of which only one kind counts. */
    private final OneKind running;

    private final OneKind timed;

    /** The samples by the clock, by their frames. */
    private final Optional<FrameSamples> wallByFrames;

    private final Map<Long, Load> loads = new HashMap<>();

    private final RecordedSettings settings = new RecordedSettings();
    private final Set<Long> typesOfWaits = new HashSet<>();
    private final Set<String> processes = new TreeSet<>();

    /** The samples of memory, and those of buffers, which state the same memory again. */
    private final List<Event> allocations = new ArrayList<>();

    private final List<Event> buffers = new ArrayList<>();

    private final List<Event> waits = new ArrayList<>();

    private boolean hasSleeping;
    private long wallClock;

    /** The samples by processor time that are stated to be lost. */
    private long lost;

    /** The time of a processor between two of these samples of a thread, ns; 0 if unknown. */
    private long timedPeriodNs;

    private long bricksOfOtherClock;

    /** The spans of bricks with samples. */
    private final List<Spanned> spans = new ArrayList<>();

    private OptionalLong typeOfSamples = OptionalLong.empty();

    /** The mean of the parts of the processors' time that a thread took. */
    private static final class Load {
        private double sum;
        private int count;
    }

    /** The span of a brick on a thread. */
    private record Spanned(long threadId, SpanTag tag, long startNs, long endNs) {}

    /** Memory that a thread allocated, or its wait; the brick is that of its frames. */
    private record Event(@Nullable RecordedThread thread, long atNs, LineEvent event, Optional<String> brick) {}

    /** A sample of a thread. */
    private record Sample(long threadId, boolean isOfVirtualThread, long atNs, boolean isNative, List<Frame> frames) {}

    /** The samples that are taken at one rate. One thread. */
    private static final class OneKind {
        private final Optional<FrameSamples> byFrames;
        private final List<Sample> samples = new ArrayList<>();
        private long count;
        private long ofOthers;

        OneKind(Optional<FrameBricks> bricks) {
            byFrames = bricks.map(known -> new FrameSamples());
        }

        /** Adds the samples to the lines, which know the bricks of virtual threads by now. */
        void addTo(LineRecording lines) {
            for (Sample sample : samples) {
                if (sample.isOfVirtualThread() && !lines.hasBricks(sample.threadId())) {
                    lines.sampleOfVirtualThread();
                } else {
                    lines.sample(sample.threadId(), sample.atNs(), sample.isNative(), sample.frames());
                }
            }
            for (long other = 0; other < ofOthers; other++) {
                lines.sampleOfOtherThread();
            }
        }
    }

    /**
     * Creates an empty collection.
     *
     * @param frameBricks names the methods that are bricks, if the recording has none; empty if frames tell none
     */
    RecordedLines(Optional<FrameBricks> frameBricks) {
        this.frameBricks = frameBricks;
        this.running = new OneKind(frameBricks);
        this.timed = new OneKind(frameBricks);
        this.wallByFrames = frameBricks.map(bricks -> new FrameSamples());
    }

    /** Selects the events that say something about lines. */
    void select(SelectedEvents selected) {
        selected.on(RecordedStacks.IN_JAVA, this::inJava);
        selected.on(
                RecordedStacks.IN_NATIVE,
                recorded -> sample(running, recorded, recorded.getThread("sampledThread"), frames(recorded), true));
        selected.on(RecordedStacks.BY_PROCESSOR_TIME, recorded -> {
            timedPeriodNs = RecordedStacks.periodNs(recorded);
            List<Frame> frames = frames(recorded);
            sample(timed, recorded, recorded.getThread(), frames, RecordedStacks.isNative(frames));
        });
        selected.on(RecordedStacks.LOST_BY_PROCESSOR_TIME, recorded -> lost += RecordedStacks.lost(recorded));
        selected.on(WALL_CLOCK, this::wallClock);
        selected.on(ALLOCATION, recorded -> allocations.add(allocation(recorded, recorded.getLong("weight"))));
        selected.on(ALLOCATION_IN_TLAB, recorded -> buffers.add(allocation(recorded, recorded.getLong("tlabSize"))));
        selected.on(
                ALLOCATION_OUTSIDE, recorded -> buffers.add(allocation(recorded, recorded.getLong("allocationSize"))));
        selected.on(MONITOR, recorded -> waited(recorded, "monitorClass", "monitor of "));
        selected.on(PARK, recorded -> waited(recorded, "parkedClass", "parked on "));
        selected.on(SpanTag.EVENT, this::span);
        selected.on("jdk.ThreadCPULoad", this::load);
        selected.on("jdk.ActiveSetting", settings::add);
        selected.on("jdk.BooleanFlag", settings::addFlag);
        selected.on("jdk.LongFlag", settings::addFlag);
        selected.on(
                "jdk.JVMInformation",
                recorded -> processes.add(
                        "process " + recorded.getLong("pid") + " of " + recorded.getInstant("jvmStartTime")));
    }

    private void inJava(RecordedEvent recorded) {
        typeOfSamples = OptionalLong.of(recorded.getEventType().getId());
        hasSleeping |= isSleeping(recorded);
        List<Frame> frames = frames(recorded);
        sample(running, recorded, recorded.getThread("sampledThread"), frames, RecordedStacks.isNative(frames));
    }

    /** Returns the brick of which an event is the span, if it is one. */
    static Optional<SpanTag> tag(String type, RecordedEvent recorded) {
        String tag = type.equals(SpanTag.EVENT) ? recorded.getString("tag") : null;
        return tag == null ? Optional.empty() : SpanTag.parse(tag);
    }

    /** Notes the span of a brick, which async-profiler times with the clock of its samples. */
    private void span(RecordedEvent recorded) {
        RecordedThread thread = recorded.getThread();
        Optional<SpanTag> tag = tag(SpanTag.EVENT, recorded);
        if (thread != null && tag.isPresent()) {
            spans.add(new Spanned(
                    thread.getId(), tag.get(), unixNs(recorded.getStartTime()), unixNs(recorded.getEndTime())));
        }
    }

    private static List<Frame> frames(RecordedEvent recorded) {
        return RecordedStacks.frames(recorded.getStackTrace());
    }

    /** Returns the brick of the innermost frame that has one. */
    private Optional<String> brick(RecordedEvent recorded) {
        RecordedStackTrace trace = recorded.getStackTrace();
        if (frameBricks.isEmpty() || trace == null) {
            return Optional.empty();
        }
        for (RecordedFrame frame : trace.getFrames()) {
            RecordedMethod method = frame.getMethod();
            if (method != null) {
                Optional<String> brick = frameBricks
                        .get()
                        .brick(
                                method.getType().getName(),
                                method.getName(),
                                method.getDescriptor() == null ? "" : method.getDescriptor());
                if (brick.isPresent()) {
                    return brick;
                }
            }
        }
        return Optional.empty();
    }

    private void sample(
            OneKind kind,
            RecordedEvent recorded,
            @Nullable RecordedThread thread,
            List<Frame> frames,
            boolean isNative) {
        kind.byFrames.ifPresent(samples -> addByFrames(samples, recorded, thread, frames, isNative, 1));
        kind.count++;
        if (thread == null || RecordedStacks.isOther(thread)) {
            kind.ofOthers++;
        } else {
            kind.samples.add(new Sample(
                    thread.getId(),
                    RecordedStacks.isVirtual(thread),
                    unixNs(recorded.getStartTime()),
                    isNative,
                    frames));
        }
    }

    private void addByFrames(
            FrameSamples samples,
            RecordedEvent recorded,
            @Nullable RecordedThread thread,
            List<Frame> frames,
            boolean isNative,
            long count) {
        if (thread == null || RecordedStacks.isOther(thread)) {
            samples.ofOtherThread(count);
        } else if (isSleeping(recorded)) {
            samples.waiting(thread.getId(), brick(recorded), isNative, frames, count);
        } else {
            samples.running(thread.getId(), brick(recorded), isNative, frames, count);
        }
    }

    private static boolean isSleeping(RecordedEvent recorded) {
        return recorded.hasField("state") && "STATE_SLEEPING".equals(recorded.getString("state"));
    }

    /** Notes samples that async-profiler took of one thread by the clock; those of a sleeping thread are one event. */
    private void wallClock(RecordedEvent recorded) {
        long count = recorded.hasField("samples") ? recorded.getLong("samples") : 1;
        wallClock += count;
        typeOfSamples = typeOfSamples.isPresent()
                ? typeOfSamples
                : OptionalLong.of(recorded.getEventType().getId());
        List<Frame> frames = frames(recorded);
        wallByFrames.ifPresent(samples -> addByFrames(
                samples,
                recorded,
                recorded.getThread("sampledThread"),
                frames,
                RecordedStacks.isNative(frames),
                count));
    }

    private Event allocation(RecordedEvent recorded, long bytes) {
        String place = RecordedStacks.frames(recorded.getStackTrace()).stream()
                .filter(frame -> !frame.isOfJdk())
                .findFirst()
                .map(Frame::method)
                .orElse("(the JDK)");
        return event(recorded, new LineEvent(LineEvent.Kind.ALLOCATION, Math.max(0, bytes), place));
    }

    private void waited(RecordedEvent recorded, String field, String what) {
        typesOfWaits.add(recorded.getEventType().getId());
        RecordedClass lock = recorded.getValue(field);
        long ns =
                recorded.getDuration().isNegative() ? 0 : recorded.getDuration().toNanos();
        waits.add(event(
                recorded, new LineEvent(LineEvent.Kind.WAIT, ns, what + (lock == null ? UNKNOWN : lock.getName()))));
    }

    private Event event(RecordedEvent recorded, LineEvent event) {
        return new Event(recorded.getThread(), unixNs(recorded.getStartTime()), event, brick(recorded));
    }

    private void load(RecordedEvent recorded) {
        RecordedThread thread = recorded.getThread();
        if (thread != null) {
            Load load = loads.computeIfAbsent(thread.getId(), first -> new Load());
            load.sum += recorded.getFloat("user") + recorded.getFloat("system");
            load.count++;
        }
    }

    /**
     * Adds a brick.
     *
     * @param thread the number of the thread that timed it; empty if the recording does not state it
     * @param isTied whether the relation of the clocks holds for it
     */
    void brick(
            OptionalLong thread,
            String brick,
            Optional<StepInfo.Phase> phase,
            long startNs,
            long elapsedNs,
            boolean isTied) {
        bricksOfOtherClock += isTied ? 0 : 1;
        if (!isEmpty() && thread.isPresent()) {
            lines.brick(thread.getAsLong(), brick, phase, startNs, startNs + elapsedNs);
        }
    }

    /** Notes the end of a step. */
    void stepEnded(RecordedEvent recorded) {
        RecordedThread thread = recorded.getThread();
        if (thread != null) {
            lines.stepEnded(thread.getId(), unixNs(recorded.getEndTime()));
        }
    }

    /** Returns the kind of samples with more of them, which has the table. */
    private OneKind chosen() {
        return timed.count > 0 && timed.count >= running.count ? timed : running;
    }

    private long samples() {
        return running.count + timed.count;
    }

    private boolean isEmpty() {
        return samples() + wallClock + allocations.size() + buffers.size() + waits.size() == 0;
    }

    // ---- results ----

    /**
     * Joins the samples with the bricks; without bricks, or without the relation of the clocks, by their frames.
     *
     * @param hasBricks whether the recording has bricks
     * @param clockErrorNs the error of the relation of the clocks of samples and bricks, ns; empty without one
     * @return the lines; empty if the recording has no samples, and no memory or waits of bricks
     */
    Optional<LineProfile> join(boolean hasBricks, OptionalLong clockErrorNs) {
        boolean hasSamples = samples() + wallClock > 0;
        if (isEmpty() || (!hasSamples && !hasBricks && spans.isEmpty())) {
            return Optional.empty();
        }
        if (processes.size() > 1) {
            return Optional.of(LineProfile.without("the recording holds " + processes.size() + " processes ("
                    + String.join(", ", processes) + "), whose threads have the same numbers; record or report each by"
                    + " itself"));
        }
        List<Event> memory = allocations.isEmpty() ? buffers : allocations;
        List<Event> events = Stream.of(memory, waits).flatMap(List::stream).toList();
        long leastWaitNs = typesOfWaits.stream()
                .mapToLong(type -> settings.thresholdNs(type))
                .max()
                .orElse(0);
        if (frameBricks.isPresent() && (!hasBricks || clockErrorNs.isEmpty())) {
            FrameLines byFrames = (samples() > 0 ? chosen().byFrames : wallByFrames)
                    .orElseThrow()
                    .ended();
            events.forEach(each -> byFrames.event(each.brick(), each.event()));
            return Optional.of(withoutOthers(byFrames.profile(frameBricks.get(), periodNs(), mode(), leastWaitNs)));
        }
        if (!hasBricks && !spans.isEmpty()) {
            return Optional.of(bySpans(events, leastWaitNs));
        }
        return missing(hasBricks, clockErrorNs)
                .map(LineProfile::without)
                .or(() -> Optional.of(byTime(events, clockErrorNs.orElse(0), leastWaitNs)));
    }

    /** Returns why samples and bricks cannot be joined by time. */
    private Optional<String> missing(boolean hasBricks, OptionalLong clockErrorNs) {
        String reason = null;
        if (!hasBricks) {
            reason = "the recording has no bricks; +brick.Execution#enabled=true records those of the library";
        } else if (clockErrorNs.isEmpty()) {
            reason = "the recording relates the clocks of bricks and samples nowhere (it has no brick.ClockAnchor)";
        } else if (bricksOfOtherClock > 0) {
            reason = "the recording has " + Plural.of(bricksOfOtherClock, "brick")
                    + " of another clock than the one that it relates to its samples";
        } else if (isInBatches()) {
            reason = BATCHES;
        }
        return Optional.ofNullable(reason);
    }

    private boolean isInBatches() {
        return samples() == 0 && wallClock > 0;
    }

    /** Joins the samples with the spans of bricks, which are those of bricks with samples. */
    private LineProfile bySpans(List<Event> events, long leastWaitNs) {
        if (isInBatches()) {
            return LineProfile.without(BATCHES);
        }
        spans.forEach(each ->
                lines.brick(each.threadId(), each.tag().brick(), each.tag().phase(), each.startNs(), each.endNs()));
        LineProfile joined = byTime(events, 0, leastWaitNs);
        return new LineProfile(
                joined.samples(),
                joined.periodNs(),
                joined.clockErrorNs(),
                joined.missing(),
                joined.bricks(),
                joined.elsewhere(),
                joined.mode(),
                Optional.of(LineProfile.ByFrames.SPANS),
                joined.doubt());
    }

    private LineProfile byTime(List<Event> events, long clockErrorNs, long leastWaitNs) {
        chosen().addTo(lines);
        for (Event each : events) {
            RecordedThread thread = each.thread();
            if (thread == null
                    || RecordedStacks.isOther(thread)
                    || (RecordedStacks.isVirtual(thread) && !lines.hasBricks(thread.getId()))) {
                lines.eventElsewhere(each.event());
            } else {
                lines.event(thread.getId(), each.atNs(), each.event());
            }
        }
        if (mode().isEmpty() || chosen() == timed) {
            loads.forEach((thread, load) -> lines.processorShare(thread, load.sum / load.count));
        }
        return withoutOthers(lines.join(periodNs(), clockErrorNs, mode(), leastWaitNs));
    }

    private LineProfile withoutOthers(LineProfile profile) {
        LineProfile doubted = profile.doubted(settings.doubt());
        return chosen() == timed
                ? doubted.withoutOthers(running.count, LineProfile.RUNNING_THREADS, lost)
                : doubted.withoutOthers(timed.count, LineProfile.PROCESSOR_TIME, lost);
    }

    private long periodNs() {
        return settings.asyncProfiler().isPresent()
                ? settings.asyncPeriodNs(isWallClock())
                : chosen() == timed
                        ? timedPeriodNs
                        : typeOfSamples.isPresent() ? settings.periodNs(typeOfSamples.getAsLong()) : 0;
    }

    /** Returns whether the samples that count are of threads that run or wait, by the clock. */
    private boolean isWallClock() {
        return samples() == 0 || settings.isOfWallClock() || hasSleeping;
    }

    /** Returns what the samples are of; empty if the virtual machine took them of threads that run. */
    private Optional<String> mode() {
        String of = "";
        if (isWallClock() && samples() + wallClock > 0) {
            of = "wall-clock time";
        } else if (settings.asyncMode().isPresent()) {
            of = settings.asyncMode().get();
        } else if (chosen() == timed) {
            of = LineProfile.PROCESSOR_TIME;
        }
        if (of.isEmpty()) {
            return Optional.empty();
        }
        boolean isBesideOthers = wallClock > 0 && samples() > 0;
        return Optional.of(of
                + settings.asyncProfiler().map(profiler -> " by " + profiler).orElse("")
                + (of.equals("wall-clock time") ? " (the threads may have waited)" : "")
                + (isBesideOthers
                        ? " (" + Plural.of(wallClock, "sample") + " of wall-clock time beside them left out)"
                        : ""));
    }

    private static long unixNs(Instant at) {
        return ChronoUnit.NANOS.between(Instant.EPOCH, at);
    }
}
