package org.brickprofiler.internal.device;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * Two threads take a reading of a clock that stands still: each gets a different reading. {@link SharedReadingControl}
 * is the control.
 */
@JCStressTest
@Outcome(id = "true, true", expect = ACCEPTABLE, desc = "each has its own reading")
@Outcome(expect = FORBIDDEN, desc = "both have the same")
@State
public class ReadingsStress {

    private static final long NOW_NS = 7;

    private final Readings readings = new Readings();
    private volatile long oneNs;
    private volatile long otherNs;

    @Actor
    public void one(ZZ_Result r) {
        oneNs = readings.unique(NOW_NS);
        r.r1 = oneNs != otherNs;
    }

    @Actor
    public void other(ZZ_Result r) {
        otherNs = readings.unique(NOW_NS);
        r.r2 = otherNs != oneNs;
    }
}
