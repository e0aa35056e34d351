package org.brickprofiler;

/**
 * What is known of a brick's samples on devices, besides the device's times themselves. Immutable.
 *
 * @param samples how many samples a device timed
 * @param launches of how many of these the host's side was timed, too: {@link BrickProfilerBuilder#launchTimes}
 * @param launchNs how long the host took from start to stop of those, ns
 * @param minLaunchNs the shortest of these, ns; 0 without any
 * @param maxLaunchNs the longest of these, ns
 * @param unresolved samples whose time is not known; they are in no sum
 * @param withoutStart how many of the unresolved samples are deferred measurements whose start was not known: it was
 *     not read by {@code elapsedNs()} of the same stream, no mark was left for it, or it was too old
 */
public record DeviceTime(
        long samples,
        long launches,
        long launchNs,
        long minLaunchNs,
        long maxLaunchNs,
        long unresolved,
        long withoutStart) {

    /** Of a brick that only the host timed. */
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
     * Values in which every unresolved sample has a start.
     *
     * @param samples how many samples a device timed
     * @param launches of how many of these the host's side was timed, too
     * @param launchNs how long the host took from start to stop of those, ns
     * @param minLaunchNs the shortest of these, ns; 0 without any
     * @param maxLaunchNs the longest of these, ns
     * @param unresolved samples whose time is not known
     * @throws IllegalArgumentException when one is negative
     */
    public DeviceTime(long samples, long launches, long launchNs, long minLaunchNs, long maxLaunchNs, long unresolved) {
        this(samples, launches, launchNs, minLaunchNs, maxLaunchNs, unresolved, 0);
    }

    /**
     * The mean time that the host took from start to stop.
     *
     * @return µs, 0 where that was not timed
     */
    public double avgLaunchUs() {
        return launches == 0 ? 0.0 : launchNs / 1e3 / launches;
    }

    /** Both together. Commutative and associative. */
    DeviceTime plus(DeviceTime other) {
        boolean one = launches == 0 || other.launches == 0;
        return new DeviceTime(
                samples + other.samples,
                launches + other.launches,
                launchNs + other.launchNs,
                one ? minLaunchNs + other.minLaunchNs : Math.min(minLaunchNs, other.minLaunchNs),
                Math.max(maxLaunchNs, other.maxLaunchNs),
                unresolved + other.unresolved,
                withoutStart + other.withoutStart);
    }

    /** Whose clock timed the samples of a brick. */
    public enum Source {
        /** The host's: the time between start and stop as the host saw it. */
        HOST,
        /** A device's: the time that the work took there. */
        DEVICE,
        /** Some samples are timed by one, some by the other, as where the mode was changed or runs were merged. */
        MIXED
    }
}
