package org.brickprofiler.fleet;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.brickprofiler.report.internal.CsvCells;
import org.brickprofiler.report.internal.JsonText;
import org.brickprofiler.report.internal.Markdown;
import org.brickprofiler.report.internal.TextTable;
import org.jspecify.annotations.Nullable;

/** An answer as text. A value that is null is empty in tables. Stateless; any thread. */
public final class RowsText {

    private RowsText() {}

    /**
     * Returns a table for a terminal; numbers are on the right.
     *
     * @param rows the answer
     * @return its lines
     */
    public static String table(Rows rows) {
        return table(rows, Integer.MAX_VALUE);
    }

    /**
     * Returns a table for a terminal, as {@link #table(Rows)}, without the last columns that do not fit; a line names
     * them.
     *
     * @param rows the answer
     * @param width the width that no line of the table exceeds, characters
     * @return its lines
     */
    public static String table(Rows rows, int width) {
        TextTable<List<@Nullable Object>> table = new TextTable<>();
        for (int i = 0; i < rows.columns().size(); i++) {
            int column = i;
            Function<List<@Nullable Object>, String> cell = row -> cell(row.get(column));
            if (isNumeric(rows, column)) {
                table.right(rows.columns().get(column), cell, "");
            } else {
                table.left(rows.columns().get(column), cell, "");
            }
        }
        List<String> leftOut = table.leftOut(rows.rows(), width, rows.columns());
        return table.render(rows.rows(), width, rows.columns())
                + (leftOut.isEmpty()
                        ? ""
                        : "A table of " + width + " characters leaves out columns: "
                                + String.join(", ", TextTable.shown(leftOut, header -> header))
                                + ". --csv, --markdown and --json have all of them.\n");
    }

    private static boolean isNumeric(Rows rows, int column) {
        return rows.rows().stream()
                .map(row -> row.get(column))
                .allMatch(cell -> cell == null || cell instanceof Number);
    }

    private static String cell(@Nullable Object value) {
        return value == null ? "" : value.toString();
    }

    /**
     * Returns a table in Markdown.
     *
     * @param rows the answer
     * @return its lines
     */
    public static String markdown(Rows rows) {
        BiFunction<List<?>, Function<Object, String>, String> line =
                (cells, text) -> cells.stream().map(text).collect(Collectors.joining(" | ", "| ", " |\n"));
        StringBuilder table = new StringBuilder(line.apply(rows.columns(), name -> Markdown.escaped(name.toString())));
        StringBuilder rule = new StringBuilder("|");
        for (int column = 0; column < rows.columns().size(); column++) {
            rule.append(isNumeric(rows, column) ? " ---: |" : " --- |");
        }
        table.append(rule).append('\n');
        for (List<@Nullable Object> row : rows.rows()) {
            table.append(
                    line.apply(row.stream().map(RowsText::cell).toList(), text -> Markdown.escaped(text.toString())));
        }
        return table.toString();
    }

    /**
     * Returns a table for a spreadsheet, by RFC 4180. A text that a spreadsheet would evaluate is marked as in
     * {@link org.brickprofiler.report.CsvReport}.
     *
     * @param rows the answer
     * @return its lines
     */
    public static String csv(Rows rows) {
        StringBuilder table = new StringBuilder();
        CsvCells.addLine(table, rows.columns());
        for (List<@Nullable Object> row : rows.rows()) {
            CsvCells.addLine(table, row);
        }
        return table.toString();
    }

    /**
     * Returns a list of objects, one for each row.
     *
     * @param rows the answer
     * @return JSON that ends with a line break
     */
    public static String json(Rows rows) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (JsonGenerator json = JsonText.generator(out, JsonText.indented())) {
            json.writeStartArray();
            for (List<@Nullable Object> row : rows.rows()) {
                json.writeStartObject();
                for (int column = 0; column < row.size(); column++) {
                    json.writeFieldName(rows.columns().get(column));
                    json.writePOJO(row.get(column));
                }
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeRaw('\n');
        } catch (IOException impossible) {
            throw new UncheckedIOException("memory does not fail", impossible);
        }
        return out.toString(StandardCharsets.UTF_8);
    }
}
