package org.brickprofiler.trace;

import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
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
 * What a profiler timed on one stream of a device. The profiler's calls take turns; any thread may read. It keeps what
 * the profiler times by only until that is forgotten and nothing waits any more.
 */
final class TimedStream implements StreamSpans {

    private final StreamPlace place;
    private final WeakReference<Object> owner;
    private final SpanContents contents;

    /** Keeps what the profiler times by. Null once nothing more can come. */
    private volatile @Nullable BooleanSupplier catchUp;

    private volatile SpanNames names;

    /** Null once nothing more can come. Guarded by this. */
    private @Nullable SpanBuffer spans;

    private long errorNs;
    private long withoutPlace;

    TimedStream(StreamPlace place, SpanNames names, Object owner, BooleanSupplier catchUp, SpanStore store) {
        this.place = place;
        this.names = names;
        this.owner = new WeakReference<>(owner);
        this.catchUp = catchUp;
        this.contents = store.contents();
        this.spans = store.newSharedBuffer();
    }

    @Override
    public synchronized void sample(
            int key, long startNs, long elapsedNs, long elements, long launchLine, long launchNs) {
        SpanBuffer buffer = spans;
        if (buffer == null) {
            withoutPlace++;
            return;
        }
        buffer.add(SpanKind.DEVICE_SAMPLE, key, startNs, elapsedNs, elements);
        buffer.add(SpanKind.LAUNCH, 0, launchNs, 0, launchLine);
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

    /**
     * Has the profiler resolve what the device has done. Not to be called with a lock that the profiler may want.
     *
     * @return whether samples wait for their time
     */
    boolean catchUp() {
        BooleanSupplier source = catchUp;
        return source != null && source.getAsBoolean();
    }

    /** Whether nobody has the profiler any more, nothing is still to come, and {@link #end} was not called since. */
    boolean isForgotten() {
        return catchUp != null && owner.get() == null && !catchUp();
    }

    /**
     * Keeps the entries and their names only. Only once the profiler is forgotten.
     *
     * @return how many entries are missing that nothing here says any more
     */
    synchronized long end() {
        spans = null;
        catchUp = null;
        long lost = contents.end();
        names = new KnownNames(contents.copies(), names);
        if (contents.entryCount() == 0) {
            lost += withoutPlace;
            withoutPlace = 0;
        }
        return lost;
    }

    /** Whether nothing is left, and nothing will come. */
    boolean isSpent() {
        return catchUp == null && contents.entryCount() == 0;
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
