package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class BrickScopeTest {

    private final FakeClock clock = new FakeClock();
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();

    BrickScopeTest() {
        profiler.enable();
    }

    private BrickStats stats() {
        return profiler.brickStats(BrickId.LM_HEAD);
    }

    @Test
    void timesUntilItIsClosed() {
        try (BrickScope scope = profiler.scope(BrickId.LM_HEAD, 7)) {
            assertThat(scope).isNotNull();
            clock.advance(40);
        }

        assertThat(stats().count()).isEqualTo(1);
        assertThat(stats().totalNs()).isEqualTo(40);
        assertThat(stats().totalElements()).isEqualTo(7);
    }

    @Spec("2.10")
    @Test
    void isClosedByAnException() {
        IllegalStateException thrown = new IllegalStateException("from the body");
        assertThatThrownBy(() -> {
                    try (BrickScope scope = profiler.scope(BrickId.LM_HEAD, 1)) {
                        assertThat(scope).isNotNull();
                        clock.advance(40);
                        throw thrown;
                    }
                })
                .isSameAs(thrown)
                .hasNoSuppressedExceptions();

        assertThat(stats().totalNs()).isEqualTo(40);
    }

    @Spec("2.10")
    @Test
    void closingItTwiceCountsOnce() {
        BrickScope scope = profiler.scope(BrickId.LM_HEAD, 1);
        clock.advance(40);
        scope.close();
        clock.advance(40);
        scope.close();

        assertThat(stats().count()).isEqualTo(1);
        assertThat(stats().totalNs()).isEqualTo(40);
    }

    @Test
    void recordsNothingWhereTheProfilerWasSwitchedOffMeanwhile() {
        BrickScope scope = profiler.scope(BrickId.LM_HEAD, 1);
        profiler.disable();
        scope.close();
        profiler.enable();
        scope.close();

        assertThat(stats().count()).isZero();
    }

    @Spec("2.10")
    @Test
    void isOneSharedNoOpWhileOff() {
        profiler.disable();
        BrickScope one = profiler.scope(BrickId.LM_HEAD, 1);
        BrickScope two = profiler.scope(BrickId.RMS_NORM, 2);
        profiler.enable();
        one.close();
        two.close();

        assertThat(one).isSameAs(two);
        assertThat(profiler.allBrickStats()).isEmpty();
        assertThat(profiler.scope(BrickId.LM_HEAD, 1)).isNotSameAs(one);
    }

    @Test
    void refusesNegativeElementsWhenItIsOpened() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.scope(BrickId.LM_HEAD, -2))
                .withMessageContaining("-2");
    }
}
