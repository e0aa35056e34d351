package org.brickprofiler.demo;

/** The arithmetic of a decoder on plain arrays. */
final class Vectors {

    static final float RMS_EPSILON = 1e-5f;

    private Vectors() {}

    /**
     * Returns the sum of products. Eight partial sums let the processor start an addition before the previous one has
     * ended; the order of all additions is fixed. With sixteen products per iteration the method is longer than the 325
     * bytes that HotSpot inlines at most. It is then compiled apart from a timer around a block of rows: compiled
     * together with the clock reads, this loop is up to a fifth slower.
     */
    static float dot(float[] a, int aFrom, float[] b, int bFrom, int length) {
        float s0 = 0;
        float s1 = 0;
        float s2 = 0;
        float s3 = 0;
        float s4 = 0;
        float s5 = 0;
        float s6 = 0;
        float s7 = 0;
        int i = 0;
        for (; i < length - 15; i += 16) {
            s0 += a[aFrom + i] * b[bFrom + i];
            s1 += a[aFrom + i + 1] * b[bFrom + i + 1];
            s2 += a[aFrom + i + 2] * b[bFrom + i + 2];
            s3 += a[aFrom + i + 3] * b[bFrom + i + 3];
            s4 += a[aFrom + i + 4] * b[bFrom + i + 4];
            s5 += a[aFrom + i + 5] * b[bFrom + i + 5];
            s6 += a[aFrom + i + 6] * b[bFrom + i + 6];
            s7 += a[aFrom + i + 7] * b[bFrom + i + 7];
            s0 += a[aFrom + i + 8] * b[bFrom + i + 8];
            s1 += a[aFrom + i + 9] * b[bFrom + i + 9];
            s2 += a[aFrom + i + 10] * b[bFrom + i + 10];
            s3 += a[aFrom + i + 11] * b[bFrom + i + 11];
            s4 += a[aFrom + i + 12] * b[bFrom + i + 12];
            s5 += a[aFrom + i + 13] * b[bFrom + i + 13];
            s6 += a[aFrom + i + 14] * b[bFrom + i + 14];
            s7 += a[aFrom + i + 15] * b[bFrom + i + 15];
        }
        float rest = 0;
        for (; i < length; i++) {
            rest += a[aFrom + i] * b[bFrom + i];
        }
        return (((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))) + rest;
    }

    /** Scales a vector to a root mean square of 1, and each value by its weight. */
    static void rmsNorm(float[] input, float[] weights, float[] output) {
        float meanSquare = dot(input, 0, input, 0, input.length) / input.length;
        float scale = (float) (1.0 / Math.sqrt(meanSquare + RMS_EPSILON));
        for (int i = 0; i < output.length; i++) {
            output[i] = input[i] * scale * weights[i];
        }
    }

    /** Adds a vector to another. */
    static void add(float[] sum, float[] addend) {
        for (int i = 0; i < sum.length; i++) {
            sum[i] += addend[i];
        }
    }

    /** Computes SwiGLU: {@code gate * sigmoid(gate) * up}. */
    static void swiGlu(float[] gate, float[] up, float[] output) {
        for (int i = 0; i < output.length; i++) {
            float sigmoid = (float) (1.0 / (1.0 + Math.exp(-gate[i])));
            output[i] = gate[i] * sigmoid * up[i];
        }
    }

    /** Turns a part of an array into probabilities, in place. */
    static void softmax(float[] values, int from, int length) {
        float largest = Float.NEGATIVE_INFINITY;
        for (int i = from; i < from + length; i++) {
            largest = Math.max(largest, values[i]);
        }
        float sum = 0;
        for (int i = from; i < from + length; i++) {
            values[i] = (float) Math.exp(values[i] - largest);
            sum += values[i];
        }
        float scale = 1 / sum;
        for (int i = from; i < from + length; i++) {
            values[i] *= scale;
        }
    }
}
