package org.brickprofiler.internal.base;

/** Quantiles of Student's t distribution. Stateless; any thread. */
public final class StudentT {

    private static final double[] DEGREES = {1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 7, 10, 15, 25, 60};
    private static final double[] QUANTILES = {
        12.7062, 10.2768, 8.02795, 6.01666, 4.94885, 4.30265, 3.57465, 3.18245, 2.77645, 2.57058, 2.36462, 2.22814,
        2.13145, 2.05954, 2.0003
    };

    /** The quantile of the normal distribution. */
    private static final double NORMAL = 1.95996;

    private StudentT() {}

    /**
     * Returns the 97.5 % quantile: interpolated in a table, so at most 1.3 % above the quantile, and never below it.
     *
     * @param degreesOfFreedom 1 or more; may be fractional
     * @return the quantile, which half of a 95 % interval has as its factor
     */
    public static double quantile975(double degreesOfFreedom) {
        double inverse = Math.min(1, 1 / degreesOfFreedom);
        int last = DEGREES.length - 1;
        if (inverse <= 1 / DEGREES[last]) {
            return NORMAL + (QUANTILES[last] - NORMAL) * inverse * DEGREES[last];
        }
        int above = 1;
        while (1 / DEGREES[above] > inverse) {
            above++;
        }
        double share = (inverse - 1 / DEGREES[above]) / (1 / DEGREES[above - 1] - 1 / DEGREES[above]);
        return QUANTILES[above] + (QUANTILES[above - 1] - QUANTILES[above]) * share;
    }
}
