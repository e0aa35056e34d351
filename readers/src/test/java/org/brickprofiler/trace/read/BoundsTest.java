package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.brickprofiler.trace.read.Omission.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers beyond the bounds are faults of their places, and neither fill the memory nor enter a sum. */
class BoundsTest {

    private static final String DEVICE =
            "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": \"/device:GPU:0\"}}";

    private static final String GOOD =
            "{\"ph\": \"X\", \"name\": \"good\", \"pid\": 1, \"tid\": 1, \"ts\": 5, \"dur\": 2}";

    private static TraceProfile read(String faulty) throws IOException {
        return Traces.read("{\"traceEvents\": [" + DEVICE + ", " + faulty + ", " + GOOD + "]}");
    }

    private static String slice(String start, String duration, String args) {
        return "{\"ph\": \"X\", \"name\": \"bad\", \"pid\": 1, \"tid\": 1, \"ts\": %s, \"dur\": %s, \"args\": {%s}}"
                .formatted(start, duration, args);
    }

    private static void assertOnlyFault(TraceProfile reading, Reason reason) {
        List<Omission> faults =
                reading.omissions().stream().filter(Omission::isFault).toList();
        assertThat(faults).singleElement().satisfies(fault -> {
            assertThat(fault.reason()).isEqualTo(reason);
            assertThat(fault.count()).isOne();
            assertThat(fault.firstOffset()).isPositive();
        });
        assertThat(reading.snapshot().totalNs()).isEqualTo(2_000);
        assertThat(reading.wallNs()).isEqualTo(2_000);
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1e100000000, TIME_OUT_OF_RANGE",
        "1e100000000, 1, TIME_OUT_OF_RANGE",
        "1, NaN, MALFORMED_TIME",
        "NaN, 1, MALFORMED_TIME",
        "1, Infinity, MALFORMED_TIME",
        "-Infinity, 1, MALFORMED_TIME",
        "1, 315576000000001, TIME_OUT_OF_RANGE",
        "7258118400000001, 1, TIME_OUT_OF_RANGE",
        "7258118400000000, 1, TIME_OUT_OF_RANGE",
        "-1965253636854776, 1, TIME_OUT_OF_RANGE"
    })
    void aTimeOfADeviceBeyondTheBoundsIsAFault(String start, String duration, Reason reason) throws IOException {
        assertOnlyFault(read(slice(start, duration, "")), reason);
    }

    @Test
    void anExponentFarBelowOneIsNotExpanded() throws IOException {
        TraceProfile reading = read(slice("1", "1e-100000000", ""));

        assertThat(reading.omissions()).noneMatch(Omission::isFault);
        assertThat(reading.snapshot().brick("bad").orElseThrow().totalNs()).isZero();
    }

    @Test
    void aLongerPairIsAFault() throws IOException {
        String pair = "{\"ph\": \"B\", \"name\": \"bad\", \"pid\": 1, \"tid\": 1, \"ts\": 0},"
                + " {\"ph\": \"E\", \"pid\": 1, \"tid\": 1, \"ts\": 315576000000001}";

        assertOnlyFault(read(pair), Reason.TIME_OUT_OF_RANGE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"9007199254740993", "\"9007199254740993\"", "9223372036854775807", "9223372036854775808"})
    void bytesBeyondTheBoundAreAFault(String bytes) throws IOException {
        String copy = "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy DtoH\", \"pid\": 1, \"tid\": 1,"
                + " \"ts\": 1, \"dur\": 1, \"args\": {\"bytes\": %s}}".formatted(bytes);
        String kernel =
                "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"good\", \"pid\": 1, \"tid\": 1, \"ts\": 5, \"dur\": 2}";

        assertOnlyFault(Traces.read("[" + copy + ", " + kernel + "]"), Reason.COUNT_OUT_OF_RANGE);
    }

    @Test
    void elementsOfAnArgumentBeyondTheBoundAreAFault() throws IOException {
        ReadOptions options = ReadOptions.defaults().withRules(TraceRules.parse("work <- name=/bad/ elements=args.n"));
        String slice =
                "{\"ph\": \"X\", \"name\": \"bad\", \"pid\": 2, \"tid\": 1, \"ts\": 1, \"dur\": 1, \"args\": {\"n\": %s}}";

        TraceProfile most = Traces.read("[" + slice.formatted("9007199254740992") + "]", options);
        TraceProfile beyond = Traces.read("[" + slice.formatted("9007199254740993") + ", " + GOOD + "]", options);

        assertThat(most.snapshot().brick("work").orElseThrow().totalElements()).isEqualTo(1L << 53);
        assertOnlyFault(beyond, Reason.COUNT_OUT_OF_RANGE);
    }

    @ParameterizedTest
    @CsvSource({"315576000001, 1", "1e30, 1", "5, 9007199254740993"})
    void aTableOfSumsBeyondTheBoundsIsRefusedWithItsPlace(String averageUs, String calls) {
        String log = "Vulkan Timings:\nRMS_NORM: %s x %s us = %s us\nTotal time: 5 us.\n"
                .formatted(calls, averageUs, averageUs);

        assertThatExceptionOfType(TraceFormatException.class)
                .isThrownBy(() ->
                        TraceReader.profile(new ByteArrayInputStream(log.getBytes(UTF_8)), ReadOptions.defaults()))
                .satisfies(fault -> assertThat(fault.offset()).isPositive());
    }

    @Test
    void theBoundsAreThoseOfTheDocuments() {
        assertThat(Instant.ofEpochSecond(0, Bounds.LATEST_NS)).isEqualTo("2200-01-01T00:00:00Z");
        assertThat(Bounds.LONGEST_NS).isEqualTo(315_576_000L * 1_000_000_000);
        assertThat(Bounds.LATEST_NS - Bounds.EARLIEST_NS).isEqualTo(Long.MAX_VALUE);
        assertThat(Bounds.timeOf(Bounds.LATEST_NS, 1)).isEqualTo(Microseconds.OUT_OF_RANGE);
        assertThat(Bounds.timeOf(Long.MAX_VALUE, Long.MAX_VALUE)).isEqualTo(Microseconds.OUT_OF_RANGE);
        assertThat(Bounds.timeOf(Long.MIN_VALUE, Long.MIN_VALUE)).isEqualTo(Microseconds.OUT_OF_RANGE);
        assertThat(Bounds.timeOf(3, -5)).isEqualTo(-2);
        assertThat(Bounds.isDuration(new BigDecimal("315576000000000000.5"))).isFalse();
    }
}
