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
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
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
 * The command line {@code brick}. Results go to the standard output as UTF-8, and errors to the standard error, each in
 * one line after {@code brick:}. Exit code 0, 1 where nothing was found, two inputs differ, or a device is missing or
 * computes something else, 2 after bad input and where something could not be written, 3 where a comparison finds
 * something slower than is allowed.
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
            "0:all went well; two logs agree",
            "1:nothing was found, two logs differ, or a device computes something else",
            "2:bad input, or the output could not be written",
            "3:something is slower than --fail-on-regression allows",
            "4:--fail-on-regression found no line that could be compared"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  Where does the time of this trace of PyTorch go?",
            "    brick report trace.json.gz",
            "  The same for a spreadsheet:",
            "    brick report trace.json.gz --csv > bricks.csv",
            "  Which bricks did the edit make slower?",
            "    brick compare before/ -- after/",
            "  Which brick is the first to compute something else than it did before?",
            "    brick diverge new.jsonl reference.jsonl --tolerance float16",
            "  See all of it at work on a small model:",
            "    brick demo --layers 4 --tokens 200",
            "  Completion of commands and options in this shell (bash or zsh):",
            "    source <(brick generate-completion)"
        })
public final class Brick implements Callable<Integer>, IParameterExceptionHandler, IExecutionExceptionHandler {

    /** The commands of this package, in the order in which help lists them. */
    private static final List<String> COMMANDS =
            List.of("report", "compare", "run", "fleet", "convert", "diverge", "roofline", "devices");

    private static final int TROUBLE = CommandLine.ExitCode.USAGE;

    private static final String LOG_SETTINGS = "org.slf4j.simpleLogger.";

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
     * Runs a command. Returns where it went well; otherwise ends the virtual machine with the exit code.
     *
     * @param args the command and its options; {@code --help} lists them
     */
    public static void main(String[] args) {
        quietenLog();
        FileOutputStream errors = new FileOutputStream(FileDescriptor.err);
        PrintWriter err = new PrintWriter(new OutputStreamWriter(errors, UTF_8), true);
        WatchedOutput output = new WatchedOutput(new FileOutputStream(FileDescriptor.out));
        PrintWriter out = new PrintWriter(new BufferedWriter(new OutputStreamWriter(output, UTF_8)));
        int exitCode;
        try {
            exitCode = commandLine(args).setOut(out).setErr(err).execute(args);
        } catch (OutOfMemoryError tooSmall) {
            // Only here, where nothing of the command is left, is there certain to be memory for a message.
            long megabytes = Runtime.getRuntime().maxMemory() >> 20;
            exitCode = report(
                    err,
                    "the memory of this Java virtual machine, " + megabytes
                            + " MB, is too small for this; java -Xmx1g gives it 1 GB");
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

    /** Warnings of the library are shown, without the words that only a log file needs. */
    private static void quietenLog() {
        setUnlessSet("defaultLogLevel", "warn");
        setUnlessSet("showThreadName", "false");
        setUnlessSet("showLogName", "false");
    }

    private static void setUnlessSet(String setting, String value) {
        if (System.getProperty(LOG_SETTINGS + setting) == null) {
            System.setProperty(LOG_SETTINGS + setting, value);
        }
    }

    private static Object command(String name) {
        return switch (name) {
            case "report" -> new ReportCommand();
            case "compare" -> ComparisonOptions.commandLine(new CompareCommand());
            case "run" -> new RunCommand();
            case "fleet" -> FleetCommand.commandLine();
            case "convert" -> new ConvertCommand();
            case "diverge" -> new DivergeCommand();
            case "roofline" -> new RooflineCommand();
            case "devices" -> new DevicesCommand();
            default -> throw new IllegalArgumentException("no command " + name);
        };
    }

    /**
     * The command with the subcommand that a command line names, or with all of them where it names none: picocli looks
     * at each by reflection, which takes longer than most commands do. Nor are there lambdas here, the first of which
     * takes longer still.
     *
     * @param args a command line; it need not make sense
     * @return a new one each time; one thread
     */
    static CommandLine commandLine(String... args) {
        Brick brick = new Brick();
        CommandLine line = new CommandLine(brick);
        if (args.length > 0 && COMMANDS.contains(args[0])) {
            line.addSubcommand(args[0], command(args[0]));
        } else {
            for (String name : COMMANDS) {
                line.addSubcommand(name, command(name));
            }
            for (ExtraCommand extra : ServiceLoader.load(ExtraCommand.class, Brick.class.getClassLoader())) {
                line.addSubcommand(extra.name(), extra.commandLine());
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

    // ---- what went wrong, in one line ----

    /** Reports that the command line makes no sense. */
    @Override
    public int handleParseException(ParameterException badInput, String[] args) {
        CommandLine command = badInput.getCommandLine();
        String message = String.valueOf(badInput.getMessage()).replaceFirst("^Error: ", "");
        return report(
                command.getErr(),
                message + suggestion(badInput) + " (" + command.getCommandSpec().qualifiedName()
                        + " --help shows what there is)");
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

    /** What helps whoever reads of a fault of the program itself. */
    private static String fault(Exception failed) {
        StackTraceElement[] trace = failed.getStackTrace();
        return "a fault of this program: " + failed + (trace.length == 0 ? "" : " at " + trace[0]);
    }

    /**
     * Prints a message in one line; names of files may hold control characters.
     *
     * @param err where to
     * @param message what went wrong
     * @return the exit code
     */
    static int report(PrintWriter err, String message) {
        err.println("brick: " + message.replaceAll("\\p{Cntrl}+", " ").strip());
        err.flush();
        return TROUBLE;
    }

    // ---- what the commands share ----

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
                version == null ? "brick, of no known version: it does not run from its jar" : "brick " + version,
                "Java " + Runtime.version()
            };
        }
    }

    /**
     * Remembers why output was lost, which a print writer hides. After the first failure nothing is tried. One thread.
     */
    static final class WatchedOutput extends OutputStream {

        private final OutputStream out;
        private @Nullable IOException failure;

        WatchedOutput(OutputStream out) {
            this.out = out;
        }

        /**
         * Whether somebody misses some of the output: a reader that went away, as {@code head} does, does not.
         *
         * @return the reason; empty where nobody does
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
