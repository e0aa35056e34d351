package org.brickprofiler.internal.record;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJJJ_Result;

/**
 * A sample is in exactly one of the intervals: the one that a reset ends, or a following one. The result is the number
 * of samples that the resets returned, followed by the sums of all intervals: count, total, elements and bucket counts.
 */
public final class ResetStress {

    private ResetStress() {}

    /** The common state of the stress tests of resets. */
    abstract static class Intervals {
        final TableRegistry registry;
        private StatRow ended = StatRow.EMPTY;
        private long endedBuckets;

        Intervals(boolean withBuckets) {
            registry = new TableRegistry(1, withBuckets);
        }

        final void reset() {
            StatSums sums = registry.readAndReset();
            for (int key = 0; key < 4; key++) {
                ended = ended.plus(sums.row(key));
                endedBuckets += bucketSum(sums, key);
            }
        }

        final void count(JJJJJ_Result r) {
            r.r1 = ended.count();
            StatSums rest = registry.read();
            for (int key = 0; key < 4; key++) {
                ended = ended.plus(rest.row(key));
                endedBuckets += bucketSum(rest, key);
            }
            r.r2 = ended.count();
            r.r3 = ended.totalNs();
            r.r4 = ended.elements();
            r.r5 = endedBuckets;
        }

        private static long bucketSum(StatSums sums, int key) {
            long sum = 0;
            long[] buckets = sums.buckets(key);
            if (buckets != null) {
                for (long bucket : buckets) {
                    sum += bucket;
                }
            }
            return sum;
        }
    }

    /** A thread's only sample. */
    @JCStressTest
    @Outcome(id = "[01], 1, 5, 1, 0", expect = ACCEPTABLE, desc = "counted once")
    @Outcome(expect = FORBIDDEN, desc = "lost or counted twice")
    @State
    public static class OneSample extends Intervals {
        public OneSample() {
            super(false);
        }

        @Actor
        public void writer() {
            registry.add(0, 5, 10, 1);
        }

        @Actor
        public void resetter() {
            reset();
        }

        @Arbiter
        public void arbiter(JJJJJ_Result r) {
            count(r);
        }
    }

    /** The second of two samples may arrive in the old table after it was read. */
    @JCStressTest
    @Outcome(id = "[012], 2, 8, 11, 0", expect = ACCEPTABLE, desc = "each counted once")
    @Outcome(expect = FORBIDDEN, desc = "lost or counted twice")
    @State
    public static class TwoSamples extends Intervals {
        public TwoSamples() {
            super(false);
        }

        @Actor
        public void writer() {
            registry.add(0, 5, 10, 1);
            registry.add(0, 3, 20, 10);
        }

        @Actor
        public void resetter() {
            reset();
        }

        @Arbiter
        public void arbiter(JJJJJ_Result r) {
            count(r);
        }
    }

    /** A second reset while the first one's old table may still be written. */
    @JCStressTest
    @Outcome(id = "[0123], 3, 15, 111, 0", expect = ACCEPTABLE, desc = "each counted once")
    @Outcome(expect = FORBIDDEN, desc = "lost or counted twice")
    @State
    public static class TwoResets extends Intervals {
        public TwoResets() {
            super(false);
        }

        @Actor
        public void writer() {
            Samples.addThree(registry::add);
        }

        @Actor
        public void resetter() {
            reset();
            reset();
        }

        @Arbiter
        public void arbiter(JJJJJ_Result r) {
            count(r);
        }
    }

    /** The duration counts agree with the sums, even if the first sample of a row coincides with the reset. */
    @JCStressTest
    @Outcome(id = "[0123], 3, 15, 111, 3", expect = ACCEPTABLE, desc = "each counted once")
    @Outcome(expect = FORBIDDEN, desc = "lost or counted twice")
    @State
    public static class WithPercentiles extends Intervals {
        public WithPercentiles() {
            super(true);
        }

        @Actor
        public void writer() {
            registry.add(0, 5, 10, 1);
            registry.add(0, 3, 20, 10);
            registry.add(1, 7, 30, 100);
        }

        @Actor
        public void resetter() {
            reset();
        }

        @Arbiter
        public void arbiter(JJJJJ_Result r) {
            count(r);
        }
    }

    /** The table grows by a row while it is replaced. */
    @JCStressTest
    @Outcome(id = "[0123], 3, 15, 111, 0", expect = ACCEPTABLE, desc = "each counted once")
    @Outcome(expect = FORBIDDEN, desc = "lost or counted twice")
    @State
    public static class WhileGrowing extends Intervals {
        public WhileGrowing() {
            super(false);
        }

        @Actor
        public void writer() {
            registry.add(0, 5, 10, 1);
            registry.add(2, 3, 20, 10);
            registry.add(3, 7, 30, 100);
        }

        @Actor
        public void resetter() {
            reset();
        }

        @Arbiter
        public void arbiter(JJJJJ_Result r) {
            count(r);
        }
    }

    /** Both threads record, and one of them resets. */
    @JCStressTest
    @Outcome(id = "[123], 3, 15, 111, 0", expect = ACCEPTABLE, desc = "each counted once")
    @Outcome(expect = FORBIDDEN, desc = "lost or counted twice")
    @State
    public static class TwoRecorders extends Intervals {
        public TwoRecorders() {
            super(false);
        }

        @Actor
        public void writer() {
            registry.add(0, 5, 10, 1);
            registry.add(0, 3, 20, 10);
        }

        @Actor
        public void writerAndResetter() {
            registry.add(0, 7, 30, 100);
            reset();
        }

        @Arbiter
        public void arbiter(JJJJJ_Result r) {
            count(r);
        }
    }
}
