package org.brickprofiler.demo;

import org.brickprofiler.WorkModel;
import org.brickprofiler.WorkModel.LlamaConfig;

/**
 * The shape of a decoder. Immutable; a shape that cannot be built is refused.
 *
 * @param layers number of layers
 * @param dim width of the residual stream
 * @param heads number of query heads
 * @param kvHeads number of key and value heads; each serves {@code heads / kvHeads} query heads
 * @param ffnDim width of the feed-forward block
 * @param vocab number of different tokens
 * @param maxSequence number of positions the KV cache has room for
 */
record ModelConfig(int layers, int dim, int heads, int kvHeads, int ffnDim, int vocab, int maxSequence) {

    /** The largest value of every component. It keeps all sums below in 64 bits. */
    static final int LARGEST = 1 << 20;

    /** The most weights of a matrix, all of which are in one Java array. */
    private static final long LARGEST_MATRIX = Integer.MAX_VALUE - 8L;

    /**
     * Checks the shape.
     *
     * @throws IllegalArgumentException when the shape cannot be built; the message names the value
     */
    ModelConfig {
        requireInRange("layers", layers, 1, LARGEST);
        requireInRange("dim", dim, 1, LARGEST);
        requireInRange("heads", heads, 1, LARGEST);
        requireInRange("kv-heads", kvHeads, 1, LARGEST);
        requireInRange("ffn", ffnDim, 1, LARGEST);
        requireInRange("vocab", vocab, 1, LARGEST);
        requireInRange("sequence", maxSequence, 1, LARGEST);
        if (dim % heads != 0) {
            throw new IllegalArgumentException("dim " + dim + " is not divisible by heads " + heads);
        }
        if (heads % kvHeads != 0) {
            throw new IllegalArgumentException("heads " + heads + " is not divisible by kv-heads " + kvHeads);
        }
        if (dim / heads % 2 != 0) {
            throw new IllegalArgumentException("dim " + dim + " with heads " + heads + " gives heads of size "
                    + dim / heads + ", and rotary embedding needs an even size");
        }
        requireFits("dim x dim", dim, dim);
        requireFits("dim x (heads + 2 x kv-heads) x head size", dim, dim + 2L * kvHeads * (dim / heads));
        requireFits("dim x ffn", dim, ffnDim);
        requireFits("dim x vocab", dim, vocab);
        requireFits("heads x sequence", heads, maxSequence);
        requireFits("sequence x head size", maxSequence, dim / heads);
    }

    /**
     * Checks a number.
     *
     * @throws IllegalArgumentException if it is out of range; the message names it
     */
    static void requireInRange(String what, int value, int smallest, int largest) {
        if (value < smallest || value > largest) {
            throw new IllegalArgumentException(what + " " + value + " is not within " + smallest + " to " + largest);
        }
    }

    private static void requireFits(String what, long rows, long cols) {
        if (rows * cols > LARGEST_MATRIX) {
            throw new IllegalArgumentException(
                    what + " is " + rows * cols + " floats, and an array holds " + LARGEST_MATRIX);
        }
    }

    /** Returns the width of one head. */
    int headDim() {
        return dim / heads;
    }

    /** Returns the width of all keys, or all values, of one position. */
    int kvDim() {
        return kvHeads * headDim();
    }

    /** Returns the width of queries, keys and values of one position together. */
    int qkvDim() {
        return dim + 2 * kvDim();
    }

    /** Returns the number of weights of the whole model. */
    long parameters() {
        long attention = (long) dim * qkvDim() + (long) dim * dim;
        long feedForward = 3L * dim * ffnDim;
        long norms = 2L * dim;
        return layers * (attention + feedForward + norms) + 2L * vocab * dim + dim;
    }

    /** Returns the memory that the weights and the KV cache take, bytes. */
    long memoryBytes() {
        long cached = 2L * layers * maxSequence * kvDim();
        return Float.BYTES * (parameters() + cached);
    }

    /** Returns the work of its bricks in a step; all numbers are floats. */
    WorkModel work() {
        return WorkModel.llama(LlamaConfig.dense(layers, dim, heads, kvHeads, ffnDim, vocab)
                .withBits(Float.SIZE, Float.SIZE, Float.SIZE));
    }
}
