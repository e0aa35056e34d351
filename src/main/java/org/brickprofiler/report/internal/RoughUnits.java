package org.brickprofiler.report.internal;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Numbers in sentences, with two or three digits; {@link HumanUnits} has those of tables. Stateless; any thread. */
public final class RoughUnits {

    /** From this value on, a number has all digits before the point and none behind it. */
    private static final int SIGNIFICANT = 10;

    private static final double NEARLY_ALL = 0.995;
    private static final double PER_UNIT = 1_000;
    private static final int DIGITS = 3;

    private RoughUnits() {}

    /**
     * Returns a share.
     *
     * @param share the share, 0 to 1
     * @return for example {@code "57 %"}; never {@code "100 %"} for less than all
     */
    public static String percent(double share) {
        boolean isNearlyAll = share >= NEARLY_ALL && share < 1;
        return (isNearlyAll ? rounded(Math.min(99.9, 100 * share), 1) : number(100 * share)) + " %";
    }

    /**
     * Returns a duration, as {@link #duration(double)}.
     *
     * @param ns the duration, ns, 0 or more
     * @return for example {@code "12.3 ms"}
     */
    public static String duration(long ns) {
        return duration((double) ns);
    }

    /**
     * Returns a duration with at most three digits that are not zeros at the end.
     *
     * @param ns the duration, ns, 0 or more
     * @return for example {@code "12.3 ms"}
     */
    public static String duration(double ns) {
        String[] units = {"ns", "us", "ms", "s"};
        double value = ns;
        int unit = 0;
        while (value >= PER_UNIT && unit < units.length - 1) {
            value /= PER_UNIT;
            unit++;
        }
        return BigDecimal.valueOf(value)
                        .round(new MathContext(DIGITS))
                        .stripTrailingZeros()
                        .toPlainString()
                + " " + units[unit];
    }

    /**
     * Returns a number with two digits, or with all digits before the point.
     *
     * @param value the number, 0 or more
     * @return for example {@code "4.7"} or {@code "191"}
     */
    public static String number(double value) {
        return rounded(value, value < SIGNIFICANT ? 1 : 0);
    }

    private static String rounded(double value, int decimals) {
        return Double.isFinite(value)
                ? BigDecimal.valueOf(value)
                        .setScale(decimals, RoundingMode.HALF_UP)
                        .toPlainString()
                : Double.toString(value);
    }
}
