package org.brickprofiler.agent;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.System.Logger.Level;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The times of messages, beside those of the JDK's formatter. */
final class MessagesTest {

    private static final DateTimeFormatter JDK =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    private static void assertTime(long ms) {
        byte[] message = Messages.prepared(Level.WARNING, "late");
        Messages.stamp(message, ms);
        assertThat(new String(message, US_ASCII))
                .isEqualTo(JDK.format(Instant.ofEpochMilli(ms)) + " WARNING brick agent: late\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1970-01-01T00:00:00Z",
                "2000-02-29T23:59:59.999Z",
                "2024-12-31T23:59:59.999Z",
                "2025-01-01T00:00:00Z",
                "2100-03-01T00:00:00.001Z"
            })
    void theEndsOfYearsAndLeapDaysAreRight(String moment) {
        assertTime(Instant.parse(moment).toEpochMilli());
    }

    @Test
    void anyTimeIsThatOfTheJdk() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 2_000; i++) {
            assertTime(random.nextLong(Instant.parse("2400-01-01T00:00:00Z").toEpochMilli()));
        }
    }
}
