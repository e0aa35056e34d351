package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.brickprofiler.console.Terminal;
import org.jline.terminal.Attributes;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.NonBlockingReader;
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
                "Shows once a second what an engine does: its requests, their time to first token and time per output "
                        + "token, tokens/s by phase, and the largest bricks of the last ten seconds. q or Ctrl-C ends it. If the "
                        + "output is no terminal, it prints one block for each second.",
        optionListHeading = "%nOptions:%n",
        footerHeading =
                "%nThe process stays as it was: nothing is reset, no agent is attached, and a profiler that was off%n"
                        + "is on only while it is watched. By its id, a process is read as JConsole does: its virtual machine%n"
                        + "starts its own management agent, which then goes on listening on this machine.%n%nExamples:%n",
        footer = {
            "  Watch the process 4711:",
            "    brick top 4711",
            "  Through the port of the agent, if it was started with port=8080:",
            "    brick top localhost:8080",
            "  The last ten seconds in a log:",
            "    brick top 4711 --count 10 | tail -20"
        })
final class TopCommand implements Callable<Integer> {

    private static final Duration EVERY = Duration.ofSeconds(1);
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);
    private static final String NEW_SCREEN = "\u001b[?1049h\u001b[?25l";
    private static final String OLD_SCREEN = "\u001b[?25h\u001b[?1049l";
    private static final String HOME = "\u001b[H";
    private static final String CLEAR_LINE = "\u001b[K";
    private static final String CLEAR_BELOW = "\u001b[J";
    private static final int NO_KEY = NonBlockingReader.READ_EXPIRED;

    @Spec
    private CommandSpec spec;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    @Parameters(paramLabel = "PID|ADDRESS", description = "The id of a process, or the address of the agent's port.")
    private String target = "";

    @Option(names = "--count", paramLabel = "N", description = "End after N refreshes.")
    private long count = Long.MAX_VALUE;

    @Option(names = "--name", paramLabel = "NAME", description = "The profiler of that name, if a process has several.")
    private @Nullable String name;

    @Override
    public Integer call() throws IOException {
        if (count < 1) {
            throw new ParameterException(spec.commandLine(), "--count " + count + " is not above 0");
        }
        TopSource source = target.matches("\\d{1,18}") ? BeanSource.of(target, name) : PortSource.of(target);
        AtomicBoolean ending = new AtomicBoolean();
        Thread atExit = new Thread(
                () -> {
                    ending.set(true);
                    source.close();
                },
                "brick-top-end");
        Runtime.getRuntime().addShutdownHook(atExit);
        try (source;
                Screen screen = Screen.of(spec.commandLine().getOut(), Terminal.isInteractive())) {
            watch(source, screen, ending);
        } finally {
            removeHook(atExit);
        }
        return CommandLine.ExitCode.OK;
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException exiting) {
            // The hook runs already.
        }
    }

    private void watch(TopSource source, Screen screen, AtomicBoolean ending) throws IOException {
        TopWindow window = new TopWindow();
        try {
            window.add(source.read());
        } catch (TopSource.Refused refused) {
            throw refused;
        } catch (IOException none) {
            throw new IOException(source.name() + " does not answer: " + none.getMessage(), none);
        }
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
            screen.show("brick top: " + source.name() + ", "
                    + LocalTime.now(ZoneId.systemDefault()).format(CLOCK) + "\n" + window.render());
        }
    }

    /** The output for the text. Used by one thread; any thread may end it. */
    private interface Screen extends AutoCloseable {

        /** Returns a terminal's screen, or a plain output. */
        static Screen of(PrintWriter out, boolean isInteractive) throws IOException {
            return isInteractive ? new Full(out) : new Plain(out);
        }

        /**
         * Waits for the given time; returns true if the output can no longer be written, and at once if the user wants
         * to leave.
         */
        boolean isLeftWithin(Duration time) throws IOException;

        void show(String text);

        /** Restores the terminal. A second call does nothing. */
        void end();

        @Override
        default void close() {
            end();
        }
    }

    /** Output that is not a terminal: prints one block after the other. */
    private static final class Plain implements Screen {
        private final PrintWriter out;
        private boolean hasShown;

        Plain(PrintWriter out) {
            this.out = out;
        }

        @Override
        public boolean isLeftWithin(Duration time) {
            try {
                Thread.sleep(time.toMillis());
            } catch (InterruptedException left) {
                Thread.currentThread().interrupt();
                return true;
            }
            return out.checkError();
        }

        @Override
        public void show(String text) {
            out.print((hasShown ? "\n" : "") + text);
            out.flush();
            hasShown = true;
        }

        @Override
        public void end() {
            out.flush();
        }
    }

    /** A terminal: each text replaces the one before, and keys are read as they are pressed. */
    private static final class Full implements Screen {
        private final PrintWriter out;
        private final org.jline.terminal.Terminal terminal;
        private final Attributes before;
        private final Thread atExit = new Thread(this::giveBack, "brick-top-screen");
        private final AtomicBoolean isOver = new AtomicBoolean();
        private String latest = "";

        Full(PrintWriter out) throws IOException {
            this.out = out;
            // JLine's handling of signals would end the process before its shutdown hooks run.
            terminal = TerminalBuilder.builder()
                    .system(true)
                    .dumb(true)
                    .nativeSignals(false)
                    .build();
            before = terminal.enterRawMode();
            Runtime.getRuntime().addShutdownHook(atExit);
            out.print(NEW_SCREEN);
            out.flush();
        }

        @Override
        public boolean isLeftWithin(Duration time) throws IOException {
            long endNs = System.nanoTime() + time.toNanos();
            for (long leftNs = time.toNanos(); leftNs > 0; leftNs = endNs - System.nanoTime()) {
                int key = terminal.reader().read(Math.max(1, leftNs / 1_000_000));
                if (key == 'q' || key == 'Q' || (key < 0 && key != NO_KEY)) {
                    return true;
                }
            }
            return out.checkError();
        }

        @Override
        public void show(String text) {
            latest = text;
            int rows = Math.max(2, terminal.getHeight()) - 1;
            StringBuilder screen = new StringBuilder(HOME);
            text.lines()
                    .limit(rows)
                    .forEach(line -> screen.append(line).append(CLEAR_LINE).append("\r\n"));
            out.print(screen.append(CLEAR_BELOW));
            out.flush();
        }

        @Override
        public void end() {
            giveBack();
            removeHook(atExit);
        }

        /** Restores the terminal; the latest text stays on its normal screen. */
        private void giveBack() {
            if (isOver.compareAndSet(false, true)) {
                out.print(OLD_SCREEN + latest);
                out.flush();
                terminal.setAttributes(before);
                try {
                    terminal.close();
                } catch (IOException closed) {
                    // Nobody is at this terminal any more.
                }
            }
        }
    }
}
