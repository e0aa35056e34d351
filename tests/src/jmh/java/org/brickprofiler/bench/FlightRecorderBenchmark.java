package org.brickprofiler.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.jfr.BrickEvents;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Measures a sample beside the flight recorder, 23 bricks in rotation. The floor is the profiler without events. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
@OperationsPerInvocation(RecordingBenchmark.BRICKS)
public class FlightRecorderBenchmark {

    /** The recording that runs at the same time. */
    public enum Beside {
        /** None: the floor. */
        NOTHING,
        /** {@link BrickEvents}, and no recording. */
        EVENTS,
        /** A recording with steps, in which executions are off. */
        STEPS,
        /** A recording with executions. */
        EXECUTIONS
    }

    @Param
    private Beside beside;

    private final BrickId[] ids = Arrays.copyOf(BrickId.values(), RecordingBenchmark.BRICKS);
    private final BrickProfiler profiler = BrickProfiler.enabled();
    private final Recording recording = new Recording();

    @Setup
    public void prepare() {
        if (beside != Beside.NOTHING) {
            BrickEvents.of(profiler);
        }
        if (beside == Beside.EXECUTIONS) {
            recording.enable("brick.Execution");
        }
        if (beside == Beside.STEPS || beside == Beside.EXECUTIONS) {
            recording.setMaxSize(64 << 20);
            recording.start();
        }
    }

    /** Checks that the recording of executions has at least 1 MiB. */
    @TearDown(Level.Trial)
    public void check() {
        if (beside == Beside.EXECUTIONS) {
            try {
                Path file = Files.createTempFile("executions", ".jfr");
                recording.stop();
                recording.dump(file);
                long bytes = Files.size(file);
                Files.delete(file);
                if (bytes < 1 << 20) {
                    throw new IllegalStateException("only " + bytes + " bytes were recorded");
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        recording.close();
    }

    @Benchmark
    public void startStop() {
        for (BrickId id : ids) {
            profiler.stopBrick(profiler.startBrick(id), 1);
        }
    }
}
