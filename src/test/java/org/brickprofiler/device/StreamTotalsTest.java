package org.brickprofiler.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Streams of several processes are merged if they are of the same device. */
final class StreamTotalsTest {

    private static StreamTotals on(Optional<String> uuid, Optional<String> address) {
        return StreamTotals.builder("decode", "GPU", 0)
                .identifiers(uuid, address)
                .bricks(1, 20, 5)
                .waits(1)
                .build();
    }

    @Spec("12.33")
    @Test
    void streamsOfTwoDevicesWithOneNumberAreTwo() {
        StreamTotals one = on(Optional.of("GPU-1"), Optional.of("0000:17:00.0"));
        StreamTotals other = on(Optional.of("GPU-2"), Optional.of("0000:17:00.0"));
        assertThat(one.key()).isNotEqualTo(other.key()).isLessThan(other.key());
        assertThat(one.key())
                .isEqualTo(on(Optional.of("GPU-1"), Optional.empty()).key());
        assertThat(on(Optional.empty(), Optional.empty()).key()).isLessThan(one.key());
    }

    @Test
    void theSumKeepsTheIdentifiersOfBoth() {
        StreamTotals one = on(Optional.of("GPU-1"), Optional.empty());
        StreamTotals other = on(Optional.of("GPU-1"), Optional.of("0000:17:00.0"));
        assertThat(one.plus(other)).isEqualTo(other.plus(one));
        assertThat(one.plus(other).deviceUuid()).contains("GPU-1");
        assertThat(one.plus(other).pciAddress()).contains("0000:17:00.0");
        assertThat(one.plus(other).busyNs()).isEqualTo(40);
    }

    @Spec("12.47")
    @Test
    void theShortestGapIsThatOfAllRunsWithGaps() {
        StreamTotals none = on(Optional.empty(), Optional.empty());
        StreamTotals one = StreamTotals.builder("decode", "GPU", 0)
                .bricks(3, 20, 9)
                .gaps(2, 4)
                .build();
        StreamTotals other = StreamTotals.builder("decode", "GPU", 0)
                .bricks(4, 20, 9)
                .gaps(3, 3)
                .build();
        assertThat(none.plus(one).shortestGapNs()).isEqualTo(4);
        assertThat(one.plus(none).shortestGapNs()).isEqualTo(4);
        assertThat(one.plus(other).shortestGapNs()).isEqualTo(3);
        assertThat(one.plus(other).gaps()).isEqualTo(5);
        assertThat(one.plus(other).idleOfMarksNs()).isEqualTo(15);
    }

    @Test
    void aDeviceNeedNotBeKnown() {
        StreamTotals totals = StreamTotals.builder("decode", "GPU", 0)
                .bricks(1, 20, 5)
                .waits(1)
                .build();
        assertThat(totals).isEqualTo(on(Optional.empty(), Optional.empty()));
    }
}
