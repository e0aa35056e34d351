package org.brickprofiler.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

@Spec("22.8")
final class HeapReserveTest {

    @Test
    void givesItsMemoryBackOnce() {
        HeapReserve reserve = new HeapReserve(() -> {});
        assertThat(reserve.release()).isBetween(1L << 20, 5L << 20);
        assertThat(reserve.release()).isZero();
    }
}
