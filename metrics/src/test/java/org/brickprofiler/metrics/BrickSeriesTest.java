package org.brickprofiler.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Map;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.CategoryStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.metrics.BrickSeries.Labels;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class BrickSeriesTest {

    private final BrickProfiler profiler = BrickProfiler.enabled();

    private static Map<BrickCategory, Long> nsByCategory(Map<Labels, CategoryStats> sums) {
        return sums.entrySet().stream()
                .collect(java.util.stream.Collectors.toMap(
                        each -> each.getKey().category(),
                        each -> each.getValue().totalNs(),
                        Long::sum));
    }

    @Spec("20.2")
    @Test
    void beyondTheBoundTheBricksOfACategoryShareASeries() {
        BrickSeries series = new BrickSeries(2);
        profiler.brickKey("mine", BrickCategory.FFN);
        profiler.record("mine", 10, 1);
        profiler.record(BrickId.RMS_NORM, 30, 1);
        profiler.record(BrickId.ROPE_EMBEDDING, 20, 1);

        assertThat(series.sums(profiler.snapshot()))
                .containsOnly(
                        Map.entry(new Labels("RmsNorm", BrickCategory.NORM), new CategoryStats(30, 1, 1)),
                        Map.entry(new Labels("RopeEmbedding", BrickCategory.ATTENTION), new CategoryStats(20, 1, 1)),
                        Map.entry(new Labels("(other names)", BrickCategory.FFN), new CategoryStats(10, 1, 1)));

        profiler.record("mine", 1_000, 2);
        profiler.record(BrickId.ATTENTION_SCORE, 5_000, 3);
        Map<Labels, CategoryStats> later = series.sums(profiler.snapshot());

        assertThat(later.get(new Labels("(other names)", BrickCategory.FFN)))
                .as("what has a series keeps it, however small")
                .isEqualTo(new CategoryStats(1_010, 3, 2));
        assertThat(nsByCategory(later))
                .isEqualTo(Map.of(BrickCategory.NORM, 30L, BrickCategory.ATTENTION, 5_020L, BrickCategory.FFN, 1_010L));
        assertThatThrownBy(() -> new BrickSeries(-1)).hasMessageContaining("-1");
    }

    @Spec("20.3")
    @Test
    void aSnapshotServesUntilItIsTooOld() {
        FakeClock clock = new FakeClock();
        Recent<ProfileSnapshot> recent = new Recent<>(profiler::snapshot, Duration.ofNanos(100), clock);
        ProfileSnapshot first = recent.read();
        profiler.record(BrickId.RMS_NORM, 30, 1);
        clock.advance(99);

        assertThat(recent.read()).isSameAs(first);
        clock.advance(1);
        assertThat(recent.read().samples()).isEqualTo(1);

        ProfileSnapshot second = recent.read();
        recent.expire();
        assertThat(recent.read()).isNotSameAs(second);
        assertThatThrownBy(() -> new Recent<>(profiler::snapshot, Duration.ofNanos(-1), clock))
                .hasMessageContaining("PT-0.000000001S");
    }
}
