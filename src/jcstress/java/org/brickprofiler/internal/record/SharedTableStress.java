package org.brickprofiler.internal.record;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJJ_Result;
import org.openjdk.jcstress.infra.results.JJJ_Result;

/** A shared table has one writer at a time, and the next writer sees the writes of the last one. */
public final class SharedTableStress {

    private SharedTableStress() {}

    /** The common state of both tests. */
    abstract static class OneTable {
        final StatTable table = new StatTable(null, 1, false, new PendingQueue(), null, null);

        final boolean tryAdd(long elapsedNs) {
            if (!table.tryHold()) {
                return false;
            }
            table.add(0, elapsedNs, 10, 1);
            table.letGo();
            return true;
        }

        final void add(long elapsedNs) {
            while (!tryAdd(elapsedNs)) {
                Thread.onSpinWait();
            }
        }
    }

    /** Two writers that use another table when this one is held. */
    @JCStressTest
    @Outcome(id = "1, 1, 2, 12", expect = ACCEPTABLE, desc = "one after the other")
    @Outcome(id = "1, 0, 1, 5", expect = ACCEPTABLE, desc = "the first held it")
    @Outcome(id = "0, 1, 1, 7", expect = ACCEPTABLE, desc = "the second held it")
    @Outcome(expect = FORBIDDEN, desc = "a sample was lost, or nobody got the table")
    @State
    public static class TwoWriters extends OneTable {
        @Actor
        public void first(JJJJ_Result r) {
            r.r1 = tryAdd(5) ? 1 : 0;
        }

        @Actor
        public void second(JJJJ_Result r) {
            r.r2 = tryAdd(7) ? 1 : 0;
        }

        @Arbiter
        public void arbiter(JJJJ_Result r) {
            StatRow row = table.read(0);
            r.r3 = row.count();
            r.r4 = row.totalNs();
        }
    }

    /** A reset empties the table between two samples. */
    @JCStressTest
    @Outcome(id = "[012], 2, 12", expect = ACCEPTABLE, desc = "each counted once")
    @Outcome(expect = FORBIDDEN, desc = "lost or counted twice")
    @State
    public static class WriterAndReset extends OneTable {
        private StatRow ended = StatRow.EMPTY;

        @Actor
        public void writer() {
            add(5);
            add(7);
        }

        @Actor
        public void resetter() {
            while (!table.tryHold()) {
                Thread.onSpinWait();
            }
            ended = table.read(0);
            table.clear();
            table.letGo();
        }

        @Arbiter
        public void arbiter(JJJ_Result r) {
            StatRow all = ended.plus(table.read(0));
            r.r1 = ended.count();
            r.r2 = all.count();
            r.r3 = all.totalNs();
        }
    }
}
