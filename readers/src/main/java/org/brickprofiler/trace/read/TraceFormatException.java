package org.brickprofiler.trace.read;

import java.io.IOException;

/**
 * Thrown if a text is no trace, is damaged, or exceeds a limit of the reader. The exception states the place of the
 * fault. Immutable except for its stack trace.
 */
public final class TraceFormatException extends IOException {

    private static final long serialVersionUID = 1L;

    /** The trace that was read. */
    private final String source;

    /** The place of the fault. */
    private final long offset;

    /** The fault. */
    private final String fault;

    /** True if the events before the place may be whole. */
    private final boolean isDamage;

    /**
     * Creates the exception for a fault at a place.
     *
     * @param source the file, or the name of another source
     * @param offset the place, in bytes of the unpacked text; in characters if the text is UTF-16 or UTF-32
     * @param fault what is wrong, with the offending value
     */
    TraceFormatException(String source, long offset, String fault) {
        this(source, offset, fault, false);
    }

    private TraceFormatException(String source, long offset, String fault, boolean isDamage) {
        super(source + ", offset " + offset + ": " + fault);
        this.source = source;
        this.offset = offset;
        this.fault = fault;
        this.isDamage = isDamage;
    }

    /**
     * Creates the exception for a fault at a place that another exception found.
     *
     * @param source the file, or the name of another source
     * @param offset the place, in the same unit as above
     * @param fault what is wrong
     * @param cause the other exception
     */
    TraceFormatException(String source, long offset, String fault, Throwable cause) {
        this(source, offset, fault);
        initCause(cause);
    }

    /** Creates the exception for damage: the events before it may be whole. */
    static TraceFormatException damage(String source, long offset, String fault) {
        return new TraceFormatException(source, offset, fault, true);
    }

    /** Creates the exception for damage that another exception found. */
    static TraceFormatException damage(String source, long offset, String fault, Throwable cause) {
        TraceFormatException found = damage(source, offset, fault);
        found.initCause(cause);
        return found;
    }

    /** Returns the same fault for a trace without an event before the place: nothing can be salvaged. */
    TraceFormatException withNothingBefore() {
        return isDamage ? new TraceFormatException(source, offset, fault, this) : this;
    }

    /**
     * Returns the name of the trace that was read.
     *
     * @return the path of a file, or {@code "the trace"} of a stream
     */
    public String source() {
        return source;
    }

    /**
     * Returns the place of the fault.
     *
     * @return bytes before it in the text, after unpacking; characters if the text is UTF-16 or UTF-32
     */
    public long offset() {
        return offset;
    }

    /**
     * Returns the fault, without the source and the place.
     *
     * @return for example {@code "the text ends too early"}
     */
    public String fault() {
        return fault;
    }

    /**
     * Returns whether the fault is damage, so that {@link ReadOptions#withSalvage} may read the events before it.
     * Otherwise the trace exceeds a limit, has another version, or is no trace at all.
     *
     * @return true if the events before the place may be whole
     */
    public boolean isDamage() {
        return isDamage;
    }
}
