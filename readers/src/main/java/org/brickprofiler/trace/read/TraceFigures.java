package org.brickprofiler.trace.read;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;

/** Formats numbers and names for people, in printable ASCII. Stateless; any thread. */
final class TraceFigures {

    private static final MathContext FOUR_DIGITS = new MathContext(4, RoundingMode.HALF_UP);
    private static final BigDecimal THOUSAND = BigDecimal.valueOf(1_000);
    private static final List<String> UNITS = List.of("ns", "us", "ms", "s");
    static final int LONGEST_NAME = 60;
    private static final double SMALLEST_PERCENT = 0.05;

    private TraceFigures() {}

    /** Returns a duration of 0 ns or more with four significant digits, for example {@code "12.34 ms"}. */
    static String duration(long ns) {
        BigDecimal rounded = BigDecimal.valueOf(ns).round(FOUR_DIGITS);
        int unit = 0;
        while (unit < UNITS.size() - 1 && rounded.compareTo(THOUSAND) >= 0) {
            rounded = rounded.movePointLeft(3);
            unit++;
        }
        int digitsBeforePoint = Math.max(1, rounded.precision() - rounded.scale());
        int decimals = unit == 0 ? 0 : Math.max(0, FOUR_DIGITS.getPrecision() - digitsBeforePoint);
        return String.format(Locale.ROOT, "%,." + decimals + "f %s", rounded, UNITS.get(unit));
    }

    /** Returns a count with all its digits, for example {@code "1,234"}. */
    static String count(long count) {
        return String.format(Locale.ROOT, "%,d", count);
    }

    /** Returns a share of a base, for example {@code "42.1 %"}; 0 if the base is 0. */
    static String percent(long part, long base) {
        double percent = base == 0 ? 0.0 : 100.0 * part / base;
        boolean hidden = percent > 0 && percent < SMALLEST_PERCENT;
        return hidden ? "<0.1 %" : String.format(Locale.ROOT, "%.1f %%", percent);
    }

    /**
     * Returns a name in one line: unprintable characters become question marks, and a long name is cut in the middle.
     */
    static String plain(String name) {
        String shown = name.length() <= LONGEST_NAME
                ? name
                : name.substring(0, LONGEST_NAME / 2) + "..." + name.substring(name.length() - LONGEST_NAME / 2 + 3);
        return shown.replaceAll("[^ -~]", "?");
    }
}
