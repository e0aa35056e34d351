package org.brickprofiler.internal.record;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The deferred measurements of one recording thread, oldest first. One producer, one consumer at a time, no lock.
 *
 * <p>Measurements are stored in rings of longs, three longs each. A full ring is followed by one of twice its size; at
 * most {@link #BOUND} measurements wait in all rings. The consumer drops a ring that is empty and has a successor. A
 * producer whose queue is resolved once per forward pass therefore soon needs only one ring, and then allocates
 * nothing.
 *
 * <p>A queue that threads share stores the owner of each measurement.
 */
final class PendingQueue {

    /** The most measurements that wait at the same time in one queue; a further one is refused. */
    static final int BOUND = 1 << 20;

    private static final int FIRST_CAPACITY = 128;
    private static final int LONGS_EACH = 3;
    private static final long[] NO_CELLS = {};

    /**
     * The last number given to the owner of a whole queue. The numbers of the owners of single measurements are
     * smaller.
     */
    private static final AtomicLong LAST_OWNER = new AtomicLong(1L << Integer.SIZE);

    /**
     * The shift of the owner in the first cell of a measurement of a shared queue. The lower half of that cell is the
     * row.
     */
    private static final int OWNER_SHIFT = Integer.SIZE;

    private final boolean isShared;
    private final long owner;

    // The position of the producer. Free cells run from "at" to "until"; then the ring wraps, is drained or is followed
    // by another. Cells, count and published count belong to the ring; they are cached here for locality.
    private long[] cells = NO_CELLS;
    private int at;
    private int until;
    private long count;
    private AtomicLong publishedCount = new AtomicLong();
    private @Nullable Ring tail;

    /** The ring that the consumer reads; set once by the producer, then moved by the consumer. */
    private volatile @Nullable Ring head;

    /** Whether the consumer has taken a measurement since the last {@link #forgetTaken}. */
    private volatile boolean taken;

    /** Creates the queue of one thread. */
    PendingQueue() {
        this(false);
    }

    /** Creates a queue that threads share, one at a time, or the queue of one thread. */
    PendingQueue(boolean isShared) {
        this.isShared = isShared;
        this.owner = isShared ? 0 : LAST_OWNER.incrementAndGet();
    }

    /** Returns a number for the thread that owns this queue, unique in the virtual machine; 0 for a shared queue. */
    long owner() {
        return owner;
    }

    /** Returns a number for a thread that shares queues. The numbers repeat after 2^32 threads. */
    static long sharing(Thread thread) {
        return thread.getId() & 0xFFFF_FFFFL;
    }

    /**
     * Adds a measurement at the end. Only the producer.
     *
     * @param row its row, in the form of {@link TableRegistry#defer}
     * @param origin its beginning, in the form of {@link TableRegistry#defer}
     * @param elements elements it processed
     * @return false if the measurement was refused because {@link #BOUND} measurements are waiting
     */
    boolean offer(int row, long origin, long elements) {
        return offer((long) row, origin, elements);
    }

    /** Adds a measurement to a shared queue, for the thread with a number from {@link #sharing}. */
    boolean offer(long sharingOwner, int row, long origin, long elements) {
        return offer((sharingOwner << OWNER_SHIFT) | row, origin, elements);
    }

    private boolean offer(long ownerAndRow, long origin, long elements) {
        if (at == until && !findRoom()) {
            return false;
        }
        long[] free = cells;
        int base = at;
        free[base] = ownerAndRow;
        free[base + 1] = origin;
        free[base + 2] = elements;
        at = base + LONGS_EACH;
        publishedCount.setRelease(++count);
        return true;
    }

    private boolean findRoom() {
        int left = BOUND - size();
        if (left <= 0) {
            return false;
        }
        Ring ring = tail;
        if (ring == null) {
            ring = new Ring(FIRST_CAPACITY);
            tail = ring;
            head = ring;
        } else if (ring.room() == 0) {
            Ring next = new Ring(Math.min(BOUND, ring.capacity * 2));
            tail = next;
            ring.next = next;
            ring = next;
        }
        cells = ring.cells;
        count = ring.put.getPlain();
        publishedCount = ring.put;
        at = ring.base(count);
        until = Math.min(ring.cells.length, at + Math.min(left, ring.room()) * LONGS_EACH);
        return true;
    }

    /**
     * Takes every measurement that was added before the call. Only one consumer at a time.
     *
     * @param consumer receives them, oldest first
     */
    void drainTo(TableRegistry.PendingConsumer consumer) {
        if (!isShared) {
            consumer.from(owner);
        }
        Ring ring = head;
        while (ring != null) {
            // Read first: once there is a successor the producer adds nothing more to this ring.
            Ring next = ring.next;
            long end = ring.put.getAcquire();
            // Read before the measurements are taken: an empty queue of an ended thread is checked for the last time.
            if (end != ring.taken.getPlain() && !taken) {
                taken = true;
            }
            ring.drainTo(end, consumer, isShared);
            if (next != null) {
                head = next;
            }
            ring = next;
        }
    }

    /** Returns whether measurements were taken since {@link #forgetTaken}. Any thread. */
    boolean wasTakenFrom() {
        return taken;
    }

    /** Begins a new interval for {@link #wasTakenFrom}. */
    void forgetTaken() {
        taken = false;
    }

    /**
     * Returns the number of waiting measurements. Any thread; exact while neither side is active.
     *
     * @return 0 or more
     */
    int size() {
        long waiting = 0;
        for (Ring ring = head; ring != null; ring = ring.next) {
            waiting += Math.max(0, ring.put.get() - ring.taken.get());
        }
        return (int) waiting;
    }

    /** A ring of measurements. Its two counts only increase; a mask of a count gives the place. */
    private static final class Ring {
        final int capacity;
        final long[] cells;
        final AtomicLong put = new AtomicLong();
        final AtomicLong taken = new AtomicLong();
        volatile @Nullable Ring next;

        /** Creates a ring for a number of measurements, which is a power of two. */
        Ring(int capacity) {
            this.capacity = capacity;
            this.cells = new long[capacity * LONGS_EACH];
        }

        /** Returns the number of measurements that still fit. Only the producer. */
        int room() {
            return capacity - (int) (put.getPlain() - taken.getAcquire());
        }

        /** Returns the index of the first cell of a position. */
        int base(long position) {
            return ((int) position & (capacity - 1)) * LONGS_EACH;
        }

        void drainTo(long end, TableRegistry.PendingConsumer consumer, boolean isShared) {
            long position = taken.getPlain();
            int base = base(position);
            try {
                while (position < end) {
                    position++;
                    if (isShared) {
                        consumer.from(cells[base] >>> OWNER_SHIFT);
                    }
                    consumer.accept((int) cells[base], cells[base + 1], cells[base + 2]);
                    base = base + LONGS_EACH == cells.length ? 0 : base + LONGS_EACH;
                }
            } finally {
                // The count also advances if the consumer throws: a measurement is never passed on twice.
                taken.setRelease(position);
            }
        }
    }
}
