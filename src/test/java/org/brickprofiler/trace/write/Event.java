package org.brickprofiler.trace.write;

import org.brickprofiler.trace.Span;

/**
 * One event of a timeline made by a test. A span, unless it is an instant or a value of a counter.
 *
 * @param value of a counter
 */
record Event(
        Kind kind,
        double value,
        long startNs,
        long endNs,
        int name,
        long elements,
        boolean isDeviceSample,
        int layer,
        long deviceNs,
        long flowOut,
        long flowIn)
        implements Span {

    /** Its kind. */
    enum Kind {
        SPAN,
        INSTANT,
        VALUE
    }

    static Event span(long startNs, long endNs, int name) {
        return new Event(Kind.SPAN, 0, startNs, endNs, name, -1, false, -1, -1, 0, 0);
    }

    static Event instant(long atNs, int name) {
        return new Event(Kind.INSTANT, 0, atNs, atNs, name, -1, false, -1, -1, 0, 0);
    }

    static Event value(long atNs, double value) {
        return new Event(Kind.VALUE, value, atNs, atNs, 0, -1, false, -1, -1, 0, 0);
    }

    Event of(long elements, int layer, long deviceNs) {
        return new Event(kind, value, startNs, endNs, name, elements, isDeviceSample, layer, deviceNs, flowOut, flowIn);
    }

    Event timedByDevice() {
        return new Event(kind, value, startNs, endNs, name, elements, true, layer, deviceNs, flowOut, flowIn);
    }

    Event flow(long out, long in) {
        return new Event(kind, value, startNs, endNs, name, elements, isDeviceSample, layer, deviceNs, out, in);
    }

    Event movedTo(long newStartNs, long newEndNs) {
        return new Event(
                kind, value, newStartNs, newEndNs, name, elements, isDeviceSample, layer, deviceNs, flowOut, flowIn);
    }
}
