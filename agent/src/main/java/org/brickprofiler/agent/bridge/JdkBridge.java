package org.brickprofiler.agent.bridge;

/**
 * The bridge for bricks in classes of the JDK, which the profiler itself may use. It passes a call on only if the
 * calling thread is not inside the profiler already. This guard prevents endless recursion, and keeps the profiler's
 * own calls out of the profile. The agent's threads, and threads that they create, always count as inside the profiler.
 *
 * <p>It is separate from {@link Bridge} because its guard reads a thread-local variable, which classes of the
 * application do not need. Any thread; allocates once for a thread.
 */
public final class JdkBridge {

    private static final Places PLACES = new Places();

    private JdkBridge() {}

    /** Whether a thread is inside the profiler. Used by that thread only. */
    private static final class Place {
        /** The number of unfinished calls of {@link #enter} and of the profiler. */
        private int depth;
    }

    private static final class Places extends InheritableThreadLocal<Place> {
        @Override
        protected Place initialValue() {
            return new Place();
        }

        /** Marks a thread that the profiler creates as inside the profiler. */
        @Override
        protected Place childValue(Place parent) {
            Place place = new Place();
            place.depth = parent.depth == 0 ? 0 : 1;
            return place;
        }
    }

    /** Marks the calling thread as inside the profiler until a matching {@link #leave}. */
    public static void enter() {
        PLACES.get().depth++;
    }

    /** Ends the latest {@link #enter} of the calling thread. */
    public static void leave() {
        PLACES.get().depth--;
    }

    /**
     * Starts a brick.
     *
     * @param key the brick's key
     * @return its timer; 0 if the calling thread is inside the profiler
     */
    public static long startBrick(int key) {
        try {
            Place place = PLACES.get();
            if (place.depth != 0) {
                return 0;
            }
            place.depth++;
            try {
                return Bridge.startBrick(key);
            } finally {
                place.depth--;
            }
        } catch (Throwable failed) {
            return Bridge.failed(failed);
        }
    }

    /**
     * Stops a brick.
     *
     * @param timer the timer that starting the brick returned; nothing happens for 0
     * @param elements elements that it processed
     */
    public static void stopBrick(long timer, long elements) {
        if (timer == 0) {
            return;
        }
        try {
            Place place = PLACES.get();
            place.depth++;
            try {
                Bridge.stopBrick(timer, elements);
            } finally {
                place.depth--;
            }
        } catch (Throwable failed) {
            Bridge.failed(failed);
        }
    }
}
