package org.brickprofiler.trace;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.Objects;
import org.brickprofiler.internal.base.StudentT;

/**
 * How precisely samples state shares. The samples of one wait depend on each other, since all of them are in the same
 * stack: they are a batch. Immutable.
 *
 * @param samples the number of samples
 * @param independent the number of independent samples that state shares as precisely, at most the number of samples:
 *     the effective sample size of Kish (1965), {@code (Σw)² / Σw²} over batches of {@code w} samples
 * @param degrees the degrees of freedom of that precision, at most the number of independent samples: those of
 *     Satterthwaite (1946), {@code (Σw²)² / Σw⁴}. They are few if a few batches have most samples
 */
public record SamplePrecision(long samples, double independent, double degrees) {

    /** That of no samples. */
    public static final SamplePrecision NONE = new SamplePrecision(0, 0, 0);

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when a number is negative or larger than the one before it, or 0 though there
     *     are samples
     */
    public SamplePrecision {
        requireNotNegative("samples", samples);
        boolean isPossible = samples == 0
                ? independent == 0 && degrees == 0
                : degrees > 0 && degrees <= independent && independent <= samples;
        if (!isPossible) {
            throw new IllegalArgumentException(
                    independent + " independent samples of " + samples + " with " + degrees + " degrees of freedom");
        }
    }

    /**
     * Returns that of independent samples.
     *
     * @param samples their number
     * @return the precision
     * @throws IllegalArgumentException when the number is negative
     */
    public static SamplePrecision ofIndependent(long samples) {
        return new SamplePrecision(samples, samples, samples);
    }

    /** Returns that of batches, by the sums of the second and the fourth powers of their sizes. */
    static SamplePrecision ofBatches(long samples, double squares, double fourths) {
        if (samples == 0) {
            return NONE;
        }
        double independent = atMost(samples, (double) samples * samples / squares);
        return new SamplePrecision(samples, independent, atMost(independent, squares * squares / fourths));
    }

    /** Returns a number of samples, 1 or more, despite the rounding of sums. */
    private static double atMost(double most, double number) {
        return number >= 1 ? Math.min(most, number) : 1;
    }

    /**
     * Returns that of these and other samples.
     *
     * @param other the precision of samples that do not depend on these
     * @return the precision of all
     */
    public SamplePrecision plus(SamplePrecision other) {
        Objects.requireNonNull(other, "other");
        return ofBatches(samples + other.samples, squares() + other.squares(), fourths() + other.fourths());
    }

    private double squares() {
        return samples == 0 ? 0 : (double) samples * samples / independent;
    }

    private double fourths() {
        return samples == 0 ? 0 : squares() * squares() / degrees;
    }

    /**
     * Returns the number of samples in the formula of an interval (Korn and Graubard, 1998): the independent ones,
     * fewer the less sure their number is.
     */
    double inIntervals() {
        double factor = StudentT.quantile975(samples) / StudentT.quantile975(degrees);
        return independent * factor * factor;
    }
}
