package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Results, snapshots, resets and settings. */
final class BrickProfilerTest {

    private final FakeClock clock = new FakeClock(1_000);
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();

    BrickProfilerTest() {
        profiler.enable();
    }

    private void recordSome() {
        profiler.record(BrickId.RMS_NORM, 100, 10);
        profiler.record(BrickId.QKV_PROJECTION, 500, 20);
        profiler.record("mine", 300, 30);
        profiler.record(BrickId.LAYER_NORM, 100, 40);
    }

    // ---- results ----

    @Spec("4.4")
    @Test
    void statsOfAKnownBrickAreNeverNull() {
        BrickStats stats = profiler.brickStats(BrickId.SVD_COMPUTE);

        assertThat(stats).isEqualTo(BrickStats.empty("SVDCompute", BrickCategory.SOLVER, Bottleneck.UNKNOWN));
        assertThat(stats.minNs()).isZero();
    }

    @Spec("4.4")
    @Test
    void statsByNameAreEmptyIfNothingWasRecorded() {
        assertThat(profiler.stats("RmsNorm")).isEmpty();
        assertThat(profiler.stats("never seen")).isEmpty();
        assertThat(profiler.stats("")).isEmpty();
        assertThat(profiler.stats(null)).isEmpty();
        profiler.brickKey("registered");
        assertThat(profiler.stats("registered")).isEmpty();
    }

    @Test
    void statsByNameTakeAliases() {
        profiler.record(BrickId.ACTIVATION, 5, 1);

        for (String name : List.of("Activation", "SiLU", "GELU", "ReLU", "silu", "SwiGLU")) {
            assertThat(profiler.stats(name)).contains(profiler.brickStats(BrickId.ACTIVATION));
        }
        assertThat(profiler.stats("mlp")).isEmpty();
    }

    @Spec("4.4")
    @Test
    void allStatsAreTheRecordedBricksLargestFirst() {
        assertThat(profiler.allBrickStats()).isEmpty();
        recordSome();

        assertThat(profiler.allBrickStats())
                .extracting(BrickStats::name)
                .containsExactly("QkvProjection", "mine", "LayerNorm", "RmsNorm");
        assertThat(profiler.brickNames()).containsExactly("QkvProjection", "mine", "LayerNorm", "RmsNorm");
    }

    @Spec("4.4")
    @Test
    void resultsCannotBeChanged() {
        recordSome();
        List<BrickStats> all = profiler.allBrickStats();
        List<BrickStats> inSnapshot = profiler.snapshot().bricks();

        assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> all.remove(0));
        assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> inSnapshot.remove(0));
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> profiler.snapshot().tiles().remove(0));
    }

    @Spec("4.5")
    @Test
    void categoriesAreAllThereAndAddUp() {
        recordSome();
        Map<BrickCategory, CategoryStats> categories = profiler.categoryStats();

        assertThat(categories).isInstanceOf(EnumMap.class).containsOnlyKeys(BrickCategory.values());
        assertThat(categories.get(BrickCategory.NORM)).isEqualTo(new CategoryStats(200, 50, 2));
        assertThat(categories.get(BrickCategory.ATTENTION)).isEqualTo(new CategoryStats(500, 20, 1));
        assertThat(categories.get(BrickCategory.OTHER)).isEqualTo(new CategoryStats(300, 30, 1));
        assertThat(categories.get(BrickCategory.FFN)).isEqualTo(CategoryStats.EMPTY);
        assertThat(profiler.snapshot().categories()).isEqualTo(categories);
    }

    @Test
    void totalsAreSumsOverBricks() {
        assertThat(profiler.totalNs()).isZero();
        assertThat(profiler.totalTokens()).isZero();
        assertThat(profiler.totalThroughput()).isZero();
        recordSome();

        assertThat(profiler.totalNs()).isEqualTo(1_000);
        assertThat(profiler.totalTokens()).isEqualTo(100);
        assertThat(profiler.totalThroughput()).as("100 elements in 1 us").isCloseTo(1e8, within(1e-3));
    }

    @Spec({"4.3", "5.3"})
    @Test
    void sumsOverThreads() throws Exception {
        recordSome();
        Crew.runOnNewThread(() -> {
            clock.advance(5);
            profiler.record(BrickId.RMS_NORM, 50, 1);
        });

        BrickStats stats = profiler.brickStats(BrickId.RMS_NORM);
        assertThat(stats.count()).isEqualTo(2);
        assertThat(stats.totalNs()).isEqualTo(150);
        assertThat(stats.minNs()).isEqualTo(50);
        assertThat(stats.maxNs()).isEqualTo(100);
        assertThat(stats.lastNs()).as("the one that was recorded last").isEqualTo(50);
        assertThat(profiler.snapshot().threads()).isEqualTo(2);
    }

    // ---- snapshots ----

    @Spec("4.7")
    @Test
    void aSnapshotHasEverything() {
        recordSome();
        profiler.tiles().enable();
        profiler.tiles().record(TileLevel.MIDI, 3, 4, 70, 8, 16);
        profiler.setL2CacheHitRate(0.75);
        profiler.setZeroCopy(true);
        clock.advance(5_000);

        ProfileSnapshot snapshot = profiler.snapshot();

        assertThat(snapshot.bricks()).isEqualTo(profiler.allBrickStats());
        assertThat(snapshot.tiles()).isEqualTo(profiler.tiles().all());
        assertThat(snapshot.tiles().get(1).totalNs()).isEqualTo(70);
        assertThat(snapshot.totalNs()).isEqualTo(1_000);
        assertThat(snapshot.totalTokens()).isEqualTo(100);
        assertThat(snapshot.samples()).isEqualTo(4);
        assertThat(snapshot.totalThroughput()).isEqualTo(profiler.totalThroughput());
        assertThat(snapshot.wallNs()).isEqualTo(5_000);
        assertThat(snapshot.threads()).isEqualTo(1);
        assertThat(snapshot.virtualThreads()).isFalse();
        assertThat(snapshot.droppedPending()).isZero();
        assertThat(snapshot.l2CacheHitRate()).hasValue(0.75);
        assertThat(snapshot.zeroCopy()).isTrue();
        assertThat(snapshot.environments()).containsExactly(Environment.current());
        assertThat(Duration.between(snapshot.startedAt(), snapshot.endedAt())).isEqualTo(Duration.ofNanos(5_000));
    }

    @Spec("4.7")
    @Test
    void aSnapshotDoesNotChangeLater() {
        recordSome();
        ProfileSnapshot snapshot = profiler.snapshot();
        recordSome();
        profiler.reset();

        assertThat(snapshot.samples()).isEqualTo(4);
        assertThat(snapshot.totalNs()).isEqualTo(1_000);
    }

    @Test
    void anEmptySnapshotHasNoBricksAndThreeTiles() {
        ProfileSnapshot snapshot = profiler.snapshot();

        assertThat(snapshot.bricks()).isEmpty();
        assertThat(snapshot.tiles()).hasSize(3);
        assertThat(snapshot.threads()).isZero();
        assertThat(snapshot.overheadNs()).isZero();
        assertThat(snapshot.totalThroughput()).isZero();
        assertThat(snapshot.l2CacheHitRate()).isEmpty();
    }

    @Spec("4.7")
    @Test
    void wallTimeRunsOnlyWhileOn() {
        clock.advance(100);
        profiler.disable();
        clock.advance(1_000);
        profiler.disable();
        assertThat(profiler.snapshot().wallNs()).isEqualTo(100);
        profiler.enable();
        clock.advance(20);
        profiler.enable();
        clock.advance(3);

        assertThat(profiler.snapshot().wallNs()).isEqualTo(123);
    }

    @Test
    void aProfilerThatWasNeverOnCoversNoTime() {
        BrickProfiler off = BrickProfiler.builder().clock(clock).build();
        clock.advance(100);

        assertThat(off.snapshot().wallNs()).isZero();
    }

    @Test
    void theTimeOfTheLastSampleIsCalendarTime() {
        ProfileSnapshot before = profiler.snapshot();
        clock.advance(777);
        profiler.record(BrickId.RMS_NORM, 1, 1);

        long startedUnixNs = Duration.between(Instant.EPOCH, before.startedAt()).toNanos();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).lastAtUnixNs()).isEqualTo(startedUnixNs + 777);
    }

    // ---- resets ----

    @Spec("4.10")
    @Test
    void aResetForgetsSamplesAndTilesAndKeepsSettings() {
        recordSome();
        profiler.tiles().enable();
        profiler.tiles().record(TileLevel.MACRO, 0, 0, 70, 8, 16);
        profiler.setBottleneck("mine", Bottleneck.MEMORY);
        profiler.setL2CacheHitRate(0.5);
        profiler.setZeroCopy(true);
        profiler.setSyncMode(SyncMode.NONE);
        int key = profiler.brickKey("mine");
        clock.advance(50);
        profiler.reset();
        clock.advance(7);

        assertThat(profiler.allBrickStats()).isEmpty();
        assertThat(profiler.tiles().stats(TileLevel.MACRO).count()).isZero();
        assertThat(profiler.snapshot().wallNs()).isEqualTo(7);
        assertThat(profiler.isEnabled()).isTrue();
        assertThat(profiler.tiles().isEnabled()).isTrue();
        assertThat(profiler.l2CacheHitRate()).hasValue(0.5);
        assertThat(profiler.isZeroCopy()).isTrue();
        assertThat(profiler.syncMode()).isSameAs(SyncMode.NONE);
        profiler.record(key, 1, 1);
        assertThat(profiler.stats("mine").orElseThrow().bottleneck()).isSameAs(Bottleneck.MEMORY);
    }

    @Test
    void afterAResetTheExtremesAreThoseOfTheNewSamples() {
        recordSome();
        profiler.reset();
        profiler.record(BrickId.RMS_NORM, 200, 1);

        assertThat(profiler.brickStats(BrickId.RMS_NORM).minNs()).isEqualTo(200);
        assertThat(profiler.brickStats(BrickId.RMS_NORM).maxNs()).isEqualTo(200);
    }

    @Test
    void timersSurviveAReset() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(30);
        profiler.reset();
        clock.advance(12);
        profiler.stopBrick(timer, 1);

        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(42);
    }

    @Spec("4.10")
    @Test
    void snapshotAndResetSplitsTheRun() {
        recordSome();
        profiler.tiles().enable();
        profiler.tiles().record(TileLevel.MACRO, 0, 0, 70, 8, 16);
        clock.advance(50);
        ProfileSnapshot first = profiler.snapshotAndReset();
        profiler.record(BrickId.RMS_NORM, 1, 1);
        clock.advance(8);
        ProfileSnapshot second = profiler.snapshotAndReset();
        ProfileSnapshot third = profiler.snapshotAndReset();

        assertThat(List.of(first.samples(), second.samples(), third.samples())).containsExactly(4L, 1L, 0L);
        assertThat(List.of(first.wallNs(), second.wallNs(), third.wallNs())).containsExactly(50L, 8L, 0L);
        assertThat(first.tiles().get(0).count()).isEqualTo(1);
        assertThat(second.tiles().get(0).count()).isZero();
        assertThat(second.startedAt()).isEqualTo(first.endedAt());
    }

    // ---- settings ----

    @Test
    void bottlenecksAreKeptByBrick() {
        profiler.setBottleneck("Softmax", Bottleneck.MEMORY);
        profiler.setBottleneck("mine", Bottleneck.COMPUTE);
        recordSome();

        assertThat(profiler.brickStats(BrickId.ATTENTION_SOFTMAX).bottleneck()).isSameAs(Bottleneck.MEMORY);
        assertThat(profiler.stats("mine").orElseThrow().bottleneck()).isSameAs(Bottleneck.COMPUTE);
        assertThat(profiler.brickStats(BrickId.RMS_NORM).bottleneck()).isSameAs(Bottleneck.UNKNOWN);
        assertThat(profiler.brickNames()).as("a bottleneck is no sample").doesNotContain("AttentionSoftmax");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.setBottleneck("", Bottleneck.MEMORY))
                .withMessageContaining("empty");
    }

    @Spec("4.11")
    @Test
    void theCacheHitRateIsClamped() {
        assertThat(profiler.l2CacheHitRate()).isEmpty();
        profiler.setL2CacheHitRate(0.25);
        assertThat(profiler.l2CacheHitRate()).hasValue(0.25);
        profiler.setL2CacheHitRate(7);
        assertThat(profiler.l2CacheHitRate()).hasValue(1);
        profiler.setL2CacheHitRate(Double.NEGATIVE_INFINITY);
        assertThat(profiler.l2CacheHitRate()).hasValue(0);
        profiler.setL2CacheHitRate(-0.0);
        assertThat(profiler.l2CacheHitRate()).hasValue(0.0);
    }

    @Spec("4.11")
    @Test
    void aCacheHitRateThatIsNoNumberIsRefused() {
        profiler.setL2CacheHitRate(0.25);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.setL2CacheHitRate(Double.NaN))
                .withMessageContaining("NaN");

        assertThat(profiler.l2CacheHitRate()).hasValue(0.25);
    }

    /** An engine divides the tokens of an empty run by its time. */
    @Spec("4.12")
    @ParameterizedTest
    @ValueSource(doubles = {0, -0.0, Double.NaN, Double.POSITIVE_INFINITY})
    void theSpeedOfAnEmptyRunIsUnknownWithOneRemark(double rate) {
        profiler.setTokensPerSec(12.5);
        profiler.setTokensPerSec(rate);
        profiler.setTokensPerSec(rate);
        RunFacts facts = profiler.snapshot().facts();
        assertThat(facts.tokensPerSec()).isEmpty();
        assertThat(facts.disturbances())
                .containsExactly("tokens/s is unknown: the application reported " + rate
                        + ", as of a run without tokens or without time");
        profiler.setTokensPerSec(11);
        assertThat(profiler.snapshot().facts().tokensPerSec()).hasValue(11);
        assertThat(profiler.snapshot().facts().disturbances()).isEmpty();
    }

    @Spec("4.12")
    @Test
    void aSnapshotHasTheSpeedOfTheRunAndTheActivityOfItsVirtualMachine() {
        System.gc();
        assertThat(profiler.snapshot().facts().tokensPerSec()).isEmpty();
        profiler.setTokensPerSec(12.5);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.setTokensPerSec(-0.5))
                .withMessage("tokens per second -0.5 is negative");
        assertThatIllegalArgumentException().isThrownBy(() -> profiler.setTokensPerSec(Double.NEGATIVE_INFINITY));
        profiler.reset();
        ProfileSnapshot first = profiler.snapshot();
        assertThat(first.facts().tokensPerSec()).hasValue(12.5);
        assertThat(first.facts().virtualMachines()).singleElement().satisfies(machine -> {
            assertThat(machine.pid()).isEqualTo(ProcessHandle.current().pid());
            assertThat(machine.startedAt()).isBeforeOrEqualTo(Instant.now());
            assertThat(machine.jitNs()).isPositive();
            assertThat(machine.gcNs()).isPositive();
            assertThat(machine.upNs()).isGreaterThan(machine.gcNs());
        });

        assertThat(first.merge(profiler.snapshot()).facts().virtualMachines())
                .as("a process that was looked at twice")
                .singleElement()
                .satisfies(machine -> assertThat(machine.upNs())
                        .isGreaterThanOrEqualTo(
                                first.facts().virtualMachines().get(0).upNs()));
    }

    @Test
    void zeroCopyIsOffUnlessSet() {
        assertThat(profiler.isZeroCopy()).isFalse();
        profiler.setZeroCopy(true);
        assertThat(profiler.isZeroCopy()).isTrue();
        profiler.setZeroCopy(false);
        assertThat(profiler.isZeroCopy()).isFalse();
    }

    @Test
    void theTileProfilerIsOneWithASwitchOfItsOwn() {
        assertThat(profiler.tiles()).isSameAs(profiler.tiles());
        assertThat(profiler.tiles().isEnabled()).isFalse();
        profiler.tiles().enable();
        profiler.disable();
        assertThat(profiler.tiles().isEnabled()).isTrue();
    }

    @Test
    void tilesUseTheClockOfTheProfiler() {
        profiler.tiles().enable();
        long timer = profiler.tiles().start(TileLevel.MICRO, 1, 2);
        clock.advance(33);
        profiler.tiles().stop(timer, 1, 1);

        assertThat(profiler.tiles().stats(TileLevel.MICRO).totalNs()).isEqualTo(33);
    }
}
