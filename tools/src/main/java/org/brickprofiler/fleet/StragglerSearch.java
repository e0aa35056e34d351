package org.brickprofiler.fleet;

import static org.brickprofiler.fleet.RobustStatistics.FEWEST_SLOW_WINDOWS;
import static org.brickprofiler.fleet.RobustStatistics.NORMAL_DEVIATION;
import static org.brickprofiler.fleet.RobustStatistics.critical;
import static org.brickprofiler.fleet.RobustStatistics.degrees;
import static org.brickprofiler.fleet.RobustStatistics.fewer;
import static org.brickprofiler.fleet.RobustStatistics.fromLine;
import static org.brickprofiler.fleet.RobustStatistics.fromStep;
import static org.brickprofiler.fleet.RobustStatistics.isMoreThanChance;
import static org.brickprofiler.fleet.RobustStatistics.isRareEnough;
import static org.brickprofiler.fleet.RobustStatistics.median;
import static org.brickprofiler.fleet.RobustStatistics.part;
import static org.brickprofiler.fleet.RobustStatistics.spread;
import static org.brickprofiler.fleet.Stragglers.FEWEST_DRIFT_WINDOWS;
import static org.brickprofiler.fleet.Stragglers.FEWEST_PEERS;
import static org.brickprofiler.fleet.Stragglers.FEWEST_WINDOWS;
import static org.brickprofiler.fleet.Stragglers.FLOOR_PERCENT;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.brickprofiler.fleet.Stragglers.Finding;
import org.brickprofiler.fleet.Stragglers.Kind;
import org.brickprofiler.fleet.Stragglers.Shown;
import org.brickprofiler.fleet.Stragglers.Stretch;

/**
 * Finds stragglers. The engine processes the large tables; this class processes one row for each rank, each host, and
 * each candidate. {@link RobustStatistics} computes the statistics, {@link StragglerRemarks} writes the sentences. One
 * thread.
 */
final class StragglerSearch {

    private static final double FLOOR_PPM = 1e4 * FLOOR_PERCENT;

    /** The least share of slow windows of a rank that is slow throughout. */
    private static final double MOST_WINDOWS = 0.8;

    /** The least excess of collectives, as a share, that shows a slow link. */
    private static final double LEAST_LONGER = 0.05;

    /** The distance above a threshold, in standard deviations, of a value that exceeds it in four of five cases. */
    private static final double POWER_DEVIATIONS = 0.8416;

    /** The same for a value that exceeds the threshold nearly always. */
    private static final double SURE_DEVIATIONS = 3;

    /**
     * The least distance of a slow window from the median window of its rank, in median absolute deviations, as in the
     * engine's queries.
     */
    private static final double SLOW_DEVIATIONS = 6;

    private static final String ALL_BRICKS = "";

    /**
     * The largest ratio of the distances of the upper and the lower quartile of undisturbed windows from the median.
     */
    private static final int MOST_SKEWED = 3;

    /** The figures of a rank over all its windows. */
    record Rank(RankKey key, String device, String host, int windows, int held, Compute compute, OptionalLong lateNs) {

        /** The time that a rank computes in a step, how much longer that is than usual, and how it spreads. */
        record Compute(long ns, long standPpm, long spreadPpm) {}

        String run() {
            return key.run();
        }

        int number() {
            return key.number();
        }

        long computeNs() {
            return compute.ns();
        }

        /** Returns how much longer it computes than usual, ns a step. */
        double ownNs() {
            return part((double) compute.ns(), compute.standPpm());
        }

        /** Returns how much later it is than its bricks explain, ns a step. */
        double unexplainedNs() {
            return lateNs.orElseThrow() - ownNs();
        }
    }

    record RankKey(String run, int number) {
        static final Comparator<RankKey> ORDER =
                Comparator.comparing(RankKey::run).thenComparing(RankKey::number);

        static RankKey of(FleetQuestion.Row row) {
            return new RankKey(row.text("run_id"), (int) row.number("rank"));
        }
    }

    /** Ranks that are compared with each other. */
    record Peers(String run, String device) {
        static final Comparator<Peers> ORDER = Comparator.comparing(Peers::run).thenComparing(Peers::device);

        static Peers of(Rank rank) {
            return new Peers(rank.run(), rank.device());
        }
    }

    /**
     * A window in which a rank takes longer than it usually does, altogether or in a brick.
     *
     * @param ownNs how much longer, ns a step
     */
    private record SlowWindow(long number, long beyondPpm, OptionalLong lateNs, double ownNs) {

        static SlowWindow of(FleetQuestion.Row row, String column) {
            long beyondPpm = row.number("beyond_ppm");
            return new SlowWindow(
                    row.number("win"),
                    beyondPpm,
                    row.ifNumber("late_ns"),
                    part((double) row.number(column), beyondPpm));
        }

        /** Returns the same window, with the excess of two bricks. */
        SlowWindow with(SlowWindow other) {
            return new SlowWindow(number, Math.max(beyondPpm, other.beyondPpm), lateNs, ownNs + other.ownNs);
        }
    }

    /** Windows of a rank in which some bricks take longer, and no others do. */
    private static final class SlowBricks {

        private final boolean moreWork;
        private final List<String> bricks = new ArrayList<>();
        private final Map<Long, SlowWindow> windows = new TreeMap<>();

        SlowBricks(boolean moreWork) {
            this.moreWork = moreWork;
        }

        void add(String brick, List<SlowWindow> some) {
            bricks.add(brick);
            some.forEach(window -> windows.merge(window.number(), window, SlowWindow::with));
        }

        /** Returns whether most windows of the smaller set are in both sets. */
        boolean overlaps(List<SlowWindow> some) {
            long both = some.stream()
                    .filter(window -> windows.containsKey(window.number()))
                    .count();
            return 2 * both > Math.min(some.size(), windows.size());
        }
    }

    private final FleetEngine engine;
    private final Map<RankKey, Rank> ranks = new HashMap<>();
    private final Map<RankKey, List<SlowWindow>> slowWindows = new HashMap<>();
    private final Map<RankKey, List<SlowBricks>> slowBricks = new TreeMap<>(RankKey.ORDER);
    /** The ranks with enough windows for a test. */
    private final Map<Peers, List<Rank>> peers = new TreeMap<>(Peers.ORDER);
    /** The ranks with too few windows to show how fast they usually are, or without a computing time. */
    private final Map<Peers, List<Rank>> brief = new TreeMap<>(Peers.ORDER);
    /** The bricks of a rank that drift; {@link #ALL_BRICKS} for all. */
    private final Map<RankKey, Set<String>> drifting = new HashMap<>();
    /** The difference that would have been found, in millionths, by brick; {@link #ALL_BRICKS} for all. */
    private final Map<Peers, Map<String, Double>> shownPpm = new HashMap<>();

    private final List<Finding> findings = new ArrayList<>();
    private final StragglerRemarks remarks = new StragglerRemarks();
    private int testedRanks;

    StragglerSearch(FleetEngine engine) {
        this.engine = engine;
    }

    Stragglers search() throws IOException {
        ranks();
        remarks.add(peers, brief);
        List<Shown> shown = List.of();
        List<FleetQuestion.Row> rows = testedRanks > 0 ? FleetQuestion.STRAGGLER_BRICKS.ask(engine) : List.of();
        leaveOutDisturbed(rows);
        if (testedRanks > 0) {
            drift();
            bricks(rows);
            shown = shown();
            brickWindows();
            windows();
            links();
            unexplained();
        }
        List<Finding> costed = withCosts();
        costed.sort(
                Comparator.comparingLong((Finding finding) -> finding.costNs().orElse(0))
                        .thenComparingLong(finding -> finding.lateNs().orElse(finding.ownNs()))
                        .reversed()
                        .thenComparing(Finding::run)
                        .thenComparing(Finding::who)
                        .thenComparing(Finding::kind));
        return new Stragglers(costed, shown, remarks.all());
    }

    // ---- the tested ranks ----

    private void ranks() throws IOException {
        for (FleetQuestion.Row row : FleetQuestion.STRAGGLER_RANKS.ask(engine)) {
            RankKey key = RankKey.of(row);
            if (row.ifNumber("win").isPresent()) {
                slowWindows.computeIfAbsent(key, none -> new ArrayList<>()).add(SlowWindow.of(row, "compute_ns"));
            } else {
                Rank rank = new Rank(
                        key,
                        row.text("device"),
                        row.text("host"),
                        (int) row.number("windows"),
                        (int) row.ifNumber("held").orElse(0),
                        new Rank.Compute(
                                row.ifNumber("compute_ns").orElse(0),
                                row.ifNumber("beyond_ppm").orElse(0),
                                row.ifNumber("spread_ppm").orElse(0)),
                        row.ifNumber("late_ns"));
                ranks.put(key, rank);
                boolean lasts = row.ifNumber("compute_ns").isPresent() && rank.windows() >= FEWEST_WINDOWS;
                (lasts ? peers : brief)
                        .computeIfAbsent(Peers.of(rank), none -> new ArrayList<>())
                        .add(rank);
            }
        }
        testedRanks = peers.values().stream()
                .filter(StragglerSearch::isTested)
                .mapToInt(List::size)
                .sum();
    }

    private boolean isTested(RankKey key) {
        Rank rank = ranks.get(key);
        return rank != null && isTested(rank);
    }

    private boolean isTested(Rank rank) {
        List<Rank> group = peers.getOrDefault(Peers.of(rank), List.of());
        return isTested(group) && group.contains(rank);
    }

    static boolean isTested(List<Rank> group) {
        return group.size() >= FEWEST_PEERS;
    }

    // ---- the tests ----

    private static double fewerWindows(FleetQuestion.Row row) {
        return fewer((double) row.number("windows"), (double) row.number("usual_windows"));
    }

    /**
     * Leaves out the peers of which more than about a quarter of the windows are disturbed in at least half of the
     * bricks. Their upper quartile is then a disturbed window, far from the median, so their windows give no reliable
     * figure of a rank.
     */
    private void leaveOutDisturbed(List<FleetQuestion.Row> rows) {
        Map<Peers, Set<String>> disturbed = new TreeMap<>(Peers.ORDER);
        Map<Peers, Set<String>> all = new HashMap<>();
        for (FleetQuestion.Row row : rows) {
            if (row.ifNumber("above_ppm").isPresent()) {
                Peers key = new Peers(row.text("run_id"), row.text("device"));
                all.computeIfAbsent(key, none -> new HashSet<>()).add(brickOf(row));
                long above = row.number("above_ppm");
                if (above >= FLOOR_PPM
                        && above >= MOST_SKEWED * row.ifNumber("below_ppm").orElse(0)) {
                    disturbed.computeIfAbsent(key, none -> new HashSet<>()).add(brickOf(row));
                }
            }
        }
        disturbed.forEach((key, bricks) -> {
            if (2 * bricks.size() >= all.getOrDefault(key, Set.of()).size() && peers.remove(key) != null) {
                remarks.addDisturbed(key, bricks.size());
            }
        });
        testedRanks = peers.values().stream()
                .filter(StragglerSearch::isTested)
                .mapToInt(List::size)
                .sum();
    }

    private void bricks(List<FleetQuestion.Row> rows) {
        Map<RankKey, List<FleetQuestion.Row>> slow = new TreeMap<>(RankKey.ORDER);
        for (FleetQuestion.Row row : rows) {
            RankKey key = RankKey.of(row);
            show(row);
            if (isTested(key) && isUnusual(row) && !drifts(key, brickOf(row))) {
                slow.computeIfAbsent(key, none -> new ArrayList<>()).add(row);
            }
        }
        slow.forEach((key, some) -> bricks(Objects.requireNonNull(ranks.get(key)), some));
    }

    /**
     * Returns whether a rank is farther from its peers than chance explains, and in more blocks than chance explains.
     * The second condition matters with few windows: by chance, some rank then has stalls in half of its windows, so
     * that its median window is a stalled one.
     */
    private boolean isUnusual(FleetQuestion.Row row) {
        double tests = testedRanks * (brickOf(row).equals(ALL_BRICKS) ? 1.0 : (double) row.number("bricks"));
        return row.number("beyond_ppm") >= leastPpm(row, 1, "spread_ppm")
                && isRareEnough(
                        row.number("held"),
                        row.number("blocks"),
                        row.number("all_held"),
                        row.number("all_blocks"),
                        tests);
    }

    /** Returns the least difference that is more than chance. */
    private double leastPpm(FleetQuestion.Row row, int sides, String spread) {
        double degrees = degrees(row.number("ranks"));
        double tests = sides * testedRanks;
        if (!brickOf(row).equals(ALL_BRICKS)) {
            degrees += Stragglers.PRIOR_DEGREES;
            tests *= row.number("bricks");
        }
        return Math.max(FLOOR_PPM, critical(degrees, tests) * deviationPpm(row, spread));
    }

    /** Returns the standard deviation of a rank's position. */
    private static double deviationPpm(FleetQuestion.Row row, String column) {
        double spread = row.number(column);
        if (!brickOf(row).equals(ALL_BRICKS)) {
            // Among many bricks, some show little spread by chance.
            spread = Math.max(spread, (double) row.number("usual_spread_ppm"));
        }
        return NORMAL_DEVIATION * spread * fewerWindows(row);
    }

    private static String brickOf(FleetQuestion.Row row) {
        return row.ifText("brick").orElse(ALL_BRICKS);
    }

    // ---- drift ----

    private void drift() throws IOException {
        Map<RankKey, Map<String, List<FleetQuestion.Row>>> moved = new TreeMap<>(RankKey.ORDER);
        for (FleetQuestion.Row row : FleetQuestion.STRAGGLER_DRIFT.ask(engine)) {
            moved.computeIfAbsent(RankKey.of(row), none -> new TreeMap<>())
                    .computeIfAbsent(brickOf(row), none -> new ArrayList<>())
                    .add(row);
        }
        moved.forEach((key, bricks) -> {
            Rank rank = ranks.get(key);
            if (rank != null && isTested(rank) && rank.windows() >= FEWEST_DRIFT_WINDOWS) {
                bricks.values().removeIf(rows -> !isDrift(rows));
                drifting.put(key, Set.copyOf(bricks.keySet()));
                for (boolean slower : new boolean[] {true, false}) {
                    drift(rank, bricks, slower);
                }
            }
        });
    }

    /**
     * Reports the bricks that become slower, or those that become faster; a drift of all bricks together is one
     * finding.
     */
    private void drift(Rank rank, Map<String, List<FleetQuestion.Row>> bricks, boolean slower) {
        Map<String, Double> percents = new TreeMap<>();
        bricks.forEach((brick, rows) -> {
            long ppm = rows.get(0).number("beyond_ppm");
            if (ppm > 0 == slower) {
                percents.put(brick, ppm / 1e4);
            }
        });
        Double all = percents.remove(ALL_BRICKS);
        if (all != null) {
            findings.add(finding(Kind.DRIFT, rank, List.of(), all, rank.windows(), Math.round(rank.ownNs())));
        }
        if (!percents.isEmpty()) {
            double most = percents.values().stream()
                    .max(Comparator.comparingDouble(Math::abs))
                    .orElseThrow();
            findings.add(finding(Kind.DRIFT, rank, List.copyOf(percents.keySet()), most, rank.windows(), 0));
        }
    }

    /** Returns whether a change beyond chance was gradual and not due to the work. */
    private boolean isDrift(List<FleetQuestion.Row> blocks) {
        FleetQuestion.Row any = blocks.get(0);
        double beyond = any.number("beyond_ppm");
        if (Math.abs(beyond) < leastPpm(any, 2, "spread_ppm")
                || 2 * any.number("work_ppm") * Math.signum(beyond) >= Math.abs(beyond)) {
            return false;
        }
        double[] stands =
                blocks.stream().mapToDouble(row -> row.number("stand_ppm")).toArray();
        return fromLine(stands) <= fromStep(stands);
    }

    private boolean drifts(RankKey key, String brick) {
        return drifting.getOrDefault(key, Set.of()).contains(brick);
    }

    // ---- the smallest finding ----

    /** Records the difference of a brick that would have been found in four of five fleets like this one. */
    private void show(FleetQuestion.Row row) {
        double ppm = leastPpm(row, 1, "spread_with_ppm") + POWER_DEVIATIONS * deviationPpm(row, "spread_with_ppm");
        shownPpm.computeIfAbsent(new Peers(row.text("run_id"), row.text("device")), none -> new TreeMap<>())
                .merge(brickOf(row), ppm, Math::min);
    }

    private List<Shown> shown() {
        List<Shown> shown = new ArrayList<>();
        peers.forEach((key, group) -> {
            Map<String, Double> bricks = new TreeMap<>(shownPpm.getOrDefault(key, Map.of()));
            Double all = bricks.remove(ALL_BRICKS);
            if (isTested(group) && all != null && !bricks.isEmpty()) {
                int windows =
                        (int) median(group.stream().mapToDouble(Rank::windows).toArray());
                double spread = group.get(0).compute().spreadPpm();
                shown.add(Shown.builder(key.run(), key.device())
                        .tested(group.size(), windows)
                        .percent(
                                all / 1e4,
                                bricks.values().stream().min(Double::compare).orElseThrow() / 1e4,
                                bricks.values().stream().max(Double::compare).orElseThrow() / 1e4)
                        .slowWindows(
                                leastWindows(group, windows),
                                (Math.max(FLOOR_PPM, SLOW_DEVIATIONS * spread)
                                                + SURE_DEVIATIONS * NORMAL_DEVIATION * spread)
                                        / 1e4)
                        .build());
            }
        });
        return shown;
    }

    /** Returns the least number of slow windows of a rank that chance does not explain; empty if there is none. */
    private OptionalInt leastWindows(List<Rank> group, int windows) {
        long all = group.stream().mapToLong(Rank::windows).sum();
        long slow = group.stream().mapToLong(rank -> slowOf(rank).size()).sum();
        for (int own = FEWEST_SLOW_WINDOWS; own <= windows; own++) {
            if (isMoreThanChance(own, windows, slow + own, all, testedRanks)) {
                return OptionalInt.of(own);
            }
        }
        return OptionalInt.empty();
    }

    // ---- ranks and bricks that are slow ----

    private void bricks(Rank rank, List<FleetQuestion.Row> rows) {
        Map<Kind, List<FleetQuestion.Row>> byKind = new EnumMap<>(Kind.class);
        for (FleetQuestion.Row row : rows) {
            if (brickOf(row).equals(ALL_BRICKS)) {
                findings.add(throughout(rank, row));
            } else {
                Kind kind = isMoreWork(row) ? Kind.MORE_WORK : lasts(row) ? Kind.BRICKS : Kind.SOME_WINDOWS;
                byKind.computeIfAbsent(kind, none -> new ArrayList<>()).add(row);
            }
        }
        byKind.forEach((kind, some) -> {
            boolean lasts = kind != Kind.SOME_WINDOWS;
            String column = lasts ? "beyond_ppm" : "held_ppm";
            findings.add(finding(
                    kind,
                    rank,
                    some.stream().map(row -> row.text("brick")).toList(),
                    some.stream().mapToLong(row -> row.number(column)).max().orElseThrow() / 1e4,
                    lasts
                            ? rank.windows()
                            : some.stream()
                                    .mapToInt(row -> heldWindows(rank, row))
                                    .max()
                                    .orElseThrow(),
                    Math.round(some.stream()
                            .mapToDouble(
                                    row -> part(rank.computeNs() * row.number("share_ppm") / 1e6, row.number(column)))
                            .sum())));
        });
    }

    /** Returns whether a brick is slow in nearly all blocks of windows. */
    private static boolean lasts(FleetQuestion.Row row) {
        return row.number("held") >= MOST_WINDOWS * row.number("blocks");
    }

    private static int heldWindows(Rank rank, FleetQuestion.Row row) {
        return Math.round((float) rank.windows() * row.number("held") / row.number("blocks"));
    }

    /** Returns whether at least half of the difference is due to more work. */
    private static boolean isMoreWork(FleetQuestion.Row row) {
        return 2 * row.number("work_ppm") >= row.number("beyond_ppm");
    }

    private static Finding throughout(Rank rank, FleetQuestion.Row row) {
        boolean lasts = rank.held() >= MOST_WINDOWS * rank.windows();
        Kind kind = isMoreWork(row) ? Kind.MORE_WORK : lasts ? Kind.THROUGHOUT : Kind.SOME_WINDOWS;
        return finding(
                kind,
                rank,
                List.of(),
                row.number("beyond_ppm") / 1e4,
                lasts ? rank.windows() : rank.held(),
                Math.round(rank.ownNs()));
    }

    private static Finding finding(Kind kind, Rank rank, List<String> bricks, double percent, int windows, long ownNs) {
        return Finding.builder(kind, rank.run(), OptionalInt.of(rank.number()), rank.host())
                .bricks(bricks)
                .percent(percent)
                .windows(List.of(), windows)
                .ownNs(ownNs)
                .lateNs(rank.lateNs())
                .build();
    }

    private void brickWindows() throws IOException {
        Map<RankKey, Map<String, List<FleetQuestion.Row>>> slow = new TreeMap<>(RankKey.ORDER);
        for (FleetQuestion.Row row : FleetQuestion.STRAGGLER_BRICK_WINDOWS.ask(engine)) {
            slow.computeIfAbsent(RankKey.of(row), none -> new TreeMap<>())
                    .computeIfAbsent(row.text("brick"), none -> new ArrayList<>())
                    .add(row);
        }
        slow.forEach((key, bricks) -> {
            if (isTested(key)) {
                Rank rank = Objects.requireNonNull(ranks.get(key));
                bricks.forEach((brick, rows) -> brickWindows(rank, brick, rows));
            }
        });
        slowBricks.forEach((key, some) -> some.stream()
                .filter(bricks -> !isReported(key, bricks))
                .forEach(bricks -> someWindows(
                        bricks.moreWork ? Kind.MORE_WORK : Kind.SOME_WINDOWS,
                        Objects.requireNonNull(ranks.get(key)),
                        bricks.bricks,
                        List.copyOf(bricks.windows.values()))));
    }

    /** Returns whether a finding already reports these bricks as drifting, or as slow in some windows. */
    private boolean isReported(RankKey key, SlowBricks bricks) {
        return findings.stream()
                .filter(finding -> (finding.kind() == Kind.SOME_WINDOWS || finding.kind() == Kind.DRIFT)
                        && finding.run().equals(key.run())
                        && finding.rank().equals(OptionalInt.of(key.number())))
                .anyMatch(finding -> finding.bricks().containsAll(bricks.bricks));
    }

    private void brickWindows(Rank rank, String brick, List<FleetQuestion.Row> rows) {
        FleetQuestion.Row any = rows.get(0);
        double tests = (double) testedRanks * any.number("bricks");
        if (isMoreThanChance(
                rows.size(), any.number("own_windows"), any.number("slow"), any.number("windows"), tests)) {
            boolean moreWork =
                    2 * rows.stream().filter(StragglerSearch::isMoreWork).count() > rows.size();
            List<SlowWindow> windows =
                    rows.stream().map(row -> SlowWindow.of(row, "brick_ns")).toList();
            List<SlowBricks> known = slowBricks.computeIfAbsent(rank.key(), none -> new ArrayList<>());
            known.stream()
                    .filter(bricks -> bricks.moreWork == moreWork && bricks.overlaps(windows))
                    .findFirst()
                    .orElseGet(() -> {
                        known.add(new SlowBricks(moreWork));
                        return known.get(known.size() - 1);
                    })
                    .add(brick, windows);
        }
    }

    private void windows() {
        peers.forEach((key, group) -> {
            if (isTested(group)) {
                long all = group.stream().mapToLong(Rank::windows).sum();
                long slow =
                        group.stream().mapToLong(rank -> slowOf(rank).size()).sum();
                for (Rank rank : group) {
                    List<SlowWindow> own = slowOf(rank).stream()
                            .filter(window -> 2 * inBricks(rank, window.number()) < window.ownNs())
                            .toList();
                    if (isMoreThanChance(own.size(), rank.windows(), slow, all, testedRanks)
                            && !drifts(rank.key(), ALL_BRICKS)) {
                        windows(rank, own);
                    }
                }
            }
        });
    }

    /**
     * Reports the slow windows of a rank. A rank that is slow in all bricks is one finding, even if several tests show
     * it.
     */
    private void windows(Rank rank, List<SlowWindow> slow) {
        Optional<Finding> known = findings.stream()
                .filter(finding -> finding.rank().equals(OptionalInt.of(rank.number()))
                        && finding.run().equals(rank.run()))
                .filter(finding -> finding.kind() == Kind.THROUGHOUT
                        || (finding.kind() == Kind.SOME_WINDOWS
                                && finding.bricks().isEmpty()))
                .findFirst();
        known.ifPresent(findings::remove);
        if (known.isPresent() && known.get().kind() == Kind.THROUGHOUT) {
            findings.add(known.get().slowerIn(stretches(slow)));
        } else {
            someWindows(Kind.SOME_WINDOWS, rank, List.of(), slow);
        }
    }

    private List<SlowWindow> slowOf(Rank rank) {
        return slowWindows.getOrDefault(rank.key(), List.of());
    }

    /** Returns the ns per step by which single reported bricks take longer in a window. */
    private double inBricks(Rank rank, long window) {
        return slowBricks.getOrDefault(rank.key(), List.of()).stream()
                .map(bricks -> bricks.windows.get(window))
                .filter(Objects::nonNull)
                .mapToDouble(SlowWindow::ownNs)
                .sum();
    }

    private void someWindows(Kind kind, Rank rank, List<String> bricks, List<SlowWindow> windows) {
        OptionalLong late = rank.lateNs().isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(Math.round(median(windows.stream()
                        .mapToDouble(window -> window.lateNs().orElse(0))
                        .toArray())));
        findings.add(Finding.builder(kind, rank.run(), OptionalInt.of(rank.number()), rank.host())
                .bricks(bricks)
                .percent(median(windows.stream()
                                .mapToDouble(SlowWindow::beyondPpm)
                                .toArray())
                        / 1e4)
                .windows(stretches(windows), windows.size())
                .ownNs(Math.round(
                        median(windows.stream().mapToDouble(SlowWindow::ownNs).toArray())))
                .lateNs(late)
                .build());
    }

    private static List<Stretch> stretches(List<SlowWindow> windows) {
        List<Stretch> stretches = new ArrayList<>();
        for (SlowWindow window : windows) {
            int last = stretches.size() - 1;
            if (last >= 0 && stretches.get(last).last() + 1 == window.number()) {
                stretches.set(last, new Stretch(stretches.get(last).first(), window.number()));
            } else {
                stretches.add(new Stretch(window.number(), window.number()));
            }
        }
        return stretches;
    }

    // ---- links ----

    private void links() throws IOException {
        List<FleetQuestion.Row> all = FleetQuestion.STRAGGLER_LINKS.ask(engine);
        record Host(String run, String host) {}
        Map<Host, List<FleetQuestion.Row>> slow = new HashMap<>();
        for (FleetQuestion.Row row : all) {
            Host host = new Host(row.text("run_id"), row.text("host"));
            if (isLonger(row, all.size())) {
                slow.computeIfAbsent(host, none -> new ArrayList<>()).add(row);
            }
        }
        slow.forEach((host, rows) -> {
            long longerNs =
                    rows.stream().mapToLong(row -> row.number("longer_ns")).sum();
            List<Rank> there = ranks.values().stream()
                    .filter(rank -> rank.run().equals(host.run()) && rank.host().equals(host.host()) && isTested(rank))
                    .toList();
            double fasterNs = -median(there.stream().mapToDouble(Rank::ownNs).toArray());
            // A rank with less computation waits longer, which is no fault.
            if (!there.isEmpty() && 2 * fasterNs < longerNs) {
                double usualNs =
                        rows.stream().mapToDouble(row -> row.number("usual_ns")).sum();
                findings.add(Finding.builder(Kind.LINK, host.run(), OptionalInt.empty(), host.host())
                        .bricks(rows.stream().map(row -> row.text("brick")).toList())
                        .percent(100 * longerNs / usualNs)
                        .windows(
                                List.of(),
                                there.stream().mapToInt(Rank::windows).max().orElse(0))
                        .ownNs(longerNs)
                        .costNs(OptionalLong.of(longerNs))
                        .build());
            }
        });
    }

    /** Returns whether a collective takes longer on all ranks of a host than chance explains on a single one. */
    private static boolean isLonger(FleetQuestion.Row row, double tests) {
        long peers = row.number("peers");
        if (peers < FEWEST_PEERS || row.number("ranks") == peers) {
            return false;
        }
        double longerNs = row.number("longer_ns");
        double spreadNs = NORMAL_DEVIATION * row.number("spread_ns") * fewerWindows(row);
        double leastNs = critical(degrees(peers), tests) * spreadNs;
        return longerNs >= Math.max(leastNs, LEAST_LONGER * row.number("usual_ns"))
                && 2 * row.number("least_longer_ns") >= longerNs;
    }

    // ---- delays without a brick, and costs ----

    private void unexplained() {
        peers.forEach((key, group) -> {
            List<Rank> arriving =
                    group.stream().filter(rank -> rank.lateNs().isPresent()).toList();
            if (!isTested(group) || arriving.size() < FEWEST_PEERS) {
                return;
            }
            double[] unexplained =
                    arriving.stream().mapToDouble(Rank::unexplainedNs).toArray();
            double middle = median(unexplained);
            double least = critical(degrees(unexplained.length), testedRanks) * spread(unexplained, middle);
            double usualWindows =
                    median(arriving.stream().mapToDouble(Rank::windows).toArray());
            for (Rank rank : arriving) {
                double late = rank.unexplainedNs() - middle;
                if (late >= Math.max(least * fewer(rank.windows(), usualWindows), FLOOR_PPM / 1e6 * rank.computeNs())) {
                    findings.add(
                            finding(Kind.NOT_KNOWN, rank, List.of(), 100 * late / rank.computeNs(), rank.windows(), 0));
                }
            }
        });
    }

    private List<Finding> withCosts() {
        Set<RankKey> found = new HashSet<>();
        findings.forEach(finding -> finding.rank().ifPresent(rank -> found.add(new RankKey(finding.run(), rank))));
        Map<String, Long> latest = new HashMap<>();
        ranks.values().forEach(rank -> {
            if (rank.lateNs().isPresent() && !found.contains(rank.key())) {
                latest.merge(rank.run(), rank.lateNs().getAsLong(), Math::max);
            }
        });
        List<Finding> costed = new ArrayList<>();
        for (Finding finding : findings) {
            Optional<Long> others = Optional.ofNullable(latest.get(finding.run()));
            OptionalLong cost = finding.kind() == Kind.LINK || finding.lateNs().isEmpty() || others.isEmpty()
                    ? finding.costNs()
                    : OptionalLong.of(Math.max(0, finding.lateNs().getAsLong() - others.get()));
            costed.add(finding.toBuilder().costNs(cost).build());
        }
        return costed;
    }
}
