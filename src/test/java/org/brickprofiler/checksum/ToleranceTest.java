package org.brickprofiler.checksum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ToleranceTest {

    /** The result of {@code numpy.isclose(value, expected, atol=0.5, rtol=0.25, equal_nan=True)}. */
    @Spec("10.5")
    @ParameterizedTest
    @CsvSource({
        "1.5, 1, true",
        "1.75, 1, true",
        "1.7500001, 1, false",
        "0.25, 1, true",
        "0.24, 1, false",
        "0.5, 0, true",
        "0.51, 0, false",
        "-1.75, -1, true",
        "1, -1, false",
        "0, -0.0, true",
        "NaN, NaN, true",
        "NaN, 1, false",
        "1, NaN, false",
        "Infinity, Infinity, true",
        "Infinity, -Infinity, false",
        "3.4028235e38, Infinity, false",
        "Infinity, 3.4028235e38, false",
        "3.4028235e38, -3.4028235e38, false"
    })
    void combinesBothBounds(float value, float expected, boolean accepted) {
        assertThat(Tolerance.of(0.5, 0.25).accepts(value, expected)).isEqualTo(accepted);
    }

    /** The relative tolerance refers to the reference's value, not to the larger one. */
    @Test
    void isNotSymmetric() {
        Tolerance half = Tolerance.of(0, 0.5);

        assertThat(half.accepts(1, 2)).isTrue();
        assertThat(half.accepts(2, 1)).isFalse();
    }

    @Test
    void aToleranceOfZeroComparesValuesAndExactComparesBits() {
        Tolerance zero = Tolerance.of(0, 0);

        assertThat(zero.isExact()).isFalse();
        assertThat(Tolerance.EXACT.isExact()).isTrue();
        ChecksumLog plus = Logs.sampled(0.0f);
        ChecksumLog minus = Logs.sampled(-0.0f);
        assertThat(plus.compareWith(minus, zero).matches()).isTrue();
        assertThat(plus.compareWith(minus, Tolerance.EXACT).matches()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(doubles = {-1e-9, Double.NaN, Double.POSITIVE_INFINITY})
    void refusesInvalidBounds(double bound) {
        assertThatThrownBy(() -> Tolerance.of(bound, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("absolute tolerance " + bound);
        assertThatThrownBy(() -> Tolerance.of(0, bound))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("relative tolerance " + bound);
    }
}
