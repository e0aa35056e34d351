package org.brickprofiler.cli.fleet;

import static org.brickprofiler.cli.fleet.Stragglers.FEWEST_PEERS;
import static org.brickprofiler.cli.fleet.Stragglers.FEWEST_WINDOWS;
import static org.brickprofiler.cli.fleet.Stragglers.FLOOR_PERCENT;
import static org.brickprofiler.cli.fleet.Stragglers.LEVEL;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.commons.statistics.descriptive.Median;
import org.apache.commons.statistics.distribution.BinomialDistribution;
import org.apache.commons.statistics.distribution.TDistribution;
import org.brickprofiler.cli.fleet.Stragglers.Finding;
import org.brickprofiler.cli.fleet.Stragglers.Kind;
import org.brickprofiler.cli.fleet.Stragglers.Stretch;

/**
 * Finds stragglers. What is large is done by the engine; here are one row for each rank, each host, and each candidate.
 * One thread.
 */
final class StragglerSearch {

    private static final double FLOOR_PPM = 1e4 * FLOOR_PERCENT;

    /** From the median absolute deviation to the standard deviation of the normal distribution. */
    private static final double NORMAL_DEVIATION = 1.4826;

    /** What the median absolute deviation of so many values is worth in degrees of freedom, for each but one. */
    private static final double EFFICIENCY = 0.37;

    /** Fewer slow windows are chance, whatever the others have. */
    private static final int FEWEST_SLOW_WINDOWS = 6;

    /** A rank that is slow throughout is so in as many of its windows at least. */
    private static final double MOST_WINDOWS = 0.8;

    /** Collectives that are longer by less, as a share, show no slow link. */
    private static final double LEAST_LONGER = 0.05;

    /** What is seen of each rank in all its windows. */
    private record Rank(
            String run,
            int number,
            String device,
            String host,
            int windows,
            int held,
            long computeNs,
            long standPpm,
            OptionalLong lateNs) {

        RankKey key() {
            return new RankKey(run, number);
        }

        /** How much longer it computes than usual, ns a step. */
        double ownNs() {
            return part((double) computeNs, standPpm);
        }

        /** How much later it is than its bricks explain, ns a step. */
        double unexplainedNs() {
            return lateNs.orElseThrow() - ownNs();
        }
    }

    private record RankKey(String run, int number) {
        static final Comparator<RankKey> ORDER = Comparator.comparing(RankKey::run).thenComparing(RankKey::number);

        static RankKey of(Question.Row row) {
            return new RankKey(row.text("run_id"), (int) row.number("rank"));
        }
    }

    /** Ranks that are compared with each other. */
    private record Peers(String run, String device) {}

    /**
     * A window in which a rank takes longer than it usually does, altogether or in a brick.
     *
     * @param ownNs how much longer, ns a step
     */
    private record SlowWindow(long number, long beyondPpm, OptionalLong lateNs, double ownNs) {

        static SlowWindow of(Question.Row row, String column) {
            long beyondPpm = row.number("beyond_ppm");
            return new SlowWindow(
                    row.number("win"), beyondPpm, row.ifNumber("late_ns"), part((double) row.number(column), beyondPpm));
        }

        /** The same window, of two bricks. */
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

        /** Whether most windows of the fewer ones are the same. */
        boolean overlaps(List<SlowWindow> some) {
            long both = some.stream().filter(window -> windows.containsKey(window.number())).count();
            return 2 * both > Math.min(some.size(), windows.size());
        }
    }

    private final FleetEngine engine;
    private final Map<RankKey, Rank> ranks = new HashMap<>();
    private final Map<RankKey, List<SlowWindow>> slowWindows = new HashMap<>();
    private final Map<RankKey, List<SlowBricks>> slowBricks = new TreeMap<>(RankKey.ORDER);
    private final Map<Peers, List<Rank>> peers = new TreeMap<>(Comparator.comparing(Peers::run).thenComparing(Peers::device));
    private final List<Finding> findings = new ArrayList<>();
    private final List<String> remarks = new ArrayList<>();
    private int testedRanks;

    StragglerSearch(FleetEngine engine) {
        this.engine = engine;
    }

    Stragglers search() throws IOException {
        ranks();
        remark();
        if (testedRanks > 0) {
            bricks();
            brickWindows();
            windows();
            links();
            unexplained();
        }
        List<Finding> costed = withCosts();
        costed.sort(Comparator.comparingLong((Finding finding) -> finding.costNs().orElse(0))
                .thenComparingLong(finding -> finding.lateNs().orElse(finding.ownNs()))
                .reversed()
                .thenComparing(Finding::run)
                .thenComparing(Finding::who)
                .thenComparing(Finding::kind));
        return new Stragglers(costed, remarks);
    }

    // ---- who is there ----

    private void ranks() throws IOException {
        for (Question.Row row : Question.STRAGGLER_RANKS.ask(engine)) {
            RankKey key = RankKey.of(row);
            if (row.ifNumber("win").isPresent()) {
                slowWindows.computeIfAbsent(key, none -> new ArrayList<>()).add(SlowWindow.of(row, "compute_ns"));
            } else {
                Rank rank = new Rank(
                        key.run(),
                        key.number(),
                        row.text("device"),
                        row.text("host"),
                        (int) row.number("windows"),
                        (int) row.number("held"),
                        row.number("compute_ns"),
                        row.number("beyond_ppm"),
                        row.ifNumber("late_ns"));
                ranks.put(key, rank);
                peers.computeIfAbsent(new Peers(rank.run(), rank.device()), none -> new ArrayList<>()).add(rank);
            }
        }
        testedRanks = peers.values().stream().filter(StragglerSearch::isTested).mapToInt(List::size).sum();
    }

    private boolean isTested(RankKey key) {
        Rank rank = ranks.get(key);
        return rank != null && isTested(peers.getOrDefault(new Peers(rank.run(), rank.device()), List.of()));
    }

    private static boolean isTested(List<Rank> group) {
        return group.size() >= FEWEST_PEERS && mostWindows(group) >= FEWEST_WINDOWS;
    }

    private static int mostWindows(List<Rank> group) {
        return group.stream().mapToInt(Rank::windows).max().orElse(0);
    }

    private void remark() {
        Map<String, List<Map.Entry<Peers, List<Rank>>>> runs = peers.entrySet().stream()
                .collect(Collectors.groupingBy(entry -> entry.getKey().run(), TreeMap::new, Collectors.toList()));
        runs.forEach((run, groups) -> {
            if (groups.size() > 1) {
                remarks.add(devices(run, groups));
            }
            groups.forEach(group -> remark(run, group.getKey(), group.getValue()));
        });
    }

    private static String devices(String run, List<Map.Entry<Peers, List<Rank>>> groups) {
        String each = groups.stream()
                .map(group -> String.format(
                        Locale.ROOT,
                        "%d ranks of %s, which compute for %.2f ms a step",
                        group.getValue().size(),
                        name(group.getKey().device()),
                        median(group.getValue().stream().mapToDouble(Rank::computeNs).toArray()) / 1e6))
                .collect(Collectors.joining(", and "));
        return "Run " + run + " has several kinds of device: " + each + ". That is no straggler; each rank is compared with "
                + "those of its kind.";
    }

    private static String name(String device) {
        return device.isEmpty() ? "a device that is not known" : device;
    }

    private void remark(String run, Peers key, List<Rank> group) {
        String which = "Run " + run + (key.device().isEmpty() ? "" : ", " + key.device());
        if (group.size() < FEWEST_PEERS) {
            remarks.add(which + ": " + count(group.size(), "rank") + " cannot show who is unusual; it takes " + FEWEST_PEERS + ".");
        } else if (mostWindows(group) < FEWEST_WINDOWS) {
            remarks.add(which + ": " + count(mostWindows(group), "window") + " cannot show what lasts; it takes " + FEWEST_WINDOWS
                    + ".");
        }
        List<Rank> lacking =
                group.stream().filter(rank -> rank.windows() < mostWindows(group)).toList();
        if (!lacking.isEmpty()) {
            Rank least = lacking.stream().min(Comparator.comparingInt(Rank::windows)).orElseThrow();
            remarks.add(which + ": " + count(lacking.size(), "rank") + (lacking.size() == 1 ? " lacks" : " lack") + " windows, the most of them rank " + least.number()
                    + " with " + least.windows() + " of " + mostWindows(group) + ".");
        }
        if (group.stream().allMatch(rank -> rank.lateNs().isEmpty())) {
            remarks.add(which + ": no collectives were recorded, so what a straggler costs is not known.");
        }
    }

    private static String count(int number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }

    // ---- the tests ----

    private static double median(double[] values) {
        return Median.withDefaults().withCopy(true).evaluate(values);
    }

    private static double spread(double[] values, double middle) {
        return NORMAL_DEVIATION * median(Arrays.stream(values).map(value -> Math.abs(value - middle)).toArray());
    }

    private static double critical(double degrees, double tests) {
        return TDistribution.of(Math.min(Stragglers.MOST_DEGREES, degrees)).inverseSurvivalProbability(LEVEL / tests);
    }

    private static double degrees(long values) {
        return EFFICIENCY * (values - 1);
    }

    /** What of a time is beyond it, where it is longer by so many millionths. */
    private static double part(double ns, long beyondPpm) {
        return ns * beyondPpm / (1e6 + beyondPpm);
    }

    private void bricks() throws IOException {
        Map<RankKey, List<Question.Row>> slow = new TreeMap<>(RankKey.ORDER);
        for (Question.Row row : Question.STRAGGLER_BRICKS.ask(engine)) {
            RankKey key = RankKey.of(row);
            if (isTested(key) && isUnusual(row)) {
                slow.computeIfAbsent(key, none -> new ArrayList<>()).add(row);
            }
        }
        slow.forEach((key, rows) -> {
            Rank rank = ranks.get(key);
            if (rank != null) {
                bricks(rank, rows);
            }
        });
    }

    private boolean isUnusual(Question.Row row) {
        double spread = row.number("spread_ppm");
        double degrees = degrees(row.number("ranks"));
        double tests = testedRanks;
        if (row.ifText("brick").isPresent()) {
            // Of many bricks one happens to show little spread.
            spread = Math.max(spread, (double) row.number("usual_spread_ppm"));
            degrees += Stragglers.PRIOR_DEGREES;
            tests *= row.number("bricks");
        }
        return row.number("beyond_ppm") >= Math.max(FLOOR_PPM, critical(degrees, tests) * NORMAL_DEVIATION * spread);
    }

    private void bricks(Rank rank, List<Question.Row> rows) {
        Map<Kind, List<Question.Row>> byKind = new EnumMap<>(Kind.class);
        for (Question.Row row : rows) {
            if (row.ifText("brick").isEmpty()) {
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
                    lasts ? rank.windows() : some.stream().mapToInt(row -> heldWindows(rank, row)).max().orElseThrow(),
                    Math.round(some.stream()
                            .mapToDouble(row -> part(rank.computeNs() * row.number("share_ppm") / 1e6, row.number(column)))
                            .sum())));
        });
    }

    /** Whether a brick is slow in nearly all blocks of windows. */
    private static boolean lasts(Question.Row row) {
        return row.number("held") >= MOST_WINDOWS * row.number("blocks");
    }

    private static int heldWindows(Rank rank, Question.Row row) {
        return Math.round((float) rank.windows() * row.number("held") / row.number("blocks"));
    }

    /** Whether most of the difference is that of the work. */
    private static boolean isMoreWork(Question.Row row) {
        return 2 * row.number("work_ppm") >= row.number("beyond_ppm");
    }

    private static Finding throughout(Rank rank, Question.Row row) {
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
        return new Finding(
                kind, rank.run(), OptionalInt.of(rank.number()), rank.host(), bricks, percent, List.of(), windows, ownNs,
                rank.lateNs(), OptionalLong.empty());
    }

    private void brickWindows() throws IOException {
        Map<RankKey, Map<String, List<Question.Row>>> slow = new TreeMap<>(RankKey.ORDER);
        for (Question.Row row : Question.STRAGGLER_BRICK_WINDOWS.ask(engine)) {
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
        slowBricks.forEach((key, some) -> some.stream().filter(bricks -> !isReported(key, bricks)).forEach(bricks -> someWindows(
                bricks.moreWork ? Kind.MORE_WORK : Kind.SOME_WINDOWS,
                Objects.requireNonNull(ranks.get(key)),
                bricks.bricks,
                List.copyOf(bricks.windows.values()))));
    }

    /** Whether they are known to be slow in half of the windows already. */
    private boolean isReported(RankKey key, SlowBricks bricks) {
        return findings.stream()
                .filter(finding -> finding.kind() == Kind.SOME_WINDOWS && finding.run().equals(key.run())
                        && finding.rank().equals(OptionalInt.of(key.number())))
                .anyMatch(finding -> finding.bricks().containsAll(bricks.bricks));
    }

    private void brickWindows(Rank rank, String brick, List<Question.Row> rows) {
        Question.Row any = rows.get(0);
        double tests = (double) testedRanks * any.number("bricks");
        if (isMoreThanChance(rows.size(), rank, any.number("slow"), any.number("windows"), tests)) {
            boolean moreWork = 2 * rows.stream().filter(StragglerSearch::isMoreWork).count() > rows.size();
            List<SlowWindow> windows = rows.stream().map(row -> SlowWindow.of(row, "brick_ns")).toList();
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
                long slow = group.stream().mapToLong(rank -> slowOf(rank).size()).sum();
                for (Rank rank : group) {
                    List<SlowWindow> own = slowOf(rank).stream()
                            .filter(window -> 2 * inBricks(rank, window.number()) < window.ownNs())
                            .toList();
                    if (isMoreThanChance(own.size(), rank, slow, all, testedRanks)) {
                        someWindows(Kind.SOME_WINDOWS, rank, List.of(), own);
                    }
                }
            }
        });
    }

    private List<SlowWindow> slowOf(Rank rank) {
        return slowWindows.getOrDefault(rank.key(), List.of());
    }

    /** What single bricks that are reported take longer in a window, ns a step. */
    private double inBricks(Rank rank, long window) {
        return slowBricks.getOrDefault(rank.key(), List.of()).stream()
                .map(bricks -> bricks.windows.get(window))
                .filter(Objects::nonNull)
                .mapToDouble(SlowWindow::ownNs)
                .sum();
    }

    /** Whether a rank has more slow windows than chance gives it at the rate of its peers; theirs include its own. */
    private static boolean isMoreThanChance(int own, Rank rank, long slow, long windows, double tests) {
        if (own < FEWEST_SLOW_WINDOWS) {
            return false;
        }
        double rate = (1.0 + slow - own) / (1.0 + windows - rank.windows());
        return BinomialDistribution.of(rank.windows(), Math.min(1, rate)).survivalProbability(own - 1) <= LEVEL / tests;
    }

    private void someWindows(Kind kind, Rank rank, List<String> bricks, List<SlowWindow> windows) {
        OptionalLong late = rank.lateNs().isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(Math.round(median(windows.stream()
                        .mapToDouble(window -> window.lateNs().orElse(0))
                        .toArray())));
        findings.add(new Finding(
                kind,
                rank.run(),
                OptionalInt.of(rank.number()),
                rank.host(),
                bricks,
                median(windows.stream().mapToDouble(SlowWindow::beyondPpm).toArray()) / 1e4,
                stretches(windows),
                windows.size(),
                Math.round(median(windows.stream().mapToDouble(SlowWindow::ownNs).toArray())),
                late,
                OptionalLong.empty()));
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
        List<Question.Row> all = Question.STRAGGLER_LINKS.ask(engine);
        record Host(String run, String host) {}
        Map<Host, List<Question.Row>> slow = new HashMap<>();
        for (Question.Row row : all) {
            Host host = new Host(row.text("run_id"), row.text("host"));
            if (isLonger(row, all.size())) {
                slow.computeIfAbsent(host, none -> new ArrayList<>()).add(row);
            }
        }
        slow.forEach((host, rows) -> {
            long longerNs = rows.stream().mapToLong(row -> row.number("longer_ns")).sum();
            List<Rank> there = ranks.values().stream()
                    .filter(rank -> rank.run().equals(host.run()) && rank.host().equals(host.host()))
                    .toList();
            double fasterNs = -median(there.stream().mapToDouble(Rank::ownNs).toArray());
            boolean lasts = there.stream().anyMatch(rank -> rank.windows() >= FEWEST_WINDOWS);
            // Whoever computes less waits longer, and there is nothing wrong with that.
            if (lasts && 2 * fasterNs < longerNs) {
                double usualNs = rows.stream().mapToDouble(row -> row.number("usual_ns")).sum();
                findings.add(new Finding(
                        Kind.LINK,
                        host.run(),
                        OptionalInt.empty(),
                        host.host(),
                        rows.stream().map(row -> row.text("brick")).toList(),
                        100 * longerNs / usualNs,
                        List.of(),
                        there.stream().mapToInt(Rank::windows).max().orElse(0),
                        longerNs,
                        OptionalLong.empty(),
                        OptionalLong.of(longerNs)));
            }
        });
    }

    /** Whether a collective is longer on all ranks of a host than chance makes it on a single one. */
    private static boolean isLonger(Question.Row row, double tests) {
        long peers = row.number("peers");
        if (peers < FEWEST_PEERS || row.number("ranks") == peers) {
            return false;
        }
        double longerNs = row.number("longer_ns");
        double leastNs = critical(degrees(peers), tests) * NORMAL_DEVIATION * row.number("spread_ns");
        return longerNs >= Math.max(leastNs, LEAST_LONGER * row.number("usual_ns"))
                && 2 * row.number("least_longer_ns") >= longerNs;
    }

    // ---- what no brick explains, and what it all costs ----

    private void unexplained() {
        peers.forEach((key, group) -> {
            List<Rank> arriving = group.stream().filter(rank -> rank.lateNs().isPresent()).toList();
            if (!isTested(group) || arriving.size() < FEWEST_PEERS) {
                return;
            }
            double[] unexplained = arriving.stream().mapToDouble(Rank::unexplainedNs).toArray();
            double middle = median(unexplained);
            double least = critical(degrees(unexplained.length), testedRanks) * spread(unexplained, middle);
            for (Rank rank : arriving) {
                double late = rank.unexplainedNs() - middle;
                if (late >= Math.max(least, FLOOR_PPM / 1e6 * rank.computeNs())) {
                    findings.add(finding(
                            Kind.NOT_KNOWN, rank, List.of(), 100 * late / rank.computeNs(), rank.windows(), 0));
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
            costed.add(new Finding(
                    finding.kind(), finding.run(), finding.rank(), finding.host(), finding.bricks(), finding.percent(),
                    finding.windows(), finding.windowCount(), finding.ownNs(), finding.lateNs(), cost));
        }
        return costed;
    }
}
