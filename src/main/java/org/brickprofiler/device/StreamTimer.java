package org.brickprofiler.device;

import java.lang.ref.Reference;
import java.util.Objects;
import org.brickprofiler.internal.io.Abandonment;

/**
 * Times the work that is enqueued in a stream between two calls, by a mark of the stream for each. Reading it waits
 * until the device has reached the second mark, and never for later work. One thread at a time; the stream stays its
 * owner's. The marks of a timer that was never closed are given back when the garbage collector finds it.
 */
public class StreamTimer implements DeviceTimer {

    private static final double NS_PER_MS = 1e6;

    private final Marks marks;

    /** Whether the marks are given back if the timer is never closed. */
    private boolean watched;

    /** The marks of a timer. They do not refer to it, so that they can be given back after it. */
    private static final class Marks {
        private final DeviceStream stream;
        private int start = DeviceStream.NO_MARK;
        private int end = DeviceStream.NO_MARK;

        Marks(DeviceStream stream) {
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
     * A timer.
     *
     * @param stream the stream of the work; not closed with the timer
     */
    public StreamTimer(DeviceStream stream) {
        marks = new Marks(Objects.requireNonNull(stream, "stream"));
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
     * Returns how long the device took. Waits for it, no longer than the timeout of the stream.
     *
     * @return ms; 0 until both ends were recorded, and where the time is not known, as its {@code failure()} says
     */
    @Override
    public final double elapsedMs() {
        return elapsedNs() / NS_PER_MS;
    }

    /**
     * Returns how long the device took. Waits for it, no longer than the timeout of the stream.
     *
     * @return ns; 0 until both ends were recorded, and where the time is not known, as its {@code failure()} says
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
