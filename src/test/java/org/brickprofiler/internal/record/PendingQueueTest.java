package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.FutureTask;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.brickprofiler.testing.Crew;
import org.junit.jupiter.api.Test;

final class PendingQueueTest {

    private record Measurement(int key, long startNs, long elements) {}

    private static Measurement measurement(long n) {
        return new Measurement((int) (n % (TimerToken.MAX_KEY + 1)), -n, 3 * n);
    }

    private static boolean offer(PendingQueue queue, long n) {
        Measurement m = measurement(n);
        return queue.offer(m.key, m.startNs, m.elements);
    }

    private static List<Measurement> drain(PendingQueue queue) {
        List<Measurement> drained = new ArrayList<>();
        queue.drainTo((key, startNs, elements) -> drained.add(new Measurement(key, startNs, elements)));
        return drained;
    }

    @Test
    void isEmptyAtFirst() {
        PendingQueue queue = new PendingQueue();

        assertThat(queue.size()).isZero();
        assertThat(drain(queue)).isEmpty();
    }

    @Test
    void givesMeasurementsInTheOrderTheyCame() {
        PendingQueue queue = new PendingQueue();
        for (int n = 0; n < 10; n++) {
            assertThat(offer(queue, n)).isTrue();
        }

        assertThat(queue.size()).isEqualTo(10);
        List<Measurement> drained = drain(queue);
        assertThat(drained).hasSize(10);
        for (int n = 0; n < 10; n++) {
            assertThat(drained.get(n)).isEqualTo(measurement(n));
        }
        assertThat(queue.size()).isZero();
        assertThat(drain(queue)).isEmpty();
    }

    @Test
    void keepsExtremeNumbers() {
        PendingQueue queue = new PendingQueue();
        assertThat(queue.offer(TimerToken.MAX_KEY, Long.MIN_VALUE, Long.MAX_VALUE))
                .isTrue();

        assertThat(drain(queue)).containsExactly(new Measurement(TimerToken.MAX_KEY, Long.MIN_VALUE, Long.MAX_VALUE));
    }

    /** Batches that do not divide the ring's size, so that it wraps at every place. */
    @Test
    void wraps() {
        PendingQueue queue = new PendingQueue();
        long put = 0;
        long taken = 0;
        for (int round = 0; round < 200; round++) {
            for (int i = 0; i < 101; i++) {
                assertThat(offer(queue, put++)).isTrue();
            }
            for (Measurement drained : drain(queue)) {
                assertThat(drained).isEqualTo(measurement(taken++));
            }
        }
        assertThat(taken).isEqualTo(put);
    }

    @Test
    void growsWhereItIsNotDrained() {
        PendingQueue queue = new PendingQueue();
        for (int n = 0; n < 5_000; n++) {
            assertThat(offer(queue, n)).isTrue();
        }

        assertThat(queue.size()).isEqualTo(5_000);
        List<Measurement> drained = drain(queue);
        assertThat(drained).hasSize(5_000);
        for (int n = 0; n < 5_000; n++) {
            assertThat(drained.get(n)).isEqualTo(measurement(n));
        }
    }

    @Test
    void refusesWhatIsPastItsBoundAndTakesMoreOnceDrained() {
        PendingQueue queue = new PendingQueue();
        for (int n = 0; n < PendingQueue.BOUND; n++) {
            if (!offer(queue, n)) {
                throw new AssertionError("refused after " + n);
            }
        }

        assertThat(offer(queue, 0)).isFalse();
        assertThat(offer(queue, 0)).isFalse();
        assertThat(queue.size()).isEqualTo(PendingQueue.BOUND);

        long[] seen = {0};
        queue.drainTo((key, startNs, elements) -> {
            if (startNs != -seen[0]) {
                throw new AssertionError("got " + startNs + " at place " + seen[0]);
            }
            seen[0]++;
        });
        assertThat(seen[0]).isEqualTo(PendingQueue.BOUND);
        assertThat(offer(queue, 7)).isTrue();
        assertThat(drain(queue)).containsExactly(measurement(7));
    }

    @Test
    void theBoundHoldsWhereTheRingIsPartlyDrained() {
        PendingQueue queue = new PendingQueue();
        for (int round = 0; round < 3; round++) {
            int taken = 0;
            while (offer(queue, taken)) {
                taken++;
            }
            assertThat(taken).isEqualTo(PendingQueue.BOUND);
            queue.drainTo((key, startNs, elements) -> {});
            for (int n = 0; n < 300_001; n++) {
                assertThat(offer(queue, n)).isTrue();
            }
            queue.drainTo((key, startNs, elements) -> {});
        }
    }

    @Property(tries = 200)
    void behavesAsAPlainQueue(@ForAll @Size(max = 30) List<@IntRange(max = 700) Integer> batches) {
        PendingQueue queue = new PendingQueue();
        Deque<Measurement> model = new ArrayDeque<>();
        long n = 0;
        for (int batch : batches) {
            if (batch % 4 == 0) {
                for (Measurement drained : drain(queue)) {
                    assertThat(drained).isEqualTo(model.poll());
                }
                assertThat(model).isEmpty();
            }
            for (int i = 0; i < batch; i++) {
                assertThat(offer(queue, n)).isTrue();
                model.add(measurement(n++));
            }
            assertThat(queue.size()).isEqualTo(model.size());
        }
        assertThat(drain(queue)).containsExactlyElementsOf(model);
    }

    @Test
    void nothingIsLostOrMovedBetweenAProducerAndAConsumer() throws Exception {
        int all = 300_000;
        PendingQueue queue = new PendingQueue();
        Crew crew = new Crew();
        FutureTask<Long> producer = crew.start(() -> {
            for (long n = 0; n < all; n++) {
                if (!offer(queue, n)) {
                    throw new AssertionError("refused " + n);
                }
            }
            return (long) all;
        });
        long[] next = {0};
        boolean last;
        do {
            last = producer.isDone();
            queue.drainTo((key, startNs, elements) -> {
                long n = next[0]++;
                if (!new Measurement(key, startNs, elements).equals(measurement(n))) {
                    throw new AssertionError("got " + startNs + " at place " + n);
                }
            });
        } while (!last);
        crew.join();

        assertThat(next[0]).isEqualTo(Crew.result(producer));
        assertThat(queue.size()).isZero();
    }
}
