package org.brickprofiler.device.metal;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.SyncMode;
import org.brickprofiler.testing.ClockKind;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The same command buffers on a clock that stands still and on one that runs: as long as the device is behind the host,
 * bricks have the times of their command buffers, to the nanosecond.
 */
class MetalClocksTest extends ProfiledMetal {

    /** Longer than the host takes to load the classes and to launch the bricks of a pass. */
    private static final long BACKLOG_NS = 250_000_000;

    private BrickProfiler profiler(ClockKind kind) {
        if (kind == ClockKind.RUNNING) {
            SimulatedMetal.runClock();
        }
        app.submit("backlog", BACKLOG_NS);
        return profiler();
    }

    private void assertAllResolved(BrickProfiler profiler) {
        assertThat(profiler.pendingCount()).isZero();
        assertThat(profiler.snapshot().unresolved()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void bricksAndLaps(ClockKind kind) {
        BrickProfiler profiler = profiler(kind);
        long outer = profiler.startBrick(BrickId.FUSED_ATTENTION);
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        app.submit("norm", 700);
        timer = profiler.lap(timer, 1, BrickId.LM_HEAD);
        app.submit("head", 4_000);
        app.submit("head too", 30);
        profiler.stopBrick(timer, 1);
        profiler.stopBrick(outer, 1);
        profiler.endPass();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(700);
        assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(4_030);
        assertThat(profiler.brickStats(BrickId.FUSED_ATTENTION).totalNs()).isEqualTo(4_730);
        assertThat(totals(profiler).busyNs()).isEqualTo(4_730);
        assertAllResolved(profiler);
    }

    @ParameterizedTest
    @EnumSource
    void layers(ClockKind kind) {
        BrickProfiler profiler = profiler(kind);
        profiler.setSyncMode(SyncMode.PER_LAYER);
        for (int layer = 1; layer <= 3; layer++) {
            brick(profiler, BrickId.RMS_NORM, 1_000L * layer);
            brick(profiler, BrickId.LM_HEAD, 50);
            profiler.endLayer();
            app.submit("backlog", BACKLOG_NS);
        }
        profiler.endPass();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(6_000);
        assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(150);
        assertAllResolved(profiler);
    }

    @ParameterizedTest
    @EnumSource
    void deferredMeasurementsAndPassesWithoutAWait(ClockKind kind) {
        BrickProfiler profiler = profiler(kind);
        for (int pass = 0; pass < 5; pass++) {
            long start = profiler.elapsedNs();
            app.submit("norm", 700);
            profiler.recordDeferred(BrickId.RMS_NORM, start, 1);
            brick(profiler, BrickId.LM_HEAD, 60);
            profiler.endPassAsync();
        }
        assertThat(profiler.pendingCount()).isEqualTo(10);
        SimulatedMetal.run(-1);
        profiler.finalize(profiler.elapsedNs());
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(3_500);
        assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(300);
        assertAllResolved(profiler);
    }

    @ParameterizedTest
    @EnumSource
    void aTimer(ClockKind kind) {
        profiler(kind);
        try (MetalTimer timer = new MetalTimer(app.stream())) {
            timer.recordStart();
            app.submit("work", 123);
            timer.recordEnd();
            assertThat(timer.elapsedNs()).isEqualTo(123);
        }
    }
}
