package org.brickprofiler.internal.record;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * The control of {@link SpanStress}: the same ring and the same writer, but a reader that does not check the progress
 * of the writer afterwards. It must fail.
 */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "no entry was whole")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "an entry as it was written")
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
        SpanStress.addMany(buffer);
    }

    @Actor
    public void reader(I_Result r) {
        long count = (long) COUNT.getAcquire(buffer);
        long[] cells = (long[]) CELLS.getVolatile(buffer);
        if (count > 0) {
            int base = (int) ((count - 1) % 2) * SpanBuffer.LONGS_EACH;
            r.r1 = SpanStress.judge(cells[base], SpanBuffer.elapsedNs(cells, base), cells[base + 2]);
        }
    }
}
