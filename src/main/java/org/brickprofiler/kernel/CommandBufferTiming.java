package org.brickprofiler.kernel;

import java.util.List;
import java.util.Objects;
import org.brickprofiler.Backend;

/**
 * The recorded times of the command buffers with one label on one backend. Immutable.
 *
 * @param label the label; {@link KernelTimings#OTHER_NAMES} for all labels beyond the limit
 * @param backend the backend
 * @param count number of command buffers; 0 if only dispatches were recorded
 * @param totalNs sum of their durations, ns; command buffers may overlap, so this can exceed the elapsed time
 * @param minNs shortest duration, ns; 0 without command buffers
 * @param maxNs longest duration, ns
 * @param dispatches their dispatches, in the order they were recorded
 */
public record CommandBufferTiming(
        String label, Backend backend, long count, long totalNs, long minNs, long maxNs, List<Dispatch> dispatches) {

    /** Copies the list. */
    public CommandBufferTiming {
        Objects.requireNonNull(label, "label");
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(dispatches, "dispatches");
        dispatches = List.copyOf(dispatches);
    }

    CommandBufferTiming with(List<Dispatch> recorded) {
        return new CommandBufferTiming(label, backend, count, totalNs, minNs, maxNs, recorded);
    }

    /**
     * One dispatch of a command buffer. Immutable.
     *
     * @param label the label of its command buffer
     * @param operation the dispatched operation
     * @param index its index in the command buffer, 0 or more
     * @param startNs its begin, ns: host time if a clock conversion was given, otherwise the device's own ticks
     * @param endNs its end, ns, on the same clock
     */
    public record Dispatch(String label, String operation, int index, long startNs, long endNs) {

        /**
         * Rejects null.
         *
         * @throws NullPointerException when a component is null; the message names it
         */
        public Dispatch {
            Objects.requireNonNull(label, "label");
            Objects.requireNonNull(operation, "operation");
        }

        /**
         * Returns its duration.
         *
         * @return ns, 0 or more
         */
        public long elapsedNs() {
            return endNs - startNs;
        }
    }
}
