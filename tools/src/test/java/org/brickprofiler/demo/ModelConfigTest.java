package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelConfigTest {

    @Test
    void derivesWidthsFromHeads() {
        ModelConfig config = new ModelConfig(2, 48, 6, 2, 100, 50, 10);

        assertThat(config.headDim()).isEqualTo(8);
        assertThat(config.kvDim()).isEqualTo(16);
        assertThat(config.qkvDim()).isEqualTo(48 + 2 * 16);
    }

    @Test
    void countsParametersAndMemory() {
        ModelConfig config = new ModelConfig(2, 48, 6, 2, 100, 50, 10);
        long layer = 48 * 80 + 48 * 48 + 3 * 48 * 100 + 2 * 48;

        assertThat(config.parameters()).isEqualTo(50 * 48 + 2 * layer + 48 + 50 * 48);
        assertThat(config.memoryBytes()).isEqualTo(4 * (config.parameters() + 2 * 2 * 10 * 16));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            0 | 16 | 2 | 1 | 32 | 10 | 5 | layers 0 is not within
            -1 | 16 | 2 | 1 | 32 | 10 | 5 | layers -1 is not within
            1 | 0 | 2 | 1 | 32 | 10 | 5 | dim 0 is not within
            1 | 16 | 0 | 1 | 32 | 10 | 5 | heads 0 is not within
            1 | 16 | 2 | 0 | 32 | 10 | 5 | kv-heads 0 is not within
            1 | 16 | 2 | 1 | 0 | 10 | 5 | ffn 0 is not within
            1 | 16 | 2 | 1 | 32 | 0 | 5 | vocab 0 is not within
            1 | 16 | 2 | 1 | 32 | 10 | 0 | sequence 0 is not within
            2000000 | 16 | 2 | 1 | 32 | 10 | 5 | layers 2000000 is not within 1 to 1048576
            1 | 16 | 3 | 1 | 32 | 10 | 5 | dim 16 is not divisible by heads 3
            1 | 64 | 8 | 3 | 32 | 10 | 5 | heads 8 is not divisible by kv-heads 3
            1 | 16 | 2 | 4 | 32 | 10 | 5 | heads 2 is not divisible by kv-heads 4
            1 | 15 | 3 | 1 | 32 | 10 | 5 | heads of size 5
            1 | 65536 | 2 | 1 | 32 | 10 | 5 | dim x dim is 4294967296 floats
            1 | 8192 | 2 | 1 | 1000000 | 10 | 5 | dim x ffn is 8192000000 floats
            1 | 8192 | 2 | 1 | 32 | 1000000 | 5 | dim x vocab is 8192000000 floats
            1 | 32768 | 2 | 2 | 32 | 10 | 5 | head size is 3221225472 floats
            1 | 8192 | 4096 | 1 | 32 | 10 | 1000000 | heads x sequence is 4096000000 floats
            1 | 8192 | 2 | 1 | 32 | 10 | 1000000 | sequence x head size is 4096000000 floats
            """)
    void refusesImpossibleShapes(
            int layers, int dim, int heads, int kvHeads, int ffn, int vocab, int sequence, String reason) {
        assertThatThrownBy(() -> new ModelConfig(layers, dim, heads, kvHeads, ffn, vocab, sequence))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(reason);
    }
}
