package org.brickprofiler.cli;

import java.io.IOException;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Watches the profiler of a running process.
 *
 * <p>{@code brick top} reads the process through an MXBean. Since JDK 21, attaching an agent prints a warning in the
 * process each time, and it cannot be undone. The management agent of the virtual machine prints nothing; it stays
 * loaded, as it does after JConsole. Windows are differences of two readings, so several clients, and the profile
 * itself, do not disturb each other. A profiler that was off is switched on for 10 s after each reading, since a client
 * that is killed cannot switch it off again.
 */
@Command(
        name = "top",
        sortOptions = false,
        usageHelpWidth = 100,
        description =
                "Shows once a second what an engine did in the last ten seconds: its requests, their time to first token "
                        + "and time per output token, tokens/s by phase, and the largest bricks. On a terminal, it fills "
                        + "the screen, with the percentiles, change and trend of each brick; Ctrl-C ends it, and the "
                        + "last line names the keys. Otherwise, it prints one block for each second.",
        optionListHeading = "%nOptions:%n",
        footerHeading =
                "%nThe process stays as it was: nothing is reset, no agent is attached, and a profiler that was off%n"
                        + "is on only while it is watched. By its id, a process is read as JConsole does: its virtual machine%n"
                        + "starts its own management agent, which then goes on listening on this machine.%n%nExamples:%n",
        footer = {
            "  Watch the process 4711:",
            "    brick top 4711",
            "  Two replicas, through the ports of their agents, started with port=8080:",
            "    brick top host1:8080 host2:8080",
            "  The last ten seconds in a log:",
            "    brick top 4711 --count 10 | tail -20"
        })
final class TopCommand implements Callable<Integer> {

    private static final Duration EVERY = Duration.ofSeconds(1);
    private static final List<String> WINDOWS = List.of("1m", "5m", "60m");
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

    @Spec
    private CommandSpec spec;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    @Parameters(
            paramLabel = "PID|ADDRESS",
            arity = "1..*",
            description =
                    "The id of a process, or the address of the agent's port. Several are replicas of one engine: the"
                            + " screen shows their sums, the percentiles of all their requests, and a line on each.")
    private List<String> targets = List.of();

    @Option(names = "--count", paramLabel = "N", description = "End after N refreshes.")
    private long count = Long.MAX_VALUE;

    @Option(
            names = "--last",
            paramLabel = "TIME",
            description = "Show also the latencies of the requests that finished in the last 1m, 5m or 60m, with the "
                    + "slowest request of each.")
    private @Nullable String last;

    @Option(names = "--name", paramLabel = "NAME", description = "The profiler of that name, if a process has several.")
    private @Nullable String name;

    @Override
    public Integer call() throws IOException {
        if (count < 1) {
            throw new ParameterException(spec.commandLine(), "--count " + count + " is not above 0");
        }
        if (last != null && !WINDOWS.contains(last)) {
            throw new ParameterException(spec.commandLine(), "--last " + last + " is none of 1m, 5m and 60m");
        }
        TopSource source = targets.size() == 1
                ? new WithLast(open(targets.get(0)), this::lastLine)
                : ReplicaSource.of(targets, this::open, this::lastLine);
        AtomicBoolean ending = new AtomicBoolean();
        Thread atExit = new Thread(
                () -> {
                    ending.set(true);
                    source.close();
                },
                "brick-top-end");
        Runtime.getRuntime().addShutdownHook(atExit);
        try (source;
                TopScreen screen = TopScreen.of(spec.commandLine().getOut())) {
            watch(source, screen, ending);
        } finally {
            TopScreen.removeHook(atExit);
        }
        return CommandLine.ExitCode.OK;
    }

    private void watch(TopSource source, TopScreen screen, AtomicBoolean ending) throws IOException {
        TopWindow window = new TopWindow();
        try {
            window.add(source.read());
        } catch (TopSource.Refused refused) {
            throw refused;
        } catch (IOException none) {
            throw new IOException(source.name() + " does not answer: " + none.getMessage(), none);
        }
        screen.begin(title(source), window);
        for (long shown = 0; shown < count && !screen.isLeftWithin(EVERY); shown++) {
            try {
                window.add(source.read());
            } catch (IOException ended) {
                if (!ending.get()) {
                    screen.end();
                    spec.commandLine().getErr().println("brick: " + source.name() + " has ended");
                }
                return;
            }
            screen.show(title(source), window);
        }
    }

    static boolean isProcess(String target) {
        return target.matches("\\d{1,18}");
    }

    private TopSource open(String target) throws IOException {
        return isProcess(target) ? BeanSource.of(target, name) : PortSource.of(target);
    }

    /** Returns the line on the last minutes that are wanted; none if none are. */
    private List<String> lastLine(TopReading reading) {
        return last == null
                ? List.of()
                : List.of(
                        reading.recent().size() == WINDOWS.size()
                                ? reading.recent().get(WINDOWS.indexOf(last))
                                : "Last " + last + ": the process states no requests of the last minutes.");
    }

    /** Adds the line on the last minutes to what is under way. */
    private record WithLast(TopSource source, Function<TopReading, List<String>> lastLine) implements TopSource {

        @Override
        public String name() {
            return source.name();
        }

        @Override
        public TopReading read() throws IOException {
            TopReading reading = source.read();
            List<String> lines = new ArrayList<>(reading.progress());
            lines.addAll(lastLine.apply(reading));
            return reading.withProgress(lines, reading.recent());
        }

        @Override
        public void close() {
            source.close();
        }
    }

    private static String title(TopSource source) {
        return "brick top: " + source.name() + ", "
                + LocalTime.now(ZoneId.systemDefault()).format(CLOCK);
    }
}
