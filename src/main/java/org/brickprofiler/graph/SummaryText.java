package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.brickprofiler.io.PlainText;

/** Writes a {@link CriticalPathSummary} as plain text. Stateless; any thread. */
final class SummaryText {

    /** The widest that a name gets. */
    private static final int WIDEST = 40;

    private static final String CUT = "...";
    private static final String GAP = "  ";

    private SummaryText() {}

    static String of(CriticalPathSummary summary) {
        return head(summary) + names(summary) + opportunities(summary) + runs(summary);
    }

    private static String head(CriticalPathSummary summary) {
        CriticalPath path = summary.path();
        String head = "Critical path\n"
                + "  path         " + us(path.totalNs()) + " us, through " + path.nodes().size() + " of "
                + summary.nodeCount() + " nodes\n"
                + "  work         " + us(summary.workNs()) + " us, each moment counted once\n"
                + String.format(Locale.ROOT, "  parallelism  %.2f on average\n", summary.averageParallelism());
        return head + losses(summary) + unbalanced(summary);
    }

    private static String losses(CriticalPathSummary summary) {
        if (summary.droppedNodes() == 0 && summary.droppedDependencies() == 0) {
            return "";
        }
        return "  incomplete   " + summary.droppedNodes() + " nodes and " + summary.droppedDependencies()
                + " dependencies were beyond the recorder's budget\n";
    }

    private static String unbalanced(CriticalPathSummary summary) {
        StringBuilder lines = new StringBuilder();
        if (!summary.unbalancedScopes().isEmpty()) {
            lines.append("  unbalanced   never closed: ")
                    .append(listed(summary.unbalancedScopes()))
                    .append("\n");
        }
        if (summary.unmatchedPops() > 0) {
            lines.append("  unbalanced   closed without being open: ")
                    .append(summary.unmatchedPops())
                    .append(" times\n");
        }
        return lines.toString();
    }

    private static String listed(List<String> names) {
        String first = names.stream()
                .limit(CriticalPathSummary.DEFAULT_LIMIT)
                .map(name -> "'" + printable(name) + "'")
                .collect(Collectors.joining(", "));
        int more = names.size() - CriticalPathSummary.DEFAULT_LIMIT;
        return more > 0 ? first + " and " + more + " more" : first;
    }

    private static String names(CriticalPathSummary summary) {
        List<List<String>> lines = new ArrayList<>();
        long othersNs = summary.path().totalNs();
        int othersNodes = summary.path().nodes().size();
        for (NameOnPath name : summary.names()) {
            lines.add(List.of(
                    printable(name.name()),
                    String.valueOf(name.nodes()),
                    us(name.onPathNs()),
                    percent(name.percentOfPath())));
            othersNs -= name.onPathNs();
            othersNodes -= name.nodes();
        }
        if (othersNs > 0) {
            double percent = 100.0 * othersNs / summary.path().totalNs();
            lines.add(List.of("(others)", String.valueOf(othersNodes), us(othersNs), percent(percent)));
        }
        return table(
                "On the path, most time first", 1, List.of("name", "nodes", "us on path", "% of path"), lines);
    }

    private static String opportunities(CriticalPathSummary summary) {
        return table(
                "The path if all nodes of a name, and what is in them, took no time: the most that can be gained",
                1,
                List.of("name", "path then, us", "gain, us", "% of path"),
                summary.opportunities().stream()
                        .map(name -> List.of(
                                printable(name.name()),
                                us(name.pathWithoutNs()),
                                us(name.gainNs()),
                                percent(100.0 * name.gainNs() / name.pathNs())))
                        .toList());
    }

    private static String runs(CriticalPathSummary summary) {
        return table(
                "Siblings in sequence, no dependency recorded: they could run side by side if they are independent",
                2,
                List.of("siblings", "first in", "places", "together, us", "saved at most, us"),
                summary.runs().stream()
                        .map(run -> List.of(
                                siblings(run.names()),
                                printable(run.parentName()) + " (node " + run.parent() + ")",
                                String.valueOf(run.places()),
                                us(run.sumNs()),
                                us(run.potentialNs())))
                        .toList());
    }

    private static String siblings(List<String> names) {
        String ends = printable(names.get(0)) + (names.size() == 2 ? ", " : " ... ")
                + printable(names.get(names.size() - 1));
        return ends + " (" + names.size() + ")";
    }

    /** Nothing where there are no lines. The first columns are aligned to the left. */
    private static String table(String title, int toLeft, List<String> header, List<List<String>> lines) {
        if (lines.isEmpty()) {
            return "";
        }
        List<List<String>> all = new ArrayList<>();
        all.add(header);
        all.addAll(lines);
        int[] widths = new int[header.size()];
        for (List<String> line : all) {
            for (int column = 0; column < widths.length; column++) {
                widths[column] = Math.max(widths[column], line.get(column).length());
            }
        }
        return "\n" + title + "\n\n"
                + all.stream().map(line -> line(line, toLeft, widths)).collect(Collectors.joining());
    }

    private static String line(List<String> cells, int toLeft, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < widths.length; column++) {
            String cell = cells.get(column);
            String blanks = " ".repeat(widths[column] - cell.length());
            line.append(column == 0 ? "" : GAP).append(column < toLeft ? cell + blanks : blanks + cell);
        }
        return line.toString().stripTrailing() + "\n";
    }

    /** Microseconds with all their nanoseconds. */
    private static String us(long ns) {
        return String.format(Locale.ROOT, "%,d.%03d", ns / 1_000, ns % 1_000);
    }

    private static String percent(double percent) {
        return String.format(Locale.ROOT, "%.1f", percent);
    }

    /** One line of ASCII. A long name is cut in its middle: the names of kernels tend to differ at the end. */
    private static String printable(String name) {
        String plain = PlainText.ascii(name);
        if (plain.length() <= WIDEST) {
            return plain;
        }
        int kept = (WIDEST - CUT.length()) / 2;
        return plain.substring(0, kept) + CUT + plain.substring(plain.length() - kept);
    }
}
