package org.brickprofiler.device.metal;

/** Where a device's counters can be sampled, to time what is inside of a command buffer. */
public enum CounterSampling {

    /** Where a pass begins and ends: each encoder is timed. What Apple silicon can do. */
    STAGE_BOUNDARY(0),

    /**
     * Between the dispatches of an encoder, each behind a barrier. The barriers keep dispatches from overlapping: what
     * they add up to is an upper bound of what they take without.
     */
    DISPATCH_BOUNDARY(1);

    private final int point;

    CounterSampling(int point) {
        this.point = point;
    }

    /** The shim's number for it. */
    int point() {
        return point;
    }
}
