package org.brickprofiler.internal.record;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The timelines behind a {@link SpanStore}, for readers. A reference to them does not keep the writers alive. A buffer
 * outlives its thread until {@link #clear}, {@link #freeEnded} or {@link #end} removes it. Every method may be called
 * from any thread.
 */
public final class SpanContents {

    /** The largest number of phases that are kept. */
    static final int MOST_PHASES = 4_096;

    private final int capacity;
    private final boolean keepsNewest;
    private final AtomicLong budget;

    /** Guarded by itself. */
    private final List<SpanBuffer> buffers = new ArrayList<>();

    /** Copies of the buffers that no thread will write again. Guarded by {@code buffers}. */
    private final List<SpanCopy> ended = new ArrayList<>();

    /** Guarded by {@code buffers}. */
    private int sharedBuffers;

    /** Guarded by itself. */
    private final List<Phase> phases = new ArrayList<>();

    /** A phase of a run, and the thread that began it. */
    private record Phase(int number, long atNs, long threadId, String threadName) {}

    SpanContents(int capacity, boolean keepsNewest, AtomicLong budget) {
        this.capacity = capacity;
        this.keepsNewest = keepsNewest;
        this.budget = budget;
    }

    boolean keepsNewest() {
        return keepsNewest;
    }

    SpanBuffer newBuffer(@Nullable Thread owner) {
        synchronized (buffers) {
            SpanBuffer buffer = new SpanBuffer(this, owner, owner == null ? ++sharedBuffers : 0);
            buffers.add(buffer);
            return buffer;
        }
    }

    /**
     * Reserves room for more entries of a buffer.
     *
     * @param wanted the number of further entries that are wanted
     * @param slots the number of entries that the buffer has room for
     * @return the number of further entries that it may have; 0 if a bound is reached
     */
    int reserve(int wanted, int slots) {
        long allowed = Math.min(wanted, capacity + 1L - slots);
        for (long left = budget.get(); left > 0 && allowed > 0; left = budget.get()) {
            long granted = Math.min(allowed, left);
            if (budget.compareAndSet(left, left - granted)) {
                return (int) granted;
            }
        }
        return 0;
    }

    /**
     * Returns the entries of all threads since the store was last emptied.
     *
     * @return a copy of each buffer, in the order in which the buffers were created
     */
    public List<SpanCopy> copies() {
        synchronized (buffers) {
            List<SpanCopy> copies = new ArrayList<>(ended);
            buffers.forEach(buffer -> copies.add(buffer.copy()));
            return copies;
        }
    }

    /**
     * Returns the latest entries of all threads.
     *
     * @param ns the clock
     * @return a copy of each buffer that has or has lost entries. A copy has all entries that end at or after that
     *     moment, and some earlier ones. Entries count as dropped only if the buffer may have lost entries that end
     *     after that moment
     */
    public List<SpanCopy> copiesAfter(long ns) {
        return copiesAfter(buffer -> ns);
    }

    /**
     * Returns the latest entries of all threads, each from a moment of its own: see {@link #copiesAfter(long)}.
     *
     * @param nsOf returns the clock for a buffer, by its {@link SpanCopy#buffer()}
     * @return a copy of each buffer that has or has lost entries
     */
    public List<SpanCopy> copiesAfter(ToLongFunction<Object> nsOf) {
        synchronized (buffers) {
            List<SpanCopy> copies = new ArrayList<>(ended);
            for (SpanBuffer buffer : buffers) {
                SpanCopy copy = buffer.copyAfter(nsOf.applyAsLong(buffer.identity()));
                if (copy.size() > 0 || copy.dropped() > 0) {
                    copies.add(copy);
                }
            }
            return copies;
        }
    }

    /**
     * Returns whether a thread will soon overwrite the entries that were written at a moment.
     *
     * @param ns the clock
     * @return true if a thread has filled half of its buffer since that moment
     */
    public boolean isLosing(long ns) {
        synchronized (buffers) {
            for (SpanBuffer buffer : buffers) {
                if (buffer.isLosing(ns)) {
                    return true;
                }
            }
            return false;
        }
    }

    /**
     * Frees the buffers of ended threads that have no entry after a moment.
     *
     * @param ns the clock
     * @return the number of entries that were written to these buffers
     */
    public long freeEnded(long ns) {
        synchronized (buffers) {
            long written = 0;
            for (Iterator<SpanBuffer> each = buffers.iterator(); each.hasNext(); ) {
                SpanBuffer buffer = each.next();
                // Checked first: everything that such a thread wrote is then visible.
                if (buffer.isAbandoned() && buffer.endsBefore(ns)) {
                    written += buffer.written();
                    budget.addAndGet(buffer.slots());
                    each.remove();
                }
            }
            return written;
        }
    }

    /**
     * Returns the number of entries that were written since the store was last emptied.
     *
     * @return 0 or more, including lost entries
     */
    public long writtenCount() {
        synchronized (buffers) {
            return sizeOf(ended)
                    + buffers.stream().mapToLong(SpanBuffer::written).sum();
        }
    }

    /**
     * Notes that a phase of a run begins. The calling thread's timeline shows it. Phases are stored apart from spans,
     * so that spans do not overwrite them; the newest {@value #MOST_PHASES} are kept.
     *
     * @param number the number of the phase
     * @param atNs the clock
     */
    void phase(int number, long atNs) {
        Thread thread = Thread.currentThread();
        synchronized (phases) {
            if (phases.size() == MOST_PHASES) {
                phases.remove(0);
            }
            phases.add(new Phase(number, atNs, thread.getId(), thread.getName()));
        }
    }

    /**
     * Returns the phases that have begun.
     *
     * @return for each phase an instant whose key is the number of the phase, in the order in which they began
     */
    public List<SpanCopy> phases() {
        synchronized (phases) {
            return phases.stream()
                    .map(phase -> SpanCopy.ofInstant(phase.number, phase.atNs, phase.threadId, phase.threadName))
                    .toList();
        }
    }

    /**
     * Returns the number of entries that are kept.
     *
     * @return 0 or more
     */
    public long entryCount() {
        synchronized (buffers) {
            return sizeOf(ended) + buffers.stream().mapToLong(SpanBuffer::size).sum();
        }
    }

    /** Discards all written entries, except for the current phase. The buffers of ended threads are then freed. */
    public void clear() {
        synchronized (phases) {
            phases.subList(0, Math.max(0, phases.size() - 1)).clear();
        }
        synchronized (buffers) {
            buffers.removeIf(buffer -> {
                // Checked first: everything that such a thread wrote is then visible and can be discarded.
                boolean abandoned = buffer.isAbandoned();
                buffer.clear();
                budget.addAndGet(abandoned ? buffer.slots() : 0);
                return abandoned;
            });
            budget.addAndGet(sizeOf(ended));
            ended.clear();
        }
    }

    /**
     * Keeps only the entries, and frees the rest of the buffers' memory. Call it only when no thread can write again.
     *
     * @return the number of lost entries of the buffers that have no entry left; the copies of the other buffers report
     *     their own losses
     */
    public long end() {
        synchronized (buffers) {
            long lost = 0;
            long freed = 0;
            for (SpanBuffer buffer : buffers) {
                SpanCopy copy = buffer.copy();
                freed += buffer.slots() - copy.size();
                if (copy.size() > 0) {
                    ended.add(copy);
                } else {
                    lost += copy.dropped();
                }
            }
            buffers.clear();
            budget.addAndGet(freed);
            return lost;
        }
    }

    private static long sizeOf(List<SpanCopy> copies) {
        return copies.stream().mapToLong(SpanCopy::size).sum();
    }
}
