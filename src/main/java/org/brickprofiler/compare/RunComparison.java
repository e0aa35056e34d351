package org.brickprofiler.compare;

import static org.brickprofiler.internal.io.Checks.requireFinite;
import static org.brickprofiler.internal.io.Checks.requirePositive;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.internal.io.OptionalPart;

/**
 * The changes between two sets of runs, such as those before and after an edit. Immutable.
 *
 * <p><b>Two questions.</b> <i>Did the whole change?</i> is asked of the brick time of a step, the wall time of a step,
 * the tokens per second, and of what all bricks have in common. <i>Which brick changed beside the others?</i> is asked
 * of bricks, categories and tiles: from each run the common part is taken first, that is the median over its bricks of
 * how far they are from their usual time, so that a process which was slow throughout hides nothing and raises no
 * alarm. With fewer than {@value #FEWEST_FOR_COMMON} bricks there is no common part, and bricks are compared as they
 * are. If a change reaches many bricks, the median holds part of it: name the bricks that the change cannot have
 * touched as the {@linkplain Options#baseline baseline}, and the common part is theirs alone.
 *
 * <p><b>Verdicts</b> come from one permutation test of whole runs for all lines together: where nothing differs, and
 * runs of the two sides took turns in random order, the chance of even one verdict {@link Verdict#FASTER} or
 * {@link Verdict#SLOWER} is at most 2.5 %. Differences below a floor count for nothing, however sure they are. Test,
 * changes and intervals are of the runs of a side without the lowest and the highest ones (Yuen's trimmed means), so
 * that one bad process neither makes nor hides a difference: one run at each end from ten runs a side on, and up to a
 * fifth from twenty on. Fewer runs than ten are not trimmed. A remark names a run that is far from the others.
 * Intervals are of 95 % each and for one line alone, so one of twenty misses; go by the verdict.
 *
 * <p><b>The figure of a brick</b> in a run is the mean time of the middle half of its samples, where all runs recorded
 * percentiles and that is at least {@value #LEAST_USUAL_PERCENT} % of the mean in most runs. So a few interrupted
 * samples make no difference between runs. Otherwise, as of a brick that a prompt makes long in a few of many samples,
 * it is the mean of all. The whole always has all samples.
 *
 * <p><b>Tails.</b> The middle half does not see a change of the longest samples. So the 90th and the 99th percentile
 * are lines of their own, {@link Kind#BRICK_P90} and {@link Kind#BRICK_P99}, in the same test. A brick has such a line
 * if {@value #FEWEST_BEYOND} or more of its samples are longer than that percentile in every run,
 * {@value #FEWEST_FOR_P90} and {@value #FEWEST_FOR_P99} samples in all.
 *
 * <p><b>A step</b> is one that was announced, {@link org.brickprofiler.BrickProfiler#beginStep}, where all runs did so
 * and {@link Options#stepBrick} names no brick; its time is then compared by phase. Otherwise it is one execution of
 * the brick that says so in {@link Options#stepBrick}, or else of the one that all runs recorded and that has the
 * fewest samples, if these are at least one in {@value #RAREST_STEP} of the most frequent brick's.
 *
 * @param before the runs of the first side
 * @param after the runs of the second side
 * @param options how they were compared
 * @param stepBrick the brick whose executions are the steps; empty where steps were announced, and where there is none,
 *     so that the whole is not compared
 * @param remarks what to know before the lines are believed, most important first, one sentence each
 * @param lines the whole, then categories, bricks, the percentiles of bricks, and tiles, each with the most time first
 */
public record RunComparison(
        List<Run> before,
        List<Run> after,
        Options options,
        Optional<String> stepBrick,
        List<String> remarks,
        List<Line> lines) {

    /** Bricks that it takes for a common part. */
    public static final int FEWEST_FOR_COMMON = 5;

    /** A brick with fewer samples than one in so many of the most frequent one's is no step. */
    public static final int RAREST_STEP = 500;

    /** Samples of a brick that have to be longer than a percentile in every run for the percentile to be compared. */
    public static final int FEWEST_BEYOND = 4;

    /** Samples of a brick in every run for which its 90th percentile is compared. */
    public static final int FEWEST_FOR_P90 = 10 * FEWEST_BEYOND;

    /** Samples of a brick in every run for which its 99th percentile is compared. */
    public static final int FEWEST_FOR_P99 = 100 * FEWEST_BEYOND;

    /** Runs of a side without which its intervals are so wide that they say nothing. */
    public static final int FEWEST_FOR_INTERVAL = 3;

    /**
     * The least share of the mean of all samples, in %, that the mean of the middle half must have to stand for all.
     */
    public static final int LEAST_USUAL_PERCENT = 90;

    /** The part that needs other libraries, for messages. */
    private static final String THIS = "the comparison of runs";

    /** The chance of any false alarm. */
    public static final double LEVEL = 0.025;

    /** A smallest change is one that so many of such comparisons would find. */
    public static final double POWER = 0.8;

    /** Copies the lists. */
    public RunComparison {
        before = List.copyOf(Objects.requireNonNull(before, "before"));
        after = List.copyOf(Objects.requireNonNull(after, "after"));
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(stepBrick, "stepBrick");
        remarks = List.copyOf(Objects.requireNonNull(remarks, "remarks"));
        lines = List.copyOf(Objects.requireNonNull(lines, "lines"));
    }

    /** The verdicts on a line. */
    public enum Verdict {
        /** It takes less time, or there are more tokens per second. */
        FASTER("faster"),
        /** It takes more time, or there are fewer tokens per second. */
        SLOWER("slower"),
        /** There is no difference above the floor, or the runs do not show it. */
        NO_DIFFERENCE("no difference shown"),
        /** Even the largest difference could be chance, as with one run on a side. */
        TOO_FEW_RUNS("too few runs"),
        /** The two sides did not do the same work, or not on the same machine; the note says what differs. */
        NOT_COMPARABLE("not comparable");

        private final String displayName;

        Verdict(String displayName) {
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

    /** The kinds of lines. */
    public enum Kind {
        /** The brick time of a step, ns. */
        TOTAL,
        /** The wall time of a step, or the time to first token, ns. */
        STEP,
        /** Tokens per second: the application's own measure where all runs have it, or else by the wall time. */
        TOKENS_PER_SEC,
        /** The common part of all bricks, or of the baseline's, as a change only. */
        COMMON,
        /** The time of the bricks of a category in a step, by their figures, ns. */
        CATEGORY,
        /** The time of a sample of a brick, ns: the mean, or that of the middle half of the samples. */
        BRICK,
        /** The 90th percentile of the samples of a brick, ns. */
        BRICK_P90,
        /** The 99th percentile of the samples of a brick, ns. */
        BRICK_P99,
        /** The mean time of a tile of a level, ns. */
        TILE;

        /**
         * Returns whether the line is about a percentile of a brick.
         *
         * @return true for {@link #BRICK_P90} and {@link #BRICK_P99}
         */
        public boolean isTail() {
            return this == BRICK_P90 || this == BRICK_P99;
        }
    }

    /**
     * The runs of one side, in one line.
     *
     * @param value geometric mean over the runs, in the unit of the line; without those that the test leaves out
     * @param spreadPercent coefficient of variation between all runs, %; 0 for one run
     * @param runs how many runs have the value
     */
    public record Side(double value, double spreadPercent, int runs) {}

    /**
     * How far the second side is from the first.
     *
     * @param percent the difference, % of the first side
     * @param lowPercent lower end of its 95 % interval, %; NaN if a side has fewer than {@value #FEWEST_FOR_INTERVAL}
     *     runs
     * @param highPercent upper end, %; NaN likewise
     */
    public record Change(double percent, double lowPercent, double highPercent) {

        /**
         * Returns the change from one set of runs to another: the ratio of their geometric means, with Welch's interval
         * of the logarithms.
         *
         * @param before a figure above 0 of each run of the first side, one or more
         * @param after the same of the second side
         * @return the change
         * @throws IllegalArgumentException when a side is empty, or a figure is not a finite number above 0
         */
        public static Change between(double[] before, double[] after) {
            Objects.requireNonNull(before, "before");
            Objects.requireNonNull(after, "after");
            requireStatistics();
            return Comparer.change(logs("before", before), logs("after", after));
        }

        /**
         * Returns the change in measurements that were taken in pairs, one of each side beside the other: the geometric
         * mean of their ratios, with Student's interval of the logarithms. Variation from pair to pair does not widen
         * it.
         *
         * @param before a figure above 0 of the first side of each pair, one or more
         * @param after of each pair the one of the second side, in the same order
         * @return the change
         * @throws IllegalArgumentException when there is no pair, the sides differ in number, or a figure is not a
         *     finite number above 0
         */
        public static Change ofPairs(double[] before, double[] after) {
            Objects.requireNonNull(before, "before");
            Objects.requireNonNull(after, "after");
            if (before.length != after.length) {
                throw new IllegalArgumentException(before.length + " and " + after.length + " figures are no pairs");
            }
            requireStatistics();
            double[] ratios = logs("after", after);
            double[] first = logs("before", before);
            Arrays.setAll(ratios, pair -> ratios[pair] - first[pair]);
            return Comparer.changeOfPairs(ratios);
        }

        private static double[] logs(String what, double[] figures) {
            if (figures.length == 0) {
                throw new IllegalArgumentException(what + " has no run");
            }
            return Arrays.stream(figures)
                    .map(figure -> {
                        requirePositive(what, figure);
                        return Math.log(figure);
                    })
                    .toArray();
        }

        /**
         * Returns whether there is an interval.
         *
         * @return false if a side has fewer than {@value #FEWEST_FOR_INTERVAL} runs
         */
        public boolean hasInterval() {
            return !Double.isNaN(lowPercent);
        }
    }

    /**
     * One thing that was compared.
     *
     * @param kind what it is
     * @param name of the brick, category or tile level, or of the whole; of a percentile such as {@code "RmsNorm, p90"}
     * @param before the first side; empty where a run of it lacks the value
     * @param after the second side; empty likewise
     * @param change between the sides, as they are; empty where one is
     * @param beside the change beside what all bricks have in common; empty where the line is not compared so
     * @param verdict what can be said
     * @param note what the verdict needs as explanation; may be empty
     * @param smallestPercent the smallest change that four in five of such comparisons would have found, %: above the
     *     floor, since of changes at the floor half are estimated below it; empty where there are too few runs
     * @param probability of such a difference anywhere if there is none, 0 to 1, for all lines together; empty where it
     *     was not tested
     * @param sharePercent of the brick time of the first side, or of the second where that lacks it, %; 100 for the
     *     whole
     */
    public record Line(
            Kind kind,
            String name,
            Optional<Side> before,
            Optional<Side> after,
            Optional<Change> change,
            Optional<Change> beside,
            Verdict verdict,
            String note,
            OptionalDouble smallestPercent,
            OptionalDouble probability,
            double sharePercent) {

        /** Refuses null. */
        public Line {
            Objects.requireNonNull(kind, "kind");
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(before, "before");
            Objects.requireNonNull(after, "after");
            Objects.requireNonNull(change, "change");
            Objects.requireNonNull(beside, "beside");
            Objects.requireNonNull(verdict, "verdict");
            Objects.requireNonNull(note, "note");
            Objects.requireNonNull(smallestPercent, "smallestPercent");
            Objects.requireNonNull(probability, "probability");
        }

        /**
         * Returns a builder of a line that was not tested.
         *
         * @param kind what it is
         * @param name of the brick, category or tile level, or of the whole
         * @param sharePercent share of the brick time, %
         * @return a builder
         */
        public static Builder builder(Kind kind, String name, double sharePercent) {
            return new Builder(kind, name, sharePercent);
        }

        /**
         * Returns the change that the verdict is about.
         *
         * @return beside the others, or else as it is; empty where there is none
         */
        public Optional<Change> tested() {
            return beside.isPresent() ? beside : change;
        }

        /**
         * Returns how many times as fast the second side is.
         *
         * @return above 1 where it is faster; empty where a side is
         */
        public OptionalDouble speedUp() {
            if (before.isEmpty() || after.isEmpty()) {
                return OptionalDouble.empty();
            }
            double ratio = before.get().value() / after.get().value();
            return OptionalDouble.of(kind == Kind.TOKENS_PER_SEC ? 1 / ratio : ratio);
        }

        /** Sets the values by name; the others stay at 0, empty or unknown. Not thread-safe. */
        public static final class Builder {
            private final Kind kind;
            private final String name;
            private final double sharePercent;
            private Optional<Side> before = Optional.empty();
            private Optional<Side> after = Optional.empty();
            private Optional<Change> change = Optional.empty();
            private Optional<Change> beside = Optional.empty();
            private Verdict verdict = Verdict.NOT_COMPARABLE;
            private String note = "";
            private OptionalDouble smallestPercent = OptionalDouble.empty();
            private OptionalDouble probability = OptionalDouble.empty();

            private Builder(Kind kind, String name, double sharePercent) {
                this.kind = Objects.requireNonNull(kind, "kind");
                this.name = Objects.requireNonNull(name, "name");
                this.sharePercent = sharePercent;
            }

            /**
             * Sets both sides.
             *
             * @param first empty where a run of it lacks the value
             * @param second empty likewise
             * @return this
             */
            public Builder sides(Optional<Side> first, Optional<Side> second) {
                before = Objects.requireNonNull(first, "first");
                after = Objects.requireNonNull(second, "second");
                return this;
            }

            /**
             * Sets the change between the sides.
             *
             * @param asIs empty where a side is
             * @param besideCommon beside what all bricks have in common; empty where the line is not compared so
             * @return this
             */
            public Builder change(Optional<Change> asIs, Optional<Change> besideCommon) {
                change = Objects.requireNonNull(asIs, "asIs");
                beside = Objects.requireNonNull(besideCommon, "besideCommon");
                return this;
            }

            /**
             * Sets the verdict.
             *
             * @param said what can be said
             * @param explanation may be empty
             * @return this
             */
            public Builder verdict(Verdict said, String explanation) {
                verdict = Objects.requireNonNull(said, "said");
                note = Objects.requireNonNull(explanation, "explanation");
                return this;
            }

            /**
             * Sets the smallest change that would have been found.
             *
             * @param percent empty where there are too few runs
             * @return this
             */
            public Builder smallestPercent(OptionalDouble percent) {
                smallestPercent = Objects.requireNonNull(percent, "percent");
                return this;
            }

            /**
             * Sets the probability of such a difference if there is none.
             *
             * @param chance 0 to 1; empty where it was not tested
             * @return this
             */
            public Builder probability(OptionalDouble chance) {
                probability = Objects.requireNonNull(chance, "chance");
                return this;
            }

            /**
             * Makes the line.
             *
             * @return the line
             */
            public Line build() {
                return new Line(
                        kind,
                        name,
                        before,
                        after,
                        change,
                        beside,
                        verdict,
                        note,
                        smallestPercent,
                        probability,
                        sharePercent);
            }
        }
    }

    /**
     * How to compare. Immutable.
     *
     * @param floorPercent changes below that count for nothing, %, 0 or more
     * @param stepBrick the brick whose executions are the steps; empty to find it
     * @param acrossEnvironments whether runs on other machines, of other JVMs or with other numbers of threads may be
     *     compared, because that is the question
     * @param seed of the random assignments: the same runs give the same verdicts
     * @param baseline names of bricks that the change cannot have touched, of which the common part is then made; empty
     *     to make it of all bricks
     */
    public record Options(
            double floorPercent,
            Optional<String> stepBrick,
            boolean acrossEnvironments,
            long seed,
            List<String> baseline) {

        /** Changes that layout and chance make between two builds of the same code. */
        public static final double USUAL_FLOOR_PERCENT = 2;

        /**
         * Checks the floor.
         *
         * @throws IllegalArgumentException when it is negative or not finite
         */
        public Options {
            Objects.requireNonNull(stepBrick, "stepBrick");
            requireFinite("floorPercent", floorPercent);
            baseline = List.copyOf(Objects.requireNonNull(baseline, "baseline"));
        }

        /**
         * Returns the usual options: a floor of {@value #USUAL_FLOOR_PERCENT} %, in one environment.
         *
         * @return options
         */
        public static Options defaults() {
            return new Options(USUAL_FLOOR_PERCENT, Optional.empty(), false, 1, List.of());
        }

        /**
         * Returns the same with another floor.
         *
         * @param percent changes below that count for nothing, %, 0 or more
         * @return options
         * @throws IllegalArgumentException when it is negative or not finite
         */
        public Options withFloorPercent(double percent) {
            return new Options(percent, stepBrick, acrossEnvironments, seed, baseline);
        }

        /**
         * Returns the same with another brick whose executions are the steps.
         *
         * @param name of the brick
         * @return options
         */
        public Options withStepBrick(String name) {
            return new Options(
                    floorPercent,
                    Optional.of(Objects.requireNonNull(name, "name")),
                    acrossEnvironments,
                    seed,
                    baseline);
        }

        /**
         * Returns the same for runs of different environments.
         *
         * @param across whether they are compared
         * @return options
         */
        public Options withAcrossEnvironments(boolean across) {
            return new Options(floorPercent, stepBrick, across, seed, baseline);
        }

        /**
         * Returns the same with another seed.
         *
         * @param other of the random assignments
         * @return options
         */
        public Options withSeed(long other) {
            return new Options(floorPercent, stepBrick, acrossEnvironments, other, baseline);
        }

        /**
         * Returns the same with another baseline.
         *
         * @param names of bricks that the change cannot have touched; empty for none
         * @return options
         */
        public Options withBaseline(List<String> names) {
            return new Options(
                    floorPercent, stepBrick, acrossEnvironments, seed, Objects.requireNonNull(names, "names"));
        }
    }

    /**
     * Compares.
     *
     * @param before runs of the first side, each of its own process, one or more
     * @param after runs of the second side, likewise
     * @param options how
     * @return what came out of it
     * @throws IllegalArgumentException when a side has no run, not every run has the brick that the options call a
     *     step, or a brick of the baseline cannot be compared
     */
    public static RunComparison of(List<Run> before, List<Run> after, Options options) {
        requireRandomNumbers();
        return Comparer.compare(
                List.copyOf(Objects.requireNonNull(before, "before")),
                List.copyOf(Objects.requireNonNull(after, "after")),
                Objects.requireNonNull(options, "options"));
    }

    /**
     * Returns the floor that runs of one and the same code ask for: in 19 of 20 random splits of them into two sides,
     * no category, brick or tile is further apart, beside what all bricks have in common. Percentiles are left out,
     * since they spread more and would set the floor for all.
     *
     * @param same runs of the same code, at least 4; twice as many as a side of the comparison will have is best, since
     *     fewer differ more
     * @param options how to compare
     * @return a floor, %
     * @throws IllegalArgumentException when there are fewer than 4 runs, or nothing in them can be compared
     */
    public static double noiseFloorPercent(List<Run> same, Options options) {
        requireRandomNumbers();
        return Comparer.noiseFloorPercent(
                List.copyOf(Objects.requireNonNull(same, "same")), Objects.requireNonNull(options, "options"));
    }

    private static void requireStatistics() {
        OptionalPart.COMMONS_STATISTICS_DISTRIBUTION.require(THIS);
        OptionalPart.COMMONS_STATISTICS_DESCRIPTIVE.require(THIS);
    }

    /** For permutations; a change alone needs none. */
    private static void requireRandomNumbers() {
        requireStatistics();
        OptionalPart.COMMONS_RNG_SIMPLE.require(THIS);
        OptionalPart.COMMONS_RNG_SAMPLING.require(THIS);
    }

    /**
     * Returns how many runs of each side are left out of a line's test, change and interval at each end, because they
     * are the lowest and the highest.
     *
     * @return 0 or more; 0 with fewer than ten runs a side
     */
    public int trimmedRuns() {
        return Trimmed.atEachEnd(before.size(), after.size());
    }

    /**
     * Returns the lines with a verdict against the second side.
     *
     * @param percent how much slower at least, %, as {@link Line#tested} has it
     * @return lines that are {@link Verdict#SLOWER} by so much, as they stand
     */
    public List<Line> regressions(double percent) {
        return lines.stream()
                .filter(line -> line.verdict() == Verdict.SLOWER)
                .filter(line -> Math.abs(line.tested().orElseThrow().percent()) >= percent)
                .toList();
    }

    /**
     * Returns the smallest change that the runs could have shown of any brick that takes at least 1 % of the time: what
     * to look at when deciding whether more runs are needed. Percentiles are not among them.
     *
     * @return %; empty where there are too few runs to say, or no such brick
     */
    public OptionalDouble smallestPercent() {
        return lines.stream()
                .filter(line -> line.kind() == Kind.BRICK && line.sharePercent() >= 1)
                .flatMapToDouble(line -> line.smallestPercent().stream())
                .max();
    }
}
