package org.brickprofiler.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.ZigguratSampler;
import org.apache.commons.rng.simple.RandomSource;
import org.junit.jupiter.api.Test;

class SmallestChangeTest {

    /** The 80th percentile of the standard normal distribution. */
    private static final double FOUR_IN_FIVE = 0.8416;

    @Test
    void liesAboveTheRequiredValue() {
        assertThat(SmallestChange.of(0, 3.5, 1, 1e6, 0.8)).isCloseTo(3.5 + FOUR_IN_FIVE, within(0.01));
        assertThat(SmallestChange.of(5, 3.5, 1, 1e6, 0.8))
                .as("the floor is higher")
                .isCloseTo(5 + FOUR_IN_FIVE, within(0.01));
        assertThat(SmallestChange.of(2, 3.5, 0.001, 10, 0.8)).isCloseTo(2.0008, within(0.0002));
        assertThat(SmallestChange.of(2, 3.5, 0, 10, 0.8)).isCloseTo(2, within(1e-9));
    }

    /** Four in five comparisons find it, also if their standard error has few degrees of freedom. */
    @Test
    void isFoundInFourOfFive() {
        UniformRandomProvider random = RandomSource.XO_RO_SHI_RO_128_PP.create(3);
        ZigguratSampler.NormalizedGaussian normal = ZigguratSampler.NormalizedGaussian.of(random);
        for (double floor : new double[] {0, 3, 4.5, 8}) {
            double change = SmallestChange.of(floor, 3.5, 1, 8, 0.8);
            int found = 0;
            for (int i = 0; i < 20_000; i++) {
                double squares = 0;
                for (int degree = 0; degree < 8; degree++) {
                    double each = normal.sample();
                    squares += each * each / 8;
                }
                double difference = change + normal.sample();
                found += difference >= floor && difference / Math.sqrt(squares) >= 3.5 ? 1 : 0;
            }
            assertThat(found / 20_000.0).as("floor %s", floor).isBetween(0.785, 0.815);
        }
    }
}
