package org.brickprofiler.cli;

import java.io.Console;
import java.io.PrintStream;
import java.nio.file.Path;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.brickprofiler.trace.read.ReadOptions;
import org.jspecify.annotations.Nullable;

/** What is known of the other end of the standard output. Stateless; any thread. */
public final class Terminal {

    private Terminal() {}

    /**
     * Whether a person watches.
     *
     * @return false where input or output is a file or a pipe
     */
    @SuppressWarnings("SystemConsoleNull") // null before Java 22; from then on isTerminal answers
    public static boolean isInteractive() {
        Console console = System.console();
        return console != null && isTerminal(console);
    }

    /** From Java 22 on there is a console without a terminal, too, and it has a method that says so. */
    private static boolean isTerminal(Console console) {
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (ReflectiveOperationException olderThanJava22) {
            return true;
        }
    }

    /** A bar with the remaining time while a long input is read, gone when that is done. One thread. */
    static final class InputBar implements ReadOptions.Progress, AutoCloseable {

        /** Less is read before a bar could be. */
        static final long LONG_BYTES = 8L << 20;

        private static final int COLUMNS = 79;

        private final @Nullable ProgressBar bar;
        private final PrintStream terminal;

        private InputBar(@Nullable ProgressBar bar, PrintStream terminal) {
            this.bar = bar;
            this.terminal = terminal;
        }

        /**
         * A bar on the terminal, if there is one.
         *
         * @param file what is read
         * @param bytes its size; 0 where that is not known
         * @return the bar; one that draws nothing where nobody watches or the file is short
         */
        static InputBar of(Path file, long bytes) {
            return of(file, bytes, isInteractive(), System.err);
        }

        /**
         * A bar for a file.
         *
         * @param file what is read
         * @param bytes its size
         * @param watched whether there is a terminal to draw on
         * @param terminal where to draw
         * @return the bar; one that draws nothing where nobody watches or the file is short
         */
        static InputBar of(Path file, long bytes, boolean watched, PrintStream terminal) {
            if (!watched || bytes < LONG_BYTES) {
                return new InputBar(null, terminal);
            }
            ProgressBar bar = new ProgressBarBuilder()
                    .setTaskName("Reading " + file.getFileName())
                    .setInitialMax(bytes)
                    .setUnit(" MB", 1_000_000)
                    .setStyle(ProgressBarStyle.ASCII)
                    .setUpdateIntervalMillis(200)
                    .setConsumer(new OneLine(terminal))
                    .build();
            return new InputBar(bar, terminal);
        }

        /** Starts no new line in the end: the bar's own is emptied. */
        private static final class OneLine extends ConsoleProgressBarConsumer {
            OneLine(PrintStream terminal) {
                super(terminal, COLUMNS);
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
                // Not left to the bar, which does not do it where it is closed before its second drawing.
                terminal.print("\r" + " ".repeat(COLUMNS) + "\r");
                terminal.flush();
            }
        }
    }
}
