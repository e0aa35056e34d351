package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class WeightsTest {

    private static final ModelConfig CONFIG = new ModelConfig(2, 32, 4, 2, 48, 20, 8);

    @Test
    void sameSeedGivesTheSameWeights() {
        Weights one = Weights.random(CONFIG, 7);
        Weights two = Weights.random(CONFIG, 7);

        assertThat(two.embedding().values()).containsExactly(one.embedding().values());
        assertThat(two.layer(1).down().values())
                .containsExactly(one.layer(1).down().values());
        assertThat(two.head().values()).containsExactly(one.head().values());
    }

    @Test
    void seedAndLayerMakeADifference() {
        Weights weights = Weights.random(CONFIG, 7);

        assertThat(Weights.random(CONFIG, 8).head().values())
                .isNotEqualTo(weights.head().values());
        assertThat(weights.layer(0).qkv().values())
                .isNotEqualTo(weights.layer(1).qkv().values());
    }

    @Test
    void everyArrayHasTheSizeThatTheConfigCounts() {
        Weights weights = Weights.random(CONFIG, 7);

        long parameters = 0;
        parameters += weights.embedding().values().length;
        parameters += weights.head().values().length;
        parameters += weights.finalNorm().length;
        for (int i = 0; i < CONFIG.layers(); i++) {
            Weights.Layer layer = weights.layer(i);
            parameters += layer.attentionNorm().length;
            parameters += layer.ffnNorm().length;
            for (Matrix matrix : Arrays.asList(layer.qkv(), layer.output(), layer.gate(), layer.up(), layer.down())) {
                parameters += matrix.values().length;
            }
        }
        assertThat(parameters).isEqualTo(CONFIG.parameters());
    }

    @Test
    void logitsAreSpreadAsWidelyInADeepModelAsInAShallowOne() {
        for (int layers : new int[] {1, 30}) {
            Weights weights = Weights.random(new ModelConfig(layers, 64, 4, 2, 96, 500, 4), 3);
            ReferenceDecoder decoder = new ReferenceDecoder(weights, 0, 1, 1);
            decoder.decode(5);

            double squares = Arrays.stream(decoder.logits()).map(x -> x * x).sum();
            assertThat(Math.sqrt(squares / 500)).as("with %d layers", layers).isBetween(2.0, 4.0);
        }
    }
}
