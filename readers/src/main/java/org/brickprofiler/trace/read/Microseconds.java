package org.brickprofiler.trace.read;

import java.math.BigDecimal;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;

/**
 * Converts times of a trace, decimal numbers of microseconds, to whole nanoseconds: exact, rounded half up below 1 ns.
 * A double would lose the nanoseconds of a calendar time. Stateless; any thread.
 */
final class Microseconds {

    /** The value of a missing time. */
    static final long ABSENT = Long.MIN_VALUE;

    /** The value of a text that is no number. */
    static final long MALFORMED = Long.MIN_VALUE + 1;

    /** The value of a number beyond the {@link Bounds}. */
    static final long OUT_OF_RANGE = Long.MIN_VALUE + 2;

    /**
     * Numbers with at most this many digits and three decimals fit 64 bits without a sign; a calendar time has this
     * many.
     */
    private static final int LONGEST_PLAIN = 16;

    private static final int LONGEST_TEXT = 100;
    private static final int NS_DIGITS = 3;
    private static final int MOST_DIGITS = 20;
    private static final BigDecimal EARLIEST = BigDecimal.valueOf(Bounds.EARLIEST_NS);
    private static final BigDecimal LATEST = BigDecimal.valueOf(Bounds.LATEST_NS);

    private Microseconds() {}

    /** Returns whether a result is a time and none of the special values. */
    static boolean isTime(long ns) {
        return ns > OUT_OF_RANGE;
    }

    /**
     * Returns the time of a number.
     *
     * @param text holds the number, as JSON writes it
     * @param from the index of its first character
     * @param length its length
     * @return ns, or one of the special values
     */
    static long toNs(char[] text, int from, int length) {
        long plain = plainNs(text, from, length);
        return plain >= 0 ? plain : anyNs(text, from, length);
    }

    /**
     * Converts digits with at most three more after the point, the usual form in traces; negative for any other text.
     */
    private static long plainNs(char[] text, int from, int length) {
        if (length == 0 || length > LONGEST_PLAIN + 1 + NS_DIGITS) {
            return -1;
        }
        long value = 0;
        int pointAt = -1;
        for (int i = 0; i < length; i++) {
            char c = text[from + i];
            if (c >= '0' && c <= '9') {
                value = value * 10 + (c - '0');
            } else if (c == '.' && pointAt < 0 && i > 0 && i < length - 1) {
                pointAt = i;
            } else {
                return -1;
            }
        }
        int whole = pointAt < 0 ? length : pointAt;
        int decimals = pointAt < 0 ? 0 : length - pointAt - 1;
        if (whole > LONGEST_PLAIN || decimals > NS_DIGITS) {
            return -1;
        }
        for (int i = decimals; i < NS_DIGITS; i++) {
            value *= 10;
        }
        return Bounds.isTime(value) ? value : -1;
    }

    private static long anyNs(char[] text, int from, int length) {
        if (length == 0 || length > LONGEST_TEXT) {
            return MALFORMED;
        }
        try {
            return toNs(new BigDecimal(text, from, length));
        } catch (NumberFormatException noNumber) {
            return MALFORMED;
        }
    }

    /**
     * Returns the time of a number.
     *
     * @param us microseconds
     * @return ns, or one of the special values
     */
    static long toNs(BigDecimal us) {
        // The exponent is checked before the digits are expanded: it can ask for a billion of them.
        long digitsBeforePoint = (long) us.precision() - us.scale();
        if (us.signum() == 0 || digitsBeforePoint < -MOST_DIGITS) {
            return 0;
        }
        if (digitsBeforePoint > MOST_DIGITS) {
            return OUT_OF_RANGE;
        }
        BigDecimal ns = us.movePointRight(NS_DIGITS).setScale(0, RoundingMode.HALF_UP);
        boolean fits = ns.compareTo(EARLIEST) >= 0 && ns.compareTo(LATEST) <= 0;
        return fits ? ns.longValueExact() : OUT_OF_RANGE;
    }

    /**
     * Returns an unrounded number of microseconds.
     *
     * @param text holds the number, as JSON writes it
     * @param from the index of its first character
     * @param length its length
     * @return the number; null if it is no time, or has more digits than a time
     */
    static @Nullable BigDecimal exact(char[] text, int from, int length) {
        if (length > LONGEST_TEXT || !isTime(toNs(text, from, length))) {
            return null;
        }
        BigDecimal us = new BigDecimal(text, from, length);
        return Bounds.isShort(us) ? us : null;
    }
}
