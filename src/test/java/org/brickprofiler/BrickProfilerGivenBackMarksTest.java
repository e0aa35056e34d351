package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.brickprofiler.testing.Collected;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/**
 * Many profilers use one stream of few marks, one after the other: each gets the marks that earlier ones no longer
 * need.
 */
final class BrickProfilerGivenBackMarksTest {

    private static final int PROFILERS = 50;
    private static final int MARKS = 64;

    private final FakeClock clock = new FakeClock(1_000_000);
    private final SimulatedStream stream = new SimulatedStream("decode", clock, MARKS);

    private BrickProfiler profiler() {
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).deviceStream(stream).build();
        profiler.enable();
        return profiler;
    }

    /**
     * Returns the profiler of a request: it has deferred bricks, one brick around them, and timers that nobody stops.
     */
    private BrickProfiler request() {
        BrickProfiler profiler = profiler();
        profiler.startBrick(BrickId.EMBEDDING);
        profiler.startBrick(BrickId.SAMPLING);
        profiler.elapsedNs();
        long outer = profiler.elapsedNs();
        for (int pass = 0; pass < 10; pass++) {
            for (int i = 0; i < 5; i++) {
                long start = profiler.elapsedNs();
                stream.work(20);
                profiler.recordDeferred(BrickId.RMS_NORM, start, 1);
            }
            profiler.endPass();
        }
        profiler.recordDeferred(BrickId.FUSED_ATTENTION, outer, 1);
        profiler.endPass();
        return profiler;
    }

    private static void assertAllTimed(BrickProfiler profiler) {
        assertThat(profiler.snapshot().unresolved()).isZero();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(50);
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(1_000);
        assertThat(profiler.brickStats(BrickId.FUSED_ATTENTION).totalNs()).isEqualTo(1_000);
    }

    private void everyRequestIsTimed(Consumer<BrickProfiler> end) {
        List<BrickProfiler> kept = new ArrayList<>();
        for (int i = 0; i < PROFILERS; i++) {
            BrickProfiler profiler = request();
            assertAllTimed(profiler);
            end.accept(profiler);
            assertThat(stream.marksHeld()).isZero();
            kept.add(profiler);
        }
        assertThat(kept).hasSize(PROFILERS);
    }

    @Spec("12.21")
    @Test
    void aResetGivesTheMarksBack() {
        everyRequestIsTimed(BrickProfiler::reset);
    }

    @Spec("12.21")
    @Test
    void switchingOffGivesTheMarksBack() {
        everyRequestIsTimed(BrickProfiler::disable);
    }

    @Spec({"12.19", "12.21"})
    @Test
    void garbageCollectionGivesTheMarksBack() {
        // Each profiler waits until the marks of the one before it are back, so five profilers show the same as fifty.
        for (int i = 0; i < 5; i++) {
            assertAllTimed(request());
            Collected.until(() -> stream.marksHeld() == 0);
        }
    }

    /**
     * Bricks that have ended and starts that were reached hold no marks without a garbage collection: each profiler
     * keeps only the last mark of its timeline.
     */
    @Test
    void profilersWithoutRunningTimersHoldOneMarkEach() {
        List<BrickProfiler> kept = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            BrickProfiler profiler = profiler();
            long start = profiler.elapsedNs();
            profiler.elapsedNs();
            stream.work(20);
            profiler.recordDeferred(BrickId.RMS_NORM, start, 1);
            profiler.endPass();
            assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(20);
            kept.add(profiler);
        }
        assertThat(stream.marksHeld()).isEqualTo(kept.size());
    }

    @Test
    void onlyEarlierTimersAreUnresolvedAfterwards() {
        for (Consumer<BrickProfiler> end : List.<Consumer<BrickProfiler>>of(BrickProfiler::reset, profiler -> {
            profiler.disable();
            profiler.enable();
        })) {
            BrickProfiler profiler = profiler();
            long timer = profiler.startBrick(BrickId.EMBEDDING);
            long start = profiler.elapsedNs();
            stream.work(70);
            end.accept(profiler);
            long next = profiler.startBrick(BrickId.RMS_NORM);
            stream.work(30);
            profiler.stopBrick(next, 1);
            profiler.stopBrick(timer, 1);
            profiler.recordDeferred(BrickId.LM_HEAD, start, 1);
            profiler.endPass();
            assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(30);
            assertThat(profiler.brickStats(BrickId.EMBEDDING).device()).isEqualTo(new DeviceTime(0, 0, 0, 0, 0, 1, 0));
            assertThat(profiler.brickStats(BrickId.LM_HEAD).device()).isEqualTo(new DeviceTime(0, 0, 0, 0, 0, 1, 1));
            profiler.reset();
            assertThat(stream.marksHeld()).isZero();
        }
    }

    /** Discards samples as a schedule does at the end of its warm-up, while passes run. */
    @Test
    void aResetDuringPassesLeavesTimersRunning() {
        BrickProfiler profiler = profiler();
        long timer = profiler.startBrick(BrickId.EMBEDDING);
        long start = profiler.elapsedNs();
        stream.work(70);
        profiler.forget();
        profiler.stopBrick(timer, 1);
        profiler.recordDeferred(BrickId.LM_HEAD, start, 1);
        profiler.endPass();
        assertThat(profiler.brickStats(BrickId.EMBEDDING).totalNs()).isEqualTo(70);
        assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(70);
    }
}
