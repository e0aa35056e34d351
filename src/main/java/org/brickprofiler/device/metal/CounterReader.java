package org.brickprofiler.device.metal;

import com.sun.jna.Pointer;
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
    private boolean closed;

    CounterReader(long stream, Troubles troubles) {
        this.stream = stream;
        this.troubles = troubles;
    }

    synchronized boolean begin(CounterSampling where, int dispatches) {
        ClockMoment now = moment();
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
        return isSampled(MetalShim.samplePass(stream, sequence, new Pointer(passDescriptor), operation));
    }

    long beginDispatch(long sequence, long encoder, String operation) {
        long ticket = MetalShim.beginDispatch(stream, sequence, new Pointer(encoder), operation);
        return isSampled(ticket) ? ticket : -1;
    }

    void endDispatch(long ticket, long encoder) {
        if (ticket >= 0) {
            isSampled(MetalShim.endDispatch(stream, ticket, new Pointer(encoder)));
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
        ClockCorrelation clocks = correlation(first);
        if (clocks == null) {
            unconverted += read.size();
        } else {
            read.forEach(dispatch -> converted.add(convert(dispatch, clocks)));
        }
        read.clear();
        return converted;
    }

    private @Nullable ClockCorrelation correlation(ClockMoment since) {
        ClockMoment now = moment();
        try {
            return now == null ? null : ClockCorrelation.between(since, now);
        } catch (IllegalArgumentException e) {
            troubles.tell(Troubles.Kind.CLOCKS, "the clocks of host and device do not agree: " + e.getMessage());
            return null;
        }
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
        if (MetalShim.sampleClocks(stream, records.memory()) != MetalShim.OK) {
            troubles.tell(Troubles.Kind.CLOCKS, "the clocks could not be read: " + MetalShim.failure());
            return null;
        }
        return records.moment();
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
