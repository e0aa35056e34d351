package org.brickprofiler.internal.record;

import java.util.function.BooleanSupplier;
import org.brickprofiler.spi.Tracing;
import org.jspecify.annotations.Nullable;

/**
 * Takes each span beside the sums; nobody unless an application asks. It gives out the stores that spans are written
 * to, once for each profiler that is made. Every method may be called from any thread.
 */
public interface SpanSink extends Tracing {

    /**
     * Returns the store for the bricks of a profiler.
     *
     * @param names what their keys mean
     * @return a store of that profiler alone, held by whoever may still write there
     */
    SpanStore bricks(Names names);

    /**
     * Returns the store for the tiles of a profiler.
     *
     * @param names what their keys mean
     * @return a store of that profiler alone, held by whoever may still write there; null if tiles are not wanted
     */
    @Nullable
    SpanStore tiles(Names names);

    /**
     * Returns the receiver of a device stream's work that a profiler times.
     *
     * @param place which stream of which device
     * @param names what the keys of that profiler mean
     * @param owner who has the profiler; not to be kept: once it is gone only what waits is still to come
     * @param catchUp to be run before what was taken is looked at or forgotten: makes the profiler resolve what the
     *     device has done, where the calling thread may ask for it, and answers whether samples still wait for their
     *     time. It waits for no device, and may take a lock; any thread
     * @return what takes the work of that stream for that profiler alone, or null if it is not wanted
     */
    @Nullable
    Stream stream(Place place, Names names, Object owner, BooleanSupplier catchUp);

    /**
     * Which queue of which device. Immutable.
     *
     * @param backend how the device is reached: {@code CPU}, {@code CUDA}, {@code METAL}, {@code OPENCL}
     * @param deviceIndex the number of the device among those that are reached so, 0 or more
     * @param deviceName what does the work
     * @param name what people call the queue
     * @param number the number of the queue among those of a profiler, 0 or more
     */
    record Place(String backend, int deviceIndex, String deviceName, String name, int number) {}

    /** The meaning of the keys of recorded spans. Every method may be called from any thread. */
    interface Names {

        /**
         * Returns how many keys are in use: 0 to {@code size() - 1}.
         *
         * @return the number of keys
         */
        int size();

        /**
         * Returns the name of a key.
         *
         * @param key 0 to {@code size() - 1}
         * @return a name
         */
        String name(int key);

        /**
         * Returns the category of a key.
         *
         * @param key 0 to {@code size() - 1}
         * @return a display name
         */
        String category(int key);
    }

    /**
     * Takes the work of one device stream that a profiler has timed, on one thread at a time. Nothing is allocated but
     * while what is kept grows to its bound.
     */
    interface Stream {

        /**
         * A sample whose place in the host's time is known.
         *
         * @param key its name, one of the profiler's {@link Names}
         * @param startNs the host's clock when the device began
         * @param elapsedNs how long the device took, ns
         * @param elements elements it processed
         * @param launchLine on whose line the launch lies, as {@link TableRegistry#mark} returned it
         * @param launchNs the host's clock when the launch began
         */
        void sample(int key, long startNs, long elapsedNs, long elements, long launchLine, long launchNs);

        /** A sample whose duration is known, but not when it was: it is missing on the timeline. */
        void sampleWithoutPlace();

        /**
         * How far the starts of the samples that follow may be off.
         *
         * @param ns the error, ns, 0 or more
         */
        void clockErrorNs(long ns);
    }
}
