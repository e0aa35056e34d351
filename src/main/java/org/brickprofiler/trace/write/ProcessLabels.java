package org.brickprofiler.trace.write;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.trace.TraceInfo;

/** What a viewer shows beside the process: its place in a distributed run, and how far to trust what it shows. */
final class ProcessLabels {

    private ProcessLabels() {}

    static List<String> of(TraceInfo info) {
        List<String> labels = new ArrayList<>();
        info.rank().ifPresent(rank -> labels.add("rank " + rank + " of " + info.worldSize()));
        if (info.droppedSpans() > 0) {
            labels.add(info.droppedSpans() + " spans dropped");
        }
        info.clockErrorNs().ifPresent(errorNs -> labels.add("device times within " + errorNs + " ns"));
        return labels;
    }
}
