package org.brickprofiler.device;

import java.util.Arrays;
import java.util.Objects;

/**
 * Times a piece of work on its device. It can be used repeatedly; a new start forgets the previous end. One thread at a
 * time.
 */
public interface DeviceTimer extends AutoCloseable {

    /**
     * Returns a timer by the name of a backend, for code that does not know its device.
     *
     * @param backend the name of an {@code org.brickprofiler.Backend}, in any case
     * @param streams the streams in which work is done, distinguished by their {@link DeviceStream#backend()}
     * @return a timer by marks of the first stream of that backend; if there is none and the backend is {@code CPU}, a
     *     {@link CpuTimer}
     * @throws IllegalArgumentException when the name is null, or when no stream has that backend and it is not
     *     {@code CPU}
     */
    static DeviceTimer of(String backend, DeviceStream... streams) {
        if (backend == null) {
            throw new IllegalArgumentException("backend must not be null");
        }
        Objects.requireNonNull(streams, "streams");
        for (DeviceStream stream : streams) {
            if (stream.backend().equalsIgnoreCase(backend)) {
                return new StreamTimer(stream);
            }
        }
        if (backend.equalsIgnoreCase("CPU")) {
            return new CpuTimer();
        }
        throw new IllegalArgumentException("no timer for backend '" + backend + "': there are streams of "
                + Arrays.stream(streams).map(DeviceStream::backend).distinct().toList());
    }

    /** Marks the beginning of the work, before it is enqueued. */
    void recordStart();

    /** Marks the end of the work, after it was enqueued. Does nothing before a start. */
    void recordEnd();

    /**
     * Returns how long the work took. Waits until the device has done it, no longer than a timeout.
     *
     * @return ms; 0 until both ends were recorded, and if the device reports no time
     */
    double elapsedMs();

    /**
     * Returns how long the work took. Waits until the device has done it, no longer than a timeout.
     *
     * @return ns; 0 until both ends were recorded, and if the device reports no time
     */
    long elapsedNs();

    /** Frees the resources of the timer, which then reads 0. Never throws. */
    @Override
    void close();
}
