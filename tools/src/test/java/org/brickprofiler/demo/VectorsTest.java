package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class VectorsTest {

    @Test
    void dotOfAnyLengthAndOffset() {
        float[] a = random(64, 1);
        float[] b = random(64, 2);
        for (int length = 0; length <= 40; length++) {
            double expected = 0;
            for (int i = 0; i < length; i++) {
                expected += a[3 + i] * b[5 + i];
            }
            assertThat((double) Vectors.dot(a, 3, b, 5, length))
                    .as("length %d", length)
                    .isCloseTo(expected, within(1e-5));
        }
    }

    @Test
    void rmsNormScalesToOneAndByTheWeights() {
        float[] output = new float[2];

        Vectors.rmsNorm(new float[] {30, 40}, new float[] {1, 2}, output);

        double rms = Math.sqrt((30 * 30 + 40 * 40) / 2.0);
        assertThat((double) output[0]).isCloseTo(30 / rms, within(1e-6));
        assertThat((double) output[1]).isCloseTo(2 * 40 / rms, within(1e-6));
    }

    @Test
    void rmsNormOfZeroIsZero() {
        float[] output = {7, 7};

        Vectors.rmsNorm(new float[2], new float[] {1, 1}, output);

        assertThat(output).containsExactly(0, 0);
    }

    @Test
    void addsInPlace() {
        float[] sum = {1, 2};

        Vectors.add(sum, new float[] {10, 20});

        assertThat(sum).containsExactly(11, 22);
    }

    @Test
    void swiGlu() {
        float[] output = new float[3];

        Vectors.swiGlu(new float[] {0, 1, -100}, new float[] {5, 2, 3}, output);

        assertThat(output[0]).isZero();
        assertThat((double) output[1]).isCloseTo(2 / (1 + Math.exp(-1)), within(1e-6));
        assertThat((double) output[2]).isCloseTo(0, within(1e-6));
    }

    @Test
    void softmaxOfAPartLeavesTheRestAlone() {
        float[] values = {9, 0, (float) Math.log(3), 9};

        Vectors.softmax(values, 1, 2);

        assertThat(values[0]).isEqualTo(9);
        assertThat((double) values[1]).isCloseTo(0.25, within(1e-6));
        assertThat((double) values[2]).isCloseTo(0.75, within(1e-6));
        assertThat(values[3]).isEqualTo(9);
    }

    @Test
    void softmaxOfLargeValuesDoesNotOverflow() {
        float[] values = {1e30f, 1e30f, -1e30f};

        Vectors.softmax(values, 0, 3);

        assertThat(values).containsExactly(0.5f, 0.5f, 0);
    }

    private static float[] random(int length, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        float[] values = new float[length];
        for (int i = 0; i < length; i++) {
            values[i] = Matrix.symmetric(random);
        }
        return values;
    }
}
