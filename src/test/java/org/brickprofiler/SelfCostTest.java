package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SelfCostTest {

    @Test
    void isMeasuredOnceForEachWayOfRecording() {
        assertThat(SelfCost.perSampleNs(false)).isPositive().isEqualTo(SelfCost.perSampleNs(false));
        assertThat(SelfCost.perSampleNs(true)).isPositive().isEqualTo(SelfCost.perSampleNs(true));
    }

    @Test
    void isLessThanAMillisecond() {
        assertThat(SelfCost.perSampleNs(false)).isLessThan(1e6);
        assertThat(SelfCost.perSampleNs(true)).isLessThan(1e6);
    }
}
