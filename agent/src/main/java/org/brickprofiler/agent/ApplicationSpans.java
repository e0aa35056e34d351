package org.brickprofiler.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.security.ProtectionDomain;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.request.RequestTrace;
import org.jspecify.annotations.Nullable;

/**
 * Exports requests as spans through the OpenTelemetry of the application, of which the agent has no classes. Each
 * arrival looks whether the application has set its {@code GlobalOpenTelemetry}; from the first one that finds it on,
 * requests are exported. Nothing of OpenTelemetry is loaded or initialised before. Any thread.
 */
final class ApplicationSpans {

    private static final String GLOBAL = "io.opentelemetry.api.GlobalOpenTelemetry";
    private static final String GLOBAL_FILE = GLOBAL.replace('.', '/');
    private static final String BRIDGE = "org.brickprofiler.metrics.otel.GlobalRequestSpans";

    /** The work of an engine, in the terms of the conventions; whether it is a chat is not known. */
    private static final String OPERATION = "text_completion";

    private final BrickProfiler profiler;
    private final Map<String, String> genAi;
    private final Messages messages;

    /** The loaders that have the application's OpenTelemetry. */
    private final List<WeakReference<ClassLoader>> loaders = new CopyOnWriteArrayList<>();

    /** The traces of the application's OpenTelemetry; null before it is set. */
    private volatile @Nullable Supplier<?> traces;

    /** The requests that arrived before. Guarded by this. */
    private long early;

    private ApplicationSpans(BrickProfiler profiler, String provider, Messages messages) {
        this.profiler = profiler;
        this.messages = messages;
        genAi = Map.of("gen_ai.operation.name", OPERATION, "gen_ai.provider.name", provider);
    }

    /**
     * Begins to look for the application's OpenTelemetry.
     *
     * @param profiler the profiler whose requests are exported
     * @param provider the attribute {@code gen_ai.provider.name} of each span
     */
    static void begin(BrickProfiler profiler, String provider, Instrumentation instrumentation, Messages messages) {
        ApplicationSpans spans = new ApplicationSpans(profiler, provider, messages);
        instrumentation.addTransformer(spans.new Watch());
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (loaded.getName().equals(GLOBAL)) {
                spans.add(loaded.getClassLoader());
            }
        }
        profiler.requests().setTraceSource(spans::current);
    }

    /** Learns which loaders load OpenTelemetry, and changes no class. */
    private final class Watch implements ClassFileTransformer {
        @Override
        public byte @Nullable [] transform(
                @Nullable ClassLoader loader,
                @Nullable String className,
                @Nullable Class<?> redefined,
                @Nullable ProtectionDomain domain,
                byte[] file) {
            if (GLOBAL_FILE.equals(className)) {
                add(loader);
            }
            return null;
        }
    }

    private void add(@Nullable ClassLoader loader) {
        if (loader != null && loaders.stream().noneMatch(each -> each.get() == loader)) {
            loaders.add(new WeakReference<>(loader));
        }
    }

    /** Returns the trace of the calling thread, on which a request arrives; null if it has none. */
    private @Nullable RequestTrace current() {
        Supplier<?> known = traces;
        return (RequestTrace) (known == null ? look() : known).get();
    }

    private synchronized Supplier<?> look() {
        Supplier<?> known = traces;
        if (known == null) {
            known = start();
            traces = known;
        }
        if (known != null) {
            return known;
        }
        if (early++ == 0) {
            messages.warn("spans=: requests have no spans so far, since the application has "
                    + (loaders.isEmpty() ? "not loaded OpenTelemetry (" + GLOBAL + ")" : "set no " + GLOBAL)
                    + "; each further arrival looks again");
        }
        return ApplicationSpans::noTrace;
    }

    private static @Nullable RequestTrace noTrace() {
        return null;
    }

    /** Starts the export if an OpenTelemetry is set; returns its traces, or null if none is set. */
    private @Nullable Supplier<?> start() {
        for (WeakReference<ClassLoader> each : loaders) {
            ClassLoader loader = each.get();
            try {
                if (loader != null && isSet(loader)) {
                    Object started = start(loader);
                    endAtExit((AutoCloseable) started);
                    messages.info("spans=: requests are exported by the application's OpenTelemetry"
                            + (early == 0
                                    ? ""
                                    : "; " + Plural.of(early, "request that arrived", "requests that arrived")
                                            + " before it was set "
                                            + (early == 1 ? "has no span" : "have no spans")));
                    return (Supplier<?>) started;
                }
            } catch (Throwable unusable) {
                // OpenTelemetry is the application's, and may throw anything.
                messages.warn("spans=: requests have no spans, since the application's OpenTelemetry cannot be used: "
                        + Objects.requireNonNullElse(unusable.getCause(), unusable));
                return ApplicationSpans::noTrace;
            }
        }
        return null;
    }

    /** Returns whether the OpenTelemetry of a loader is set, without setting one. */
    private static boolean isSet(ClassLoader loader) throws ReflectiveOperationException {
        Class<?> global = Class.forName(GLOBAL, false, loader);
        Method isSet;
        try {
            isSet = global.getMethod("isSet");
        } catch (NoSuchMethodException earlierRelease) {
            Field latest = global.getDeclaredField("globalOpenTelemetry");
            latest.setAccessible(true);
            return latest.get(null) != null;
        }
        return (boolean) isSet.invoke(null);
    }

    /** Starts the export by the OpenTelemetry of a loader, and returns the bridge to it. */
    private Object start(ClassLoader loader) throws ReflectiveOperationException {
        Method start = new Both(loader).loadClass(BRIDGE).getDeclaredMethod("start", BrickProfiler.class, Map.class);
        start.setAccessible(true);
        return start.invoke(null, profiler, genAi);
    }

    /** Exports the requests of the last second when the virtual machine ends. */
    private static void endAtExit(AutoCloseable spans) {
        Thread ending = new Thread(
                () -> {
                    try {
                        spans.close();
                    } catch (Exception atTheEnd) {
                        // The export ends with the process.
                    }
                },
                "brick-agent-spans");
        try {
            Runtime.getRuntime().addShutdownHook(ending);
        } catch (IllegalStateException endsAlready) {
            // Nothing is exported any more.
        }
    }

    /**
     * Loads the bridge: its classes come from the agent, and see the agent's classes and the application's
     * OpenTelemetry.
     */
    private static final class Both extends ClassLoader {

        private static final String DEFINED = BRIDGE.substring(0, BRIDGE.lastIndexOf('.') + 1);
        private static final String AGENTS = "org.brickprofiler.";

        private static final ClassLoader AGENT = Objects.requireNonNull(ApplicationSpans.class.getClassLoader());

        Both(ClassLoader application) {
            super("brick-profiler-spans", application);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(AGENTS)) {
                return super.loadClass(name, resolve);
            }
            if (!name.startsWith(DEFINED)) {
                return AGENT.loadClass(name);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? define(name) : loaded;
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream file = AGENT.getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (file == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = file.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException failed) {
                throw new ClassNotFoundException(name, failed);
            }
        }
    }
}
