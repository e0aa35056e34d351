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

/** A deferred measurement is resolved exactly once, in the order in which it was queued. */
public final class PendingStress {

    private PendingStress() {}

    /**
     * The common state of the stress tests of one queue. The result lists the numbers in the order of their arrival, in
     * decimal, and so shows a missing, a repeated or a misplaced number.
     */
    abstract static class OneQueue {
        final PendingQueue queue = new PendingQueue();
        private long taken;
        private long mixed;

        final void offer(long number) {
            queue.offer((int) number, number, number);
        }

        final void take() {
            queue.drainTo((key, startNs, elements) -> {
                taken = taken * 10 + key;
                mixed += startNs == key && elements == key ? 0 : 1;
            });
        }

        final void count(JJJ_Result r) {
            take();
            r.r1 = taken;
            r.r2 = mixed;
            r.r3 = queue.size();
        }
    }

    /** The first ring is created while the consumer reads. */
    @JCStressTest
    @Outcome(id = "123, 0, 0", expect = ACCEPTABLE, desc = "each once, in order")
    @Outcome(expect = FORBIDDEN, desc = "lost, repeated, misplaced or mixed")
    @State
    public static class NewQueue extends OneQueue {
        @Actor
        public void producer() {
            offer(1);
            offer(2);
            offer(3);
        }

        @Actor
        public void consumer() {
            take();
        }

        @Arbiter
        public void arbiter(JJJ_Result r) {
            count(r);
        }
    }

    /**
     * The first ring is full except for one place; a second ring follows it, or it wraps if the consumer was faster.
     */
    @JCStressTest
    @Outcome(id = "123, 0, 0", expect = ACCEPTABLE, desc = "each once, in order")
    @Outcome(expect = FORBIDDEN, desc = "lost, repeated, misplaced or mixed")
    @State
    public static class NextRing extends OneQueue {
        public NextRing() {
            for (int i = 0; i < 255; i++) {
                offer(0);
            }
        }

        @Actor
        public void producer() {
            offer(1);
            offer(2);
            offer(3);
        }

        @Actor
        public void consumer() {
            take();
        }

        @Arbiter
        public void arbiter(JJJ_Result r) {
            count(r);
        }
    }

    /** The common state of the stress tests of resolving: the second resolution finds the rest of the first one. */
    abstract static class Resolved {
        final TableRegistry registry = new TableRegistry(1, false);
        final PendingResolver resolver;

        Resolved(boolean sequential) {
            resolver = new PendingResolver(registry, sequential);
        }

        final void count(JJJJ_Result r) {
            resolver.resolve(0, 100);
            StatRow row = registry.read().row(0);
            r.r1 = row.count();
            r.r2 = row.totalNs();
            r.r3 = row.elements();
            r.r4 = registry.pendingCount();
        }
    }

    /** Each measurement lasts from its start to the common end. */
    @JCStressTest
    @Outcome(id = "2, 150, 11, 0", expect = ACCEPTABLE, desc = "each resolved once")
    @Outcome(expect = FORBIDDEN, desc = "lost or resolved twice")
    @State
    public static class Literal extends Resolved {
        public Literal() {
            super(false);
        }

        @Actor
        public void producer() {
            registry.defer(0, 10, 1);
            registry.defer(0, 40, 10);
        }

        @Actor
        public void consumer() {
            resolver.resolve(0, 100);
        }

        @Arbiter
        public void arbiter(JJJJ_Result r) {
            count(r);
        }
    }

    /** Each measurement lasts to the next start, or to the common end if the next one was not queued yet. */
    @JCStressTest
    @Outcome(id = "2, 90, 11, 0", expect = ACCEPTABLE, desc = "both in one resolution")
    @Outcome(id = "2, 150, 11, 0", expect = ACCEPTABLE, desc = "one in each resolution")
    @Outcome(expect = FORBIDDEN, desc = "lost or resolved twice")
    @State
    public static class Sequential extends Resolved {
        public Sequential() {
            super(true);
        }

        @Actor
        public void producer() {
            registry.defer(0, 10, 1);
            registry.defer(0, 40, 10);
        }

        @Actor
        public void consumer() {
            resolver.resolve(0, 100);
        }

        @Arbiter
        public void arbiter(JJJJ_Result r) {
            count(r);
        }
    }

    /** A reset replaces the table of a thread that queues: the queue must stay the same. */
    @JCStressTest
    @Outcome(id = "2, 150, 11, 0", expect = ACCEPTABLE, desc = "each resolved once")
    @Outcome(expect = FORBIDDEN, desc = "lost or resolved twice")
    @State
    public static class WithReset extends Resolved {
        private StatRow ended = StatRow.EMPTY;

        public WithReset() {
            super(false);
        }

        @Actor
        public void producer() {
            registry.add(0, 0, 0, 0);
            registry.defer(0, 10, 1);
            registry.defer(0, 40, 10);
        }

        @Actor
        public void resetter() {
            ended = registry.readAndReset().row(0);
            resolver.resolve(0, 100);
        }

        @Arbiter
        public void arbiter(JJJJ_Result r) {
            resolver.resolve(0, 100);
            StatRow row = ended.plus(registry.read().row(0));
            // Minus the sample that caused the table to be replaced.
            r.r1 = row.count() - 1;
            r.r2 = row.totalNs();
            r.r3 = row.elements();
            r.r4 = registry.pendingCount();
        }
    }
}
