package org.brickprofiler.internal.record;

/**
 * Takes the work of one device stream that a profiler has timed, on one thread at a time. Nothing is allocated but while
 * what is kept grows to its bound.
 */
public interface StreamSpans {

    /**
     * A sample whose place in the host's time is known.
     *
     * @param key its name, as the {@link SpanNames} tell it
     * @param startNs the host's clock when the device began
     * @param elapsedNs how long the device took, ns
     * @param elements elements it processed
     * @param launchLine on whose line the launch lies, as {@link TableRegistry#mark} told
     * @param launchNs the host's clock when the launch began
     */
    void sample(int key, long startNs, long elapsedNs, long elements, long launchLine, long launchNs);

    /** A sample whose duration is known, but not when it was: it is missing on the timeline. */
    void sampleWithoutPlace();

    /**
     * How far the starts of the samples that follow may be off.
     *
     * @param ns the error, ns, 0 or more
     */
    void clockErrorNs(long ns);
}
