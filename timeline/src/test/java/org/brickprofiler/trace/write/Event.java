package org.brickprofiler.trace.write;

import org.brickprofiler.trace.Span;

/**
 * One event of a timeline made by a test. A span, unless it is an instant or a value of a counter.
 *
 * @param value of a counter
 */
record Event(Kind kind, double value, long startNs, long endNs, int name, Attributes attributes, Flows flows)
        implements Span {

    /** Its kind. */
    enum Kind {
        SPAN,
        INSTANT,
        VALUE
    }

    /** What is known of a span beside its name and times; -1 for unknown. */
    private record Attributes(long elements, int layer, long deviceNs, boolean isDeviceSample, Span.StatedPhase phase) {
        static final Attributes NONE = new Attributes(-1, -1, -1, false, Span.StatedPhase.NONE);
    }

    private record Flows(long out, long in) {
        static final Flows NONE = new Flows(0, 0);
    }

    static Event span(long startNs, long endNs, int name) {
        return new Event(Kind.SPAN, 0, startNs, endNs, name, Attributes.NONE, Flows.NONE);
    }

    static Event instant(long atNs, int name) {
        return new Event(Kind.INSTANT, 0, atNs, atNs, name, Attributes.NONE, Flows.NONE);
    }

    static Event value(long atNs, double value) {
        return new Event(Kind.VALUE, value, atNs, atNs, 0, Attributes.NONE, Flows.NONE);
    }

    Event of(long elements, int layer, long deviceNs) {
        return with(new Attributes(elements, layer, deviceNs, attributes.isDeviceSample, attributes.phase));
    }

    Event timedByDevice() {
        return with(new Attributes(attributes.elements, attributes.layer, attributes.deviceNs, true, attributes.phase));
    }

    Event inPhase(Span.StatedPhase phase) {
        return with(new Attributes(
                attributes.elements, attributes.layer, attributes.deviceNs, attributes.isDeviceSample, phase));
    }

    private Event with(Attributes others) {
        return new Event(kind, value, startNs, endNs, name, others, flows);
    }

    Event flow(long out, long in) {
        return new Event(kind, value, startNs, endNs, name, attributes, new Flows(out, in));
    }

    Event movedTo(long newStartNs, long newEndNs) {
        return new Event(kind, value, newStartNs, newEndNs, name, attributes, flows);
    }

    @Override
    public long elements() {
        return attributes.elements;
    }

    @Override
    public boolean isDeviceSample() {
        return attributes.isDeviceSample;
    }

    @Override
    public int layer() {
        return attributes.layer;
    }

    @Override
    public Span.StatedPhase phase() {
        return attributes.phase;
    }

    @Override
    public long deviceNs() {
        return attributes.deviceNs;
    }

    @Override
    public long flowOut() {
        return flows.out;
    }

    @Override
    public long flowIn() {
        return flows.in;
    }
}
