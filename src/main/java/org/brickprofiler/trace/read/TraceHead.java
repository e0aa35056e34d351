package org.brickprofiler.trace.read;

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
import org.brickprofiler.trace.DeviceInfo;

/** What a trace says of itself. One thread. */
final class TraceHead {

    private static final int MOST_DEVICES = 64;
    private static final long NONE = -1;

    private static final Pattern RANK_LABEL = Pattern.compile("rank (\\d{1,10}) of (\\d{1,10})");
    private static final Pattern CLOCK_ERROR_LABEL = Pattern.compile("device times within (\\d{1,18}) ns");

    private final String source;
    private final Tally tally;
    private final Set<String> devices = new TreeSet<>();
    private final List<DeviceInfo> deviceInfos = new ArrayList<>();

    private String processName = "";
    private long rank = NONE;
    private long worldSize = 1;
    private long clockErrorNs = NONE;
    private long spansLost;
    private boolean own;
    private boolean leavesOut;
    private long baseTimeNs;

    TraceHead(String source, Tally tally) {
        this.source = source;
        this.tally = tally;
    }

    /**
     * Names the program that wrote the trace; one that is not this library means nothing.
     *
     * @param producer what the trace says
     * @param understood the producers of this library that are understood in its format
     * @param eventsRead how many events came before
     * @param offset where it stands
     * @throws TraceFormatException when it is a version of this library whose traces mean something else, or when
     *     events came before
     */
    void producer(String producer, List<String> understood, long eventsRead, long offset)
            throws TraceFormatException {
        if (!OwnTrace.isProducer(producer)) {
            return;
        }
        if (!understood.contains(producer)) {
            throw new TraceFormatException(
                    source, offset, "the trace is of \"" + Figures.plain(producer) + "\"; understood is \""
                            + String.join("\" or \"", understood) + "\"");
        }
        if (eventsRead > 0 && !own) {
            throw new TraceFormatException(source, offset, "the producer is named after the events");
        }
        own = true;
        leavesOut = OwnTrace.leavesOut(producer);
    }

    /** This library lost spans while it recorded; said by another program it means nothing. */
    void lostSpans(long spans, long offset) {
        if (own && spans > 0) {
            spansLost += spans;
            tally.repair(Repair.Kind.LOST_SPANS, spans, offset);
        }
    }

    /** The time since 1970 that all times of the trace are relative to. */
    void baseTime(long ns) {
        baseTimeNs = ns;
    }

    /** A device that the trace was taken on; of its numbers those that are told. */
    void device(OptionalLong id, String name, String backend, OptionalLong memoryBytes) {
        if (devices.size() < MOST_DEVICES && !name.isBlank()) {
            devices.add(Names.bounded(name));
        }
        long index = id.orElse(NONE);
        boolean isKnown = index >= 0 && index <= Integer.MAX_VALUE;
        if (isKnown && deviceInfos.size() < MOST_DEVICES && device(index).isEmpty()) {
            OptionalLong memory = memoryBytes.orElse(NONE) >= 0 ? memoryBytes : OptionalLong.empty();
            deviceInfos.add(new DeviceInfo((int) index, Names.bounded(name), backendOf(backend), memory));
        }
    }

    /** Traces that do not tell it are those of Kineto, which began with CUDA's devices. */
    private static Backend backendOf(String name) {
        return Arrays.stream(Backend.values())
                .filter(backend -> backend.name().equals(name))
                .findFirst()
                .orElse(Backend.CUDA);
    }

    /** What a Perfetto trace of this library tells beside the process. */
    void label(String label) {
        Matcher ofRank = RANK_LABEL.matcher(label);
        Matcher ofError = CLOCK_ERROR_LABEL.matcher(label);
        if (own && ofRank.matches()) {
            rank(Long.parseLong(ofRank.group(1)));
            worldSize(Long.parseLong(ofRank.group(2)));
        } else if (own && ofError.matches()) {
            clockError(Long.parseLong(ofError.group(1)));
        }
    }

    /** The process that was traced. */
    void processName(String name) {
        processName = Names.bounded(name);
    }

    /** Which of several processes it was. */
    void rank(long number) {
        rank = number;
    }

    /** How many there were. */
    void worldSize(long processes) {
        worldSize = processes;
    }

    /** How far the times of devices may be off. */
    void clockError(long ns) {
        clockErrorNs = ns;
    }

    /** Whether this library wrote the trace. */
    boolean isOwn() {
        return own;
    }

    /** Whether what goes without saying is not said: see {@link OwnTrace#leavesOut}. */
    boolean leavesOut() {
        return leavesOut;
    }

    Set<String> devices() {
        return devices;
    }

    long baseTimeNs() {
        return baseTimeNs;
    }

    // ---- for a timeline ----

    String processName() {
        return processName;
    }

    /** Empty where it is not told, or makes no sense. */
    OptionalInt rank() {
        return rank >= 0 && rank < Integer.MAX_VALUE ? OptionalInt.of((int) rank) : OptionalInt.empty();
    }

    /** At least so many as the rank asks for. */
    int worldSize() {
        return (int) Math.max(rank().orElse(0) + 1L, Math.min(worldSize, Integer.MAX_VALUE));
    }

    OptionalLong clockErrorNs() {
        return clockErrorNs >= 0 ? OptionalLong.of(clockErrorNs) : OptionalLong.empty();
    }

    long spansLost() {
        return spansLost;
    }

    List<DeviceInfo> deviceInfos() {
        return deviceInfos;
    }

    /** What is known of a device. */
    Optional<DeviceInfo> device(long id) {
        return deviceInfos.stream().filter(device -> device.id() == id).findFirst();
    }
}
