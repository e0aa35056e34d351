package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AttentionTest {

    /** Four query heads of two values, two key heads. */
    private final ModelConfig config = new ModelConfig(1, 8, 4, 2, 8, 10, 3);

    @Test
    void equalScoresGiveTheMeanOfTheValuesOfTheHeadsGroup() {
        try (WorkerPool pool = new WorkerPool(2)) {
            Attention attention = new Attention(config, pool);
            Attention.KvCache cache = new Attention.KvCache(config);
            // Keys of zero have equal scores; the values follow.
            cache.put(new float[] {0, 0, 0, 0, 1, 2, 3, 4}, 0, 0);
            cache.put(new float[] {0, 0, 0, 0, 3, 4, 5, 6}, 0, 1);
            cache.put(new float[] {0, 0, 0, 0, 99, 99, 99, 99}, 0, 2);
            float[] output = {7, 7, 7, 7, 7, 7, 7, 7};

            attention.score(new float[] {1, 1, 1, 1, 1, 1, 1, 1}, cache, 1);
            attention.softmax(1);
            attention.output(cache, 1, output);

            assertThat(output).containsExactly(2, 3, 2, 3, 4, 5, 4, 5);
        }
    }

    @Test
    void scoresAreScaledProductsWithTheKeysOfTheHeadsGroup() {
        try (WorkerPool pool = new WorkerPool(1)) {
            Attention attention = new Attention(config, pool);
            Attention.KvCache cache = new Attention.KvCache(config);
            cache.put(new float[] {1, 0, 0, 1, 0, 0, 0, 0}, 0, 0);
            float root = (float) (1 / Math.sqrt(2));

            float[] scores = attention.score(new float[] {1, 2, 3, 4, 5, 6, 7, 8}, cache, 0);

            assertThat(new float[] {scores[0], scores[3], scores[6], scores[9]})
                    .containsExactly(root * 1, root * 3, root * 6, root * 8);
        }
    }
}
