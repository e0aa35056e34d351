package org.brickprofiler.device;

import java.util.Objects;
import org.brickprofiler.spi.NanoClock;

/** Times work that the calling thread does. One thread at a time; allocates nothing. */
public final class CpuTimer implements DeviceTimer {

    private final NanoClock clock;

    private boolean started;
    private boolean ended;
    private long startNs;
    private long endNs;

    /** Creates a timer over the system's clock. */
    public CpuTimer() {
        this(NanoClock.SYSTEM);
    }

    /**
     * Creates a timer over a clock.
     *
     * @param clock the clock to read
     */
    public CpuTimer(NanoClock clock) {
        Objects.requireNonNull(clock, "clock");
        this.clock = clock;
    }

    @Override
    public void recordStart() {
        started = true;
        ended = false;
        startNs = clock.nanoTime();
    }

    @Override
    public void recordEnd() {
        if (started) {
            endNs = clock.nanoTime();
            ended = true;
        }
    }

    @Override
    public double elapsedMs() {
        return elapsedNs() / 1e6;
    }

    @Override
    public long elapsedNs() {
        return ended ? Math.max(0, endNs - startNs) : 0;
    }

    @Override
    public void close() {
        started = false;
        ended = false;
    }
}
