package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import com.google.protobuf.TextFormat;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.zip.GZIPOutputStream;
import org.brickprofiler.Attribution;
import org.brickprofiler.Backend;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.trace.DeviceTrack;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.TraceInfo.Device;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.read.Omission.Effect;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.write.TraceFiles;
import org.brickprofiler.trace.write.proto.PerfettoTrace;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RoundTripTest {

    private static final Device GPU = new Device(0, "a GPU", Backend.CUDA, OptionalLong.empty());

    private final FakeClock clock = new FakeClock(5_000);
    private TraceRecorder recorder =
            TraceRecorder.builder().clock(clock).tiles(true).build();
    private BrickProfiler profiler = profiler(Attribution.LITERAL);

    private BrickProfiler profiler(Attribution attribution) {
        BrickProfiler made = BrickProfiler.builder()
                .clock(clock)
                .attribution(attribution)
                .tracing(recorder)
                .build();
        made.enable();
        return made;
    }

    private void brick(BrickId id, long elapsedNs) {
        long timer = profiler.startBrick(id);
        clock.advance(elapsedNs);
        profiler.stopBrick(timer, 3);
    }

    private void sameAsTheProfiler() throws IOException {
        assertThat(profiler.snapshot().samples()).isPositive();
        RoundTrip.assertSame(recorder.timeline(), profiler.snapshot());
    }

    // ---- bricks ----

    @Test
    void anOuterBrickKeepsTheTimeOfTheOnesInside() throws IOException {
        long outer = profiler.startBrick(BrickId.FUSED_ATTENTION);
        brick(BrickId.ATTENTION_SCORE, 40);
        brick(BrickId.ATTENTION_SCORE, 60);
        profiler.stopBrick(outer, 7);

        sameAsTheProfiler();
        for (RoundTrip.Format format : RoundTrip.Format.values()) {
            TraceProfile reading = format.read(recorder.timeline());
            assertThat(Traces.totalNs(reading, "FusedAttention")).isEqualTo(100);
            assertThat(reading.wallNs()).isEqualTo(100);
            assertThat(reading.busyNs()).isEqualTo(100);
            assertThat(reading.rows()).isEqualTo(1);
            assertThat(reading.unmatched().events()).isZero();
            assertThat(Omissions.faults(reading.omissions())).isEmpty();
        }
    }

    @Test
    void aBrickNamedLikeAnAliasOfAKnownBrickKeepsItsName() throws IOException {
        for (String alias : List.of("head", "Head", "lm_head", "rms_norm", "gate")) {
            profiler.record(profiler.ownBrickKey(alias, BrickCategory.ATTENTION), 10, 1);
            clock.advance(20);
        }
        brick(BrickId.LM_HEAD, 30);

        sameAsTheProfiler();
        for (RoundTrip.Format format : RoundTrip.Format.values()) {
            assertThat(format.read(recorder.timeline()).snapshot().bricks())
                    .extracting(BrickStats::name)
                    .containsExactlyInAnyOrder("head", "Head", "lm_head", "rms_norm", "gate", "LmHead");
        }
    }

    /** Halves of surrogate pairs have no encoding in a file; former versions wrote such names alike. */
    @Test
    void namesThatDifferInHalfASurrogatePairStayApart() throws IOException {
        for (String name : List.of("a\ud800", "a\ud801", "a\udc00b", "a\udc01b", "a\ud83d\ude00")) {
            profiler.record(profiler.brickKey(name, BrickCategory.OTHER), 10, 1);
        }

        for (RoundTrip.Format format : RoundTrip.Format.values()) {
            assertThat(format.read(recorder.timeline()).snapshot().bricks())
                    .extracting(BrickStats::name, BrickStats::count)
                    .containsExactlyInAnyOrder(
                            tuple("a\ufffdd800", 1L),
                            tuple("a\ufffdd801", 1L),
                            tuple("a\ufffddc00b", 1L),
                            tuple("a\ufffddc01b", 1L),
                            tuple("a\ud83d\ude00", 1L));
        }
    }

    /** 16 days; former versions of the timeline truncated durations at 39 hours. */
    @Test
    void aBrickOfManyDaysKeepsItsTime() throws IOException {
        profiler.record(profiler.brickKey("Epoch", BrickCategory.OTHER), 1_400_000_000_000_000L, 1 << 20);

        sameAsTheProfiler();
    }

    @Test
    void warmUpCounts() throws IOException {
        brick(BrickId.RMS_NORM, 1_000_000);
        for (int i = 0; i < 40; i++) {
            brick(BrickId.RMS_NORM, 10);
        }
        sameAsTheProfiler();
    }

    @Test
    void moreMeasurementsThanSlicesMayBeOpenEndTogether() throws IOException {
        for (int i = 0; i < 3_000; i++) {
            profiler.recordDeferred(BrickId.RMS_NORM, profiler.elapsedNs(), 1);
            clock.advance(1);
        }
        profiler.finalize(profiler.elapsedNs());
        assertThat(RoundTrip.Format.PERFETTO
                        .read(recorder.timeline())
                        .snapshot()
                        .samples())
                .isEqualTo(3_000);
        assertThat(RoundTrip.Format.CHROME.read(recorder.timeline()).snapshot().totalNs())
                .isEqualTo(profiler.snapshot().totalNs());
    }

    @Test
    void namesThatTheProfilerHasNoRoomForShareABrick() throws IOException {
        for (int i = 0; i < 5_000; i++) {
            clock.advance(1);
            profiler.record(profiler.brickKey("brick " + i, BrickCategory.FFN), 7, 2);
        }
        for (BrickId id : List.of(BrickId.RMS_NORM, BrickId.LM_HEAD)) {
            brick(id, 9);
        }
        assertThat(profiler.snapshot().brick("(other names)")).isPresent();
        sameAsTheProfiler();
    }

    @Test
    void namesBeyondALimitShareOneButTheKnownOnesDoNot() throws IOException {
        for (String name : List.of("a", "b", "c")) {
            clock.advance(1);
            profiler.record(profiler.brickKey(name, BrickCategory.FFN), 7, 2);
        }
        brick(BrickId.RMS_NORM, 1);
        ReadOptions two = ReadOptions.defaults().withLimits(new ReadOptions.Limits(20, 300, 2, 8, 6));
        for (RoundTrip.Format format : RoundTrip.Format.values()) {
            assertThat(format.read(recorder.timeline(), two).snapshot().bricks())
                    .extracting(brick -> brick.name() + " " + brick.category())
                    .containsExactlyInAnyOrder("a FFN", "b FFN", "(other names) OTHER", "RmsNorm NORM");
        }
    }

    // ---- slices that are no bricks ----

    private TraceProfile onlyOneBrick(RoundTrip.Format format) throws IOException {
        TraceProfile reading = format.read(recorder.timeline());
        assertThat(RoundTrip.bricks(reading.snapshot())).isEqualTo(RoundTrip.bricks(profiler.snapshot()));
        assertThat(reading.eventsCounted()).isEqualTo(1);
        return reading;
    }

    @ParameterizedTest
    @EnumSource(RoundTrip.Format.class)
    void spansOfADeviceAreNotSecondSamples(RoundTrip.Format format) throws IOException {
        DeviceTrack stream = recorder.stream(GPU, "stream 7", 7);
        long launchNs = clock.now();
        brick(BrickId.GATE_PROJECTION, 10);
        stream.launchedSpan(
                "GateProjection",
                "FFN",
                clock.now(),
                500,
                3,
                Thread.currentThread().getId(),
                launchNs);
        stream.span("UpProjection", "FFN", clock.now() + 600, 50, 3);
        stream.endToEnd(clock.now(), List.of("copy"), "Transfer", 30);

        TraceProfile reading = onlyOneBrick(format);
        assertThat(recorder.timeline().names()).extracting("category").contains("FFN", "Transfer");
        assertThat(Omissions.ignored(reading)).containsEntry(Reason.DEVICE, 3L);
        assertThat(reading.wallNs()).isEqualTo(10);
    }

    @ParameterizedTest
    @EnumSource(RoundTrip.Format.class)
    void layersTilesAndEventsOfAnApplicationAreNoBricks(RoundTrip.Format format) throws IOException {
        brick(BrickId.RMS_NORM, 10);
        profiler.endLayer();
        profiler.endPass();
        profiler.tiles().enable();
        long tile = profiler.tiles().start(TileLevel.MACRO, 0, 0);
        clock.advance(5);
        profiler.tiles().stop(tile, 8, 8);
        recorder.instant("RmsNorm");
        recorder.counter("RmsNorm", "ns").set(7);
        recorder.span("RmsNorm", "Norm", 5_000, 10);
        recorder.span("RmsNorm", "Norm", 5_000, 10, 4_711);
        recorder.span("request", "OpenTelemetry", 5_000, 10);
        recorder.push("RmsNorm", "Norm", 10, 1);

        TraceProfile reading = onlyOneBrick(format);
        assertThat(reading.steps()).isEqualTo(1);
        // A layer, a tile, three spans of the application and a pushed timer.
        assertThat(Omissions.ignored(reading))
                .containsEntry(Reason.NO_BRICK, 6L)
                .containsEntry(Reason.ANNOTATION, 1L)
                .containsEntry(Reason.INSTANT, 1L)
                .containsEntry(Reason.COUNTER, 1L);
    }

    @ParameterizedTest
    @EnumSource(RoundTrip.Format.class)
    void stepsCanBeSkipped(RoundTrip.Format format) throws IOException {
        for (int step = 0; step < 4; step++) {
            brick(BrickId.RMS_NORM, 10);
            profiler.endPass();
            clock.advance(5);
        }
        TraceProfile reading =
                format.read(recorder.timeline(), ReadOptions.defaults().withSkipSteps(3));

        assertThat(reading.steps()).isEqualTo(4);
        assertThat(reading.eventsCounted()).isEqualTo(1);
        assertThat(reading.leftOutNs()).isEqualTo(30);
    }

    // ---- missing parts ----

    @ParameterizedTest
    @EnumSource(RoundTrip.Format.class)
    void lostSpansAreReported(RoundTrip.Format format) throws IOException {
        recorder = TraceRecorder.builder().clock(clock).threadCapacity(4).build();
        profiler = profiler(Attribution.LITERAL);
        for (int i = 0; i < 10; i++) {
            brick(BrickId.RMS_NORM, 10);
        }
        TraceProfile reading = format.read(recorder.timeline());

        assertThat(reading.spansLost())
                .isEqualTo(recorder.timeline().info().droppedSpans())
                .isPositive()
                .isEqualTo(10 - reading.eventsCounted());
        assertThat(reading.summary()).contains("spans lost while recording: the table is incomplete");
        assertThat(reading.events(Effect.DROPPED)).isZero();
    }

    @ParameterizedTest
    @EnumSource(RoundTrip.Format.class)
    void aTimelineWithoutBricksIsAnEmptyProfile(RoundTrip.Format format) throws IOException {
        recorder.instant("here");
        TraceProfile reading = format.read(recorder.timeline());

        assertThat(reading.snapshot().bricks()).isEmpty();
        assertThat(reading.wallNs()).isZero();
        assertThat(reading.spansLost()).isZero();
        assertThat(reading.summary()).contains("the trace names its bricks itself");
    }

    // ---- files ----

    @ParameterizedTest
    @EnumSource(RoundTrip.Format.class)
    void theCalendarIsKept(RoundTrip.Format format) throws IOException {
        clock.set(-70);
        brick(BrickId.RMS_NORM, 10);
        clock.set(100);
        TraceInfo info = recorder.timeline().info();
        TraceProfile reading = format.read(recorder.timeline());

        long startedUnixNs =
                ChronoUnit.NANOS.between(Instant.EPOCH, reading.snapshot().startedAt());
        assertThat(startedUnixNs - (info.unixNs() - 170)).isBetween(-1L, 60_000_000_000L);
    }

    @Test
    void filesOfAllEndingsAreRead(@TempDir Path folder) throws IOException {
        brick(BrickId.RMS_NORM, 10);
        for (String name : List.of("a.pftrace", "a.json", "a.json.gz")) {
            TraceFiles.write(recorder.timeline(), folder.resolve(name));
            TraceProfile reading = TraceReader.profile(folder.resolve(name));
            assertThat(RoundTrip.bricks(reading.snapshot())).isEqualTo(RoundTrip.bricks(profiler.snapshot()));
        }
    }

    @Test
    void aPackedPerfettoTraceIsRead() throws IOException {
        brick(BrickId.RMS_NORM, 10);
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(RoundTrip.Format.PERFETTO.written(recorder.timeline()));
        }
        assertThat(Traces.read(packed.toByteArray(), ReadOptions.defaults()).eventsCounted())
                .isEqualTo(1);
    }

    private static byte[] withProducer(byte[] trace, String producer) {
        return new String(trace, StandardCharsets.ISO_8859_1)
                .replaceFirst("brick-profiler \\d", producer)
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    /** A trace of the former format, which states every sample. It also has a slice RmsNorm that is no sample. */
    @Test
    void aFormerPerfettoTraceKeepsItsMeaning() throws IOException {
        Path former =
                Path.of("src", "test", "resources", "org", "brickprofiler", "trace", "read", "former.pftrace.txt");
        PerfettoTrace.Trace trace = TextFormat.parse(Files.readString(former), PerfettoTrace.Trace.class);
        TraceProfile reading = Traces.read(trace.toByteArray(), ReadOptions.defaults());

        assertThat(reading.counting()).isEqualTo(TraceProfile.Counting.BRICKS);
        assertThat(reading.snapshot().bricks())
                .extracting("name", "count", "totalNs", "totalElements")
                .containsExactlyInAnyOrder(
                        tuple("RmsNorm", 2L, 10_000L, 1L), tuple("Qkv \"proj\"\n\u00e9\ud83d\ude00", 1L, 10_001L, 1L));
        assertThat(Omissions.ignored(reading))
                .containsEntry(Reason.NO_BRICK, 2L)
                .containsEntry(Reason.DEVICE, 3L);
        assertThat(reading.spansLost()).isEqualTo(42);
    }

    @ParameterizedTest
    @EnumSource(RoundTrip.Format.class)
    void anotherVersionIsRefused(RoundTrip.Format format) throws IOException {
        brick(BrickId.RMS_NORM, 10);
        byte[] newer = withProducer(format.written(recorder.timeline()), "brick-profiler 9");

        assertThatExceptionOfType(TraceFormatException.class)
                .isThrownBy(() -> Traces.read(newer, ReadOptions.defaults()))
                .withMessageContaining("\"brick-profiler 9\"")
                .withMessageContaining("\"brick-profiler 1\"");
    }

    @ParameterizedTest
    @EnumSource(RoundTrip.Format.class)
    void withoutItsProducerATraceIsLikeAnyOther(RoundTrip.Format format) throws IOException {
        long outer = profiler.startBrick(BrickId.FUSED_ATTENTION);
        brick(BrickId.ATTENTION_SCORE, 40);
        profiler.stopBrick(outer, 7);
        byte[] foreign = withProducer(format.written(recorder.timeline()), "other-profiler 1");
        TraceProfile reading = Traces.read(foreign, ReadOptions.defaults());

        assertThat(reading.counting()).isEqualTo(TraceProfile.Counting.ALL_SLICES);
        assertThat(Traces.totalNs(reading, "FusedAttention")).isZero();
        assertThat(Traces.totalNs(reading, "AttentionScore")).isEqualTo(40);
    }

    @Test
    void everyCutOfAnOwnTraceIsRefusedOrReported() throws IOException {
        long outer = profiler.startBrick(BrickId.FUSED_ATTENTION);
        brick(BrickId.ATTENTION_SCORE, 40);
        profiler.stopBrick(outer, 7);
        byte[] whole = RoundTrip.Format.PERFETTO.written(recorder.timeline());
        int read = 0;
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            try {
                TraceProfile profile = Traces.read(cut, ReadOptions.defaults());
                read++;
                assertThat(Traces.repair(profile, Reason.CUT_OFF))
                        .isEqualTo(new Omission(Reason.CUT_OFF, "", 1, 0, length));
                assertThat(profile.summary()).contains("1 file cut off before its end");
                assertThat(timeline(cut)).extracting(Omission::reason).contains(Reason.CUT_OFF);
            } catch (TraceFormatException refused) {
                assertThat(refused.offset()).isBetween(0L, (long) length);
            }
        }
        // After the process, the clocks, the thread, the head of the sequence, two begins and two ends.
        assertThat(read).isEqualTo(8);
        assertThat(Omissions.faults(Traces.read(whole, ReadOptions.defaults()).omissions()))
                .isEmpty();
        assertThat(timeline(whole)).isEmpty();
    }

    private static List<Omission> timeline(byte[] trace) throws IOException {
        try (TraceTimeline read = TraceReader.timeline(new ByteArrayInputStream(trace), ReadOptions.defaults())) {
            return read.omissions();
        }
    }

    /** A conversion of a file without its end states in its output that the trace was cut off. */
    @ParameterizedTest
    @EnumSource(RoundTrip.Format.class)
    void aConvertedFileKeepsThatItsTraceWasCutOff(RoundTrip.Format format) throws IOException {
        brick(BrickId.RMS_NORM, 10);
        byte[] cut = withoutLastPacket(RoundTrip.Format.PERFETTO.written(recorder.timeline()));
        byte[] chrome = RoundTrip.Format.CHROME.written(recorder.timeline());
        byte[] damaged = Arrays.copyOf(chrome, chrome.length - 30);

        for (byte[] incomplete : List.of(cut, damaged)) {
            try (TraceTimeline read = TraceReader.timeline(
                    new ByteArrayInputStream(incomplete), ReadOptions.defaults().withSalvage(true))) {
                TraceProfile converted = format.read(read.timeline());
                assertThat(Omissions.faults(converted.omissions()))
                        .extracting(Omission::reason, Omission::count)
                        .containsExactly(tuple(Reason.CUT_OFF, 1L));
                assertThat(converted.eventsCounted()).isOne();
            }
        }
    }

    @Test
    void eachOfJoinedFilesMayBeCutOff() throws IOException {
        brick(BrickId.RMS_NORM, 10);
        byte[] whole = RoundTrip.Format.PERFETTO.written(recorder.timeline());
        byte[] cut = withoutLastPacket(whole);

        assertThat(Omissions.faults(Traces.read(joined(whole, whole), ReadOptions.defaults())
                        .omissions()))
                .isEmpty();
        assertThat(Omissions.faults(
                        Traces.read(joined(cut, whole), ReadOptions.defaults()).omissions()))
                .extracting(Omission::reason, Omission::count)
                .containsExactly(tuple(Reason.CUT_OFF, 1L));
        assertThat(Omissions.faults(
                        Traces.read(joined(cut, cut), ReadOptions.defaults()).omissions()))
                .extracting(Omission::reason, Omission::count)
                .containsExactly(tuple(Reason.CUT_OFF, 2L));
    }

    @ParameterizedTest
    @ValueSource(strings = {"brick-profiler 1", "brick-profiler 2", "other-profiler 1"})
    void otherProducersDoNotMarkTheEnd(String producer) throws IOException {
        brick(BrickId.RMS_NORM, 10);
        byte[] other =
                withProducer(withoutLastPacket(RoundTrip.Format.PERFETTO.written(recorder.timeline())), producer);

        assertThat(Omissions.faults(Traces.read(other, ReadOptions.defaults()).omissions()))
                .isEmpty();
    }

    private static byte[] withoutLastPacket(byte[] trace) throws IOException {
        PerfettoTrace.Trace.Builder packets = PerfettoTrace.Trace.parseFrom(trace).toBuilder();
        return packets.removePacket(packets.getPacketCount() - 1).build().toByteArray();
    }

    private static byte[] joined(byte[] one, byte[] other) {
        byte[] both = Arrays.copyOf(one, one.length + other.length);
        System.arraycopy(other, 0, both, one.length, other.length);
        return both;
    }

    @Test
    void aProducerAfterTheEventsIsRefused() {
        String late = "{\"traceEvents\": [" + Traces.slice("a", 0, 1) + "], \"producer\": \"brick-profiler 1\"}";

        assertThatExceptionOfType(TraceFormatException.class)
                .isThrownBy(() -> Traces.read(late))
                .withMessageContaining("after the events");
    }
}
