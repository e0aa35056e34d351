package org.brickprofiler.jfr;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfilerListener;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;
import org.brickprofiler.request.RequestRecord;
import org.jspecify.annotations.Nullable;

/**
 * Emits a profiler's steps, bricks and requests as events of the Java Flight Recorder.
 *
 * <pre>{@code
 * BrickEvents events = BrickEvents.of(profiler); // until events.close()
 * }</pre>
 *
 * <table>
 * <caption>The events</caption>
 * <tr><th>name</th><th></th><th>content</th></tr>
 * <tr><td>{@code brick.Step}</td><td>on</td><td>a step, with its duration: phase, batch, tokens, KV length, and the
 *     brick time of each category</td></tr>
 * <tr><td>{@code brick.Request}</td><td>on</td><td>a request, at its finish: outcome, tokens, times, and its time by
 *     cause</td></tr>
 * <tr><td>{@code brick.Execution}</td><td>off</td><td>a sample, at its end: brick, category, phase, elapsed time,
 *     elements. Only for samples that the host timed, not for deferred samples or samples that a device timed</td></tr>
 * <tr><td>{@code brick.ClockAnchor}</td><td>on, each second</td><td>{@link System#nanoTime()} before and after the
 *     event</td></tr>
 * </table>
 *
 * <p>To switch executions on, call {@code recording.enable("brick.Execution")}, or use the command line option
 * {@code -XX:StartFlightRecording:filename=run.jfr,+brick.Execution#enabled=true}. If a recording is already running,
 * their events begin within a second. While no recording has executions enabled, a sample costs no more than without
 * this class. Any thread.
 */
public final class BrickEvents implements AutoCloseable {

    private final BrickProfiler profiler;
    private final StepListener steps = new StepListener();
    private final ExecutionListener executions = new ExecutionListener();
    private final Runnable anchor = this::anchor;
    private final RecordingListener recordings = new RecordingListener();

    /** Guarded by {@code this}, like the next fields. */
    private boolean executing;

    private boolean closed;

    private BrickEvents(BrickProfiler profiler) {
        this.profiler = profiler;
    }

    /**
     * Begins to emit a profiler's steps, bricks and requests as events.
     *
     * @param profiler the profiler; the flight recorder keeps it alive until {@link #close}
     * @return the handle whose {@link #close} ends the events
     * @throws IllegalStateException when this virtual machine has no flight recorder
     */
    public static BrickEvents of(BrickProfiler profiler) {
        BrickEvents events = new BrickEvents(Objects.requireNonNull(profiler, "profiler"));
        FlightRecorder.addListener(events.recordings);
        FlightRecorder.addPeriodicEvent(AnchorEvent.class, events.anchor);
        profiler.addListener(events.steps);
        events.follow();
        return events;
    }

    /** Stops emitting events; committed events stay in the recording. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            FlightRecorder.removeListener(recordings);
            FlightRecorder.removePeriodicEvent(anchor);
            profiler.removeListener(steps);
            follow();
        }
    }

    /** Adds or removes the listener for bricks, which is needed only while a recording has executions enabled. */
    private synchronized void follow() {
        boolean wanted = !closed && EventType.getEventType(ExecutionEvent.class).isEnabled();
        if (wanted && !executing) {
            profiler.addListener(executions);
        } else if (!wanted && executing) {
            profiler.removeListener(executions);
        }
        executing = wanted;
    }

    private void anchor() {
        AnchorEvent.emit();
        follow();
    }

    private final class RecordingListener implements FlightRecorderListener {
        @Override
        public void recordingStateChanged(Recording recording) {
            if (recording.getState() == RecordingState.RUNNING) {
                AnchorEvent.emit(); // at least one, even in a short recording
            }
            follow();
        }
    }

    /** Emits the events of steps and requests. Each thread has at most one step under way. */
    private static final class StepListener implements ProfilerListener {
        private static final AtomicInteger COUNT = new AtomicInteger();

        /** The number of the profiler in its events. */
        private final int number = COUNT.incrementAndGet();

        @SuppressWarnings("ThreadLocalUsage") // a thread may drive steps of several profilers
        private final ThreadLocal<@Nullable StepEvent> underWay = new ThreadLocal<>();

        @Override
        public boolean wantsBricks() {
            return false;
        }

        @Override
        public void brickRecorded(
                String brick,
                BrickCategory category,
                Optional<StepInfo.Phase> phase,
                long endNs,
                long elapsedNs,
                long elements) {}

        @Override
        public void stepBegan(StepInfo info) {
            StepEvent event = new StepEvent();
            if (event.isEnabled()) {
                underWay.set(event);
                event.profiler = number;
                event.begin();
            }
        }

        @Override
        public void stepEnded(Step step) {
            stepEnded(step, false, true);
        }

        @Override
        public void stepEnded(Step step, boolean follows, boolean isAttributed) {
            StepEvent event = underWay.get();
            if (event != null) {
                event.end();
                underWay.remove();
                if (event.shouldCommit()) {
                    event.fill(step, follows, isAttributed);
                    event.commit();
                }
            }
        }

        @Override
        public void requestFinished(RequestRecord request) {
            RequestEvent event = new RequestEvent();
            if (event.shouldCommit()) {
                event.fill(request);
                event.commit();
            }
        }
    }

    private static final class ExecutionListener implements ProfilerListener {
        @Override
        public boolean wantsBricks() {
            return true;
        }

        @Override
        public void brickRecorded(
                String brick,
                BrickCategory category,
                Optional<StepInfo.Phase> phase,
                long endNs,
                long elapsedNs,
                long elements) {
            ExecutionEvent event = new ExecutionEvent();
            if (event.shouldCommit()) {
                event.brick = brick;
                event.category = category.displayName();
                event.phase = phase.map(StepInfo.Phase::displayName).orElse("");
                event.elapsed = elapsedNs;
                event.endNs = endNs;
                event.elements = elements;
                event.commit();
            }
        }

        @Override
        public void stepBegan(StepInfo info) {}

        @Override
        public void stepEnded(Step step) {}
    }
}
