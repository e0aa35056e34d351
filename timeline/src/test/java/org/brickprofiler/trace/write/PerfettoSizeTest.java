package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.Timeline;
import org.junit.jupiter.api.Test;

/** The size of a trace, and the equality of the trace that benchmarks compare it with. */
final class PerfettoSizeTest {

    private static final int MILLION = 1_000_000;

    /** The length of the last packet, which marks the end of the file. */
    private static final int END_BYTES = 9;

    private static double bytesPerSpan(Timeline timeline) throws IOException {
        CountingStream out = new CountingStream();
        PerfettoWriter.write(timeline, out);
        return (double) out.bytes() / MILLION;
    }

    @Test
    void aSpanTakesAtMost32Bytes() throws IOException {
        assertThat(bytesPerSpan(new ManySpans(MILLION, false))).isBetween(25.0, 32.0);
    }

    @Spec("13.8")
    @Test
    void aSpanOfADecodeRunTakesAtMost32BytesWithElementsAndLayer() throws IOException {
        assertThat(bytesPerSpan(new DecodeRun(MILLION, 1))).isBetween(25.0, 32.0);
    }

    @Test
    void otherElementsTakeSixMore() throws IOException {
        double ordinary = bytesPerSpan(new DecodeRun(MILLION, 1));

        assertThat(bytesPerSpan(new DecodeRun(MILLION, 64)) - ordinary).isBetween(5.0, 6.0);
    }

    @Test
    void elementsAndALayerThatNothingElseTellsTakeTwelveMore() throws IOException {
        double bare = bytesPerSpan(new ManySpans(MILLION, false));

        assertThat(bytesPerSpan(new ManySpans(MILLION, true)) - bare).isBetween(11.9, 12.1);
    }

    @Test
    void theBenchmarksReferenceWritesTheSamePackets() throws IOException {
        Timeline timeline = new ManySpans(1_000, true);
        ByteArrayOutputStream ours = new ByteArrayOutputStream();
        ByteArrayOutputStream reference = new ByteArrayOutputStream();

        PerfettoWriter.write(timeline, ours);
        CodedPerfetto.writeEvents(timeline, reference);

        assertThat(reference.size()).isGreaterThan(40_000);
        byte[] withoutEnd = Arrays.copyOf(ours.toByteArray(), ours.size() - END_BYTES);
        assertThat(withoutEnd).endsWith(reference.toByteArray());
    }
}
