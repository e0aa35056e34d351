package org.brickprofiler.report;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.report.internal.CsvCells;
import org.brickprofiler.report.internal.Fields;
import org.brickprofiler.report.internal.ProfileFields;
import org.jspecify.annotations.Nullable;

/**
 * The bricks of a profile as comma-separated values (RFC 4180): a header, then a line for each brick, largest total
 * first; each line ends with CR LF. Files are UTF-8 without a byte order mark.
 *
 * <p>The columns are the keys of a brick in {@link JsonReport}. The percentiles replace {@code latency}, whose buckets
 * are left out, and the sums within {@code device} and {@code work} replace these two keys. Values of the whole profile
 * are left out. Counts and times in ns are exact. Other numbers have up to 15 significant digits, a dot, and no
 * exponent, in every locale. A cell is empty if there is no value.
 *
 * <p><b>Names are no formulas.</b> A spreadsheet evaluates a cell that begins with {@code =}, {@code +}, {@code -} or
 * {@code @}, even inside quotation marks. A name that begins with one of these characters (or with its wide form, a
 * tab, or a line break) is written after an apostrophe, which makes spreadsheets treat the cell as text. A name that
 * begins with an apostrophe gets another one, so a program recovers every name by removing a leading apostrophe.
 *
 * <p>Stateless; any thread.
 */
public final class CsvReport {

    /** A double has 15 digits that survive any rounding. */
    private static final MathContext DIGITS = new MathContext(15, RoundingMode.HALF_EVEN);

    private static final List<Fields.Column<ProfileFields.Brick>> COLUMNS = ProfileFields.BRICK.columns();

    private CsvReport() {}

    /**
     * Returns the table of a profile.
     *
     * @param snapshot the profile
     * @return a header and a line for each brick
     */
    public static String toCsv(ProfileSnapshot snapshot) {
        long totalNs = snapshot.netOrTotalNs();
        StringBuilder csv = new StringBuilder();
        CsvCells.addLine(csv, COLUMNS.stream().map(Fields.Column::key).toList());
        for (BrickStats stats : snapshot.bricks()) {
            ProfileFields.Brick brick = new ProfileFields.Brick(stats, totalNs, OptionalLong.empty());
            CsvCells.addLine(
                    csv,
                    COLUMNS.stream()
                            .map(column -> rounded(column.value().of(brick)))
                            .toList());
        }
        return csv.toString();
    }

    /**
     * Writes the table to a file, completely or not at all: see {@link AtomicFile}.
     *
     * @param snapshot the profile
     * @param path the file; its folder must exist. A pipe or a terminal is written to directly
     * @throws IOException when writing fails; the message names the path and the reason, and an older file is unchanged
     */
    public static void write(ProfileSnapshot snapshot, Path path) throws IOException {
        byte[] csv = toCsv(snapshot).getBytes(StandardCharsets.UTF_8);
        AtomicFile.write(path, out -> out.write(csv));
    }

    private static @Nullable Object rounded(@Nullable Object value) {
        if (value instanceof Double number) {
            return Double.isFinite(number)
                    ? new BigDecimal(number).round(DIGITS).stripTrailingZeros()
                    : null;
        }
        return value;
    }
}
