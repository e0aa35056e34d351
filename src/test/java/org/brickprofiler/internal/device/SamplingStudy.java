package org.brickprofiler.internal.device;

import java.util.Locale;
import java.util.SplittableRandom;
import org.brickprofiler.DeviceTime;

/**
 * Whether the true total of a row lies within its 95 % interval, for rows of every kind, lengths and samplings: pure
 * computation, no profiler. A cell fails only if the 99.9 % interval of its coverage lies below 92 %. Rows whose
 * outliers are more than the design covers are printed, and do not fail.
 *
 * <p>Arguments: the number of programs of a cell, 400 unless given, and a seed.
 */
public final class SamplingStudy {

    private static final int[] SAMPLINGS = {2, 4, 8, 16, 32, 64};
    private static final int[] LENGTHS = {100, 1_000, 10_000};
    private static final double LEAST = 0.92;
    private static final double QUANTILE_999 = 3.2905;

    /** How the durations of a row follow each other. */
    private enum Row {
        STEADY(28, true),
        GROWING(28, true),
        ALTERNATING(28, true),
        COMES_AND_GOES(28, true),
        ONCE_A_PASS(1, true),
        PREFILL(28, true),
        SLOW_FIRST(28, true),
        OUTLIERS(28, false),
        OUTLIERS_ONCE_A_PASS(1, false);

        private final int ofPass;
        private final boolean isCovered;

        Row(int ofPass, boolean isCovered) {
            this.ofPass = ofPass;
            this.isCovered = isCovered;
        }

        long ns(int i, int count, SplittableRandom random) {
            double noise = 0.9 + 0.2 * random.nextDouble();
            return Math.round(10_000 * noise * factor(i, count, random));
        }

        private double factor(int i, int count, SplittableRandom random) {
            return switch (this) {
                case STEADY, ONCE_A_PASS -> 1;
                case GROWING -> 1 + 3.0 * i / count;
                case ALTERNATING -> i % 2 == 0 ? 1 : 2;
                case COMES_AND_GOES -> i / (count / 8 + 1) % 2 == 0 ? 1 : 1.5;
                case PREFILL -> i / ofPass % 50 == 7 ? 3 : 1;
                case SLOW_FIRST -> i == 0 ? 1_000 : 1;
                case OUTLIERS, OUTLIERS_ONCE_A_PASS -> random.nextDouble() < 0.01 ? 5 : 1;
            };
        }
    }

    private int missed;

    private SamplingStudy() {}

    /** Prints the coverage of each cell; fails if a cell is below what the design promises. */
    public static void main(String... args) {
        int programs = args.length > 0 ? Integer.parseInt(args[0]) : 400;
        long seed = args.length > 1 ? Long.parseLong(args[1]) : 1;
        int missed = new SamplingStudy().run(programs, seed);
        if (missed > 0) {
            throw new AssertionError(missed + " cells are below " + LEAST);
        }
    }

    private int run(int programs, long seed) {
        System.out.printf(
                Locale.ROOT,
                "%-22s %6s %4s %9s %9s %9s %9s%n",
                "row",
                "passes",
                "N",
                "covered",
                "half %",
                "bias %",
                "window");
        for (Row row : Row.values()) {
            for (int passes : LENGTHS) {
                for (int every : SAMPLINGS) {
                    cell(row, passes, every, Math.max(60, programs * 100 / passes), seed);
                }
            }
        }
        return missed;
    }

    private void cell(Row row, int passes, int every, int programs, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int covered = 0;
        int coveredWindows = 0;
        int windows = 0;
        double halves = 0;
        double bias = 0;
        for (int program = 0; program < programs; program++) {
            int count = passes * row.ofPass;
            DrawnBlocks blocks = new DrawnBlocks(every);
            long drawSeed = random.nextLong();
            RowEstimate estimate = new RowEstimate();
            double truth = 0;
            double before = 0;
            Estimate earlier = Estimate.NONE;
            for (int i = 0; i < count; i++) {
                long ns = row.ns(i, count, random);
                truth += ns;
                if (blocks.next(drawSeed, i) == i) {
                    estimate.sample(ns, blocks.size(i));
                } else {
                    estimate.stopped(1);
                }
                if (i == count / 2) {
                    earlier = Estimate.of(estimate, 0);
                    before = truth;
                }
            }
            Estimate later = Estimate.of(estimate, 0);
            covered += covers(later, truth) ? 1 : 0;
            halves += 100 * half(later) / truth;
            bias += 100 * (later.markedNs() + later.unmarkedNs() - truth) / truth;
            Estimate window = Estimate.between(earlier, later);
            if (window.degreesOfFreedom() > 0) {
                windows++;
                coveredWindows += covers(window, truth - before) ? 1 : 0;
            }
        }
        double part = (double) covered / programs;
        boolean isMissed = row.isCovered && isBelow(covered, programs);
        boolean isWindowMissed = row.isCovered && windows > 0 && isBelow(coveredWindows, windows);
        missed += (isMissed ? 1 : 0) + (isWindowMissed ? 1 : 0);
        System.out.printf(
                Locale.ROOT,
                "%-22s %6d %4d %8.1f%s %9.2f %9.3f %8.1f%s%n",
                row,
                passes,
                every,
                100 * part,
                isMissed ? "!" : " ",
                halves / programs,
                bias / programs,
                windows == 0 ? Double.NaN : 100.0 * coveredWindows / windows,
                isWindowMissed ? "!" : " ");
    }

    private static double half(Estimate estimate) {
        return new DeviceTime(
                        0,
                        0,
                        0,
                        0,
                        0,
                        0,
                        0,
                        estimate.unmarked(),
                        Math.sqrt(estimate.variance()),
                        estimate.degreesOfFreedom(),
                        0,
                        0,
                        DeviceTime.MarkTime.NONE)
                .halfIntervalNs()
                .orElse(Double.NaN);
    }

    static boolean covers(Estimate estimate, double truthNs) {
        // Half a nanosecond for the rounding of each of the two parts.
        return Math.abs(estimate.markedNs() + estimate.unmarkedNs() - truthNs) <= half(estimate) + 1;
    }

    /** Returns whether Wilson's 99.9 % interval of a share lies below the least coverage. */
    static boolean isBelow(int covered, int of) {
        double z2 = QUANTILE_999 * QUANTILE_999;
        double part = (double) covered / of;
        double middle = part + z2 / (2 * of);
        double half = QUANTILE_999 * Math.sqrt(part * (1 - part) / of + z2 / (4.0 * of * of));
        return (middle + half) / (1 + z2 / of) < LEAST;
    }
}
