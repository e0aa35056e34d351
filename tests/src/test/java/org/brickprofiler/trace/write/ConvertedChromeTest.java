package org.brickprofiler.trace.write;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.Omissions;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceReader;
import org.brickprofiler.trace.read.TraceTimeline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Traces of other programs, written in Chrome's format again: the same connections join their events. */
final class ConvertedChromeTest {

    private static final Path TRACES = SourceTree.path("readers", "src", "test", "resources", "traces");
    private static final String BANDWIDTH = "memory bandwidth (GB/s)";

    private static TraceTimeline read(byte[] trace) throws IOException {
        return TraceReader.timeline(new ByteArrayInputStream(trace), ReadOptions.defaults());
    }

    private static TraceTimeline read(String... events) throws IOException {
        return read(("{\"traceEvents\": [" + String.join(", ", events) + "]}").getBytes(UTF_8));
    }

    private static ChromeTrace converted(TraceTimeline reading) throws IOException {
        return ChromeTrace.of(reading.timeline(), TraceFiles.Origin.OTHER);
    }

    private static ChromeTrace convertedThroughPerfetto(TraceTimeline reading) throws IOException {
        ByteArrayOutputStream perfetto = new ByteArrayOutputStream();
        PerfettoWriter.write(reading.timeline(), perfetto, TraceFiles.Origin.OTHER);
        return converted(read(perfetto.toByteArray()));
    }

    private static String slice(String name, String category, int pid, int tid, int ts, String args) {
        return "{\"ph\": \"X\", \"name\": \"%s\", \"cat\": \"%s\", \"pid\": %d, \"tid\": %d, \"ts\": %d, \"dur\": 4, \"args\": {%s}}"
                .formatted(name, category, pid, tid, ts, args);
    }

    private static String kernel(String name, int ts, int correlation) {
        return slice(name, "kernel", 0, 7, ts, "\"device\": 0, \"stream\": 7, \"correlation\": " + correlation);
    }

    private static String call(String name, int ts, int correlation) {
        return slice(name, "cuda_runtime", 900, 900, ts, "\"correlation\": " + correlation);
    }

    private static String flow(String phase, String category, String name, int id, int pid, int tid, int ts) {
        return "{\"ph\": \"%s\", \"cat\": \"%s\", \"name\": \"%s\", \"id\": %d, \"pid\": %d, \"tid\": %d, \"ts\": %d%s}"
                .formatted(phase, category, name, id, pid, tid, ts, phase.equals("f") ? ", \"bp\": \"e\"" : "");
    }

    // ---- flows ----

    /** Both kinds count their identifiers from 1. */
    @Test
    void aFlowKeepsItsKind() throws IOException {
        TraceTimeline reading = read(
                slice("aten::mm", "cpu_op", 900, 900, 10, ""), flow("s", "fwdbwd", "fwdbwd", 1, 900, 900, 10),
                call("cudaLaunchKernel", 20, 1), flow("s", "async_cpu_to_gpu", "async_gpu", 1, 900, 900, 20),
                slice("MmBackward0", "cpu_op", 900, 901, 30, ""), flow("f", "fwdbwd", "fwdbwd", 1, 900, 901, 30),
                kernel("gemm", 40, 1), flow("f", "async_cpu_to_gpu", "async_gpu", 1, 0, 7, 40));

        ChromeTrace trace = converted(reading);

        assertThat(arrows(trace))
                .containsExactlyInAnyOrder(
                        "fwdbwd/fwdbwd: aten::mm -> MmBackward0",
                        "async_cpu_to_gpu/async_gpu: cudaLaunchKernel -> gemm");
        assertThat(trace.events).extracting(event -> event.path("cat").asText()).doesNotContain("ac2g");
        assertThat(correlations(trace)).containsExactly("cudaLaunchKernel 1", "gemm 1");
        assertThat(Omissions.unkept(reading)).isEmpty();
    }

    @Test
    void aLaunchOfManyKernelsLeadsToEach() throws IOException {
        TraceTimeline reading = read(
                flow("f", "ac2g", "ac2g", 5, 0, 7, 40), kernel("first", 40, 5),
                call("cudaGraphLaunch", 20, 5), flow("s", "ac2g", "ac2g", 5, 900, 900, 20),
                kernel("second", 50, 5), flow("f", "ac2g", "ac2g", 5, 0, 7, 50),
                kernel("third", 60, 5), flow("f", "ac2g", "ac2g", 5, 0, 7, 60));

        for (ChromeTrace trace : List.of(converted(reading), convertedThroughPerfetto(reading))) {
            assertThat(correlations(trace)).containsExactly("cudaGraphLaunch 5", "first 5", "second 5", "third 5");
            assertThat(arrows(trace)).hasSize(3).allSatisfy(arrow -> assertThat(arrow)
                    .contains(": cudaGraphLaunch -> "));
        }
        assertThat(arrows(converted(reading)))
                .containsExactlyInAnyOrder(
                        "ac2g/ac2g: cudaGraphLaunch -> first",
                        "ac2g/ac2g: cudaGraphLaunch -> second",
                        "ac2g/ac2g: cudaGraphLaunch -> third");
        assertThat(Omissions.unkept(reading)).isEmpty();
    }

    @Test
    void anIdentifierThatIsUsedAgainIsAnotherFlow() throws IOException {
        TraceTimeline startsFirst = read(
                call("a", 0, 1),
                flow("s", "x", "x", 1, 900, 900, 0),
                kernel("a1", 10, 1),
                flow("f", "x", "x", 1, 0, 7, 10),
                kernel("a2", 20, 1),
                flow("f", "x", "x", 1, 0, 7, 20),
                call("b", 30, 2),
                flow("s", "x", "x", 1, 900, 900, 30),
                kernel("b1", 40, 2),
                flow("f", "x", "x", 1, 0, 7, 40));
        TraceTimeline endsFirst = read(
                kernel("a1", 10, 1),
                flow("f", "x", "x", 1, 0, 7, 10),
                kernel("a2", 20, 1),
                flow("f", "x", "x", 1, 0, 7, 20),
                call("a", 0, 1),
                flow("s", "x", "x", 1, 900, 900, 0),
                kernel("b1", 40, 2),
                flow("f", "x", "x", 1, 0, 7, 40),
                call("b", 30, 2),
                flow("s", "x", "x", 1, 900, 900, 30));

        for (TraceTimeline reading : List.of(startsFirst, endsFirst)) {
            assertThat(arrows(converted(reading)))
                    .containsExactlyInAnyOrder("x/x: a -> a1", "x/x: a -> a2", "x/x: b -> b1");
            assertThat(Omissions.unkept(reading)).isEmpty();
        }
    }

    /** Perfetto's format has no place for the kind of a flow. */
    @Test
    void aFlowWithoutAKindIsNoLaunch() throws IOException {
        TraceTimeline reading = read(
                slice("a", "cpu_op", 900, 900, 10, ""), flow("s", "fwdbwd", "fwdbwd", 1, 900, 900, 10),
                slice("b", "cpu_op", 900, 901, 30, ""), flow("f", "fwdbwd", "fwdbwd", 1, 900, 901, 30));

        assertThat(arrows(convertedThroughPerfetto(reading))).containsExactly("flow/flow: a -> b");
    }

    /** For a launch of several kernels, Kineto writes no start of a flow, but an end at the call itself. */
    @Test
    void endsWithoutAStartAreCounted() throws IOException {
        TraceTimeline reading = read(
                call("hipGraphLaunch", 20, 5), flow("f", "ac2g", "ac2g", 5, 900, 900, 20),
                kernel("first", 40, 5), flow("f", "ac2g", "ac2g", 5, 0, 7, 40),
                kernel("second", 50, 5), flow("f", "ac2g", "ac2g", 5, 0, 7, 50));

        assertThat(arrows(converted(reading))).isEmpty();
        assertThat(Omissions.unkept(reading)).isEqualTo(Map.of(Reason.LOOSE_FLOW, 3L));
        assertThat(correlations(converted(reading))).containsExactly("hipGraphLaunch 5", "first 5", "second 5");
    }

    /** Each arrow: its kind, and the slices that begin at its ends. */
    private static List<String> arrows(ChromeTrace trace) {
        List<String> arrows = new ArrayList<>();
        for (JsonNode end : trace.of("f")) {
            for (JsonNode start : trace.of("s")) {
                if (start.get("id").equals(end.get("id")) && start.get("cat").equals(end.get("cat"))) {
                    assertThat(end.get("name")).isEqualTo(start.get("name"));
                    arrows.add(end.get("cat").asText() + "/" + end.get("name").asText() + ": " + at(trace, start)
                            + " -> " + at(trace, end));
                }
            }
        }
        return arrows;
    }

    private static String at(ChromeTrace trace, JsonNode flow) {
        return trace.spans().stream()
                .filter(slice -> List.of("pid", "tid", "ts").stream()
                        .allMatch(key -> slice.get(key).equals(flow.get(key))))
                .map(slice -> slice.get("name").asText())
                .findFirst()
                .orElseThrow();
    }

    private static List<String> correlations(ChromeTrace trace) {
        return trace.spans().stream()
                .filter(slice -> slice.get("args").has("correlation"))
                .map(slice ->
                        slice.get("name").asText() + " " + slice.get("args").get("correlation"))
                .toList();
    }

    // ---- correlations ----

    @ParameterizedTest
    @ValueSource(strings = {"kineto-simple-add", "vllm-decode-graph"})
    void theCorrelationOfEachEventIsTheOriginals(String name) throws IOException {
        Path file = TRACES.resolve(name + ".json.gz");
        List<JsonNode> original = new ArrayList<>();
        try (InputStream json = new GZIPInputStream(Files.newInputStream(file))) {
            ObjectMapper parser = new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
            parser.readTree(json).get("traceEvents").forEach(original::add);
            original.removeIf(event -> !event.path("ph").asText().equals("X"));
        }

        try (TraceTimeline reading = TraceReader.timeline(file, ReadOptions.defaults())) {
            for (ChromeTrace trace : List.of(converted(reading), convertedThroughPerfetto(reading))) {
                assertThat(joined(trace.spans())).containsExactlyInAnyOrderElementsOf(joined(original));
                assertThat(trace.spans())
                        .noneSatisfy(event ->
                                assertThat(event.get("args").has("External id")).isTrue());
            }
        }
    }

    /** Returns the category, times and correlation of each event. Names are left out because they may be cut. */
    private static List<List<Object>> joined(List<JsonNode> events) {
        long firstNs = events.stream()
                .mapToLong(event -> ChromeTrace.ns(event.get("ts")))
                .min()
                .orElseThrow();
        // Some readers round to microseconds.
        long baseNs = firstNs - firstNs % 1_000;
        return events.stream()
                .map(event -> List.<Object>of(
                        event.get("cat").asText(),
                        ChromeTrace.ns(event.get("ts")) - baseNs,
                        ChromeTrace.ns(event.get("dur")),
                        event.path("args").path("correlation").asLong(-1)))
                .toList();
    }

    @Test
    void roundingToMicrosecondsGivesTheSameTimes() throws IOException {
        TraceTimeline reading = read(
                slice("a", "cpu_op", 900, 900, 5, "").replace("\"ts\": 5", "\"ts\": 5.250"),
                slice("b", "cpu_op", 900, 900, 9, "").replace("\"ts\": 9", "\"ts\": 9.125"));

        assertThat(converted(reading).spans())
                .extracting(slice -> ChromeTrace.ns(slice.get("ts")))
                .containsExactly(250L, 4_125L);
    }

    @Test
    void theLaunchOfAGraphKeepsItsKernels() throws IOException {
        try (TraceTimeline reading =
                TraceReader.timeline(TRACES.resolve("vllm-decode-graph.json.gz"), ReadOptions.defaults())) {
            ChromeTrace trace = converted(reading);
            JsonNode launch = trace.of("X", "cuda_runtime").stream()
                    .filter(call -> call.get("name").asText().equals("hipGraphLaunch"))
                    .findFirst()
                    .orElseThrow();

            assertThat(trace.of("X", "kernel"))
                    .filteredOn(kernel -> kernel.get("args")
                            .get("correlation")
                            .equals(launch.get("args").get("correlation")))
                    .hasSize(421);
        }
    }

    @Test
    void aCorrelationThatIsNoNumberIsCounted() throws IOException {
        TraceTimeline reading = read(
                slice("a", "cuda_runtime", 900, 900, 10, "\"correlation\": -4"),
                slice("b", "cuda_runtime", 900, 900, 20, "\"correlation\": \"first\""),
                slice("c", "cuda_runtime", 900, 900, 30, "\"correlation\": 0"),
                slice("d", "cuda_runtime", 900, 900, 40, "\"correlation\": 7, \"device_ns\": 3"));

        assertThat(correlations(converted(reading))).containsExactly("c 0");
        assertThat(Omissions.arguments(reading)).isEqualTo(Map.of("correlation", 3L));
    }

    // ---- copies ----

    @Test
    void theBytesOfCopiesAreKept() throws IOException {
        TraceTimeline reading = read(
                slice(
                        "Memcpy HtoD (Pinned -> Device)",
                        "gpu_memcpy",
                        0,
                        7,
                        10,
                        "\"device\": 0, \"stream\": 7, \"bytes\": 4096, \"" + BANDWIDTH + "\": 1.024"),
                slice(
                        "Memset (Device)",
                        "gpu_memset",
                        0,
                        7,
                        20,
                        "\"device\": 0, \"stream\": 7, \"bytes\": 100, \"" + BANDWIDTH + "\": 0.0271"),
                slice("cudaMemcpyAsync", "cuda_runtime", 900, 900, 5, "\"bytes\": 4096"));

        for (ChromeTrace trace : List.of(converted(reading), convertedThroughPerfetto(reading))) {
            assertThat(trace.of("X", "gpu_memcpy")).singleElement().satisfies(copy -> {
                assertThat(copy.get("args").get("bytes").asLong()).isEqualTo(4_096);
                assertThat(copy.get("args").get(BANDWIDTH).asDouble()).isCloseTo(1.024, within(1e-9));
                assertThat(copy.get("args").has("elements")).isFalse();
            });
            assertThat(trace.of("X", "gpu_memset")).singleElement().satisfies(fill -> {
                assertThat(fill.get("args").get("bytes").asLong()).isEqualTo(100);
                assertThat(fill.get("args").get(BANDWIDTH).asDouble()).isCloseTo(0.025, within(1e-9));
            });
        }
        // The bandwidth that does not follow from bytes and duration, and the bytes of a call.
        assertThat(Omissions.arguments(reading)).isEqualTo(Map.of(BANDWIDTH, 1L, "bytes", 1L));
    }

    // ---- rows ----

    /** Kineto gives it no stream either; with one, readers would count it as work. */
    @Test
    void anAnnotationOnADeviceHasNoStream() throws IOException {
        TraceTimeline reading = read(
                kernel("k", 10, 1),
                call("cudaLaunchKernel", 5, 1),
                call("cudaLaunchKernel", 6, 2),
                slice("forward", "gpu_user_annotation", 0, 7, 9, ""),
                slice("backward", "gpu_user_annotation", 0, 7, 19, "\"device\": 0, \"stream\": 7"));

        assertThat(converted(reading).of("X", "gpu_user_annotation")).hasSize(2).allSatisfy(slice -> {
            assertThat(slice.get("pid").asLong()).isZero();
            assertThat(slice.get("tid").asLong()).isEqualTo(7);
            assertThat(slice.get("args").has("stream")).isFalse();
        });
        assertThat(Omissions.arguments(reading)).isEqualTo(Map.of("device", 1L, "stream", 1L));
    }

    @Test
    void aWaitKeepsItsStreamOnAnyRow() throws IOException {
        TraceTimeline reading = read(
                kernel("k", 10, 1),
                slice("Context Sync", "cuda_sync", 0, -1, 20, "\"device\": 0, \"stream\": 4294967295"),
                call("cudaLaunchKernel", 5, 1),
                call("cudaDeviceSynchronize", 20, 2));

        assertThat(converted(reading).of("X", "cuda_sync")).singleElement().satisfies(wait -> assertThat(
                        wait.get("args").get("stream").asLong())
                .isEqualTo(4_294_967_295L));
        assertThat(Omissions.unkept(reading)).isEmpty();
    }

    @Test
    void aThreadIsNoStreamIfItsProcessHasTheNumberOfADevice() throws IOException {
        TraceTimeline reading = read(
                kernel("k", 10, 1),
                call("cudaLaunchKernel", 5, 1),
                call("cudaLaunchKernel", 6, 2),
                slice("threading.py: run", "python_function", 0, 0, 5, ""));

        assertThat(converted(reading).of("X", "python_function"))
                .singleElement()
                .satisfies(slice -> assertThat(slice.get("args").has("stream")).isFalse());
        assertThat(Omissions.unkept(reading)).isEqualTo(Map.of(Reason.PROCESS, 1L));
    }
}
