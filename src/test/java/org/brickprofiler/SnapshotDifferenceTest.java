package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class SnapshotDifferenceTest {

    @Test
    @Spec("23.7")
    void extremesWithoutPercentilesAreBounds() {
        BrickProfiler plain = BrickProfiler.enabled();
        plain.record(BrickId.RMS_NORM, 5_000, 1);
        plain.record(BrickId.RMS_NORM, 10, 1);
        ProfileSnapshot before = plain.snapshot();
        plain.record(BrickId.RMS_NORM, 1_000, 1);
        plain.record(BrickId.RMS_NORM, 3_000, 1);
        plain.record(BrickId.RMS_NORM, 1_500, 1);
        BrickStats window = SnapshotDifference.between(before, plain.snapshot())
                .brick("RmsNorm")
                .orElseThrow();

        assertThat(window.minNs()).as("of 1000").isEqualTo(1_500);
        assertThat(window.maxNs()).as("of 3000").isEqualTo(2_000);
        assertThat(SnapshotDifference.between(plain.snapshot(), plain.snapshot())
                        .bricks())
                .isEmpty();
    }
}
