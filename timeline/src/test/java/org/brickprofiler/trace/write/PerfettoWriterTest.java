package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;
import static org.brickprofiler.trace.write.proto.PerfettoTrace.TrackEvent.Type.TYPE_COUNTER;
import static org.brickprofiler.trace.write.proto.PerfettoTrace.TrackEvent.Type.TYPE_INSTANT;
import static org.brickprofiler.trace.write.proto.PerfettoTrace.TrackEvent.Type.TYPE_SLICE_BEGIN;

import com.google.protobuf.TextFormat;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.Track;
import org.brickprofiler.trace.write.PerfettoDecoder.Decoded;
import org.brickprofiler.trace.write.proto.PerfettoTrace;
import org.junit.jupiter.api.Test;

final class PerfettoWriterTest {

    static byte[] written(FixedTimeline timeline) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PerfettoWriter.write(timeline, out);
        return out.toByteArray();
    }

    private static PerfettoDecoder decoded(FixedTimeline timeline) throws IOException {
        return PerfettoDecoder.decode(written(timeline));
    }

    private static FixedTimeline withTracks(List<Track> tracks) {
        return new FixedTimeline(
                FixedTimeline.someInfo(),
                List.of(new SpanName("A", "Other")),
                tracks,
                tracks.stream().map(track -> List.of(Event.span(5, 6, 0))).toList());
    }

    @Test
    void theSampleIsWrittenAsBefore() throws IOException {
        PerfettoTrace.Trace trace = PerfettoTrace.Trace.parseFrom(written(FixedTimeline.sample()));

        Golden.assertSame(TextFormat.printer().printToString(trace), getClass(), "sample.pftrace.txt");
    }

    @Test
    void theSampleComesBack() throws IOException {
        PerfettoDecoder trace = decoded(FixedTimeline.sample());

        assertThat(trace.tracks.values())
                .extracting(PerfettoTrace.TrackDescriptor::getName)
                .containsExactly(
                        "",
                        "main",
                        "worker-1",
                        "A GPU",
                        "stream 7",
                        "stream 8",
                        "memory",
                        "temperature",
                        "worker-1 (lane 2)");
        assertThat(trace.of(TYPE_SLICE_BEGIN)).hasSize(10);
        assertThat(trace.of(TYPE_COUNTER)).extracting(Decoded::value).containsExactly(1048576.0, 3145728.0, 61.5, -1.0);
        assertThat(trace.monotonicNs).isEqualTo(5_000);
        assertThat(trace.realtimeNs).isEqualTo(1_700_000_000_000_005_000L);
    }

    @Test
    void aFlowLeadsFromTheLaunchToTheKernel() throws IOException {
        List<Decoded> slices = decoded(FixedTimeline.sample()).of(TYPE_SLICE_BEGIN);

        List<Long> out =
                slices.stream().flatMap(slice -> slice.flows().stream()).toList();
        List<Long> in = slices.stream()
                .flatMap(slice -> slice.terminatingFlows().stream())
                .toList();
        assertThat(out).hasSize(2).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(in);
    }

    @Test
    void threadsProcessesAndStreamsKeepTheirKinds() throws IOException {
        List<PerfettoTrace.TrackDescriptor> tracks =
                List.copyOf(decoded(FixedTimeline.sample()).tracks.values());

        assertThat(tracks.get(0).getProcess().getPid()).isEqualTo(4711);
        assertThat(tracks.get(0).getProcess().getProcessName()).isEqualTo("decode");
        assertThat(tracks.get(0).getProcess().getProcessLabelsList())
                .containsExactly(
                        PerfettoWriter.PRODUCER, "rank 3 of 8", "42 spans dropped", "device times within 250 ns");
        assertThat(tracks.get(2).getThread().getPid()).isEqualTo(4711);
        assertThat(tracks.get(2).getThread().getTid()).isEqualTo(4712);
        assertThat(tracks.get(3).getParentUuid()).isEqualTo(tracks.get(0).getUuid());
        assertThat(tracks.get(4).getParentUuid()).isEqualTo(tracks.get(3).getUuid());
        assertThat(tracks.get(4).getSiblingMergeBehavior())
                .isEqualTo(PerfettoTrace.TrackDescriptor.SiblingMergeBehavior.NONE);
        assertThat(tracks.get(6).getCounter().getUnit())
                .isEqualTo(PerfettoTrace.CounterDescriptor.Unit.UNIT_SIZE_BYTES);
        assertThat(tracks.get(7).getCounter().getUnitName()).isEqualTo("degrees");
        assertThat(tracks.get(8).getParentUuid()).isEqualTo(tracks.get(2).getUuid());
    }

    @Test
    void aSpanSaysWhichDeviceItIsOf() throws IOException {
        PerfettoDecoder trace = decoded(withTracks(List.of(
                new Track(Track.Kind.HOST_THREAD, "main", Track.PROCESS, 7),
                new Track(Track.Kind.DEVICE, "d", Track.PROCESS, 3),
                new Track(Track.Kind.STREAM, "s", 1, 9),
                new Track(Track.Kind.DEVICE, "e", Track.PROCESS, 5))));

        assertThat(trace.of(TYPE_SLICE_BEGIN))
                .extracting(
                        span -> Objects.requireNonNull(trace.tracks.get(span.track()))
                                .getName(),
                        span -> span.annotations().get("device"))
                .containsExactlyInAnyOrder(tuple("main", null), tuple("d", 3L), tuple("s", 3L), tuple("e", 5L));
    }

    @Test
    void unitsThatPerfettoKnowsAreItsOwn() throws IOException {
        List<String> units = List.of("ns", "count", "bytes", "", "tokens/s");
        FixedTimeline timeline = new FixedTimeline(
                FixedTimeline.someInfo(),
                List.of(),
                units.stream()
                        .map(unit -> new Track(Track.Kind.COUNTER, "in '" + unit + "'", Track.PROCESS, 0, unit))
                        .toList(),
                units.stream().map(unit -> List.of(Event.value(1, 2))).toList());

        assertThat(decoded(timeline).tracks.values())
                .filteredOn(PerfettoTrace.TrackDescriptor::hasCounter)
                .extracting(
                        PerfettoTrace.TrackDescriptor::getName,
                        track -> track.getCounter().getUnit(),
                        track -> track.getCounter().getUnitName())
                .containsExactly(
                        tuple("in 'ns'", PerfettoTrace.CounterDescriptor.Unit.UNIT_TIME_NS, ""),
                        tuple("in 'count'", PerfettoTrace.CounterDescriptor.Unit.UNIT_COUNT, ""),
                        tuple("in 'bytes'", PerfettoTrace.CounterDescriptor.Unit.UNIT_SIZE_BYTES, ""),
                        tuple("in ''", PerfettoTrace.CounterDescriptor.Unit.UNIT_UNSPECIFIED, ""),
                        tuple("in 'tokens/s'", PerfettoTrace.CounterDescriptor.Unit.UNIT_UNSPECIFIED, "tokens/s"));
    }

    @Test
    void aWriterFlushesTheBufferOfTheStream() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PerfettoWriter.write(FixedTimeline.sample(), new BufferedOutputStream(out, 1 << 20));

        assertThat(PerfettoDecoder.decode(out.toByteArray()).events).isNotEmpty();
    }

    @Spec("13.2")
    @Test
    void droppedSpansAreToldAtTheBeginning() throws IOException {
        assertThat(decoded(FixedTimeline.sample()).of(TYPE_INSTANT))
                .filteredOn(instant -> instant.name().equals("dropped spans"))
                .singleElement()
                .satisfies(instant -> {
                    assertThat(instant.startNs()).isEqualTo(10_000);
                    assertThat(instant.annotations()).containsEntry("dropped_spans", 42L);
                });
        assertThat(decoded(FixedTimeline.ofOneThread()).events).isEmpty();
    }

    @Test
    void aSpanOfNoLengthStaysInsideTheOneThatBeginsWithIt() throws IOException {
        assertThat(decoded(FixedTimeline.ofOneThread(
                                Event.span(0, 10, 0), Event.span(10, 20, 0), Event.span(10, 10, 1)))
                        .of(TYPE_SLICE_BEGIN))
                .extracting(Decoded::name, Decoded::startNs, Decoded::endNs)
                .containsExactly(tuple("A", 0L, 10L), tuple("B", 10L, 10L), tuple("A", 10L, 20L));
    }

    @Spec("13.6")
    @Test
    void spansThatOverlapShareNoTrack() throws IOException {
        PerfettoDecoder trace = decoded(FixedTimeline.ofOneThread(
                Event.span(0, 10, 0), Event.span(5, 15, 1), Event.span(7, 20, 2), Event.span(12, 18, 0)));

        assertThat(trace.of(TYPE_SLICE_BEGIN).stream().map(Decoded::track).distinct())
                .hasSize(3);
        assertThat(trace.tracks.values())
                .extracting(PerfettoTrace.TrackDescriptor::getName)
                .containsExactly("", "main", "main (lane 2)", "main (lane 3)");
        assertThat(trace.of(TYPE_SLICE_BEGIN))
                .filteredOn(slice -> slice.startNs() == 12)
                .as("goes back to the first track that is free")
                .extracting(Decoded::track)
                .containsExactly(trace.tracks.keySet().stream().toList().get(1));
    }

    @Test
    void negativeTimesAreMovedTogether() throws IOException {
        TraceInfo info = TraceInfo.builder("model", 1)
                .moment(-50, 1_000_000)
                .droppedSpans(3)
                .build();
        PerfettoDecoder trace = decoded(FixedTimeline.ofOneThread(Event.span(-100, -40, 0), Event.span(-30, 5, 1))
                .with(info));

        assertThat(trace.of(TYPE_SLICE_BEGIN))
                .extracting(Decoded::startNs, Decoded::endNs)
                .containsExactly(tuple(0L, 60L), tuple(70L, 105L));
        assertThat(trace.monotonicNs).isEqualTo(50);
        assertThat(trace.realtimeNs).isEqualTo(1_000_000);
        assertThat(trace.of(TYPE_INSTANT)).extracting(Decoded::startNs).containsExactly(0L);
    }

    @Spec("13.6")
    @Test
    void aSpanThatEndsBeforeItStartsHasNoLength() throws IOException {
        assertThat(decoded(FixedTimeline.ofOneThread(Event.span(10, 3, 0))).of(TYPE_SLICE_BEGIN))
                .extracting(Decoded::startNs, Decoded::endNs)
                .containsExactly(tuple(10L, 10L));
    }

    @Test
    void aThreadNumberThatIsTakenOrTheIdleThreadsMakesAPlainTrack() throws IOException {
        PerfettoDecoder trace = decoded(withTracks(List.of(
                new Track(Track.Kind.HOST_THREAD, "first", Track.PROCESS, 5),
                new Track(Track.Kind.HOST_THREAD, "second", Track.PROCESS, 5),
                new Track(Track.Kind.HOST_THREAD, "third", Track.PROCESS, 0))));

        assertThat(trace.tracks.values())
                .extracting(PerfettoTrace.TrackDescriptor::hasThread)
                .containsExactly(false, true, false, false);
    }

    // ---- implied values ----

    private static FixedTimeline ofBricks(Event... events) {
        return new FixedTimeline(
                FixedTimeline.someInfo(),
                List.of(
                        new SpanName("step", SpanName.STEP), new SpanName("Layer 3", "layer"),
                        new SpanName("RmsNorm", "Norm"), new SpanName("request", "Application")),
                List.of(new Track(Track.Kind.HOST_THREAD, "main", Track.PROCESS, 7)),
                List.of(List.of(events)));
    }

    @Test
    void oneElementOfABrickGoesWithoutSaying() throws IOException {
        PerfettoDecoder trace = decoded(ofBricks(
                Event.span(0, 1, 2).of(1, -1, -1),
                Event.span(1, 2, 2).of(0, -1, -1),
                Event.span(2, 3, 2).of(64, -1, -1),
                Event.span(3, 4, 2).of(-1, -1, -1),
                Event.span(4, 5, 3).of(1, -1, -1),
                Event.span(5, 6, 3).of(-1, -1, -1)));

        assertThat(trace.of(TYPE_SLICE_BEGIN))
                .extracting(Decoded::said)
                .containsExactly(
                        Map.of(),
                        Map.of("elements", 0L),
                        Map.of("elements", 64L),
                        Map.of("sample", 0L),
                        Map.of("elements", 1L),
                        Map.of());
        assertThat(trace.of(TYPE_SLICE_BEGIN))
                .extracting(Decoded::annotations)
                .containsExactly(
                        Map.of("elements", 1L),
                        Map.of("elements", 0L),
                        Map.of("elements", 64L),
                        Map.of(),
                        Map.of("elements", 1L),
                        Map.of());
    }

    @Test
    void theLayerOfTheSliceAroundGoesWithoutSaying() throws IOException {
        PerfettoDecoder trace = decoded(ofBricks(
                Event.span(0, 100, 0),
                Event.span(0, 10, 2).of(1, -1, -1),
                Event.span(10, 90, 1).of(-1, 3, -1),
                Event.span(10, 40, 2).of(1, 3, -1),
                Event.span(20, 30, 2).of(1, 3, -1),
                Event.span(40, 50, 2).of(1, 4, -1),
                Event.span(50, 60, 2).of(1, -1, -1),
                Event.span(60, 95, 2).of(1, 3, -1),
                Event.span(100, 110, 2).of(1, 3, -1)));

        assertThat(trace.of(TYPE_SLICE_BEGIN))
                .extracting(
                        Decoded::startNs, Decoded::endNs, slice -> slice.said().get("layer"))
                .containsExactlyInAnyOrder(
                        tuple(0L, 100L, null),
                        tuple(0L, 10L, null),
                        tuple(10L, 90L, 3L),
                        tuple(10L, 40L, null),
                        tuple(20L, 30L, null),
                        tuple(40L, 50L, 4L),
                        tuple(50L, 60L, -1L),
                        // It outlasts the layer, and so lies on a track beside.
                        tuple(60L, 95L, 3L),
                        tuple(100L, 110L, 3L));
    }

    @Test
    void spansOfAnotherProgramStateAllValuesAndNoProducerIsNamed() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PerfettoWriter.write(
                ofBricks(
                        Event.span(0, 10, 1).of(-1, 3, -1),
                        Event.span(0, 5, 2).of(1, 3, -1),
                        Event.span(5, 10, 2).of(-1, -1, -1)),
                out,
                TraceFiles.Origin.OTHER);
        PerfettoDecoder trace = PerfettoDecoder.decode(out.toByteArray());

        assertThat(trace.of(TYPE_SLICE_BEGIN))
                .extracting(Decoded::said)
                .containsExactly(Map.of("elements", 1L, "layer", 3L), Map.of(), Map.of("layer", 3L));
        assertThat(trace.tracks.values())
                .flatExtracting(track -> track.getProcess().getProcessLabelsList())
                .isEmpty();
    }

    @Test
    void namesMuchLongerThanTheBufferAreWritten() throws IOException {
        String name = "n".repeat(300_000);
        FixedTimeline timeline = new FixedTimeline(
                FixedTimeline.someInfo(),
                List.of(new SpanName(name, "Other")),
                List.of(new Track(Track.Kind.HOST_THREAD, "main", Track.PROCESS, 7)),
                List.of(List.of(Event.span(1, 2, 0), Event.span(2, 3, 0))));

        assertThat(decoded(timeline).of(TYPE_SLICE_BEGIN))
                .extracting(Decoded::name)
                .containsExactly(name, name);
    }

    @Test
    void aTimelineThatBreaksItsRulesIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> written(withTracks(List.of(
                        new Track(Track.Kind.STREAM, "early", 1, 5),
                        new Track(Track.Kind.DEVICE, "late", Track.PROCESS, 5)))))
                .withMessage("the track early comes before its parent, track 1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> written(withTracks(List.of(new Track(Track.Kind.DEVICE, "own", 0, 5)))))
                .withMessage("the track own comes before its parent, track 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> written(withTracks(List.of(new Track(Track.Kind.STREAM, "s", Track.PROCESS, 5)))))
                .withMessage("the stream s belongs to no device");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> written(withTracks(List.of(new Track(Track.Kind.COUNTER, "c", Track.PROCESS, 5)))))
                .withMessage("a span or an instant on the counter c");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> written(FixedTimeline.ofOneThread(Event.value(1, 1))))
                .withMessage("a value on the track main");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> written(FixedTimeline.ofOneThread(Event.span(1, 2, 3))))
                .withMessage("name 3 of 3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PerfettoWriter.write(
                        new UnsortedTimeline(FixedTimeline.ofOneThread()), new ByteArrayOutputStream()))
                .withMessage("an event at 4 ns after one at 5 ns on the track main");
    }

    @Test
    void aFailureIsToldAsItIsAndTheTimelineIsWrittenAtTheNextTry() throws IOException {
        FixedTimeline timeline = FixedTimeline.sample();
        byte[] whole = written(timeline);

        assertThatIOException()
                .isThrownBy(() -> PerfettoWriter.write(timeline, new FullDisk(0)))
                .withMessage("No space left on device");
        assertThatIOException()
                .isThrownBy(() -> PerfettoWriter.write(new ManySpans(100_000), new FullDisk(1 << 20)))
                .withMessage("No space left on device");

        assertThat(written(timeline)).isEqualTo(whole);
    }
}
