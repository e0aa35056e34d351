package org.brickprofiler.kernel;

import static org.assertj.core.api.Assertions.assertThat;

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
}
