package org.brickprofiler.agent;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.brickprofiler.internal.base.Log;
import org.jspecify.annotations.Nullable;

/**
 * The messages of the agent on the standard error: {@code 2026-11-29T12:54:00.123Z INFO brick agent: …}, with the time
 * in UTC. Each text is printed only once, except to a listening tool. Any thread.
 */
final class Messages {

    private static final String TIME = "0000-00-00T00:00:00.000Z";

    private static final long MS_PER_DAY = 86_400_000;
    private static final int FIRST_YEAR = 1970;

    /** The messages since {@link #listen}; null while nobody listens. */
    private static volatile @Nullable List<String> heard;

    private final Set<String> printed = ConcurrentHashMap.newKeySet();

    /** Prints a message on the progress of the agent. */
    void info(String message) {
        printOnce(Level.INFO, message);
    }

    /** Prints a message on something that is lost, refused or doubtful. */
    void warn(String message) {
        printOnce(Level.WARNING, message);
    }

    /** Begins to collect the messages of all threads, for a tool that attached the agent. */
    static void listen() {
        heard = new CopyOnWriteArrayList<>();
    }

    /** Ends {@link #listen}; returns the messages since then. */
    static List<String> heard() {
        List<String> messages = heard;
        heard = null;
        return messages == null ? List.of() : messages;
    }

    private void printOnce(Level level, String message) {
        List<String> messages = heard;
        if (printed.add(message) || (messages != null && !messages.contains(message))) {
            print(level, message);
        }
    }

    /** Prints a message, also if it was printed before. */
    static void print(Level level, String message) {
        Agent.ERR.println(stamp(TIME, System.currentTimeMillis()) + text(level, message));
        List<String> messages = heard;
        if (messages != null) {
            messages.add(message);
        }
    }

    private static String text(Level level, String message) {
        return " " + level.getName() + " brick agent: " + message;
    }

    private static String stamp(String time, long ms) {
        byte[] stamp = time.getBytes(US_ASCII);
        stamp(stamp, ms);
        return new String(stamp, US_ASCII);
    }

    /** Returns a message that can be printed in a full heap, which has no room for a new one. */
    static byte[] prepared(Level level, String message) {
        return (TIME + text(level, message) + "\n").getBytes(US_ASCII);
    }

    /** Prints a prepared message with the present time, without allocating. */
    static void printInFullHeap(byte[] prepared) {
        synchronized (prepared) {
            stamp(prepared, System.currentTimeMillis());
            Log.printInFullHeap(prepared);
        }
    }

    /**
     * Writes a time in UTC to the beginning of a message, without allocating: formatters need memory, and their classes
     * take tens of milliseconds to load.
     *
     * @param message the message, which begins with the form of a time
     * @param ms the time, ms since 1970
     */
    static void stamp(byte[] message, long ms) {
        int day = (int) (ms / MS_PER_DAY);
        int year = FIRST_YEAR;
        while (day >= daysOf(year)) {
            day -= daysOf(year++);
        }
        int month = 1;
        while (day >= daysOf(year, month)) {
            day -= daysOf(year, month++);
        }
        int ofDay = (int) (ms % MS_PER_DAY);
        write(message, 0, 4, year);
        write(message, 5, 2, month);
        write(message, 8, 2, day + 1);
        write(message, 11, 2, ofDay / 3_600_000);
        write(message, 14, 2, ofDay / 60_000 % 60);
        write(message, 17, 2, ofDay / 1_000 % 60);
        write(message, 20, 3, ofDay % 1_000);
    }

    private static boolean isLeap(int year) {
        return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    }

    private static int daysOf(int year) {
        return isLeap(year) ? 366 : 365;
    }

    private static int daysOf(int year, int month) {
        return switch (month) {
            case 2 -> isLeap(year) ? 29 : 28;
            case 4, 6, 9, 11 -> 30;
            default -> 31;
        };
    }

    private static void write(byte[] message, int from, int digits, int number) {
        int left = number;
        for (int at = from + digits - 1; at >= from; at--) {
            message[at] = (byte) ('0' + left % 10);
            left /= 10;
        }
    }
}
