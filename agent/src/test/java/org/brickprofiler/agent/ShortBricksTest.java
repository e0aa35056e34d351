package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.junit.jupiter.api.Test;

/** Bricks whose samples are too short to be timed. */
class ShortBricksTest {

    @Test
    void dropsBricksWithManyShortSamples() {
        List<Set<String>> dropped = new ArrayList<>();
        List<BrickStats> now = new ArrayList<>();
        List<String> goingOn = new ArrayList<>();
        ShortBricks watch = new ShortBricks(1_000, () -> now, dropped::add, goingOn::add);
        now.add(stats("cold", 2_000, 5_000_000));
        now.add(stats("rare", 500, 50_000));
        now.add(stats("long", 2_000, 2_000_000));
        watch.look();
        assertThat(dropped).isEmpty();
        // Compiled, 2,000 more samples take 200 ns each; the mean of all is above 1 us.
        now.set(0, stats("cold", 4_000, 5_400_000));
        watch.look();
        assertThat(dropped).containsExactly(Set.of("cold"));
        assertThat(goingOn).isEmpty();
        assertThat(List.of(watch.hasDropped("cold"), watch.hasDropped("long"))).isEqualTo(List.of(true, false));
        // A method that has not returned since its class was woven again still has samples: it is not dropped twice.
        now.set(0, stats("cold", 2_000, 400_000));
        watch.look();
        assertThat(dropped).hasSize(1);
        assertThat(goingOn).containsExactly("cold");
        assertThatThrownBy(() -> ShortBricks.bound("1 us"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'1 us' is not a number of nanoseconds");
        assertThat(ShortBricks.bound(" 1000 ")).isEqualTo(1_000);
    }

    private static BrickStats stats(String name, long count, long totalNs) {
        return BrickStats.builder(name, BrickCategory.OTHER)
                .samples(count, totalNs, 1, totalNs)
                .build();
    }
}
