package org.brickprofiler;

/**
 * What is known of a brick's samples on devices, besides the device's times themselves. Immutable.
 *
 * @param samples how many samples a device timed
 * @param launchNs how long the host took from start to stop of the same samples, ns
 * @param minLaunchNs the shortest of these, ns; 0 without samples
 * @param maxLaunchNs the longest of these, ns
 * @param unresolved samples whose time is not known; they are in no sum
 */
public record DeviceTime(long samples, long launchNs, long minLaunchNs, long maxLaunchNs, long unresolved) {

    /** Of a brick that only the host timed. */
    public static final DeviceTime NONE = new DeviceTime(0, 0, 0, 0, 0);

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when one is negative
     */
    public DeviceTime {
        if (samples < 0 || launchNs < 0 || minLaunchNs < 0 || maxLaunchNs < 0 || unresolved < 0) {
            throw new IllegalArgumentException("a device's samples " + samples + ", launches " + launchNs + " ("
                    + minLaunchNs + " to " + maxLaunchNs + ") ns, unresolved " + unresolved + ": none may be negative");
        }
    }

    /**
     * The mean time that the host took from start to stop.
     *
     * @return µs, 0 without samples
     */
    public double avgLaunchUs() {
        return samples == 0 ? 0.0 : launchNs / 1e3 / samples;
    }

    /** Both together. Commutative and associative. */
    DeviceTime plus(DeviceTime other) {
        if (samples == 0 || other.samples == 0) {
            DeviceTime timed = samples == 0 ? other : this;
            return new DeviceTime(
                    timed.samples, timed.launchNs, timed.minLaunchNs, timed.maxLaunchNs, unresolved + other.unresolved);
        }
        return new DeviceTime(
                samples + other.samples,
                launchNs + other.launchNs,
                Math.min(minLaunchNs, other.minLaunchNs),
                Math.max(maxLaunchNs, other.maxLaunchNs),
                unresolved + other.unresolved);
    }
}
