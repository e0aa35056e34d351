package org.brickprofiler.fleet;

import static org.brickprofiler.report.internal.HumanUnits.ERROR;
import static org.brickprofiler.report.internal.HumanUnits.NONE;
import static org.brickprofiler.report.internal.HumanUnits.count;
import static org.brickprofiler.report.internal.HumanUnits.durationCell;
import static org.brickprofiler.report.internal.HumanUnits.estimate;
import static org.brickprofiler.report.internal.HumanUnits.number;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.fleet.FleetQuestion.Row;
import org.brickprofiler.fleet.Stragglers.Shown;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.report.Finding;
import org.brickprofiler.report.Findings;
import org.brickprofiler.report.internal.Fields.PackedColumn;
import org.brickprofiler.report.internal.HtmlPage;
import org.brickprofiler.report.internal.HumanUnits;
import org.brickprofiler.report.internal.JsonText;
import org.brickprofiler.report.internal.Markdown;
import org.brickprofiler.report.internal.ProfileFields;
import org.brickprofiler.report.internal.TextTable;
import org.jspecify.annotations.Nullable;

/**
 * The report on a fleet for people, for a pull request, for a browser, and for programs: the problems of its data, the
 * ranks that delay the others, and the distribution of the time. Equal fleets give equal text, for every engine and
 * locale. Immutable; any thread.
 */
public final class FleetReport {

    private static final String SCHEMA_VERSION = "1.0";

    private static final String SHOWN =
            "Shown from: the least slowness of a rank that is found in four of five such fleets";

    /** The most ranks whose shares are kept: those with the smallest share of communication, which wait least. */
    private static final int MOST_RANKS = 4_096;

    /** The most problems that are listed one by one; all are counted. */
    private static final int MOST_PROBLEMS = 1_000;

    /** The most columns of a line of findings, as in {@code brick report}. */
    private static final int FINDING_COLUMNS = 100;

    /** The most lines of a table of ranks or runs in the reports for people. */
    private static final int MOST_LINES = 20;

    /** The questions for the sections; stragglers have questions of their own. */
    private static final List<FleetQuestion> ASKED = List.of(
            FleetQuestion.RUNS,
            FleetQuestion.PHASES,
            FleetQuestion.REQUESTS,
            FleetQuestion.BRICKS,
            FleetQuestion.PERCENTILES,
            FleetQuestion.SPREAD,
            FleetQuestion.SHARES,
            FleetQuestion.DRIFT,
            FleetQuestion.RANK_BRICKS,
            FleetQuestion.WINDOWS,
            FleetQuestion.LOSSES);

    private final List<PackProblem> problems;
    private final Stragglers stragglers;
    private final Map<FleetQuestion, Rows> answers;
    private final List<Row> runs;
    private final List<Row> bricks;
    private final List<Row> bricksByPhase;
    private final List<Row> spread;

    /** The categories and names of the bricks with estimates. */
    private final Set<List<String>> estimatedBricks;

    /** The phase that all samples have; empty if there are several, or samples without a phase. */
    private final Optional<String> onlyPhase;

    private final List<Row> shares;
    private final IncompleteRanks losses;
    private final List<Finding> findings;

    /** By phase, category and brick. */
    private final Map<List<String>, Row> percentiles = new HashMap<>();

    private final Map<List<String>, Row> spreads = new HashMap<>();

    private FleetReport(List<PackProblem> problems, Stragglers stragglers, Map<FleetQuestion, Rows> answers) {
        this.problems = List.copyOf(problems);
        this.stragglers = stragglers;
        this.answers = answers;
        runs = rows(FleetQuestion.RUNS);
        losses = new IncompleteRanks(rows(FleetQuestion.LOSSES));
        bricks = of(rows(FleetQuestion.BRICKS), true);
        bricksByPhase = of(rows(FleetQuestion.BRICKS), false);
        estimatedBricks = bricks.stream()
                .filter(FleetReport::isEstimated)
                .map(FleetReport::key)
                .collect(Collectors.toSet());
        onlyPhase = onlyPhase();
        spread = of(rows(FleetQuestion.SPREAD), true);
        shares = rows(FleetQuestion.SHARES).stream()
                .sorted(Comparator.comparingDouble(FleetReport::communicationShare))
                .toList();
        findings = new FleetFindings(
                        stragglers,
                        tallies().stream().mapToLong(Tally::leftOut).sum(),
                        runs,
                        rows(FleetQuestion.PHASES),
                        rows(FleetQuestion.REQUESTS),
                        shares,
                        bricks,
                        losses.hasEstimates())
                .ranked();
        rows(FleetQuestion.PERCENTILES).forEach(row -> percentiles.put(partKey(row), row));
        rows(FleetQuestion.SPREAD).forEach(row -> spreads.put(partKey(row), row));
    }

    /** Returns whether a brick has samples whose time is estimated. */
    private static boolean isEstimated(Row brick) {
        return brick.ifNumber("unmarked").orElse(0) > 0;
    }

    /** Returns a time of the brick of a row, marked if times of this brick are estimates. */
    private String ofBrick(Row row, String cell) {
        return estimate(estimatedBricks.contains(key(row)), cell);
    }

    private Optional<String> onlyPhase() {
        List<String> phases =
                bricksByPhase.stream().map(row -> row.text("phase")).distinct().toList();
        return phases.size() == 1 && sum(bricksByPhase, "count") == sum(bricks, "count")
                ? Optional.of(phases.get(0))
                : Optional.empty();
    }

    /** Returns the rows of all samples, or those of the samples of one phase each. */
    private static List<Row> of(List<Row> rows, boolean allSamples) {
        return rows.stream()
                .filter(row -> row.text("phase").isEmpty() == allSamples)
                .toList();
    }

    /**
     * Executes all queries of the report.
     *
     * @param engine the engine with the tables of a fleet
     * @param problems the problems of the data
     * @return the report
     * @throws IOException when the engine fails
     */
    public static FleetReport of(FleetEngine engine, List<PackProblem> problems) throws IOException {
        Map<FleetQuestion, Rows> answers = new EnumMap<>(FleetQuestion.class);
        for (FleetQuestion question : ASKED) {
            answers.put(question, question.answer(engine));
        }
        return new FleetReport(problems, Stragglers.of(engine), answers);
    }

    private List<Row> rows(FleetQuestion question) {
        return FleetQuestion.rows(answer(question));
    }

    private Rows answer(FleetQuestion question) {
        return Optional.ofNullable(answers.get(question)).orElseThrow();
    }

    private static List<String> key(Row row) {
        return List.of(row.text("category"), row.text("brick"));
    }

    private static List<String> partKey(Row row) {
        return List.of(row.text("phase"), row.text("category"), row.text("brick"));
    }

    private long sum(List<Row> rows, String column) {
        return rows.stream().mapToLong(row -> row.ifNumber(column).orElse(0)).sum();
    }

    private static double communicationShare(Row row) {
        double all = row.number("compute_ns")
                + row.number("communication_ns")
                + row.ifNumber("idle_ns").orElse(0);
        return all == 0 ? 0 : row.number("communication_ns") / all;
    }

    /** Returns the fleet and the number of findings, in one line. */
    private String headline() {
        long ranks = sum(runs, "ranks");
        long found = stragglers.findings().stream()
                .map(finding -> List.of(finding.run(), finding.who()))
                .distinct()
                .count();
        String whole = Plural.of(ranks, "rank") + " in " + Plural.of(runs.size(), "run") + ", "
                + Plural.of(sum(runs, "windows"), "window") + ": ";
        return whole
                + (found > 0
                        ? Plural.of(found, "straggler")
                        : stragglers.shown().isEmpty() ? "no rank could be tested" : "no straggler was found");
    }

    // ---- problems ----

    /** Problems of one kind. */
    private record Tally(PackProblem.Kind kind, long found, long leftOut, String example) {

        String words() {
            return kind.key().replace('_', ' ') + ": " + count(found) + " (" + Plural.of(leftOut, "window")
                    + " left out), such as " + example;
        }
    }

    private List<Tally> tallies() {
        Map<PackProblem.Kind, List<PackProblem>> byKind =
                problems.stream().collect(Collectors.groupingBy(PackProblem::kind, TreeMap::new, Collectors.toList()));
        return byKind.entrySet().stream()
                .map(entry -> new Tally(
                        entry.getKey(),
                        entry.getValue().size(),
                        entry.getValue().stream()
                                .mapToLong(PackProblem::leftOut)
                                .sum(),
                        about(entry.getValue().get(0))))
                .toList();
    }

    private static String about(PackProblem problem) {
        return problem.file() == null ? problem.reason() : problem.file() + ": " + problem.reason();
    }

    // ---- tables, in text and in Markdown ----

    /** A column of a table. */
    private record Column<T>(String header, boolean toLeft, Function<T, String> cell) {}

    /** A table and its heading. */
    private record Sheet<T>(String heading, List<T> rows, List<Column<T>> columns, List<String> byWorth, int leftOut) {

        static <T> Sheet<T> of(String heading, List<T> rows) {
            return new Sheet<>(heading, rows, new ArrayList<>(), new ArrayList<>(), 0);
        }

        /** Returns a table of the first rows of a long list. */
        static <T> Sheet<T> head(String heading, List<T> rows) {
            int shown = Math.min(rows.size(), MOST_LINES);
            return new Sheet<>(
                    heading, rows.subList(0, shown), new ArrayList<>(), new ArrayList<>(), rows.size() - shown);
        }

        Sheet<T> left(String header, Function<T, String> cell) {
            columns.add(new Column<>(header, true, cell));
            return this;
        }

        Sheet<T> right(String header, Function<T, String> cell) {
            columns.add(new Column<>(header, false, cell));
            return this;
        }

        /** Sets the order in which columns stay in a narrow table; the first column always does. */
        Sheet<T> byWorth(String... headers) {
            byWorth.addAll(List.of(headers));
            return this;
        }

        /**
         * Returns the table.
         *
         * @param width the width that no line of the table exceeds
         * @param leftOut gets the headers of the columns that do not fit
         */
        String toText(int width, Collection<String> leftOut) {
            TextTable<T> table = new TextTable<>();
            columns.forEach(column -> {
                if (column.toLeft()) {
                    table.left(column.header(), column.cell(), "");
                } else {
                    table.right(column.header(), column.cell(), "");
                }
            });
            leftOut.addAll(table.leftOut(rows, width, byWorth));
            return heading + "\n\n" + table.render(rows, width, byWorth)
                    + (this.leftOut == 0 ? "" : "(" + count(this.leftOut) + " more)\n");
        }

        String toMarkdown() {
            StringBuilder table = new StringBuilder("### " + heading + "\n\n|");
            columns.forEach(column -> table.append(' ').append(column.header()).append(" |"));
            table.append("\n|");
            columns.forEach(column -> table.append(column.toLeft() ? "---|" : "---:|"));
            for (T row : rows) {
                table.append("\n|");
                columns.forEach(column -> table.append(' ')
                        .append(Markdown.escaped(
                                column.cell().apply(row).strip().replaceAll(" +", " ")))
                        .append(" |"));
            }
            return table.append('\n')
                    .append(leftOut == 0 ? "" : "\n" + count(leftOut) + " more\n")
                    .toString();
        }
    }

    private List<Sheet<?>> sheets() {
        return Stream.<Sheet<?>>of(
                        stragglerSheet(),
                        shownSheet(),
                        lossSheet(),
                        brickSheet(),
                        brickPhaseSheet(),
                        spreadSheet(),
                        shareSheet(),
                        driftSheet(),
                        phaseSheet(),
                        requestSheet(),
                        runSheet())
                .filter(sheet -> !sheet.rows().isEmpty())
                .toList();
    }

    private Sheet<Stragglers.Finding> stragglerSheet() {
        Sheet<Stragglers.Finding> sheet = Sheet.of("Stragglers, the most costly first", stragglers.findings());
        if (runs.size() > 1) {
            sheet.left("run", Stragglers.Finding::run);
        }
        return sheet.left("who", Stragglers.Finding::who)
                .left("what", Stragglers.Finding::what)
                .right("longer in a step", finding -> durationCell(Math.max(0, finding.ownNs())))
                .right("later in a step", finding -> cell(finding.lateNs()))
                .right("costs each step", finding -> cell(finding.costNs()))
                .byWorth("who", "what", "costs each step", "longer in a step", "later in a step");
    }

    private Sheet<Shown> shownSheet() {
        Sheet<Shown> sheet = Sheet.head(SHOWN, stragglers.shown());
        if (runs.size() > 1) {
            sheet.left("run", Shown::run);
        }
        return sheet.left("device", each -> each.device().isEmpty() ? NONE : each.device())
                .right("ranks", each -> count(each.ranks()))
                .right("windows", each -> count(each.windows()))
                .right("throughout %", each -> one(each.throughoutPercent()))
                .right("in one brick %", each -> one(each.leastBrickPercent()) + " to " + one(each.mostBrickPercent()))
                .left(
                        "in some windows",
                        each -> each.slowWindows().isEmpty()
                                ? NONE
                                : one(each.slowWindowsPercent()) + " % in "
                                        + each.slowWindows().getAsInt())
                .byWorth("device", "ranks", "throughout %", "in one brick %", "windows", "in some windows");
    }

    private Sheet<IncompleteRanks.Rank> lossSheet() {
        return Sheet.head("Missing measurements by rank, the largest share first", losses.ranks())
                .left("rank", each -> rank(each.run(), each.number()))
                .right("samples", each -> count(each.samples()))
                .right("unresolved", each -> count(each.unresolved()))
                .right("dropped", each -> count(each.dropped()))
                .right("pending", each -> count(each.pending()))
                .right("missing %", each -> one(each.missingPercent()))
                .right("windows not tested", each -> count(each.untested()))
                .right("of", each -> count(each.windows()))
                .byWorth("missing %", "windows not tested", "of", "samples", "unresolved", "dropped", "pending");
    }

    private static String one(double percent) {
        return String.format(Locale.ROOT, "%.1f", percent);
    }

    private static String cell(OptionalLong ns) {
        return ns.isEmpty() ? NONE : durationCell(Math.max(0, ns.getAsLong()));
    }

    private Sheet<Row> brickSheet() {
        long allNs = sum(bricks, "total_ns");
        return times(
                        Sheet.of("Bricks as recorded, of all ranks and windows" + allInOnePhase(), bricks)
                                .left("brick", row -> row.text("brick"))
                                .left("category", row -> row.text("category")),
                        "% of brick time",
                        row -> allNs)
                .byWorth(
                        "total",
                        ERROR,
                        "% of brick time",
                        "p50",
                        "p99",
                        "unresolved",
                        "avg",
                        "max",
                        "count",
                        "category");
    }

    private String allInOnePhase() {
        return onlyPhase
                .map(phase -> ": all samples belong to " + phase + " steps")
                .orElse("");
    }

    /** Returns the bricks of each phase; none if no window has phases, or all samples have one phase. */
    private Sheet<Row> brickPhaseSheet() {
        Map<String, Long> phaseNs = bricksByPhase.stream()
                .collect(Collectors.groupingBy(
                        row -> row.text("phase"), Collectors.summingLong(row -> row.number("total_ns"))));
        return times(
                        Sheet.of(
                                        "Bricks by phase as recorded, of all ranks and windows",
                                        onlyPhase.isPresent() ? List.<Row>of() : bricksByPhase)
                                .left("phase", row -> row.text("phase"))
                                .left("brick", row -> row.text("brick")),
                        "% of the phase",
                        row -> phaseNs.getOrDefault(row.text("phase"), 0L))
                .right(
                        "slowest rank",
                        row -> ofSpread(row, ranks -> ofBrick(ranks, durationCell(ranks.number("max_ns")))))
                .left("rank", row -> ofSpread(row, ranks -> rank(ranks, "max_run", "max_rank")))
                .right(
                        "slowest to median %",
                        row -> ofSpread(
                                row,
                                ranks -> ofBrick(ranks, change(ranks.number("max_ns"), ranks.number("median_ns")))))
                .byWorth(
                        "brick",
                        "total",
                        ERROR,
                        "% of the phase",
                        "p50",
                        "p99",
                        "slowest to median %",
                        "rank",
                        "slowest rank",
                        "unresolved",
                        "avg",
                        "max",
                        "count");
    }

    private Optional<Row> spreadOf(Row brick) {
        return Optional.ofNullable(spreads.get(partKey(brick)));
    }

    private String ofSpread(Row brick, Function<Row, String> cell) {
        return spreadOf(brick).map(cell).orElse(NONE);
    }

    /** Returns the mean duration of a brick; none if devices resolved no sample of it. */
    private static String average(Row row) {
        return row.number("count") == 0 ? NONE : durationCell((double) row.number("total_ns") / row.number("count"));
    }

    private static String errorCell(Row brick) {
        DeviceTime device = FleetRuns.device(brick);
        return device.isEstimated()
                ? HumanUnits.errorCell(device.halfIntervalNs(), device.degreesOfFreedom(), brick.number("total_ns"))
                : brick.number("count") == 0 ? NONE : "exact";
    }

    /** Adds the columns of the times of bricks. */
    private Sheet<Row> times(Sheet<Row> sheet, String share, ToLongFunction<Row> wholeNs) {
        sheet.right("count", row -> count(row.number("count")));
        if (sum(bricks, "unresolved") > 0) {
            sheet.right("unresolved", row -> count(row.ifNumber("unresolved").orElse(0)));
        }
        sheet.right("total", row -> estimate(isEstimated(row), durationCell(row.number("total_ns"))));
        if (!estimatedBricks.isEmpty()) {
            sheet.right(ERROR, FleetReport::errorCell);
        }
        sheet.right(
                        share,
                        row -> estimate(losses.hasEstimates(), percent((double) row.number("total_ns"), (double)
                                wholeNs.applyAsLong(row))))
                .right("avg", row -> estimate(isEstimated(row), average(row)));
        if (!percentiles.isEmpty()) {
            sheet.right("p50", row -> percentile(row, "p50")).right("p99", row -> percentile(row, "p99"));
        }
        return sheet.right(
                "max",
                row -> row.number("max_ns") == 0 && row.number("total_ns") > 0
                        ? NONE
                        : durationCell(row.number("max_ns")));
    }

    private String percentile(Row brick, String column) {
        return cell(percentileNs(brick, column));
    }

    /** Returns a percentile, within the extremes as in a profile; empty unless every sample has its bucket. */
    private OptionalLong percentileNs(Row brick, String column) {
        Row row = percentiles.get(partKey(brick));
        if (row == null || row.number("samples") != brick.number("count")) {
            return OptionalLong.empty();
        }
        long ns = LatencyBuckets.valueNs((int) row.number(column));
        return OptionalLong.of(Math.max(brick.number("min_ns"), Math.min(brick.number("max_ns"), ns)));
    }

    private Sheet<Row> spreadSheet() {
        return Sheet.of("Spread over ranks: the mean of a sample", spread)
                .left("brick", row -> row.text("brick"))
                .right("ranks", row -> count(row.number("ranks")))
                .right("fastest", row -> ofBrick(row, durationCell(row.number("min_ns"))))
                .left("rank", row -> rank(row, "min_run", "min_rank"))
                .right("median", row -> ofBrick(row, durationCell(row.number("median_ns"))))
                .right("slowest", row -> ofBrick(row, durationCell(row.number("max_ns"))))
                .left("rank", row -> rank(row, "max_run", "max_rank"))
                .right(
                        "slowest to median %",
                        row -> ofBrick(row, change(row.number("max_ns"), row.number("median_ns"))))
                .byWorth("slowest to median %", "slowest", "median", "rank", "fastest", "ranks");
    }

    private Sheet<Row> shareSheet() {
        return Sheet.head("Shares by rank, those that communicate least first", shares)
                .left("rank", row -> rank(row, "run_id", "rank"))
                .left("host", row -> row.ifText("host").orElse(NONE))
                .left("device", row -> row.ifText("device").orElse(NONE))
                .right("compute %", row -> share(row, each -> each.number("compute_ns")))
                .right("communication %", row -> share(row, each -> each.number("communication_ns")))
                .right(
                        "idle %",
                        row -> row.ifNumber("idle_ns").isEmpty() ? NONE : share(row, each -> each.number("idle_ns")))
                .byWorth("compute %", "communication %", "idle %", "host", "device");
    }

    private String share(Row row, ToDoubleFunction<Row> part) {
        double all = row.number("compute_ns")
                + row.number("communication_ns")
                + row.ifNumber("idle_ns").orElse(0);
        return estimate(
                losses.isEstimated(row.text("run_id"), row.number("rank")), percent(part.applyAsDouble(row), all));
    }

    private Sheet<Row> driftSheet() {
        return Sheet.of(
                        "Drift: the mean of a sample, from the first third of the windows to the last",
                        rows(FleetQuestion.DRIFT))
                .left("brick", row -> row.text("brick"))
                .right("first", row -> ofBrick(row, durationCell(row.number("first_ns"))))
                .right("last", row -> ofBrick(row, durationCell(row.number("last_ns"))))
                .right("change %", row -> ofBrick(row, signed(row.number("change_ppm") / 1e4)))
                .right("rose on", row -> count(row.number("risen")))
                .right("fell on", row -> count(row.number("fallen")))
                .right("most %", row -> ofBrick(row, signed(row.number("most_ppm") / 1e4)))
                .left("rank", row -> rank(row, "most_run", "most_rank"))
                .byWorth("change %", "first", "last", "rose on", "fell on", "most %", "rank");
    }

    private Sheet<Row> phaseSheet() {
        return Sheet.of("Steps by phase", rows(FleetQuestion.PHASES))
                .left("phase", row -> row.ifText("phase").orElse(NONE))
                .right("steps of all ranks", row -> count(row.number("steps")))
                .right("avg", row -> durationCell((double) row.number("total_ns") / row.number("steps")))
                .right("max", row -> durationCell(row.number("max_ns")))
                .right(
                        "tokens/s of a rank",
                        row -> row.ifNumber("wall_ns").orElse(0) == 0 || row.number("tokens") == 0
                                ? NONE
                                : number(1e9 * row.number("tokens") / row.number("wall_ns")))
                .byWorth("avg", "tokens/s of a rank", "max", "steps of all ranks");
    }

    private Sheet<Row> requestSheet() {
        return Sheet.head("Requests by rank, those that waited longest first", rows(FleetQuestion.REQUESTS))
                .left("rank", row -> rank(row, "run_id", "rank"))
                .right("requests", row -> count(row.number("finished")))
                .right("wait of one", row -> durationCell(waitedNs(row) / row.number("finished")))
                .right("% of its time", row -> percent(waitedNs(row), waitedNs(row) + row.number("served_ns")))
                .right("behind prompts %", row -> percent((double) row.number("behind_prompts_ns"), waitedNs(row)))
                .right("behind decoding %", row -> percent((double) row.number("behind_decoding_ns"), waitedNs(row)))
                .right("while no step ran %", row -> percent((double) row.number("idle_ns"), waitedNs(row)))
                .byWorth(
                        "wait of one",
                        "% of its time",
                        "behind prompts %",
                        "behind decoding %",
                        "while no step ran %",
                        "requests");
    }

    private static double waitedNs(Row row) {
        return (double) row.number("behind_prompts_ns") + row.number("behind_decoding_ns") + row.number("idle_ns");
    }

    private Sheet<Row> runSheet() {
        return Sheet.head("Runs", runs)
                .left("run", row -> row.text("run_id"))
                .right("ranks", row -> count(row.number("ranks")))
                .right("hosts", row -> count(row.number("hosts")))
                .right("windows", row -> count(row.number("windows")))
                .left("model", row -> row.ifText("model").orElse(NONE))
                .left("device", row -> row.ifText("device")
                        .orElse(row.number("devices") > 1 ? row.number("devices") + " kinds" : NONE))
                .left("commit", row -> row.ifText("commit_id").orElse(NONE))
                .byWorth("ranks", "windows", "model", "device", "hosts", "commit");
    }

    private String rank(Row row, String run, String rank) {
        return rank(row.text(run), row.number(rank))
                + (losses.isIncomplete(row.text(run), row.number(rank)) ? "!" : "");
    }

    private String rank(String run, long rank) {
        return (runs.size() > 1 ? run + " " : "") + rank;
    }

    private static String percent(double part, double whole) {
        return whole == 0 ? NONE : String.format(Locale.ROOT, "%.1f", 100 * part / whole);
    }

    private static String change(long ns, long baseNs) {
        return baseNs == 0 ? NONE : signed(100.0 * (ns - baseNs) / baseNs);
    }

    private static String signed(double percent) {
        return String.format(Locale.ROOT, "%+,.1f", percent);
    }

    /** Returns the distribution of the time of all ranks. */
    private String wholeShares() {
        double compute = sum(shares, "compute_ns");
        double communication = sum(shares, "communication_ns");
        double idle = isIdleKnown() ? sum(shares, "idle_ns") : 0;
        double all = compute + communication + idle;
        return all == 0
                ? ""
                : "compute " + ofAll(compute, all) + " %, communication " + ofAll(communication, all) + " %, "
                        + (isIdleKnown() ? "idle " + ofAll(idle, all) + " %" : idleUnknown());
    }

    private String ofAll(double part, double all) {
        return estimate(losses.hasEstimates(), percent(part, all));
    }

    /**
     * Returns whether the idle time of every rank is known. If not, the time of all ranks is given without idle time.
     */
    private boolean isIdleKnown() {
        return withoutIdle() == 0;
    }

    /** Returns the number of ranks whose idle time is not known. */
    private long withoutIdle() {
        return shares.stream().filter(row -> row.ifNumber("idle_ns").isEmpty()).count();
    }

    private String idleUnknown() {
        long unknown = withoutIdle();
        return unknown == shares.size()
                ? "idle not known"
                : "idle not known of " + Plural.of(unknown, "rank") + " of " + count(shares.size());
    }

    /**
     * Returns the report for a console, with the findings last: printable ASCII, lines that end with {@code "\n"}.
     *
     * @return lines of text
     */
    public String toText() {
        return toText(Integer.MAX_VALUE);
    }

    /**
     * Returns the report for a terminal, as {@link #toText()}. Its tables leave out the least important columns that do
     * not fit, and one line names them.
     *
     * @param width the width that no line of a table exceeds, characters
     * @return lines of text
     */
    public String toText(int width) {
        StringBuilder text = new StringBuilder(headline()).append('\n');
        doubts().forEach(doubt ->
                text.append("! ").append(PlainText.ascii(doubt)).append('\n'));
        Optional.of(wholeShares()).filter(words -> !words.isEmpty()).ifPresent(words -> text.append(words)
                .append('\n'));
        Set<String> leftOut = new LinkedHashSet<>();
        sheets().forEach(sheet -> text.append('\n').append(sheet.toText(width, leftOut)));
        if (!leftOut.isEmpty()) {
            text.append("\nTables of ")
                    .append(width)
                    .append(" characters leave out columns: ")
                    .append(String.join(", ", leftOut))
                    .append(". --markdown and --html have all of them.\n");
        }
        return text.append(Findings.text(findings, Math.min(width, FINDING_COLUMNS)))
                .toString();
    }

    /** Returns the reasons to doubt the figures: problems of the data, and parts that were not tested. */
    private List<String> doubts() {
        return Stream.concat(tallies().stream().map(Tally::words), remarks().stream())
                .toList();
    }

    private List<String> remarks() {
        return Stream.concat(
                        losses
                                .remarks(each -> "rank " + rank(each.run(), each.number()), estimatedBricks.size())
                                .stream(),
                        stragglers.remarks().stream())
                .toList();
    }

    /**
     * Returns the report for a comment in Markdown: findings and stragglers are visible, the rest is collapsed. Names
     * are escaped, so that they appear as they are.
     *
     * @return lines of Markdown
     */
    public String toMarkdown() {
        StringBuilder text = new StringBuilder("**" + headline() + "**\n\n");
        findings.forEach(finding ->
                text.append("1. ").append(Markdown.escaped(finding.sentence())).append('\n'));
        text.append(findings.isEmpty() ? "" : "\n");
        doubts().forEach(doubt ->
                text.append("> :warning: ").append(Markdown.escaped(doubt)).append("\n>\n"));
        text.append(doubts().isEmpty() ? "" : "\n").append(wholeShares()).append("\n\n");
        int seen =
                (stragglers.findings().isEmpty() ? 0 : 1) + (stragglers.shown().isEmpty() ? 0 : 1);
        List<Sheet<?>> sheets = sheets();
        sheets.stream().limit(seen).forEach(sheet -> text.append(sheet.toMarkdown())
                .append('\n'));
        text.append("<details><summary>Bricks, ranks, drift</summary>\n");
        sheets.stream().skip(seen).forEach(sheet -> text.append('\n').append(sheet.toMarkdown()));
        return text.append("\n</details>\n").toString();
    }

    /**
     * Returns the report for programs. The keys of rows are the columns of the questions; times are in ns, changes in
     * millionths ({@code _ppm}), others in percent ({@code _pct}). Unknown values are omitted. The times of bricks and
     * ranks with {@code estimated} are estimates.
     *
     * @return JSON with one row per line, which ends with a line break
     */
    public String toJson() {
        return JsonText.of(json -> new Json(json).write());
    }

    /**
     * Returns the report as one page for a browser, which loads nothing, opens from a disk and prints: problems of the
     * data, stragglers, a map of ranks by bricks, spread, shares, drift. The page contains the text of {@link #toJson},
     * which can be saved from it, and the text of {@link #toText}, which is shown if scripts are off.
     *
     * @return HTML, to be stored as UTF-8
     */
    public String toHtml() {
        return HtmlPage.render(
                "Brick fleet",
                FleetReport.class::getResourceAsStream,
                List.of("fleet.js"),
                toText(),
                HtmlPage.data("fleet", toJson()));
    }

    /** Writes the report. One thread. */
    private final class Json {

        private final JsonGenerator json;

        Json(JsonGenerator json) {
            this.json = json;
        }

        void write() throws IOException {
            json.writeStartObject();
            json.writeStringField("schema_version", SCHEMA_VERSION);
            json.writeStringField("kind", "brick-fleet");
            json.writeStringField("headline", headline());
            json.writeFieldName("findings");
            JsonText.value(json, Findings.values(findings));
            json.writeObjectFieldStart("totals");
            json.writeNumberField("ranks", sum(runs, "ranks"));
            json.writeNumberField("compute_ns", sum(shares, "compute_ns"));
            json.writeNumberField("communication_ns", sum(shares, "communication_ns"));
            if (isIdleKnown()) {
                json.writeNumberField("idle_ns", sum(shares, "idle_ns"));
            }
            json.writeEndObject();
            problems();
            stragglers();
            losses();
            table(FleetQuestion.RUNS);
            table(FleetQuestion.PHASES);
            table(FleetQuestion.REQUESTS);
            bricks("bricks", bricks);
            bricks("bricks_by_phase", bricksByPhase);
            spread();
            shares();
            table(FleetQuestion.DRIFT);
            rankBricks();
            windows();
            json.writeEndObject();
            json.writeRaw('\n');
        }

        private void problems() throws IOException {
            json.writeArrayFieldStart("problem_kinds");
            for (Tally tally : tallies()) {
                startRow();
                json.writeStringField("kind", tally.kind().key());
                json.writeNumberField("count", tally.found());
                json.writeNumberField("left_out", tally.leftOut());
                json.writeStringField("example", tally.example());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeArrayFieldStart("problems");
            for (PackProblem problem : problems.subList(0, Math.min(problems.size(), MOST_PROBLEMS))) {
                startRow();
                json.writeStringField("kind", problem.kind().key());
                field("run_id", problem.runId());
                field("rank", problem.rank());
                field("win", problem.window());
                field("file", problem.file());
                json.writeStringField("reason", problem.reason());
                json.writeNumberField("left_out", problem.leftOut());
                json.writeEndObject();
            }
            json.writeEndArray();
        }

        private void stragglers() throws IOException {
            json.writeArrayFieldStart("stragglers");
            for (Stragglers.Finding finding : stragglers.findings()) {
                startRow();
                json.writeStringField("kind", finding.kind().name().toLowerCase(Locale.ROOT));
                json.writeStringField("run_id", finding.run());
                if (finding.rank().isPresent()) {
                    json.writeNumberField("rank", finding.rank().getAsInt());
                }
                if (!finding.host().isEmpty()) {
                    json.writeStringField("host", finding.host());
                }
                json.writeStringField("what", finding.what());
                json.writeArrayFieldStart("bricks");
                for (String brick : finding.bricks()) {
                    json.writeString(brick);
                }
                json.writeEndArray();
                JsonText.number(json, "longer_pct", finding.percent());
                json.writeArrayFieldStart("windows");
                for (Stragglers.Stretch stretch : finding.windows()) {
                    json.writeArray(new long[] {stretch.first(), stretch.last()}, 0, 2);
                }
                json.writeEndArray();
                json.writeNumberField("window_count", finding.windowCount());
                json.writeNumberField("own_ns", finding.ownNs());
                field("late_ns", boxed(finding.lateNs()));
                field("cost_ns", boxed(finding.costNs()));
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeArrayFieldStart("shown");
            for (Shown shown : stragglers.shown()) {
                startRow();
                json.writeStringField("run_id", shown.run());
                if (!shown.device().isEmpty()) {
                    json.writeStringField("device", shown.device());
                }
                json.writeNumberField("ranks", shown.ranks());
                json.writeNumberField("windows", shown.windows());
                JsonText.number(json, "throughout_pct", shown.throughoutPercent());
                JsonText.number(json, "least_brick_pct", shown.leastBrickPercent());
                JsonText.number(json, "most_brick_pct", shown.mostBrickPercent());
                if (shown.slowWindows().isPresent()) {
                    json.writeNumberField("slow_windows", shown.slowWindows().getAsInt());
                    JsonText.number(json, "slow_windows_pct", shown.slowWindowsPercent());
                }
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeArrayFieldStart("remarks");
            for (String remark : remarks()) {
                json.writeString(remark);
            }
            json.writeEndArray();
        }

        private void losses() throws IOException {
            json.writeArrayFieldStart("losses");
            for (IncompleteRanks.Rank rank :
                    losses.ranks().subList(0, Math.min(losses.ranks().size(), MOST_RANKS))) {
                startRow();
                json.writeStringField("run_id", rank.run());
                json.writeNumberField("rank", rank.number());
                json.writeNumberField("samples", rank.samples());
                json.writeNumberField("unresolved", rank.unresolved());
                json.writeNumberField("dropped", rank.dropped());
                json.writeNumberField("pending", rank.pending());
                JsonText.number(json, "missing_pct", rank.missingPercent());
                json.writeNumberField("windows", rank.windows());
                json.writeNumberField("untested", rank.untested());
                json.writeEndObject();
            }
            json.writeEndArray();
        }

        private static @Nullable Long boxed(OptionalLong value) {
            return value.isPresent() ? (Long) value.getAsLong() : null;
        }

        private void table(FleetQuestion question) throws IOException {
            Rows answer = answer(question);
            json.writeArrayFieldStart(question.name().toLowerCase(Locale.ROOT));
            for (List<@Nullable Object> row : answer.rows()) {
                startRow();
                for (int i = 0; i < answer.columns().size(); i++) {
                    field(answer.columns().get(i), row.get(i));
                }
                json.writeEndObject();
            }
            json.writeEndArray();
        }

        private void bricks(String key, List<Row> rows) throws IOException {
            json.writeArrayFieldStart(key);
            for (Row brick : rows) {
                startRow();
                if (!brick.text("phase").isEmpty()) {
                    json.writeStringField("phase", brick.text("phase"));
                }
                for (String column : List.of("category", "brick")) {
                    json.writeStringField(column, brick.text(column));
                }
                for (PackedColumn column : ProfileFields.BRICK.packed()) {
                    field(column.name(), boxed(brick.ifNumber(column.name())));
                }
                error(brick);
                for (String column : List.of("p50", "p90", "p99", "p999")) {
                    field(column + "_ns", boxed(percentileNs(brick, column)));
                }
                if (!brick.text("phase").isEmpty() && spreadOf(brick).isPresent()) {
                    Row ranks = spreadOf(brick).get();
                    json.writeNumberField("median_rank_ns", ranks.number("median_ns"));
                    json.writeNumberField("slowest_rank_ns", ranks.number("max_ns"));
                    json.writeStringField("slowest_run", ranks.text("max_run"));
                    json.writeNumberField("slowest_rank", ranks.number("max_rank"));
                }
                json.writeEndObject();
            }
            json.writeEndArray();
        }

        /** Writes the error of an estimated total, as a profile has it. */
        private void error(Row brick) throws IOException {
            DeviceTime device = FleetRuns.device(brick);
            if (device.isEstimated()) {
                json.writeBooleanField("estimated", true);
                if (device.halfIntervalNs().isPresent()) {
                    JsonText.number(json, "standard_error_ns", device.standardErrorNs());
                    JsonText.number(json, "degrees_of_freedom", device.degreesOfFreedom());
                    JsonText.number(
                            json, "half_interval_ns", device.halfIntervalNs().getAsDouble());
                }
            }
        }

        /** Writes the spread of all samples; the spread of a phase is part of the phase's bricks. */
        private void spread() throws IOException {
            json.writeArrayFieldStart("spread");
            for (Row row : spread) {
                startRow();
                for (String column : List.of("category", "brick")) {
                    json.writeStringField(column, row.text(column));
                }
                for (String column : answer(FleetQuestion.SPREAD).columns()) {
                    if (!List.of("phase", "category", "brick").contains(column)) {
                        field(column, column.endsWith("_run") ? row.text(column) : (Long) row.number(column));
                    }
                }
                json.writeEndObject();
            }
            json.writeEndArray();
        }

        private void shares() throws IOException {
            List<Row> kept = shares.subList(0, Math.min(shares.size(), MOST_RANKS));
            json.writeArrayFieldStart("shares");
            for (Row row : kept) {
                startRow();
                json.writeStringField("run_id", row.text("run_id"));
                json.writeNumberField("rank", row.number("rank"));
                field("host", row.ifText("host").orElse(null));
                field("device", row.ifText("device").orElse(null));
                for (String column : List.of("compute_ns", "communication_ns", "idle_ns")) {
                    field(column, boxed(row.ifNumber(column)));
                }
                if (losses.isEstimated(row.text("run_id"), row.number("rank"))) {
                    json.writeBooleanField("estimated", true);
                }
                json.writeEndObject();
            }
            json.writeEndArray();
        }

        /** Writes a line for each rank, with its time for each brick; null if it did not run the brick. */
        private void rankBricks() throws IOException {
            Map<List<String>, Integer> places = new LinkedHashMap<>();
            List<Row> names = new ArrayList<>();
            Map<List<Object>, @Nullable Long[]> byRank = new LinkedHashMap<>();
            List<Row> rows = rows(FleetQuestion.RANK_BRICKS);
            for (Row row : rows) {
                if (places.putIfAbsent(key(row), places.size()) == null) {
                    names.add(row);
                }
            }
            for (Row row : rows) {
                byRank.computeIfAbsent(
                                        List.of(row.text("run_id"), row.number("rank")),
                                        rank -> new @Nullable Long[places.size()])[
                                Optional.ofNullable(places.get(key(row))).orElseThrow()] =
                        row.number("mean_ns");
            }
            json.writeObjectFieldStart("rank_bricks");
            json.writeArrayFieldStart("bricks");
            for (Row name : names) {
                startRow();
                json.writeStringField("category", name.text("category"));
                json.writeStringField("brick", name.text("brick"));
                json.writeNumberField("median_ns", name.number("median_ns"));
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeArrayFieldStart("ranks");
            for (Map.Entry<List<Object>, @Nullable Long[]> rank : byRank.entrySet()) {
                startRow();
                field("run_id", rank.getKey().get(0));
                field("rank", rank.getKey().get(1));
                values("mean_ns", rank.getValue());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
        }

        /** Writes a line for each brick, with its time in each part of the windows; null if it did not run there. */
        private void windows() throws IOException {
            List<Row> rows = rows(FleetQuestion.WINDOWS);
            int parts = (int)
                    rows.stream().mapToLong(row -> row.number("part") + 1).max().orElse(0);
            Map<List<String>, @Nullable Long[]> byBrick = new LinkedHashMap<>();
            for (Row row : rows) {
                byBrick.computeIfAbsent(key(row), brick -> new @Nullable Long[parts])[(int) row.number("part")] =
                        row.number("median_ns");
            }
            json.writeArrayFieldStart("windows");
            for (Map.Entry<List<String>, @Nullable Long[]> brick : byBrick.entrySet()) {
                startRow();
                json.writeStringField("category", brick.getKey().get(0));
                json.writeStringField("brick", brick.getKey().get(1));
                values("median_ns", brick.getValue());
                json.writeEndObject();
            }
            json.writeEndArray();
        }

        private void values(String key, @Nullable Long[] values) throws IOException {
            json.writeArrayFieldStart(key);
            for (Long value : values) {
                json.writeObject(value);
            }
            json.writeEndArray();
        }

        private void startRow() throws IOException {
            json.writeRaw('\n');
            json.writeStartObject();
        }

        /** Writes a field; writes nothing if there is no value. */
        private void field(String key, @Nullable Object value) throws IOException {
            if (value instanceof Double number) {
                JsonText.number(json, key, number);
            } else if (value != null) {
                json.writeObjectField(key, value);
            }
        }
    }
}
