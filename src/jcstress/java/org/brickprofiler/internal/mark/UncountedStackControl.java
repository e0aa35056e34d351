package org.brickprofiler.internal.mark;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The control of {@link MarkPoolStress.TopComesBack}: the same stack, whose head does not count its changes. A number
 * must be given out twice. Taking pauses before it changes the head, to leave time for the observation.
 */
@JCStressTest
@Outcome(id = "0, 3", expect = ACCEPTABLE, desc = "each number is held once")
@Outcome(expect = FORBIDDEN, desc = "a number is held twice, as is to be expected here")
@State
public class UncountedStackControl {

    private static final int PAUSE = 10;

    /** The topmost number plus one. */
    private final AtomicInteger head = new AtomicInteger(3);

    private final int[] below = {0, 1, 2};
    private int one;
    private int two;

    private int take() {
        while (true) {
            int top = head.get();
            if (top == 0) {
                return MarkPool.NONE;
            }
            int next = below[top - 1];
            for (int i = 0; i < PAUSE; i++) {
                Thread.onSpinWait();
            }
            if (head.compareAndSet(top, next)) {
                return top - 1;
            }
        }
    }

    private void give(int number) {
        int top;
        do {
            top = head.get();
            below[number] = top;
        } while (!head.compareAndSet(top, number + 1));
    }

    @Actor
    public void taking() {
        one = take();
    }

    @Actor
    public void changing() {
        int top = take();
        two = take();
        give(top);
    }

    @Arbiter
    public void arbiter(II_Result r) {
        MarkPoolStress.compare(r, one, two, take(), take());
    }
}
