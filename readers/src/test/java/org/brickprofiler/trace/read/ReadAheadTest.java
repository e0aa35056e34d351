package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
@SuppressWarnings("InputStreamSlowMultibyteRead") // these streams may be slow
final class ReadAheadTest {

    private final Random random = new Random(3);

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1 << 17, (1 << 17) + 1, 3_000_000})
    void hasTheBytesOfTheStream(int length) throws IOException {
        byte[] bytes = bytes(length);

        try (ReadAhead ahead = new ReadAhead(new ByteArrayInputStream(bytes))) {
            assertThat(ahead.readAllBytes()).isEqualTo(bytes);
            assertThat(ahead.read()).isEqualTo(-1);
            assertThat(ahead.read(new byte[1])).isEqualTo(-1);
        }
    }

    /** The content of a stream, then a failure. */
    private static final class Failing extends InputStream {
        private final Throwable failure;
        private int left = 10;

        Failing(Throwable failure) {
            this.failure = failure;
        }

        @Override
        public int read() throws IOException {
            if (left-- > 0) {
                return left;
            }
            if (failure instanceof IOException failed) {
                throw failed;
            }
            throw (Error) failure;
        }

        @Override
        public int read(byte[] into, int from, int length) throws IOException {
            into[from] = (byte) read();
            return 1;
        }
    }

    @Test
    void aFailureComesAfterTheBytesBeforeItAndStays() throws IOException {
        for (Throwable failure : new Throwable[] {new IOException("no"), new OutOfMemoryError("no")}) {
            try (ReadAhead ahead = new ReadAhead(new Failing(failure))) {
                assertThat(ahead.readNBytes(10)).hasSize(10);
                assertThatThrownBy(ahead::read).isSameAs(failure);
                assertThatThrownBy(() -> ahead.read(new byte[4])).isSameAs(failure);
            }
        }
    }

    @Test
    void closeEndsItsThreadAndThenClosesTheStream() throws IOException {
        AtomicReference<Thread> reader = new AtomicReference<>();
        AtomicBoolean wasAlive = new AtomicBoolean(true);
        InputStream endless = new InputStream() {
            @Override
            public int read() {
                reader.set(Thread.currentThread());
                return 7;
            }

            @Override
            public void close() {
                wasAlive.set(reader.get().isAlive());
            }
        };
        try (ReadAhead ahead = new ReadAhead(endless)) {
            assertThat(ahead.readNBytes(1_000_000)).containsOnly(7);
        }
        assertThat(wasAlive).isFalse();
        assertThat(reader.get()).isNotSameAs(Thread.currentThread());
    }

    @Test
    void anInterruptEndsTheWaitForBytes() throws Exception {
        InputStream silent = new InputStream() {
            @Override
            public int read() throws IOException {
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException closed) {
                    throw new InterruptedIOException();
                }
                return -1;
            }
        };
        try (ReadAhead ahead = new ReadAhead(silent)) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(ahead::read).isInstanceOf(InterruptedIOException.class);
            assertThat(Thread.interrupted()).isTrue();
        }
    }
}
