package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class LatencyBucketsTest {

    private static final long FIRST_UNRESOLVED_NS = 1L << 40;

    @Spec("4.6")
    @Test
    void isExactBelow128() {
        for (int ns = 0; ns < 128; ns++) {
            assertThat(LatencyBuckets.indexOf(ns)).isEqualTo(ns);
            assertThat(LatencyBuckets.valueNs(ns)).isEqualTo(ns);
        }
    }

    @Test
    void bucketsFollowEachOtherWithoutGapOrOverlap() {
        long lowest = 0;
        for (int index = 0; index < LatencyBuckets.COUNT; index++) {
            assertThat(LatencyBuckets.indexOf(lowest))
                    .as("the lowest of bucket %d", index)
                    .isEqualTo(index);
            long value = LatencyBuckets.valueNs(index);
            assertThat(LatencyBuckets.indexOf(value))
                    .as("the middle of bucket %d", index)
                    .isEqualTo(index);
            // A bucket reaches as far above its middle as below it.
            long next = index < 128 ? value + 1 : 2 * value - lowest;
            assertThat(LatencyBuckets.indexOf(next - 1))
                    .as("the highest of bucket %d", index)
                    .isEqualTo(index);
            lowest = next;
        }
        assertThat(lowest).as("the first duration past the last bucket").isEqualTo(FIRST_UNRESOLVED_NS);
    }

    @Spec("4.6")
    @Test
    void theErrorIsWithinTheStatedOne() {
        for (long ns = 1; ns < FIRST_UNRESOLVED_NS; ns += 1 + ns / 997) {
            requireWithinError(ns);
        }
    }

    @Test
    void theErrorHoldsAtBothEndsOfEveryBucket() {
        for (int index = 1; index < LatencyBuckets.COUNT; index++) {
            long value = LatencyBuckets.valueNs(index);
            long halfNs = index < 128 ? 0 : value - LatencyBuckets.valueNs(index - 1);
            for (long ns = Math.max(1, value - halfNs); ns <= value + halfNs; ns += Math.max(1, halfNs)) {
                if (LatencyBuckets.indexOf(ns) == index) {
                    requireWithinError(ns);
                }
            }
        }
    }

    private static void requireWithinError(long ns) {
        long value = LatencyBuckets.valueNs(LatencyBuckets.indexOf(ns));
        assertThat((double) Math.abs(value - ns) / ns)
                .as("relative error at %d ns, read as %d", ns, value)
                .isLessThanOrEqualTo(LatencyBuckets.RELATIVE_ERROR);
    }

    @Test
    void longDurationsShareTheLastBucket() {
        assertThat(LatencyBuckets.indexOf(FIRST_UNRESOLVED_NS)).isEqualTo(LatencyBuckets.COUNT - 1);
        assertThat(LatencyBuckets.indexOf(Long.MAX_VALUE)).isEqualTo(LatencyBuckets.COUNT - 1);
    }

    @Test
    void refusesBucketsThatDoNotExist() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LatencyBuckets.valueNs(-1))
                .withMessageContaining("-1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LatencyBuckets.valueNs(LatencyBuckets.COUNT))
                .withMessageContaining("2240");
    }

    @Property
    void isMonotone(@ForAll @LongRange(min = 0) long one, @ForAll @LongRange(min = 0) long two) {
        assertThat(LatencyBuckets.indexOf(Math.min(one, two)))
                .isLessThanOrEqualTo(LatencyBuckets.indexOf(Math.max(one, two)));
    }

    @Property
    void theErrorIsWithinTheStatedOneAnywhere(@ForAll @LongRange(min = 1, max = (1L << 40) - 1) long ns) {
        requireWithinError(ns);
    }
}
