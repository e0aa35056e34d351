package org.brickprofiler.internal.device;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * The control of {@link ReadingsStress}: a reading is taken by reading the latest one and replacing it, with a pause in
 * between, to leave time for the observation. Two threads may then get the same reading, and one would find the other's
 * start.
 */
@JCStressTest
@Outcome(id = "true, true", expect = ACCEPTABLE, desc = "each has its own reading")
@Outcome(expect = FORBIDDEN, desc = "both have the same, as is to be expected here")
@State
public class SharedReadingControl {

    private static final int PAUSE = 10;

    private volatile long latestNs = 7;
    private volatile long oneNs;
    private volatile long otherNs;

    private long reading() {
        long next = latestNs + 1;
        for (int i = 0; i < PAUSE; i++) {
            Thread.onSpinWait();
        }
        latestNs = next;
        return next;
    }

    @Actor
    public void one(ZZ_Result r) {
        oneNs = reading();
        r.r1 = oneNs != otherNs;
    }

    @Actor
    public void other(ZZ_Result r) {
        otherNs = reading();
        r.r2 = otherNs != oneNs;
    }
}
