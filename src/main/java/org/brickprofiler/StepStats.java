package org.brickprofiler;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;
import static org.brickprofiler.internal.base.Sums.limited;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.stats.LatencyDistribution;

/**
 * The sums of all steps of a phase. Immutable.
 *
 * @param phase the phase
 * @param count number of steps
 * @param wallNs time in which at least one step of the phase was under way, ns, abandoned steps included; of merged
 *     snapshots, the sum
 * @param totalNs sum of the steps' durations, ns; with several at a time, more than {@code wallNs}
 * @param minNs the shortest duration, ns, 0 without steps
 * @param maxNs the longest duration, ns, 0 without steps
 * @param durations the distribution of the durations
 * @param sequences sum of the batch sizes
 * @param prefillTokens tokens of prompts that were processed
 * @param outputTokens tokens that were generated, including accepted drafted ones
 * @param draftedTokens drafted tokens that were checked
 * @param acceptedTokens drafted tokens that were accepted
 * @param kvLength sum of the steps' {@link StepInfo#kvLength()}
 * @param cpu the CPU time of the threads of the steps; {@link CpuTime#NONE} unless
 *     {@link BrickProfilerBuilder#stepCpuTimes} is set
 * @param attributed the number of steps whose brick time by category is known; {@code categoryNs} is the time of these
 *     steps
 * @param categoryNs brick time by category of the attributed steps, over all threads, ns
 */
public record StepStats(
        StepInfo.Phase phase,
        long count,
        long wallNs,
        long totalNs,
        long minNs,
        long maxNs,
        LatencyDistribution durations,
        long sequences,
        long prefillTokens,
        long outputTokens,
        long draftedTokens,
        long acceptedTokens,
        long kvLength,
        CpuTime cpu,
        long attributed,
        Map<BrickCategory, Long> categoryNs) {

    /**
     * The time that steps spent on a processor: of the thread that began each step, from its beginning to its end. Work
     * of other threads is not included; while it waits for them, the thread neither runs nor waits for a processor.
     * Immutable.
     *
     * @param steps the steps whose time is known
     * @param wallNs the time between the two readings of a step, just before its beginning and just after its end,
     *     summed over these steps, ns
     * @param ranNs how long their threads ran on a processor, ns
     * @param waitedNs how long their threads were ready to run and waited for a processor, ns; empty if the system does
     *     not report it; only Linux does
     */
    public record CpuTime(long steps, long wallNs, long ranNs, OptionalLong waitedNs) {

        /** No step whose time is known. */
        public static final CpuTime NONE = new CpuTime(0, 0, 0, OptionalLong.empty());

        /**
         * Checks the values.
         *
         * @throws IllegalArgumentException when a number is negative
         */
        public CpuTime {
            requireNotNegative("steps", steps);
            requireNotNegative("wallNs", wallNs);
            requireNotNegative("ranNs", ranNs);
            requireNotNegative("waitedNs", waitedNs.orElse(0));
        }

        /**
         * Returns the share of the steps' time in which their threads ran.
         *
         * @return 0 to 1, 0 without steps
         */
        public double ranShare() {
            return share(ranNs);
        }

        /**
         * Returns the share of the steps' time in which their threads waited for a processor, because other threads and
         * processes occupied it or a CPU quota was used up.
         *
         * @return 0 to 1; 0 without steps, and if the time is unknown
         */
        public double waitedShare() {
            return share(waitedNs.orElse(0));
        }

        private double share(long ns) {
            return wallNs == 0 ? 0.0 : Math.min(1, (double) ns / wallNs);
        }

        CpuTime plus(CpuTime other) {
            if (steps == 0 || other.steps == 0) {
                return steps == 0 ? other : this;
            }
            return new CpuTime(
                    limited(steps, other.steps),
                    limited(wallNs, other.wallNs),
                    limited(ranNs, other.ranNs),
                    waitedNs.isPresent() && other.waitedNs.isPresent()
                            ? OptionalLong.of(limited(waitedNs.getAsLong(), other.waitedNs.getAsLong()))
                            : OptionalLong.empty());
        }

        /** Returns the time since an earlier snapshot of the same steps. */
        CpuTime since(CpuTime earlier) {
            boolean knowsWaited = waitedNs.isPresent() && (earlier.steps == 0 || earlier.waitedNs.isPresent());
            return new CpuTime(
                    Math.max(0, steps - earlier.steps),
                    Math.max(0, wallNs - earlier.wallNs),
                    Math.max(0, ranNs - earlier.ranNs),
                    knowsWaited
                            ? OptionalLong.of(Math.max(0, waitedNs.getAsLong() - earlier.waitedNs.orElse(0)))
                            : OptionalLong.empty());
        }
    }

    /**
     * Copies the map, without categories that took no time.
     *
     * @throws IllegalArgumentException when a number is negative
     */
    public StepStats {
        Objects.requireNonNull(phase, "phase");
        Objects.requireNonNull(durations, "durations");
        Objects.requireNonNull(cpu, "cpu");
        Objects.requireNonNull(categoryNs, "categoryNs");
        requireNotNegative("count", count);
        requireNotNegative("wallNs", wallNs);
        requireNotNegative("totalNs", totalNs);
        requireNotNegative("minNs", minNs);
        requireNotNegative("maxNs", maxNs);
        requireNotNegative("sequences", sequences);
        requireNotNegative("prefillTokens", prefillTokens);
        requireNotNegative("outputTokens", outputTokens);
        requireNotNegative("draftedTokens", draftedTokens);
        requireNotNegative("acceptedTokens", acceptedTokens);
        requireNotNegative("kvLength", kvLength);
        requireNotNegative("attributed", attributed);
        categoryNs = Step.positive(categoryNs);
    }

    /**
     * Returns a builder of the sums of a phase without steps.
     *
     * @param phase the phase
     * @return a builder
     */
    public static Builder builder(StepInfo.Phase phase) {
        return new Builder(phase);
    }

    /**
     * Returns generated tokens per second in which a step of the phase was under way.
     *
     * @return tokens/s, 0 if no time was measured
     */
    public double outputTokensPerSecond() {
        return perSecond(outputTokens);
    }

    /**
     * Returns tokens of prompts per second in which a step of the phase was under way.
     *
     * @return tokens/s, 0 if no time was measured
     */
    public double prefillTokensPerSecond() {
        return perSecond(prefillTokens);
    }

    private double perSecond(long tokens) {
        return wallNs == 0 ? 0.0 : tokens * 1e9 / wallNs;
    }

    /**
     * Returns the mean duration of a step.
     *
     * @return ns, 0 without steps
     */
    public double avgNs() {
        return mean(totalNs);
    }

    /**
     * Returns the mean number of sequences in a step.
     *
     * @return sequences, 0 without steps
     */
    public double avgBatch() {
        return mean(sequences);
    }

    /**
     * Returns the mean number of positions in the key-value cache at the beginning of a step.
     *
     * @return positions, summed over the sequences of the step; 0 without steps
     */
    public double avgKvLength() {
        return mean(kvLength);
    }

    private double mean(long sum) {
        return count == 0 ? 0.0 : (double) sum / count;
    }

    /**
     * Returns a percentile of the durations, by nearest rank, within {@link LatencyDistribution#RELATIVE_ERROR}: a
     * duration that the given share of steps does not exceed.
     *
     * @param percent the share, 0 to 100
     * @return ns, between the shortest and the longest; 0 without steps
     * @throws IllegalArgumentException when the share is not within 0 to 100
     */
    public long percentileNs(double percent) {
        long ns = durations.percentileNs(percent);
        return durations.count() == 0 ? 0 : Math.max(minNs, Math.min(maxNs, ns));
    }

    /**
     * Returns the share of drafted tokens that were accepted.
     *
     * @return 0 to 1; 0 if no tokens were drafted
     */
    public double acceptanceRate() {
        return draftedTokens == 0 ? 0.0 : (double) acceptedTokens / draftedTokens;
    }

    StepStats plus(StepStats other) {
        Map<BrickCategory, Long> sums = new EnumMap<>(BrickCategory.class);
        sums.putAll(categoryNs);
        other.categoryNs.forEach((category, ns) -> sums.merge(category, ns, Sums::limited));
        return builder(phase)
                .steps(limited(count, other.count), limited(wallNs, other.wallNs))
                .durations(
                        limited(totalNs, other.totalNs),
                        count == 0 ? other.minNs : other.count == 0 ? minNs : Math.min(minNs, other.minNs),
                        Math.max(maxNs, other.maxNs),
                        durations.plus(other.durations))
                .sequences(limited(sequences, other.sequences))
                .tokens(
                        limited(prefillTokens, other.prefillTokens),
                        limited(outputTokens, other.outputTokens),
                        limited(draftedTokens, other.draftedTokens),
                        limited(acceptedTokens, other.acceptedTokens))
                .kvLength(limited(kvLength, other.kvLength))
                .cpu(cpu.plus(other.cpu))
                .categories(limited(attributed, other.attributed), sums)
                .build();
    }

    /** Sets the values by name; the others stay at 0, empty or unknown. Not thread-safe. */
    public static final class Builder {
        private final StepInfo.Phase phase;
        private long count;
        private long wallNs;
        private long totalNs;
        private long minNs;
        private long maxNs;
        private LatencyDistribution durations = LatencyDistribution.EMPTY;
        private long sequences;
        private long prefillTokens;
        private long outputTokens;
        private long draftedTokens;
        private long acceptedTokens;
        private long kvLength;
        private CpuTime cpu = CpuTime.NONE;
        private long attributed;
        private Map<BrickCategory, Long> categoryNs = Map.of();

        private Builder(StepInfo.Phase phase) {
            this.phase = Objects.requireNonNull(phase, "phase");
        }

        /**
         * Sets the number of steps and the time in which one was under way.
         *
         * @param number of steps
         * @param underWayNs time in which at least one step was under way, ns
         * @return this
         */
        public Builder steps(long number, long underWayNs) {
            count = number;
            wallNs = underWayNs;
            return this;
        }

        /**
         * Sets the durations of the steps.
         *
         * @param sumNs sum, ns
         * @param shortestNs the shortest, ns
         * @param longestNs the longest, ns
         * @param distribution of all
         * @return this
         */
        public Builder durations(long sumNs, long shortestNs, long longestNs, LatencyDistribution distribution) {
            totalNs = sumNs;
            minNs = shortestNs;
            maxNs = longestNs;
            durations = Objects.requireNonNull(distribution, "distribution");
            return this;
        }

        /**
         * Sets the sum of the batch sizes.
         *
         * @param sum of the batch sizes
         * @return this
         */
        public Builder sequences(long sum) {
            sequences = sum;
            return this;
        }

        /**
         * Sets the tokens.
         *
         * @param prefill of prompts that were processed
         * @param output that were generated, including accepted drafted ones
         * @param drafted that were checked
         * @param accepted drafted tokens that were accepted
         * @return this
         */
        public Builder tokens(long prefill, long output, long drafted, long accepted) {
            prefillTokens = prefill;
            outputTokens = output;
            draftedTokens = drafted;
            acceptedTokens = accepted;
            return this;
        }

        /**
         * Sets the sum of the positions in the key-value cache.
         *
         * @param sum over the steps
         * @return this
         */
        public Builder kvLength(long sum) {
            kvLength = sum;
            return this;
        }

        /**
         * Sets the CPU time of the threads of the steps.
         *
         * @param time the time
         * @return this
         */
        public Builder cpu(CpuTime time) {
            cpu = Objects.requireNonNull(time, "time");
            return this;
        }

        /**
         * Sets the brick time of the steps by category.
         *
         * @param steps number of steps whose brick time by category is known
         * @param timesNs time of these steps, over all threads, ns
         * @return this
         */
        public Builder categories(long steps, Map<BrickCategory, Long> timesNs) {
            attributed = steps;
            categoryNs = Objects.requireNonNull(timesNs, "timesNs");
            return this;
        }

        /**
         * Makes the sums.
         *
         * @return the sums
         * @throws IllegalArgumentException when a number is negative
         */
        public StepStats build() {
            return new StepStats(
                    phase,
                    count,
                    wallNs,
                    totalNs,
                    minNs,
                    maxNs,
                    durations,
                    sequences,
                    prefillTokens,
                    outputTokens,
                    draftedTokens,
                    acceptedTokens,
                    kvLength,
                    cpu,
                    attributed,
                    categoryNs);
        }
    }
}
