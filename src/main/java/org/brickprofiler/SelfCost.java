package org.brickprofiler;

import java.util.Arrays;

/**
 * What one start and stop cost in this virtual machine, measured on a profiler of its own at first use. Any thread.
 *
 * <p>The figure is the median over batches of a tight loop with both clock reads in it, so it is what recording takes
 * from the application when its code is compiled and its table is in the cache; real code pays a little more.
 */
final class SelfCost {

    private static final int BATCHES = 31;
    private static final int WARM_UP_BATCHES = 20;
    private static final int SAMPLES_A_BATCH = 1_000;

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
        double[] perSample = new double[BATCHES];
        for (int batch = -WARM_UP_BATCHES; batch < BATCHES; batch++) {
            long before = System.nanoTime();
            for (int i = 0; i < SAMPLES_A_BATCH; i++) {
                scratch.stopBrick(scratch.startBrick(BrickId.RMS_NORM), 1);
            }
            if (batch >= 0) {
                perSample[batch] = (double) (System.nanoTime() - before) / SAMPLES_A_BATCH;
            }
        }
        Arrays.sort(perSample);
        return perSample[BATCHES / 2];
    }
}
