package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.checksum.ChecksumOptions;
import org.brickprofiler.checksum.Tolerance;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.FakeClock;
import org.junit.jupiter.api.Test;

final class BrickProfilerBuilderTest {

    @Test
    void theClockIsThatOfTheVirtualMachineUnlessSet() {
        assertThat(BrickProfiler.builder().build().elapsedNs()).isNotNegative();

        FakeClock clock = new FakeClock(77);
        BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
        clock.advance(5);
        assertThat(profiler.elapsedNs()).isEqualTo(5);
    }

    @Test
    void percentilesAreOffUnlessSet() {
        BrickProfiler without = BrickProfiler.enabled();
        without.record(BrickId.RMS_NORM, 5, 1);
        assertThat(without.brickStats(BrickId.RMS_NORM).latency()).isEmpty();
        assertThat(without.brickStats(BrickId.RMS_NORM).percentileNs(50)).isZero();

        BrickProfiler with = BrickProfiler.builder().percentiles(true).build();
        with.enable();
        for (int ns = 1; ns <= 100; ns++) {
            with.record(BrickId.RMS_NORM, ns, 1);
            with.record("mine", 1_000_000L * ns, 1);
        }
        BrickStats stats = with.brickStats(BrickId.RMS_NORM);
        assertThat(stats.latency().orElseThrow().count()).isEqualTo(100);
        assertThat(stats.percentileNs(50)).isEqualTo(50);
        assertThat(stats.percentileNs(99)).isEqualTo(99);
        long p90 = with.stats("mine").orElseThrow().percentileNs(90);
        assertThat(Math.abs(p90 - 90e6)).isLessThanOrEqualTo(90e6 * LatencyDistribution.RELATIVE_ERROR);
        assertThat(with.snapshot().brick("mine").orElseThrow().percentileNs(90)).isEqualTo(p90);
        with.reset();
        with.record(BrickId.RMS_NORM, 7, 1);
        assertThat(with.brickStats(BrickId.RMS_NORM).latency().orElseThrow().count())
                .isEqualTo(1);
    }

    @Test
    void checksumsTakeNoSamplesUnlessAskedFor() {
        assertThat(BrickProfiler.enabled().checksums().options()).isEqualTo(ChecksumOptions.DEFAULT);
    }

    @Test
    void checksumsWithSamplesAreComparedWithinATolerance() {
        ChecksumOptions options = ChecksumOptions.DEFAULT.withSamples(16);
        BrickProfiler right = BrickProfiler.builder().checksums(options).build();
        BrickProfiler near = BrickProfiler.builder().checksums(options).build();
        BrickProfiler far = BrickProfiler.builder().checksums(options).build();
        right.checksums().record("RmsNorm", 0, 0, new float[] {1, 2, 3});
        near.checksums().record("RmsNorm", 0, 0, new float[] {1, 2, 3.000001f});
        far.checksums().record("RmsNorm", 0, 0, new float[] {1, 2, 3.5f});

        assertThat(near.checksums().options()).isEqualTo(options);
        assertThat(near.checksums().firstDivergenceFrom(right.checksums())).isPresent();
        assertThat(near.checksums()
                        .compareWith(right.checksums(), Tolerance.FLOAT32)
                        .first())
                .isEmpty();
        assertThat(far.checksums()
                        .compareWith(right.checksums(), Tolerance.FLOAT32)
                        .first())
                .isPresent();
    }

    @Test
    void attributionIsLiteralUnlessSet() {
        for (Attribution attribution : Attribution.values()) {
            BrickProfiler profiler =
                    BrickProfiler.builder().attribution(attribution).build();
            profiler.enable();
            profiler.recordDeferred(BrickId.RMS_NORM, 0, 1);
            profiler.recordDeferred(BrickId.RMS_NORM, 60, 1);
            profiler.finalize(100);
            assertThat(profiler.totalNs()).isEqualTo(attribution == Attribution.LITERAL ? 140 : 100);
        }
        BrickProfiler unset = BrickProfiler.enabled();
        unset.recordDeferred(BrickId.RMS_NORM, 0, 1);
        unset.recordDeferred(BrickId.RMS_NORM, 60, 1);
        unset.finalize(100);
        assertThat(unset.totalNs()).isEqualTo(140);
    }

    @Test
    void mayBeUsedForSeveralProfilers() {
        BrickProfilerBuilder builder = BrickProfiler.builder().clock(new FakeClock());
        BrickProfiler one = builder.build();
        BrickProfiler two = builder.build();
        one.enable();
        one.record("mine", 5, 1);

        assertThat(two.isEnabled()).isFalse();
        assertThat(two.allBrickStats()).isEmpty();
        assertThat(two.brickKey("other")).isEqualTo(BrickId.FIXED_KEYS);
    }
}
