package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.spi.NanoClock;
import org.junit.jupiter.api.Test;

final class NanoClockTest {

    @Test
    void theSystemClockIsTheOneOfTheVirtualMachine() {
        long before = System.nanoTime();
        long read = NanoClock.SYSTEM.nanoTime();
        long after = System.nanoTime();

        assertThat(read - before).isNotNegative();
        assertThat(after - read).isNotNegative();
    }
}
