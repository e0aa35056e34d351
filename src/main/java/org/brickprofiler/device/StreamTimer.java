package org.brickprofiler.device;

import java.lang.ref.Reference;
import java.util.Objects;
import org.brickprofiler.internal.base.Abandonment;

/**
 * Times the work that is enqueued in a stream between two calls, by one mark of the stream for each call. Reading the
 * timer waits until the device has reached the second mark, and never for later work. One thread at a time; closing the
 * timer does not close the stream. The marks of a timer that was never closed are given back when the garbage collector
 * finds it.
 */
public class StreamTimer implements DeviceTimer {

    private static final double NS_PER_MS = 1e6;

    private final TimerMarks marks;

    /** Whether the marks are given back if the timer is never closed. */
    private boolean watched;

    /**
     * The marks of a timer. This class does not refer to the timer, so that the marks can be given back once the timer
     * is unreachable.
     */
    private static final class TimerMarks {
        private final DeviceStream stream;
        private int start = DeviceStream.NO_MARK;
        private int end = DeviceStream.NO_MARK;

        TimerMarks(DeviceStream stream) {
            this.stream = stream;
        }

        void setStart() {
            releaseBoth();
            start = stream.mark();
        }

        void setEnd() {
            release(end);
            end = start == DeviceStream.NO_MARK ? DeviceStream.NO_MARK : stream.mark();
        }

        long elapsedNs() {
            if (end == DeviceStream.NO_MARK) {
                return 0;
            }
            if (!stream.isReached(end)) {
                stream.waitFor(end);
            }
            long ns = stream.elapsedNs(start, end);
            return ns > 0 && stream.hasWorkBetween(start, end) ? ns : 0;
        }

        void releaseBoth() {
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

    /**
     * Creates a timer.
     *
     * @param stream the stream of the work; not closed with the timer
     */
    public StreamTimer(DeviceStream stream) {
        marks = new TimerMarks(Objects.requireNonNull(stream, "stream"));
    }

    @Override
    public final void recordStart() {
        if (!watched) {
            watched = true;
            Abandonment.whenUnreachable(marks::releaseBoth, this);
        }
        try {
            marks.setStart();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public final void recordEnd() {
        try {
            marks.setEnd();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns how long the device took. Waits for the device, but no longer than the timeout of the stream.
     *
     * @return ms; 0 until both ends were recorded, and if the time is not known; the stream's {@code failure()} gives
     *     the reason
     */
    @Override
    public final double elapsedMs() {
        return elapsedNs() / NS_PER_MS;
    }

    /**
     * Returns how long the device took. Waits for the device, but no longer than the timeout of the stream.
     *
     * @return ns; 0 until both ends were recorded, and if the time is not known; the stream's {@code failure()} gives
     *     the reason
     */
    @Override
    public final long elapsedNs() {
        try {
            return marks.elapsedNs();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public final void close() {
        try {
            marks.releaseBoth();
        } finally {
            Reference.reachabilityFence(this);
        }
    }
}
