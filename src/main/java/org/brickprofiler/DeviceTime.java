package org.brickprofiler;

import static org.brickprofiler.internal.base.Sums.limited;

import java.util.Objects;
import java.util.OptionalDouble;
import org.brickprofiler.internal.base.StudentT;
import org.brickprofiler.internal.device.Estimate;

/**
 * Figures of a brick's device samples other than the device's times themselves, and the number of its samples whose
 * time is unknown. Immutable.
 *
 * @param measured number of samples that a device timed
 * @param launches number of these samples whose launch by the host was timed, too:
 *     {@link BrickProfilerBuilder#launchTimes}
 * @param launchNs the host's time from start to stop of these launches, ns
 * @param minLaunchNs the shortest of these, ns; 0 without any, and if a window does not have both extremes
 * @param maxLaunchNs the longest of these, ns; 0 likewise
 * @param unresolved samples whose time is unknown, since a device did not report it or a timer of the host ran longer
 *     than it can hold; they are in no sum
 * @param withoutStart number of unresolved samples that are deferred measurements with an unknown start:
 *     {@code elapsedNs()} of the same stream did not return it, no mark was available for it, or it is too old
 * @param unmarked number of further samples on a device that had no marks, see
 *     {@link BrickProfilerBuilder#deviceSampling}: the brick's total contains an estimate of their time
 * @param standardErrorNs the standard error of the brick's total, ns; 0 without samples of this kind, and if it is not
 *     known
 * @param degreesOfFreedom the degrees of freedom of the standard error, 1 or more; 0 if there is none
 * @param openErrorNs the part of the standard error that stems from the samples since the latest complete block of
 *     samples, ns; the standard error is the root of the sum of the squares of its parts
 * @param weightProducts the sum of w (w - 1) over the samples with marks, of which each stands for w samples, itself
 *     included: the error of percentiles follows from it. 0 if all samples have marks, and if it is not known
 * @param marks what marks add to the time of the samples
 */
public record DeviceTime(
        long measured,
        long launches,
        long launchNs,
        long minLaunchNs,
        long maxLaunchNs,
        long unresolved,
        long withoutStart,
        long unmarked,
        double standardErrorNs,
        double degreesOfFreedom,
        double openErrorNs,
        double weightProducts,
        MarkTime marks) {

    /** The value of a brick that only the host timed. */
    public static final DeviceTime NONE = new DeviceTime(0, 0, 0, 0, 0, 0);

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when one is negative, or more samples have no start than are unresolved
     */
    public DeviceTime {
        Objects.requireNonNull(marks, "marks");
        if (measured < 0 || launches < 0 || launchNs < 0 || minLaunchNs < 0 || maxLaunchNs < 0 || unresolved < 0) {
            throw new IllegalArgumentException(
                    "a device's samples " + measured + ", launches " + launches + " of " + launchNs + " (" + minLaunchNs
                            + " to " + maxLaunchNs + ") ns, unresolved " + unresolved + ": none may be negative");
        }
        if (withoutStart < 0 || withoutStart > unresolved) {
            throw new IllegalArgumentException(
                    "a device's samples without a start " + withoutStart + ": 0 to the " + unresolved + " unresolved");
        }
        if (unmarked < 0
                || !(standardErrorNs >= 0)
                || !(degreesOfFreedom >= 0)
                || !(openErrorNs >= 0)
                || !(weightProducts >= 0)) {
            throw new IllegalArgumentException("a device's samples without marks " + unmarked + ", standard error "
                    + standardErrorNs + " ns with " + degreesOfFreedom + " degrees of freedom, " + openErrorNs
                    + " ns of it open, products of weights " + weightProducts + ": none may be negative");
        }
        if (unmarked == 0 && (standardErrorNs > 0 || degreesOfFreedom > 0)) {
            throw new IllegalArgumentException("a standard error of " + standardErrorNs + " ns with " + degreesOfFreedom
                    + " degrees of freedom, although no sample lacks marks: the total is exact");
        }
    }

    /**
     * The device time that marks add to the recorded durations: those around a brick, and those inside it.
     *
     * @param samples the number of samples for which it is known
     * @param ns its sum over these samples, ns
     * @param errorNs the uncertainty of the sum, ns
     */
    public record MarkTime(long samples, long ns, long errorNs) {

        /** Nothing is known. */
        public static final MarkTime NONE = new MarkTime(0, 0, 0);

        /**
         * Checks the values.
         *
         * @throws IllegalArgumentException when one is negative
         */
        public MarkTime {
            if (samples < 0 || ns < 0 || errorNs < 0) {
                throw new IllegalArgumentException(
                        "marks add " + ns + " ns, +-" + errorNs + ", to " + samples + " samples: none may be negative");
            }
        }

        /** Returns the sum of both. */
        MarkTime plus(MarkTime other) {
            return new MarkTime(
                    limited(samples, other.samples), limited(ns, other.ns), limited(errorNs, other.errorNs));
        }
    }

    /**
     * Creates a value in which each sample of a device has marks.
     *
     * @param measured number of samples that a device timed
     * @param launches number of these samples whose launch by the host was timed, too
     * @param launchNs the host's time from start to stop of these launches, ns
     * @param minLaunchNs the shortest of these, ns; 0 without any
     * @param maxLaunchNs the longest of these, ns
     * @param unresolved samples whose time is unknown
     * @param withoutStart number of unresolved samples that are deferred measurements with an unknown start
     * @throws IllegalArgumentException when one is negative, or more samples have no start than are unresolved
     */
    public DeviceTime(
            long measured,
            long launches,
            long launchNs,
            long minLaunchNs,
            long maxLaunchNs,
            long unresolved,
            long withoutStart) {
        this(
                measured,
                launches,
                launchNs,
                minLaunchNs,
                maxLaunchNs,
                unresolved,
                withoutStart,
                0,
                0,
                0,
                0,
                0,
                MarkTime.NONE);
    }

    /**
     * Creates a value in which every unresolved sample has a start.
     *
     * @param measured number of samples that a device timed
     * @param launches number of these samples whose launch by the host was timed, too
     * @param launchNs the host's time from start to stop of these launches, ns
     * @param minLaunchNs the shortest of these, ns; 0 without any
     * @param maxLaunchNs the longest of these, ns
     * @param unresolved samples whose time is unknown
     * @throws IllegalArgumentException when one is negative
     */
    public DeviceTime(
            long measured, long launches, long launchNs, long minLaunchNs, long maxLaunchNs, long unresolved) {
        this(measured, launches, launchNs, minLaunchNs, maxLaunchNs, unresolved, 0);
    }

    /**
     * Returns the mean time of the host from start to stop.
     *
     * @return µs, 0 if no launch was timed
     */
    public double avgLaunchUs() {
        return launches == 0 ? 0.0 : launchNs / 1e3 / launches;
    }

    /**
     * Returns whether the brick's total contains an estimate.
     *
     * @return true if samples had no marks
     */
    public boolean isEstimated() {
        return unmarked > 0;
    }

    /**
     * Returns half of the 95 % confidence interval of the brick's total.
     *
     * @return ns; 0 for an exact total, empty if the standard error is not known
     */
    public OptionalDouble halfIntervalNs() {
        return halfIntervalNs(unmarked, standardErrorNs, degreesOfFreedom);
    }

    /** Returns half of the 95 % confidence interval of a total with some samples without marks. */
    static OptionalDouble halfIntervalNs(long unmarked, double standardErrorNs, double degreesOfFreedom) {
        if (unmarked == 0) {
            return OptionalDouble.of(0);
        }
        return degreesOfFreedom == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(StudentT.quantile975(degreesOfFreedom) * standardErrorNs);
    }

    private boolean hasExtremes() {
        return maxLaunchNs > 0 || launchNs == 0;
    }

    /** Returns the sum of both. Commutative and associative. */
    DeviceTime plus(DeviceTime other) {
        boolean one = launches == 0 || other.launches == 0;
        boolean areKnown = hasExtremes() && other.hasExtremes();
        double degrees = Estimate.degreesOfSum(
                unmarked,
                standardErrorNs * standardErrorNs,
                degreesOfFreedom,
                other.unmarked,
                other.standardErrorNs * other.standardErrorNs,
                other.degreesOfFreedom);
        return new DeviceTime(
                limited(measured, other.measured),
                limited(launches, other.launches),
                limited(launchNs, other.launchNs),
                one ? minLaunchNs + other.minLaunchNs : areKnown ? Math.min(minLaunchNs, other.minLaunchNs) : 0,
                areKnown ? Math.max(maxLaunchNs, other.maxLaunchNs) : 0,
                limited(unresolved, other.unresolved),
                limited(withoutStart, other.withoutStart),
                limited(unmarked, other.unmarked),
                degrees == 0 ? 0 : Math.hypot(standardErrorNs, other.standardErrorNs),
                degrees,
                Math.hypot(openErrorNs, other.openErrorNs),
                Estimate.productsOfSum(unmarked, weightProducts, other.unmarked, other.weightProducts),
                marks.plus(other.marks));
    }

    /** The clock that timed the samples of a brick. */
    public enum Source {
        /** The host's: the time between start and stop as the host saw it. */
        HOST,
        /** A device's: the time that the work took there. */
        DEVICE,
        /** Each clock timed some of the samples, for example because the mode changed or runs were merged. */
        MIXED
    }
}
