package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.SumRows.Row;
import org.eclipse.collections.impl.list.mutable.primitive.DoubleArrayList;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Reads the tables that {@code nsys stats --format csv} writes, after any text. The header decides what a table holds:
 * the sums of kernels, of copies and fills, or of both count; calls of an API, ranges of NVTX and events of MPI, OpenMP
 * and OpenACC do not. In a table that mixes them, the category of a row decides. Kernels or copies that an earlier
 * table has do not count again, and their sums must agree: otherwise the tables are of several runs. The tables may
 * come in any order, with or without lines between them. They state shares and no total. One thread.
 */
final class NsysStatsParser {

    private static final Pattern UNIT =
            Pattern.compile("Total Time \\((ns|us|\u03bcs|\u00b5s|ms|s|nsec|usec|msec|sec)\\)");
    private static final Pattern SEPARATOR = Pattern.compile("\"?Time ?\\(%\\)\"?([;\\t]).*");

    /** A number with a decimal comma; three digits after the comma may be thousands, and are refused. */
    private static final Pattern DECIMAL = Pattern.compile("\\d{1,18},(?:\\d{1,2}|\\d{4,18})");

    private static final Pattern SHARE = Pattern.compile("Time ?\\(%\\)");

    /** The begin of any header: that of a table of times, or of a table of sizes. */
    private static final Pattern HEADER = Pattern.compile("\"?(Time ?\\(%\\)|Total \\([A-Za-z]+\\)\"?[,;\\t]).*");

    private static final Pattern COPY = Pattern.compile("\\[CUDA (memcpy|memset|Unified Memory).*");
    private static final String CALLS = "Num Calls";
    private static final String OF_AN_API = "calls of an API";

    /** The columns of a table of kernels; a table of other events has further ones, or counts its rows otherwise. */
    private static final Pattern OF_KERNELS = Pattern.compile(
            "Time ?\\(%\\)|(Total Time|Avg|Average|Med|Median|Min|Minimum|Max|Maximum|Std ?Dev)( \\(.*\\))?"
                    + "|Instances|Grid(XYZ)?|Block(XYZ)?|Name",
            Pattern.CASE_INSENSITIVE);

    /** The columns that hold the number of operations, each in a different version. */
    private static final List<String> COUNTS = List.of("Instances", "Count", "Operations");

    // The categories of the rows that count in a table that mixes kernels, copies and calls of the CUDA API.
    private static final String KERNEL = "CUDA_KERNEL";
    private static final String COPY_OR_FILL = "MEMORY_OPER";

    /** The largest difference between two sums of the same work, as a share: tables may be rounded to units. */
    private static final double SUMS_WITHIN = 0.01;

    /** The largest error of a share, in percentage points: a table rounds shares to a tenth of a percent. */
    private static final double SHARE_WITHIN = 0.06;

    private static final BigDecimal HALF = new BigDecimal("0.501");
    private static final int MOST_ROWS = 1_000_000;

    private final TextLines lines;

    /** The character between the fields of the table that was read last. */
    private char separator = ',';

    private final SumRows rows;
    /** The sums of the kernels and of the copies that count, ns; null before a table has some. */
    private @Nullable Double kernelsNs;

    private @Nullable Double copiesNs;
    private long tables;
    /** The contents of a table that does not count. */
    private String others = "";

    /** A table by its header. */
    private final class Table {
        final List<String> columns;
        final String unit;
        final String title;
        /** True if the kernels, or the copies and fills, count. */
        final boolean countsKernels;

        final boolean countsCopies;
        final int category;
        private final boolean isKernels;
        private final boolean isCopies;
        private double kernelsOfTableNs = Double.NaN;
        private double copiesOfTableNs = Double.NaN;
        private final DoubleArrayList shares = new DoubleArrayList();
        private final LongArrayList totals = new LongArrayList();
        private final long headerOffset = lines.offset();

        Table(List<String> columns, String unit) {
            this.columns = columns;
            this.unit = unit;
            String last = columns.get(columns.size() - 1);
            boolean isSum = COUNTS.stream().anyMatch(columns::contains) && last.equals("Operation");
            this.category = isSum ? columns.indexOf("Category") : -1;
            boolean isMixed = category >= 0;
            this.isKernels = last.equals("Name")
                    && columns.contains("Instances")
                    && columns.stream()
                            .allMatch(column -> OF_KERNELS.matcher(column).matches());
            this.isCopies = isSum && !isMixed;
            boolean isOther = last.equals("Name") && !isKernels;
            this.title = columns.contains(CALLS) ? OF_AN_API : isOther ? "events that are no kernels" : last;
            this.countsKernels = (isKernels || isMixed) && kernelsNs == null;
            this.countsCopies = (isCopies || isMixed) && copiesNs == null;
        }

        boolean counts() {
            return countsKernels || countsCopies;
        }

        /** Returns whether the rows are of kernels or copies, whether they count or not. */
        boolean isOfDevice() {
            return isKernels || isCopies || category >= 0;
        }

        /** Returns whether a row is of a copy or a fill, of a kernel, or, if null, of neither. */
        @Nullable
        Boolean isCopy(List<String> fields) {
            String of = category < 0 ? "" : fields.get(category);
            if (isCopies || of.equals(COPY_OR_FILL)) {
                return true;
            }
            boolean isKernel = isKernels || of.equals(KERNEL);
            return isKernel ? (Boolean) false : null;
        }

        void add(boolean isCopy, double ns) {
            if (isCopy) {
                copiesOfTableNs = ns + (Double.isNaN(copiesOfTableNs) ? 0 : copiesOfTableNs);
            } else {
                kernelsOfTableNs = ns + (Double.isNaN(kernelsOfTableNs) ? 0 : kernelsOfTableNs);
            }
        }

        private int column(String... names) {
            for (String name : names) {
                for (int i = 0; i < columns.size(); i++) {
                    String column = columns.get(i);
                    if (column.equals(name) || column.startsWith(name + " (")) {
                        return i;
                    }
                }
            }
            return -1;
        }
    }

    private NsysStatsParser(BufferedInputStream text, EventCollector collector) throws TraceFormatException {
        this.lines = new TextLines(text, collector.source);
        this.rows = new SumRows(collector, "nsys stats");
    }

    /**
     * Reads all tables.
     *
     * @throws TraceFormatException when a row is damaged, no table has kernels or copies, or the view needs times
     * @throws IOException when the text cannot be read
     */
    static void parse(BufferedInputStream text, EventCollector collector) throws IOException {
        new NsysStatsParser(text, collector).document();
    }

    private void document() throws IOException {
        String line = lines.next();
        while (line != null) {
            Matcher other = SEPARATOR.matcher(line);
            separator = other.matches() ? other.group(1).charAt(0) : ',';
            List<String> columns = fields(line);
            Matcher unit = UNIT.matcher(columns.size() > 1 ? columns.get(1) : "");
            boolean isHeader = unit.matches() && SHARE.matcher(columns.get(0)).matches();
            line = isHeader ? table(new Table(columns, unitOf(unit.group(1)))) : lines.next();
        }
        if (tables == 0 && !others.isEmpty()) {
            throw rows.collector.error(
                    0,
                    "the tables of nsys stats hold sums of " + others + ", and none of kernels; write them with"
                            + " nsys stats --report cuda_gpu_kern_sum,cuda_gpu_mem_time_sum --format csv");
        }
        rows.collector.end(lines.endOffset());
    }

    private static String unitOf(String unit) {
        return switch (unit.toLowerCase(Locale.ROOT)) {
            case "s", "sec" -> "s";
            case "ms", "msec" -> "ms";
            case "ns", "nsec" -> "ns";
            default -> "us";
        };
    }

    /** Reads the rows of a table; returns the line after it. */
    private @Nullable String table(Table table) throws IOException {
        tables += table.counts() ? 1 : 0;
        String line = lines.next();
        for (; line != null && isRow(line); line = lines.next()) {
            if (!table.isOfDevice()) {
                rows.collector.acceptOmitted(Reason.OTHER_TABLE, table.title);
                continue;
            }
            if (table.totals.size() == MOST_ROWS) {
                throw rows.collector.error(lines.offset(), "a table has more than " + MOST_ROWS + " rows");
            }
            row(table, fields(line));
            rows.checkEnd(lines);
        }
        if (!table.counts()) {
            others = table.title;
        }
        checkShares(table);
        kernelsNs = checked("kernels", kernelsNs, table.kernelsOfTableNs, table);
        copiesNs = checked("copies", copiesNs, table.copiesOfTableNs, table);
        return line;
    }

    /**
     * Returns the sum that counts.
     *
     * @param countedNs the sum of an earlier table; null if there is none
     * @param ofTableNs the sum of this table; NaN if it has no such rows
     * @throws TraceFormatException when both exist and differ
     */
    private @Nullable Double checked(String what, @Nullable Double countedNs, double ofTableNs, Table table)
            throws TraceFormatException {
        if (countedNs == null || Double.isNaN(ofTableNs)) {
            return countedNs != null || Double.isNaN(ofTableNs) ? countedNs : (Double) ofTableNs;
        }
        if (Math.abs(countedNs - ofTableNs) > SUMS_WITHIN * Math.max(countedNs, ofTableNs)) {
            throw rows.collector.error(
                    table.headerOffset,
                    "the " + what + " of this table sum to " + Math.round(ofTableNs) + " ns, and those of an earlier"
                            + " one to " + Math.round(countedNs)
                            + " ns: the tables are of several runs; give those of one");
        }
        return countedNs;
    }

    /** Returns whether a line is a row, whole or not: a table ends with a blank line, or with text of the program. */
    private boolean isRow(String line) {
        return !line.isBlank()
                && !HEADER.matcher(line).matches()
                && (Character.isDigit(line.charAt(0)) || line.startsWith("\"") || line.indexOf(separator) >= 0)
                && !line.startsWith("Processing [");
    }

    private void row(Table table, List<String> fields) throws IOException {
        long offset = lines.offset();
        if (fields.size() != table.columns.size()) {
            throw rows.damage(
                    offset,
                    "a row has " + Plural.of(fields.size(), "field") + ", and the header " + table.columns.size());
        }
        int count = table.column(COUNTS.toArray(new String[0]));
        BigDecimal totalNs = rows.ns(fields.get(1), table.unit, offset);
        int average = table.column("Avg", "Average");
        int shortest = table.column("Min", "Minimum");
        int longest = table.column("Max", "Maximum");
        if (count < 0 || average < 0 || shortest < 0 || longest < 0) {
            throw rows.collector.error(offset, "the table of nsys stats has no columns Avg, Min and Max");
        }
        long calls = rows.calls(fields.get(count), offset);
        BigDecimal averageNs = rows.ns(fields.get(average), table.unit, offset);
        BigDecimal shortestNs = rows.ns(fields.get(shortest), table.unit, offset);
        BigDecimal longestNs = rows.ns(fields.get(longest), table.unit, offset);
        BigDecimal share = SumRows.number(fields.get(0));
        if (share == null) {
            throw rows.damage(offset, "'" + TraceFigures.plain(fields.get(0)) + "' is no share in percent");
        }
        BigDecimal ulp = averageNs.ulp().max(totalNs.ulp());
        BigDecimal rounding =
                averageNs.ulp().multiply(BigDecimal.valueOf(calls)).multiply(HALF);
        rows.requireProduct(calls, averageNs, totalNs, rounding.add(totalNs.ulp()), offset);
        rows.requireOrder(shortestNs, averageNs, longestNs, ulp, offset);
        String name = fields.get(fields.size() - 1);
        table.shares.add(share.doubleValue());
        table.totals.add(SumRows.whole(totalNs));
        Boolean isCopy = table.isCopy(fields);
        if (isCopy == null) {
            String category = fields.get(table.category);
            rows.collector.acceptOmitted(Reason.OTHER_TABLE, category.equals("CUDA_API") ? OF_AN_API : category);
            return;
        }
        table.add(isCopy, totalNs.doubleValue());
        if (!(isCopy ? table.countsCopies : table.countsKernels)) {
            rows.collector.acceptOmitted(Reason.OTHER_TABLE, table.title);
            return;
        }
        rows.add(
                new Row(
                        name,
                        COPY.matcher(name).matches() ? SumRows.COPY : SumRows.KERNEL,
                        calls,
                        SumRows.whole(totalNs),
                        SumRows.whole(shortestNs),
                        SumRows.whole(longestNs),
                        TraceEvent.NONE),
                offset);
    }

    /**
     * Records a fault if rows are missing: the stated shares of the other rows are then smaller than their shares in
     * the sum.
     */
    private void checkShares(Table table) {
        double sumNs = 0;
        for (int i = 0; i < table.totals.size(); i++) {
            sumNs += table.totals.get(i);
        }
        for (int i = 0; i < table.totals.size(); i++) {
            double share = sumNs == 0 ? 0 : 100 * table.totals.get(i) / sumNs;
            if (Math.abs(share - table.shares.get(i)) > SHARE_WITHIN) {
                rows.collector.fault(Reason.MISSING_ROWS, 1, table.headerOffset);
                return;
            }
        }
    }

    /**
     * Returns the fields of a line of CSV. A field in quotation marks may contain the separator; with another separator
     * than a comma, a number may have a decimal comma.
     */
    private List<String> fields(String line) {
        List<String> fields = new ArrayList<>();
        StringBuilder field = new StringBuilder();
        boolean isQuoted = false;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == '"' && isQuoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
                field.append(c);
                i++;
            } else if (c == '"') {
                isQuoted = !isQuoted;
            } else if (c == separator && !isQuoted) {
                fields.add(field(field));
                field.setLength(0);
            } else {
                field.append(c);
            }
        }
        // A quotation mark that is not closed: the line was cut, and is no row. The result may be empty.
        fields.add(isQuoted ? "" : field(field));
        return isQuoted ? fields.subList(0, fields.size() - 1) : fields;
    }

    private String field(StringBuilder text) {
        String field = text.toString().strip();
        return separator != ',' && DECIMAL.matcher(field).matches() ? SumRows.withPoint(field) : field;
    }
}
