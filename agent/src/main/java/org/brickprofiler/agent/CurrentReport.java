package org.brickprofiler.agent;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.Progress;
import org.brickprofiler.report.Finding;
import org.brickprofiler.report.FindingSource;
import org.brickprofiler.report.Findings;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.SourceLinks;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineDigest;
import org.brickprofiler.trace.TraceRecorder;
import org.jspecify.annotations.Nullable;

/**
 * The profile of a moment, and beside it what is under way, the lines of its bricks, and the slow steps up to then.
 * Immutable, except that the slow steps are read when the report is written; any thread.
 *
 * @param snapshot the profile
 * @param progress what is under way; null at the end of the process
 * @param slow keeps the slow steps; null if none are kept
 * @param lines the lines of its bricks; empty if the agent takes no samples
 * @param sources the links of lines to sources on a page; empty for none
 */
record CurrentReport(
        ProfileSnapshot snapshot,
        @Nullable Progress progress,
        @Nullable TraceRecorder slow,
        Optional<LineProfile> lines,
        Optional<SourceLinks> sources) {

    CurrentReport withSnapshot(ProfileSnapshot other) {
        return new CurrentReport(other, progress, slow, lines, sources);
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
        further.put("findings", Findings.values(findings(steps)));
        steps.ifPresent(each -> further.put(JsonReport.SLOWEST_STEPS, each.values()));
        lines.ifPresent(each -> further.put(JsonReport.LINES, each.values()));
        return further;
    }

    private List<Finding> findings(Optional<SlowSteps> steps) {
        FindingSource[] sources = Stream.of(steps.map(SlowSteps::besideRun), lines)
                .flatMap(Optional::stream)
                .toArray(FindingSource[]::new);
        return Findings.of(snapshot, sources);
    }

    /** Returns the report as text, which ends with the findings. */
    String text() {
        return TextReport.render(snapshot, Integer.MAX_VALUE, true)
                + lines.map(each -> "\n" + each.text()).orElse("")
                + Findings.text(findings(Optional.empty()));
    }

    /** Returns the report as a page, with the spans of the slow steps. */
    HtmlReport page() {
        HtmlReport plain = HtmlReport.of(snapshot);
        HtmlReport page = sources.flatMap(links -> lines.map(links::part))
                .map(plain::with)
                .orElse(plain);
        if (slow == null) {
            return page.withFurther(further());
        }
        Timeline timeline = slow.timeline();
        return page.withFurther(further(timeline.info().slowSteps())).with(TimelineDigest.of(timeline));
    }
}
