package org.brickprofiler.internal.record;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJJJJ_Result;

/**
 * The control of {@link TornRowStress}: the same table and the same writer, but a reader that does not compare the two
 * counts. It must fail; otherwise the stress tests would not find a torn row either.
 */
@JCStressTest
@Outcome(id = Samples.NONE, expect = ACCEPTABLE, desc = "before the first sample")
@Outcome(id = Samples.ONE, expect = ACCEPTABLE, desc = "after one")
@Outcome(id = Samples.TWO, expect = ACCEPTABLE, desc = "after two")
@Outcome(id = Samples.THREE, expect = ACCEPTABLE, desc = "after three")
@Outcome(expect = FORBIDDEN, desc = "a mixture, as is to be expected here")
@State
public class UnvalidatedReadControl {

    private static final VarHandle ROWS;

    static {
        try {
            ROWS = MethodHandles.privateLookupIn(StatTable.class, MethodHandles.lookup())
                    .findVarHandle(StatTable.class, "rows", long[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final StatTable table = Samples.tableOf(1);

    @Actor
    public void writer() {
        Samples.addThree(table::add);
    }

    @Actor
    public void reader(JJJJJJ_Result r) {
        long[] cells = (long[]) ROWS.getVolatile(table);
        r.r1 = cells[StatTable.COUNT];
        r.r2 = cells[StatTable.TOTAL_NS];
        r.r3 = cells[StatTable.MIN_NS];
        r.r4 = cells[StatTable.MAX_NS];
        r.r5 = cells[StatTable.LAST_NS];
        r.r6 = cells[StatTable.ELEMENTS];
    }
}
