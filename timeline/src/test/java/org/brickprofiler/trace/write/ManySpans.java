package org.brickprofiler.trace.write;

import java.util.List;
import org.brickprofiler.BrickId;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.Track;

/**
 * A decode run of any length that takes no memory: its spans are made up while they are replayed. One thread; layers of
 * ten bricks, back to back, each a few microseconds.
 */
public final class ManySpans implements Timeline, Span {

    private static final int BRICKS = 10;
    private static final int LAYERS = 32;
    private static final long FIRST_NS = 86_400_000_000_000L;

    /** More than one element each, so that the number is written and not implied. */
    private static final int ELEMENTS = 3;

    private static final List<SpanName> NAMES = List.of(BrickId.values()).subList(0, BRICKS).stream()
            .map(brick -> new SpanName(brick.displayName(), brick.category().displayName()))
            .toList();

    private static final List<SpanName> PLAIN_NAMES =
            NAMES.stream().map(name -> new SpanName(name.name(), "plain")).toList();

    private final long spans;
    private final boolean detailed;

    private long index;
    private long startNs;
    private long endNs;

    /** Spans that are no bricks: only name and time are known. */
    public ManySpans(long spans) {
        this(spans, false);
    }

    /** Spans of which name and time are known or, if they are detailed, bricks with elements and layers. */
    public ManySpans(long spans, boolean detailed) {
        this.spans = spans;
        this.detailed = detailed;
    }

    @Override
    public TraceInfo info() {
        return TraceInfo.builder("decode", 4711)
                .moment(FIRST_NS, 1_700_000_000_000_000_000L)
                .build();
    }

    @Override
    public List<SpanName> names() {
        return detailed ? NAMES : PLAIN_NAMES;
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
        startNs = FIRST_NS;
        for (index = 0; index < spans; index++) {
            // Between 2 and 10 microseconds, in no pattern.
            endNs = startNs + 2_000 + ((index * 0x9E37_79B9_7F4A_7C15L) >>> 51);
            visitor.span(this);
            startNs = endNs + 60;
        }
    }

    @Override
    public long startNs() {
        return startNs;
    }

    @Override
    public long endNs() {
        return endNs;
    }

    @Override
    public int name() {
        return (int) (index % BRICKS);
    }

    @Override
    public long elements() {
        return detailed ? ELEMENTS : -1;
    }

    @Override
    public boolean isDeviceSample() {
        return false;
    }

    @Override
    public int layer() {
        return detailed ? (int) (index / BRICKS % LAYERS) : -1;
    }

    @Override
    public long deviceNs() {
        return -1;
    }

    @Override
    public long flowOut() {
        return 0;
    }

    @Override
    public long flowIn() {
        return 0;
    }
}
