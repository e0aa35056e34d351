package org.brickprofiler.device.metal;

import java.util.Objects;
import org.brickprofiler.device.DeviceTimer;
import org.brickprofiler.device.StreamTimer;

/**
 * Times the command buffers that are watched and committed between two calls, by marks of a {@link MetalStream}. Reading
 * it waits for the device. One thread at a time; the stream stays its owner's.
 */
public final class MetalTimer implements DeviceTimer {

    private final StreamTimer timer;

    /**
     * A timer.
     *
     * @param stream where the work is done; not closed with the timer
     */
    public MetalTimer(MetalStream stream) {
        Objects.requireNonNull(stream, "stream");
        timer = new StreamTimer(stream);
    }

    @Override
    public void recordStart() {
        timer.recordStart();
    }

    @Override
    public void recordEnd() {
        timer.recordEnd();
    }

    /**
     * How long the device took. Waits for it.
     *
     * @return ms; 0 until both ends were recorded, and where the time is not known, as its {@code failure()} says
     */
    @Override
    public double elapsedMs() {
        return timer.elapsedMs();
    }

    /**
     * How long the device took. Waits for it.
     *
     * @return ns; 0 until both ends were recorded, and where the time is not known, as its {@code failure()} says
     */
    @Override
    public long elapsedNs() {
        return timer.elapsedNs();
    }

    @Override
    public void close() {
        timer.close();
    }
}
