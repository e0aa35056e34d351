package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.device.CpuTimer;
import org.brickprofiler.device.ProbeTimer;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The recorder that is switched on from outside the program is the application's too. */
final class FileTracingTest {

    @TempDir
    Path folder;

    /** Runs in a process of its own: the setting is looked at once. */
    static final class Application {
        private Application() {}

        public static void main(String[] arguments) {
            boolean asksFirst = arguments[0].equals("asks first");
            Optional<TraceRecorder> before = asksFirst ? TraceRecorder.configured() : Optional.empty();
            BrickProfiler profiler = BrickProfiler.enabled();
            TraceRecorder recorder = TraceRecorder.configured().orElseThrow();
            if (asksFirst && before.orElseThrow() != recorder) {
                throw new AssertionError("two recorders");
            }
            profiler.time(BrickId.RMS_NORM, 1, () -> recorder.instant("first token"));
            recorder.counter("queue", "count").set(3);
            ProbeTimer.startIf(true, new CpuTimer(), recorder::push)
                    .orElseThrow()
                    .finishTraced("attention", "probe", 900_000);
        }
    }

    /** Nothing is set. */
    static final class Untraced {
        private Untraced() {}

        public static void main(String[] arguments) {
            if (TraceRecorder.configured().isPresent()) {
                throw new AssertionError("a recorder that nobody asked for");
            }
        }
    }

    private ChromeTrace traced(List<String> arguments) throws Exception {
        Path file = folder.resolve("all.json");
        ChildProcess.java(Application.class)
                .jvmOptions(List.of("-Dbrick.profiler.trace=" + file))
                .arguments(arguments)
                .run()
                .assertSucceeded();
        return new ChromeTrace(Files.readAllBytes(file));
    }

    private static void assertHoldsAll(ChromeTrace trace) {
        assertThat(trace.spans())
                .extracting(span -> span.get("name").textValue())
                .contains("RmsNorm", "attention");
        assertThat(trace.of("X", "probe"))
                .singleElement()
                .satisfies(probe -> assertThat(probe.get("tid").intValue()).isEqualTo(900_000));
        assertThat(trace.of("i"))
                .extracting(instant -> instant.get("name").textValue())
                .contains("first token");
        assertThat(trace.of("C")).singleElement().satisfies(value -> assertThat(
                        value.get("args").get("value").doubleValue())
                .isEqualTo(3));
    }

    @Spec("13.1")
    @Test
    void probesInstantsAndCountersOfTheApplicationAreInTheFile() throws Exception {
        ChromeTrace trace = traced(List.of("asks later"));

        assertHoldsAll(trace);
        JsonNode brick = trace.spans().stream()
                .filter(span -> span.get("name").textValue().equals("RmsNorm"))
                .findFirst()
                .orElseThrow();
        JsonNode instant = trace.of("i").get(0);
        assertThat(instant.get("tid")).as("on the line of its thread").isEqualTo(brick.get("tid"));
    }

    @Test
    void everyCallerGetsTheSameRecorder() throws Exception {
        assertHoldsAll(traced(List.of("asks first")));
    }

    @Test
    void thereIsNoRecorderWithoutASetting() throws Exception {
        ProcessResult result = ChildProcess.java(Untraced.class).run();

        result.assertSucceeded();
    }
}
