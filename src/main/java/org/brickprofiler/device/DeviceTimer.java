package org.brickprofiler.device;

/**
 * Times one piece of work where it is done. May be used again and again; a new start forgets the end before. One thread
 * at a time.
 */
public interface DeviceTimer extends AutoCloseable {

    /** The work begins: whatever is enqueued from now on is timed. */
    void recordStart();

    /** The work ends with what was enqueued last. Does nothing before a start. */
    void recordEnd();

    /**
     * How long the work took. Waits until the device has done it.
     *
     * @return ms; 0 until both ends were recorded, and where the device does not tell
     */
    double elapsedMs();

    /**
     * How long the work took. Waits until the device has done it.
     *
     * @return ns; 0 until both ends were recorded, and where the device does not tell
     */
    long elapsedNs();

    /** Lets go of what the timer holds. It reads 0 then. Never throws. */
    @Override
    void close();
}
