package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class RotaryEmbeddingTest {

    private final RotaryEmbedding rotary = new RotaryEmbedding(new ModelConfig(1, 8, 2, 1, 8, 10, 100));

    @Test
    void firstPositionIsNotRotated() {
        float[] heads = {1, 2, 3, 4};

        rotary.rotate(heads, 1, 0);

        assertThat(heads).containsExactly(1, 2, 3, 4);
    }

    @Test
    void firstPairTurnsByThePositionAndTheNextMoreSlowly() {
        float[] heads = {1, 0, 1, 0};

        rotary.rotate(heads, 1, 3);

        assertThat((double) heads[0]).isCloseTo(Math.cos(3), within(1e-6));
        assertThat((double) heads[1]).isCloseTo(Math.sin(3), within(1e-6));
        assertThat((double) heads[2]).isCloseTo(Math.cos(0.03), within(1e-6));
        assertThat((double) heads[3]).isCloseTo(Math.sin(0.03), within(1e-6));
    }

    @Test
    void onlyTheFirstHeadsAreRotated() {
        float[] heads = {1, 1, 1, 1, 1, 1, 1, 1};

        rotary.rotate(heads, 1, 50);

        assertThat(heads[0]).isNotEqualTo(1);
        assertThat(heads).endsWith(1, 1, 1, 1);
    }

    @Test
    void productOfTwoDependsOnTheirDistanceOnly() {
        assertThat(product(40, 33)).isCloseTo(product(7, 0), within(1e-5));
        assertThat(product(99, 92)).isCloseTo(product(7, 0), within(1e-5));
    }

    private double product(int queryPosition, int keyPosition) {
        float[] query = {0.3f, -0.7f, 0.2f, 0.9f};
        float[] key = {0.5f, 0.1f, -0.4f, 0.8f};
        rotary.rotate(query, 1, queryPosition);
        rotary.rotate(key, 1, keyPosition);
        return Vectors.dot(query, 0, key, 0, 4);
    }
}
