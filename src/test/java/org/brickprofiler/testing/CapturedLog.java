package org.brickprofiler.testing;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.brickprofiler.internal.base.Log;
import org.jspecify.annotations.Nullable;

/** Collects the library's log messages until it is closed. One at a time, since it takes them all. */
public final class CapturedLog implements AutoCloseable {

    private final List<String> lines = new CopyOnWriteArrayList<>();

    /** Starts to collect. */
    public CapturedLog() {
        Log.sendTo(Level.INFO, this::write);
    }

    private void write(Level level, String logger, String message, @Nullable Throwable thrown) {
        StringWriter line = new StringWriter();
        line.append(level == Level.WARNING ? "WARN" : level.name())
                .append(' ')
                .append(logger)
                .append(" - ")
                .append(message)
                .append('\n');
        if (thrown != null) {
            thrown.printStackTrace(new PrintWriter(line, true));
        }
        lines.addAll(line.toString().lines().toList());
    }

    /** The lines so far that contain a text. */
    public long linesWith(String part) {
        return lines.stream().filter(line -> line.contains(part)).count();
    }

    /** Returns the lines so far, in the order in which they were written. */
    public List<String> lines() {
        return List.copyOf(lines);
    }

    @Override
    public void close() {
        Log.sendToPlatform();
    }
}
