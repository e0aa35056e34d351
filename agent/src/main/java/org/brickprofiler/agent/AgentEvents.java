package org.brickprofiler.agent;

import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.jfr.BrickEvents;
import org.brickprofiler.trace.jfr.VirtualMachineStops;
import org.jspecify.annotations.Nullable;

/**
 * Emits the steps of a profiler to the flight recorder while a recording runs. Without a recording, a step has no extra
 * cost. Any thread.
 *
 * <p>A question to the flight recorder waits for the recorder's lock, and at the end of the process the recorder holds
 * that lock while it calls its listeners. Therefore a listener waits for no other thread: of several changes at one
 * time, the thread that is at the first one follows the later ones, too.
 */
final class AgentEvents implements FlightRecorderListener {

    private final BrickProfiler profiler;

    /** The changes of recordings that are not followed yet; the thread that raised it from 0 follows all of them. */
    private final AtomicInteger changes = new AtomicInteger();

    /** Only of the thread that follows changes. */
    private @Nullable BrickEvents events;

    private AgentEvents(BrickProfiler profiler) {
        this.profiler = profiler;
    }

    /**
     * Begins to follow the flight recorder.
     *
     * @return the listener
     * @throws LinkageError when this virtual machine has none
     */
    static FlightRecorderListener follow(BrickProfiler profiler) {
        AgentEvents following = new AgentEvents(profiler);
        FlightRecorder.addListener(following);
        if (FlightRecorder.isInitialized()) {
            following.update();
        }
        return following;
    }

    @Override
    public void recordingStateChanged(Recording recording) {
        update();
    }

    /** Returns whether a recording is running and is not the one that explains slow steps. */
    private static boolean wantsSteps(Recording recording) {
        return recording.getState() == RecordingState.RUNNING && !VirtualMachineStops.isOwn(recording);
    }

    private void update() {
        if (changes.getAndIncrement() > 0) {
            return;
        }
        boolean isFollowed = false;
        try {
            int seen;
            do {
                seen = changes.get();
                emitIf(FlightRecorder.getFlightRecorder().getRecordings().stream()
                        .anyMatch(AgentEvents::wantsSteps));
            } while (!changes.compareAndSet(seen, 0));
            isFollowed = true;
        } finally {
            if (!isFollowed) {
                changes.set(0);
            }
        }
    }

    private void emitIf(boolean isRecording) {
        if (isRecording && events == null) {
            events = BrickEvents.of(profiler);
        } else if (!isRecording && events != null) {
            events.close();
            events = null;
        }
    }
}
