package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class AheadTest {

    @Test
    void passesAFailureOn() {
        Ahead<String> unreadable = Ahead.begin("ahead", () -> {
            throw new IOException("no file");
        });
        assertThatThrownBy(unreadable::get).isInstanceOf(IOException.class).hasMessage("no file");

        Ahead<String> malformed = Ahead.begin("ahead", () -> {
            throw new IllegalArgumentException("no rule");
        });
        assertThatThrownBy(malformed::get)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("no rule");
    }

    @Test
    void waitsForTheValueInAnInterruptedThreadToo() throws IOException {
        CountDownLatch isInterrupted = new CountDownLatch(1);
        Ahead<String> ahead = Ahead.begin("ahead", () -> {
            try {
                isInterrupted.await();
            } catch (InterruptedException never) {
                throw new IOException(never);
            }
            return "value";
        });
        Thread.currentThread().interrupt();
        isInterrupted.countDown();

        assertThat(ahead.get()).isEqualTo("value");
        assertThat(Thread.interrupted()).isTrue();
    }
}
