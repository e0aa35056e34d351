package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Objects;
import org.brickprofiler.internal.io.InputFile;
import org.jspecify.annotations.Nullable;

/**
 * Reads traces into profiles and timelines: those of this library, and those of other programs.
 *
 * <p><b>Formats</b>, whatever the file is called, plain or packed with gzip: Chrome trace JSON, as PyTorch's Kineto and
 * many others write it, a bare array of events or an object with {@code traceEvents}; and Perfetto's format, as far as
 * a trace consists of track events (begin, end, instant, counter) in packets that are not compressed; whatever else is
 * in it is passed over; what TornadoVM's profiler writes, with a program's own output between its objects or without;
 * recordings of the Java Flight Recorder; and what Nsight Systems exports as an SQLite database, for which a JDBC
 * driver must be there, such as {@code org.xerial:sqlite-jdbc}.
 *
 * <p><b>Times</b> of Chrome's format are decimal microseconds, read exactly, half up below 1 ns. Those of Perfetto's
 * are brought to the clock that the trace names as its primary one.
 *
 * <p><b>What counts in a profile.</b> Where the trace marks events as the device's, those and no others: by the
 * categories of Kineto ({@code kernel}, {@code gpu_memcpy} and {@code gpu_memset}), of AMD's profilers
 * ({@code kernel_dispatch}, {@code memory_copy}) and of Intel's ({@code gpu_op}), or by a process or a track that is
 * named after a device, as {@code /device:GPU:0} of XLA and {@code GPU0} of AMD's tools; where such a device has
 * several rows for the same work, those that show it most finely, streams before operations. Otherwise every slice,
 * that is, complete events (phase X) and pairs of begin and end (B, E; in the order of the file an end belongs to the
 * last begin of its row that has none yet, as in Chrome's own viewer, and another name than that of the begin is a
 * fault, which is counted). Annotations, waits, flows and the like never do. Nothing counts twice: a slice that holds
 * others of its row counts with the time that they leave; see {@link Omission.Reason#OVERLAP} for slices that overlap
 * otherwise. Idle time is the wall time minus the union of all intervals. A trace without marked device events can draw
 * one interval on two rows; nothing shows that, and both count.
 *
 * <p><b>Where a name does not show the brick.</b> The built-in rules know a matrix product and an element-wise kernel,
 * but not to which brick it belongs. Where the trace marks the device's events, such a kernel counts by the module that
 * launched it, if rows of Python's functions name modules ({@code nn.Module: ...}) or an annotation is named after a
 * projection or a block ({@code layers.3.self_attn.q_proj}). Otherwise it counts by its place among the attentions,
 * norms and activations of its stream, as those of a decoder's layer follow each other. A product whose place fits no
 * layer remains {@code Gemm}, of category {@link org.brickprofiler.BrickCategory#MATRIX_PRODUCT}.
 * {@link TraceProfile#placements} lists what is known how, and which share of what was inferred lies in layers that
 * repeat. What the caller's own rules name is left alone, unless they name it as the built-in ones do.
 *
 * <p><b>In a profile of this library's own traces</b>, which name it as their producer, each span of a brick counts
 * with its whole duration, that of the bricks inside it too, so that names, categories, counts, totals, shortest and
 * longest durations and elements are those of the profiler. A brick that a device timed counts with the device's span,
 * and its launch on the host does not. Nothing else counts: layers, steps, tiles, and what an application added. Rules
 * do not apply; what a schedule marked as its warm-up is left out unless kept; steps can be skipped. The last duration
 * is that of the span that ended last, of several the longest. The profiler's own is another one where samples of a
 * brick were recorded at one reading of the clock, and where a synchronisation ended deferred measurements one by one.
 * A timeline holds no bytes, cycles or settings, no names beyond {@value Names#LONGEST} characters and no durations
 * beyond 39 hours; of several profilers with one recorder, it does not show whose a span is. Spans that were lost while
 * it was recorded are an {@link Omission.Reason#LOST_SPANS}.
 *
 * <p><b>In a profile of TornadoVM's task graphs</b> each execution of a task counts with the time of its kernel, by the
 * name of the task without that of its graph; rules see category {@code task} and the arguments {@code graph},
 * {@code METHOD}, {@code BACKEND} and {@code DEVICE}. Copies count with their bytes, and so does what dispatching took,
 * each under a brick of its own. Compilations are warm-up, and left out unless kept. Kernel times of a graph beyond
 * those of its tasks, as batches have them, are {@code FurtherKernels}. There are durations only: no timeline can be
 * made, and the wall time is the sum over the executions.
 *
 * <p><b>In a flight recording</b> the bricks are the {@code brick.Execution}s of {@code org.brickprofiler.jfr}, as in
 * this library's own traces, or else every event that lasts and is not the JDK's, by the name of its type, rules seeing
 * category {@code event} and its fields as arguments, and every {@code jdk.MethodTrace}, by the method's name, of
 * category {@code method}. {@code jdk.MethodTiming} has sums of methods, which are added to the profile, without
 * percentiles, and which are in none of the counts of events. {@link TraceProfile#virtualMachine} lays over the bricks
 * what the virtual machine did meanwhile, as far as the recording has it; a thread waits by its own events, all threads
 * by stops of the virtual machine.
 *
 * <p><b>In an export of Nsight Systems</b> kernels, copies and fills count as in Kineto's traces. Each belongs to the
 * innermost NVTX range that was open on the launching thread as its launch began; the launch is the call of the same
 * process with its correlation. {@link TraceProfile#ranges} adds them up, and rules see the range's name as the
 * argument {@code range}. A kernel that no rule matches counts as the brick that its range is named after, in the last
 * part of a name with points, colons or slashes. Ranges that end on another thread than they began on hold nothing.
 * CUDA graphs that were traced as one block are one event, and called so. What is known of launches stays in memory,
 * about 100 bytes for each, and an offset is the number of an event.
 *
 * <p><b>What a timeline holds.</b> Each thread is a track. Devices are tracks, and their streams tracks below them: in
 * Chrome's format where a process has events of the categories {@code kernel}, {@code gpu_memcpy}, {@code gpu_memset}
 * or {@code gpu_user_annotation}, is labelled {@code GPU n}, as Kineto does, or is named after a device; in Perfetto's
 * where spans have the annotation {@code device}. Slices keep name, category, times and nesting; moments, the values of
 * counters, and flows with two ends stay; of the arguments, {@code elements}, {@code layer}, {@code device_ns},
 * {@code device} and {@code stream} do. The threads of further processes bear the name of theirs. This library's own
 * traces come back as they were recorded, with few exceptions: in Chrome's format steps are called
 * {@code ProfilerStep#N} and times count from the first event; a Perfetto trace does not hold the numbers of streams,
 * which are taken from their names, nor what a device is and how much memory it has.
 *
 * <p><b>Nothing is omitted silently</b>: each result lists its {@linkplain Omission omissions}.
 *
 * <p><b>Memory</b> is bounded whatever the size of the trace: up to {@value EventStore#KEPT} events are kept, more go
 * to a temporary file, 64 bytes each; rows, steps and open slices are bounded by {@link ReadOptions.Limits}, the names
 * of a profile too, and those of a timeline by {@value TimelineBuilder#MOST_CHARACTERS} characters. The flows of a
 * timeline take a file in the same way, and two bits for each event.
 *
 * <p>Stateless; any thread. A file that is packed is unpacked by a daemon thread of its own, which ends with the
 * reading; everything else, progress too, happens on the calling thread.
 */
public final class TraceReader {

    private static final String STREAM = "the trace";

    private TraceReader() {}

    // ---- profiles ----

    /**
     * Reads the profile of a file with {@link ReadOptions#defaults()}.
     *
     * @param path the file
     * @return the profile, and what did not go into it
     * @throws TraceFormatException when the text is no trace, is damaged, or is beyond a limit
     * @throws IOException when the file cannot be read, or the temporary file cannot be written
     */
    public static TraceProfile profile(Path path) throws IOException {
        Objects.requireNonNull(path, "path");
        return profile(path, ReadOptions.defaults());
    }

    /**
     * Reads the profile of a file.
     *
     * @param path the file
     * @param options how to read it
     * @return the profile, and what did not go into it
     * @throws TraceFormatException when the text is no trace, is damaged, is beyond a limit, or has fewer steps than
     *     are to be skipped
     * @throws IOException when the file cannot be read, or the temporary file cannot be written
     */
    public static TraceProfile profile(Path path, ReadOptions options) throws IOException {
        Objects.requireNonNull(options, "options");
        return file(path, (bytes, size) -> profile(bytes, path, size, path.toString(), options));
    }

    /**
     * Reads the profile of a stream up to its end.
     *
     * @param trace the bytes of a file; left open
     * @param options how to read it
     * @return the profile, and what did not go into it
     * @throws TraceFormatException as above
     * @throws IOException when the stream cannot be read, or the temporary file cannot be written
     */
    public static TraceProfile profile(InputStream trace, ReadOptions options) throws IOException {
        return profile(trace, STREAM, options);
    }

    /**
     * Reads the profile of a stream up to its end.
     *
     * @param trace the bytes of a file; left open
     * @param source what to call it in messages, for example {@code "the standard input"}
     * @param options how to read it
     * @return the profile, and what did not go into it
     * @throws TraceFormatException as above
     * @throws IOException when the stream cannot be read, or the temporary file cannot be written
     */
    public static TraceProfile profile(InputStream trace, String source, ReadOptions options) throws IOException {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(trace, "trace");
        return profile(trace, null, ReadOptions.Progress.UNKNOWN, source, options);
    }

    private static TraceProfile profile(
            InputStream bytes, @Nullable Path file, long size, String source, ReadOptions options) throws IOException {
        try (ProfileBuilder builder = new ProfileBuilder(source, options)) {
            parse(bytes, file, size, builder, options);
            return builder.profile();
        }
    }

    // ---- timelines ----

    /**
     * Reads the timeline of a file. The options' rules, steps and warm-up do not matter.
     *
     * @param path the file
     * @param options how to read it
     * @return the timeline, to be closed, and what did not go into it
     * @throws TraceFormatException when the text is no trace, is damaged, or is beyond a limit
     * @throws IOException when the file cannot be read, or the temporary file cannot be written
     */
    public static TraceTimeline timeline(Path path, ReadOptions options) throws IOException {
        Objects.requireNonNull(options, "options");
        return file(path, (bytes, size) -> timeline(bytes, path, size, path.toString(), options, EventStore.KEPT));
    }

    /**
     * Reads the timeline of a stream up to its end. The options' rules, steps and warm-up do not matter.
     *
     * @param trace the bytes of a file; left open
     * @param options how to read it
     * @return the timeline, to be closed, and what did not go into it
     * @throws TraceFormatException as above
     * @throws IOException when the stream cannot be read, or the temporary file cannot be written
     */
    public static TraceTimeline timeline(InputStream trace, ReadOptions options) throws IOException {
        return timeline(trace, STREAM, options);
    }

    /**
     * Reads the timeline of a stream up to its end. The options' rules, steps and warm-up do not matter.
     *
     * @param trace the bytes of a file; left open
     * @param source what to call it in messages, for example {@code "the standard input"}
     * @param options how to read it
     * @return the timeline, to be closed, and what did not go into it
     * @throws TraceFormatException as above
     * @throws IOException when the stream cannot be read, or the temporary file cannot be written
     */
    public static TraceTimeline timeline(InputStream trace, String source, ReadOptions options) throws IOException {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(trace, "trace");
        return timeline(trace, null, ReadOptions.Progress.UNKNOWN, source, options, EventStore.KEPT);
    }

    /** The same with so many events in memory. */
    static TraceTimeline timeline(InputStream trace, ReadOptions options, int mostKept) throws IOException {
        return timeline(trace, null, ReadOptions.Progress.UNKNOWN, STREAM, options, mostKept);
    }

    private static TraceTimeline timeline(
            InputStream bytes, @Nullable Path file, long size, String source, ReadOptions options, int mostKept)
            throws IOException {
        TimelineBuilder builder = new TimelineBuilder(source, options.limits(), mostKept);
        try {
            parse(bytes, file, size, builder, options);
            return builder.timeline();
        } catch (IOException | RuntimeException | Error failed) {
            builder.close();
            throw failed;
        }
    }

    // ---- both ----

    /** Reads something of the bytes of a file, of which the size is known. */
    private interface Reading<T> {
        T read(InputStream bytes, long size) throws IOException;
    }

    private static <T> T file(Path path, Reading<T> reading) throws IOException {
        Objects.requireNonNull(path, "path");
        try (InputStream file = InputFile.open(path)) {
            return reading.read(file, Files.size(path));
        }
    }

    private static void parse(
            InputStream bytes, @Nullable Path file, long size, EventCollector collector, ReadOptions options)
            throws IOException {
        try (BufferedInputStream text = TraceInput.text(bytes, size, collector.source, options.progress())) {
            parse(text, file, collector, options);
        } catch (TraceFormatException fault) {
            if (collector.eventsRead() == 0) {
                throw fault.withNothingBefore();
            }
            if (!options.salvage() || !fault.isDamage()) {
                throw fault;
            }
            collector.omissions.damage(fault.fault(), fault.offset());
            collector.end(fault.offset());
        }
    }

    private static void parse(
            BufferedInputStream text, @Nullable Path file, EventCollector collector, ReadOptions options)
            throws IOException {
        ReadOptions.Limits limits = options.limits();
        switch (TraceInput.format(text, collector.source)) {
            case CHROME -> chrome(text, collector, limits);
            case SQLITE -> whole(text, file, collector, options.progress(), NsightReader::read);
            case FLIGHT_RECORDING ->
                whole(
                        text,
                        file,
                        collector,
                        options.progress(),
                        (recording, events, progress) -> FlightRecordingReader.read(recording, events));
            case PERFETTO -> PerfettoParser.parse(text, limits, collector);
            case TORNADO_VM -> TornadoParser.parse(text, limits, collector);
        }
    }

    /** Reads a file that is not read from its beginning to its end. */
    private interface FileReading {
        void read(Path file, EventCollector collector, ReadOptions.Progress progress) throws IOException;
    }

    /**
     * Such a file is read where it lies; one that is packed, or comes from elsewhere, goes to a temporary file first.
     */
    private static void whole(
            InputStream text,
            @Nullable Path file,
            EventCollector collector,
            ReadOptions.Progress progress,
            FileReading reading)
            throws IOException {
        if (file != null && TraceInput.isUnpacked(file)) {
            reading.read(file, collector, progress);
            return;
        }
        Path copy = Files.createTempFile("brick-trace-", ".tmp");
        try {
            Files.copy(text, copy, StandardCopyOption.REPLACE_EXISTING);
            reading.read(copy, collector, (bytesRead, totalBytes) -> {});
        } catch (TraceInput.DamagedException damaged) {
            throw new TraceFormatException(collector.source, 0, String.valueOf(damaged.getMessage()), damaged);
        } finally {
            Files.deleteIfExists(copy);
        }
    }

    private static void chrome(BufferedInputStream text, EventCollector collector, ReadOptions.Limits limits)
            throws IOException {
        Utf8Repair utf8 = TraceInput.isUtf8(text) ? new Utf8Repair(text) : null;
        try {
            ChromeParser.parse(utf8 == null ? text : utf8, limits, collector);
        } finally {
            if (utf8 != null && utf8.replaced() > 0) {
                collector.omissions.fault(Omission.Reason.INVALID_UTF8, utf8.replaced(), utf8.firstOffset());
            }
        }
    }
}
