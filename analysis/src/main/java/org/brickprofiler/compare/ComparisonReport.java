package org.brickprofiler.compare;

import static org.brickprofiler.report.internal.HumanUnits.NONE;
import static org.brickprofiler.report.internal.HumanUnits.count;
import static org.brickprofiler.report.internal.HumanUnits.durationCell;
import static org.brickprofiler.report.internal.HumanUnits.rateCell;
import static org.brickprofiler.report.internal.Markdown.escaped;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.text.NumberFormat;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.compare.RunComparison.Change;
import org.brickprofiler.compare.RunComparison.Kind;
import org.brickprofiler.compare.RunComparison.Line;
import org.brickprofiler.compare.RunComparison.MethodsOfBrick;
import org.brickprofiler.compare.RunComparison.Side;
import org.brickprofiler.compare.RunComparison.Verdict;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.internal.HtmlPage;
import org.brickprofiler.report.internal.JsonText;
import org.brickprofiler.report.internal.TextTable;

/**
 * A comparison of runs for people, for a pull request, for a browser, and for programs. In each form, the remarks that
 * cast doubt on the figures come before the compared lines. Equal comparisons give equal text, in every locale.
 * Stateless; any thread.
 */
public final class ComparisonReport {

    private static final String SCHEMA_VERSION = "1.0";
    private static final String METHODS = "Methods of bricks that became slower";

    /**
     * The largest upper end of an interval, and the largest smallest change, %, that are printed. A larger one is
     * printed as "more than this": only its order of magnitude is of interest.
     */
    private static final double MOST_SHOWN_PERCENT = 1_000;

    /** The most changed bricks that the answer names. */
    private static final int NAMED = 3;

    /** The smallest change that can be shown, %, above which the answer advises to run more. */
    private static final double FINE_PERCENT = 5;

    /** The longest note in the table; longer notes follow below the table. */
    private static final int LONGEST_NOTE = 22;

    /**
     * The order of lines: those that changed, then the others, and last those that cannot be compared; within these,
     * the line by which a step wins or loses the most time first.
     */
    private static final Comparator<Line> MOST_TIME_FIRST = Comparator.comparingInt(ComparisonReport::rank)
            .thenComparing(
                    Comparator.comparingDouble(ComparisonReport::stepPercent).reversed());

    private ComparisonReport() {}

    /**
     * Returns the report for a console: printable ASCII, lines that end with {@code "\n"}.
     *
     * @param comparison the comparison
     * @return lines of text
     */
    public static String toText(RunComparison comparison) {
        StringBuilder text =
                new StringBuilder(headline(comparison)).append('\n').append(remarks(comparison));
        Block.EACH.forEach(block -> text.append(block.text(block.of(comparison))));
        return text.append('\n')
                .append(legend(comparison))
                .append('\n')
                .append(methods(comparison))
                .toString();
    }

    /**
     * Returns the report for a console, with the answer first and last: a sentence, the remarks, the whole, and the
     * lines that changed. The other lines are counted.
     *
     * @param comparison the comparison
     * @return lines of printable ASCII that end with {@code "\n"}
     */
    public static String toBriefText(RunComparison comparison) {
        StringBuilder text = new StringBuilder(answer(comparison))
                .append('\n')
                .append(headline(comparison))
                .append('\n')
                .append(remarks(comparison));
        List<Line> hidden = new ArrayList<>();
        double floor = comparison.options().floorPercent();
        for (Block block : Block.EACH) {
            List<Line> lines = block.of(comparison);
            text.append(block.text(
                    lines.stream().filter(line -> !block.canHide(line, floor)).toList()));
            lines.stream().filter(line -> block.canHide(line, floor)).forEach(hidden::add);
        }
        if (!hidden.isEmpty()) {
            text.append('\n').append(hidden(hidden)).append('\n');
        }
        text.append('\n').append(answer(comparison)).append('\n');
        next(comparison).ifPresent(next -> text.append("Next: ").append(next).append(".\n"));
        return text.append(methods(comparison)).toString();
    }

    private static String methods(RunComparison comparison) {
        return comparison.methods().stream()
                .map(brick -> "  " + PlainText.ascii(brick.brick()) + ": " + PlainText.ascii(sentence(brick)) + ".\n")
                .collect(Collectors.joining("", comparison.methods().isEmpty() ? "" : "\n" + METHODS + "\n", ""));
    }

    /** Returns the methods that take longer in words, without a full stop. */
    private static String sentence(MethodsOfBrick brick) {
        if (brick.methods().isEmpty()) {
            return brick.note();
        }
        boolean isBeside =
                brick.methods().stream().anyMatch(line -> line.beside().isPresent());
        List<String> slower = brick.methods().stream()
                .filter(line -> line.verdict() == Verdict.SLOWER)
                .sorted(MOST_TIME_FIRST)
                .map(line -> line.name()
                        + line.tested().map(ComparisonReport::inWords).orElse(""))
                .toList();
        return (slower.isEmpty()
                        ? "of the " + Plural.of(brick.methods().size(), "method")
                                + " with samples in all runs, none is shown to take longer"
                        : String.join(", ", slower))
                + (isBeside ? " beside the others" : "");
    }

    private static String inWords(Change change) {
        return String.format(Locale.ROOT, " %+.0f %%", change.percent())
                + (change.hasInterval()
                        ? String.format(Locale.ROOT, " (%+.0f to %+.0f %%)", change.lowPercent(), change.highPercent())
                        : "");
    }

    private static String remarks(RunComparison comparison) {
        return comparison.remarks().stream()
                .map(remark -> "! " + PlainText.ascii(remark) + "\n")
                .collect(Collectors.joining());
    }

    /** Returns a sentence on the lines that are not shown, such as {@code 28 others: 20 no difference shown}. */
    private static String hidden(List<Line> lines) {
        Map<String, Long> counts = lines.stream()
                .collect(Collectors.groupingBy(
                        line -> line.verdict().displayName(), LinkedHashMap::new, Collectors.counting()));
        String verdicts = counts.size() == 1
                ? counts.keySet().iterator().next()
                : counts.entrySet().stream()
                        .map(each -> count(each.getValue()) + " " + each.getKey())
                        .collect(Collectors.joining(", "));
        return Plural.of(lines.size(), "other line") + ": " + verdicts
                + " (--all lists them and explains the columns).";
    }

    /**
     * Returns the answer in a sentence: the bricks that changed, the one with the most time won or lost first; or that
     * no difference was shown, and the change that would have been.
     */
    private static String answer(RunComparison comparison) {
        List<Line> bricks = comparison.lines().stream()
                .filter(line -> line.kind() == Kind.BRICK)
                .toList();
        List<Line> tested = bricks.stream()
                .filter(line -> line.verdict() == Verdict.NO_DIFFERENCE || isChange(line))
                .toList();
        if (tested.isEmpty()) {
            return "No verdict: " + (bricks.isEmpty() ? "no brick was recorded." : "no brick could be tested.");
        }
        List<String> parts = Stream.of(Verdict.SLOWER, Verdict.FASTER)
                .map(verdict -> changed(tested, verdict))
                .flatMap(Optional::stream)
                .toList();
        return parts.isEmpty() ? unchanged(comparison, tested) : String.join(" ", parts);
    }

    /** Returns the next step after the answer, without a full stop; empty if none is known or the answer names it. */
    private static Optional<String> next(RunComparison comparison) {
        List<Line> bricks = comparison.lines().stream()
                .filter(line -> line.kind() == Kind.BRICK)
                .toList();
        Optional<Line> slowest =
                bricks.stream().filter(line -> line.verdict() == Verdict.SLOWER).min(MOST_TIME_FIRST);
        if (slowest.isPresent()) {
            return Optional.of("compare the row of "
                    + PlainText.ascii(slowest.get().name()) + " in brick report FILE --html OUT of a run of each side");
        }
        boolean isWithoutVerdict = bricks.stream()
                .noneMatch(line -> line.verdict() == Verdict.FASTER || line.verdict() == Verdict.NO_DIFFERENCE);
        return isWithoutVerdict && bricks.stream().anyMatch(line -> line.verdict() == Verdict.TOO_FEW_RUNS)
                ? Optional.of("brick run runs both sides in turns, with enough runs for a verdict")
                : Optional.empty();
    }

    private static Optional<String> changed(List<Line> tested, Verdict verdict) {
        List<Line> lines = tested.stream()
                .filter(line -> line.verdict() == verdict)
                .sorted(MOST_TIME_FIRST)
                .toList();
        if (lines.isEmpty()) {
            return Optional.empty();
        }
        String named = lines.stream()
                .limit(NAMED)
                .map(line -> PlainText.ascii(line.name()) + " "
                        + signed(line.tested().orElseThrow().percent()) + " %")
                .collect(Collectors.joining(", "));
        boolean isBesideOthers = lines.stream().anyMatch(line -> line.beside().isPresent());
        return Optional.of(count(lines.size()) + " of " + Plural.of(tested.size(), "brick")
                + (lines.size() == 1 ? " is " : " are ") + verdict.displayName() + ": " + named
                + (lines.size() > NAMED ? ", ..." : "")
                + (isBesideOthers ? " beside the others." : "."));
    }

    private static String unchanged(RunComparison comparison, List<Line> tested) {
        List<String> others = comparison.lines().stream()
                .filter(line -> line.kind() != Kind.BRICK && isChange(line))
                .map(line ->
                        PlainText.ascii(line.name()) + " (" + line.verdict().displayName() + ")")
                .toList();
        double[] smallest = tested.stream()
                .map(Line::smallestPercent)
                .filter(OptionalDouble::isPresent)
                .mapToDouble(OptionalDouble::getAsDouble)
                .sorted()
                .toArray();
        return "No difference shown in the time of " + Plural.of(tested.size(), "brick")
                + (others.isEmpty()
                        ? ""
                        : ", but in " + String.join(", ", others.subList(0, Math.min(NAMED, others.size())))
                                + (others.size() > NAMED ? ", ..." : ""))
                + (smallest.length == 0
                        ? "."
                        : String.format(
                                Locale.ROOT,
                                "; in half of them, these runs could only have shown a change of %s %% or more%s.",
                                atMost(smallest[(smallest.length - 1) / 2]),
                                smallest[(smallest.length - 1) / 2] > FINE_PERCENT ? advice(comparison) : ""));
    }

    private static String advice(RunComparison comparison) {
        long disturbed = Stream.concat(comparison.before().stream(), comparison.after().stream())
                .filter(run -> !run.disturbances().isEmpty())
                .count();
        int runs = comparison.before().size() + comparison.after().size();
        return disturbed * 2 > runs
                ? ". The machine was busy in " + count(disturbed) + " of " + count(runs)
                        + " runs: run again when it is quiet"
                : ": run more";
    }

    /**
     * Returns the report for a comment in Markdown: lines that changed and lines of the whole are visible, the others
     * are folded. No name becomes markup; characters other than printable ASCII are escaped, as in Java source.
     *
     * @param comparison the comparison
     * @return lines of Markdown
     */
    public static String toMarkdown(RunComparison comparison) {
        StringBuilder text = new StringBuilder("**" + escaped(answer(comparison)) + "**\n\n");
        next(comparison)
                .ifPresent(next -> text.append("Next: ").append(escaped(next)).append(".\n\n"));
        text.append(headline(comparison)).append("\n\n");
        comparison.remarks().forEach(remark -> text.append("> :warning: ")
                .append(escaped(remark))
                .append("\n>\n"));
        if (!comparison.remarks().isEmpty()) {
            text.append('\n');
        }
        List<Line> changed = comparison.lines().stream()
                .filter(line -> Block.WHOLE.kinds().contains(line.kind()) || isChange(line))
                .toList();
        text.append(markdownTable(changed));
        List<Line> others = comparison.lines().stream()
                .filter(line -> !changed.contains(line))
                .toList();
        if (!others.isEmpty()) {
            text.append("\n<details><summary>")
                    .append(Plural.of(others.size(), "more line"))
                    .append("</summary>\n\n")
                    .append(markdownTable(others))
                    .append("\n</details>\n");
        }
        if (!comparison.methods().isEmpty()) {
            text.append("\n**" + METHODS + "**\n\n");
            comparison.methods().forEach(brick -> text.append("- ")
                    .append(escaped(brick.brick() + ": " + sentence(brick)))
                    .append(".\n"));
        }
        legend(comparison)
                .lines()
                .forEach(line -> text.append('\n').append(escaped(line)).append('\n'));
        return text.toString();
    }

    /**
     * Returns the comparison for programs. Keys are in snake case; times are in ns, shares and changes in percent
     * ({@code _pct}). Unknown values are omitted.
     *
     * @param comparison the comparison
     * @return indented JSON that ends with a line break
     */
    public static String toJson(RunComparison comparison) {
        return JsonText.of(json -> new Json(json).write(comparison), JsonText.indented());
    }

    /**
     * Returns the report as one page for a browser. The page loads nothing, opens from a disk, and can be printed. It
     * shows the remarks, the whole, and then bricks, the methods of slower ones, categories and tiles, each with its
     * interval drawn; the lines that win or lose the most time come first, and lines without a difference are pale. The
     * page contains the text of {@link #toJson}, which can be saved from it, and the text of {@link #toText}, which is
     * shown if scripts are off.
     *
     * @param comparison the comparison
     * @return HTML, to be stored as UTF-8
     */
    public static String toHtml(RunComparison comparison) {
        return HtmlPage.render(
                "Brick comparison",
                ComparisonReport.class::getResourceAsStream,
                List.of("comparison.js"),
                toText(comparison),
                HtmlPage.data("comparison", toJson(comparison)));
    }

    /**
     * Returns a line of text for each line that is slower, as the reason for a failed build.
     *
     * @param lines lines of a comparison, each of which is slower
     * @return lines such as {@code "RmsNorm: +6.1 % [+4.9, +7.3]"}, each ending with {@code "\n"}
     */
    public static String regressions(List<Line> lines) {
        return lines.stream()
                .map(line -> {
                    Change change = line.tested().orElseThrow();
                    return String.format(
                                    Locale.ROOT,
                                    "%s: %s %% %s%n",
                                    PlainText.ascii(line.name()),
                                    signed(change.percent()),
                                    change.hasInterval() ? interval(line) : "")
                            .replace("\r\n", "\n");
                })
                .collect(Collectors.joining());
    }

    // ---- words ----

    private static int rank(Line line) {
        return isChange(line) ? 0 : line.verdict() == Verdict.NOT_COMPARABLE ? 2 : 1;
    }

    /**
     * Returns the time that a step wins or loses by the change of a line, as a percentage of its brick time; -1 if it
     * is unknown.
     */
    private static double stepPercent(Line line) {
        return line.tested()
                .map(change -> line.sharePercent() * Math.abs(change.percent()) / 100)
                .orElse(-1.0);
    }

    private static boolean isChange(Line line) {
        return line.verdict() == Verdict.FASTER || line.verdict() == Verdict.SLOWER;
    }

    private static String headline(RunComparison comparison) {
        int before = comparison.before().size();
        String runs = Plural.of(before, "run") + " before, "
                + count(comparison.after().size()) + " after: ";
        List<String> parts = Stream.of(Verdict.values())
                .map(verdict -> tally(comparison, verdict, Kind.BRICK::equals))
                .flatMap(Optional::stream)
                .toList();
        List<String> tails = Stream.of(Verdict.FASTER, Verdict.SLOWER)
                .map(verdict -> tally(comparison, verdict, Kind::isTail))
                .flatMap(Optional::stream)
                .toList();
        return runs
                + (parts.isEmpty()
                        ? "no brick was recorded"
                        : (isByPhase(comparison) ? "of the bricks by phase " : "of the bricks ")
                                + String.join(", ", parts))
                + (tails.isEmpty() ? "" : "; of their percentiles " + String.join(", ", tails));
    }

    private static boolean isByPhase(RunComparison comparison) {
        return comparison.lines().stream().anyMatch(line -> line.phase().isPresent());
    }

    private static Optional<String> tally(RunComparison comparison, Verdict verdict, Predicate<Kind> kind) {
        long lines = comparison.lines().stream()
                .filter(line -> kind.test(line.kind()) && line.verdict() == verdict)
                .count();
        String words =
                switch (verdict) {
                    case FASTER, SLOWER, NOT_COMPARABLE -> verdict.displayName();
                    case NO_DIFFERENCE -> "without a difference shown";
                    case TOO_FEW_RUNS -> "of too few runs for a verdict";
                    case NOT_TESTED -> "not tested";
                };
        return lines == 0 ? Optional.empty() : Optional.of(count(lines) + " " + words);
    }

    private static String legend(RunComparison comparison) {
        StringBuilder legend = new StringBuilder();
        NumberFormat percent = new DecimalFormat("0.##", DecimalFormatSymbols.getInstance(Locale.ROOT));
        if (comparison.lines().stream().anyMatch(line -> line.beside().isPresent())) {
            List<String> baseline = comparison.options().baseline();
            legend.append("Beside others: without the part that ")
                    .append(
                            baseline.isEmpty()
                                    ? "all bricks"
                                    : PlainText.ascii("the baseline bricks (" + String.join(", ", baseline) + ")"))
                    .append(" of a run have in common; verdicts and intervals of categories, bricks and tiles refer to"
                            + " the rest.\n");
        }
        if (comparison.lines().stream().anyMatch(line -> line.probability().isPresent())) {
            legend.append(tails(comparison)).append('\n');
            legend.append(String.format(
                            Locale.ROOT,
                            "Verdicts come from one test for all lines: if nothing differs, the chance of any verdict"
                                    + " is at most %s %%. Changes below %s %% count for nothing.%nShown from: the smallest"
                                    + " change that four in five such comparisons find. Interval: the changes that the test does"
                                    + " not reject; those of all lines without a difference hold together with a"
                                    + " confidence of %s %%.%s%n",
                            percent.format(100 * RunComparison.LEVEL),
                            percent.format(comparison.options().floorPercent()),
                            percent.format(100 * (1 - RunComparison.LEVEL)),
                            trimmed(comparison.trimmedRuns()))
                    .replace("\r\n", "\n"));
        }
        if (isByPhase(comparison)) {
            legend.append("Prefill, decode, mixed: the samples of a brick in steps of this phase. No phase: its samples"
                    + " outside of steps, or whose step is not known.\n");
        }
        comparison.stepBrick().ifPresent(step -> legend.append("A step is one execution of ")
                .append(PlainText.ascii(step))
                .append('.'));
        return legend.toString().stripTrailing();
    }

    private static String tails(RunComparison comparison) {
        return comparison.lines().stream().anyMatch(line -> line.kind().isTail())
                ? "Middle half: the mean of the samples between the 25th and the 75th percentile. p90 and p99: percentiles of the samples, of bricks with "
                        + RunComparison.FEWEST_FOR_P90 + " and "
                        + RunComparison.FEWEST_FOR_P99
                        + " samples in every run; a brick without them may have a longer tail. p50 is not tested."
                : "Percentiles are not compared, as not every run recorded them with " + RunComparison.FEWEST_FOR_P90
                        + " samples of a brick: a longer tail may go unnoticed.";
    }

    private static String trimmed(int runs) {
        return switch (runs) {
            case 0 -> "";
            case 1 -> " Each line is without its lowest and its highest run of each side.";
            default -> " Each line is without its " + runs + " lowest and its " + runs + " highest runs of each side.";
        };
    }

    /** Returns the notes that are too long for the table; lines with the same note share one. */
    private static List<String> longNotes(List<Line> lines) {
        Map<String, List<String>> names = new LinkedHashMap<>();
        lines.stream().filter(line -> line.note().length() > LONGEST_NOTE).forEach(line -> names.computeIfAbsent(
                        line.note(), note -> new ArrayList<>())
                .add(line.name()));
        return names.entrySet().stream()
                .map(each -> String.join(", ", each.getValue()) + ": " + each.getKey())
                .toList();
    }

    private static String verdict(Line line) {
        boolean shown = !line.note().isEmpty() && line.note().length() <= LONGEST_NOTE;
        return line.verdict().displayName() + (shown ? ": " + line.note() : "");
    }

    private static String value(Line line, Optional<Side> side) {
        boolean rate = line.kind() == Kind.TOKENS_PER_SEC;
        return side.map(each -> rate ? rateCell(each.value()) : durationCell(each.value()))
                .orElse(NONE);
    }

    private static String signed(double percent) {
        return String.format(Locale.ROOT, "%+,.1f", percent);
    }

    private static String upperEnd(double percent) {
        return percent <= MOST_SHOWN_PERCENT
                ? signed(percent)
                : String.format(Locale.ROOT, "> %+,.0f", MOST_SHOWN_PERCENT);
    }

    private static String interval(Line line) {
        return line.tested()
                .filter(Change::hasInterval)
                .map(change -> "[" + signed(change.lowPercent()) + ", " + upperEnd(change.highPercent()) + "]")
                .orElse(NONE);
    }

    private static String change(Optional<Change> change) {
        return change.map(each -> signed(each.percent())).orElse(NONE);
    }

    private static String speedUp(Line line) {
        return line.speedUp().isPresent()
                ? String.format(Locale.ROOT, "%.3f", line.speedUp().getAsDouble())
                : NONE;
    }

    private static String smallest(Line line) {
        return line.smallestPercent().isPresent()
                ? atMost(line.smallestPercent().getAsDouble())
                : NONE;
    }

    private static String atMost(double percent) {
        return percent <= MOST_SHOWN_PERCENT
                ? String.format(Locale.ROOT, "%,.1f", percent)
                : String.format(Locale.ROOT, "> %,.0f", MOST_SHOWN_PERCENT);
    }

    /**
     * A group of lines.
     *
     * @param header the header of its table
     * @param kinds the kinds of its lines
     */
    private record Block(String header, Set<Kind> kinds) {

        static final Block WHOLE =
                new Block("the whole", Set.of(Kind.TOTAL, Kind.STEP, Kind.TOKENS_PER_SEC, Kind.COMMON));

        static final List<Block> EACH = List.of(
                WHOLE,
                new Block("category, of a step", Set.of(Kind.CATEGORY)),
                new Block("brick, of a sample", Set.of(Kind.BRICK)),
                new Block("percentile of a brick", Set.of(Kind.BRICK_P50, Kind.BRICK_P90, Kind.BRICK_P99)),
                new Block("tile", Set.of(Kind.TILE)));

        /** Returns the lines of the group, in the order of {@link #MOST_TIME_FIRST}. The whole keeps its order. */
        List<Line> of(RunComparison comparison) {
            List<Line> lines = comparison.lines().stream()
                    .filter(line -> kinds.contains(line.kind()))
                    .toList();
            return equals(WHOLE)
                    ? lines
                    : lines.stream().sorted(MOST_TIME_FIRST).toList();
        }

        /** Returns a table of some of its lines, with the notes that are too long for it; empty without lines. */
        String text(List<Line> lines) {
            if (lines.isEmpty()) {
                return "";
            }
            return longNotes(lines).stream()
                    .map(note -> "  " + PlainText.ascii(note) + "\n")
                    .collect(Collectors.joining("", "\n" + table().render(lines), ""));
        }

        /**
         * Returns whether a brief report leaves a line out: it was not tested, or shows no difference. A line that did
         * not change with the others stays.
         */
        boolean canHide(Line line, double floorPercent) {
            boolean saysNothing = line.verdict() == Verdict.NO_DIFFERENCE || line.verdict() == Verdict.NOT_TESTED;
            boolean isApart = line.tested()
                    .filter(change -> change.lowPercent() > 0 || change.highPercent() < 0)
                    .filter(change -> Math.abs(change.percent()) >= floorPercent)
                    .isPresent();
            return saysNothing && !isApart && !equals(WHOLE);
        }

        TextTable<Line> table() {
            return new TextTable<Line>()
                    .left(header, Line::name, "")
                    .left("statistic", line -> line.statistic().displayName(), "")
                    .right("before", line -> value(line, line.before()), "")
                    .right("after", line -> value(line, line.after()), "")
                    .right("speed-up", ComparisonReport::speedUp, "")
                    .right("change %", line -> change(line.change()), "")
                    .rightIf(!kinds.equals(WHOLE.kinds), "beside others %", line -> change(line.beside()), "")
                    .right("interval %", ComparisonReport::interval, "")
                    .right("shown from %", ComparisonReport::smallest, "")
                    .left("verdict", ComparisonReport::verdict, "");
        }
    }

    // ---- Markdown ----

    private static String markdownTable(List<Line> lines) {
        StringBuilder table =
                new StringBuilder("| | statistic | before | after | speed-up | change % | beside others % | interval % "
                        + "| shown from % | verdict |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---|\n");
        for (Line line : lines) {
            String verdict = line.verdict().displayName() + (line.note().isEmpty() ? "" : ": " + line.note());
            table.append("| ").append(escaped(line.name()));
            for (Function<Line, String> cell : List.<Function<Line, String>>of(
                    each -> each.statistic().displayName(),
                    each -> value(each, each.before()).strip().replaceAll(" +", " "),
                    each -> value(each, each.after()).strip().replaceAll(" +", " "),
                    ComparisonReport::speedUp,
                    each -> change(each.change()),
                    each -> change(each.beside()),
                    ComparisonReport::interval,
                    ComparisonReport::smallest)) {
                table.append(" | ").append(cell.apply(line));
            }
            table.append(" | ")
                    .append(isChange(line) ? "**" + escaped(verdict) + "**" : escaped(verdict))
                    .append(" |\n");
        }
        return table.toString();
    }

    // ---- JSON ----

    /** Writes one comparison. One thread. */
    private record Json(JsonGenerator json) {

        void write(RunComparison comparison) throws IOException {
            json.writeStartObject();
            json.writeStringField("schema_version", SCHEMA_VERSION);
            json.writeStringField("kind", "brick-comparison");
            json.writeStringField("answer", answer(comparison));
            Optional<String> next = next(comparison);
            if (next.isPresent()) {
                json.writeStringField("next", next.get());
            }
            json.writeStringField("headline", headline(comparison));
            json.writeNumberField("floor_pct", comparison.options().floorPercent());
            json.writeNumberField("level", RunComparison.LEVEL);
            json.writeNumberField("trimmed_runs", comparison.trimmedRuns());
            if (!comparison.options().baseline().isEmpty()) {
                json.writeArrayFieldStart("baseline");
                for (String brick : comparison.options().baseline()) {
                    json.writeString(brick);
                }
                json.writeEndArray();
            }
            if (comparison.stepBrick().isPresent()) {
                json.writeStringField("step_brick", comparison.stepBrick().get());
            }
            json.writeArrayFieldStart("remarks");
            for (String remark : comparison.remarks()) {
                json.writeString(remark);
            }
            json.writeEndArray();
            json.writeArrayFieldStart("legend");
            for (String line : legend(comparison).lines().toList()) {
                json.writeString(line);
            }
            json.writeEndArray();
            runs("before", comparison.before());
            runs("after", comparison.after());
            json.writeArrayFieldStart("lines");
            for (Block block : Block.EACH) {
                for (Line line : block.of(comparison)) {
                    line(line);
                }
            }
            json.writeEndArray();
            if (!comparison.methods().isEmpty()) {
                json.writeArrayFieldStart("methods");
                for (MethodsOfBrick brick : comparison.methods()) {
                    methods(brick);
                }
                json.writeEndArray();
            }
            json.writeEndObject();
            json.writeRaw('\n');
        }

        private void methods(MethodsOfBrick brick) throws IOException {
            json.writeStartObject();
            json.writeStringField("brick", brick.brick());
            json.writeStringField("text", sentence(brick));
            json.writeArrayFieldStart("lines");
            for (Line line : brick.methods().stream().sorted(MOST_TIME_FIRST).toList()) {
                line(line);
            }
            json.writeEndArray();
            json.writeEndObject();
        }

        private void runs(String key, List<Run> runs) throws IOException {
            json.writeArrayFieldStart(key);
            for (Run run : runs) {
                json.writeStartObject();
                json.writeStringField("name", run.name());
                if (run.tokensPerSec().isPresent()) {
                    json.writeNumberField("tokens_per_sec", run.tokensPerSec().getAsDouble());
                }
                json.writeArrayFieldStart("disturbances");
                for (String disturbance : run.disturbances()) {
                    json.writeString(disturbance);
                }
                json.writeEndArray();
                json.writeEndObject();
            }
            json.writeEndArray();
        }

        private void line(Line line) throws IOException {
            json.writeStartObject();
            json.writeStringField("kind", line.kind().name().toLowerCase(Locale.ROOT));
            json.writeStringField("name", line.name());
            json.writeStringField("statistic", line.statistic().displayName());
            if (line.phase().isPresent()) {
                json.writeStringField("phase", line.phase().get().displayName());
            }
            json.writeStringField("verdict", line.verdict().name().toLowerCase(Locale.ROOT));
            if (!line.note().isEmpty()) {
                json.writeStringField("note", line.note());
            }
            number("share_pct", line.sharePercent());
            side("before", line, line.before());
            side("after", line, line.after());
            if (line.speedUp().isPresent()) {
                number("speed_up", line.speedUp().getAsDouble());
            }
            change("change", line.change());
            change("beside_others", line.beside());
            if (line.smallestPercent().isPresent()) {
                number("smallest_shown_pct", line.smallestPercent().getAsDouble());
            }
            if (line.probability().isPresent()) {
                number("probability", line.probability().getAsDouble());
            }
            json.writeEndObject();
        }

        private void side(String key, Line line, Optional<Side> side) throws IOException {
            if (side.isPresent()) {
                json.writeObjectFieldStart(key);
                number(
                        line.kind() == Kind.TOKENS_PER_SEC ? "tokens_per_sec" : "ns",
                        side.get().value());
                number("spread_pct", side.get().spreadPercent());
                json.writeNumberField("runs", side.get().runs());
                json.writeEndObject();
            }
        }

        private void change(String key, Optional<Change> change) throws IOException {
            if (change.isPresent()) {
                json.writeObjectFieldStart(key);
                number("pct", change.get().percent());
                number("low_pct", change.get().lowPercent());
                number("high_pct", change.get().highPercent());
                json.writeEndObject();
            }
        }

        private void number(String key, double value) throws IOException {
            JsonText.number(json, key, value);
        }
    }
}
