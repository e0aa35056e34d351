package org.brickprofiler;

import java.util.Arrays;
import java.util.function.Supplier;
import org.brickprofiler.internal.record.PerThread;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.request.RequestRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Measures the own work of threads that serve requests, between their steps: how long a thread ran on a processor, or
 * how much of the time was inside its bricks if that is longer. A brick counts if it has ended; the bricks of a device
 * do not. Nested bricks count once.
 *
 * <p>Each method is called by the thread that it concerns, and allocates only for the first request of a thread, and
 * for more bricks between two steps than ever before.
 */
final class ServingThreads implements RequestRecorder.OwnWork {

    private final SampleTables profiler;
    private final PerThread<Place, @Nullable Void> places;

    /** The state of a thread. Only that thread uses it. */
    private static final class Place extends PerThread.Owned {

        private static final int FIRST_BRICKS = 16;

        /** The number of separate bricks in one time that are remembered; the time of earlier ones is only summed. */
        private static final int MOST_BRICKS = 1_024;

        private final ThreadTimes times;
        private boolean isMeasuring;
        private long ranNs;

        /** The time in bricks before {@link #fromNs}, which later bricks no longer change. */
        private long settledNs;

        /** The beginning of the time that the next bricks may cover. */
        private long fromNs;

        /** The time that bricks cover: separate intervals, in their order. */
        private long[] starts = new long[FIRST_BRICKS];

        private long[] ends = new long[FIRST_BRICKS];
        private int count;

        Place(@Nullable Thread owner, ThreadTimes times) {
            super(owner);
            this.times = times;
        }

        void begin(long atNs) {
            isMeasuring = true;
            settledNs = 0;
            fromNs = atNs;
            count = 0;
            ranNs = times.ranNs();
        }

        long end() {
            isMeasuring = false;
            // An unknown time is negative.
            return Math.max(inBricksNs(), ThreadTimes.betweenNs(ranNs, times.ranNs()));
        }

        private long inBricksNs() {
            long sumNs = settledNs;
            for (int i = 0; i < count; i++) {
                sumNs += ends[i] - starts[i];
            }
            return sumNs;
        }

        /** Adds a brick, which ends after all bricks so far and may contain some of them. */
        void add(long givenNs, long endNs) {
            long startNs = Math.max(givenNs, fromNs);
            if (endNs <= startNs) {
                return;
            }
            while (count > 0 && ends[count - 1] >= startNs) {
                count--;
                startNs = Math.min(startNs, starts[count]);
            }
            if (count == MOST_BRICKS) {
                settledNs = inBricksNs();
                fromNs = ends[count - 1];
                count = 0;
            } else if (count == starts.length) {
                starts = Arrays.copyOf(starts, 2 * count);
                ends = Arrays.copyOf(ends, 2 * count);
            }
            starts[count] = startNs;
            ends[count++] = endNs;
        }
    }

    /** A named class: the first lambda of a virtual machine takes longer to make than a profiler. */
    private static final class Places implements PerThread.Keeper<Place, @Nullable Void> {
        private final Supplier<ThreadTimes> times;

        Places(Supplier<ThreadTimes> times) {
            this.times = times;
        }

        @Override
        public Place make(@Nullable Thread owner) {
            return new Place(owner, times.get());
        }
    }

    /**
     * Measures no thread yet.
     *
     * @param times creates the reader of the calling thread's CPU time
     */
    ServingThreads(SampleTables profiler, Supplier<ThreadTimes> times) {
        this.profiler = profiler;
        this.places = new PerThread<>(new Places(times), null, false);
    }

    @Override
    public void begin(long atNs) {
        profiler.layers.setBetweenSteps(true);
        profiler.deselect();
        places.mine().begin(atNs);
    }

    @Override
    public long endNs(long atNs) {
        long workNs = places.mine().end();
        profiler.layers.setBetweenSteps(false);
        return workNs;
    }

    /** Notes that a brick of the calling thread, timed by the host, has ended. */
    void ended(long startNs, long endNs) {
        Place mine = places.mineOrNull();
        if (mine != null && mine.isMeasuring) {
            mine.add(startNs, endNs);
        }
    }
}
