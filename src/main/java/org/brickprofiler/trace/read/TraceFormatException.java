package org.brickprofiler.trace.read;

import java.io.IOException;

/**
 * Says that a text is no trace, is damaged, or is beyond a limit of the reading, and where. Immutable but for its stack
 * trace.
 */
public final class TraceFormatException extends IOException {

    private static final long serialVersionUID = 1L;

    /** What was read. */
    private final String source;

    /** Where the fault is. */
    private final long offset;

    /** What is wrong. */
    private final String fault;

    /** Whether what stands before the place may be whole. */
    private final boolean isDamage;

    /**
     * A fault at a place.
     *
     * @param source the file, or what else was read
     * @param offset where, in bytes of the unpacked text; in characters where the text is UTF-16 or UTF-32
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
     * A fault at a place that another exception found.
     *
     * @param source the file, or what else was read
     * @param offset where, as above
     * @param fault what is wrong
     * @param cause the other exception
     */
    TraceFormatException(String source, long offset, String fault, Throwable cause) {
        this(source, offset, fault);
        initCause(cause);
    }

    /** The same as damage: what stands before it may be whole. */
    static TraceFormatException damage(String source, long offset, String fault) {
        return new TraceFormatException(source, offset, fault, true);
    }

    /** Damage that another exception found. */
    static TraceFormatException damage(String source, long offset, String fault, Throwable cause) {
        TraceFormatException found = damage(source, offset, fault);
        found.initCause(cause);
        return found;
    }

    /** The same where no event stands before the place: there is nothing to salvage. */
    TraceFormatException withNothingBefore() {
        return isDamage ? new TraceFormatException(source, offset, fault, this) : this;
    }

    /**
     * What was read.
     *
     * @return the path of a file, or {@code "the trace"} of a stream
     */
    public String source() {
        return source;
    }

    /**
     * Where the fault is.
     *
     * @return bytes before it in the text, after unpacking; characters where the text is UTF-16 or UTF-32
     */
    public long offset() {
        return offset;
    }

    /**
     * What is wrong, without the source and the place.
     *
     * @return for example {@code "the text ends too early"}
     */
    public String fault() {
        return fault;
    }

    /**
     * Whether the trace is damaged at that place, so that {@link ReadOptions#withSalvage} may read what stands before
     * it. Otherwise it is beyond a limit, of another version, or no trace at all.
     *
     * @return whether to try
     */
    public boolean isDamage() {
        return isDamage;
    }
}
