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

    @Test
    void onlyTheStreamsOfAProcessNamedAfterADeviceCount() throws IOException {
        TraceProfile reading = read(xla());

        assertThat(us(reading)).isEqualTo(Map.of("my_fusion", 80L, "DeviceToHost", 10L));
        assertThat(reading.counting()).isEqualTo(TraceProfile.Counting.DEVICE_EVENTS);
        assertThat(reading.wallNs()).isEqualTo(100_000);
        assertThat(reading.busyNs()).isEqualTo(90_000);
        assertThat(Omissions.ignored(reading))
                .isEqualTo(Map.of(Reason.HOST, 1L, Reason.ANNOTATION, 4L, Reason.METADATA, 9L));
    }

    @Test
    void namesMayFollowTheEventsOfTheirRows() throws IOException {
        List<String> events = xla();
        TraceProfile expected = read(events);
        Collections.reverse(events);

        TraceProfile reading = read(events);

        assertThat(us(reading)).isEqualTo(us(expected));
        assertThat(Omissions.ignored(reading)).isEqualTo(Omissions.ignored(expected));
    }

    /** TensorFlow draws each kernel on its stream, on the row of all streams, and as an operation of its device. */
    @ParameterizedTest
    @CsvSource({
        "/gpu:0, /gpu:0, /cpu:0",
        "/gpu:0, /job:localhost/replica:0/task:0/gpu:0, /job:localhost/replica:0/task:0/cpu:0",
        "/device:GPU:0, /job:localhost/replica:0/task:0/device:GPU:0, /job:localhost/replica:0/task:0/device:CPU:0"
    })
    void aTimelineOfTensorFlowCountsOnce(String streams, String device, String host) throws IOException {
        TraceProfile reading = read(List.of(
                process(1, host + " Compute"),
                process(2, device + " Compute"),
                process(3, streams + "/stream:all Compute"),
                process(4, streams + "/stream:14 Compute"),
                process(5, streams + "/memcpy Compute"),
                slice("NoOp", 1, 0, 0, 300),
                slice("MatMul", 2, 0, 10, 50),
                slice("MatMul", 3, 0, 20, 40),
                slice("MatMul", 4, 0, 20, 40),
                slice("MEMCPYHtoD", 5, 0, 70, 10),
                slice("MEMCPYHtoD", 4, 0, 70, 10)));

        assertThat(reading.counting()).isEqualTo(TraceProfile.Counting.DEVICE_EVENTS);
        assertThat(reading.snapshot().totalNs()).isEqualTo(50_000);
        assertThat(reading.wallNs()).isEqualTo(60_000);
    }

    /** The profiler before Kineto names the processes, and draws the interval of each operator on the device. */
    @ParameterizedTest
    @CsvSource({"CPU functions, CUDA functions", "CPU Functions, CUDA Functions", "CPU functions, XPU functions"})
    void theTimesOfTheDeviceCountInATraceOfTheOlderProfilerOfPyTorch(String host, String device) throws IOException {
        String slice = "{\"ph\":\"X\",\"name\":\"%s\",\"pid\":\"%s\",\"tid\":%d,\"ts\":%d,\"dur\":%d,\"args\":{}}";
        List<String> events = new ArrayList<>(List.of(
                slice.formatted("aten::linear", host, 1, 0, 100),
                slice.formatted("aten::addmm", host, 1, 10, 80),
                slice.formatted("aten::linear", device, 0, 50, 60),
                slice.formatted("aten::addmm", device, 0, 60, 40)));

        TraceProfile reading = read(events);
        Collections.reverse(events);

        assertThat(reading.counting()).isEqualTo(TraceProfile.Counting.DEVICE_EVENTS);
        assertThat(reading.snapshot().totalNs()).isEqualTo(60_000);
        assertThat(reading.wallNs()).isEqualTo(60_000);
        assertThat(Omissions.ignored(reading)).isEqualTo(Map.of(Reason.HOST, 2L));
        assertThat(us(read(events))).isEqualTo(us(reading));
        assertThat(us(Traces.read(converted(events), ReadOptions.defaults()))).isEqualTo(us(reading));
    }

    /** Returns the same trace in Perfetto's format. */
    private static byte[] converted(List<String> events) throws IOException {
        byte[] trace = Traces.array(events.toArray(String[]::new)).getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream perfetto = new ByteArrayOutputStream();
        try (TraceTimeline read = TraceReader.timeline(new ByteArrayInputStream(trace), ReadOptions.defaults())) {
            PerfettoWriter.write(read.timeline(), perfetto, TraceFiles.Origin.OTHER);
        }
        return perfetto.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/gpu/0",
                "gpu:0",
                "/disk:0",
                "GPU Process",
                "gpu/0",
                "/device:CPU:0",
                "/device:CUSTOM:Megascale Trace",
                "COPYING",
                "python"
            })
    void otherNamesAreNoDevices(String name) throws IOException {
        TraceProfile reading = read(List.of(process(1, name), slice("a", 1, 1, 0, 10), slice("b", 2, 1, 0, 20)));

        assertThat(us(reading)).isEqualTo(Map.of("a", 10L, "b", 20L));
        assertThat(reading.counting()).isEqualTo(TraceProfile.Counting.ALL_SLICES);
    }

    @ParameterizedTest
    @CsvSource({
        "gpu_op, cpu_op, zeCommandListAppendMemoryCopy(M2D)[64 bytes], HostToDevice",
        "gpu_op, cpu_op, zeCommandListAppendMemoryCopy(D2M)[64 bytes], DeviceToHost",
        "gpu_op, cpu_op, gemm_kernel[SIMD16], Gemm",
        "kernel_dispatch, hip_api, my_kernel, my_kernel",
        "memory_copy, hip_api, MEMORY_COPY_HOST_TO_DEVICE, HostToDevice",
        "rocm_kernel_dispatch, rocm_hip_api, my_kernel, my_kernel",
        "rocm_memory_copy, rocm_hip_api, MEMORY_COPY_DEVICE_TO_HOST, DeviceToHost",
        "mtia_ccp_events, mtia_runtime, my_kernel, my_kernel",
        "mtia_ccp_events, mtia_runtime, dma_request, DmaCopy"
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

    @ParameterizedTest
    @CsvSource({
        "mtia_ccp_events, event_wait, DEVICE_WAIT",
        "mtia_ccp_events, event_record, DEVICE_WAIT",
        "cuda_profiler_range, my_kernel, ANNOTATION"
    })
    void waitsAndReplayedRangesAreNoWork(String category, String name, Reason reason) throws IOException {
        TraceProfile reading = read(
                List.of(Traces.slice("my_kernel", "kernel", 2, 50, 10), Traces.slice(name, category, 2, 70, 1_000)));

        assertThat(us(reading)).isEqualTo(Map.of("my_kernel", 10L));
        assertThat(Omissions.ignored(reading)).isEqualTo(Map.of(reason, 1L));
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
