package org.brickprofiler.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.agent.bridge.Bridge;
import org.jspecify.annotations.Nullable;

/**
 * Classes woven within the test's own virtual machine, in a loader that has only them. The bridge can be installed
 * once: all tests share the profiler, and discard the recordings of other tests.
 */
final class Woven {

    static final BrickProfiler PROFILER = new BrickProfiler();

    /** Timers that were started, less those that were stopped. */
    static final AtomicLong OPEN = new AtomicLong();

    /** Supplies the error that every call that records a brick throws; null if these calls succeed. */
    static volatile @Nullable Supplier<Error> failing;

    /** The messages printed since a test cleared the list. */
    static final List<String> SAID = new CopyOnWriteArrayList<>();

    static final AgentLosses LOSSES = new AgentLosses(SAID::add);

    static final WovenRequests REQUESTS = new WovenRequests(PROFILER.requests(), LOSSES);

    /** The work that the rules of the latest class state. */
    static WovenWork work = new WovenWork(List.of(), rule -> 0, PROFILER, LOSSES);

    /** The losses of the latest class. */
    static AgentLosses losses = LOSSES;

    /** Which rules of the latest class were reached. */
    static ReachedRules reached = new ReachedRules(List.of());

    private static Recorder recorder = recorder(List.of());

    private static Recorder recorder(List<WeaveRule> rules) {
        reached = reached(rules);
        return new Recorder(
                PROFILER, new Recorder.StepCounts(0, () -> {}, null), REQUESTS, work, reached, losses, SAID::add);
    }

    /** Returns a recorder that records no requests. */
    static Recorder recorder(
            BrickProfiler profiler, Recorder.StepCounts steps, AgentLosses losses, Consumer<String> say) {
        WovenWork none = new WovenWork(List.of(), rule -> 0, profiler, losses);
        return new Recorder(profiler, steps, new WovenRequests(null, losses), none, reached(List.of()), losses, say);
    }

    private static ReachedRules reached(List<WeaveRule> rules) {
        ReachedRules reached = new ReachedRules(rules);
        reached.weavingEnds();
        return reached;
    }

    static {
        Bridge.install(new Counting());
        PROFILER.enable();
    }

    private Woven() {}

    private static final class Counting implements Bridge.Sink {
        @Override
        public long startBrick(int key) {
            throwFailing();
            OPEN.incrementAndGet();
            return recorder.startBrick(key);
        }

        @Override
        public void stopBrick(long timer, long elements) {
            if (timer != 0) {
                OPEN.decrementAndGet();
            }
            throwFailing();
            recorder.stopBrick(timer, elements);
        }

        private static void throwFailing() {
            Supplier<Error> error = failing;
            if (error != null) {
                throw error.get();
            }
        }

        @Override
        public long startLayer(long number) {
            return recorder.startLayer(number);
        }

        @Override
        public void endLayer(long layer) {
            recorder.endLayer(layer);
        }

        @Override
        public long startPrompt(long steps, long outputTokens) {
            return recorder.startPrompt(steps, outputTokens);
        }

        @Override
        public void endPrompt(long prompt) {
            recorder.endPrompt(prompt);
        }

        @Override
        public long startStep(long tokens, long kvLength, long outputTokens, boolean isPrompt) {
            return recorder.startStep(tokens, kvLength, outputTokens, isPrompt);
        }

        @Override
        public void endStep(long step) {
            recorder.endStep(step);
        }

        @Override
        public void failStep(long step) {
            recorder.failStep(step);
        }

        @Override
        public long startRequest(long promptTokens, String from) {
            return recorder.startRequest(promptTokens, from);
        }

        @Override
        public long serveArrived(@Nullable Object key, long promptTokens) {
            return recorder.serveArrived(key, promptTokens);
        }

        @Override
        public void endRequest(int outcome, long request) {
            recorder.endRequest(outcome, request);
        }

        @Override
        public void nameRequest(long request, boolean isServed, @Nullable Object id) {
            recorder.nameRequest(request, isServed, id);
        }

        @Override
        public void modelRequest(long request, boolean isServed, @Nullable Object model) {
            recorder.modelRequest(request, isServed, model);
        }

        @Override
        public long startArrival(@Nullable Object key, long promptTokens, String from) {
            return recorder.startArrival(key, promptTokens, from);
        }

        @Override
        public long startFinish(@Nullable Object key) {
            return recorder.startFinish(key);
        }

        @Override
        public void endFinish(int outcome, long request) {
            recorder.endFinish(outcome, request);
        }

        @Override
        public void inStep(@Nullable Object key, long promptTokens, long tokens) {
            recorder.inStep(key, promptTokens, tokens);
        }

        @Override
        public MethodHandle outcome(
                MethodHandles.Lookup caller, MethodType type, String place, String table, String... path) {
            return recorder.outcome(caller, type, place, table, path);
        }

        @Override
        public long layerToken() {
            return recorder.layerToken();
        }

        @Override
        public long workFor(long layer) {
            return recorder.workFor(layer);
        }

        @Override
        public MethodHandle carrier(MethodHandles.Lookup caller, Class<?> task) {
            return recorder.carrier(caller, task);
        }

        @Override
        public MethodHandle elements(MethodHandles.Lookup caller, MethodType type, String place, String... path) {
            return recorder.elements(caller, type, place, path);
        }

        @Override
        public void product(int number, long rows, long columns, long vectors, long weight) {
            recorder.product(number, rows, columns, vectors, weight);
        }

        @Override
        public void model(int number, long value) {
            recorder.model(number, value);
        }

        @Override
        public MethodHandle amount(MethodHandles.Lookup caller, MethodType type, String place, String... path) {
            return recorder.amount(caller, type, place, path);
        }

        @Override
        public MethodHandle weight(
                MethodHandles.Lookup caller, MethodType type, String place, String table, String... path) {
            return recorder.weight(caller, type, place, table, path);
        }

        @Override
        public void failed(Throwable failed) {
            recorder.failed(failed);
        }
    }

    /** Returns a weaver of rules in YAML. */
    static Weaver weaver(String rules) {
        return new Weaver(RuleFile.parse("rules", rules), Woven::keyOf);
    }

    private static int keyOf(WeaveRule rule) {
        return rule.brick().isEmpty()
                ? 0
                : PROFILER.brickKey(rule.brick(), rule.category().orElse(BrickCategory.OTHER));
    }

    /** Weaves a class by rules, and returns the result. */
    static Weaver.Result result(Class<?> type, String rules) throws IOException {
        return weaver(rules).weave(file(type), type.getClassLoader());
    }

    /** Loads a class woven for its work. Unlike {@link #load}, accepts problems of rules. Discards old recordings. */
    static Class<?> loadWithWork(Class<?> type, String text) throws Exception {
        RuleFile.Rules rules = RuleFile.parse("rules", text);
        Weaver.Result result = new Weaver(rules, Woven::keyOf).weave(file(type), type.getClassLoader());
        losses = new AgentLosses(SAID::add);
        work = new WovenWork(rules.rules(), Woven::keyOf, PROFILER, losses);
        recorder = recorder(rules.rules());
        result.applied().stream()
                .filter(rule -> rule.kind() == WeaveRule.Kind.BRICK)
                .forEach(rule -> work.woven(rule, keyOf(rule)));
        return define(type, result);
    }

    /** Loads a woven class; all its rules must apply. Discards earlier recordings. */
    static Class<?> load(Class<?> type, String rules) throws Exception {
        Weaver.Result result = result(type, rules);
        if (!result.problems().isEmpty()) {
            throw new AssertionError(result.problems().toString());
        }
        losses = LOSSES;
        work = new WovenWork(List.of(), rule -> 0, PROFILER, losses);
        recorder = recorder(List.of());
        return define(type, result);
    }

    private static Class<?> define(Class<?> type, Weaver.Result result) throws Exception {
        byte @Nullable [] bytes = result.bytes();
        if (bytes == null) {
            throw new AssertionError("nothing was woven");
        }
        // A token ends the prompt that another test may have left under way on this thread.
        Recorder other = recorder(PROFILER, new Recorder.StepCounts(0, () -> {}, null), LOSSES, SAID::add);
        other.endStep(other.startStep(1, 0, 1, false));
        PROFILER.reset();
        OPEN.set(0);
        Map<String, byte[]> own = new HashMap<>();
        own.put(type.getName(), bytes);
        for (Class<?> nested : type.getDeclaredClasses()) {
            own.put(nested.getName(), file(nested));
        }
        return new Loader(type.getClassLoader(), own).loadClass(type.getName());
    }

    /** Returns counts and elements of the recorded bricks by name, such as {@code {RmsNorm=3/21}}. */
    static String recorded() {
        return PROFILER.allBrickStats().stream()
                .collect(Collectors.toMap(
                        BrickStats::name, each -> each.count() + "/" + each.totalElements(), (a, b) -> a, TreeMap::new))
                .toString();
    }

    /** Returns the problems of the rules, each after the line of its rule. */
    static List<String> messages(Weaver.Result result) {
        return result.problems().stream()
                .map(problem -> problem.rule().line() + ": " + problem.message())
                .toList();
    }

    static byte[] file(Class<?> type) throws IOException {
        try (InputStream file =
                type.getResourceAsStream(type.getName().substring(type.getName().lastIndexOf('.') + 1) + ".class")) {
            return file == null ? new byte[0] : file.readAllBytes();
        }
    }

    /** Has some classes of its own, and all others from its parent. */
    static final class Loader extends ClassLoader {
        private final Map<String, byte[]> own;

        Loader(@Nullable ClassLoader parent, Map<String, byte[]> own) {
            super(parent);
            this.own = own;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                byte[] bytes = own.get(name);
                if (loaded != null || bytes == null) {
                    return loaded != null ? loaded : super.loadClass(name, resolve);
                }
                return defineClass(name, bytes, 0, bytes.length);
            }
        }
    }
}
