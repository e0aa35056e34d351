package org.brickprofiler.device;

import java.util.Objects;

/**
 * Times what is enqueued in a stream between two calls, by a mark of the stream for each. Reading it waits until the
 * device has come to the second mark, and for nothing behind it. One thread at a time; the stream stays its owner's.
 */
public class StreamTimer implements DeviceTimer {

    private static final double NS_PER_MS = 1e6;

    private final DeviceStream stream;

    private int start = DeviceStream.NO_MARK;
    private int end = DeviceStream.NO_MARK;

    /**
     * A timer.
     *
     * @param stream where the work is done; not closed with the timer
     */
    public StreamTimer(DeviceStream stream) {
        Objects.requireNonNull(stream, "stream");
        this.stream = stream;
    }

    @Override
    public final void recordStart() {
        close();
        start = stream.mark();
    }

    @Override
    public final void recordEnd() {
        release(end);
        end = start == DeviceStream.NO_MARK ? DeviceStream.NO_MARK : stream.mark();
    }

    /**
     * How long the device took. Waits for it, no longer than the timeout of the stream.
     *
     * @return ms; 0 until both ends were recorded, and where the time is not known, as its {@code failure()} says
     */
    @Override
    public final double elapsedMs() {
        return elapsedNs() / NS_PER_MS;
    }

    /**
     * How long the device took. Waits for it, no longer than the timeout of the stream.
     *
     * @return ns; 0 until both ends were recorded, and where the time is not known, as its {@code failure()} says
     */
    @Override
    public final long elapsedNs() {
        if (end == DeviceStream.NO_MARK) {
            return 0;
        }
        if (!stream.isReached(end)) {
            stream.waitFor(end);
        }
        long ns = stream.elapsedNs(start, end);
        return ns > 0 && stream.hasWorkBetween(start, end) ? ns : 0;
    }

    @Override
    public final void close() {
        release(start);
        release(end);
        start = DeviceStream.NO_MARK;
        end = DeviceStream.NO_MARK;
    }

    private void release(int mark) {
        if (mark != DeviceStream.NO_MARK) {
            stream.release(mark);
        }
    }
}
