package org.brickprofiler.testing;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Collects log messages until it is closed. The tests log through slf4j-simple, which asks for {@link System#err} at
 * every line, and run one after the other.
 */
public final class CapturedLog implements AutoCloseable {

    private final PrintStream before = System.err;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /** Starts to collect. */
    public CapturedLog() {
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    }

    /** The lines so far that contain a text. */
    public long linesWith(String text) {
        return lines().stream().filter(line -> line.contains(text)).count();
    }

    /** Returns the lines so far, in the order in which they were written. */
    public List<String> lines() {
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Override
    public void close() {
        System.setErr(before);
    }
}
