package org.brickprofiler.report;

import static org.brickprofiler.report.internal.HumanUnits.ERROR;
import static org.brickprofiler.report.internal.HumanUnits.NONE;
import static org.brickprofiler.report.internal.HumanUnits.UNKNOWN_ERROR;
import static org.brickprofiler.report.internal.HumanUnits.count;
import static org.brickprofiler.report.internal.HumanUnits.duration;
import static org.brickprofiler.report.internal.HumanUnits.durationCell;
import static org.brickprofiler.report.internal.HumanUnits.estimate;
import static org.brickprofiler.report.internal.HumanUnits.number;
import static org.brickprofiler.report.internal.HumanUnits.percent;
import static org.brickprofiler.report.internal.HumanUnits.rateCell;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.brickprofiler.Bottleneck;
import org.brickprofiler.BrickStats;
import org.brickprofiler.CategoryStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.report.internal.HumanUnits;
import org.brickprofiler.report.internal.TextTable;
import org.jspecify.annotations.Nullable;

/** The table of bricks in a text report, with the phases of their steps beside each other. Used by one thread. */
final class BrickTable {

    private static final String EXACT = "exact";

    static final String BRICK_SHARE = "% of brick time";

    /** The width from which phases have columns. */
    private static final int WIDE = 100;

    /** A phase with a smaller share of brick time has no columns. */
    private static final double LEAST_PERCENT_OF_PHASE = 1;

    private static final int BAR = 9;

    private final ProfileSnapshot snapshot;
    private final List<BrickStats> bricks;
    private final long totalNs;
    private final long shareNs;
    private final Set<String> netBricks;
    private final boolean hasLatency;
    private final boolean isEstimated;

    private BrickTable(ProfileSnapshot snapshot) {
        this.snapshot = snapshot;
        this.bricks = snapshot.bricks();
        this.totalNs = snapshot.totalNs();
        this.shareNs = snapshot.netOrTotalNs();
        this.netBricks = bricks.stream()
                .filter(brick -> brick.netNs().isPresent())
                .map(BrickTable::key)
                .collect(Collectors.toSet());
        this.hasLatency = bricks.stream().anyMatch(brick -> brick.latency().isPresent());
        this.isEstimated = snapshot.isEstimated();
    }

    /**
     * Returns the table, and the shares of the phases below it.
     *
     * @param snapshot a profile with bricks
     * @param columns the width that no line of the table exceeds
     * @param withNet whether to show times without the profiler's cost
     */
    static String render(ProfileSnapshot snapshot, int columns, boolean withNet) {
        BrickTable table = new BrickTable(snapshot);
        List<StepInfo.Phase> phases = table.phases();
        return table.columns(withNet, phases).render(table.bricks, columns, table.important(columns, phases))
                + table.shares(phases);
    }

    /** Returns the phases that have columns; none if all samples belong to one. */
    private List<StepInfo.Phase> phases() {
        return onlyPhase() != null
                ? List.of()
                : snapshot.phases().keySet().stream()
                        .filter(phase -> percentOfBricks(phaseNs(phase)) >= LEAST_PERCENT_OF_PHASE)
                        .toList();
    }

    private TextTable<BrickStats> columns(boolean withNet, List<StepInfo.Phase> phases) {
        long largestNs =
                bricks.stream().mapToLong(BrickStats::netOrTotalNs).max().orElse(0);
        boolean ofDevice =
                bricks.stream().anyMatch(brick -> brick.device().marks().ns() > 0);
        long samples = bricks.stream().mapToLong(BrickStats::count).sum();
        TextTable<BrickStats> table = new TextTable<BrickStats>()
                .left("brick", BrickStats::name, "all bricks")
                .left("category", brick -> brick.category().displayName(), "")
                .right("count", brick -> count(brick.count()), count(samples))
                .right("total", BrickTable::totalCell, estimate(isEstimated, durationCell(totalNs)))
                .rightIf(
                        isEstimated,
                        ERROR,
                        BrickTable::errorCell,
                        errorCell(CategoryStats.sum(snapshot.categories().values())))
                .right("avg", BrickTable::avgCell, estimate(isEstimated, avgCell(totalNs, samples)))
                .rightIf(
                        withNet || ofDevice,
                        "net total",
                        brick -> netCell(brick, withNet, 1),
                        withNet ? netTotalCell() : estimate(isEstimated, durationCell(shareNs)))
                .rightIf(ofDevice, "net +-", BrickTable::netErrorCell, "")
                .rightIf(withNet || ofDevice, "net avg", brick -> netCell(brick, withNet, brick.count()), "")
                .right("min", brick -> brick.isMinKnown() ? recorded(brick, brick.minNs()) : NONE, "")
                .rightIf(hasLatency, "p50", brick -> percentileCell(brick, 50), "")
                .rightIf(hasLatency && isEstimated, "p50 95 %", brick -> intervalCell(brick, 50), "")
                .rightIf(hasLatency, "p99", brick -> percentileCell(brick, 99), "")
                .rightIf(hasLatency && isEstimated, "p99 95 %", brick -> intervalCell(brick, 99), "")
                .right("max", brick -> brick.isMaxKnown() ? recorded(brick, brick.maxNs()) : NONE, "")
                .right(
                        BRICK_SHARE,
                        brick -> shareCell(brick.netOrTotalNs(), shareNs, largestNs, isEstimated),
                        shareCell(shareNs, shareNs, 0, false));
        phases.forEach(phase -> addPhase(table, phase));
        table.rightIf(
                any(BrickStats::totalElements),
                "elements/s",
                brick -> estimateOf(brick, rateCell(brick.throughput())),
                "");
        addRate(table, "GB/s", true, BrickStats::totalBytes, BrickStats::throughputGbps);
        addWork(table, "GFLOP/s", brick -> brick.work().flops());
        addWork(table, "work GB/s", brick -> brick.work().bytes());
        addRate(table, "in/out bytes", false, BrickStats::totalCompressedBytes, BrickStats::compressionRatio);
        addRate(table, "cycles/element", false, BrickStats::totalCycles, BrickStats::cyclesPerElement);
        addRate(table, "cycles/ns", true, BrickStats::totalCycles, BrickStats::cyclesPerNs);
        addDevice(table);
        if (bricks.stream().anyMatch(brick -> brick.bottleneck() != Bottleneck.UNKNOWN)) {
            table.left("bottleneck", BrickTable::bottleneckCell, "");
        }
        return table;
    }

    /** Adds a column of numbers that are known if an amount was recorded. */
    private void addRate(
            TextTable<BrickStats> table,
            String header,
            boolean isOfTime,
            ToLongFunction<BrickStats> amount,
            ToDoubleFunction<BrickStats> rate) {
        table.rightIf(
                any(amount),
                header,
                brick -> amount.applyAsLong(brick) == 0
                        ? NONE
                        : estimate(isOfTime && brick.device().isEstimated(), number(rate.applyAsDouble(brick))),
                "");
    }

    /** Adds a column of operations or bytes per ns, which are GFLOP/s or GB/s. */
    private void addWork(TextTable<BrickStats> table, String header, ToLongFunction<BrickStats> amount) {
        addRate(
                table,
                header,
                true,
                brick -> brick.netOrTotalNs() > 0 && !brick.work().isBeyondCount() ? amount.applyAsLong(brick) : 0,
                brick -> (double) amount.applyAsLong(brick) / brick.netOrTotalNs());
    }

    /** Adds the columns of a phase. */
    private void addPhase(TextTable<BrickStats> table, StepInfo.Phase phase) {
        Map<String, BrickStats> parts =
                snapshot.bricks(phase).stream().collect(Collectors.toMap(BrickTable::key, Function.identity()));
        table.right(
                        header(phase, "total"),
                        brick -> inPhase(parts, brick, BrickTable::totalCell),
                        estimate(isEstimated, durationCell(snapshot.totalNs(phase))))
                .right(header(phase, "avg"), brick -> inPhase(parts, brick, BrickTable::avgCell), "")
                .rightIf(
                        hasLatency,
                        header(phase, "p99"),
                        brick -> inPhase(parts, brick, part -> percentileCell(part, 99)),
                        "");
    }

    /** Returns a text that differs for bricks of different names or categories. */
    private static String key(BrickStats brick) {
        return brick.category() + " " + brick.name();
    }

    private static String inPhase(Map<String, BrickStats> parts, BrickStats brick, Function<BrickStats, String> cell) {
        BrickStats part = parts.get(key(brick));
        return part == null ? NONE : cell.apply(part);
    }

    private static String header(StepInfo.Phase phase, String figure) {
        return phase.displayName() + " " + figure;
    }

    /** Adds columns if a device timed any brick, or left samples unresolved. */
    private void addDevice(TextTable<BrickStats> table) {
        boolean isTimed = bricks.stream().anyMatch(brick -> brick.device().measured() > 0);
        long unresolved =
                bricks.stream().mapToLong(brick -> brick.device().unresolved()).reduce(0, Sums::limited);
        table.rightIf(isTimed, "time of", BrickTable::sourceCell, "")
                .rightIf(isEstimated, "marked", brick -> count(brick.device().measured()), "")
                .rightIf(isTimed, "avg launch", BrickTable::launchCell, "")
                .rightIf(
                        unresolved > 0,
                        "unresolved",
                        brick -> count(brick.device().unresolved()),
                        count(unresolved));
    }

    /** Returns the headers of the important columns, the most important first. */
    private List<String> important(int columns, List<StepInfo.Phase> phases) {
        List<String> important = new ArrayList<>(List.of(
                "total",
                ERROR,
                "net total",
                BRICK_SHARE,
                hasLatency ? "p50" : "avg",
                hasLatency ? "p99" : "max",
                "unresolved"));
        if (columns >= WIDE) {
            phases.forEach(phase -> important.add(header(phase, "total")));
            phases.forEach(phase -> important.add(header(phase, "avg")));
        }
        return important;
    }

    /** Returns the sentence on the shares of the phases, and the time without a phase if it has a share. */
    private String shares(List<StepInfo.Phase> phases) {
        StepInfo.Phase only = onlyPhase();
        if (only != null) {
            return "All samples belong to " + only.displayName() + " steps.\n";
        }
        String shares = phases.stream()
                .map(phase -> phase.displayName() + " steps "
                        + estimate(isEstimated, percent(percentOfBricks(phaseNs(phase)))) + " %")
                .collect(Collectors.joining(", "));
        long withoutNs = shareNs
                - snapshot.phases().keySet().stream().mapToLong(this::phaseNs).sum();
        return (shares.isEmpty() ? "" : "Of brick time: " + shares + ".\n")
                + (snapshot.phases().isEmpty() || percentOfBricks(withoutNs) < LEAST_PERCENT_OF_PHASE
                        ? ""
                        : "Without a phase, since no step or steps of several phases were under way: "
                                + estimate(isEstimated, duration(withoutNs)) + ", "
                                + estimate(isEstimated, percent(percentOfBricks(withoutNs)))
                                + " % of brick time.\n");
    }

    private StepInfo.@Nullable Phase onlyPhase() {
        return snapshot.phases().keySet().stream()
                .filter(phase -> snapshot.bricks(phase).stream()
                                .mapToLong(BrickStats::count)
                                .sum()
                        == snapshot.samples())
                .findFirst()
                .orElse(null);
    }

    /** Returns the time of a phase's bricks for shares: net if the net time of the whole brick is known. */
    private long phaseNs(StepInfo.Phase phase) {
        return snapshot.bricks(phase).stream()
                .mapToLong(part -> netBricks.contains(key(part)) ? part.netOrTotalNs() : part.totalNs())
                .sum();
    }

    private double percentOfBricks(long ns) {
        return shareNs == 0 ? 0.0 : 100.0 * ns / shareNs;
    }

    private static String sourceCell(BrickStats brick) {
        return brick.count() == 0 ? NONE : brick.timeSource().name().toLowerCase(Locale.ROOT);
    }

    private static String launchCell(BrickStats brick) {
        return brick.device().launches() == 0
                ? NONE
                : durationCell(brick.device().avgLaunchUs() * 1e3);
    }

    private boolean any(ToLongFunction<BrickStats> value) {
        return bricks.stream().mapToLong(value).anyMatch(recorded -> recorded > 0);
    }

    private static String recorded(BrickStats brick, long ns) {
        return brick.count() == 0 ? NONE : durationCell(ns);
    }

    private static String avgCell(BrickStats brick) {
        return estimateOf(brick, avgCell(brick.totalNs(), brick.count()));
    }

    private static String totalCell(BrickStats brick) {
        return estimateOf(brick, recorded(brick, brick.totalNs()));
    }

    /** Returns half of the 95 % interval of a total, percent of it. */
    private static String errorCell(BrickStats brick) {
        if (!brick.device().isEstimated()) {
            return brick.count() == 0 ? NONE : EXACT;
        }
        return HumanUnits.errorCell(
                brick.device().halfIntervalNs(), brick.device().degreesOfFreedom(), brick.totalNs());
    }

    static String errorCell(CategoryStats stats) {
        return stats.isEstimated()
                ? HumanUnits.errorCell(stats.halfIntervalNs(), stats.degreesOfFreedom(), stats.totalNs())
                : EXACT;
    }

    private static String estimateOf(BrickStats brick, String cell) {
        return estimate(brick.device().isEstimated(), cell);
    }

    static String avgCell(long totalNs, long count) {
        return count == 0 ? NONE : durationCell((double) totalNs / count);
    }

    private String netCell(BrickStats brick, boolean alsoOfHost, long samples) {
        OptionalLong netNs = alsoOfHost ? snapshot.facts().netNs(brick) : brick.netNs();
        return netNs.isEmpty() || samples == 0
                ? NONE
                : estimateOf(brick, durationCell((double) netNs.getAsLong() / samples));
    }

    private static String netErrorCell(BrickStats brick) {
        return brick.netNs().isEmpty()
                ? NONE
                : durationCell(brick.device().marks().errorNs());
    }

    /** Returns the total net time; bricks without a net time count with their recorded time. */
    private String netTotalCell() {
        return durationCell((double) snapshot.bricks().stream()
                .mapToLong(brick -> snapshot.facts().netNs(brick).orElse(brick.totalNs()))
                .sum());
    }

    /** Returns the 95 % interval of a percentile. */
    private static String intervalCell(BrickStats brick, double percent) {
        if (brick.latency().isEmpty() || brick.count() == 0) {
            return NONE;
        }
        if (!brick.device().isEstimated()) {
            return EXACT;
        }
        OptionalLong least = brick.percentileAtLeastNs(percent);
        OptionalLong most = brick.percentileAtMostNs(percent);
        if (least.isEmpty() && most.isEmpty()) {
            return UNKNOWN_ERROR;
        }
        if (least.isEmpty() || most.isEmpty()) {
            return least.isEmpty() ? "<= " + durationCell(most.getAsLong()) : ">= " + durationCell(least.getAsLong());
        }
        return durationCell(least.getAsLong()) + " to " + durationCell(most.getAsLong());
    }

    private static String percentileCell(BrickStats brick, double percent) {
        return brick.latency().isPresent() ? estimateOf(brick, durationCell(brick.percentileNs(percent))) : NONE;
    }

    /**
     * Returns a bar in proportion to the largest time, followed by the share of the time; the cell is as wide as its
     * header.
     */
    static String shareCell(long ns, long baseNs, long largestNs, boolean isEstimated) {
        double percent = baseNs == 0 ? 0.0 : 100.0 * ns / baseNs;
        long bar = largestNs == 0 ? 0 : Math.round((double) BAR * ns / largestNs);
        return String.format(
                Locale.ROOT, "%-" + BAR + "s%6s", "#".repeat((int) bar), estimate(isEstimated, percent(percent)));
    }

    private static String bottleneckCell(BrickStats brick) {
        Bottleneck bottleneck = brick.bottleneck();
        return bottleneck == Bottleneck.UNKNOWN ? NONE : bottleneck.name().toLowerCase(Locale.ROOT);
    }
}
