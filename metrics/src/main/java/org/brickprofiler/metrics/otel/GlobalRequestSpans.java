package org.brickprofiler.metrics.otel;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.function.Supplier;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.request.RequestTrace;
import org.jspecify.annotations.Nullable;

/**
 * Exports requests through the OpenTelemetry that an application has set as the global one, for the agent, which loads
 * this class beside the application's OpenTelemetry and knows it by types of the JDK. Any thread.
 */
public final class GlobalRequestSpans implements Supplier<@Nullable RequestTrace>, AutoCloseable {

    private final RequestSpans spans;

    private GlobalRequestSpans(RequestSpans spans) {
        this.spans = spans;
    }

    /**
     * Begins to export the requests of a profiler, if the application has set its OpenTelemetry. If it has not, nothing
     * changes: asking for the global OpenTelemetry too early would keep the application from setting it.
     *
     * @param profiler the profiler
     * @param genAi the attributes of each span, as of {@link RequestSpans#start}
     * @return the export; null if none is set
     * @throws ReflectiveOperationException when OpenTelemetry cannot be asked whether it is set
     */
    public static @Nullable GlobalRequestSpans start(BrickProfiler profiler, Map<String, String> genAi)
            throws ReflectiveOperationException {
        if (!isSet()) {
            return null;
        }
        AttributesBuilder attributes = Attributes.builder();
        genAi.forEach(attributes::put);
        return new GlobalRequestSpans(
                RequestSpans.start(profiler, GlobalOpenTelemetry.getTracerProvider(), attributes.build()));
    }

    /** Returns whether an OpenTelemetry is set, without setting one. */
    private static boolean isSet() throws ReflectiveOperationException {
        Method isSet;
        try {
            isSet = GlobalOpenTelemetry.class.getMethod("isSet");
        } catch (NoSuchMethodException earlierRelease) {
            Field global = GlobalOpenTelemetry.class.getDeclaredField("globalOpenTelemetry");
            global.setAccessible(true);
            return global.get(null) != null;
        }
        return (boolean) isSet.invoke(null);
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
