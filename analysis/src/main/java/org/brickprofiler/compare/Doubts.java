package org.brickprofiler.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.commons.statistics.descriptive.Median;
import org.brickprofiler.compare.RunComparison.Kind;
import org.brickprofiler.compare.RunComparison.Line;
import org.brickprofiler.compare.RunComparison.Verdict;

/** Writes the remarks of a comparison, which a reader should know before trusting its lines. One thread. */
final class Doubts {

    /**
     * The distance, in standard deviations from the median of its side, from which a run is an outlier in one brick.
     */
    private static final double APART_DEVIATIONS = 5;

    /** The ratio of a normal distribution's standard deviation to its median absolute deviation. */
    private static final double NORMAL_MEDIAN_DEVIATION = 1.4826;

    /** A run is an outlier if it is one in at least this many bricks, and in at least a given share of them. */
    private static final int FEWEST_APART = 3;

    private static final int ONE_APART_IN = 4;

    /** The least number of runs of a side among which outliers are named. */
    private static final int FEWEST_RUNS = 5;

    /**
     * If at least one brick in this many changed beside the others, their common part may contain some of the change.
     */
    private static final int ONE_CHANGED_IN = 4;

    /** Lines with a verdict explain the whole if their bricks account for this share of its change. */
    private static final double EXPLAINED = 0.5;

    /** The least share of the change of the whole for which a brick is named. */
    private static final double LEAST_NAMED = 0.1;

    private static final int MOST_NAMED = 3;

    private final Figures figures;
    private final List<Run> before;
    private final List<Run> after;
    private final RunComparison.Options options;
    private final List<Line> lines;

    Doubts(Figures figures, List<Run> before, List<Run> after, RunComparison.Options options, List<Line> lines) {
        this.figures = figures;
        this.before = before;
        this.after = after;
        this.options = options;
        this.lines = lines;
    }

    /**
     * Returns the remarks.
     *
     * @param bricks for each compared brick its logarithms by run, as compared
     * @param common the common part of the bricks of each run, as a logarithm; empty if there are too few bricks
     * @return one sentence each, most important first
     */
    List<String> remarks(List<double[]> bricks, Optional<double[]> common) {
        List<String> remarks = new ArrayList<>();
        disagreement().ifPresent(remarks::add);
        unexplained().ifPresent(remarks::add);
        outsideBricks().ifPresent(remarks::add);
        manyChanged().ifPresent(remarks::add);
        baselineChanged().ifPresent(remarks::add);
        remarks.addAll(figures.differences().remarks());
        remarks.addAll(apart(bricks, common));
        disturbed().ifPresent(remarks::add);
        return remarks;
    }

    // ---- the whole and its parts ----

    private Optional<Line> line(Kind kind) {
        return lines.stream().filter(line -> line.kind() == kind).findFirst();
    }

    private static boolean isFound(Line line) {
        return line.verdict() == Verdict.FASTER || line.verdict() == Verdict.SLOWER;
    }

    private static double percent(Line line) {
        return line.change().orElseThrow().percent();
    }

    /** Returns a remark if brick times contradict the rate that a user sees; the profile then misleads. */
    private Optional<String> disagreement() {
        Optional<Line> total = line(Kind.TOTAL).filter(Doubts::isFound);
        Optional<Line> rate = line(Kind.TOKENS_PER_SEC).filter(Doubts::isFound);
        if (total.isEmpty()
                || rate.isEmpty()
                || total.get().verdict() == rate.get().verdict()) {
            return Optional.empty();
        }
        return Optional.of(String.format(
                Locale.ROOT,
                "Brick times and tokens per second disagree: the brick time of a step is %s (%+.1f %%), %s are %s "
                        + "(%+.1f %%). Believe the tokens per second; time outside bricks, or the profiler's own cost, has "
                        + "changed.",
                total.get().verdict().displayName(),
                percent(total.get()),
                rate.get().name(),
                rate.get().verdict().displayName(),
                percent(rate.get())));
    }

    /** Returns the lines of the common part, of bricks and of percentiles that have the verdict of the whole. */
    private List<Line> explaining(Verdict verdict) {
        return lines.stream()
                .filter(line -> line.verdict() == verdict)
                .filter(line -> line.kind() == Kind.COMMON
                        || line.kind() == Kind.BRICK
                        || line.kind().isTail())
                .toList();
    }

    /**
     * Returns a remark if the brick time of a step changed and the lines with a verdict account for less than half of
     * the change.
     */
    private Optional<String> unexplained() {
        Optional<Line> total = line(Kind.TOTAL).filter(Doubts::isFound);
        if (total.isEmpty()) {
            return Optional.empty();
        }
        List<Line> explaining = explaining(total.get().verdict());
        double wholeNs = figures.moveOfTheWholeNs();
        boolean isFaster = total.get().verdict() == Verdict.FASTER;
        boolean isCommon = explaining.stream().anyMatch(line -> line.kind() == Kind.COMMON);
        if (isCommon || wholeNs == 0 || isFaster != wholeNs < 0) {
            return Optional.empty();
        }
        Set<String> found = explaining.stream().map(Doubts::brick).collect(Collectors.toSet());
        double explained = figures.moves().stream()
                .filter(move -> found.contains(move.brick()))
                .mapToDouble(move -> move.ns() / wholeNs)
                .sum();
        if (explained >= EXPLAINED) {
            return Optional.empty();
        }
        String moved = figures.moves().stream()
                .filter(move -> move.ns() / wholeNs >= LEAST_NAMED)
                .limit(MOST_NAMED)
                .map(move -> String.format(Locale.ROOT, "%s (%.0f %%)", move.brick(), 100 * move.ns() / wholeNs))
                .collect(Collectors.joining(", "));
        return Optional.of(String.format(
                Locale.ROOT,
                "The brick time of a step is %s (%+.1f %%), and %s. %s",
                total.get().verdict().displayName(),
                percent(total.get()),
                found.isEmpty()
                        ? "no line explains it"
                        : String.format(
                                Locale.ROOT, "the lines with a verdict explain %.0f %% of that", 100 * explained),
                moved.isEmpty()
                        ? "No brick holds a tenth of the difference."
                        : "The totals of these bricks moved, with their share of the difference: " + moved + "."));
    }

    /** Returns the name of the brick of a line. */
    private static String brick(Line line) {
        return line.kind().isTail() ? line.name().substring(0, line.name().lastIndexOf(", ")) : line.name();
    }

    /**
     * Returns a remark if the time that a user sees changed, but neither the brick time of a step nor any brick did.
     */
    private Optional<String> outsideBricks() {
        boolean isTotalTested = line(Kind.TOTAL)
                .filter(total -> total.probability().isPresent())
                .isPresent();
        return lines.stream()
                .filter(line -> line.kind() == Kind.STEP || line.kind() == Kind.TOKENS_PER_SEC)
                .filter(line -> isTotalTested && isFound(line))
                .filter(line -> line(Kind.TOTAL).orElseThrow().verdict() != line.verdict()
                        && explaining(line.verdict()).isEmpty())
                .findFirst()
                .filter(line -> disagreement().isEmpty())
                .map(line -> String.format(
                        Locale.ROOT,
                        "%s: %s (%+.1f %%), and neither the brick time of a step nor a brick is: the time lies outside "
                                + "bricks, or in changes that are too small for a verdict.",
                        line.name(),
                        line.verdict().displayName(),
                        percent(line)));
    }

    // ---- the common part of all bricks ----

    private static Predicate<Line> isBrick() {
        return line -> line.kind() == Kind.BRICK;
    }

    private Optional<String> manyChanged() {
        long tested = lines.stream()
                .filter(isBrick())
                .filter(line -> line.beside().isPresent())
                .count();
        long changed = lines.stream().filter(isBrick()).filter(Doubts::isFound).count();
        return line(Kind.COMMON).isEmpty()
                        || !options.baseline().isEmpty()
                        || changed < 2
                        || changed * ONE_CHANGED_IN < tested
                ? Optional.empty()
                : Optional.of(changed + " of " + tested
                        + " bricks changed beside the others: the part that all have in common may "
                        + "contain some of their change, and unchanged bricks may seem to have changed. Name bricks that the "
                        + "change cannot have touched (--baseline).");
    }

    private Optional<String> baselineChanged() {
        Set<String> baseline = figures.all().stream()
                .filter(figure -> options.baseline().stream().anyMatch(figure::isOfBrick))
                .map(Figures.Figure::name)
                .collect(Collectors.toSet());
        String changed = lines.stream()
                .filter(isBrick().and(Doubts::isFound))
                .filter(line -> baseline.contains(line.name()))
                .map(Line::name)
                .collect(Collectors.joining(", "));
        return changed.isEmpty()
                ? Optional.empty()
                : Optional.of("The baseline is not constant: beside its other bricks, " + changed + " changed.");
    }

    // ---- single runs ----

    private List<String> apart(List<double[]> bricks, Optional<double[]> common) {
        return Stream.concat(
                        apart(before, 0, before.size(), bricks, common),
                        apart(after, before.size(), before.size() + after.size(), bricks, common))
                .toList();
    }

    /** Returns a remark for each run of one side that is an outlier. */
    private Stream<String> apart(List<Run> side, int from, int to, List<double[]> bricks, Optional<double[]> common) {
        if (to - from < FEWEST_RUNS) {
            return Stream.empty();
        }
        int[] inBricks = new int[to - from];
        for (double[] logs : bricks) {
            boolean[] isApart = apartIn(logs, from, to);
            IntStream.range(0, isApart.length).filter(run -> isApart[run]).forEach(run -> inBricks[run]++);
        }
        boolean[] throughout = common.map(shared -> apartIn(shared, from, to)).orElseGet(() -> new boolean[to - from]);
        int fewest = Math.max(FEWEST_APART, (bricks.size() + ONE_APART_IN - 1) / ONE_APART_IN);
        int[] found = IntStream.range(0, inBricks.length)
                .filter(run -> inBricks[run] >= fewest || throughout[run])
                .toArray();
        String weight = weight(found.length, Trimmed.atEachEnd(before.size(), after.size()));
        return Arrays.stream(found)
                .mapToObj(run -> side.get(run).name() + " is far from the other runs of its side, in "
                        + Stream.of(
                                        inBricks[run] >= fewest
                                                ? inBricks[run] + " of " + bricks.size() + " bricks"
                                                : "",
                                        throughout[run] ? "the common part of all its bricks" : "")
                                .filter(what -> !what.isEmpty())
                                .collect(Collectors.joining(" and in "))
                        + ". "
                        + weight);
    }

    private static String weight(int apart, int trimmed) {
        if (trimmed == 0) {
            return "With fewer than ten runs a side it counts in full: find the cause, and run again.";
        }
        return apart <= trimmed
                ? "Verdicts and changes leave it out, with the "
                        + (trimmed == 1
                                ? "lowest and the highest run"
                                : trimmed + " lowest and the " + trimmed + " highest runs")
                        + " of each side."
                : "Verdicts and changes leave out only the "
                        + (trimmed == 1
                                ? "lowest and the highest run"
                                : trimmed + " lowest and the " + trimmed + " highest runs")
                        + " of each side: find the cause, and run again.";
    }

    /**
     * Returns the runs of a side that are outliers, measured by the deviations of all runs from their side's median,
     * and by the floor.
     */
    private boolean[] apartIn(double[] logs, int from, int to) {
        double[] deviations = deviations(logs);
        double usual = Median.withDefaults()
                .withCopy(true)
                .evaluate(Arrays.stream(deviations).map(Math::abs).toArray());
        double most =
                Math.max(APART_DEVIATIONS * NORMAL_MEDIAN_DEVIATION * usual, Math.log1p(options.floorPercent() / 100));
        boolean[] apart = new boolean[to - from];
        for (int run = from; run < to; run++) {
            apart[run - from] = Math.abs(deviations[run]) > most;
        }
        return apart;
    }

    private double[] deviations(double[] logs) {
        double[] medians = {median(logs, 0, before.size()), median(logs, before.size(), logs.length)};
        return IntStream.range(0, logs.length)
                .mapToDouble(run -> logs[run] - medians[run < before.size() ? 0 : 1])
                .toArray();
    }

    private static double median(double[] logs, int from, int to) {
        return Median.withDefaults().evaluate(Arrays.copyOfRange(logs, from, to));
    }

    private Optional<String> disturbed() {
        List<Run> disturbed = Stream.concat(before.stream(), after.stream())
                .filter(run -> !run.disturbances().isEmpty())
                .toList();
        if (disturbed.isEmpty()) {
            return Optional.empty();
        }
        String each = disturbed.stream()
                .limit(MOST_NAMED)
                .map(run -> run.name() + " (" + String.join(", ", run.disturbances()) + ")")
                .collect(Collectors.joining(", "));
        return Optional.of(disturbed.size() + " of " + (before.size() + after.size()) + " runs were disturbed: " + each
                + (disturbed.size() > MOST_NAMED ? " and " + (disturbed.size() - MOST_NAMED) + " more" : "") + ".");
    }
}
