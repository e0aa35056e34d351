package org.brickprofiler.internal.record;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.brickprofiler.internal.io.Settings;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Makes a {@link SpanSink} that writes a file when the virtual machine ends. Found by {@link ServiceLoader}, and only
 * where tracing is switched on from outside the program: by a system property or, where that is not set, by an
 * environment variable. Both name the file. What stands against it is logged once, and nothing is traced then. Any
 * thread.
 */
public abstract class SpanSinkProvider {

    static final String PROPERTY = "brick.profiler.trace";
    static final String VARIABLE = "BRICK_PROFILER_TRACE";

    /** For providers. */
    protected SpanSinkProvider() {}

    /**
     * Makes the sink, and sees to it that the file is written.
     *
     * @param file where to
     * @return the sink of all profilers that are given none
     * @throws IllegalArgumentException when no such file can be written; the message says why
     */
    protected abstract SpanSink open(Path file);

    /**
     * The sink of profilers that are given none. Looked up at the first call.
     *
     * @return the same one each time; null where tracing is off
     */
    public static @Nullable SpanSink sinkOfSetting() {
        return Once.SINK;
    }

    private static final class Once {
        static final @Nullable SpanSink SINK = open(
                Settings.value(PROPERTY, VARIABLE),
                ServiceLoader.load(SpanSinkProvider.class, SpanSinkProvider.class.getClassLoader()));
    }

    static @Nullable SpanSink open(@Nullable String file, Iterable<SpanSinkProvider> providers) {
        if (file == null || file.isBlank()) {
            return null;
        }
        try {
            Iterator<SpanSinkProvider> found = providers.iterator();
            if (found.hasNext()) {
                return found.next().open(Path.of(file));
            }
            LoggerFactory.getLogger(SpanSinkProvider.class)
                    .warn("no timeline goes to '{}': nothing on the class path writes one", file);
        } catch (IllegalArgumentException | ServiceConfigurationError e) {
            String reason = e instanceof InvalidPathException ? "it is not a path" : e.getMessage();
            LoggerFactory.getLogger(SpanSinkProvider.class).warn("no timeline goes to '{}': {}", file, reason);
        }
        return null;
    }
}
