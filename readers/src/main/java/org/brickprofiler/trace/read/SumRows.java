package org.brickprofiler.trace.read;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.trace.read.Omission.Reason;
import org.jspecify.annotations.Nullable;

/**
 * Passes the rows of a table of sums to a collector, as events. A row states the number of calls of a kernel and the
 * sum of their times, but not when any of them began. Tables state most numbers twice; a row that contradicts itself is
 * damage. One thread.
 */
final class SumRows {

    /** The category of kernels, as rules see it. */
    static final String KERNEL = "kernel";

    /** The category of copies and fills. */
    static final String COPY = "gpu_memcpy";

    private static final String STEP = "user_annotation";
    private static final int LONGEST_NUMBER = 40;
    private static final int MOST_DIGITS = 20;

    /** The decimal exponents of the ns in a second, in a millisecond and in a microsecond. */
    private static final int S_DIGITS = 9;

    private static final int MS_DIGITS = 6;
    private static final int US_DIGITS = 3;

    final EventCollector collector;
    private final TraceEvent event = new TraceEvent();

    /**
     * A row. Immutable.
     *
     * @param name the kernel
     * @param category the category that rules see
     * @param calls the number of executions, 1 or more
     * @param totalNs the sum of their times, ns
     * @param shortestNs the shortest of them, ns; {@link TraceEvent#NONE} if it is not stated
     * @param longestNs the longest of them, ns; {@link TraceEvent#NONE} if it is not stated
     * @param bytes the bytes that all of them moved; {@link TraceEvent#NONE} for a kernel
     */
    record Row(String name, String category, long calls, long totalNs, long shortestNs, long longestNs, long bytes) {

        /** Creates a row for which the table states the sum alone. */
        Row(String name, String category, long calls, long totalNs) {
            this(
                    name,
                    category,
                    calls,
                    totalNs,
                    calls == 1 ? totalNs : TraceEvent.NONE,
                    calls == 1 ? totalNs : TraceEvent.NONE,
                    TraceEvent.NONE);
        }
    }

    /**
     * Creates the receiver of a table's rows.
     *
     * @param collector receives the events
     * @param writer the program that wrote the table, in messages
     * @throws TraceFormatException when the view needs times
     */
    SumRows(EventCollector collector, String writer) throws TraceFormatException {
        this.collector = collector;
        collector.withoutTimes(writer);
    }

    /**
     * Passes a row to the collector.
     *
     * @throws TraceFormatException when a limit is reached
     * @throws IOException when the temporary file cannot be written
     */
    void add(Row row, long offset) throws IOException {
        event.clear(offset);
        event.phase = 'X';
        event.name = TraceNames.bounded(row.name());
        event.category = row.category();
        event.startNs = 0;
        event.elapsedNs = row.totalNs();
        event.bytes = row.bytes();
        event.sum = new TraceEvent.Sum(row.calls(), row.shortestNs(), row.longestNs());
        try {
            collector.accept(event);
        } catch (TraceRule.TooCostly fault) {
            throw new TraceFormatException(collector.source, offset, String.valueOf(fault.getMessage()), fault);
        }
    }

    /**
     * Begins the step that the next rows belong to.
     *
     * @param number its number, from 0
     * @throws TraceFormatException when a limit is reached
     * @throws IOException when the temporary file cannot be written
     */
    void beginStep(long number, long offset) throws IOException {
        event.clear(offset);
        event.phase = 'X';
        event.name = "ProfilerStep#" + number;
        event.category = STEP;
        event.startNs = 0;
        event.elapsedNs = 0;
        collector.accept(event);
    }

    /** Records a fault if the line that was just read is the last one and was cut off. */
    void checkEnd(TextLines lines) {
        if (!lines.isEnded()) {
            collector.fault(Reason.OPEN_LINE, 1, lines.endOffset());
        }
    }

    /** Returns the exception for a damaged row. */
    TraceFormatException damage(long offset, String fault) {
        return TraceFormatException.damage(collector.source, offset, fault);
    }

    // ---- numbers ----

    /**
     * Returns a decimal number with a point, which some locales write with a comma. For texts that use no comma between
     * numbers or digits.
     */
    static String withPoint(String number) {
        boolean isDecimal = number.indexOf('.') < 0 && number.indexOf(',') == number.lastIndexOf(',');
        return isDecimal ? number.replace(',', '.') : number;
    }

    /** Returns a decimal number of 0 or more; null if the text is none. */
    static @Nullable BigDecimal number(String text) {
        if (text.isEmpty() || text.length() > LONGEST_NUMBER) {
            return null;
        }
        try {
            BigDecimal number = new BigDecimal(text);
            boolean isInRange = number.signum() == 0
                    || (number.signum() > 0 && Math.abs((long) number.precision() - number.scale()) <= MOST_DIGITS);
            return isInRange ? number : null;
        } catch (NumberFormatException noNumber) {
            return null;
        }
    }

    /**
     * Returns a whole number of 1 or more.
     *
     * @throws TraceFormatException when the text is none
     */
    long calls(String text, long offset) throws TraceFormatException {
        long calls = TraceEvent.wholeNumberOf(text);
        if (calls < 1 || !Bounds.isCount(calls)) {
            throw damage(offset, "'" + TraceFigures.plain(text) + "' is no number of calls");
        }
        return calls;
    }

    /**
     * Returns a time in a unit as ns.
     *
     * @param unit {@code ns}, {@code us}, {@code ms} or {@code s}
     * @throws TraceFormatException when the text is no number of 0 or more, or beyond 10 years
     */
    BigDecimal ns(String text, String unit, long offset) throws TraceFormatException {
        BigDecimal number = number(text);
        if (number == null) {
            throw damage(offset, "'" + TraceFigures.plain(text) + "' is no time");
        }
        BigDecimal ns = number.scaleByPowerOfTen(digits(unit));
        if (!Bounds.isDuration(ns)) {
            throw damage(offset, "'" + TraceFigures.plain(text) + "' " + unit + " is beyond 10 years");
        }
        return ns;
    }

    private static int digits(String unit) {
        return switch (unit) {
            case "s" -> S_DIGITS;
            case "ms" -> MS_DIGITS;
            case "us" -> US_DIGITS;
            default -> 0;
        };
    }

    /** Returns a time in whole ns, rounded half up. */
    static long whole(BigDecimal ns) {
        return ns.setScale(0, RoundingMode.HALF_UP).longValueExact();
    }

    /**
     * Checks that a row's sum is its average times its calls.
     *
     * @param withinNs the largest difference through rounding, ns
     * @throws TraceFormatException when they differ by more
     */
    void requireProduct(long calls, BigDecimal averageNs, BigDecimal totalNs, BigDecimal withinNs, long offset)
            throws TraceFormatException {
        BigDecimal product = averageNs.multiply(BigDecimal.valueOf(calls));
        if (product.subtract(totalNs).abs().compareTo(withinNs) > 0) {
            throw damage(
                    offset,
                    "a row contradicts itself: " + Plural.of(calls, "call") + " of " + plain(averageNs)
                            + " ns on average are not " + plain(totalNs) + " ns");
        }
    }

    /**
     * Checks that the shortest, the average and the longest time are in this order.
     *
     * @param withinNs the most by which the average may lie beyond the others through rounding, ns
     * @throws TraceFormatException when they are not
     */
    void requireOrder(
            BigDecimal shortestNs, BigDecimal averageNs, BigDecimal longestNs, BigDecimal withinNs, long offset)
            throws TraceFormatException {
        if (shortestNs.subtract(averageNs).compareTo(withinNs) > 0
                || averageNs.subtract(longestNs).compareTo(withinNs) > 0) {
            throw damage(
                    offset,
                    "a row contradicts itself: the average, " + plain(averageNs) + " ns, is not between the shortest, "
                            + plain(shortestNs) + " ns, and the longest, " + plain(longestNs) + " ns");
        }
    }

    /** Returns a number of ns in digits. */
    static String plain(BigDecimal ns) {
        return ns.stripTrailingZeros().toPlainString();
    }
}
