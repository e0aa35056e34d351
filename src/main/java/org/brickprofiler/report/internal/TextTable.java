package org.brickprofiler.report.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.brickprofiler.internal.base.PlainText;

/**
 * A table in plain text, with a line of headers, a line for each item and a line of totals. Columns are as wide as
 * their widest cell, up to a limit; cells are made printable. Mutable; one thread.
 *
 * @param <T> the type of an item
 */
public final class TextTable<T> {

    /** The widest that a column gets; longer cells are shortened. */
    public static final int WIDEST = 40;

    private static final String GAP = "  ";

    private final List<Column<T>> columns = new ArrayList<>();

    private record Column<T>(String header, boolean toLeft, Function<T, String> cell, String total) {

        String pad(String text, int width) {
            String blanks = " ".repeat(width - text.length());
            return toLeft ? text + blanks : blanks + text;
        }
    }

    /** Creates a table without columns. */
    public TextTable() {}

    /**
     * Adds a column of text, aligned to the left.
     *
     * @param header its header
     * @param cell the text of an item
     * @param total the cell in the line of totals; empty for none
     * @return this
     */
    public TextTable<T> left(String header, Function<T, String> cell, String total) {
        columns.add(new Column<>(header, true, cell, total));
        return this;
    }

    /**
     * Adds a column of numbers, aligned to the right.
     *
     * @param header its header
     * @param cell the number of an item
     * @param total the cell in the line of totals; empty for none
     * @return this
     */
    public TextTable<T> right(String header, Function<T, String> cell, String total) {
        columns.add(new Column<>(header, false, cell, total));
        return this;
    }

    /**
     * Adds a column of numbers only if it has something to show.
     *
     * @param shown whether to add it
     * @param header its header
     * @param cell the number of an item
     * @param total the cell in the line of totals; empty for none
     * @return this
     */
    public TextTable<T> rightIf(boolean shown, String header, Function<T, String> cell, String total) {
        return shown ? right(header, cell, total) : this;
    }

    /**
     * Returns the table.
     *
     * @param items the items, one line each
     * @return lines that end with {@code "\n"}, without trailing blanks; the line of totals is omitted if no column has
     *     a total
     */
    public String render(List<T> items) {
        List<List<String>> lines = new ArrayList<>();
        lines.add(columns.stream().map(Column::header).toList());
        List<List<String>> cells =
                columns.stream().map(column -> shown(items, column.cell())).toList();
        for (int i = 0; i < items.size(); i++) {
            int item = i;
            lines.add(cells.stream().map(column -> column.get(item)).toList());
        }
        List<String> totals = columns.stream().map(Column::total).toList();
        boolean hasTotals = totals.stream().anyMatch(total -> !total.isEmpty());
        if (hasTotals) {
            lines.add(totals);
        }

        int[] widths = IntStream.range(0, columns.size())
                .map(column -> widest(lines, column))
                .toArray();
        String rule = IntStream.of(widths).mapToObj("-"::repeat).collect(Collectors.joining(GAP)) + "\n";
        StringBuilder table = new StringBuilder(line(lines.get(0), widths)).append(rule);
        for (int i = 1; i < lines.size(); i++) {
            boolean isTotals = hasTotals && i == lines.size() - 1;
            table.append(isTotals ? rule : "").append(line(lines.get(i), widths));
        }
        return table.toString();
    }

    /**
     * Returns the texts of some items, printable and bounded in length, as tables show them.
     *
     * @param <T> the type of an item
     * @param items the items
     * @param text the text of an item
     * @return a distinct text for each distinct text, in the order of the items
     */
    public static <T> List<String> shown(List<T> items, Function<T, String> text) {
        return PlainText.shortened(
                items.stream().map(item -> PlainText.ascii(text.apply(item))).toList(), WIDEST);
    }

    private static int widest(List<List<String>> lines, int column) {
        return lines.stream().mapToInt(line -> line.get(column).length()).max().orElse(0);
    }

    private String line(List<String> cells, int[] widths) {
        String line = IntStream.range(0, widths.length)
                .mapToObj(i -> columns.get(i).pad(cells.get(i), widths[i]))
                .collect(Collectors.joining(GAP));
        return line.stripTrailing() + "\n";
    }
}
