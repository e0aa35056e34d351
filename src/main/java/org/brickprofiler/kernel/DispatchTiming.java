package org.brickprofiler.kernel;

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
     * How long it took.
     *
     * @return ns, 0 or more
     */
    public long elapsedNs() {
        return endNs - startNs;
    }
}
