package org.brickprofiler.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TrimmedTest {

    @Test
    void hasYuensFigures() {
        // Kept 2..9, mean 5.5; winsorised 2, 2, 3, ... 9, 9, sum of squares 2 * (3.5 + 3.5 + 2.5 + 1.5 + 0.5 squared) =
        // 66.5.
        Trimmed trimmed = Trimmed.of(new double[] {10_000, 2, 3, 9, 8, 7, 6, 5, 4, -7}, 1);
        assertThat(trimmed.mean()).isEqualTo(5.5);
        assertThat(trimmed.squaredError()).isCloseTo(66.5 / (8 * 7), within(1e-12));
        assertThat(trimmed.degrees()).isEqualTo(7);
    }

    @Test
    void isStudentsErrorIfNothingIsTrimmed() {
        Trimmed all = Trimmed.of(new double[] {1, 4, 2, 5}, 0);
        assertThat(all.mean()).isEqualTo(3);
        assertThat(all.squaredError()).isCloseTo(10.0 / 3 / 4, within(1e-12));
        assertThat(Trimmed.of(new double[] {4}, 0)).isEqualTo(new Trimmed(4, 0, 0));
    }

    @Test
    void trimsAsMuchAsThePermutationPermits() {
        assertThat(IntStream.of(1, 5, 9, 10, 12, 13, 16, 20, 50).map(runs -> Trimmed.atEachEnd(runs, runs)))
                .containsExactly(0, 0, 0, 1, 1, 2, 3, 4, 10);
        assertThat(Trimmed.atEachEnd(10, 40)).isEqualTo(2);
        assertThat(Trimmed.atEachEnd(4, 40)).isZero();
    }

    /** If too much were trimmed, assignments that exchange trimmed runs would look as far apart as the true one. */
    @Test
    void leavesTheTestAbleToFindSidesThatAreApart() {
        for (int runs = 5; runs <= 20; runs++) {
            int side = runs;
            double[] apart = IntStream.range(0, 2 * runs)
                    .mapToDouble(run -> (run < side ? 0 : 100) + Math.sin(run * 1.9))
                    .toArray();
            MaxT test = new MaxT(List.of(new MaxT.Variable(apart, 0, true)), runs, RunComparison.LEVEL, 1);
            assertThat(test.probability(0)).as("%s runs a side", runs).isLessThan(RunComparison.LEVEL / 2);
        }
    }
}
