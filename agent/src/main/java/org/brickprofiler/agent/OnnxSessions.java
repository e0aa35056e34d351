package org.brickprofiler.agent;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.brickprofiler.agent.bridge.SessionBridge;
import org.brickprofiler.internal.base.Plural;
import org.jspecify.annotations.Nullable;

/**
 * Switches on the profile that ONNX Runtime records of itself, in the sessions that the application creates, and sums
 * each up when its session ends. A session whose profile the application has switched on is left alone. Any thread.
 */
final class OnnxSessions implements SessionBridge.Listener {

    private final Path prefix;
    private final Consumer<String> say;

    /** The options for which the application has switched on the profile. Guarded by this. */
    private final Set<Object> profiledByApplication = Collections.newSetFromMap(new WeakHashMap<>());

    /** Whether the agent itself switches on a profile. Guarded by this. */
    private boolean isSwitching;

    private final AtomicInteger numbers = new AtomicInteger();

    /** The number of the session that a thread is creating; null if its profile is not the agent's. */
    private final ThreadLocal<@Nullable Integer> creating = new ThreadLocal<>();

    private final Map<Identity, Session> open = new ConcurrentHashMap<>();

    /** The sessions whose profiles have ended and are not read yet. Guarded by this. */
    private final List<Ended> ended = new ArrayList<>();

    /** The sums of sessions, as remarks. Guarded by this. */
    private final List<String> sums = new ArrayList<>();

    /** Sessions that are left alone. Guarded by this. */
    private long leftAlone;

    /** A session with a profile of the agent. */
    private static final class Session {
        private final int number;
        private final Object session;
        private final LongAdder runs = new LongAdder();

        Session(int number, Object session) {
            this.number = number;
            this.session = session;
        }
    }

    /**
     * A session whose profile has ended.
     *
     * @param file the profile; null if it is lost
     * @param lost why it is lost
     */
    private record Ended(int number, long runs, @Nullable Path file, String lost) {

        /** Reads the profile, which takes seconds for a million events. */
        String text() {
            try {
                if (file != null) {
                    return OnnxSums.read(file).text(number, runs) + "; brick report " + file + " shows its bricks";
                }
            } catch (RuntimeException | IOException unreadable) {
                return textOfLost(cause(unreadable).toString());
            }
            return textOfLost(lost);
        }

        private String textOfLost(String reason) {
            return "the profile of session " + number + " of ONNX Runtime, with " + Plural.of(runs, "run")
                    + ", is lost: " + reason;
        }
    }

    /** An object as a key, by its identity. */
    private static final class Identity {
        private final Object object;

        Identity(Object object) {
            this.object = object;
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // that is its purpose
        public boolean equals(@Nullable Object other) {
            return other instanceof Identity key && key.object == object;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(object);
        }
    }

    private OnnxSessions(Path prefix, Consumer<String> say) {
        this.prefix = prefix;
        this.say = say;
    }

    /**
     * Returns the profiles of sessions if these are the shipped rules for ONNX Runtime.
     *
     * @param options the options of the agent
     * @param say prints a message
     */
    static Optional<OnnxSessions> of(AgentOptions options, Consumer<String> say) {
        Path rules = options.rules();
        if (rules == null
                || KnownEngine.ofRules(rules)
                        .filter(each -> each == KnownEngine.ONNX)
                        .isEmpty()) {
            return Optional.empty();
        }
        Path out = options.out();
        Path base = (out == null ? Path.of("onnxruntime") : out).toAbsolutePath();
        String name = base.getFileName().toString().replaceFirst("[.]json$", "");
        return Optional.of(new OnnxSessions(base.resolveSibling(name + "-onnx-"), say));
    }

    /** Weaves the sessions that will be created. */
    void begin(Instrumentation instrumentation) {
        SessionBridge.listen(this);
        instrumentation.addTransformer(new OnnxSessionWeaver(say), true);
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (OnnxSessionWeaver.concerns(loaded.getName().replace('.', '/'))) {
                try {
                    instrumentation.retransformClasses(loaded);
                } catch (UnmodifiableClassException | RuntimeException | LinkageError failed) {
                    say.accept(loaded.getName() + " was loaded before, and cannot be woven: " + failed);
                }
            }
        }
    }

    @Override
    public synchronized void profiled(Object options, boolean on) {
        if (isSwitching) {
            return;
        }
        if (on) {
            profiledByApplication.add(options);
        } else {
            profiledByApplication.remove(options);
        }
    }

    @Override
    public synchronized void creating(Object options) {
        creating.remove();
        if (profiledByApplication.contains(options)) {
            if (leftAlone++ == 0) {
                say.accept("a session of ONNX Runtime has its profile on already, and is left alone");
            }
            return;
        }
        int number = numbers.incrementAndGet();
        isSwitching = true;
        try {
            options.getClass().getMethod("enableProfiling", String.class).invoke(options, prefix.toString() + number);
            creating.set(number);
            if (number == 1) {
                say.accept("ONNX Runtime records its own profile in each session, which takes time in each run");
            }
        } catch (ReflectiveOperationException | RuntimeException unable) {
            say.accept("the profile of session " + number + " of ONNX Runtime is not switched on: " + cause(unable));
        } finally {
            isSwitching = false;
        }
    }

    @Override
    public void created(Object session) {
        Integer number = creating.get();
        if (number != null) {
            creating.remove();
            open.put(new Identity(session), new Session(number, session));
        }
    }

    @Override
    public void runs(Object session) {
        Session known = open.get(new Identity(session));
        if (known != null) {
            known.runs.increment();
        }
    }

    @Override
    public void closing(Object session) {
        Session known = open.remove(new Identity(session));
        if (known != null) {
            end(known);
        }
    }

    /** Ends the profiles of the sessions that are open, and sums all profiles up. */
    void endAll() {
        for (Identity each : List.copyOf(open.keySet())) {
            closing(each.object);
        }
        synchronized (this) {
            while (!ended.isEmpty()) {
                // Kept until it is read: a report is tried again if the heap is full.
                sums.add(ended.get(0).text());
                ended.remove(0);
            }
        }
    }

    /** Ends a profile, and leaves it to the end of the process to read it, since the application waits here. */
    private void end(Session session) {
        Path file = null;
        String lost = "";
        try {
            Object name = session.session.getClass().getMethod("endProfiling").invoke(session.session);
            file = Path.of(String.valueOf(name)).toAbsolutePath();
        } catch (ReflectiveOperationException | RuntimeException unable) {
            lost = cause(unable).toString();
        }
        synchronized (this) {
            ended.add(new Ended(session.number, session.runs.sum(), file, lost));
        }
    }

    private static Throwable cause(Exception failed) {
        return failed instanceof InvocationTargetException
                ? Objects.requireNonNullElse(failed.getCause(), failed)
                : failed;
    }

    /** Returns what is known of the sessions, as remarks. */
    synchronized List<String> summary() {
        List<String> all = new ArrayList<>(sums);
        int unread = open.size() + ended.size();
        if (unread > 0) {
            all.add("the operators inside of " + Plural.of(unread, "session")
                    + " of ONNX Runtime are known at the end of the process");
        }
        if (leftAlone > 0) {
            all.add(Plural.of(
                    leftAlone,
                    "session of ONNX Runtime had the profile on already, and was left alone",
                    "sessions of ONNX Runtime had the profile on already, and were left alone"));
        }
        return all;
    }
}
