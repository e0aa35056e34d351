package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.IOException;
import org.brickprofiler.trace.read.EventCollector.Slice;
import org.jspecify.annotations.Nullable;

/** The slices of another program's trace that may count. One thread. */
interface ForeignSlices extends Closeable {

    /**
     * Receives the begin of a slice, at a valid time.
     *
     * @return the state to keep until the slice ends; null if the slice does not count
     * @throws IOException when the temporary file cannot be written
     */
    @Nullable
    Slice begin(TraceEvent event) throws IOException;

    /**
     * Returns the collection that takes the further slices of a trace that marks slices as a device's.
     *
     * @throws IOException when the temporary file cannot be deleted
     */
    ForeignSlices ofDevice() throws IOException;

    /**
     * Returns the collection of the slices that count, after the last event.
     *
     * @throws IOException when a temporary file cannot be written or read
     */
    ForeignSlices finest() throws IOException;

    /**
     * Returns the slices that count.
     *
     * @param hasRuns whether the trace marks runs of a model
     * @throws TraceFormatException when nothing may count, because the trace is damaged
     * @throws IOException when a temporary file cannot be read
     */
    ForeignTrace.Chosen chosen(boolean hasRuns) throws IOException;

    /** Returns the number of slices that a rule ignores. */
    long ignoredByRule();
}
