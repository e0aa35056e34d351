package org.brickprofiler.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.Backend;
import org.brickprofiler.device.ClockConversion;
import org.brickprofiler.device.DispatchTimer;
import org.brickprofiler.device.HostStream;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Recording allocates nothing in its steady state. */
final class KernelAllocationTest {

    private static final int CALLS = 100_000;
    private static final int STRETCHES = 10;
    private static final int KERNELS = 23;

    private static final ClockConversion CLOCK = ClockConversion.between(
            new ClockConversion.Pair(5, 7), new ClockConversion.Pair(3_600_000_000_001L, 86_400_000_077L));

    private final KernelTimings timings = new KernelTimings();
    private final String[] names = new String[KERNELS];
    private int turn;

    KernelAllocationTest() {
        for (int i = 0; i < KERNELS; i++) {
            names[i] = "kernel-" + i;
        }
    }

    private String next() {
        turn = turn + 1 == KERNELS ? 0 : turn + 1;
        return names[turn];
    }

    /** Returns the fewest bytes that one of several stretches of calls allocates. */
    private static long bytesOf(Runnable path) {
        return AllocatedBytes.fewest(STRETCHES, () -> AllocatedBytes.ofCalls(CALLS, path));
    }

    @Spec("11.3")
    @Test
    void recordingAKernelAllocatesNothing() {
        assertThat(bytesOf(() -> timings.record(next(), Backend.CUDA, turn))).isZero();
    }

    @Test
    void recordingAKernelWhileOffAllocatesNothing() {
        timings.disable();
        assertThat(bytesOf(() -> timings.record(next(), Backend.CUDA, turn))).isZero();
    }

    @Test
    void timingADispatchAllocatesNothing() {
        HostStream stream = new HostStream();
        DispatchTimer dispatches = new DispatchTimer(stream, 2 * CALLS);
        Runnable dispatch = () -> turn++;
        // Marks are created when they are first needed, so only the first stretches allocate.
        assertThat(AllocatedBytes.fewest(STRETCHES, () -> {
                    long bytes = AllocatedBytes.ofCalls(CALLS / 10, () -> dispatches.time("kernel", dispatch));
                    dispatches.drain(Backend.CPU, timings::record);
                    return bytes;
                }))
                .isZero();
        assertThat(bytesOf(() -> timings.time("kernel", dispatch))).isZero();
    }

    @Test
    void recordingACommandBufferAllocatesNothing() {
        assertThat(bytesOf(() -> timings.recordCommandBuffer(next(), Backend.METAL, turn, 2L * turn, CLOCK)))
                .isZero();
    }

    @Test
    void recordingADispatchAllocatesNothingOnceTheColumnsAreLongEnough() {
        for (int i = 0; i < CALLS + KERNELS; i++) {
            timings.recordDispatch(next(), Backend.METAL, "op", turn, turn, 2L * turn, CLOCK);
        }
        // The columns stay; the labels are new, and created before the counted part.
        timings.reset();
        for (String name : names) {
            timings.recordDispatch(name, Backend.METAL, "op", 0, 1, 2, CLOCK);
        }

        assertThat(AllocatedBytes.ofCalls(
                        CALLS, () -> timings.recordDispatch(next(), Backend.METAL, "op", turn, turn, 2L * turn, CLOCK)))
                .isZero();
        assertThat(timings.droppedDispatches()).isZero();
    }

    @Test
    void droppingADispatchAllocatesNothing() {
        for (int i = 0; i <= DispatchLog.MAX_DISPATCHES; i++) {
            timings.recordDispatch(next(), Backend.METAL, "op", turn, turn, 2L * turn, CLOCK);
        }

        assertThat(bytesOf(() -> timings.recordDispatch(next(), Backend.METAL, "op", turn, turn, 2L * turn, CLOCK)))
                .isZero();
        assertThat(timings.droppedDispatches()).isGreaterThan(CALLS);
    }
}
