package org.brickprofiler.cli;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.console.MachineWatch;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.roofline.MachineRoof;
import org.brickprofiler.trace.LineProfile;
import org.jspecify.annotations.Nullable;

/**
 * Runs programs one at a time, each with a file of its own to write its profile to, and watches the machine meanwhile.
 */
final class ProgramRunner {

    /** The variable that names the file for the profile of a process. */
    static final String VARIABLE = "BRICK_PROFILER_OUT";

    /** The variable that switches recording off. */
    static final String SWITCH = "BRICK_PROFILER";

    /** The variable that asks for percentiles. */
    static final String PERCENTILES = "BRICK_PROFILER_PERCENTILES";

    /** The variable that asks for the lines of bricks. */
    static final String LINES = "BRICK_PROFILER_LINES";

    private static final double NS_PER_S = 1e9;

    /** The timeout of a process, ns; {@link Long#MAX_VALUE} for none. */
    private final long limitNs;

    private volatile @Nullable Process running;

    private volatile boolean stopped;

    /**
     * A program to run.
     *
     * @param command the shell command
     * @param profiled whether its profiler is on
     * @param compared whether its profiles are compared; if so, it records percentiles unless the environment says
     *     otherwise
     * @param withLines whether it is asked for the lines of bricks
     * @param files the folder for its profiles and its output
     */
    record Program(String command, boolean profiled, boolean compared, boolean withLines, Path files) {}

    /**
     * The outcome of one run.
     *
     * @param failure why the run failed, in a few words; empty if it succeeded
     * @param file the path of its profile; no such file exists if it wrote none
     * @param snapshot its profile, with the disturbances of the machine; empty if it wrote none
     * @param elapsedNs the wall time of the process, ns
     * @param log its output
     */
    record RunOutcome(String failure, Path file, Optional<ProfileSnapshot> snapshot, long elapsedNs, Path log) {

        boolean failed() {
            return !failure.isEmpty();
        }

        /** Returns the known disturbances of the run. */
        List<String> disturbances() {
            return snapshot.map(each -> each.facts().disturbances()).orElse(List.of());
        }
    }

    /**
     * Creates a runner.
     *
     * @param limitSeconds the timeout of a process, s; null for none
     */
    ProgramRunner(@Nullable Double limitSeconds) {
        limitNs = limitSeconds == null ? Long.MAX_VALUE : Math.round(limitSeconds * NS_PER_S);
    }

    /**
     * Runs a program and waits until it ends, or kills it at the timeout.
     *
     * @param program the program
     * @param name the name of its files
     * @param measuresRoof whether to measure the machine briefly once it has ended, for its profile
     * @throws IOException when it cannot be started, or a file cannot be written
     * @throws InterruptedException when the thread is interrupted while it waits; the program is killed then
     */
    RunOutcome run(Program program, String name, boolean measuresRoof) throws IOException, InterruptedException {
        Path files = program.files().toAbsolutePath();
        // The file gets its final name only after the process has succeeded.
        Path unfinished = files.resolve("." + name + ".json");
        Path file = files.resolve(name + ".json");
        Path log = files.resolve(name + ".log");
        Files.deleteIfExists(unfinished);
        for (Path left : besideFiles(files, name)) {
            Files.delete(left);
        }
        MachineWatch watch = MachineWatch.begin(MachineWatch.ROOT);
        long startNs = System.nanoTime();
        OptionalInt exitCode = execute(program, unfinished, log);
        long elapsedNs = System.nanoTime() - startNs;
        String failure = exitCode.isEmpty()
                ? String.format(Locale.ROOT, "took longer than the limit of %.6g s and was ended", limitNs / NS_PER_S)
                : exitCode.getAsInt() != 0
                        ? "failed with exit code " + exitCode.getAsInt()
                        : severalProcesses(files, name);
        if (!failure.isEmpty()) {
            return new RunOutcome(failure, file, Optional.empty(), elapsedNs, log);
        }
        if (!Files.isRegularFile(unfinished)) {
            return new RunOutcome("", file, Optional.empty(), elapsedNs, log);
        }
        ProfileSnapshot read;
        Optional<LineProfile> lines;
        try {
            read = JsonReport.read(unfinished);
            lines = LineProfile.ofReport(Files.newInputStream(unfinished));
        } catch (IOException | IllegalArgumentException unreadable) {
            String reason = "wrote no profile that can be read (" + unreadable.getMessage() + ")";
            return new RunOutcome(reason, file, Optional.empty(), elapsedNs, log);
        }
        RunFacts facts = watch.seen(read.facts());
        if (measuresRoof) {
            Map<String, Double> figures = new TreeMap<>(facts.machine());
            figures.putAll(MachineRoof.measureBriefly());
            facts = facts.withMachine(figures, facts.disturbances());
        }
        ProfileSnapshot snapshot = read.withFacts(facts);
        JsonReport.write(
                snapshot, lines.map(each -> each.reportEntries(snapshot)).orElse(Map.of()), unfinished);
        AtomicFile.replace(file, unfinished);
        return new RunOutcome("", file, Optional.of(snapshot), elapsedNs, log);
    }

    /** Returns the profiles of further processes of a run, which the library writes beside the first one. */
    private static List<Path> besideFiles(Path files, String name) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> each = Files.newDirectoryStream(files, "." + name + "-*.json")) {
            each.forEach(found::add);
        }
        return found;
    }

    /**
     * Returns the reason why a run fails if several of its processes wrote profiles: it is unknown which profile to
     * compare. Empty for one process.
     */
    private static String severalProcesses(Path files, String name) throws IOException {
        int further = besideFiles(files, name).size();
        return further == 0
                ? ""
                : "has profiles of " + (1 + further) + " processes, which inherited " + VARIABLE
                        + ": a run is one process, so unset the variable for the others";
    }

    /** Runs a program, and returns its exit code; empty if the process was killed at the timeout. */
    private OptionalInt execute(Program program, Path profile, Path log) throws IOException, InterruptedException {
        boolean isWindows = System.getProperty("os.name", "").startsWith("Windows");
        ProcessBuilder builder = isWindows
                ? new ProcessBuilder("cmd", "/c", program.command())
                : new ProcessBuilder("sh", "-c", program.command());
        Map<String, String> environment = builder.environment();
        environment.put(VARIABLE, profile.toString());
        if (!program.profiled()) {
            environment.put(SWITCH, "off");
        }
        if (program.withLines()) {
            environment.put(LINES, "on");
        }
        if (program.compared()) {
            environment.putIfAbsent(PERCENTILES, "on");
        }
        Process process =
                builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
        running = process;
        process.getOutputStream().close();
        try {
            boolean ended = !stopped && process.waitFor(limitNs, TimeUnit.NANOSECONDS);
            if (stopped) {
                awaitEndOfVirtualMachine();
            }
            return ended ? OptionalInt.of(process.exitValue()) : OptionalInt.empty();
        } finally {
            kill();
            running = null;
        }
    }

    /**
     * Blocks once the JVM is exiting. The shell of a killed program may exit with code 0, but its run must not count,
     * and no further run may start.
     */
    private void awaitEndOfVirtualMachine() throws InterruptedException {
        kill();
        Thread.sleep(Long.MAX_VALUE);
    }

    /** Kills the running process because the JVM exits, and prevents further runs. Any thread. */
    void stop() {
        stopped = true;
        kill();
    }

    /** Kills the running process and its descendants. Any thread. */
    void kill() {
        Process process = running;
        if (process != null) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
