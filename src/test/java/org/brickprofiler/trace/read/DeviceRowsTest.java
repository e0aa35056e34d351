package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.brickprofiler.BrickStats;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.Track;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.write.PerfettoWriter;
import org.brickprofiler.trace.write.TraceFiles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Traces of programs that show devices in another way than Kineto. */
final class DeviceRowsTest {

    private static String process(int pid, String name) {
        return "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"%s\"}}".formatted(pid, name);
    }

    private static String thread(int pid, int tid, String name) {
        return "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}"
                .formatted(pid, tid, name);
    }

    private static String slice(String name, int pid, int tid, long ts, long dur) {
        return "{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"dur\":%d}"
                .formatted(name, pid, tid, ts, dur);
    }

    private static Map<String, Long> us(TraceProfile reading) {
        Map<String, Long> sums = new TreeMap<>();
        for (BrickStats brick : reading.snapshot().bricks()) {
            sums.put(brick.name(), brick.totalNs() / 1_000);
        }
        return sums;
    }

    private static TraceProfile read(List<String> events) throws IOException {
        return Traces.read(Traces.array(events.toArray(String[]::new)));
    }

    /** As JAX writes it: the same work as kernels, operations, modules and steps, and the host beside it. */
    private static List<String> xla() {
        return new ArrayList<>(List.of(
                process(1, "/device:GPU:0"),
                thread(1, 1, "Stream #14(Compute)"),
                thread(1, 2, "Stream #15(MemcpyD2H)"),
                thread(1, 3, "XLA Modules"),
                thread(1, 4, "XLA Ops"),
                thread(1, 5, "Steps"),
                thread(1, 6, "Source code"),
                process(701, "/host:CPU"),
                thread(701, 9, "python"),
                slice("fwd", 701, 9, 0, 300),
                slice("0", 1, 5, 10, 100),
                slice("jit_fwd", 1, 3, 10, 100),
                slice("dot.3", 1, 4, 10, 90),
                slice("model.py:7", 1, 6, 10, 90),
                slice("my_fusion", 1, 1, 10, 40),
                slice("my_fusion", 1, 1, 60, 40),
                slice("MemcpyD2H", 1, 2, 100, 10)));
    }

    @Spec("14.20")
    @Test
    void ofAProcessNamedAfterADeviceTheStreamsCount() throws IOException {
        TraceProfile reading = read(xla());

        assertThat(us(reading)).isEqualTo(Map.of("my_fusion", 80L, "DeviceToHost", 10L));
        assertThat(reading.counting()).isEqualTo(TraceProfile.Counting.DEVICE_EVENTS);
        assertThat(reading.wallNs()).isEqualTo(100_000);
        assertThat(reading.busyNs()).isEqualTo(90_000);
        assertThat(Omissions.ignored(reading))
                .isEqualTo(Map.of(Reason.HOST, 1L, Reason.ANNOTATION, 4L, Reason.METADATA, 9L));
    }

    @Spec("14.20")
    @Test
    void namesMayComeBehindWhatTheyName() throws IOException {
        List<String> events = xla();
        TraceProfile expected = read(events);
        Collections.reverse(events);

        TraceProfile reading = read(events);

        assertThat(us(reading)).isEqualTo(us(expected));
        assertThat(Omissions.ignored(reading)).isEqualTo(Omissions.ignored(expected));
    }

    @Test
    void withoutStreamsTheOperationsCount() throws IOException {
        TraceProfile reading = read(List.of(
                process(3, "/device:TPU:0"),
                thread(3, 1, "Steps"),
                thread(3, 2, "XLA Modules"),
                thread(3, 3, "XLA Ops"),
                process(4, "/device:TPU:1"),
                thread(4, 2, "XLA Modules"),
                process(5, "/device:TPU:0 SparseCore 1"),
                thread(5, 3, "XLA Ops"),
                thread(5, 1, "Steps"),
                process(9, "/host:CPU"),
                slice("0", 3, 1, 0, 100),
                slice("jit_f", 3, 2, 0, 100),
                slice("convolution.1", 3, 3, 0, 70),
                slice("1", 5, 1, 0, 90),
                slice("gather.2", 5, 3, 20, 30),
                slice("jit_g", 4, 2, 0, 50),
                slice("python", 9, 1, 0, 500)));

        assertThat(us(reading)).isEqualTo(Map.of("convolution.1", 70L, "Index", 30L, "jit_g", 50L));
    }

    @Test
    void ofTensorFlowsProcessesForStreamsTheNumberedOnesCount() throws IOException {
        TraceProfile reading = read(List.of(
                process(1, "/device:GPU:0/stream:all Compute"),
                process(2, "/device:GPU:0/stream:14 Compute"),
                process(3, "/device:GPU:0/memcpy Compute"),
                process(4, "/job:localhost/replica:0/task:0/device:GPU:0 Compute"),
                process(5, "/job:localhost/replica:0/task:0/device:CPU:0 Compute"),
                slice("k", 1, 0, 0, 10),
                slice("k", 2, 0, 0, 10),
                slice("c", 3, 0, 20, 5),
                slice("c", 2, 0, 20, 5),
                slice("MatMul", 4, 0, 0, 100),
                slice("NoOp", 5, 0, 0, 100)));

        assertThat(us(reading)).isEqualTo(Map.of("k", 10L, "c", 5L));
    }

    @Test
    void ofAmdsToolsGpusAndCopiesCount() throws IOException {
        TraceProfile reading = read(List.of(
                process(2, "CPU HIP API"),
                process(1, "COPY"),
                process(6, "GPU0"),
                process(0, "Markers and Ranges"),
                slice("hipLaunchKernel", 2, 1, 0, 100),
                slice("CopyHostToDevice", 1, 1, 10, 30),
                slice("my_kernel.kd", 6, 0, 50, 20),
                slice("step", 0, 1, 0, 200)));

        assertThat(us(reading)).isEqualTo(Map.of("HostToDevice", 30L, "my_kernel.kd", 20L));
    }

    @Test
    void markersAroundTheKernelsOfAQueueAreNoWork() throws IOException {
        TraceProfile reading = read(List.of(
                process(0, "GPU0"),
                slice("k", 0, 0, 10, 20),
                slice("k", 0, 0, 50, 20),
                slice("aten::mm", 0, 0, 9, 70).replace("}", ",\"args\":{\"desc\":\"UserMarker frame: 2 ops\"}}")));

        assertThat(us(reading)).isEqualTo(Map.of("k", 40L));
        assertThat(Omissions.ignored(reading)).isEqualTo(Map.of(Reason.ANNOTATION, 1L, Reason.METADATA, 1L));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"GPU Process", "gpu/0", "/device:CPU:0", "/device:CUSTOM:Megascale Trace", "COPYING", "python"})
    void otherNamesAreNoDevices(String name) throws IOException {
        TraceProfile reading = read(List.of(process(1, name), slice("a", 1, 1, 0, 10), slice("b", 2, 1, 0, 20)));

        assertThat(us(reading)).isEqualTo(Map.of("a", 10L, "b", 20L));
        assertThat(reading.counting()).isEqualTo(TraceProfile.Counting.ALL_SLICES);
    }

    @Test
    void marksOfEventsGoBeforeNamesOfProcesses() throws IOException {
        TraceProfile reading = read(List.of(
                process(1, "GPU 0"),
                slice("of a host", 1, 1, 0, 10),
                "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":7,\"tid\":1,\"ts\":0,\"dur\":5}"));

        assertThat(us(reading)).isEqualTo(Map.of("k", 5L));
    }

    @Spec("14.20")
    @ParameterizedTest
    @CsvSource({
        "gpu_op, cpu_op, zeCommandListAppendMemoryCopy(M2D)[64 bytes], HostToDevice",
        "gpu_op, cpu_op, zeCommandListAppendMemoryCopy(D2M)[64 bytes], DeviceToHost",
        "gpu_op, cpu_op, gemm_kernel[SIMD16], Gemm",
        "kernel_dispatch, hip_api, my_kernel, my_kernel",
        "memory_copy, hip_api, MEMORY_COPY_HOST_TO_DEVICE, HostToDevice",
        "rocm_kernel_dispatch, rocm_hip_api, my_kernel, my_kernel",
        "rocm_memory_copy, rocm_hip_api, MEMORY_COPY_DEVICE_TO_HOST, DeviceToHost",
        "mtia_ccp_events, mtia_runtime, my_kernel, my_kernel"
    })
    void categoriesOfOtherProfilersMarkTheDevicesEvents(String device, String host, String name, String brick)
            throws IOException {
        TraceProfile reading = read(List.of(
                Traces.slice("launch", host, 1, 0, 100),
                Traces.slice(name, device, 2, 50, 10),
                Traces.slice("launch", host, 1, 100, 100)));

        assertThat(us(reading)).isEqualTo(Map.of(brick, 10L));
        assertThat(Omissions.ignored(reading)).isEqualTo(Map.of(Reason.HOST, 2L));
    }

    @Test
    void namedDevicesAreTracksOfATimeline() throws IOException {
        byte[] trace = Traces.array(xla().toArray(String[]::new)).getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream perfetto = new ByteArrayOutputStream();
        try (TraceTimeline read = TraceReader.timeline(new ByteArrayInputStream(trace), ReadOptions.defaults())) {
            assertThat(read.timeline().tracks())
                    .filteredOn(track -> track.kind() == Track.Kind.DEVICE)
                    .extracting(Track::name)
                    .containsExactly("/device:GPU:0");
            assertThat(read.timeline().tracks())
                    .filteredOn(track -> track.kind() == Track.Kind.STREAM)
                    .hasSize(6);
            PerfettoWriter.write(read.timeline(), perfetto, TraceFiles.Origin.OTHER);
        }

        assertThat(us(Traces.read(perfetto.toByteArray(), ReadOptions.defaults())))
                .isEqualTo(Map.of("my_fusion", 80L, "DeviceToHost", 10L));
    }
}
