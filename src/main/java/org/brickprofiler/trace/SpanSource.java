package org.brickprofiler.trace;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import org.brickprofiler.record.SpanContents;
import org.brickprofiler.record.SpanNames;
import org.brickprofiler.record.SpanStore;

/**
 * Spans that somebody else writes, and what their keys mean. It does not keep who writes: once nobody has the store any
 * more it comes to the queue, and only what was written stays. Any thread.
 */
final class SpanSource extends WeakReference<SpanStore> {

    private final SpanContents contents;
    private volatile SpanNames names;
    private volatile boolean hasEnded;

    /**
     * A source.
     *
     * @param store where the spans are
     * @param names what their keys mean
     * @param forgotten gets this source once nobody can write any more
     */
    SpanSource(SpanStore store, SpanNames names, ReferenceQueue<SpanStore> forgotten) {
        super(store, forgotten);
        this.contents = store.contents();
        this.names = names;
    }

    SpanContents contents() {
        return contents;
    }

    /** What the keys mean of every copy that was made before. */
    SpanNames names() {
        return names;
    }

    /**
     * Keeps the entries and their names only. Once, after the store has come to the queue.
     *
     * @return how many entries are missing that nothing here says any more
     */
    long end() {
        long lost = contents.end();
        names = new KnownNames(contents.copies(), names);
        hasEnded = true;
        return lost;
    }

    /** Whether nothing is left, and nothing will come. */
    boolean isSpent() {
        return hasEnded && contents.entryCount() == 0;
    }
}
