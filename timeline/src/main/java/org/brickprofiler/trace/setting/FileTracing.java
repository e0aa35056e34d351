package org.brickprofiler.trace.setting;

import java.io.IOException;
import java.nio.file.Path;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.record.SettingAction;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanSinks;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.write.TraceFiles;

/** Records a timeline with the default options and writes it when the virtual machine ends. Any thread. */
public final class FileTracing extends SettingAction {

    private static final Log LOG = Log.of(FileTracing.class);

    /** Creates the action, for the service loader. */
    public FileTracing() {
        super(TRACE);
    }

    @Override
    protected SpanSink open(String value) {
        Path file = Path.of(value);
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
