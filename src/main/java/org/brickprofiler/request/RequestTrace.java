package org.brickprofiler.request;

import java.util.Objects;

/**
 * The trace in which a request was submitted, as the application's tracing library knows it. Immutable, as far as the
 * context is.
 *
 * @param traceId the id of the trace, by which logs and traces are searched
 * @param context the object by which the tracing library continues the trace; the recorder keeps it until the request
 *     has finished
 */
public record RequestTrace(String traceId, Object context) {

    /** Checks that nothing is missing. */
    public RequestTrace {
        Objects.requireNonNull(traceId, "traceId");
        Objects.requireNonNull(context, "context");
    }
}
