package org.brickprofiler.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.internal.mark.MarkPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The contract of every {@link DeviceStream}. The test of an implementation extends this class and provides a
 * {@link Device}.
 */
public abstract class DeviceStreamContract {

    /** A device with one stream, which is under test. */
    public interface Device {

        /** Opens the stream. Called once, on the test's thread. */
        DeviceStream open();

        /** Enqueues work that takes {@code ns}. */
        void work(long ns);

        /** Lets the device finish enqueued work of {@code ns}, without {@link DeviceStream#waitFor}. */
        void pass(long ns);

        /** Returns whether the device works asynchronously. Otherwise work is done by the time it is enqueued. */
        boolean worksLater();

        /**
         * Returns whether only the work takes time. Otherwise calls take time too, and work may be over before the test
         * asks for it.
         */
        default boolean isExact() {
            return true;
        }

        /** Returns how many of the driver's objects exist for marks. */
        int liveMarks();
    }

    private static final int THREADS = 6;
    private static final int ROUNDS = 2_000;

    private Device device;
    private DeviceStream stream;
    private long openedNs;

    /** Returns a fresh device for each test. */
    protected abstract Device device();

    @BeforeEach
    void open() {
        device = device();
        stream = device.open();
        openedNs = System.nanoTime();
    }

    @AfterEach
    void close() {
        stream.close();
    }

    @Test
    void saysWhatItIs() {
        assertThat(stream.name()).isNotBlank();
        assertThat(stream.deviceName()).isNotBlank();
        assertThat(stream.deviceIndex()).isNotNegative();
        assertThat(stream.maxMarks()).isBetween(1, MarkPool.MAX_BOUND);
        assertThat(stream.isUsable()).isTrue();
        assertThat(stream.failure()).isEmpty();
    }

    @Test
    void tellsTheTimeBetweenAnyTwoMarks() {
        int first = stream.mark();
        device.work(3_000);
        int second = stream.mark();
        device.work(5_000);
        int third = stream.mark();

        assertThat(stream.waitFor(third)).isTrue();
        assertTook(stream.elapsedNs(first, second), 3_000);
        assertThat(stream.hasWorkBetween(first, second)).isTrue();
        assertThat(stream.hasWorkBetween(first, third)).isTrue();
        assertTook(stream.elapsedNs(second, third), 5_000);
        assertTook(stream.elapsedNs(first, third), 8_000);
        assertTook(-stream.elapsedNs(third, first), 8_000);
        assertThat(stream.elapsedNs(second, second)).isZero();
        // Each of the three times is rounded.
        assertThat(stream.elapsedNs(first, second) + stream.elapsedNs(second, third) - stream.elapsedNs(first, third))
                .isBetween(-1L, 1L);
    }

    /** Asserts a time exactly, or within bounds if calls take time, since an idle device waits for them. */
    private void assertTook(long actualNs, long workNs) {
        if (device.isExact()) {
            assertThat(actualNs).isEqualTo(workNs);
        } else {
            assertThat(actualNs).isBetween(workNs, workNs + System.nanoTime() - openedNs);
        }
    }

    @Test
    void aMarkIsWaitedForAndNotWhatIsBehindIt() {
        int first = stream.mark();
        device.work(3_000);
        int second = stream.mark();
        device.work(300_000_000);
        int third = stream.mark();

        assertThat(stream.waitFor(second)).isTrue();
        assertThat(stream.isReached(second)).isTrue();
        assertTook(stream.elapsedNs(first, second), 3_000);
        if (device.worksLater()) {
            assertThat(stream.isReached(third)).isFalse();
        }
        assertThat(stream.waitFor(third)).isTrue();
        assertThat(stream.isReached(third)).isTrue();
        assertThat(stream.waitFor(first)).isTrue();
        stream.close();
        assertThat(stream.waitFor(third)).isFalse();
        assertThat(stream.answersHere()).isTrue();
    }

    @Test
    void tellsManyTimesAtOnce() {
        int[] marks = new int[5];
        for (int i = 0; i < marks.length; i++) {
            device.work(1_000L * i);
            marks[i] = stream.mark();
        }
        long[] ns = {-7, -7, -7, -7, -7};
        stream.waitFor(marks[marks.length - 1]);
        stream.elapsedNs(marks, 4, ns);

        for (int i = 1; i < 4; i++) {
            assertTook(ns[i], 1_000L * i);
        }
        assertThat(ns[4]).isEqualTo(-7);
        long[] asBefore = ns.clone();
        stream.elapsedNs(marks, 0, ns);
        stream.elapsedNs(marks, 1, ns);
        assertThat(ns).as("no mark has one before it").isEqualTo(asBefore);
    }

    @Test
    void tellsOfEachAmongManyWhetherItIsReached() {
        int first = stream.mark();
        device.work(1_000);
        int second = stream.mark();
        stream.waitFor(second);
        device.work(1_000);
        int third = stream.mark();
        long[] ns = new long[3];
        stream.elapsedNs(new int[] {first, second, third}, 3, ns);

        assertTook(ns[1], 1_000);
        if (device.isExact()) {
            assertThat(ns[2]).isEqualTo(device.worksLater() ? DeviceStream.NOT_REACHED : 1_000);
        }
    }

    @Test
    void timesCanBeAskedForBeforeItCloses() {
        int first = stream.mark();
        device.work(1_000);
        int second = stream.mark();
        stream.waitFor(second);
        List<Long> told = new ArrayList<>();
        stream.beforeClose(() -> {
            throw new IllegalStateException("one that fails");
        });
        stream.beforeClose(() -> told.add(stream.elapsedNs(first, second)));
        stream.close();
        stream.close();

        assertThat(told).hasSize(1);
        assertTook(told.get(0), 1_000);
    }

    @Test
    void twoMarksWithoutWorkAreAtTheSameTime() {
        device.work(700);
        int first = stream.mark();
        int second = stream.mark();
        stream.waitFor(second);

        assertThat(second).isNotEqualTo(first);
        assertTook(stream.elapsedNs(first, second), 0);
    }

    @Test
    void aMarkIsReachedWhenTheWorkBeforeItIsDone() {
        int first = stream.mark();
        device.work(1_000);
        int second = stream.mark();
        if (!device.isExact()) {
            assertThat(stream.waitFor(first)).isTrue();
        }
        assertThat(stream.isReached(first)).isTrue();
        if (device.worksLater() && device.isExact()) {
            assertThat(stream.isReached(second)).isFalse();
            assertThat(stream.elapsedNs(first, second)).isEqualTo(DeviceStream.NOT_REACHED);
            assertThat(stream.elapsedNs(second, first)).isEqualTo(DeviceStream.NOT_REACHED);
        }

        device.pass(1_000);
        assertThat(stream.isReached(second)).isTrue();
        assertTook(stream.elapsedNs(first, second), 1_000);
    }

    @Test
    void releasedMarksAreUsedAgain() {
        int mark = stream.mark();
        stream.release(mark);
        int live = device.liveMarks();
        for (int i = 0; i < 3 * stream.maxMarks(); i++) {
            mark = stream.mark();
            assertThat(mark).isBetween(0, stream.maxMarks() - 1);
            stream.release(mark);
        }

        assertThat(device.liveMarks()).isEqualTo(live);
    }

    @Test
    void aMarkThatIsSetAgainHasItsNewTime() {
        int base = stream.mark();
        int mark = stream.mark();
        stream.release(mark);
        device.work(400);
        int again = stream.mark();
        stream.waitFor(again);

        assertTook(stream.elapsedNs(base, again), 400);
    }

    @Test
    void whereNoMarkIsLeftNoneIsSetUntilOneIsReleased() {
        List<Integer> marks = takeAll();
        assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
        assertThat(stream.isUsable()).isTrue();

        stream.release(marks.get(0));
        assertThat(stream.mark()).isEqualTo(marks.get(0));
        assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
    }

    private List<Integer> takeAll() {
        List<Integer> marks = new ArrayList<>();
        BitSet seen = new BitSet();
        for (int i = 0; i < stream.maxMarks(); i++) {
            int mark = stream.mark();
            assertThat(mark).isBetween(0, stream.maxMarks() - 1);
            assertThat(seen.get(mark)).as("mark %s is set already", mark).isFalse();
            seen.set(mark);
            marks.add(mark);
        }
        return marks;
    }

    @Test
    void closesWithWorkThatIsNotDone() {
        int released = stream.mark();
        stream.release(released);
        int first = stream.mark();
        device.work(1_000_000);
        int second = stream.mark();
        stream.close();

        assertThat(device.liveMarks()).isZero();
        assertThat(stream.isUsable()).isFalse();
        assertThat(stream.failure()).isNotEmpty();
        assertThat(stream.isReached(second)).isTrue();
        assertThat(stream.elapsedNs(first, second)).isEqualTo(DeviceStream.UNRESOLVED);
        assertThat(stream.waitFor(second)).isFalse();
        assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
        stream.release(first);
        assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
        assertThatCode(stream::close).doesNotThrowAnyException();
        assertThat(device.liveMarks()).isZero();
    }

    @Spec("12.11")
    @Test
    void threadsMarkAtOnceAndNoneGetsAnothersMark() throws Exception {
        AtomicIntegerArray owners = new AtomicIntegerArray(stream.maxMarks());
        onThreads(() -> {
            int[] held = new int[3];
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < held.length; i++) {
                    held[i] = stream.mark();
                    assertThat(owners.incrementAndGet(held[i])).isOne();
                }
                if (!device.isExact()) {
                    assertThat(stream.waitFor(held[2])).isTrue();
                }
                assertThat(stream.isReached(held[0])).isTrue();
                assertThat(stream.elapsedNs(held[0], held[2])).isNotNegative();
                for (int mark : held) {
                    owners.decrementAndGet(mark);
                    stream.release(mark);
                }
            }
        });

        assertThat(takeAll()).hasSize(stream.maxMarks());
    }

    @Test
    void mayBeClosedWhileThreadsUseIt() throws Exception {
        CountDownLatch begun = new CountDownLatch(THREADS);
        Runnable use = () -> {
            begun.countDown();
            int first = stream.mark();
            while (first != DeviceStream.NO_MARK) {
                int second = stream.mark();
                if (second != DeviceStream.NO_MARK) {
                    stream.isReached(second);
                    stream.elapsedNs(first, second);
                    stream.release(second);
                }
                stream.release(first);
                first = stream.mark();
            }
        };
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> ends = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                ends.add(threads.submit(use));
            }
            begun.await();
            for (int i = 0; i < ROUNDS; i++) {
                stream.release(stream.mark());
            }
            stream.close();
            for (Future<?> end : ends) {
                end.get();
            }
        } finally {
            threads.shutdownNow();
        }

        assertThat(device.liveMarks()).isZero();
    }

    /** Runs the same on several threads at once. */
    private static void onThreads(Runnable body) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> ends = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                ends.add(threads.submit(body));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
