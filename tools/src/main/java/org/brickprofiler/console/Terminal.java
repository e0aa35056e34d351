package org.brickprofiler.console;

import java.io.Console;
import java.io.PrintStream;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.trace.read.ReadOptions;
import org.jspecify.annotations.Nullable;

/** Properties of the terminal at the standard output. Stateless; any thread. */
public final class Terminal {

    private Terminal() {}

    /**
     * Returns whether the process is used interactively.
     *
     * @return false if input or output is a file or a pipe
     */
    @SuppressWarnings("SystemConsoleNull") // null before Java 22; from then on isTerminal answers
    public static boolean isInteractive() {
        Console console = System.console();
        return console != null && isTerminal(console);
    }

    /**
     * Returns a text for the standard output: for a file as it is, and for a terminal with the characters escaped that
     * would change the terminal.
     *
     * @param text such as CSV with names from a trace
     * @return the text
     */
    public static String shown(String text) {
        return isInteractive() ? PlainText.visible(text) : text;
    }

    /**
     * Prints the library's messages on the standard error, a line each, from now on.
     *
     * @param least the least severe level that is printed
     */
    public static void printMessages(Level least) {
        Log.sendTo(least, (level, logger, message, thrown) -> {
            System.err.println((level == Level.WARNING ? "WARN" : level.getName()) + " " + message);
            if (thrown != null) {
                thrown.printStackTrace();
            }
        });
    }

    /**
     * Returns whether a console is a terminal. From Java 22 on, a console exists without a terminal, too; its method
     * {@code isTerminal} distinguishes the two cases.
     */
    private static boolean isTerminal(Console console) {
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (ReflectiveOperationException olderThanJava22) {
            return true;
        }
    }

    /**
     * A progress bar with the remaining time, for work that takes more than a second; removed at the end. Not
     * thread-safe.
     */
    public static final class InputBar implements ReadOptions.Progress, AutoCloseable {

        /** The size from which a bar is made; smaller files are read before one would be drawn. */
        static final long LONG_BYTES = 1L << 20;

        /** The size from which the bar counts in MB. */
        private static final long LARGE_BYTES = 20_000_000;

        private static final int COLUMNS = 79;

        private static final long UNWATCHED_NS = 1_000_000_000;

        private final @Nullable ProgressBar bar;
        private final PrintStream terminal;

        private InputBar(@Nullable ProgressBar bar, PrintStream terminal) {
            this.bar = bar;
            this.terminal = terminal;
        }

        /**
         * Returns a bar on the terminal, if there is one.
         *
         * @param file the file that is read
         * @param bytes its size; 0 if unknown
         * @return the bar; one that draws nothing if there is no terminal or the file is short
         */
        public static InputBar of(Path file, long bytes) {
            return of(file, bytes, isInteractive(), System.err, System::nanoTime);
        }

        /**
         * Returns a bar for work whose length is unknown; it shows the time that has passed.
         *
         * @param work the work in a few words
         * @return the bar; one that draws nothing if there is no terminal
         */
        public static InputBar of(String work) {
            return isInteractive() ? bar(work, -1, System.err, System::nanoTime) : new InputBar(null, System.err);
        }

        /**
         * Returns a bar for a file.
         *
         * @param file the file that is read
         * @param bytes its size
         * @param watched whether there is a terminal to draw on
         * @param terminal the stream to draw on
         * @param clock the clock that decides when the work has taken a second, ns
         * @return the bar; one that draws nothing if there is no terminal or the file is short
         */
        static InputBar of(Path file, long bytes, boolean watched, PrintStream terminal, LongSupplier clock) {
            if (!watched || bytes < LONG_BYTES) {
                return new InputBar(null, terminal);
            }
            String name = PlainText.visible(String.valueOf(file.getFileName())).replaceAll("\\s", " ");
            return bar("Reading " + name, bytes, terminal, clock);
        }

        private static InputBar bar(String work, long bytes, PrintStream terminal, LongSupplier clock) {
            ProgressBarBuilder bar = new ProgressBarBuilder()
                    .setTaskName(work)
                    .setInitialMax(bytes)
                    .setStyle(ProgressBarStyle.ASCII)
                    .setUpdateIntervalMillis(200)
                    .setConsumer(new OneLine(terminal, clock));
            if (bytes >= 0) {
                boolean isLarge = bytes >= LARGE_BYTES;
                bar.setUnit(isLarge ? " MB" : " kB", isLarge ? 1_000_000 : 1_000);
            }
            return new InputBar(bar.build(), terminal);
        }

        /**
         * Draws nothing in the first second, and clears the bar's line at the end instead of starting a new line. Any
         * thread.
         */
        private static final class OneLine extends ConsoleProgressBarConsumer {

            private final LongSupplier clock;
            private final long startNs;

            OneLine(PrintStream terminal, LongSupplier clock) {
                super(terminal, COLUMNS);
                this.clock = clock;
                this.startNs = clock.getAsLong();
            }

            @Override
            public void accept(String drawing) {
                if (clock.getAsLong() - startNs >= UNWATCHED_NS) {
                    super.accept(drawing);
                }
            }

            @Override
            public void close() {
                // The terminal stays open.
            }
        }

        @Override
        public void at(long bytesRead, long totalBytes) {
            if (bar != null) {
                bar.stepTo(bytesRead);
            }
        }

        @Override
        public void close() {
            if (bar != null) {
                bar.close();
                // The bar itself does not clear its line if it is closed before its second drawing.
                terminal.print("\r" + " ".repeat(COLUMNS) + "\r");
                terminal.flush();
            }
        }
    }
}
