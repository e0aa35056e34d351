package org.brickprofiler.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.brickprofiler.demo.Demo;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command line {@code brick}. Results go to the standard output as UTF-8, and errors to the standard error, each in
 * one line after {@code brick:}. Exit code 0, 1 where nothing was found, two inputs differ, or a device is missing or
 * computes something else, 2 after bad input and where something could not be written.
 */
@Command(
        name = "brick",
        versionProvider = ProgramVersion.class,
        sortOptions = false,
        usageHelpWidth = 100,
        description = "Profiles the forward pass of language models, and reads what others profiled.",
        optionListHeading = "%nOptions:%n",
        commandListHeading = "%nCommands (brick COMMAND --help tells more of one):%n",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all went well; two logs agree",
            "1:nothing was found, two logs differ, or a device computes something else",
            "2:bad input, or the output could not be written"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  Where does the time of this trace of PyTorch go?",
            "    brick report trace.json.gz",
            "  The same for a spreadsheet:",
            "    brick report trace.json.gz --csv > bricks.csv",
            "  Which brick is the first to compute something else than it did before?",
            "    brick diverge new.jsonl reference.jsonl --tolerance float16",
            "  See all of it at work on a small model:",
            "    brick demo --layers 4 --tokens 200",
            "  Completion of commands and options in this shell (bash or zsh):",
            "    source <(brick generate-completion)"
        })
public final class Brick implements Callable<Integer> {

    private static final String[] DEMO_EXAMPLES = {
        "  A short run of a small model:",
        "    brick demo --layers 4 --tokens 200",
        "  One thread, always the likeliest token, results elsewhere:",
        "    brick demo --threads 1 --temperature 0 --json one.json",
        "  A timeline for Perfetto, and the graph of one pass:",
        "    brick demo --tokens 50 --trace pass.pftrace --graph pass.dot",
        "  On a GPU: the processor's results, each brick's time on the device, and what watching costs:",
        "    brick demo --device cuda --tokens 200",
        "  Checksums of every brick, with one value changed on purpose, and where that shows:",
        "    brick demo --tokens 5 --checksums a.jsonl",
        "    brick demo --tokens 5 --checksums b.jsonl --perturb 1:RmsNorm",
        "    brick diverge b.jsonl a.jsonl"
    };

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
     * @param args the command and its options; {@code --help} tells them
     */
    public static void main(String[] args) {
        quietenLog();
        FileOutputStream errors = new FileOutputStream(FileDescriptor.err);
        PrintWriter err = new PrintWriter(new OutputStreamWriter(errors, UTF_8), true);
        WatchedOutput output = new WatchedOutput(new FileOutputStream(FileDescriptor.out));
        PrintWriter out = new PrintWriter(new BufferedWriter(new OutputStreamWriter(output, UTF_8)));
        int exitCode = commandLine().setOut(out).setErr(err).execute(args);
        out.flush();
        if (output.lost().isPresent()) {
            exitCode = Failures.tell(err, "cannot write the standard output: " + output.lost().get());
        }
        if (exitCode != CommandLine.ExitCode.OK) {
            System.exit(exitCode);
        }
    }

    /** Warnings of the library are told, without the words that only a log file needs. */
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

    /**
     * The command with its subcommands.
     *
     * @return a new one each time; one thread
     */
    static CommandLine commandLine() {
        CommandLine demo = Demo.commandLine();
        demo.getCommandSpec().usageMessage().footer(DEMO_EXAMPLES);
        return new CommandLine(new Brick())
                .addSubcommand("report", new ReportCommand())
                .addSubcommand("convert", new ConvertCommand())
                .addSubcommand("diverge", new DivergeCommand())
                .addSubcommand("devices", new DevicesCommand())
                .addSubcommand("demo", demo)
                .addSubcommand("generate-completion", new AutoComplete.GenerateCompletion())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(Failures::badArguments)
                .setExecutionExceptionHandler(Failures::failed);
    }

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "no command is given");
    }
}
