package org.brickprofiler.agent;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.brickprofiler.cli.ExtraCommand;
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
        description =
                "Reads an engine's classes, runs none of them, and proposes what its bricks may be: rules for the agent, "
                        + "or settings for the flight recorder of JDK 25. It matches names only, so review the result.",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  Rules for a start:",
            "    brick suggest engine.jar -o bricks.yaml",
            "  If no agent may be attached:",
            "    brick suggest --jfc \"lib/*\" -o engine.jfc",
            "    java -XX:StartFlightRecording:settings=engine.jfc,filename=run.jfr ...",
            "    brick report run.jfr"
        })
public final class SuggestCommand implements ExtraCommand, Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "JAR|CLASSPATH",
            description = "Jars, folders of classes, or class paths of these.")
    private List<String> classPaths = List.of();

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

    /** For {@link java.util.ServiceLoader}. */
    public SuggestCommand() {}

    @Override
    public String name() {
        return "suggest";
    }

    @Override
    public CommandLine commandLine() {
        return new CommandLine(new SuggestCommand());
    }

    /**
     * Prints the proposed rules or settings, or writes them to a file.
     *
     * @return the exit code
     * @throws IOException when something cannot be read or written
     */
    @Override
    public Integer call() throws IOException {
        List<byte[]> files = new ArrayList<>();
        for (String classPath : classPaths) {
            files.addAll(ClassFiles.of(classPath));
        }
        Suggestions found = Suggestions.of(files);
        String text = settings ? found.settings() : found.rules();
        if (file != null) {
            AtomicFile.write(file, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
        } else {
            PrintWriter out = spec.commandLine().getOut();
            out.print(text);
            out.flush();
        }
        return found.isEmpty() ? CommandLine.ExitCode.SOFTWARE : CommandLine.ExitCode.OK;
    }
}
