package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.trace.read.Omission.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Events whose time years or days separate from all others do not stretch the wall time. */
class OtherClocksTest {

    private static final long EPOCH_US = 1_753_000_000_000_000L;
    private static final long DAY_US = 86_400_000_000L;

    private static String kernel(String name, long ts, long dur) {
        return "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 0, \"tid\": 7, \"ts\": %d, \"dur\": %d}"
                .formatted(name, ts, dur);
    }

    private static List<String> kernels(long atUs) {
        List<String> events = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            events.add(kernel("my_kernel", atUs + 10L * i, 5));
        }
        return events;
    }

    private static String text(List<String> events) {
        return Traces.array(events.toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource({
        "1753000000000000, 0, 0",
        "1753000000000000, 0, 3",
        "1753000000000000, 1000, 3",
        "1753000000000000, -1000, 3",
        "1000, 1753000000000000, 3",
        "0, 1753000000000000, 3",
        "0, -1753000000000000, 3",
        "300000000000, 0, 3"
    })
    void anEventOfAnotherClockIsAFaultWithItsName(long atUs, long otherUs, long elapsedUs) throws IOException {
        List<String> events = kernels(atUs);
        TraceProfile expected = Traces.read(text(events));
        events.add(4, kernel("stray", otherUs, elapsedUs));

        TraceProfile reading = Traces.read(text(events));

        assertThat(reading.wallNs()).isEqualTo(expected.wallNs()).isEqualTo(95_000);
        assertThat(reading.snapshot().bricks()).isEqualTo(expected.snapshot().bricks());
        assertThat(reading.omissions()).singleElement().satisfies(fault -> {
            assertThat(fault.reason()).isEqualTo(Reason.OTHER_CLOCK);
            assertThat(fault.name()).isEqualTo("stray");
            assertThat(fault.firstOffset()).isPositive();
        });
    }

    @ParameterizedTest
    @CsvSource({"0, 3000000000", "-1000, 3000000000", "1000, 17000000000000", "5000, 300000000000"})
    void longGapsOfOneClockAreIdleTime(long firstUs, long atUs) throws IOException {
        List<String> events = kernels(atUs);
        events.add(kernel("first", firstUs, 3));

        TraceProfile reading = Traces.read(text(events));

        assertThat(reading.omissions()).isEmpty();
        assertThat(reading.wallNs()).isEqualTo((atUs + 95 - firstUs) * 1_000);
    }

    @Test
    void theClockOfADeviceMayBeYearsFromTheHosts() throws IOException {
        List<String> events = kernels(3 * DAY_US);
        for (int i = 0; i < 100; i++) {
            events.add(Traces.slice("call", "cuda_runtime", 1, EPOCH_US + i, 1));
        }

        TraceProfile reading = Traces.read(text(events));

        assertThat(reading.omissions()).noneMatch(Omission::isFault);
        assertThat(reading.wallNs()).isEqualTo(95_000);
    }

    @Test
    void aTimelineLeavesTheEventOutAsWell() throws IOException {
        List<String> events = kernels(EPOCH_US);
        events.add(4, kernel("stray", 0, 0));
        byte[] trace = text(events).getBytes(UTF_8);

        try (TraceTimeline read = TraceReader.timeline(new ByteArrayInputStream(trace), ReadOptions.defaults())) {
            assertThat(read.timeline().earliestNs()).isEqualTo(EPOCH_US * 1_000);
            assertThat(read.omissions())
                    .filteredOn(omission -> omission.reason() == Reason.OTHER_CLOCK)
                    .extracting(Omission::name)
                    .containsExactly("stray");
            assertThat(TimelineLines.lines(read)).noneMatch(line -> line.contains("stray"));
        }
    }
}
