package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;
import org.junit.jupiter.api.Test;

final class SnapshotDifferenceTest {

    private static final TileLevel LEVEL = TileLevel.MACRO;

    /** The cycles of a window may belong to a few of its samples, whose number is unknown. */
    @Test
    @Spec("23.7")
    void theCyclesOfAWindowAreNotDividedByAllItsSamples() {
        BrickProfiler plain = BrickProfiler.enabled();
        plain.recordCycles(BrickId.RMS_NORM, 10, 1, 5_000);
        ProfileSnapshot before = plain.snapshot();
        plain.recordCycles(BrickId.RMS_NORM, 10, 1, 5_000);
        plain.record(BrickId.RMS_NORM, 10, 1);
        ProfileSnapshot window = SnapshotDifference.between(before, plain.snapshot());
        BrickStats brick = window.brick("RmsNorm").orElseThrow();

        assertThat(brick.totalCycles()).isEqualTo(5_000);
        assertThat(brick.minCycles()).as("unknown").isZero();
        assertThat(brick.maxCycles()).as("unknown").isZero();
        assertThat(before.merge(window).brick("RmsNorm").orElseThrow().minCycles())
                .isEqualTo(5_000);
    }

    /** What marks add may have been measured after the window began. */
    @Test
    @Spec("12.54")
    void aWindowHasTheCostOfMarksThatIsKnownAtItsEnd() {
        BrickStats early = device(10, 100_000, DeviceTime.MarkTime.NONE);
        BrickStats late = device(40, 400_000, new DeviceTime.MarkTime(40, 120_000, 8_000));
        BrickStats window = SnapshotDifference.between(Samples.snapshot(early), Samples.snapshot(late))
                .brick("RmsNorm")
                .orElseThrow();
        assertThat(window.netNs()).hasValue(300_000 - 90_000);
        assertThat(window.device().marks().errorNs()).isEqualTo(6_000);
        assertThat(window.isShortBesideMarks()).isFalse();
        assertThat(early.plus(late).netNs()).as("in parts only").isEmpty();
        assertThat(device(1, 5_000, new DeviceTime.MarkTime(1, 6_000, 10)).netNs())
                .hasValue(0);
    }

    private static BrickStats device(long samples, long ns, DeviceTime.MarkTime marks) {
        return BrickStats.builder("RmsNorm", BrickCategory.NORM)
                .samples(samples, ns, ns / samples, ns / samples)
                .device(new DeviceTime(samples, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, marks))
                .build();
    }

    /** Tokens per second are per time in which a step was under way, whatever became of the step. */
    @Test
    @Spec("17.3")
    void aWindowWhoseStepsWereAbandonedKeepsTheirTime() {
        FakeClock clock = new FakeClock();
        BrickProfiler plain = BrickProfiler.builder().clock(clock).build();
        plain.enable();
        step(plain, clock, 1_000);
        plain.endPass();
        ProfileSnapshot before = plain.snapshot();
        step(plain, clock, 999_000);
        plain.abandonPass();
        ProfileSnapshot whole = plain.snapshot();
        ProfileSnapshot window = SnapshotDifference.between(before, whole);
        StepStats merged =
                before.merge(window).steps().phase(StepInfo.Phase.DECODE).orElseThrow();

        assertThat(window.steps().phases()).singleElement().satisfies(phase -> {
            assertThat(phase.count()).isZero();
            assertThat(phase.wallNs()).isEqualTo(999_000);
        });
        assertThat(merged).isEqualTo(whole.steps().phase(StepInfo.Phase.DECODE).orElseThrow());
        assertThat(merged.outputTokensPerSecond()).isEqualTo(1_000);
        assertThat(TextReport.render(window))
                .contains("Steps that began and did not end: 1.")
                .doesNotContain("\nSteps\n");
    }

    private static void step(BrickProfiler profiler, FakeClock clock, long ns) {
        profiler.beginStep(StepInfo.decode(1));
        clock.advance(ns);
    }

    @Test
    @Spec("23.7")
    void anExtremeThatTheWindowDidNotSetIsUnknown() throws IOException {
        BrickProfiler plain = BrickProfiler.enabled();
        plain.record(BrickId.RMS_NORM, 5_000, 1);
        plain.record(BrickId.RMS_NORM, 10, 1);
        ProfileSnapshot before = plain.snapshot();
        plain.record(BrickId.RMS_NORM, 1_000, 1);
        plain.record(BrickId.RMS_NORM, 3_000, 1);
        plain.record(BrickId.RMS_NORM, 1_500, 1);
        ProfileSnapshot difference = SnapshotDifference.between(before, plain.snapshot());
        BrickStats window = difference.brick("RmsNorm").orElseThrow();

        assertThat(window.hasExtremes()).isFalse();
        assertThat(List.of(window.minNs(), window.maxNs())).containsExactly(0L, 0L);
        assertThat(window.minAtLeastNs()).hasValue(10);
        assertThat(window.maxAtMostNs()).hasValue(5_000);
        assertThat(TextReport.render(difference).lines().filter(line -> line.startsWith("RmsNorm")))
                .singleElement()
                .asString()
                .containsPattern("1\\.833 us +- +- ");
        assertThat(JsonReport.fromJson(JsonReport.toJson(difference)).bricks()).containsExactly(window);
        assertThat(SnapshotDifference.between(plain.snapshot(), plain.snapshot())
                        .bricks())
                .isEmpty();
    }

    @Test
    @Spec("23.7")
    void anExtremeThatTheWindowSetIsKnown() {
        BrickProfiler plain = BrickProfiler.enabled();
        plain.record(BrickId.RMS_NORM, 5_000, 1);
        ProfileSnapshot before = plain.snapshot();
        plain.record(BrickId.RMS_NORM, 9_000, 1);
        plain.record(BrickId.RMS_NORM, 6_000, 1);
        plain.record(BrickId.RMS_NORM, 7_000, 1);
        BrickStats window = SnapshotDifference.between(before, plain.snapshot())
                .brick("RmsNorm")
                .orElseThrow();

        assertThat(window.isMaxKnown()).isTrue();
        assertThat(window.maxNs()).isEqualTo(9_000);
        assertThat(window.isMinKnown()).isFalse();
        assertThat(window.minAtLeastNs()).hasValue(5_000);
    }

    @Property(tries = 200)
    @Spec({"23.6", "23.7"})
    void windowsNeverStateAnExtremeThatTheirSamplesDoNotHaveAndTogetherHaveThoseOfTheWhole(
            @ForAll @Size(min = 1, max = 5) List<@Size(max = 6) List<@LongRange(max = 12) Long>> windows,
            @ForAll boolean percentiles) {
        BrickProfiler profiler =
                BrickProfiler.builder().percentiles(percentiles).build();
        profiler.enable();
        profiler.tiles().enable();
        ProfileSnapshot earlier = profiler.snapshot();
        List<ProfileSnapshot> parts = new ArrayList<>();
        for (List<Long> durationsNs : windows) {
            for (long ns : durationsNs) {
                profiler.record(BrickId.RMS_NORM, ns, 1);
                profiler.tiles().record(LEVEL, 0, 0, ns, 1, 1);
            }
            ProfileSnapshot later = profiler.snapshot();
            ProfileSnapshot part = SnapshotDifference.between(earlier, later);
            parts.add(part);
            earlier = later;
            if (!durationsNs.isEmpty()) {
                long shortestNs = durationsNs.stream().min(Long::compare).orElseThrow();
                long longestNs = durationsNs.stream().max(Long::compare).orElseThrow();
                BrickStats brick = part.brick("RmsNorm").orElseThrow();
                requireTrue(brick.isMinKnown(), brick.minNs(), brick.minAtLeastNs(), shortestNs, 1);
                requireTrue(brick.isMaxKnown(), brick.maxNs(), brick.maxAtMostNs(), longestNs, -1);
                assertThat(brick.hasExtremes() || !percentiles).isTrue();
                TileStats tile = tile(part);
                requireTrue(tile.minAtLeastNs().isEmpty(), tile.minNs(), tile.minAtLeastNs(), shortestNs, 1);
                requireTrue(tile.maxAtMostNs().isEmpty(), tile.maxNs(), tile.maxAtMostNs(), longestNs, -1);
            }
        }
        ProfileSnapshot whole = profiler.snapshot();
        ProfileSnapshot merged = parts.stream().reduce(ProfileSnapshot::merge).orElseThrow();
        assertThat(merged.bricks()).usingRecursiveComparison().isEqualTo(whole.bricks());
        assertThat(tile(merged))
                .usingRecursiveComparison()
                .ignoringFields("slowestRow", "slowestCol")
                .isEqualTo(tile(whole));
    }

    /** Durations up to 12 ns have a bucket each, so that a window with percentiles has exact extremes. */
    private static void requireTrue(boolean isKnown, long ns, OptionalLong bound, long trueNs, int side) {
        assertThat(LatencyDistribution.RELATIVE_ERROR).isLessThan(1.0 / 12);
        if (isKnown) {
            assertThat(ns).isEqualTo(trueNs);
            assertThat(bound).isEmpty();
        } else {
            assertThat(side * Long.compare(trueNs, bound.orElseThrow())).isNotNegative();
        }
    }

    private static TileStats tile(ProfileSnapshot snapshot) {
        return snapshot.tiles().stream()
                .filter(each -> each.level() == LEVEL)
                .findFirst()
                .orElseThrow();
    }
}
