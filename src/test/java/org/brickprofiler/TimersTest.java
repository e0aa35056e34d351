package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Random;
import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Timers of a profiler that is on. {@link TimersSwitchTest} tests them while it is off, and {@link TimersNamesTest}
 * tests names and keys.
 */
final class TimersTest {

    private final FakeClock clock = new FakeClock(1_000);
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();

    TimersTest() {
        profiler.enable();
    }

    private void requireNothingRecorded() {
        assertThat(profiler.allBrickStats()).isEmpty();
        assertThat(profiler.pendingCount()).isZero();
    }

    // ---- start and stop ----

    @Test
    void timesABrick() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(250);
        profiler.stopBrick(timer, 16);
        timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(50);
        profiler.stopBrick(timer, 4);

        BrickStats stats = profiler.brickStats(BrickId.RMS_NORM);
        assertThat(stats.count()).isEqualTo(2);
        assertThat(stats.totalNs()).isEqualTo(300);
        assertThat(stats.minNs()).isEqualTo(50);
        assertThat(stats.maxNs()).isEqualTo(250);
        assertThat(stats.lastNs()).isEqualTo(50);
        assertThat(stats.totalElements()).isEqualTo(20);
        assertThat(profiler.allBrickStats()).hasSize(1);
    }

    @Spec("2.2")
    @Test
    void readsTheClockOnceAtEachEnd() {
        long before = clock.reads();
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        assertThat(clock.reads() - before).isEqualTo(1);
        profiler.stopBrick(timer, 1);
        assertThat(clock.reads() - before).isEqualTo(2);
    }

    @Spec("2.7")
    @Test
    void aZeroDurationIsASample() {
        profiler.stopBrick(profiler.startBrick(BrickId.SPMV), 0);

        assertThat(profiler.brickStats(BrickId.SPMV).count()).isEqualTo(1);
        assertThat(profiler.brickStats(BrickId.SPMV).minNs()).isZero();
        assertThat(profiler.stats("SpMV")).isPresent();
    }

    @Test
    void timersMayOverlapAndNest() {
        long outer = profiler.startBrick(BrickId.FUSED_ATTENTION);
        clock.advance(10);
        long inner = profiler.startBrick(BrickId.ATTENTION_SCORE);
        clock.advance(20);
        long second = profiler.startBrick(BrickId.FUSED_ATTENTION);
        profiler.stopBrick(inner, 1);
        clock.advance(30);
        profiler.stopBrick(outer, 1);
        profiler.stopBrick(second, 1);

        assertThat(profiler.brickStats(BrickId.ATTENTION_SCORE).totalNs()).isEqualTo(20);
        assertThat(profiler.brickStats(BrickId.FUSED_ATTENTION).maxNs()).isEqualTo(60);
        assertThat(profiler.brickStats(BrickId.FUSED_ATTENTION).minNs()).isEqualTo(30);
    }

    @Spec("2.3")
    @Test
    void aTimerIsAValueAndStoppingItTwiceCountsTwice() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(10);
        profiler.stopBrick(timer, 1);
        clock.advance(10);
        profiler.stopBrick(timer, 1);

        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(2);
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(30);
    }

    @Spec("2.3")
    @Test
    void aTimerMayBeStoppedOnAnotherThread() throws Exception {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(10);
        Crew.runOnNewThread(() -> profiler.stopBrick(timer, 3));

        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(10);
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalElements()).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, -5_000_000_000L, (1L << 52) - 7, Long.MAX_VALUE - 3, Long.MIN_VALUE})
    void theOriginOfTheClockDoesNotMatter(long originNs) {
        clock.set(originNs);
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(123);
        profiler.stopBrick(timer, 1);

        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(123);
    }

    @Spec("2.6")
    @Test
    void aTimerThatRunsLongerThanItCanHoldIsUnresolvedAndCounted() throws IOException {
        profiler.beginStep(StepInfo.decode(1));
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance((1L << 50) + 1);
        timer = profiler.lap(timer, 1, BrickId.LAYER_NORM);
        clock.advance(1L << 50);
        profiler.stopBrick(timer, 1);
        ProfileSnapshot whole = profiler.snapshot();
        BrickStats unresolved = profiler.brickStats(BrickId.RMS_NORM, StepInfo.Phase.DECODE);
        BrickStats longest = profiler.brickStats(BrickId.LAYER_NORM);

        assertThat(unresolved.count()).isZero();
        assertThat(unresolved.totalNs()).isZero();
        assertThat(unresolved.device().unresolved()).isEqualTo(1);
        assertThat(longest.totalNs()).isEqualTo(1L << 50);
        assertThat(longest.device()).isEqualTo(DeviceTime.NONE);
        assertThat(whole.unresolved()).isEqualTo(1);
        assertThat(whole.bricks()).hasSize(2);
        assertThat(JsonReport.fromJson(JsonReport.toJson(whole))).isEqualTo(whole);
        assertThat(TextReport.render(whole))
                .contains("Samples whose timer could not hold their time: 1. They are in no count and no total.");
        assertThat(SnapshotDifference.between(whole, profiler.snapshot()).unresolved())
                .isZero();
        assertThat(profiler.snapshotAndReset().unresolved()).isEqualTo(1);
        assertThat(profiler.snapshot().unresolved()).isZero();
    }

    @Spec("2.6")
    @Test
    void aClockThatRanFarBackwardsLeavesTheSampleUnresolved() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(-2_000_000);
        profiler.stopBrick(timer, 1);

        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isZero();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).device().unresolved()).isEqualTo(1);
    }

    @Spec("2.6")
    @Test
    void aClockThatRanBackwardsCountsAsZero() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(-500);
        timer = profiler.lap(timer, 1, BrickId.LAYER_NORM);
        clock.advance(-500);
        profiler.stopBrick(timer, 1);

        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(1);
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isZero();
        assertThat(profiler.brickStats(BrickId.LAYER_NORM).totalNs()).isZero();
    }

    @Test
    void refusesNegativeElements() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.stopBrick(timer, -3))
                .withMessageContaining("elements")
                .withMessageContaining("-3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.lap(timer, Long.MIN_VALUE, BrickId.LAYER_NORM))
                .withMessageContaining(Long.toString(Long.MIN_VALUE));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.lap(timer, -1, 0))
                .withMessageContaining("-1");

        requireNothingRecorded();
    }

    // ---- void and garbage timers ----

    @Spec("2.5")
    @Test
    void aVoidTimerRecordsNothing() {
        profiler.stopBrick(TimerToken.VOID, 1);

        requireNothingRecorded();
    }

    @Spec("2.5")
    @Test
    void aVoidTimerOnlyStartsTheNextLap() {
        long timer = profiler.lap(TimerToken.VOID, 1, BrickId.RMS_NORM);
        clock.advance(10);
        profiler.stopBrick(timer, 1);

        assertThat(profiler.allBrickStats()).hasSize(1);
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(10);
    }

    @Test
    void timersOfKeysThatNoBrickHasRecordNothing() {
        profiler.stopBrick(TimerToken.pack(TimerToken.MAX_KEY, clock.now()), 1);
        profiler.stopBrick(TimerToken.pack(BrickId.FIXED_KEYS, clock.now()), 1);
        profiler.stopBrick(-1L, 1);
        profiler.stopBrick(1L << 63, 1);

        requireNothingRecorded();
    }

    @Spec("2.5")
    @Test
    void garbageAsATimerCorruptsNothing() {
        int dynamic = profiler.brickKey("mine");
        profiler.record(dynamic, 5, 1);
        Random random = new Random(42);
        for (int i = 0; i < 100_000; i++) {
            profiler.stopBrick(random.nextLong(), 1);
        }

        long samples =
                profiler.allBrickStats().stream().mapToLong(BrickStats::count).sum();
        assertThat(samples).as("about one garbage timer in 200 names a brick").isBetween(1L, 5_000L);
        assertThat(profiler.allBrickStats()).allSatisfy(stats -> {
            assertThat(stats.minNs()).isNotNegative();
            assertThat(stats.totalElements()).isEqualTo(stats.count());
        });
        profiler.reset();
        profiler.record(dynamic, 5, 1);
        assertThat(profiler.allBrickStats()).hasSize(1);
        assertThat(profiler.stats("mine").orElseThrow().totalNs()).isEqualTo(5);
    }

    // ---- lap ----

    @Spec("2.2")
    @Test
    void lapStopsOneAndStartsTheNextWithOneClockRead() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(100);
        long reads = clock.reads();
        timer = profiler.lap(timer, 2, BrickId.QKV_PROJECTION);
        assertThat(clock.reads() - reads).isEqualTo(1);
        clock.advance(40);
        profiler.stopBrick(timer, 3);

        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(100);
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalElements()).isEqualTo(2);
        assertThat(profiler.brickStats(BrickId.QKV_PROJECTION).totalNs()).isEqualTo(40);
        assertThat(profiler.brickStats(BrickId.QKV_PROJECTION).totalElements()).isEqualTo(3);
    }

    @Spec("2.2")
    @Test
    void lapByKeyReadsTheClockOnceToo() {
        int key = profiler.brickKey("mine");
        long timer = profiler.startBrick(key);
        clock.advance(100);
        long reads = clock.reads();
        timer = profiler.lap(timer, 2, key);
        assertThat(clock.reads() - reads).isEqualTo(1);
        clock.advance(40);
        profiler.stopBrick(timer, 3);

        assertThat(profiler.stats("mine").orElseThrow().totalNs()).isEqualTo(140);
        assertThat(profiler.stats("mine").orElseThrow().count()).isEqualTo(2);
    }

    @Test
    void lapToAnUnknownKeyStopsTheTimerAndGivesAVoidOne() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(100);

        assertThat(profiler.lap(timer, 2, 4_000)).isEqualTo(TimerToken.VOID);
        assertThat(profiler.lap(timer, 2, -1)).isEqualTo(TimerToken.VOID);
        assertThat(profiler.lap(timer, 2, Integer.MAX_VALUE)).isEqualTo(TimerToken.VOID);
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(3);
        assertThat(profiler.allBrickStats()).hasSize(1);
    }

    @Test
    void lapsCoverTheWholeTime() {
        long startNs = clock.now();
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        for (BrickId id : BrickId.values()) {
            clock.advance(7 + id.index());
            timer = profiler.lap(timer, 1, id);
        }
        profiler.stopBrick(timer, 1);

        assertThat(profiler.totalNs()).isEqualTo(clock.now() - startNs);
    }

    // ---- time ----

    @Test
    void timesARunnable() {
        profiler.time(BrickId.EMBEDDING, 5, () -> clock.advance(30));

        assertThat(profiler.brickStats(BrickId.EMBEDDING).totalNs()).isEqualTo(30);
        assertThat(profiler.brickStats(BrickId.EMBEDDING).totalElements()).isEqualTo(5);
    }

    @Test
    void timesASupplierAndGivesItsResult() {
        String result = profiler.time(BrickId.EMBEDDING, 5, () -> {
            clock.advance(30);
            return "done";
        });

        assertThat(result).isEqualTo("done");
        assertThat(profiler.brickStats(BrickId.EMBEDDING).totalNs()).isEqualTo(30);
    }

    @Spec("2.10")
    @Test
    void timesCodeThatThrows() {
        IllegalStateException thrown = new IllegalStateException("from the body");
        Runnable runnable = () -> {
            clock.advance(30);
            throw thrown;
        };
        assertThatThrownBy(() -> profiler.time(BrickId.EMBEDDING, 1, runnable)).isSameAs(thrown);
        assertThatThrownBy(() -> profiler.<String>time(BrickId.EMBEDDING, 1, () -> {
                    clock.advance(12);
                    throw thrown;
                }))
                .isSameAs(thrown);

        assertThat(profiler.brickStats(BrickId.EMBEDDING).count()).isEqualTo(2);
        assertThat(profiler.brickStats(BrickId.EMBEDDING).totalNs()).isEqualTo(42);
    }

    @Test
    void refusesNegativeElementsBeforeTheCodeRuns() {
        boolean[] ran = new boolean[1];
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.time(BrickId.EMBEDDING, -4, () -> ran[0] = true))
                .withMessageContaining("-4");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.time(BrickId.EMBEDDING, -4, () -> {
                    ran[0] = true;
                }))
                .withMessageContaining("-4");

        assertThat(ran[0]).isFalse();
        requireNothingRecorded();
    }
}
