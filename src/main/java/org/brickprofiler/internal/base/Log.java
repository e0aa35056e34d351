package org.brickprofiler.internal.base;

import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * A logger of one class of the library. Messages go to the platform's {@link System.Logger}, which writes warnings to
 * the standard error if the application has no other logging. A program that has a form of its own for messages, such
 * as the agent, sets a {@link Sink} instead.
 *
 * <p>No platform logger is looked up before a message has to be written: in a virtual machine whose {@code main} sets
 * {@code java.util.logging.manager}, an earlier look-up would choose another manager. Any thread; allocates only for a
 * message.
 */
public final class Log {

    private static final String PLACE = "{}";

    private static volatile @Nullable Target target;

    private final String name;

    /** The platform's logger of this name. Threads may look it up at the same time and find the same one. */
    private System.@Nullable Logger platform;

    /** Receives the messages of the library in place of the platform's loggers. Any thread. */
    @FunctionalInterface
    public interface Sink {
        /**
         * Writes a message.
         *
         * @param level how severe it is
         * @param logger the name of the class that reports it
         * @param message the message
         * @param thrown its cause; null for none
         */
        void write(Level level, String logger, String message, @Nullable Throwable thrown);
    }

    /** A sink and the least severe level that it receives. */
    private record Target(Level least, Sink sink) {
        boolean receives(Level level) {
            return level.getSeverity() >= least.getSeverity();
        }
    }

    private Log(String name) {
        this.name = name;
    }

    /**
     * Returns a logger.
     *
     * @param source the class whose name its messages have
     * @return a new logger
     */
    public static Log of(Class<?> source) {
        return new Log(source.getName());
    }

    /**
     * Sends all later messages of this copy of the library to a sink.
     *
     * @param least the least severe level that the sink receives
     * @param sink the sink
     */
    public static void sendTo(Level least, Sink sink) {
        target = new Target(least, sink);
    }

    /** Sends all later messages to the platform's loggers, as before the first call of {@link #sendTo}. */
    public static void sendToPlatform() {
        target = null;
    }

    /**
     * Writes a message of level INFO.
     *
     * @param message the message; each <code>{}</code> is replaced by the next of the values
     * @param values the values; a {@link Throwable} that no <code>{}</code> takes is the cause
     */
    public void info(String message, @Nullable Object... values) {
        write(Level.INFO, message, values);
    }

    /**
     * Writes a message of level WARNING.
     *
     * @param message as for {@link #info}
     * @param values as for {@link #info}
     */
    public void warn(String message, @Nullable Object... values) {
        write(Level.WARNING, message, values);
    }

    /**
     * Writes a message of level ERROR.
     *
     * @param message as for {@link #info}
     * @param values as for {@link #info}
     */
    public void error(String message, @Nullable Object... values) {
        write(Level.ERROR, message, values);
    }

    /**
     * Returns whether a message of level INFO would be written now. Call it only if one is due: it looks up the
     * platform's logger.
     *
     * @return false if composing the message is of no use
     */
    public boolean isInfoEnabled() {
        Target set = target;
        return set == null ? platform().isLoggable(Level.INFO) : set.receives(Level.INFO);
    }

    /**
     * Writes a line to the standard error without allocating. Every other way would load classes, and a class whose
     * initialisation fails in a full heap stays unusable, for the application, too.
     *
     * @param line the line with its end, in ASCII
     */
    public static void printInFullHeap(byte[] line) {
        System.err.write(line, 0, line.length);
        System.err.flush();
    }

    private void write(Level level, String message, @Nullable Object[] values) {
        Target set = target;
        if (set != null && !set.receives(level)) {
            return;
        }
        StringBuilder text = new StringBuilder();
        int used = 0;
        int from = 0;
        int at = message.indexOf(PLACE);
        while (at >= 0 && used < values.length) {
            text.append(message, from, at).append(values[used++]);
            from = at + PLACE.length();
            at = message.indexOf(PLACE, from);
        }
        text.append(message, from, message.length());
        Throwable thrown = used < values.length && values[used] instanceof Throwable cause ? cause : null;
        if (set == null) {
            writeToPlatform(level, text.toString(), thrown);
        } else {
            set.sink.write(level, name, text.toString(), thrown);
        }
    }

    /** {@code java.util.logging} closes its handlers in a shutdown hook, so a message of another hook would be lost. */
    private void writeToPlatform(Level level, String message, @Nullable Throwable thrown) {
        System.Logger logger = platform();
        if (!isEnding()) {
            logger.log(level, message, thrown);
        } else if (logger.isLoggable(level)) {
            System.err.println(level + " " + name + ": " + message);
            if (thrown != null) {
                thrown.printStackTrace();
            }
        }
    }

    private System.Logger platform() {
        System.Logger known = platform;
        if (known == null) {
            known = System.getLogger(name);
            platform = known;
        }
        return known;
    }

    /** Returns whether the virtual machine ends: it then refuses to remove even a hook that it does not have. */
    private static boolean isEnding() {
        try {
            return Runtime.getRuntime().removeShutdownHook(new Thread("never started"));
        } catch (IllegalStateException ending) {
            return true;
        }
    }
}
