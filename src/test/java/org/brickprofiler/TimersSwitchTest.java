package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Recording while a profiler is off, and across its switch. */
final class TimersSwitchTest {

    private final FakeClock clock = new FakeClock(1_000);
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();

    private void requireNothingRecorded() {
        profiler.enable();
        assertThat(profiler.allBrickStats()).isEmpty();
        assertThat(profiler.hasPending()).isFalse();
        assertThat(profiler.snapshot().samples()).isZero();
    }

    @Spec("2.1")
    @Test
    void isOffAtFirst() {
        assertThat(new BrickProfiler().isEnabled()).isFalse();
        assertThat(profiler.isEnabled()).isFalse();
        assertThat(BrickProfiler.enabled().isEnabled()).isTrue();
    }

    @Test
    void canBeSwitched() {
        profiler.enable();
        assertThat(profiler.isEnabled()).isTrue();
        profiler.disable();
        assertThat(profiler.isEnabled()).isFalse();
    }

    @Spec("2.1")
    @Test
    void timersAreVoidAndTheClockIsNotReadWhileOff() {
        int key = profiler.brickKey("mine");
        long reads = clock.reads();

        assertThat(profiler.startBrick(BrickId.RMS_NORM)).isEqualTo(TimerToken.VOID);
        assertThat(profiler.startBrick(key)).isEqualTo(TimerToken.VOID);
        assertThat(profiler.startBrick("mine")).isEqualTo(TimerToken.VOID);
        assertThat(profiler.lap(TimerToken.VOID, 1, BrickId.RMS_NORM)).isEqualTo(TimerToken.VOID);
        assertThat(profiler.lap(TimerToken.VOID, 1, key)).isEqualTo(TimerToken.VOID);
        profiler.stopBrick(TimerToken.VOID, 1);

        assertThat(clock.reads()).isEqualTo(reads);
        requireNothingRecorded();
    }

    @Spec("2.1")
    @Test
    void everyOtherRecordingIsANoOpWhileOff() {
        int key = profiler.brickKey("mine");
        long reads = clock.reads();

        profiler.record(BrickId.RMS_NORM, 1, 1);
        profiler.record(key, 1, 1);
        profiler.record("mine", 1, 1);
        profiler.record("mine", java.time.Duration.ofNanos(1), 1);
        profiler.recordBytes(BrickId.RMS_NORM, 1, 1, 1, 1);
        profiler.recordBytes("mine", 1, 1, 1, 1);
        profiler.recordCycles(BrickId.RMS_NORM, 1, 1, 1);
        profiler.recordCycles("mine", 1, 1, 1);
        profiler.recordWork(BrickId.RMS_NORM, 1, 1);
        profiler.recordWork("mine", Work.of(1, 1));
        profiler.recordDeferred(BrickId.RMS_NORM, 0, 1);
        profiler.recordDeferred("mine", 0, 1);

        assertThat(clock.reads()).isEqualTo(reads);
        assertThat(profiler.pendingCount()).isZero();
        requireNothingRecorded();
    }

    @Test
    void namesAreNotRegisteredWhileOff() {
        for (int i = 0; i < 5_000; i++) {
            profiler.record("n" + i, 1, 1);
            profiler.recordDeferred("n" + i, 1, 1);
            assertThat(profiler.startBrick("n" + i)).isEqualTo(TimerToken.VOID);
        }

        assertThat(profiler.brickKey("first")).isEqualTo(BrickId.FIXED_KEYS);
    }

    @Spec("1.4")
    @Test
    void keysCanBePreparedWhileOff() {
        int key = profiler.brickKey("mine", BrickCategory.FFT);
        profiler.enable();
        profiler.record(key, 5, 1);

        assertThat(profiler.stats("mine").orElseThrow().category()).isSameAs(BrickCategory.FFT);
    }

    @Spec("2.4")
    @Test
    void aTimerBegunWhileOffStaysVoid() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        profiler.enable();
        clock.advance(10);
        profiler.stopBrick(timer, 1);

        requireNothingRecorded();
    }

    @Spec("2.4")
    @Test
    void aTimerStoppedWhileOffRecordsNothing() {
        profiler.enable();
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(10);
        profiler.disable();
        profiler.stopBrick(timer, 1);
        assertThat(profiler.lap(timer, 1, BrickId.LAYER_NORM)).isEqualTo(TimerToken.VOID);
        assertThat(profiler.lap(timer, 1, 0)).isEqualTo(TimerToken.VOID);

        requireNothingRecorded();
    }

    @Test
    void recordedSamplesStayWhileOff() {
        profiler.enable();
        profiler.record(BrickId.RMS_NORM, 5, 1);
        profiler.disable();

        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(5);
        assertThat(profiler.snapshot().totalNs()).isEqualTo(5);
    }

    @Test
    void codeRunsWhileOff() {
        int[] runs = new int[1];
        profiler.time(BrickId.RMS_NORM, 1, () -> {
            runs[0]++;
        });
        assertThat(profiler.<String>time(BrickId.RMS_NORM, 1, () -> "done")).isEqualTo("done");
        try (BrickScope scope = profiler.scope(BrickId.RMS_NORM, 1)) {
            assertThat(scope).isNotNull();
            runs[0]++;
        }

        assertThat(runs[0]).isEqualTo(2);
        requireNothingRecorded();
    }

    @Spec("2.1")
    @Test
    void readingResettingAndBoundariesWorkWhileOff() {
        assertThatCode(() -> {
                    profiler.finalize(0);
                    profiler.endLayer();
                    profiler.endPass();
                    profiler.reset();
                    profiler.resetEpoch();
                    profiler.disable();
                })
                .doesNotThrowAnyException();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isZero();
        assertThat(profiler.snapshotAndReset().samples()).isZero();
    }
}
