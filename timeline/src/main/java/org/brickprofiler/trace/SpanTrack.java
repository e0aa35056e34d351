package org.brickprofiler.trace;

import java.util.List;
import java.util.stream.IntStream;
import org.brickprofiler.internal.base.MergeSort;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.internal.record.SpanCopy;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.trace.LayerSpans.LayerSpan;

/**
 * The spans and instants of one track, in order. One thread fills it. It does not change once it is part of a timeline;
 * any thread may then replay it.
 */
final class SpanTrack implements TimelineBuilder.TrackEvents {

    /** In place of the number of a flow, which is 1 or more. */
    private static final long NO_FLOW = 0;

    private final List<TrackPart> parts;
    private final int[] firstEntries;
    private final List<LayerSpan> layers;
    private final int[] order;

    // By entry; empty while the track has none of them.
    private long[] flowsOut = {};
    private long[] flowsIn = {};
    private long[] deviceNs = {};

    /**
     * Creates a track.
     *
     * @param parts its buffers
     * @param layers its layers and steps, in order
     */
    SpanTrack(List<TrackPart> parts, List<LayerSpan> layers) {
        this.parts = List.copyOf(parts);
        this.layers = layers;
        firstEntries = new int[parts.size() + 1];
        IntStream.Builder entries = IntStream.builder();
        for (int part = 0; part < parts.size(); part++) {
            int size = parts.get(part).copy().size();
            for (int entry = 0; entry < size; entry++) {
                if (parts.get(part).has(entry)) {
                    entries.add(firstEntries[part] + entry);
                }
            }
            firstEntries[part + 1] = Math.addExact(firstEntries[part], size);
        }
        order = entries.build().toArray();
        MergeSort.sort(order, this::compare);
    }

    List<TrackPart> parts() {
        return parts;
    }

    private int compare(int a, int b) {
        int byStart = Long.compare(startNs(a), startNs(b));
        if (byStart != 0) {
            return byStart;
        }
        int byEnd = Long.compare(endNs(b), endNs(a));
        if (byEnd != 0) {
            return byEnd;
        }
        // Of two spans of the same extent the outer one was written last; instants stay in the order of writing.
        return endNs(a) == startNs(a) ? Integer.compare(a, b) : Integer.compare(b, a);
    }

    private int part(int entry) {
        int part = 0;
        while (entry >= firstEntries[part + 1]) {
            part++;
        }
        return part;
    }

    private SpanCopy copy(int part) {
        return parts.get(part).copy();
    }

    private long startNs(int entry) {
        int part = part(entry);
        return copy(part).startNs(entry - firstEntries[part]);
    }

    private long endNs(int entry) {
        int part = part(entry);
        return copy(part).endNs(entry - firstEntries[part]);
    }

    private SpanKind kind(int entry) {
        int part = part(entry);
        return copy(part).kind(entry - firstEntries[part]);
    }

    private long elements(int entry) {
        int part = part(entry);
        return parts.get(part).elements(entry - firstEntries[part]);
    }

    private int layer(int entry) {
        int part = part(entry);
        return parts.get(part).layer(entry - firstEntries[part]);
    }

    private int name(int entry) {
        int part = part(entry);
        return parts.get(part).name(entry - firstEntries[part]);
    }

    private Span.StatedPhase phase(int entry) {
        int part = part(entry);
        return parts.get(part).phase(entry - firstEntries[part]);
    }

    // ---- flows ----

    /**
     * Returns the span of a kind that began at a moment.
     *
     * @return its entry, or -1 if there is no such span with that name and without an outgoing flow
     */
    int launcher(SpanKind kind, long startNs, int name) {
        int low = 0;
        int high = order.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (startNs(order[middle]) < startNs) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        for (int place = low; place < order.length && startNs(order[place]) == startNs; place++) {
            int entry = order[place];
            if (kind(entry) == kind && name(entry) == name && flow(flowsOut, entry) == NO_FLOW) {
                return entry;
            }
        }
        return -1;
    }

    void flowOut(int entry, long flow, long elapsedOnDeviceNs) {
        if (flowsOut.length == 0) {
            flowsOut = new long[entryCount()];
            deviceNs = new long[entryCount()];
        }
        flowsOut[entry] = flow;
        deviceNs[entry] = elapsedOnDeviceNs;
    }

    /** Sets the flow that ends in an entry of a part. */
    void flowIn(int part, int entry, long flow) {
        if (flowsIn.length == 0) {
            flowsIn = new long[entryCount()];
        }
        flowsIn[firstEntries[part] + entry] = flow;
    }

    private int entryCount() {
        return firstEntries[parts.size()];
    }

    private static long flow(long[] flows, int entry) {
        return flows.length == 0 ? NO_FLOW : flows[entry];
    }

    // ---- replay ----

    @Override
    public void replay(TimelineVisitor visitor) {
        ReplayedSpan span = new ReplayedSpan();
        int next = 0;
        LayerSpan around = null;
        for (int entry : order) {
            long start = startNs(entry);
            long end = endNs(entry);
            while (next < layers.size() && isBefore(layers.get(next), start, end)) {
                LayerSpan begins = layers.get(next++);
                // A span of length 0 at the beginning of another span contains nothing.
                if (begins.layer() != LayerSpans.NO_LAYER && (around == null || begins.endNs() >= around.endNs())) {
                    around = begins;
                }
                visitor.span(span.of(begins));
            }
            if (kind(entry) == SpanKind.INSTANT) {
                visitor.instant(start, name(entry));
            } else {
                int given = layer(entry);
                int own = around != null && end <= around.endNs() ? around.layer() : LayerSpans.NO_LAYER;
                span.of(start, end, name(entry), elements(entry), given == LayerToken.OWN_LAYER ? own : given);
                span.phase = phase(entry);
                span.isDeviceSample = kind(entry) == SpanKind.DEVICE_SAMPLE;
                span.flowOut = flow(flowsOut, entry);
                span.deviceNs = span.flowOut == NO_FLOW ? -1 : deviceNs[entry];
                span.flowIn = flow(flowsIn, entry);
                visitor.span(span);
            }
        }
        while (next < layers.size()) {
            visitor.span(span.of(layers.get(next++)));
        }
    }

    private static boolean isBefore(LayerSpan layer, long startNs, long endNs) {
        return layer.startNs() < startNs || (layer.startNs() == startNs && layer.endNs() >= endNs);
    }

    @Override
    public long earliestNs() {
        long first = order.length == 0 ? Long.MAX_VALUE : startNs(order[0]);
        return layers.isEmpty() ? first : Math.min(first, layers.get(0).startNs());
    }

    /** The reused span that visitors of a {@link SpanTrack} get. One thread. */
    private static final class ReplayedSpan implements Span {

        private long startNs;
        private long endNs;
        private int name;
        private long elements;
        private Span.StatedPhase phase = Span.StatedPhase.NONE;
        private boolean isDeviceSample;
        private int layer;
        private long deviceNs;
        private long flowOut;
        private long flowIn;

        /** Makes it a span that no device timed, without flows. */
        ReplayedSpan of(long start, long end, int nameIndex, long elementCount, int layerNumber) {
            startNs = start;
            endNs = end;
            name = nameIndex;
            elements = elementCount;
            layer = layerNumber;
            phase = Span.StatedPhase.NONE;
            isDeviceSample = false;
            deviceNs = -1;
            flowOut = 0;
            flowIn = 0;
            return this;
        }

        ReplayedSpan of(LayerSpan span) {
            of(span.startNs(), span.endNs(), span.name(), span.elements(), span.layer());
            phase = span.phase();
            return this;
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
            return name;
        }

        @Override
        public long elements() {
            return elements;
        }

        @Override
        public boolean isDeviceSample() {
            return isDeviceSample;
        }

        @Override
        public int layer() {
            return layer;
        }

        @Override
        public Span.StatedPhase phase() {
            return phase;
        }

        @Override
        public long deviceNs() {
            return deviceNs;
        }

        @Override
        public long flowOut() {
            return flowOut;
        }

        @Override
        public long flowIn() {
            return flowIn;
        }
    }
}
