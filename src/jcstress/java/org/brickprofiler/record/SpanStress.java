package org.brickprofiler.record;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJ_Result;

/** A copy holds whole entries, and none whose place was being written again. */
@JCStressTest
@Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "no entry was whole")
@Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "the first entry")
@Outcome(id = "2, 2, 2", expect = ACCEPTABLE, desc = "the second one")
@Outcome(id = "3, 3, 3", expect = ACCEPTABLE, desc = "the third one, in the place of the first")
@Outcome(id = "4, 4, 4", expect = ACCEPTABLE, desc = "the fourth one, in the place of the second")
@Outcome(expect = FORBIDDEN, desc = "a mixture")
@State
public class SpanStress {

    /** A ring of two places, one of them spare. */
    static SpanBuffer smallestRing() {
        return new SpanStore(1, true, new AtomicLong(2)).newBuffer(null);
    }

    /** Four entries: each place is written twice. */
    static void addFour(SpanBuffer buffer) {
        for (long i = 1; i <= 4; i++) {
            buffer.add(SpanKind.SPAN, 0, i, i, i);
        }
    }

    private final SpanBuffer buffer = smallestRing();

    @Actor
    public void writer() {
        addFour(buffer);
    }

    @Actor
    public void reader(JJJ_Result r) {
        SpanCopy copy = buffer.copy();
        if (copy.size() > 0) {
            r.r1 = copy.startNs(0);
            r.r2 = copy.endNs(0) - copy.startNs(0);
            r.r3 = copy.value(0);
        }
    }
}
