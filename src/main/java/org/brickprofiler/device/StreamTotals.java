package org.brickprofiler.device;

import static org.brickprofiler.internal.base.Checks.requireFinite;
import static org.brickprofiler.internal.base.Checks.requireNotNegative;
import static org.brickprofiler.internal.base.Sums.limited;

import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * Sums of the bricks of a stream since the last reset, by the device's times. Immutable.
 *
 * @param stream the stream's name
 * @param device the device's name
 * @param deviceIndex the number of the device among those of its kind
 * @param deviceUuid the identity of the device on every machine and in every process, if it is known: under
 *     {@code CUDA_VISIBLE_DEVICES} the device of every rank has number 0
 * @param pciAddress the address of the device's PCI function in its machine, if it is known
 * @param samples how many bricks have a time of the device
 * @param busyNs how long at least one brick was running, ns: the union of their times, by the device's clock
 * @param idleNs how long none was running between two bricks of the same pass, ns: the sum of the gaps
 * @param gaps the number of these gaps
 * @param shortestGapNs the shortest of them, ns; 0 if there was none. The device needs time for a mark itself, and each
 *     gap contains at least one mark, so a mark takes at most this time
 * @param waits how often a thread waited for the stream
 * @param clockErrorNs the largest error of the latest device times in the time of the host, ns
 * @param failure the reason why the stream does not work, or the latest failure
 * @param passNs time of the passes from their first brick outside of a captured graph to their end, ns; only if bricks
 *     were marked by sampling, and empty if the time of a pass is unknown
 * @param isSampled whether bricks were marked by sampling: busy time is then the estimated sum of the bricks' times,
 *     and idle time and gaps are unknown, and 0
 * @param markCost the device time that marks add, which is part of the recorded times
 * @param net times without what marks add; empty if that is unknown, if bricks lay inside one another or overlapped, or
 *     if the time of a pass is unknown
 */
public record StreamTotals(
        String stream,
        String device,
        int deviceIndex,
        Optional<String> deviceUuid,
        Optional<String> pciAddress,
        long samples,
        long busyNs,
        long idleNs,
        long gaps,
        long shortestGapNs,
        long waits,
        long clockErrorNs,
        Optional<String> failure,
        OptionalLong passNs,
        boolean isSampled,
        MarkCost markCost,
        Optional<Net> net) {

    /**
     * Refuses null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public StreamTotals {
        Objects.requireNonNull(stream, "stream");
        Objects.requireNonNull(device, "device");
        Objects.requireNonNull(deviceUuid, "deviceUuid");
        Objects.requireNonNull(pciAddress, "pciAddress");
        Objects.requireNonNull(failure, "failure");
        Objects.requireNonNull(passNs, "passNs");
        Objects.requireNonNull(markCost, "markCost");
        Objects.requireNonNull(net, "net");
    }

    /**
     * Returns a builder of the totals of a stream that has timed nothing.
     *
     * @param stream the stream's name
     * @param device the device's name
     * @param deviceIndex the number of the device among those of its kind
     * @return a builder
     */
    public static Builder builder(String stream, String device, int deviceIndex) {
        return new Builder(stream, device, deviceIndex);
    }

    /**
     * Returns the share of a pass's device time in which no brick was running.
     *
     * @return 0 to 1; 0 if nothing was measured
     */
    public double idleShare() {
        return busyNs + idleNs == 0 ? 0.0 : (double) idleNs / (busyNs + idleNs);
    }

    /**
     * Returns how much of the idle time may be the device's time for the marks themselves.
     *
     * @return {@link #gaps} times {@link #shortestGapNs}, ns, and at most {@link #idleNs}; the rest of the idle time is
     *     not due to marks
     */
    public long idleOfMarksNs() {
        return Math.min(idleNs, (long) ((double) gaps * shortestGapNs));
    }

    /**
     * Times of a stream without what marks add.
     *
     * @param passNs time of the passes, each from its first brick to its end, ns
     * @param bricksNs sum of the bricks' times, ns; an estimate if they were marked by sampling
     * @param errorNs the uncertainty of their difference because of the marks, ns
     * @param standardErrorNs the standard error of the estimate, ns; 0 for exact times
     */
    public record Net(long passNs, long bricksNs, long errorNs, double standardErrorNs) {

        /**
         * Checks the values.
         *
         * @throws IllegalArgumentException when one is negative or not finite
         */
        public Net {
            requireNotNegative("passNs", passNs);
            requireNotNegative("bricksNs", bricksNs);
            requireNotNegative("errorNs", errorNs);
            requireFinite("standardErrorNs", standardErrorNs);
        }

        /**
         * Returns the time within passes in which no brick ran.
         *
         * @return ns, 0 or more
         */
        public long betweenNs() {
            return Math.max(0, passNs - bricksNs);
        }

        /**
         * Returns the uncertainty of {@link #betweenNs}.
         *
         * @return that because of the marks, and two standard errors, ns
         */
        public long betweenErrorNs() {
            return limited(errorNs, Math.round(2 * standardErrorNs));
        }

        private Net plus(Net other) {
            return new Net(
                    limited(passNs, other.passNs),
                    limited(bricksNs, other.bricksNs),
                    limited(errorNs, other.errorNs),
                    Math.hypot(standardErrorNs, other.standardErrorNs));
        }
    }

    /**
     * The identity of a stream among the streams of several runs.
     *
     * @param device the device's name
     * @param deviceIndex the number of the device among those of its kind
     * @param deviceUuid the identity of the device, if it is known; devices with the same number and different UUIDs
     *     have different streams
     * @param stream the stream's name
     */
    public record Key(String device, int deviceIndex, Optional<String> deviceUuid, String stream)
            implements Comparable<Key> {
        private static final Comparator<Key> ORDER = Comparator.comparing(Key::device)
                .thenComparingInt(Key::deviceIndex)
                .thenComparing(key -> key.deviceUuid().orElse(""))
                .thenComparing(Key::stream);

        /**
         * Refuses null.
         *
         * @throws NullPointerException when a component is null; the message names it
         */
        public Key {
            Objects.requireNonNull(device, "device");
            Objects.requireNonNull(deviceUuid, "deviceUuid");
            Objects.requireNonNull(stream, "stream");
        }

        @Override
        public int compareTo(Key other) {
            Objects.requireNonNull(other, "other");
            return ORDER.compare(this, other);
        }
    }

    /**
     * Returns the identity of the stream.
     *
     * @return a key that is equal for the same stream in several runs
     */
    public Key key() {
        return new Key(device, deviceIndex, deviceUuid, stream);
    }

    /**
     * Returns the sum of these and other totals of the same stream. Commutative and associative.
     *
     * @param other the totals of the same stream at another time
     * @return the sums, with the largest error and cost of marks, the shortest gap and the failure that comes first in
     *     the alphabet
     */
    public StreamTotals plus(StreamTotals other) {
        return builder(stream, device, deviceIndex)
                .identifiers(deviceUuid, first(pciAddress, other.pciAddress))
                .bricks(limited(samples, other.samples), limited(busyNs, other.busyNs), limited(idleNs, other.idleNs))
                .gaps(limited(gaps, other.gaps), shortest(other))
                .waits(limited(waits, other.waits))
                .clockErrorNs(Math.max(clockErrorNs, other.clockErrorNs))
                .failure(first(failure, other.failure))
                .passes(
                        passNs.isPresent() && other.passNs.isPresent()
                                ? OptionalLong.of(limited(passNs.getAsLong(), other.passNs.getAsLong()))
                                : OptionalLong.empty(),
                        isSampled || other.isSampled)
                .markCost(MarkCost.ORDER.compare(markCost, other.markCost) < 0 ? other.markCost : markCost)
                .net(net.flatMap(one -> other.net.map(one::plus)))
                .build();
    }

    private long shortest(StreamTotals other) {
        return gaps == 0
                ? other.shortestGapNs
                : other.gaps == 0 ? shortestGapNs : Math.min(shortestGapNs, other.shortestGapNs);
    }

    /** Returns the reason that comes first in the alphabet, of those that are present. */
    private static Optional<String> first(Optional<String> one, Optional<String> other) {
        return Stream.of(one, other).flatMap(Optional::stream).min(Comparator.naturalOrder());
    }

    /**
     * Sets the values by name; the others stay at 0, empty or unknown. Idle time and gaps also stay at 0 if bricks were
     * marked by sampling. Not thread-safe.
     */
    public static final class Builder {
        private final String stream;
        private final String device;
        private final int deviceIndex;
        private Optional<String> deviceUuid = Optional.empty();
        private Optional<String> pciAddress = Optional.empty();
        private long samples;
        private long busyNs;
        private long idleNs;
        private long gaps;
        private long shortestGapNs;
        private long waits;
        private long clockErrorNs;
        private Optional<String> failure = Optional.empty();
        private OptionalLong passNs = OptionalLong.empty();
        private boolean isSampled;
        private MarkCost markCost = MarkCost.NOT_RECORDED;
        private Optional<Net> net = Optional.empty();

        private Builder(String stream, String device, int deviceIndex) {
            this.stream = Objects.requireNonNull(stream, "stream");
            this.device = Objects.requireNonNull(device, "device");
            this.deviceIndex = deviceIndex;
        }

        /**
         * Sets the identifiers of the device.
         *
         * @param uuid empty if it is not known
         * @param pci the address of its PCI function; empty if it is not known
         * @return this
         */
        public Builder identifiers(Optional<String> uuid, Optional<String> pci) {
            deviceUuid = Objects.requireNonNull(uuid, "uuid");
            pciAddress = Objects.requireNonNull(pci, "pci");
            return this;
        }

        /**
         * Sets the times of the bricks.
         *
         * @param number of bricks with a time of the device
         * @param runningNs time in which at least one brick was running, ns
         * @param betweenNs time in which none was running between two bricks of the same pass, ns
         * @return this
         */
        public Builder bricks(long number, long runningNs, long betweenNs) {
            samples = number;
            busyNs = runningNs;
            idleNs = betweenNs;
            return this;
        }

        /**
         * Sets the gaps between bricks.
         *
         * @param number of gaps in the time in which no brick was running
         * @param shortestNs the shortest of them, ns; 0 if there was none
         * @return this
         */
        public Builder gaps(long number, long shortestNs) {
            gaps = number;
            shortestGapNs = shortestNs;
            return this;
        }

        /**
         * Sets how often threads waited for the stream.
         *
         * @param number of waits
         * @return this
         */
        public Builder waits(long number) {
            waits = number;
            return this;
        }

        /**
         * Sets the error of the latest device times in the time of the host.
         *
         * @param ns the largest error
         * @return this
         */
        public Builder clockErrorNs(long ns) {
            clockErrorNs = ns;
            return this;
        }

        /**
         * Sets the reason why the stream does not work.
         *
         * @param reason the reason or the latest failure; empty if there is none
         * @return this
         */
        public Builder failure(Optional<String> reason) {
            failure = Objects.requireNonNull(reason, "reason");
            return this;
        }

        /**
         * Sets the time of the passes, for bricks that were marked by sampling.
         *
         * @param ofPassesNs their time, ns; empty if that of a pass is unknown
         * @param sampled whether bricks were marked by sampling
         * @return this
         */
        public Builder passes(OptionalLong ofPassesNs, boolean sampled) {
            passNs = Objects.requireNonNull(ofPassesNs, "ofPassesNs");
            isSampled = sampled;
            return this;
        }

        /**
         * Sets the device time that marks add.
         *
         * @param cost the cost
         * @return this
         */
        public Builder markCost(MarkCost cost) {
            markCost = Objects.requireNonNull(cost, "cost");
            return this;
        }

        /**
         * Sets the times without what marks add.
         *
         * @param times the times; empty if they are unknown
         * @return this
         */
        public Builder net(Optional<Net> times) {
            net = Objects.requireNonNull(times, "times");
            return this;
        }

        /**
         * Makes the totals.
         *
         * @return the totals
         */
        public StreamTotals build() {
            return new StreamTotals(
                    stream,
                    device,
                    deviceIndex,
                    deviceUuid,
                    pciAddress,
                    samples,
                    busyNs,
                    isSampled ? 0 : idleNs,
                    isSampled ? 0 : gaps,
                    isSampled ? 0 : shortestGapNs,
                    waits,
                    clockErrorNs,
                    failure,
                    passNs,
                    isSampled,
                    markCost,
                    net);
        }
    }
}
