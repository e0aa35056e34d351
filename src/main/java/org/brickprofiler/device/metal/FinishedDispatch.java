package org.brickprofiler.device.metal;

import java.util.Objects;

/**
 * A sampled pass or dispatch of a command buffer that has completed. Immutable. Times are of the same clock as those of
 * a {@link FinishedBuffer}, converted from the device's counter.
 *
 * @param sequence the number of its command buffer in the stream
 * @param label what its command buffer is for; never empty
 * @param operation what it is; never empty
 * @param index its place among the sampled ones of its command buffer, from 0
 * @param startNs when the device began it, ns
 * @param endNs when the device ended it, ns, {@code startNs} or more
 * @param errorNs how far both times may be off, ns; their difference is wrong by less
 */
public record FinishedDispatch(
        long sequence, String label, String operation, int index, long startNs, long endNs, long errorNs) {

    /**
     * Refuses null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public FinishedDispatch {
        Objects.requireNonNull(label, "label");
        Objects.requireNonNull(operation, "operation");
    }
}
