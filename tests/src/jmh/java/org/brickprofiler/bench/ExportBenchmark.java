package org.brickprofiler.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.export.WindowExport;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Measures the cost of exporting windows on the thread that steps: a step of 322 bricks with percentiles and some ms of
 * work, with windows that are written at the same time, and, as the floor, without windows.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(3)
public class ExportBenchmark {

    private static final int LAYERS = 14;

    /** The argument of {@link Blackhole#consumeCPU} in each brick. */
    private static final int WORK = 5_000;

    /** The length of a window. */
    public enum Windows {
        /** No windows. */
        NONE,
        /** A window for each second. */
        SECOND,
        /** A window for every ten steps. */
        TEN_STEPS
    }

    @Param
    private Windows windows;

    private final BrickProfiler profiler =
            BrickProfiler.builder().percentiles(true).build();
    private final BrickId[] bricks = BrickId.values();
    private Path folder;
    private @Nullable WindowExport export;
    private long position;

    @Setup
    public void start() throws IOException {
        profiler.enable();
        folder = Files.createTempDirectory("brick-export");
        export = switch (windows) {
            case NONE -> null;
            case SECOND -> WindowExport.start(profiler, Duration.ofSeconds(1), folder);
            case TEN_STEPS -> WindowExport.start(profiler, 10, folder);
        };
    }

    @TearDown(Level.Trial)
    public void end() throws IOException {
        if (export != null) {
            export.close();
            if (export.written() == 0 || export.failed() > 0) {
                throw new IllegalStateException(export.written() + " windows, " + export.failed() + " failed");
            }
            System.out.println(export.written() + " windows of " + position + " steps");
        }
        try (Stream<Path> all = Files.walk(folder)) {
            all.sorted(Comparator.reverseOrder()).forEach(file -> {
                try {
                    Files.delete(file);
                } catch (IOException failed) {
                    throw new UncheckedIOException(failed);
                }
            });
        }
    }

    @Benchmark
    public void step() {
        profiler.beginStep(StepInfo.decode(position++));
        for (int layer = 0; layer < LAYERS; layer++) {
            for (int i = 0; i < RecordingBenchmark.BRICKS; i++) {
                long timer = profiler.startBrick(bricks[i]);
                Blackhole.consumeCPU(WORK);
                profiler.stopBrick(timer, 1);
            }
        }
        profiler.endPass();
    }
}
