package org.brickprofiler.device;

/**
 * Times one piece of work at a time, from where its start was recorded to where its end was. Can be used again: another
 * start begins anew. One thread at a time.
 */
public interface DeviceTimer extends AutoCloseable {

    /** Records where the work begins. Forgets an earlier measurement. */
    void recordStart();

    /** Records where the work ends. Does nothing without a start. */
    void recordEnd();

    /**
     * How long the work took.
     *
     * @return ms; 0 until both ends were recorded
     */
    double elapsedMs();

    /**
     * How long the work took.
     *
     * @return ns; 0 until both ends were recorded
     */
    long elapsedNs();

    /** Lets go of what was recorded. Throws nothing; twice does no harm. */
    @Override
    void close();
}
