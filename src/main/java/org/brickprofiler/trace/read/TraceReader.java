package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.brickprofiler.internal.io.AtomicFile;

/**
 * Reads traces into profiles: those of this library, and those of other programs.
 *
 * <p><b>Formats</b>, whatever the file is called, plain or packed with gzip: Chrome trace JSON, as PyTorch's Kineto and
 * many others write it, a bare array of events or an object with {@code traceEvents}; and Perfetto's format, as far as
 * a trace consists of track events (begin, end, instant, counter) in packets that are not compressed; whatever else is
 * in it is passed over.
 *
 * <p><b>This library's own traces</b> name it as their producer. Each span of a brick counts with its whole duration,
 * that of the bricks inside it too, so that names, categories, counts, totals, shortest and longest durations and
 * elements are those of the profiler. A brick that a device timed counts with the device's span, as in the profiler, and
 * its launch on the host does not. Nothing else counts: layers, steps, tiles, and what an application added, of a device
 * too, never do. Rules do not apply; what a schedule marked as its warm-up is left out unless kept; steps can be skipped.
 * The last duration is that of the span that ended
 * last, of several the longest. The profiler's own is another one where samples of a brick were recorded at one reading
 * of the clock, and where a synchronisation ended deferred measurements one by one. A timeline holds no bytes, cycles
 * or settings, no names beyond {@value Names#LONGEST} characters and no durations beyond 39 hours; of several profilers
 * with one recorder, it does not tell whose a span is. Spans that were lost while it was recorded are a
 * {@link Repair.Kind#LOST_SPANS}.
 *
 * <p><b>What counts of other traces.</b> Where the trace marks events as the device's (the categories {@code kernel},
 * {@code gpu_memcpy} and {@code gpu_memset}), those and no others. Otherwise every slice, that is, complete events
 * (phase X) and pairs of begin and end (B, E; matched in the order of the file). Annotations, waits, flows and the like
 * never do; {@link IgnoredReason} lists them.
 *
 * <p><b>Nothing counts twice</b> there. A slice that holds others of its row counts with the time that they leave; see
 * {@link Repair.Kind#OVERLAP} for slices that overlap otherwise. Idle time is the wall time minus the union of all
 * intervals. A trace without marked device events can draw one interval on two rows; nothing tells, and both count.
 *
 * <p><b>Times</b> of Chrome's format are decimal microseconds, read exactly, half up below 1 ns.
 * Those of Perfetto's are brought to the clock that the trace names as its primary one.
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
        Objects.requireNonNull(path, "path");
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
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(path, "path");
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
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(trace, "trace");
        return read(trace, ReadProgress.UNKNOWN, STREAM, options);
    }

    private static TraceReading read(InputStream bytes, long totalBytes, String source, ReadOptions options)
            throws IOException {
        BufferedInputStream text = TraceInput.text(bytes, totalBytes, options.progress());
        try (TraceCollector collector = new TraceCollector(source, options)) {
            if (TraceInput.isPerfetto(text, source)) {
                PerfettoParser.parse(text, source, options.limits(), collector);
            } else {
                TraceParser.parse(text, source, options.limits(), collector);
            }
            return TraceAnalysis.of(collector, options);
        }
    }
}
