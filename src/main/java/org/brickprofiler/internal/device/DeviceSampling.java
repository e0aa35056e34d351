package org.brickprofiler.internal.device;

import java.util.Set;

/**
 * How a recorder draws the bricks that it marks. Immutable.
 *
 * @param every one brick in this many is marked, 1 or more
 * @param exact the bricks that are always marked
 * @param seed of the draws
 */
public record DeviceSampling(int every, Set<Integer> exact, long seed) {

    /** The largest number of bricks of which one is marked. */
    public static final int MOST = 4_096;

    /**
     * Checks the number.
     *
     * @throws IllegalArgumentException when it is not within 1 to {@link #MOST}
     */
    public DeviceSampling {
        if (every < 1 || every > MOST) {
            throw new IllegalArgumentException("device sampling " + every + ": expected 1 to " + MOST);
        }
        exact = Set.copyOf(exact);
    }
}
