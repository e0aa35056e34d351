package org.brickprofiler.internal.mark;

import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The marks of a device stream that were set while the application captured the stream into a graph. Each launch of the
 * graph sets them again, so the times between them are those of the latest launch. The device stream itself reports no
 * time for such a mark; a recorder that follows the captures reads the time through this interface. Any thread.
 */
public interface GraphMarks {

    /** In place of the number of a capture: the mark belongs to no capture. */
    int NONE = 0;

    /** The reasons why the bricks of a launch have no times. */
    enum Loss {
        /**
         * The next launch was announced before the times of this one were read: the device had not finished this one,
         * or its completion had not been queried.
         */
        FOLLOWED,
        /** The marks have the times of a later launch, or a later launch is about to set them. */
        OVERWRITTEN,
        /** The marks have no times of this launch. */
        NOT_SET,
        /** No mark could be set around the launch. */
        UNMARKED,
        /** The follower did not see the capture of the graph. */
        UNKNOWN
    }

    /**
     * Receives notice of captures and launches, on the thread that captures or launches. Must not wait for a device.
     */
    interface Follower {
        /**
         * Called before a capture begins.
         *
         * @param capture its number, 1 or more
         */
        void opened(int capture);

        /** Called when a capture has begun: {@link #isCapturing} is true. */
        void began();

        /**
         * Called after a graph was launched at the end of the stream's queue.
         *
         * @param capture the number of its capture
         */
        void launched(int capture);

        /**
         * Called when a graph will not be launched again.
         *
         * @param capture the number of its capture
         */
        void released(int capture);
    }

    /**
     * Returns whether a capture is open: marks that are set now are part of its graph.
     *
     * @return true between the two ends of the scope of a capture
     */
    boolean isCapturing();

    /**
     * Returns the capture that a mark belongs to.
     *
     * @param mark a mark that was not released
     * @return the number of the capture, or {@link #NONE}
     */
    int captureOf(int mark);

    /**
     * Reads the time from each of some marks to the next, as the device has set them last. The array may also contain
     * marks of no capture. Does not wait.
     *
     * @param marks marks that were not released
     * @param count the number of marks to read, from the first on
     * @param ns receives, for each mark but the first, the time from the previous mark, ns, or the value by which a
     *     device stream reports that it has none
     */
    void elapsedNs(int[] marks, int count, long[] ns);

    /**
     * Returns whether a mark was found since the last call that was set in a capture outside of a scope: the work
     * around it has not run, and no launch of its graph is known.
     *
     * @return true once for all marks that were found
     */
    boolean takeStray();

    /**
     * Adds a follower. The stream keeps only a weak reference to it.
     *
     * @param follower receives notice of later captures and launches
     */
    void follow(Follower follower);

    /**
     * Reports bricks without times; the first report of each kind is logged.
     *
     * @param loss the kind
     * @param reason the reason, for the log
     */
    void report(Loss loss, String reason);

    /**
     * Returns the marks of a device stream that are part of graphs.
     *
     * @param stream a device stream
     * @return its marks; null if the stream does not support captures
     */
    static @Nullable GraphMarks of(Object stream) {
        for (Source source : Sources.REGISTERED) {
            GraphMarks marks = source.of(stream);
            if (marks != null) {
                return marks;
            }
        }
        return null;
    }

    /**
     * Lets the core reach the marks of one kind of stream without a public method of the stream's class.
     *
     * @param source returns the marks of streams of that kind
     */
    static void register(Source source) {
        Sources.REGISTERED.add(source);
    }

    /** A kind of stream. */
    @FunctionalInterface
    interface Source {
        /**
         * Returns the marks of a stream that are part of graphs.
         *
         * @param stream a device stream
         * @return its marks; null for a stream of another kind
         */
        @Nullable
        GraphMarks of(Object stream);
    }

    /** The kinds of streams that support captures. */
    final class Sources {
        private static final CopyOnWriteArrayList<Source> REGISTERED = new CopyOnWriteArrayList<>();

        private Sources() {}
    }
}
