package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.brickprofiler.Backend;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceProfile;
import org.brickprofiler.trace.read.TraceReader;
import org.brickprofiler.trace.read.TraceTimeline;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The patterns of Holistic Trace Analysis, in a trace of a simulated device; the patterns are its own. */
@Spec("13.9")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SimulatedDeviceTraceTest {

    private static final Pattern COMMUNICATION = Pattern.compile("(^nccl.*)|(^hip)|(^hccl)|(.*ncclKernel.*)");
    private static final Pattern MEMORY = Pattern.compile("(^(hip)?Memcpy)|(^(hip)?Memset)|(^dma)");
    private static final int BRICKS = SimulatedDeviceTrace.PASSES * SimulatedDeviceTrace.BRICKS_OF_A_PASS;

    private ChromeTrace trace;
    private List<JsonNode> onDevice;

    @BeforeAll
    void record() throws IOException {
        trace = ChromeTrace.of(SimulatedDeviceTrace.timeline());
        onDevice = trace.of("X").stream()
                .filter(event -> event.get("args").has("stream"))
                .toList();
    }

    private static long argument(JsonNode event, String name) {
        return event.get("args").path(name).asLong(-1);
    }

    /** Readers of traces interpret stream 0 as no stream. */
    @Test
    void streamsAreNumberedAsCudaDoes() {
        assertThat(onDevice).hasSize(BRICKS);
        assertThat(onDevice.stream().map(event -> argument(event, "stream")).collect(Collectors.toSet()))
                .containsExactlyInAnyOrder(7L, 8L);
        assertThat(onDevice)
                .allSatisfy(event -> assertThat(event.get("tid").asLong()).isEqualTo(argument(event, "stream")));
    }

    /** Holistic Trace Analysis pairs calls and work by correlation, and knows only calls of these names. */
    @Test
    void eachKernelHasItsOwnLaunch() {
        Map<Long, String> launches = new HashMap<>();
        for (JsonNode launch : trace.of("X", "cuda_runtime")) {
            String call = launch.get("name").asText();
            assertThat(launches.put(argument(launch, "correlation"), call)).isNull();
        }

        assertThat(launches).hasSize(BRICKS);
        Set<Long> paired = new HashSet<>();
        for (JsonNode work : onDevice) {
            long correlation = argument(work, "correlation");
            assertThat(paired.add(correlation)).isTrue();
            assertThat(launches.get(correlation))
                    .isEqualTo(work.get("cat").asText().equals("gpu_memcpy") ? "cudaMemcpyAsync" : "cudaLaunchKernel");
        }
    }

    @Test
    void collectivesAreKnownAsSuch() {
        List<JsonNode> collectives = onDevice.stream()
                .filter(event -> event.get("args").get("category").asText().equals("Communication"))
                .toList();

        assertThat(collectives)
                .hasSize(SimulatedDeviceTrace.PASSES * SimulatedDeviceTrace.LAYERS)
                .allSatisfy(event -> {
                    assertThat(event.get("name").asText())
                            .isEqualTo("nccl:AllReduce")
                            .matches(COMMUNICATION);
                    assertThat(event.get("args").get("brick").asText()).isEqualTo("AllReduce");
                });
        assertThat(onDevice)
                .filteredOn(event -> !collectives.contains(event))
                .noneSatisfy(event -> assertThat(event.get("name").asText()).matches(COMMUNICATION));
    }

    @Test
    void copiesHaveBytesAndBandwidth() {
        assertThat(trace.of("X", "gpu_memcpy"))
                .hasSize(2 * SimulatedDeviceTrace.PASSES)
                .allSatisfy(copy -> {
                    boolean isIn = copy.get("args").get("brick").asText().equals("HostToDevice");
                    long bytes = isIn ? SimulatedDeviceTrace.BYTES_IN : SimulatedDeviceTrace.BYTES_OUT;
                    assertThat(copy.get("name").asText())
                            .isEqualTo(isIn ? "Memcpy HtoD" : "Memcpy DtoH")
                            .containsPattern(MEMORY);
                    assertThat(argument(copy, "bytes"))
                            .isEqualTo(argument(copy, "elements"))
                            .isEqualTo(bytes);
                    assertThat(copy.get("args").get("memory bandwidth (GB/s)").asDouble())
                            .isCloseTo(
                                    (double) bytes / (isIn ? SimulatedDeviceTrace.NS_IN : SimulatedDeviceTrace.NS_OUT),
                                    within(1e-9));
                });
        assertThat(trace.of("X", "kernel"))
                .noneSatisfy(
                        kernel -> assertThat(kernel.get("args").has("bytes")).isTrue());
    }

    /** Holistic Trace Analysis looks for an operator of that prefix around a launch, and fails if there is none. */
    @Test
    void anOperatorIsAroundEachLaunch() {
        List<JsonNode> operators = trace.of("X", "cpu_op").stream()
                .filter(event -> event.get("name").asText().startsWith("aten::"))
                .toList();

        assertThat(operators).hasSize(BRICKS).allSatisfy(operator -> assertThat(
                        operator.get("args").get("derived").booleanValue())
                .isTrue());
        for (JsonNode launch : trace.of("X", "cuda_runtime")) {
            assertThat(operators)
                    .filteredOn(operator -> List.of("ts", "dur", "pid", "tid").stream()
                            .allMatch(key -> operator.get(key).equals(launch.get(key))))
                    .hasSize(1);
        }
    }

    @Test
    void aRankIsThereThoughNobodyGaveOne() throws IOException {
        assertThat(trace.text).containsPattern("\"rank\":\\s+0");

        TraceTimeline again = read(trace);
        assertThat(again.timeline().info().rank()).isEmpty();
        assertThat(again.timeline().info().worldSize()).isEqualTo(1);
    }

    @Test
    void itsProfileHasTheNamesOfTheBricks() throws IOException {
        TraceProfile profile = TraceReader.profile(bytes(trace), ReadOptions.defaults());

        assertThat(profile.snapshot().bricks())
                .extracting(brick -> brick.name())
                .contains("AllReduce", "HostToDevice", "DeviceToHost")
                .noneMatch(name -> name.startsWith("nccl") || name.startsWith("Mem") || name.startsWith("aten"));
        assertThat(profile.snapshot().brick("HostToDevice").orElseThrow().totalElements())
                .isEqualTo(SimulatedDeviceTrace.PASSES * SimulatedDeviceTrace.BYTES_IN);
    }

    /** On other devices, a collective is not NCCL's, nor a copy CUDA's. */
    @Test
    void onOtherDevicesNamesAreTheBricks() throws IOException {
        FakeClock clock = new FakeClock();
        TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
        SimulatedStream stream =
                new SimulatedStream(new SpanSink.Place(Backend.METAL.name(), 0, "simulated M2", "queue", 0), clock, 64);
        BrickProfiler profiler = BrickProfiler.builder()
                .clock(clock)
                .tracing(recorder)
                .deviceStream(stream)
                .build();
        profiler.enable();
        profiler.stopBrick(profiler.startBrick(BrickId.ALL_REDUCE), 1);
        profiler.endPass();

        ChromeTrace written = ChromeTrace.of(recorder.timeline());

        assertThat(written.of("X", "kernel")).singleElement().satisfies(work -> {
            assertThat(work.get("name").asText()).isEqualTo("AllReduce");
            assertThat(work.get("args").has("brick")).isFalse();
        });
        assertThat(written.text).doesNotContain("aten::").doesNotContain("cuda");
    }

    private static TraceTimeline read(ChromeTrace written) throws IOException {
        return TraceReader.timeline(bytes(written), ReadOptions.defaults());
    }

    private static ByteArrayInputStream bytes(ChromeTrace written) {
        return new ByteArrayInputStream(written.text.getBytes(StandardCharsets.UTF_8));
    }
}
