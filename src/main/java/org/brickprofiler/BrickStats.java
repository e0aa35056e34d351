package org.brickprofiler;

import static org.brickprofiler.internal.base.Sums.limited;

import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.brickprofiler.internal.record.Extremes;
import org.brickprofiler.stats.LatencyDistribution;

/**
 * The statistics of a brick. Immutable. Derived figures are computed from the components alone.
 *
 * <p>Rates divide a sum by the time or the number of all samples of the brick. Record bytes and cycles for every sample
 * of a brick or for none; otherwise the rate is too low. Record work for every sample that the brick has in a phase, or
 * for none.
 *
 * @param name the display name, or the name of a dynamic brick
 * @param category its category
 * @param bottleneck the resource that limits it, as its author found
 * @param count number of samples
 * @param totalNs sum of the durations, ns; an estimate if {@link DeviceTime#isEstimated}
 * @param minNs shortest duration, ns; 0 without samples, and if it is not {@linkplain #isMinKnown known}. If some
 *     samples have no marks, shortest, longest and last duration are those of the marked ones
 * @param maxNs longest duration, ns; 0 if it is not {@linkplain #isMaxKnown known}
 * @param minAtLeastNs a lower bound of the shortest duration, ns, if a window does not have that duration itself
 * @param maxAtMostNs an upper bound of the longest duration, ns, if a window does not have that duration itself
 * @param lastNs duration of the sample that was recorded last, ns
 * @param lastAtUnixNs the end of that sample, ns since 1970-01-01T00:00Z; 0 without samples
 * @param totalElements sum of the elements
 * @param totalBytes sum of the input bytes
 * @param totalCompressedBytes sum of the output bytes
 * @param totalCycles sum of the cycles
 * @param minCycles fewest cycles of a sample with cycles; 0 without one, and if they are unknown: in a window, which is
 *     a difference of two snapshots, only if a sample had fewer than all before it, or if there is one sample
 * @param maxCycles most cycles of a sample; 0 without one, and if they are unknown likewise
 * @param latency the distribution of the durations; empty unless the profiler, or each profiler of merged snapshots,
 *     was built with percentiles
 * @param device the samples that devices timed
 * @param work its work, if it was recorded
 * @param workSamples the samples whose work is known: in each phase of each profiler all of them or none
 */
public record BrickStats(
        String name,
        BrickCategory category,
        Bottleneck bottleneck,
        long count,
        long totalNs,
        long minNs,
        long maxNs,
        OptionalLong minAtLeastNs,
        OptionalLong maxAtMostNs,
        long lastNs,
        long lastAtUnixNs,
        long totalElements,
        long totalBytes,
        long totalCompressedBytes,
        long totalCycles,
        long minCycles,
        long maxCycles,
        Optional<LatencyDistribution> latency,
        DeviceTime device,
        Work work,
        long workSamples) {

    /** The diagnoses of a brick by its cycles. */
    public enum CycleDiagnosis {
        /** No cycles or no time were recorded. */
        UNKNOWN,
        /** Fewer than one instruction in two cycles: the brick waits, most likely for memory. */
        MEMORY,
        /** More than two instructions in a cycle: the brick computes. */
        COMPUTE,
        /** Fewer than one cycle in a ns: the processor was slowed down, or ran other work. */
        THROTTLED,
        /** None of these. */
        BALANCED
    }

    /** Largest total first, then by name and category. */
    static final Comparator<BrickStats> LARGEST_FIRST = Comparator.comparingLong(BrickStats::totalNs)
            .reversed()
            .thenComparing(BrickStats::name)
            .thenComparing(BrickStats::category);

    private static final long FEWEST_SAMPLES_BESIDE = 8;
    private static final long DOMINANT_PART = 4;

    private static final double NORMAL_975 = 1.95996;

    /** The number of independent samples from which percentiles have an interval. */
    private static final double FEWEST_INDEPENDENT = 8;

    private static final double LOW_INSTRUCTIONS_PER_CYCLE = 0.5;
    private static final double HIGH_INSTRUCTIONS_PER_CYCLE = 2.0;

    /**
     * Refuses null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public BrickStats {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(category, "category");
        Objects.requireNonNull(bottleneck, "bottleneck");
        Objects.requireNonNull(minAtLeastNs, "minAtLeastNs");
        Objects.requireNonNull(maxAtMostNs, "maxAtMostNs");
        Objects.requireNonNull(latency, "latency");
        Objects.requireNonNull(device, "device");
        Objects.requireNonNull(work, "work");
    }

    /**
     * Returns a builder of the statistics of a brick that has no samples.
     *
     * @param name of the brick
     * @param category of the brick
     * @return a builder
     */
    public static Builder builder(String name, BrickCategory category) {
        return new Builder(name, category);
    }

    /**
     * Returns a builder with the values of this brick.
     *
     * @return a builder
     */
    public Builder toBuilder() {
        Builder same = builder(name, category)
                .bottleneck(bottleneck)
                .samples(count, totalNs, minNs, maxNs)
                .bounds(minAtLeastNs, maxAtMostNs)
                .last(lastNs, lastAtUnixNs)
                .elements(totalElements)
                .bytes(totalBytes, totalCompressedBytes)
                .cycles(totalCycles, minCycles, maxCycles)
                .latency(latency)
                .device(device);
        return hasWorkOfAll() ? same.work(work) : same.work(work, workSamples);
    }

    /**
     * Returns the statistics of a brick without samples.
     *
     * @param name its name
     * @param category its category
     * @param bottleneck the limiting resource
     * @return statistics that are zero throughout
     */
    public static BrickStats empty(String name, BrickCategory category, Bottleneck bottleneck) {
        return builder(name, category)
                .bottleneck(Objects.requireNonNull(bottleneck, "bottleneck"))
                .build();
    }

    /** Returns whether the brick has samples, unresolved samples or work. */
    boolean isRecorded() {
        return count > 0 || device.unresolved() > 0 || !work.equals(Work.NONE);
    }

    /**
     * Returns the mean duration.
     *
     * @return µs, 0 without samples
     */
    public double avgUs() {
        return count == 0 ? 0.0 : totalNs / 1e3 / count;
    }

    /**
     * Returns the time without what the marks of a device add.
     *
     * @return ns, 0 or more; empty unless a device timed every sample, or those drawn for the others, and it is known
     *     what marks add to each
     */
    public OptionalLong netNs() {
        boolean isKnown = count > 0 && device.marks().samples() == count && timeSource() == DeviceTime.Source.DEVICE;
        return isKnown ? OptionalLong.of(Math.max(0, totalNs - device.marks().ns())) : OptionalLong.empty();
    }

    /**
     * Returns the time from which shares and rates are computed.
     *
     * @return {@link #netNs} if it is known, otherwise {@link #totalNs}
     */
    public long netOrTotalNs() {
        return netNs().orElse(totalNs);
    }

    /**
     * Returns whether a sample takes less than twice what its marks add, on average. The net time of such a brick is
     * less certain than its recorded time suggests.
     *
     * @return false also if it is not known what marks add
     */
    public boolean isShortBesideMarks() {
        return netNs().isPresent() && totalNs < 2 * device.marks().ns();
    }

    /**
     * Returns the shortest duration.
     *
     * @return µs, 0 without samples, and if it is not {@linkplain #isMinKnown known}
     */
    public double minUs() {
        return minNs / 1e3;
    }

    /**
     * Returns the longest duration.
     *
     * @return µs, 0 without samples, and if it is not {@linkplain #isMaxKnown known}
     */
    public double maxUs() {
        return maxNs / 1e3;
    }

    /**
     * Returns whether the shortest duration is known. It is not if the samples come from another program's table that
     * has their sum alone; such a brick has no last duration either. It is not, either, if a profiler without
     * percentiles took the samples in a window, and a sample before the window was shorter.
     *
     * @return false only if there are samples that took time
     */
    public boolean isMinKnown() {
        return minAtLeastNs.isEmpty() && (maxNs > 0 || totalNs == 0 || maxAtMostNs.isPresent());
    }

    /**
     * Returns whether the longest duration is known: as for {@link #isMinKnown}.
     *
     * @return false only if there are samples that took time
     */
    public boolean isMaxKnown() {
        return maxAtMostNs.isEmpty() && (maxNs > 0 || totalNs == 0);
    }

    /**
     * Returns whether the shortest and the longest duration are known.
     *
     * @return false if one of them is not known
     */
    public boolean hasExtremes() {
        return isMinKnown() && isMaxKnown();
    }

    /** Returns the extremes, with bounds of those that are not known. */
    Extremes extremes() {
        boolean isSumAlone = maxAtMostNs.isEmpty() && !isMaxKnown();
        return isSumAlone
                ? new Extremes(0, 0, OptionalLong.of(0), OptionalLong.of(totalNs))
                : new Extremes(minNs, maxNs, minAtLeastNs, maxAtMostNs);
    }

    /**
     * Returns whether the longest sample took more than a quarter of the brick's time, and the brick has at least 8
     * samples. Mean and share of such a brick describe that sample rather than the others; often it is the first one,
     * which loads classes.
     *
     * @return false also if the longest duration is not {@linkplain #hasExtremes known}
     */
    public boolean isDominatedByOneSample() {
        return count >= FEWEST_SAMPLES_BESIDE && maxNs > totalNs / DOMINANT_PART;
    }

    /**
     * Returns elements per second of the brick's time, which is net where that is known, as in all rates.
     *
     * @return elements/s, 0 if no time was measured
     */
    public double throughput() {
        long ns = netOrTotalNs();
        return ns == 0 ? 0.0 : totalElements * 1e9 / ns;
    }

    /**
     * Returns {@link #throughput()} for bricks whose elements are tokens.
     *
     * @return tokens/s, 0 if no time was measured
     */
    public double tokensPerSec() {
        return throughput();
    }

    /**
     * Returns input bytes per output byte.
     *
     * @return the ratio, 1 if no output bytes were recorded
     */
    public double compressionRatio() {
        return totalCompressedBytes == 0 ? 1.0 : (double) totalBytes / totalCompressedBytes;
    }

    /**
     * Returns input bytes per time.
     *
     * @return GB/s of 10<sup>9</sup> bytes, 0 if no time was measured
     */
    public double throughputGbps() {
        // Bytes per ns are 10^9 bytes per s.
        return rate(totalBytes);
    }

    /**
     * Returns whether the work of every sample is known.
     *
     * @return false if the work of some or all samples is unknown
     */
    public boolean hasWorkOfAll() {
        return !work.equals(Work.NONE) && workSamples == count;
    }

    /**
     * Returns floating-point operations per time.
     *
     * @return GFLOP/s of 10<sup>9</sup>; 0 if no time was measured, or the work of some samples is unknown
     */
    public double gflops() {
        return hasWorkOfAll() ? rate(work.flops()) : 0.0;
    }

    private double rate(long amount) {
        long ns = netOrTotalNs();
        return ns == 0 ? 0.0 : (double) amount / ns;
    }

    /**
     * Returns cycles per element.
     *
     * @return cycles, 0 without elements
     */
    public double cyclesPerElement() {
        return totalElements == 0 ? 0.0 : (double) totalCycles / totalElements;
    }

    /**
     * Returns cycles per sample.
     *
     * @return cycles, 0 without samples
     */
    public double avgCycles() {
        return count == 0 ? 0.0 : (double) totalCycles / count;
    }

    /**
     * Returns cycles per time: the rate at which the processor worked on this brick.
     *
     * @return cycles/ns, which is GHz; 0 if no time was measured
     */
    public double cyclesPerNs() {
        return rate(totalCycles);
    }

    /**
     * Estimates instructions per cycle from the elements; instructions are not counted.
     *
     * @param instructionsPerElement how many instructions an element takes, 0 or more; 1 for simple operations
     * @return the estimate, 0 without cycles
     * @throws IllegalArgumentException when {@code instructionsPerElement} is negative or not a number
     */
    public double instructionsPerCycle(double instructionsPerElement) {
        if (!(instructionsPerElement >= 0)) {
            throw new IllegalArgumentException(
                    "instructionsPerElement " + instructionsPerElement + " is not 0 or more");
        }
        return totalCycles == 0 ? 0.0 : instructionsPerElement * totalElements / totalCycles;
    }

    /**
     * Returns a diagnosis by cycles. {@link #instructionsPerCycle} decides first: below 0.5 the brick waits for memory,
     * above 2 it computes. Then {@link #cyclesPerNs} decides: below 1 the processor was slowed down or shared. The
     * diagnosis is a hint, as good as the number of instructions.
     *
     * @param instructionsPerElement how many instructions an element takes, 0 or more; 1 for simple operations
     * @return the diagnosis, unknown without cycles or without time
     * @throws IllegalArgumentException when {@code instructionsPerElement} is negative or not a number
     */
    public CycleDiagnosis diagnoseCycles(double instructionsPerElement) {
        double perCycle = instructionsPerCycle(instructionsPerElement);
        if (totalCycles == 0 || totalNs == 0) {
            return CycleDiagnosis.UNKNOWN;
        }
        if (perCycle < LOW_INSTRUCTIONS_PER_CYCLE) {
            return CycleDiagnosis.MEMORY;
        }
        if (perCycle > HIGH_INSTRUCTIONS_PER_CYCLE) {
            return CycleDiagnosis.COMPUTE;
        }
        return cyclesPerNs() < 1 ? CycleDiagnosis.THROTTLED : CycleDiagnosis.BALANCED;
    }

    /**
     * Returns a percentile of the durations: a duration that the given share of samples does not exceed, within
     * {@link LatencyDistribution#RELATIVE_ERROR}. It is within the known extremes.
     *
     * @param percent the share, 0 to 100
     * @return ns, 0 without samples or if percentiles were not recorded
     * @throws IllegalArgumentException when the share is not within 0 to 100
     */
    public long percentileNs(double percent) {
        LatencyDistribution recorded = latency.orElse(LatencyDistribution.EMPTY);
        long ns = recorded.percentileNs(percent);
        return recorded.count() == 0 ? 0 : Math.max(minNs, isMaxKnown() ? Math.min(maxNs, ns) : ns);
    }

    /**
     * Returns the lower end of the 95 % interval of a percentile, after Woodruff: of an estimate, that percentile of
     * the weighted samples which lies below the given one by its error.
     *
     * @param percent the share, 0 to 100
     * @return ns, the percentile itself if each sample is known; empty if percentiles were not recorded, if the
     *     interval is open below, or if too few samples have marks
     * @throws IllegalArgumentException when the share is not within 0 to 100
     */
    public OptionalLong percentileAtLeastNs(double percent) {
        return percentileBoundNs(percent, -1);
    }

    /**
     * Returns the upper end of the 95 % interval of a percentile, as for {@link #percentileAtLeastNs}.
     *
     * @param percent the share, 0 to 100
     * @return ns, the percentile itself if each sample is known; empty if percentiles were not recorded, if the
     *     interval is open above, or if too few samples have marks
     * @throws IllegalArgumentException when the share is not within 0 to 100
     */
    public OptionalLong percentileAtMostNs(double percent) {
        return percentileBoundNs(percent, 1);
    }

    private OptionalLong percentileBoundNs(double percent, int side) {
        long ns = percentileNs(percent);
        double samples = latency.orElse(LatencyDistribution.EMPTY).count();
        if (samples == 0) {
            return OptionalLong.empty();
        }
        if (!device.isEstimated()) {
            return OptionalLong.of(ns);
        }
        double share = percent / 100;
        double products = device.weightProducts();
        // At least the sum of w * w over weights above 1, and equal to it for w = 2. The products alone correct for a
        // finite population, which is too little if a row alternates with the period of its blocks.
        double squares = products + 2.0 * device.unmarked();
        double bound = share + side * NORMAL_975 * Math.sqrt(share * (1 - share) * squares) / samples;
        // A mark stands for this many samples on average, weighted as the error is: beyond less, no mark need be.
        double ofOneMark = 1 + products / device.unmarked();
        boolean isKnown = products > 0
                && samples * samples >= FEWEST_INDEPENDENT * squares
                && samples * Math.min(share, 1 - share) >= ofOneMark;
        return isKnown && bound > 0 && bound < 1 ? OptionalLong.of(percentileNs(100 * bound)) : OptionalLong.empty();
    }

    /**
     * Returns the share of {@link #netOrTotalNs} in a total that the caller chooses: the sum of brick time, or the wall
     * time.
     *
     * @param baseNs the base, ns
     * @return percent; 0 if the base is 0
     */
    public double percentage(long baseNs) {
        return baseNs == 0 ? 0.0 : 100.0 * netOrTotalNs() / baseNs;
    }

    /**
     * Returns which clock measured the durations of the samples.
     *
     * @return {@code DEVICE} if a device timed every sample or those drawn for the others, {@code HOST} if it timed
     *     none, {@code MIXED} otherwise
     */
    public DeviceTime.Source timeSource() {
        long onDevice = limited(device.measured(), device.unmarked());
        if (onDevice == 0) {
            return DeviceTime.Source.HOST;
        }
        return onDevice == count ? DeviceTime.Source.DEVICE : DeviceTime.Source.MIXED;
    }

    /**
     * Returns whether the host took longer to launch the work than the device to do it. If so, the device waits for the
     * host, and fewer or larger launches help more than a faster kernel.
     *
     * @return true if a device timed every sample and launches took longer on average
     */
    public boolean isLaunchBound() {
        return timeSource() == DeviceTime.Source.DEVICE && device.avgLaunchUs() > avgUs();
    }

    /** Returns the sum of this brick and another one of the same name and category. Commutative and associative. */
    BrickStats plus(BrickStats other) {
        if (count == 0 || other.count == 0) {
            BrickStats recorded = count == 0 ? other : this;
            return recorded.toBuilder()
                    .bottleneck(greater(bottleneck, other.bottleneck))
                    .device(device.plus(other.device))
                    .work(work.plus(other.work), limited(workSamples, other.workSamples))
                    .build();
        }
        Extremes extremes = extremes().plus(other.extremes());
        boolean otherIsLater =
                other.lastAtUnixNs > lastAtUnixNs || (other.lastAtUnixNs == lastAtUnixNs && other.lastNs > lastNs);
        return builder(name, category)
                .bottleneck(greater(bottleneck, other.bottleneck))
                .samples(
                        limited(count, other.count),
                        limited(totalNs, other.totalNs),
                        extremes.minNs(),
                        extremes.maxNs())
                .bounds(extremes.minAtLeastNs(), extremes.maxAtMostNs())
                .last(otherIsLater ? other.lastNs : lastNs, Math.max(lastAtUnixNs, other.lastAtUnixNs))
                .elements(limited(totalElements, other.totalElements))
                .bytes(limited(totalBytes, other.totalBytes), limited(totalCompressedBytes, other.totalCompressedBytes))
                .cycles(
                        limited(totalCycles, other.totalCycles),
                        minCycles == 0 || (other.minCycles > 0 && other.minCycles < minCycles)
                                ? other.minCycles
                                : minCycles,
                        Math.max(maxCycles, other.maxCycles))
                .latency(merged(latency, other.latency))
                .device(device.plus(other.device))
                .work(work.plus(other.work), limited(workSamples, other.workSamples))
                .build();
    }

    private static Bottleneck greater(Bottleneck one, Bottleneck two) {
        return one.compareTo(two) >= 0 ? one : two;
    }

    private static Optional<LatencyDistribution> merged(
            Optional<LatencyDistribution> one, Optional<LatencyDistribution> two) {
        // A part without percentiles would silently leave its samples out of the percentiles.
        return one.flatMap(mine -> two.map(mine::plus));
    }

    /** Sets the values by name; the others stay at 0, empty or unknown. Not thread-safe. */
    public static final class Builder {
        private final String name;
        private final BrickCategory category;
        private Bottleneck bottleneck = Bottleneck.UNKNOWN;
        private long count;
        private long totalNs;
        private long minNs;
        private long maxNs;
        private OptionalLong minAtLeastNs = OptionalLong.empty();
        private OptionalLong maxAtMostNs = OptionalLong.empty();
        private long lastNs;
        private long lastAtUnixNs;
        private long totalElements;
        private long totalBytes;
        private long totalCompressedBytes;
        private long totalCycles;
        private long minCycles;
        private long maxCycles;
        private Optional<LatencyDistribution> latency = Optional.empty();
        private DeviceTime device = DeviceTime.NONE;
        private Work work = Work.NONE;
        private long workSamples;

        private Builder(String name, BrickCategory category) {
            this.name = Objects.requireNonNull(name, "name");
            this.category = Objects.requireNonNull(category, "category");
        }

        /**
         * Sets the resource that limits the brick.
         *
         * @param limit as its author found
         * @return this
         */
        public Builder bottleneck(Bottleneck limit) {
            bottleneck = Objects.requireNonNull(limit, "limit");
            return this;
        }

        /**
         * Sets the number of samples and their durations.
         *
         * @param number of samples
         * @param sumNs sum of the durations, ns
         * @param shortestNs shortest duration, ns; 0 if it is not known
         * @param longestNs longest duration, ns; 0 if it is not known
         * @return this
         */
        public Builder samples(long number, long sumNs, long shortestNs, long longestNs) {
            count = number;
            totalNs = sumNs;
            minNs = shortestNs;
            maxNs = longestNs;
            return this;
        }

        /**
         * Sets bounds of extremes that are not known.
         *
         * @param shortestAtLeastNs a lower bound of the shortest duration, ns; empty if that duration is known
         * @param longestAtMostNs an upper bound of the longest duration, ns; empty if that duration is known
         * @return this
         */
        public Builder bounds(OptionalLong shortestAtLeastNs, OptionalLong longestAtMostNs) {
            minAtLeastNs = Objects.requireNonNull(shortestAtLeastNs, "shortestAtLeastNs");
            maxAtMostNs = Objects.requireNonNull(longestAtMostNs, "longestAtMostNs");
            return this;
        }

        /**
         * Sets the sample that was recorded last.
         *
         * @param durationNs its duration, ns
         * @param atUnixNs its end, ns since 1970-01-01T00:00Z
         * @return this
         */
        public Builder last(long durationNs, long atUnixNs) {
            lastNs = durationNs;
            lastAtUnixNs = atUnixNs;
            return this;
        }

        /**
         * Sets the elements.
         *
         * @param sum of the elements
         * @return this
         */
        public Builder elements(long sum) {
            totalElements = sum;
            return this;
        }

        /**
         * Sets the bytes.
         *
         * @param input sum of the input bytes
         * @param output sum of the output bytes
         * @return this
         */
        public Builder bytes(long input, long output) {
            totalBytes = input;
            totalCompressedBytes = output;
            return this;
        }

        /**
         * Sets the cycles.
         *
         * @param sum of the cycles
         * @param fewest of a sample with cycles
         * @param most of a sample
         * @return this
         */
        public Builder cycles(long sum, long fewest, long most) {
            totalCycles = sum;
            minCycles = fewest;
            maxCycles = most;
            return this;
        }

        /**
         * Sets the distribution of the durations.
         *
         * @param distribution empty if percentiles were not recorded
         * @return this
         */
        public Builder latency(Optional<LatencyDistribution> distribution) {
            latency = Objects.requireNonNull(distribution, "distribution");
            return this;
        }

        /**
         * Sets the samples that devices timed.
         *
         * @param time their numbers and launches
         * @return this
         */
        public Builder device(DeviceTime time) {
            device = Objects.requireNonNull(time, "time");
            return this;
        }

        /**
         * Sets the work.
         *
         * @param done by all samples
         * @return this
         */
        public Builder work(Work done) {
            return work(done, Long.MAX_VALUE);
        }

        /**
         * Sets the work of some samples.
         *
         * @param done by these samples
         * @param samples how many they are; more than all samples count as all
         * @return this
         */
        public Builder work(Work done, long samples) {
            work = Objects.requireNonNull(done, "done");
            workSamples = samples;
            return this;
        }

        /**
         * Makes the statistics of a brick.
         *
         * @return the statistics of a brick
         */
        public BrickStats build() {
            return new BrickStats(
                    name,
                    category,
                    bottleneck,
                    count,
                    totalNs,
                    minNs,
                    maxNs,
                    minAtLeastNs,
                    maxAtMostNs,
                    lastNs,
                    lastAtUnixNs,
                    totalElements,
                    totalBytes,
                    totalCompressedBytes,
                    totalCycles,
                    minCycles,
                    maxCycles,
                    latency,
                    device,
                    work,
                    work.equals(Work.NONE) ? 0 : Math.min(workSamples, count));
        }
    }
}
