package org.brickprofiler.report;

import static org.brickprofiler.report.BrickTable.BRICK_SHARE;
import static org.brickprofiler.report.BrickTable.avgCell;
import static org.brickprofiler.report.BrickTable.shareCell;
import static org.brickprofiler.report.internal.HumanUnits.ERROR;
import static org.brickprofiler.report.internal.HumanUnits.NONE;
import static org.brickprofiler.report.internal.HumanUnits.count;
import static org.brickprofiler.report.internal.HumanUnits.duration;
import static org.brickprofiler.report.internal.HumanUnits.durationCell;
import static org.brickprofiler.report.internal.HumanUnits.estimate;
import static org.brickprofiler.report.internal.HumanUnits.number;
import static org.brickprofiler.report.internal.HumanUnits.percent;
import static org.brickprofiler.report.internal.HumanUnits.rateCell;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Calibration;
import org.brickprofiler.CategoryStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.report.internal.TextTable;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.tile.TileStats;

/**
 * A profile as text for a console: its environment, steps, requests, bricks, categories, tiles and device streams, and
 * the profiler's own cost. Every share names its base. Printable ASCII, with {@code "\n"} at the end of each line, in
 * every locale; times carry their units. Stateless; any thread.
 */
public final class TextReport {

    /** The most environments that are listed; a merged profile may have many. */
    private static final int ENVIRONMENTS_SHOWN = 4;

    /** The columns of steps and categories that every width has, the most important first. */
    private static final List<String> KEPT =
            List.of("steps", "count", "p50", "p99", "total", BRICK_SHARE, "% of wall time", "output tokens/s");

    private static final int UNLIMITED = Integer.MAX_VALUE;

    /** The most bricks of the category Other that are named below the categories. */
    private static final int OTHERS_NAMED = 3;

    /** The element size that {@link TileStats#arithmeticIntensity()} assumes. */
    private static final double USUAL_BYTES_PER_ELEMENT = 4;

    /** Files of other programs may lack facts that a snapshot of this library has. */
    private static final String NOT_KNOWN = "not known";

    private final boolean net;
    private final int columns;
    private final boolean isVerbose;
    private final ProfileSnapshot snapshot;
    private final long totalNs;
    private final long shareNs;

    /** Whether the net time of a brick is known. */
    private final boolean hasNet;

    private final boolean isEstimated;
    private final double bytesPerElement;
    private final StringBuilder text = new StringBuilder();

    private TextReport(ProfileSnapshot snapshot, double bytesPerElement, boolean net, int columns, boolean isVerbose) {
        this.net = net;
        this.columns = columns;
        this.isVerbose = isVerbose;
        this.snapshot = snapshot;
        this.bytesPerElement = bytesPerElement;
        this.totalNs = snapshot.totalNs();
        this.shareNs = snapshot.netOrTotalNs();
        this.hasNet = snapshot.bricks().stream().anyMatch(brick -> brick.netNs().isPresent());
        this.isEstimated = snapshot.isEstimated();
    }

    /**
     * Returns the report of a profile, which ends with its findings. Elements of tiles count as 4 bytes.
     *
     * @param snapshot the profile
     * @return lines of text; for a profile without samples, a sentence that states this
     */
    public static String render(ProfileSnapshot snapshot) {
        return render(snapshot, USUAL_BYTES_PER_ELEMENT);
    }

    /**
     * Returns the report of a profile whose tiles read and wrote elements of a known size.
     *
     * @param snapshot the profile
     * @param bytesPerElement bytes that an element of a tile takes, more than 0: 2 for a half float, about 0.56 for a
     *     weight of 4 bits in blocks with their scales
     * @return lines of text; for a profile without samples, a sentence that states this
     * @throws IllegalArgumentException when {@code bytesPerElement} is not a number above 0
     */
    public static String render(ProfileSnapshot snapshot, double bytesPerElement) {
        TileStats.requireBytesPerElement(bytesPerElement);
        return new TextReport(snapshot, bytesPerElement, false, UNLIMITED, true).render()
                + Findings.text(Findings.of(snapshot));
    }

    /**
     * Returns the report of a profile for a terminal, without the findings: a program adds {@link Findings#text} last.
     * Its tables leave out the least important columns that do not fit; below 100 columns, the table of bricks has
     * names, totals, shares and percentiles only.
     *
     * @param snapshot the profile
     * @param columns the width that no line of a table exceeds, 80 or more: fewer have no effect on some tables
     * @param isVerbose whether to account for the profile: its period, threads and clock, the cost of profiling, and
     *     the notes on streams; reasons to doubt a number are printed in any case
     * @return lines of text; for a profile without samples, a sentence that states this
     */
    public static String render(ProfileSnapshot snapshot, int columns, boolean isVerbose) {
        return new TextReport(snapshot, USUAL_BYTES_PER_ELEMENT, false, columns, isVerbose).render();
    }

    /**
     * Returns the report of a profile with a calibration. The report shows the times without the profiler's own cost
     * beside the recorded times; see {@link org.brickprofiler.RunFacts#netNs}. Elements of tiles count as 4 bytes.
     *
     * @param snapshot the profile
     * @return lines of text; for a profile without samples, a sentence that states this
     * @throws IllegalArgumentException when the profile has no calibration, or calibrations of several environments
     */
    public static String renderNet(ProfileSnapshot snapshot) {
        return renderNet(snapshot, UNLIMITED);
    }

    /**
     * Returns the report of a profile with a calibration for a terminal, as {@link #renderNet(ProfileSnapshot)}. Its
     * tables leave out the least important columns that do not fit.
     *
     * @param snapshot the profile
     * @param columns the width that no line of a table exceeds, 80 or more: fewer have no effect on some tables
     * @return lines of text; for a profile without samples, a sentence that states this
     * @throws IllegalArgumentException when the profile has no calibration, or calibrations of several environments
     */
    public static String renderNet(ProfileSnapshot snapshot, int columns) {
        List<Calibration> calibrations = snapshot.facts().calibrations();
        if (calibrations.size() != 1) {
            throw new IllegalArgumentException(
                    calibrations.isEmpty()
                            ? "the profile holds no calibration: BrickProfiler.calibrate() makes one"
                            : "the profile holds calibrations of " + calibrations.size()
                                    + " environments, and the environment of each sample is unknown");
        }
        return new TextReport(snapshot, USUAL_BYTES_PER_ELEMENT, true, columns, true).render();
    }

    private String render() {
        text.append("Brick profile\n");
        remarks();
        header();
        warnings();
        steps();
        text.append(RequestText.render(snapshot, hasNet));
        bricks();
        categories();
        tiles();
        streams();
        footer();
        return text.toString();
    }

    /**
     * Returns the table of categories alone.
     *
     * @param snapshot the profile
     * @return lines of text, empty if no brick was recorded
     */
    public static String renderCategories(ProfileSnapshot snapshot) {
        TextReport report = new TextReport(snapshot, USUAL_BYTES_PER_ELEMENT, false, UNLIMITED, true);
        report.categories();
        return report.text.toString().stripLeading();
    }

    /** Prints the remarks of the run, which may make all numbers doubtful. */
    private void remarks() {
        snapshot.facts().disturbances().forEach(remark -> text.append("! ")
                .append(PlainText.ascii(remark))
                .append(".\n"));
    }

    private void header() {
        String identity = snapshot.identity().describe();
        if (!identity.isEmpty()) {
            fact("run", identity);
        }
        if (isVerbose) {
            fact("taken", period());
        }
        List<Environment> environments = snapshot.environments();
        environments.stream().limit(ENVIRONMENTS_SHOWN).forEach(this::environment);
        if (environments.size() > ENVIRONMENTS_SHOWN) {
            fact("machine", "and " + count(environments.size() - ENVIRONMENTS_SHOWN) + " more");
        }
        if (isVerbose && !isOfTrace()) {
            fact("threads", threads());
        }
        fact(
                "wall time",
                snapshot.wallNs() == 0
                        ? NOT_KNOWN
                        : duration(snapshot.wallNs()) + (isOfTrace() ? "" : " with the profiler on"));
        fact(
                "brick time",
                (hasNet ? estimate(isEstimated, duration(shareNs)) + " net, " : "")
                        + estimate(isEstimated, duration(totalNs)) + (hasNet ? " recorded," : "") + " summed over "
                        + Plural.of(snapshot.samples(), "sample")
                        + (snapshot.wallNs() == 0
                                ? ""
                                : ", " + estimate(isEstimated, percent(percentOfWall(shareNs))) + " % of wall time"));
        meanwhile(snapshot.facts().virtualMachines());
    }

    /** Prints what the virtual machines did beside the bricks, if they state it. */
    private void meanwhile(List<RunFacts.VirtualMachine> machines) {
        long upNs = sum(machines, RunFacts.VirtualMachine::upNs);
        if (upNs > 0) {
            fact(
                    "meanwhile",
                    "garbage collection " + duration(sum(machines, RunFacts.VirtualMachine::gcNs)) + ", compilation "
                            + duration(sum(machines, RunFacts.VirtualMachine::jitNs)) + " by all compiler threads, of "
                            + duration(upNs) + " since the start");
        }
    }

    private static long sum(List<RunFacts.VirtualMachine> machines, ToLongFunction<RunFacts.VirtualMachine> ns) {
        return machines.stream().mapToLong(ns).reduce(0, Sums::limited);
    }

    /** Returns whether the profile is that of a trace: it has a wall time and no recording threads. */
    private boolean isOfTrace() {
        boolean isByThreads = snapshot.threads() > 0 || snapshot.virtualThreads();
        return snapshot.samples() > 0 && snapshot.wallNs() > 0 && !isByThreads && snapshot.overheadNs() == 0;
    }

    private String period() {
        if (snapshot.endedAt().equals(Instant.EPOCH)) {
            return NOT_KNOWN;
        }
        return snapshot.startedAt().truncatedTo(ChronoUnit.MILLIS) + " to "
                + snapshot.endedAt().truncatedTo(ChronoUnit.MILLIS);
    }

    private String threads() {
        if (snapshot.virtualThreads()) {
            return Plural.of(snapshot.threads(), "platform thread") + ", and virtual threads, which are not counted";
        }
        boolean unknown = snapshot.threads() == 0 && snapshot.samples() > 0;
        return unknown ? NOT_KNOWN : count(snapshot.threads()) + " recorded";
    }

    private void environment(Environment environment) {
        int processors = environment.processors();
        long clockStepNs = environment.clockResolutionNs();
        fact(
                "machine",
                known(
                        environment.cpu(),
                        processors == 0 ? "" : processors + " processors",
                        environment.arch(),
                        environment.os()));
        if (isVerbose && !isOfTrace()) {
            fact(
                    "java",
                    known(
                            environment.javaVersion(),
                            environment.jvm(),
                            clockStepNs == 0 ? "" : "clock step " + duration(clockStepNs)));
        }
    }

    private static String known(String... parts) {
        String known = Stream.of(parts).filter(part -> !part.isBlank()).collect(Collectors.joining(", "));
        return known.isEmpty() ? NOT_KNOWN : known;
    }

    private void fact(String what, String value) {
        text.append(String.format(Locale.ROOT, "  %-10s  %s\n", what, PlainText.ascii(value.strip())));
    }

    /** Prints, above the tables, the reasons why they may mislead. */
    private void warnings() {
        if (snapshot.literalOverlaps() > 0) {
            text.append("\nOverlapping: ")
                    .append(count(snapshot.literalOverlaps()))
                    .append("""
                         deferred measurements were resolved together with others, and each lasts until then.
                        The same time counts several times: totals, averages and shares are too large.
                        Build the profiler with Attribution.SEQUENTIAL, which divides the time among them.
                        """);
        }
        if (snapshot.pending() > 0) {
            text.append("\nPending: ")
                    .append(Plural.of(snapshot.pending(), "measurement"))
                    .append("""
                         had begun and had no known end when the snapshot was taken;
                        finalize(elapsedNs()) or endPass() resolves them.
                        """)
                    .append(
                            snapshot.streams().stream().anyMatch(StreamTotals::isSampled)
                                    ? "With deviceSampling, the thread that started the bricks calls endPass(), or any"
                                            + " thread stream(name).endPass().\n"
                                    : "")
                    .append("""
                        In merged snapshots, a measurement counts once for each snapshot in which it was pending.
                        """);
        }
        List<BrickStats> dominated = snapshot.bricks().stream()
                .filter(BrickStats::isDominatedByOneSample)
                .toList();
        if (!dominated.isEmpty()) {
            text.append("\nMore than a quarter of a brick's time was one sample: ")
                    .append(PlainText.ascii(
                            dominated.stream().map(TextReport::dominated).collect(Collectors.joining(", "))))
                    .append(".\nFirst samples load classes; leave them out by a warm-up, or compare medians.\n");
        }
    }

    private static String dominated(BrickStats brick) {
        return brick.name() + " " + duration(brick.maxNs()) + " of "
                + estimate(brick.device().isEstimated(), duration(brick.totalNs())) + ", in "
                + Plural.of(brick.count(), "sample");
    }

    private void steps() {
        Steps steps = snapshot.steps();
        List<StepStats> phases =
                steps.phases().stream().filter(phase -> phase.count() > 0).toList();
        if (!phases.isEmpty()) {
            TextTable<StepStats> table = new TextTable<StepStats>()
                    .left("phase", phase -> phase.phase().displayName(), "")
                    .right("steps", phase -> count(phase.count()), "")
                    .right("avg", phase -> durationCell(phase.avgNs()), "")
                    .right("p50", phase -> durationCell(phase.percentileNs(50)), "")
                    .right("p99", phase -> durationCell(phase.percentileNs(99)), "")
                    .right("max", phase -> durationCell(phase.maxNs()), "")
                    .right("prompt tokens/s", phase -> tokenRateCell(phase.prefillTokensPerSecond()), "")
                    .right("output tokens/s", phase -> tokenRateCell(phase.outputTokensPerSecond()), "")
                    .right("batch", phase -> meanCell(phase.avgBatch()), "")
                    .right("KV length", phase -> meanCell(phase.avgKvLength()), "")
                    .rightIf(
                            phases.stream().anyMatch(phase -> phase.cpu().steps() > 0),
                            "% on CPU",
                            phase -> phase.cpu().steps() == 0
                                    ? NONE
                                    : percent(100 * phase.cpu().ranShare()),
                            "")
                    .rightIf(
                            phases.stream()
                                    .anyMatch(phase -> phase.cpu().waitedNs().isPresent()),
                            "% waiting for CPU",
                            phase -> phase.cpu().waitedNs().isEmpty()
                                    ? NONE
                                    : percent(100 * phase.cpu().waitedShare()),
                            "")
                    .rightIf(
                            phases.stream().anyMatch(phase -> phase.draftedTokens() > 0),
                            "% of drafted accepted",
                            phase -> phase.draftedTokens() == 0 ? NONE : percent(100 * phase.acceptanceRate()),
                            "");
            text.append("\nSteps\n\n").append(table.render(phases, columns, KEPT));
        }
        if (!snapshot.requests().hasRequests()) {
            waited("Time to first token", steps.timeToFirstToken());
            waited("Time per output token", steps.timePerOutputToken());
        }
        if (steps.abandoned() > 0) {
            text.append("Steps that began and did not end: ")
                    .append(count(steps.abandoned()))
                    .append(".\n");
        }
    }

    private static String tokenRateCell(double perSecond) {
        return perSecond == 0 ? NONE : rateCell(perSecond);
    }

    private static String meanCell(double mean) {
        return mean == Math.rint(mean) ? count((long) mean) : number(mean);
    }

    private void waited(String what, LatencyDistribution times) {
        if (times.count() > 0) {
            text.append(String.format(
                    Locale.ROOT,
                    "%s: p50 %s, p99 %s, of %s.\n",
                    what,
                    duration(times.percentileNs(50)),
                    duration(times.percentileNs(99)),
                    count(times.count())));
        }
    }

    private void bricks() {
        List<BrickStats> bricks = snapshot.bricks();
        if (bricks.isEmpty()) {
            text.append(
                    snapshot.pending() > 0
                            ? "\nNo bricks were recorded: everything that was measured is pending.\n"
                            : snapshot.environments().isEmpty() && !hasTiles()
                                    ? "\nNo bricks: nothing in the file counts as one.\n"
                                    : "\nNo bricks were recorded: none was stopped while the profiler was on.\n");
            return;
        }
        text.append("\nBricks, largest first\n\n").append(BrickTable.render(snapshot, columns, net));
    }

    private void categories() {
        if (snapshot.bricks().isEmpty()) {
            return;
        }
        List<Map.Entry<BrickCategory, CategoryStats>> lines = snapshot.categories().entrySet().stream()
                .filter(line -> line.getValue().count() > 0)
                .sorted(Comparator.comparing(line -> -line.getValue().totalNs()))
                .toList();
        if (lines.isEmpty()) {
            return;
        }
        long largestNs = lines.stream()
                .mapToLong(line -> line.getValue().netOrTotalNs())
                .max()
                .orElse(0);
        TextTable<Map.Entry<BrickCategory, CategoryStats>> table = new TextTable<
                        Map.Entry<BrickCategory, CategoryStats>>()
                .left("category", line -> line.getKey().displayName(), "all categories")
                .right("count", line -> count(line.getValue().count()), count(snapshot.samples()))
                .right(
                        "total",
                        line -> estimate(
                                line.getValue().isEstimated(),
                                durationCell(line.getValue().totalNs())),
                        estimate(isEstimated, durationCell(totalNs)))
                .rightIf(
                        isEstimated,
                        ERROR,
                        line -> BrickTable.errorCell(line.getValue()),
                        BrickTable.errorCell(
                                CategoryStats.sum(snapshot.categories().values())))
                .right(
                        BRICK_SHARE,
                        line -> shareCell(line.getValue().netOrTotalNs(), shareNs, largestNs, isEstimated),
                        shareCell(shareNs, shareNs, 0, false))
                .rightIf(
                        snapshot.wallNs() > 0,
                        "% of wall time",
                        line -> estimate(
                                line.getValue().isEstimated(),
                                percent(percentOfWall(line.getValue().netOrTotalNs()))),
                        estimate(isEstimated, percent(percentOfWall(shareNs))));
        text.append("\nCategories, largest first\n\n").append(table.render(lines, columns, KEPT));
        if (snapshot.wallNs() > 0 && shareNs > snapshot.wallNs()) {
            text.append("Shares of wall time add up to more than 100 %: ")
                    .append(
                            snapshot.literalOverlaps() > 0
                                    ? "spans of deferred measurements overlap, as stated above.\n"
                                    : "bricks ran on several threads at once, or inside one another.\n");
        }
        largestOthers();
    }

    /**
     * Prints the largest bricks of the category Other. It is the least specific category, and contains the projection
     * to the vocabulary.
     */
    private void largestOthers() {
        List<BrickStats> bricks = snapshot.bricks();
        List<String> names = TextTable.shown(bricks, BrickStats::name);
        String largest = IntStream.range(0, bricks.size())
                .filter(i -> bricks.get(i).category() == BrickCategory.OTHER
                        && bricks.get(i).count() > 0)
                .limit(OTHERS_NAMED)
                .mapToObj(i -> names.get(i) + " "
                        + estimate(isEstimated, percent(bricks.get(i).percentage(shareNs))) + " %")
                .collect(Collectors.joining(", "));
        if (!largest.isEmpty()) {
            text.append("Largest of ")
                    .append(BrickCategory.OTHER.displayName())
                    .append(", of brick time: ")
                    .append(largest)
                    .append(".\n");
        }
    }

    private double percentOfWall(long ns) {
        return snapshot.wallNs() == 0 ? 0.0 : 100.0 * ns / snapshot.wallNs();
    }

    private boolean hasTiles() {
        return snapshot.tiles().stream().anyMatch(tile -> tile.count() > 0);
    }

    private void tiles() {
        List<TileStats> tiles =
                snapshot.tiles().stream().filter(tile -> tile.count() > 0).toList();
        long unresolved =
                snapshot.tiles().stream().mapToLong(TileStats::unresolved).reduce(0, Sums::limited);
        if (unresolved > 0) {
            text.append("\nTiles whose timer could not hold their time: ")
                    .append(count(unresolved))
                    .append(". They are in no count and no total.\n");
        }
        if (tiles.isEmpty()) {
            if (isVerbose && snapshot.tilesOff()) {
                text.append("\nNo tiles were recorded: their switch is off, tiles().enable() turns it on.\n");
            }
            return;
        }
        TextTable<TileStats> table = new TextTable<TileStats>()
                .left("level", tile -> tile.level().displayName(), "")
                .right("tiles", tile -> count(tile.count()), "")
                .right("total", tile -> durationCell(tile.totalNs()), "")
                .right("avg", tile -> avgCell(tile.totalNs(), tile.count()), "")
                .right("min", tile -> tile.minAtLeastNs().isPresent() ? NONE : durationCell(tile.minNs()), "")
                .right("max", tile -> tile.maxAtMostNs().isPresent() ? NONE : durationCell(tile.maxNs()), "")
                .right("GFLOP/s of tile time", tile -> number(tile.gflops()), "")
                .right(
                        "FLOP/B at " + plain(bytesPerElement) + " B an element",
                        tile -> number(tile.arithmeticIntensity(bytesPerElement)),
                        "")
                .left("slowest tile", TextReport::slowestCell, "");
        text.append(snapshot.tilesOff() ? "\nTiles, whose switch is off by now\n\n" : "\nTiles\n\n")
                .append(table.render(tiles, columns, List.of()));
    }

    private static String plain(double value) {
        return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
    }

    private static String slowestCell(TileStats tile) {
        return tile.slowestRow() == TileStats.UNKNOWN
                ? NONE
                : "row " + tile.slowestRow() + ", col " + tile.slowestCol();
    }

    /** Prints the table of streams; nothing without streams. */
    private void streams() {
        if (snapshot.streams().isEmpty()) {
            return;
        }
        TextTable<StreamTotals> table = new TextTable<StreamTotals>()
                .left("stream", StreamTotals::stream, "")
                .left("device", TextReport::device, "")
                .right("bricks", stream -> count(stream.samples()), "")
                .right("busy", stream -> estimate(stream.isSampled(), durationCell(stream.busyNs())), "")
                .rightIf(
                        snapshot.streams().stream().anyMatch(StreamTotals::isSampled), "passes", TextReport::passes, "")
                .right("idle in passes", stream -> stream.isSampled() ? NONE : durationCell(stream.idleNs()), "")
                .right("idle % of both", stream -> stream.isSampled() ? NONE : percent(100 * stream.idleShare()), "")
                .rightIf(
                        snapshot.streams().stream()
                                .anyMatch(stream -> stream.net().isPresent()),
                        "net between bricks",
                        TextReport::between,
                        "")
                .right("waits", stream -> count(stream.waits()), "");
        text.append("\nDevice streams\n\n").append(table.render(snapshot.streams(), columns, List.of()));
        snapshot.streams().stream()
                .filter(stream -> isVerbose && !stream.markCost().equals(MarkCost.NOT_RECORDED))
                .map(TextReport::markCost)
                .forEach(text::append);
        snapshot.streams().stream()
                .filter(stream -> isVerbose && stream.shortestGapNs() > 0)
                .map(TextReport::marks)
                .forEach(text::append);
    }

    private static String passes(StreamTotals stream) {
        return stream.passNs().isPresent() ? durationCell(stream.passNs().getAsLong()) : NONE;
    }

    /** Returns the time of the passes without that of the bricks, both without what marks add. */
    private static String between(StreamTotals stream) {
        return stream.net()
                .map(net -> estimate(stream.isSampled(), durationCell(net.betweenNs())) + " +-"
                        + durationCell(net.betweenErrorNs()))
                .orElse(NONE);
    }

    private static String marks(StreamTotals stream) {
        return String.format(
                Locale.ROOT,
                "Idle on '%s' includes the device's time for the marks: %s at most in each of %s, %s together.\n",
                PlainText.ascii(stream.stream()),
                duration(stream.shortestGapNs()),
                Plural.of(stream.gaps(), "gap"),
                duration(stream.idleOfMarksNs()));
    }

    private static String markCost(StreamTotals stream) {
        MarkCost cost = stream.markCost();
        String name = PlainText.ascii(stream.stream());
        if (!cost.isKnown()) {
            return "No net times on '" + name + "': what marks add is unknown, since " + PlainText.ascii(cost.unknown())
                    + ".\n";
        }
        return String.format(
                Locale.ROOT,
                "Marks on '%s' add %s to a brick, and %s for each further mark in it; both +-%s.\n",
                name,
                duration(Math.round(cost.brickNs())),
                duration(Math.round(cost.markNs())),
                duration(Math.round(cost.errorNs())));
    }

    private static String device(StreamTotals stream) {
        return stream.device() + " #" + stream.deviceIndex()
                + stream.pciAddress().map(address -> " (" + address + ")").orElse("");
    }

    private void footer() {
        StringBuilder notes = new StringBuilder();
        if (isVerbose && snapshot.samples() > 0 && !isOfTrace()) {
            notes.append("Profiler's own cost: ").append(cost()).append('\n');
        }
        if (net) {
            notes.append(netNotes());
        }
        if (snapshot.droppedPending() > 0) {
            notes.append("Deferred measurements lost because their queue was full: ")
                    .append(count(snapshot.droppedPending()))
                    .append(". Counts and totals lack them.\n");
        }
        notes.append(deviceNotes());
        if (isVerbose) {
            snapshot.l2CacheHitRate().ifPresent(rate -> notes.append("L2 cache hit rate: ")
                    .append(percent(100 * rate))
                    .append(" %\n"));
            notes.append(snapshot.zeroCopy() ? "Zero copy: transfers copy nothing.\n" : "");
        }
        if (notes.length() > 0) {
            text.append('\n').append(notes);
        }
    }

    /** Returns the costs that were subtracted for net times, and the costs that were not. */
    private String netNotes() {
        Calibration.Cost cost = snapshot.facts().calibrations().get(0).own();
        StringBuilder notes = new StringBuilder("Net times exclude the measured cost of timing: ")
                .append(measured(cost.insideNs()))
                .append(" of a brick between start and stop,\n")
                .append(measured(cost.lapNs()))
                .append(" of a brick that a lap begins, and ")
                .append(measured(cost.sampleNs()))
                .append(" for each nested brick. Compiler optimisations that calls\nprevent, above all inlining, are "
                        + "not accounted for; brick run --overhead shows their effect.\n");
        String unknown = snapshot.bricks().stream()
                .map(BrickStats::name)
                .filter(name -> !snapshot.facts().nesting().containsKey(name))
                .collect(Collectors.joining(", "));
        if (!unknown.isEmpty()) {
            notes.append("No graph recorded which bricks these contain, and which of them a lap began; they count as "
                            + "started, without nested bricks: ")
                    .append(PlainText.ascii(unknown))
                    .append(".\n");
        }
        if (snapshot.tiles().stream().anyMatch(tile -> tile.count() > 0)) {
            notes.append("The cost of timing tiles is still contained in the bricks around them.\n");
        }
        return notes.toString();
    }

    private static String measured(Calibration.Spread spread) {
        return String.format(Locale.ROOT, "%.1f ns (%.1f..%.1f)", spread.medianNs(), spread.lowNs(), spread.highNs());
    }

    /** Returns the launch-bound bricks, the number of samples whose time is unknown, and why a stream failed. */
    private String deviceNotes() {
        StringBuilder notes = new StringBuilder();
        if (isEstimated) {
            notes.append("~ precedes an estimate: one brick in several has marks. +-% is half of the 95 % interval of a"
                    + " total, \"?\" one of too few marks,\n\"few\" one of hardly enough. Shortest and longest are those of"
                    + " the marked samples; with n of them, calls rarer than 1 in n/3\nmay be unseen, and are in no"
                    + " interval. Totals include what the marks of the marked samples take; the time of passes includes\n"
                    + "only the marks themselves.\n");
        }
        List<BrickStats> bound =
                snapshot.bricks().stream().filter(BrickStats::isLaunchBound).toList();
        if (!bound.isEmpty()) {
            notes.append("Launch-bound, the host took longer to launch them than the device to do them: ")
                    .append(PlainText.ascii(bound.stream().map(BrickStats::name).collect(Collectors.joining(", "))))
                    .append(".\n");
        }
        if (hasNet) {
            notes.append("Shares and rates are by net times, without what marks of devices add; other times are as"
                    + " recorded.\n");
        }
        List<BrickStats> shortOnes = snapshot.bricks().stream()
                .filter(BrickStats::isShortBesideMarks)
                .toList();
        if (!shortOnes.isEmpty()) {
            notes.append("Shorter than twice what their marks add, so that their net times are uncertain: ")
                    .append(PlainText.ascii(
                            shortOnes.stream().map(BrickStats::name).collect(Collectors.joining(", "))))
                    .append(".\n");
        }
        if (snapshot.unresolved() > 0) {
            boolean usesDevice = !snapshot.streams().isEmpty()
                    || snapshot.bricks().stream()
                            .anyMatch(brick -> brick.device().measured() > 0);
            notes.append(
                            usesDevice
                                    ? "Samples whose time a device did not report: "
                                    : "Samples whose timer could not hold their time: ")
                    .append(count(snapshot.unresolved()))
                    .append(". They are in no count and no total.\n");
        }
        List<BrickStats> startless = snapshot.bricks().stream()
                .filter(brick -> brick.device().withoutStart() > 0)
                .toList();
        if (!startless.isEmpty()) {
            long samples = startless.stream()
                    .mapToLong(brick -> brick.device().withoutStart())
                    .sum();
            notes.append("Of these, deferred measurements without a known start: ")
                    .append(count(samples))
                    .append(" (")
                    .append(PlainText.ascii(
                            startless.stream().map(BrickStats::name).collect(Collectors.joining(", "))))
                    .append("). Read the start by elapsedNs() of the same stream, and give the stream enough marks.\n");
        }
        for (StreamTotals stream : snapshot.streams()) {
            stream.failure()
                    .ifPresent(reason ->
                            notes.append(PlainText.ascii("Stream '" + stream.stream() + "': " + reason + ".") + "\n"));
        }
        return notes.toString();
    }

    private String cost() {
        if (snapshot.overheadNs() == 0 || shareNs == 0) {
            return NOT_KNOWN;
        }
        return String.format(
                Locale.ROOT,
                "about %s, %s %% of brick time (%s a sample).\n"
                        + "This counts the clock reads of samples and their sums, in a tight loop. It does not count cache"
                        + " misses,\n"
                        + "steps, requests, and optimisations that calls prevent: brick run --overhead measures the whole"
                        + " cost.",
                duration(snapshot.overheadNs()),
                number(100.0 * snapshot.overheadNs() / shareNs),
                duration(snapshot.overheadPerSampleNs()));
    }
}
