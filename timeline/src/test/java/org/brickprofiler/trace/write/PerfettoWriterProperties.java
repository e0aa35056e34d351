package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.brickprofiler.trace.write.proto.PerfettoTrace.TrackEvent.Type.TYPE_COUNTER;
import static org.brickprofiler.trace.write.proto.PerfettoTrace.TrackEvent.Type.TYPE_INSTANT;
import static org.brickprofiler.trace.write.proto.PerfettoTrace.TrackEvent.Type.TYPE_SLICE_BEGIN;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.domains.Domain;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.Track;
import org.brickprofiler.trace.write.ExpectedEvents.Slice;
import org.brickprofiler.trace.write.PerfettoDecoder.Decoded;
import org.brickprofiler.trace.write.proto.PerfettoTrace.TrackDescriptor;

@Domain(Timelines.class)
@OneJdk
final class PerfettoWriterProperties {

    private static PerfettoDecoder decoded(FixedTimeline timeline) throws IOException {
        return PerfettoDecoder.decode(PerfettoWriterTest.written(timeline));
    }

    /**
     * Returns for each track of the file its index in the timeline; for a lane, the index of the track to which it
     * belongs.
     */
    private static Map<Long, Integer> tracksOf(PerfettoDecoder trace, FixedTimeline timeline) {
        Map<Long, Integer> tracks = new HashMap<>();
        int index = -1;
        for (TrackDescriptor track : trace.tracks.values()) {
            boolean lane = index >= timeline.tracks().size();
            tracks.put(track.getUuid(), lane ? tracks.getOrDefault(track.getParentUuid(), -1) : index);
            index++;
        }
        return tracks;
    }

    @Spec("13.8")
    @Property(tries = 400)
    void everySpanComesBackOnItsTrack(@ForAll FixedTimeline timeline) throws IOException {
        PerfettoDecoder trace = decoded(timeline);
        Map<Long, Integer> tracks = tracksOf(trace, timeline);
        long shiftNs = ExpectedEvents.shiftNs(timeline);

        List<Slice> slices = trace.of(TYPE_SLICE_BEGIN).stream()
                .map(slice -> new Slice(
                        tracks.getOrDefault(slice.track(), -1),
                        slice.name(),
                        slice.category(),
                        slice.startNs() - shiftNs,
                        slice.endNs() - shiftNs,
                        withoutDevice(slice.annotations())))
                .toList();

        assertThat(slices).containsExactlyInAnyOrderElementsOf(ExpectedEvents.slices(timeline));
        assertThat(trace.of(TYPE_SLICE_BEGIN)).allSatisfy(slice -> {
            Track track = timeline.tracks().get(tracks.getOrDefault(slice.track(), -1));
            boolean onDevice = track.kind() == Track.Kind.DEVICE || track.kind() == Track.Kind.STREAM;
            assertThat(slice.annotations().containsKey("device")).isEqualTo(onDevice);
        });
    }

    private static Map<String, Long> withoutDevice(Map<String, Long> annotations) {
        Map<String, Long> others = new HashMap<>(annotations);
        others.remove("device");
        return others;
    }

    @Property(tries = 100)
    void everyInstantAndValueComesBack(@ForAll FixedTimeline timeline) throws IOException {
        PerfettoDecoder trace = decoded(timeline);
        long shiftNs = ExpectedEvents.shiftNs(timeline);
        List<Event> events = timeline.events().stream().flatMap(List::stream).toList();

        assertThat(trace.of(TYPE_INSTANT))
                .filteredOn(instant -> !instant.annotations().containsKey("dropped_spans"))
                .extracting(instant -> instant.startNs() - shiftNs + instant.name())
                .containsExactlyInAnyOrderElementsOf(events.stream()
                        .filter(event -> event.kind() == Event.Kind.INSTANT)
                        .map(event -> event.startNs()
                                + ExpectedEvents.readable(
                                        timeline.names().get(event.name()).name()))
                        .toList());
        assertThat(trace.of(TYPE_COUNTER))
                .extracting(Decoded::value)
                .containsExactlyElementsOf(events.stream()
                        .filter(event -> event.kind() == Event.Kind.VALUE)
                        .map(Event::value)
                        .toList());
    }

    @Property(tries = 100)
    void flowsComeBack(@ForAll FixedTimeline timeline) throws IOException {
        List<Decoded> slices = decoded(timeline).of(TYPE_SLICE_BEGIN);
        List<Event> spans = timeline.events().stream()
                .flatMap(List::stream)
                .filter(event -> event.kind() == Event.Kind.SPAN)
                .toList();

        for (long flow = 1; flow <= 4; flow++) {
            long id = new PerfettoTracks.Ids(timeline.info(), timeline.tracks().size()).flow(flow);
            assertThat(slices.stream().filter(slice -> slice.flows().contains(id)))
                    .hasSize((int) count(spans.stream().map(Event::flowOut).toList(), flow));
            assertThat(slices.stream().filter(slice -> slice.terminatingFlows().contains(id)))
                    .hasSize((int) count(spans.stream().map(Event::flowIn).toList(), flow));
        }
    }

    private static long count(List<Long> flows, long flow) {
        return flows.stream().filter(one -> one == flow).count();
    }
}
