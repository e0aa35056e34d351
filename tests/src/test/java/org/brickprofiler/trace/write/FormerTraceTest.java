package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.TextFormat;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.trace.read.Omissions;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceReader;
import org.brickprofiler.trace.read.TraceTimeline;
import org.brickprofiler.trace.write.proto.PerfettoTrace;
import org.junit.jupiter.api.Test;

/** A trace of a version whose writer stated every value and left none implied. */
final class FormerTraceTest {

    private static final Path FORMER = SourceTree.path(
            "readers", "src", "test", "resources", "org", "brickprofiler", "trace", "read", "former.pftrace.txt");

    @Test
    void itsTimelineIsTheOneThatWasWritten() throws IOException {
        byte[] former = TextFormat.parse(Files.readString(FORMER), PerfettoTrace.Trace.class)
                .toByteArray();
        TraceTimeline reading = TraceReader.timeline(new ByteArrayInputStream(former), ReadOptions.defaults());
        RereadTimeline expected = RereadTimeline.of(FixedTimeline.sample().withSamplesOfUnknownPhases());

        assertThat(RereadTimeline.of(reading.timeline()).events())
                .containsExactlyInAnyOrderElementsOf(expected.events());
        assertThat(RereadTimeline.of(reading.timeline()).flows()).isEqualTo(expected.flows());
        assertThat(reading.isOwn()).isTrue();
        assertThat(Omissions.unkept(reading)).isEmpty();
        assertThat(reading.timeline().info().droppedSpans()).isEqualTo(42);
    }
}
