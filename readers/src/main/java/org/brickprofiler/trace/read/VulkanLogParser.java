package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.SumRows.Row;

/**
 * Reads the blocks that llama.cpp's Vulkan logger prints ({@code GGML_VK_PERF_LOGGER=1}) among the other lines of a
 * log. A block has a row for each operation with its calls, their average and their sum, in six digits, and ends with
 * the total of its rows. Each block is a step: the logger prints a block for each graph, or for as many graphs as
 * {@code GGML_VK_PERF_LOGGER_FREQUENCY} states. Nothing in a block shows whether it belongs to a prompt.
 *
 * <p>Older builds print no sum, and the oldest ones print ms and no total. One thread.
 */
final class VulkanLogParser {

    /** The category of the rows, as rules see it. */
    static final String CATEGORY = "vulkan";

    private static final String BEGIN = "Vulkan Timings:";
    private static final String NUMBER = "([0-9.,]+(?:e[+-]?[0-9]+)?)";
    private static final Pattern ROW = Pattern.compile("(.{1,2000}?): (\\d{1,18}) x " + NUMBER + " (us|ms)(?: = "
            + NUMBER + " us)?(?: \\([0-9.,e+-]+ GFLOPS/s\\))?\\s*");
    private static final Pattern TOTAL = Pattern.compile("Total time: " + NUMBER + " us\\.\\s*");

    /** The beginning of a row; a line that begins like this but does not match {@link #ROW} is a damaged row. */
    private static final Pattern BEGUN_ROW = Pattern.compile(".{1,2000}?: \\d{1,18} x [0-9.,].*");

    /** The largest relative error of a number in six digits. */
    private static final BigDecimal SIX_DIGITS = new BigDecimal("5e-6");

    private static final int MOST_ROWS = 100_000;

    private final TextLines lines;
    private final SumRows rows;

    /** The rows of the block that is open, and their places; empty between blocks. */
    private final List<Row> block = new ArrayList<>();

    private final List<Long> offsets = new ArrayList<>();
    private long blockOffset;

    /** The length of the text that a journal or a container puts before each line of the block. */
    private int prefix;

    private boolean isOpen;
    private boolean isInMs;
    private long blocks;

    private VulkanLogParser(BufferedInputStream text, EventCollector collector) throws TraceFormatException {
        this.lines = new TextLines(text, collector.source);
        this.rows = new SumRows(collector, "llama.cpp's Vulkan logger");
    }

    /**
     * Reads all blocks.
     *
     * @throws TraceFormatException when a block is damaged, or the view needs times
     * @throws IOException when the text cannot be read
     */
    static void parse(BufferedInputStream text, EventCollector collector) throws IOException {
        new VulkanLogParser(text, collector).document();
    }

    private void document() throws IOException {
        for (String line = lines.next(); line != null; line = lines.next()) {
            if (line.strip().endsWith(BEGIN)) {
                endWithoutTotal();
                isOpen = true;
                blockOffset = lines.offset();
                prefix = line.indexOf(BEGIN);
            } else {
                take(line.length() < prefix || line.startsWith(" ") ? line : line.substring(prefix));
            }
        }
        endWithoutTotal();
        rows.checkEnd(lines);
        rows.collector.end(lines.endOffset());
    }

    private void take(String line) throws IOException {
        Matcher row = ROW.matcher(line);
        Matcher total = TOTAL.matcher(line);
        if (row.matches()) {
            takeRow(row);
        } else if (total.matches() && isOpen) {
            endBlock(rows.ns(SumRows.withPoint(total.group(1)), "us", lines.offset()));
        } else if (total.matches()) {
            throw rows.damage(lines.offset(), "a total of a block whose begin, \"" + BEGIN + "\", is missing");
        } else if (isOpen && BEGUN_ROW.matcher(line).matches()) {
            throw rows.damage(
                    lines.offset(), "'" + TraceFigures.plain(line) + "' is no whole row of the Vulkan logger");
        } else if (isOpen && isInMs) {
            endWithoutTotal();
        }
    }

    private void takeRow(Matcher row) throws TraceFormatException {
        long offset = lines.offset();
        if (!isOpen) {
            throw rows.damage(
                    offset,
                    "'" + TraceFigures.plain(row.group()) + "' is a row outside of a block of the Vulkan logger");
        }
        if (!lines.isEnded()) {
            throw rows.damage(lines.endOffset(), "the text ends within a block of the Vulkan logger");
        }
        if (block.size() == MOST_ROWS) {
            throw rows.collector.error(offset, "a block has more than " + MOST_ROWS + " rows");
        }
        long calls = rows.calls(row.group(2), offset);
        String unit = row.group(4);
        BigDecimal averageNs = rows.ns(SumRows.withPoint(row.group(3)), unit, offset);
        String sum = row.group(5);
        BigDecimal totalNs = sum == null
                ? averageNs.multiply(BigDecimal.valueOf(calls))
                : rows.ns(SumRows.withPoint(sum), "us", offset);
        // The logger truncates the average to whole ns, in the oldest builds to whole us.
        BigDecimal cut = BigDecimal.valueOf(calls).scaleByPowerOfTen(unit.equals("ms") ? 3 : 0);
        rows.requireProduct(calls, averageNs, totalNs, rounding(totalNs).add(cut), offset);
        if (!Bounds.isDuration(totalNs)) {
            throw rows.damage(offset, SumRows.plain(totalNs) + " ns are beyond 10 years");
        }
        isInMs |= unit.equals("ms");
        block.add(new Row(row.group(1), CATEGORY, calls, SumRows.whole(totalNs)));
        offsets.add(offset);
    }

    /** Returns the largest difference through rounding between two numbers in six digits. */
    private static BigDecimal rounding(BigDecimal ns) {
        return ns.multiply(SIX_DIGITS).multiply(BigDecimal.valueOf(2));
    }

    private void endBlock(BigDecimal totalNs) throws IOException {
        BigDecimal sumNs = BigDecimal.ZERO;
        BigDecimal withinNs = rounding(totalNs);
        for (Row row : block) {
            BigDecimal rowNs = BigDecimal.valueOf(row.totalNs());
            sumNs = sumNs.add(rowNs);
            // Without a printed sum, the sum of a row is the average, truncated to whole ns, times the calls.
            withinNs = withinNs.add(rounding(rowNs)).add(BigDecimal.valueOf(row.calls()));
        }
        if (sumNs.subtract(totalNs).abs().compareTo(withinNs) > 0) {
            throw rows.damage(
                    lines.offset(),
                    "the rows of a block add up to " + SumRows.plain(sumNs) + " ns, and its total is "
                            + SumRows.plain(totalNs) + " ns");
        }
        deliver();
    }

    /** Ends a block before its total: builds that print ms have none, and in all others the block is damaged. */
    private void endWithoutTotal() throws IOException {
        if (!isOpen) {
            return;
        }
        if (!isInMs) {
            throw rows.damage(lines.endOffset(), "a block of the Vulkan logger ends without its total");
        }
        rows.collector.fault(Reason.NO_TOTAL, 1, blockOffset);
        deliver();
    }

    private void deliver() throws IOException {
        rows.beginStep(blocks, blockOffset);
        blocks++;
        for (int i = 0; i < block.size(); i++) {
            rows.add(block.get(i), offsets.get(i));
        }
        block.clear();
        offsets.clear();
        isOpen = false;
        isInMs = false;
    }
}
