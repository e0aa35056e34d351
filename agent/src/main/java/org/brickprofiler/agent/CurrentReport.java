package org.brickprofiler.agent;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineDigest;
import org.brickprofiler.trace.TraceRecorder;
import org.jspecify.annotations.Nullable;

/**
 * The profile of a moment, and beside it the slow steps up to then. Immutable, except that the slow steps are read when
 * the report is written; any thread.
 *
 * @param snapshot the profile
 * @param slow keeps the slow steps; null without {@code slow=}
 */
record CurrentReport(ProfileSnapshot snapshot, @Nullable TraceRecorder slow) {

    CurrentReport withSnapshot(ProfileSnapshot other) {
        return new CurrentReport(other, slow);
    }

    /** Returns the report as JSON. */
    String toJson() {
        return JsonReport.toJson(snapshot, further());
    }

    /** Writes the report as JSON. */
    void writeJson(Path file) throws IOException {
        JsonReport.write(snapshot, further(), file);
    }

    private Map<String, ?> further() {
        return slow == null ? Map.of() : slow.slowSteps().map(this::entries).orElse(Map.of());
    }

    private Map<String, Object> entries(SlowSteps steps) {
        return steps.reportEntries(snapshot);
    }

    /** Returns the report as a page, with the spans of the slow steps. */
    HtmlReport page() {
        HtmlReport page = HtmlReport.of(snapshot);
        if (slow == null) {
            return page;
        }
        Timeline timeline = slow.timeline();
        Map<String, Object> entries =
                timeline.info().slowSteps().map(this::entries).orElse(Map.of());
        return page.withFurther(entries).with(TimelineDigest.of(timeline));
    }
}
