package org.brickprofiler.device.metal;

/**
 * Who takes times from a {@link MetalStream} as labels and nanoseconds. The shapes are those of the entry points of
 * {@code KernelTimings}, which this package does not know; {@code B} is its kind of backend.
 */
public final class MetalTimings {

    private MetalTimings() {}

    /**
     * Takes command buffers.
     *
     * @param <B> how backends are named
     */
    @FunctionalInterface
    public interface Buffers<B> {
        /**
         * Takes one command buffer.
         *
         * @param label what it is for; never empty
         * @param backend where it ran
         * @param startNs when the device began it, ns of the host's clock
         * @param endNs when the device ended it, ns, {@code startNs} or more
         */
        void record(String label, B backend, long startNs, long endNs);
    }

    /**
     * Takes dispatches.
     *
     * @param <B> how backends are named
     */
    @FunctionalInterface
    public interface Dispatches<B> {
        /**
         * Takes one dispatch.
         *
         * @param label what its command buffer is for; never empty
         * @param backend where it ran
         * @param operation what it is; never empty
         * @param index its place in the command buffer, from 0
         * @param startNs when the device began it, ns of the host's clock
         * @param endNs when the device ended it, ns, {@code startNs} or more
         */
        void record(String label, B backend, String operation, int index, long startNs, long endNs);
    }
}
