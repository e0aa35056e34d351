package org.brickprofiler.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.brickprofiler.console.Style;
import org.brickprofiler.console.Terminal;
import org.brickprofiler.demo.Demo;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.InputFile;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The command line {@code brick}. It prints results to standard output as UTF-8, and each error to standard error in
 * one line with the prefix {@code brick:}. Exit codes: 0 success; 1 nothing was found, two inputs differ, or a device
 * is missing or computes other values; 2 invalid input, or the output cannot be written; 3 a comparison found a
 * regression beyond the limit; 4 nothing could be compared.
 */
@Command(name = "brick", versionProvider = Brick.Version.class)
public final class Brick implements Callable<Integer>, IParameterExceptionHandler, IExecutionExceptionHandler {

    /** The only section of the help. */
    private static final String HELP = "help";

    private static final int TROUBLE = CommandLine.ExitCode.USAGE;

    @Spec
    private CommandSpec spec;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private HelpOption help;

    @SuppressWarnings("unused") // picocli reads it
    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Print the version and end.")
    private boolean version;

    private Brick() {}

    /**
     * Runs a command. Returns if the exit code is 0; otherwise exits the JVM with the code.
     *
     * @param args the command and its options; {@code --help} lists them
     */
    public static void main(String[] args) {
        PrintWriter err =
                new PrintWriter(new OutputStreamWriter(new FileOutputStream(FileDescriptor.err), UTF_8), true);
        WatchedOutput output = new WatchedOutput(new FileOutputStream(FileDescriptor.out));
        PrintWriter out = new PrintWriter(new BufferedWriter(new OutputStreamWriter(output, UTF_8)));
        int exitCode = CommandLine.ExitCode.OK;
        if (args.length == 1 && (args[0].equals("--help") || args[0].equals("-h"))) {
            out.print(CommandList.help(Style.isOutputColoured()));
        } else {
            exitCode = run(args, out, err);
        }
        out.flush();
        if (output.lost().isPresent()) {
            exitCode = report(
                    err, "cannot write the standard output: " + output.lost().get());
        }
        if (exitCode != CommandLine.ExitCode.OK) {
            System.exit(exitCode);
        }
    }

    private static int run(String[] args, PrintWriter out, PrintWriter err) {
        Terminal.printMessages(Level.WARNING);
        try {
            return commandLine(args).setOut(out).setErr(err).execute(args);
        } catch (OutOfMemoryError tooSmall) {
            // The command's objects are unreachable only here, so that there is memory for the message.
            long megabytes = Runtime.getRuntime().maxMemory() >> 20;
            return report(
                    err,
                    "the memory of this Java virtual machine, " + megabytes
                            + " MB, is too small for this; java -Xmx1g gives it 1 GB");
        } catch (Error failed) {
            return report(err, InputFile.missingLibrary(failed).orElseGet(() -> fault(failed)));
        }
    }

    /** Returns a command, with its own subcommands and the settings of its parser. */
    private static CommandLine command(CommandList.Entry entry) {
        return switch (entry) {
            case REPORT -> new CommandLine(ReportCommand.class);
            case FLEET -> FleetCommand.commandLine();
            case DEVICES -> new CommandLine(DevicesCommand.class);
            case COMPARE -> ComparisonOptions.commandLine(new CompareCommand());
            case RUN -> new CommandLine(RunCommand.class);
            case DIVERGE -> new CommandLine(DivergeCommand.class);
            case ATTACH -> new CommandLine(AttachCommand.class);
            case TOP -> new CommandLine(TopCommand.class);
            case DEMO -> Demo.commandLine();
            case CONVERT -> new CommandLine(ConvertCommand.class);
            case ROOFLINE -> new CommandLine(RooflineCommand.class);
            case SUGGEST -> new CommandLine(SuggestCommand.class);
            case COMPLETION -> new CommandLine(new AutoComplete.GenerateCompletion());
        };
    }

    /**
     * Returns the command with the subcommand that the command line names, or with all subcommands if its first word
     * names none. Picocli inspects each subcommand by reflection, which takes longer than most commands run.
     *
     * @param args a command line, which may be invalid
     * @return a new instance at each call; not thread-safe
     */
    static CommandLine commandLine(String... args) {
        Brick brick = new Brick();
        CommandLine line = new CommandLine(brick);
        // Completion describes all commands.
        boolean isNamed =
                args.length > 0 && CommandList.contains(args[0]) && !args[0].equals(CommandList.Entry.COMPLETION.word);
        for (CommandList.Entry entry : CommandList.Entry.values()) {
            if (!isNamed || entry.word.equals(args[0])) {
                line.addSubcommand(entry.word, command(entry));
            }
        }
        line.getCommandSpec()
                .usageMessage()
                .sectionMap(Map.of(HELP, help -> CommandList.help(help.ansi().enabled())))
                .sectionKeys(List.of(HELP));
        return line.setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(brick)
                .setExecutionExceptionHandler(brick);
    }

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "no command is given");
    }

    // ---- errors, each in one line ----

    /** Reports an invalid command line. */
    @Override
    public int handleParseException(ParameterException badInput, String[] args) {
        CommandLine command = badInput.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        List<String> unmatched =
                badInput instanceof UnmatchedArgumentException other ? other.getUnmatched() : List.of();
        boolean isCommand = !unmatched.isEmpty()
                && !unmatched.get(0).startsWith("-")
                && !command.getSubcommands().isEmpty();
        String message = isCommand
                ? "there is no command " + unmatched.get(0)
                : String.valueOf(badInput.getMessage()).replaceFirst("^Error: ", "");
        return report(
                command.getErr(),
                message + suggestion(badInput).orElse(" (" + name + " --help lists commands and options)"));
    }

    /** Returns the likeliest guess at a mistyped word. */
    private static Optional<String> suggestion(ParameterException badInput) {
        List<String> known =
                badInput instanceof UnmatchedArgumentException unmatched ? unmatched.getSuggestions() : List.of();
        return known.stream().findFirst().map(word -> "; did you mean " + word + "?");
    }

    /** Reports that a command failed. */
    @Override
    public int handleExecutionException(Exception failed, CommandLine command, ParseResult parsed) {
        boolean expected = failed instanceof IOException
                || failed instanceof UncheckedIOException
                || failed instanceof IllegalArgumentException;
        return report(command.getErr(), expected && failed.getMessage() != null ? failed.getMessage() : fault(failed));
    }

    /** Describes a fault of the program itself for a bug report. */
    private static String fault(Throwable failed) {
        StackTraceElement[] trace = failed.getStackTrace();
        return "a fault of this program: " + failed + (trace.length == 0 ? "" : " at " + trace[0]);
    }

    /**
     * Prints a message in one line. Control and invisible characters, which names of files may contain, are escaped.
     *
     * @param err the writer for errors
     * @param message the error
     * @return the exit code
     */
    static int report(PrintWriter err, String message) {
        err.println("brick: "
                + PlainText.visible(message.replaceAll("[\\n\\r\\t]+", " ").strip()));
        err.flush();
        return TROUBLE;
    }

    // ---- shared by the commands ----

    /** The option that every command has. */
    static final class HelpOption {

        @SuppressWarnings("unused") // picocli reads it
        @Option(
                names = {"-h", "--help"},
                usageHelp = true,
                description = "Print this and end.")
        private boolean help;
    }

    /** The version, as the manifest of the jar gives it. */
    static final class Version implements IVersionProvider {

        @Override
        public String[] getVersion() {
            @Nullable String version = Brick.class.getPackage().getImplementationVersion();
            return new String[] {
                version == null ? "brick, unknown version (not started from its jar)" : "brick " + version,
                "Java " + Runtime.version()
            };
        }
    }

    /**
     * Keeps the reason of the first write failure, which a {@link PrintWriter} hides. It writes nothing after a
     * failure. Not thread-safe.
     */
    static final class WatchedOutput extends OutputStream {

        private final OutputStream out;
        private @Nullable IOException failure;

        WatchedOutput(OutputStream out) {
            this.out = out;
        }

        /**
         * Returns the reason why output was lost. A closed pipe does not count: its reader, such as {@code head}, has
         * stopped on purpose.
         *
         * @return the reason; empty if nothing was lost
         */
        Optional<String> lost() {
            if (failure == null) {
                return Optional.empty();
            }
            String reason = AtomicFile.reason(failure);
            return reason.toLowerCase(Locale.ROOT).contains("pipe") ? Optional.empty() : Optional.of(reason);
        }

        @Override
        public void write(int octet) {
            write(new byte[] {(byte) octet}, 0, 1);
        }

        @Override
        public void write(byte[] octets, int from, int length) {
            if (failure == null) {
                try {
                    out.write(octets, from, length);
                } catch (IOException failed) {
                    failure = failed;
                }
            }
        }
    }
}
