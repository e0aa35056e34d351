package org.brickprofiler.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests of allocation rely on {@link AllocatedBytes} to count each allocated byte, and none if nothing allocates. */
class AllocatedBytesTest {

    private static final int KILOBYTE = 1024;

    private static volatile byte[] kept = {};

    @Test
    void eachCallIsCounted() {
        assertThat(AllocatedBytes.ofCalls(1_000, () -> kept = new byte[KILOBYTE]))
                .isGreaterThanOrEqualTo(1_000 * KILOBYTE);
        assertThat(AllocatedBytes.of(() -> kept = new byte[KILOBYTE])).isBetween((long) KILOBYTE, 1_000L * KILOBYTE);
    }

    @Test
    void oneByteInEveryStretchIsSeen() {
        AtomicInteger stretches = new AtomicInteger();
        long fewest = AllocatedBytes.fewest(10, () -> {
            stretches.incrementAndGet();
            return AllocatedBytes.of(() -> kept = new byte[1]);
        });
        assertThat(fewest).isPositive();
        assertThat(stretches).hasValue(10);
    }

    @Test
    void theFirstStretchThatAllocatesNothingIsTheLast() {
        AtomicInteger stretches = new AtomicInteger();
        long[] bytes = {16, 0, 8};
        assertThat(AllocatedBytes.fewest(3, () -> bytes[stretches.getAndIncrement()]))
                .isZero();
        assertThat(stretches).hasValue(2);
        assertThat(AllocatedBytes.fewest(10, () -> AllocatedBytes.of(stretches::incrementAndGet)))
                .isZero();
    }
}
