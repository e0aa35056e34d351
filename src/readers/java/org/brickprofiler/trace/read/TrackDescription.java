package org.brickprofiler.trace.read;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The description of a track, separate from its events. Immutable.
 *
 * @param id its identifier
 * @param name its name, or that of its thread or process; may be empty
 * @param parent the identifier of the track it belongs to, 0 where that is not known
 * @param owner the process or thread that it is
 * @param unit of a counter the unit of its values, which may be empty; null where it is none
 * @param labels what the process is labelled with
 * @param offset where the trace says so
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
     * The process or thread that a track is.
     *
     * @param process the process that it is, or whose thread it is; null where it is neither
     * @param isThread whether it is a thread
     * @param tid the thread's number
     */
    record Owner(@Nullable Long process, boolean isThread, long tid) {}

    /** Takes a copy of the labels. */
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

    /** Returns whether it stands for a process. */
    boolean isProcess() {
        return process() != null && !isThread();
    }
}
