package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** The enums that have nothing but constants. */
@Spec("1.1")
final class PublishedEnumsTest {

    @Test
    void syncModes() {
        assertThat(SyncMode.values())
                .containsExactly(SyncMode.IMMEDIATE, SyncMode.PER_LAYER, SyncMode.DEFERRED, SyncMode.NONE);
    }

    @Test
    void backends() {
        assertThat(Backend.values()).containsExactly(Backend.CPU, Backend.CUDA, Backend.METAL, Backend.OPENCL);
    }

    /** Merging keeps the greater one, so the order has a meaning. */
    @Test
    void bottlenecks() {
        assertThat(Bottleneck.values()).containsExactly(Bottleneck.UNKNOWN, Bottleneck.MEMORY, Bottleneck.COMPUTE);
    }

    @Test
    void attributions() {
        assertThat(Attribution.values()).containsExactly(Attribution.LITERAL, Attribution.SEQUENTIAL);
    }
}
