package org.brickprofiler.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.math.BigInteger;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.brickprofiler.testing.Spec;

/** Compares the conversion with the same formula in {@link BigInteger} arithmetic. */
class ClockConversionProperties {

    private static final BigInteger LARGEST = BigInteger.valueOf(Long.MAX_VALUE);
    private static final BigInteger SMALLEST = BigInteger.valueOf(Long.MIN_VALUE);

    /** floor(exact + 1/2) */
    private static BigInteger expected(ClockConversion.Pair first, ClockConversion.Pair second, long ticks) {
        BigInteger ns = BigInteger.valueOf(second.hostNs()).subtract(BigInteger.valueOf(first.hostNs()));
        BigInteger per = BigInteger.valueOf(second.deviceTicks() - first.deviceTicks());
        BigInteger since = BigInteger.valueOf(ticks).subtract(BigInteger.valueOf(first.deviceTicks()));
        BigInteger numerator = since.multiply(ns).shiftLeft(1).add(per);
        BigInteger[] parts = numerator.divideAndRemainder(per.shiftLeft(1));
        BigInteger floor = parts[1].signum() < 0 ? parts[0].subtract(BigInteger.ONE) : parts[0];
        return floor.add(BigInteger.valueOf(first.hostNs()));
    }

    @Spec("11.5")
    @Property(tries = 5_000)
    void isTheRoundedLineThroughBothPairsOrRefusesWhatIsNoLong(
            @ForAll long firstNs,
            @ForAll @LongRange(min = 1) long ns,
            @ForAll @LongRange(min = 0) long firstTicks,
            @ForAll @LongRange(min = 1) long perTicks,
            @ForAll @LongRange(min = 0) long ticks) {
        Assume.that(firstNs <= Long.MAX_VALUE - ns && firstTicks <= Long.MAX_VALUE - perTicks);
        ClockConversion.Pair first = new ClockConversion.Pair(firstNs, firstTicks);
        ClockConversion.Pair second = new ClockConversion.Pair(firstNs + ns, firstTicks + perTicks);
        ClockConversion conversion = ClockConversion.between(first, second);

        assertThat(conversion.toHostNs(first.deviceTicks())).isEqualTo(first.hostNs());
        assertThat(conversion.toHostNs(second.deviceTicks())).isEqualTo(second.hostNs());
        BigInteger expected = expected(first, second, ticks);
        if (expected.compareTo(LARGEST) <= 0 && expected.compareTo(SMALLEST) >= 0) {
            assertThat(conversion.toHostNs(ticks)).isEqualTo(expected.longValueExact());
        } else {
            assertThatIllegalArgumentException().isThrownBy(() -> conversion.toHostNs(ticks));
        }
    }

    /** Numbers as drivers have them: counters up to some GHz, runs up to a week, clocks with large origins. */
    @Property(tries = 5_000)
    void isExactOverRunsOfAWeek(
            @ForAll @LongRange(min = -(1L << 60), max = 1L << 60) long firstNs,
            @ForAll @LongRange(min = 1, max = 604_800_000_000_000L) long ns,
            @ForAll @LongRange(min = 0, max = 1L << 61) long firstTicks,
            @ForAll @LongRange(min = 1, max = 2_000_000_000_000_000L) long perTicks,
            @ForAll @LongRange(min = 0, max = 2_000_000_000_000_000L) long since) {
        ClockConversion.Pair first = new ClockConversion.Pair(firstNs, firstTicks);
        ClockConversion.Pair second = new ClockConversion.Pair(firstNs + ns, firstTicks + perTicks);
        BigInteger expected = expected(first, second, firstTicks + since);
        Assume.that(expected.bitLength() < Long.SIZE);

        assertThat(ClockConversion.between(first, second).toHostNs(firstTicks + since))
                .isEqualTo(expected.longValueExact());
    }

    @Spec("11.5")
    @Property
    void aLaterTickIsNeverEarlier(
            @ForAll @LongRange(min = 1, max = 1L << 40) long ns,
            @ForAll @LongRange(min = 1, max = 1L << 40) long perTicks,
            @ForAll @LongRange(min = 0, max = 1L << 21) long firstTicks,
            @ForAll @LongRange(min = 0, max = 1L << 21) long ticks) {
        ClockConversion conversion = ClockConversion.between(
                new ClockConversion.Pair(0, firstTicks), new ClockConversion.Pair(ns, firstTicks + perTicks));

        assertThat(conversion.toHostNs(ticks + 1)).isGreaterThanOrEqualTo(conversion.toHostNs(ticks));
    }
}
