package org.brickprofiler.agent;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.System.Logger.Level;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.ObjectName;
import org.brickprofiler.agent.bridge.AgentEntry;
import org.brickprofiler.agent.bridge.Bridge;
import org.brickprofiler.agent.bridge.JdkBridge;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.jfr.AsyncProfilerSpans;
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

    private static final String TAKES = "an agent is already running in this JVM; it takes one of rules=FILE,"
            + " recording=on, recording=off, port=PORT and snapshot=FILE";

    private static @Nullable Agent running;

    static {
        AgentEntry.announce(Agent::start);
    }

    private final AgentOptions options;
    private final Recording recording;
    private final Weaving weaving;
    private final Reports reports;

    private final Messages messages = new Messages();

    /** The address of the live report; empty while there is none. Used under the lock of the class. */
    private String page = "";

    /** Switches recording on and off as clients of the bean do; null until the bean is registered. */
    private volatile @Nullable Consumer<Boolean> beanSwitch;

    private Agent(AgentOptions options, Path file) throws IOException {
        this.options = options;
        Ahead<RuleFile.Rules> reading = Ahead.begin("brick-agent-rules", () -> RuleFile.read(file, 0));
        recording = new Recording(options, reading::get, messages::warn);
        weaving = new Weaving(file, reading.get(), recording, messages);
        reports = new Reports(options, recording, weaving, messages);
    }

    /**
     * Starts the agent, or makes the running agent change its rules, switch recording on or off, open its port, or
     * write a snapshot.
     *
     * @param text the options, in the format of {@link AgentOptions}; one of them if the agent is running
     * @param instrumentation the instrumentation of the virtual machine
     * @return the messages of the agent, a line for each
     * @throws IOException when the rules cannot be read, the snapshot cannot be written, or the port is taken
     * @throws IllegalArgumentException when options or rules are malformed, or are not those of an agent that is
     *     running, or not running
     */
    public static synchronized String start(String text, Instrumentation instrumentation) throws IOException {
        Log.sendTo(Level.INFO, Agent::print);
        JdkBridge.enter();
        List<String> heard;
        Messages.listen();
        try {
            startOrChange(text, instrumentation);
        } finally {
            heard = Messages.heard();
            JdkBridge.leave();
        }
        return String.join("\n", heard);
    }

    /** Prints a message of the library in the form of the agent's own. */
    private static void print(Level level, String logger, String message, @Nullable Throwable thrown) {
        Messages.print(level, message + (thrown == null ? "" : ": " + thrown));
    }

    private static void startOrChange(String text, Instrumentation instrumentation) throws IOException {
        AgentOptions options = AgentOptions.parse(text, System.getenv());
        Agent there = running;
        if (there != null) {
            if (text.contains(",")) {
                throw new IllegalArgumentException(TAKES);
            }
            there.change(options, instrumentation);
            return;
        }
        Path snapshot = options.snapshot();
        if (snapshot != null) {
            throw new IllegalArgumentException("no agent is running in this JVM to write " + snapshot);
        }
        if (options.recording().isPresent()) {
            throw new IllegalArgumentException("no agent is running in this JVM whose recording could be switched");
        }
        Path file = options.rules();
        if (file == null) {
            throw new IllegalArgumentException("no agent is running in this JVM, and the option rules=FILE is missing");
        }
        Agent agent = new Agent(options, file);
        running = agent;
        agent.begin(instrumentation);
    }

    /** Does what the only option says. */
    private void change(AgentOptions wanted, Instrumentation instrumentation) throws IOException {
        Path snapshot = wanted.snapshot();
        Path file = wanted.rules();
        if (snapshot != null) {
            options.requireOther(snapshot, System.getenv());
            reports.writeNow(snapshot);
        } else if (file != null) {
            RuleFile.Rules others = recording.readOther(file);
            others.problems().forEach(messages::warn);
            recording.change(others, () -> weaving.change(file, others, instrumentation));
            messages.info(weaving.changed());
            weaving.sayApplied(true);
        } else if (wanted.recording().isPresent()) {
            switchTo(wanted.recording().get());
        } else if (wanted.port().isPresent()) {
            openAnother(wanted.port().getAsInt());
        } else {
            throw new IllegalArgumentException(TAKES);
        }
    }

    private void switchTo(boolean on) {
        if (recording.alternation != null) {
            throw new IllegalArgumentException("ab= switches recording on and off itself");
        }
        Consumer<Boolean> registered = beanSwitch;
        if (registered != null) {
            registered.accept(on);
        } else if (on) {
            recording.profiler.enable();
        } else {
            recording.profiler.disable();
        }
        if (recording.profiler.isEnabled() != on) {
            throw new IllegalArgumentException("recording stays off: BRICK_PROFILER=off switches all profilers off");
        }
        messages.info("recording is " + (on ? "on" : "off"));
    }

    private void openAnother(int port) throws IOException {
        if (!page.isEmpty() && port != 0) {
            throw new IllegalArgumentException(
                    "port " + port + " is not opened, since the live report is at " + page + " already");
        }
        try {
            openPage(port);
        } catch (IOException taken) {
            throw new IOException("port " + port + " is not opened: " + taken.getMessage(), taken);
        }
    }

    private void openPage(int port) throws IOException {
        page = page.isEmpty() ? LiveReport.open(port, reports::current) : page;
        messages.info("the live report is at " + page);
    }

    private void begin(Instrumentation instrumentation) throws IOException {
        Ahead<Boolean> following = Ahead.begin("brick-agent-recorder", this::followRecorder);
        weaving.rules().problems().forEach(messages::warn);
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
        if (options.asyncProfiler()) {
            emitSpans();
        }
        recording.sessions.ifPresent(sessions -> sessions.begin(instrumentation));
        weaving.begin(instrumentation, reports::reportStops);
        reports.writeAtEnd();
        options.port().ifPresent(this::open);
        options.metrics().ifPresent(this::open);
        weaving.dropShort(instrumentation);
        if (recording.alternation == null) {
            registerLater();
            reports.beginWindows();
        }
        weaving.sayApplied(true);
        reports.loadClasses();
        following.get();
    }

    /** Emits steps to the flight recorder, and returns true, if this virtual machine has one. */
    private boolean followRecorder() {
        try {
            AgentEvents.follow(recording.profiler);
            return true;
        } catch (LinkageError | IllegalStateException none) {
            // Without a flight recorder there is no recording that could lack the steps.
            return false;
        }
    }

    private void emitSpans() {
        try {
            AsyncProfilerSpans.of(recording.profiler);
        } catch (IllegalStateException missing) {
            messages.warn("async-profiler=on: bricks are no spans: " + missing.getMessage());
        }
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
            beanSwitch = new BeanSwitch(BrickProfileBean.register(recording.profiler, "agent", recording::discard));
        } catch (LinkageError none) {
            messages.warn("this Java has no module java.management, so brick top needs the agent's port=");
        } catch (InterruptedException | RuntimeException unable) {
            messages.warn("brick top needs the agent's port=, since the profiler cannot be registered: " + unable);
        }
    }

    /**
     * Switches recording as a client of the bean does: {@code brick top}, if it watches, then leaves it as it is. A
     * class of its own, since the virtual machine may lack the module of beans.
     */
    private record BeanSwitch(ObjectName bean) implements Consumer<Boolean> {
        @Override
        public void accept(Boolean on) {
            try {
                ManagementFactory.getPlatformMBeanServer().setAttribute(bean, new Attribute("Enabled", on));
            } catch (JMException gone) {
                throw new IllegalArgumentException("the application has unregistered the agent's " + bean, gone);
            }
        }
    }

    private void open(int port) {
        try {
            openPage(port);
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
