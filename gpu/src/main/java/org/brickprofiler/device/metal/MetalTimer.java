package org.brickprofiler.device.metal;

import org.brickprofiler.device.StreamTimer;

/**
 * Times the command buffers that are watched and committed between two calls, by marks of a {@link MetalStream}.
 * Reading the timer waits for the device; if the time is not known, the stream's {@code failure()} gives the reason.
 * One thread at a time; closing the timer does not close the stream.
 */
public final class MetalTimer extends StreamTimer {

    /**
     * Creates a timer.
     *
     * @param stream the stream of the work; not closed with the timer
     */
    public MetalTimer(MetalStream stream) {
        super(stream);
    }
}
