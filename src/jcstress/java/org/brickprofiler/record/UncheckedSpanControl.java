package org.brickprofiler.record;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJ_Result;

/**
 * The control of {@link SpanStress}: the same ring and the same writer, but a reader that does not ask how far the
 * writer has come meanwhile. It must be seen to fail.
 */
@JCStressTest
@Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "no entry was whole")
@Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "the first entry")
@Outcome(id = "2, 2, 2", expect = ACCEPTABLE, desc = "the second one")
@Outcome(id = "3, 3, 3", expect = ACCEPTABLE, desc = "the third one, in the place of the first")
@Outcome(id = "4, 4, 4", expect = ACCEPTABLE, desc = "the fourth one, in the place of the second")
@Outcome(expect = FORBIDDEN, desc = "a mixture, as is to be expected here")
@State
public class UncheckedSpanControl {

    private static final VarHandle COUNT;
    private static final VarHandle CELLS;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(SpanBuffer.class, MethodHandles.lookup());
            COUNT = lookup.findVarHandle(SpanBuffer.class, "count", long.class);
            CELLS = lookup.findVarHandle(SpanBuffer.class, "cells", long[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final SpanBuffer buffer = SpanStress.smallestRing();

    @Actor
    public void writer() {
        SpanStress.addFour(buffer);
    }

    @Actor
    public void reader(JJJ_Result r) {
        long count = (long) COUNT.getAcquire(buffer);
        long[] cells = (long[]) CELLS.getVolatile(buffer);
        if (count > 0) {
            int base = (int) ((count - 1) % 2) * SpanBuffer.LONGS_EACH;
            r.r1 = cells[base];
            r.r2 = SpanBuffer.elapsedNs(cells[base + 1]);
            r.r3 = cells[base + 2];
        }
    }
}
