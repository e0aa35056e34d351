package org.brickprofiler.device.opencl;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.StampedLock;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.polling.Polling;
import org.brickprofiler.internal.mark.MarkPool;
import org.jspecify.annotations.Nullable;

/**
 * The marks of one queue. A mark that is set has an event of the driver, which is released with the mark. Any thread;
 * setting a mark allocates nothing unless the pool grows.
 *
 * <p>Each call of the driver is made under the read lock, and no call waits for the device. {@link #close()} holds the
 * write lock, so nothing is called after the queue was released.
 */
final class OpenClMarks implements Polling.Question {

    private static final int CHUNK_SHIFT = 10;
    private static final int CHUNK_MARKS = 1 << CHUNK_SHIFT;

    // The memory of a mark: its event, the status of this event, and the time of its end. The driver writes all three.
    private static final int EVENT = 0;
    private static final int STATUS = 8;
    private static final int END = 16;
    private static final int MARK_BYTES = 24;

    private final OpenClQueue queue;
    private final OpenCl driver;
    private final OpenClFailures failures;
    private final long timeoutNs;
    private final StampedLock use = new StampedLock();
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * The chunks, by the number of a mark divided by {@link #CHUNK_MARKS}. A chunk is made before one of its numbers is
     * given out.
     */
    private final @Nullable NativeMemory[] chunks;

    private final MarkPool pool;

    /** Whether a wait has timed out, and none has succeeded since. */
    private volatile boolean stalled;

    /**
     * Makes room for the first marks.
     *
     * @param queue the queue in which they are set; {@link #close()} releases it
     * @param first the number of marks for which there is room at once
     * @param bound the most marks
     * @param timeoutNs the timeout of a wait, ns
     */
    OpenClMarks(OpenClQueue queue, int first, int bound, long timeoutNs, OpenClFailures failures) {
        this.queue = queue;
        this.driver = queue.driver();
        this.failures = failures;
        this.timeoutNs = timeoutNs;
        this.chunks = new NativeMemory[(bound + CHUNK_MARKS - 1) >>> CHUNK_SHIFT];
        this.pool = new MarkPool(first, bound, (from, to) -> makeRoom(to, bound));
    }

    private int makeRoom(int to, int bound) {
        for (int chunk = 0; chunk < (to + CHUNK_MARKS - 1) >>> CHUNK_SHIFT; chunk++) {
            if (chunks[chunk] == null) {
                chunks[chunk] = new NativeMemory(MARK_BYTES * Math.min(CHUNK_MARKS, bound - (chunk << CHUNK_SHIFT)));
            }
        }
        return to;
    }

    /**
     * Sets a mark at the end of the queue, and does not flush the queue. Returns {@link DeviceStream#NO_MARK} if this
     * is refused.
     */
    int set() {
        long stamp = begin();
        if (stamp == 0) {
            return DeviceStream.NO_MARK;
        }
        int code = OpenCl.SUCCESS;
        try {
            int number = pool.take();
            if (number == DeviceStream.NO_MARK) {
                return DeviceStream.NO_MARK;
            }
            NativeMemory memory = memory(number);
            code = queue.mark(memory.address(at(number) + EVENT));
            if (code == OpenCl.SUCCESS) {
                pool.set(number);
                return number;
            }
            memory.putLong(at(number) + EVENT, 0);
            pool.give(number);
        } finally {
            use.unlockRead(stamp);
        }
        failures.report(queue.kind().function(), code);
        return DeviceStream.NO_MARK;
    }

    /**
     * Gives back a mark and releases its event. Does nothing if the mark is not set, so a second or a late call does no
     * harm.
     */
    void release(int number) {
        long stamp = begin();
        if (stamp != 0) {
            int code = OpenCl.SUCCESS;
            try {
                if (pool.own(number)) {
                    code = releaseEvent(number);
                    pool.give(number);
                }
            } finally {
                use.unlockRead(stamp);
            }
            report("clReleaseEvent", code);
        }
    }

    private int releaseEvent(int number) {
        NativeMemory memory = memory(number);
        long event = memory.getLong(at(number) + EVENT);
        memory.putLong(at(number) + EVENT, 0);
        memory.putLong(at(number) + END, 0);
        return event == 0 ? OpenCl.SUCCESS : driver.clReleaseEvent(event);
    }

    /** Returns whether a mark is reached, or never will be. */
    boolean isReached(int number) {
        return endNs(number) != DeviceStream.NOT_REACHED;
    }

    /** Returns the time between two marks, ns; {@link DeviceStream#NOT_REACHED} or {@link DeviceStream#UNRESOLVED}. */
    long elapsedNs(int from, int to) {
        return between(endNs(from), endNs(to));
    }

    /** Writes, for each mark but the first, the time from the mark before. */
    void elapsedNs(int[] numbers, int count, long[] ns) {
        long before = count > 1 ? endNs(numbers[0]) : 0;
        for (int i = 1; i < count; i++) {
            long end = endNs(numbers[i]);
            ns[i] = between(before, end);
            before = end;
        }
    }

    private static long between(long fromNs, long toNs) {
        if (fromNs == DeviceStream.UNRESOLVED || toNs == DeviceStream.UNRESOLVED) {
            return DeviceStream.UNRESOLVED;
        }
        if (fromNs == DeviceStream.NOT_REACHED || toNs == DeviceStream.NOT_REACHED) {
            return DeviceStream.NOT_REACHED;
        }
        return toNs - fromNs;
    }

    /**
     * Returns the device's clock at a mark, ns; {@link DeviceStream#NOT_REACHED} or {@link DeviceStream#UNRESOLVED}.
     */
    private long endNs(int number) {
        long stamp = begin();
        if (stamp == 0) {
            return DeviceStream.UNRESOLVED;
        }
        long ns = DeviceStream.UNRESOLVED;
        String function = "clGetEventInfo";
        int code;
        try {
            NativeMemory memory = memory(number);
            int at = at(number);
            long known = memory.getLong(at + END);
            if (known != 0) {
                return known;
            }
            long event = memory.getLong(at + EVENT);
            code = driver.clGetEventInfo(event, OpenCl.EVENT_STATUS, Integer.BYTES, memory.address(at + STATUS), 0);
            int status = code == OpenCl.SUCCESS ? memory.getInt(at + STATUS) : OpenCl.COMPLETE;
            if (status == OpenCl.QUEUED) {
                // The queue may not have been flushed; then the device would never reach the mark.
                function = "clFlush";
                code = driver.clFlush(queue.handle());
                ns = DeviceStream.NOT_REACHED;
            } else if (status > OpenCl.COMPLETE) {
                ns = DeviceStream.NOT_REACHED;
            } else if (status < 0) {
                function = "the command of a mark";
                code = status;
            } else if (code == OpenCl.SUCCESS) {
                function = "clGetEventProfilingInfo";
                code = driver.clGetEventProfilingInfo(
                        event, OpenCl.COMMAND_END, Long.BYTES, memory.address(at + END), 0);
                ns = code == OpenCl.SUCCESS ? memory.getLong(at + END) : DeviceStream.UNRESOLVED;
            }
        } finally {
            use.unlockRead(stamp);
        }
        report(function, code);
        if (ns == 0) {
            failures.report(function, function + " returned 0 for CL_PROFILING_COMMAND_END");
            return DeviceStream.UNRESOLVED;
        }
        return ns;
    }

    /**
     * Returns how long ago a mark was reached, by the device's clock, ns; {@link DeviceStream#NOT_REACHED} or
     * {@link DeviceStream#UNRESOLVED}.
     */
    long sinceNs(int number) {
        if (!queue.hasClock()) {
            return DeviceStream.UNRESOLVED;
        }
        long end = endNs(number);
        if (end == DeviceStream.UNRESOLVED || end == DeviceStream.NOT_REACHED) {
            return end;
        }
        long stamp = begin();
        if (stamp == 0) {
            return DeviceStream.UNRESOLVED;
        }
        try {
            long now = queue.clockNs(failures);
            return now == DeviceStream.UNRESOLVED ? now : now - end;
        } finally {
            use.unlockRead(stamp);
        }
    }

    /** Waits until a mark is reached. Returns false if this cannot be waited for, and after the timeout. */
    boolean waitFor(int number) {
        Polling.Answer answer = ask(number);
        if (answer == Polling.Answer.NOT_YET) {
            flush();
            answer = Polling.SYSTEM.await(this, number, timeoutNs);
        }
        if (answer == Polling.Answer.REACHED) {
            stalled = false;
        } else if (answer == Polling.Answer.NOT_YET && !closed.get()) {
            stalled = true;
            failures.report(
                    "waitFor",
                    "the device did not reach a mark within the timeout of " + timeoutNs / 1_000_000
                            + " ms: waiting samples are unresolved. If work takes longer than that, set"
                            + " waitTimeout");
        }
        return answer == Polling.Answer.REACHED;
    }

    @Override
    public Polling.Answer ask(int number) {
        long endNs = endNs(number);
        if (endNs == DeviceStream.NOT_REACHED) {
            return Polling.Answer.NOT_YET;
        }
        return endNs == DeviceStream.UNRESOLVED ? Polling.Answer.REFUSED : Polling.Answer.REACHED;
    }

    private void flush() {
        long stamp = begin();
        if (stamp != 0) {
            int code;
            try {
                code = driver.clFlush(queue.handle());
            } finally {
                use.unlockRead(stamp);
            }
            report("clFlush", code);
        }
    }

    private void report(String function, int code) {
        if (code != OpenCl.SUCCESS) {
            failures.report(function, code);
        }
    }

    boolean isStalled() {
        return stalled;
    }

    boolean isClosed() {
        return closed.get();
    }

    /** Takes the read lock; returns 0 if the marks are closed or closing. */
    private long begin() {
        long stamp = closed.get() ? 0 : use.tryReadLock();
        // Checked while the lock is held: closing may have ended since an earlier check.
        if (stamp != 0 && closed.get()) {
            use.unlockRead(stamp);
            return 0;
        }
        return stamp;
    }

    private NativeMemory memory(int number) {
        NativeMemory chunk = chunks[number >>> CHUNK_SHIFT];
        if (chunk == null) {
            throw new IllegalArgumentException("mark " + number + " was never set");
        }
        return chunk;
    }

    private static int at(int number) {
        return MARK_BYTES * (number & (CHUNK_MARKS - 1));
    }

    /**
     * Releases all events, also those of marks that are set, and the queue. A second call does nothing. If another
     * thread does not return from the driver within the timeout, nothing is released.
     */
    void close() {
        if (closed.compareAndSet(false, true)) {
            long stamp = writeLock();
            if (stamp == 0) {
                failures.report(
                        "close",
                        "another thread did not return from the driver within the timeout: events and the queue stay");
                return;
            }
            try {
                int made = pool.made();
                for (int number = 0; number < made; number++) {
                    report("clReleaseEvent", releaseEvent(number));
                }
                queue.close(failures);
                Arrays.fill(chunks, null);
            } finally {
                use.unlockWrite(stamp);
            }
        }
    }

    private long writeLock() {
        boolean interrupted = false;
        long untilNs = System.nanoTime() + Math.min(timeoutNs, TimeUnit.DAYS.toNanos(1));
        try {
            while (true) {
                try {
                    return use.tryWriteLock(Math.max(1, untilNs - System.nanoTime()), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
