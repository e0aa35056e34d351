package org.brickprofiler.demo;

import java.util.function.ToLongFunction;

/**
 * One instruction of a kernel.
 *
 * @param text as it is written
 * @param isOn whether the thread does it; otherwise it goes on with the next one
 * @param effect what it does, where it concerns one thread only; it may change where the thread goes on
 * @param waitsAs what the thread is afterwards: it runs on, has ended or waits for others
 * @param shuffle what is exchanged, of an instruction at which a warp meets
 */
public record PtxInstruction(String text, Condition isOn, Effect effect, PtxThread.State waitsAs, Shuffle shuffle) {

    /** The predicate before an instruction. */
    public interface Condition {
        boolean holds(PtxThread thread);
    }

    /** What an instruction does. */
    public interface Effect {
        Effect NONE = thread -> {};

        void on(PtxThread thread);
    }

    /**
     * What a warp exchanges: each lane gets the value of the lane that is {@code distance} further, or its own.
     *
     * @param target the register that receives
     * @param value what a lane gives
     * @param distance how far the lane is that it gets from
     */
    public record Shuffle(int target, ToLongFunction<PtxThread> value, ToLongFunction<PtxThread> distance) {

        /** Of an instruction that exchanges nothing. */
        static final Shuffle NONE = new Shuffle(-1, thread -> 0, thread -> 0);
    }
}
