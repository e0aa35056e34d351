package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.write.PerfettoDecoder.Decoded;
import org.brickprofiler.trace.write.proto.PerfettoTrace;
import org.junit.jupiter.api.Test;

/**
 * The form in which a file shows samples that a device timed: the launch with the device's time, the work marked as the
 * sample.
 */
final class DeviceSamplesTest {

    private final FakeClock clock = new FakeClock(1_000);
    private final SimulatedStream stream =
            new SimulatedStream(new SpanSink.Place("CUDA", 0, "a GPU", "decode", 0), clock, 64);
    private final Timeline timeline = recorded();

    private Timeline recorded() {
        TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
        BrickProfiler profiler = BrickProfiler.builder()
                .clock(clock)
                .deviceStream(stream)
                .tracing(recorder)
                .build();
        profiler.enable();
        for (long elements = 1; elements <= 2; elements++) {
            long timer = profiler.startBrick(BrickId.RMS_NORM);
            stream.work(700);
            clock.advance(5);
            profiler.stopBrick(timer, elements);
        }
        clock.advance(2_390);
        profiler.endPassAsync();
        return recorder.timeline();
    }

    @Test
    void inPerfettosFormat() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PerfettoWriter.write(timeline, out);
        PerfettoDecoder decoder = PerfettoDecoder.decode(out.toByteArray());
        List<Decoded> slices = decoder.of(PerfettoTrace.TrackEvent.Type.TYPE_SLICE_BEGIN).stream()
                .filter(slice -> slice.name().equals("RmsNorm"))
                .toList();

        assertThat(slices)
                .extracting(Decoded::said)
                .containsExactly(
                        Map.of("sample", 0L, "device_ns", 700L),
                        Map.of("sample", 0L, "device_ns", 700L),
                        Map.of("sample", 1L, "device", 0L),
                        Map.of("sample", 1L, "device", 0L, "elements", 2L));
        assertThat(slices).extracting(Decoded::startNs).containsExactly(1_000L, 1_005L, 1_500L, 2_200L);
        assertThat(slices).extracting(slice -> slice.endNs() - slice.startNs()).containsExactly(5L, 5L, 700L, 700L);
        assertThat(slices.get(0).flows()).hasSize(1).isEqualTo(slices.get(2).terminatingFlows());
        assertThat(slices.get(1).flows()).hasSize(1).isEqualTo(slices.get(3).terminatingFlows());
        assertThat(slices.get(0).flows()).isNotEqualTo(slices.get(1).flows());
        assertThat(slices.subList(2, 4)).allSatisfy(slice -> assertThat(decoder.tracks.get(slice.track()))
                .extracting(PerfettoTrace.TrackDescriptor::getName)
                .isEqualTo("decode"));
        assertThat(decoder.tracks.values())
                .anySatisfy(track ->
                        assertThat(track.getProcess().getProcessLabelsList()).contains("device times within 500 ns"));
    }

    @Test
    void inChromesFormat() throws IOException {
        ChromeTrace trace = ChromeTrace.of(timeline);
        List<JsonNode> slices = trace.of("X").stream()
                .filter(slice -> slice.get("name").textValue().equals("RmsNorm"))
                .toList();

        assertThat(slices)
                .extracting(slice -> slice.get("cat").textValue())
                .containsExactly("cpu_op", "cpu_op", "kernel", "kernel");
        assertThat(slices)
                .extracting(slice -> slice.get("args").has("elements"))
                .containsExactly(false, false, true, true);
        assertThat(slices)
                .extracting(slice -> slice.get("args").path("sample").asInt(-1))
                .containsExactly(-1, -1, 1, 1);
        assertThat(slices)
                .extracting(slice -> slice.get("args").path("device_ns").asInt(-1))
                .containsExactly(700, 700, -1, -1);
        assertThat(trace.of("X"))
                .filteredOn(slice -> slice.get("name").textValue().equals("cudaLaunchKernel"))
                .hasSize(2);
        assertThat(trace.root.get("clockErrorNs").longValue()).isEqualTo(500);
    }
}
