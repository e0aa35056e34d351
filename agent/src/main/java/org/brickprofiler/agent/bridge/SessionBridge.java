package org.brickprofiler.agent.bridge;

import org.jspecify.annotations.Nullable;

/**
 * The bridge for sessions of ONNX Runtime, which the woven {@code OrtSession} and its options call. A listener's
 * exception never reaches the application. Any thread.
 */
public final class SessionBridge {

    /** Learns of sessions. Any thread; the bridge catches everything that a method throws. */
    public interface Listener {

        /**
         * Notes that the application switches the profile of future sessions on or off.
         *
         * @param options the options of these sessions
         * @param on whether it is switched on
         */
        void profiled(Object options, boolean on);

        /**
         * Prepares the options of a session that the calling thread is about to create.
         *
         * @param options the options
         */
        void creating(Object options);

        /**
         * Notes the session that the calling thread has created.
         *
         * @param session the session
         */
        void created(Object session);

        /**
         * Counts a run.
         *
         * @param session the session that runs
         */
        void runs(Object session);

        /**
         * Notes that a session is about to be closed.
         *
         * @param session the session
         */
        void closing(Object session);
    }

    private static volatile @Nullable Listener listener;

    private SessionBridge() {}

    /**
     * Sets the listener. Call it once, before the first class is woven.
     *
     * @param added the listener
     */
    public static void listen(Listener added) {
        listener = added;
    }

    /**
     * Notes that the profile of future sessions is switched on.
     *
     * @param options the options of these sessions
     */
    public static void profiled(Object options) {
        try {
            to().profiled(options, true);
        } catch (Throwable failed) {
            // The engine goes on.
        }
    }

    /**
     * Notes that the profile of future sessions is switched off.
     *
     * @param options the options of these sessions
     */
    public static void unprofiled(Object options) {
        try {
            to().profiled(options, false);
        } catch (Throwable failed) {
            // The engine goes on.
        }
    }

    /**
     * Prepares the options of a session.
     *
     * @param options the options
     */
    public static void creating(Object options) {
        try {
            to().creating(options);
        } catch (Throwable failed) {
            // The engine goes on.
        }
    }

    /**
     * Notes a session that was created.
     *
     * @param session the session
     */
    public static void created(Object session) {
        try {
            to().created(session);
        } catch (Throwable failed) {
            // The engine goes on.
        }
    }

    /**
     * Counts a run.
     *
     * @param session the session that runs
     */
    public static void runs(Object session) {
        try {
            to().runs(session);
        } catch (Throwable failed) {
            // The engine goes on.
        }
    }

    /**
     * Notes that a session is about to be closed.
     *
     * @param session the session
     */
    public static void closing(Object session) {
        try {
            to().closing(session);
        } catch (Throwable failed) {
            // The engine goes on.
        }
    }

    private static Listener to() {
        Listener there = listener;
        if (there == null) {
            throw new IllegalStateException("no listener");
        }
        return there;
    }
}
