package org.brickprofiler.trace.setting;

import java.io.IOException;
import java.nio.file.Path;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanSinkProvider;
import org.brickprofiler.internal.record.SpanSinks;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.write.TraceFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Records a timeline with the default options and writes it when the virtual machine ends. Any thread. */
public final class FileTracing extends SpanSinkProvider {

    private static final Logger LOG = LoggerFactory.getLogger(FileTracing.class);

    /** For the service loader. */
    public FileTracing() {}

    @Override
    protected SpanSink open(Path file) {
        TraceFiles.requireFormat(file);
        TraceRecorder recorder = new TraceRecorder();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> write(recorder, file), "brick-trace-writer"));
        return SpanSinks.of(recorder);
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
