package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.RoundingMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.BigRange;
import net.jqwik.api.constraints.Scale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class MicrosecondsTest {

    private static long ns(String text) {
        String around = "9" + text + "9";
        return Microseconds.toNs(around.toCharArray(), 1, text.length());
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1, 1000",
        "1.5, 1500",
        "1.001, 1001",
        "0.0004, 0",
        "0.0005, 1",
        "-0.0005, -1",
        "-3, -3000",
        "1694039994071305.123, 1694039994071305123",
        "999999999999999.999, 999999999999999999",
        "1e3, 1000000",
        "1.5E-3, 2",
        "1E+2, 100000",
        "7258118400000000, 7258118400000000000",
        "-1965253636854775.807, -1965253636854775807",
        "-0, 0",
        "00012, 12000",
        "1e-1000, 0",
        "0e999999999, 0"
    })
    void isExact(String text, long expectedNs) {
        assertThat(ns(text)).isEqualTo(expectedNs);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "7258118400000000.001",
                "-1965253636854775.808",
                "1e999999999",
                "1e17",
                "99999999999999999999999999"
            })
    void recognisesNumbersOutOfRange(String text) {
        assertThat(ns(text)).isEqualTo(Microseconds.OUT_OF_RANGE);
        assertThat(Microseconds.isTime(ns(text))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "NaN", "1.2.3", ".", "-", "1e", "1e99999999999", "0x10", " 1", "1 "})
    void recognisesTextThatIsNoNumber(String text) {
        assertThat(ns(text)).isEqualTo(Microseconds.MALFORMED);
    }

    @Test
    void aNumberOfTooManyDigitsIsMalformed() {
        assertThat(ns("1".repeat(100_000))).isEqualTo(Microseconds.MALFORMED);
    }

    @Property(tries = 2_000)
    void agreesWithDecimalArithmetic(
            @ForAll @BigRange(min = "-1900000000000000", max = "7000000000000000") @Scale(6) BigDecimal us) {
        long expected = us.movePointRight(3).setScale(0, RoundingMode.HALF_UP).longValueExact();

        assertThat(ns(us.toPlainString())).isEqualTo(expected);
    }
}
