package org.brickprofiler.internal.record;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** A copy contains only whole entries, and none whose place was being overwritten. */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "no entry was whole")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "an entry as it was written")
@Outcome(expect = FORBIDDEN, desc = "a mixture")
@State
public class SpanStress {

    /** A ring of two places, one of them spare. */
    static SpanBuffer smallestRing() {
        return new SpanStore(1, true, new AtomicLong(2)).newBuffer(null);
    }

    /** Adds many entries, each made of one number: the two places are overwritten repeatedly. */
    static void addMany(SpanBuffer buffer) {
        for (long i = 1; i <= 64; i++) {
            buffer.addBy(i, SpanKind.SPAN, 0, i, i, i);
        }
    }

    /** Returns 1 for an entry made of one number, 2 for a mixture. */
    static int judge(long startNs, long elapsedNs, long value) {
        return startNs == elapsedNs && startNs == value ? 1 : 2;
    }

    private final SpanBuffer buffer = smallestRing();

    @Actor
    public void writer() {
        addMany(buffer);
    }

    @Actor
    public void reader(I_Result r) {
        SpanCopy copy = buffer.copy();
        if (copy.size() > 0) {
            int entry = judge(copy.startNs(0), copy.endNs(0) - copy.startNs(0), copy.value(0));
            r.r1 = copy.writer(0) == copy.startNs(0) ? entry : 2;
        }
    }
}
