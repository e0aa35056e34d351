package org.brickprofiler.agent.suggest;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.agent.ClassFiles;
import org.brickprofiler.agent.ClassFiles.ClassFile;
import org.brickprofiler.internal.io.TemporaryFiles;
import org.brickprofiler.report.JsonReport;

/**
 * Runs a command twice for {@link RunSuggestions}: once with the flight recorder, and once with the agent. Both reach
 * each Java virtual machine of the command through the variable JAVA_TOOL_OPTIONS. Used by one thread.
 */
public final class SuggestionRuns {

    /** Gives compiled loops safepoints under every collector: without them, their samples are in other methods. */
    private static final String LOOPS =
            "-XX:+IgnoreUnrecognizedVMOptions -XX:+UseCountedLoopSafepoints -XX:LoopStripMiningIter=1000";

    private static final String VARIABLE = "JAVA_TOOL_OPTIONS";

    /** The time in which a process must end after it was asked to, before it is killed. */
    private static final int GRACE_SECONDS = 10;

    private final List<String> command;
    private final Path agent;
    private final int mostSeconds;

    /**
     * Prepares the runs of a command.
     *
     * @param command the program and its arguments
     * @param agent the agent's jar
     * @param mostSeconds the time after which a run is ended, s
     */
    public SuggestionRuns(List<String> command, Path agent, int mostSeconds) {
        this.command = List.copyOf(command);
        this.agent = agent;
        this.mostSeconds = mostSeconds;
    }

    /**
     * Returns the proposed rules.
     *
     * @param classPaths where the engine's classes are, in addition to the class path of the virtual machine
     * @param leftOut accepts the place of each class file that cannot be read, with the reason
     * @return rules of the agent, in YAML
     * @throws IOException when the command fails, or ran no Java
     */
    public String rules(List<String> classPaths, Consumer<String> leftOut) throws IOException {
        Path folder = TemporaryFiles.folder("brick-suggest");
        try {
            HotMethods hot = sample(folder);
            List<ClassFile> files = new ArrayList<>();
            for (String each : classPaths) {
                files.addAll(ClassFiles.of(each, leftOut));
            }
            for (String each : hot.classPath().split(File.pathSeparator, -1)) {
                if (!each.isEmpty() && Files.exists(Path.of(each))) {
                    files.addAll(classesIn(each, leftOut));
                }
            }
            RunSuggestions found = RunSuggestions.of(files, hot, leftOut);
            if (found.isEmpty()) {
                throw new IOException("of " + hot.total() + " samples of Java code, none lies in the classes of "
                        + (hot.classPath().isEmpty() ? "the class path" : hot.classPath())
                        + ": run longer, or name the jars of the engine before --");
            }
            return found.rules(measure(found, folder));
        } finally {
            TemporaryFiles.delete(folder);
        }
    }

    /**
     * Returns the classes of an entry of a class path; none if it cannot be read or has no classes, as a jar of
     * resources.
     */
    private static List<ClassFile> classesIn(String entry, Consumer<String> leftOut) {
        try {
            return ClassFiles.of(entry, leftOut);
        } catch (IOException none) {
            return List.of();
        }
    }

    private HotMethods sample(Path folder) throws IOException {
        Path settings = Files.writeString(folder.resolve("samples.jfc"), HotMethods.SETTINGS);
        run(LOOPS + " -XX:FlightRecorderOptions=stackdepth=256 -XX:StartFlightRecording=dumponexit=true,settings="
                + settings + ",filename=" + folder.resolve("%p.jfr"));
        HotMethods most = new HotMethods(Map.of(), 0, "");
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".jfr"))
                    .sorted()
                    .toList()) {
                HotMethods hot = HotMethods.read(file);
                if (hot.total() > most.total()) {
                    most = hot;
                }
            }
        }
        if (most.total() == 0) {
            throw new IOException(
                    "the command ran no Java for as long as a sample takes: " + String.join(" ", command));
        }
        return most;
    }

    private ProfileSnapshot measure(RunSuggestions found, Path folder) throws IOException {
        Path rules = Files.writeString(folder.resolve("candidates.yaml"), found.candidates());
        Path out = folder.resolve("candidates.json");
        run("-Dbrick.profiler.shortest_ns=" + Math.round(RunSuggestions.SHORTEST_NS) + " -javaagent:" + agent
                + "=rules=" + rules + ",out=" + out);
        if (Files.notExists(out)) {
            throw new IOException("the agent wrote no profile: the second run has to end by itself, or within "
                    + mostSeconds + " s by SIGTERM");
        }
        return JsonReport.read(out);
    }

    private void run(String options) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        builder.environment()
                .merge(VARIABLE, options, (before, added) -> before.isBlank() ? added : before + ' ' + added);
        Process process = builder.start();
        try {
            if (process.waitFor(mostSeconds, TimeUnit.SECONDS)) {
                if (process.exitValue() != 0) {
                    throw new IOException("the command ended with exit code " + process.exitValue() + ": "
                            + String.join(" ", command));
                }
            } else {
                process.descendants().forEach(ProcessHandle::destroy);
                process.destroy();
                if (!process.waitFor(GRACE_SECONDS, TimeUnit.SECONDS)) {
                    process.descendants().forEach(ProcessHandle::destroyForcibly);
                    process.destroyForcibly().waitFor();
                }
            }
        } catch (InterruptedException stopped) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the command ran", stopped);
        }
    }

    /**
     * Returns the agent's jar, which is in the folder of the command line's jar, or in the agent's folder of the source
     * tree in which that jar was built.
     *
     * @return the jar
     * @throws IOException when there is none, or several
     */
    public static Path agentBesideThis() throws IOException {
        Path here;
        try {
            here = Path.of(SuggestionRuns.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException | NullPointerException unknown) {
            throw new IOException("where the agent's jar is, is unknown: name it by --agent", unknown);
        }
        return agentIn(Files.isDirectory(here) ? here : here.resolveSibling(""));
    }

    /** Returns the agent's jar for a command line in a folder. */
    static Path agentIn(Path folder) throws IOException {
        List<Path> agents = agentsOf(folder);
        if (agents.isEmpty()) {
            agents = agentsOf(
                    folder.resolve(Path.of("..", "..", "agent", "target")).normalize());
        }
        if (agents.size() != 1) {
            throw new IOException(
                    "there are " + agents.size() + " jars of the agent in " + folder + ": name it by --agent");
        }
        return agents.get(0);
    }

    private static List<Path> agentsOf(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(each -> each.getFileName().toString().matches("brick-profiler-.*agent\\.jar"))
                    .toList();
        }
    }
}
