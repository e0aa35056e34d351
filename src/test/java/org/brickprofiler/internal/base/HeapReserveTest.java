package org.brickprofiler.internal.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class HeapReserveTest {

    @Test
    void givesItsMemoryBackOnce() {
        HeapReserve reserve = filled();
        assertThat(reserve.release()).isBetween(1L << 20, 5L << 20);
        assertThat(reserve.release()).isZero();
    }

    /** The thread that watches the heap may not get a processor before the virtual machine gives up. */
    @Test
    void oneHalfIsFreeOnceTheThreadThatMadeItHasEnded() throws Exception {
        CompletableFuture<HeapReserve> made = new CompletableFuture<>();
        Thread maker = new Thread(() -> made.complete(filled()));
        maker.start();
        HeapReserve reserve = made.get();
        maker.join();
        System.gc();
        assertThat(reserve.release()).isEqualTo(filled().release() / 2);
    }

    private static HeapReserve filled() {
        HeapReserve reserve = new HeapReserve(() -> {});
        reserve.awaitFilled();
        return reserve;
    }

    @Test
    void runsTheTaskAgainAfterAnOutOfMemoryError() throws IOException {
        HeapReserve reserve = new HeapReserve(() -> {});
        AtomicInteger attempts = new AtomicInteger();
        assertThat(reserve.run(() -> {
                    if (attempts.incrementAndGet() == 1) {
                        throw new OutOfMemoryError("no space");
                    } else if (attempts.get() == 2) {
                        throw new InternalError(new OutOfMemoryError("no space for the class of a lambda expression"));
                    }
                }))
                .isTrue();
        assertThat(attempts).hasValue(3);
        assertThat(reserve.release()).isZero();
    }

    @Test
    void givesUpAfterFiveAttempts() throws IOException {
        AtomicInteger attempts = new AtomicInteger();
        assertThat(new HeapReserve(() -> {}).run(() -> {
                    attempts.incrementAndGet();
                    throw new OutOfMemoryError("no space");
                }))
                .isFalse();
        assertThat(attempts).hasValue(5);
    }

    @Test
    void passesOtherErrorsOn() {
        HeapReserve reserve = new HeapReserve(() -> {});
        assertThatThrownBy(() -> reserve.run(() -> {
                    throw new NoClassDefFoundError("a.B");
                }))
                .isInstanceOf(NoClassDefFoundError.class);
        assertThatThrownBy(() -> reserve.run(() -> {
                    throw new InternalError("another reason");
                }))
                .hasMessage("another reason");
    }
}
