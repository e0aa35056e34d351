package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.trace.Timeline;

/**
 * Reads traces into timelines: to write them in another format, or to look at what happened when.
 *
 * <p><b>Formats</b> are those of {@link TraceReader}, recognised by content: Chrome trace JSON, of this library, of
 * PyTorch's Kineto and of others, and Perfetto's format as far as it consists of track events.
 *
 * <p><b>What becomes of a trace.</b> Each thread is a track. Devices are tracks, and their streams tracks below them:
 * in Chrome's format where a process has events of the categories {@code kernel}, {@code gpu_memcpy},
 * {@code gpu_memset} or {@code gpu_user_annotation} or is labelled {@code GPU n}, as Kineto does; in Perfetto's where
 * spans have the annotation {@code device}. Slices keep name, category, times and nesting; moments, the values of
 * counters, and flows with two ends stay; of the arguments, {@code elements}, {@code layer}, {@code device_ns},
 * {@code device} and {@code stream} do. The threads of further processes bear the name of theirs. Everything else is
 * counted as a {@link Loss}, and what is faulty as a {@link Repair}: nothing is left behind silently.
 *
 * <p><b>This library's own traces</b> come back as they were recorded, with few exceptions: in Chrome's format steps
 * are called {@code ProfilerStep#N} and times count from the first event; a Perfetto trace does not hold the numbers of
 * streams, which are taken from their names, nor what a device is and how much memory it has.
 *
 * <p><b>Memory</b> is 40 bytes an event, about 100 more for each flow, and the names, each once. A trace of more than
 * {@value #MOST_EVENTS} events is refused, or of more than one for each {@value #HEAP_BYTES_AN_EVENT} bytes of heap;
 * rows, names and open slices are bounded too.
 *
 * <p>Stateless; any thread.
 */
public final class TimelineReader {

    /** The most events of a timeline, where the heap has room for them. */
    public static final int MOST_EVENTS = 64_000_000;

    /** What there has to be of heap for an event: its columns, its place, a flow now and then, and room to work. */
    static final int HEAP_BYTES_AN_EVENT = 96;

    private static final String STREAM = "the trace";

    private TimelineReader() {}

    /**
     * Reads a file.
     *
     * @param path the file
     * @param progress is told how far the reading has come
     * @return the timeline, and what did not go into it
     * @throws TraceFormatException when the text is no trace, is damaged, or is beyond a limit
     * @throws IOException when the file cannot be read
     */
    public static TimelineReading read(Path path, ReadProgress progress) throws IOException {
        Objects.requireNonNull(progress, "progress");
        Objects.requireNonNull(path, "path");
        try (InputStream file = Files.newInputStream(path)) {
            return read(file, Files.size(path), path.toString(), progress, mostEvents(Runtime.getRuntime().maxMemory()));
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
     * @return the timeline, and what did not go into it
     * @throws TraceFormatException as above
     * @throws IOException when the stream cannot be read
     */
    public static TimelineReading read(InputStream trace) throws IOException {
        Objects.requireNonNull(trace, "trace");
        return read(trace, mostEvents(Runtime.getRuntime().maxMemory()));
    }

    /** The same with so many events at most. */
    static TimelineReading read(InputStream trace, int mostEvents) throws IOException {
        return read(trace, ReadProgress.UNKNOWN, STREAM, (bytesRead, totalBytes) -> {}, mostEvents);
    }

    /** How many events fit a heap of that size. */
    static int mostEvents(long heapBytes) {
        return (int) Math.min(MOST_EVENTS, heapBytes / HEAP_BYTES_AN_EVENT);
    }

    private static TimelineReading read(
            InputStream bytes, long totalBytes, String source, ReadProgress progress, int mostEvents)
            throws IOException {
        ReadLimits limits = ReadLimits.DEFAULT;
        BufferedInputStream text = TraceInput.text(bytes, totalBytes, progress);
        boolean isPerfetto = TraceInput.isPerfetto(text, source);
        TimelineCollector collector = new TimelineCollector(source, limits, mostEvents, isPerfetto);
        if (isPerfetto) {
            PerfettoParser.parse(text, source, limits, collector);
        } else {
            TraceParser.parse(text, source, limits, collector);
        }
        return collector.reading();
    }
}
