package org.brickprofiler.cli;

import static org.brickprofiler.report.internal.HumanUnits.NONE;
import static org.brickprofiler.report.internal.HumanUnits.durationCell;
import static org.brickprofiler.report.internal.HumanUnits.percent;
import static org.brickprofiler.report.internal.HumanUnits.percentileCell;
import static org.brickprofiler.report.internal.HumanUnits.rateCell;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.cli.TopWindow.Activity;
import org.brickprofiler.console.Style;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.internal.TextTable;

/**
 * The text of {@code brick top} for a whole screen: as many bricks as fit, with the percentiles, the change and the
 * trend of each. Immutable; any thread.
 *
 * @param title the line at the top
 * @param window the readings
 * @param order the order of the bricks
 * @param isPaused whether later readings are not shown
 */
record TopPage(String title, TopWindow window, Order order, boolean isPaused) {

    /** The fewest bricks for whose sake phases, and then requests, are left out. */
    private static final int FEWEST_BRICKS = 5;

    /** The fewest rows with lines of bricks: an empty one, the heading, a brick, and its hottest line. */
    private static final int FEWEST_LINES = 4;

    /** The header of a table and its rule. */
    private static final int HEAD = 2;

    private static final String GAP = "  ";
    private static final int WIDE = 100;
    private static final int NARROW = 80;
    private static final int LONG_TREND = 20;
    private static final int SHORT_TREND = 10;

    /** The bars from no time, over the least time, up to the most time. */
    private static final String BLOCKS = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588";

    private static final String LETTERS = "_.-:=+*#";

    /** An order of bricks. */
    enum Order {
        TOTAL("total"),
        P99("p99"),
        CHANGE("change");

        private final String header;

        Order(String header) {
            this.header = header;
        }

        Order next() {
            return switch (this) {
                case TOTAL -> P99;
                case P99 -> CHANGE;
                case CHANGE -> TOTAL;
            };
        }

        private Comparator<TopReading.Brick> comparator(Activity now) {
            return switch (this) {
                case TOTAL -> Comparator.comparingLong(TopReading.Brick::ns).reversed();
                case P99 ->
                    Comparator.<TopReading.Brick>comparingLong(brick -> brick.latency()
                                    .map(times -> times.percentileNs(99))
                                    .orElse(-1L))
                            .reversed();
                case CHANGE ->
                    Comparator.<TopReading.Brick>comparingDouble(
                                    brick -> Math.abs(change(now, brick).orElse(0)))
                            .reversed();
            };
        }
    }

    /**
     * A screen.
     *
     * @param rows the number of lines
     * @param columns the width
     * @param isUnicode whether it shows letters of all scripts
     * @param isColoured whether it shows colour and weight
     * @param hasKeys whether keys are read as they are pressed
     */
    record Size(int rows, int columns, boolean isUnicode, boolean isColoured, boolean hasKeys) {

        /** Returns the size of a page above a line for the shell, without the line that names the keys. */
        Size aboveShell() {
            return new Size(rows - 1, columns, isUnicode, isColoured, false);
        }
    }

    TopPage withOrder(Order other) {
        return new TopPage(title, window, other, isPaused);
    }

    TopPage withPause(boolean paused) {
        return new TopPage(title, window, order, paused);
    }

    /**
     * Returns the lines, which fit the screen.
     *
     * @param screen the screen
     * @return at most as many lines as the screen has
     */
    List<String> lines(Size screen) {
        List<String> keys = screen.hasKeys() ? fitted(keys(), screen) : List.of();
        Optional<Activity> activity = window.activity();
        List<String> lines = new ArrayList<>(fitted(title + (isPaused ? ", paused" : ""), screen));
        if (activity.isEmpty()) {
            lines.addAll(fitted(window.beginsText(), screen));
        } else {
            addBody(lines, activity.get(), screen, screen.rows() - keys.size());
        }
        int rows = Math.max(0, screen.rows() - keys.size());
        List<String> page = new ArrayList<>(lines.subList(0, Math.min(lines.size(), rows)));
        if (!keys.isEmpty()) {
            while (page.size() < rows) {
                page.add("");
            }
            page.addAll(keys);
        }
        return coloured(page, screen).subList(0, Math.min(page.size(), Math.max(1, screen.rows())));
    }

    private String keys() {
        return "Keys: q ends, s changes the order (total, p99, change), p " + (isPaused ? "continues" : "pauses");
    }

    private void addBody(List<String> lines, Activity now, Size screen, int rows) {
        lines.addAll(fitted(
                "Window: the " + now.lengthText() + ". Bricks by " + order.header
                        + ". Change: total a second, against the window before."
                        + (trendColumns(screen) == 0
                                ? ""
                                : " Trend: a bar for each reading of both windows, the newest on the right."),
                screen));
        if (!now.progressText().isEmpty()) {
            lines.addAll(fitted(now.progressText(), screen));
        }
        List<String> end = fitted(now.allText(), screen);
        List<List<String>> further = new ArrayList<>(List.of(
                fitted(now.requestsText(screen.columns()), screen), fitted(now.phasesText(screen.columns()), screen)));
        int bricks = now.bricks().size();
        // Of the lines for bricks, one states how many are not shown.
        int left = rows
                - lines.size()
                - end.size()
                - HEAD
                - 2
                - further.stream().mapToInt(part -> part.size() + 1).sum();
        while (!further.isEmpty() && left < Math.min(FEWEST_BRICKS, bricks)) {
            left += further.remove(further.size() - 1).size() + 1;
        }
        String linesText = now.linesText(sorted(now));
        List<String> ofBricks = linesText.isEmpty() ? List.of() : fitted(linesText, screen);
        int most = Math.max(1, left);
        int forLines = rowsForLines(ofBricks.size(), bricks, most);
        for (List<String> part : further) {
            lines.add("");
            lines.addAll(part);
        }
        lines.add("");
        lines.addAll(bricks == 0 ? List.of("Bricks: none were recorded.") : bricks(now, screen, most - forLines));
        lines.addAll(bricks == 0 ? List.of() : end);
        if (forLines > 0) {
            lines.add("");
            lines.addAll(ofBricks.subList(0, Math.min(ofBricks.size(), forLines - 1)));
        }
    }

    /**
     * Returns the number of rows for the lines of bricks and the empty row before them, of those for bricks: half of
     * them, and those that the bricks do not need; 0 if there are too few.
     *
     * @param lines the rows that they need
     * @param bricks the rows that the bricks need
     * @param most the rows for both
     */
    private static int rowsForLines(int lines, int bricks, int most) {
        int rows = Math.min(1 + lines, most - Math.min(bricks, Math.max(FEWEST_BRICKS, most / 2)));
        return lines > 0 && rows >= Math.min(1 + lines, FEWEST_LINES) ? rows : 0;
    }

    private List<TopReading.Brick> sorted(Activity now) {
        return now.bricks().stream().sorted(order.comparator(now)).toList();
    }

    private List<String> bricks(Activity now, Size screen, int most) {
        List<TopReading.Brick> all = sorted(now);
        List<TopReading.Brick> shown = all.subList(0, Math.min(all.size(), most));
        int trend = trendColumns(screen);
        int columns = screen.columns() - (trend == 0 ? 0 : trend + GAP.length());
        List<String> lines = new ArrayList<>(table(now)
                .render(shown, columns, List.of("total", "%", "p50", "p99", "change"))
                .lines()
                .toList());
        if (trend > 0) {
            int width = lines.get(1).length();
            for (int i = 0; i < lines.size(); i++) {
                String bars =
                        switch (i) {
                            case 0 -> " ".repeat(trend - "trend".length()) + "trend";
                            case 1 -> "-".repeat(trend);
                            default -> trend(now, shown.get(i - HEAD), trend, screen.isUnicode());
                        };
                lines.set(i, lines.get(i) + " ".repeat(width - lines.get(i).length()) + GAP + bars);
            }
        }
        if (shown.size() < all.size()) {
            long hiddenNs = all.stream()
                    .skip(shown.size())
                    .mapToLong(TopReading.Brick::ns)
                    .sum();
            lines.add(Plural.of(all.size() - shown.size(), "more brick") + ": " + share(now, hiddenNs) + " %");
        }
        return lines;
    }

    private static TextTable<TopReading.Brick> table(Activity now) {
        return new TextTable<TopReading.Brick>()
                .left("brick", TopReading.Brick::name, "")
                .left("category", TopReading.Brick::category, "")
                .right("total", brick -> brick.cell(durationCell(brick.ns())), "")
                .right("%", brick -> brick.cell(share(now, brick.ns())), "")
                .right("samples/s", brick -> rateCell(brick.count() / now.seconds()), "")
                .right("avg", brick -> brick.cell(durationCell((double) brick.ns() / brick.count())), "")
                .right("p50", brick -> percentile(brick, 50), "")
                .right("p99", brick -> percentile(brick, 99), "")
                .right("change", brick -> changeCell(now, brick), "");
    }

    private static String share(Activity now, long ns) {
        return percent(100.0 * ns / Math.max(1, now.allNs()));
    }

    private static String percentile(TopReading.Brick brick, int percent) {
        return brick.latency()
                .map(times -> brick.cell(percentileCell(times, percent)))
                .orElse(NONE);
    }

    /**
     * Returns by how much more ns a brick takes a second than in the window before; empty if there was none, or one of
     * the times is unknown.
     */
    private static OptionalDouble change(Activity now, TopReading.Brick brick) {
        if (now.before().isEmpty()) {
            return OptionalDouble.empty();
        }
        double change = perSecond(now.sums(), brick) - perSecond(now.before().get(), brick);
        return Double.isNaN(change) ? OptionalDouble.empty() : OptionalDouble.of(change);
    }

    /** Returns the ns that a brick takes a second; NaN if its time is unknown. */
    private static double perSecond(TopReading window, TopReading.Brick brick) {
        TopReading.Brick part = window.bricks().get(TopReading.key(brick));
        if (part == null) {
            return 0;
        }
        return part.device().isTimed() ? part.ns() / Activity.seconds(window) : Double.NaN;
    }

    private static String changeCell(Activity now, TopReading.Brick brick) {
        OptionalDouble change = change(now, brick);
        return change.isEmpty()
                ? NONE
                : (change.getAsDouble() < 0 ? "-" : "+") + durationCell(Math.abs(change.getAsDouble()));
    }

    private static int trendColumns(Size screen) {
        return screen.columns() >= WIDE ? LONG_TREND : screen.columns() >= NARROW ? SHORT_TREND : 0;
    }

    /**
     * Returns a bar for each of the latest readings, the newest on the right; blank before the first one, and where the
     * time is unknown.
     */
    private static String trend(Activity now, TopReading.Brick brick, int most, boolean isUnicode) {
        List<Double> rates = now.parts().stream()
                .skip(Math.max(0, now.parts().size() - most))
                .map(part -> perSecond(part, brick))
                .toList();
        double largest = rates.stream()
                .mapToDouble(rate -> rate)
                .filter(rate -> rate > 0)
                .max()
                .orElse(0);
        String bars = isUnicode ? BLOCKS : LETTERS;
        StringBuilder trend = new StringBuilder(" ".repeat(most - rates.size()));
        rates.forEach(rate -> trend.append(
                Double.isNaN(rate)
                        ? ' '
                        : bars.charAt(
                                rate <= 0 ? 0 : (int) Math.max(1, Math.round(rate / largest * (bars.length() - 1))))));
        return trend.toString();
    }

    private static List<String> fitted(String text, Size screen) {
        return new Style(screen.columns(), true, false)
                .applied(PlainText.visible(text))
                .lines()
                .map(line -> line.substring(0, Math.min(line.length(), screen.columns())))
                .toList();
    }

    private static List<String> coloured(List<String> lines, Size screen) {
        String text = String.join("\n", lines);
        return new Style(screen.columns(), true, screen.isColoured())
                .applied(text)
                .lines()
                .toList();
    }
}
