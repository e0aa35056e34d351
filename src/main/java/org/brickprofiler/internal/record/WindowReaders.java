package org.brickprofiler.internal.record;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The readers of a profiler's windows. Readings and resets exclude each other here, so that a reset by the application
 * neither loses nor repeats a sample in a window. Recording threads wait for neither readings nor resets. Any thread.
 *
 * @param <S> the type of a snapshot
 */
public final class WindowReaders<S> {

    /**
     * The arithmetic of snapshots.
     *
     * @param <S> the type of a snapshot
     */
    public interface Arithmetic<S> {

        /**
         * Adds two snapshots. If nothing was recorded in one of them, only its time is added to the other one.
         *
         * @param earlier a snapshot
         * @param later the next one
         * @return their sum
         */
        S merge(S earlier, S later);

        /**
         * Subtracts a snapshot from a later one without a reset between them.
         *
         * @param earlier a snapshot
         * @param later a later one
         * @return the samples in between
         */
        S difference(S earlier, S later);

        /**
         * Holds back the bricks of which no sample has a time since an earlier snapshot, although some were recorded,
         * and those whose estimated time has fallen: they belong to a later window.
         *
         * @param earlier a snapshot
         * @param later a later one without a reset between them
         * @return the later snapshot, in which these bricks are as they were in the earlier one
         */
        S timed(S earlier, S later);

        /**
         * Returns whether nothing was recorded.
         *
         * @param window a window
         * @return true if it has no sample, no step and no request, and nothing was lost in it
         */
        boolean isEmpty(S window);

        /**
         * Removes the data that a window cannot have, because only a part of them would be known.
         *
         * @param samples the samples of a window
         * @return the window
         */
        S window(S samples);

        /**
         * Replaces the numbers of pending measurements and of live requests.
         *
         * @param window a window
         * @param other the snapshot whose numbers replace them; null for 0
         * @return the window with the other numbers
         */
        S withUnfinishedOf(S window, @Nullable S other);
    }

    private final Arithmetic<S> arithmetic;
    private final List<Reader> readers = new ArrayList<>();

    /**
     * Creates an empty list.
     *
     * @param arithmetic the arithmetic of the profiler's snapshots
     */
    public WindowReaders(Arithmetic<S> arithmetic) {
        this.arithmetic = arithmetic;
    }

    /** Reads consecutive windows. Guarded by the list. */
    public final class Reader {
        private final Supplier<S> profiler;
        private @Nullable S previous;

        /**
         * Parts of the open window that ended with a reset, or with a file that could not be written. They have no
         * pending measurements and no live requests: the later part counts these.
         */
        private @Nullable S carried;

        private Reader(Supplier<S> profiler) {
            this.profiler = profiler;
        }

        /**
         * Ends the open window and begins the next one, unless nothing was recorded: the window stays open then, so
         * that its time is part of the window with the next samples.
         *
         * @param isLast whether no later window will have the bricks that are held back
         * @return the samples since the previous window; null if there are none
         */
        public @Nullable S next(boolean isLast) {
            synchronized (WindowReaders.this) {
                S taken = profiler.get();
                S now = previous == null || isLast ? taken : arithmetic.timed(previous, taken);
                S window = since(now);
                if (arithmetic.isEmpty(window)) {
                    return null;
                }
                previous = now;
                carried = null;
                return arithmetic.window(window);
            }
        }

        /**
         * Returns all samples of this reader, even if there are none: those that the profiler held when the reader was
         * added, and all later ones. For a reader on which {@link #next} is never called.
         *
         * @return the sum of all these samples
         */
        public S whole() {
            synchronized (WindowReaders.this) {
                S now = profiler.get();
                return carried == null ? now : arithmetic.merge(carried, now);
            }
        }

        /**
         * Makes a window part of the next one.
         *
         * @param window a window that {@link #next} has returned
         */
        public void giveBack(S window) {
            synchronized (WindowReaders.this) {
                S earlier = arithmetic.withUnfinishedOf(window, null);
                carried = carried == null ? earlier : arithmetic.merge(carried, earlier);
            }
        }

        private S since(S now) {
            S window = previous == null ? now : arithmetic.difference(previous, now);
            return carried == null ? window : arithmetic.merge(carried, window);
        }

        /** Removes this reader from the profiler. */
        public void close() {
            synchronized (WindowReaders.this) {
                readers.remove(this);
            }
        }
    }

    /**
     * Adds a reader. Its first window also has all samples that the profiler holds now.
     *
     * @param profiler takes snapshots of the profiler
     * @return the reader
     */
    public synchronized Reader add(Supplier<S> profiler) {
        Reader reader = new Reader(profiler);
        readers.add(reader);
        return reader;
    }

    /**
     * Resets the profiler and keeps the returned samples for the open windows.
     *
     * @param reset takes the snapshot and resets
     * @return the snapshot
     */
    public synchronized S taking(Supplier<S> reset) {
        S taken = reset.get();
        for (Reader each : readers) {
            each.carried = arithmetic.withUnfinishedOf(each.since(taken), null);
            each.previous = null;
        }
        return taken;
    }

    /**
     * Resets the profiler; the forgotten samples are in no window.
     *
     * @param reset resets
     */
    public synchronized void forgetting(Runnable reset) {
        reset.run();
        readers.forEach(each -> each.previous = null);
    }
}
