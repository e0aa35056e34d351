package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.trace.read.SumRows.Row;
import org.jspecify.annotations.Nullable;

/**
 * Reads the summary that Intel's {@code unitrace --device-timing} prints: for each backend a total and a table of
 * kernels, copies, barriers and resets. The rows of a backend add up exactly to its total. A kernel may have several
 * rows. A text with the summaries of several processes is refused. All other parts of the text, such as the properties
 * and the metrics of kernels, are not read. One thread.
 */
final class UnitraceParser {

    private static final Pattern SECTION = Pattern.compile("=== (.+) ===\\s*");
    private static final String TIMES = "Device Timing Summary";
    private static final Pattern WALL = Pattern.compile("\\s*Total Execution Time \\(ns\\):\\s*(\\S+)\\s*");
    private static final Pattern TOTAL =
            Pattern.compile("\\s*Total Device Time for (.+) backend \\(ns\\):\\s*(\\S+)\\s*");
    private static final Pattern BACKEND = Pattern.compile("== (.+) Backend ==\\s*", Pattern.CASE_INSENSITIVE);
    private static final Pattern HEADER =
            Pattern.compile("\\s*\"?Kernel\"?,\\s*Calls,\\s*Time \\(ns\\),\\s*Time \\(%\\),\\s*Average \\(ns\\),.*");

    private static final Pattern ROW =
            Pattern.compile("\\s*(.{1,2000}),\\s*(\\d+),\\s*(\\d+),\\s*([0-9.]+),\\s*(\\d+),\\s*(\\d+),\\s*(\\d+)\\s*");

    /** The name of a copy or a fill, which ends with the bytes of one call. */
    private static final Pattern COPY = Pattern.compile("zeCommandListAppend(?:Memory|Image).*\\[(\\d{1,18})\\]");

    private final TextLines lines;
    private final SumRows rows;
    private final Map<String, Long> totals = new HashMap<>();
    private String backend = "";
    private boolean isTimes;
    private boolean isTable;
    private boolean hasWall;
    private long summaries;
    private long sumNs;
    private long tables;

    private UnitraceParser(BufferedInputStream text, EventCollector collector) throws TraceFormatException {
        this.lines = new TextLines(text, collector.source);
        this.rows = new SumRows(collector, "unitrace's summary");
    }

    /**
     * Reads the tables of all backends.
     *
     * @throws TraceFormatException when a row or a total is damaged, or the view needs times
     * @throws IOException when the text cannot be read
     */
    static void parse(BufferedInputStream text, EventCollector collector) throws IOException {
        new UnitraceParser(text, collector).document();
    }

    private void document() throws IOException {
        for (String line = lines.next(); line != null; line = lines.next()) {
            Matcher section = SECTION.matcher(line);
            if (section.matches()) {
                endTable();
                isTimes = section.group(1).equals(TIMES);
                summaries += isTimes ? 1 : 0;
                if (summaries > 1) {
                    throw rows.collector.error(
                            lines.offset(),
                            "a second \"" + TIMES + "\": the text has the summaries of several processes, whose times"
                                    + " overlap; give each one a file of its own (unitrace --output)");
                }
            } else if (isTable && line.isBlank()) {
                endTable();
            } else if (isTable) {
                row(line);
            } else if (isTimes) {
                fact(line);
            }
        }
        endTable();
        for (String missing : totals.keySet()) {
            throw rows.damage(
                    lines.endOffset(),
                    "the text ends before the table of the " + missing + " backend, whose total is "
                            + totals.get(missing) + " ns");
        }
        if (tables == 0) {
            throw rows.collector.error(
                    lines.endOffset(),
                    "the summary of unitrace has no table of kernels: it saw no kernel end; end the program with a"
                            + " synchronisation that it traces, such as that of a stream or an event");
        }
        rows.collector.end(lines.endOffset());
    }

    private void fact(String line) throws TraceFormatException {
        Matcher wall = WALL.matcher(line);
        Matcher total = TOTAL.matcher(line);
        Matcher ofBackend = BACKEND.matcher(line);
        if (wall.matches() && !hasWall) {
            rows.collector.head.addWholeNs(whole(wall.group(1)), lines.offset());
            hasWall = true;
        } else if (total.matches()) {
            totals.put(key(total.group(1)), whole(total.group(2)));
        } else if (ofBackend.matches()) {
            backend = key(ofBackend.group(1));
        } else if (HEADER.matcher(line).matches()) {
            isTable = true;
            sumNs = 0;
        }
    }

    private static String key(String backend) {
        return backend.strip();
    }

    private long whole(String number) throws TraceFormatException {
        long whole = TraceEvent.wholeNumberOf(number);
        if (!Bounds.isDuration(whole) || !lines.isEnded()) {
            throw rows.damage(lines.offset(), "'" + TraceFigures.plain(number) + "' is no time of unitrace's summary");
        }
        return whole;
    }

    private void row(String line) throws IOException {
        long offset = lines.offset();
        Matcher row = ROW.matcher(line);
        if (!row.matches() || !lines.isEnded()) {
            throw rows.damage(offset, "'" + TraceFigures.plain(line.strip()) + "' is no whole row of unitrace's table");
        }
        long calls = rows.calls(row.group(2), offset);
        BigDecimal totalNs = rows.ns(row.group(3), "ns", offset);
        BigDecimal averageNs = rows.ns(row.group(5), "ns", offset);
        BigDecimal shortestNs = rows.ns(row.group(6), "ns", offset);
        BigDecimal longestNs = rows.ns(row.group(7), "ns", offset);
        // The average is truncated to whole ns.
        rows.requireProduct(calls, averageNs, totalNs, BigDecimal.valueOf(calls), offset);
        rows.requireOrder(shortestNs, averageNs, longestNs, BigDecimal.ONE, offset);
        String name = unquoted(row.group(1).strip());
        Matcher copy = COPY.matcher(name);
        long bytes = copy.matches() ? product(TraceEvent.wholeNumberOf(copy.group(1)), calls) : TraceEvent.NONE;
        sumNs += SumRows.whole(totalNs);
        rows.add(
                new Row(
                        name,
                        bytes == TraceEvent.NONE ? SumRows.KERNEL : SumRows.COPY,
                        calls,
                        SumRows.whole(totalNs),
                        SumRows.whole(shortestNs),
                        SumRows.whole(longestNs),
                        bytes),
                offset);
    }

    private static long product(long bytes, long calls) {
        try {
            return Math.multiplyExact(bytes, calls);
        } catch (ArithmeticException tooLarge) {
            return TraceEvent.MALFORMED_BYTES;
        }
    }

    private static String unquoted(String name) {
        boolean isQuoted = name.length() > 1 && name.startsWith("\"") && name.endsWith("\"");
        return isQuoted ? name.substring(1, name.length() - 1).replace("\"\"", "\"") : name;
    }

    private void endTable() throws TraceFormatException {
        if (!isTable) {
            return;
        }
        isTable = false;
        tables++;
        Long totalNs = totals.size() == 1 && backend.isEmpty() ? only() : totals.remove(backend);
        if (totalNs == null) {
            throw rows.damage(lines.offset(), "the table of the " + backend + " backend has no total above it");
        }
        if (totalNs != sumNs) {
            throw rows.damage(
                    lines.offset(),
                    "the rows of unitrace's table add up to " + sumNs + " ns, and its total is " + totalNs + " ns");
        }
    }

    private @Nullable Long only() {
        return totals.remove(totals.keySet().iterator().next());
    }
}
