package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestTimeline;

/**
 * A timeline with an additional track for each request. The spans of such a track are the request's segments, named by
 * their causes. Flows lead from the span of a step to the segments in which it works on requests. Immutable, as far as
 * the timeline below it is.
 */
final class RequestTracks implements Timeline {

    /** The category of segments. Readers of traces count no brick of this category. */
    static final String CATEGORY = "request";

    /** The first identifier of a track, and the first number of a flow: above those of threads and launches. */
    private static final long FIRST_ID = 1L << 31;

    private static final long FIRST_FLOW = 1L << 40;

    private final Timeline below;
    private final long epochNs;
    private final List<SpanName> names;
    private final List<Track> tracks;
    private final List<RequestTimeline.Step> steps;

    /** The segments of each additional track. */
    private final List<List<RequestTimeline.Segment>> segments = new ArrayList<>();

    /** Whether a segment belongs to a step, by the number of the step. */
    private final boolean[] works;

    /** The indices of the steps by their start, to find the step in which a span begins. */
    private final TreeMap<Long, Integer> byStart = new TreeMap<>();

    private final long longestStepNs;

    RequestTracks(Timeline below, RequestTimeline requests, long epochNs) {
        this.below = below;
        this.epochNs = epochNs;
        this.steps = requests.steps();
        names = Stream.concat(
                        below.names().stream(),
                        Stream.of(Cause.values()).map(cause -> new SpanName(cause.displayName(), CATEGORY)))
                .toList();
        List<Track> all = new ArrayList<>(below.tracks());
        List<List<RequestTimeline.Segment>> ofRequests = requests.segments();
        works = new boolean[steps.size()];
        for (int i = 0; i < ofRequests.size(); i++) {
            if (!ofRequests.get(i).isEmpty()) {
                RequestRecord record = requests.requests().get(i).record();
                all.add(new Track(Track.Kind.HOST_THREAD, name(i, record), Track.PROCESS, FIRST_ID + i));
                segments.add(ofRequests.get(i));
                ofRequests.get(i).stream().filter(each -> each.step() >= 0).forEach(each -> works[each.step()] = true);
            }
        }
        tracks = List.copyOf(all);
        for (int i = 0; i < steps.size(); i++) {
            byStart.put(steps.get(i).startNs() + epochNs, i);
        }
        longestStepNs =
                steps.stream().mapToLong(RequestTimeline.Step::durationNs).max().orElse(0);
    }

    private static String name(int index, RequestRecord record) {
        return "request " + (index + 1) + " (" + record.promptTokens() + " + "
                + Plural.of(record.outputTokens(), "token") + ")"
                + record.identity().id().map(id -> " " + PlainText.oneLine(id)).orElse("");
    }

    @Override
    public TraceInfo info() {
        return below.info();
    }

    @Override
    public List<SpanName> names() {
        return names;
    }

    @Override
    public List<Track> tracks() {
        return tracks;
    }

    @Override
    public long earliestNs() {
        return segments.stream().mapToLong(each -> each.get(0).startNs() + epochNs).min().stream()
                .reduce(below.earliestNs(), Math::min);
    }

    @Override
    public void replay(int track, TimelineVisitor visitor) {
        int own = track - below.tracks().size();
        if (own < 0) {
            below.replay(track, new Tying(visitor));
            return;
        }
        Segment span = new Segment();
        for (RequestTimeline.Segment segment : segments.get(own)) {
            span.segment = segment;
            visitor.span(span);
        }
    }

    /**
     * Returns the flow that begins at the span of a step; 0 if no segment of a request belongs to the step, or several
     * steps match.
     */
    private long flowOf(long startNs) {
        int found = -1;
        for (Map.Entry<Long, Integer> entry :
                byStart.subMap(startNs - longestStepNs, true, startNs, true).entrySet()) {
            RequestTimeline.Step step = steps.get(entry.getValue());
            if (startNs < step.startNs() + epochNs + step.durationNs()) {
                if (found >= 0) {
                    return 0;
                }
                found = entry.getValue();
            }
        }
        return found >= 0 && works[found] ? FIRST_FLOW + found : 0;
    }

    /** Passes events on, and lets flows begin at spans of steps. */
    private final class Tying implements TimelineVisitor {
        private final TimelineVisitor visitor;
        private final StepSpan step = new StepSpan();

        Tying(TimelineVisitor visitor) {
            this.visitor = visitor;
        }

        @Override
        public void span(Span span) {
            boolean isStep = names.get(span.name()).category().equals(SpanName.STEP) && span.flowOut() == 0;
            long flow = isStep ? flowOf(span.startNs()) : 0;
            if (flow == 0) {
                visitor.span(span);
            } else {
                step.span = span;
                step.flow = flow;
                visitor.span(step);
            }
        }

        @Override
        public void instant(long atNs, int name) {
            visitor.instant(atNs, name);
        }

        @Override
        public void counter(long atNs, double value) {
            visitor.counter(atNs, value);
        }
    }

    /** The span of a step, at which a flow begins. */
    private static final class StepSpan implements Span {
        private Span span = new Nothing();
        private long flow;

        @Override
        public long startNs() {
            return span.startNs();
        }

        @Override
        public long endNs() {
            return span.endNs();
        }

        @Override
        public int name() {
            return span.name();
        }

        @Override
        public long elements() {
            return span.elements();
        }

        @Override
        public boolean isDeviceSample() {
            return span.isDeviceSample();
        }

        @Override
        public int layer() {
            return span.layer();
        }

        @Override
        public Span.StatedPhase phase() {
            return span.phase();
        }

        @Override
        public long deviceNs() {
            return span.deviceNs();
        }

        @Override
        public long flowOut() {
            return flow;
        }

        @Override
        public long flowIn() {
            return span.flowIn();
        }
    }

    /** A span without anything. */
    private static class Nothing implements Span {
        @Override
        public long startNs() {
            return 0;
        }

        @Override
        public long endNs() {
            return 0;
        }

        @Override
        public int name() {
            return 0;
        }

        @Override
        public long elements() {
            return -1;
        }

        @Override
        public boolean isDeviceSample() {
            return false;
        }

        @Override
        public int layer() {
            return -1;
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

    /** A segment of a request. */
    private final class Segment extends Nothing {
        private RequestTimeline.Segment segment = new RequestTimeline.Segment(Cause.DELIVERY, 0, 0, -1);

        @Override
        public long startNs() {
            return segment.startNs() + epochNs;
        }

        @Override
        public long endNs() {
            return startNs() + segment.durationNs();
        }

        @Override
        public int name() {
            return below.names().size() + List.of(Cause.values()).indexOf(segment.cause());
        }

        @Override
        public long flowIn() {
            return segment.step() < 0 ? 0 : FIRST_FLOW + segment.step();
        }
    }
}
