package org.brickprofiler.internal.device;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.brickprofiler.device.DeviceStream;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The control of {@link DeviceRecorderStress.DeferredStarts}: the same marks and the same table, but two threads may get the
 * same reading of a clock that stands still. One of them must then find the other's mark. Taking a reading pauses between
 * looking at the latest one and replacing it, so that there is time to see it.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "each finds its own mark")
@Outcome(expect = FORBIDDEN, desc = "one finds the other's mark, as is to be expected here")
@State
public class SharedReadingControl {

    private static final int PAUSE = 10;

    private final DeviceStream stream = new DeviceRecorderStress.SteadyStream(64);
    private final Marks marks = new Marks(stream);
    private final StartMarks starts = new StartMarks(marks);

    private volatile long latestNs = 7;

    private long reading() {
        long next = latestNs + 1;
        for (int i = 0; i < PAUSE; i++) {
            Thread.onSpinWait();
        }
        latestNs = next;
        return next;
    }

    /** Whether a start is found as the mark that was set for it: 1 or 0. */
    private int findsItsOwn() {
        long readingNs = reading();
        int mark = stream.mark();
        marks.setReading(mark, readingNs);
        long own = marks.set(mark, 1, readingNs);
        starts.put(readingNs, own);
        return starts.find(readingNs) == own ? 1 : 0;
    }

    @Actor
    public void one(II_Result r) {
        r.r1 = findsItsOwn();
    }

    @Actor
    public void other(II_Result r) {
        r.r2 = findsItsOwn();
    }
}
