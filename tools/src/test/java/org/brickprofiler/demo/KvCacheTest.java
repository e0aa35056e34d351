package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class KvCacheTest {

    @Test
    void keepsKeysAndValuesByPosition() {
        Attention.KvCache cache = new Attention.KvCache(new ModelConfig(1, 4, 2, 1, 8, 10, 3));

        cache.put(new float[] {1, 2, 3, 4, 5, 6, 7, 8}, 4, 1);
        cache.put(new float[] {0, 0, 0, 0, 15, 16, 17, 18}, 4, 2);

        assertThat(cache.keys(0)).containsExactly(0, 0);
        assertThat(cache.keys(1)).containsExactly(5, 6);
        assertThat(cache.values(1)).containsExactly(7, 8);
        assertThat(cache.keys(2)).containsExactly(15, 16);
        assertThat(cache.values(2)).containsExactly(17, 18);
    }
}
