package org.brickprofiler.internal.mark;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A number is given out at most once until it is given back, regardless of changes of the stack below it. */
public final class MarkPoolStress {

    private MarkPoolStress() {}

    /** Counts the numbers that equal another one, and all numbers. */
    static void compare(II_Result r, int... numbers) {
        int seen = 0;
        for (int number : numbers) {
            if (number >= 0) {
                r.r1 += (seen >> number) & 1;
                r.r2++;
                seen |= 1 << number;
            }
        }
    }

    /** One thread takes the top and puts it back over another number while the other thread takes one. */
    @JCStressTest
    @Outcome(id = "0, 3", expect = ACCEPTABLE, desc = "each number is held once")
    @Outcome(expect = FORBIDDEN, desc = "a number is held twice, or lost")
    @State
    public static class TopComesBack {
        private final MarkPool pool = new MarkPool(3, 3, (from, to) -> to);
        private int one;
        private int two;

        @Actor
        public void taking() {
            one = pool.take();
        }

        @Actor
        public void changing() {
            int top = pool.take();
            two = pool.take();
            pool.give(top);
        }

        @Arbiter
        public void arbiter(II_Result r) {
            compare(r, one, two, pool.take(), pool.take());
        }
    }

    /** Two threads find the pool empty and make it grow. */
    @JCStressTest
    @Outcome(id = "0, 4", expect = ACCEPTABLE, desc = "each number is held once")
    @Outcome(expect = FORBIDDEN, desc = "a number is held twice, or lost")
    @State
    public static class Growing {
        private final MarkPool pool = new MarkPool(1, 4, (from, to) -> to);
        private int one;
        private int two;
        private int three;

        @Actor
        public void taking() {
            one = pool.take();
            two = pool.take();
        }

        @Actor
        public void takingToo() {
            three = pool.take();
        }

        @Arbiter
        public void arbiter(II_Result r) {
            compare(r, one, two, three, pool.take(), pool.take());
        }
    }
}
