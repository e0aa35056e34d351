package org.brickprofiler.trace.write;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.Track;

/**
 * A decode run of any length, as a recorder has it: a step of 32 layers of ten bricks, again and again. Its spans are
 * made up while they are replayed.
 *
 * @param spans how many there are, steps and layers included; the last step is whole
 * @param elements the elements of each brick
 */
record DecodeRun(long spans, long elements) implements Timeline {

    private static final int BRICKS = 10;
    private static final int LAYERS = 32;
    private static final long FIRST_NS = 86_400_000_000_000L;
    private static final long PAUSE_NS = 60;

    private static final List<SpanName> NAMES = Stream.of(
                    List.of(BrickId.values()).subList(0, BRICKS).stream()
                            .map(brick -> new SpanName(
                                    brick.displayName(), brick.category().displayName())),
                    IntStream.range(0, LAYERS).mapToObj(layer -> new SpanName("Layer " + layer, "layer")),
                    Stream.of(new SpanName("step", SpanName.STEP)))
            .flatMap(names -> names)
            .toList();

    @Override
    public TraceInfo info() {
        return FixedTimeline.someInfo();
    }

    @Override
    public List<SpanName> names() {
        return NAMES;
    }

    @Override
    public List<Track> tracks() {
        return List.of(new Track(Track.Kind.HOST_THREAD, "main", Track.PROCESS, 4711));
    }

    @Override
    public long earliestNs() {
        return FIRST_NS;
    }

    @Override
    public void replay(int track, TimelineVisitor visitor) {
        long startNs = FIRST_NS;
        for (long done = 0; done < spans; done += 1 + LAYERS * (1 + BRICKS)) {
            long[] ends = new long[LAYERS * BRICKS];
            long atNs = startNs;
            for (int brick = 0; brick < ends.length; brick++) {
                // Between 2 and 10 microseconds, in no pattern.
                ends[brick] = atNs + 2_000 + (((done + brick) * 0x9E37_79B9_7F4A_7C15L) >>> 51);
                atNs = ends[brick] + PAUSE_NS;
            }
            visitor.span(Event.span(startNs, atNs - PAUSE_NS, NAMES.size() - 1));
            for (int brick = 0; brick < ends.length; brick++) {
                int layer = brick / BRICKS;
                if (brick % BRICKS == 0) {
                    visitor.span(Event.span(startNs, ends[brick + BRICKS - 1], BRICKS + layer)
                            .of(-1, layer, -1));
                }
                visitor.span(Event.span(startNs, ends[brick], brick % BRICKS).of(elements, layer, -1));
                startNs = ends[brick] + PAUSE_NS;
            }
        }
    }
}
