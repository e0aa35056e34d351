package org.brickprofiler.trace;

import static org.brickprofiler.internal.io.Checks.requireNotNegative;

import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What is known about a whole timeline. Immutable.
 *
 * @param processName the name of the process, as people read it
 * @param pid the process's identifier in the operating system
 * @param rank which process of a distributed run this is; empty where it is none
 * @param worldSize how many processes the run has; 1 where it is not distributed
 * @param monotonicNs a moment on the timeline's clock, ns
 * @param unixNs the same moment on the calendar, ns since 1970
 * @param droppedSpans spans that there was no room for, or of which nobody knows when they were
 * @param clockErrorNs how far times of devices may lie from those of the host, ns; empty where no device was timed
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
