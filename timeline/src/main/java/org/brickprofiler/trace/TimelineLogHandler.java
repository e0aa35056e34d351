package org.brickprofiler.trace;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.ErrorManager;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;
import org.jspecify.annotations.Nullable;

/**
 * Puts an application's log records on the timeline, as instants of the category {@value #CATEGORY} on the track of the
 * thread that logged them.
 *
 * <pre>{@code
 * Logger.getLogger("com.example.engine").addHandler(new TimelineLogHandler(recorder));
 * }</pre>
 *
 * <p>System.Logger reaches it by {@code java.util.logging}, its default in the JDK, and SLF4J by
 * {@code org.slf4j:slf4j-jdk14}. An instant has the record's own timestamp, even if a buffering handler publishes the
 * record later. Its name is the level, the logger and the first line of the message, cut to {@value #LONGEST}
 * characters. The first {@value #MOST_NAMES} different names are kept whole. A further message is recorded as its level
 * and logger with {@value #NOT_KEPT}; after {@value #MOST_NAMES} different names of that kind, as its level alone.
 * Exceptions are left out.
 *
 * <p>Any thread. Allocates the text of each message.
 */
public final class TimelineLogHandler extends Handler {

    static final String CATEGORY = "Log";
    static final int LONGEST = 160;
    static final int MOST_NAMES = 1_000;
    static final String NOT_KEPT = " (message not kept)";

    private final TraceRecorder recorder;
    private final Formatter messages = new SimpleFormatter();
    private final Set<String> names = ConcurrentHashMap.newKeySet();
    private final Set<String> loggers = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /**
     * Creates a handler of all levels.
     *
     * @param recorder receives the instants
     */
    public TimelineLogHandler(TraceRecorder recorder) {
        this.recorder = Objects.requireNonNull(recorder, "recorder");
    }

    /**
     * Records a log record, unless the handler's level or filter excludes it, or the handler is closed. Throws nothing:
     * a failure goes to the handler's {@link ErrorManager}.
     *
     * @param log the record; nothing happens for null
     */
    @Override
    public void publish(@Nullable LogRecord log) {
        if (log == null || closed || !isLoggable(log)) {
            return;
        }
        try {
            // The record's age by the calendar clock, subtracted from the recorder's clock, gives the time of the
            // instant.
            long nowNs = recorder.nowNs();
            long agoNs = Math.max(0, ChronoUnit.NANOS.between(log.getInstant(), Instant.now()));
            String name = nameOf(log);
            if (log.getLongThreadID() == Thread.currentThread().getId()) {
                recorder.instant(name, CATEGORY, nowNs - agoNs);
            } else {
                recorder.instant(name, CATEGORY, nowNs - agoNs, log.getLongThreadID());
            }
        } catch (RuntimeException failed) {
            reportError("a log record is not on the timeline", failed, ErrorManager.WRITE_FAILURE);
        }
    }

    private String nameOf(LogRecord log) {
        String level = log.getLevel().getName();
        String from = log.getLoggerName() == null ? level : level + " " + log.getLoggerName();
        String message = messages.formatMessage(log);
        String line = message == null ? "" : message.lines().findFirst().orElse("");
        String whole = printable(line.isEmpty() ? from : from + ": " + line);
        if (isKept(names, whole)) {
            return whole;
        }
        String withoutMessage = printable(from) + NOT_KEPT;
        return isKept(loggers, withoutMessage) ? withoutMessage : printable(level) + NOT_KEPT;
    }

    /** Returns whether a text is among the first {@link #MOST_NAMES}. Concurrent calls may admit a few more. */
    private static boolean isKept(Set<String> kept, String text) {
        return kept.contains(text) || (kept.size() < MOST_NAMES && kept.add(text));
    }

    /** Returns a text without NUL, which names of a timeline cannot hold. */
    private static String printable(String text) {
        return (text.length() > LONGEST ? text.substring(0, LONGEST) : text).replace('\u0000', ' ');
    }

    /** Does nothing: a record is on the timeline when {@link #publish} returns. */
    @Override
    public void flush() {}

    /** Ends recording; instants stay on the timeline. */
    @Override
    public void close() {
        closed = true;
    }
}
