package org.brickprofiler.graph;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A bounded append-only list. Any thread may append, and threads that append never wait for each other. Memory is
 * allocated in chunks, when it is needed.
 *
 * <h2>Reserve, then publish</h2>
 *
 * An index belongs to the thread that moves {@code size} past it. Until the thread calls {@link #publish}, the place is
 * empty and a reader waits for it. The wait is short and always ends: the chunk exists before the index is reserved,
 * and the owner of the index neither allocates nor calls foreign code before it publishes. A reader that finds the
 * element also sees everything that the owner wrote before publishing it.
 *
 * @param <T> the type of its elements
 */
final class AppendLog<T> {

    /** The result of {@link #reserve} if the log is full. */
    static final int FULL = -1;

    private static final int CHUNK_BITS = 11;
    private static final int CHUNK_LENGTH = 1 << CHUNK_BITS;
    private static final int CHUNK_MASK = CHUNK_LENGTH - 1;

    /** The number of times that a reader spins before it yields, because the owner may need its processor. */
    private static final int SPINS = 64;

    private final int capacity;
    private final AtomicReferenceArray<@Nullable AtomicReferenceArray<@Nullable T>> chunks;
    private final AtomicInteger size = new AtomicInteger();

    AppendLog(int capacity) {
        this.capacity = capacity;
        this.chunks = new AtomicReferenceArray<>((capacity >>> CHUNK_BITS) + 1);
    }

    /** Returns whether all indices are reserved. */
    boolean isFull() {
        return size.get() >= capacity;
    }

    /** Returns the number of reserved indices; some of their elements may not be published yet. */
    int size() {
        return size.get();
    }

    /** Reserves the next index, which the caller must publish immediately; returns {@link #FULL} if there is none. */
    int reserve() {
        for (int index = size.get(); index < capacity; index = size.get()) {
            makeChunk(index >>> CHUNK_BITS);
            if (size.compareAndSet(index, index + 1)) {
                return index;
            }
        }
        return FULL;
    }

    private void makeChunk(int chunk) {
        if (chunks.get(chunk) == null) {
            chunks.compareAndSet(chunk, null, new AtomicReferenceArray<>(CHUNK_LENGTH));
        }
    }

    /** Publishes the element of a reserved index. Only the owner of the index may call this, once. */
    void publish(int index, T element) {
        chunk(index).setRelease(index & CHUNK_MASK, element);
    }

    /** Returns the element of a reserved index; waits until it is published. */
    T get(int index) {
        AtomicReferenceArray<@Nullable T> chunk = chunk(index);
        T element = chunk.getAcquire(index & CHUNK_MASK);
        for (int spins = 0; element == null; spins++) {
            pause(spins);
            element = chunk.getAcquire(index & CHUNK_MASK);
        }
        return element;
    }

    @SuppressWarnings("ThreadPriorityCheck") // no condition to wait for: the owner does not signal
    private static void pause(int spins) {
        if (spins < SPINS) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }

    private AtomicReferenceArray<@Nullable T> chunk(int index) {
        AtomicReferenceArray<@Nullable T> chunk = chunks.get(index >>> CHUNK_BITS);
        if (chunk == null) {
            throw new IndexOutOfBoundsException("index " + index + " was not reserved");
        }
        return chunk;
    }
}
