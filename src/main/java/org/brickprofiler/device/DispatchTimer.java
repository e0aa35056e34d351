package org.brickprofiler.device;

import static org.brickprofiler.internal.base.Checks.requireName;

import java.lang.ref.Reference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import org.brickprofiler.internal.base.Abandonment;
import org.brickprofiler.internal.base.CloseActions;
import org.jspecify.annotations.Nullable;

/**
 * Times dispatches in a stream, kernel by kernel, without waiting. It sets a mark before and a mark after each
 * dispatch, and {@link #drain} passes on the dispatches that the device has done. One line adds them to kernel timings:
 *
 * <pre>{@code
 * DispatchTimer dispatches = new DispatchTimer(stream, 4_096);
 * dispatches.time("matmul", () -> cuLaunchKernel(...));
 * dispatches.drain(Backend.CUDA, KernelTimings.global()::record);
 * }</pre>
 *
 * <p>The time between the marks is the time of the dispatch; on an idle device it includes the time that the host takes
 * to launch it. A dispatch without a time, as in a capture, or without room or a mark, is counted as lost.
 *
 * <p>Any thread. Timing a dispatch allocates nothing and takes a short lock, outside of which the marks are set. The
 * marks of a garbage-collected timer are given back.
 */
public final class DispatchTimer {

    /** The value of {@link #begin} if the dispatch is not timed. */
    public static final long NOT_TIMED = -1;

    private static final int SLOT_BITS = 32;

    /**
     * Receives dispatches, as {@code KernelTimings.record} does; this package does not depend on that class.
     *
     * @param <B> the type that identifies a backend
     */
    @FunctionalInterface
    public interface Timings<B> {
        /**
         * Records one dispatch.
         *
         * @param name the kernel's name; never empty
         * @param backend the backend on which it ran
         * @param elapsedNs how long it took, ns, 0 or more
         */
        void record(String name, B backend, long elapsedNs);
    }

    /** A dispatch that has its time. */
    private record Finished(String name, long elapsedNs) {}

    private final Dispatches dispatches;

    /**
     * Creates a timer of dispatches.
     *
     * @param stream the stream in which they are enqueued; it is not closed with the timer
     * @param capacity the maximum number of dispatches that wait to be drained, 1 or more; each holds two of the
     *     stream's marks
     * @throws IllegalArgumentException when the capacity is not positive
     */
    public DispatchTimer(DeviceStream stream, int capacity) {
        Objects.requireNonNull(stream, "stream");
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity " + capacity + " is not positive");
        }
        dispatches = new Dispatches(stream, capacity);
        stream.beforeClose(CloseActions.unlessForgotten(this, timer -> timer.dispatches.collectBeforeClosing()));
        Abandonment.whenUnreachable(dispatches::giveBackAll, this);
    }

    /**
     * Times the work that a piece of code enqueues, even if the code throws.
     *
     * @param name the kernel's name; not empty
     * @param dispatch enqueues the work without waiting
     * @throws IllegalArgumentException when the name is null or empty
     */
    public void time(String name, Runnable dispatch) {
        Objects.requireNonNull(dispatch, "dispatch");
        long ticket = begin(name);
        try {
            dispatch.run();
        } finally {
            end(ticket);
        }
    }

    /**
     * Marks the beginning of a dispatch, before it is enqueued.
     *
     * @param name the kernel's name; not empty
     * @return a ticket for {@link #end}; {@link #NOT_TIMED} if there is no room or no mark
     * @throws IllegalArgumentException when the name is null or empty
     */
    public long begin(String name) {
        requireName("name", name);
        try {
            return dispatches.begin(name);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Marks the end of a dispatch, after it was enqueued.
     *
     * @param ticket the ticket that {@link #begin} returned; {@link #NOT_TIMED} and a ticket that was ended are ignored
     */
    public void end(long ticket) {
        try {
            dispatches.end(ticket);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Passes on the dispatches that the device has done since the last call, in the order in which they were ended.
     * Waits for nothing: a dispatch that is not done delays those behind it. After the stream was closed, it passes on
     * the dispatches that were done by then, if the closing thread could query them.
     *
     * @param <B> the type that identifies a backend
     * @param backend the backend to pass on
     * @param timings receives the dispatches, on the calling thread
     * @return the number of dispatches that were passed on
     */
    public <B> int drain(B backend, Timings<? super B> timings) {
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(timings, "timings");
        List<Finished> done = dispatches.drain();
        for (Finished dispatch : done) {
            timings.record(dispatch.name(), backend, dispatch.elapsedNs());
        }
        return done.size();
    }

    /**
     * Returns how many dispatches were not timed: there was no room or no mark for them, or the device does not report
     * their times.
     *
     * @return 0 or more
     */
    public long lost() {
        return dispatches.lost();
    }

    /**
     * The dispatches of a timer. This class does not refer to the timer, so that the marks can be given back once the
     * timer is unreachable.
     */
    private static final class Dispatches {

        private final DeviceStream stream;

        // The fields below are guarded by this.

        // By slot. A slot's generation is odd while a dispatch runs in it, so a ticket is valid only once.
        private final @Nullable String[] names;
        private final int[] starts;
        private final int[] ends;
        private final int[] generations;

        private final int[] free;
        private int freeCount;

        /**
         * A ring of the slots of ended dispatches, in the order in which they were ended, from position {@link #first}
         * on.
         */
        private final int[] ended;

        private int first;
        private int endedCount;

        private final Queue<Finished> finished = new ArrayDeque<>();
        private long lost;

        Dispatches(DeviceStream stream, int capacity) {
            this.stream = stream;
            names = new @Nullable String[capacity];
            starts = new int[capacity];
            ends = new int[capacity];
            generations = new int[capacity];
            ended = new int[capacity];
            free = new int[capacity];
            Arrays.setAll(free, i -> capacity - 1 - i);
            freeCount = capacity;
        }

        long begin(String name) {
            int start = stream.mark();
            synchronized (this) {
                if (start != DeviceStream.NO_MARK && freeCount > 0) {
                    int slot = free[--freeCount];
                    names[slot] = name;
                    starts[slot] = start;
                    ends[slot] = DeviceStream.NO_MARK;
                    return (long) slot << SLOT_BITS | Integer.toUnsignedLong(++generations[slot]);
                }
                lost++;
            }
            release(start);
            return NOT_TIMED;
        }

        void end(long ticket) {
            int slot = (int) (ticket >>> SLOT_BITS);
            if (ticket < 0 || slot >= names.length) {
                return;
            }
            int end = stream.mark();
            synchronized (this) {
                boolean runs = generations[slot] == (int) ticket && ends[slot] == DeviceStream.NO_MARK;
                if (runs && end != DeviceStream.NO_MARK) {
                    ends[slot] = end;
                    ended[(first + endedCount++) % ended.length] = slot;
                    return;
                }
                if (runs) {
                    lost++;
                    giveBack(slot);
                }
            }
            release(end);
        }

        synchronized List<Finished> drain() {
            collect();
            List<Finished> done = new ArrayList<>(finished);
            finished.clear();
            return done;
        }

        synchronized long lost() {
            return lost;
        }

        /** Gives back the marks of all dispatches. */
        synchronized void giveBackAll() {
            for (int slot = 0; slot < names.length; slot++) {
                if (names[slot] != null) {
                    giveBack(slot);
                }
            }
            endedCount = 0;
        }

        private void release(int mark) {
            if (mark != DeviceStream.NO_MARK) {
                stream.release(mark);
            }
        }

        private void giveBack(int slot) {
            release(starts[slot]);
            release(ends[slot]);
            names[slot] = null;
            generations[slot]++;
            free[freeCount++] = slot;
        }

        /** Collects only if the closing thread can query: only threads that mark or drain make a context current. */
        void collectBeforeClosing() {
            if (stream.answersHere()) {
                collect();
            }
        }

        private synchronized void collect() {
            while (endedCount > 0) {
                int slot = ended[first];
                long ns = stream.isReached(ends[slot])
                        ? stream.elapsedNs(starts[slot], ends[slot])
                        : DeviceStream.NOT_REACHED;
                if (ns == DeviceStream.NOT_REACHED) {
                    return;
                }
                String name = names[slot];
                if (ns >= 0 && name != null && stream.hasWorkBetween(starts[slot], ends[slot])) {
                    finished.add(new Finished(name, ns));
                } else {
                    lost++;
                }
                giveBack(slot);
                first = (first + 1) % ended.length;
                endedCount--;
            }
        }
    }
}
