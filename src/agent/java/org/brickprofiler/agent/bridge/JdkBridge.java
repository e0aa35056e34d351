package org.brickprofiler.agent.bridge;

/**
 * The bridge for bricks of the JDK's classes, which the profiler itself may use: it passes a call on only if the
 * calling thread is not in the profiler already. So neither does recording call itself without end, nor do the calls
 * that the profiler makes count as the application's. The threads of the agent, and those that they create, are in the
 * profiler for good.
 *
 * <p>A separate class, since the guard looks a thread-local variable up, and classes of the application need none. Any
 * thread; allocates once for a thread.
 */
public final class JdkBridge {

    private static final Places PLACES = new Places();

    private JdkBridge() {}

    /** Whether a thread is in the profiler. That thread alone. */
    private static final class Place {
        /** How many calls of {@link #enter} and of the profiler are under way. */
        private int depth;
    }

    private static final class Places extends InheritableThreadLocal<Place> {
        @Override
        protected Place initialValue() {
            return new Place();
        }

        /** A thread that the profiler creates is its own. */
        @Override
        protected Place childValue(Place parent) {
            Place place = new Place();
            place.depth = parent.depth == 0 ? 0 : 1;
            return place;
        }
    }

    /** Marks the calling thread as in the profiler, until {@link #leave} is called as often. */
    public static void enter() {
        PLACES.get().depth++;
    }

    /** Ends what {@link #enter} began. */
    public static void leave() {
        PLACES.get().depth--;
    }

    /**
     * Starts a brick.
     *
     * @param key the brick's key
     * @return its timer; 0 if the calling thread is in the profiler
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
     * @param timer what starting it returned; nothing happens for 0
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
