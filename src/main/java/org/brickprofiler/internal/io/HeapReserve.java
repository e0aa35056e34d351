package org.brickprofiler.internal.io;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Memory that is kept so that a report can still be written when the application has filled the heap. If not even some
 * bytes are left, a virtual machine cannot start its shutdown hooks and ends without a word. So a daemon thread notices
 * a full heap, by a soft reference that the collector clears before it gives up. It gives one half back then, and the
 * other half when the thread that made the reserve has ended, which is the main one as a rule. An application that goes
 * on filling the heap takes that, too. Any thread.
 */
public final class HeapReserve {

    private static final int HALF_BYTES = 5 << 19;

    /** At most this share of the heap is one half. */
    private static final int SMALLEST_SHARE = 20;

    /** A collector that cannot find so much has cleared every soft reference. */
    private static final int PROBE_BYTES = 64 << 10;

    private static final byte[] NOTHING = {};

    private static final long LOOK_NS = 500_000;

    /** Each in one piece: the buffer of a file needs neighbouring regions. */
    private final AtomicReference<byte[]> first = new AtomicReference<>(half());

    private final AtomicReference<byte[]> second = new AtomicReference<>(half());
    private final Thread maker = Thread.currentThread();
    private final Runnable whenFull;

    /**
     * Keeps 5 MiB, or a tenth of a small heap, and starts the thread that watches the heap.
     *
     * @param whenFull called on that thread when the heap is full, and again if it fails with an
     *     {@link OutOfMemoryError}: it should need little memory
     */
    public HeapReserve(Runnable whenFull) {
        this.whenFull = whenFull;
        Thread watch = new Thread(null, this::watch, "brick-heap-watch", 0, false);
        watch.setDaemon(true);
        watch.setContextClassLoader(null);
        watch.start();
    }

    /**
     * Gives what is left back to the collector.
     *
     * @return how much that is, bytes; 0 when it was given back before
     */
    public long release() {
        return (long) first.getAndSet(NOTHING).length + second.getAndSet(NOTHING).length;
    }

    private static byte[] half() {
        return new byte[halfBytes()];
    }

    private static int halfBytes() {
        return (int) Math.min(HALF_BYTES, Runtime.getRuntime().maxMemory() / SMALLEST_SHARE);
    }

    /** Ends once the heap was full. */
    private void watch() {
        try {
            awaitFullHeap();
        } catch (InterruptedException end) {
            return;
        } catch (OutOfMemoryError full) {
            // As awaited.
        }
        first.set(NOTHING);
        boolean isNoted = note();
        while (maker.isAlive()) {
            isNoted = isNoted || note();
            LockSupport.parkNanos(LOOK_NS);
        }
        second.set(NOTHING);
    }

    private void awaitFullHeap() throws InterruptedException {
        ReferenceQueue<byte[]> cleared = new ReferenceQueue<>();
        do {
            // A new one each time: the collector also clears one that nobody has read for long.
            SoftReference<byte[]> sentinel = new SoftReference<>(new byte[PROBE_BYTES], cleared);
            while (cleared.remove() != sentinel) {
                // An earlier one.
            }
        } while (availableBytes() >= halfBytes());
    }

    /** Just after a collection. */
    private static long availableBytes() {
        Runtime heap = Runtime.getRuntime();
        return heap.maxMemory() - heap.totalMemory() + heap.freeMemory();
    }

    /** Whether there was memory for the note. */
    private boolean note() {
        try {
            whenFull.run();
            return true;
        } catch (OutOfMemoryError full) {
            return false;
        }
    }
}
