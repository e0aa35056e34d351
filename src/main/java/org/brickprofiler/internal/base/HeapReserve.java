package org.brickprofiler.internal.base;

import java.io.IOException;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Memory that is reserved for writing reports after the application has filled the heap. Without a few free bytes, a
 * virtual machine cannot even start its shutdown hooks. Therefore a daemon thread detects a full heap by a soft
 * reference, which the collector clears before an allocation fails. The thread then frees one half of the reserve. The
 * other half is a value of a thread-local variable of the thread that created the reserve, usually the main thread:
 * when that thread ends, the next collection finds its memory free, even if no other thread was given a processor
 * between two collections. An application that continues to fill the heap uses up the freed memory, too. Any thread.
 */
public final class HeapReserve {

    private static final int HALF_BYTES = 5 << 19;

    /** A half is at most the heap divided by this number. */
    private static final int SMALLEST_SHARE = 20;

    /**
     * The size of each array of the reserve. G1 gives an array of half a region or more, which may be 512 KiB, a
     * contiguous range of regions of its own; the space of smaller arrays is compacted with all other space.
     */
    private static final int PIECE_BYTES = 64 << 10;

    /** If a collector cannot find this much memory, it has cleared every soft reference. */
    private static final int PROBE_BYTES = 64 << 10;

    private static final byte[][] UNFILLED = {};
    private static final byte[][] NOTHING = {};

    private static final long LOOK_NS = 500_000;

    private static final int ATTEMPTS = 5;
    private static final long RETRY_MS = 200;

    /** Writes a report. */
    @FunctionalInterface
    public interface Task {
        /**
         * Writes the whole report.
         *
         * @throws IOException if it cannot be written
         */
        void run() throws IOException;
    }

    private final AtomicReference<byte[][]> first = new AtomicReference<>(UNFILLED);

    @SuppressWarnings("ThreadLocalUsage") // each reserve of a thread has a half of its own
    private final ThreadLocal<AtomicReference<byte[][]>> ofMaker = new ThreadLocal<>();

    private final WeakReference<AtomicReference<byte[][]>> second;
    private final Thread maker = Thread.currentThread();
    private final Runnable whenFull;

    /** Set once the thread that watches the heap has reserved the memory, or was refused it. */
    private volatile boolean isFilled;

    /**
     * Starts the thread that reserves 5 MiB, or a tenth of a heap of less than 50 MiB, and watches the heap.
     *
     * @param whenFull called on that thread when the heap is full, and again if it fails with an
     *     {@link OutOfMemoryError}: it should need little memory
     */
    public HeapReserve(Runnable whenFull) {
        this.whenFull = whenFull;
        ofMaker.set(new AtomicReference<>(UNFILLED));
        second = new WeakReference<>(ofMaker.get());
        Thread watch = new Thread(null, this::watch, "brick-heap-watch", 0, false);
        watch.setDaemon(true);
        watch.setContextClassLoader(null);
        watch.start();
    }

    /** Waits until the memory is reserved, or was refused because the heap is full. */
    public void awaitFilled() {
        while (!isFilled) {
            LockSupport.parkNanos(LOOK_NS);
        }
    }

    /**
     * Frees the rest of the reserve.
     *
     * @return the size of the rest, bytes; 0 if everything was freed before
     */
    public long release() {
        AtomicReference<byte[][]> held = second.get();
        int rest = held == null ? 0 : held.getAndSet(NOTHING).length;
        return ((long) first.getAndSet(NOTHING).length + rest) * PIECE_BYTES;
    }

    /**
     * Frees the rest of the reserve and runs a task. If the task fails with an {@link OutOfMemoryError}, other threads
     * probably fail with the same error and free memory when they end. Therefore the task runs again after a pause, up
     * to five times in total.
     *
     * @param task the task; it must be safe to run it again after it failed
     * @return whether the task succeeded; {@code false} if each attempt failed with an {@link OutOfMemoryError}
     * @throws IOException if the task throws it; all other exceptions are passed on, too
     */
    public boolean run(Task task) throws IOException {
        release();
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            try {
                task.run();
                return true;
            } catch (OutOfMemoryError | InternalError | BootstrapMethodError failed) {
                if (!isOfFullHeap(failed)) {
                    throw failed;
                }
                LockSupport.parkNanos(RETRY_MS * 1_000_000);
            }
        }
        return false;
    }

    /**
     * Returns whether a full heap is the cause: the virtual machine wraps the error if it cannot create the class of a
     * lambda expression.
     */
    private static boolean isOfFullHeap(Throwable failed) {
        Throwable cause = failed;
        while (cause != null && !(cause instanceof OutOfMemoryError)) {
            cause = cause.getCause();
        }
        return cause != null;
    }

    private static byte[][] half() {
        return new byte[Math.max(1, halfBytes() / PIECE_BYTES)][PIECE_BYTES];
    }

    private static int halfBytes() {
        return (int) Math.min(HALF_BYTES, Runtime.getRuntime().maxMemory() / SMALLEST_SHARE);
    }

    private void fill() {
        try {
            fill(first);
            fill(second.get());
        } finally {
            isFilled = true;
        }
    }

    /** Fills a half, unless it was freed before. */
    private static void fill(@Nullable AtomicReference<byte[][]> half) {
        if (half != null && half.get() == UNFILLED) {
            half.compareAndSet(UNFILLED, half());
        }
    }

    /**
     * Frees the first half when the heap is full, and the second half once the thread that created the reserve has
     * ended.
     */
    private void watch() {
        try {
            fill();
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
        // In some virtual machines a thread that fails while it ends keeps its thread-local variables.
        AtomicReference<byte[][]> held = second.get();
        if (held != null) {
            held.set(NOTHING);
        }
        if (!isNoted) {
            note();
        }
    }

    private void awaitFullHeap() throws InterruptedException {
        ReferenceQueue<byte[]> cleared = new ReferenceQueue<>();
        do {
            // A new reference each time, because the collector also clears a reference that was not read for long.
            SoftReference<byte[]> sentinel = new SoftReference<>(new byte[PROBE_BYTES], cleared);
            while (cleared.remove() != sentinel) {
                // An earlier sentinel.
            }
        } while (availableBytes() >= halfBytes());
    }

    /** Returns the free memory; exact just after a collection. */
    private static long availableBytes() {
        Runtime heap = Runtime.getRuntime();
        return heap.maxMemory() - heap.totalMemory() + heap.freeMemory();
    }

    /** Returns whether there was enough memory for the note. */
    private boolean note() {
        try {
            whenFull.run();
            return true;
        } catch (OutOfMemoryError full) {
            return false;
        }
    }
}
