package org.brickprofiler.cli;

import java.io.IOException;
import java.nio.file.Path;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceReader;
import org.brickprofiler.trace.read.TraceTimeline;

/** A timeline that comes out of a file. Stateless; any thread. */
final class TimelineInput {

    private TimelineInput() {}

    /**
     * Reads a trace, whatever the file is called.
     *
     * @param file a file that can be read more than once
     * @return what it holds, to be closed
     * @throws IOException when it cannot be read, or is no trace; the message names the file
     */
    static TraceTimeline read(Path file) throws IOException {
        return switch (InputKind.of(file)) {
            case REPORT -> throw new IOException(file + " is a report: it holds sums, from which no timeline is made");
            case CHECKSUMS -> throw new IOException(file + " is a log of checksums, and no trace");
            case TRACE -> trace(file);
        };
    }

    private static TraceTimeline trace(Path file) throws IOException {
        try (InputBar bar = InputBar.of(file)) {
            return TraceReader.timeline(file, ReadOptions.defaults().withProgress(bar));
        }
    }
}
