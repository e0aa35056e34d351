package org.brickprofiler.trace;

import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.List;
import org.brickprofiler.Backend;
import org.brickprofiler.record.SpanBuffer;
import org.brickprofiler.record.SpanContents;
import org.brickprofiler.record.SpanCopy;
import org.brickprofiler.record.SpanKind;
import org.brickprofiler.record.SpanNames;
import org.brickprofiler.record.SpanStore;
import org.brickprofiler.record.StreamPlace;
import org.brickprofiler.record.StreamSpans;
import org.jspecify.annotations.Nullable;

/**
 * What a profiler timed on one stream of a device. The profiler's calls take turns; any thread may read. It does not keep
 * the profiler's end of it: once nobody has that any more, only what was told stays.
 */
final class TimedStream {

    private final StreamPlace place;
    private final Runnable catchUp;
    private final WeakReference<StreamSpans> writer;
    private final SpanContents contents;
    private volatile SpanNames names;

    /** Null once nothing more can come. Guarded by this. */
    private @Nullable SpanBuffer spans;

    private long errorNs;
    private long withoutPlace;

    /** The profiler's end, which belongs to one stream. */
    static final class Writer implements StreamSpans {

        private final TimedStream stream;

        Writer(StreamPlace place, SpanNames names, Runnable catchUp, SpanStore store) {
            stream = new TimedStream(place, names, catchUp, store, this);
        }

        TimedStream stream() {
            return stream;
        }

        @Override
        public void sample(
                int key, long startNs, long elapsedNs, long elements, long launchLine, long launchNs) {
            stream.add(key, startNs, elapsedNs, elements, launchLine, launchNs);
        }

        @Override
        public void sampleWithoutPlace() {
            stream.addWithoutPlace();
        }

        @Override
        public void clockErrorNs(long ns) {
            stream.atClockError(ns);
        }
    }

    private TimedStream(
            StreamPlace place, SpanNames names, Runnable catchUp, SpanStore store, StreamSpans writer) {
        this.place = place;
        this.names = names;
        this.catchUp = catchUp;
        this.writer = new WeakReference<>(writer);
        this.contents = store.contents();
        this.spans = store.newSharedBuffer();
    }

    private synchronized void add(
            int key, long startNs, long elapsedNs, long elements, long launchLine, long launchNs) {
        SpanBuffer buffer = spans;
        if (buffer == null) {
            withoutPlace++;
            return;
        }
        buffer.add(SpanKind.DEVICE_SAMPLE, key, startNs, elapsedNs, elements);
        buffer.add(SpanKind.LAUNCH, 0, launchNs, 0, launchLine);
    }

    private synchronized void addWithoutPlace() {
        withoutPlace++;
    }

    private synchronized void atClockError(long ns) {
        errorNs = Math.max(errorNs, ns);
    }

    // ---- the recorder ----

    /** Has the profiler tell what it waited for. Not to be called with a lock that the profiler may want. */
    void catchUp() {
        catchUp.run();
    }

    /** Whether nobody can tell of the stream any more, and {@link #end} was not called since. */
    synchronized boolean isForgotten() {
        return spans != null && writer.get() == null;
    }

    /**
     * Keeps the entries and their names only.
     *
     * @return how many entries are missing that nothing here says any more
     */
    synchronized long end() {
        spans = null;
        long lost = contents.end();
        names = new KnownNames(contents.copies(), names);
        if (contents.entryCount() == 0) {
            lost += withoutPlace;
            withoutPlace = 0;
        }
        return lost;
    }

    /** Whether nothing is left, and nothing will come. */
    synchronized boolean isSpent() {
        return spans == null && contents.entryCount() == 0;
    }

    StreamPlace place() {
        return place;
    }

    SpanContents contents() {
        return contents;
    }

    /** What the keys mean of every copy that was made before. */
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

    /** What is kept: in one copy, or in none. */
    synchronized List<SpanCopy> copies() {
        return contents.copies();
    }

    synchronized long clockErrorNs() {
        return errorNs;
    }

    /** How many samples are missing because nobody knows when they were. */
    synchronized long withoutPlace() {
        return withoutPlace;
    }

    /** Forgets the samples that are there, and those that are missing. */
    synchronized void clear() {
        contents.clear();
        withoutPlace = 0;
    }
}
