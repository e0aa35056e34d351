package org.brickprofiler.report.internal;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import org.brickprofiler.stats.LatencyDistribution;

/** Numbers as people read them: four significant digits, and a unit that fits. Stateless; any thread. */
public final class HumanUnits {

    private static final int DIGITS = 4;
    private static final MathContext ROUNDED = new MathContext(DIGITS, RoundingMode.HALF_UP);
    private static final BigDecimal THOUSAND = BigDecimal.valueOf(1_000);

    private static final List<String> TIME_UNITS = List.of("ns", "us", "ms", "s");
    private static final List<String> PREFIXES = List.of("", "k", "M", "G", "T", "P");

    /** The smallest share that is not rounded to 0.0. */
    private static final double SMALLEST_PERCENT = 0.05;

    /** In place of a number where there is none. */
    public static final String NONE = "-";

    /** The header of half of the 95 % interval of an estimate, percent of the estimate. */
    public static final String ERROR = "+-%";

    /** In place of the interval of an estimate of which too few samples have marks. */
    public static final String UNKNOWN_ERROR = "?";

    /** Precedes a number that is an estimate. */
    private static final String ESTIMATE = "~";

    /** With fewer degrees of freedom than this, an interval says little. */
    private static final double FEW_DEGREES = 3;

    private HumanUnits() {}

    /** A number and the unit it is given in. */
    private record Scaled(String number, String unit) {
        static Scaled of(BigDecimal value, List<String> units) {
            // Rounded before the unit is chosen: 999.96 us are 1.000 ms.
            BigDecimal rounded = value.round(ROUNDED);
            boolean whole = rounded.stripTrailingZeros().scale() <= 0;
            int unit = 0;
            while (unit < units.size() - 1 && rounded.compareTo(THOUSAND) >= 0) {
                rounded = rounded.movePointLeft(3);
                unit++;
            }
            return new Scaled(unit == 0 && whole ? plain(rounded, 0) : plain(rounded), units.get(unit));
        }
    }

    /**
     * Returns a duration.
     *
     * @param ns the duration, ns, 0 or more
     * @return for example {@code "12.34 ms"}
     */
    public static String duration(long ns) {
        return duration(BigDecimal.valueOf(ns));
    }

    /**
     * Returns a mean duration.
     *
     * @param ns the duration, ns, 0 or more
     * @return for example {@code "12.34 ms"}
     */
    public static String duration(double ns) {
        return duration(BigDecimal.valueOf(ns));
    }

    private static String duration(BigDecimal ns) {
        Scaled scaled = Scaled.of(ns, TIME_UNITS);
        return scaled.number() + " " + scaled.unit();
    }

    /**
     * Returns a duration for a column that is aligned to the right: the unit is two characters wide, so that numbers
     * end at the same place.
     *
     * @param ns the duration, ns, 0 or more
     * @return for example {@code "12.34 s"}
     */
    public static String durationCell(long ns) {
        return durationCell(BigDecimal.valueOf(ns));
    }

    /**
     * Returns a mean duration, as {@link #durationCell(long)}.
     *
     * @param ns the duration, ns, 0 or more
     * @return for example {@code "12.34 s"}
     */
    public static String durationCell(double ns) {
        return durationCell(BigDecimal.valueOf(ns));
    }

    /**
     * Returns a percentile of durations, as {@link #durationCell(long)}.
     *
     * @param times the durations
     * @param percent the share of samples that are not longer, 0 to 100
     * @return for example {@code "12.34 s"}; {@code ">= 1,095 s"} if it may be any longer duration; {@code "-"} for
     *     none
     */
    public static String percentileCell(LatencyDistribution times, double percent) {
        long ns = times.percentileNs(percent);
        return times.count() == 0 ? NONE : (ns >= LatencyDistribution.LONGEST_NS ? ">= " : "") + durationCell(ns);
    }

    private static String durationCell(BigDecimal ns) {
        Scaled scaled = Scaled.of(ns, TIME_UNITS);
        return String.format(Locale.ROOT, "%s %2s", scaled.number(), scaled.unit());
    }

    /**
     * Returns a rate for a column that is aligned to the right: the prefix is one character wide.
     *
     * @param rate the rate, 0 or more
     * @return for example {@code "12.34 M"}, or {@code "12.34 "} without a prefix
     */
    public static String rateCell(double rate) {
        Scaled scaled = Scaled.of(BigDecimal.valueOf(rate), PREFIXES);
        return String.format(Locale.ROOT, "%s %1s", scaled.number(), scaled.unit());
    }

    /**
     * Returns a number without a unit.
     *
     * @param value the number, 0 or more
     * @return four significant digits, at most three of them after the point
     */
    public static String number(double value) {
        return plain(BigDecimal.valueOf(value).round(ROUNDED));
    }

    /**
     * Returns a count.
     *
     * @param count the count
     * @return all its digits, for example {@code "1,234,567"}
     */
    public static String count(long count) {
        return String.format(Locale.ROOT, "%,d", count);
    }

    /**
     * Returns a share, without the percent sign.
     *
     * @param percent the share, 0 or more
     * @return for example {@code "42.1"}; {@code "<0.1"} for a positive share that would be rounded to 0
     */
    public static String percent(double percent) {
        return percent > 0 && percent < SMALLEST_PERCENT ? "<0.1" : String.format(Locale.ROOT, "%,.1f", percent);
    }

    /**
     * Returns the text of a number that may be an estimate.
     *
     * @param isEstimated whether it is one
     * @param cell the number; {@code "-"} for none
     * @return the text, which begins with {@code "~"} if it is an estimate
     */
    public static String estimate(boolean isEstimated, String cell) {
        return isEstimated && !cell.equals(NONE) ? ESTIMATE + cell : cell;
    }

    /**
     * Returns half of the 95 % interval of an estimated total, in percent of it.
     *
     * @param halfNs half of the interval, ns; empty if it is not known
     * @param degreesOfFreedom of the error of the total
     * @param totalNs the total, ns
     * @return a number, followed by {@code "few"} if the interval is one of hardly enough marks; {@code "?"} if it is
     *     not known
     */
    public static String errorCell(OptionalDouble halfNs, double degreesOfFreedom, long totalNs) {
        return halfNs.isEmpty()
                ? UNKNOWN_ERROR
                : number(totalNs == 0 ? 0 : 100 * halfNs.getAsDouble() / totalNs)
                        + (degreesOfFreedom < FEW_DEGREES ? " few" : "");
    }

    private static String plain(BigDecimal rounded) {
        int digitsBeforePoint = Math.max(1, rounded.precision() - rounded.scale());
        return plain(rounded, Math.max(0, DIGITS - digitsBeforePoint));
    }

    private static String plain(BigDecimal rounded, int decimals) {
        return String.format(Locale.ROOT, "%,." + decimals + "f", rounded);
    }
}
