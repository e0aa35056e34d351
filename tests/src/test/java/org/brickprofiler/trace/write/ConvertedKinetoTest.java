package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.brickprofiler.trace.write.proto.PerfettoTrace.TrackEvent.Type.TYPE_INSTANT;
import static org.brickprofiler.trace.write.proto.PerfettoTrace.TrackEvent.Type.TYPE_SLICE_BEGIN;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.Omissions;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceProfile;
import org.brickprofiler.trace.read.TraceReader;
import org.brickprofiler.trace.read.TraceTimeline;
import org.brickprofiler.trace.write.PerfettoDecoder.Decoded;
import org.brickprofiler.trace.write.proto.PerfettoTrace.TrackDescriptor;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * A trace of PyTorch as a Perfetto trace: the content of the one, read by protobuf's generated classes, is compared
 * with that of the other, read by Jackson.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ConvertedKinetoTest {

    private static final Path KINETO =
            SourceTree.path("readers", "src", "test", "resources", "traces", "kineto-simple-add.json.gz");

    /** The process of the host in that trace; devices have smaller numbers. */
    private static final String HOST = "493459";

    /** The arguments that a timeline has a place for. */
    private static final Set<String> KEPT = Set.of("bytes", "correlation", "device", "stream");

    private final List<JsonNode> before = new ArrayList<>();
    private TraceTimeline reading;
    private byte[] converted;
    private PerfettoDecoder after;

    /** A slice as both formats have it. */
    private record Slice(String name, String category, long startNs, long endNs) {}

    @BeforeAll
    void convert() throws IOException {
        ObjectMapper parser = new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
        try (InputStream json = new GZIPInputStream(Files.newInputStream(KINETO))) {
            parser.readTree(json).get("traceEvents").forEach(before::add);
        }
        reading = TraceReader.timeline(KINETO, ReadOptions.defaults());
        converted = written(PerfettoWriter::write);
        after = PerfettoDecoder.decode(converted);
    }

    /** One of the writers. */
    private interface Writer {
        void write(Timeline timeline, OutputStream out, TraceFiles.Origin origin) throws IOException;
    }

    private byte[] written(Writer writer) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        writer.write(reading.timeline(), out, TraceFiles.Origin.OTHER);
        return out.toByteArray();
    }

    private List<JsonNode> before(String phase) {
        return before.stream()
                .filter(event -> event.get("ph").textValue().equals(phase))
                .toList();
    }

    private static Slice slice(JsonNode event) {
        long startNs = ChromeTrace.ns(event.get("ts"));
        return new Slice(
                event.get("name").textValue(),
                event.get("cat").textValue(),
                startNs,
                startNs + ChromeTrace.ns(event.get("dur")));
    }

    private static Slice slice(Decoded slice) {
        return new Slice(slice.name(), slice.category(), slice.startNs(), slice.endNs());
    }

    @Test
    void everySliceIsThereWithNameCategoryAndTimes() {
        List<Slice> slices =
                before("X").stream().map(ConvertedKinetoTest::slice).toList();
        List<Slice> whole =
                slices.stream().filter(slice -> slice.name().length() <= 2_000).toList();

        assertThat(whole).hasSize(slices.size() - 1);
        assertThat(Omissions.unkept(reading)).containsEntry(Reason.LONG_NAME, 1L);
        assertThat(after.of(TYPE_SLICE_BEGIN)).hasSize(838);
        assertThat(after.of(TYPE_SLICE_BEGIN).stream().map(ConvertedKinetoTest::slice))
                .containsAll(whole);
        assertThat(after.of(TYPE_INSTANT))
                .extracting(Decoded::name)
                .containsExactlyInAnyOrderElementsOf(before("i").stream()
                        .map(event -> event.get("name").textValue())
                        .toList());
    }

    /** The decoder fails if slices of a track do not nest, so it remains to check that they are on the right tracks. */
    @Test
    void slicesAreOnTheTrackOfTheirThreadOrStream() {
        Map<String, List<Long>> startsBefore = new HashMap<>();
        for (JsonNode event : before("X")) {
            String row = event.get("pid").asText() + "/" + event.get("tid").asText();
            startsBefore.computeIfAbsent(row, any -> new ArrayList<>()).add(ChromeTrace.ns(event.get("ts")));
        }
        Map<String, List<Long>> startsAfter = new HashMap<>();
        for (Decoded slice : after.of(TYPE_SLICE_BEGIN)) {
            TrackDescriptor track = track(slice.track());
            TrackDescriptor shown =
                    track.getName().matches(".* \\(lane \\d+\\)") ? track(track.getParentUuid()) : track;
            startsAfter
                    .computeIfAbsent(shown.getName(), any -> new ArrayList<>())
                    .add(slice.startNs());
        }

        assertThat(startsAfter).hasSize(5);
        assertSame(startsAfter, "thread 493459 (python3.10)", startsBefore, HOST + "/" + HOST);
        assertSame(startsAfter, "stream 7 ", startsBefore, "0/7");
        assertSame(startsAfter, "stream 20 ", startsBefore, "0/20");
        assertSame(startsAfter, "Device 0", startsBefore, "0/-1");
        assertSame(startsAfter, "Spans: PyTorch Profiler", startsBefore, "Spans/PyTorch Profiler");
    }

    private static void assertSame(
            Map<String, List<Long>> after, String track, Map<String, List<Long>> before, String row) {
        assertThat(after.get(track))
                .as(track)
                .isNotEmpty()
                .containsExactlyInAnyOrderElementsOf(before.getOrDefault(row, List.of()));
    }

    private TrackDescriptor track(long uuid) {
        return after.tracks.getOrDefault(uuid, TrackDescriptor.getDefaultInstance());
    }

    @Test
    void streamsAreBelowTheirDeviceAndItBelowTheProcess() {
        TrackDescriptor device = track("GPU 0 NVIDIA A100-PG509-200");

        assertThat(track(device.getParentUuid()).getProcess().getPid()).isEqualTo(493_459);
        assertThat(track(device.getParentUuid()).getProcess().getProcessName()).isEqualTo("python3.10");
        for (String stream : List.of("stream 7 ", "stream 20 ", "Device 0")) {
            assertThat(track(stream).getParentUuid()).as(stream).isEqualTo(device.getUuid());
        }
        assertThat(after.of(TYPE_SLICE_BEGIN))
                .filteredOn(slice -> slice.category().equals("kernel"))
                .hasSize(79)
                .allSatisfy(kernel -> assertThat(kernel.annotations()).containsEntry("device", 0L));
    }

    private TrackDescriptor track(String name) {
        return after.tracks.values().stream()
                .filter(track -> track.getName().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError(name + " is no track"));
    }

    /** A launch and the work that it launched have the same correlation. */
    @Test
    void aFlowLeadsFromEachLaunchToItsWork() {
        Map<Long, Decoded> launches = new HashMap<>();
        Map<Long, Decoded> launched = new HashMap<>();
        for (Decoded slice : after.of(TYPE_SLICE_BEGIN)) {
            slice.flows().forEach(flow -> launches.put(flow, slice));
            slice.terminatingFlows().forEach(flow -> launched.put(flow, slice));
        }
        List<List<Long>> pairs = launches.keySet().stream()
                .map(flow -> List.of(startNs(launches, flow), startNs(launched, flow)))
                .toList();

        assertThat(pairs).hasSize(139).containsExactlyInAnyOrderElementsOf(expectedPairs());
        assertThat(Omissions.unkept(reading))
                .containsEntry(Reason.LOOSE_FLOW, 192L)
                .doesNotContainKey(Reason.FURTHER_FLOW);
    }

    private static long startNs(Map<Long, Decoded> slices, long flow) {
        Decoded slice = slices.get(flow);
        return slice == null ? -1 : slice.startNs();
    }

    private List<List<Long>> expectedPairs() {
        Map<Long, Long> starts = new HashMap<>();
        before("s").forEach(flow -> starts.put(flow.get("id").longValue(), ChromeTrace.ns(flow.get("ts"))));
        return before("f").stream()
                .filter(flow -> !flow.get("pid").asText().equals(HOST))
                .map(flow ->
                        List.of(starts.getOrDefault(flow.get("id").longValue(), -1L), ChromeTrace.ns(flow.get("ts"))))
                .toList();
    }

    @Test
    void omittedPartsAreCounted() {
        long arguments = before("X").stream()
                .map(event -> event.path("args"))
                .mapToLong(args -> args.size() - KEPT.stream().filter(args::has).count())
                .sum();
        // That version of Kineto computed bandwidths from finer times than those in its files.
        assertThat(Omissions.arguments(reading)).containsEntry("memory bandwidth (GB/s)", 19L);

        assertThat(Omissions.unkept(reading))
                .containsEntry(Reason.ARGUMENT, arguments)
                .containsEntry(Reason.FIELD, 2L)
                .containsEntry(Reason.PROCESS, 3L)
                .hasSize(5);
        assertThat(Omissions.arguments(reading))
                .containsEntry("External id", 837L)
                .doesNotContainKeys("bytes", "correlation");
        assertThat(Omissions.faults(reading.omissions())).isEmpty();
        assertThat(reading.isOwn()).isFalse();
    }

    @Test
    void itsProfileIsThatOfTheOriginal() throws IOException {
        TraceProfile original = TraceReader.profile(KINETO);

        for (byte[] trace : List.of(converted, written(ChromeWriter::write))) {
            TraceProfile same = TraceReader.profile(new ByteArrayInputStream(trace), ReadOptions.defaults());
            assertThat(same.counting()).isEqualTo(original.counting());
            assertThat(same.eventsCounted()).isEqualTo(original.eventsCounted());
            assertThat(same.busyNs()).isEqualTo(original.busyNs());
            assertThat(same.wallNs()).isEqualTo(original.wallNs());
            assertThat(figures(same)).containsExactlyInAnyOrderElementsOf(figures(original));
            assertThat(same.snapshot().startedAt())
                    .isEqualTo(original.snapshot().startedAt());
        }
    }

    private static List<List<Object>> figures(TraceProfile reading) {
        return reading.snapshot().bricks().stream()
                .map(brick -> List.<Object>of(
                        brick.name(),
                        brick.category(),
                        brick.count(),
                        brick.totalNs(),
                        brick.minNs(),
                        brick.maxNs(),
                        brick.totalBytes()))
                .toList();
    }

    @Test
    void theConvertedTraceConvertsBack() throws IOException {
        TraceTimeline again = TraceReader.timeline(new ByteArrayInputStream(converted), ReadOptions.defaults());

        assertThat(Omissions.unkept(again)).containsOnlyKeys(Reason.LONG_NAME);
        assertThat(again.events()).isEqualTo(reading.events());
        assertThat(RereadTimeline.of(again.timeline()).events())
                .containsExactlyInAnyOrderElementsOf(
                        RereadTimeline.of(reading.timeline()).events());
        assertThat(RereadTimeline.of(again.timeline()).flows())
                .isEqualTo(RereadTimeline.of(reading.timeline()).flows());
    }
}
