package org.brickprofiler.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.tools.attach.AgentInitializationException;
import com.sun.tools.attach.AgentLoadException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.brickprofiler.agent.Premain;
import org.brickprofiler.agent.suggest.SuggestionRuns;
import org.brickprofiler.console.Terminal;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Starts the agent in a running process, or makes the agent there do something. Each option is a load of the agent's
 * jar through the attach mechanism of the virtual machine. The agent answers by a system property of its process, which
 * needs no file that both see.
 */
@Command(
        name = "attach",
        sortOptions = false,
        usageHelpWidth = 100,
        description = "Profiles an engine that runs already: starts the agent in its process, or changes what the agent"
                + " there does. Several options are carried out in this order, up to the first that fails.",
        optionListHeading = "%nOptions:%n",
        footerHeading =
                "%nThe process must run as the same user, unless this command runs as root. If it runs in a container,%n"
                        + "files are those of the container. JDK 21 and later print a warning there when the agent starts.%n"
                        + "%nExamples:%n",
        footer = {
            "  Start the agent in the process 4711, with rules and a page:",
            "    brick attach 4711 --rules bricks.yaml --port 8080",
            "  The profile up to now:",
            "    brick attach 4711 --snapshot now.html"
        })
final class AttachCommand implements Callable<Integer> {

    /** The longest options that virtual machines before JDK 24 take, with the path of the jar. */
    private static final int MOST_BYTES = 1_024;

    @Spec
    private CommandSpec spec;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    @Parameters(paramLabel = "PID", description = "The id of the process.")
    private String pid = "";

    @Option(
            names = "--rules",
            paramLabel = "FILE|NAME",
            description = "Start the agent with these rules. If it is there, they replace its rules, and what was"
                    + " recorded before is discarded.")
    private @Nullable String rules;

    @Option(
            names = "--options",
            paramLabel = "OPTIONS",
            description = "Further options for the start, such as out=/tmp/run.json.")
    private @Nullable String options;

    @ArgGroup
    private Recording recording = new Recording();

    @Option(
            names = "--port",
            arity = "0..1",
            fallbackValue = "0",
            paramLabel = "PORT",
            description = "Serve the current page on this machine; without a number, at a free port.")
    private @Nullable Integer port;

    @Option(
            names = "--snapshot",
            paramLabel = "FILE",
            description =
                    "Write what is recorded up to now, as a profile (.json), page (.html) or timeline (.pftrace).")
    private @Nullable Path snapshot;

    @Option(
            names = "--agent",
            paramLabel = "JAR",
            description = "The agent's jar. Default: the one beside the jar of this command.")
    private @Nullable Path agent;

    /** The switch of recording. */
    private static final class Recording {
        @Option(names = "--on", description = "Record.")
        private boolean on;

        @Option(names = "--off", description = "Stop recording; woven code goes on, and costs some ns per brick.")
        private boolean off;
    }

    /**
     * A load of the agent.
     *
     * @param options the agent's options
     * @param isOld whether the first version of the agent knows them
     */
    private record Load(String options, boolean isOld) {}

    @Override
    public Integer call() throws IOException {
        if (!pid.matches("\\d{1,18}")) {
            throw new ParameterException(spec.commandLine(), "'" + pid + "' is no id of a process");
        }
        if (options != null && rules == null) {
            throw new ParameterException(
                    spec.commandLine(), "--options needs --rules: the agent reads them at its start");
        }
        JavaProcess process = JavaProcess.of(pid);
        List<Load> loads = loads(process);
        if (loads.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(), "nothing to do: give --rules, --on, --off, --port or --snapshot");
        }
        Path jar = (agent == null ? SuggestionRuns.agentBesideThis() : agent)
                .toAbsolutePath()
                .normalize();
        requireJar(process, jar);
        VirtualMachine machine = process.attach();
        try {
            for (Load load : loads) {
                carryOut(process, machine, jar, load);
            }
        } finally {
            machine.detach();
        }
        return CommandLine.ExitCode.OK;
    }

    private List<Load> loads(JavaProcess process) {
        List<Load> loads = new ArrayList<>();
        if (rules != null) {
            Path file = Path.of(rules).toAbsolutePath().normalize();
            boolean isName = rules.matches("\\w+") && !process.has(file);
            loads.add(new Load(
                    "rules=" + (isName ? rules : withoutComma(file)) + (options == null ? "" : "," + options), true));
        }
        if (recording.on || recording.off) {
            loads.add(new Load("recording=" + (recording.on ? "on" : "off"), false));
        }
        if (port != null) {
            loads.add(new Load("port=" + port, false));
        }
        if (snapshot != null) {
            loads.add(new Load(
                    "snapshot=" + withoutComma(snapshot.toAbsolutePath().normalize()), true));
        }
        return loads;
    }

    private static Path withoutComma(Path file) {
        if (file.toString().contains(",")) {
            throw new IllegalArgumentException("the path " + file + " has a comma, at which the agent's options end");
        }
        return file;
    }

    static void requireJar(JavaProcess process, Path jar) throws IOException {
        if (process.has(jar)) {
            return;
        }
        if (!process.isInContainer()) {
            throw new IOException("there is no jar of the agent at " + jar);
        }
        throw new IOException(process.inWords() + " has no " + jar
                + ", and needs the agent's jar there, readable for its"
                + " user: cp " + jar + " " + process.files().resolve("tmp") + "/ && brick attach " + process.pid()
                + " --agent /tmp/" + jar.getFileName());
    }

    private void carryOut(JavaProcess process, VirtualMachine machine, Path jar, Load load) throws IOException {
        String call = UUID.randomUUID().toString();
        String all = Premain.ANSWER_OPTION + call + "," + load.options();
        PrintWriter out = spec.commandLine().getOut();
        try {
            machine.loadAgent(jar.toString(), all);
            out.println(Terminal.shown(
                    Answer.read(machine, call).map(Answer::messages).orElse("done")));
        } catch (AgentInitializationException failed) {
            Optional<Answer> answer = Answer.read(machine, call);
            if (answer.isPresent()) {
                throw new IOException(
                        "the agent in process " + process.pid() + " refuses: "
                                + answer.get().messages(),
                        failed);
            }
            carryOutByOlder(process, machine, jar, load);
            out.println("done by an agent of an earlier version, which states no more");
        } catch (IOException failed) {
            int bytes = (jar + "=" + all).getBytes(UTF_8).length;
            throw bytes <= MOST_BYTES
                    ? failed
                    : new IOException(
                            "the agent's jar and options take " + bytes + " bytes, and this Java takes " + MOST_BYTES
                                    + ": give shorter paths",
                            failed);
        } catch (AgentLoadException failed) {
            throw new IOException(process.inWords() + " cannot load " + jar + ": " + failed.getMessage(), failed);
        }
        out.flush();
    }

    /**
     * Repeats a load for an agent that knows no answers; its failure still reaches this command, without the reason.
     */
    private static void carryOutByOlder(JavaProcess process, VirtualMachine machine, Path jar, Load load)
            throws IOException {
        String older = "the agent in process " + process.pid() + " is of an earlier version, ";
        if (!load.isOld()) {
            throw new IOException(
                    older + "which does not know " + load.options() + ": restart the engine to replace it");
        }
        try {
            machine.loadAgent(jar.toString(), load.options());
        } catch (AgentLoadException | AgentInitializationException failed) {
            throw new IOException(
                    older + "and refuses " + load.options()
                            + " for a reason that only the process itself has printed, on its standard error",
                    failed);
        }
    }

    /**
     * The agent's answer to a load.
     *
     * @param messages what it did, or why it did not
     */
    private record Answer(String messages) {

        /** Returns the answer to a call; empty if an agent of an earlier version gave none. */
        static Optional<Answer> read(VirtualMachine machine, String call) throws IOException {
            String[] parts = machine.getSystemProperties()
                    .getProperty(Premain.ANSWER, "")
                    .split("\n", 3);
            return parts.length == 3 && parts[0].equals(call) ? Optional.of(new Answer(parts[2])) : Optional.empty();
        }
    }
}
