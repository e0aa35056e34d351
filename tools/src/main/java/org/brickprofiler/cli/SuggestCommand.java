package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.brickprofiler.agent.ClassFiles;
import org.brickprofiler.agent.ClassFiles.ClassFile;
import org.brickprofiler.agent.suggest.SuggestionRuns;
import org.brickprofiler.agent.suggest.Suggestions;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.io.AtomicFile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code brick suggest}: proposes rules of the agent for an engine's classes. */
@Command(
        name = "suggest",
        sortOptions = false,
        usageHelpWidth = 100,
        description = {
            "Proposes rules of the agent for an engine, or settings for the flight recorder of JDK 25. Review the result.",
            "With --run, it runs a command twice, samples its hot methods, times the calls of these, and proposes those"
                    + " that take 1 us or more, with the step. By an estimate they cost at most 3 %% of the run.",
            "Without --run, it reads the classes and matches names only.",
        },
        optionListHeading = "%nOptions:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  Rules from two runs of 20 s at most:",
            "    brick suggest --run -o bricks.yaml --seconds 20 -- java -jar engine.jar --prompt Hello",
            "  Rules from names:",
            "    brick suggest engine.jar -o bricks.yaml",
            "  If no agent may be attached:",
            "    brick suggest --jfc \"lib/*\" -o engine.jfc",
            "    java -XX:StartFlightRecording:settings=engine.jfc,filename=run.jfr ...",
            "    brick report run.jfr"
        })
final class SuggestCommand implements Callable<Integer> {

    /** The most files that are named because they cannot be read. */
    private static final int LEFT_OUT_NAMED = 10;

    @Spec
    private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "JAR|CLASSPATH|COMMAND",
            description =
                    "Jars, folders of classes, or class paths of these; with --run, the command and its arguments.")
    private List<String> words = List.of();

    @Option(names = "--run", description = "Run the command after --, twice, and propose what takes its time.")
    private boolean runs;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "60",
            description = "End each run after this time (SIGTERM). Default: ${DEFAULT-VALUE}.")
    private int seconds;

    @Option(
            names = "--classes",
            paramLabel = "CLASSPATH",
            description = "With --run, where the engine's classes are if its class path does not name them.")
    private List<String> classes = List.of();

    @Option(
            names = "--agent",
            paramLabel = "JAR",
            description = "With --run, the agent's jar. Default: the one beside the jar of this command.")
    private @Nullable Path agent;

    @Option(names = "-o", paramLabel = "FILE", description = "Write to a file in place of the standard output.")
    private @Nullable Path file;

    @Option(
            names = "--jfc",
            description = "Settings of the flight recorder (jdk.MethodTiming, jdk.MethodTrace) in place of rules.")
    private boolean settings;

    @SuppressWarnings("unused") // picocli reads it
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this and end.")
    private boolean help;

    /**
     * Prints the proposed rules or settings, or writes them to a file.
     *
     * @return the exit code
     * @throws IOException when something cannot be read or written
     */
    @Override
    public Integer call() throws IOException {
        if (runs) {
            return fromRuns();
        }
        List<String> leftOut = new ArrayList<>();
        List<ClassFile> files = new ArrayList<>();
        for (String classPath : words) {
            files.addAll(ClassFiles.of(classPath, leftOut::add));
        }
        Suggestions found = Suggestions.of(files, leftOut::add);
        nameLeftOut(leftOut);
        write(settings ? found.settings() : found.rules());
        return found.isEmpty() ? CommandLine.ExitCode.SOFTWARE : CommandLine.ExitCode.OK;
    }

    private int fromRuns() throws IOException {
        if (settings || file == null || seconds < 1) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(),
                    settings
                            ? "--jfc proposes from names: it takes no --run"
                            : file == null
                                    ? "--run needs -o FILE, since the command prints to the standard output"
                                    : "--seconds " + seconds + " is not 1 or more");
        }
        Path jar = agent == null ? SuggestionRuns.agentBesideThis() : agent;
        List<String> leftOut = new ArrayList<>();
        write(new SuggestionRuns(words, jar.toAbsolutePath(), seconds).rules(classes, leftOut::add));
        nameLeftOut(leftOut);
        return CommandLine.ExitCode.OK;
    }

    private void nameLeftOut(List<String> places) {
        PrintWriter err = spec.commandLine().getErr();
        places.stream()
                .limit(LEFT_OUT_NAMED)
                .forEach(place -> err.println("brick: left out: " + PlainText.ascii(place)));
        if (places.size() > LEFT_OUT_NAMED) {
            err.println("brick: left out: "
                    + Plural.of(
                            places.size() - LEFT_OUT_NAMED,
                            "more file that cannot be read",
                            "more files that cannot be read"));
        }
        err.flush();
    }

    private void write(String text) throws IOException {
        if (file != null) {
            AtomicFile.write(file, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
        } else {
            PrintWriter out = spec.commandLine().getOut();
            out.print(text);
            out.flush();
        }
    }
}
