package org.brickprofiler;

/**
 * What one start and stop cost in this virtual machine, measured on a profiler of its own at first use. Any thread.
 *
 * <p>The figure is the fastest batch of a tight loop with both clock reads in it: what recording takes when its code is
 * compiled, its table is in the cache and no other process has the processor. Batches are run until none has been
 * faster for a while, so that the compiler has done its work, and for {@link #LONGEST_NS} at most.
 */
final class SelfCost {

    private static final int SAMPLES_A_BATCH = 500;
    private static final int BATCHES_WITHOUT_GAIN = 200;
    private static final long LONGEST_NS = 100_000_000;

    private SelfCost() {}

    private static final class Plain {
        static final double NS = measure(false);
    }

    private static final class WithPercentiles {
        static final double NS = measure(true);
    }

    static double perSampleNs(boolean percentiles) {
        return percentiles ? WithPercentiles.NS : Plain.NS;
    }

    private static double measure(boolean percentiles) {
        BrickProfiler scratch = BrickProfiler.builder().percentiles(percentiles).build();
        scratch.enable();
        long began = System.nanoTime();
        long fastestNs = Long.MAX_VALUE;
        int withoutGain = 0;
        while (withoutGain < BATCHES_WITHOUT_GAIN && System.nanoTime() - began < LONGEST_NS) {
            long batchNs = batch(scratch);
            withoutGain = batchNs < fastestNs ? 0 : withoutGain + 1;
            fastestNs = Math.min(fastestNs, batchNs);
        }
        return (double) fastestNs / SAMPLES_A_BATCH;
    }

    private static long batch(BrickProfiler scratch) {
        long before = System.nanoTime();
        for (int i = 0; i < SAMPLES_A_BATCH; i++) {
            scratch.stopBrick(scratch.startBrick(BrickId.RMS_NORM), 1);
        }
        return System.nanoTime() - before;
    }
}
