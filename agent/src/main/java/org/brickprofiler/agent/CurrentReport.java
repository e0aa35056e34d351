package org.brickprofiler.agent;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.Progress;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineDigest;
import org.brickprofiler.trace.TraceRecorder;
import org.jspecify.annotations.Nullable;

/**
 * The profile of a moment, and beside it what is under way, and the slow steps up to then. Immutable, except that the
 * slow steps are read when the report is written; any thread.
 *
 * @param snapshot the profile
 * @param progress what is under way; null at the end of the process
 * @param slow keeps the slow steps; null if none are kept
 */
record CurrentReport(
        ProfileSnapshot snapshot,
        @Nullable Progress progress,
        @Nullable TraceRecorder slow) {

    CurrentReport withSnapshot(ProfileSnapshot other) {
        return new CurrentReport(other, progress, slow);
    }

    /** Returns the report as JSON. */
    String toJson() {
        return JsonReport.toJson(snapshot, further());
    }

    /** Writes the report as JSON. */
    void writeJson(Path file) throws IOException {
        JsonReport.write(snapshot, further(), file);
    }

    private Map<String, Object> further() {
        return further(slow == null ? Optional.empty() : slow.slowSteps());
    }

    private Map<String, Object> further(Optional<SlowSteps> steps) {
        Map<String, Object> further = new LinkedHashMap<>();
        if (progress != null) {
            further.putAll(progress.reportEntries());
        }
        steps.ifPresent(each -> further.putAll(each.reportEntries(snapshot)));
        return further;
    }

    /** Returns the report as a page, with the spans of the slow steps. */
    HtmlReport page() {
        HtmlReport page = HtmlReport.of(snapshot);
        if (slow == null) {
            return page.withFurther(further());
        }
        Timeline timeline = slow.timeline();
        return page.withFurther(further(timeline.info().slowSteps())).with(TimelineDigest.of(timeline));
    }
}
