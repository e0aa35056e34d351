package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

class ShortBricksTest {

    private final BrickProfiler profiler = BrickProfiler.enabled();
    private final List<Set<String>> drops = new ArrayList<>();
    private final List<String> goOn = new ArrayList<>();
    private final ShortBricks bricks = new ShortBricks(
            100,
            profiler::allBrickStats,
            names -> {
                drops.add(names);
                profiler.reset();
            },
            goOn::add);

    private void record(String brick, int samples, long ns) {
        int key = profiler.brickKey(brick, BrickCategory.OTHER);
        for (int i = 0; i < samples; i++) {
            profiler.record(key, ns, 1);
        }
    }

    /** As of a method that has not returned since its class was woven again: its samples discard nothing. */
    @Spec("22.37")
    @Test
    void dropsABrickOnce() {
        record("short", 1_000, 99);
        record("long", 1_000, 100);
        bricks.look();
        assertThat(drops).containsExactly(Set.of("short"));
        assertThat(bricks.hasDropped("short")).isTrue();
        assertThat(bricks.hasDropped("long")).isFalse();
        assertThat(goOn).isEmpty();
        for (int look = 0; look < 2; look++) {
            record("short", 1_000, 99);
            record("long", 1_000, 100);
            bricks.look();
        }
        assertThat(drops).hasSize(1);
        assertThat(goOn).containsExactly("short", "short");
        assertThat(profiler.allBrickStats())
                .filteredOn(each -> each.name().equals("long"))
                .singleElement()
                .satisfies(each -> assertThat(each.count()).isEqualTo(2_000));
    }
}
