package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LayerTokenTest {

    @Test
    void aHandOffChangesNeitherPassNorLayer() {
        for (long pass : new long[] {1, 2, (1L << 25) - 1}) {
            for (int layer : new int[] {0, 1, 79, LayerToken.LAST_LAYER}) {
                long plain = LayerToken.of(pass, 7, layer);
                for (int number : new int[] {0, 1, 32_766, 32_767, Integer.MAX_VALUE}) {
                    long token = LayerToken.withHandOff(plain, number);
                    assertThat(token).isPositive().isNotEqualTo(plain);
                    assertThat(LayerToken.layerOf(token)).isEqualTo(plain);
                    assertThat(LayerToken.layer(token)).isEqualTo(layer);
                    assertThat(LayerToken.withHandOff(token, number)).isEqualTo(token);
                }
            }
        }
    }

    @Test
    void consecutiveHandOffsOfALayerDiffer() {
        Set<Long> tokens = new HashSet<>();
        for (int number = 0; number < 32_767; number++) {
            assertThat(tokens.add(LayerToken.withHandOff(LayerToken.of(7, 1, 3), number)))
                    .isTrue();
        }
    }

    @Test
    void noLayerAndOnesOwnHaveNoHandOff() {
        assertThat(LayerToken.layerOf(LayerToken.VOID)).isEqualTo(LayerToken.VOID);
        assertThat(LayerToken.layerOf(LayerToken.OWN)).isEqualTo(LayerToken.OWN);
    }

    @Test
    void aPassThatOverflowsItsBitsLeavesOtherBitsAlone() {
        assertThat(LayerToken.of((1L << 25) + 5, 0, 2)).isEqualTo(LayerToken.of(5, 0, 2));
    }

    @Test
    void anEntryHoldsThePassAndTheLayersOfAChange() {
        int passes = 1 << 22;
        for (long pass : new long[] {1, passes - 1, passes, passes + 7}) {
            for (int layer : new int[] {0, 1, LayerToken.LAST_LAYER}) {
                long token = LayerToken.withHandOff(LayerToken.of(pass, 7, layer), 5);
                for (long other : new long[] {LayerToken.OWN, LayerToken.VOID, LayerToken.of(3, 0, 79)}) {
                    int number = other == LayerToken.OWN ? LayerToken.OWN_LAYER : LayerToken.layer(other);
                    int otherPass = number < 0 ? LayerToken.NO_PASS : 3;
                    long begun = LayerToken.change(other, token);
                    assertThat(LayerToken.layerBefore(begun)).isEqualTo(number);
                    assertThat(LayerToken.layerAfter(begun)).isEqualTo(layer);
                    assertThat(LayerToken.passAfter(begun)).isEqualTo((int) (pass % passes));
                    long ended = LayerToken.change(token, other);
                    assertThat(LayerToken.layerBefore(ended)).isEqualTo(layer);
                    assertThat(LayerToken.layerAfter(ended)).isEqualTo(number);
                    assertThat(LayerToken.passAfter(ended)).isEqualTo(otherPass);
                }
                for (boolean isGiven : new boolean[] {true, false}) {
                    long start = LayerToken.start(token, isGiven);
                    assertThat(LayerToken.announced(start)).isEqualTo(isGiven ? ~layer : layer);
                    assertThat(LayerToken.passOf(start)).isEqualTo((int) (pass % passes));
                }
            }
        }
    }
}
