package org.brickprofiler.internal.record;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJJJJJ_Result;
import org.openjdk.jcstress.infra.results.JJJJJJ_Result;

/** A reader gets the state of a row between two samples, never a mixture. */
public final class TornRowStress {

    private TornRowStress() {}

    /** Read from the table itself. */
    @JCStressTest
    @Outcome(id = Samples.NONE, expect = ACCEPTABLE, desc = "before the first sample")
    @Outcome(id = Samples.ONE, expect = ACCEPTABLE, desc = "after one")
    @Outcome(id = Samples.TWO, expect = ACCEPTABLE, desc = "after two")
    @Outcome(id = Samples.THREE, expect = ACCEPTABLE, desc = "after three")
    @Outcome(expect = FORBIDDEN, desc = "a mixture")
    @State
    public static class FromTable {
        private final StatTable table = Samples.tableOf(1);

        @Actor
        public void writer() {
            Samples.addThree(table::add);
        }

        @Actor
        public void reader(JJJJJJ_Result r) {
            Samples.show(table.read(0), r);
        }
    }

    /** Read through the registry, while the writer's table is looked up, created and published. */
    @JCStressTest
    @Outcome(id = Samples.NONE, expect = ACCEPTABLE, desc = "before the first sample")
    @Outcome(id = Samples.ONE, expect = ACCEPTABLE, desc = "after one")
    @Outcome(id = Samples.TWO, expect = ACCEPTABLE, desc = "after two")
    @Outcome(id = Samples.THREE, expect = ACCEPTABLE, desc = "after three")
    @Outcome(expect = FORBIDDEN, desc = "a mixture")
    @State
    public static class FromRegistry {
        private final TableRegistry registry = new TableRegistry(1, false);

        @Actor
        public void writer() {
            Samples.addThree(registry::add);
        }

        @Actor
        public void reader(JJJJJJ_Result r) {
            Samples.show(registry.read().row(0), r);
        }
    }

    /** The columns that only some samples use. */
    @JCStressTest
    @Outcome(id = "0, 0, 0, 0, 9223372036854775807, 0, -1", expect = ACCEPTABLE, desc = "before the first sample")
    @Outcome(id = "1, 8, 4, 0, 9223372036854775807, 0, -1", expect = ACCEPTABLE, desc = "after the bytes")
    @Outcome(id = "2, 8, 4, 6, 6, 0, -1", expect = ACCEPTABLE, desc = "after the cycles")
    @Outcome(id = "3, 8, 4, 6, 6, 9, 77", expect = ACCEPTABLE, desc = "after the work")
    @Outcome(expect = FORBIDDEN, desc = "a mixture")
    @State
    public static class WideColumns {
        private final StatTable table = Samples.tableOf(1);

        @Actor
        public void writer() {
            table.addBytes(0, 1, 10, 1, 8, 4);
            table.addCycles(0, 2, 20, 1, 6);
            table.addWork(0, 3, 30, 1, 9, 77);
        }

        @Actor
        public void reader(JJJJJJJ_Result r) {
            StatRow row = table.read(0);
            r.r1 = row.count();
            r.r2 = row.bytes();
            r.r3 = row.compressedBytes();
            r.r4 = row.cycles();
            r.r5 = row.minCycles();
            r.r6 = row.work();
            r.r7 = row.maxTag();
        }
    }

    /** Read while the writer replaces its cells by a longer copy, between the samples of one row. */
    @JCStressTest
    @Outcome(id = Samples.NONE, expect = ACCEPTABLE, desc = "before the first sample")
    @Outcome(id = Samples.ONE, expect = ACCEPTABLE, desc = "after one")
    @Outcome(id = Samples.TWO, expect = ACCEPTABLE, desc = "after two")
    @Outcome(expect = FORBIDDEN, desc = "a mixture, or the second sample without the first")
    @State
    public static class WhileGrowing {
        private final StatTable table = Samples.tableOf(1);

        @Actor
        public void writer() {
            table.add(0, 5, 10, 1);
            table.add(3, 1, 15, 1);
            table.add(0, 3, 20, 10);
        }

        @Actor
        public void reader(JJJJJJ_Result r) {
            Samples.show(table.read(0), r);
        }
    }
}
