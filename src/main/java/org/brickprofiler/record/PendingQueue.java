package org.brickprofiler.record;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The deferred measurements of one recording thread, oldest first. One producer, one consumer at a time, no lock.
 *
 * <p>Measurements lie in rings of longs, three a measurement. A full ring is followed by one of twice its size, up to
 * {@link #BOUND} in all; the consumer leaves a ring behind when it is empty and has a successor. A producer whose
 * queue is resolved once per forward pass therefore soon stays in one ring, and allocates nothing from then on.
 */
public final class PendingQueue {

    /** The most measurements that wait at once in one queue; a further one is refused. */
    public static final int BOUND = 1 << 20;

    /** Receives measurements. */
    @FunctionalInterface
    interface Consumer {
        /**
         * Takes one measurement.
         *
         * @param key the row
         * @param startNs the clock at its start
         * @param elements elements it processed
         */
        void accept(int key, long startNs, long elements);
    }

    private static final int FIRST_CAPACITY = 256;
    private static final int LONGS_EACH = 3;

    /** Where the producer writes; null until its first measurement. */
    private @Nullable Ring tail;

    /** Where the consumer reads; set once by the producer, then moved by the consumer. */
    private volatile @Nullable Ring head;


    PendingQueue() {}

    /**
     * Adds a measurement at the end. Only the producer.
     *
     * @param key the row
     * @param startNs the clock at its start
     * @param elements elements it processed
     * @return false where {@link #BOUND} measurements wait already, and this one was refused
     */
    public boolean offer(int key, long startNs, long elements) {
        Ring ring = tail;
        if (ring == null || !ring.hasRoom()) {
            ring = nextRing(ring);
            if (ring == null) {
                return false;
            }
        }
        ring.put(key, startNs, elements);
        return true;
    }

    private @Nullable Ring nextRing(@Nullable Ring full) {
        if (full == null) {
            Ring first = new Ring(FIRST_CAPACITY);
            tail = first;
            head = first;
            return first;
        }
        if (size() >= BOUND) {
            return null;
        }
        Ring next = new Ring(Math.min(BOUND, full.capacity * 2));
        tail = next;
        full.next = next;
        return next;
    }

    /**
     * Takes every measurement that was added before the call. Only one consumer at a time.
     *
     * @param consumer receives them, oldest first
     */
    void drainTo(Consumer consumer) {
        Ring ring = head;
        while (ring != null) {
            // Read first: once there is a successor the producer adds nothing more to this ring.
            Ring next = ring.next;
            ring.drainTo(consumer);
            if (next != null) {
                head = next;
            }
            ring = next;
        }
    }

    /**
     * How many measurements wait. Any thread; exact while neither side is active.
     *
     * @return 0 or more
     */
    public int size() {
        long waiting = 0;
        for (Ring ring = head; ring != null; ring = ring.next) {
            waiting += ring.size();
        }
        return (int) waiting;
    }

    /** A ring of measurements; positions count up for ever and are masked to find a place. */
    private static final class Ring {
        final int capacity;
        final long[] cells;
        final AtomicLong put = new AtomicLong();
        final AtomicLong taken = new AtomicLong();
        volatile @Nullable Ring next;

        /** The producer's last sight of {@link #taken}. */
        private long takenSeen;

        Ring(int capacity) {
            this.capacity = capacity;
            this.cells = new long[capacity * LONGS_EACH];
        }

        boolean hasRoom() {
            long position = put.getPlain();
            if (position - takenSeen < capacity) {
                return true;
            }
            takenSeen = taken.getAcquire();
            return position - takenSeen < capacity;
        }

        void put(int key, long startNs, long elements) {
            long position = put.getPlain();
            int base = ((int) position & (capacity - 1)) * LONGS_EACH;
            cells[base] = key;
            cells[base + 1] = startNs;
            cells[base + 2] = elements;
            put.setRelease(position + 1);
        }

        void drainTo(Consumer consumer) {
            long end = put.getAcquire();
            for (long position = taken.getPlain(); position < end; position++) {
                int base = ((int) position & (capacity - 1)) * LONGS_EACH;
                consumer.accept((int) cells[base], cells[base + 1], cells[base + 2]);
            }
            taken.setRelease(end);
        }

        int size() {
            long end = put.get();
            return (int) Math.max(0, end - taken.get());
        }
    }
}
