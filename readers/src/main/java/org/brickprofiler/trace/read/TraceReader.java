package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.internal.io.TemporaryFiles;
import org.jspecify.annotations.Nullable;

/**
 * Reads traces of this library and of other programs into profiles and timelines.
 *
 * <p><b>Formats</b> are recognised by content, plain or compressed by gzip. The reader accepts:
 *
 * <ul>
 *   <li>Chrome trace JSON, as PyTorch's Kineto and many others write it: an array of events or an object with
 *       {@code traceEvents};
 *   <li>Perfetto's format: track events (begin, end, instant, counter) in packets that are not compressed. The reader
 *       skips other packets;
 *   <li>the profiles of sessions of ONNX Runtime, which have the form of Chrome's;
 *   <li>the output of TornadoVM's profiler, also with a program's own output between its objects;
 *   <li>recordings of the Java Flight Recorder;
 *   <li>SQLite exports of Nsight Systems. They need a JDBC driver on the class path, such as
 *       {@code org.xerial:sqlite-jdbc};
 *   <li>profiles of XLA, which JAX and TensorFlow write: XSpaces ({@code *.xplane.pb}), and the JSON beside them;
 *   <li>profiles of AMD's tools: databases of rocmProfileData, rocprofv3 and rocprof, tables (CSV) of rocprofv3 and
 *       rocprof, and the JSON of rocprofv3. Databases need the driver, and tables need commons-csv.
 * </ul>
 *
 * <p><b>Times.</b> Chrome's format has decimal microseconds. They are read exactly and rounded half up to 1 ns. Times
 * of Perfetto's format are converted to the primary clock of the trace. An event longer than 10 years, after the year
 * 2199, more than 62 years before the 0 of its clock, or with more than 2<sup>53</sup> bytes or elements is dropped, as
 * is an {@linkplain Omission.Reason#OTHER_CLOCK event of another clock}.
 *
 * <p><b>Counted events.</b> If the trace marks events as the device's, a profile counts only those. The marks are the
 * categories of Kineto ({@code kernel}, {@code gpu_memcpy} and {@code gpu_memset}), of AMD's profilers
 * ({@code kernel_dispatch}, {@code memory_copy}) and of Intel's ({@code gpu_op}), or the name of a process or a track,
 * such as {@code /device:GPU:0} of XLA, {@code GPU0} of AMD's tools and {@code CUDA functions} of PyTorch's older
 * profiler. If such a device has several rows for the same work, the finest ones count, streams before operations.
 * Otherwise every slice counts: complete events (phase X) and pairs of begin and end (B, E). As in Chrome's own viewer,
 * an end belongs to the last open begin of its row, in the order of the file; an end with another name than its begin
 * is counted as a fault. Annotations, waits and flows never count. Nested slices of a row count with their self times,
 * so no time counts twice; see {@link Omission.Reason#OVERLAP} for slices of a thread that overlap without nesting.
 * Idle time is the wall time minus the union of all intervals. Without marked device events, an interval drawn on two
 * rows counts twice; that cannot be detected.
 *
 * <p><b>Names that do not show the brick.</b> The built-in rules recognise matrix products and element-wise kernels,
 * but not their bricks. If the trace marks the device's events, such a kernel counts by the module that launched it, if
 * rows of Python's functions name modules ({@code nn.Module: ...}) or an annotation is named after a projection or a
 * block ({@code layers.3.self_attn.q_proj}). Otherwise it counts by its place among the attentions, norms and
 * activations of its stream, which follow each other as in a decoder's layer. A product whose place fits no layer
 * remains {@code Gemm}, of category {@link org.brickprofiler.BrickCategory#MATRIX_PRODUCT}.
 * {@link TraceProfile#placements} lists the evidence for each brick, and the share of inferred events that lies in
 * layers that repeat. Bricks named by the caller's own rules stay, unless the built-in rules give the same name.
 *
 * <p><b>In a profile of this library's own traces</b>, which name it as their producer, each span of a brick counts
 * with its whole duration, nested bricks included, so that names, categories, counts, totals, shortest and longest
 * durations and elements equal those of the profiler. A brick that a device timed counts with the device's span, and
 * its launch on the host does not. Nothing else counts: neither layers, steps and tiles nor an application's own
 * slices. Rules do not apply. Events in the warm-up of a schedule are left out unless kept, and steps can be skipped.
 * The last duration is that of the span that ended last; of several such spans, the longest. The profiler's last
 * duration may differ if samples of a brick were recorded at one reading of the clock, or if a synchronisation ended
 * deferred measurements one by one. Each sample has the phase in which the profiler counted it; in files of versions
 * that did not state phases it is {@linkplain Omission.Reason#NO_KNOWN_PHASE unknown}. A timeline holds no bytes,
 * cycles or settings, and no names beyond {@value TraceNames#LONGEST} characters. If several profilers share one
 * recorder, the timeline does not show which profiler recorded a span. Spans that were lost during recording are an
 * {@link Omission.Reason#LOST_SPANS}.
 *
 * <p><b>In a profile of ONNX Runtime</b> each node counts with its self time, by its path or else by its operator.
 * Rules see category {@code Node} and the arguments {@code op_name}, {@code provider} and {@code types}. The runs of
 * the model are its steps, and their union is the wall time; see {@link ReadOptions#keepWarmup} for the first run.
 * Nodes outside of the runs are left out. {@link TraceProfile#loading} lists the loading of the model before the first
 * run.
 *
 * <p><b>In a trace of PyTorch without a device</b> operators count with their self times. If functions of Python name
 * modules, a product counts by the module around it. Types and shapes of the operands give the work of matrix products,
 * here and in profiles of ONNX Runtime; a timeline does not keep them.
 *
 * <p><b>In a profile of TornadoVM's task graphs</b> each execution of a task counts with the time of its kernel, by the
 * name of the task without that of its graph; rules see category {@code task} and the arguments {@code graph},
 * {@code METHOD}, {@code BACKEND} and {@code DEVICE}. Copies count with their bytes, and dispatching counts with its
 * time, each under a brick of its own. Compilations are warm-up, and left out unless kept. If a graph has more kernel
 * time than its tasks, as with tasks that run in batches, the rest is {@code FurtherKernels}. The profiler records
 * durations only, so there is no timeline, and the wall time is the sum over the executions.
 *
 * <p><b>In a flight recording</b> the bricks are the {@code brick.Execution} events of {@code org.brickprofiler.jfr},
 * as in this library's own traces. If there are none, two kinds of events count: events with a duration whose type is
 * not the JDK's, by the name of the type, and {@code jdk.MethodTrace}, by the name of the method. Rules see category
 * {@code event} with the fields as arguments, and category {@code method}. {@code jdk.MethodTiming} adds sums of
 * methods to the profile. They have no percentiles, and no count of events includes them.
 * {@link TraceProfile#virtualMachine} shows the activity of the virtual machine during the bricks, as far as it was
 * recorded: waits of a thread concern its own bricks, and stops of the virtual machine concern all threads.
 *
 * <p><b>In an export of Nsight Systems</b> kernels, copies and fills count as in Kineto's traces. Each belongs to the
 * innermost NVTX range that was open on the launching thread as its launch began; the launch is the call of the same
 * process with its correlation. {@link TraceProfile#ranges} adds them up, and rules see the range's name as the
 * argument {@code range}. A kernel that no rule matches counts as the brick whose name is the name of its range, or the
 * part of that name after the last point, colon or slash. A range that ends on another thread than it began on contains
 * no launches. A CUDA graph that was traced as one block is one event, whose name says so. The launches stay in memory,
 * about 100 bytes each. An offset is the number of an event.
 *
 * <p><b>In a profile of XLA</b> the rows of devices count by their names, as above. If no device has work, the
 * operations of compiled programs on the processor count alone. The name of an operation consists of its kernel and its
 * scope, {@code KERNEL @ SCOPE}. The scope comes from the arguments of the event or from the compiled program. Rules
 * see category {@code hlo_op} and XLA's arguments. Times in picoseconds are rounded to 1 ns at starts and ends.
 *
 * <p><b>In a profile of AMD's tools</b> kernels, copies and fills count, and calls of the host do not. Work belongs to
 * the innermost marker around its launch, which is the call with the same correlation. {@link TraceProfile#ranges} and
 * the argument {@code range} show the marker like an NVTX range. The kernels of a graph belong to the launch of the
 * graph. rocprofv3 writes a table for each domain; the tables of one process may follow one another in one text.
 *
 * <p><b>Contents of a timeline.</b> Each thread is a track. Each device is a track, and its streams are tracks below
 * it. In Chrome's format, a process is a device if it has events of the categories {@code kernel}, {@code gpu_memcpy},
 * {@code gpu_memset} or {@code gpu_user_annotation}, if its label is {@code GPU n}, as Kineto writes it, or if it is
 * named after a device. In Perfetto's format, spans on a device have the annotation {@code device}. A timeline keeps
 * slices with name, category, times and nesting, moments, the values of counters, flows with two ends, and the
 * arguments {@code elements}, {@code layer}, {@code device_ns}, {@code device} and {@code stream}. The names of threads
 * of further processes begin with the name of their process. This library's own traces come back as they were recorded,
 * with these exceptions: in Chrome's format, steps that are named {@code step} are called {@code ProfilerStep#N} or
 * after their phase, and times count from the first event. A Perfetto trace holds neither the names and memory sizes of
 * devices nor the numbers of streams, which are derived from the streams' names.
 *
 * <p><b>Nothing is omitted silently</b>: each result lists its {@linkplain Omission omissions}.
 *
 * <p><b>Memory</b> is bounded for traces of any size. Up to {@value EventStore#KEPT} events stay in memory; further
 * events go to a temporary file, 64 bytes each. {@link ReadOptions.Limits} bounds rows, steps, open slices and the
 * names of a profile; the names of a timeline take at most {@value TimelineCollector#MOST_CHARACTERS} characters. The
 * flows of a timeline go to a file in the same way, and take two bits of memory for each event.
 *
 * <p>Stateless; any thread. A daemon thread decompresses a file while it is read, and ends with the reading. The
 * calling thread does everything else, and reports the progress.
 */
public final class TraceReader {

    /** The formats of traces, for messages and help: a list in one sentence, without a period. */
    public static final String FORMATS =
            "a Chrome or Perfetto trace, a profile of ONNX Runtime, of XLA (.xplane.pb) or of AMD's tools (.rpd, rocprofv3), "
                    + "a flight recording, an SQLite export of Nsight Systems, or a file of sums: the output of "
                    + "TornadoVM's profiler or of llama.cpp's Vulkan logger, a profile of trtexec, CSV of nsys stats, a "
                    + "summary of unitrace";

    private static final String STREAM = "the trace";

    private TraceReader() {}

    // ---- summaries ----

    /** The phases, requests or runs that another program sums up, in a file without bricks. Immutable. */
    public interface Summary {

        /**
         * Returns the program that wrote the file.
         *
         * @return for example {@code "llama-bench"}
         */
        String program();

        /**
         * Returns the summary as text for a console.
         *
         * @return printable ASCII, with {@code "\n"} at the end of each line, in every locale
         */
        String text();

        /**
         * Returns the summary as JSON: {@code program}, {@code has_bricks} (true if another file of the run has its
         * bricks), {@code facts}, and a list of objects for each table. Times are in ns; a value that the file does not
         * state is null.
         *
         * @return indented JSON that ends with a line break
         */
        String toJson();

        /**
         * Returns the values that {@link #toJson} writes: strings, numbers, truth values, null, and lists and maps of
         * these.
         *
         * @return the values in the order of the JSON; immutable
         */
        Map<String, ?> values();
    }

    /**
     * Returns whether a file is a summary that {@link #summary} reads.
     *
     * @param head its first bytes, compressed by gzip or not
     * @return true for a summary; false for a trace, even one among the lines of a log
     */
    public static boolean isSummary(byte[] head) {
        return RunSummary.begins(head);
    }

    /**
     * Reads a summary: the JSON of llama-bench and of {@code vllm bench serve}, responses of Ollama, the times of
     * TensorRT's {@code trtexec}, or a log of llama.cpp.
     *
     * @param bytes the file, compressed by gzip or not; left open
     * @param source its name in messages
     * @return the summary
     * @throws TraceFormatException when it is no summary, is damaged, or contradicts itself
     * @throws IOException when it cannot be read
     */
    public static Summary summary(InputStream bytes, String source) throws IOException {
        Objects.requireNonNull(bytes, "bytes");
        Objects.requireNonNull(source, "source");
        return InputFile.guarded(source, () -> RunSummary.read(bytes, source));
    }

    // ---- profiles ----

    /**
     * Reads the profile of a file with {@link ReadOptions#defaults()}.
     *
     * @param path the file
     * @return the profile and its omissions
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
     * @return the profile and its omissions
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
     * @return the profile and its omissions
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
     * @param source its name in messages, for example {@code "the standard input"}
     * @param options how to read it
     * @return the profile and its omissions
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
            builder.head.requireWork();
            return result(builder, builder::profile);
        }
    }

    // ---- profiles with their timelines ----

    /**
     * The profile and the timeline of a trace, read in one pass. The spans that the profile of another program's trace
     * counts have their {@linkplain org.brickprofiler.trace.Timeline#bricks bricks}.
     *
     * @param profile the profile
     * @param timeline the timeline; empty if the trace has {@linkplain TraceProfile.Counting#hasTimes no times}, as in
     *     the output of TornadoVM's profiler and in tables of sums
     */
    public record Contents(TraceProfile profile, Optional<TraceTimeline> timeline) implements Closeable {

        /** Rejects null. */
        public Contents {
            Objects.requireNonNull(profile, "profile");
            Objects.requireNonNull(timeline, "timeline");
        }

        /**
         * Closes the timeline.
         *
         * @throws IOException when its temporary file cannot be deleted
         */
        @Override
        public void close() throws IOException {
            if (timeline.isPresent()) {
                timeline.get().close();
            }
        }
    }

    /**
     * Reads the profile and the timeline of a file in one pass over it.
     *
     * @param path the file
     * @param options how to read it; rules, steps and warm-up matter for the profile only
     * @return the profile and the timeline, to be closed
     * @throws TraceFormatException when the text is no trace, is damaged, is beyond a limit, or has fewer steps than
     *     are to be skipped
     * @throws IOException when the file cannot be read, or a temporary file cannot be written
     */
    public static Contents read(Path path, ReadOptions options) throws IOException {
        Objects.requireNonNull(options, "options");
        return file(path, (bytes, size) -> read(bytes, path, size, path.toString(), options));
    }

    /**
     * Reads the profile and the timeline of a stream in one pass over it.
     *
     * @param trace the bytes of a file; left open
     * @param source its name in messages, for example {@code "the standard input"}
     * @param options how to read it; rules, steps and warm-up matter for the profile only
     * @return the profile and the timeline, to be closed
     * @throws TraceFormatException as above
     * @throws IOException when the stream cannot be read, or a temporary file cannot be written
     */
    public static Contents read(InputStream trace, String source, ReadOptions options) throws IOException {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(trace, "trace");
        return read(trace, null, ReadOptions.Progress.UNKNOWN, source, options);
    }

    private static Contents read(InputStream bytes, @Nullable Path file, long size, String source, ReadOptions options)
            throws IOException {
        try (ProfileBuilder profile = new ProfileBuilder(source, options)) {
            TimelineCollector timeline = new TimelineCollector(profile.head, options.limits(), EventStore.KEPT);
            CountedSpans counted = new CountedSpans(profile.rows, profile.names);
            try {
                profile.counted = counted;
                profile.andThen(timeline);
                parse(bytes, file, size, profile, options);
                profile.head.requireWork();
                TraceProfile sums = result(profile, profile::profile);
                if (!sums.counting().hasTimes()) {
                    close(timeline, counted);
                    return new Contents(sums, Optional.empty());
                }
                return new Contents(sums, Optional.of(result(timeline, () -> timeline.timeline(counted))));
            } catch (IOException | RuntimeException | Error failed) {
                close(timeline, counted);
                throw failed;
            }
        }
    }

    private static void close(TimelineCollector timeline, CountedSpans counted) throws IOException {
        try (counted) {
            timeline.close();
        }
    }

    // ---- timelines ----

    /**
     * Reads the timeline of a file. Rules, steps and warm-up of the options do not matter.
     *
     * @param path the file
     * @param options how to read it
     * @return the timeline, to be closed, and its omissions
     * @throws TraceFormatException when the text is no trace, is damaged, or is beyond a limit
     * @throws IOException when the file cannot be read, or the temporary file cannot be written
     */
    public static TraceTimeline timeline(Path path, ReadOptions options) throws IOException {
        Objects.requireNonNull(options, "options");
        return file(path, (bytes, size) -> timeline(bytes, path, size, path.toString(), options, EventStore.KEPT));
    }

    /**
     * Reads the timeline of a stream up to its end. Rules, steps and warm-up of the options do not matter.
     *
     * @param trace the bytes of a file; left open
     * @param options how to read it
     * @return the timeline, to be closed, and its omissions
     * @throws TraceFormatException as above
     * @throws IOException when the stream cannot be read, or the temporary file cannot be written
     */
    public static TraceTimeline timeline(InputStream trace, ReadOptions options) throws IOException {
        return timeline(trace, STREAM, options);
    }

    /**
     * Reads the timeline of a stream up to its end. Rules, steps and warm-up of the options do not matter.
     *
     * @param trace the bytes of a file; left open
     * @param source its name in messages, for example {@code "the standard input"}
     * @param options how to read it
     * @return the timeline, to be closed, and its omissions
     * @throws TraceFormatException as above
     * @throws IOException when the stream cannot be read, or the temporary file cannot be written
     */
    public static TraceTimeline timeline(InputStream trace, String source, ReadOptions options) throws IOException {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(trace, "trace");
        return timeline(trace, null, ReadOptions.Progress.UNKNOWN, source, options, EventStore.KEPT);
    }

    /** Reads a timeline of a stream and keeps at most this number of events in memory. */
    static TraceTimeline timeline(InputStream trace, ReadOptions options, int mostKept) throws IOException {
        return timeline(trace, null, ReadOptions.Progress.UNKNOWN, STREAM, options, mostKept);
    }

    private static TraceTimeline timeline(
            InputStream bytes, @Nullable Path file, long size, String source, ReadOptions options, int mostKept)
            throws IOException {
        TimelineCollector builder = new TimelineCollector(new TraceHead(source), options.limits(), mostKept);
        try {
            parse(bytes, file, size, builder, options);
            return result(builder, () -> builder.timeline(null));
        } catch (IOException | RuntimeException | Error failed) {
            builder.close();
            throw failed;
        }
    }

    // ---- several files ----

    /**
     * Opens the files of one run as one text for the methods above: the tables that AMD's rocprofv3 wrote for one
     * process, one for each domain; or the profile and the times that TensorRT's {@code trtexec} wrote, whose times
     * become {@link TraceProfile#runs}.
     *
     * @param files tables, one folder that contains them, or a profile and times, in any order; plain or compressed by
     *     gzip
     * @return the text, to be closed
     * @throws IOException when a file is none of these, when the names of tables are those of several processes, or
     *     when a file cannot be read
     * @throws IllegalArgumentException when the list is empty
     */
    public static InputStream together(List<Path> files) throws IOException {
        Objects.requireNonNull(files, "files");
        if (files.isEmpty()) {
            throw new IllegalArgumentException("files is empty");
        }
        return InputFile.guarded(files.get(0).toString(), () -> {
            Optional<InputStream> profileWithTimes = TensorRtParser.open(files);
            return profileWithTimes.isPresent() ? profileWithTimes.get() : RocmTables.open(List.copyOf(files));
        });
    }

    // ---- both ----

    /** Reads a result from a stream of known length. */
    private interface Reading<T> {
        T read(InputStream bytes, long size) throws IOException;
    }

    private static <T> T file(Path path, Reading<T> reading) throws IOException {
        Objects.requireNonNull(path, "path");
        try (InputStream file = InputFile.open(path)) {
            return reading.read(file, Files.size(path));
        }
    }

    /**
     * Parses a trace. A failure that nobody expects, of a parser or of a library, is reported as damage: the events
     * before it may be whole. A library that is missing is no damage.
     */
    private static void parse(
            InputStream bytes, @Nullable Path file, long size, EventCollector collector, ReadOptions options)
            throws IOException {
        CallersProgress progress = new CallersProgress(options.progress());
        try (BufferedInputStream text = TraceInput.text(bytes, size, collector.source, progress)) {
            parse(text, file, collector, options.withProgress(progress));
        } catch (TraceFormatException fault) {
            endAt(fault, collector, options);
        } catch (RuntimeException | LinkageError | InternalError | StackOverflowError | AssertionError failed) {
            if (failed == progress.failure) {
                throw failed;
            }
            endAt(unexpected(failed, collector), collector, options);
        }
    }

    private static void endAt(TraceFormatException fault, EventCollector collector, ReadOptions options)
            throws TraceFormatException {
        if (collector.eventsRead() == 0) {
            throw fault.withNothingBefore();
        }
        if (!options.salvage() || !fault.isDamage()) {
            throw fault;
        }
        collector.endAt(fault);
    }

    private static TraceFormatException unexpected(Throwable failed, EventCollector collector) {
        String fault = InputFile.readerFailed(failed);
        return InputFile.missingLibrary(failed).isPresent()
                ? new TraceFormatException(collector.source, collector.eventsRead(), fault, failed)
                : TraceFormatException.damage(collector.source, collector.eventsRead(), fault, failed);
    }

    /** Returns what the events of a trace make; an unexpected failure is one of the trace, too. */
    private static <T> T result(EventCollector collector, InputFile.Reading<T> making) throws IOException {
        try {
            return making.read();
        } catch (RuntimeException | LinkageError | InternalError | StackOverflowError | AssertionError failed) {
            throw unexpected(failed, collector).withNothingBefore();
        }
    }

    /** Passes progress to the caller, and remembers the exception by which the caller ends the reading. */
    private static final class CallersProgress implements ReadOptions.Progress {
        private final ReadOptions.Progress progress;
        private @Nullable Throwable failure;

        CallersProgress(ReadOptions.Progress progress) {
            this.progress = progress;
        }

        @Override
        public void at(long bytesRead, long totalBytes) {
            try {
                progress.at(bytesRead, totalBytes);
            } catch (RuntimeException | Error failed) {
                failure = failed;
                throw failed;
            }
        }
    }

    private static void parse(
            BufferedInputStream text, @Nullable Path file, EventCollector collector, ReadOptions options)
            throws IOException {
        ReadOptions.Limits limits = options.limits();
        switch (TraceInput.format(text, collector.source)) {
            case CHROME -> chrome(text, collector, limits);
            case SQLITE -> whole(text, file, collector, options.progress(), SqliteFile::read);
            case XSPACE ->
                whole(
                        text,
                        file,
                        collector,
                        options.progress(),
                        (space, events, progress) -> XSpaceReader.read(space, events));
            case ROCM_TABLES ->
                whole(
                        text,
                        file,
                        collector,
                        options.progress(),
                        (tables, events, progress) -> RocmTables.read(tables, events));
            case ROCM_JSON ->
                whole(
                        text,
                        file,
                        collector,
                        options.progress(),
                        (json, events, progress) -> RocmJson.read(json, events, limits));
            case FLIGHT_RECORDING ->
                whole(
                        text,
                        file,
                        collector,
                        options.progress(),
                        (recording, events, progress) ->
                                FlightRecordingReader.read(recording, events, options.frames()));
            case PERFETTO -> PerfettoParser.parse(text, limits, collector);
            case TORNADO_VM -> TornadoParser.parse(text, limits, collector);
            case SUMS -> SumTables.parse(text, TraceInput.head(text), collector);
        }
    }

    /** Reads a file that needs random access. */
    private interface FileReading {
        void read(Path file, EventCollector collector, ReadOptions.Progress progress) throws IOException;
    }

    /** Reads an uncompressed file in place, and any other input through a temporary file. */
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
        Path copy = TemporaryFiles.file("brick-trace-", ".tmp");
        try {
            TraceInput.copy(text, copy, collector.source);
            reading.read(copy, collector, (bytesRead, totalBytes) -> {});
        } catch (TraceInput.DamagedException damaged) {
            throw new TraceFormatException(collector.source, 0, String.valueOf(damaged.getMessage()), damaged);
        } finally {
            TemporaryFiles.delete(copy);
        }
    }

    private static void chrome(BufferedInputStream text, EventCollector collector, ReadOptions.Limits limits)
            throws IOException {
        Utf8Repair utf8 = TraceInput.isUtf8(text) ? new Utf8Repair(text) : null;
        try {
            ChromeParser.parse(utf8 == null ? text : utf8, limits, collector);
        } finally {
            if (utf8 != null && utf8.replaced() > 0) {
                collector.fault(Omission.Reason.INVALID_UTF8, utf8.replaced(), utf8.firstOffset());
            }
        }
    }
}
