package org.brickprofiler.internal.record;

/** The kinds of entries of a {@link SpanBuffer}. */
public enum SpanKind {
    /** A piece of work of the thread that owns the buffer. */
    SPAN,
    /** A piece of work whose end became known at a later synchronisation; its thread is unknown. */
    DEFERRED,
    /** A moment at which a layer began; the value holds its number and its pass, see {@link LayerToken#start}. */
    LAYER_START,
    /** A moment at which a layer had ended; the value is its number. */
    LAYER_END,
    /** A moment by which a forward pass had ended; the value is 1 if it was abandoned, at an unknown moment before. */
    PASS_END,
    /** The moment at which the host launched the span before this entry; the value is the id of the thread. */
    LAUNCH,
    /**
     * A piece of work that the thread of the buffer enqueued on a device. It is no sample, because the device times the
     * work.
     */
    ENQUEUED,
    /** A piece of work of a device, by its own clock: the sample of a brick. */
    DEVICE_SAMPLE,
    /** A moment with a name. */
    INSTANT,
    /** The value of a counter from a moment on; the entry's value holds the bits of a {@code double}. */
    COUNTER,
    /**
     * A moment from which the thread works for another layer; the value holds both layers, see
     * {@link LayerToken#change}.
     */
    LAYER_CHANGE,
    /** A moment at which a step began; the key is the number of its phase, the value the tokens that it works on. */
    STEP_START,
    /**
     * A moment from which the writer of this entry, one of the threads that share the buffer, works for another layer;
     * the value is that of {@link #LAYER_CHANGE}. The layers of the other entries are stated beside them.
     */
    WORK_FOR;

    private static final SpanKind[] ALL = values();

    /** Returns the number that encodes this kind in an entry. */
    @SuppressWarnings("EnumOrdinal")
    int index() {
        return ordinal();
    }

    static SpanKind at(int index) {
        return ALL[index];
    }
}
