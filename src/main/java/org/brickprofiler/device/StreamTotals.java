package org.brickprofiler.device;

import static org.brickprofiler.internal.io.Sums.limited;

import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Sums of the work of a stream between the bricks' marks since the last reset. Immutable.
 *
 * @param stream the stream's name
 * @param device the device's name
 * @param deviceIndex the number of the device among those of its kind
 * @param deviceUuid which device it is on every machine and in every process, where that is known: under
 *     {@code CUDA_VISIBLE_DEVICES} the device of every rank has number 0
 * @param pciAddress the address of the device's PCI function in its machine, where that is known
 * @param samples how many bricks have a time of the device
 * @param busyNs how long at least one brick was running, ns: the union of their times, by the device's clock
 * @param idleNs how long none was running between two bricks of the same pass, ns
 * @param waits how often the stream was waited for
 * @param clockErrorNs how far the latest device times may be off when they are put into the host's time, ns
 * @param failure why the stream does not work, or what it could not do
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
        long waits,
        long clockErrorNs,
        Optional<String> failure) {

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
    }

    /**
     * The totals of a stream on a device of which neither UUID nor PCI address is known.
     *
     * @param stream the stream's name
     * @param device the device's name
     * @param deviceIndex the number of the device among those of its kind
     * @param samples how many bricks have a time of the device
     * @param busyNs how long at least one brick was running, ns
     * @param idleNs how long none was running between two bricks of the same pass, ns
     * @param waits how often the stream was waited for
     * @param clockErrorNs how far the latest device times may be off when they are put into the host's time, ns
     * @param failure why the stream does not work, or what it could not do
     * @throws NullPointerException when an argument is null; the message names it
     */
    public StreamTotals(
            String stream,
            String device,
            int deviceIndex,
            long samples,
            long busyNs,
            long idleNs,
            long waits,
            long clockErrorNs,
            Optional<String> failure) {
        this(
                stream,
                device,
                deviceIndex,
                Optional.empty(),
                Optional.empty(),
                samples,
                busyNs,
                idleNs,
                waits,
                clockErrorNs,
                failure);
    }

    /**
     * Returns the share of a pass's device time in which no brick was running.
     *
     * @return 0 to 1; 0 where nothing was measured
     */
    public double idleShare() {
        return busyNs + idleNs == 0 ? 0.0 : (double) idleNs / (busyNs + idleNs);
    }

    /**
     * Which stream it is, among those of several runs.
     *
     * @param device the device's name
     * @param deviceIndex the number of the device among those of its kind
     * @param deviceUuid which device it is, where that is known; two with one number are different streams
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
     * @return equal for the same stream of several runs
     */
    public Key key() {
        return new Key(device, deviceIndex, deviceUuid, stream);
    }

    /**
     * Returns the sum of both, of the same stream. Commutative and associative.
     *
     * @param other what the stream did at another time
     * @return the sums; of errors the largest, of failures the first in the alphabet
     */
    public StreamTotals plus(StreamTotals other) {
        return new StreamTotals(
                stream,
                device,
                deviceIndex,
                deviceUuid,
                first(pciAddress, other.pciAddress),
                limited(samples, other.samples),
                limited(busyNs, other.busyNs),
                limited(idleNs, other.idleNs),
                limited(waits, other.waits),
                Math.max(clockErrorNs, other.clockErrorNs),
                first(failure, other.failure));
    }

    /** Returns the first in the alphabet of those that there are. */
    private static Optional<String> first(Optional<String> one, Optional<String> other) {
        return Stream.of(one, other).flatMap(Optional::stream).min(Comparator.naturalOrder());
    }
}
