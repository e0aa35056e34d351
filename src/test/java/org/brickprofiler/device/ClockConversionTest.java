package org.brickprofiler.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ClockConversionTest {

    /** A counter of 24 MHz, like Apple's: 3 ticks are 125 ns. */
    private static final ClockConversion MHZ_24 = ClockConversion.between(
            new ClockConversion.Pair(1_000, 300), new ClockConversion.Pair(1_000_001_000, 24_000_300));

    @Test
    void theIdentityConvertsATickToANanosecond() {
        assertThat(ClockConversion.IDENTITY.toHostNs(0)).isZero();
        assertThat(ClockConversion.IDENTITY.toHostNs(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void onePairMovesTheOrigin() {
        ClockConversion conversion = ClockConversion.from(new ClockConversion.Pair(-500, 2_000));

        assertThat(conversion.toHostNs(2_000)).isEqualTo(-500);
        assertThat(conversion.toHostNs(0)).isEqualTo(-2_500);
        assertThat(conversion.toHostNs(3_001)).isEqualTo(501);
    }

    @ParameterizedTest
    @CsvSource({
        "300, 1000", // the first pair
        "303, 1125",
        "301, 1042", // 41.67 ns later
        "302, 1083", // 83.33 ns later
        "299, 958", // 41.67 ns earlier
        "24000300, 1000001000", // the second pair
        "48000300, 2000001000"
    })
    void twoPairsGiveTheRate(long ticks, long ns) {
        assertThat(MHZ_24.toHostNs(ticks)).isEqualTo(ns);
    }

    @Test
    void halvesAreRoundedUpOnBothSides() {
        ClockConversion twoTicksANs =
                ClockConversion.between(new ClockConversion.Pair(0, 10), new ClockConversion.Pair(1, 12));

        assertThat(twoTicksANs.toHostNs(11)).isEqualTo(1);
        assertThat(twoTicksANs.toHostNs(9)).isZero();
        assertThat(twoTicksANs.toHostNs(7)).isEqualTo(-1);
    }

    @Test
    void aDayOfTicksThatHasNoCommonDivisorIsExact() {
        long ns = 86_400_000_000_007L;
        long ticks = 2_073_600_000_011L;
        ClockConversion day =
                ClockConversion.between(new ClockConversion.Pair(0, 0), new ClockConversion.Pair(ns, ticks));

        assertThat(day.toHostNs(ticks)).isEqualTo(ns);
        assertThat(day.toHostNs(ticks - 1)).isEqualTo(ns - 42);
        assertThat(day.toHostNs(2 * ticks)).isEqualTo(2 * ns);
    }

    @Test
    void theLargestNumbersAreConverted() {
        ClockConversion whole = ClockConversion.between(
                new ClockConversion.Pair(Long.MIN_VALUE, 0), new ClockConversion.Pair(-1, Long.MAX_VALUE));

        assertThat(whole.toHostNs(0)).isEqualTo(Long.MIN_VALUE);
        assertThat(whole.toHostNs(Long.MAX_VALUE)).isEqualTo(-1);
    }

    @Test
    void refusesTimeThatIsNoLong() {
        ClockConversion fast =
                ClockConversion.between(new ClockConversion.Pair(5, 0), new ClockConversion.Pair(5_000_005, 1));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> fast.toHostNs(1L << 62))
                .withMessageContaining("deviceTicks " + (1L << 62))
                .withMessageContaining("5000000 ns in 1 ticks");
    }

    @Test
    void refusesNegativeTicks() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MHZ_24.toHostNs(-3))
                .withMessageContaining("deviceTicks -3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ClockConversion.Pair(0, -4))
                .withMessageContaining("deviceTicks -4");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 10, 50, 10", // the counter stands still
        "0, 10, 50, 9", // and runs backwards
        "70, 10, 70, 20", // the host's clock stands still
        "70, 10, 69, 20", // and runs backwards
        "70, 10, 60, 5", // the pairs are the wrong way round
    })
    void refusesPairsBetweenWhichNoTimePassed(long firstNs, long firstTicks, long secondNs, long secondTicks) {
        ClockConversion.Pair first = new ClockConversion.Pair(firstNs, firstTicks);
        ClockConversion.Pair second = new ClockConversion.Pair(secondNs, secondTicks);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> ClockConversion.between(first, second))
                .withMessageContaining(first.toString())
                .withMessageContaining(second.toString());
    }

    @Test
    void refusesPairsThatAreTooFarApart() {
        ClockConversion.Pair first = new ClockConversion.Pair(Long.MIN_VALUE, 0);
        ClockConversion.Pair second = new ClockConversion.Pair(0, 1);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> ClockConversion.between(first, second))
                .withMessageContaining("more than " + Long.MAX_VALUE + " ns from " + first);
    }
}
