package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import jdk.jfr.Configuration;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.jfr.VirtualMachineStops;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The agent's events in flight recordings of others, beside its own recording of the stops. */
final class AgentEventsTest {

    private final TraceRecorder recorder =
            TraceRecorder.builder().keepSlowSteps(3).build();
    private final BrickProfiler profiler =
            BrickProfiler.builder().tracing(recorder).build();

    private void request() {
        RequestRecorder requests = profiler.requests();
        long request = requests.arrived(1);
        profiler.beginStep(StepInfo.decode(100));
        requests.inStep(request, 1);
        profiler.endPass();
        requests.finished(request, Outcome.COMPLETED);
    }

    @Test
    void theRecordingOfTheStopsTakesNoStepsAndRequestsFromOthers(@TempDir Path folder) throws Exception {
        profiler.enable();
        AgentEvents.follow(profiler);
        Path file = folder.resolve("run.jfr");
        try (VirtualMachineStops stops = VirtualMachineStops.of(recorder)) {
            request();
            for (String settings : List.of("default", "profile")) {
                try (Recording recording = new Recording(Configuration.getConfiguration(settings))) {
                    recording.start();
                    for (int i = 0; i < 3; i++) {
                        request();
                    }
                    recording.stop();
                    recording.dump(file);
                }
                assertThat(events(file)).containsEntry("brick.Step", 3L).containsEntry("brick.Request", 3L);
            }
            stops.close();
        }
    }

    /** An event at the beginning of each recording, when the recorder holds its lock. */
    @Name("agent.test.Begin")
    @Period("beginChunk")
    private static final class BeginEvent extends Event {}

    /** Reports a change to the agent under the recorder's lock, for which another such thread waits. */
    static final class AtTheEnd {

        public static void main(String[] arguments) {
            FlightRecorderListener listener = AgentEvents.follow(BrickProfiler.enabled());
            try (Recording recording = new Recording()) {
                FlightRecorder.addPeriodicEvent(BeginEvent.class, () -> {
                    Thread other = new Thread(() -> listener.recordingStateChanged(recording));
                    other.start();
                    while (other.getState() != Thread.State.BLOCKED) {
                        Thread.onSpinWait();
                    }
                    listener.recordingStateChanged(recording);
                    System.out.println("returned");
                });
                recording.enable(BeginEvent.class);
                recording.start();
            }
        }
    }

    /** At the end of a process, the recorder holds its lock while it calls its listeners. */
    @Test
    void aChangeWaitsForNoThreadThatWaitsForTheRecorder() throws Exception {
        assertThat(ChildProcess.java(AtTheEnd.class).run().assertSucceeded().out())
                .startsWith("returned");
    }

    private static Map<String, Long> events(Path file) throws Exception {
        return RecordingFile.readAllEvents(file).stream()
                .collect(Collectors.groupingBy(each -> each.getEventType().getName(), Collectors.counting()));
    }
}
