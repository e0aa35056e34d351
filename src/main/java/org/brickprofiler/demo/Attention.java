package org.brickprofiler.demo;

import java.util.Arrays;

/**
 * Grouped-query attention of one token over a KV cache, in three steps that are shared by the threads of a pool, head
 * by head. The scores are kept between the steps.
 */
final class Attention {

    private final WorkerPool pool;
    private final int heads;
    private final int headDim;
    private final int headsPerKvHead;
    private final int maxSequence;
    private final float scale;
    private final float[] scores;

    Attention(ModelConfig config, WorkerPool pool) {
        this.pool = pool;
        heads = config.heads();
        headDim = config.headDim();
        headsPerKvHead = config.heads() / config.kvHeads();
        maxSequence = config.maxSequence();
        scale = (float) (1.0 / Math.sqrt(headDim));
        scores = new float[heads * maxSequence];
    }

    /**
     * Scores every position up to the given one.
     *
     * @param queries the queries of the token, head after head
     * @param cache the layer's cache
     * @param position the token's position
     * @return the scores: a row of {@code maxSequence} for each head, used up to the position
     */
    float[] score(float[] queries, KvCache cache, int position) {
        pool.run(heads, head -> {
            int row = head * maxSequence;
            for (int p = 0; p <= position; p++) {
                scores[row + p] =
                        scale * Vectors.dot(queries, head * headDim, cache.keys(p), kvOffset(head), headDim);
            }
        });
        return scores;
    }

    /** Turns the scores of each head into probabilities, and returns them. */
    float[] softmax(int position) {
        pool.run(heads, head -> Vectors.softmax(scores, head * maxSequence, position + 1));
        return scores;
    }

    /**
     * Adds up the values of all positions, weighted by the probabilities.
     *
     * @param cache the layer's cache
     * @param position the token's position
     * @param output receives the sums, head after head
     */
    void output(KvCache cache, int position, float[] output) {
        pool.run(heads, head -> {
            int from = head * headDim;
            Arrays.fill(output, from, from + headDim, 0);
            for (int p = 0; p <= position; p++) {
                addWeighted(scores[head * maxSequence + p], cache.values(p), kvOffset(head), output, from);
            }
        });
    }

    private void addWeighted(float weight, float[] values, int valuesFrom, float[] sum, int sumFrom) {
        for (int i = 0; i < headDim; i++) {
            sum[sumFrom + i] += weight * values[valuesFrom + i];
        }
    }

    private int kvOffset(int head) {
        return head / headsPerKvHead * headDim;
    }
}
