package org.brickprofiler.trace.write;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.brickprofiler.record.SpanSink;
import org.brickprofiler.record.SpanSinkProvider;
import org.brickprofiler.record.TraceSetting;
import org.brickprofiler.trace.TraceRecorder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records a timeline with the default options and writes it when the virtual machine ends: what the system property
 * {@code brick.profiler.trace} and the environment variable {@code BRICK_PROFILER_TRACE} switch on. What an application
 * adds itself goes to the same file through {@link #recorder()}:
 *
 * <pre>{@code
 * Optional<TraceRecorder> trace = FileTracing.recorder();
 * trace.ifPresent(recorder -> recorder.instant("first token"));
 * }</pre>
 *
 * <p>Any thread.
 */
public final class FileTracing implements SpanSinkProvider {

    private static final Logger LOG = LoggerFactory.getLogger(FileTracing.class);

    /** For the service loader. */
    public FileTracing() {}

    /**
     * The recorder of all profilers that were given none, as the property or the variable asks. What they say is looked
     * at once, by whoever asks first or by the first profiler.
     *
     * @return the same one each time; empty where neither is set, and where what it names cannot be written, which is
     *     logged
     */
    public static Optional<TraceRecorder> recorder() {
        return TraceSetting.sink() instanceof TraceRecorder recorder ? Optional.of(recorder) : Optional.empty();
    }

    /** {@inheritDoc} */
    @Override
    public SpanSink open(Path file) {
        TraceFiles.requireFormat(file);
        TraceRecorder recorder = new TraceRecorder();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> write(recorder, file), "brick-trace-writer"));
        return recorder;
    }

    private static void write(TraceRecorder recorder, Path file) {
        try {
            TraceFiles.write(recorder.timeline(), file);
            LOG.info("the timeline is in {}", file.toAbsolutePath());
        } catch (IOException e) {
            LOG.error("the timeline is lost: {}", e.getMessage());
        }
    }
}
