package org.brickprofiler.trace;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.brickprofiler.Backend;

/**
 * The data about a whole timeline. Immutable.
 *
 * @param processName the name of the process, as people read it
 * @param pid the process's identifier in the operating system
 * @param rank the rank of the process in a distributed run; empty if the run is not distributed
 * @param worldSize the number of processes of the run; 1 if it is not distributed
 * @param monotonicNs a moment on the timeline's clock, ns
 * @param unixNs the same moment on the calendar, ns since 1970
 * @param droppedSpans the number of spans that are missing because there was no room or their time is not known
 * @param isCutOff whether later spans are missing, in an unknown number: the timeline was read from a file that was cut
 *     off or damaged
 * @param clockErrorNs the largest error of device times relative to the host's clock, ns; empty if no device was timed,
 *     or if the error of some times is unknown
 * @param hasNetTimes whether the profile of the run has net times of devices; the times here are as recorded, with what
 *     marks add
 * @param devices the devices that tracks refer to
 * @param slowSteps the explanation of the steps that the timeline holds, and what it lacks; empty if the timeline holds
 *     all that was recorded. The sums of a timeline with chosen steps are not those of the run
 */
public record TraceInfo(
        String processName,
        long pid,
        OptionalInt rank,
        int worldSize,
        long monotonicNs,
        long unixNs,
        long droppedSpans,
        boolean isCutOff,
        OptionalLong clockErrorNs,
        boolean hasNetTimes,
        List<Device> devices,
        Optional<SlowSteps> slowSteps) {

    /**
     * A device that tracks refer to. Immutable.
     *
     * @param id its index, which is the {@link Track#id()} of its track
     * @param name the model, as its driver reports it
     * @param backend the programming interface of the device
     * @param memoryBytes its memory, bytes, if known
     */
    public record Device(int id, String name, Backend backend, OptionalLong memoryBytes) {

        /**
         * Checks the components.
         *
         * @throws IllegalArgumentException for a negative index or size
         */
        public Device {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(backend, "backend");
            Objects.requireNonNull(memoryBytes, "memoryBytes");
            if (id < 0) {
                throw new IllegalArgumentException("the index of a device is not negative: " + id);
            }
            if (memoryBytes.orElse(0) < 0) {
                throw new IllegalArgumentException("a device's memory is not negative: " + memoryBytes.getAsLong());
            }
        }
    }

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
        Objects.requireNonNull(slowSteps, "slowSteps");
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

    /**
     * Returns a builder of the data of a process that is no part of a distributed run.
     *
     * @param processName the name of the process
     * @param pid the process's identifier in the operating system
     * @return a builder
     */
    public static Builder builder(String processName, long pid) {
        return new Builder(processName, pid);
    }

    /** Sets the values by name; the others stay at 0, empty or unknown. Not thread-safe. */
    public static final class Builder {
        private final String processName;
        private final long pid;
        private OptionalInt rank = OptionalInt.empty();
        private int worldSize = 1;
        private long monotonicNs;
        private long unixNs;
        private long droppedSpans;
        private boolean isCutOff;
        private OptionalLong clockErrorNs = OptionalLong.empty();
        private boolean hasNetTimes;
        private List<Device> devices = List.of();
        private Optional<SlowSteps> slowSteps = Optional.empty();

        private Builder(String processName, long pid) {
            this.processName = Objects.requireNonNull(processName, "processName");
            this.pid = pid;
        }

        /**
         * Sets the rank of the process.
         *
         * @param number its rank; empty if the run is not distributed
         * @param processes the number of processes of the run
         * @return this
         */
        public Builder rank(OptionalInt number, int processes) {
            rank = Objects.requireNonNull(number, "number");
            worldSize = processes;
            return this;
        }

        /**
         * Sets one moment on both clocks.
         *
         * @param onTimelineNs on the timeline's clock, ns
         * @param sinceEpochNs on the calendar, ns since 1970
         * @return this
         */
        public Builder moment(long onTimelineNs, long sinceEpochNs) {
            monotonicNs = onTimelineNs;
            unixNs = sinceEpochNs;
            return this;
        }

        /**
         * Sets the number of missing spans.
         *
         * @param number the number of spans
         * @return this
         */
        public Builder droppedSpans(long number) {
            droppedSpans = number;
            return this;
        }

        /**
         * Sets whether later spans are missing.
         *
         * @param isMissing true if later spans are missing, in an unknown number
         * @return this
         */
        public Builder cutOff(boolean isMissing) {
            isCutOff = isMissing;
            return this;
        }

        /**
         * Sets the largest error of device times.
         *
         * @param ns the error, ns; empty if no device was timed, or if the error of some times is unknown
         * @return this
         */
        public Builder clockErrorNs(OptionalLong ns) {
            clockErrorNs = Objects.requireNonNull(ns, "ns");
            return this;
        }

        /**
         * Sets whether the profile of the run has net times of devices.
         *
         * @param areKnown true if it has; the times of the timeline are as recorded in any case
         * @return this
         */
        public Builder netTimes(boolean areKnown) {
            hasNetTimes = areKnown;
            return this;
        }

        /**
         * Sets the devices.
         *
         * @param all the devices that tracks refer to
         * @return this
         */
        public Builder devices(List<Device> all) {
            devices = Objects.requireNonNull(all, "all");
            return this;
        }

        /**
         * Sets the explanation of chosen steps.
         *
         * @param chosen the explanation; empty if the timeline holds all that was recorded
         * @return this
         */
        public Builder slowSteps(Optional<SlowSteps> chosen) {
            slowSteps = Objects.requireNonNull(chosen, "chosen");
            return this;
        }

        /**
         * Makes the data.
         *
         * @return the data
         * @throws IllegalArgumentException when a value is out of its range
         */
        public TraceInfo build() {
            return new TraceInfo(
                    processName,
                    pid,
                    rank,
                    worldSize,
                    monotonicNs,
                    unixNs,
                    droppedSpans,
                    isCutOff,
                    clockErrorNs,
                    hasNetTimes,
                    devices,
                    slowSteps);
        }
    }
}
