package org.brickprofiler.internal.record;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Tracing that is switched on from outside the program, by a system property or, where that is not set, by an
 * environment variable. Both name the file. What stands against it is logged once, and nothing is traced then. Any
 * thread.
 */
public final class TraceSetting {

    static final String PROPERTY = "brick.profiler.trace";
    static final String VARIABLE = "BRICK_PROFILER_TRACE";

    private TraceSetting() {}

    /**
     * The sink of profilers that are given none. Looked up at the first call.
     *
     * @return the same one each time; null where tracing is off
     */
    public static @Nullable SpanSink sink() {
        return Once.SINK;
    }

    private static final class Once {
        static final @Nullable SpanSink SINK = open(
                System.getProperty(PROPERTY, System.getenv(VARIABLE)),
                ServiceLoader.load(SpanSinkProvider.class, TraceSetting.class.getClassLoader()));
    }

    static @Nullable SpanSink open(@Nullable String file, Iterable<SpanSinkProvider> providers) {
        if (file == null || file.isEmpty()) {
            return null;
        }
        try {
            Iterator<SpanSinkProvider> found = providers.iterator();
            if (found.hasNext()) {
                return found.next().open(Path.of(file));
            }
            LoggerFactory.getLogger(TraceSetting.class)
                    .warn("no timeline goes to '{}': nothing on the class path writes one", file);
        } catch (IllegalArgumentException | ServiceConfigurationError e) {
            String reason = e instanceof InvalidPathException ? "it is not a path" : e.getMessage();
            LoggerFactory.getLogger(TraceSetting.class)
                    .warn("no timeline goes to '{}': {}", file, reason);
        }
        return null;
    }
}
