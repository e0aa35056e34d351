package org.brickprofiler.trace;

/** One execution of something that has a name: when it began and ended, and what is known besides. */
public interface Span {

    /** The name of a flow that has none: in a timeline of this library each leads from a launch to its work. */
    int UNNAMED = -1;

    /**
     * When it began.
     *
     * @return ns, on the timeline's clock
     */
    long startNs();

    /**
     * When it ended.
     *
     * @return ns, on the timeline's clock; not before {@link #startNs()}
     */
    long endNs();

    /**
     * What it was.
     *
     * @return an index into {@link Timeline#names()}
     */
    int name();

    /**
     * What it processed.
     *
     * @return the number of elements, of a copy that of bytes, or -1 where it is not known
     */
    long elements();

    /**
     * Whether it is the sample of a brick that a device did and timed. Any other span of a device adds nothing to its
     * brick: there the sample is the host's span.
     *
     * @return true only on the track of a stream, with a brick's category and known elements
     */
    boolean isDeviceSample();

    /**
     * The model's layer that it belongs to.
     *
     * @return the number of the layer, or -1 for none
     */
    int layer();

    /**
     * How long the device worked on it.
     *
     * @return ns, or -1 where it was not measured
     */
    long deviceNs();

    /**
     * The flow that begins here, for example from a launch to the kernels it launched.
     *
     * @return the number of the flow, which one other span or several have as their {@link #flowIn()}; or 0 for none
     */
    long flowOut();

    /**
     * What kind of flow begins here.
     *
     * @return an index into {@link Timeline#names()}, or {@link #UNNAMED}, which this default returns
     */
    default int flowOutName() {
        return UNNAMED;
    }

    /**
     * The flow that ends here.
     *
     * @return the number of the flow, or 0 for none
     */
    long flowIn();

    /**
     * What kind of flow ends here.
     *
     * @return the same as {@link #flowOutName()} of the span that it comes from
     */
    default int flowInName() {
        return UNNAMED;
    }

    /**
     * The number by which the program that recorded the span joined calls of a device's runtime and what they launched.
     *
     * @return 0 or more, or -1 where there is none: this library's own spans are joined by flows, and this default
     *     returns -1
     */
    default long correlation() {
        return -1;
    }
}
