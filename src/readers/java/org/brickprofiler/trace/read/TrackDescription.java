package org.brickprofiler.trace.read;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The description of a track, separate from its events. Immutable.
 *
 * @param id its identifier
 * @param name its name, or that of its thread or process; may be empty
 * @param parent the identifier of the track it belongs to, 0 if that is not known
 * @param process the process that it is, or of its thread; null if it is neither a process nor a thread
 * @param isThread whether it is a thread
 * @param tid the thread's number
 * @param unit for a counter, the unit of its values, which may be empty; otherwise null
 * @param labels the labels of the process
 * @param offset the place of the description in the trace
 */
record TrackDescription(
        long id,
        String name,
        long parent,
        @Nullable Long process,
        boolean isThread,
        long tid,
        @Nullable String unit,
        List<String> labels,
        long offset) {

    /** Copies the labels. */
    TrackDescription {
        labels = List.copyOf(labels);
    }

    /** Returns whether it stands for a process. */
    boolean isProcess() {
        return process != null && !isThread;
    }
}
