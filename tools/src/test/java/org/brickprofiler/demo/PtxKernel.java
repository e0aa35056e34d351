package org.brickprofiler.demo;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.LongSupplier;
import org.brickprofiler.demo.PtxThread.State;

/**
 * A kernel as a {@link PtxInterpreter} runs it: block after block, thread after thread, each until it has to wait for
 * others. A barrier or a shuffle that some thread does not reach is an error, since it is undefined on a device.
 *
 * @param name its name
 * @param parameterTypes the type of each parameter, such as {@code u32}
 * @param registers how many registers a thread has
 * @param sharedWords how much memory a block has, in words of 4 bytes
 * @param code its instructions
 */
public record PtxKernel(
        String name, List<String> parameterTypes, int registers, int sharedWords, List<PtxInstruction> code) {

    private static final int WARP = 32;

    /** The order in which threads and blocks run: a correct kernel gives the same result in both. */
    public enum Order {
        FORWARD,
        BACKWARD;

        <T> List<T> of(List<T> items) {
            List<T> ordered = new ArrayList<>(items);
            if (this == BACKWARD) {
                Collections.reverse(ordered);
            }
            return ordered;
        }
    }

    /**
     * The shape of a launch.
     *
     * @param gridX blocks in a row
     * @param gridY rows of blocks
     * @param blockSize threads of a block
     */
    public record Shape(int gridX, int gridY, int blockSize) {}

    /**
     * Runs the kernel.
     *
     * @param shape how many threads
     * @param arguments the bits of each argument
     * @param memory the global memory
     * @param order how threads take turns
     * @param globalTimer the device's clock, ns
     */
    public void run(Shape shape, long[] arguments, PtxMemory memory, Order order, LongSupplier globalTimer) {
        if (arguments.length != parameterTypes.size()) {
            throw new IllegalArgumentException(
                    name + " has " + parameterTypes.size() + " parameters, not " + arguments.length);
        }
        List<PtxThread.Block> blocks = new ArrayList<>();
        for (int y = 0; y < shape.gridY(); y++) {
            for (int x = 0; x < shape.gridX(); x++) {
                blocks.add(new PtxThread.Block(memory, arguments, sharedWords, x, y, shape.blockSize(), globalTimer));
            }
        }
        order.of(blocks).forEach(block -> run(block, order));
    }

    private void run(PtxThread.Block block, Order order) {
        List<PtxThread> threads = new ArrayList<>();
        for (int i = 0; i < block.size; i++) {
            threads.add(new PtxThread(block, i, registers));
        }
        List<PtxThread> turns = order.of(threads);
        do {
            turns.forEach(this::runOn);
        } while (shuffleAnyWarp(threads) || passBarrier(threads));
    }

    private void runOn(PtxThread thread) {
        while (thread.state == State.RUNS) {
            PtxInstruction instruction = code.get(thread.next++);
            if (instruction.isOn().holds(thread)) {
                instruction.effect().on(thread);
                thread.state = instruction.waitsAs();
            }
        }
    }

    /** Lets warps exchange the values for which they wait. Returns whether there was one. */
    private boolean shuffleAnyWarp(List<PtxThread> threads) {
        boolean any = false;
        for (int first = 0; first < threads.size(); first += WARP) {
            List<PtxThread> warp = threads.subList(first, Math.min(first + WARP, threads.size()));
            if (any(warp, State.AT_SHUFFLE)) {
                shuffle(warp);
                any = true;
            }
        }
        return any;
    }

    private void shuffle(List<PtxThread> warp) {
        if (warp.size() < WARP) {
            throw new IllegalStateException(name + ": a warp of " + warp.size() + " threads shuffles");
        }
        int at = together(warp, State.AT_SHUFFLE);
        PtxInstruction.Shuffle shuffle = code.get(at - 1).shuffle();
        long[] values = new long[WARP];
        for (int lane = 0; lane < WARP; lane++) {
            values[lane] = shuffle.value().applyAsLong(warp.get(lane));
        }
        for (int lane = 0; lane < WARP; lane++) {
            PtxThread thread = warp.get(lane);
            long from = lane + shuffle.distance().applyAsLong(thread);
            thread.registers[shuffle.target()] = values[from < WARP ? (int) from : lane];
        }
        warp.forEach(thread -> thread.state = State.RUNS);
    }

    /** Releases the threads of a block from a barrier. Returns whether any thread waited at one. */
    private boolean passBarrier(List<PtxThread> threads) {
        if (!any(threads, State.AT_BARRIER)) {
            return false;
        }
        together(threads, State.AT_BARRIER);
        threads.forEach(thread -> thread.state = State.RUNS);
        return true;
    }

    private static boolean any(List<PtxThread> threads, State state) {
        for (PtxThread thread : threads) {
            if (thread.state == state) {
                return true;
            }
        }
        return false;
    }

    /** Returns the index of the instruction after the one at which all threads wait; throws if they do not. */
    private int together(List<PtxThread> threads, State state) {
        int at = threads.get(0).next;
        for (PtxThread thread : threads) {
            if (thread.state != state || thread.next != at) {
                throw new IllegalStateException(name + ": thread " + thread.number + " is " + thread.state + " after '"
                        + code.get(thread.next - 1).text() + "' where others wait at '"
                        + threads.stream()
                                .filter(other -> other.state == state)
                                .findFirst()
                                .map(other -> code.get(other.next - 1).text())
                                .orElse("")
                        + "'");
            }
        }
        return at;
    }
}
