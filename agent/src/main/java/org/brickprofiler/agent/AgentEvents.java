package org.brickprofiler.agent;

import java.util.List;
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
 */
final class AgentEvents implements FlightRecorderListener {

    private final BrickProfiler profiler;

    private @Nullable BrickEvents events;

    private AgentEvents(BrickProfiler profiler) {
        this.profiler = profiler;
    }

    /**
     * Begins to follow the flight recorder.
     *
     * @throws LinkageError when this virtual machine has none
     */
    static void follow(BrickProfiler profiler) {
        AgentEvents following = new AgentEvents(profiler);
        FlightRecorder.addListener(following);
        if (FlightRecorder.isInitialized()) {
            following.update();
        }
    }

    @Override
    public void recordingStateChanged(Recording recording) {
        update();
    }

    /** Returns whether a recording is running and is not the one that explains slow steps. */
    private static boolean wantsSteps(Recording recording) {
        return recording.getState() == RecordingState.RUNNING && !VirtualMachineStops.isOwn(recording);
    }

    private synchronized void update() {
        List<Recording> all = FlightRecorder.getFlightRecorder().getRecordings();
        boolean isRecording = all.stream().anyMatch(AgentEvents::wantsSteps);
        if (isRecording && events == null) {
            events = BrickEvents.of(profiler);
        } else if (!isRecording && events != null) {
            events.close();
            events = null;
        }
    }
}
