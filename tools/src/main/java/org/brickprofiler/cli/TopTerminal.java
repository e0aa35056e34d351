package org.brickprofiler.cli;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.io.Console;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.locks.ReentrantLock;
import org.brickprofiler.console.Style;
import org.jline.terminal.Attributes;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.NonBlockingReader;

/** A terminal whose screen {@code brick top} fills. One thread reads keys; any thread may restore the terminal. */
interface TopTerminal {

    /** The key of a terminal that has been closed. */
    int CLOSED = -1;

    /** Ctrl-C, where the terminal passes it on as a key instead of a signal. */
    int INTERRUPT = 3;

    /** Returns the present size, and what the terminal can show. */
    TopPage.Size size();

    /**
     * Waits for a key.
     *
     * @param time the longest time to wait
     * @return the letter of the key, or {@link #CLOSED}; empty if none was pressed
     * @throws IOException when the terminal cannot be read
     */
    OptionalInt key(Duration time) throws IOException;

    /** Restores the mode of the terminal. A second call does nothing. */
    void restore();

    /**
     * Returns the terminal of this process, whose keys are read as they are pressed where the system allows it.
     *
     * @throws IOException when the terminal cannot be opened
     */
    static TopTerminal ofProcess() throws IOException {
        return new OfProcess();
    }

    /** The terminal of this process. */
    final class OfProcess implements TopTerminal {

        /** The longest time for which one reading waits for a key, ms. */
        private static final long LONGEST_READING_MS = 100;

        /** The longest time for which a thread that restores the terminal waits for a reading to end, ms. */
        private static final long LONGEST_WAIT_MS = 10 * LONGEST_READING_MS;

        private final Terminal terminal;
        private final boolean hasKeys;
        private final Attributes before;
        private final boolean isColoured = Style.isOutputColoured();
        private final boolean isUnicode = isUnicode();

        /**
         * Held while a key is read and while the terminal is restored, since JLine's reader sets the terminal's mode
         * again at the beginning of each reading. Fair, so that a restoring thread is the next one.
         */
        private final ReentrantLock lock = new ReentrantLock(true);

        private volatile boolean isRestored;

        private OfProcess() throws IOException {
            // JLine's handling of signals would end the process before its shutdown hooks run.
            terminal = TerminalBuilder.builder()
                    .system(true)
                    .dumb(true)
                    .nativeSignals(false)
                    .build();
            hasKeys = !terminal.getType().startsWith(Terminal.TYPE_DUMB);
            before = terminal.enterRawMode();
        }

        @SuppressWarnings("SystemConsoleNull") // null before Java 22 if there is no terminal
        private static boolean isUnicode() {
            Console console = System.console();
            return console != null && console.charset().equals(StandardCharsets.UTF_8);
        }

        @Override
        public TopPage.Size size() {
            int rows = terminal.getHeight();
            int columns = terminal.getWidth();
            return new TopPage.Size(
                    rows > 0 ? rows : USUAL_ROWS,
                    columns > 0 ? columns : USUAL_COLUMNS,
                    isUnicode,
                    isColoured,
                    hasKeys);
        }

        @Override
        public OptionalInt key(Duration time) throws IOException {
            if (!hasKeys) {
                return sleep(time);
            }
            long endNs = System.nanoTime() + time.toNanos();
            int key;
            long leftMs;
            do {
                leftMs = (endNs - System.nanoTime()) / 1_000_000;
                key = read(Math.max(1, Math.min(leftMs, LONGEST_READING_MS)));
            } while (key == NonBlockingReader.READ_EXPIRED && leftMs > LONGEST_READING_MS);
            return key == NonBlockingReader.READ_EXPIRED ? OptionalInt.empty() : OptionalInt.of(Math.max(CLOSED, key));
        }

        private int read(long ms) throws IOException {
            lock.lock();
            try {
                return isRestored ? CLOSED : terminal.reader().read(ms);
            } finally {
                lock.unlock();
            }
        }

        private static OptionalInt sleep(Duration time) {
            try {
                Thread.sleep(time.toMillis());
                return OptionalInt.empty();
            } catch (InterruptedException left) {
                Thread.currentThread().interrupt();
                return OptionalInt.of(CLOSED);
            }
        }

        @Override
        public void restore() {
            boolean isAlone = awaitReading();
            try {
                if (!isRestored) {
                    isRestored = true;
                    terminal.setAttributes(before);
                    terminal.close();
                }
            } catch (IOException closed) {
                // Nobody is at this terminal any more.
            } finally {
                if (isAlone) {
                    lock.unlock();
                }
            }
        }

        /** Returns whether this thread holds the lock; a reading that does not end keeps no process alive. */
        private boolean awaitReading() {
            try {
                return lock.tryLock(LONGEST_WAIT_MS, MILLISECONDS);
            } catch (InterruptedException left) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
    }

    /** The size of a terminal that cannot be asked for its size. */
    int USUAL_ROWS = 24;

    int USUAL_COLUMNS = 80;
}
