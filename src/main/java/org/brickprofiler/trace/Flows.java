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
     * @param copy the spans, each followed by its launch
     * @param names the index of each key
     * @param line the line made of that copy alone
     */
    void tie(SpanCopy copy, int[] names, Line line) {
        for (int entry = 1; entry < copy.size(); entry++) {
            Line host = copy.kind(entry) == SpanKind.LAUNCH ? hostLines.get(copy.value(entry)) : null;
            int span = entry - 1;
            int launcher = host == null ? -1 : host.launcher(copy.startNs(entry), names[copy.key(span)]);
            if (host != null && launcher >= 0) {
                last++;
                host.flowOut(launcher, last, copy.endNs(span) - copy.startNs(span));
                line.flowIn(span, last);
            }
        }
    }
}
