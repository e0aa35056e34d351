package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.junit.jupiter.api.Test;

/** A profiler under many threads, by its public methods. No test sleeps. */
final class BrickProfilerThreadsTest {

    private static final int NS_AN_ELEMENT = 7;

    /** Advances at each reading, so that timers measure something and no two readings are equal. */
    private final AtomicLong ticks = new AtomicLong();

    private final NanoClock clock = ticks::incrementAndGet;
    private final BrickProfiler profiler =
            BrickProfiler.builder().clock(clock).percentiles(true).build();

    BrickProfilerThreadsTest() {
        profiler.enable();
    }

    private static void checkTogether(ProfileSnapshot snapshot) {
        for (BrickStats brick : snapshot.bricks()) {
            if (!brick.name().equals("LmHead")) {
                assertThat(brick.totalNs()).as(brick.name()).isEqualTo(NS_AN_ELEMENT * brick.totalElements());
            }
            assertThat(brick.minNs()).isLessThanOrEqualTo(brick.lastNs());
            assertThat(brick.maxNs()).isGreaterThanOrEqualTo(brick.lastNs());
            assertThat(brick.count()).isPositive();
        }
    }

    @Spec({"5.1", "5.2"})
    @Test
    void consecutiveSnapshotsHaveEverySampleOnce() throws Exception {
        int writerCount = 3;
        int each = 200_000;
        Crew crew = new Crew();
        List<FutureTask<Integer>> writers = new ArrayList<>();
        for (int writer = 0; writer < writerCount; writer++) {
            String own = "writer " + writer;
            writers.add(crew.start(() -> {
                for (int n = 1; n <= each; n++) {
                    switch (n % 4) {
                        case 0 -> profiler.record(BrickId.RMS_NORM, 7L * n, n);
                        case 1 -> profiler.recordBytes(BrickId.QUANTIZE, 7L * n, n, 2L * n, n);
                        case 2 -> profiler.record(own, 7L * n, n);
                        default -> profiler.stopBrick(profiler.startBrick(BrickId.LM_HEAD), n);
                    }
                }
                return each;
            }));
        }
        crew.run(() -> {
            while (!allDone(writers)) {
                checkTogether(profiler.snapshot());
            }
        });
        ProfileSnapshot sum = profiler.snapshotAndReset();
        while (!allDone(writers)) {
            ProfileSnapshot part = profiler.snapshotAndReset();
            checkTogether(part);
            sum = sum.merge(part);
        }
        crew.join();
        sum = sum.merge(profiler.snapshotAndReset());

        long elements = (long) each * (each + 1) / 2;
        assertThat(sum.samples()).isEqualTo((long) writerCount * each);
        assertThat(sum.totalTokens()).isEqualTo(writerCount * elements);
        assertThat(sum.brick("writer 2").orElseThrow().count()).isEqualTo(each / 4);
        assertThat(sum.brick("RmsNorm").orElseThrow().maxNs()).isEqualTo(7L * each);
        assertThat(sum.bricks())
                .allSatisfy(brick ->
                        assertThat(brick.latency().orElseThrow().count()).isEqualTo(brick.count()));
        assertThat(profiler.allBrickStats()).isEmpty();
    }

    private static boolean allDone(List<FutureTask<Integer>> tasks) {
        return tasks.stream().allMatch(FutureTask::isDone);
    }

    @Spec("3.2")
    @Test
    void deferredMeasurementsOfThreadsAreResolvedOnce() throws Exception {
        int threads = 3;
        int each = 50_000;
        Crew crew = new Crew();
        List<FutureTask<Integer>> writers = IntStream.range(0, threads)
                .mapToObj(i -> crew.start(() -> {
                    for (int n = 0; n < each; n++) {
                        profiler.recordDeferred(BrickId.RMS_NORM, profiler.elapsedNs(), 1);
                    }
                    return each;
                }))
                .toList();
        crew.run(() -> {
            while (!allDone(writers)) {
                profiler.endPass();
            }
        });
        long samples = 0;
        while (!allDone(writers)) {
            samples += profiler.snapshotAndReset().samples();
            profiler.finalize(profiler.elapsedNs());
        }
        crew.join();
        profiler.endPass();
        ProfileSnapshot last = profiler.snapshotAndReset();
        samples += last.samples();

        assertThat(samples).isEqualTo((long) threads * each);
        assertThat(last.droppedPending()).isZero();
        assertThat(profiler.hasPending()).isFalse();
    }

    @Test
    void namesGetOneKeyOnEveryThread() throws Exception {
        CountDownLatch ready = new CountDownLatch(3);
        Crew crew = new Crew();
        for (int i = 0; i < 3; i++) {
            crew.run(() -> {
                ready.countDown();
                ready.await();
                for (int n = 0; n < 3_000; n++) {
                    profiler.record("layer " + n, 1, 1);
                }
            });
        }
        crew.join();

        assertThat(profiler.brickNames()).hasSize(3_000);
        assertThat(profiler.allBrickStats())
                .allSatisfy(brick -> assertThat(brick.count()).isEqualTo(3));
    }

    /** Long enough for threads to meet either state of the switch. */
    private static void spin(long ns) {
        long untilNs = System.nanoTime() + ns;
        while (System.nanoTime() - untilNs < 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void theSwitchMayBeFlippedWhileThreadsRecord() throws Exception {
        Crew crew = new Crew();
        List<FutureTask<Integer>> writers = List.of(crew.start(() -> {
            // Only started timers count: while the profiler is off, turns take hardly any time, and the thread that
            // switches it on may have to wait for a processor.
            int started = 0;
            while (started < 20_000) {
                long timer = profiler.startBrick(BrickId.LM_HEAD);
                started += timer == TimerToken.VOID ? 0 : 1;
                timer = profiler.lap(timer, 1, BrickId.LM_HEAD);
                started += timer == TimerToken.VOID ? 0 : 1;
                profiler.stopBrick(timer, 1);
            }
            return started;
        }));
        while (!allDone(writers)) {
            profiler.disable();
            spin(5_000);
            profiler.enable();
            spin(5_000);
        }
        crew.join();

        BrickStats stats = profiler.brickStats(BrickId.LM_HEAD);
        assertThat(stats.count()).isBetween(1L, (long) writers.get(0).get()).isEqualTo(stats.totalElements());
        assertThat(stats.latency().orElseThrow().count()).isEqualTo(stats.count());
    }

    @Spec("5.5")
    @Test
    @SuppressWarnings("ThreadPriorityCheck") // yielding lets the thread go on with another carrier
    void virtualThreadsAreProfiled() throws Exception {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        List<FutureTask<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            FutureTask<Integer> task = new FutureTask<>(() -> {
                long timer = profiler.startBrick(BrickId.LM_HEAD);
                Thread.yield();
                profiler.stopBrick(timer, 1);
                profiler.record("mine", NS_AN_ELEMENT, 1);
                return 0;
            });
            starter.start(task);
            tasks.add(task);
        }
        for (FutureTask<Integer> task : tasks) {
            assertThat(Crew.result(task)).isZero();
        }

        ProfileSnapshot snapshot = profiler.snapshot();
        checkTogether(snapshot);
        assertThat(snapshot.samples()).isEqualTo(20_000);
        assertThat(snapshot.virtualThreads()).isTrue();
        assertThat(snapshot.threads()).isZero();
    }
}
