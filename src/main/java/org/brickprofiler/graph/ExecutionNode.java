package org.brickprofiler.graph;

import static org.brickprofiler.internal.base.Checks.requireFinite;
import static org.brickprofiler.internal.base.Checks.requireName;
import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.brickprofiler.graph.ExecutionNode.AsyncTask;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.graph.ExecutionNode.Kernel;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.graph.ExecutionNode.Transfer;

/** Something that ran. Every node is an immutable record. */
public sealed interface ExecutionNode permits Brick, Kernel, Transfer, Function, Layer, AsyncTask {

    /**
     * Returns the name in queries and exports; several nodes may share one.
     *
     * @return a name that is not empty
     */
    String name();

    /**
     * Returns the node's own time, which includes the time of children that ran inside it.
     *
     * @return ns, 0 or more; empty if no time was measured
     */
    OptionalLong timeNs();

    /**
     * One execution of a brick.
     *
     * @param name the brick
     * @param elapsedNs how long it took, ns, 0 or more
     * @param elements elements it processed, 0 or more
     */
    record Brick(String name, long elapsedNs, long elements) implements ExecutionNode {
        /**
         * Checks the parts.
         *
         * @throws IllegalArgumentException when the name is null or empty or a number is negative
         */
        public Brick {
            requireName("brick name", name);
            requireNotNegative("elapsedNs", elapsedNs);
            requireNotNegative("elements", elements);
        }

        @Override
        public OptionalLong timeNs() {
            return OptionalLong.of(elapsedNs);
        }
    }

    /**
     * One launch of a device kernel.
     *
     * @param name the kernel
     * @param hash the FNV-1a hash of its PTX text or binary, see {@link KernelRegistry}
     * @param grid the grid, in blocks
     * @param block the block, in threads
     * @param sharedMemoryBytes dynamic shared memory of a block, bytes, 0 or more
     * @param elapsedNs its duration on the device, ns, 0 or more, if known
     * @param arithmeticIntensity floating-point operations per byte of memory traffic, FLOP/byte, if known
     * @param achievedTflops its rate, TFLOP/s, if known
     */
    record Kernel(
            String name,
            long hash,
            Dim3 grid,
            Dim3 block,
            int sharedMemoryBytes,
            OptionalLong elapsedNs,
            OptionalDouble arithmeticIntensity,
            OptionalDouble achievedTflops)
            implements ExecutionNode {
        /**
         * Checks the parts.
         *
         * @throws IllegalArgumentException when the name is null or empty, or a number is negative or not finite
         */
        public Kernel {
            Objects.requireNonNull(elapsedNs, "elapsedNs");
            Objects.requireNonNull(arithmeticIntensity, "arithmeticIntensity");
            Objects.requireNonNull(achievedTflops, "achievedTflops");
            requireName("kernel name", name);
            Objects.requireNonNull(grid, "grid");
            Objects.requireNonNull(block, "block");
            requireNotNegative("sharedMemoryBytes", sharedMemoryBytes);
            requireNotNegative("elapsedNs", elapsedNs.orElse(0));
            requireFinite("arithmeticIntensity", arithmeticIntensity.orElse(0));
            requireFinite("achievedTflops", achievedTflops.orElse(0));
        }

        /**
         * Creates a launch without measured times and rates.
         *
         * @param name the kernel
         * @param hash the hash of its PTX text or binary
         * @param grid the grid, in blocks
         * @param block the block, in threads
         * @param sharedMemoryBytes dynamic shared memory of a block, bytes
         * @throws IllegalArgumentException when the name is null or empty or the size is negative
         */
        public Kernel(String name, long hash, Dim3 grid, Dim3 block, int sharedMemoryBytes) {
            this(
                    name,
                    hash,
                    grid,
                    block,
                    sharedMemoryBytes,
                    OptionalLong.empty(),
                    OptionalDouble.empty(),
                    OptionalDouble.empty());
        }

        @Override
        public OptionalLong timeNs() {
            return elapsedNs;
        }
    }

    /**
     * One copy of data. Its name is {@code "source -> destination"}.
     *
     * @param source the buffer or memory from which it reads
     * @param destination the buffer or memory to which it writes
     * @param bytes its size, bytes, 0 or more
     * @param direction the kinds of memory
     * @param elapsedNs its duration, ns, 0 or more, if known
     */
    record Transfer(String source, String destination, long bytes, TransferDirection direction, OptionalLong elapsedNs)
            implements ExecutionNode {
        /**
         * Checks the parts.
         *
         * @throws IllegalArgumentException when an end is null or empty or a number is negative
         */
        public Transfer {
            Objects.requireNonNull(elapsedNs, "elapsedNs");
            requireName("source", source);
            requireName("destination", destination);
            requireNotNegative("bytes", bytes);
            Objects.requireNonNull(direction, "direction");
            requireNotNegative("elapsedNs", elapsedNs.orElse(0));
        }

        /**
         * Creates a copy of unknown duration.
         *
         * @param source the buffer or memory from which it reads
         * @param destination the buffer or memory to which it writes
         * @param bytes its size, bytes
         * @param direction the kinds of memory
         * @throws IllegalArgumentException when an end is null or empty or the bytes are negative
         */
        public Transfer(String source, String destination, long bytes, TransferDirection direction) {
            this(source, destination, bytes, direction, OptionalLong.empty());
        }

        @Override
        public String name() {
            return source + " -> " + destination;
        }

        @Override
        public OptionalLong timeNs() {
            return elapsedNs;
        }
    }

    /**
     * A call of a function of the host program.
     *
     * @param name the function
     * @param file the source file, if known
     * @param line the line in it, from 1, if known
     */
    record Function(String name, Optional<String> file, OptionalInt line) implements ExecutionNode {
        /**
         * Checks the parts.
         *
         * @throws IllegalArgumentException when the name is null or empty or the line is below 1
         */
        public Function {
            Objects.requireNonNull(line, "line");
            requireName("function name", name);
            Objects.requireNonNull(file, "file");
            if (line.orElse(1) < 1) {
                throw new IllegalArgumentException("line " + line.getAsInt() + " is below 1");
            }
        }

        /**
         * Creates a function whose source file and line are unknown.
         *
         * @param name the function
         * @throws IllegalArgumentException when the name is null or empty
         */
        public Function(String name) {
            this(name, Optional.empty(), OptionalInt.empty());
        }

        @Override
        public OptionalLong timeNs() {
            return OptionalLong.empty();
        }
    }

    /**
     * A layer of the model. Its name is {@code "Layer N"}. It has no time of its own.
     *
     * @param index the layer, from 0
     */
    record Layer(int index) implements ExecutionNode {
        /**
         * Checks the index.
         *
         * @throws IllegalArgumentException when it is negative
         */
        public Layer {
            requireNotNegative("index", index);
        }

        @Override
        public String name() {
            return "Layer " + index;
        }

        @Override
        public OptionalLong timeNs() {
            return OptionalLong.empty();
        }
    }

    /**
     * A task that runs in pieces.
     *
     * @param name the task
     * @param polls how often it was resumed, 0 or more
     * @param yields how often it gave up its thread before it was done, 0 or more
     * @param totalPollNs the time of all pieces together, ns, 0 or more
     */
    record AsyncTask(String name, long polls, long yields, long totalPollNs) implements ExecutionNode {
        /**
         * Checks the parts.
         *
         * @throws IllegalArgumentException when the name is null or empty or a number is negative
         */
        public AsyncTask {
            requireName("async task name", name);
            requireNotNegative("polls", polls);
            requireNotNegative("yields", yields);
            requireNotNegative("totalPollNs", totalPollNs);
        }

        @Override
        public OptionalLong timeNs() {
            return OptionalLong.of(totalPollNs);
        }
    }
}
