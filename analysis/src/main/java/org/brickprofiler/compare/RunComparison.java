package org.brickprofiler.compare;

import static org.brickprofiler.internal.base.Checks.requireFinite;
import static org.brickprofiler.internal.base.Checks.requirePositive;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.StepInfo;

/**
 * The changes between two sets of runs, such as those before and after an edit. Immutable.
 *
 * <p><b>Two questions.</b> <i>Did the whole change?</i> concerns the brick time of a step, the wall time of a step, the
 * tokens per second, and the common part of all bricks. <i>Which brick changed beside the others?</i> concerns bricks,
 * categories and tiles. The common part of each run, that is, the median over its bricks of their distance from their
 * usual time, is first subtracted, so that a process that was slow throughout neither hides a change nor raises an
 * alarm. With fewer than {@value #FEWEST_FOR_COMMON} bricks there is no common part, and bricks are compared as they
 * are. If a change affects many bricks, the median contains part of it. In this case name bricks that the change cannot
 * have touched as the {@linkplain Options#baseline baseline}, from which alone the common part is then computed.
 *
 * <p><b>Verdicts</b> come from one permutation test of whole runs for all lines together: if nothing differs, and the
 * runs of the two sides were interleaved in random order, the chance of even one verdict {@link Verdict#FASTER} or
 * {@link Verdict#SLOWER} is at most 2.5 %. Differences below a floor never count, however significant they are. Test,
 * changes and intervals leave out the lowest and the highest runs of each side (Yuen's trimmed means), so that one bad
 * process neither makes nor hides a difference: one run at each end from ten runs a side, and up to a fifth from
 * twenty. Fewer than ten runs are not trimmed. A remark names a run that is an outlier of its side.
 *
 * <p><b>Intervals</b> invert this test: an interval contains the changes that the test does not reject. It excludes 0
 * if and only if the line has a difference, except that a verdict also needs a change of the size of the floor; the
 * note then says so. The intervals of all lines without a difference hold together with a confidence of 97.5 %, and
 * that of each line with a difference by itself. Lines that are not tested have no interval.
 *
 * <p><b>The figure of a brick</b> in a run is the mean time of the middle half of its samples, if all runs recorded
 * percentiles: a few interrupted samples then make no difference between runs. Otherwise the figure is the mean of all
 * samples. Each line names its {@link Statistic}. The whole always includes all samples.
 *
 * <p><b>Tails.</b> The middle half does not show a change of the longest samples. The 90th and the 99th percentile are
 * therefore separate lines, {@link Kind#BRICK_P90} and {@link Kind#BRICK_P99}, in the same test. The median,
 * {@link Kind#BRICK_P50}, stands beside them and is not tested, since it says what the middle half says. A brick has a
 * line of the 90th or the 99th percentile if at least {@value #FEWEST_BEYOND} of its samples exceed that percentile in
 * every run, that is, with {@value #FEWEST_FOR_P90} and {@value #FEWEST_FOR_P99} samples in all.
 *
 * <p><b>Requests.</b> If all runs recorded requests, the time to first token and the time per output token of a request
 * are lines: the mean, and, with {@value #FEWEST_FOR_P90} and {@value #FEWEST_FOR_P99} requests in every run, the 90th
 * and the 99th percentile. These lines are compared if the requests had the same number of tokens on both sides. The
 * engines may divide the requests into steps in different ways.
 *
 * <p><b>Phases.</b> If all runs announced steps and have bricks by phase, the bricks are compared within each phase
 * that has at least 1 % of the brick time on a side, and samples without a phase among themselves. The lines of all
 * phases are in the same test, so more lines do not raise the chance of a false verdict. A brick is compared in a phase
 * whose steps had the same work, even if the mix of phases differs. If only some runs have phases, bricks are compared
 * over all phases, and a remark says so.
 *
 * <p><b>A step</b> is a step announced by {@link org.brickprofiler.BrickProfiler#beginStep}, if all runs announced
 * steps and {@link Options#stepBrick} names no brick; the time of a step is then compared by phase. Otherwise a step is
 * one execution of the brick that {@link Options#stepBrick} names. If it names none, the brick with the fewest samples
 * is used, among those that all runs recorded and that have at least one sample per {@value #RAREST_STEP} samples of
 * the most frequent brick.
 *
 * @param before the runs of the first side
 * @param after the runs of the second side
 * @param options the options of the comparison
 * @param stepBrick the brick whose executions are the steps; empty if steps were announced, or if there are no steps,
 *     in which case the whole is not compared
 * @param remarks remarks to read before trusting the lines, most important first, one sentence each
 * @param lines the whole, then categories, bricks, the percentiles of bricks, and tiles, each with the most time first
 * @param methods the methods of bricks that became slower, if the runs have samples of stacks
 */
public record RunComparison(
        List<Run> before,
        List<Run> after,
        Options options,
        Optional<String> stepBrick,
        List<String> remarks,
        List<Line> lines,
        List<MethodsOfBrick> methods) {

    /** The least number of bricks for a common part. */
    public static final int FEWEST_FOR_COMMON = 5;

    /**
     * A brick can mark the steps only if it has at least one sample per this many samples of the most frequent brick.
     */
    public static final int RAREST_STEP = 500;

    /**
     * The number of samples of a brick that must exceed a percentile in every run, for the percentile to be compared.
     */
    public static final int FEWEST_BEYOND = 4;

    /** The number of samples of a brick in every run from which its 90th percentile is compared. */
    public static final int FEWEST_FOR_P90 = 10 * FEWEST_BEYOND;

    /** The number of samples of a brick in every run from which its 99th percentile is compared. */
    public static final int FEWEST_FOR_P99 = 100 * FEWEST_BEYOND;

    /** The least number of runs of a side for an interval; with fewer, intervals are too wide to be useful. */
    public static final int FEWEST_FOR_INTERVAL = 3;

    /** The chance of any false alarm. */
    public static final double LEVEL = 0.025;

    /** The statistical power: the share of such comparisons that would find the smallest change. */
    public static final double POWER = 0.8;

    /** Copies the lists. */
    public RunComparison {
        before = List.copyOf(Objects.requireNonNull(before, "before"));
        after = List.copyOf(Objects.requireNonNull(after, "after"));
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(stepBrick, "stepBrick");
        remarks = List.copyOf(Objects.requireNonNull(remarks, "remarks"));
        lines = List.copyOf(Objects.requireNonNull(lines, "lines"));
        methods = List.copyOf(Objects.requireNonNull(methods, "methods"));
    }

    /**
     * Returns this comparison with the methods of bricks that became slower.
     *
     * @param ofSlowerBricks what is known of the methods of such bricks
     * @return a copy
     */
    public RunComparison withMethods(List<MethodsOfBrick> ofSlowerBricks) {
        return new RunComparison(
                before,
                after,
                options,
                stepBrick,
                remarks,
                lines,
                Objects.requireNonNull(ofSlowerBricks, "ofSlowerBricks"));
    }

    /**
     * The methods of a brick that became slower.
     *
     * @param brick the name of its line
     * @param methods a line of the kind {@link Kind#METHOD} for each method with samples in all runs; one test judges
     *     the methods of a brick
     * @param note why there are no lines; empty if there are some
     */
    public record MethodsOfBrick(String brick, List<Line> methods, String note) {

        /** Copies the list. */
        public MethodsOfBrick {
            Objects.requireNonNull(brick, "brick");
            methods = List.copyOf(Objects.requireNonNull(methods, "methods"));
            Objects.requireNonNull(note, "note");
        }
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
        /** The two sides did different work, or ran on different machines; the note states the difference. */
        NOT_COMPARABLE("not comparable"),
        /** The line is shown beside a tested line of the same samples, and is not tested itself. */
        NOT_TESTED("not tested");

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
        /** The wall time of a step, or a latency: the time to first token, or the time per output token, ns. */
        STEP,
        /**
         * Tokens per second: the application's own measure if all runs have it, otherwise derived from the wall time.
         */
        TOKENS_PER_SEC,
        /** The common part of all bricks, or of the baseline's, as a change only. */
        COMMON,
        /** The time of the bricks of a category in a step, by their figures, ns. */
        CATEGORY,
        /** The time of a sample of a brick, ns: the mean, or that of the middle half of the samples. */
        BRICK,
        /** The median of the samples of a brick, ns; it is not tested. */
        BRICK_P50,
        /** The 90th percentile of the samples of a brick, ns. */
        BRICK_P90,
        /** The 99th percentile of the samples of a brick, ns. */
        BRICK_P99,
        /** The mean time of a tile of a level, ns. */
        TILE,
        /** The time of a sample of a brick, by the share of the brick's stacks that stood in a method, ns. */
        METHOD;

        /**
         * Returns whether the line is about a percentile of a brick that is tested.
         *
         * @return true for {@link #BRICK_P90} and {@link #BRICK_P99}
         */
        public boolean isTail() {
            return this == BRICK_P90 || this == BRICK_P99;
        }
    }

    /** The statistics that lines compare: the way in which the figure of a run follows from its samples. */
    public enum Statistic {
        /** The mean of all samples, or the sum of all in a step. */
        MEAN("mean"),
        /** The mean of the middle half of the samples of a brick, or the sum of such means in a step. */
        MIDDLE_HALF("middle half"),
        /** The median. */
        P50("p50"),
        /** The 90th percentile. */
        P90("p90"),
        /** The 99th percentile. */
        P99("p99"),
        /** The number of tokens divided by the time. */
        RATE("rate"),
        /** The median over the bricks of a run of their distance from their usual time. */
        COMMON_PART("common part");

        private final String displayName;

        Statistic(String displayName) {
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
     * The runs of one side, in one line.
     *
     * @param value geometric mean over the runs, in the unit of the line, without the runs that the test leaves out
     * @param spreadPercent coefficient of variation between all runs, %; 0 for one run
     * @param runs the number of runs that have the value
     */
    public record Side(double value, double spreadPercent, int runs) {}

    /**
     * The change from the first side to the second.
     *
     * @param percent the difference, % of the first side
     * @param lowPercent lower end of its confidence interval, %: that of the test, for a line of a comparison; NaN if
     *     it has none
     * @param highPercent upper end, %; NaN likewise
     */
    public record Change(double percent, double lowPercent, double highPercent) {

        /**
         * Returns the change from one set of runs to another: the ratio of their geometric means, with Welch's interval
         * of the logarithms, of a confidence of 95 %.
         *
         * @param before one figure above 0 for each run of the first side, one or more
         * @param after the same of the second side
         * @return the change
         * @throws IllegalArgumentException when a side is empty, or a figure is not a finite number above 0
         */
        public static Change between(double[] before, double[] after) {
            Objects.requireNonNull(before, "before");
            Objects.requireNonNull(after, "after");
            return Comparer.change(logs("before", before), logs("after", after));
        }

        /**
         * Returns the change in measurements that were taken in pairs, one of each side: the geometric mean of their
         * ratios, with Student's interval of the logarithms, of a confidence of 95 %. Variation from pair to pair does
         * not widen it.
         *
         * @param before one figure above 0 of the first side for each pair, one or more
         * @param after for each pair the figure of the second side, in the same order
         * @return the change
         * @throws IllegalArgumentException when there is no pair, the sides differ in number, or a figure is not a
         *     finite number above 0
         */
        public static Change ofPairs(double[] before, double[] after) {
            Objects.requireNonNull(before, "before");
            Objects.requireNonNull(after, "after");
            if (before.length != after.length) {
                throw new IllegalArgumentException(before.length + " and " + after.length + " figures form no pairs");
            }
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
         * @return false if a side has fewer than {@value #FEWEST_FOR_INTERVAL} runs, or the line was not tested
         */
        public boolean hasInterval() {
            return !Double.isNaN(lowPercent);
        }
    }

    /**
     * One compared quantity.
     *
     * @param kind its kind
     * @param name the name of the brick, category, tile level or whole. A percentile is appended, as in
     *     {@code "RmsNorm, p90"}; so is a phase, as in {@code "RmsNorm, prefill"} or {@code "RmsNorm, prefill, p90"}.
     *     If the runs have phases, samples without a phase are named as in {@code "RmsNorm, no phase"}
     * @param before the first side; empty if a run of it lacks the value
     * @param after the second side; empty likewise
     * @param change the change between the sides without correction; empty if a side is empty
     * @param beside the change beside the common part of all bricks; empty if the line is not compared this way
     * @param verdict the verdict
     * @param note an explanation of the verdict; may be empty
     * @param smallestPercent the smallest change that four in five of such comparisons would have found, %; it is above
     *     the floor, since half of the changes at the floor are estimated below the floor; empty if there are too few
     *     runs
     * @param probability the probability of such a difference in any line if there is none, 0 to 1; empty if it was not
     *     tested
     * @param sharePercent the share of the brick time of the first side, or of the second side if the first lacks the
     *     brick, %; 100 for the whole
     * @param phase the phase to whose steps the samples of the brick belong; empty for other lines, and for samples
     *     without a phase
     * @param statistic the way in which the figure of a run follows from its samples
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
            double sharePercent,
            Optional<StepInfo.Phase> phase,
            Statistic statistic) {

        /** Rejects null. */
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
            Objects.requireNonNull(phase, "phase");
            Objects.requireNonNull(statistic, "statistic");
        }

        /**
         * Returns a builder of a line that was not tested.
         *
         * @param kind its kind
         * @param name the name of the brick, category, tile level or whole
         * @param statistic the way in which the figure of a run follows from its samples
         * @param sharePercent the share of the brick time, %
         * @return a builder
         */
        public static Builder builder(Kind kind, String name, Statistic statistic, double sharePercent) {
            return new Builder(kind, name, statistic, sharePercent);
        }

        /**
         * Returns this line as one of another kind.
         *
         * @param other the kind
         * @param percent the share of the brick time, %
         * @return a copy
         */
        public Line withKind(Kind other, double percent) {
            return new Line(
                    Objects.requireNonNull(other, "other"),
                    name,
                    before,
                    after,
                    change,
                    beside,
                    verdict,
                    note,
                    smallestPercent,
                    probability,
                    percent,
                    phase,
                    statistic);
        }

        /**
         * Returns the change to which the verdict refers.
         *
         * @return the change beside the others or, without one, the uncorrected change; empty if there is none
         */
        public Optional<Change> tested() {
            return beside.isPresent() ? beside : change;
        }

        /**
         * Returns the speed of the second side relative to the first.
         *
         * @return above 1 if the second side is faster; empty if a side is empty
         */
        public OptionalDouble speedUp() {
            if (before.isEmpty() || after.isEmpty()) {
                return OptionalDouble.empty();
            }
            double ratio = before.get().value() / after.get().value();
            return OptionalDouble.of(kind == Kind.TOKENS_PER_SEC ? 1 / ratio : ratio);
        }

        /**
         * Builds a line. Values that are not set are empty, and the verdict is {@link Verdict#NOT_COMPARABLE}. Not
         * thread-safe.
         */
        public static final class Builder {
            private final Kind kind;
            private final String name;
            private final Statistic statistic;
            private final double sharePercent;
            private Optional<Side> before = Optional.empty();
            private Optional<Side> after = Optional.empty();
            private Optional<Change> change = Optional.empty();
            private Optional<Change> beside = Optional.empty();
            private Verdict verdict = Verdict.NOT_COMPARABLE;
            private String note = "";
            private OptionalDouble smallestPercent = OptionalDouble.empty();
            private OptionalDouble probability = OptionalDouble.empty();
            private Optional<StepInfo.Phase> phase = Optional.empty();

            private Builder(Kind kind, String name, Statistic statistic, double sharePercent) {
                this.kind = Objects.requireNonNull(kind, "kind");
                this.name = Objects.requireNonNull(name, "name");
                this.statistic = Objects.requireNonNull(statistic, "statistic");
                this.sharePercent = sharePercent;
            }

            /**
             * Sets both sides.
             *
             * @param first the first side; empty if a run of it lacks the value
             * @param second the second side; empty likewise
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
             * @param asIs the uncorrected change; empty if a side is empty
             * @param besideCommon the change beside the common part of all bricks; empty if the line is not compared
             *     this way
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
             * @param newVerdict the verdict
             * @param explanation the reason; may be empty
             * @return this
             */
            public Builder verdict(Verdict newVerdict, String explanation) {
                verdict = Objects.requireNonNull(newVerdict, "newVerdict");
                note = Objects.requireNonNull(explanation, "explanation");
                return this;
            }

            /**
             * Sets the smallest change that would have been found.
             *
             * @param percent the change, %; empty if there are too few runs
             * @return this
             */
            public Builder smallestPercent(OptionalDouble percent) {
                smallestPercent = Objects.requireNonNull(percent, "percent");
                return this;
            }

            /**
             * Sets the probability of such a difference if there is none.
             *
             * @param chance the probability, 0 to 1; empty if the line was not tested
             * @return this
             */
            public Builder probability(OptionalDouble chance) {
                probability = Objects.requireNonNull(chance, "chance");
                return this;
            }

            /**
             * Sets the phase to whose steps the samples of the brick belong.
             *
             * @param ofSteps the phase; empty for other lines, and for samples without a phase
             * @return this
             */
            public Builder phase(Optional<StepInfo.Phase> ofSteps) {
                phase = Objects.requireNonNull(ofSteps, "ofSteps");
                return this;
            }

            /**
             * Creates the line.
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
                        sharePercent,
                        phase,
                        statistic);
            }
        }
    }

    /**
     * The options of a comparison. Immutable.
     *
     * @param floorPercent the floor: smaller changes never count, %, 0 or more
     * @param stepBrick the brick whose executions are the steps; empty to find it
     * @param acrossEnvironments whether runs on different machines, JVMs or numbers of threads may be compared, because
     *     that difference is the question
     * @param seed the seed of the random assignments: the same runs give the same verdicts
     * @param baseline names of bricks that the change cannot have touched, from which the common part is computed;
     *     empty to compute it from all bricks
     */
    public record Options(
            double floorPercent,
            Optional<String> stepBrick,
            boolean acrossEnvironments,
            long seed,
            List<String> baseline) {

        /** The size of changes that layout and chance cause between two builds of the same code. */
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
         * Returns a copy with another floor.
         *
         * @param percent the floor: smaller changes never count, %, 0 or more
         * @return options
         * @throws IllegalArgumentException when it is negative or not finite
         */
        public Options withFloorPercent(double percent) {
            return new Options(percent, stepBrick, acrossEnvironments, seed, baseline);
        }

        /**
         * Returns a copy with another brick whose executions are the steps.
         *
         * @param name the name of the brick
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
         * Returns a copy for runs of different environments.
         *
         * @param across whether they are compared
         * @return options
         */
        public Options withAcrossEnvironments(boolean across) {
            return new Options(floorPercent, stepBrick, across, seed, baseline);
        }

        /**
         * Returns a copy with another seed.
         *
         * @param other the seed of the random assignments
         * @return options
         */
        public Options withSeed(long other) {
            return new Options(floorPercent, stepBrick, acrossEnvironments, other, baseline);
        }

        /**
         * Returns a copy with another baseline.
         *
         * @param names names of bricks that the change cannot have touched; empty for none
         * @return options
         */
        public Options withBaseline(List<String> names) {
            return new Options(
                    floorPercent, stepBrick, acrossEnvironments, seed, Objects.requireNonNull(names, "names"));
        }
    }

    /**
     * Compares two sets of runs.
     *
     * @param before runs of the first side, each from a separate process, one or more
     * @param after runs of the second side, each from a separate process, one or more
     * @param options the options
     * @return the comparison
     * @throws IllegalArgumentException when a side has no run, not every run has the brick that the options name as the
     *     step, or a brick of the baseline cannot be compared
     */
    public static RunComparison of(List<Run> before, List<Run> after, Options options) {
        return Comparer.compare(
                List.copyOf(Objects.requireNonNull(before, "before")),
                List.copyOf(Objects.requireNonNull(after, "after")),
                Objects.requireNonNull(options, "options"));
    }

    /**
     * Returns the floor that runs of the same code require: in 19 of 20 random splits of these runs into two sides, no
     * category, brick or tile differs by more, beside the common part of all bricks. Percentiles are left out, since
     * their larger spread would set the floor for all lines.
     *
     * @param same runs of the same code, at least 4; preferably twice as many as a side of the comparison will have,
     *     since fewer runs differ more
     * @param options the options
     * @return a floor, %
     * @throws IllegalArgumentException when there are fewer than 4 runs, or nothing in them can be compared
     */
    public static double noiseFloorPercent(List<Run> same, Options options) {
        return Comparer.noiseFloorPercent(
                List.copyOf(Objects.requireNonNull(same, "same")), Objects.requireNonNull(options, "options"));
    }

    /**
     * Returns the number of lowest and of highest runs that a line's test, change and interval leave out on each side.
     *
     * @return 0 or more; 0 with fewer than ten runs a side
     */
    public int trimmedRuns() {
        return Trimmed.atEachEnd(before.size(), after.size());
    }

    /**
     * Returns the lines on which the second side is slower.
     *
     * @param percent the least slowdown, %, measured as {@link Line#tested}
     * @return lines that are {@link Verdict#SLOWER} by at least that much, in their order
     */
    public List<Line> regressions(double percent) {
        return lines.stream()
                .filter(line -> line.verdict() == Verdict.SLOWER)
                .filter(line -> Math.abs(line.tested().orElseThrow().percent()) >= percent)
                .toList();
    }

    /**
     * Returns the smallest change that the runs could have shown in every brick that takes at least 1 % of the time; it
     * shows whether more runs are needed. Percentiles are not included.
     *
     * @return %; empty if there are too few runs, or no such brick
     */
    public OptionalDouble smallestPercent() {
        return lines.stream()
                .filter(line -> line.kind() == Kind.BRICK && line.sharePercent() >= 1)
                .flatMapToDouble(line -> line.smallestPercent().stream())
                .max();
    }
}
