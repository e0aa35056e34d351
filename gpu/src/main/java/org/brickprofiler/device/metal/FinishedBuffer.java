package org.brickprofiler.device.metal;

import java.util.Objects;

/**
 * A watched command buffer that has ended. Immutable. Times are readings of the host's clock that Metal uses. If the
 * device did not report them, both times of a pair are {@link #NO_TIME}.
 *
 * @param sequence its number in its stream, from 1
 * @param label its purpose; never empty
 * @param outcome how it ended
 * @param errorCode Metal's number for the error, 0 without one
 * @param gpuStartNs when the device began it, ns
 * @param gpuEndNs when the device ended it, ns, {@code gpuStartNs} or more
 * @param kernelStartNs when the host began to schedule it, ns
 * @param kernelEndNs when the host had scheduled it, ns, {@code kernelStartNs} or more
 */
public record FinishedBuffer(
        long sequence,
        String label,
        Outcome outcome,
        long errorCode,
        long gpuStartNs,
        long gpuEndNs,
        long kernelStartNs,
        long kernelEndNs) {

    /** The value of a time that is not known. */
    public static final long NO_TIME = -1;

    // Codes of MTLCommandBufferError: this process may not use the device any more, and the device was removed.
    private static final long ACCESS_REVOKED = 4;
    private static final long DEVICE_REMOVED = 11;

    /**
     * Refuses null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public FinishedBuffer {
        Objects.requireNonNull(label, "label");
        Objects.requireNonNull(outcome, "outcome");
    }

    /** How a command buffer ended. */
    public enum Outcome {
        /** Its work is done. */
        COMPLETED,
        /** It ended with an error; its work is not done, or not all of it. */
        FAILED,
        /** The application gave it up before it was committed. */
        FORGOTTEN
    }

    /**
     * Returns whether the duration of its work is known.
     *
     * @return false if the device reported no time, or if the work is not done
     */
    public boolean isTimed() {
        return outcome == Outcome.COMPLETED && gpuStartNs != NO_TIME;
    }

    /**
     * Returns whether its work is known not to be done. A command buffer about which Metal reported nothing also counts
     * as failed, but its work may be done.
     */
    boolean isBroken() {
        return outcome == Outcome.FAILED && (errorCode != 0 || gpuEndNs != NO_TIME);
    }

    /** Returns whether it failed because there is no device left to use. */
    boolean lostDevice() {
        return outcome == Outcome.FAILED && (errorCode == ACCESS_REVOKED || errorCode == DEVICE_REMOVED);
    }

    /**
     * A sampled pass or dispatch of a command buffer that has completed. Immutable. Times are readings of the same
     * clock as those of a command buffer, converted from the device's counter.
     *
     * @param sequence the number of its command buffer in the stream
     * @param label the purpose of its command buffer; never empty
     * @param operation its name; never empty
     * @param index its place among the sampled ones of its command buffer, from 0
     * @param startNs when the device began it, ns
     * @param endNs when the device ended it, ns, {@code startNs} or more
     * @param errorNs the largest error of each of the two times, ns; the error of their difference is smaller
     */
    public record Dispatch(
            long sequence, String label, String operation, int index, long startNs, long endNs, long errorNs) {

        /**
         * Refuses null.
         *
         * @throws NullPointerException when a component is null; the message names it
         */
        public Dispatch {
            Objects.requireNonNull(label, "label");
            Objects.requireNonNull(operation, "operation");
        }
    }
}
