package org.brickprofiler.internal.record;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.base.MergeSort;
import org.jspecify.annotations.Nullable;

/**
 * Turns pending measurements into samples once their end is known. Any thread; calls wait for each other, but recording
 * threads never wait for a call. Allocates nothing while the number of measurements does not exceed its previous
 * maximum, unless they must be sorted.
 */
public final class PendingResolver {

    private static final int FIRST_CAPACITY = 256;

    /** Times since the epoch beyond this, before or after it, count as this: differences of two of them do not wrap. */
    private static final long FARTHEST_NS = (1L << 62) - 1;

    /** Arrays for more than this many measurements are released after a call. */
    private static final int LARGEST_KEPT = 1 << 16;

    private final TableRegistry registry;
    private final boolean sequential;

    // Made once, so that resolving allocates nothing; named classes, since the first lambda of a virtual machine takes
    // long.
    private final TableRegistry.PendingConsumer collector = new Collector();
    private final TableRegistry.PendingConsumer literalAdder = new LiteralAdder();

    private final AtomicLong overlaps = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicBoolean dropLogged = new AtomicBoolean();

    // The state of a resolution, guarded by this: the clock at the earliest beginning and at the common end, and the
    // table of the calling thread.
    private long earliestNs;
    private long endNs;
    private PerThread.@Nullable Slots<StatTable, ?> tables;
    private @Nullable StatTable own;

    /**
     * The number of measurements of this resolution that end at the common end and last longer than 0 ns; guarded by
     * this.
     */
    private long untilEnd;

    // The measurements that are being put in order; guarded by this.
    private int size;
    private int[] rows = new int[FIRST_CAPACITY];
    private long[] starts = new long[FIRST_CAPACITY];
    private long[] elements = new long[FIRST_CAPACITY];

    /**
     * Creates a resolver.
     *
     * @param registry the tables whose pending measurements are resolved, and which receive the samples
     * @param sequential whether a measurement ends when the next one starts; otherwise all end at the common end
     */
    public PendingResolver(TableRegistry registry, boolean sequential) {
        this.registry = registry;
        this.sequential = sequential;
    }

    /**
     * Counts a measurement that was dropped because its queue is full. The first one is logged.
     *
     * @param brick the name of its brick
     */
    public void drop(String brick) {
        if (dropLogged.compareAndSet(false, true)) {
            Log.of(PendingResolver.class)
                    .warn("too many deferred measurements wait for finalize: '{}' and further ones are dropped", brick);
        }
        dropped.incrementAndGet();
    }

    /**
     * Returns the number of measurements that were dropped because their queue was full.
     *
     * @return 0 or more
     */
    public long dropped() {
        return dropped.get();
    }

    /**
     * Returns the number of measurements that were dropped because their queue was full, and counts from 0 again.
     *
     * @return 0 or more
     */
    public long takeDropped() {
        return dropped.getAndSet(0);
    }

    /**
     * Returns a time since the epoch, limited so that differences of two such times do not wrap.
     *
     * @param sinceEpochNs any number
     * @return 2<sup>62</sup> - 1 ns before the epoch to as much after it
     */
    public static long limited(long sinceEpochNs) {
        return Math.max(-FARTHEST_NS, Math.min(FARTHEST_NS, sinceEpochNs));
    }

    /**
     * Resolves everything that is pending. Beginnings and the end are {@linkplain #limited limited}.
     *
     * @param clockAtEpochNs the clock at the epoch
     * @param commonEndNs the time of the synchronisation since the epoch
     */
    public void resolve(long clockAtEpochNs, long commonEndNs) {
        if (registry.hasDeferred()) {
            resolvePending(clockAtEpochNs - FARTHEST_NS, clockAtEpochNs + limited(commonEndNs));
        }
    }

    private synchronized void resolvePending(long clockAtEarliestNs, long clockAtEndNs) {
        earliestNs = clockAtEarliestNs;
        endNs = clockAtEndNs;
        findOwn(registry.tables());
        try {
            if (sequential) {
                registry.drainPending(collector);
                addSequentially();
            } else {
                registry.drainPending(literalAdder);
            }
            // Two spans with the same end overlap, unless one of them is empty.
            if (untilEnd > 1) {
                overlaps.addAndGet(untilEnd);
            }
        } finally {
            clear();
        }
    }

    /** Forgets everything that is pending. */
    public synchronized void discard() {
        registry.drainPending((row, startNs, elementCount) -> {});
    }

    /**
     * Returns the number of measurements with overlapping spans since the construction or the last
     * {@link #takeOverlaps}. Measurements overlap if more than one of those that were resolved together ends at the
     * common end and has a duration above 0.
     *
     * @return 0 if each measurement ends at the start of the next one
     */
    public long overlaps() {
        return overlaps.get();
    }

    /**
     * Returns the number of overlaps, and counts from 0 again.
     *
     * @return {@link #overlaps} until then
     */
    public long takeOverlaps() {
        return overlaps.getAndSet(0);
    }

    /** Limits a beginning. Its distance from the earliest one is negative, since it wraps, if that changes it. */
    private long limitedStart(long startNs) {
        if (startNs - earliestNs >= 0) {
            return startNs;
        }
        long epochNs = earliestNs + FARTHEST_NS;
        return epochNs + limited(startNs - epochNs);
    }

    /** Ends each measurement at the common end. */
    private final class LiteralAdder implements TableRegistry.PendingConsumer {
        @Override
        public void accept(int row, long startNs, long elementCount) {
            long limitedNs = limitedStart(startNs);
            untilEnd += limitedNs < endNs ? 1 : 0;
            add(row, limitedNs, endNs, elementCount);
        }
    }

    /** Keeps measurements, to be put in order. */
    private final class Collector implements TableRegistry.PendingConsumer {
        @Override
        public void accept(int row, long startNs, long elementCount) {
            if (size == rows.length) {
                rows = Arrays.copyOf(rows, 2 * size);
                starts = Arrays.copyOf(starts, 2 * size);
                elements = Arrays.copyOf(elements, 2 * size);
            }
            rows[size] = row;
            starts[size] = limitedStart(startNs);
            elements[size] = elementCount;
            size++;
        }
    }

    private void addSequentially() {
        int @Nullable [] order = inOrder() ? null : order();
        for (int i = 0; i < size; i++) {
            int at = order == null ? i : order[i];
            int next = order == null || i + 1 == size ? i + 1 : order[i + 1];
            long until = i + 1 == size ? endNs : Math.min(endNs, starts[next]);
            add(rows[at], starts[at], until, elements[at]);
        }
    }

    private boolean inOrder() {
        for (int i = 1; i < size; i++) {
            if (starts[i] < starts[i - 1]) {
                return false;
            }
        }
        return true;
    }

    private int[] order() {
        int[] order = new int[size];
        Arrays.setAll(order, i -> i);
        MergeSort.sort(order, (a, b) -> Long.compare(starts[a], starts[b]));
        return order;
    }

    /**
     * Adds a sample. Checks for each sample whether the calling thread still has the same table, because resets rely on
     * this.
     */
    private void add(int row, long startNs, long untilNs, long elementCount) {
        PerThread.Slots<StatTable, ?> now = registry.tables();
        if (now != tables) {
            findOwn(now);
        }
        long elapsedNs = Math.max(0L, untilNs - startNs);
        if (own != null) {
            own.use(PhaseKey.phase(row));
            own.addDeferred(PhaseKey.key(row), startNs, elapsedNs, endNs, elementCount);
        } else {
            registry.addDeferred(row, startNs, elapsedNs, endNs, elementCount);
        }
    }

    private void findOwn(PerThread.Slots<StatTable, ?> now) {
        tables = now;
        own = now.of(Thread.currentThread());
    }

    private void clear() {
        tables = null;
        own = null;
        untilEnd = 0;
        size = 0;
        if (rows.length > LARGEST_KEPT) {
            rows = new int[FIRST_CAPACITY];
            starts = new long[FIRST_CAPACITY];
            elements = new long[FIRST_CAPACITY];
        }
    }
}
