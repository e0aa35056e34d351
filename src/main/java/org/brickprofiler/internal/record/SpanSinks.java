package org.brickprofiler.internal.record;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.brickprofiler.spi.Tracing;

/**
 * Finds the {@link SpanSink} behind a recorder. Applications see only a recorder without a reference to the engine; the
 * recorder's class therefore registers access to its sink here when it is initialised. Any thread.
 */
public final class SpanSinks {

    private static final Map<Class<?>, Function<Object, SpanSink>> WAYS = new ConcurrentHashMap<>();

    private SpanSinks() {}

    /**
     * Notes how the sink of a recorder is found. Called once, from the static initializer of the recorder's class.
     *
     * @param recorder the class
     * @param sink its sink, the same one each time
     * @param <T> the class
     */
    public static <T> void register(Class<T> recorder, Function<T, SpanSink> sink) {
        WAYS.put(recorder, object -> sink.apply(recorder.cast(object)));
    }

    /**
     * Returns the sink of a recorder.
     *
     * @param recorder the recorder that an application gave to a profiler, or a sink
     * @return its sink; a sink is its own sink
     * @throws IllegalArgumentException when its class has registered none
     */
    public static SpanSink of(Tracing recorder) {
        if (recorder instanceof SpanSink sink) {
            return sink;
        }
        Function<Object, SpanSink> way = WAYS.get(recorder.getClass());
        if (way == null) {
            throw new IllegalArgumentException("spans go to a recorder of this library, not to a "
                    + recorder.getClass().getName());
        }
        return way.apply(recorder);
    }
}
