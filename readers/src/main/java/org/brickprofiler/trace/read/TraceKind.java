package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.IOException;
import org.brickprofiler.trace.read.EventCollector.Site;
import org.brickprofiler.trace.read.EventCollector.Slice;
import org.brickprofiler.trace.read.Omission.Reason;
import org.jspecify.annotations.Nullable;

/**
 * One kind of trace, with its own answer to the question which events count in a profile and with which times. There
 * are three: {@link OwnTrace}, {@link TraceOfSums} and {@link ForeignTrace}. A {@link ProfileBuilder} passes the events
 * of a trace to its kind, which keeps those that may count and sums them after the last one. One thread.
 */
abstract class TraceKind implements Closeable {

    final ProfileBuilder builder;
    final TraceHead head;
    final Omission.Tally omissions;
    final ReadOptions options;

    TraceKind(ProfileBuilder builder) {
        this.builder = builder;
        this.head = builder.head;
        this.omissions = builder.omissions;
        this.options = builder.options;
    }

    /** Returns the reason for which a slice never counts; see {@link EventCollector#ignores}. */
    abstract @Nullable Reason ignores(TraceEvent event) throws IOException;

    /** Returns the site that a slice is; see {@link EventCollector#site}. */
    abstract @Nullable Site site(TraceEvent event) throws TraceFormatException;

    /** Receives the begin of a slice; see {@link EventCollector#beginSlice}. */
    abstract @Nullable Slice beginSlice(TraceEvent event) throws IOException;

    /** Receives an instant, a counter, a flow or metadata, which is counted already. */
    abstract void addOther(TraceEvent event) throws TraceFormatException;

    /**
     * Returns the profile; called once, after the last event.
     *
     * @throws TraceFormatException when a limit is reached, or a sum is too large
     * @throws IOException when the temporary file cannot be written or read
     */
    abstract TraceProfile profile() throws IOException;

    /** Returns an empty collection of kernels under the rules of this reading. */
    final Kernels newKernels() {
        return new Kernels(options.rules(), options.limits().distinctNames());
    }

    /** Counts malformed bytes as a fault. */
    final void noteBytes(TraceEvent event) {
        if (event.bytes == TraceEvent.MALFORMED_BYTES) {
            omissions.fault(Reason.MALFORMED_BYTES, event.offset);
        }
    }
}
