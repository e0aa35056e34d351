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
import java.util.Optional;
import java.util.concurrent.Callable;
import org.brickprofiler.console.Terminal;
import org.brickprofiler.demo.Demo;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.io.AtomicFile;
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
@Command(
        name = "brick",
        versionProvider = Brick.Version.class,
        sortOptions = false,
        usageHelpWidth = 100,
        description = "Profiles the forward pass of language models, and reads what others profiled.",
        optionListHeading = "%nOptions:%n",
        commandListHeading = "%nCommands (brick COMMAND --help explains one):%n",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:success; two logs agree",
            "1:nothing was found, two logs differ, or a device is missing or computes other values",
            "2:invalid input, or the output cannot be written",
            "3:a brick is slower than --fail-on-regression allows",
            "4:--fail-on-regression could compare no line"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  Where does the time of this trace of PyTorch go?",
            "    brick report trace.json.gz",
            "  The same for a spreadsheet:",
            "    brick report trace.json.gz --csv > bricks.csv",
            "  Which bricks did the edit make slower?",
            "    brick compare before/ -- after/",
            "  Which is the first brick whose output has changed?",
            "    brick diverge new.jsonl reference.jsonl --tolerance float16",
            "  What does the engine in the process 4711 do right now?",
            "    brick top 4711",
            "  Try the profiler on a small model:",
            "    brick demo --layers 4 --tokens 200",
            "  Completion of commands and options in this shell (bash or zsh):",
            "    source <(brick generate-completion)"
        })
public final class Brick implements Callable<Integer>, IParameterExceptionHandler, IExecutionExceptionHandler {

    /** The commands, in the order in which help lists them. */
    private static final List<String> COMMANDS = List.of(
            "report", "compare", "run", "fleet", "convert", "diverge", "roofline", "devices", "top", "demo", "suggest");

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
        Terminal.printMessages(Level.WARNING);
        FileOutputStream errors = new FileOutputStream(FileDescriptor.err);
        PrintWriter err = new PrintWriter(new OutputStreamWriter(errors, UTF_8), true);
        WatchedOutput output = new WatchedOutput(new FileOutputStream(FileDescriptor.out));
        PrintWriter out = new PrintWriter(new BufferedWriter(new OutputStreamWriter(output, UTF_8)));
        int exitCode;
        try {
            exitCode = commandLine(args).setOut(out).setErr(err).execute(args);
        } catch (OutOfMemoryError tooSmall) {
            // The command's objects are unreachable only here, so that there is memory for the message.
            long megabytes = Runtime.getRuntime().maxMemory() >> 20;
            exitCode = report(
                    err,
                    "the memory of this Java virtual machine, " + megabytes
                            + " MB, is too small for this; java -Xmx1g gives it 1 GB");
        } catch (Error failed) {
            exitCode = report(err, fault(failed));
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

    private static Class<?> type(String name) {
        return switch (name) {
            case "report" -> ReportCommand.class;
            case "compare" -> CompareCommand.class;
            case "run" -> RunCommand.class;
            case "fleet" -> FleetCommand.class;
            case "convert" -> ConvertCommand.class;
            case "diverge" -> DivergeCommand.class;
            case "roofline" -> RooflineCommand.class;
            case "devices" -> DevicesCommand.class;
            case "top" -> TopCommand.class;
            case "demo" -> Demo.class;
            case "suggest" -> SuggestCommand.class;
            default -> throw new IllegalArgumentException("no command " + name);
        };
    }

    /** Returns a command, with its own subcommands and the settings of its parser. */
    private static CommandLine command(String name) {
        Class<?> type = type(name);
        if (type == CompareCommand.class) {
            return ComparisonOptions.commandLine(new CompareCommand());
        }
        if (type == FleetCommand.class) {
            return FleetCommand.commandLine();
        }
        return type == Demo.class ? Demo.commandLine() : new CommandLine(type);
    }

    /** Returns a command that has its name and its description only, which are all that the list of commands shows. */
    private static CommandLine described(String name) {
        CommandSpec command = CommandSpec.create();
        command.usageMessage()
                .description(type(name).getAnnotation(Command.class).description());
        return new CommandLine(command);
    }

    /**
     * Returns the command with the subcommand that the command line names, or with all subcommands if it names none.
     * Picocli inspects each subcommand by reflection, which takes longer than most commands run; without a word that
     * may be a command, there are descriptions only. For the same reason this method uses no lambda: linking the first
     * one takes longer still.
     *
     * @param args a command line, which may be invalid
     * @return a new instance at each call; not thread-safe
     */
    static CommandLine commandLine(String... args) {
        Brick brick = new Brick();
        CommandLine line = new CommandLine(brick);
        if (args.length > 0 && COMMANDS.contains(args[0])) {
            line.addSubcommand(args[0], command(args[0]));
        } else {
            boolean hasWord = false;
            for (String arg : args) {
                hasWord |= !arg.startsWith("-");
            }
            for (String name : COMMANDS) {
                line.addSubcommand(name, hasWord ? command(name) : described(name));
            }
            line.addSubcommand("generate-completion", new AutoComplete.GenerateCompletion());
        }
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
        String message = String.valueOf(badInput.getMessage()).replaceFirst("^Error: ", "");
        return report(
                command.getErr(),
                message + suggestion(badInput) + " (" + command.getCommandSpec().qualifiedName()
                        + " --help lists commands and options)");
    }

    private static String suggestion(ParameterException badInput) {
        List<String> known =
                badInput instanceof UnmatchedArgumentException unmatched ? unmatched.getSuggestions() : List.of();
        return known.isEmpty() ? "" : "; did you mean " + String.join(" or ", known) + "?";
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
            return Optional.ofNullable(failure)
                    .map(AtomicFile::reason)
                    .filter(reason -> !reason.toLowerCase(Locale.ROOT).contains("pipe"));
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
