package org.brickprofiler.internal.io;

import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The marks of a device stream that were set while the application captured the stream into a graph. Each launch of the
 * graph sets them anew, so the times between them are those of the latest launch. For everybody else such a mark has no
 * time; a recorder that follows the captures reads it through this interface. Any thread.
 */
public interface GraphMarks {

    /** The number of no capture. */
    int NONE = 0;

    /** Why a launch gave no times. */
    enum Loss {
        /** The next launch was announced before the device had done this one, or before that was asked for. */
        FOLLOWED,
        /** The marks have times of a later launch, or will have. */
        OVERWRITTEN,
        /** The marks have no times of this launch. */
        NOT_SET,
        /** No mark could be set around the launch. */
        UNMARKED,
        /** The follower did not see the capture of the graph. */
        UNKNOWN
    }

    /** Learns of captures and launches. Called on the thread that captures or launches; must not wait for a device. */
    interface Follower {
        /**
         * A capture is about to begin.
         *
         * @param capture its number, 1 or more
         */
        void opened(int capture);

        /**
         * A graph was launched at the end of the stream's queue.
         *
         * @param capture the number of its capture
         */
        void launched(int capture);

        /**
         * A graph will not be launched again.
         *
         * @param capture the number of its capture
         */
        void released(int capture);
    }

    /**
     * Returns the capture that a mark belongs to.
     *
     * @param mark a mark that was not released
     * @return the number of the capture, or {@link #NONE}
     */
    int captureOf(int mark);

    /**
     * The times between each of some marks and the next, as the device has set them last. Other marks may be among
     * them. Waits for nothing.
     *
     * @param marks marks that were not released
     * @param count how many of them, from the first on
     * @param ns receives, for each mark but the first, the time from the mark before: ns, or what a device stream
     *     returns instead
     */
    void elapsedNs(int[] marks, int count, long[] ns);

    /**
     * Adds a follower, to which the stream keeps a weak reference only.
     *
     * @param follower learns of what follows
     */
    void follow(Follower follower);

    /**
     * Reports bricks without times; the first report of each kind is logged.
     *
     * @param loss the kind
     * @param reason the reason, for people
     */
    void report(Loss loss, String reason);

    /**
     * Returns the marks of a device stream that are part of graphs.
     *
     * @param stream a device stream
     * @return its marks; null if the stream knows no captures
     */
    static @Nullable GraphMarks of(Object stream) {
        for (Function<Object, @Nullable GraphMarks> source : Sources.REGISTERED) {
            GraphMarks marks = source.apply(stream);
            if (marks != null) {
                return marks;
            }
        }
        return null;
    }

    /**
     * Lets the core reach the marks of one kind of streams, whose class applications see.
     *
     * @param source returns the marks of a stream; null for a stream of another kind
     */
    static void register(Function<Object, @Nullable GraphMarks> source) {
        Sources.REGISTERED.add(source);
    }

    /** The kinds of streams that know captures. */
    final class Sources {
        private static final CopyOnWriteArrayList<Function<Object, @Nullable GraphMarks>> REGISTERED =
                new CopyOnWriteArrayList<>();

        private Sources() {}
    }
}
