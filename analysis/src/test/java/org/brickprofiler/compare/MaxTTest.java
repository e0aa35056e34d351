package org.brickprofiler.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.ZigguratSampler;
import org.apache.commons.rng.simple.RandomSource;
import org.apache.commons.statistics.distribution.TDistribution;
import org.brickprofiler.testing.OneJdk;
import org.junit.jupiter.api.Test;

@OneJdk
class MaxTTest {

    private static final double LEVEL = 0.05;

    private static MaxT test(int firstRuns, double[]... variables) {
        return test(firstRuns, List.of(variables), 1);
    }

    private static MaxT test(int firstRuns, List<double[]> variables, long seed) {
        return new MaxT(
                variables.stream()
                        .map(values -> new MaxT.Variable(values, 0, true))
                        .toList(),
                firstRuns,
                LEVEL,
                seed);
    }

    @Test
    void countsAllAssignmentsOfFewRuns() {
        // Of the 20 assignments only the one seen and its mirror image are that far apart.
        MaxT apart = test(3, new double[] {1.0, 1.1, 1.2, 5.0, 5.1, 5.2});
        assertThat(apart.probability(0)).isCloseTo(2 / 20.0, within(1e-12));
        assertThat(apart.difference(0)).isCloseTo(4, within(1e-12));
        assertThat(apart.error(0)).isCloseTo(Math.sqrt(2 * 0.01 / 3), within(1e-9));
        assertThat(MaxT.smallestProbability(3, 3)).isCloseTo(2 / 20.0, within(1e-12));
        assertThat(MaxT.smallestProbability(2, 4)).isCloseTo(1 / 15.0, within(1e-12));
    }

    @Test
    void paysForEveryFurtherVariable() {
        double[] apart = {1.0, 1.1, 1.2, 1.15, 1.4, 1.2, 1.35, 1.3};
        double[] noise = {1.0, 1.3, 0.9, 1.2, 1.1, 1.0, 1.2, 0.8};
        double alone = test(4, apart).probability(0);
        assertThat(test(4, apart, noise).probability(0)).isGreaterThan(alone);
        // A copy does not change the probability, since its statistic never exceeds that of the original.
        assertThat(test(4, apart, apart.clone()).probability(0)).isEqualTo(alone);
    }

    @Test
    void stepsDown() {
        double[] strong = {1.0, 1.1, 1.2, 1.15, 5.4, 5.2, 5.35, 5.3};
        double[] weaker = {1.0, 1.3, 1.1, 1.2, 1.42, 1.5, 1.6, 1.35};
        MaxT both = test(4, weaker, strong);
        assertThat(both.probability(1)).isLessThanOrEqualTo(both.probability(0));
        // The strong one is out of the way when the weaker one is judged.
        assertThat(both.probability(0)).isEqualTo(test(4, weaker).probability(0));
    }

    @Test
    void constantsAreNoDifference() {
        MaxT constant = test(4, new double[8]);
        assertThat(constant.probability(0)).isEqualTo(1);
        assertThat(constant.difference(0)).isZero();
    }

    /** Shrinking variances towards each other must neither find a change that does not exist, nor miss more changes. */
    @Test
    void keepsItsLevelAndFindsMoreThanWithoutDrawingVariancesTogether() {
        UniformRandomProvider random = RandomSource.XO_RO_SHI_RO_128_PP.create(7);
        ZigguratSampler.NormalizedGaussian normal = ZigguratSampler.NormalizedGaussian.of(random);
        int repeats = 150;
        int alarms = 0;
        int together = 0;
        int apart = 0;
        for (int i = 0; i < repeats; i++) {
            List<double[]> variables = new ArrayList<>();
            for (int variable = 0; variable < 30; variable++) {
                variables.add(IntStream.range(0, 12)
                        .mapToDouble(run -> normal.sample())
                        .toArray());
            }
            MaxT without = test(6, variables, i);
            alarms += IntStream.range(0, 30).anyMatch(v -> without.probability(v) <= LEVEL) ? 1 : 0;
            for (int run = 6; run < 12; run++) {
                variables.get(0)[run] += 2.6;
            }
            together += test(6, variables, i).probability(0) <= LEVEL ? 1 : 0;
            double bonferroni = 30 * welch(variables.get(0));
            apart += bonferroni <= LEVEL ? 1 : 0;
        }
        assertThat(alarms).isBetween(1, 16);
        assertThat(together).isGreaterThan(apart + repeats / 10);
    }

    /** One variable in thirty differs by 2; the intervals of all others must hold together, and its own alone. */
    @Test
    void intervalsContainTheTrueDifferences() {
        UniformRandomProvider random = RandomSource.XO_RO_SHI_RO_128_PP.create(11);
        ZigguratSampler.NormalizedGaussian normal = ZigguratSampler.NormalizedGaussian.of(random);
        int repeats = 150;
        int othersMissed = 0;
        int ownMissed = 0;
        for (int i = 0; i < repeats; i++) {
            List<double[]> variables = IntStream.range(0, 30)
                    .mapToObj(variable -> IntStream.range(0, 16)
                            .mapToDouble(run -> normal.sample() + (variable == 0 && run >= 8 ? 2 : 0))
                            .toArray())
                    .toList();
            MaxT test = test(8, variables, i);
            othersMissed += IntStream.range(1, 30)
                            .anyMatch(variable -> Math.abs(test.difference(variable)) > test.halfWidth(variable))
                    ? 1
                    : 0;
            ownMissed += Math.abs(test.difference(0) - 2) > test.halfWidth(0) ? 1 : 0;
        }
        // 5 % of 150 are 7.5, with a standard deviation of 2.7.
        assertThat(othersMissed).isBetween(1, 16);
        assertThat(ownMissed).isLessThan(16);
    }

    @Test
    void anIntervalIsNoWiderThanTheStepAtWhichTheTestEndedRequires() {
        double[] strong = {1.0, 1.1, 1.2, 1.15, 5.4, 5.2, 5.35, 5.3};
        double[] weaker = {1.0, 1.3, 1.1, 1.2, 1.42, 1.5, 1.6, 1.35};
        MaxT both = test(4, weaker, strong);
        MaxT alone = test(4, weaker);
        assertThat(both.probability(0)).isLessThanOrEqualTo(LEVEL);
        assertThat(both.halfWidth(0)).isEqualTo(alone.halfWidth(0));
        assertThat(both.halfWidth(0))
                .isLessThan(both.difference(0))
                .isLessThanOrEqualTo(both.critical() * both.error(0));
    }

    private static double welch(double[] values) {
        MaxT alone = test(6, values);
        double t = Math.abs(alone.difference(0) / alone.error(0));
        return 2 * TDistribution.of(10).survivalProbability(t);
    }
}
