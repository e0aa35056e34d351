package org.brickprofiler.trace;

/** Gets the events of one track, in the order that {@link Timeline#replay} promises. */
public interface TimelineVisitor {

    /**
     * A span. Not on counter tracks.
     *
     * @param span what happened; the object is reused, and holds only during the call
     */
    void span(Span span);

    /**
     * A moment. Not on counter tracks.
     *
     * @param atNs when, ns
     * @param name what: an index into {@link Timeline#names()}
     */
    void instant(long atNs, int name);

    /**
     * A new value of a counter. On counter tracks only.
     *
     * @param atNs since when, ns
     * @param value the value, in the track's unit
     */
    void counter(long atNs, double value);
}
