package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.device.CpuTimer;
import org.brickprofiler.device.ProbeTimer;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.Track;
import org.brickprofiler.trace.write.proto.PerfettoTrace;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An application's own names and numbers are unchanged in the files. */
final class ProbesInTracesTest {

    private final FakeClock clock = new FakeClock(1_000);
    private final TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();

    private void probe(String name, String category, int tid) {
        ProbeTimer probe =
                ProbeTimer.startIf(true, new CpuTimer(clock), recorder::push).orElseThrow();
        clock.advance(30);
        probe.finishTraced(name, category, tid);
    }

    private ChromeTrace chrome() throws IOException {
        return ChromeTrace.of(recorder.timeline());
    }

    private static Stream<JsonNode> named(ChromeTrace trace, String name) {
        return trace.events.stream()
                .filter(event -> event.get("name").textValue().equals(name))
                .filter(event -> !event.get("ph").textValue().equals("M"));
    }

    @Test
    void aProbeHasItsCategoryAndItsNumber() throws IOException {
        probe("attention", "probe", 7);
        probe("ffn", "probe", 0);

        assertThat(chrome().spans())
                .extracting(
                        span -> span.get("name").textValue(),
                        span -> span.get("cat").textValue(),
                        span -> span.get("tid").longValue(),
                        span -> span.get("args").get("category").textValue())
                .containsExactlyInAnyOrder(
                        tuple("attention", "probe", 7L, "probe"), tuple("ffn", "probe", 0L, "probe"));
    }

    /** A thread keeps its number: the probe's line moves away by a fixed step, and its name still says which it is. */
    @Test
    void aLineWithTheNumberOfAThreadMovesByAMillion() throws IOException {
        int thread = Math.toIntExact(Thread.currentThread().getId());
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        profiler.enable();
        profiler.time(BrickId.RMS_NORM, 1, () -> clock.advance(5));
        probe("attention", "probe", thread);
        probe("ffn", "probe", thread + 1_000_000);

        ChromeTrace trace = chrome();
        assertThat(named(trace, "RmsNorm"))
                .extracting(span -> span.get("tid").intValue())
                .containsExactly(thread);
        assertThat(named(trace, "attention"))
                .extracting(span -> span.get("tid").intValue())
                .containsExactly(thread + 1_000_000);
        assertThat(named(trace, "ffn"))
                .extracting(span -> span.get("tid").intValue())
                .containsExactly(thread + 2_000_000);
        assertThat(trace.rowNames().values()).contains("timers " + thread, "timers " + (thread + 1_000_000));
    }

    @Test
    void theCategoriesOfSpansAndInstantsAreTheApplications() throws IOException {
        recorder.span("request", "Server", 1_000, 10);
        recorder.instant("first token");
        recorder.span("RmsNorm", "Norm", 1_020, 10);

        ChromeTrace trace = chrome();
        assertThat(named(trace, "request"))
                .extracting(span -> span.get("cat").textValue())
                .containsExactly("Server");
        assertThat(named(trace, "first token"))
                .extracting(instant -> instant.get("cat").textValue())
                .containsExactly("Application");
        assertThat(named(trace, "RmsNorm"))
                .extracting(span -> span.get("cat").textValue())
                .containsExactly("cpu_op");
    }

    /** Otherwise the host's time would be read as a device's. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "kernel",
                "Kernel",
                "gpu_memcpy",
                "gpu_user_annotation",
                "cuda_runtime",
                "Memset",
                "ac2g",
                "Trace"
            })
    void aCategoryThatReadersTakeForADevicesIsAnArgumentOnly(String category) throws IOException {
        probe("attention", category, 7);

        assertThat(chrome().spans()).singleElement().satisfies(span -> {
            assertThat(span.get("cat").textValue()).isEqualTo("cpu_op");
            assertThat(span.get("args").get("category").textValue()).isEqualTo(category);
        });
    }

    @Test
    void perfettosTrackHasTheNumberToo() throws IOException {
        probe("attention", "probe", 7);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PerfettoWriter.write(recorder.timeline(), out);

        PerfettoDecoder trace = PerfettoDecoder.decode(out.toByteArray());

        PerfettoDecoder.Decoded probe = trace.events.get(trace.events.size() - 1);
        assertThat(List.of(probe.name(), probe.category())).containsExactly("attention", "probe");
        assertThat(trace.tracks.get(probe.track()))
                .extracting(PerfettoTrace.TrackDescriptor::getThread)
                .extracting(PerfettoTrace.ThreadDescriptor::getThreadName, PerfettoTrace.ThreadDescriptor::getTid)
                .containsExactly("timers 7", 7L);
    }

    @Test
    void theTimelinesTrackHasTheNumberToo() {
        probe("attention", "probe", 7);

        assertThat(recorder.timeline().tracks())
                .containsExactly(new Track(Track.Kind.HOST_THREAD, "timers 7", Track.PROCESS, 7));
    }
}
