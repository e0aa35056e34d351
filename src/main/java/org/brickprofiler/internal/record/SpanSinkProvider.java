package org.brickprofiler.internal.record;

import java.nio.file.Path;

/**
 * Makes a {@link SpanSink} that writes a file when the virtual machine ends. Found by {@link java.util.ServiceLoader},
 * and only where tracing is switched on from outside the program.
 */
public interface SpanSinkProvider {

    /**
     * Makes the sink, and sees to it that the file is written.
     *
     * @param file where to
     * @return the sink of all profilers that are given none
     * @throws IllegalArgumentException when no such file can be written; the message says why
     */
    SpanSink open(Path file);
}
