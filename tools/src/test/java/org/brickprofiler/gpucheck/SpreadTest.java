package org.brickprofiler.gpucheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Random;
import java.util.stream.LongStream;
import org.brickprofiler.gpucheck.Outcome.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpreadTest {

    /** From tables of the binomial distribution: the place of the interval's lower end, from 0. */
    @ParameterizedTest
    @CsvSource({
        "1, 0", "2, 0", "5, 0", "6, 0", "8, 0", "9, 1", "15, 3", "20, 5", "25, 7", "50, 17", "100, 39", "150, 62"
    })
    void theIntervalLeavesOutTheOutermostValues(int count, int low) {
        Spread spread = Spread.of(
                LongStream.range(0, count).map(i -> (i * 7_919) % count).toArray());

        assertThat(spread).isEqualTo(new Spread(count, low, (count - 1) / 2.0, count - 1 - low));
    }

    @ParameterizedTest
    @CsvSource({"7", "31", "150", "499", "2000"})
    void theIntervalHoldsTheTrueMedianNineteenTimesOfTwenty(int count) {
        Random random = new Random(count);
        int rounds = 4_000;
        int held = 0;
        for (int round = 0; round < rounds; round++) {
            // Skewed, as times are.
            Spread spread =
                    Spread.of(random.doubles(count).map(u -> -Math.log(u)).toArray());
            held += spread.low() <= Math.log(2) && Math.log(2) <= spread.high() ? 1 : 0;
        }
        assertThat((double) held / rounds).isBetween(0.94, 1.0);
    }

    @ParameterizedTest
    @CsvSource({"1, 2, 2, HELD", "1, 2, 1.9, UNCLEAR", "1, 2, 1, UNCLEAR", "1, 2, 0.9, MISSED", "-3, -2, 0.1, HELD"})
    void aBoundIsKeptIfTheWholeIntervalKeepsIt(double low, double high, double bound, Status expected) {
        assertThat(new Spread(9, low, (low + high) / 2, high).atMost(bound)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "-1, 2, 2, HELD",
        "-2, 1, 2, HELD",
        "-2, 1, 1.5, UNCLEAR",
        "1, 2, 1.5, UNCLEAR",
        "1, 2, 0.5, MISSED",
        "-2, -1, 0.5, MISSED"
    })
    void aBoundOnBothSidesIsKeptIfTheWholeIntervalKeepsIt(double low, double high, double bound, Status expected) {
        assertThat(new Spread(9, low, (low + high) / 2, high).within(bound)).isEqualTo(expected);
    }

    @Test
    void noValuesAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Spread.of(new double[0]));
    }
}
