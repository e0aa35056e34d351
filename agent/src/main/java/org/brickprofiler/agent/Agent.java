package org.brickprofiler.agent;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.System.Logger.Level;
import java.lang.instrument.Instrumentation;
import java.nio.file.Path;
import org.brickprofiler.agent.bridge.Bridge;
import org.brickprofiler.agent.bridge.JdkBridge;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.metrics.jmx.BrickProfileBean;
import org.jspecify.annotations.Nullable;

/**
 * The agent, which a separate class loader loads. It reads the rules, has them woven, and has its reports written when
 * the JVM exits. {@link Messages} go to the standard error. Any thread.
 */
public final class Agent {

    private static final long BEAN_DELAY_MS = 3_000;

    /** The standard error before the application could replace it. */
    static final PrintStream ERR = System.err;

    private static @Nullable Agent running;

    private final AgentOptions options;
    private final RuleFile.Rules rules;
    private final Recording recording;
    private final Weaving weaving;
    private final Reports reports;

    private final Messages messages = new Messages();

    private Agent(AgentOptions options, Path file) throws IOException {
        this.options = options;
        rules = RuleFile.read(file);
        recording = new Recording(options, rules, messages::warn);
        weaving = new Weaving(file, rules, recording, messages);
        reports = new Reports(options, rules, recording, weaving, messages);
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
        Messages.print(level, message + (thrown == null ? "" : ": " + thrown));
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
            there.reports.writeNow(snapshot);
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

    private void begin(Instrumentation instrumentation) {
        rules.problems().forEach(messages::warn);
        reports.prepareFiles();
        weaving.check();
        Bridge.install(new Recorder(
                recording.profiler,
                recording.steps,
                recording.requests,
                recording.work,
                recording.reached,
                recording.losses,
                messages::warn));
        // Link the bridge to its sink now, rather than inside a method of the application.
        Bridge.endStep(0);
        recording.profiler.enable();
        options.spans()
                .ifPresent(provider -> ApplicationSpans.begin(recording.profiler, provider, instrumentation, messages));
        weaving.begin(instrumentation);
        reports.writeAtEnd();
        options.port().ifPresent(this::open);
        options.metrics().ifPresent(this::open);
        weaving.dropShort(instrumentation);
        if (recording.alternation == null) {
            registerLater();
            reports.beginWindows();
        }
        reports.reportStops();
        try {
            AgentEvents.follow(recording.profiler);
        } catch (LinkageError | IllegalStateException none) {
            // Without a flight recorder there is no recording that could lack the steps.
        }
        weaving.sayApplied(true);
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
            BrickProfileBean.register(recording.profiler, "agent", recording::discard);
        } catch (LinkageError none) {
            messages.warn("this Java has no module java.management, so brick top needs the agent's port=");
        } catch (InterruptedException | RuntimeException unable) {
            messages.warn("brick top needs the agent's port=, since the profiler cannot be registered: " + unable);
        }
    }

    private void open(int port) {
        try {
            messages.info("the live report is at " + LiveReport.open(port, reports::current));
        } catch (IOException | LinkageError unable) {
            messages.warn("port " + port + " is not opened: " + unable.getMessage());
        }
    }

    private void open(MetricsListener.Place place) {
        try {
            messages.info("metrics are at " + MetricsListener.open(place, recording.profiler));
        } catch (IOException | LinkageError unable) {
            messages.warn("metrics=" + place + " is not opened: " + unable.getMessage());
        }
    }
}
