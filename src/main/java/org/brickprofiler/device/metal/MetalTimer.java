package org.brickprofiler.device.metal;

import org.brickprofiler.device.StreamTimer;

/**
 * Times the command buffers that are watched and committed between two calls, by marks of a {@link MetalStream}.
 * Reading it waits for the device; if the time is not known, the stream's {@code failure()} gives the reason. One
 * thread at a time; the stream stays its owner's.
 */
public final class MetalTimer extends StreamTimer {

    /**
     * A timer.
     *
     * @param stream the stream of the work; not closed with the timer
     */
    public MetalTimer(MetalStream stream) {
        super(stream);
    }
}
