package org.brickprofiler.agent;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.Progress;
import org.brickprofiler.export.setting.WindowSetting;
import org.brickprofiler.internal.base.HeapReserve;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.OutputOwner;
import org.brickprofiler.internal.io.OwnedFile;
import org.brickprofiler.internal.setting.OptionalPart;
import org.brickprofiler.internal.setting.Settings;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.jfr.CollectionWaits;
import org.brickprofiler.trace.jfr.VirtualMachineStops;
import org.brickprofiler.trace.write.TraceFiles;
import org.jspecify.annotations.Nullable;

/**
 * The reports of the agent: the profile up to now, windows while the application runs, and the files at its end, which
 * are written even from a full heap if possible. Any thread.
 */
final class Reports {

    /** A prepared message: a full heap has no room for a new one. */
    private static final byte[] LOST = Messages.prepared(Level.ERROR, "a report is lost: the heap is full");

    private static final byte[] FULL_HEAP =
            Messages.prepared(Level.WARNING, "the heap is full; if it still is at the end, the reports may be lost");

    /** The time from the agent's start until it loads the classes of reports. */
    private static final long LOAD_DELAY_MS = 200;

    /** The number of files of earlier runs that are kept for each report. */
    private static final int EARLIER_KEPT = 9;

    private final AgentOptions options;
    private final Recording recording;
    private final Weaving weaving;
    private final Messages messages;

    /** The file in which {@code brick run} expects the profile; null without it. */
    private final @Nullable Path runPath = AgentOptions.runFile(System.getenv());

    /** The file at that path; null if it cannot be written. */
    private final @Nullable OwnedFile<ProfileSnapshot> runFile;

    private final Windows windows = new Windows();

    /** Ends the report of what the virtual machine states: of its stops, and why requests waited. */
    private volatile Runnable endStops = () -> {};

    private final HeapReserve reserve = new HeapReserve(Reports::noteFullHeap);

    /**
     * Prepares the reports.
     *
     * @param options the options of the agent
     * @param recording the recording that is reported
     * @param weaving the weaving of the rules
     * @param messages prints messages
     */
    Reports(AgentOptions options, Recording recording, Weaving weaving, Messages messages) {
        this.options = options;
        this.recording = recording;
        this.weaving = weaving;
        this.messages = messages;
        runFile = beginRunFile();
    }

    /** Prints which files cannot be written, and renames the files of an earlier run. */
    void prepareFiles() {
        sayMissingFolder("profile", ownOut());
        sayMissingFolder("page", options.html());
        sayMissingFolder("timeline", options.timeline());
        keepEarlier(ownOut());
        keepEarlier(options.html());
        keepEarlier(options.timeline());
    }

    /**
     * Loads the classes of reports once the application has begun, on a thread of its own: a class whose initialisation
     * fails in a full heap cannot be used at the end, either.
     */
    void loadClasses() {
        begin("brick-agent-classes", () -> {
            try {
                Thread.sleep(LOAD_DELAY_MS);
                JsonReport.toJson(recording.profiler.snapshot());
            } catch (InterruptedException | RuntimeException | LinkageError | OutOfMemoryError unable) {
                // The report that needs them says so.
            }
        });
    }

    /** Writes the reports when the virtual machine ends, also if the application fills the heap from now on. */
    void writeAtEnd() {
        reserve.awaitFilled();
        Runtime.getRuntime().addShutdownHook(new Thread(this::reportAtEnd, "brick-agent-report"));
    }

    /** Takes over the file of {@code brick run} from the library, so that no profiler of the application writes it. */
    private @Nullable OwnedFile<ProfileSnapshot> beginRunFile() {
        Path file = runPath;
        if (file == null) {
            return null;
        }
        Optional<String> owner = OutputOwner.take(Agent.class);
        if (owner.isPresent()) {
            messages.warn(owner.get() + " writes the profile to " + file + ", so the agent's needs out=FILE");
            return null;
        }
        try {
            OptionalPart.JACKSON_CORE.require("the profile");
            return OwnedFile.begin(file, (profile, to) -> report(profile, null).writeJson(to), JsonReport::read);
        } catch (IOException | IllegalStateException unable) {
            messages.warn("the profile will be lost: " + unable.getMessage());
            return null;
        }
    }

    private void sayMissingFolder(String what, @Nullable Path file) {
        if (file != null) {
            try {
                OwnedFile.requireWritable(file);
            } catch (FileSystemException unable) {
                messages.warn("the " + what + " cannot be written to " + file + " unless that changes before the end: "
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
            messages.info(file + " was there before this run, and is now " + earlier(file, 1));
        } catch (IOException unable) {
            messages.warn(file + " of an earlier run will be replaced, since it cannot be renamed: "
                    + AtomicFile.reason(unable));
        }
    }

    private static Path earlier(Path file, int number) {
        return file.resolveSibling(file.getFileName() + "." + number);
    }

    /** Prints the warning of a full heap without allocating. */
    private static void noteFullHeap() {
        Messages.printInFullHeap(FULL_HEAP);
    }

    /**
     * Starts recording the stops of the virtual machine, and why requests waited, on a thread of its own, because the
     * start takes some time. Before a class is woven, there is neither a step nor a request.
     */
    void reportStops() {
        if (recording.trace != null && options.asksForRecording()) {
            begin("brick-agent-stops", () -> reportStops(recording.trace));
        } else if (recording.servedRequests != null) {
            begin("brick-agent-stops", this::reportCollections);
        }
    }

    private static void begin(String name, Runnable start) {
        Thread starting = new Thread(start, name);
        starting.setDaemon(true);
        starting.start();
    }

    private void reportStops(TraceRecorder recorder) {
        try {
            VirtualMachineStops begun = VirtualMachineStops.of(recorder);
            if (recording.servedRequests != null) {
                begun.splitWaits(recording.servedRequests);
            }
            endStops = begun::close;
        } catch (LinkageError | IllegalStateException none) {
            // The explanation of slow steps says that these stops are unknown.
            recorder.lineLog()
                    .ifPresent(lines ->
                            lines.refuse("this virtual machine has no flight recorder (" + none.getMessage() + ")"));
            reportCollections();
        }
    }

    /** Reports collections alone. */
    private void reportCollections() {
        if (recording.servedRequests != null) {
            try {
                endStops = CollectionWaits.of(recording.servedRequests)::close;
            } catch (LinkageError none) {
                // The report says that waits are unknown.
            }
        }
    }

    // ---- windows, which a virtual machine that is killed leaves behind ----

    /** Writes the profile and the slow steps up to now again and again, on a thread of its own. */
    void beginWindows() {
        if (ownOut() == null && options.slow() == null) {
            return;
        }
        Duration time =
                WindowSetting.length(Settings.ofProfiler("export_every")).time();
        Duration every = time.isZero() ? WindowSetting.USUAL.time() : time;
        Thread writing = new Thread(() -> writeWindows(every), "brick-agent-windows");
        writing.setDaemon(true);
        writing.start();
    }

    private void writeWindows(Duration every) {
        try {
            while (true) {
                Thread.sleep(every.toMillis());
                if (!writeWindow()) {
                    return;
                }
            }
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
        }
    }

    /** Writes the reports up to now; returns false once the reports at the end are being written. */
    private boolean writeWindow() {
        synchronized (windows) {
            if (windows.ended) {
                return false;
            }
            if (!recording.steps.isWarmingUp()) {
                writeWindow("profile", ownOut(), to -> unended().writeJson(to));
                writeWindow("timeline", options.slow(), this::writeTimeline);
            }
            return true;
        }
    }

    private void writeWindow(String what, @Nullable Path file, Report report) {
        try {
            if (file != null) {
                report.write(file);
            }
        } catch (IOException | RuntimeException | LinkageError lost) {
            messages.warn("the " + what + " up to now could not be written, and is tried again: " + lost.getMessage());
        } catch (OutOfMemoryError full) {
            // The report at the end has a reserve of memory for its own.
        }
    }

    /** Returns the report up to now, with the remark that the process goes on. */
    private CurrentReport unended() {
        CurrentReport current = current();
        ProfileSnapshot snapshot = current.snapshot();
        List<String> remarks = new ArrayList<>(snapshot.facts().disturbances());
        remarks.add("the process had not ended: this is its profile up to " + snapshot.endedAt());
        return current.withSnapshot(
                snapshot.withFacts(snapshot.facts().withMachine(snapshot.facts().machine(), remarks)));
    }

    /** Guards the files: after the reports at the end, no window is written. */
    private static final class Windows {
        private boolean ended;
    }

    // ---- the profile ----

    /** Returns the profile up to now, what is under way, and the slow steps. */
    CurrentReport current() {
        return report(recording.profiler.progress());
    }

    private CurrentReport report(@Nullable Progress progress) {
        return report(snapshot(), progress);
    }

    private CurrentReport report(ProfileSnapshot snapshot, @Nullable Progress progress) {
        TraceRecorder recorder = recording.trace;
        return new CurrentReport(
                snapshot,
                progress,
                recording.keepsSlowSteps ? recorder : null,
                recorder == null ? Optional.empty() : recorder.lines(),
                recording.sources);
    }

    /**
     * Writes the profile, the page or the timeline up to now, as the ending of the file says.
     *
     * @throws IllegalArgumentException when the file is a timeline, and none is recorded
     */
    void writeNow(Path file) throws IOException {
        if (!AgentOptions.isTimeline(file)) {
            CurrentReport current = current();
            if (AgentOptions.isPage(file)) {
                current.page().write(file);
            } else {
                current.writeJson(file);
            }
            messages.info("the profile up to now is in " + file.toAbsolutePath());
            return;
        }
        writeTimeline(file);
        messages.info("the timeline up to now is in " + file.toAbsolutePath());
    }

    private void writeTimeline(Path file) throws IOException {
        TraceRecorder recorder = recording.trace;
        if (recorder == null) {
            throw new IllegalArgumentException(
                    file
                            + " is a timeline, and the running agent records none: start it with slow=, port=, metrics= or trace=");
        }
        TraceFiles.write(recorder.timeline(), file);
    }

    /** Returns the profile up to now. */
    private ProfileSnapshot snapshot() {
        ProfileSnapshot snapshot = withRemarks(recording.work.withoutUnknown(recording.profiler.snapshot()));
        return compared()
                .map(rates -> withRates(
                        snapshot,
                        OptionalDouble.of(rates.tokensPerSecOn()),
                        OptionalDouble.of(rates.tokensPerSecOff())))
                .orElseGet(() -> withRates(snapshot, recording.steps.tokensPerSec(), OptionalDouble.empty()));
    }

    /**
     * Replaces the rates of a snapshot by those of its own steps: after a reset, the profiler would still report
     * earlier rates.
     */
    private static ProfileSnapshot withRates(ProfileSnapshot snapshot, OptionalDouble on, OptionalDouble off) {
        return snapshot.withFacts(snapshot.facts().withRates(on, off));
    }

    private ProfileSnapshot withRemarks(ProfileSnapshot snapshot) {
        List<String> remarks = new ArrayList<>();
        if (!weaving.changed().isEmpty()) {
            remarks.add(weaving.changed());
        }
        if (recording.steps.isWarmingUp()) {
            remarks.add("only " + recording.steps.warmupText() + " had ended");
        }
        recording.reached.noStep(weaving.applied(), neverRan(snapshot)).ifPresent(remarks::add);
        recording.reached.beforeStepsText().ifPresent(remarks::add);
        recording.steps.doubtText().ifPresent(remarks::add);
        recording.steps.nestedText().ifPresent(remarks::add);
        recording.steps.nestedLayersText().ifPresent(remarks::add);
        remarks.addAll(recording.losses.summary());
        remarks.addAll(recording.requests.summary());
        remarks.addAll(weaving.dropped(snapshot));
        recording.sessions.map(OnnxSessions::summary).ifPresent(remarks::addAll);
        return remarks.isEmpty()
                ? snapshot
                : snapshot.withFacts(
                        snapshot.facts().withMachine(snapshot.facts().machine(), remarks));
    }

    /** Returns the rules that never ran; empty also if nothing is recorded, so that this is unknown. */
    private Optional<String> neverRan(ProfileSnapshot snapshot) {
        return recording.profiler.isEnabled() || recording.alternation != null
                ? recording.reached.never(weaving.applied(), snapshot.bricks())
                : Optional.empty();
    }

    private Optional<Alternation.Result> compared() {
        return recording.alternation == null ? Optional.empty() : recording.alternation.result();
    }

    // ---- the end ----

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
                Messages.printInFullHeap(LOST);
            }
        } catch (IOException lost) {
            messages.warn("the " + what + " is lost: " + lost.getMessage());
        } catch (RuntimeException | LinkageError lost) {
            messages.warn("the " + what + " is lost: " + lost);
        }
    }

    private void report() {
        weaving.sayApplied(false);
        endStops.run();
        forgetUnfinishedWarmup();
        recording.sessions.ifPresent(sessions -> {
            sessions.endAll();
            sessions.summary().forEach(messages::info);
        });
        CurrentReport last = report(null);
        ProfileSnapshot snapshot = last.snapshot();
        List<WeaveRule> unused = weaving.rules().rules().stream()
                .filter(rule -> !weaving.applied().contains(rule))
                .toList();
        if (!unused.isEmpty()) {
            messages.warn(Plural.of(
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
        recording
                .reached
                .noStep(weaving.applied(), never)
                .or(() -> never.map(rules -> "rules that apply and never ran: " + rules))
                .ifPresent(messages::warn);
        recording.losses.summary().forEach(messages::warn);
        recording.requests.summary().forEach(messages::warn);
        recording.reached.beforeStepsText().ifPresent(messages::warn);
        recording.steps.doubtText().ifPresent(messages::warn);
        recording.steps.nestedText().ifPresent(messages::warn);
        recording.steps.nestedLayersText().ifPresent(messages::warn);
        if (recording.alternation != null) {
            messages.info(compared()
                    .map(Alternation.Result::toString)
                    .orElse("ab: too few tokens were decoded to compare, or BRICK_PROFILER is off"));
        }
        if (options.out() == null && options.html() == null && options.timeline() == null) {
            Agent.ERR.print(last.text());
        }
        write("profile", ownOut(), last::writeJson);
        writeRunFile(snapshot);
        write("page", options.html(), to -> last.page().write(to));
        write("timeline", options.timeline(), this::writeTimeline);
    }

    /** Discards the samples of a run that ended during its warm-up, and prints the losses, which may be the reason. */
    private void forgetUnfinishedWarmup() {
        if (recording.steps.isWarmingUp()) {
            recording.profiler.disable();
            recording.losses.summary().forEach(messages::warn);
            recording.discard();
            messages.warn("the run ended after " + recording.steps.warmupText() + ", so the profile is empty: lower "
                    + (options.warmup().isPresent() ? "warmup=" : "warmup: in " + weaving.rulesFile())
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
                () -> messages.info(
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
                messages.info("the " + what + " is in " + file.toAbsolutePath());
            });
        }
    }
}
