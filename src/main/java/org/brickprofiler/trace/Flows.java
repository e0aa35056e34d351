package org.brickprofiler.trace;

import java.util.Map;
import org.brickprofiler.record.SpanCopy;
import org.brickprofiler.record.SpanKind;

/** Ties the spans of devices to the spans of the host's threads that launched them. One thread. */
final class Flows {

    private final Map<Long, Line> hostLines;
    private long last;

    /**
     * Without a tie so far.
     *
     * @param hostLines the lines of the host by the ids of their threads
     */
    Flows(Map<Long, Line> hostLines) {
        this.hostLines = hostLines;
    }

    /**
     * Ties each span of a device whose launch is known, where the host's span is still there.
     *
     * @param line the line of a stream; a launch follows its span there
     */
    void tie(Line line) {
        for (int part = 0; part < line.parts().size(); part++) {
            SpanCopy copy = line.parts().get(part).copy();
            for (int entry = 1; entry < copy.size(); entry++) {
                Line host = copy.kind(entry) == SpanKind.LAUNCH ? hostLines.get(copy.value(entry)) : null;
                if (host != null) {
                    tie(line, part, entry - 1, host, copy.startNs(entry));
                }
            }
        }
    }

    private void tie(Line line, int part, int span, Line host, long launchNs) {
        SpanCopy copy = line.parts().get(part).copy();
        SpanKind launch = copy.kind(span) == SpanKind.DEVICE_SAMPLE ? SpanKind.ENQUEUED : SpanKind.SPAN;
        int launcher = host.launcher(launch, launchNs, line.parts().get(part).name(span));
        if (launcher >= 0) {
            last++;
            host.flowOut(launcher, last, copy.endNs(span) - copy.startNs(span));
            line.flowIn(part, span, last);
        }
    }
}
