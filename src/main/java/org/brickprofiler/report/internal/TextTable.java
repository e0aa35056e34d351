package org.brickprofiler.report.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
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

    /** The width below which a table has its important columns only. */
    private static final int WIDE = 100;

    /** The least characters that the first column keeps in a narrow table. */
    private static final int NARROWEST = 16;

    /** The least characters of a cell that is cut in its middle. */
    private static final int SHORTEST = 5;

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
        return render(items, Integer.MAX_VALUE, List.of());
    }

    /**
     * Returns the table without the columns that do not fit. The first column stays, and is shortened if necessary; the
     * others stay if they fit, the important ones first. Below {@value #WIDE} characters, only the important ones do.
     *
     * @param items the items, one line each
     * @param mostColumns the width that no line exceeds, characters
     * @param important the headers of the important columns, the most important one first; empty if all are alike
     * @return the table, as {@link #render(List)} does
     */
    public String render(List<T> items, int mostColumns, List<String> important) {
        List<List<String>> texts = texts(items);
        int[] widths = fitting(texts, mostColumns, important);
        if (widths[0] < widest(texts.get(0))) {
            texts.set(0, PlainText.shortened(texts.get(0), widths[0]));
        }

        int last = items.size() + 1;
        StringBuilder table = new StringBuilder();
        for (int line = 0; line < texts.get(0).size(); line++) {
            if (line == 1 || line == last) {
                table.append(line(widths, (column, width) -> "-".repeat(width)));
            }
            int at = line;
            table.append(line(widths, (column, width) -> columns.get(column)
                    .pad(texts.get(column).get(at), width)));
        }
        return table.toString();
    }

    /**
     * Returns the columns that {@link #render(List, int, List)} leaves out with the same arguments.
     *
     * @param items the items, one line each
     * @param mostColumns the width that no line exceeds, characters
     * @param important the headers of the important columns, the most important one first; empty if all are alike
     * @return their headers, in the order of the columns
     */
    public List<String> leftOut(List<T> items, int mostColumns, List<String> important) {
        int[] widths = fitting(texts(items), mostColumns, important);
        return IntStream.range(0, widths.length)
                .filter(column -> widths[column] == 0)
                .mapToObj(column -> columns.get(column).header())
                .toList();
    }

    /** Returns the cells of each column, with its header and its total. */
    private List<List<String>> texts(List<T> items) {
        boolean hasTotals = columns.stream().anyMatch(column -> !column.total().isEmpty());
        List<List<String>> texts = new ArrayList<>();
        for (Column<T> column : columns) {
            List<String> cells = new ArrayList<>();
            cells.add(column.header());
            cells.addAll(shown(items, column.cell()));
            if (hasTotals) {
                cells.add(column.total());
            }
            texts.add(cells);
        }
        return texts;
    }

    /** Returns the width of each column; 0 for those that are left out. */
    private int[] fitting(List<List<String>> texts, int mostColumns, List<String> important) {
        List<String> byWorth = new ArrayList<>(important);
        if (mostColumns >= WIDE || important.isEmpty()) {
            columns.forEach(column -> byWorth.add(column.header()));
        }
        int[] widths = new int[columns.size()];
        widths[0] = widest(texts.get(0));
        int left = mostColumns - widths[0];
        for (String header : byWorth) {
            for (int i = 1; i < widths.length; i++) {
                int width = widest(texts.get(i)) + GAP.length();
                int shortened = important.contains(header) ? Math.max(0, widths[0] - NARROWEST) : 0;
                if (widths[i] == 0 && columns.get(i).header().equals(header) && width <= left + shortened) {
                    widths[i] = width - GAP.length();
                    left -= width;
                }
            }
        }
        widths[0] = Math.max(Math.min(widths[0], SHORTEST), widths[0] + Math.min(0, left));
        return widths;
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

    private static int widest(List<String> cells) {
        return cells.stream().mapToInt(String::length).max().orElse(0);
    }

    private static String line(int[] widths, BiFunction<Integer, Integer, String> cell) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            if (widths[i] > 0) {
                line.append(i == 0 ? "" : GAP).append(cell.apply(i, widths[i]));
            }
        }
        return line.toString().stripTrailing() + "\n";
    }
}
