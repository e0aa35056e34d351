package org.brickprofiler.report;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.Work;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.OptionalPart;
import org.brickprofiler.report.internal.CsvCells;

/**
 * The bricks of a profile as comma-separated values after RFC 4180: a header, a line for each brick, largest total
 * first, each line ended by CR LF. Files are UTF-8 without a byte order mark.
 *
 * <p>The columns are the keys of a brick in {@link JsonReport}, with the percentiles in place of {@code latency}, whose
 * buckets are left out, and the sums of {@code device} and {@code work}. What is not a brick's is left out. Counts and
 * times in ns are exact. Other numbers have up to 15 significant digits, a dot, and no exponent, whatever the locale. A
 * cell is empty where there is no value.
 *
 * <p><b>Names are no formulas.</b> A spreadsheet runs a cell that begins with {@code =}, {@code +}, {@code -} or
 * {@code @}, and quotation marks do not keep it from that. A name that begins with one of them (or with the wide form
 * of one, a tab, or a line break) is written after an apostrophe, which spreadsheets take as "this is text". A name
 * that begins with an apostrophe gets another one, so a program has the name back when it takes one apostrophe off.
 *
 * <p>Needs {@code org.apache.commons:commons-csv} on the class path. Stateless; any thread.
 */
public final class CsvReport {

    /** A double has 15 digits that survive any rounding. */
    private static final MathContext DIGITS = new MathContext(15, RoundingMode.HALF_EVEN);

    private static final List<Column> COLUMNS = List.of(
            text("name", BrickStats::name),
            text("category", brick -> brick.category().displayName()),
            whole("count", BrickStats::count),
            whole("total_ns", BrickStats::totalNs),
            real("avg_us", BrickStats::avgUs),
            real("min_us", BrickStats::minUs),
            real("max_us", BrickStats::maxUs),
            whole("min_ns", BrickStats::minNs),
            whole("max_ns", BrickStats::maxNs),
            whole("last_ns", BrickStats::lastNs),
            whole("last_at_unix_ns", BrickStats::lastAtUnixNs),
            real("throughput", BrickStats::throughput),
            new Column("pct", (brick, totalNs) -> number(brick.percentage(totalNs))),
            whole("total_elements", BrickStats::totalElements),
            whole("total_bytes", BrickStats::totalBytes),
            whole("total_compressed_bytes", BrickStats::totalCompressedBytes),
            real("compression_ratio", BrickStats::compressionRatio),
            real("throughput_gbps", BrickStats::throughputGbps),
            whole("total_cycles", BrickStats::totalCycles),
            whole("min_cycles", BrickStats::minCycles),
            whole("max_cycles", BrickStats::maxCycles),
            text("bottleneck", brick -> brick.bottleneck().name().toLowerCase(Locale.ROOT)),
            percentileUs("p50_us", 50),
            percentileUs("p90_us", 90),
            percentileUs("p99_us", 99),
            percentileUs("p999_us", 99.9),
            device("time_source", brick -> brick.timeSource().name().toLowerCase(Locale.ROOT)),
            device("device_samples", brick -> Long.toString(brick.device().samples())),
            device("launches", brick -> Long.toString(brick.device().launches())),
            device("launch_ns", brick -> Long.toString(brick.device().launchNs())),
            device("unresolved", brick -> Long.toString(brick.device().unresolved())),
            device("without_start", CsvReport::withoutStart),
            work("flops", Work::flops),
            work("bytes", Work::bytes),
            work("working_set_bytes", Work::workingSetBytes));

    private CsvReport() {}

    /** A column: its key, and what a brick has in it. */
    private record Column(String key, Cell cell) {}

    @FunctionalInterface
    private interface Cell {
        String of(BrickStats brick, long totalNs);
    }

    /**
     * The table of a profile.
     *
     * @param snapshot the profile
     * @return a header and a line for each brick
     * @throws IllegalStateException when commons-csv is missing
     */
    public static String toCsv(ProfileSnapshot snapshot) {
        OptionalPart.COMMONS_CSV.require("a CSV report");
        long totalNs = snapshot.totalNs();
        StringBuilder csv = new StringBuilder();
        CsvCells.addLine(csv, COLUMNS.stream().map(Column::key).toList());
        for (BrickStats brick : snapshot.bricks()) {
            CsvCells.addLine(
                    csv,
                    COLUMNS.stream()
                            .map(column -> column.cell().of(brick, totalNs))
                            .toList());
        }
        return csv.toString();
    }

    /**
     * Writes the table to a file, which is there whole or not at all: see {@link AtomicFile}.
     *
     * @param snapshot the profile
     * @param path where to; its folder must exist. A pipe or a terminal is written to directly
     * @throws IOException when that fails; the message names the path and the reason, and an older file is untouched
     */
    public static void write(ProfileSnapshot snapshot, Path path) throws IOException {
        byte[] csv = toCsv(snapshot).getBytes(StandardCharsets.UTF_8);
        AtomicFile.write(path, out -> out.write(csv));
    }

    private static Column text(String key, Function<BrickStats, String> value) {
        return new Column(key, (brick, totalNs) -> CsvCells.marked(value.apply(brick)));
    }

    private static Column whole(String key, ToLongFunction<BrickStats> value) {
        return new Column(key, (brick, totalNs) -> Long.toString(value.applyAsLong(brick)));
    }

    private static Column real(String key, ToDoubleFunction<BrickStats> value) {
        return new Column(key, (brick, totalNs) -> number(value.applyAsDouble(brick)));
    }

    private static Column percentileUs(String key, double percent) {
        return new Column(
                key, (brick, totalNs) -> brick.latency().isEmpty() ? "" : number(brick.percentileNs(percent) / 1e3));
    }

    /** Empty where there is none, as the field of the JSON is not there then. */
    private static String withoutStart(BrickStats brick) {
        long samples = brick.device().withoutStart();
        return samples == 0 ? "" : Long.toString(samples);
    }

    private static Column device(String key, Function<BrickStats, String> value) {
        return new Column(key, (brick, totalNs) -> brick.device().equals(DeviceTime.NONE) ? "" : value.apply(brick));
    }

    private static Column work(String key, ToLongFunction<Work> value) {
        return new Column(
                key,
                (brick, totalNs) ->
                        brick.work().equals(Work.NONE) ? "" : Long.toString(value.applyAsLong(brick.work())));
    }

    private static String number(double value) {
        return Double.isFinite(value)
                ? new BigDecimal(value).round(DIGITS).stripTrailingZeros().toPlainString()
                : "";
    }
}
