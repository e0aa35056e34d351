package org.brickprofiler.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import org.brickprofiler.Backend;
import org.brickprofiler.kernel.KernelSpeedup.Change;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class KernelSpeedupTest {

    private static KernelTiming timing(String name, Backend backend, long count, long totalNs) {
        return new KernelTiming(name, backend, count, totalNs, 0, totalNs, 0);
    }

    private static KernelTiming cpu(String name, long count, long totalNs) {
        return timing(name, Backend.CPU, count, totalNs);
    }

    @Spec("11.6")
    @Test
    void comparesMeansKernelByKernel() {
        KernelTiming before = cpu("matmul", 10, 1_000);
        KernelTiming after = cpu("matmul", 5, 200);
        KernelSpeedup speedup = KernelTimings.speedup(List.of(before), List.of(after));

        assertThat(speedup.changes()).containsExactly(new Change(before, after));
        Change change = speedup.changes().get(0);
        assertThat(change.name()).isEqualTo("matmul");
        assertThat(change.backend()).isEqualTo(Backend.CPU);
        assertThat(change.ratio()).isEqualTo(2.5);
        assertThat(change.totalChangeNs()).isEqualTo(-800);
        assertThat(speedup.onlyBefore()).isEmpty();
        assertThat(speedup.onlyAfter()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 1", "0, 5, 0", "5, 0, Infinity", "6, 3, 2", "3, 6, 0.5", "7, 7, 1"})
    void theRatioIsDefinedIfAMeanIsZero(long beforeNs, long afterNs, double ratio) {
        assertThat(new Change(cpu("a", 1, beforeNs), cpu("a", 1, afterNs)).ratio())
                .isEqualTo(ratio);
    }

    @Test
    void sortsByTheSizeOfTheChangeThenNameThenBackend() {
        KernelSpeedup speedup = KernelTimings.speedup(
                List.of(
                        cpu("little", 1, 10),
                        cpu("slower", 1, 10),
                        cpu("b", 1, 50),
                        timing("a", Backend.METAL, 1, 50),
                        cpu("a", 1, 50),
                        cpu("faster", 1, 100)),
                List.of(
                        cpu("little", 1, 11),
                        cpu("slower", 1, 1_000),
                        cpu("b", 1, 60),
                        timing("a", Backend.METAL, 1, 40),
                        cpu("a", 1, 60),
                        cpu("faster", 1, 10)));

        assertThat(speedup.changes())
                .extracting(Change::name, Change::backend)
                .containsExactly(
                        tuple("slower", Backend.CPU),
                        tuple("faster", Backend.CPU),
                        tuple("a", Backend.CPU),
                        tuple("a", Backend.METAL),
                        tuple("b", Backend.CPU),
                        tuple("little", Backend.CPU));
    }

    @Spec("11.6")
    @Test
    void listsKernelsThatOnlyOneSideHas() {
        KernelTiming gone = cpu("gone", 1, 5);
        KernelTiming goneLarger = cpu("gone too", 1, 6);
        KernelTiming moved = timing("moved", Backend.CUDA, 1, 9);
        KernelTiming created = cpu("created", 1, 4);
        KernelSpeedup speedup =
                KernelTimings.speedup(List.of(gone, goneLarger, cpu("moved", 1, 9)), List.of(created, moved));

        assertThat(speedup.changes()).isEmpty();
        assertThat(speedup.onlyBefore()).containsExactly(cpu("moved", 1, 9), goneLarger, gone);
        assertThat(speedup.onlyAfter()).containsExactly(moved, created);
        assertThat(speedup.onlyBefore()).isUnmodifiable();
        assertThat(speedup.onlyAfter()).isUnmodifiable();
        assertThat(speedup.changes()).isUnmodifiable();
    }

    @Test
    void aKernelWithoutDispatchesIsLeftOut() {
        KernelSpeedup speedup = KernelTimings.speedup(List.of(cpu("a", 0, 0), cpu("b", 0, 0)), List.of(cpu("a", 1, 3)));

        assertThat(speedup.changes()).isEmpty();
        assertThat(speedup.onlyBefore()).isEmpty();
        assertThat(speedup.onlyAfter()).containsExactly(cpu("a", 1, 3));
    }

    @Test
    void twoEmptySidesHaveAnEmptyComparison() {
        assertThat(KernelTimings.speedup(List.of(), List.of()))
                .isEqualTo(new KernelSpeedup(List.of(), List.of(), List.of()));
    }

    @Test
    void refusesAKernelThatIsTwiceOnOneSide() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> KernelTimings.speedup(List.of(cpu("a", 1, 1), cpu("a", 2, 2)), List.of()))
                .withMessageContaining("'a' on CPU occurs twice in the timings before");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> KernelTimings.speedup(List.of(), List.of(cpu("b", 1, 1), cpu("b", 2, 2))))
                .withMessageContaining("'b' on CPU occurs twice in the timings after");
    }

    @Test
    void refusesToCompareTwoKernels() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Change(cpu("a", 1, 1), cpu("b", 1, 1)))
                .withMessageContaining("'a' on CPU and 'b' on CPU");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Change(cpu("a", 1, 1), timing("a", Backend.CUDA, 1, 1)))
                .withMessageContaining("'a' on CPU and 'a' on CUDA");
    }
}
