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
                scores[row + p] = scale * Vectors.dot(queries, head * headDim, cache.keys(p), kvOffset(head), headDim);
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
            int p = 0;
            for (; p <= position - 3; p += 4) {
                addFour(head, cache, p, output, from);
            }
            for (; p <= position; p++) {
                addOne(head, cache, p, output, from);
            }
        });
    }

    /** Adds four positions at a time, which reads and writes the sums once instead of four times. */
    private void addFour(int head, KvCache cache, int position, float[] sum, int from) {
        int score = head * maxSequence + position;
        float s0 = scores[score];
        float s1 = scores[score + 1];
        float s2 = scores[score + 2];
        float s3 = scores[score + 3];
        float[] v0 = cache.values(position);
        float[] v1 = cache.values(position + 1);
        float[] v2 = cache.values(position + 2);
        float[] v3 = cache.values(position + 3);
        int offset = kvOffset(head);
        for (int i = 0; i < headDim; i++) {
            sum[from + i] += (s0 * v0[offset + i] + s1 * v1[offset + i]) + (s2 * v2[offset + i] + s3 * v3[offset + i]);
        }
    }

    private void addOne(int head, KvCache cache, int position, float[] sum, int from) {
        float score = scores[head * maxSequence + position];
        float[] values = cache.values(position);
        int offset = kvOffset(head);
        for (int i = 0; i < headDim; i++) {
            sum[from + i] += score * values[offset + i];
        }
    }

    private int kvOffset(int head) {
        return head / headsPerKvHead * headDim;
    }

    /** Keys and values of one layer, an array for each position. Written by one thread, between the reads of others. */
    static final class KvCache {

        private final float[][] keys;
        private final float[][] values;

        KvCache(ModelConfig config) {
            keys = new float[config.maxSequence()][config.kvDim()];
            values = new float[config.maxSequence()][config.kvDim()];
        }

        /**
         * Stores the keys and values of a position.
         *
         * @param qkv queries, keys and values of the position
         * @param from the index of the keys; the values follow them
         * @param position the position
         */
        void put(float[] qkv, int from, int position) {
            int length = keys[position].length;
            System.arraycopy(qkv, from, keys[position], 0, length);
            System.arraycopy(qkv, from + length, values[position], 0, length);
        }

        /** Returns the keys of a position, head after head. */
        float[] keys(int position) {
            return keys[position];
        }

        /** Returns the values of a position, head after head. */
        float[] values(int position) {
            return values[position];
        }
    }
}
