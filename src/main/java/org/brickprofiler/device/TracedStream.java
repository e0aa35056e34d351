package org.brickprofiler.device;

import org.brickprofiler.record.NanoClock;
import org.brickprofiler.record.SpanKind;
import org.brickprofiler.record.StreamSpans;
import org.brickprofiler.record.TableRegistry;

/**
 * A stream whose samples somebody wants as spans: the launch is told where a timer is stopped, on the line of that
 * thread, and the device's work once its time is known. Thread rule as in {@link MarkedStream}.
 */
final class TracedStream extends MarkedStream {

    private static final long NO_ELEMENTS = -1;

    private final TableRegistry launches;
    private final StreamSpans spans;

    /** On which line the launch of a sample lies, by the mark at its end. */
    private final MarkColumns lines;

    /**
     * A stream. By its supertype, so that whoever calls this is verified without loading the class.
     *
     * @param launches has the timelines of the threads
     * @param spans takes the device's work
     */
    static MarkedStream of(
            DeviceStream stream, NanoClock clock, int index, TableRegistry launches, StreamSpans spans) {
        return new TracedStream(stream, clock, index, launches, spans);
    }

    private TracedStream(
            DeviceStream stream, NanoClock clock, int index, TableRegistry launches, StreamSpans spans) {
        super(stream, clock, index, 1);
        this.launches = launches;
        this.spans = spans;
        this.lines = new MarkColumns(1, stream.maxMarks());
    }

    @Override
    void stopped(long timer, int end) {
        // Where marks ran out, that of the start may have been given to another brick.
        if (isCurrent(timer)) {
            endedSince(MarkToken.key(timer), setNs(MarkToken.mark(timer)), end);
        }
    }

    @Override
    void endedSince(int key, long sinceNs, int end) {
        boolean marked = end != DeviceStream.NO_MARK;
        long endNs = marked ? setNs(end) : clock.nanoTime();
        long line = launches.mark(SpanKind.ENQUEUED, key, sinceNs, Math.max(0, endNs - sinceNs), NO_ELEMENTS);
        if (marked) {
            lines.of(end)[lines.at(end)] = line;
        }
    }

    @Override
    void timed(int key, long launchNs, int end, long elapsedNs, long elementCount) {
        if (chain.isUnbroken()) {
            spans.clockErrorNs(chain.hostErrorNs());
            spans.sample(key, chain.hostNs(end) - elapsedNs, elapsedNs, elementCount, line(end), launchNs);
        } else {
            spans.sampleWithoutPlace();
        }
    }

    private long line(int end) {
        return lines.of(end)[lines.at(end)];
    }
}
