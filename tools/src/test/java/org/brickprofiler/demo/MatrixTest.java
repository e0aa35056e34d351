package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class MatrixTest {

    @Test
    void keepsItsShape() {
        Matrix matrix = new Matrix(2, 3, new float[] {1, 2, 3, 4, 5, 6});

        assertThat(matrix.rows()).isEqualTo(2);
        assertThat(matrix.cols()).isEqualTo(3);
        assertThat(matrix.values()).containsExactly(1, 2, 3, 4, 5, 6);
    }

    @Test
    void refusesValuesThatDoNotFit() {
        assertThatThrownBy(() -> new Matrix(2, 3, new float[5]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("5 values are not 2 x 3");
    }

    @Test
    void randomValuesHaveTheSpreadThatWasAskedFor() {
        Matrix matrix = Matrix.random(200, 100, 2.0, new SplittableRandom(1));

        double squares = 0;
        double sum = 0;
        for (float value : matrix.values()) {
            squares += value * value;
            sum += value;
        }
        assertThat(Math.sqrt(squares / 20_000)).isBetween(0.195, 0.205);
        assertThat(sum / 20_000).isBetween(-0.005, 0.005);
    }

    @Test
    void symmetricNumbersCoverTheWholeRange() {
        SplittableRandom random = new SplittableRandom(1);
        float smallest = 1;
        float largest = -1;
        for (int i = 0; i < 10_000; i++) {
            float value = Matrix.symmetric(random);
            smallest = Math.min(smallest, value);
            largest = Math.max(largest, value);
        }
        assertThat(smallest).isBetween(-1.0f, -0.99f);
        assertThat(largest).isBetween(0.99f, 1.0f);
    }
}
