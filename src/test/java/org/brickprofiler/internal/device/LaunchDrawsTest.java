package org.brickprofiler.internal.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.assertj.core.data.Percentage;
import org.brickprofiler.internal.device.MarkedStream.LaunchDraws;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LaunchDrawsTest {

    private static final int BRICKS = 200_000;

    private static int drawn(LaunchDraws draws, int bricks) {
        int drawn = 0;
        for (int i = 0; i < bricks; i++) {
            drawn += draws.next() ? 1 : 0;
        }
        return drawn;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 32, 500})
    void oneInSoManyIsDrawn(int every) {
        assertThat((double) drawn(new LaunchDraws(every), BRICKS))
                .isCloseTo((double) BRICKS / every, Percentage.withPercentage(10));
    }

    @Test
    void theFirstIsDrawnAndThenHardlyAnyWhereNearlyNoneAreWanted() {
        LaunchDraws draws = new LaunchDraws(Integer.MAX_VALUE);
        assertThat(draws.next()).isTrue();
        assertThat(drawn(draws, BRICKS)).isLessThanOrEqualTo(1);
    }

    @Test
    void aBoundaryDrawsTheNextOneBesidesTheOthers() {
        LaunchDraws draws = new LaunchDraws(32);
        int passes = BRICKS / 4;
        int others = 0;
        for (int pass = 0; pass < passes; pass++) {
            draws.drawNext();
            assertThat(draws.next()).isTrue();
            others += drawn(draws, 3);
        }
        assertThat(others / (3.0 * passes)).isCloseTo(1 / 32.0, within(0.003));
    }

    /** In a pattern that repeats with a period of a power of two, every place is drawn equally often. */
    @Test
    void noPlaceInAPeriodIsMetMoreOften() {
        LaunchDraws draws = new LaunchDraws(32);
        int[] met = new int[16];
        for (int i = 0; i < 16 * BRICKS; i++) {
            met[i % 16] += draws.next() ? 1 : 0;
        }
        for (int times : met) {
            assertThat((double) times).isCloseTo(BRICKS / 32.0, Percentage.withPercentage(10));
        }
    }

    @Test
    void allAreDrawnOnceTheyAreWanted() {
        LaunchDraws draws = new LaunchDraws(1_000);
        drawn(draws, 10);
        draws.drawAll();
        assertThat(drawn(draws, 100)).isEqualTo(100);
        draws.drawNext();
        assertThat(drawn(draws, 100)).isEqualTo(100);
    }
}
