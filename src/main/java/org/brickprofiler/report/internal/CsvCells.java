package org.brickprofiler.report.internal;

import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Formats lines of comma-separated values (RFC 4180) whose texts no spreadsheet evaluates. Stateless; any thread. */
public final class CsvCells {

    private static final char TEXT_MARK = '\'';

    /**
     * The first characters that make a spreadsheet evaluate a cell, or treat it as marked text; the last four are wide
     * forms.
     */
    private static final String MARKED = "=+-@\t\r\n'\uff1d\uff0b\uff0d\uff20";

    /** Characters that need quotes; the last two are no delimiters here, but some spreadsheets split at them. */
    private static final String QUOTED = ",\"\r\n;\t";

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
        for (int i = 0; i < values.size(); i++) {
            String cell = cell(values.get(i));
            csv.append(i == 0 ? "" : ",");
            // Some readers skip an empty line.
            if (needsQuotes(cell) || (cell.isEmpty() && values.size() == 1)) {
                csv.append('"').append(cell.replace("\"", "\"\"")).append('"');
            } else {
                csv.append(cell);
            }
        }
        csv.append("\r\n");
    }

    /** Returns whether quotes protect a delimiter, or a space at either end, which some readers remove. */
    private static boolean needsQuotes(String cell) {
        return cell.chars().anyMatch(each -> QUOTED.indexOf(each) >= 0)
                || (!cell.isEmpty() && (cell.charAt(0) <= ' ' || cell.charAt(cell.length() - 1) <= ' '));
    }
}
