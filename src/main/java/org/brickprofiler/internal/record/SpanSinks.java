package org.brickprofiler.internal.record;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.brickprofiler.spi.Tracing;

/**
 * Finds the {@link SpanSink} behind a recorder. Applications see only the recorder, whose API does not expose the
 * engine. The recorder's class therefore registers access to its sink here when it is initialised. Any thread.
 */
public final class SpanSinks {

    private static final Map<Class<?>, Function<Object, SpanSink>> WAYS = new ConcurrentHashMap<>();

    private SpanSinks() {}

    /**
     * Registers how the sink of a recorder is found. Called once, from the static initializer of the recorder's class.
     *
     * @param recorder the class of the recorder
     * @param sink returns the sink of a recorder, the same one each time
     * @param <T> the type of the recorder
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
