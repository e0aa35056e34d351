package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.TextFormat;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.brickprofiler.trace.read.TimelineReader;
import org.brickprofiler.trace.read.TimelineReading;
import org.brickprofiler.trace.write.proto.PerfettoTrace;
import org.junit.jupiter.api.Test;

/** A trace that was written before anything went without saying. */
final class FormerTraceTest {

    private static final Path FORMER =
            Path.of("src", "test", "resources", "org", "brickprofiler", "trace", "read", "former.pftrace.txt");

    @Test
    void itsTimelineIsTheOneThatWasWritten() throws IOException {
        byte[] former = TextFormat.parse(Files.readString(FORMER), PerfettoTrace.Trace.class)
                .toByteArray();
        TimelineReading reading = TimelineReader.read(new ByteArrayInputStream(former));
        RereadTimeline expected = RereadTimeline.of(FixedTimeline.sample());

        assertThat(RereadTimeline.of(reading.timeline()).events())
                .containsExactlyInAnyOrderElementsOf(expected.events());
        assertThat(RereadTimeline.of(reading.timeline()).flows()).isEqualTo(expected.flows());
        assertThat(reading.isOwn()).isTrue();
        assertThat(reading.losses()).isEmpty();
        assertThat(reading.timeline().info().droppedSpans()).isEqualTo(42);
    }
}
