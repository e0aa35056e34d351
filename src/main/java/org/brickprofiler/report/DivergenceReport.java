package org.brickprofiler.report;

import static org.brickprofiler.report.internal.HumanUnits.NONE;
import static org.brickprofiler.report.internal.HumanUnits.count;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.checksum.ChecksumComparison;
import org.brickprofiler.checksum.ChecksumEntry;
import org.brickprofiler.checksum.Divergence;
import org.brickprofiler.checksum.Divergence.ValueError;
import org.brickprofiler.checksum.Tolerance;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.internal.HumanUnits;
import org.brickprofiler.report.internal.TextTable;

/**
 * A comparison of two logs of checksums as text for a console: the verdict in the first line; then the first divergence
 * with the time of the brick on both sides, the entries before it, and the extent of the comparison. Printable ASCII,
 * with {@code "\n"} at the end of each line, in every locale. Stateless; any thread.
 */
public final class DivergenceReport {

    private static final String NOT_KNOWN = "not known";
    private static final String HERE = " here";
    private static final String IN_REFERENCE = " in the reference";

    /** The columns of the table after the name, in the order in which they stay in a narrow one. */
    private static final List<String> BY_WORTH =
            List.of("layer", "pos", "checksum here", "in the reference", "time here", "reference time");

    private final ChecksumComparison comparison;
    private final int columns;
    private final StringBuilder text = new StringBuilder();

    private DivergenceReport(ChecksumComparison comparison, int columns) {
        this.comparison = comparison;
        this.columns = columns;
    }

    /**
     * Returns the report of a comparison.
     *
     * @param comparison the result of the comparison
     * @return lines of text
     */
    public static String render(ChecksumComparison comparison) {
        return render(comparison, Integer.MAX_VALUE);
    }

    /**
     * Returns the report for a terminal, as {@link #render(ChecksumComparison)}. Its table leaves out the least
     * important columns that do not fit, and a line names them.
     *
     * @param comparison the result of the comparison
     * @param columns the width that no line of the table exceeds, characters
     * @return lines of text
     */
    public static String render(ChecksumComparison comparison, int columns) {
        DivergenceReport report = new DivergenceReport(comparison, columns);
        report.line(comparison.first().map(Divergence::toString).orElseGet(report::agreement));
        comparison.first().ifPresent(report::divergence);
        report.before();
        report.totals();
        return report.text.toString();
    }

    private String agreement() {
        if (comparison.compared() == 0) {
            return "NOTHING COMPARED: both logs are empty";
        }
        boolean equal = comparison.equalHashes() == comparison.compared();
        return "NO DIVERGENCE: " + entries(comparison.compared())
                + (equal ? " with equal checksums" : " within the tolerance");
    }

    private void line(String line) {
        text.append(PlainText.ascii(line)).append('\n');
    }

    private void fact(String what, String value) {
        line(String.format(Locale.ROOT, "  %-14s  %s", what, value));
    }

    private void divergence(Divergence divergence) {
        fact("time", sides(divergence, DivergenceReport::time));
        if (divergence.repeat() > 0) {
            fact("repeat", "number " + count(divergence.repeat() + 1L) + " with this name, layer and position");
        }
        divergence.worst().ifPresent(worst -> fact("value", value(worst)));
        fact("floats", sides(divergence, entry -> count(entry.elements())));
        boolean finite = Stream.of(divergence.here(), divergence.reference())
                .flatMap(Optional::stream)
                .allMatch(ChecksumEntry::isFinite);
        if (!finite) {
            fact("not finite", sides(divergence, DivergenceReport::nonFinite));
        }
    }

    /** Returns the description of the entry on each side that has it. */
    private static String sides(Divergence divergence, Function<ChecksumEntry, String> part) {
        Optional<String> here = divergence.here().map(part).map(known -> known + HERE);
        Optional<String> reference = divergence.reference().map(part).map(known -> known + IN_REFERENCE);
        return Stream.of(here, reference).flatMap(Optional::stream).collect(Collectors.joining(", "));
    }

    private static String time(ChecksumEntry entry) {
        OptionalLong elapsedNs = entry.elapsedNs();
        return elapsedNs.isPresent() ? HumanUnits.duration(elapsedNs.getAsLong()) : NOT_KNOWN;
    }

    private static String nonFinite(ChecksumEntry entry) {
        return entry.nans() + " NaN and " + entry.infinities() + " infinite";
    }

    private static String value(ValueError error) {
        return String.format(
                Locale.ROOT,
                "float %d: expected %s, got %s (absolute error %s, relative error %s)",
                error.index(),
                error.expected(),
                error.got(),
                number(error.absolute()),
                number(error.relative()));
    }

    /**
     * Returns three significant digits: errors are usually far below 1, where a fixed number of decimals would show
     * zeros.
     */
    private static String number(double value) {
        return String.format(Locale.ROOT, "%.3g", value);
    }

    private void before() {
        if (comparison.before().isEmpty()) {
            return;
        }
        boolean diverges = !comparison.matches();
        text.append(diverges ? "\nThe last entries before it, which agree\n\n" : "\nThe last entries\n\n");
        TextTable<ChecksumComparison.Pair> table = new TextTable<ChecksumComparison.Pair>()
                .left("brick", pair -> pair.here().name(), "")
                .right("layer", pair -> String.valueOf(pair.here().layer()), "")
                .right("pos", pair -> String.valueOf(pair.here().position()), "")
                .left("checksum here", pair -> hash(pair.here()), "")
                .left("in the reference", DivergenceReport::referenceHash, "")
                .right("time here", pair -> timeCell(pair.here()), "")
                .right("reference time", pair -> timeCell(pair.reference()), "");
        text.append(table.render(comparison.before(), columns, BY_WORTH));
        List<String> leftOut = table.leftOut(comparison.before(), columns, BY_WORTH);
        if (!leftOut.isEmpty()) {
            line("A table of " + columns + " characters leaves out columns: " + String.join(", ", leftOut) + ".");
        }
    }

    private static String hash(ChecksumEntry entry) {
        return String.format(Locale.ROOT, "0x%016X", entry.hash());
    }

    private static String referenceHash(ChecksumComparison.Pair pair) {
        return pair.here().hash() == pair.reference().hash() ? "the same" : hash(pair.reference());
    }

    private static String timeCell(ChecksumEntry entry) {
        return entry.elapsedNs().isPresent()
                ? HumanUnits.durationCell(entry.elapsedNs().getAsLong())
                : NONE;
    }

    private void totals() {
        text.append("\nComparison\n");
        fact("tolerance", tolerance(comparison.tolerance()));
        fact(
                "on both sides",
                entries(comparison.compared()) + ", " + count(comparison.equalHashes()) + " with equal checksums, "
                        + count(comparison.diverging()) + " diverging");
        if (comparison.comparedByHash() > 0) {
            fact("", "compared by checksum, since a log has no samples to apply the tolerance to");
        }
        if (comparison.nonFiniteByNumber() > 0) {
            fact(
                    "",
                    entries(comparison.nonFiniteByNumber())
                            + " with NaN or infinite values that neither samples nor equal checksums cover: only their"
                            + " numbers were compared, not their places or the signs of infinities");
        }
        fact("only here", only(comparison.here()));
        fact("only reference", only(comparison.reference()));
        comparison
                .largestAbsolute()
                .ifPresent(error -> fact("largest error", "absolute " + at(error, error.absolute())));
        comparison.largestRelative().ifPresent(error -> fact("", "relative " + at(error, error.relative())));
        nonFinite(HERE, comparison.here());
        nonFinite(IN_REFERENCE, comparison.reference());
        dropped(HERE, comparison.here());
        dropped(IN_REFERENCE, comparison.reference());
    }

    private static String tolerance(Tolerance tolerance) {
        return tolerance.isExact()
                ? "exact: checksums are compared"
                : tolerance.name() + ": |got - expected| <= " + number(tolerance.absolute()) + " + "
                        + number(tolerance.relative()) + " * |expected|, of sampled values";
    }

    private static String only(ChecksumComparison.Side log) {
        Optional<Divergence> first = log.only().stream().findFirst();
        return entries(log.only().size())
                + first.map(only -> ", the first " + place(only.name(), only.layer(), only.position()))
                        .orElse("");
    }

    private static String entries(long count) {
        return Plural.of(count, "entry", "entries");
    }

    private static String place(String name, int layer, int position) {
        return "'" + name + "' (layer " + layer + ", pos " + position + ")";
    }

    private static String place(ChecksumEntry entry) {
        return place(entry.name(), entry.layer(), entry.position());
    }

    private static String at(ValueError error, double size) {
        return number(size) + " at " + place(error.entry()) + ", float " + error.index();
    }

    private void nonFinite(String where, ChecksumComparison.Side log) {
        log.firstNonFinite()
                .ifPresent(first -> fact(
                        "not finite",
                        entries(log.nonFinite()) + where + " with NaN or infinite values, the first " + place(first)));
    }

    private void dropped(String where, ChecksumComparison.Side log) {
        if (log.dropped() > 0) {
            fact(
                    "dropped",
                    entries(log.dropped()) + where
                            + " because the log was full; the missing entries may be among them");
        }
    }
}
