package org.brickprofiler.trace;

import java.util.Arrays;
import org.brickprofiler.Backend;
import org.brickprofiler.record.SpanBuffer;
import org.brickprofiler.record.SpanCopy;
import org.brickprofiler.record.SpanKind;
import org.brickprofiler.record.SpanNames;
import org.brickprofiler.record.StreamPlace;
import org.brickprofiler.record.StreamSpans;

/** What a profiler timed on one stream of a device. The profiler's calls take turns; any thread may read. */
final class TimedStream implements StreamSpans {

    private final StreamPlace place;
    private final SpanNames names;
    private final Runnable catchUp;
    private final SpanBuffer spans;

    private long errorNs;
    private long withoutPlace;

    TimedStream(StreamPlace place, SpanNames names, Runnable catchUp, SpanBuffer spans) {
        this.place = place;
        this.names = names;
        this.catchUp = catchUp;
        this.spans = spans;
    }

    @Override
    public synchronized void sample(
            int key, long startNs, long elapsedNs, long elements, long launchLine, long launchNs) {
        spans.add(SpanKind.DEVICE_SAMPLE, key, startNs, elapsedNs, elements);
        spans.add(SpanKind.LAUNCH, 0, launchNs, 0, launchLine);
    }

    @Override
    public synchronized void sampleWithoutPlace() {
        withoutPlace++;
    }

    @Override
    public synchronized void clockErrorNs(long ns) {
        errorNs = Math.max(errorNs, ns);
    }

    // ---- the recorder ----

    /** Has the profiler resolve what the device has done. Not to be called with a lock that the profiler may want. */
    void catchUp() {
        catchUp.run();
    }

    StreamPlace place() {
        return place;
    }

    SpanNames names() {
        return names;
    }

    /** How its device is reached; one that nobody here knows is used like a processor. */
    Backend backend() {
        return Arrays.stream(Backend.values())
                .filter(backend -> backend.name().equals(place.backend()))
                .findFirst()
                .orElse(Backend.CPU);
    }

    synchronized SpanCopy copy() {
        return spans.copy();
    }

    synchronized long clockErrorNs() {
        return errorNs;
    }

    /** How many samples are missing because nobody knows when they were. */
    synchronized long withoutPlace() {
        return withoutPlace;
    }

    /** Forgets the samples that are missing. */
    synchronized void clear() {
        withoutPlace = 0;
    }
}
