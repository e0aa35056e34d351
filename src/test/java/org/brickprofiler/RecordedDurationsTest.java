package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Durations measured elsewhere; deferred ones are in {@link DeferredDurationsTest}. */
final class RecordedDurationsTest {

    private final FakeClock clock = new FakeClock(-50);
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();

    RecordedDurationsTest() {
        profiler.enable();
    }

    private void refuses(ThrowingCallable call, String... mentioned) {
        assertThatIllegalArgumentException().isThrownBy(call).withMessageContainingAll(mentioned);
        assertThat(profiler.allBrickStats()).isEmpty();
        assertThat(profiler.pendingCount()).isZero();
    }

    @Test
    void recordsByIdKeyAndName() {
        int key = profiler.brickKey("mine");
        profiler.record(BrickId.RMS_NORM, 10, 1);
        profiler.record(BrickId.RMS_NORM, 30, 2);
        profiler.record(key, 20, 4);
        profiler.record("mine", 5, 8);
        profiler.record("mine", Duration.ofNanos(7), 16);
        profiler.record("RmsNorm", 2, 32);
        profiler.record(BrickId.RMS_NORM.index(), 1, 64);

        BrickStats known = profiler.brickStats(BrickId.RMS_NORM);
        assertThat(known.count()).isEqualTo(4);
        assertThat(known.totalNs()).isEqualTo(43);
        assertThat(known.minNs()).isEqualTo(1);
        assertThat(known.maxNs()).isEqualTo(30);
        assertThat(known.lastNs()).isEqualTo(1);
        assertThat(known.totalElements()).isEqualTo(99);
        BrickStats mine = profiler.stats("mine").orElseThrow();
        assertThat(mine.count()).isEqualTo(3);
        assertThat(mine.totalNs()).isEqualTo(32);
        assertThat(mine.totalElements()).isEqualTo(28);
    }

    @Test
    void zeroDurationsAndElementsAreASample() {
        profiler.record(BrickId.RMS_NORM, 0, 0);
        profiler.record("mine", Duration.ZERO, 0);

        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(1);
        assertThat(profiler.stats("mine")).isPresent();
    }

    @Test
    void keepsTheLargestDuration() {
        profiler.record(BrickId.RMS_NORM, Long.MAX_VALUE, 1);

        assertThat(profiler.brickStats(BrickId.RMS_NORM).maxNs()).isEqualTo(Long.MAX_VALUE);
        assertThat(profiler.brickStats(BrickId.RMS_NORM).minNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void recordsBytes() {
        profiler.recordBytes(BrickId.QUANTIZE, 100, 1, 4_000, 1_000);
        profiler.recordBytes("Quantize", 100, 1, 4_000, 1_000);
        profiler.recordBytes("zip", 100, 1, 300, 100);

        BrickStats stats = profiler.brickStats(BrickId.QUANTIZE);
        assertThat(stats.count()).isEqualTo(2);
        assertThat(stats.totalBytes()).isEqualTo(8_000);
        assertThat(stats.totalCompressedBytes()).isEqualTo(2_000);
        assertThat(stats.compressionRatio()).isEqualTo(4.0);
        assertThat(stats.throughputGbps()).isEqualTo(40.0);
        assertThat(profiler.stats("zip").orElseThrow().compressionRatio()).isEqualTo(3.0);
    }

    @Test
    void recordsCycles() {
        profiler.recordCycles(BrickId.SPMM, 100, 10, 5_000);
        profiler.recordCycles("spmm", 100, 10, 3_000);
        profiler.recordCycles("mine", 100, 10, 70);

        BrickStats stats = profiler.brickStats(BrickId.SPMM);
        assertThat(stats.totalCycles()).isEqualTo(8_000);
        assertThat(stats.minCycles()).isEqualTo(3_000);
        assertThat(stats.maxCycles()).isEqualTo(5_000);
        assertThat(stats.cyclesPerElement()).isEqualTo(400.0);
        assertThat(stats.avgCycles()).isEqualTo(4_000.0);
        assertThat(profiler.stats("mine").orElseThrow().totalCycles()).isEqualTo(70);
    }

    @Test
    void withoutCyclesTheFewestAreZeroAndNoSentinel() {
        profiler.record(BrickId.RMS_NORM, 1, 1);
        profiler.recordCycles(BrickId.SPMM, 1, 1, 0);

        assertThat(profiler.brickStats(BrickId.RMS_NORM).minCycles()).isZero();
        assertThat(profiler.brickStats(BrickId.SPMM).minCycles()).isZero();
        assertThat(profiler.brickStats(BrickId.SPMM).count()).isEqualTo(1);
    }

    // ---- refusals ----

    @Spec("2.7")
    @Test
    void refusesNegativeDurations() {
        int key = BrickId.RMS_NORM.index();
        refuses(() -> profiler.record(BrickId.RMS_NORM, -7, 1), "elapsedNs", "-7");
        refuses(() -> profiler.record(key, -7, 1), "elapsedNs", "-7");
        refuses(() -> profiler.record("mine", -7, 1), "elapsedNs", "-7");
        refuses(() -> profiler.record("mine", Duration.ofNanos(-7), 1), "elapsedNs", "-7");
        refuses(() -> profiler.recordBytes(BrickId.RMS_NORM, -7, 1, 1, 1), "elapsedNs", "-7");
        refuses(() -> profiler.recordBytes("mine", -7, 1, 1, 1), "elapsedNs", "-7");
        refuses(() -> profiler.recordCycles(BrickId.RMS_NORM, -7, 1, 1), "elapsedNs", "-7");
        refuses(() -> profiler.recordCycles("mine", -7, 1, 1), "elapsedNs", "-7");
    }

    @Spec("2.7")
    @Test
    void refusesNegativeElements() {
        int key = BrickId.RMS_NORM.index();
        refuses(() -> profiler.record(BrickId.RMS_NORM, 1, -8), "elements", "-8");
        refuses(() -> profiler.record(key, 1, -8), "elements", "-8");
        refuses(() -> profiler.record("mine", 1, -8), "elements", "-8");
        refuses(() -> profiler.record("mine", Duration.ofNanos(1), -8), "elements", "-8");
        refuses(() -> profiler.recordBytes(BrickId.RMS_NORM, 1, -8, 1, 1), "elements", "-8");
        refuses(() -> profiler.recordBytes("mine", 1, -8, 1, 1), "elements", "-8");
        refuses(() -> profiler.recordCycles(BrickId.RMS_NORM, 1, -8, 1), "elements", "-8");
        refuses(() -> profiler.recordCycles("mine", 1, -8, 1), "elements", "-8");
        refuses(() -> profiler.recordDeferred(BrickId.RMS_NORM, 1, -8), "elements", "-8");
        refuses(() -> profiler.recordDeferred("mine", 1, -8), "elements", "-8");
    }

    @Spec("2.7")
    @Test
    void refusesNegativeBytesAndCycles() {
        refuses(() -> profiler.recordBytes(BrickId.RMS_NORM, 1, 1, -9, 1), "inputBytes", "-9");
        refuses(() -> profiler.recordBytes("mine", 1, 1, -9, 1), "inputBytes", "-9");
        refuses(() -> profiler.recordBytes(BrickId.RMS_NORM, 1, 1, 1, -9), "outputBytes", "-9");
        refuses(() -> profiler.recordBytes("mine", 1, 1, 1, -9), "outputBytes", "-9");
        refuses(() -> profiler.recordCycles(BrickId.RMS_NORM, 1, 1, -9), "cycles", "-9");
        refuses(() -> profiler.recordCycles("mine", 1, 1, -9), "cycles", "-9");
    }

    @Test
    void refusesDurationsThatDoNotFit() {
        Duration tooLong = Duration.ofSeconds(Long.MAX_VALUE);
        refuses(() -> profiler.record("mine", tooLong, 1), tooLong.toString());
        refuses(
                () -> profiler.record("mine", tooLong.negated(), 1),
                tooLong.negated().toString());
    }

    @Spec("2.7")
    @Test
    void refusesKeysThatNoBrickHas() {
        refuses(() -> profiler.record(-1, 1, 1), "-1");
        refuses(() -> profiler.record(37, 1, 1), "37");
        refuses(() -> profiler.record(Integer.MAX_VALUE, 1, 1), Integer.toString(Integer.MAX_VALUE));
    }

    @Spec("1.6")
    @Test
    void refusesEmptyNames() {
        refuses(() -> profiler.record("", 1, 1), "empty");
        refuses(() -> profiler.record("", Duration.ofNanos(1), 1), "empty");
        refuses(() -> profiler.recordBytes("", 1, 1, 1, 1), "empty");
        refuses(() -> profiler.recordCycles("", 1, 1, 1), "empty");
        refuses(() -> profiler.recordDeferred("", 1, 1), "empty");
    }

    @Spec("1.6")
    @Test
    @SuppressWarnings("NullAway") // null is the subject of the test
    void refusesNullNames() {
        refuses(() -> profiler.record((String) null, 1, 1), "null");
        refuses(() -> profiler.record(null, Duration.ofNanos(1), 1), "null");
        refuses(() -> profiler.recordBytes((String) null, 1, 1, 1, 1), "null");
        refuses(() -> profiler.recordCycles((String) null, 1, 1, 1), "null");
        refuses(() -> profiler.recordDeferred((String) null, 1, 1), "null");
    }

    @Test
    void aRefusedNameOrNumberRegistersNoBrick() {
        refuses(() -> profiler.record("mine", -7, 1), "-7");
        refuses(() -> profiler.recordDeferred("mine", 1, -7), "-7");

        assertThat(profiler.brickKey("first")).isEqualTo(BrickId.FIXED_KEYS);
    }

    @Spec("2.7")
    @Test
    void refusesWhileOffToo() {
        profiler.disable();
        refuses(() -> profiler.record(BrickId.RMS_NORM, -7, 1), "-7");
        refuses(() -> profiler.record("", 1, 1), "empty");
        refuses(() -> profiler.recordDeferred(BrickId.RMS_NORM, 1, -8), "-8");
    }
}
