package org.brickprofiler.metrics.jmx;

import java.util.Date;
import java.util.List;
import org.brickprofiler.BrickProfiler;
import org.jspecify.annotations.Nullable;

/**
 * A profiler as clients of JMX see it. All values are open types, so a remote client needs no class of this library.
 * Attributes that are read within a second come from one snapshot. {@link BrickProfileBean} registers a profiler. Any
 * thread.
 */
public interface BrickProfileMXBean {

    /** The recorded figures of a brick. */
    interface Brick {
        /**
         * Returns the name.
         *
         * @return the display name
         */
        String getName();

        /**
         * Returns the category.
         *
         * @return the display name of the category
         */
        String getCategory();

        /**
         * Returns the number of samples.
         *
         * @return 0 or more
         */
        long getCount();

        /**
         * Returns the sum of the recorded durations.
         *
         * @return ns
         */
        long getTotalNs();

        /**
         * Returns whether the sum, the mean and the percentiles are estimates, since some samples had no marks.
         *
         * @return true if the profiler marks bricks by sampling
         */
        boolean isEstimated();

        /**
         * Returns the standard error of the sum.
         *
         * @return ns; 0 if the sum is exact, or the error is not known
         */
        double getStandardErrorNs();

        /**
         * Returns the number of samples that a device timed by marks.
         *
         * @return 0 or more
         */
        long getMeasured();

        /**
         * Returns the sum of the durations without what the marks of a device add, as for
         * {@link org.brickprofiler.BrickStats#netNs}.
         *
         * @return ns; null if it is unknown
         */
        @Nullable
        Long getNetNs();

        /**
         * Returns the shortest duration.
         *
         * @return ns
         */
        long getMinNs();

        /**
         * Returns the median duration.
         *
         * @return ns, 0 if percentiles were not recorded
         */
        long getP50Ns();

        /**
         * Returns the duration that 99 % of the samples do not exceed.
         *
         * @return ns, 0 if percentiles were not recorded
         */
        long getP99Ns();

        /**
         * Returns the longest duration.
         *
         * @return ns
         */
        long getMaxNs();

        /**
         * Returns the sum of the elements.
         *
         * @return elements
         */
        long getElements();

        /**
         * Returns the distribution of the durations, from which a client can compute the percentiles of a window.
         *
         * @return the distribution; null if percentiles were not recorded
         */
        @Nullable
        Latency getLatency();
    }

    /** The sums of a category. */
    interface Category {
        /**
         * Returns the name.
         *
         * @return the display name
         */
        String getName();

        /**
         * Returns the number of samples.
         *
         * @return 0 or more
         */
        long getCount();

        /**
         * Returns the sum of the recorded durations.
         *
         * @return ns
         */
        long getTotalNs();

        /**
         * Returns the standard error of the sum.
         *
         * @return ns; 0 if the sum is exact, or the error is not known
         */
        double getStandardErrorNs();

        /**
         * Returns the share of the sum of all brick time, net where that is known.
         *
         * @return percent, 0 if no time was measured
         */
        double getPercentOfBrickTime();
    }

    /** The steps of a phase. */
    interface Phase {
        /**
         * Returns the name.
         *
         * @return for example {@code decode}
         */
        String getName();

        /**
         * Returns the number of steps that ended.
         *
         * @return 0 or more
         */
        long getCount();

        /**
         * Returns the time in which at least one step of the phase was under way.
         *
         * @return ns
         */
        long getWallNs();

        /**
         * Returns the number of prompt tokens that were processed.
         *
         * @return 0 or more
         */
        long getPromptTokens();

        /**
         * Returns the number of tokens that were generated.
         *
         * @return 0 or more
         */
        long getOutputTokens();
    }

    /** A distribution of durations: the latencies of requests, or the samples of a brick. */
    interface Latency {
        /**
         * Returns the duration that half of them do not exceed.
         *
         * @return ns, 0 if there are none
         */
        long getP50Ns();

        /**
         * Returns the duration that 99 % of them do not exceed.
         *
         * @return ns, 0 if there are none
         */
        long getP99Ns();

        /**
         * Returns the first bucket with durations.
         *
         * @return the number of the bucket, see {@link org.brickprofiler.stats.LatencyDistribution#firstBucket()}
         */
        int getFirstBucket();

        /**
         * Returns the number of durations in each bucket, from the first bucket with durations to the last one.
         *
         * @return one number per bucket, see {@link org.brickprofiler.stats.LatencyDistribution#usedCounts()}
         */
        long[] getCounts();
    }

    /** A request. */
    interface Request {
        /**
         * Returns the id that the application gave it.
         *
         * @return at most 128 characters of any kind; null without an id
         */
        @Nullable
        String getId();

        /**
         * Returns the model that it names.
         *
         * @return at most 128 characters of any kind; null if it names none
         */
        @Nullable
        String getModel();

        /**
         * Returns the time of day of its arrival.
         *
         * @return a time, to the ms; null if it is not known
         */
        @Nullable
        Date getArrivedAt();

        /**
         * Returns the time to first token of a request that has finished, or the time since the arrival of a live one.
         *
         * @return ns
         */
        long getTimeNs();

        /**
         * Returns whether the request is live, and a step has worked on it.
         *
         * @return false for a request that has finished
         */
        boolean isRunning();
    }

    /** The requests that the engine serves. */
    interface Requests {
        /**
         * Returns the number of requests that arrived.
         *
         * @return 0 or more
         */
        long getArrived();

        /**
         * Returns the number of requests that no step has worked on.
         *
         * @return 0 or more
         */
        long getWaiting();

        /**
         * Returns the number of requests that a step has worked on, and that have not finished.
         *
         * @return 0 or more
         */
        long getRunning();

        /**
         * Returns the number of requests that finished.
         *
         * @return 0 or more
         */
        long getFinished();

        /**
         * Returns the time from the arrival to the first token.
         *
         * @return its distribution
         */
        Latency getTimeToFirstToken();

        /**
         * Returns the mean time between two tokens of a request, computed when the request finishes.
         *
         * @return its distribution
         */
        Latency getTimePerOutputToken();

        /**
         * Returns the moments from which requests count; queues before them are not seen.
         *
         * @return such as <i>the call of Llama.generate</i>; empty without requests
         */
        String[] getCountedFrom();

        /**
         * Returns the finished requests with the longest times to first token.
         *
         * @return the requests, the longest time first
         */
        Request[] getSlowest();

        /**
         * Returns the live requests that arrived first.
         *
         * @return the requests, the oldest first
         */
        Request[] getOldestLive();
    }

    /**
     * Returns whether the profiler records.
     *
     * @return true while the profiler is on
     */
    boolean isEnabled();

    /**
     * Switches the profiler on or off.
     *
     * @param on true to record
     */
    void setEnabled(boolean on);

    /**
     * Returns the time at which the profiler was first on since the last reset.
     *
     * @return a time, to the ms
     */
    Date getStartedAt();

    /**
     * Returns the time of the snapshot from which the attributes are read. If this attribute has the same value before
     * and after others are read, these are from the same snapshot.
     *
     * @return a time, to the ms
     */
    Date getEndedAt();

    /**
     * Returns the time for which the profiler was switched on.
     *
     * @return ns
     */
    long getWallNs();

    /**
     * Returns the sum of brick time, over all threads.
     *
     * @return ns
     */
    long getTotalNs();

    /**
     * Returns the estimated cost of recording.
     *
     * @return ns, 0 if it is not known
     */
    long getOverheadNs();

    /**
     * Returns the number of samples of all bricks.
     *
     * @return 0 or more
     */
    long getSamples();

    /**
     * Returns the number of threads that recorded.
     *
     * @return 0 or more
     */
    int getThreads();

    /**
     * Returns the number of samples whose time a device did not report.
     *
     * @return 0 or more
     */
    long getUnresolved();

    /**
     * Returns the number of measurements whose end is not known yet.
     *
     * @return 0 or more
     */
    long getPending();

    /**
     * Returns the bricks that recorded.
     *
     * @return the bricks, largest total first
     */
    List<Brick> getBricks();

    /**
     * Returns the categories that recorded.
     *
     * @return the categories, in the order of {@link org.brickprofiler.BrickCategory}
     */
    List<Category> getCategories();

    /**
     * Returns the phases of steps that were recorded.
     *
     * @return one entry for each phase
     */
    List<Phase> getPhases();

    /**
     * Returns the requests.
     *
     * @return their numbers and latencies; all 0 if the engine announces no requests
     */
    Requests getRequests();

    /**
     * Returns what is under way now, in words: a stall, the oldest request, and where the threads stand.
     *
     * @return the lines of {@link org.brickprofiler.Progress#lines()}
     */
    String[] getProgress();

    /**
     * Returns the requests that finished in the last 1, 5 and 60 minutes, in words.
     *
     * @return one text for each window; empty if requests are not recorded
     */
    String[] getRecentRequests();

    /**
     * Returns the lines of bricks since the last reset, if the recorder of the profiler keeps them. This is an
     * operation, so that clients that read all attributes do not compute it.
     *
     * @return the entry {@link org.brickprofiler.report.JsonReport#LINES} of a report, with the three hottest lines of
     *     each brick, as JSON; null if no lines are kept
     */
    @Nullable
    String lines();

    /**
     * Switches the profiler on for some time if it is off, and off again after that time. A further call replaces the
     * time. {@link #setEnabled} ends the time, and its argument takes effect.
     *
     * @param ms the time from now, ms; 0 ends the time now
     * @return whether the profiler is on
     * @throws IllegalArgumentException when the time is negative
     */
    boolean watch(long ms);

    /** Discards all recorded samples, as {@link BrickProfiler#reset()} does. */
    void reset();
}
