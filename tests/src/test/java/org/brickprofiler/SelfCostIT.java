package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Measuring the profiler's own cost has no visible effect on a program. */
final class SelfCostIT {

    private static final int BRICKS = 10;

    @TempDir
    private Path folder;

    /** Records ten bricks, and takes a snapshot once its cost is known. */
    static final class Traced {
        public static void main(String[] args) {
            BrickProfiler profiler = BrickProfiler.enabled();
            for (int i = 0; i < BRICKS; i++) {
                profiler.stopBrick(profiler.startBrick(BrickId.RMS_NORM), 1);
            }
            ProfileSnapshot snapshot = profiler.snapshot();
            for (int i = 0; snapshot.overheadNs() == 0 && i < 10_000; i++) {
                LockSupport.parkNanos(1_000_000);
                snapshot = profiler.snapshot();
            }
            System.out.println(snapshot.samples() + " samples, own cost known: " + (snapshot.overheadNs() > 0));
        }
    }

    @Test
    void noSampleOfTheMeasurementIsInATraceThatAPropertySwitchesOn() throws IOException {
        Path trace = folder.resolve("t.pftrace");
        ProcessResult result = ChildProcess.java(Traced.class)
                .jvmOptions(List.of("-Dbrick.profiler.trace=" + trace))
                .run();
        assertThat(result.assertSucceeded().out()).contains("10 samples, own cost known: true");
        assertThat(TraceReader.profile(trace, ReadOptions.defaults().withKeepWarmup(true))
                        .snapshot()
                        .samples())
                .isEqualTo(BRICKS);
    }
}
