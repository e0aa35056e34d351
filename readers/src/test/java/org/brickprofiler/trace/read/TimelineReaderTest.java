package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.tuple;
import static org.brickprofiler.trace.read.TimelineLines.event;
import static org.brickprofiler.trace.read.TimelineLines.lines;
import static org.brickprofiler.trace.read.TimelineLines.read;
import static org.brickprofiler.trace.read.TimelineLines.refused;
import static org.brickprofiler.trace.read.TimelineLines.tracks;
import static org.brickprofiler.trace.read.Traces.array;
import static org.brickprofiler.trace.read.Traces.slice;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.write.proto.PerfettoTrace;
import org.brickprofiler.trace.write.proto.PerfettoTrace.TrackEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Traces of other programs as timelines; the tests of the writers read this library's own traces back. */
@OneJdk
final class TimelineReaderTest {

    // ---- slices ----

    @Test
    void slicesAreSortedByStartWithTheLongerFirst() throws IOException {
        TraceTimeline reading = read(array(
                slice("late", 9, 1),
                slice("inner", 2, 3),
                slice("outer", 2, 6),
                slice("twin", 2, 6),
                event("B", "\"name\": \"begun\", \"ts\": 1"),
                event("E", "\"ts\": 8.5")));

        assertThat(lines(reading))
                .containsExactly(
                        "thread 1: begun 1000..8500",
                        "thread 1: outer 2000..8000",
                        "thread 1: twin 2000..8000",
                        "thread 1: inner 2000..5000",
                        "thread 1: late 9000..10000");
        assertThat(reading.timeline().earliestNs()).isEqualTo(1_000);
        assertThat(reading.differences()).isEmpty();
    }

    @Test
    void manySlicesAreKeptInOrder() throws IOException {
        int count = 200_000;
        String[] slices = new String[count];
        for (int i = 0; i < count; i++) {
            slices[i] = slice("s" + i % 7, count - i, 1);
        }
        List<String> lines = lines(read(array(slices)));

        assertThat(lines).hasSize(count);
        for (int i = 0; i < count; i++) {
            String expected = "thread 1: s" + (count - 1 - i) % 7 + " " + (i + 1) + "000.." + (i + 2) + "000";
            assertThat(lines.get(i)).isEqualTo(expected);
        }
    }

    @Test
    void faultyEventsAreLeftOutAndReported() throws IOException {
        TraceTimeline reading = read(array(
                event("B", "\"name\": \"open\", \"ts\": 1"),
                event("X", "\"name\": \"no end\", \"ts\": 2"),
                event("X", "\"name\": \"backwards\", \"ts\": 3, \"dur\": -1"),
                event("X", "\"name\": \"when\", \"ts\": \"?\", \"dur\": 1"),
                event("i", "\"name\": \"when\""),
                event("C", "\"name\": \"when\", \"args\": {\"value\": 1}"),
                "{\"name\": \"no phase\"}",
                "null",
                "{}",
                slice("right", 5, 1),
                "{\"ph\": \"E\", \"pid\": 2, \"tid\": 2, \"ts\": 5}"));

        assertThat(lines(reading)).containsExactly("thread 1: right 5000..6000");
        assertThat(Omissions.faults(reading.omissions()))
                .extracting(Omission::reason, Omission::count)
                .containsExactly(
                        tuple(Reason.NO_PHASE, 1L),
                        tuple(Reason.NO_TIME, 3L),
                        tuple(Reason.MALFORMED_TIME, 1L),
                        tuple(Reason.NEGATIVE_DURATION, 1L),
                        tuple(Reason.BEGIN_WITHOUT_END, 1L),
                        tuple(Reason.END_WITHOUT_BEGIN, 1L));
        assertThat(reading.differences()).contains("1 begin without end, dropped (first at offset 1)");
    }

    // ---- parts that a timeline cannot represent ----

    @Test
    void partsThatATimelineCannotRepresentAreCounted() throws IOException {
        TraceTimeline reading = read(array(
                event(
                        "X",
                        "\"name\": \"a\", \"ts\": 1, \"dur\": 1, \"tts\": 4, \"args\": {\"elements\": 3, \"layer\": 2,"
                                + " \"device_ns\": 7, \"bytes\": 1, \"grid\": [1, 2], \"stream\": 7}"),
                event(
                        "X",
                        "\"name\": \"b\", \"ts\": 3, \"dur\": 1, \"args\": {\"elements\": \"many\","
                                + " \"layer\": \"conv\", \"bytes\": 2}"),
                event("b", "\"name\": \"a\", \"ts\": 1, \"id\": 1"),
                event("e", "\"name\": \"a\", \"ts\": 1, \"id\": 1"),
                event("v", "\"ts\": 1"),
                event("t", "\"ts\": 1, \"id\": 1"),
                event("M", "\"name\": \"clock_sync\""),
                event("C", "\"name\": \"c\", \"ts\": 1, \"args\": {\"value\": \"high\"}"),
                event("i", "\"name\": \"i\", \"ts\": 1, \"s\": \"g\"")));

        assertThat(Omissions.unkept(reading))
                .isEqualTo(Map.of(
                        Reason.ARGUMENT,
                        6L,
                        Reason.FIELD,
                        2L,
                        Reason.ASYNC,
                        2L,
                        Reason.OTHER_PHASE,
                        1L,
                        Reason.FURTHER_FLOW,
                        1L,
                        Reason.OTHER_METADATA,
                        1L,
                        Reason.NO_NUMBER,
                        1L));
        assertThat(Omissions.arguments(reading))
                .isEqualTo(Map.of("bytes", 2L, "elements", 1L, "grid", 1L, "layer", 1L, "stream", 1L));
        assertThat(reading.differences())
                .isEqualTo("2 async events left out, 1 event of another phase left out, 6 arguments left out (bytes 2,"
                        + " elements 1, grid 1, layer 1, stream 1), 2 further fields left out, 1 second flow of a slice"
                        + " left out, 1 counter value that is no number left out, 1 other metadata event left out");
        assertThat(reading.eventsRead()).isEqualTo(9);
    }

    @Test
    void argumentsBeyondTheLimitOfNamesAreCountedTogether() throws IOException {
        String[] slices = new String[300];
        for (int i = 0; i < slices.length; i++) {
            slices[i] = event("X", "\"name\": \"a\", \"ts\": 1, \"dur\": 1, \"args\": {\"key " + i + "\": 1}");
        }
        TraceTimeline reading = read(array(slices));

        assertThat(Omissions.arguments(reading)).hasSize(257).containsEntry(Omission.OTHER_NAMES, 44L);
        assertThat(reading.differences()).contains("300 arguments left out ((others) 44, key 0 1,");
    }

    // ---- flows ----

    private static String flow(String phase, int id, int tid, long ts) {
        return "{\"ph\":\"%s\",\"cat\":\"ac2g\",\"id\":%d,\"pid\":1,\"tid\":%d,\"ts\":%d%s}"
                .formatted(phase, id, tid, ts, phase.equals("f") ? ",\"bp\":\"e\"" : "");
    }

    @Test
    void aFlowBelongsToTheSliceAroundIt() throws IOException {
        TraceTimeline reading = read(array(
                flow("f", 4, 2, 25),
                flow("s", 4, 1, 3),
                slice("outer", "x", 1, 0, 10),
                slice("inner", "x", 1, 2, 3),
                slice("kernel", "x", 2, 20, 9),
                slice("later", "x", 2, 30, 9)));

        assertThat(lines(reading))
                .containsExactly(
                        "thread 2: kernel 20000..29000 in 1",
                        "thread 2: later 30000..39000",
                        "thread 1: outer 0..10000",
                        "thread 1: inner 2000..5000 out 1");
    }

    @Test
    void ofSlicesThatBeginTogetherTheOneBeforeTheFlowIsMeant() throws IOException {
        TraceTimeline reading = read(array(
                slice("outer", "x", 1, 0, 10),
                flow("s", 4, 1, 0),
                slice("inner", "x", 1, 0, 3),
                slice("kernel", "x", 2, 20, 9),
                flow("f", 4, 2, 20),
                slice("inside", "x", 2, 20, 5)));

        assertThat(lines(reading)).contains("thread 1: outer 0..10000 out 1", "thread 2: kernel 20000..29000 in 1");
    }

    @Test
    void aFlowThatDoesNotBindToTheSliceAroundEndsInTheNext() throws IOException {
        TraceTimeline reading = read(array(
                slice("from", "x", 1, 0, 10),
                flow("s", 4, 1, 5),
                slice("around", "x", 2, 0, 90),
                slice("next", "x", 2, 30, 5),
                "{\"ph\":\"f\",\"cat\":\"ac2g\",\"id\":4,\"pid\":1,\"tid\":2,\"ts\":20}"));

        assertThat(lines(reading)).contains("thread 1: from 0..10000 out 1", "thread 2: next 30000..35000 in 1");
    }

    @Test
    void anIdentifierMayComeAgainAfterItsFlow() throws IOException {
        TraceTimeline reading = read(array(
                slice("a", "x", 1, 0, 10),
                flow("s", 4, 1, 0),
                slice("b", "x", 2, 10, 10),
                flow("f", 4, 2, 10),
                slice("c", "x", 1, 20, 10),
                flow("s", 4, 1, 20),
                slice("d", "x", 2, 30, 10),
                flow("f", 4, 2, 30)));

        assertThat(lines(reading))
                .containsExactly(
                        "thread 1: a 0..10000 out 1", "thread 1: c 20000..30000 out 2",
                        "thread 2: b 10000..20000 in 1", "thread 2: d 30000..40000 in 2");
    }

    @Test
    void looseAndSecondFlowsAreCounted() throws IOException {
        TraceTimeline reading = read(array(
                slice("a", "x", 1, 0, 10),
                flow("s", 1, 1, 0),
                flow("s", 2, 1, 0),
                flow("s", 3, 1, 0),
                flow("s", 1, 1, 0),
                slice("b", "x", 2, 10, 10),
                flow("f", 1, 2, 10),
                flow("f", 2, 2, 15),
                flow("s", 5, 1, 500),
                flow("f", 5, 2, 10),
                flow("f", 6, 2, 10)));

        assertThat(lines(reading)).containsExactly("thread 1: a 0..10000 out 1", "thread 2: b 10000..20000 in 1");
        // One second flow of a slice; flows without two ends: the first of identifier 1, and those of 3, 5 and 6.
        assertThat(Omissions.unkept(reading)).isEqualTo(Map.of(Reason.FURTHER_FLOW, 1L, Reason.LOOSE_FLOW, 4L));
    }

    // ---- the whole timeline ----

    @Test
    void theCalendarIsThatOfTheTrace() throws IOException {
        String base = "{\"baseTimeNanoseconds\": 1700000000000000000, \"distributedInfo\": {\"rank\": 3, \"backend\":"
                + " \"nccl\"}, \"traceEvents\": " + array(slice("a", 5, 1)) + "}";
        TraceTimeline relative = read(base);
        TraceTimeline absolute = read(array(slice("a", 1_700_000_000_000_005L, 1)));
        TraceTimeline unknown = read(array(slice("a", 5, 1)));

        assertThat(calendarNs(relative)).isEqualTo(1_700_000_000_000_005_000L);
        assertThat(calendarNs(absolute)).isEqualTo(1_700_000_000_000_005_000L);
        assertThat(calendarNs(unknown)).isEqualTo(5_000);
        assertThat(relative.timeline().info().rank()).hasValue(3);
        assertThat(relative.timeline().info().worldSize()).isEqualTo(4);
    }

    private static long calendarNs(TraceTimeline reading) {
        return reading.timeline().info().unixNs()
                - reading.timeline().info().monotonicNs()
                + reading.timeline().earliestNs();
    }

    @Test
    void anEmptyTraceIsAnEmptyTimeline() throws IOException {
        TraceTimeline reading = read("[]");

        assertThat(lines(reading)).isEmpty();
        assertThat(reading.timeline().tracks()).isEmpty();
        assertThat(reading.timeline().earliestNs()).isZero();
    }

    @Test
    void anArrayWithoutItsEndIsReadToItsLastEvent() throws IOException {
        TraceTimeline reading = read("[" + slice("a", 0, 1) + ",");

        assertThat(lines(reading)).containsExactly("thread 1: a 0..1000");
        assertThat(reading.differences()).contains("1 array without end, read to its last event");
    }

    // ---- Perfetto ----

    @Test
    void aPerfettoTraceOfAnotherProgram() throws IOException {
        PerfettoTrace.Trace.Builder trace = PerfettoTrace.Trace.newBuilder();
        describe(trace, 1).getProcessBuilder().setPid(5).setProcessName("app");
        describe(trace, 2).getThreadBuilder().setPid(5).setTid(6).setThreadName("main");
        describe(trace, 3).setName("async").setParentUuid(1);
        describe(trace, 4).setName("queue").setParentUuid(3);
        describe(trace, 5)
                .setName("bytes")
                .setParentUuid(1)
                .getCounterBuilder()
                .setUnit(PerfettoTrace.CounterDescriptor.Unit.UNIT_SIZE_BYTES);
        describe(trace, 7).getProcessBuilder().setPid(9);
        describe(trace, 8).getThreadBuilder().setPid(9).setTid(6);
        begin(trace, "outer", 2, 100).addFlowIds(77).addFlowIds(78);
        begin(trace, "inner", 2, 110)
                .addDebugAnnotations(PerfettoTrace.DebugAnnotation.newBuilder()
                        .setName("size")
                        .setStringValue("large"));
        perfettoEvent(trace, TrackEvent.Type.TYPE_SLICE_END, 2, 120);
        perfettoEvent(trace, TrackEvent.Type.TYPE_SLICE_END, 2, 130);
        begin(trace, "job", 4, 140).addTerminatingFlowIds(77);
        perfettoEvent(trace, TrackEvent.Type.TYPE_SLICE_END, 4, 150);
        perfettoEvent(trace, TrackEvent.Type.TYPE_INSTANT, 8, 125).setName("tick");
        perfettoEvent(trace, TrackEvent.Type.TYPE_COUNTER, 5, 105).setCounterValue(-3);
        perfettoEvent(trace, TrackEvent.Type.TYPE_COUNTER, 5, 106).setDoubleCounterValue(0.5);
        perfettoEvent(trace, TrackEvent.Type.TYPE_INSTANT, 99, 160).setName("where");
        TraceTimeline reading =
                TraceReader.timeline(new ByteArrayInputStream(trace.build().toByteArray()), ReadOptions.defaults());

        assertThat(lines(reading))
                .containsExactly(
                        "main: outer 100..130 out 1",
                        "main: inner 110..120",
                        "queue: job 140..150 in 1",
                        "process 9: track 8: tick at 125",
                        "track 99: where at 160",
                        "bytes: -3.0 at 105",
                        "bytes: 0.5 at 106");
        assertThat(tracks(reading))
                .containsExactly(
                        "HOST_THREAD main 6",
                        "HOST_THREAD queue 0",
                        "HOST_THREAD process 9: track 8 -1",
                        "HOST_THREAD track 99 0",
                        "COUNTER bytes 0 in bytes");
        assertThat(reading.timeline().info().processName()).isEqualTo("app");
        assertThat(Omissions.unkept(reading))
                .isEqualTo(Map.of(Reason.ARGUMENT, 1L, Reason.LOOSE_FLOW, 1L, Reason.PROCESS, 1L));
        assertThat(reading.isOwn()).isFalse();
    }

    private static PerfettoTrace.TrackDescriptor.Builder describe(PerfettoTrace.Trace.Builder trace, long uuid) {
        return trace.addPacketBuilder()
                .setTrustedPacketSequenceId(1)
                .getTrackDescriptorBuilder()
                .setUuid(uuid);
    }

    private static TrackEvent.Builder perfettoEvent(
            PerfettoTrace.Trace.Builder trace, TrackEvent.Type type, long track, long ns) {
        return trace.addPacketBuilder()
                .setTrustedPacketSequenceId(1)
                .setTimestamp(ns)
                .getTrackEventBuilder()
                .setType(type)
                .setTrackUuid(track);
    }

    private static TrackEvent.Builder begin(PerfettoTrace.Trace.Builder trace, String name, long track, long ns) {
        return perfettoEvent(trace, TrackEvent.Type.TYPE_SLICE_BEGIN, track, ns).setName(name);
    }

    // ---- large timelines ----

    @Test
    void eventsInATemporaryFileAreReadBack() throws IOException {
        String json = array(
                flow("f", 4, 2, 25),
                flow("s", 4, 1, 3),
                slice("outer", "x", 1, 0, 10),
                slice("inner", "x", 1, 2, 3),
                slice("kernel", "x", 2, 20, 9),
                event("i", "\"name\": \"now\", \"ts\": 1"),
                slice("around", "x", 2, 0, 90),
                slice("from", "x", 1, 20, 5),
                flow("s", 5, 1, 20),
                "{\"ph\":\"f\",\"cat\":\"ac2g\",\"id\":5,\"pid\":1,\"tid\":2,\"ts\":30}",
                slice("next", "x", 2, 30, 5),
                event("C", "\"name\": \"c\", \"ts\": 1, \"args\": {\"value\": 3}"),
                flow("s", 6, 1, 20),
                flow("f", 6, 2, 30),
                flow("s", 7, 3, 20));
        TraceTimeline inMemory = read(json);

        for (int kept = 1; kept < 8; kept++) {
            try (TraceTimeline inFile = TraceReader.timeline(
                    new ByteArrayInputStream(json.getBytes(UTF_8)), ReadOptions.defaults(), kept)) {
                assertThat(lines(inFile)).isEqualTo(lines(inMemory));
                assertThat(lines(inFile)).as("once more").isEqualTo(lines(inMemory));
                assertThat(inFile.omissions()).isEqualTo(inMemory.omissions());
                assertThat(inFile.timeline().earliestNs()).isZero();
            }
        }
        assertThat(lines(inMemory)).contains("thread 2: next 30000..35000 in 2");
        inMemory.close();
        assertThatIllegalStateException().isThrownBy(() -> lines(inMemory)).withMessage("the trace is closed");
    }

    // ---- refusals ----

    @Test
    void damagedTracesAndOtherTextAreRefused(@TempDir Path folder) throws IOException {
        assertThat(refused("{\"a\": 1}")).hasMessageContaining("there is no traceEvents");
        assertThat(refused("[{\"a\": 1}]")).hasMessageContaining("no trace");
        assertThat(refused("{\"traceEvents\": [{")).hasMessageContaining("ends too early");
        byte[] packed = Files.readAllBytes(Traces.SIMPLE_ADD);
        Path cut = folder.resolve("cut.json.gz");
        Files.write(cut, Arrays.copyOf(packed, packed.length / 2));

        assertThatExceptionOfType(TraceFormatException.class)
                .isThrownBy(() -> TraceReader.timeline(cut, ReadOptions.defaults()))
                .withMessageContaining(cut.toString())
                .withMessageContaining("the packed file ends too early");
        assertThatIOException()
                .isThrownBy(() -> TraceReader.timeline(folder.resolve("none"), ReadOptions.defaults()))
                .withMessage("cannot read " + folder.resolve("none") + ": it does not exist");
    }

    @Test
    void moreRowsSlicesAndNamesThanThereIsRoomForAreRefused() {
        String[] rows = new String[16_385];
        Arrays.setAll(rows, i -> slice("a", "x", i, 0, 1));
        String[] open = new String[1_025];
        Arrays.setAll(open, i -> event("B", "\"name\": \"a\", \"ts\": " + i));
        String[] names = new String[70_000];
        Arrays.setAll(names, i -> slice("n".repeat(1_990) + i, 0, 1));

        assertThat(refused(array(rows))).hasMessageContaining("more than 16384 rows");
        assertThat(refused(array(open))).hasMessageContaining("too many slices are open at once");
        assertThat(refused(array(names))).hasMessageContaining("the names of its events take more than");
    }
}
