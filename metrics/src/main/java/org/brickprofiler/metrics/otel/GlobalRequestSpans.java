package org.brickprofiler.metrics.otel;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import java.util.Map;
import java.util.function.Supplier;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.request.RequestTrace;
import org.jspecify.annotations.Nullable;

/**
 * Exports requests through the OpenTelemetry that an application has set as the global one. The agent loads this class
 * beside the application's OpenTelemetry, finds {@link #start} by its name, and knows the result by types of the JDK.
 * Any thread.
 */
final class GlobalRequestSpans implements Supplier<@Nullable RequestTrace>, AutoCloseable {

    private final RequestSpans spans;

    private GlobalRequestSpans(RequestSpans spans) {
        this.spans = spans;
    }

    /**
     * Begins to export the requests of a profiler. Call it only if the application has set its OpenTelemetry: otherwise
     * it would keep the application from setting one.
     *
     * @param profiler the profiler
     * @param genAi the attributes of each span, as of {@link RequestSpans#start}
     * @return the export
     */
    static GlobalRequestSpans start(BrickProfiler profiler, Map<String, String> genAi) {
        AttributesBuilder attributes = Attributes.builder();
        genAi.forEach(attributes::put);
        return new GlobalRequestSpans(
                RequestSpans.start(profiler, GlobalOpenTelemetry.getTracerProvider(), attributes.build()));
    }

    /**
     * Returns the trace of the calling thread.
     *
     * @return null if it has none
     */
    @Override
    public @Nullable RequestTrace get() {
        return RequestSpans.current();
    }

    /** Exports the requests that have finished, and ends the export. */
    @Override
    public void close() {
        spans.close();
    }
}
