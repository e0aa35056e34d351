package org.brickprofiler.metrics.jmx;

import java.util.Date;
import java.util.List;
import org.brickprofiler.BrickProfiler;

/**
 * A profiler as clients of JMX see it. All values are open types: a remote client needs no class of this library.
 * Attributes that are asked for within a second come from one snapshot. {@link BrickProfileBean} registers a profiler.
 * Any thread.
 */
public interface BrickProfileMXBean {

    /** The recorded figures of a brick. */
    interface Brick {
        /**
         * Its name.
         *
         * @return the display name
         */
        String getName();

        /**
         * Its category.
         *
         * @return the display name of the category
         */
        String getCategory();

        /**
         * Number of samples.
         *
         * @return 0 or more
         */
        long getCount();

        /**
         * Sum of the durations.
         *
         * @return ns
         */
        long getTotalNs();

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
         * Sum of the elements.
         *
         * @return elements
         */
        long getElements();
    }

    /** The sums of a category. */
    interface Category {
        /**
         * Its name.
         *
         * @return the display name
         */
        String getName();

        /**
         * Number of samples.
         *
         * @return 0 or more
         */
        long getCount();

        /**
         * Sum of the durations.
         *
         * @return ns
         */
        long getTotalNs();

        /**
         * Returns the share of the sum of all brick time.
         *
         * @return percent, 0 if no time was measured
         */
        double getPercentOfBrickTime();
    }

    /**
     * Returns whether the profiler records.
     *
     * @return true while it is on
     */
    boolean isEnabled();

    /**
     * Switches the profiler.
     *
     * @param on true to record
     */
    void setEnabled(boolean on);

    /**
     * When the profiler was first on since the last reset.
     *
     * @return to the ms
     */
    Date getStartedAt();

    /**
     * Time the profiler was switched on for.
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
     * Number of samples of all bricks.
     *
     * @return 0 or more
     */
    long getSamples();

    /**
     * Number of threads that recorded.
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
     * @return largest total first
     */
    List<Brick> getBricks();

    /**
     * Returns the categories that recorded.
     *
     * @return in the order of {@link org.brickprofiler.BrickCategory}
     */
    List<Category> getCategories();

    /** Discards all recorded samples, as {@link BrickProfiler#reset()} does. */
    void reset();
}
