package org.brickprofiler.internal.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CyclicBarrier;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.junit.jupiter.api.Test;

/** The data of marks takes memory only as marks are set, also if several threads set them at once. */
class MarkGrowthTest {

    private static final int MAX_MARKS = 1 << 16;
    private static final int THREADS = 6;

    private final FakeClock clock = new FakeClock(1_000);
    private final TableRegistry bricks = new TableRegistry(1, false);

    private DeviceRecorder recorder(SimulatedStream stream) {
        return new DeviceRecorder(clock, bricks, List.of(stream), 1, DeviceRecorder.Tracing.NONE);
    }

    @Test
    void aRecorderWithoutMarksTakesNoRoomForThem() {
        SimulatedStream large = new SimulatedStream("large", clock, MAX_MARKS);
        SimulatedStream small = new SimulatedStream("small", clock, 16);
        recorder(large);
        long bytes =
                AllocatedBytes.ofCalls(1, () -> recorder(large)) - AllocatedBytes.ofCalls(1, () -> recorder(small));
        assertThat(bytes).isLessThan(8 * 1_024);
    }

    @Test
    void threadsMaySetTheFirstMarksOfAllAtOnce() throws Exception {
        for (int round = 0; round < 5; round++) {
            SimulatedStream stream = new SimulatedStream("stream", clock, MAX_MARKS);
            DeviceRecorder recorder = recorder(stream);
            CyclicBarrier begin = new CyclicBarrier(THREADS);
            Crew crew = new Crew();
            for (int thread = 0; thread < THREADS; thread++) {
                crew.run(() -> {
                    begin.await();
                    long timer = recorder.start(0, 0);
                    for (int i = 1; i < 4_000; i++) {
                        timer = recorder.lap(timer, 1, 0);
                    }
                    recorder.stop(timer, 1);
                });
            }
            crew.join();
            long before = bricks.read().row(0).count();
            recorder.endPass(0, true);
            assertThat(bricks.read().row(0).count() - before).isEqualTo(THREADS * 4_000L);
            assertThat(recorder.figures(0, 1).unresolved(0)).isZero();
            assertThat(stream.marksHeld()).isZero();
        }
    }
}
