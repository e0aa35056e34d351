package org.brickprofiler.fleet;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeSet;

/**
 * The ranks that keep a fleet waiting. Immutable.
 *
 * <p>A collective ends for all ranks when the last one has entered it. So the culprit is not the rank with the longest
 * collectives but one that <i>waits least</i> in them, and takes longer in the bricks before. Each rank is compared
 * with its peers, the ranks of its run with the same device, window by window: what changes for all of them alike
 * raises no suspicion.
 *
 * <p><b>The tests.</b> The deviation of a rank is the median, over its windows, of its distance from the median of its
 * peers. It is unusual if it exceeds the median of its peers by {@code t} times their spread, which is 1.4826 times the
 * median absolute deviation (Hampel, <i>The influence curve and its role in robust estimation</i>, 1974). {@code t} is
 * the quantile of Student's distribution at {@value #LEVEL} divided by the number of tests (Bonferroni), with 0.37
 * degrees of freedom for each peer, the efficiency of that spread at the normal distribution (Rousseeuw and Croux,
 * <i>Alternatives to the median absolute deviation</i>, 1993), and {@value #MOST_DEGREES} at most. The spread of a
 * brick is drawn up to what is usual among bricks, which counts as {@value #PRIOR_DEGREES} further degrees. There are
 * eight such questions: all bricks alike, single bricks, links, arrivals that no brick explains, windows, windows of
 * single bricks, drift, and drift of single bricks. The number of a rank's slow windows is compared with that of all
 * other ranks by Fisher's exact test, also that of windows in which it is half as far from its peers as altogether. For
 * drift the change from the first third of a rank's windows to the last is compared with that of its peers; a rank
 * drifts if a line is nearer to its windows than two levels are. If ranks differ by chance only, nearly normally, the
 * chance of any finding is at most eight times the level. Less than {@value #FLOOR_PERCENT} % counts for nothing,
 * however sure.
 *
 * <p><b>Limits.</b> A rank with fewer than {@value #FEWEST_WINDOWS} windows is neither tested nor a peer of others, and
 * fewer than {@value #FEWEST_PEERS} peers are not tested; the remarks name them. If a rank has fewer windows than its
 * peers, its distance has to be larger, as its median is less sure. If a quarter or more of the windows of all ranks
 * are disturbed in half of the bricks, the tests do not apply, which a remark reports. All ranks of a run are taken to
 * enter the same collectives. Windows of a single brick are looked at if the middle one of a twentieth of them is
 * {@value #FLOOR_PERCENT} % longer, so that a shorter time or a smaller difference is not found.
 *
 * @param findings who it is, the most costly first
 * @param shown what could have been found, by run and device; nothing for ranks that were not tested
 * @param remarks what was not tested and why, and what to know of the fleet; one sentence each
 */
public record Stragglers(List<Finding> findings, List<Shown> shown, List<String> remarks) {

    /** The chance of a false alarm for one kind of finding. */
    public static final double LEVEL = 0.005;

    /** Differences below count for nothing, %. */
    public static final double FLOOR_PERCENT = 2;

    /** Ranks that it takes to see which is unusual. */
    public static final int FEWEST_PEERS = 4;

    /** Windows that it takes to see that something lasts. */
    public static final int FEWEST_WINDOWS = 6;

    /** Fewer windows than this show no drift: of two or three windows in a third, one is soon a disturbed one. */
    public static final int FEWEST_DRIFT_WINDOWS = 2 * FEWEST_WINDOWS;

    /** The weight, in degrees of freedom, of the usual spread among bricks beside the spread of one brick. */
    static final int PRIOR_DEGREES = 8;

    /** The tails of what ranks do are longer than normal: so many degrees of freedom at most, however many ranks. */
    static final int MOST_DEGREES = 40;

    /** Copies the lists. */
    public Stragglers {
        findings = List.copyOf(Objects.requireNonNull(findings, "findings"));
        shown = List.copyOf(Objects.requireNonNull(shown, "shown"));
        remarks = List.copyOf(Objects.requireNonNull(remarks, "remarks"));
    }

    /** The kinds of findings on a rank or a host. */
    public enum Kind {
        /** Some of its bricks take longer than elsewhere, the others do not. */
        BRICKS("slow in some bricks"),
        /** All of its bricks take longer: a lower clock, heat, a neighbour. */
        THROUGHOUT("slow throughout"),
        /** It takes longer in some windows, in all its bricks or in some, and in the others it does not. */
        SOME_WINDOWS("slow in some windows"),
        /**
         * It becomes slower from window to window, or is slow at first and becomes faster, in all its bricks or in
         * some.
         */
        DRIFT("drifting"),
        /** All ranks of a host are in collectives for longer, although they compute as fast as the others. */
        LINK("slow link"),
        /** It has more to do in a sample than its peers. */
        MORE_WORK("more work"),
        /** It enters collectives late, and no brick shows why. */
        NOT_KNOWN("late, cause not known");

        private final String displayName;

        Kind(String displayName) {
            this.displayName = displayName;
        }

        /**
         * Returns the name for people.
         *
         * @return lower-case words
         */
        public String displayName() {
            return displayName;
        }
    }

    /**
     * A rank, or for {@link Kind#LINK} a host, that the others wait for.
     *
     * @param kind what is wrong
     * @param run the run
     * @param rank which; empty for a host
     * @param host where; may be empty where it is not known
     * @param bricks which are concerned, in order of their names; empty where all are, or none
     * @param percent how much longer than usual they take, %; for a link the collectives, for {@link Kind#NOT_KNOWN}
     *     how late it is, of what it computes; for {@link Kind#DRIFT} by how much more it does in the last third of its
     *     windows than in the first, below 0 for one that becomes faster
     * @param windows the windows that are concerned, first to last of each stretch; empty for all, and where only
     *     {@code windowCount} is known; for {@link Kind#THROUGHOUT} those in which it is slower still
     * @param windowCount how many windows are concerned
     * @param ownNs how much longer its bricks take in a step than usual, ns, in these windows; for a link its
     *     collectives
     * @param lateNs how much later than usual it enters the collectives of a step, ns, in these windows, which is how
     *     much less it waits; empty without collectives
     * @param costNs what each step waits for it alone, ns, in these windows: how much later it is than the latest rank
     *     that is not among the findings. At most that, since the latest rank differs from step to step. Empty without
     *     collectives
     */
    public record Finding(
            Kind kind,
            String run,
            OptionalInt rank,
            String host,
            List<String> bricks,
            double percent,
            List<Stretch> windows,
            int windowCount,
            long ownNs,
            OptionalLong lateNs,
            OptionalLong costNs) {

        /** Copies the lists. */
        public Finding {
            Objects.requireNonNull(kind, "kind");
            Objects.requireNonNull(run, "run");
            Objects.requireNonNull(rank, "rank");
            Objects.requireNonNull(host, "host");
            bricks = List.copyOf(new TreeSet<>(Objects.requireNonNull(bricks, "bricks")));
            windows = List.copyOf(Objects.requireNonNull(windows, "windows"));
            Objects.requireNonNull(lateNs, "lateNs");
            Objects.requireNonNull(costNs, "costNs");
        }

        /**
         * Returns the name of the rank or host for people.
         *
         * @return such as {@code rank 17 (node-2)} or {@code node-2}
         */
        public String who() {
            if (rank.isEmpty()) {
                return host;
            }
            return "rank " + rank.getAsInt() + (host.isEmpty() ? "" : " (" + host + ")");
        }

        /**
         * Returns the finding in words.
         *
         * @return such as {@code slow in LmHead by 8.1 %}
         */
        public String what() {
            String by = String.format(Locale.ROOT, "%.1f %%", percent);
            return switch (kind) {
                case BRICKS -> "slow in " + String.join(", ", bricks) + " by " + by;
                case THROUGHOUT ->
                    "slow throughout by " + by
                            + (windows.isEmpty() ? "" : ", and more so" + inWindows(Stretch.count(windows)));
                case SOME_WINDOWS ->
                    "slow " + (bricks.isEmpty() ? "" : "in " + String.join(", ", bricks) + " ") + "by " + by
                            + inWindows(windowCount);
                case DRIFT ->
                    (percent > 0 ? "slower over time" : "slow at first, faster over time")
                            + (bricks.isEmpty() ? "" : " in " + String.join(", ", bricks))
                            + String.format(Locale.ROOT, " by %.1f %%", Math.abs(percent))
                            + " from the first third of its windows to the last";
                case LINK -> "slow link: " + String.join(", ", bricks) + " " + by + " longer on all of its ranks";
                case MORE_WORK ->
                    "more work in a sample: " + by
                            + (bricks.isEmpty() ? " in all bricks" : " in " + String.join(", ", bricks))
                            + (windows.isEmpty() ? "" : inWindows(windowCount));
                case NOT_KNOWN -> "late by " + by + " of what it computes, cause not known";
            };
        }

        /** Returns the same, which is slower still in some windows. */
        Finding slowerIn(List<Stretch> some) {
            return new Finding(kind, run, rank, host, bricks, percent, some, windowCount, ownNs, lateNs, costNs);
        }

        private String inWindows(long number) {
            int shown = Math.min(3, windows.size());
            return " in " + number + " windows"
                    + (windows.isEmpty()
                            ? ""
                            : " ("
                                    + String.join(
                                            ", ",
                                            windows.subList(0, shown).stream()
                                                    .map(Stretch::toString)
                                                    .toList())
                                    + (shown < windows.size() ? ", …" : "") + ")");
        }
    }

    /**
     * Windows that follow each other.
     *
     * @param first number of the first
     * @param last number of the last
     */
    public record Stretch(long first, long last) {

        static long count(List<Stretch> stretches) {
            return stretches.stream()
                    .mapToLong(stretch -> stretch.last - stretch.first + 1)
                    .sum();
        }

        @Override
        public String toString() {
            return first == last ? Long.toString(first) : first + " to " + last;
        }
    }

    /**
     * The smallest slowness that would have been found in four of five fleets in which ranks and windows differ as they
     * do in this one. No difference found does not exclude a smaller one.
     *
     * @param run the run
     * @param device of the ranks; empty where it is not known
     * @param ranks how many were tested
     * @param windows how many the middle one of them has
     * @param throughoutPercent of a rank in all bricks and windows, %
     * @param leastBrickPercent of a rank in the brick in which the least is found, in all windows, %
     * @param mostBrickPercent the same in the brick in which the most is needed, %
     * @param slowWindows of a rank in so many windows, in all bricks; empty if windows differ too much to find any
     *     number
     * @param slowWindowsPercent how much longer each of these has to take, %
     */
    public record Shown(
            String run,
            String device,
            int ranks,
            int windows,
            double throughoutPercent,
            double leastBrickPercent,
            double mostBrickPercent,
            OptionalInt slowWindows,
            double slowWindowsPercent) {

        /** Refuses null. */
        public Shown {
            Objects.requireNonNull(run, "run");
            Objects.requireNonNull(device, "device");
            Objects.requireNonNull(slowWindows, "slowWindows");
        }
    }

    /**
     * Looks for them.
     *
     * @param engine with the tables of a fleet
     * @return who was found
     * @throws IOException when the engine fails
     */
    public static Stragglers of(FleetEngine engine) throws IOException {
        return new StragglerSearch(engine).search();
    }
}
