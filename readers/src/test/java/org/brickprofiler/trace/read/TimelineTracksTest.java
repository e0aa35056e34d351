package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.brickprofiler.trace.read.TimelineLines.event;
import static org.brickprofiler.trace.read.TimelineLines.lines;
import static org.brickprofiler.trace.read.TimelineLines.read;
import static org.brickprofiler.trace.read.TimelineLines.tracks;
import static org.brickprofiler.trace.read.Traces.array;
import static org.brickprofiler.trace.read.Traces.object;

import java.io.IOException;
import java.util.Map;
import org.brickprofiler.trace.read.Omission.Reason;
import org.junit.jupiter.api.Test;

/** The threads, devices, streams and counters of other programs' traces as tracks. */
final class TimelineTracksTest {

    private static String row(String pid, String tid, String category, String args) {
        return "{\"ph\":\"X\",\"name\":\"n\",\"cat\":\"%s\",\"pid\":%s,\"tid\":%s,\"ts\":1,\"dur\":1,\"args\":{%s}}"
                .formatted(category, pid, tid, args);
    }

    private static String meta(String name, int pid, int tid, String args) {
        return "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":0,\"args\":{%s}}"
                .formatted(name, pid, tid, args);
    }

    @Test
    void devicesAndTheirStreamsAreTracksBelowThem() throws IOException {
        TraceTimeline reading = read(object(
                meta("process_name", 900, 0, "\"name\": \"python\""),
                meta("process_labels", 900, 0, "\"labels\": \"CPU\""),
                meta("process_labels", 1, 0, "\"labels\": \"GPU 1\""),
                meta("thread_name", 1, 20, "\"name\": \"stream 20\""),
                row("1", "20", "kernel", "\"device\": 1, \"stream\": 20"),
                row("1", "7", "gpu_memcpy", "\"device\": 1, \"stream\": 7"),
                row("1", "-1", "cuda_sync", "\"device\": 1, \"stream\": 7"),
                row("0", "5", "kernel", ""),
                row("900", "901", "cpu_op", ""),
                row("900", "\"main\"", "cpu_op", ""),
                "{\"ph\":\"C\",\"name\":\"power\",\"pid\":1,\"tid\":0,\"ts\":1,\"args\":{\"watts\":200.5}}",
                "{\"ph\":\"C\",\"name\":\"threads\",\"pid\":900,\"ts\":1,\"args\":{\"value\":3}}"));

        assertThat(tracks(reading))
                .containsExactly(
                        "HOST_THREAD thread 901 901",
                        "HOST_THREAD main -1",
                        "DEVICE device 0 0",
                        "STREAM stream 5 5 of device 0",
                        "DEVICE GPU 1 1",
                        "STREAM stream 7 7 of GPU 1",
                        "STREAM stream -1 7 of GPU 1",
                        "STREAM stream 20 20 of GPU 1",
                        "COUNTER power watts 0 of GPU 1",
                        "COUNTER threads 1");
        assertThat(reading.timeline().info().processName()).isEqualTo("python");
        assertThat(reading.timeline().info().pid()).isEqualTo(900);
        assertThat(Omissions.unkept(reading)).isEmpty();
        assertThat(lines(reading)).contains("power watts: 200.5 at 1000", "threads: 3.0 at 1000");
    }

    /** Older versions of Kineto name the row itself "stream 7". */
    @Test
    void aStreamIsNotCalledAStreamTwice() throws IOException {
        TraceTimeline reading =
                read(array(row("0", "\"stream 7\"", "Kernel", ""), row("0", "\"stream 20\"", "kernel", "")));

        assertThat(tracks(reading))
                .containsExactly(
                        "DEVICE device 0 0", "STREAM stream 7 7 of device 0", "STREAM stream 20 20 of device 0");
    }

    @Test
    void threadsOfFurtherProcessesBearTheNameOfTheirProcess() throws IOException {
        TraceTimeline reading = read(array(
                row("\"Spans\"", "\"Profiler\"", "Trace", ""),
                row("5", "6", "x", ""),
                row("5", "7", "x", ""),
                row("5", "7", "x", ""),
                meta("process_name", 8, 0, "\"name\": \"worker\""),
                row("8", "6", "x", ""),
                "{\"ph\":\"i\",\"name\":\"end\",\"ts\":1}"));

        assertThat(tracks(reading))
                .containsExactly(
                        "HOST_THREAD Spans: Profiler -1",
                        "HOST_THREAD thread 6 6",
                        "HOST_THREAD thread 7 7",
                        "HOST_THREAD worker 8: thread 6 -1",
                        "HOST_THREAD (no process): (no thread) -1");
        assertThat(Omissions.unkept(reading)).isEqualTo(Map.of(Reason.PROCESS, 3L));
    }

    @Test
    void kernelsBesideThreadsOfOneProcessAreOnItsDevice() throws IOException {
        TraceTimeline reading =
                read(array(row("5", "1", "cpu_op", ""), row("5", "2", "kernel", "\"device\": 3, \"stream\": 9")));

        assertThat(tracks(reading))
                .containsExactly("HOST_THREAD thread 1 1", "DEVICE device 3 3", "STREAM stream 2 9 of device 3");
    }

    @Test
    void countersOfSeveralSeriesAreSeveral() throws IOException {
        TraceTimeline reading = read(array(
                event("C", "\"name\": \"memory\", \"ts\": 2, \"args\": {\"used\": 1, \"free\": 9}"),
                event("C", "\"name\": \"memory\", \"ts\": 1, \"args\": {\"used\": 0, \"free\": 10}"),
                event("C", "\"name\": \"memory\", \"id\": \"0x1\", \"ts\": 1, \"args\": {\"value\": -0.0}")));

        assertThat(lines(reading))
                .containsExactly(
                        "memory free: 10.0 at 1000",
                        "memory free: 9.0 at 2000",
                        "memory used: 0.0 at 1000",
                        "memory used: 1.0 at 2000",
                        "memory 0x1: -0.0 at 1000");
    }
}
