package org.brickprofiler.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import org.brickprofiler.Backend;
import org.brickprofiler.device.ClockConversion;
import org.brickprofiler.kernel.KernelTimings.CommandBuffer;
import org.brickprofiler.kernel.KernelTimings.CommandBuffer.Dispatch;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullAndEmptySource;

/** Command buffers and their dispatches. */
final class CommandBuffersTest {

    private static final ClockConversion MHZ_24 =
            ClockConversion.between(new ClockConversion.Pair(-1_000, 0), new ClockConversion.Pair(124_000, 3_000));

    private final KernelTimings timings = new KernelTimings();
    private final DispatchLog small = new DispatchLog(3, 2);

    @Test
    void addsUpCommandBuffersByLabel() {
        timings.recordCommandBuffer("decode", Backend.METAL, 100, 150);
        timings.recordCommandBuffer("decode", Backend.METAL, 200, 210);
        timings.recordCommandBuffer("decode", Backend.METAL, 300, 330);

        assertThat(timings.commandBuffers())
                .containsExactly(new CommandBuffer("decode", Backend.METAL, 3, 90, 10, 50, List.of()));
        assertThat(timings.snapshot()).as("kernels").isEmpty();
    }

    @Test
    void groupsInOrderOfFirstAppearance() {
        timings.recordDispatch("z", Backend.METAL, "rope", 0, 5, 9);
        timings.recordCommandBuffer("a", Backend.METAL, 10, 12);
        timings.recordDispatch("m", Backend.METAL, "gemm", 0, 20, 29);
        timings.recordCommandBuffer("z", Backend.METAL, 4, 10);
        timings.recordDispatch("a", Backend.METAL, "add", 7, 10, 11);
        timings.recordDispatch("z", Backend.METAL, "gemm", 1, 9, 10);

        assertThat(timings.commandBuffers())
                .containsExactly(
                        new CommandBuffer(
                                "z",
                                Backend.METAL,
                                1,
                                6,
                                6,
                                6,
                                List.of(new Dispatch("z", "rope", 0, 5, 9), new Dispatch("z", "gemm", 1, 9, 10))),
                        new CommandBuffer("a", Backend.METAL, 1, 2, 2, 2, List.of(new Dispatch("a", "add", 7, 10, 11))),
                        new CommandBuffer(
                                "m", Backend.METAL, 0, 0, 0, 0, List.of(new Dispatch("m", "gemm", 0, 20, 29))));
    }

    @Test
    void oneLabelOnTwoBackendsIsTwoLabels() {
        timings.recordDispatch("pass", Backend.METAL, "op", 0, 1, 2);
        timings.recordDispatch("pass", Backend.CUDA, "op", 0, 3, 5);

        assertThat(timings.commandBuffers())
                .extracting(CommandBuffer::backend)
                .containsExactly(Backend.METAL, Backend.CUDA);
        assertThat(timings.commandBuffers().get(1).dispatches()).containsExactly(new Dispatch("pass", "op", 0, 3, 5));
    }

    @Test
    void convertsTicks() {
        timings.recordCommandBuffer("pass", Backend.METAL, 30, 60, MHZ_24);
        timings.recordDispatch("pass", Backend.METAL, "op", 0, 31, 60, MHZ_24);

        CommandBuffer pass = timings.commandBuffers().get(0);
        assertThat(pass.totalNs()).isEqualTo(1_250);
        Dispatch dispatch = pass.dispatches().get(0);
        // 31 ticks are 1291.67 ns, 60 ticks 2500.
        assertThat(dispatch).isEqualTo(new Dispatch("pass", "op", 0, 292, 1_500));
        assertThat(dispatch.elapsedNs()).isEqualTo(1_208);
    }

    @Test
    void anEmptyIntervalCounts() {
        timings.recordCommandBuffer("pass", Backend.METAL, 7, 7);
        timings.recordCommandBuffer("pass", Backend.METAL, 7, 9);

        assertThat(timings.commandBuffers())
                .containsExactly(new CommandBuffer("pass", Backend.METAL, 2, 2, 0, 2, List.of()));
    }

    @Test
    void aReadingCannotBeChangedAndDoesNotChange() {
        timings.recordDispatch("pass", Backend.METAL, "op", 0, 1, 2);
        List<CommandBuffer> before = timings.commandBuffers();
        timings.recordDispatch("pass", Backend.METAL, "op", 1, 2, 3);
        timings.recordCommandBuffer("pass", Backend.METAL, 1, 3);

        assertThat(before).isUnmodifiable().hasSize(1);
        assertThat(before.get(0).dispatches()).isUnmodifiable().hasSize(1);
        assertThat(before.get(0).count()).isZero();
    }

    // ---- bounds ----

    @Spec("11.4")
    @Test
    void keepsTheFirstDispatchesAndCountsTheOthers() {
        try (CapturedLog log = new CapturedLog()) {
            for (int i = 0; i < 5; i++) {
                small.addDispatch("pass", Backend.CUDA, "op-" + i, i, i, i + 1);
            }
            small.addCommandBuffer("pass", Backend.CUDA, 9);

            assertThat(log.linesWith("'op-3' of 'pass'")).isEqualTo(1);
            assertThat(log.linesWith("")).isEqualTo(1);
        }
        assertThat(small.dropped()).isEqualTo(2);
        CommandBuffer pass = small.read().get(0);
        assertThat(pass.dispatches()).extracting(Dispatch::operation).containsExactly("op-0", "op-1", "op-2");
        assertThat(pass.totalNs()).isEqualTo(9);
    }

    @Test
    void resetMakesRoomAndBeginsTheOrderAnew() {
        for (int i = 0; i < 5; i++) {
            small.addDispatch(i % 2 == 0 ? "a" : "b", Backend.CUDA, "op", i, i, i + 1);
        }
        small.reset();
        assertThat(small.read()).isEmpty();
        assertThat(small.dropped()).isZero();

        small.addDispatch("b", Backend.CUDA, "new", 0, 8, 9);
        small.addCommandBuffer("a", Backend.CUDA, 4);
        assertThat(small.read())
                .containsExactly(
                        new CommandBuffer("b", Backend.CUDA, 0, 0, 0, 0, List.of(new Dispatch("b", "new", 0, 8, 9))),
                        new CommandBuffer("a", Backend.CUDA, 1, 4, 4, 4, List.of()));
    }

    @Spec("11.4")
    @Test
    void labelsPastTheBoundAreCountedTogetherOnTheirBackend() {
        try (CapturedLog log = new CapturedLog()) {
            for (int i = 0; i < 5; i++) {
                small.addCommandBuffer("label-" + i, Backend.CUDA, 1);
            }
            small.addCommandBuffer("label-0", Backend.METAL, 7);
            small.addCommandBuffer("label-0", Backend.CUDA, 1);

            assertThat(log.linesWith("'label-2'")).isEqualTo(1);
            assertThat(log.linesWith("")).isEqualTo(1);
        }
        assertThat(small.read())
                .extracting(CommandBuffer::label, CommandBuffer::count)
                .containsExactly(
                        tuple("label-0", 2L),
                        tuple("label-1", 1L),
                        tuple(KernelTimings.OTHER_NAMES, 3L),
                        tuple(KernelTimings.OTHER_NAMES, 1L));
    }

    @Spec("11.4")
    @Test
    void theBoundsAreThoseOfTheDocumentation() {
        for (int i = 0; i <= 262_144; i++) {
            timings.recordDispatch("label-" + i % 4_096, Backend.CPU, "op", i, i, i);
        }

        List<CommandBuffer> read = timings.commandBuffers();
        assertThat(read).hasSize(4_096);
        assertThat(read.stream().mapToInt(label -> label.dispatches().size()).sum())
                .isEqualTo(262_144);
        assertThat(timings.droppedDispatches()).isEqualTo(1);
    }

    // ---- refusals ----

    @ParameterizedTest
    @CsvSource({"-1, 5", "5, 4", "-7, -6", "9223372036854775807, 0"})
    void refusesInvalidIntervals(long start, long end) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.recordCommandBuffer("pass", Backend.METAL, start, end))
                .withMessageContaining("from tick " + start + " to tick " + end);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.recordDispatch("pass", Backend.METAL, "op", 0, start, end, MHZ_24))
                .withMessageContaining("from tick " + start + " to tick " + end);
        assertThat(timings.commandBuffers()).isEmpty();
    }

    @Test
    void refusesAnIntervalOfMoreThanALong() {
        ClockConversion slow =
                ClockConversion.between(new ClockConversion.Pair(Long.MIN_VALUE, 0), new ClockConversion.Pair(-2, 1));

        assertThat(slow.toHostNs(2)).isEqualTo(Long.MAX_VALUE - 3);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.recordCommandBuffer("pass", Backend.METAL, 0, 2, slow))
                .withMessageContaining("from tick 0 to tick 2")
                .withMessageContaining(slow.toString());
    }

    @ParameterizedTest
    @NullAndEmptySource
    void refusesNullAndEmptyTexts(String text) {
        String end = " must not be " + (text == null ? "null" : "empty");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.recordCommandBuffer(text, Backend.METAL, 1, 2))
                .withMessage("label" + end);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.recordDispatch(text, Backend.METAL, "op", 0, 1, 2))
                .withMessage("label" + end);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.recordDispatch("pass", Backend.METAL, text, 0, 1, 2))
                .withMessage("operation" + end);
        assertThat(timings.commandBuffers()).isEmpty();
    }

    @Test
    void refusesANegativeIndex() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.recordDispatch("pass", Backend.METAL, "op", -2, 1, 2))
                .withMessageContaining("index -2");
    }
}
