package org.brickprofiler.internal.record;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJ_Result;

/**
 * The control of {@link ResetStress} and {@link SharedTableStress}: the same table, emptied by a reader that neither
 * holds nor replaces it. It must lose samples.
 */
@JCStressTest
@Outcome(id = "[0123], 3, 15", expect = ACCEPTABLE, desc = "each counted once")
@Outcome(expect = FORBIDDEN, desc = "lost or counted twice, as is to be expected here")
@State
public class UnheldResetControl {

    private final StatTable table = Samples.tableOf(1);
    private StatRow ended = StatRow.EMPTY;

    @Actor
    public void writer() {
        Samples.addThree(table::add);
    }

    @Actor
    public void resetter() {
        ended = table.read(0);
        table.clear();
    }

    @Arbiter
    public void arbiter(JJJ_Result r) {
        StatRow all = ended.plus(table.read(0));
        r.r1 = ended.count();
        r.r2 = all.count();
        r.r3 = all.totalNs();
    }
}
