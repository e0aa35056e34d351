package org.brickprofiler.trace;

/** Receives the events of one track, in the order of {@link Timeline#replay}. */
public interface TimelineVisitor {

    /**
     * Receives a span. Not called for counter tracks.
     *
     * @param span the span; the object is reused and valid only during the call
     */
    void span(Span span);

    /**
     * Receives an instant. Not called for counter tracks.
     *
     * @param atNs its time, ns
     * @param name an index into {@link Timeline#names()}
     */
    void instant(long atNs, int name);

    /**
     * Receives a new value of a counter. Called for counter tracks only.
     *
     * @param atNs the time of the change, ns
     * @param value the value, in the track's unit
     */
    void counter(long atNs, double value);
}
