package org.brickprofiler.demo;

/** Keys and values of one layer, an array for each position. Written by one thread, between the reads of others. */
final class KvCache {

    private final float[][] keys;
    private final float[][] values;

    KvCache(ModelConfig config) {
        keys = new float[config.maxSequence()][config.kvDim()];
        values = new float[config.maxSequence()][config.kvDim()];
    }

    /**
     * Keeps the keys and values of a position.
     *
     * @param qkv queries, keys and values of the position
     * @param from where the keys begin; the values follow them
     * @param position the position
     */
    void put(float[] qkv, int from, int position) {
        int length = keys[position].length;
        System.arraycopy(qkv, from, keys[position], 0, length);
        System.arraycopy(qkv, from + length, values[position], 0, length);
    }

    /** The keys of a position, head after head. */
    float[] keys(int position) {
        return keys[position];
    }

    /** The values of a position, head after head. */
    float[] values(int position) {
        return values[position];
    }
}
