package org.brickprofiler.report.internal;

import java.util.Map;
import org.brickprofiler.ProfileSnapshot;

/** What a recorder of spans adds to the report of a process. */
public interface EntriesAtEnd {

    /**
     * Completes what the recorder knows of bricks beside their spans, and returns it as further entries of the report.
     * Called when the virtual machine ends; may wait some seconds for the last data.
     *
     * @param profile the profile of the process
     * @return keys that the report lacks, or {@code findings} in place of its own, with their values; empty if the
     *     recorder knows no more
     */
    Map<String, Object> entriesAtEnd(ProfileSnapshot profile);
}
