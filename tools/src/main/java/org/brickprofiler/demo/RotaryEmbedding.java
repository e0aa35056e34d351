package org.brickprofiler.demo;

/**
 * Rotary position embedding (Su et al., 2021) as Llama has it: neighbouring values of a head are rotated as a pair, by
 * an angle that grows with the position. Sines and cosines are computed once. Not changed after construction.
 */
final class RotaryEmbedding {

    private static final double BASE = 10_000.0;

    private final int headDim;
    private final float[] cosines;
    private final float[] sines;

    RotaryEmbedding(ModelConfig config) {
        headDim = config.headDim();
        int pairs = headDim / 2;
        cosines = new float[config.maxSequence() * pairs];
        sines = new float[cosines.length];
        for (int position = 0; position < config.maxSequence(); position++) {
            for (int pair = 0; pair < pairs; pair++) {
                double angle = position * Math.pow(BASE, -2.0 * pair / headDim);
                cosines[position * pairs + pair] = (float) Math.cos(angle);
                sines[position * pairs + pair] = (float) Math.sin(angle);
            }
        }
    }

    /** Returns the cosines: one for each pair of a head, position after position. Not to be changed. */
    float[] cosines() {
        return cosines;
    }

    /** Returns the sines, likewise. */
    float[] sines() {
        return sines;
    }

    /**
     * Rotates heads in place.
     *
     * @param heads at least {@code count} heads, one after the other; the first ones are rotated
     * @param count number of heads to rotate
     * @param position position of the token
     */
    void rotate(float[] heads, int count, int position) {
        int pairs = headDim / 2;
        for (int i = 0; i < count * pairs; i++) {
            float cos = cosines[position * pairs + i % pairs];
            float sin = sines[position * pairs + i % pairs];
            float even = heads[2 * i];
            float odd = heads[2 * i + 1];
            heads[2 * i] = even * cos - odd * sin;
            heads[2 * i + 1] = even * sin + odd * cos;
        }
    }
}
