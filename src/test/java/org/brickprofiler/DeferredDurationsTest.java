package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.NotEmpty;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class DeferredDurationsTest {

    private static final int MOST_PENDING = 1_048_576;

    private final FakeClock clock = new FakeClock(1_000_000);
    private final BrickProfiler profiler = enabled(clock, Attribution.LITERAL);

    private static BrickProfiler enabled(FakeClock clock, Attribution attribution) {
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).attribution(attribution).build();
        profiler.enable();
        return profiler;
    }

    private long totalNs(BrickId id) {
        return profiler.brickStats(id).totalNs();
    }

    // ---- the epoch ----

    @Spec("3.1")
    @Test
    void theEpochIsTheConstruction() {
        assertThat(profiler.elapsedNs()).isZero();
        clock.advance(70);
        assertThat(profiler.elapsedNs()).isEqualTo(70);
    }

    @Spec("3.1")
    @Test
    void theEpochCanBeReset() {
        clock.advance(70);
        profiler.resetEpoch();
        assertThat(profiler.elapsedNs()).isZero();
        clock.advance(5);
        assertThat(profiler.elapsedNs()).isEqualTo(5);
    }

    @Test
    void theEpochRunsWhileOff() {
        profiler.disable();
        clock.advance(70);
        assertThat(profiler.elapsedNs()).isEqualTo(70);
    }

    // ---- finalize ----

    /** Without a limit, the difference of the ends of the scale wraps. */
    @Spec("3.3")
    @Test
    void theEndsOfTheScaleDoNotWrap() {
        clock.advance(1_000);
        profiler.recordDeferred(BrickId.RMS_NORM, 10, 1);
        profiler.finalize(Long.MIN_VALUE);
        profiler.recordDeferred(BrickId.LAYER_NORM, Long.MAX_VALUE, 1);
        profiler.finalize(Long.MIN_VALUE);
        profiler.recordDeferred(BrickId.QKV_PROJECTION, Long.MIN_VALUE, 1);
        profiler.finalize(Long.MAX_VALUE);

        assertThat(totalNs(BrickId.RMS_NORM)).isZero();
        assertThat(totalNs(BrickId.LAYER_NORM)).isZero();
        assertThat(totalNs(BrickId.QKV_PROJECTION)).isEqualTo(Long.MAX_VALUE - 1);
        assertThat(profiler.pendingCount()).isZero();
    }

    /** A number of the old epoch that is queued later counts from the new one; pending measurements do not move. */
    @Spec("3.1")
    @Test
    void aStartThatIsQueuedAfterItsEpochCountsFromTheNewOne() {
        clock.advance(100);
        long startNs = profiler.elapsedNs();
        profiler.recordDeferred(BrickId.RMS_NORM, startNs, 1);
        profiler.resetEpoch();
        profiler.recordDeferred(BrickId.LAYER_NORM, startNs, 1);
        clock.advance(150);
        profiler.finalize(profiler.elapsedNs());

        assertThat(totalNs(BrickId.RMS_NORM)).isEqualTo(150);
        assertThat(totalNs(BrickId.LAYER_NORM)).isEqualTo(50);
    }

    @Spec("3.3")
    @Test
    void finalizeGivesEachTheTimeToTheCommonEnd() {
        profiler.recordDeferred(BrickId.RMS_NORM, 10, 1);
        profiler.recordDeferred(BrickId.QKV_PROJECTION, 40, 2);
        profiler.recordDeferred("Qkv", 70, 4);
        profiler.recordDeferred("mine", 90, 8);
        assertThat(profiler.pendingCount()).isEqualTo(4);
        assertThat(profiler.hasPending()).isTrue();
        assertThat(profiler.allBrickStats()).as("nothing is recorded yet").isEmpty();

        profiler.finalize(100);

        assertThat(profiler.hasPending()).isFalse();
        assertThat(profiler.pendingCount()).isZero();
        assertThat(totalNs(BrickId.RMS_NORM)).isEqualTo(90);
        assertThat(totalNs(BrickId.QKV_PROJECTION)).isEqualTo(90);
        assertThat(profiler.brickStats(BrickId.QKV_PROJECTION).minNs()).isEqualTo(30);
        assertThat(profiler.brickStats(BrickId.QKV_PROJECTION).totalElements()).isEqualTo(6);
        assertThat(profiler.stats("mine").orElseThrow().totalNs()).isEqualTo(10);
    }

    @Spec("3.4")
    @Test
    void sequentialAttributionGivesEachTheTimeToTheNextStart() {
        BrickProfiler sequential = enabled(clock, Attribution.SEQUENTIAL);
        sequential.recordDeferred(BrickId.RMS_NORM, 10, 1);
        sequential.recordDeferred(BrickId.QKV_PROJECTION, 40, 2);
        sequential.recordDeferred("mine", 90, 8);

        sequential.finalize(100);

        assertThat(sequential.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(30);
        assertThat(sequential.brickStats(BrickId.QKV_PROJECTION).totalNs()).isEqualTo(50);
        assertThat(sequential.stats("mine").orElseThrow().totalNs()).isEqualTo(10);
        assertThat(sequential.totalNs()).isEqualTo(90);
        assertThat(sequential.hasPending()).isFalse();
    }

    @Spec("3.4")
    @Property
    void sequentialPartsSumToTheWhole(
            @ForAll @NotEmpty List<@LongRange(min = 0, max = 5_000) Long> starts,
            @ForAll @LongRange(min = 5_000, max = 9_000) long endNs) {
        BrickProfiler sequential = enabled(clock, Attribution.SEQUENTIAL);
        for (int i = 0; i < starts.size(); i++) {
            sequential.recordDeferred(BrickId.all().get(i % 5), starts.get(i), 1);
        }
        sequential.finalize(endNs);

        long first = starts.stream().mapToLong(Long::longValue).min().orElseThrow();
        assertThat(sequential.totalNs()).isEqualTo(endNs - first);
        assertThat(sequential.snapshot().samples()).isEqualTo(starts.size());
    }

    // ---- deferred measurements in a snapshot ----

    @Spec("3.3")
    @Test
    void aSnapshotCountsOverlapsByLiteralAttribution() {
        long[] starts = {0, 10, 40};
        for (int pass = 0; pass < 100; pass++) {
            for (long start : starts) {
                profiler.recordDeferred(BrickId.RMS_NORM, 1_000L * pass + start, 1);
            }
            profiler.finalize(1_000L * pass + 100);
        }
        assertThat(profiler.snapshot().literalOverlaps()).isEqualTo(300);
        assertThat(profiler.snapshotAndReset().literalOverlaps()).isEqualTo(300);
        assertThat(profiler.snapshot().literalOverlaps()).isZero();

        profiler.recordDeferred(BrickId.RMS_NORM, 10, 1);
        profiler.recordDeferred("mine", 20, 1);
        clock.advance(100);
        profiler.endPass();
        assertThat(profiler.snapshot().literalOverlaps()).isEqualTo(2);
        profiler.reset();
        assertThat(profiler.snapshot().literalOverlaps()).isZero();
    }

    @Test
    void oneMeasurementToAResolutionOverlapsNothing() {
        for (int i = 0; i < 5; i++) {
            profiler.recordDeferred(BrickId.RMS_NORM, 100L * i, 1);
            profiler.finalize(100L * i + 90);
        }
        assertThat(profiler.snapshot().literalOverlaps()).isZero();
    }

    @Test
    void emptySpansOverlapNothing() {
        profiler.recordDeferred(BrickId.RMS_NORM, 100, 1);
        profiler.recordDeferred(BrickId.RMS_NORM, 400, 1);
        profiler.recordDeferred(BrickId.RMS_NORM, 30, 1);
        profiler.finalize(100);
        assertThat(profiler.snapshot().literalOverlaps()).isZero();
        profiler.recordDeferred(BrickId.RMS_NORM, 100, 1);
        profiler.recordDeferred(BrickId.RMS_NORM, 30, 1);
        profiler.recordDeferred(BrickId.RMS_NORM, 31, 1);
        profiler.finalize(100);
        assertThat(profiler.snapshot().literalOverlaps()).isEqualTo(2);
    }

    @Test
    void sequentialAttributionOverlapsNothing() {
        BrickProfiler sequential = enabled(clock, Attribution.SEQUENTIAL);
        sequential.recordDeferred(BrickId.RMS_NORM, 10, 1);
        sequential.recordDeferred(BrickId.QKV_PROJECTION, 40, 2);
        sequential.finalize(100);
        assertThat(sequential.snapshot().literalOverlaps()).isZero();
    }

    @Spec("3.7")
    @Test
    void aSnapshotCountsPendingMeasurements() {
        profiler.recordDeferred(BrickId.RMS_NORM, 10, 1);
        profiler.recordDeferred("mine", 40, 2);
        assertThat(profiler.snapshot().pending()).isEqualTo(2);
        assertThat(profiler.snapshotAndReset().pending()).isEqualTo(2);
        assertThat(profiler.snapshot().pending()).as("it is pending still").isEqualTo(2);
        profiler.finalize(100);
        assertThat(profiler.snapshot().pending()).isZero();
        assertThat(profiler.snapshot().samples()).isEqualTo(2);
    }

    @Spec("3.3")
    @Test
    void aStartAfterTheEndCountsAsZero() {
        profiler.recordDeferred(BrickId.RMS_NORM, 500, 3);
        profiler.finalize(100);

        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(1);
        assertThat(totalNs(BrickId.RMS_NORM)).isZero();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalElements()).isEqualTo(3);
    }

    @Spec("3.2")
    @Test
    void finalizeOnAnEmptyQueueIsANoOp() {
        profiler.finalize(100);
        profiler.recordDeferred(BrickId.RMS_NORM, 10, 1);
        profiler.finalize(100);
        profiler.finalize(900);

        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(1);
        assertThat(totalNs(BrickId.RMS_NORM)).isEqualTo(90);
    }

    @Spec("3.1")
    @Test
    void pendingMeasurementsKeepTheirTrueStartWhenTheEpochIsReset() {
        clock.advance(100);
        profiler.recordDeferred(BrickId.RMS_NORM, profiler.elapsedNs(), 1);
        clock.advance(30);
        profiler.resetEpoch();
        clock.advance(12);

        profiler.finalize(profiler.elapsedNs());

        assertThat(totalNs(BrickId.RMS_NORM)).isEqualTo(42);
    }

    @Test
    void worksWithAClockThatShowsNegativeTimes() {
        FakeClock negative = new FakeClock(Long.MIN_VALUE + 5);
        BrickProfiler other = enabled(negative, Attribution.SEQUENTIAL);
        long startNs = other.elapsedNs();
        negative.advance(10);
        other.recordDeferred(BrickId.RMS_NORM, startNs, 1);
        other.finalize(other.elapsedNs());

        assertThat(other.totalNs()).isEqualTo(10);
    }

    @Spec("3.2")
    @Test
    void resolvesMeasurementsOfOtherThreads() throws Exception {
        Crew.runOnNewThread(() -> profiler.recordDeferred(BrickId.RMS_NORM, 10, 1));
        assertThat(profiler.pendingCount()).isEqualTo(1);
        profiler.finalize(100);

        assertThat(totalNs(BrickId.RMS_NORM)).isEqualTo(90);
        assertThat(profiler.hasPending()).isFalse();
    }

    @Spec("3.7")
    @Test
    void aResetDiscardsPendingMeasurements() {
        profiler.recordDeferred(BrickId.RMS_NORM, 10, 1);
        profiler.reset();
        assertThat(profiler.hasPending()).isFalse();
        profiler.finalize(100);

        assertThat(profiler.allBrickStats()).isEmpty();
    }

    @Spec("3.7")
    @Test
    void aSnapshotAndResetLeavesPendingMeasurements() {
        profiler.record(BrickId.RMS_NORM, 1, 1);
        profiler.recordDeferred(BrickId.RMS_NORM, 10, 1);
        assertThat(profiler.snapshotAndReset().samples()).isEqualTo(1);
        assertThat(profiler.pendingCount()).isEqualTo(1);
        profiler.finalize(100);

        assertThat(profiler.snapshotAndReset().totalNs()).isEqualTo(90);
    }

    @Spec("3.6")
    @Test
    void measurementsBeyondTheBoundAreDroppedCountedAndLoggedOnce() {
        try (CapturedLog log = new CapturedLog()) {
            for (int i = 0; i < MOST_PENDING + 3; i++) {
                profiler.recordDeferred(BrickId.RMS_NORM, 0, 1);
            }
            assertThat(profiler.pendingCount()).isEqualTo(MOST_PENDING);
            assertThat(profiler.snapshot().droppedPending()).isEqualTo(3);
            assertThat(profiler.snapshotAndReset().droppedPending()).isEqualTo(3);
            assertThat(profiler.snapshot().droppedPending()).isZero();

            profiler.recordDeferred(BrickId.LAYER_NORM, 0, 1);
            assertThat(profiler.snapshot().droppedPending()).isEqualTo(1);
            profiler.reset();
            assertThat(profiler.snapshot().droppedPending()).isZero();
            assertThat(log.linesWith("deferred measurements")).isEqualTo(1);
        }
        profiler.recordDeferred(BrickId.LAYER_NORM, 0, 1);
        profiler.finalize(5);

        assertThat(profiler.snapshot().samples()).isEqualTo(1);
    }

    // ---- boundaries ----

    @Test
    void theModeIsDeferredUnlessSet() {
        assertThat(profiler.syncMode()).isSameAs(SyncMode.DEFERRED);
        for (SyncMode mode : SyncMode.values()) {
            profiler.setSyncMode(mode);
            assertThat(profiler.syncMode()).isSameAs(mode);
        }
    }

    @Spec("3.5")
    @ParameterizedTest
    @EnumSource(SyncMode.class)
    void theEndOfALayerResolvesIfTheModeSaysSo(SyncMode mode) {
        boolean resolves = mode == SyncMode.IMMEDIATE || mode == SyncMode.PER_LAYER;
        profiler.setSyncMode(mode);
        profiler.recordDeferred(BrickId.RMS_NORM, profiler.elapsedNs(), 1);
        clock.advance(25);
        profiler.endLayer();

        assertThat(profiler.hasPending()).isEqualTo(!resolves);
        assertThat(totalNs(BrickId.RMS_NORM)).isEqualTo(resolves ? 25 : 0);
    }

    @Spec("3.5")
    @ParameterizedTest
    @EnumSource(SyncMode.class)
    void theEndOfAPassResolvesInEveryMode(SyncMode mode) {
        profiler.setSyncMode(mode);
        profiler.resetEpoch();
        profiler.recordDeferred(BrickId.RMS_NORM, profiler.elapsedNs(), 1);
        clock.advance(25);
        profiler.endPass();
        profiler.endPass();

        assertThat(profiler.hasPending()).isFalse();
        assertThat(totalNs(BrickId.RMS_NORM)).isEqualTo(25);
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(1);
    }

    @Test
    void deferringReadsNoClock() {
        long startNs = profiler.elapsedNs();
        long reads = clock.reads();
        profiler.recordDeferred(BrickId.RMS_NORM, startNs, 1);
        profiler.finalize(10);

        assertThat(clock.reads()).isEqualTo(reads);
    }
}
