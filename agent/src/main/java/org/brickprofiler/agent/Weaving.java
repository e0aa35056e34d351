package org.brickprofiler.agent;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.agent.bridge.Bridge;
import org.brickprofiler.agent.bridge.JdkBridge;
import org.brickprofiler.internal.base.Plural;
import org.jspecify.annotations.Nullable;

/**
 * Weaves rules into classes: those that are loaded, and each class as it is loaded. Prints what cannot be woven, and
 * weaves classes again without bricks that are too short to be timed. Any thread.
 */
final class Weaving {

    private static final String OTHER_LOADER = "; it is woven where another loader loads it";

    private static final @Nullable ClassLoader OWN_LOADER = Agent.class.getClassLoader();

    /** How often the agent looks for bricks that are too short. */
    private static final long LOOK_MS = 100;

    /**
     * The number of loaded classes that are woven in one call. Each call stops all threads for a time that hardly grows
     * with this number, but grows with the number of all loaded classes: with 12,000, 400 calls for a class each took 6
     * s, in which the application did next to nothing, and one call took 40 ms.
     */
    private static final int PORTION = 128;

    /** The time between two portions in which the application goes on. */
    private static final long PAUSE_NS = 20_000_000;

    private volatile Path rulesFile;
    private volatile RuleFile.Rules rules;
    private final Recording recording;
    private final Messages messages;

    /** Bricks whose samples are shorter than this on average are dropped; 0 to drop none. */
    private final long shortestNs = ShortBricks.bound(ShortBricks.setting());

    /** Finds the bricks that are too short; null if no bound is set. */
    private volatile @Nullable ShortBricks shortBricks;

    private volatile Weaver weaver;

    /** The rules that were applied, including those from annotations. */
    private final Set<WeaveRule> applied = ConcurrentHashMap.newKeySet();

    /** The last message about the number of rules that apply; empty before. Guarded by this. */
    private String saidApplied = "";

    /** The remark that the rules were changed; empty before. */
    private volatile String changed = "";

    /** Called once, when the first class is woven. */
    private final AtomicReference<Runnable> whenWoven = new AtomicReference<>(() -> {});

    /** Held while classes are woven again. */
    private final Object weavingAgain = new Object();

    /**
     * Prepares the weaving of rules.
     *
     * @param rulesFile the file of the rules, for messages
     * @param rules the rules
     * @param recording the recording of the woven bricks
     * @param messages prints messages
     */
    Weaving(Path rulesFile, RuleFile.Rules rules, Recording recording, Messages messages) {
        this.rulesFile = rulesFile;
        this.rules = rules;
        this.recording = recording;
        this.messages = messages;
        weaver = new Weaver(rules, this::keyOf);
    }

    private int keyOf(WeaveRule rule) {
        return rule.kind() == WeaveRule.Kind.BRICK ? recording.keyOf(rule) : 0;
    }

    /** Returns the file of the rules. */
    Path rulesFile() {
        return rulesFile;
    }

    /** Returns the rules. */
    RuleFile.Rules rules() {
        return rules;
    }

    /**
     * Applies the rules to the class files on the class path, so that errors are reported before a class is loaded. If
     * the class path has not the engine of shipped rules, prints only which one they are written for.
     */
    void check() {
        Optional<KnownEngine> engine = KnownEngine.ofRules(rulesFile);
        if (engine.isPresent() && !engine.get().isHere()) {
            messages.warn(engine.get().missing());
            return;
        }
        Set<String> present = engine.isEmpty() ? Set.of() : ClassFiles.present(weaver.classes());
        weaver.classes().stream()
                .filter(name -> engine.isEmpty() || engine.get().has(name) || present.contains(name))
                .forEach(this::check);
        engine.ifPresent(this::sayVersion);
    }

    /**
     * Prints the version for which shipped rules are written if some do not apply, and which other engines there are.
     */
    private void sayVersion(KnownEngine engine) {
        long without = rules.rules().stream()
                .filter(rule -> engine.has(rule.target().className().replace('.', '/')))
                .filter(rule -> !applied.contains(rule))
                .count();
        if (without > 0) {
            messages.warn(Plural.of(without, "rule") + " of " + rulesFile + " found no place: they are written for "
                    + engine.version());
        }
        KnownEngine.others(engine).ifPresent(messages::warn);
    }

    /**
     * Weaves the classes that are loaded, and from now on each class as it is loaded.
     *
     * @param first called once, when the first class is woven, on the thread that loads it
     */
    void begin(Instrumentation instrumentation, Runnable first) {
        whenWoven.set(first);
        instrumentation.addTransformer(new Transformer(), true);
        weaveLoaded(weaver::concerns, instrumentation);
        recording.reached.weavingEnds();
    }

    /**
     * Weaves other rules in the place of the present ones: classes that only the earlier rules concern get their own
     * code back. Bricks that were too short remain dropped.
     *
     * @param file the file of the rules, for messages
     * @param others the rules
     */
    void change(Path file, RuleFile.Rules others, Instrumentation instrumentation) {
        synchronized (weavingAgain) {
            Weaver before = weaver;
            rulesFile = file;
            rules = others;
            applied.clear();
            Weaver next = new Weaver(others, this::keyOf).without(before.dropped());
            weaver = next;
            check();
            weaveLoaded(loaded -> before.concerns(loaded) || next.concerns(loaded), instrumentation);
            changed = "the rules were changed to those of " + file + " at "
                    + Instant.now().truncatedTo(ChronoUnit.SECONDS)
                    + ", and what was recorded before was discarded; a method that had begun before goes on by the"
                    + " earlier rules until it returns";
        }
    }

    /** Returns the remark that the rules were changed; empty if they were not. */
    String changed() {
        return changed;
    }

    private void weaveLoaded(Predicate<Class<?>> concerns, Instrumentation instrumentation) {
        List<Class<?>> loaded = new ArrayList<>();
        for (Class<?> each : instrumentation.getAllLoadedClasses()) {
            if (concerns.test(each)) {
                loaded.add(each);
            }
        }
        for (int from = 0; from < loaded.size(); from += PORTION) {
            if (from > 0) {
                LockSupport.parkNanos(PAUSE_NS);
            }
            weaveAgain(loaded.subList(from, Math.min(loaded.size(), from + PORTION)), instrumentation);
        }
    }

    /** Returns the rules that were applied so far, including those from annotations; a view. */
    Set<WeaveRule> applied() {
        return Collections.unmodifiableSet(applied);
    }

    /** Prints the number of rules that apply: at the start, and later only if it has changed. */
    synchronized void sayApplied(boolean atStart) {
        int all = rules.count();
        long now = appliedRules();
        long annotations = applied.size() - now;
        List<String> counts = new ArrayList<>();
        if (all > 0) {
            counts.add(now + " of " + all + " rules");
        }
        if (annotations > 0 || all == 0) {
            counts.add(Plural.of(annotations, "annotation"));
        }
        String text = String.join(" and ", counts) + " apply";
        if (atStart || !(saidApplied.isEmpty() || text.equals(saidApplied))) {
            saidApplied = text;
            messages.info(text + (atStart && (now < all || !rules.annotated().isEmpty()) ? " so far" : ""));
        }
    }

    /** Returns the number of rules of the file that apply. */
    private long appliedRules() {
        return rules.rules().stream().filter(applied::contains).count();
    }

    /** Applies the rules of a class to its class file, so that errors are reported before the class is loaded. */
    private void check(String className) {
        byte[] file = ClassFiles.find(ClassLoader.getSystemClassLoader(), className);
        if (file == null) {
            String name = className.replace('/', '.');
            String hint = ClosestNames.hint(name, ClassFiles.names()) + OTHER_LOADER;
            weaver.rulesOf(className).forEach(rule -> say(rule, "there is no class " + name + hint));
        } else {
            try {
                note(weaver.weave(file, ClassLoader.getSystemClassLoader()));
            } catch (RuntimeException failed) {
                messages.warn(className.replace('/', '.') + " cannot be woven: " + failed);
            }
        }
    }

    private void note(Weaver.Result result) {
        applied.addAll(result.applied());
        for (WeaveRule rule : result.applied()) {
            if (rule.kind() == WeaveRule.Kind.BRICK) {
                recording.work.woven(rule, recording.keyOf(rule));
            }
        }
        for (Weaver.Problem problem : result.problems()) {
            say(problem.rule(), problem.message());
        }
    }

    /** Weaves a portion; if that fails, each of its classes by itself, so that one of them does not keep the others. */
    private void weaveAgain(List<Class<?>> portion, Instrumentation instrumentation) {
        try {
            instrumentation.retransformClasses(portion.toArray(Class<?>[]::new));
        } catch (UnmodifiableClassException | RuntimeException | LinkageError failed) {
            if (portion.size() == 1) {
                messages.warn(portion.get(0).getName() + " was loaded before, and cannot be woven: " + failed);
            } else {
                portion.forEach(each -> weaveAgain(List.of(each), instrumentation));
            }
        }
    }

    private void say(WeaveRule rule, String message) {
        messages.warn(rulesFile + ":" + rule.line() + ": " + message);
    }

    /** Weaves classes as they are loaded. If weaving fails, the class stays unchanged. */
    private final class Transformer implements ClassFileTransformer {
        @Override
        public byte @Nullable [] transform(
                @Nullable ClassLoader loader,
                @Nullable String className,
                @Nullable Class<?> redefined,
                @Nullable ProtectionDomain domain,
                byte[] file) {
            // The agent's own copies of library classes are not woven: they are not part of the application.
            if (className == null || !weaver.concerns(className) || loader == OWN_LOADER) {
                return null;
            }
            JdkBridge.enter();
            try {
                Weaver.Result result = weaver.weave(file, loader);
                if (result.bytes() != null && loader != null && !seesBridge(loader)) {
                    recording.losses.leftAlone(className.replace('/', '.'), loader);
                    return null;
                }
                note(result);
                if (result.bytes() != null) {
                    whenWoven.getAndSet(() -> {}).run();
                }
                if (result.applied().stream().anyMatch(rules.rules()::contains)
                        && appliedRules() == rules.rules().size()) {
                    sayApplied(false);
                }
                return result.bytes();
            } catch (Throwable failed) {
                messages.warn(className.replace('/', '.') + " is not woven: " + failed);
                return null;
            } finally {
                JdkBridge.leave();
            }
        }
    }

    /** Returns whether woven code in a loader finds the bridge itself, and not a copy of it without a sink. */
    static boolean seesBridge(ClassLoader loader) {
        try {
            return Class.forName(Bridge.class.getName(), false, loader) == Bridge.class;
        } catch (Throwable unseen) {
            // The loader is the application's, and may throw anything.
            return false;
        }
    }

    // ---- bricks that are too short ----

    /** Watches for bricks that are too short, if a bound is set, on a thread of its own. */
    void dropShort(Instrumentation instrumentation) {
        if (shortestNs == 0) {
            return;
        }
        ShortBricks watch = new ShortBricks(
                shortestNs, recording.profiler::allBrickStats, names -> drop(names, instrumentation), this::sayGoesOn);
        shortBricks = watch;
        Thread watching = new Thread(
                () -> {
                    try {
                        while (true) {
                            Thread.sleep(LOOK_MS);
                            watch.look();
                        }
                    } catch (InterruptedException over) {
                        Thread.currentThread().interrupt();
                    }
                },
                "brick-agent-short");
        watching.setDaemon(true);
        watching.start();
    }

    /**
     * Weaves classes again without some bricks, and discards everything recorded: enclosing bricks contain the time of
     * the dropped bricks' timers.
     */
    private void drop(Set<String> names, Instrumentation instrumentation) {
        synchronized (weavingAgain) {
            dropAndWeave(names, instrumentation);
        }
        recording.discard();
    }

    private void dropAndWeave(Set<String> names, Instrumentation instrumentation) {
        weaver = weaver.without(names);
        List<WeaveRule> rulesOf = applied.stream()
                .filter(rule -> rule.kind() == WeaveRule.Kind.BRICK && names.contains(WovenWork.nameOf(rule)))
                .sorted(Comparator.comparingInt(WeaveRule::line))
                .toList();
        Set<String> classes =
                rulesOf.stream().map(rule -> rule.target().className()).collect(Collectors.toUnmodifiableSet());
        messages.warn("bricks whose samples take less than " + shortestNs + " ns on average are dropped: "
                + rulesOf.stream().map(this::inWords).distinct().collect(Collectors.joining(", ")));
        weaveLoaded(loaded -> classes.contains(loaded.getName()), instrumentation);
    }

    /** Returns the place of a rule: its line, or the annotated method. */
    private String inWords(WeaveRule rule) {
        return rules.rules().contains(rule) ? "line " + rule.line() : "the annotation of " + rule.target();
    }

    private void sayGoesOn(String brick) {
        messages.warn("the brick '" + brick
                + "' goes on: a method that had begun before its rule was dropped has not returned");
    }

    /**
     * Returns a remark for each dropped brick of a profile; its samples are from calls that began before it was
     * dropped.
     */
    List<String> dropped(ProfileSnapshot snapshot) {
        ShortBricks watch = shortBricks;
        return watch == null
                ? List.of()
                : snapshot.bricks().stream()
                        .map(BrickStats::name)
                        .filter(watch::hasDropped)
                        .map(brick ->
                                "the brick '" + brick + "' has only samples of methods that had begun before it was"
                                        + " dropped, since samples of less than " + shortestNs
                                        + " ns are too short to be timed")
                        .toList();
    }
}
