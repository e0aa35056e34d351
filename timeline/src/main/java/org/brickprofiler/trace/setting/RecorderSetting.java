package org.brickprofiler.trace.setting;

import java.io.IOException;
import java.nio.file.Path;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.record.SettingAction;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanSinks;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.jfr.VirtualMachineStops;
import org.brickprofiler.trace.write.TraceFiles;
import org.jspecify.annotations.Nullable;

/**
 * Records a timeline, which is written when the virtual machine ends, the lines of bricks, or both in one recorder. Any
 * thread.
 */
public final class RecorderSetting extends SettingAction {

    private static final Log LOG = Log.of(RecorderSetting.class);

    /** The bricks of a thread that are kept for lines without a timeline: those of 1 MiB. */
    private static final int LINES_THREAD_SPANS = 43_690;

    /** The bricks of all threads, for 16 of them. */
    private static final long LINES_SPANS = 16 * LINES_THREAD_SPANS;

    /** Creates the action, for the service loader. */
    public RecorderSetting() {
        super(TRACE, LINES);
    }

    @Override
    protected SpanSink open(@Nullable String file, boolean lines) {
        Path timeline = file == null ? null : Path.of(file);
        TraceRecorder.Builder options = TraceRecorder.builder().lines(lines);
        if (timeline == null) {
            options.threadCapacity(LINES_THREAD_SPANS).totalCapacity(LINES_SPANS);
        } else {
            TraceFiles.requireFormat(timeline);
        }
        TraceRecorder recorder = options.build();
        if (timeline != null) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> write(recorder, timeline), "brick-trace-writer"));
        }
        if (lines) {
            takeSamples(recorder);
        }
        return SpanSinks.of(recorder);
    }

    /** Begins to take samples, before the first brick is recorded. The report states why if there are none. */
    private static void takeSamples(TraceRecorder recorder) {
        try {
            // It ends when the report at the end of the process is written.
            VirtualMachineStops.of(recorder);
        } catch (LinkageError | RuntimeException none) {
            String reason = "this virtual machine has no flight recorder (" + none.getMessage() + ")";
            LOG.warn("the setting lines has no effect: {}", reason);
            recorder.lineLog().ifPresent(log -> log.refuse(reason));
        }
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
