package org.brickprofiler.demo;

import java.util.function.ToLongFunction;

/**
 * One instruction of a kernel.
 *
 * @param text as it is written
 * @param isOn whether the thread executes the instruction or continues with the next one
 * @param effect its effect, if it concerns one thread only; it may change the thread's next instruction
 * @param waitsAs the thread's state afterwards: running, ended or waiting for others
 * @param shuffle the exchanged values, for an instruction at which a warp meets
 */
public record PtxInstruction(String text, Condition isOn, Effect effect, PtxThread.State waitsAs, Shuffle shuffle) {

    /** The predicate before an instruction. */
    public interface Condition {
        boolean holds(PtxThread thread);
    }

    /** The effect of an instruction. */
    public interface Effect {
        Effect NONE = thread -> {};

        void on(PtxThread thread);
    }

    /**
     * The exchange of a warp: each lane gets the value of the lane that is {@code distance} further, or keeps its own
     * value if there is no such lane.
     *
     * @param target the register that receives
     * @param value the value that a lane provides
     * @param distance the distance to the lane whose value a lane gets
     */
    public record Shuffle(int target, ToLongFunction<PtxThread> value, ToLongFunction<PtxThread> distance) {

        /** The shuffle of an instruction that exchanges nothing. */
        static final Shuffle NONE = new Shuffle(-1, thread -> 0, thread -> 0);
    }
}
