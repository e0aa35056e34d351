package org.brickprofiler.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import org.brickprofiler.Backend;
import org.brickprofiler.device.DeviceTimer;
import org.brickprofiler.device.StreamTimer;
import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullAndEmptySource;

final class KernelTimingsTest {

    private final FakeClock clock = new FakeClock(500);
    private final KernelTimings timings = new KernelTimings(clock);

    /** Records each duration at an instant of its own. */
    private void record(String name, Backend backend, long... elapsedNs) {
        for (long each : elapsedNs) {
            clock.advance(1);
            timings.record(name, backend, each);
        }
    }

    // ---- recording ----

    @Test
    void isEmptyAtFirst() {
        assertThat(timings.snapshot()).isEmpty();
        assertThat(timings.commandBuffers()).isEmpty();
        assertThat(timings.droppedDispatches()).isZero();
    }

    @Test
    void addsUpByKernel() {
        record("matmul", Backend.CUDA, 40, 10, 30);

        assertThat(timings.snapshot()).containsExactly(new KernelTiming("matmul", Backend.CUDA, 3, 80, 10, 40, 30));
    }

    @Test
    void aZeroDurationIsADispatch() {
        record("nop", Backend.METAL, 0);

        assertThat(timings.snapshot()).containsExactly(new KernelTiming("nop", Backend.METAL, 1, 0, 0, 0, 0));
    }

    @Test
    void aDispatchOnTheHostIsTimedAndItsResultReturned() {
        assertThat(timings.<String>time("blur", () -> {
                    clock.advance(70);
                    return "done";
                }))
                .isEqualTo("done");
        timings.time("blur", () -> clock.advance(30));
        assertThatThrownBy(() -> timings.time("blur", (Runnable) () -> {
                    clock.advance(5);
                    throw new IllegalStateException("no blur");
                }))
                .hasMessage("no blur");

        assertThat(timings.snapshot()).containsExactly(new KernelTiming("blur", Backend.CPU, 3, 105, 5, 70, 5));
    }

    @Test
    void aDispatchOnADeviceIsTimedThere() {
        SimulatedStream stream = new SimulatedStream("decode", clock);
        DeviceTimer timer = new StreamTimer(stream);
        timings.time("matmul", Backend.CUDA, timer, () -> stream.work(700));
        timings.time("matmul", Backend.CUDA, timer, () -> stream.work(900));
        stream.capture(true);
        timings.time("matmul", Backend.CUDA, timer, () -> stream.work(0));

        assertThat(timings.snapshot())
                .containsExactly(new KernelTiming("matmul", Backend.CUDA, 2, 1_600, 700, 900, 900));
        assertThat(stream.waits()).isEqualTo(2);
    }

    @Test
    void whileOffADispatchRunsAndNoClockIsRead() {
        SimulatedStream stream = new SimulatedStream("decode", clock);
        timings.disable();
        long reads = clock.reads();
        int[] runs = {0};
        timings.time("blur", () -> runs[0]++);
        timings.time("blur", Backend.CUDA, new StreamTimer(stream), () -> runs[0]++);

        assertThat(runs[0]).isEqualTo(2);
        assertThat(clock.reads()).isEqualTo(reads);
        assertThat(stream.marksSet()).isZero();
        assertThat(timings.snapshot()).isEmpty();
    }

    @Test
    @SuppressWarnings("NullAway") // refused arguments
    void aDispatchThatIsRefusedIsNotRun() {
        int[] runs = {0};
        Runnable dispatch = () -> runs[0]++;
        DeviceTimer timer = new StreamTimer(new SimulatedStream("decode", clock));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.time("", dispatch))
                .withMessageContaining("name");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.time("blur", (Runnable) null))
                .withMessageContaining("dispatch");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.time("blur", null, timer, dispatch))
                .withMessageContaining("backend");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.time("blur", Backend.CUDA, null, dispatch))
                .withMessageContaining("timer");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.time("blur", Backend.CUDA, timer, null))
                .withMessageContaining("dispatch");
        assertThat(runs[0]).isZero();
        assertThat(timings.snapshot()).isEmpty();
    }

    @Spec("11.1")
    @Test
    void oneNameOnTwoBackendsIsTwoKernels() {
        record("blur", Backend.CPU, 100);
        record("blur", Backend.METAL, 7, 8);

        assertThat(timings.snapshot())
                .containsExactly(
                        new KernelTiming("blur", Backend.CPU, 1, 100, 100, 100, 100),
                        new KernelTiming("blur", Backend.METAL, 2, 15, 7, 8, 8));
    }

    @Test
    void sortsByTotalThenNameThenBackend() {
        record("b", Backend.CPU, 5, 5);
        record("a", Backend.METAL, 10);
        record("a", Backend.CPU, 10);
        record("large", Backend.CUDA, 11);
        record("small", Backend.CPU, 9);

        assertThat(timings.snapshot())
                .extracting(KernelTiming::name, KernelTiming::backend)
                .containsExactly(
                        tuple("large", Backend.CUDA),
                        tuple("a", Backend.CPU),
                        tuple("a", Backend.METAL),
                        tuple("b", Backend.CPU),
                        tuple("small", Backend.CPU));
    }

    @Test
    void aSnapshotCannotBeChangedAndDoesNotChange() {
        record("a", Backend.CPU, 1);
        List<KernelTiming> before = timings.snapshot();
        record("a", Backend.CPU, 2);

        assertThat(before)
                .containsExactly(new KernelTiming("a", Backend.CPU, 1, 1, 1, 1, 1))
                .isUnmodifiable();
    }

    @Spec("11.1")
    @Test
    void objectsDoNotShareTheirRecords() {
        record("a", Backend.CPU, 1);

        assertThat(new KernelTimings().snapshot()).isEmpty();
    }

    @Spec("11.1")
    @Test
    void oneObjectIsGlobalInTheVirtualMachine() {
        KernelTimings global = KernelTimings.global();
        global.reset();
        global.record("shared", Backend.CPU, 3);

        assertThat(KernelTimings.global()).isSameAs(global);
        assertThat(KernelTimings.global().isEnabled()).isTrue();
        assertThat(KernelTimings.global().snapshot()).hasSize(1);
        global.reset();
    }

    // ---- the switch ----

    @Test
    void isOnUntilDisabled() {
        assertThat(new KernelTimings().isEnabled()).isTrue();
        timings.disable();
        assertThat(timings.isEnabled()).isFalse();
        timings.enable();
        assertThat(timings.isEnabled()).isTrue();
    }

    @Test
    void recordsNothingWhileOffAndKeepsItsRecords() {
        record("a", Backend.CPU, 1);
        timings.disable();
        long reads = clock.reads();
        timings.record("a", Backend.CPU, 2);
        timings.recordCommandBuffer("pass", Backend.CPU, 1, 2);
        timings.recordDispatch("pass", Backend.CPU, "a", 0, 1, 2);

        assertThat(clock.reads()).isEqualTo(reads);
        assertThat(timings.snapshot()).extracting(KernelTiming::totalNs).containsExactly(1L);
        assertThat(timings.commandBuffers()).isEmpty();

        timings.enable();
        record("a", Backend.CPU, 4);
        assertThat(timings.snapshot()).extracting(KernelTiming::totalNs).containsExactly(5L);
    }

    // ---- resets ----

    @Test
    void resetForgetsEverything() {
        record("a", Backend.CPU, 50);
        record("b", Backend.CUDA, 1);
        timings.recordCommandBuffer("pass", Backend.CUDA, 1, 2);
        timings.reset();

        assertThat(timings.snapshot()).isEmpty();
        assertThat(timings.commandBuffers()).isEmpty();

        record("a", Backend.CPU, 7);
        assertThat(timings.snapshot()).containsExactly(new KernelTiming("a", Backend.CPU, 1, 7, 7, 7, 7));
    }

    @Test
    void snapshotAndResetReturnsTheDiscardedRecords() {
        record("a", Backend.CPU, 50);
        record("b", Backend.CUDA, 60);
        timings.recordCommandBuffer("pass", Backend.CUDA, 1, 2);

        assertThat(timings.snapshotAndReset()).extracting(KernelTiming::name).containsExactly("b", "a");
        assertThat(timings.snapshot()).isEmpty();
        assertThat(timings.commandBuffers()).hasSize(1);
    }

    // ---- names ----

    @Spec("11.4")
    @Test
    void namesPastTheBoundAreCountedTogetherOnTheirBackend() {
        int room = TimerToken.MAX_KEY;
        try (CapturedLog log = new CapturedLog()) {
            for (int i = 0; i < room + 3; i++) {
                timings.record("kernel-" + i, Backend.CUDA, 1);
            }
            timings.record("kernel-0", Backend.CPU, 9);

            assertThat(log.linesWith(KernelTimings.OTHER_NAMES)).isEqualTo(1);
            assertThat(log.linesWith("'kernel-" + room + "'")).isEqualTo(1);
        }
        assertThat(room).isGreaterThanOrEqualTo(4_000);
        assertThat(timings.snapshot())
                .hasSize(room + 2)
                .contains(
                        new KernelTiming(KernelTimings.OTHER_NAMES, Backend.CUDA, 3, 3, 1, 1, 1),
                        new KernelTiming("kernel-0", Backend.CPU, 1, 9, 9, 9, 9),
                        new KernelTiming("kernel-0", Backend.CUDA, 1, 1, 1, 1, 1));
    }

    // ---- refusals ----

    @ParameterizedTest
    @NullAndEmptySource
    void refusesNullAndEmptyNames(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.record(name, Backend.CPU, 1))
                .withMessageContaining("name must not be " + (name == null ? "null" : "empty"));
        assertThat(timings.snapshot()).isEmpty();
    }

    @Test
    void refusesANegativeDurationAlsoWhileOff() {
        record("a", Backend.CPU, 5);
        timings.disable();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.record("a", Backend.CPU, -17))
                .withMessageContaining("elapsedNs -17");
        assertThat(timings.snapshot()).extracting(KernelTiming::dispatchCount).containsExactly(1L);
    }

    @Test
    @SuppressWarnings("NullAway") // null is the subject of the test
    void refusesANullBackend() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.record("a", null, 1))
                .withMessageContaining("backend must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.recordCommandBuffer("a", null, 1, 2))
                .withMessageContaining("backend must not be null");
    }
}
