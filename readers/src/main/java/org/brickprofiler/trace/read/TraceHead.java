package org.brickprofiler.trace.read;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.Backend;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.TraceInfo.Device;
import org.brickprofiler.trace.write.ChromeWriter;
import org.brickprofiler.trace.write.PerfettoWriter;
import org.jspecify.annotations.Nullable;

/** The facts that a trace states about itself: its writer, its host and its time. One thread. */
final class TraceHead {

    /** The producers of Chrome traces whose arguments are understood. */
    static final List<String> CHROME_PRODUCERS = List.of("brick-profiler 1", ChromeWriter.PRODUCER);

    /** The producer of Perfetto traces that omitted no implied values. */
    private static final String EXPLICIT_PRODUCER = "brick-profiler 1";

    /** The producers of Perfetto traces whose arguments are understood. */
    static final List<String> PERFETTO_PRODUCERS =
            List.of(EXPLICIT_PRODUCER, "brick-profiler 2", PerfettoWriter.PRODUCER);

    private static final String OWN = "brick-profiler ";
    private static final int MOST_DEVICES = 64;
    private static final int LONGEST_EXPLANATION = 1 << 24;
    private static final long NONE = -1;
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long EARLIEST_NS =
            Instant.parse("2000-01-01T00:00:00Z").getEpochSecond() * SECOND_NS;
    private static final long LATEST_NS = Instant.parse("2100-01-01T00:00:00Z").getEpochSecond() * SECOND_NS;

    private static final Pattern RANK_LABEL = Pattern.compile("rank (\\d{1,10}) of (\\d{1,10})");
    private static final Pattern CLOCK_ERROR_LABEL = Pattern.compile("device times within (\\d{1,18}) ns");
    private static final String AS_RECORDED_LABEL = "times as recorded";

    final Disturbances disturbances = new Disturbances();
    final Set<String> deviceNames = new TreeSet<>();
    final List<Device> devices = new ArrayList<>();
    String processName = "";
    /** The time since 1970 to which all times of the trace are relative. */
    long baseTimeNs;
    /** The rank of the process among the processes of its run. */
    long rank = NONE;

    long worldSize = 1;
    /** The largest error of the times of devices, ns. */
    long clockErrorNs = NONE;
    /** Whether the profile of the run had net times. */
    boolean hasNetTimes;

    /**
     * Whether the format has tracks with identifiers instead of processes and threads, and counters with one value
     * each. {@link EventCollector#describe} receives the tracks.
     */
    boolean hasTracks;

    /** Whether XLA's profiler wrote the trace. */
    boolean isXla;

    /** Whether a trace without times has the durations of task graphs; otherwise such a trace has sums. */
    boolean hasTaskGraphs;

    /** Whether the format marks all work of devices, so that nothing else counts even if there is no such work. */
    boolean marksAllWork;

    /** The times of runs, if a file of the same run states them. */
    @Nullable
    RunSummary runs;

    /** The lines of the bricks of a flight recording; null for another trace. A profile has them joined. */
    @Nullable
    JoinedLines lines;

    final String source;
    /** Whether the end of the trace is missing, because the trace is damaged or was cut off. */
    boolean isIncomplete;

    /** The reason why a trace without work of a device has no profile; null if it may have one. */
    private @Nullable String withoutWork;

    private long cutOffs;
    private long firstCutOffset;
    private long spansLost;
    private long firstLostOffset;
    private final StringBuilder slowSteps = new StringBuilder();
    private long slowStepsOffset;
    private long wholeNs;
    private boolean isOwn;
    private int clockAnchors;
    private long anchorErrorNs;
    private final List<Timing> timings = new ArrayList<>();
    private boolean isImplicit;
    private boolean statesPhases;

    TraceHead(String source) {
        this.source = source;
    }

    /** Records that the trace has no work of a device, and why; its calls and ranges alone make a timeline. */
    void withoutWork(String reason) {
        withoutWork = reason;
    }

    /**
     * Checks that a trace may have a profile.
     *
     * @throws TraceFormatException when it has no work of a device
     */
    void requireWork() throws TraceFormatException {
        String reason = withoutWork;
        if (reason != null) {
            throw new TraceFormatException(source, 0, reason);
        }
    }

    /** The number of calls of the methods of a name, at least one, and the times of the calls, ns. Immutable. */
    record Timing(String method, long count, long totalNs, long minNs, long maxNs) {
        /** The category that rules test. */
        static final String CATEGORY = "method";

        /**
         * Returns the sums of two overloads.
         *
         * @throws ArithmeticException when a sum is too large
         */
        Timing plus(Timing other) {
            return new Timing(
                    method,
                    Math.addExact(count, other.count),
                    Math.addExact(totalNs, other.totalNs),
                    Math.min(minNs, other.minNs),
                    Math.max(maxNs, other.maxNs));
        }
    }

    /** Converts the times of a trace to calendar time. Immutable. */
    record Clock(boolean known, long baseNs) {

        /** Returns a time of the trace as ns since 1970; 0 if the calendar time is unknown. */
        long unixNs(long timeNs) {
            return known ? baseNs + timeNs : 0;
        }

        /** Returns a time of the trace as a moment; 1970-01-01 if its calendar time is unknown. */
        Instant instant(long timeNs) {
            return Instant.EPOCH.plusNanos(unixNs(timeNs));
        }
    }

    /**
     * Records the producer of the trace; a producer other than this library is ignored.
     *
     * @param producer the producer as written in the trace
     * @param understood the supported producers of this library in its format; the last one states the phases of
     *     samples
     * @param eventsRead the number of events read before
     * @param offset the place of the producer
     * @throws TraceFormatException when it is an unsupported version of this library, or when events came before
     */
    void producer(String producer, List<String> understood, long eventsRead, long offset) throws TraceFormatException {
        if (!producer.startsWith(OWN)) {
            return;
        }
        if (!understood.contains(producer)) {
            throw new TraceFormatException(
                    source,
                    offset,
                    "the trace is of \"" + TraceFigures.plain(producer) + "\"; understood is \""
                            + String.join("\" or \"", understood) + "\"");
        }
        if (eventsRead > 0 && !isOwn) {
            throw new TraceFormatException(source, offset, "the producer is named after the events");
        }
        isOwn = true;
        isImplicit = hasTracks && !producer.equals(EXPLICIT_PRODUCER);
        statesPhases = producer.equals(understood.get(understood.size() - 1));
    }

    /** Returns whether this library wrote the trace. */
    boolean isOwn() {
        return isOwn;
    }

    /**
     * Returns whether the trace omits implied values: one element of a brick, and the layer and the phase of the
     * surrounding slice.
     */
    boolean isImplicit() {
        return isImplicit;
    }

    /** Returns whether the trace states the phases of samples. */
    boolean statesPhases() {
        return statesPhases;
    }

    /** Records the spans that this library lost while it recorded; in another program's trace the number is ignored. */
    void lostSpans(long spans, long offset) {
        if (isOwn && spans > 0) {
            firstLostOffset = spansLost == 0 ? offset : firstLostOffset;
            spansLost += spans;
        }
    }

    /** Records files of this library that lack their end; in another program's trace the number is ignored. */
    void cutOff(long files, long offset) {
        if (isOwn && files > 0) {
            isIncomplete = true;
            firstCutOffset = cutOffs == 0 ? offset : firstCutOffset;
            cutOffs += files;
        }
    }

    /** Returns the number of files of this library that lack their end. */
    long cutOffs() {
        return cutOffs;
    }

    /** Returns the first place at which an end is missing; 0 if none is. */
    long firstCutOffset() {
        return firstCutOffset;
    }

    /**
     * Appends a part of the explanation of the steps that this library chose; in another program's trace the part is
     * ignored.
     *
     * @throws TraceFormatException when the parts together exceed the limit of an explanation
     */
    void slowSteps(String part, long offset) throws TraceFormatException {
        if (!isOwn) {
            return;
        }
        slowStepsOffset = offset;
        if (slowSteps.length() + part.length() > LONGEST_EXPLANATION) {
            throw new TraceFormatException(
                    source, offset, "the explanation of slow steps exceeds " + LONGEST_EXPLANATION + " characters");
        }
        slowSteps.append(part);
    }

    /**
     * Returns whether the event at a place holds the explanation of chosen steps, and so does not belong to the
     * timeline.
     */
    boolean isSlowSteps(long offset) {
        return slowSteps.length() > 0 && offset == slowStepsOffset;
    }

    /**
     * Returns the explanation of the steps of the trace if it holds chosen steps only.
     *
     * @throws TraceFormatException when the explanation is malformed
     */
    Optional<SlowSteps> slowSteps() throws TraceFormatException {
        if (slowSteps.length() == 0) {
            return Optional.empty();
        }
        try {
            return Optional.of(SlowSteps.fromJson(slowSteps.toString()));
        } catch (IllegalArgumentException fault) {
            throw new TraceFormatException(source, slowStepsOffset, String.valueOf(fault.getMessage()), fault);
        }
    }

    /**
     * Adds to the wall time of a trace without times, such as the duration of an execution of a task graph.
     *
     * @throws TraceFormatException when the sum is too large
     */
    void addWholeNs(long ns, long offset) throws TraceFormatException {
        if (wholeNs > Long.MAX_VALUE - ns) {
            throw new TraceFormatException(source, offset, "the sum of the times exceeds 2^63 - 1");
        }
        wholeNs += ns;
    }

    /**
     * Records the number of anchors that tie the times of bricks to those of the recording, and the largest
     * disagreement between the anchors.
     */
    void tieClocks(int anchors, long errorNs) {
        clockAnchors = anchors;
        anchorErrorNs = errorNs;
    }

    int clockAnchors() {
        return clockAnchors;
    }

    long anchorErrorNs() {
        return anchorErrorNs;
    }

    /** Adds the sums of a method, if the trace has no individual calls. */
    void timing(Timing timing) {
        timings.add(timing);
    }

    List<Timing> timings() {
        return timings;
    }

    /** Returns the wall time that a trace without times states, ns; 0 if it states none. */
    long wholeNs() {
        return wholeNs;
    }

    long spansLost() {
        return spansLost;
    }

    /** Returns the first place at which the trace reports lost spans; 0 if none were lost. */
    long firstLostOffset() {
        return firstLostOffset;
    }

    /** Adds a device that the trace was taken on, with those facts that are known. */
    void device(long index, String name, String backend, long memoryBytes) {
        deviceName(name);
        boolean isKnown = index >= 0 && index <= Integer.MAX_VALUE;
        if (isKnown && devices.size() < MOST_DEVICES && device(index).isEmpty()) {
            OptionalLong memory = memoryBytes >= 0 ? OptionalLong.of(memoryBytes) : OptionalLong.empty();
            devices.add(new Device((int) index, TraceNames.bounded(name), backendOf(backend), memory));
        }
    }

    /** Adds the name of a device that the trace was taken on. */
    void deviceName(String name) {
        if (deviceNames.size() < MOST_DEVICES && !name.isBlank()) {
            deviceNames.add(TraceNames.bounded(name));
        }
    }

    /**
     * Returns the backend of a name; CUDA for any other name. Traces without a backend are Kineto's, which first
     * supported CUDA's devices.
     */
    private static Backend backendOf(String name) {
        return Arrays.stream(Backend.values())
                .filter(backend -> backend.name().equals(name))
                .findFirst()
                .orElse(Backend.CUDA);
    }

    /** Returns a device that the trace describes. */
    Optional<Device> device(long id) {
        return devices.stream().filter(device -> device.id() == id).findFirst();
    }

    /** Reads a label that this library's Perfetto traces attach to the process. */
    void label(String label) {
        Matcher ofRank = RANK_LABEL.matcher(label);
        Matcher ofError = CLOCK_ERROR_LABEL.matcher(label);
        if (isOwn && ofRank.matches()) {
            rank = Long.parseLong(ofRank.group(1));
            worldSize = Long.parseLong(ofRank.group(2));
        } else if (isOwn && ofError.matches()) {
            clockErrorNs = Long.parseLong(ofError.group(1));
        } else {
            hasNetTimes |= isOwn && label.equals(AS_RECORDED_LABEL);
        }
    }

    /** Returns the rank; empty if it is unknown or implausible. */
    OptionalInt rank() {
        return rank >= 0 && rank < Integer.MAX_VALUE ? OptionalInt.of((int) rank) : OptionalInt.empty();
    }

    /** Returns the world size, which is always larger than the rank. */
    int worldSize() {
        return (int) Math.max(rank().orElse(0) + 1L, Math.min(worldSize, Integer.MAX_VALUE));
    }

    OptionalLong clockErrorNs() {
        return clockErrorNs >= 0 ? OptionalLong.of(clockErrorNs) : OptionalLong.empty();
    }

    /**
     * Returns the calendar of the trace, derived from one of its times. A trace states its times relative to a base
     * that it names, to 1970, or to an unknown moment.
     */
    Clock clock(long timeNs) {
        boolean isBase = isThisCentury(baseTimeNs);
        if (isBase && isThisCentury(baseTimeNs + timeNs)) {
            return new Clock(true, baseTimeNs);
        }
        return new Clock(isThisCentury(timeNs), 0);
    }

    private static boolean isThisCentury(long unixNs) {
        return unixNs >= EARLIEST_NS && unixNs < LATEST_NS;
    }
}
