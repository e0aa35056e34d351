package org.brickprofiler;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Who reads a profiler's windows, so that resets of the application's neither lose nor repeat a sample in them. Any
 * thread; readings and resets wait for each other here, recording threads for nobody.
 */
final class WindowReaders {

    private final List<Reader> readers = new ArrayList<>();

    /** One reader of consecutive windows. Guarded by the readers. */
    final class Reader {
        private final Supplier<ProfileSnapshot> profiler;
        private @Nullable ProfileSnapshot previous;

        /**
         * Parts of the window that ended with a reset, or with a file that could not be written. Nothing is pending in
         * them: the later part counts it.
         */
        private @Nullable ProfileSnapshot carried;

        private Reader(Supplier<ProfileSnapshot> profiler) {
            this.profiler = profiler;
        }

        /** What was recorded since the last call; null where that is nothing. */
        @Nullable
        ProfileSnapshot next() {
            synchronized (WindowReaders.this) {
                ProfileSnapshot now = profiler.get();
                ProfileSnapshot window = since(now);
                previous = now;
                carried = null;
                return SnapshotDifference.isEmpty(window) ? null : window;
            }
        }

        /** Returns the samples since the reader was added, even if there are none. For a reader without windows. */
        ProfileSnapshot whole() {
            synchronized (WindowReaders.this) {
                ProfileSnapshot now = profiler.get();
                return carried == null ? now : carried.merge(now);
            }
        }

        /** Makes a window part of the next one. */
        void giveBack(ProfileSnapshot window) {
            synchronized (WindowReaders.this) {
                ProfileSnapshot earlier = window.withPending(0);
                carried = carried == null ? earlier : carried.merge(earlier);
            }
        }

        private ProfileSnapshot since(ProfileSnapshot now) {
            ProfileSnapshot window = previous == null ? now : SnapshotDifference.between(previous, now);
            if (carried == null) {
                return window;
            }
            return SnapshotDifference.isEmpty(window) ? carried.withPending(now.pending()) : carried.merge(window);
        }

        /** No window comes after this. */
        void close() {
            synchronized (WindowReaders.this) {
                readers.remove(this);
            }
        }
    }

    synchronized Reader add(Supplier<ProfileSnapshot> profiler) {
        Reader reader = new Reader(profiler);
        readers.add(reader);
        return reader;
    }

    /** Resets a profiler; what it gives is part of the open windows. */
    synchronized ProfileSnapshot taking(Supplier<ProfileSnapshot> reset) {
        ProfileSnapshot taken = reset.get();
        for (Reader each : readers) {
            ProfileSnapshot part = each.since(taken);
            each.carried = SnapshotDifference.isEmpty(part) ? null : part.withPending(0);
            each.previous = null;
        }
        return taken;
    }

    /** Resets a profiler; what it forgets is in no window. */
    synchronized void forgetting(Runnable reset) {
        reset.run();
        readers.forEach(each -> each.previous = null);
    }
}
