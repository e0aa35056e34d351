package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.junit.jupiter.api.Test;

/**
 * The threads that recorded bricks timed by a device are those that stopped them, regardless of the thread that queried
 * the times.
 */
final class BrickProfilerDeviceThreadsTest extends ProfiledDevice {

    private void brickOnNewThread() throws Exception {
        Crew.runOnNewThread(() -> brick(BrickId.RMS_NORM, 100));
    }

    private int threads() {
        return profiler.snapshot().threads();
    }

    @Test
    void threadsThatMarkedAndEndedAreCounted() throws Exception {
        for (int i = 0; i < 4; i++) {
            brickOnNewThread();
        }
        profiler.endPass();

        assertThat(threads()).isEqualTo(4);
        assertThat(threads()).as("at the second reading").isEqualTo(4);
    }

    @Test
    void threadsThatMarkedAndLiveAreCounted() throws Exception {
        CountDownLatch marked = new CountDownLatch(4);
        CountDownLatch read = new CountDownLatch(1);
        Crew crew = new Crew();
        for (int i = 0; i < 4; i++) {
            crew.run(() -> {
                brick(BrickId.RMS_NORM, 100);
                marked.countDown();
                read.await();
            });
        }
        try {
            marked.await();
            profiler.endPass();
            assertThat(threads()).isEqualTo(4);
            assertThat(profiler.snapshotAndReset().threads()).isEqualTo(4);
            assertThat(threads()).isZero();
        } finally {
            read.countDown();
            crew.join();
        }
        assertThat(threads()).isZero();
    }

    @Test
    void aResetBeginsAnewWithThreadsThatEnded() throws Exception {
        brickOnNewThread();
        profiler.endPass();
        assertThat(profiler.snapshotAndReset().threads()).isEqualTo(1);
        assertThat(threads()).isZero();

        brickOnNewThread();
        profiler.reset();
        brickOnNewThread();
        brickOnNewThread();
        profiler.endPass();
        assertThat(profiler.snapshotAndReset().threads()).isEqualTo(2);
    }

    @Test
    void aThreadIsCountedInTheSnapshotOfItsBricks() throws Exception {
        brickOnNewThread();
        assertThat(profiler.snapshotAndReset().threads())
                .as("nothing is resolved")
                .isZero();

        profiler.stream("decode").endPass();
        ProfileSnapshot second = profiler.snapshot();
        assertThat(second.threads()).isEqualTo(1);
        assertThat(second.samples()).isEqualTo(1);
    }

    @Test
    void threadsThatOnlyAskForTimesAreNotCounted() throws Exception {
        for (int i = 0; i < 3; i++) {
            brick(BrickId.RMS_NORM, 100);
            Crew.runOnNewThread(profiler.stream("decode")::endPass);
            Crew.runOnNewThread(profiler::snapshot);
        }

        assertThat(stats(BrickId.RMS_NORM).count()).isEqualTo(3);
        assertThat(threads()).isEqualTo(1);
    }

    @Test
    void aThreadThatAlsoRecordsByTheHostsClockIsCountedOnce() throws Exception {
        brick(BrickId.RMS_NORM, 100);
        profiler.record(BrickId.LM_HEAD, 70, 1);
        profiler.endPass();
        assertThat(threads()).isEqualTo(1);

        Crew.runOnNewThread(() -> profiler.record(BrickId.LM_HEAD, 70, 1));
        assertThat(threads()).isEqualTo(2);
        assertThat(profiler.snapshot().virtualThreads()).isFalse();
    }

    @Test
    void virtualThreadsAreMentionedAndNotCounted() throws Exception {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        FutureTask<Integer> task = new FutureTask<>(() -> brick(BrickId.RMS_NORM, 100), 0);
        starter.start(task);
        assertThat(Crew.result(task)).isZero();
        profiler.endPass();

        ProfileSnapshot first = profiler.snapshotAndReset();
        assertThat(first.virtualThreads()).isTrue();
        assertThat(first.threads()).isZero();
        assertThat(profiler.snapshot().virtualThreads()).isFalse();
    }
}
