package org.brickprofiler.trace;

import static org.brickprofiler.internal.io.Checks.requireNotNegative;

import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The data that holds for a whole timeline. Immutable.
 *
 * @param processName the name of the process, as people read it
 * @param pid the process's identifier in the operating system
 * @param rank the rank of the process in a distributed run; empty if the run is not distributed
 * @param worldSize the number of processes of the run; 1 if it is not distributed
 * @param monotonicNs a moment on the timeline's clock, ns
 * @param unixNs the same moment on the calendar, ns since 1970
 * @param droppedSpans the number of spans that are missing because there was no room or their time is not known
 * @param clockErrorNs the largest error of device times relative to the host's clock, ns; empty if no device was timed
 * @param devices the devices that tracks refer to
 */
public record TraceInfo(
        String processName,
        long pid,
        OptionalInt rank,
        int worldSize,
        long monotonicNs,
        long unixNs,
        long droppedSpans,
        OptionalLong clockErrorNs,
        List<DeviceInfo> devices) {

    /**
     * Checks the components.
     *
     * @throws IllegalArgumentException for a rank outside the world, a negative process, calendar time, number of
     *     dropped spans or clock error
     */
    public TraceInfo {
        Objects.requireNonNull(rank, "rank");
        Objects.requireNonNull(clockErrorNs, "clockErrorNs");
        Objects.requireNonNull(devices, "devices");
        Objects.requireNonNull(processName, "processName");
        devices = List.copyOf(devices);
        if (worldSize < 1) {
            throw new IllegalArgumentException("a run has at least one process, not " + worldSize);
        }
        if (rank.isPresent() && (rank.getAsInt() < 0 || rank.getAsInt() >= worldSize)) {
            throw new IllegalArgumentException("rank " + rank.getAsInt() + " of " + worldSize + " processes");
        }
        requireNotNegative("pid", pid);
        requireNotNegative("unixNs", unixNs);
        requireNotNegative("droppedSpans", droppedSpans);
        requireNotNegative("clockErrorNs", clockErrorNs.orElse(0));
    }
}
