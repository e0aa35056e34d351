package org.brickprofiler.device;

import java.util.Objects;
import java.util.Optional;

/**
 * Times a piece of work on request. The caller decides once, outside of the loop, whether to time: {@link #startIf}
 * reads no setting, and costs nothing if it does not start.
 *
 * <pre>{@code
 * Optional<ProbeTimer> probe = ProbeTimer.startIf(probing, timer, recorder::push);
 * attention(x);
 * probe.ifPresent(running -> running.finishTraced("attention", "probe", layer));
 * }</pre>
 *
 * <p>One thread at a time.
 */
public final class ProbeTimer {

    /** Receives finished probes for a trace; {@code TraceRecorder.push} is one. */
    @FunctionalInterface
    public interface Trace {
        /**
         * Records a probe that has just ended.
         *
         * @param name the name of the work
         * @param category the kind of the work
         * @param elapsedNs how long it took, ns
         * @param tid the line of the trace that it goes to
         */
        void push(String name, String category, long elapsedNs, int tid);
    }

    private static final Trace NOBODY = (name, category, elapsedNs, tid) -> {};

    private final DeviceTimer timer;
    private final Trace trace;

    private ProbeTimer(DeviceTimer timer, Trace trace) {
        this.timer = timer;
        this.trace = trace;
    }

    /**
     * Starts a timer or not.
     *
     * @param enabled whether to start it
     * @param timer the timer, which may be used again once the probe is finished
     * @return the running probe, or empty
     */
    public static Optional<ProbeTimer> startIf(boolean enabled, DeviceTimer timer) {
        Objects.requireNonNull(timer, "timer");
        return startIf(enabled, timer, NOBODY);
    }

    /**
     * Starts a timer or not.
     *
     * @param enabled whether to start it
     * @param timer the timer, which may be used again once the probe is finished
     * @param trace receives the probe that {@link #finishTraced} ends
     * @return the running probe, or empty
     */
    public static Optional<ProbeTimer> startIf(boolean enabled, DeviceTimer timer, Trace trace) {
        Objects.requireNonNull(timer, "timer");
        Objects.requireNonNull(trace, "trace");
        if (!enabled) {
            return Optional.empty();
        }
        timer.recordStart();
        return Optional.of(new ProbeTimer(timer, trace));
    }

    /**
     * Stops, and waits until the device has done the work.
     *
     * @return how long it took, ns; 0 if the device does not report it
     */
    public long finish() {
        timer.recordEnd();
        return timer.elapsedNs();
    }

    /**
     * Stops, waits until the device has done the work, and adds it to the trace.
     *
     * @param name the name of the work
     * @param category the kind of the work
     * @param tid the line of the trace that it goes to
     * @return how long it took, ns; 0 if the device does not report it
     */
    public long finishTraced(String name, String category, int tid) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(category, "category");
        long elapsedNs = finish();
        trace.push(name, category, elapsedNs, tid);
        return elapsedNs;
    }
}
