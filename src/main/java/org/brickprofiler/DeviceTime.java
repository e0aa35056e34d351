package org.brickprofiler;

import static org.brickprofiler.internal.base.Sums.limited;

/**
 * Figures of a brick's device samples other than the device's times themselves, and the number of its samples whose
 * time is unknown. Immutable.
 *
 * @param samples number of samples that a device timed
 * @param launches number of these samples whose launch by the host was timed, too:
 *     {@link BrickProfilerBuilder#launchTimes}
 * @param launchNs the host's time from start to stop of these launches, ns
 * @param minLaunchNs the shortest of these, ns; 0 without any, and if a window does not have both extremes
 * @param maxLaunchNs the longest of these, ns; 0 likewise
 * @param unresolved samples whose time is unknown, since a device did not report it or a timer of the host ran longer
 *     than it can hold; they are in no sum
 * @param withoutStart number of unresolved samples that are deferred measurements with an unknown start:
 *     {@code elapsedNs()} of the same stream did not return it, no mark was available for it, or it is too old
 */
public record DeviceTime(
        long samples,
        long launches,
        long launchNs,
        long minLaunchNs,
        long maxLaunchNs,
        long unresolved,
        long withoutStart) {

    /** The value of a brick that only the host timed. */
    public static final DeviceTime NONE = new DeviceTime(0, 0, 0, 0, 0, 0);

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when one is negative, or more samples have no start than are unresolved
     */
    public DeviceTime {
        if (samples < 0 || launches < 0 || launchNs < 0 || minLaunchNs < 0 || maxLaunchNs < 0 || unresolved < 0) {
            throw new IllegalArgumentException(
                    "a device's samples " + samples + ", launches " + launches + " of " + launchNs + " (" + minLaunchNs
                            + " to " + maxLaunchNs + ") ns, unresolved " + unresolved + ": none may be negative");
        }
        if (withoutStart < 0 || withoutStart > unresolved) {
            throw new IllegalArgumentException(
                    "a device's samples without a start " + withoutStart + ": 0 to the " + unresolved + " unresolved");
        }
    }

    /**
     * Creates a value in which every unresolved sample has a start.
     *
     * @param samples number of samples that a device timed
     * @param launches number of these samples whose launch by the host was timed, too
     * @param launchNs the host's time from start to stop of these launches, ns
     * @param minLaunchNs the shortest of these, ns; 0 without any
     * @param maxLaunchNs the longest of these, ns
     * @param unresolved samples whose time is unknown
     * @throws IllegalArgumentException when one is negative
     */
    public DeviceTime(long samples, long launches, long launchNs, long minLaunchNs, long maxLaunchNs, long unresolved) {
        this(samples, launches, launchNs, minLaunchNs, maxLaunchNs, unresolved, 0);
    }

    /**
     * Returns the mean time of the host from start to stop.
     *
     * @return µs, 0 if no launch was timed
     */
    public double avgLaunchUs() {
        return launches == 0 ? 0.0 : launchNs / 1e3 / launches;
    }

    private boolean hasExtremes() {
        return maxLaunchNs > 0 || launchNs == 0;
    }

    /** Returns the sum of both. Commutative and associative. */
    DeviceTime plus(DeviceTime other) {
        boolean one = launches == 0 || other.launches == 0;
        boolean areKnown = hasExtremes() && other.hasExtremes();
        return new DeviceTime(
                limited(samples, other.samples),
                limited(launches, other.launches),
                limited(launchNs, other.launchNs),
                one ? minLaunchNs + other.minLaunchNs : areKnown ? Math.min(minLaunchNs, other.minLaunchNs) : 0,
                areKnown ? Math.max(maxLaunchNs, other.maxLaunchNs) : 0,
                limited(unresolved, other.unresolved),
                limited(withoutStart, other.withoutStart));
    }

    /** The clock that timed the samples of a brick. */
    public enum Source {
        /** The host's: the time between start and stop as the host saw it. */
        HOST,
        /** A device's: the time that the work took there. */
        DEVICE,
        /** Each clock timed some of the samples, for example because the mode changed or runs were merged. */
        MIXED
    }
}
