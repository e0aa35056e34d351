package org.brickprofiler.kernel;

import java.util.Objects;

/**
 * One dispatch of a command buffer. Immutable.
 *
 * @param label the label of its command buffer
 * @param operation what was dispatched
 * @param index its place in the command buffer, 0 or more
 * @param startNs when it began, ns: host time where a clock conversion was given, else the device's own ticks
 * @param endNs when it ended, ns, on the same clock
 */
public record DispatchTiming(String label, String operation, int index, long startNs, long endNs) {

    /**
     * Refuses null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public DispatchTiming {
        Objects.requireNonNull(label, "label");
        Objects.requireNonNull(operation, "operation");
    }

    /**
     * How long it took.
     *
     * @return ns, 0 or more
     */
    public long elapsedNs() {
        return endNs - startNs;
    }
}
