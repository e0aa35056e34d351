package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.brickprofiler.device.HostStream;
import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class ThreadProfilerTest {

    private final FakeClock clock = new FakeClock(1_000);
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
    private final ThreadProfiler bound = profiler.forThisThread();

    ThreadProfilerTest() {
        profiler.enable();
    }

    /** Makes the same random calls on a bound profiler and on another one, with resets and the switch in between. */
    @Spec("2.13")
    @Test
    void recordsTheSameAsTheProfiler() {
        BrickProfiler other = BrickProfiler.builder().clock(clock).build();
        other.enable();
        int key = profiler.brickKey("custom");
        assertThat(other.brickKey("custom")).isEqualTo(key);
        Random random = new Random(42);
        long ours = TimerToken.VOID;
        long theirs = TimerToken.VOID;
        BrickId[] ids = BrickId.values();
        for (int i = 0; i < 20_000; i++) {
            BrickId id = ids[random.nextInt(ids.length)];
            switch (random.nextInt(12)) {
                case 0 -> {
                    ours = bound.startBrick(id);
                    theirs = other.startBrick(id);
                }
                case 1 -> {
                    ours = bound.startBrick(key + random.nextInt(2));
                    theirs = other.startBrick(ours == TimerToken.VOID ? key + 1 : key);
                }
                case 2, 3, 4 -> {
                    ours = bound.lap(ours, i, id);
                    theirs = other.lap(theirs, i, id);
                }
                case 5, 6 -> {
                    int next = key + random.nextInt(2);
                    ours = bound.lap(ours, i, next);
                    theirs = other.lap(theirs, i, next);
                }
                case 7, 8, 9 -> {
                    bound.stopBrick(ours, i);
                    other.stopBrick(theirs, i);
                }
                case 10 ->
                    requireSame(
                            profiler.snapshotAndReset().bricks(),
                            other.snapshotAndReset().bricks());
                default -> {
                    if (profiler.isEnabled()) {
                        profiler.disable();
                        other.disable();
                    } else {
                        profiler.enable();
                        other.enable();
                    }
                }
            }
            assertThat(ours).isEqualTo(theirs);
            clock.advance(random.nextInt(50));
        }
        requireSame(profiler.allBrickStats(), other.allBrickStats());
    }

    /** Compares all but the calendar time, whose origin differs between profilers. */
    private static void requireSame(List<BrickStats> ours, List<BrickStats> theirs) {
        assertThat(ours)
                .usingRecursiveFieldByFieldElementComparatorIgnoringFields("lastAtUnixNs")
                .isEqualTo(theirs);
    }

    @Test
    void eitherStopsTimersOfTheOther() {
        long timer = bound.startBrick(BrickId.SPMV);
        clock.advance(5);
        profiler.stopBrick(timer, 1);
        timer = profiler.startBrick(BrickId.SPMV);
        clock.advance(7);
        bound.stopBrick(timer, 1);

        assertThat(profiler.brickStats(BrickId.SPMV).totalNs()).isEqualTo(12);
    }

    @Spec("2.13")
    @Test
    void refusesCallsOfAnotherThread() throws Exception {
        Crew.runOnNewThread(() -> {
            assertThatThrownBy(() -> bound.startBrick(BrickId.SPMV))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("crew-0")
                    .hasMessageContaining(Thread.currentThread().getName());
            assertThatThrownBy(() -> bound.startBrick(0)).isInstanceOf(AssertionError.class);
            assertThatThrownBy(() -> bound.stopBrick(1, 1)).isInstanceOf(AssertionError.class);
            assertThatThrownBy(() -> bound.lap(1, 1, BrickId.SPMV)).isInstanceOf(AssertionError.class);
            assertThatThrownBy(() -> bound.lap(1, 1, 0)).isInstanceOf(AssertionError.class);
        });
        assertThat(profiler.allBrickStats()).isEmpty();
    }

    @Test
    void refusesNegativeElements() {
        long timer = bound.startBrick(BrickId.SPMV);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> bound.stopBrick(timer, -3))
                .withMessageContaining("-3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> bound.lap(timer, -4, BrickId.SPMM))
                .withMessageContaining("-4");
        assertThat(profiler.allBrickStats()).isEmpty();
    }

    @Test
    void worksForABrickThatIsNewToTheThread() {
        for (int i = 0; i < 100; i++) {
            int key = profiler.brickKey("brick " + i);
            bound.stopBrick(bound.startBrick(key), 1);
        }
        assertThat(profiler.allBrickStats()).hasSize(100).allSatisfy(stats -> assertThat(stats.count())
                .isEqualTo(1));
    }

    @Test
    void recordsIntoTheGraphAndOnStreams() {
        profiler.graph().enable();
        bound.stopBrick(bound.startBrick(BrickId.SPMV), 1);
        assertThat(profiler.graph().graph().nodesByName("SpMV")).hasSize(1);

        try (HostStream stream = new HostStream()) {
            BrickProfiler onStream =
                    BrickProfiler.builder().deviceStream(stream).build();
            onStream.enable();
            ThreadProfiler mine = onStream.forThisThread();
            mine.stopBrick(mine.lap(mine.startBrick(BrickId.SPMV), 1, BrickId.SPMM), 1);
            onStream.endPass();
            assertThat(onStream.brickStats(BrickId.SPMV).device().measured()).isEqualTo(1);
            assertThat(onStream.brickStats(BrickId.SPMM).device().measured()).isEqualTo(1);
        }
    }

    /** Another thread resets all the while; every sample is in exactly one interval. */
    @Test
    void losesNoSampleToResets() throws Exception {
        int samples = 300_000;
        BrickProfiler timed = BrickProfiler.enabled();
        AtomicBoolean done = new AtomicBoolean();
        Thread recorder = new Thread(() -> {
            ThreadProfiler mine = timed.forThisThread();
            for (int i = 0; i < samples; i++) {
                mine.stopBrick(mine.startBrick(BrickId.SPMV), 1);
            }
            done.set(true);
        });
        recorder.start();
        long counted = 0;
        while (!done.get()) {
            counted += count(timed.snapshotAndReset());
        }
        recorder.join(60_000);
        counted += count(timed.snapshotAndReset());
        assertThat(counted).isEqualTo(samples);
    }

    private static long count(ProfileSnapshot snapshot) {
        return snapshot.bricks().stream().mapToLong(BrickStats::count).sum();
    }
}
