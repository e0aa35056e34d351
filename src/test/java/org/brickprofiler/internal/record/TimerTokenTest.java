package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TimerTokenTest {

    private static final long CLOCK_RANGE_NS = 1L << 51;

    /** A clock that ran backwards by at most this much gives an interval of 0. */
    private static final long MOMENT_NS = 1L << 20;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 35, 36, 2_047, 4_093, TimerToken.MAX_KEY})
    void carriesItsKey(int key) {
        assertThat(TimerToken.key(TimerToken.pack(key, 0))).isEqualTo(key);
        assertThat(TimerToken.key(TimerToken.pack(key, -1))).isEqualTo(key);
        assertThat(TimerToken.key(TimerToken.pack(key, Long.MAX_VALUE))).isEqualTo(key);
    }

    @Test
    void theFirstKeyAtTimeZeroIsNotVoid() {
        assertThat(TimerToken.pack(0, 0)).isNotEqualTo(TimerToken.VOID);
    }

    @Test
    void voidBelongsToNoRow() {
        assertThat(TimerToken.key(TimerToken.VOID)).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(
            longs = {
                0,
                1,
                -1,
                -1_000_000_007,
                1L << 40,
                CLOCK_RANGE_NS - 5,
                CLOCK_RANGE_NS,
                Long.MAX_VALUE - 3,
                Long.MIN_VALUE,
                Long.MIN_VALUE + 7
            })
    void measuresFromAnyOrigin(long startNs) {
        for (int key : new int[] {0, 17, TimerToken.MAX_KEY}) {
            long token = TimerToken.pack(key, startNs);
            assertThat(TimerToken.elapsedNs(token, startNs)).as("at once").isZero();
            assertThat(TimerToken.elapsedNs(token, startNs + 1))
                    .as("after 1 ns")
                    .isEqualTo(1);
            assertThat(TimerToken.elapsedNs(token, startNs + 123_456_789_012L)).isEqualTo(123_456_789_012L);
        }
    }

    @Test
    void measuresAcrossTheWrapOfItsClockBits() {
        long token = TimerToken.pack(3, CLOCK_RANGE_NS - 10);

        assertThat(TimerToken.elapsedNs(token, CLOCK_RANGE_NS + 32)).isEqualTo(42);
    }

    @Test
    void measuresAcrossZero() {
        assertThat(TimerToken.elapsedNs(TimerToken.pack(3, -40), 2)).isEqualTo(42);
    }

    @Test
    void aClockThatRanBackwardsCountsAsZero() {
        assertThat(TimerToken.elapsedNs(TimerToken.pack(3, 1_000), 999)).isZero();
        assertThat(TimerToken.elapsedNs(TimerToken.pack(TimerToken.MAX_KEY, 1_000), -1_000_000))
                .isZero();
        assertThat(TimerToken.elapsedNs(TimerToken.pack(0, -5), -6)).isZero();
    }

    @Spec("2.6")
    @Test
    void intervalsUpToHalfTheRangeAreExact() {
        long longest = CLOCK_RANGE_NS / 2;

        assertThat(TimerToken.elapsedNs(TimerToken.pack(0, 77), 77 + longest)).isEqualTo(longest);
        assertThat(TimerToken.elapsedNs(TimerToken.pack(TimerToken.MAX_KEY, -77), -77 + longest))
                .isEqualTo(longest);
    }

    @Spec("2.6")
    @Test
    void aLongerIntervalIsUnresolvedUntilTheStartWraps() {
        long longest = CLOCK_RANGE_NS / 2;
        for (int key : new int[] {0, 17, TimerToken.MAX_KEY}) {
            long token = TimerToken.pack(key, 77);

            assertThat(TimerToken.elapsedNs(token, 77 + longest + 1)).isEqualTo(TimerToken.UNRESOLVED);
            assertThat(TimerToken.elapsedNs(token, 77 + CLOCK_RANGE_NS - MOMENT_NS - 1))
                    .isEqualTo(TimerToken.UNRESOLVED);
            assertThat(TimerToken.elapsedNs(token, 77 + CLOCK_RANGE_NS + 3))
                    .as("what cannot be seen")
                    .isEqualTo(3);
        }
    }

    @Spec("2.6")
    @Test
    void aClockThatRanBackwardsByMoreThanAMomentIsUnresolved() {
        long token = TimerToken.pack(9, 77);

        assertThat(TimerToken.elapsedNs(token, 77 - MOMENT_NS)).isZero();
        assertThat(TimerToken.elapsedNs(token, 77 - MOMENT_NS - 1)).isEqualTo(TimerToken.UNRESOLVED);
        assertThat(TimerToken.elapsedNs(token, 77 - (CLOCK_RANGE_NS / 2 - 1))).isEqualTo(TimerToken.UNRESOLVED);
    }

    @Property
    void packingIsLossless(
            @ForAll @IntRange(max = TimerToken.MAX_KEY) int key,
            @ForAll long startNs,
            @ForAll @LongRange(min = 0, max = 1L << 50) long elapsedNs) {
        long token = TimerToken.pack(key, startNs);

        assertThat(token).isNotEqualTo(TimerToken.VOID);
        assertThat(TimerToken.key(token)).isEqualTo(key);
        assertThat(TimerToken.elapsedNs(token, startNs + elapsedNs)).isEqualTo(elapsedNs);
    }
}
