package org.brickprofiler.device.metal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.math.BigDecimal;
import java.math.MathContext;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.brickprofiler.testing.Spec;

/** Compares the reported error with a counter that runs evenly and was read anywhere between the host's readings. */
class ClockCorrelationProperties {

    private static final MathContext DIGITS = MathContext.DECIMAL128;

    /** Returns the true host time at a tick, by the line through two points that the correlation does not know. */
    private static BigDecimal trueNs(long firstNs, long firstTicks, long secondNs, long secondTicks, long ticks) {
        BigDecimal slope = BigDecimal.valueOf(secondNs)
                .subtract(BigDecimal.valueOf(firstNs))
                .divide(BigDecimal.valueOf(secondTicks - firstTicks), DIGITS);
        return slope.multiply(BigDecimal.valueOf(ticks - firstTicks), DIGITS).add(BigDecimal.valueOf(firstNs));
    }

    @Spec("12.13")
    @Property(tries = 5_000)
    void theTrueTimeIsWithinTheError(
            @ForAll @LongRange(min = -1_000_000_000_000L, max = 1_000_000_000_000L) long firstNs,
            @ForAll @LongRange(max = 100_000) long firstWidthNs,
            @ForAll @LongRange(min = 100_001, max = 600_000_000_000L) long apartNs,
            @ForAll @LongRange(max = 100_000) long secondWidthNs,
            @ForAll @LongRange(max = 1_000_000_000_000L) long firstTicks,
            @ForAll @LongRange(min = 1_000_000, max = 1_000_000_000_000L) long apartTicks,
            @ForAll @LongRange(max = 3_000_000_000_000L) long ticks,
            @ForAll @LongRange(max = 100) long firstShare,
            @ForAll @LongRange(max = 100) long secondShare) {
        ClockCorrelation.Moment first = new ClockCorrelation.Moment(firstNs, firstNs + firstWidthNs, firstTicks);
        ClockCorrelation.Moment second = new ClockCorrelation.Moment(
                firstNs + apartNs, firstNs + apartNs + secondWidthNs, firstTicks + apartTicks);
        ClockCorrelation correlation = ClockCorrelation.between(first, second);

        BigDecimal expected = trueNs(
                firstNs + firstWidthNs * firstShare / 100,
                firstTicks,
                firstNs + apartNs + secondWidthNs * secondShare / 100,
                firstTicks + apartTicks,
                ticks);
        long convertedNs = correlation.conversion().toHostNs(ticks);
        assertThat(expected.subtract(BigDecimal.valueOf(convertedNs)).abs())
                .isLessThanOrEqualTo(BigDecimal.valueOf(correlation.errorNs(ticks)));
    }

    @Property
    void betweenTheMomentsItIsNoMoreThanTheLargerError(
            @ForAll @LongRange(max = 10_000) long firstWidthNs,
            @ForAll @LongRange(max = 10_000) long secondWidthNs,
            @ForAll @LongRange(max = 1_000_000) long ticks) {
        ClockCorrelation.Moment first = new ClockCorrelation.Moment(0, firstWidthNs, 0);
        ClockCorrelation.Moment second =
                new ClockCorrelation.Moment(1_000_000_000, 1_000_000_000 + secondWidthNs, 1_000_000);

        assertThat(ClockCorrelation.between(first, second).errorNs(ticks))
                .isBetween(1L, Math.max(first.errorNs(), second.errorNs()) + 2);
    }

    @Example
    void growsOutsideOfTheMoments() {
        ClockCorrelation correlation = ClockCorrelation.between(
                new ClockCorrelation.Moment(0, 200, 0), new ClockCorrelation.Moment(1_000, 1_200, 1_000));

        assertThat(correlation.errorNs(500)).isBetween(101L, 102L);
        assertThat(correlation.errorNs(10_000)).as("9 × 100 + 10 × 100").isBetween(1_901L, 1_902L);
        ClockCorrelation wide = ClockCorrelation.between(
                new ClockCorrelation.Moment(0, Long.MAX_VALUE / 2, 0),
                new ClockCorrelation.Moment(1L << 61, Long.MAX_VALUE, 1));
        assertThat(wide.errorNs(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    }

    @Example
    void refusesWhatIsNoMomentOrTellsNoTime() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ClockCorrelation.Moment(11, 10, 0))
                .withMessageContaining("11");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ClockCorrelation.Moment(Long.MIN_VALUE, Long.MAX_VALUE, 0))
                .withMessageContaining(String.valueOf(Long.MIN_VALUE));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ClockCorrelation.Moment(0, 0, -7))
                .withMessageContaining("-7");
        ClockCorrelation.Moment moment = new ClockCorrelation.Moment(0, 10, 5);
        assertThatIllegalArgumentException().isThrownBy(() -> ClockCorrelation.between(moment, moment));
    }
}
