package org.brickprofiler.agent;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.System.Logger.Level;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.ProtectionDomain;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickProfilerBuilder;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.agent.bridge.Bridge;
import org.brickprofiler.agent.bridge.JdkBridge;
import org.brickprofiler.export.setting.WindowSetting;
import org.brickprofiler.internal.base.HeapReserve;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.OutputOwner;
import org.brickprofiler.internal.io.OwnedFile;
import org.brickprofiler.internal.setting.OptionalPart;
import org.brickprofiler.internal.setting.Settings;
import org.brickprofiler.metrics.jmx.BrickProfileBean;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.jfr.VirtualMachineStops;
import org.brickprofiler.trace.write.TraceFiles;
import org.jspecify.annotations.Nullable;

/**
 * The agent, which a separate class loader loads. It reads the rules, checks them against the class path, weaves
 * classes as they are loaded, and writes its reports when the JVM exits. It prints messages to standard error, with the
 * prefix {@code brick agent:}. Any thread.
 */
public final class Agent {

    private static final String OTHER_LOADER = "; it is woven where another loader loads it";

    private static final @Nullable ClassLoader OWN_LOADER = Agent.class.getClassLoader();

    /** Prepared messages: a full heap has no room for a new one. */
    private static final byte[] LOST = "brick agent: a report is lost: the heap is full\n".getBytes(US_ASCII);

    private static final byte[] FULL_HEAP =
            "brick agent: the heap is full; if it still is at the end, the reports may be lost\n".getBytes(US_ASCII);

    private static final long BEAN_DELAY_MS = 3_000;

    /** How often the agent looks for bricks that are too short. */
    private static final long LOOK_MS = 100;

    /** The number of files of earlier runs that are kept for each report. */
    private static final int EARLIER_KEPT = 9;

    /** The standard error before the application could replace it. */
    private static final PrintStream ERR = System.err;

    private static @Nullable Agent running;

    /** The number of slowest steps of each phase that {@code slow=} keeps. */
    private static final int SLOW_STEPS = 8;

    private final AgentOptions options;
    private final RuleFile.Rules rules;
    private final BrickProfiler profiler;
    private final @Nullable TraceRecorder trace;
    private final Recorder.StepCounts steps;
    private final AgentLosses losses = new AgentLosses(this::say);
    private final WovenRequests requests;
    private final WovenWork work;
    private final ReachedRules reached;
    private final @Nullable Alternation alternation;

    /** Bricks whose samples are shorter than this on average are dropped; 0 to drop none. */
    private final long shortestNs;

    /** Finds the bricks that are too short; null if no bound is set. */
    private volatile @Nullable ShortBricks shortBricks;

    private volatile Weaver weaver;

    /** The messages that have been printed; each is printed only once. */
    private final Set<String> said = ConcurrentHashMap.newKeySet();

    /** The rules that were applied, including those from annotations. */
    private final Set<WeaveRule> applied = ConcurrentHashMap.newKeySet();

    /** The last message about the number of rules that apply; empty before. Guarded by this. */
    private String saidApplied = "";

    /** The file in which {@code brick run} expects the profile; null without it. */
    private final @Nullable Path runPath = AgentOptions.runFile(System.getenv());

    /** The file at that path; null if it cannot be written. */
    private final @Nullable OwnedFile<ProfileSnapshot> runFile;

    private final Windows windows = new Windows();

    /** Reports the stops of the virtual machine to the timeline; null without a timeline of slow steps. */
    private volatile @Nullable VirtualMachineStops stops;

    private final HeapReserve reserve = new HeapReserve(Agent::noteFullHeap);

    private Agent(AgentOptions options, Path file) throws IOException {
        this.options = options;
        rules = RuleFile.read(file);
        BrickProfilerBuilder builder = BrickProfiler.builder().stepCpuTimes(true);
        Path timeline = options.timeline();
        if (timeline == null) {
            trace = null;
        } else {
            TraceFiles.requireFormat(timeline);
            trace = options.slow() == null
                    ? new TraceRecorder()
                    : TraceRecorder.builder().keepSlowSteps(SLOW_STEPS).build();
            builder.tracing(trace);
        }
        profiler = builder.build();
        alternation = options.ab().isPresent()
                ? new Alternation(profiler, options.ab().getAsLong())
                : null;
        if (alternation != null && rules.rules().stream().noneMatch(rule -> rule.kind() == WeaveRule.Kind.STEP)) {
            throw new IllegalArgumentException("ab= compares steps, and there is no step: in " + file);
        }
        if (options.slow() != null && rules.rules().stream().noneMatch(rule -> rule.kind() == WeaveRule.Kind.STEP)) {
            throw new IllegalArgumentException("slow= keeps steps, and there is no step: in " + file);
        }
        boolean hasRequests =
                rules.rules().stream().anyMatch(rule -> rule.kind().isOfRequests());
        if (hasRequests && alternation != null) {
            say("requests are not recorded: ab= switches recording off and on, which gives up the requests under way");
        }
        requests = new WovenRequests(hasRequests && alternation == null ? profiler.requests() : null, losses);
        runFile = beginRunFile();
        prepareReports();
        if (options.warmup().isPresent()
                && rules.rules().stream().noneMatch(rule -> rule.kind() == WeaveRule.Kind.STEP)) {
            throw new IllegalArgumentException("warmup= counts steps, and there is no step: in " + file);
        }
        steps = new Recorder.StepCounts(options.warmup().orElse(rules.warmupSteps()), this::discard, alternation);
        reached = new ReachedRules(rules.rules());
        shortestNs = ShortBricks.bound(ShortBricks.setting());
        weaver = new Weaver(rules, rule -> rule.kind() == WeaveRule.Kind.BRICK ? keyOf(rule) : 0);
        work = new WovenWork(rules.rules(), this::keyOf, profiler, losses);
    }

    /** Returns the key of a rule's brick. A rule for a known brick has no category. */
    private int keyOf(WeaveRule rule) {
        return rule.category()
                .map(category -> profiler.brickKey(rule.brick(), category))
                .orElseGet(() -> profiler.brickKey(rule.brick()));
    }

    /**
     * Starts the agent, or makes the running agent write a snapshot.
     *
     * @param text the options, in the format of {@link AgentOptions}
     * @param instrumentation the instrumentation of the virtual machine
     * @throws IOException when the rules cannot be read, or the snapshot cannot be written
     * @throws IllegalArgumentException when options or rules are malformed; when a snapshot is requested and no agent
     *     is running, or an agent is running and no snapshot is requested
     */
    public static synchronized void start(String text, Instrumentation instrumentation) throws IOException {
        Log.sendTo(Level.INFO, Agent::print);
        JdkBridge.enter();
        try {
            startOrWrite(text, instrumentation);
        } finally {
            JdkBridge.leave();
        }
    }

    /** Prints a message of the library in the form of the agent's own. */
    private static void print(Level level, String logger, String message, @Nullable Throwable thrown) {
        ERR.println("brick agent: " + message + (thrown == null ? "" : ": " + thrown));
    }

    private static void startOrWrite(String text, Instrumentation instrumentation) throws IOException {
        AgentOptions options = AgentOptions.parse(text, System.getenv());
        Agent there = running;
        Path snapshot = options.snapshot();
        if (snapshot != null) {
            if (there == null) {
                throw new IllegalArgumentException("no agent is running in this JVM to write " + snapshot);
            }
            there.options.requireOther(snapshot, System.getenv());
            if (AgentOptions.isPage(snapshot)) {
                HtmlReport.write(there.snapshot(), snapshot);
            } else {
                JsonReport.write(there.snapshot(), snapshot);
            }
            there.say("the profile up to now is in " + snapshot.toAbsolutePath());
            return;
        }
        if (there != null) {
            throw new IllegalArgumentException("an agent is already running in this JVM");
        }
        Path file = options.rules();
        if (file == null) {
            throw new IllegalArgumentException("the option rules=FILE is missing");
        }
        Agent agent = new Agent(options, file);
        running = agent;
        agent.begin(instrumentation);
    }

    /** Takes over the file of {@code brick run} from the library, so that no profiler of the application writes it. */
    private @Nullable OwnedFile<ProfileSnapshot> beginRunFile() {
        Path file = runPath;
        if (file == null) {
            return null;
        }
        Optional<String> owner = OutputOwner.take(Agent.class);
        if (owner.isPresent()) {
            say(owner.get() + " writes the profile to " + file + ", so the agent's needs out=FILE");
            return null;
        }
        try {
            OptionalPart.JACKSON_CORE.require("the profile");
            return OwnedFile.begin(file, JsonReport::write, JsonReport::read);
        } catch (IOException | IllegalStateException unable) {
            say("the profile will be lost: " + unable.getMessage());
            return null;
        }
    }

    private void begin(Instrumentation instrumentation) {
        rules.problems().forEach(this::say);
        sayMissingFolder("profile", ownOut());
        sayMissingFolder("page", options.html());
        sayMissingFolder("timeline", options.timeline());
        keepEarlier(ownOut());
        keepEarlier(options.html());
        keepEarlier(options.timeline());
        weaver.classes().forEach(this::check);
        Bridge.install(new Recorder(profiler, steps, requests, work, reached, losses, this::say));
        // Link the bridge to its sink now, rather than inside a method of the application.
        Bridge.endStep(0);
        profiler.enable();
        instrumentation.addTransformer(new Transformer(), true);
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (weaver.concerns(loaded.getName().replace('.', '/'))) {
                weaveAgain(loaded, instrumentation);
            }
        }
        reached.weavingEnds();
        Runtime.getRuntime().addShutdownHook(new Thread(this::reportAtEnd, "brick-agent-report"));
        options.port().ifPresent(this::open);
        if (shortestNs > 0) {
            dropShort(instrumentation);
        }
        if (alternation == null) {
            registerLater();
            beginWindows();
        }
        if (trace != null && options.slow() != null) {
            reportStops(trace);
        }
        try {
            AgentEvents.follow(profiler);
        } catch (LinkageError | IllegalStateException none) {
            // Without a flight recorder there is no recording that could lack the steps.
        }
        sayApplied(true);
    }

    private void sayMissingFolder(String what, @Nullable Path file) {
        if (file != null) {
            try {
                OwnedFile.requireWritable(file);
            } catch (FileSystemException unable) {
                say("the " + what + " cannot be written to " + file + " unless that changes before the end: "
                        + unable.getReason());
            }
        }
    }

    /**
     * Renames the file of an earlier run, which a report of this run would replace, to {@code NAME.1}. An older
     * {@code NAME.1} becomes {@code NAME.2}, and so on; of more than {@link #EARLIER_KEPT} files, the oldest is lost.
     * The target of a symbolic link is copied, so that the link stays.
     */
    private void keepEarlier(@Nullable Path file) {
        if (file == null || !Files.isRegularFile(file)) {
            return;
        }
        try {
            int last = 1;
            while (last < EARLIER_KEPT && Files.exists(earlier(file, last))) {
                last++;
            }
            for (int number = last; number > 1; number--) {
                Files.move(earlier(file, number - 1), earlier(file, number), StandardCopyOption.REPLACE_EXISTING);
            }
            if (Files.isSymbolicLink(file)) {
                Files.copy(file, earlier(file, 1), StandardCopyOption.REPLACE_EXISTING);
            } else {
                Files.move(file, earlier(file, 1), StandardCopyOption.REPLACE_EXISTING);
            }
            say(file + " was there before this run, and is now " + earlier(file, 1));
        } catch (IOException unable) {
            say(file + " of an earlier run will be replaced, since it cannot be renamed: " + AtomicFile.reason(unable));
        }
    }

    private static Path earlier(Path file, int number) {
        return file.resolveSibling(file.getFileName() + "." + number);
    }

    /** Prints the number of rules that apply: at the start, and later only if it has changed. */
    private synchronized void sayApplied(boolean atStart) {
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
            say(text + (atStart && (now < all || !rules.annotated().isEmpty()) ? " so far" : ""));
        }
    }

    /** Returns the number of rules of the file that apply. */
    private long appliedRules() {
        return rules.rules().stream().filter(applied::contains).count();
    }

    /**
     * Initialises the classes of a snapshot and its report: a class whose initialisation fails in a full heap cannot be
     * used any more.
     */
    private void prepareReports() {
        JsonReport.toJson(profiler.snapshot());
    }

    /** Prints the warning of a full heap without allocating. */
    private static void noteFullHeap() {
        Log.printInFullHeap(FULL_HEAP);
    }

    /**
     * Registers the profiler for {@code brick top}. The delay lets the application set up the platform's MBean server,
     * and its logging, before the profiler uses them.
     */
    private void registerLater() {
        Thread registering = new Thread(this::register, "brick-agent-bean");
        registering.setDaemon(true);
        registering.start();
    }

    private void register() {
        try {
            Thread.sleep(BEAN_DELAY_MS);
            BrickProfileBean.register(profiler, "agent", this::discard);
        } catch (LinkageError none) {
            say("this Java has no module java.management, so brick top needs the agent's port=");
        } catch (InterruptedException | RuntimeException unable) {
            say("brick top needs the agent's port=, since the profiler cannot be registered: " + unable);
        }
    }

    /** Starts recording the stops of the virtual machine on a thread of its own, because the start takes some time. */
    private void reportStops(TraceRecorder recorder) {
        Thread starting = new Thread(
                () -> {
                    try {
                        stops = VirtualMachineStops.of(recorder);
                    } catch (LinkageError | IllegalStateException none) {
                        // The explanation of slow steps says that these stops are unknown.
                    }
                },
                "brick-agent-stops");
        starting.setDaemon(true);
        starting.start();
    }

    // ---- bricks that are too short ----

    private void dropShort(Instrumentation instrumentation) {
        ShortBricks watch = new ShortBricks(
                shortestNs, profiler::allBrickStats, names -> drop(names, instrumentation), this::sayGoesOn);
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
        weaver = weaver.without(names);
        List<WeaveRule> rulesOf = applied.stream()
                .filter(rule -> rule.kind() == WeaveRule.Kind.BRICK && names.contains(WovenWork.nameOf(rule)))
                .sorted(Comparator.comparingInt(WeaveRule::line))
                .toList();
        Set<String> classes =
                rulesOf.stream().map(rule -> rule.target().className()).collect(Collectors.toUnmodifiableSet());
        say("bricks whose samples take less than " + shortestNs + " ns on average are dropped: "
                + rulesOf.stream().map(this::inWords).distinct().collect(Collectors.joining(", ")));
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (classes.contains(loaded.getName())) {
                weaveAgain(loaded, instrumentation);
            }
        }
        discard();
    }

    /** Returns the place of a rule: its line, or the annotated method. */
    private String inWords(WeaveRule rule) {
        return rules.rules().contains(rule) ? "line " + rule.line() : "the annotation of " + rule.target();
    }

    private void sayGoesOn(String brick) {
        say("the brick '" + brick + "' goes on: a method that had begun before its rule was dropped has not returned");
    }

    // ---- windows, which a virtual machine that is killed leaves behind ----

    private void beginWindows() {
        Path out = ownOut();
        if (out == null) {
            return;
        }
        Duration time =
                WindowSetting.length(Settings.ofProfiler("export_every")).time();
        Duration every = time.isZero() ? WindowSetting.USUAL.time() : time;
        Thread writing = new Thread(() -> writeWindows(out, every), "brick-agent-windows");
        writing.setDaemon(true);
        writing.start();
    }

    private void writeWindows(Path out, Duration every) {
        try {
            while (true) {
                Thread.sleep(every.toMillis());
                if (!writeWindow(out)) {
                    return;
                }
            }
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
        }
    }

    /** Writes the profile up to now; returns false once the report at the end is being written. */
    private boolean writeWindow(Path out) {
        synchronized (windows) {
            if (windows.ended) {
                return false;
            }
            if (!steps.isWarmingUp()) {
                try {
                    ProfileSnapshot snapshot = snapshot();
                    List<String> remarks = new ArrayList<>(snapshot.facts().disturbances());
                    remarks.add("the process had not ended: this is its profile up to " + snapshot.endedAt());
                    JsonReport.write(
                            snapshot.withFacts(snapshot.facts()
                                    .withMachine(snapshot.facts().machine(), remarks)),
                            out);
                } catch (IOException | RuntimeException | LinkageError lost) {
                    say("the profile up to now could not be written, and is tried again: " + lost.getMessage());
                } catch (OutOfMemoryError full) {
                    // The report at the end has a reserve of memory for its own.
                }
            }
            return true;
        }
    }

    /** Guards the file of the profile: after the report at the end, no window is written. */
    private static final class Windows {
        private boolean ended;
    }

    private void open(int port) {
        try {
            say("the live report is at " + LiveReport.open(port, this::snapshot));
        } catch (IOException | LinkageError unable) {
            say("port " + port + " is not opened: " + unable.getMessage());
        }
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
                say(className.replace('/', '.') + " cannot be woven: " + failed);
            }
        }
    }

    private void note(Weaver.Result result) {
        applied.addAll(result.applied());
        for (WeaveRule rule : result.applied()) {
            if (rule.kind() == WeaveRule.Kind.BRICK) {
                work.woven(rule, keyOf(rule));
            }
        }
        for (Weaver.Problem problem : result.problems()) {
            say(problem.rule(), problem.message());
        }
    }

    private void weaveAgain(Class<?> loaded, Instrumentation instrumentation) {
        try {
            instrumentation.retransformClasses(loaded);
        } catch (UnmodifiableClassException | RuntimeException | LinkageError failed) {
            say(loaded.getName() + " was loaded before, and cannot be woven: " + failed);
        }
    }

    private void say(WeaveRule rule, String message) {
        say(options.rules() + ":" + rule.line() + ": " + message);
    }

    private void say(String message) {
        if (said.add(message)) {
            ERR.println("brick agent: " + message);
        }
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
                    losses.leftAlone(className.replace('/', '.'), loader);
                    return null;
                }
                note(result);
                if (result.applied().stream().anyMatch(rules.rules()::contains)
                        && appliedRules() == rules.rules().size()) {
                    sayApplied(false);
                }
                return result.bytes();
            } catch (Throwable failed) {
                say(className.replace('/', '.') + " is not woven: " + failed);
                return null;
            } finally {
                JdkBridge.leave();
            }
        }
    }

    /** Returns whether woven code in a loader finds the bridge itself, and not a copy of it without a sink. */
    private static boolean seesBridge(ClassLoader loader) {
        try {
            return Class.forName(Bridge.class.getName(), false, loader) == Bridge.class;
        } catch (Throwable unseen) {
            // The loader is the application's, and may throw anything.
            return false;
        }
    }

    /** Discards everything recorded: after the warm-up, and when a client of the bean resets the profile. */
    private void discard() {
        losses.discard();
        reached.discard(profiler.allBrickStats());
        steps.discard();
        requests.discard();
        work.discard();
        profiler.reset();
        if (trace != null) {
            trace.clear();
        }
    }

    // ---- reports ----

    private ProfileSnapshot snapshot() {
        ProfileSnapshot snapshot = withRemarks(work.withoutUnknown(profiler.snapshot()));
        return compared()
                .map(rates -> withRates(
                        snapshot,
                        OptionalDouble.of(rates.tokensPerSecOn()),
                        OptionalDouble.of(rates.tokensPerSecOff())))
                .orElseGet(() -> withRates(snapshot, steps.tokensPerSec(), OptionalDouble.empty()));
    }

    /**
     * Replaces the rates of a snapshot by those of its own steps: after a reset, the profiler would still report
     * earlier rates.
     */
    private static ProfileSnapshot withRates(ProfileSnapshot snapshot, OptionalDouble on, OptionalDouble off) {
        RunFacts facts = snapshot.facts();
        return snapshot.withFacts(new RunFacts(
                on,
                off,
                facts.machine(),
                facts.disturbances(),
                facts.virtualMachines(),
                facts.calibrations(),
                facts.nesting()));
    }

    private ProfileSnapshot withRemarks(ProfileSnapshot snapshot) {
        List<String> remarks = new ArrayList<>();
        if (steps.isWarmingUp()) {
            remarks.add("only " + steps.warmupText() + " had ended");
        }
        reached.noStep(neverRan(snapshot)).ifPresent(remarks::add);
        reached.beforeStepsText().ifPresent(remarks::add);
        steps.doubtText().ifPresent(remarks::add);
        steps.nestedText().ifPresent(remarks::add);
        steps.nestedLayersText().ifPresent(remarks::add);
        remarks.addAll(losses.summary());
        remarks.addAll(requests.summary());
        remarks.addAll(dropped(snapshot));
        return remarks.isEmpty()
                ? snapshot
                : snapshot.withFacts(
                        snapshot.facts().withMachine(snapshot.facts().machine(), remarks));
    }

    /** Returns the rules that never ran; empty also if nothing is recorded, so that this is unknown. */
    private Optional<String> neverRan(ProfileSnapshot snapshot) {
        return profiler.isEnabled() || alternation != null
                ? reached.never(applied, snapshot.bricks())
                : Optional.empty();
    }

    /**
     * Returns a remark for each dropped brick of a profile; its samples are from calls that began before it was
     * dropped.
     */
    private List<String> dropped(ProfileSnapshot snapshot) {
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

    private Optional<Alternation.Result> compared() {
        return alternation == null ? Optional.empty() : alternation.result();
    }

    private void reportAtEnd() {
        synchronized (windows) {
            windows.ended = true;
        }
        tryToWrite("report", this::report);
    }

    /**
     * Writes a report, and tries again if the heap is full. Prints a failure instead of throwing it, so that the other
     * reports are written.
     */
    private void tryToWrite(String what, HeapReserve.Task report) {
        try {
            if (!reserve.run(report)) {
                Log.printInFullHeap(LOST);
            }
        } catch (IOException lost) {
            say("the " + what + " is lost: " + lost.getMessage());
        } catch (RuntimeException | LinkageError lost) {
            say("the " + what + " is lost: " + lost);
        }
    }

    private void report() {
        sayApplied(false);
        forgetUnfinishedWarmup();
        ProfileSnapshot snapshot = snapshot();
        List<WeaveRule> unused =
                rules.rules().stream().filter(rule -> !applied.contains(rule)).toList();
        if (!unused.isEmpty()) {
            say(Plural.of(
                            unused.size(),
                            "rule was not applied: that of line ",
                            "rules were not applied: those of the lines ")
                    + String.join(
                            ", ",
                            unused.stream()
                                    .map(rule -> Integer.toString(rule.line()))
                                    .toList()));
        }
        Optional<String> never = neverRan(snapshot);
        reached.noStep(never)
                .or(() -> never.map(rules -> "rules that apply and never ran: " + rules))
                .ifPresent(this::say);
        losses.summary().forEach(this::say);
        requests.summary().forEach(this::say);
        reached.beforeStepsText().ifPresent(this::say);
        steps.doubtText().ifPresent(this::say);
        steps.nestedText().ifPresent(this::say);
        steps.nestedLayersText().ifPresent(this::say);
        if (alternation != null) {
            say(compared()
                    .map(Alternation.Result::toString)
                    .orElse("ab: too few tokens were decoded to compare, or BRICK_PROFILER is off"));
        }
        if (options.out() == null && options.html() == null && options.timeline() == null) {
            ERR.print(TextReport.render(snapshot));
        }
        write("profile", ownOut(), to -> JsonReport.write(snapshot, to));
        writeRunFile(snapshot);
        write("page", options.html(), to -> HtmlReport.write(snapshot, to));
        VirtualMachineStops reported = stops;
        if (reported != null) {
            reported.close();
        }
        TraceRecorder recorder = trace;
        if (recorder != null) {
            write("timeline", options.timeline(), to -> TraceFiles.write(recorder.timeline(), to));
        }
    }

    /** Discards the samples of a run that ended during its warm-up, and prints the losses, which may be the reason. */
    private void forgetUnfinishedWarmup() {
        if (steps.isWarmingUp()) {
            profiler.disable();
            losses.summary().forEach(this::say);
            discard();
            say("the run ended after " + steps.warmupText() + ", so the profile is empty: lower "
                    + (options.warmup().isPresent() ? "warmup=" : "warmup: in " + options.rules())
                    + ", or run longer");
        }
    }

    private interface Report {
        void write(Path file) throws IOException;
    }

    /** Returns the file of the option {@code out}; null if it is not given or is the file of {@code brick run}. */
    private @Nullable Path ownOut() {
        Path out = options.out();
        return out == null || out.equals(runPath) ? null : out;
    }

    private void writeRunFile(ProfileSnapshot snapshot) {
        OwnedFile<ProfileSnapshot> file = runFile;
        if (file == null) {
            return;
        }
        tryToWrite(
                "profile",
                () -> say(
                        switch (file.write(snapshot, written -> written.facts().isOfThisProcess())) {
                            case THIS -> "the profile is in " + runPath;
                            case APPLICATION ->
                                "the application has written " + runPath
                                        + " itself; the agent's profile needs out=FILE";
                            case OTHER_PROCESS ->
                                "another process has written " + runPath + "; this profile is in " + file.besidePath();
                        }));
    }

    private void write(String what, @Nullable Path file, Report report) {
        if (file != null) {
            tryToWrite(what, () -> {
                report.write(file);
                say("the " + what + " is in " + file.toAbsolutePath());
            });
        }
    }
}
