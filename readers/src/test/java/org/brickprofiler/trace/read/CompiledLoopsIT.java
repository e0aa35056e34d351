package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.jfr.BrickEvents;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.jfr.VirtualMachineStops;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whether lines are in doubt in a virtual machine whose compiled loops have no safepoints, and in its recording. */
final class CompiledLoopsIT {

    @TempDir
    private Path folder;

    @Spec("13.19")
    @ParameterizedTest
    @CsvSource({
        "-XX:+UseSerialGC, true",
        "-XX:+UseParallelGC, true",
        "-XX:+UseG1GC, false",
        "-XX:+UseSerialGC -XX:+UseCountedLoopSafepoints -XX:LoopStripMiningIter=1000, false",
        "-XX:+UseSerialGC -XX:TieredStopAtLevel=1, false"
    })
    void linesAreInDoubtIfCompiledLoopsHaveNoSafepoints(String options, boolean isDoubted) throws Exception {
        Path file = folder.resolve("engine.jfr");
        String printed = ChildProcess.java(Engine.class)
                .jvmOptions(List.of("-XX:TieredStopAtLevel=4"))
                .jvmOptions(List.of(options.split(" ")))
                .arguments(List.of(file.toString()))
                .run()
                .assertSucceeded()
                .out();
        LineProfile read = TraceReader.profile(file).lines().orElseThrow();

        assertThat(printed.contains("Methods and lines may be wrong: loops that C2 compiled have no safepoints"))
                .as(printed)
                .isEqualTo(isDoubted);
        assertThat(read.doubt().isPresent()).as(read.text()).isEqualTo(isDoubted);
    }

    /** An engine that is sampled for a second. */
    static final class Engine {

        private static float result;

        private Engine() {}

        /** Writes its recording into a file, and prints its lines. */
        public static void main(String[] file) throws Exception {
            TraceRecorder recorder = TraceRecorder.builder().lines(true).build();
            BrickProfiler profiler = BrickProfiler.builder().tracing(recorder).build();
            profiler.enable();
            BrickEvents.of(profiler);
            try (VirtualMachineStops stops = VirtualMachineStops.of(recorder);
                    Recording recording = new Recording(Configuration.getConfiguration("profile"))) {
                recording.enable("brick.Execution");
                recording.start();
                long untilNs = System.nanoTime() + 1_000_000_000;
                while (System.nanoTime() < untilNs) {
                    long timer = profiler.startBrick(BrickId.UP_PROJECTION);
                    project();
                    profiler.stopBrick(timer, 1);
                }
                recording.stop();
                recording.dump(Path.of(file[0]));
                stops.close();
            }
            System.out.println(recorder.lines().orElseThrow().text() + result);
        }

        private static void project() {
            for (int i = 0; i < 40_000; i++) {
                result += i * 0.5f;
            }
        }
    }
}
