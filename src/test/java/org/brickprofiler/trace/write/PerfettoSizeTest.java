package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.brickprofiler.bench.CodedPerfetto;
import org.brickprofiler.trace.Timeline;
import org.junit.jupiter.api.Test;

/** How large a trace is, and that what it is compared with in benchmarks is the same trace. */
final class PerfettoSizeTest {

    private static final int MILLION = 1_000_000;

    private static double bytesPerSpan(boolean detailed) throws IOException {
        CountingStream out = new CountingStream();
        PerfettoWriter.write(new ManySpans(MILLION, detailed), out);
        return (double) out.bytes() / MILLION;
    }

    @Test
    void aSpanTakesAtMost32Bytes() throws IOException {
        assertThat(bytesPerSpan(false)).isBetween(25.0, 32.0);
    }

    @Test
    void eachNumberBesideItTakesSixMore() throws IOException {
        assertThat(bytesPerSpan(true) - bytesPerSpan(false)).isBetween(11.9, 12.1);
    }

    @Test
    void theBenchmarksReferenceWritesTheSamePackets() throws IOException {
        Timeline timeline = new ManySpans(1_000, true);
        ByteArrayOutputStream ours = new ByteArrayOutputStream();
        ByteArrayOutputStream reference = new ByteArrayOutputStream();

        PerfettoWriter.write(timeline, ours);
        CodedPerfetto.writeEvents(timeline, reference);

        assertThat(reference.size()).isGreaterThan(40_000);
        assertThat(ours.toByteArray()).endsWith(reference.toByteArray());
    }
}
