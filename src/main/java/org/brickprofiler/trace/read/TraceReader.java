package org.brickprofiler.trace.read;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.brickprofiler.io.AtomicFile;

/**
 * Reads traces of other programs into profiles: Chrome trace JSON, as PyTorch's Kineto and many others write it. The
 * text is a bare array of events or an object with {@code traceEvents}, plain or packed with gzip, whatever the file is
 * called.
 *
 * <p><b>What counts.</b> Where the trace marks events as the device's (the categories {@code kernel},
 * {@code gpu_memcpy} and {@code gpu_memset}), those and no others. Otherwise every slice, that is, complete events
 * (phase X) and pairs of begin and end (B, E; matched in the order of the file). Annotations, waits, flows and the like
 * never do; {@link IgnoredReason} lists them.
 *
 * <p><b>Nothing counts twice.</b> A slice that holds others of its row counts with the time that they leave; see
 * {@link Repair.Kind#OVERLAP} for slices that overlap otherwise. Idle time is the wall time minus the union of all
 * intervals. A trace without marked device events can draw one interval on two rows; nothing tells, and both count.
 *
 * <p><b>Times</b> are decimal microseconds, read exactly, half up below 1 ns.
 *
 * <p><b>Memory</b> is bounded whatever the size of the trace: up to 65,536 events are kept, more go to a temporary
 * file, 40 bytes each; names, rows, steps and open slices are bounded by {@link ReadLimits}. The reading takes one pass
 * over the text and at most two over the events.
 *
 * <p>Stateless; any thread.
 */
public final class TraceReader {

    private static final String STREAM = "the trace";

    private TraceReader() {}

    /**
     * Reads a file with {@link ReadOptions#defaults()}.
     *
     * @param path the file
     * @return the profile, and what did not go into it
     * @throws TraceFormatException when the text is no trace, is damaged, or is beyond a limit
     * @throws IOException when the file cannot be read, or the temporary file cannot be written
     */
    public static TraceReading read(Path path) throws IOException {
        return read(path, ReadOptions.defaults());
    }

    /**
     * Reads a file.
     *
     * @param path the file
     * @param options how to read it
     * @return the profile, and what did not go into it
     * @throws TraceFormatException when the text is no trace, is damaged, is beyond a limit, or has fewer steps than
     *     are to be skipped
     * @throws IOException when the file cannot be read, or the temporary file cannot be written
     */
    public static TraceReading read(Path path, ReadOptions options) throws IOException {
        try (InputStream file = Files.newInputStream(path)) {
            return read(file, Files.size(path), path.toString(), options);
        } catch (TraceFormatException malformed) {
            throw malformed;
        } catch (IOException failed) {
            throw new IOException("cannot read " + path + ": " + AtomicFile.reason(failed), failed);
        }
    }

    /**
     * Reads a stream up to its end.
     *
     * @param trace the bytes of a file; left open
     * @param options how to read it
     * @return the profile, and what did not go into it
     * @throws TraceFormatException as above
     * @throws IOException when the stream cannot be read, or the temporary file cannot be written
     */
    public static TraceReading read(InputStream trace, ReadOptions options) throws IOException {
        return read(trace, ReadProgress.UNKNOWN, STREAM, options);
    }

    private static TraceReading read(InputStream bytes, long totalBytes, String source, ReadOptions options)
            throws IOException {
        InputStream text = TraceInput.text(bytes, totalBytes, options.progress());
        try (TraceCollector collector = new TraceCollector(source, options)) {
            TraceParser.parse(text, source, options.limits(), collector);
            return TraceAnalysis.of(collector, options);
        }
    }
}
