package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.brickprofiler.cli.TopPage.Order;
import org.brickprofiler.console.Terminal;
import org.jspecify.annotations.Nullable;

/** The output of {@code brick top}. Used by one thread; any thread may end it. */
interface TopScreen extends AutoCloseable {

    /**
     * Returns the screen of the terminal at the standard output, or an output of one block after the other if there is
     * none, or one that cannot be redrawn.
     *
     * @param out the standard output
     * @throws IOException when the terminal cannot be opened
     */
    static TopScreen of(PrintWriter out) throws IOException {
        return Terminal.isInteractive() && !"dumb".equals(System.getenv("TERM"))
                ? new Full(out, TopTerminal.ofProcess())
                : new Plain(out);
    }

    /**
     * Waits for the given time.
     *
     * @return true if the output can no longer be written, and at once if the user wants to leave
     */
    boolean isLeftWithin(Duration time) throws IOException;

    /** Shows that the first reading was made. */
    void begin(String title, TopWindow window);

    /**
     * Shows the readings.
     *
     * @param title the name of the process, and the time
     * @param window the readings, to which later ones may be added after the call
     */
    void show(String title, TopWindow window);

    /** Restores the terminal. A second call does nothing. */
    void end();

    @Override
    default void close() {
        end();
    }

    /** Removes a hook, unless the virtual machine is ending. */
    static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException exiting) {
            // The hook runs already.
        }
    }

    /** Output that is not a terminal: prints one block after the other. */
    final class Plain implements TopScreen {
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
        public void begin(String title, TopWindow window) {
            // The first block is that of the first window.
        }

        @Override
        public void show(String title, TopWindow window) {
            out.print((hasShown ? "\n" : "") + title + "\n" + window.render());
            out.flush();
            hasShown = true;
        }

        @Override
        public void end() {
            out.flush();
        }
    }

    /** A terminal: each page replaces the one before, and keys are read as they are pressed. */
    final class Full implements TopScreen {

        private static final String NEW_SCREEN = "\u001b[?1049h\u001b[?25l";
        private static final String OLD_SCREEN = "\u001b[?25h\u001b[?1049l";
        private static final String HOME = "\u001b[H";
        private static final String CLEAR_LINE = "\u001b[K";

        private final PrintWriter out;
        private final TopTerminal terminal;
        private final Thread atExit = new Thread(this::giveBack, "brick-top-screen");

        /** The page on the screen. Guarded by this, like the next fields. */
        private @Nullable TopPage page;

        private List<String> kept = List.of();
        private boolean isOver;

        Full(PrintWriter out, TopTerminal terminal) {
            this.out = out;
            this.terminal = terminal;
            Runtime.getRuntime().addShutdownHook(atExit);
            out.print(NEW_SCREEN);
            out.flush();
        }

        @Override
        public boolean isLeftWithin(Duration time) throws IOException {
            long endNs = System.nanoTime() + time.toNanos();
            for (long leftNs = time.toNanos(); leftNs > 0; leftNs = endNs - System.nanoTime()) {
                OptionalInt key = terminal.key(Duration.ofNanos(leftNs));
                if (key.isPresent() && isLeftBy(key.getAsInt())) {
                    return true;
                }
            }
            return out.checkError();
        }

        private synchronized boolean isLeftBy(int key) {
            TopPage now = page;
            switch (Character.toLowerCase(key)) {
                case 'q', TopTerminal.INTERRUPT, TopTerminal.CLOSED -> {
                    return true;
                }
                case 's' -> draw(now == null ? null : now.withOrder(now.order().next()));
                case 'p' -> draw(now == null ? null : now.withPause(!now.isPaused()));
                default -> {
                    // No other key has a meaning.
                }
            }
            return false;
        }

        @Override
        public void begin(String title, TopWindow window) {
            show(title, window);
        }

        @Override
        public synchronized void show(String title, TopWindow window) {
            TopPage now = page;
            draw(
                    now == null
                            ? new TopPage(title, window.copy(), Order.TOTAL, false)
                            : now.isPaused() ? now : new TopPage(title, window.copy(), now.order(), false));
        }

        private void draw(@Nullable TopPage next) {
            if (next == null || isOver) {
                return;
            }
            page = next;
            TopPage.Size size = terminal.size();
            List<String> lines = next.lines(size);
            kept = next.lines(size.aboveShell());
            StringBuilder screen = new StringBuilder(HOME);
            for (int row = 0; row < size.rows(); row++) {
                // A line is cleared before it is written: behind its last column, this would clear the last letter.
                screen.append(row == 0 ? "" : "\r\n")
                        .append(CLEAR_LINE)
                        .append(row < lines.size() ? lines.get(row) : "");
            }
            out.print(screen);
            out.flush();
        }

        @Override
        public void end() {
            giveBack();
            removeHook(atExit);
        }

        /** Restores the terminal; the latest page, without the keys, stays on its normal screen. */
        private synchronized void giveBack() {
            if (!isOver) {
                isOver = true;
                out.print(OLD_SCREEN);
                out.flush();
                terminal.restore();
                kept.forEach(out::println);
                out.flush();
            }
        }
    }
}
