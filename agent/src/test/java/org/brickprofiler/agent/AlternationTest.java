package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.BrickProfiler;
import org.junit.jupiter.api.Test;

class AlternationTest {

    private final BrickProfiler profiler = new BrickProfiler();
    private long nowNs = 1;

    /** Begins a step that takes {@code ns} with recording on and 1,000 ns with recording off. */
    private void step(Alternation alternation, boolean decodes, long ns) {
        alternation.stepBegins(decodes, nowNs);
        nowNs += profiler.isEnabled() ? ns : 1_000;
    }

    @Test
    void findsTheCostOfRecordingDespiteOtherTimeBetweenTokens() {
        Alternation alternation = new Alternation(profiler, 3);
        List<Boolean> on = new ArrayList<>();
        for (int token = 0; token < 1_600; token++) {
            step(alternation, true, token % 8 < 4 ? 1_019 : 1_021);
            on.add(profiler.isEnabled());
            if (token % 30 == 7) {
                // A pause of the user, and then a prompt.
                nowNs += 1_000_000;
                step(alternation, false, 50_000);
            }
        }
        Alternation.Result result = alternation.result().orElseThrow();
        assertThat(result.pairs()).isEqualTo(99);
        assertThat(result.cost().percent()).isCloseTo(2, within(0.02));
        assertThat(result.cost().lowPercent()).isBetween(1.95, result.cost().percent());
        assertThat(result.cost().highPercent()).isBetween(result.cost().percent(), 2.05);
        assertThat(result.tokensPerSecOff()).isCloseTo(1e6, within(1e-3));
        assertThat(result.tokensPerSecOn()).isCloseTo(1e6 / 1.02, within(300.0));
        List<Boolean> firstOfPairs = new ArrayList<>();
        for (int pair = 0; pair < 90; pair++) {
            firstOfPairs.add(on.get(16 * pair + 1));
            assertThat(on.get(16 * pair + 9))
                    .as("the other block of pair %d", pair)
                    .isNotEqualTo(on.get(16 * pair + 1));
        }
        assertThat(firstOfPairs).contains(true, false);
        assertThat(order(3)).isEqualTo(order(3)).isNotEqualTo(order(4));
    }

    private List<Boolean> order(long seed) {
        Alternation alternation = new Alternation(profiler, seed);
        List<Boolean> order = new ArrayList<>();
        for (int token = 0; token < 500; token++) {
            step(alternation, true, 1_000);
            order.add(profiler.isEnabled());
        }
        return order;
    }

    @Test
    void countsNoTokenThatAnotherThreadSwitchedIn() throws InterruptedException {
        Alternation alternation = new Alternation(profiler, 3);
        for (int token = 0; token < 200; token++) {
            step(alternation, true, 1_000);
            Thread other = new Thread(() -> step(alternation, true, 1_000));
            other.start();
            other.join();
        }
        // Each other thread begins only one step. All steps of this thread count except those that were under way at
        // a switch.
        assertThat(alternation.result().orElseThrow().pairs()).isEqualTo(12);
    }

    @Test
    void hasNoResultBeforeThreePairs() {
        Alternation alternation = new Alternation(profiler, 1);
        for (int token = 0; token < 48; token++) {
            step(alternation, true, 1_000);
        }
        assertThat(alternation.result()).isEmpty();
        step(alternation, true, 1_000);
        assertThat(alternation.result()).isPresent();
    }
}
