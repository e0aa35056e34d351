package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class BrickCategoryTest {

    @Spec("1.1")
    @Test
    void hasThePublishedNamesInOrder() {
        assertThat(Arrays.stream(BrickCategory.values()).map(Enum::name))
                .containsExactly(
                        "NORM",
                        "ATTENTION",
                        "FFN",
                        "OTHER",
                        "SPARSE",
                        "FFT",
                        "SOLVER",
                        "QUANTIZATION",
                        "COMMUNICATION",
                        "TRANSFER",
                        "MATRIX_PRODUCT",
                        "CONVOLUTION");
        assertThat(Arrays.stream(BrickCategory.values()).map(BrickCategory::displayName))
                .containsExactly(
                        "Norm",
                        "Attention",
                        "FFN",
                        "Other",
                        "Sparse",
                        "FFT",
                        "Solver",
                        "Quantization",
                        "Communication",
                        "Transfer",
                        "Matrix product",
                        "Convolution");
    }

    @Test
    void isNumberedInOrder() {
        assertThat(Arrays.stream(BrickCategory.values()).map(BrickCategory::index))
                .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    }
}
