package org.brickprofiler.device;

import java.util.Arrays;
import java.util.Objects;

/**
 * Times one piece of work where it is done. May be used again and again; a new start forgets the end before. One thread
 * at a time.
 */
public interface DeviceTimer extends AutoCloseable {

    /**
     * A timer by the name of a backend, for code that does not know what it runs on.
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

    /** The work begins: whatever is enqueued from now on is timed. */
    void recordStart();

    /** The work ends with what was enqueued last. Does nothing before a start. */
    void recordEnd();

    /**
     * How long the work took. Waits until the device has done it, no longer than a timeout.
     *
     * @return ms; 0 until both ends were recorded, and where the device reports no time
     */
    double elapsedMs();

    /**
     * How long the work took. Waits until the device has done it, no longer than a timeout.
     *
     * @return ns; 0 until both ends were recorded, and where the device reports no time
     */
    long elapsedNs();

    /** Lets go of what the timer holds. It reads 0 then. Never throws. */
    @Override
    void close();
}
