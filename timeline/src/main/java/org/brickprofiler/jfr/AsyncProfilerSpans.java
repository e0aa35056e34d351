package org.brickprofiler.jfr;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfilerListener;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.record.PerThread;
import org.brickprofiler.trace.jfr.internal.SpanTag;

/**
 * Emits a profiler's bricks as spans of async-profiler 4.5 or later, whose recording then has the lines of bricks.
 *
 * <pre>{@code
 * AsyncProfilerSpans spans = AsyncProfilerSpans.of(profiler); // until spans.close()
 * }</pre>
 *
 * <p>async-profiler keeps the spans in which it took a sample, and some that ended just before one. The recording
 * therefore states neither how often nor how long bricks ran. The tag of a span is {@code brick:decode:RmsNorm}, or
 * {@code brick::RmsNorm} outside of steps. Bricks on virtual threads are no spans, since async-profiler names their
 * carriers; nor are deferred samples, and those that a device timed. While async-profiler does not record, a sample
 * costs a call. Any thread.
 */
public final class AsyncProfilerSpans implements AutoCloseable {

    private static final String API = "one.profiler.";

    /** The state of async-profiler while it records into a file of the flight recorder's format. */
    private static final int RUNNING = 2;

    private static final double NS_PER_S = 1e9;

    /** A sample that seems to have ended longer ago, or in the future, is of another clock than the system's. */
    private static final long OTHER_CLOCK_NS = 1_000_000_000;

    private final BrickProfiler profiler;
    private final Listener listener = new Listener();

    private AsyncProfilerSpans(BrickProfiler profiler) {
        this.profiler = profiler;
    }

    /**
     * Begins to emit a profiler's bricks as spans. async-profiler may be loaded before or later.
     *
     * @param profiler the profiler
     * @return the handle whose {@link #close} ends the spans
     * @throws IllegalStateException when async-profiler's interface is missing or too old; the message names the
     *     artifact to add
     */
    public static AsyncProfilerSpans of(BrickProfiler profiler) {
        AsyncProfilerSpans spans = new AsyncProfilerSpans(Objects.requireNonNull(profiler, "profiler"));
        requireApi();
        profiler.addListener(spans.listener);
        return spans;
    }

    /** Stops emitting spans. */
    @Override
    public void close() {
        profiler.removeListener(listener);
    }

    private static void requireApi() {
        try {
            Methods.emit();
            Methods.state();
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(
                    "AsyncProfilerSpans needs tools.profiler:async-profiler of version 4.5 or later, which is neither on"
                            + " the class path nor on the module path: add it",
                    missing);
        }
    }

    /** Finds the methods of async-profiler's interface. */
    private static final class Methods {

        static MethodHandle emit() throws ReflectiveOperationException {
            MethodType type = MethodType.methodType(void.class, long.class, long.class, String.class);
            return find("Span", "emitIfProfiled", type);
        }

        static MethodHandle state() throws ReflectiveOperationException {
            return recording("state", int.class);
        }

        static MethodHandle recording(String method, Class<?> result) throws ReflectiveOperationException {
            return find("Recording", method, MethodType.methodType(result));
        }

        private static MethodHandle find(String type, String method, MethodType signature)
                throws ReflectiveOperationException {
            return MethodHandles.publicLookup().findStatic(type(API + type), method, signature);
        }

        /** Returns a class that this library sees, or, if it is the agent's, the class path of the application. */
        private static Class<?> type(String name) throws ClassNotFoundException {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException elsewhere) {
                return Class.forName(name, true, ClassLoader.getSystemClassLoader());
            }
        }
    }

    /** The interface of async-profiler, which must be present. Constants, so that the compiler inlines them. */
    private static final class Api {
        private static final MethodHandle EMIT = present(Methods::emit);
        private static final MethodHandle STATE = present(Methods::state);
        private static final MethodHandle TICKS = present(() -> Methods.recording("timestamp", long.class));
        private static final MethodHandle FREQUENCY = present(() -> Methods.recording("clockFrequency", long.class));

        private interface Lookup {
            MethodHandle find() throws ReflectiveOperationException;
        }

        private static MethodHandle present(Lookup lookup) {
            try {
                return lookup.find();
            } catch (ReflectiveOperationException missing) {
                throw new LinkageError("async-profiler has another interface", missing);
            }
        }

        /** Emits a span that has just ended on this thread, if async-profiler records. */
        static void emit(
                Map<String, Map<Optional<StepInfo.Phase>, String>> tags,
                String brick,
                Optional<StepInfo.Phase> phase,
                long endNs,
                long ns) {
            try {
                if ((int) STATE.invokeExact() != RUNNING) {
                    return;
                }
                double ticksPerNs = (long) FREQUENCY.invokeExact() / NS_PER_S;
                long now = (long) TICKS.invokeExact();
                long agoNs = System.nanoTime() - endNs;
                boolean isKnown = agoNs >= 0 && agoNs < OTHER_CLOCK_NS;
                long end = isKnown ? now - Math.round(agoNs * ticksPerNs) : now;
                EMIT.invokeExact(end - Math.round(ns * ticksPerNs), end, tag(tags, brick, phase));
            } catch (RuntimeException | Error thrown) {
                throw thrown;
            } catch (Throwable thrown) {
                throw new IllegalStateException("async-profiler took no span", thrown);
            }
        }

        /** Returns the tag of a brick in a phase, which is made once. */
        private static String tag(
                Map<String, Map<Optional<StepInfo.Phase>, String>> tags, String brick, Optional<StepInfo.Phase> phase) {
            Map<Optional<StepInfo.Phase>, String> ofBrick = tags.get(brick);
            if (ofBrick == null) {
                ofBrick = new ConcurrentHashMap<>();
                tags.put(brick, ofBrick);
            }
            String tag = ofBrick.get(phase);
            if (tag == null) {
                tag = new SpanTag(brick, phase).text();
                ofBrick.put(phase, tag);
            }
            return tag;
        }
    }

    private static final class Listener implements ProfilerListener {

        /** The tags of each brick, outside of steps and in each phase. */
        private final Map<String, Map<Optional<StepInfo.Phase>, String>> tags = new ConcurrentHashMap<>();

        @Override
        public boolean wantsBricks() {
            return true;
        }

        @Override
        public void brickRecorded(
                String brick,
                BrickCategory category,
                Optional<StepInfo.Phase> phase,
                long endNs,
                long elapsedNs,
                long elements) {
            if (!PerThread.isVirtual(Thread.currentThread())) {
                Api.emit(tags, brick, phase, endNs, elapsedNs);
            }
        }

        @Override
        public void stepBegan(StepInfo info) {}

        @Override
        public void stepEnded(Step step) {}
    }
}
