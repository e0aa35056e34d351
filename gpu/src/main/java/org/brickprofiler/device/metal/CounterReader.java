package org.brickprofiler.device.metal;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.brickprofiler.device.ClockConversion;
import org.jspecify.annotations.Nullable;

/**
 * The sampled counters of a stream. Each drain converts them to the host's time by two moments at which both clocks
 * were read: the start of sampling, and the drain. Any thread.
 */
final class CounterReader {

    private final long stream;
    private final MetalFailures failures;

    /** Guarded by this, like the next three fields. */
    private final ShimRecords records = new ShimRecords();

    private final List<ShimRecords.Dispatch> read = new ArrayList<>();
    private ClockCorrelation.@Nullable Moment first;
    private long unconverted;
    private volatile boolean closed;

    CounterReader(long stream, boolean closed, MetalFailures failures) {
        this.closed = closed;
        this.stream = stream;
        this.failures = failures;
    }

    synchronized boolean begin(MetalStream.CounterSampling where, int dispatches) {
        ClockCorrelation.Moment now = closed ? null : moment();
        if (now == null) {
            return false;
        }
        if (MetalShim.sampleCounters(stream, where.point(), dispatches) != MetalShim.OK) {
            failures.report(
                    MetalFailures.Kind.COUNTERS,
                    "command buffers are timed, their passes and dispatches are not: " + MetalShim.failure());
            return false;
        }
        first = now;
        return true;
    }

    boolean samplePass(long sequence, long passDescriptor, String operation) {
        return !closed && isSampled(MetalShim.samplePass(stream, sequence, passDescriptor, operation));
    }

    long beginDispatch(long sequence, long encoder, String operation) {
        long ticket = closed ? -1 : MetalShim.beginDispatch(stream, sequence, encoder, operation);
        return !closed && isSampled(ticket) ? ticket : -1;
    }

    void endDispatch(long ticket, long encoder) {
        if (ticket >= 0 && !closed) {
            isSampled(MetalShim.endDispatch(stream, ticket, encoder));
        }
    }

    private boolean isSampled(long result) {
        if (result < 0) {
            // If sampling could not begin, that reason was logged, and this one is not.
            failures.report(MetalFailures.Kind.COUNTERS, "a dispatch is not sampled: " + MetalShim.failure());
        }
        return result >= 0;
    }

    /** Passes on the samples whose times can be converted. */
    void drain(Consumer<? super FinishedBuffer.Dispatch> consumer) {
        for (FinishedBuffer.Dispatch dispatch : drain()) {
            consumer.accept(dispatch);
        }
    }

    private synchronized List<FinishedBuffer.Dispatch> drain() {
        if (closed || first == null || records.drainDispatches(stream, read::add) <= 0) {
            return List.of();
        }
        List<FinishedBuffer.Dispatch> converted = new ArrayList<>(read.size());
        ClockCorrelation.Moment now = moment();
        if (now != null) {
            try {
                ClockCorrelation clocks = ClockCorrelation.between(first, now);
                for (ShimRecords.Dispatch dispatch : read) {
                    converted.add(convert(dispatch, clocks));
                }
            } catch (IllegalArgumentException e) {
                failures.report(
                        MetalFailures.Kind.CLOCKS, "the clocks of host and device do not agree: " + e.getMessage());
            }
        }
        unconverted += read.size() - converted.size();
        read.clear();
        return converted;
    }

    private static FinishedBuffer.Dispatch convert(ShimRecords.Dispatch dispatch, ClockCorrelation clocks) {
        ClockConversion conversion = clocks.conversion();
        return new FinishedBuffer.Dispatch(
                dispatch.sequence(),
                dispatch.label(),
                dispatch.operation(),
                dispatch.index(),
                conversion.toHostNs(dispatch.startTicks()),
                conversion.toHostNs(dispatch.endTicks()),
                Math.max(clocks.errorNs(dispatch.startTicks()), clocks.errorNs(dispatch.endTicks())));
    }

    private ClockCorrelation.@Nullable Moment moment() {
        ClockCorrelation.Moment moment = records.moment(stream);
        if (moment == null) {
            failures.report(MetalFailures.Kind.CLOCKS, "the clocks could not be read: " + MetalShim.failure());
        }
        return moment;
    }

    synchronized long lost() {
        return unconverted + (closed ? 0 : MetalShim.lost(stream, MetalShim.LOST_DISPATCHES));
    }

    /** Reads the number of lost dispatches for the last time. */
    synchronized void close() {
        unconverted = lost();
        closed = true;
    }
}
