package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.BeforeTry;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;

/** Differences of the snapshots of random runs: together they are the whole, and none states what it cannot know. */
class SnapshotDifferenceProperties {

    private FakeClock clock = new FakeClock(1_000);
    private BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();

    /** The cycles of the samples since the last snapshot. */
    private final List<Long> cycles = new ArrayList<>();

    private final List<ProfileSnapshot> windows = new ArrayList<>();
    private ProfileSnapshot earlier = profiler.snapshot();

    @BeforeTry
    void begin() {
        clock = new FakeClock(1_000);
        profiler = BrickProfiler.builder().clock(clock).build();
        cycles.clear();
        windows.clear();
        earlier = profiler.snapshot();
    }

    private void endWindow() {
        ProfileSnapshot later = profiler.snapshot();
        windows.add(SnapshotDifference.between(earlier, later));
        earlier = later;
    }

    private ProfileSnapshot merged() {
        return windows.stream().reduce(ProfileSnapshot::merge).orElseThrow();
    }

    @Spec("23.7")
    @Property(tries = 200)
    void aWindowHasTheFewestAndTheMostCyclesOnlyIfTheyAreKnown(
            @ForAll @Size(min = 1, max = 40) List<@IntRange(min = 0, max = 12) Integer> run) {
        profiler.enable();
        for (int each : run) {
            if (each == 0) {
                checkCycles();
            } else {
                // Every other kind of sample has no cycles.
                long number = each % 2 == 0 ? 0 : each * 100;
                profiler.recordCycles(BrickId.RMS_NORM, 10, 1, number);
                cycles.add(number);
            }
        }
        checkCycles();
        BrickStats whole = profiler.brickStats(BrickId.RMS_NORM);
        BrickStats merged =
                merged().brick("RmsNorm").orElse(BrickStats.empty("RmsNorm", BrickCategory.NORM, Bottleneck.UNKNOWN));

        assertThat(merged.totalCycles()).isEqualTo(whole.totalCycles());
        assertThat(merged.minCycles()).isEqualTo(whole.minCycles());
        assertThat(merged.maxCycles()).isEqualTo(whole.maxCycles());
    }

    private void checkCycles() {
        endWindow();
        windows.get(windows.size() - 1).brick("RmsNorm").ifPresent(window -> {
            long fewest = cycles.stream()
                    .mapToLong(each -> each)
                    .filter(each -> each > 0)
                    .min()
                    .orElse(0);
            long most = cycles.stream().mapToLong(each -> each).max().orElse(0);
            assertThat(window.minCycles()).isIn(0L, fewest);
            assertThat(window.maxCycles()).isIn(0L, most);
        });
        cycles.clear();
    }

    /** A step is ended, abandoned, or goes on in the next window. */
    @Spec({"17.3", "23.7"})
    @Property(tries = 200)
    void theTimeOfAbandonedStepsIsInTheirWindow(
            @ForAll @Size(min = 1, max = 40) List<@IntRange(min = 0, max = 9) Integer> run) {
        profiler.enable();
        for (int each : run) {
            clock.advance(each);
            switch (each % 5) {
                case 0 -> endWindow();
                case 1, 2 -> profiler.beginStep(each % 2 == 0 ? StepInfo.decode(1) : StepInfo.prefill(1));
                case 3 -> profiler.abandonPass();
                default -> profiler.endPass();
            }
        }
        endWindow();
        Steps whole = profiler.snapshot().steps();

        assertThat(merged().steps().phases()).isEqualTo(whole.phases());
        assertThat(merged().steps().abandoned()).isEqualTo(whole.abandoned());
    }

    @Spec({"2.6", "7.2", "23.7"})
    @Property(tries = 100)
    void unresolvedSamplesAndTilesAreInTheirWindow(
            @ForAll @Size(min = 1, max = 30) List<@IntRange(min = 0, max = 4) Integer> run) {
        profiler.enable();
        profiler.tiles().enable();
        for (int each : run) {
            long brick = profiler.startBrick(BrickId.RMS_NORM);
            long tile = profiler.tiles().start(TileLevel.MICRO, 100, 0);
            switch (each) {
                case 0 -> endWindow();
                case 1 -> clock.advance((1L << 50) + (1L << 40) + 34_000_000_000L);
                default -> clock.advance(each);
            }
            profiler.stopBrick(brick, 1);
            profiler.tiles().stop(tile, 1, 1);
        }
        endWindow();
        ProfileSnapshot whole = profiler.snapshot();

        assertThat(merged().unresolved())
                .isEqualTo(whole.unresolved())
                .isEqualTo(run.stream().filter(each -> each == 1).count());
        assertThat(merged().tiles().get(2).unresolved())
                .isEqualTo(whole.tiles().get(2).unresolved());
        assertThat(merged().brick("RmsNorm").map(BrickStats::count))
                .isEqualTo(whole.brick("RmsNorm").map(BrickStats::count));
    }
}
