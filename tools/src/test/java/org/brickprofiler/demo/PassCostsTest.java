package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.demo.PassCosts.Cost;
import org.brickprofiler.demo.PassCosts.Way;
import org.junit.jupiter.api.Test;

class PassCostsTest {

    private final List<String> order = new ArrayList<>();
    private long nowNs;

    /** Makes a way whose runs take the given times in turn; its preparation and its longer first run do not count. */
    private Way way(String name, long... timesNs) {
        return new Way() {
            private int runs;

            @Override
            public void prepare() {
                nowNs += 1_000_000;
            }

            @Override
            public void run() {
                order.add(name);
                nowNs += runs == 0 ? 9_000_000 : timesNs[(runs - 1) % timesNs.length];
                runs++;
            }
        };
    }

    private PassCosts measure(int rounds, Map<String, Way> ways) {
        return PassCosts.measure(() -> nowNs, rounds, ways);
    }

    @Test
    void mediansAndQuartilesAreOfTheRoundsAfterTheWarmUp() {
        Map<String, Way> ways = new LinkedHashMap<>();
        ways.put("base", way("base", 1_000));
        ways.put("other", way("other", 1_500, 1_100, 1_300, 1_200, 1_400));

        PassCosts costs = measure(5, ways);

        assertThat(costs.costs())
                .containsExactly(new Cost("base", 5, 1_000, 1_000, 1_000), new Cost("other", 5, 1_200, 1_300, 1_400));
        assertThat(costs.cost("other").overhead(costs.cost("base"))).isEqualTo(0.3);
    }

    @Test
    void theWaysTakeTurnsAndEachRoundBeginsWithTheNext() {
        Map<String, Way> ways = new LinkedHashMap<>();
        List.of("a", "b", "c").forEach(name -> ways.put(name, way(name, 1)));

        measure(3, ways);

        assertThat(String.join("", order)).isEqualTo("cab" + "abc" + "bca" + "cab");
    }

    @Test
    void theTableComparesWithTheFirst() {
        Map<String, Way> ways = new LinkedHashMap<>();
        ways.put("profiler absent", way("a", 100_000));
        ways.put("DEFERRED", way("b", 101_500));

        assertThat(measure(1, ways).toText()).isEqualTo("""
                watched by             median               middle half    overhead
                profiler absent      100.0 us      100.0 us to 100.0 us     +0.00 %
                DEFERRED             101.5 us      101.5 us to 101.5 us     +1.50 %
                """);
    }

    @Test
    void everyWayToWatchIsMeasuredInItsMode() {
        BrickProfiler profiler = new BrickProfiler();
        List<String> seen = new ArrayList<>();

        PassCosts costs =
                PassCosts.ofWatching(() -> nowNs++, 1, profiler, way -> seen.add(way + " in " + profiler.syncMode()));

        assertThat(seen.subList(6, 12))
                .containsExactly(
                        "ABSENT in NONE",
                        "NONE in NONE",
                        "DEFERRED in DEFERRED",
                        "DEFERRED_LAP in DEFERRED",
                        "PER_LAYER in PER_LAYER",
                        "IMMEDIATE in IMMEDIATE");
        assertThat(costs.costs())
                .extracting(Cost::name)
                .containsExactly("profiler absent", "NONE", "DEFERRED", "DEFERRED, lap", "PER_LAYER", "IMMEDIATE");
    }
}
