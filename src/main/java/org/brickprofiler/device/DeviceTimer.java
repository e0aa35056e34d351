package org.brickprofiler.device;

import java.util.Arrays;
import java.util.Objects;

/**
 * Times a piece of work on its device. It can be used repeatedly; a new start forgets the previous end. One thread at a
 * time.
 */
public interface DeviceTimer extends AutoCloseable {

    /**
     * Returns a timer by the name of a backend, for code that does not know what it runs on.
     *
     * @param backend the name of an {@code org.brickprofiler.Backend}, in any case
     * @param streams where work is done, each of its own {@link DeviceStream#backend()}
     * @return one by marks of the first stream of that backend; for the host, where there is none, a {@link CpuTimer}
     * @throws IllegalArgumentException when the name is null, or none of the streams is of that backend and it is not
     *     the host's
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
     * @return ms; 0 until both ends were recorded, and where the device reports no time
     */
    double elapsedMs();

    /**
     * Returns how long the work took. Waits until the device has done it, no longer than a timeout.
     *
     * @return ns; 0 until both ends were recorded, and where the device reports no time
     */
    long elapsedNs();

    /** Frees the resources of the timer, which then reads 0. Never throws. */
    @Override
    void close();
}
