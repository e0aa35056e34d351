package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SamplerTest {

    /** Probabilities of 0.1, 0.5, 0.3 and 0.1 at temperature 1. */
    private static final float[] LOGITS = logits(0.1, 0.5, 0.3, 0.1);

    @Test
    void temperatureZeroTakesTheLikeliest() {
        assertThat(new Sampler(0, 0.5, 1).sample(LOGITS)).isEqualTo(1);
    }

    @Test
    void ofEquallyLikelyTokensTheFirstIsTaken() {
        assertThat(new Sampler(0, 1, 1).sample(new float[] {1, 2, 2, 0})).isEqualTo(1);
        assertThat(new Sampler(1, 0.001, 1).sample(new float[] {1, 2, 2, 0})).isEqualTo(1);
    }

    @Test
    void choosesByProbability() {
        int[] counts = counts(new Sampler(1, 1, 3), 100_000);

        assertThat(counts[0]).isBetween(9_500, 10_500);
        assertThat(counts[1]).isBetween(49_000, 51_000);
        assertThat(counts[2]).isBetween(29_000, 31_000);
        assertThat(counts[3]).isBetween(9_500, 10_500);
    }

    @Test
    void topPKeepsTheLikeliestThatReachIt() {
        int[] counts = counts(new Sampler(1, 0.75, 3), 80_000);

        assertThat(counts[0]).isZero();
        assertThat(counts[1]).isBetween(49_000, 51_000);
        assertThat(counts[2]).isBetween(29_000, 31_000);
        assertThat(counts[3]).isZero();
    }

    @Test
    void lowTemperatureSharpens() {
        int[] counts = counts(new Sampler(0.5, 1, 3), 36_000);

        // Squared probabilities: 0.01, 0.25, 0.09 and 0.01 of 0.36.
        assertThat(counts[1]).isBetween(24_500, 25_500);
        assertThat(counts[2]).isBetween(8_600, 9_400);
    }

    @Test
    void sameSeedGivesTheSameChoices() {
        Sampler one = new Sampler(1, 0.9, 11);
        Sampler two = new Sampler(1, 0.9, 11);

        assertThat(IntStream.range(0, 1_000).map(i -> one.sample(LOGITS)))
                .containsExactlyElementsOf(IntStream.range(0, 1_000)
                        .map(i -> two.sample(LOGITS))
                        .boxed()
                        .toList());
    }

    @Test
    void vocabularyMayChange() {
        Sampler sampler = new Sampler(1, 1, 1);

        assertThat(sampler.sample(new float[] {0})).isZero();
        assertThat(sampler.sample(LOGITS)).isBetween(0, 3);
    }

    @Test
    void extremeLogitsAreNoProblem() {
        Sampler sampler = new Sampler(1e-30, 1, 1);

        assertThat(sampler.sample(new float[] {-1e30f, 1e30f, 0})).isEqualTo(1);
        assertThat(sampler.sample(new float[] {Float.NEGATIVE_INFINITY, Float.NEGATIVE_INFINITY, 3}))
                .isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.1, Double.NaN, Double.POSITIVE_INFINITY})
    void refusesAnInvalidTemperature(double temperature) {
        assertThatThrownBy(() -> new Sampler(temperature, 1, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("temperature " + temperature + " is not 0 or more");
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -1, 1.01, Double.NaN})
    void refusesAnInvalidTopP(double topP) {
        assertThatThrownBy(() -> new Sampler(1, topP, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("top-p " + topP + " is not above 0 and up to 1");
    }

    private static int[] counts(Sampler sampler, int samples) {
        int[] counts = new int[LOGITS.length];
        for (int i = 0; i < samples; i++) {
            counts[sampler.sample(LOGITS)]++;
        }
        return counts;
    }

    private static float[] logits(double... probabilities) {
        float[] logits = new float[probabilities.length];
        for (int i = 0; i < logits.length; i++) {
            logits[i] = (float) Math.log(probabilities[i]);
        }
        return logits;
    }
}
