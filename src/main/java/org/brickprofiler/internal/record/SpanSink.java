package org.brickprofiler.internal.record;

import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.brickprofiler.spi.Tracing;
import org.jspecify.annotations.Nullable;

/**
 * Receives each span in addition to the sums; absent unless an application requests it. It provides the stores to which
 * spans are written, one for each profiler. Every method may be called from any thread.
 */
public interface SpanSink extends Tracing {

    /**
     * Returns the store for the bricks of a profiler.
     *
     * @param names the names of the keys
     * @return a store of that profiler alone; every object that may still write there refers to it
     */
    SpanStore bricks(Names names);

    /**
     * Returns the store for the tiles of a profiler.
     *
     * @param names the names of the keys
     * @return a store of that profiler alone; every object that may still write there refers to it; null if tiles are
     *     not wanted
     */
    @Nullable
    SpanStore tiles(Names names);

    /**
     * Returns the receiver of a device stream's work that a profiler times.
     *
     * @param place the stream and its device
     * @param names the names of the profiler's keys
     * @param owner the owner of the profiler; must not be retained: once it is unreachable, only pending samples can
     *     still arrive
     * @param catchUp to be run before the received samples are read or discarded. It makes the profiler resolve the
     *     finished work of the device, if the calling thread may query the device, and returns whether samples are
     *     still pending. It does not wait for a device, but may take a lock; any thread
     * @return the receiver of that stream's work for that profiler alone, or null if it is not wanted
     */
    @Nullable
    Stream stream(Place place, Names names, Object owner, BooleanSupplier catchUp);

    /**
     * Notes that a profiler has discarded all that it had recorded. Spans stay; sums that a sink makes of them must not
     * contain what the profile lacks.
     */
    default void discarded() {}

    /**
     * Returns a new reader of what the sink knows of bricks beside their spans.
     *
     * @return the reader; empty if the sink knows no more
     */
    default Optional<Windows> windows() {
        return Optional.empty();
    }

    /** Reads, window by window, what a sink knows of bricks beside their spans. One thread. */
    interface Windows {

        /**
         * Reads the open window, which goes on.
         *
         * @param isAtEnd whether the virtual machine ends; the call may then wait some seconds for the last data
         * @return keys that the report of a window lacks, with their values
         */
        Map<String, Object> read(boolean isAtEnd);

        /** Begins the next window after what was read last. */
        void next();
    }

    /**
     * A queue of a device. Immutable.
     *
     * @param backend the interface of the device: {@code CPU}, {@code CUDA}, {@code METAL}, {@code OPENCL}
     * @param deviceIndex the number of the device among those with this interface, 0 or more
     * @param deviceName the name of the device
     * @param name the name of the queue
     * @param number the number of the queue among those of a profiler, 0 or more
     */
    record Place(String backend, int deviceIndex, String deviceName, String name, int number) {}

    /** The meaning of the keys of recorded spans. Every method may be called from any thread. */
    interface Names {

        /**
         * Returns the number of keys in use: 0 to {@code size() - 1}.
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
     * Receives the work of one device stream that a profiler has timed, on one thread at a time. Allocates only while
     * the kept data grow to their bound.
     */
    interface Stream {

        /**
         * Receives a sample whose start is known in host time.
         *
         * @param row the {@link PhaseKey} of its name, one of the profiler's {@link Names}, and its phase
         * @param startNs the host's clock when the device began
         * @param elapsedNs the device's duration, ns
         * @param elements elements it processed
         * @param launchLine the timeline of the launch, as {@link TableRegistry#mark} returned it
         * @param launchNs the host's clock when the launch began
         */
        void sample(int row, long startNs, long elapsedNs, long elements, long launchLine, long launchNs);

        /** Counts a sample whose duration is known, but not its start. The timeline lacks the sample. */
        void sampleWithoutPlace();

        /**
         * Sets the largest error of the starts of the samples that follow.
         *
         * @param ns the error, ns; negative if it is unknown
         */
        void clockErrorNs(long ns);

        /** Notes that the profile has net times of the device: the samples are as recorded. */
        void hasNetTimes();
    }
}
