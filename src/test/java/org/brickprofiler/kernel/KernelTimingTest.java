package org.brickprofiler.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.brickprofiler.Backend;
import org.junit.jupiter.api.Test;

final class KernelTimingTest {

    @Test
    void derivesMillisecondsAndTheExactMean() {
        KernelTiming timing = new KernelTiming("a", Backend.CPU, 3, 5_000_000, 500_000, 2_500_000, 2_000_001);

        assertThat(timing.avgNs()).isEqualTo(5_000_000 / 3.0);
        assertThat(timing.avgMs()).isEqualTo(5_000_000 / 3.0 / 1e6);
        assertThat(timing.minMs()).isEqualTo(0.5);
        assertThat(timing.maxMs()).isEqualTo(2.5);
        assertThat(timing.lastMs()).isEqualTo(2.000001);
    }

    @Test
    void everythingIsZeroWithoutDispatches() {
        KernelTiming none = new KernelTiming("a", Backend.CPU, 0, 0, 0, 0, 0);

        assertThat(none.avgNs()).isZero();
        assertThat(none.avgMs()).isZero();
        assertThat(none.minMs()).isZero();
        assertThat(none.maxMs()).isZero();
        assertThat(none.lastMs()).isZero();
    }

    @Test
    void theOrderIsTheTotalThenTheNameThenTheBackend() {
        KernelTiming smaller = new KernelTiming("a", Backend.CPU, 1, 4, 4, 4, 4);
        KernelTiming cpu = new KernelTiming("b", Backend.CPU, 1, 5, 5, 5, 5);
        KernelTiming metal = new KernelTiming("b", Backend.METAL, 1, 5, 5, 5, 5);
        KernelTiming later = new KernelTiming("c", Backend.CPU, 1, 5, 5, 5, 5);

        assertThat(Stream.of(later, smaller, metal, cpu).sorted(KernelTiming.LARGEST_FIRST))
                .containsExactly(cpu, metal, later, smaller);
    }
}
