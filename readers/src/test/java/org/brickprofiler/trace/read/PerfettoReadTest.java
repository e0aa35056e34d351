package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.UnknownFieldSet;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.write.proto.PerfettoTrace;
import org.brickprofiler.trace.write.proto.PerfettoTrace.TrackEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Perfetto traces of other programs, made by the classes that protobuf generates. */
final class PerfettoReadTest {

    private static final ReadOptions ALL = ReadOptions.defaults().withKeepWarmup(true);

    private final PerfettoTrace.Trace.Builder trace = PerfettoTrace.Trace.newBuilder();

    private PerfettoTrace.TracePacket.Builder packet(int sequence) {
        return trace.addPacketBuilder().setTrustedPacketSequenceId(sequence);
    }

    private TrackEvent.Builder event(TrackEvent.Type type, long track, long ns) {
        return packet(1).setTimestamp(ns).getTrackEventBuilder().setType(type).setTrackUuid(track);
    }

    private TrackEvent.Builder begin(String name, long track, long ns) {
        return event(TrackEvent.Type.TYPE_SLICE_BEGIN, track, ns).setName(name);
    }

    private void end(long track, long ns) {
        event(TrackEvent.Type.TYPE_SLICE_END, track, ns);
    }

    private TraceProfile read() throws IOException {
        return Traces.read(trace.build().toByteArray(), ALL);
    }

    private static TraceFormatException refused(byte[] bytes) {
        return assertThatExceptionOfType(TraceFormatException.class)
                .isThrownBy(() -> Traces.read(bytes, ALL))
                .actual();
    }

    // ---- slices ----

    @Test
    void slicesOfATrackNestAndTracksDoNot() throws IOException {
        begin("outer", 1, 100);
        begin("x", -2, 110);
        begin("inner", 1, 120);
        end(1, 150);
        end(-2, 160);
        end(1, 200);

        TraceProfile reading = read();
        assertThat(reading.counting()).isEqualTo(TraceProfile.Counting.ALL_SLICES);
        assertThat(Traces.totalNs(reading, "outer")).isEqualTo(70);
        assertThat(Traces.totalNs(reading, "inner")).isEqualTo(30);
        assertThat(Traces.totalNs(reading, "x")).isEqualTo(50);
        assertThat(reading.rows()).isEqualTo(2);
        assertThat(reading.wallNs()).isEqualTo(100);
        assertThat(Omissions.ignored(reading)).containsEntry(Reason.END, 3L);
    }

    @Test
    void rulesAndCategoriesAreThoseOfEveryTrace() throws IOException {
        begin("host", 1, 0);
        end(1, 100);
        begin("rms_norm_kernel", 2, 10).addCategories("kernel");
        end(2, 30);
        begin("Memcpy HtoD", 2, 30)
                .addCategories("gpu_memcpy")
                .addDebugAnnotations(PerfettoTrace.DebugAnnotation.newBuilder()
                        .setName("bytes")
                        .setIntValue(64));
        end(2, 35);

        TraceProfile reading = read();
        assertThat(reading.counting()).isEqualTo(TraceProfile.Counting.DEVICE_EVENTS);
        assertThat(Traces.totalNs(reading, "RmsNorm")).isEqualTo(20);
        assertThat(reading.snapshot().bricks()).extracting("totalBytes").containsExactlyInAnyOrder(0L, 64L);
        assertThat(Omissions.ignored(reading)).containsEntry(Reason.HOST, 1L);
    }

    @Test
    void bytesMayBeATextAsInChromesFormat() throws IOException {
        for (String bytes : List.of("4096", "many")) {
            begin("Memcpy HtoD", 2, 30)
                    .addCategories("gpu_memcpy")
                    .addDebugAnnotations(PerfettoTrace.DebugAnnotation.newBuilder()
                            .setName("bytes")
                            .setStringValue(bytes));
            end(2, 35);
        }

        TraceProfile reading = read();
        assertThat(reading.snapshot().bricks()).extracting("totalBytes").containsExactly(4_096L);
        assertThat(Traces.repair(reading, Reason.MALFORMED_BYTES).count()).isOne();
    }

    @Test
    void rulesSeeAnnotations() throws IOException {
        begin("a", 1, 0)
                .addDebugAnnotations(
                        PerfettoTrace.DebugAnnotation.newBuilder().setName("k").setIntValue(7));
        end(1, 10);
        TraceRules rules = TraceRules.parse("seven <- args.k=/^7$/");

        TraceProfile reading = Traces.read(trace.build().toByteArray(), ALL.withRules(rules));
        assertThat(Traces.totalNs(reading, "seven")).isEqualTo(10);
    }

    @Test
    void rulesSeeAnnotationsOfTheEnd() throws IOException {
        begin("a", 1, 0);
        event(TrackEvent.Type.TYPE_SLICE_END, 1, 10)
                .addDebugAnnotations(
                        PerfettoTrace.DebugAnnotation.newBuilder().setName("k").setIntValue(7));
        TraceRules rules = TraceRules.parse("seven <- args.k=/^7$/");

        TraceProfile reading = Traces.read(trace.build().toByteArray(), ALL.withRules(rules));
        assertThat(Traces.totalNs(reading, "seven")).isEqualTo(10);
    }

    @Test
    void packetsWithoutSlicesAreIgnored() throws IOException {
        event(TrackEvent.Type.TYPE_INSTANT, 1, 5).setName("i");
        event(TrackEvent.Type.TYPE_COUNTER, 1, 5).setCounterValue(3);
        event(TrackEvent.Type.TYPE_UNSPECIFIED, 1, 5);
        packet(1).getTrackDescriptorBuilder().setUuid(1).setName("t");

        TraceProfile reading = read();
        assertThat(reading.eventsRead()).isEqualTo(3);
        assertThat(Omissions.ignored(reading)).containsOnlyKeys(Reason.INSTANT, Reason.COUNTER, Reason.OTHER_PHASE);
    }

    @Test
    void faultsAreThoseOfEveryTrace() throws IOException {
        end(1, 5);
        begin("never ends", 1, 6);
        begin("backwards", 2, 50);
        end(2, 40);
        packet(1)
                .getTrackEventBuilder()
                .setType(TrackEvent.Type.TYPE_SLICE_BEGIN)
                .setTrackUuid(3);
        begin("far", 4, -5);

        assertThat(Omissions.faults(read().omissions()))
                .extracting(Omission::reason)
                .containsExactlyInAnyOrder(
                        Reason.END_WITHOUT_BEGIN,
                        Reason.BEGIN_WITHOUT_END,
                        Reason.NEGATIVE_DURATION,
                        Reason.NO_TIME,
                        Reason.TIME_OUT_OF_RANGE);
    }

    // ---- sequences ----

    private PerfettoTrace.TracePacket.Builder interned(int sequence, int flags, String name) {
        PerfettoTrace.TracePacket.Builder packet = packet(sequence).setSequenceFlags(flags);
        packet.getInternedDataBuilder().addEventNamesBuilder().setIid(1).setName(name);
        return packet;
    }

    private void beginInterned(int sequence, long track, long ns) {
        packet(sequence)
                .setSequenceFlags(2)
                .setTimestamp(ns)
                .getTrackEventBuilder()
                .setType(TrackEvent.Type.TYPE_SLICE_BEGIN)
                .setTrackUuid(track)
                .setNameIid(1);
    }

    @Test
    void numbersOfNamesBelongToTheirSequenceUntilItIsCleared() throws IOException {
        interned(2, 1, "two");
        interned(3, 1, "three");
        beginInterned(2, 1, 0);
        end(1, 1);
        beginInterned(3, 1, 1);
        end(1, 3);
        interned(2, 1, "new");
        beginInterned(2, 1, 3);
        end(1, 7);

        packet(3).setSequenceFlags(1);
        beginInterned(3, 1, 7);
        end(1, 15);

        TraceProfile reading = read();
        assertThat(Traces.totalNs(reading, "(no name)")).isEqualTo(8);
        assertThat(Traces.totalNs(reading, "two")).isEqualTo(1);
        assertThat(Traces.totalNs(reading, "three")).isEqualTo(2);
        assertThat(Traces.totalNs(reading, "new")).isEqualTo(4);
    }

    @Test
    void anEventWithoutTheBeginningOfItsSequenceIsDropped() throws IOException {
        beginInterned(2, 1, 0);
        interned(2, 1, "two");
        beginInterned(2, 1, 10);
        end(1, 12);

        TraceProfile reading = read();
        assertThat(Traces.repair(reading, Reason.LOST_STATE).count()).isEqualTo(1);
        assertThat(reading.snapshot().totalNs()).isEqualTo(2);
    }

    /** Older writers set a field that the schema of the tests lacks. */
    @Test
    void theFieldOfOlderWritersClearsASequenceToo() throws IOException {
        UnknownFieldSet cleared = UnknownFieldSet.newBuilder()
                .addField(41, UnknownFieldSet.Field.newBuilder().addVarint(1).build())
                .build();
        interned(2, 0, "two").setUnknownFields(cleared);
        beginInterned(2, 1, 10);
        end(1, 12);
        packet(2).setUnknownFields(cleared);
        beginInterned(2, 1, 20);
        end(1, 24);

        TraceProfile reading = read();
        assertThat(Traces.totalNs(reading, "two")).isEqualTo(2);
        assertThat(Traces.totalNs(reading, "(no name)")).isEqualTo(4);
        assertThat(Omissions.faults(reading.omissions())).isEmpty();
    }

    @Test
    void defaultsHoldForTheSequence() throws IOException {
        PerfettoTrace.TracePacket.Builder first = packet(2).setSequenceFlags(1);
        first.getTracePacketDefaultsBuilder()
                .setTimestampClockId(64)
                .getTrackEventDefaultsBuilder()
                .setTrackUuid(9);
        first.getClockSnapshotBuilder().addClocksBuilder().setClockId(3).setTimestamp(1_000);
        first.getClockSnapshotBuilder()
                .addClocksBuilder()
                .setClockId(64)
                .setTimestamp(5)
                .setIsIncremental(true)
                .setUnitMultiplierNs(10);
        packet(2)
                .setTimestamp(2)
                .getTrackEventBuilder()
                .setType(TrackEvent.Type.TYPE_SLICE_BEGIN)
                .setName("a");
        packet(2).setTimestamp(4);
        packet(2).setTimestamp(3).getTrackEventBuilder().setType(TrackEvent.Type.TYPE_SLICE_END);
        packet(2)
                .setTimestamp(2_000)
                .setTimestampClockId(3)
                .getTrackEventBuilder()
                .setType(TrackEvent.Type.TYPE_SLICE_BEGIN)
                .setTrackUuid(8)
                .setName("b");
        packet(2)
                .setTimestamp(1)
                .getTrackEventBuilder()
                .setType(TrackEvent.Type.TYPE_SLICE_END)
                .setTrackUuid(8);

        TraceProfile reading = read();
        assertThat(Traces.totalNs(reading, "a")).isEqualTo(70);
        assertThat(Omissions.faults(reading.omissions()))
                .extracting(Omission::reason)
                .containsExactly(Reason.NEGATIVE_DURATION);
    }

    /** A product of 2^60 and 2^10 would be 0 in 64 bits. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aReadingOfAClockBeyondTheBoundsIsAFault(boolean isIncremental) throws IOException {
        PerfettoTrace.TracePacket.Builder first = packet(2).setSequenceFlags(1);
        first.getTracePacketDefaultsBuilder()
                .setTimestampClockId(64)
                .getTrackEventDefaultsBuilder()
                .setTrackUuid(9);
        first.getClockSnapshotBuilder().addClocksBuilder().setClockId(6).setTimestamp(1_000);
        first.getClockSnapshotBuilder()
                .addClocksBuilder()
                .setClockId(64)
                .setTimestamp(0)
                .setIsIncremental(isIncremental)
                .setUnitMultiplierNs(1 << 10);
        packet(2)
                .setTimestamp(1L << 60)
                .getTrackEventBuilder()
                .setType(TrackEvent.Type.TYPE_SLICE_BEGIN)
                .setName("a");

        assertThat(Omissions.faults(read().omissions()))
                .extracting(Omission::reason)
                .containsExactly(Reason.TIME_OUT_OF_RANGE);
    }

    @Test
    void clocksAreBroughtTogetherAndToTheCalendar() throws IOException {
        long unixNs = 1_700_000_000_000_000_000L;
        PerfettoTrace.ClockSnapshot.Builder snapshot = packet(1).getClockSnapshotBuilder();
        snapshot.addClocksBuilder().setClockId(6).setTimestamp(10_000);
        snapshot.addClocksBuilder().setClockId(3).setTimestamp(4_000);
        snapshot.addClocksBuilder().setClockId(1).setTimestamp(unixNs);
        begin("boottime", 1, 10_000);
        end(1, 10_100);
        packet(1)
                .setTimestamp(4_300)
                .setTimestampClockId(3)
                .getTrackEventBuilder()
                .setType(TrackEvent.Type.TYPE_SLICE_BEGIN)
                .setTrackUuid(1)
                .setName("monotonic");
        end(1, 10_400);

        TraceProfile reading = read();
        assertThat(reading.wallNs()).isEqualTo(400);
        assertThat(reading.busyNs()).isEqualTo(200);
        assertThat(reading.snapshot().brick("boottime").orElseThrow().lastAtUnixNs())
                .isEqualTo(unixNs + 100);
    }

    @Test
    void packedCategoriesAndUnknownFieldsAreRead() throws IOException {
        ByteArrayOutputStream event = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(event);
        out.writeByteArray(3, new byte[] {1, 1});
        out.writeFixed32(99, 5);
        out.writeFixed64(98, 5);
        out.writeString(97, "unknown");
        out.writeEnum(9, 1);
        out.writeUInt64(11, 4);
        out.writeString(23, "named");
        out.flush();
        PerfettoTrace.TracePacket.Builder first = interned(1, 1, "x");
        first.getInternedDataBuilder().addEventCategoriesBuilder().setIid(1).setName("kernel");
        packet(1).setTimestamp(7).setTrackEvent(TrackEvent.parseFrom(event.toByteArray()));
        end(4, 9);
        byte[] bytes = trace.build().toByteArray();
        assertThat(ByteString.copyFrom(bytes).toStringUtf8()).contains("unknown");

        assertThat(Traces.totalNs(Traces.read(bytes, ALL), "named")).isEqualTo(2);
    }

    // ---- distinction from JSON ----

    @Test
    void aLineFeedBeforeJsonIsNoPacket() throws IOException {
        for (String json : List.of(
                "\n[]", "\n\n {\"traceEvents\": []}", "\n[\n{\"ph\": \"M\"}]", "\n[null, {}, {\"ph\": \"M\"}]")) {
            assertThat(Traces.read(json).snapshot().bricks()).isEmpty();
        }
    }

    @Test
    void packetsOfEveryLengthAreNoJson() throws IOException {
        for (int length = 0; length < 130; length++) {
            trace.clear();
            packet(1).getTrackDescriptorBuilder().setName("x".repeat(length));
            begin("a", 1, 0);
            end(1, 5);
            assertThat(read().eventsCounted()).as("%s", length).isEqualTo(1);
        }
    }

    // ---- refusals ----

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    @Test
    void malformedBytesAreRefusedAtTheirPlace() {
        assertThat(refused(bytes(0x0a, 0x05, 0x08, 0x01))).hasMessageContaining("ends too early");
        assertThat(refused(bytes(0x0a, 0x02, 0x5a, 0x7f)).offset()).isEqualTo(4);
        assertThat(refused(bytes(0x0a, 0x02, 0x5a, 0x7f))).hasMessageContaining("longer than its message");
        assertThat(refused(bytes(0x0a, 0x01, 0x40, 0x05))).hasMessageContaining("longer than its message");
        assertThat(refused(bytes(0x0a, 0x02, 0x00, 0x00))).hasMessageContaining("field number 0");
        assertThat(refused(bytes(0x0a, 0x01, 0x0b))).hasMessageContaining("wire type 3");
        assertThat(refused(bytes(0x0a, 0x0b, 0x40, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2)))
                .hasMessageContaining("more than 64 bits");
        assertThat(refused(bytes(0x0a, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1)))
                .hasMessageContaining("longer than its message");
        assertThat(refused(bytes(0x0a, 0x03, 0x92, 0x03, 0x00))).hasMessageContaining("compressed packets");
    }

    @Test
    void limitsHold() {
        begin("x".repeat(301), 1, 0);
        byte[] longName = trace.build().toByteArray();
        trace.clear();
        for (int i = 0; i < 9; i++) {
            packet(i + 1);
        }
        byte[] manySequences = trace.build().toByteArray();
        trace.clear();
        for (int i = 0; i < 9; i++) {
            begin("x", 1, i);
        }
        byte[] deep = trace.build().toByteArray();
        ReadOptions small = ALL.withLimits(new ReadOptions.Limits(20, 300, 5, 8, 6));

        assertThat(Traces.refused(() -> Traces.read(longName, small)))
                .hasMessageContaining("a text of 301 bytes; 300 is the limit");
        assertThat(Traces.refused(() -> Traces.read(manySequences, small)))
                .hasMessageContaining("there are more than 8 sequences of packets");
        assertThat(Traces.refused(() -> Traces.read(deep, small)))
                .hasMessageContaining("too many slices are open at once; 6 is the limit of a row");
    }

    @Test
    void namesThatFillTheMemoryAreRefused() throws IOException {
        PerfettoTrace.InternedData.Builder data = packet(1).setSequenceFlags(1).getInternedDataBuilder();
        for (int i = 1; i <= 3_000; i++) {
            data.addEventNamesBuilder().setIid(i).setName("x".repeat(1_900));
        }
        assertThat(refused(trace.build().toByteArray())).hasMessageContaining("the names of a packet");

        trace.clear();
        for (int i = 1; i <= 3_000; i++) {
            packet(1).getInternedDataBuilder().addEventNamesBuilder().setIid(i).setName("x".repeat(1_900));
        }
        assertThat(refused(trace.build().toByteArray())).hasMessageContaining("the names of the trace");

        trace.clear();
        for (int i = 1; i <= 3_000; i++) {
            packet(1)
                    .setSequenceFlags(1)
                    .getInternedDataBuilder()
                    .addEventNamesBuilder()
                    .setIid(i)
                    .setName("x".repeat(1_900));
        }
        assertThat(read().eventsRead()).isZero();
    }

    @Test
    void aTruncatedTraceIsReadOrRefused() throws IOException {
        interned(1, 1, "a");
        begin("b", 1, 5)
                .addCategories("kernel")
                .addDebugAnnotations(PerfettoTrace.DebugAnnotation.newBuilder()
                        .setName("bytes")
                        .setIntValue(300));
        beginInterned(1, 1, 7);
        end(1, 300);
        end(1, 400);
        byte[] whole = trace.build().toByteArray();
        int read = 0;
        // A file truncated within the length of the first packet may be JSON.
        for (int length = 3; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            try {
                Traces.read(cut, ALL);
                read++;
            } catch (TraceFormatException refused) {
                assertThat(refused).hasMessageContaining("ends too early");
                assertThat(refused.offset()).isEqualTo(length);
            }
        }
        assertThat(read).as("cuts between packets").isEqualTo(4);
    }
}
