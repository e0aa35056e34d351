package org.brickprofiler.report.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.QuoteMode;

/**
 * Lines of comma-separated values after RFC 4180, whose texts no spreadsheet runs. Needs commons-csv. Stateless; any
 * thread.
 */
public final class CsvCells {

    private static final CSVFormat CSV = CSVFormat.RFC4180;
    private static final CSVFormat QUOTED_CSV =
            CSV.builder().setQuoteMode(QuoteMode.ALL).build();

    private static final char TEXT_MARK = '\'';

    /**
     * The first characters by which spreadsheets run a cell, or take it for marked text; the last four are wide forms.
     */
    private static final String MARKED = "=+-@\t\r\n'\uff1d\uff0b\uff0d\uff20";

    /** Characters that are no delimiters here, but at which some spreadsheets split nevertheless. */
    private static final String SPLIT = ";\t";

    private CsvCells() {}

    /**
     * Marks a text that a spreadsheet would run as a formula, by an apostrophe before it, which spreadsheets take as
     * "this is text". A text that begins with an apostrophe gets another one, so that the text is known again without
     * its first one.
     *
     * @param text any text
     * @return the text, after an apostrophe if it needs one
     */
    public static String marked(String text) {
        return !text.isEmpty() && MARKED.indexOf(text.charAt(0)) >= 0 ? TEXT_MARK + text : text;
    }

    /**
     * Adds a line, ended by CR LF.
     *
     * @param csv the lines before it
     * @param cells its cells, texts {@linkplain #marked marked} already; quoted if they have to be
     */
    public static void addLine(StringBuilder csv, List<String> cells) {
        try {
            boolean first = true;
            for (String cell : cells) {
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
