package org.brickprofiler.device.metal;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.brickprofiler.device.ClockConversion;
import org.brickprofiler.device.ClockCorrelation;
import org.brickprofiler.device.ClockMoment;
import org.jspecify.annotations.Nullable;

/**
 * The sampled counters of a stream, converted to the host's time by the moment when sampling began and that of each
 * drain. Any thread.
 */
final class CounterReader {

    private final long stream;
    private final Troubles troubles;

    /** Guarded by this, as the four after it. */
    private final ShimRecords records = new ShimRecords();

    private final List<ShimRecords.Dispatch> read = new ArrayList<>();
    private @Nullable ClockMoment first;
    private long unconverted;
    private volatile boolean closed;

    CounterReader(long stream, boolean closed, Troubles troubles) {
        this.closed = closed;
        this.stream = stream;
        this.troubles = troubles;
    }

    synchronized boolean begin(CounterSampling where, int dispatches) {
        ClockMoment now = closed ? null : moment();
        if (now == null) {
            return false;
        }
        if (MetalShim.sampleCounters(stream, where.point(), dispatches) != MetalShim.OK) {
            troubles.tell(
                    Troubles.Kind.COUNTERS, "command buffers are timed, what is inside is not: " + MetalShim.failure());
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
            // Without counters the first reason stands: it was told when sampling could not begin.
            troubles.tell(Troubles.Kind.COUNTERS, "a dispatch is not sampled: " + MetalShim.failure());
        }
        return result >= 0;
    }

    /** Hands over what can be converted. */
    void drain(Consumer<? super FinishedDispatch> consumer) {
        for (FinishedDispatch dispatch : drain()) {
            consumer.accept(dispatch);
        }
    }

    private synchronized List<FinishedDispatch> drain() {
        if (closed || first == null || records.drainDispatches(stream, read::add) <= 0) {
            return List.of();
        }
        List<FinishedDispatch> converted = new ArrayList<>(read.size());
        ClockMoment now = moment();
        if (now != null) {
            try {
                ClockCorrelation clocks = ClockCorrelation.between(first, now);
                for (ShimRecords.Dispatch dispatch : read) {
                    converted.add(convert(dispatch, clocks));
                }
            } catch (IllegalArgumentException e) {
                troubles.tell(Troubles.Kind.CLOCKS, "the clocks of host and device do not agree: " + e.getMessage());
            }
        }
        unconverted += read.size() - converted.size();
        read.clear();
        return converted;
    }

    private static FinishedDispatch convert(ShimRecords.Dispatch dispatch, ClockCorrelation clocks) {
        ClockConversion conversion = clocks.conversion();
        return new FinishedDispatch(
                dispatch.sequence(),
                dispatch.label(),
                dispatch.operation(),
                dispatch.index(),
                conversion.toHostNs(dispatch.startTicks()),
                conversion.toHostNs(dispatch.endTicks()),
                Math.max(clocks.errorNs(dispatch.startTicks()), clocks.errorNs(dispatch.endTicks())));
    }

    private @Nullable ClockMoment moment() {
        ClockMoment moment = records.moment(stream);
        if (moment == null) {
            troubles.tell(Troubles.Kind.CLOCKS, "the clocks could not be read: " + MetalShim.failure());
        }
        return moment;
    }

    synchronized long lost() {
        return unconverted + (closed ? 0 : MetalShim.lost(stream, MetalShim.LOST_DISPATCHES));
    }

    /** Takes what was counted for the last time. */
    synchronized void close() {
        unconverted = lost();
        closed = true;
    }
}
