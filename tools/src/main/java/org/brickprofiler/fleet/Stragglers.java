package org.brickprofiler.fleet;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeSet;
import org.brickprofiler.internal.base.Plural;

/**
 * The ranks that keep a fleet waiting. Immutable.
 *
 * <p>A collective ends for all ranks when the last one has entered it. The straggler is therefore not the rank with the
 * longest collectives but the one that <i>waits least</i> in them, and takes longer in the bricks before. Each rank is
 * compared with its peers, the ranks of its run with the same device, window by window, so a change that affects all of
 * them raises no suspicion.
 *
 * <p><b>The tests.</b> The deviation of a rank is the median, over its windows, of its distance from the median of its
 * peers. It is unusual if it exceeds the median of its peers by {@code t} times their spread, which is 1.4826 times the
 * median absolute deviation (Hampel, <i>The influence curve and its role in robust estimation</i>, 1974). {@code t} is
 * the quantile of Student's distribution at {@value #LEVEL} divided by the number of tests (Bonferroni), with 0.37
 * degrees of freedom for each peer, the efficiency of that spread at the normal distribution (Rousseeuw and Croux,
 * <i>Alternatives to the median absolute deviation</i>, 1993), and {@value #MOST_DEGREES} at most. The spread of a
 * brick is raised towards the usual spread among bricks, which counts as {@value #PRIOR_DEGREES} further degrees of
 * freedom. There are eight such tests: all bricks together, single bricks, links, arrivals that no brick explains,
 * windows, windows of single bricks, drift, and drift of single bricks. The test of windows compares the number of a
 * rank's slow windows with that of all other ranks by Fisher's exact test, and also the number of windows in which the
 * rank is at least half as far from its peers as altogether. The test of drift compares the change from the first third
 * of a rank's windows to the last with that of its peers; a rank drifts if a line fits its windows better than two
 * levels do. If ranks differ by chance only, nearly normally, the chance of any finding is at most eight times the
 * level. A difference below {@value #FLOOR_PERCENT} % never counts, however significant it is.
 *
 * <p><b>Limits.</b> A rank with fewer than {@value #FEWEST_WINDOWS} windows is neither tested nor a peer of others, and
 * fewer than {@value #FEWEST_PEERS} peers are not tested; the remarks name them. If a rank has fewer windows than its
 * peers, its distance must be larger, because its median is less certain. If a quarter or more of the windows of all
 * ranks are disturbed in half of the bricks, the tests do not apply, and a remark says so. The tests assume that all
 * ranks of a run enter the same collectives. Windows of a single brick are tested if the median of a twentieth of them
 * is {@value #FLOOR_PERCENT} % longer, so a shorter disturbance or a smaller difference is not found.
 *
 * @param findings the stragglers, the most costly first
 * @param shown the smallest slowdowns that would have been found, by run and device; empty for ranks that were not
 *     tested
 * @param remarks the untested ranks with the reasons, and other facts about the fleet; one sentence each
 */
public record Stragglers(List<Finding> findings, List<Shown> shown, List<String> remarks) {

    /** The chance of a false alarm for one kind of finding. */
    public static final double LEVEL = 0.005;

    /** Smaller differences are never reported, %. */
    public static final double FLOOR_PERCENT = 2;

    /** The fewest ranks among which an outlier can be found. */
    public static final int FEWEST_PEERS = 4;

    /** The fewest windows that show that a difference lasts. */
    public static final int FEWEST_WINDOWS = 6;

    /**
     * The fewest windows that show a drift: with fewer, a third has only two or three windows, of which one is easily a
     * disturbed one.
     */
    public static final int FEWEST_DRIFT_WINDOWS = 2 * FEWEST_WINDOWS;

    /** The weight, in degrees of freedom, of the usual spread among bricks beside the spread of one brick. */
    static final int PRIOR_DEGREES = 8;

    /**
     * The most degrees of freedom, for any number of ranks, because the distribution of ranks has longer tails than a
     * normal one.
     */
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
     * A rank, or for {@link Kind#LINK} a host, that delays the others.
     *
     * @param kind the kind of fault
     * @param run the run
     * @param rank the rank; empty for a host
     * @param host the host; may be empty if it is unknown
     * @param bricks the bricks concerned, in order of their names; empty for all bricks, or for none
     * @param percent the slowdown, %; for a link that of the collectives; for {@link Kind#NOT_KNOWN} the delay,
     *     relative to the computing time; for {@link Kind#DRIFT} the difference between the slowdown in the last third
     *     of its windows and in the first, below 0 for a rank that becomes faster
     * @param windows the windows concerned, first to last of each stretch; empty for all windows, and if only
     *     {@code windowCount} is known; for {@link Kind#THROUGHOUT} the windows in which the rank is still slower
     * @param windowCount the number of windows concerned
     * @param ownNs the excess time of its bricks in a step, ns, in these windows; for a link, of its collectives
     * @param lateNs the delay at which it enters the collectives of a step, ns, in these windows, which equals its
     *     shorter waiting; empty without collectives
     * @param costNs the cost: the ns per step, in these windows, by which it enters collectives after the latest rank
     *     that is not among the findings. The cost is an upper bound, since the latest rank differs from step to step.
     *     Empty without collectives
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

        /** Returns a builder of a finding. */
        static Builder builder(Kind kind, String run, OptionalInt rank, String host) {
            return new Builder(kind, run, rank, host);
        }

        /** Returns a builder with the values of this finding. */
        Builder toBuilder() {
            return builder(kind, run, rank, host)
                    .bricks(bricks)
                    .percent(percent)
                    .windows(windows, windowCount)
                    .ownNs(ownNs)
                    .lateNs(lateNs)
                    .costNs(costNs);
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

        /** Returns the same finding of a rank that is even slower in some windows. */
        Finding slowerIn(List<Stretch> some) {
            return toBuilder().windows(some, windowCount).build();
        }

        private String inWindows(long number) {
            int shown = Math.min(3, windows.size());
            return " in " + Plural.of(number, "window")
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

        /** Sets the values by name; the others stay at 0, empty or unknown. Not thread-safe. */
        static final class Builder {
            private final Kind kind;
            private final String run;
            private final OptionalInt rank;
            private final String host;
            private List<String> bricks = List.of();
            private double percent;
            private List<Stretch> windows = List.of();
            private int windowCount;
            private long ownNs;
            private OptionalLong lateNs = OptionalLong.empty();
            private OptionalLong costNs = OptionalLong.empty();

            private Builder(Kind kind, String run, OptionalInt rank, String host) {
                this.kind = kind;
                this.run = run;
                this.rank = rank;
                this.host = host;
            }

            Builder bricks(List<String> slow) {
                bricks = slow;
                return this;
            }

            Builder percent(double longer) {
                percent = longer;
                return this;
            }

            Builder windows(List<Stretch> stretches, int number) {
                windows = stretches;
                windowCount = number;
                return this;
            }

            Builder ownNs(long ns) {
                ownNs = ns;
                return this;
            }

            Builder lateNs(OptionalLong ns) {
                lateNs = ns;
                return this;
            }

            Builder costNs(OptionalLong ns) {
                costNs = ns;
                return this;
            }

            Finding build() {
                return new Finding(kind, run, rank, host, bricks, percent, windows, windowCount, ownNs, lateNs, costNs);
            }
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
     * The smallest slowdown that would have been found in four of five fleets whose ranks and windows differ as in this
     * one. The absence of a finding does not exclude a smaller slowdown.
     *
     * @param run the run
     * @param device the device of the ranks; empty if it is unknown
     * @param ranks the number of tested ranks
     * @param windows the median number of windows of a rank
     * @param throughoutPercent the slowdown of a rank in all bricks and windows, %
     * @param leastBrickPercent the slowdown of a rank in the most sensitive brick, in all windows, %
     * @param mostBrickPercent the slowdown of a rank in the least sensitive brick, in all windows, %
     * @param slowWindows the number of windows for a slowdown of a rank in all bricks; empty if windows differ too much
     *     for any number
     * @param slowWindowsPercent the slowdown in each of these windows, %
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

        /** Rejects null. */
        public Shown {
            Objects.requireNonNull(run, "run");
            Objects.requireNonNull(device, "device");
            Objects.requireNonNull(slowWindows, "slowWindows");
        }

        /** Returns a builder. */
        static Builder builder(String run, String device) {
            return new Builder(run, device);
        }

        /** Sets the values by name; the others stay at 0, empty or unknown. Not thread-safe. */
        static final class Builder {
            private final String run;
            private final String device;
            private int ranks;
            private int windows;
            private double throughoutPercent;
            private double leastBrickPercent;
            private double mostBrickPercent;
            private OptionalInt slowWindows = OptionalInt.empty();
            private double slowWindowsPercent;

            private Builder(String run, String device) {
                this.run = run;
                this.device = device;
            }

            Builder tested(int number, int each) {
                ranks = number;
                windows = each;
                return this;
            }

            Builder percent(double throughout, double leastBrick, double mostBrick) {
                throughoutPercent = throughout;
                leastBrickPercent = leastBrick;
                mostBrickPercent = mostBrick;
                return this;
            }

            Builder slowWindows(OptionalInt number, double percent) {
                slowWindows = number;
                slowWindowsPercent = percent;
                return this;
            }

            Shown build() {
                return new Shown(
                        run,
                        device,
                        ranks,
                        windows,
                        throughoutPercent,
                        leastBrickPercent,
                        mostBrickPercent,
                        slowWindows,
                        slowWindowsPercent);
            }
        }
    }

    /**
     * Finds the stragglers of a fleet.
     *
     * @param engine the engine with the tables of a fleet
     * @return the stragglers
     * @throws IOException when the engine fails
     */
    public static Stragglers of(FleetEngine engine) throws IOException {
        return new StragglerSearch(engine).search();
    }
}
