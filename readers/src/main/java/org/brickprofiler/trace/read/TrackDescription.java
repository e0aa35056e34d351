package org.brickprofiler.trace.read;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The description of a track, separate from its events. Immutable.
 *
 * @param id its identifier
 * @param name its name, or that of its thread or process; may be empty
 * @param parent the identifier of the track to which it belongs; 0 if unknown
 * @param owner the process or the thread that the track represents
 * @param unit the unit of a counter's values, which may be empty; null if the track is no counter
 * @param labels the labels of the process
 * @param offset the place of the description in the trace
 */
record TrackDescription(
        long id,
        String name,
        long parent,
        Owner owner,
        @Nullable String unit,
        List<String> labels,
        long offset) {

    /**
     * The process or the thread that a track represents.
     *
     * @param process the number of the process, or of the thread's process; null if the track represents neither
     * @param isThread whether the track represents a thread
     * @param tid the thread's number
     */
    record Owner(@Nullable Long process, boolean isThread, long tid) {}

    /** Copies the labels. */
    TrackDescription {
        labels = List.copyOf(labels);
    }

    @Nullable
    Long process() {
        return owner.process;
    }

    boolean isThread() {
        return owner.isThread;
    }

    long tid() {
        return owner.tid;
    }

    /** Returns whether the track represents a process. */
    boolean isProcess() {
        return process() != null && !isThread();
    }
}
