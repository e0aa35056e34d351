package org.brickprofiler.trace;

/** One execution of a named thing: its beginning, its end, and optional details. */
public interface Span {

    /** The name of a flow without a name. In a timeline of this library every flow leads from a launch to its work. */
    int UNNAMED = -1;

    /**
     * Returns the beginning.
     *
     * @return ns, on the timeline's clock
     */
    long startNs();

    /**
     * Returns the end.
     *
     * @return ns, on the timeline's clock; not before {@link #startNs()}
     */
    long endNs();

    /**
     * Returns the name of the span.
     *
     * @return an index into {@link Timeline#names()}
     */
    int name();

    /**
     * Returns the amount of data it processed.
     *
     * @return the number of elements, or of bytes for a copy; -1 if it is not known
     */
    long elements();

    /**
     * Returns whether it is a sample of a brick that a device executed and timed. Other spans of a device are not
     * samples; their samples are the host's spans.
     *
     * @return true only on the track of a stream, with a brick's category and known elements
     */
    boolean isDeviceSample();

    /**
     * Returns the layer of the model.
     *
     * @return the number of the layer, or -1 for none
     */
    int layer();

    /**
     * Returns the device's time for it.
     *
     * @return ns, or -1 if it was not measured
     */
    long deviceNs();

    /**
     * Returns the flow that begins here, for example from a launch to the kernels it launched.
     *
     * @return the number of the flow, which is the {@link #flowIn()} of one or more other spans; or 0 for none
     */
    long flowOut();

    /**
     * Returns the kind of the flow that begins here.
     *
     * @return an index into {@link Timeline#names()}, or {@link #UNNAMED}, which this default returns
     */
    default int flowOutName() {
        return UNNAMED;
    }

    /**
     * Returns the flow that ends here.
     *
     * @return the number of the flow, or 0 for none
     */
    long flowIn();

    /**
     * Returns the kind of the flow that ends here.
     *
     * @return the same as {@link #flowOutName()} of the span that it comes from
     */
    default int flowInName() {
        return UNNAMED;
    }

    /**
     * Returns the correlation id with which the recording program joined calls of a device's runtime and the work that
     * they launched.
     *
     * @return 0 or more, or -1 if there is none; this default returns -1, because flows join this library's own spans
     */
    default long correlation() {
        return -1;
    }
}
