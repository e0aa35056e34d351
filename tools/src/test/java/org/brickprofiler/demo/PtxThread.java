package org.brickprofiler.demo;

import java.util.function.LongSupplier;

/** One thread of a block while a {@link PtxInterpreter} runs it. */
public final class PtxThread {

    /** The state that all threads of a block share. */
    static final class Block {
        final PtxMemory memory;
        final long[] arguments;
        final int[] shared;
        final int x;
        final int y;
        final int size;
        final LongSupplier globalTimer;

        Block(PtxMemory memory, long[] arguments, int sharedWords, int x, int y, int size, LongSupplier globalTimer) {
            this.memory = memory;
            this.arguments = arguments;
            this.shared = new int[sharedWords];
            this.x = x;
            this.y = y;
            this.size = size;
            this.globalTimer = globalTimer;
        }
    }

    /** Whether a thread runs, waits for others or has ended. */
    public enum State {
        RUNS,
        AT_BARRIER,
        AT_SHUFFLE,
        ENDED
    }

    final Block block;
    final int number;

    /** The bits of each register; a register of 32 bits uses the lower half. */
    final long[] registers;

    int next;
    State state = State.RUNS;

    PtxThread(Block block, int number, int registers) {
        this.block = block;
        this.number = number;
        this.registers = new long[registers];
    }
}
