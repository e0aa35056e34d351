package org.brickprofiler.report.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.List;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.QuoteMode;
import org.jspecify.annotations.Nullable;

/**
 * Formats lines of comma-separated values (RFC 4180) whose texts no spreadsheet evaluates. Needs commons-csv.
 * Stateless; any thread.
 */
public final class CsvCells {

    private static final CSVFormat CSV = CSVFormat.RFC4180;
    private static final CSVFormat QUOTED_CSV =
            CSV.builder().setQuoteMode(QuoteMode.ALL).build();

    private static final char TEXT_MARK = '\'';

    /**
     * The first characters that make a spreadsheet evaluate a cell, or treat it as marked text; the last four are wide
     * forms.
     */
    private static final String MARKED = "=+-@\t\r\n'\uff1d\uff0b\uff0d\uff20";

    /** Characters that are no delimiters here, but at which some spreadsheets split nevertheless. */
    private static final String SPLIT = ";\t";

    private CsvCells() {}

    /**
     * Returns a text that no spreadsheet evaluates as a formula: a text that begins with one of {@link #MARKED} follows
     * an apostrophe, by which spreadsheets mark text. A text that begins with an apostrophe gets another one, so that a
     * program recovers every text by removing a leading apostrophe.
     */
    private static String marked(String text) {
        return !text.isEmpty() && MARKED.indexOf(text.charAt(0)) >= 0 ? TEXT_MARK + text : text;
    }

    private static String cell(@Nullable Object value) {
        if (value instanceof String text) {
            return marked(text);
        }
        if (value instanceof BigDecimal number) {
            return number.toPlainString();
        }
        return value == null ? "" : value.toString();
    }

    /**
     * Adds a line, ended by CR LF.
     *
     * @param csv the lines before it
     * @param values the cells: a text is marked, and quoted if it has to be; a BigDecimal has no exponent; null is an
     *     empty cell
     */
    public static void addLine(StringBuilder csv, List<? extends @Nullable Object> values) {
        try {
            boolean first = true;
            for (Object value : values) {
                String cell = cell(value);
                CSVFormat format = cell.chars().anyMatch(c -> SPLIT.indexOf(c) >= 0) ? QUOTED_CSV : CSV;
                format.print(cell, csv, first);
                first = false;
            }
            CSV.println(csv);
        } catch (IOException e) {
            throw new UncheckedIOException("a string cannot be written to", e);
        }
    }
}
