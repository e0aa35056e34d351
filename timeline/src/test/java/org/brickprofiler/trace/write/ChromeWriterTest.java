package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.brickprofiler.Backend;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.TraceInfo.Device;
import org.brickprofiler.trace.Track;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class ChromeWriterTest {

    private static FixedTimeline withInfo(TraceInfo info, Event... events) {
        return FixedTimeline.ofOneThread(events).with(info);
    }

    private static FixedTimeline onDevice(List<Track> tracks, List<Device> devices) {
        return new FixedTimeline(
                FixedTimeline.someInfo(OptionalInt.empty(), 1, 0, devices),
                List.of(new SpanName("A", "Other")),
                tracks,
                tracks.stream()
                        .map(track -> List.of(Event.span(5_000, 6_000, 0)
                                .flow(
                                        track.kind() == Track.Kind.HOST_THREAD ? 1 : 0,
                                        track.kind() == Track.Kind.HOST_THREAD ? 0 : 1)))
                        .toList());
    }

    @Test
    void theSampleIsWrittenAsBefore() throws IOException {
        Golden.assertSame(ChromeTrace.of(FixedTimeline.sample()).text, getClass(), "sample.json");
    }

    @Spec("13.9")
    @Test
    void timesAreExactMicrosecondsSinceTheBase() throws IOException {
        TraceInfo info = TraceInfo.builder("m", 1)
                .moment(500, 1_700_000_000_123_456_789L)
                .build();
        ChromeTrace trace = ChromeTrace.of(
                withInfo(info, Event.span(400, 401, 0), Event.span(1_400, 9_007_199_254_740_993_000L, 0)));

        assertThat(trace.root.get("baseTimeNanoseconds").longValue()).isEqualTo(1_700_000_000_123_456_689L);
        assertThat(trace.text)
                .contains("\"ts\": 0.000, \"dur\": 0.001,")
                .contains("\"ts\": 1.000, \"dur\": 9007199254740991.600,");
        assertThat(ChromeTrace.ns(trace.spans().get(1).get("dur"))).isEqualTo(9_007_199_254_740_991_600L);
    }

    @Test
    void negativeTimesCountFromTheFirst() throws IOException {
        ChromeTrace trace = ChromeTrace.of(FixedTimeline.ofOneThread(Event.span(-2_500, -1_000, 0)));

        assertThat(trace.text).contains("\"ts\": 0.000, \"dur\": 1.500,");
        assertThat(trace.root.get("baseTimeNanoseconds").longValue()).isEqualTo(1_699_999_999_999_996_500L);
    }

    @Test
    void aTimelineWithoutEventsIsATrace() throws IOException {
        ChromeTrace trace = ChromeTrace.of(FixedTimeline.ofOneThread());

        assertThat(trace.of("M")).hasSameSizeAs(trace.events).isNotEmpty();
        assertThat(trace.root.get("baseTimeNanoseconds").longValue()).isEqualTo(1_700_000_000_000_000_000L);
    }

    @Test
    void stepsAreNumberedUnlessTheyHaveANumber() throws IOException {
        FixedTimeline timeline = new FixedTimeline(
                FixedTimeline.someInfo(),
                List.of(new SpanName("step", SpanName.STEP), new SpanName("ProfilerStep#77", SpanName.STEP)),
                List.of(
                        new Track(Track.Kind.HOST_THREAD, "main", Track.PROCESS, 7),
                        new Track(Track.Kind.HOST_THREAD, "other", Track.PROCESS, 8)),
                List.of(
                        List.of(Event.span(0, 1, 0), Event.span(1, 2, 1), Event.span(2, 3, 0)),
                        List.of(Event.span(0, 1, 0))));

        assertThat(ChromeTrace.of(timeline).of("X", "user_annotation"))
                .extracting(step -> step.get("name").textValue())
                .containsExactly("ProfilerStep#0", "ProfilerStep#77", "ProfilerStep#1", "ProfilerStep#0");
    }

    @Spec("17.7")
    @Test
    void aStepKeepsItsPhaseBesideItsNumber() throws IOException {
        FixedTimeline timeline = new FixedTimeline(
                FixedTimeline.someInfo(),
                List.of(new SpanName("step", SpanName.STEP), new SpanName("decode", SpanName.STEP)),
                List.of(new Track(Track.Kind.HOST_THREAD, "main", Track.PROCESS, 7)),
                List.of(List.of(
                        Event.span(0, 1, 0),
                        Event.span(1, 2, 1).inPhase(Span.StatedPhase.DECODE),
                        Event.span(2, 3, 1))));

        List<JsonNode> steps = ChromeTrace.of(timeline).of("X", "user_annotation");
        assertThat(steps)
                .extracting(step -> step.get("name").textValue())
                .containsExactly("ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2");
        assertThat(steps.get(0).get("args").has("phase")).isFalse();
        assertThat(steps.get(1).get("args").get("phase").textValue()).isEqualTo("decode");
        assertThat(steps.get(1).get("args").has("brick")).isFalse();
        assertThat(steps.get(2).get("args").has("phase"))
                .as("the application's own step")
                .isFalse();
        assertThat(steps.get(2).get("args").get("brick").textValue()).isEqualTo("decode");
    }

    @Spec("13.9")
    @ParameterizedTest
    @EnumSource
    void thereIsALaunchCallOnlyIfAllDevicesAreCudas(Backend backend) throws IOException {
        List<Track> tracks = List.of(
                new Track(Track.Kind.HOST_THREAD, "main", Track.PROCESS, 7),
                new Track(Track.Kind.DEVICE, "device", Track.PROCESS, 0),
                new Track(Track.Kind.STREAM, "stream", 1, 3));
        Device cuda = FixedTimeline.device(1, Backend.CUDA);

        List<JsonNode> launches = ChromeTrace.of(onDevice(tracks, List.of(cuda, FixedTimeline.device(0, backend))))
                .of("X", "cuda_runtime");

        assertThat(launches).hasSize(backend == Backend.CUDA ? 1 : 0);
        assertThat(ChromeTrace.of(onDevice(tracks, List.of())).of("X", "cuda_runtime"))
                .isEmpty();
    }

    @Test
    void aProcessThatHasADevicesNumberMovesAway() throws IOException {
        List<Track> tracks = List.of(
                new Track(Track.Kind.HOST_THREAD, "main", Track.PROCESS, 7),
                new Track(Track.Kind.DEVICE, "device", Track.PROCESS, 4711),
                new Track(Track.Kind.STREAM, "stream", 1, 3));

        assertThat(ChromeTrace.of(onDevice(tracks, List.of())).spans())
                .extracting(span -> span.get("pid").longValue())
                .containsExactly(1_004_711L, 4711L, 4711L);
    }

    @Test
    void devicesAreProcessesLabelledByTheirKind() throws IOException {
        List<Track> tracks = List.of(
                new Track(Track.Kind.HOST_THREAD, "main", Track.PROCESS, 7),
                new Track(Track.Kind.DEVICE, "d", Track.PROCESS, 3),
                new Track(Track.Kind.DEVICE, "e", Track.PROCESS, 5),
                new Track(Track.Kind.DEVICE, "f", Track.PROCESS, 6));
        List<Device> devices = List.of(
                FixedTimeline.device(3, Backend.CUDA),
                FixedTimeline.device(5, Backend.CPU),
                FixedTimeline.device(8, Backend.METAL));

        ChromeTrace trace = ChromeTrace.of(onDevice(tracks, devices));

        assertThat(ofProcesses(trace, "process_labels", "labels"))
                .containsExactly("4711 CPU", "3 GPU 3", "5 device 5", "6 device 6", "8 GPU 8");
        assertThat(ofProcesses(trace, "process_sort_index", "sort_index"))
                .containsExactly("4711 4711", "3 16777219", "5 16777221", "6 16777222", "8 16777224");
    }

    private static List<String> ofProcesses(ChromeTrace trace, String name, String argument) {
        return trace.of("M").stream()
                .filter(event -> event.get("name").textValue().equals(name))
                .map(event ->
                        event.get("pid") + " " + event.get("args").get(argument).asText())
                .toList();
    }

    /** A device that occurs only in the list of devices has a number, too. */
    @Test
    void theProcessMovesAwayFromADeviceWithoutEvents() throws IOException {
        ChromeTrace trace = ChromeTrace.of(onDevice(
                List.of(new Track(Track.Kind.HOST_THREAD, "main", Track.PROCESS, 7)),
                List.of(FixedTimeline.device(4711, Backend.CUDA))));

        assertThat(trace.spans())
                .extracting(span -> span.get("pid").longValue())
                .containsExactly(1_004_711L);
    }

    @Test
    void aTransferIsLaunchedByACopy() throws IOException {
        FixedTimeline timeline = new FixedTimeline(
                FixedTimeline.someInfo(OptionalInt.empty(), 1, 0, List.of(FixedTimeline.device(0, Backend.CUDA))),
                List.of(new SpanName("A", "Other"), new SpanName("HostToDevice", "Transfer")),
                List.of(
                        new Track(Track.Kind.HOST_THREAD, "main", Track.PROCESS, 7),
                        new Track(Track.Kind.DEVICE, "device", Track.PROCESS, 0)),
                List.of(
                        List.of(
                                Event.span(10, 20, 0).flow(1, 0),
                                Event.span(30, 40, 1).flow(2, 0)),
                        List.of(
                                Event.span(50, 60, 0).flow(0, 1),
                                Event.span(70, 80, 1).flow(0, 2))));

        ChromeTrace trace = ChromeTrace.of(timeline);

        assertThat(trace.of("X", "cuda_runtime"))
                .extracting(launch -> launch.get("name").textValue())
                .containsExactly("cudaLaunchKernel", "cudaMemcpyAsync");
        assertThat(trace.of("X", "gpu_memcpy"))
                .extracting(copy -> copy.get("name").textValue())
                .containsExactly("Memcpy HtoD");
    }

    @Test
    void aTrackWithoutANumberGetsOneThatNoThreadHas() throws IOException {
        List<Track> tracks = List.of(
                new Track(Track.Kind.HOST_THREAD, "virtual threads 1", Track.PROCESS, -1),
                new Track(Track.Kind.HOST_THREAD, "main", Track.PROCESS, 2),
                new Track(Track.Kind.HOST_THREAD, "worker", Track.PROCESS, 3));

        assertThat(ChromeTrace.of(onDevice(tracks, List.of())).rowNames())
                .containsEntry(new ChromeTrace.Row(4711, 2), "main")
                .containsEntry(new ChromeTrace.Row(4711, 3), "worker")
                .containsEntry(new ChromeTrace.Row(4711, 4), "virtual threads 1");
    }

    @Test
    void aWriterFlushesTheBufferOfTheStream() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ChromeWriter.write(FixedTimeline.sample(), new BufferedOutputStream(out, 1 << 20));

        assertThat(new ChromeTrace(out.toByteArray()).events).isNotEmpty();
    }

    @Test
    void tracksNeverShareARow() throws IOException {
        List<Track> tracks = List.of(
                new Track(Track.Kind.HOST_THREAD, "a", Track.PROCESS, 7),
                new Track(Track.Kind.HOST_THREAD, "b", Track.PROCESS, 7),
                new Track(Track.Kind.HOST_THREAD, "c", Track.PROCESS, -3),
                new Track(Track.Kind.HOST_THREAD, "d", Track.PROCESS, 1L << 40),
                new Track(Track.Kind.DEVICE, "device", Track.PROCESS, 0),
                new Track(Track.Kind.STREAM, "s", 4, 0),
                new Track(Track.Kind.STREAM, "t", 4, 0));
        ChromeTrace trace = ChromeTrace.of(onDevice(tracks, List.of()));

        assertThat(trace.rowNames()).hasSize(7);
        assertThat(trace.spans().stream().map(ChromeTrace.Row::of))
                .doesNotHaveDuplicates()
                .containsExactlyInAnyOrderElementsOf(trace.rowNames().keySet());
        assertThat(trace.rowNames()).containsEntry(new ChromeTrace.Row(4711, 7), "a");
        assertThat(trace.of("X", "kernel"))
                .extracting(span -> span.get("args").get("stream").longValue())
                .as("a track that is not a stream has a number that no stream has")
                .containsExactly(1L, 0L, 0L);
    }

    @Test
    void aDeviceThatHasEventsOnItsStreamsOnlyHasNoRowOfItsOwn() throws IOException {
        assertThat(ChromeTrace.of(FixedTimeline.sample()).rowNames().values())
                .containsExactlyInAnyOrder("main", "worker-1", "worker-1 (lane 2)", "stream 7", "stream 8");
    }

    @Test
    void countersOfOneNameStayApart() throws IOException {
        FixedTimeline timeline = new FixedTimeline(
                FixedTimeline.someInfo(),
                List.of(),
                List.of(
                        new Track(Track.Kind.COUNTER, "c", Track.PROCESS, 0, "bytes"),
                        new Track(Track.Kind.COUNTER, "c", Track.PROCESS, 1, "bytes"),
                        new Track(Track.Kind.DEVICE, "d", Track.PROCESS, 0),
                        new Track(Track.Kind.COUNTER, "c", 2, 0)),
                List.of(
                        List.of(Event.value(1, 2.5), Event.value(2, Double.NaN), Event.value(3, 1e300)),
                        List.of(Event.value(1, Double.POSITIVE_INFINITY), Event.value(2, -0.5)),
                        List.of(),
                        List.of(Event.value(1, 7))));

        assertThat(ChromeTrace.of(timeline).of("C"))
                .extracting(value -> value.get("pid") + " " + value.get("name").textValue() + " "
                        + value.get("args").get("value").doubleValue())
                .containsExactly(
                        "4711 c [bytes] 2.5", "4711 c [bytes] 1.0E300", "4711 c [bytes] (track 1) -0.5", "0 c 7.0");
    }

    @Test
    void aTimelineThatBreaksItsRulesIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ChromeTrace.of(FixedTimeline.ofOneThread(Event.span(1, 2, -1))))
                .withMessage("name -1 of 3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ChromeTrace.of(FixedTimeline.ofOneThread(Event.value(1, 2))))
                .withMessage("a value on the track main");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ChromeWriter.write(
                        new UnsortedTimeline(FixedTimeline.ofOneThread()), new ByteArrayOutputStream()))
                .withMessage("an event at 4 ns after one at 5 ns on the track main");
    }

    @Test
    void aFailureIsToldAsItIsAndTheTimelineIsWrittenAtTheNextTry() throws IOException {
        FixedTimeline timeline = FixedTimeline.sample();
        String whole = ChromeTrace.of(timeline).text;

        for (int bytes : Stream.of(0, 1 << 20).toList()) {
            assertThatIOException()
                    .isThrownBy(() -> ChromeWriter.write(new ManySpans(100_000), new FullDisk(bytes)))
                    .withMessage("No space left on device");
        }
        assertThatIOException().isThrownBy(() -> ChromeWriter.write(timeline, new FullDisk(100)));

        assertThat(ChromeTrace.of(timeline).text).isEqualTo(whole);
    }
}
