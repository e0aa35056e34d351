package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestTimeline;
import org.brickprofiler.testing.RequestSamples;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.read.TraceReader;
import org.brickprofiler.trace.write.TraceFiles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RequestTracksTest {

    private static final String NAMED = "request 2 (4 + 3 tokens) " + PlainText.oneLine(RequestSamples.HOSTILE_ID);

    @TempDir
    private Path folder;

    private final TraceRecorder recorder = new TraceRecorder();
    private final BrickProfiler profiler =
            BrickProfiler.builder().percentiles(true).tracing(recorder).build();

    private void serve(int requests) {
        profiler.enable();
        for (int i = 0; i < requests; i++) {
            long request = profiler.requests().arrived(4);
            if (i == 1) {
                profiler.requests().named(request, RequestSamples.HOSTILE_ID);
            }
            for (StepInfo info : List.of(StepInfo.prefill(4), StepInfo.decode(4), StepInfo.decode(5))) {
                profiler.beginStep(info);
                profiler.requests().inStep(request, info.prefillTokens());
                profiler.stopBrick(profiler.startBrick(BrickId.RMS_NORM), 1);
                profiler.endPass();
            }
            profiler.requests().finished(request, Outcome.LENGTH);
        }
    }

    private record Seen(String name, long ns, long flowIn, long flowOut) {}

    private static List<Seen> spans(Timeline timeline, int track) {
        List<Seen> seen = new ArrayList<>();
        timeline.replay(track, new TimelineVisitor() {
            @Override
            public void span(Span span) {
                seen.add(new Seen(
                        timeline.names().get(span.name()).name(),
                        span.endNs() - span.startNs(),
                        span.flowIn(),
                        span.flowOut()));
            }

            @Override
            public void instant(long atNs, int name) {}

            @Override
            public void counter(long atNs, double value) {}
        });
        return seen;
    }

    @Spec("25.14")
    @Test
    void eachRequestHasATrackWhoseSpansAreTiedToItsSteps() {
        serve(3);
        RequestTimeline requests = profiler.snapshot().requestTimeline();
        Timeline timeline = recorder.timeline(requests);

        List<String> names = timeline.tracks().stream().map(Track::name).toList();
        assertThat(names).contains("request 1 (4 + 3 tokens)", NAMED, "request 3 (4 + 3 tokens)");
        Set<Long> begun = new HashSet<>();
        for (int track = 0; track < names.size(); track++) {
            spans(timeline, track).stream()
                    .map(Seen::flowOut)
                    .filter(flow -> flow != 0)
                    .forEach(begun::add);
        }
        assertThat(begun).hasSize(9);
        for (int i = 0; i < 3; i++) {
            RequestRecord record = requests.requests().get(i).record();
            List<Seen> segments =
                    spans(timeline, names.indexOf(i == 1 ? NAMED : "request " + (i + 1) + " (4 + 3 tokens)"));
            assertThat(segments.stream().mapToLong(Seen::ns).sum()).isEqualTo(record.durationNs());
            record.causeNs().forEach((cause, ns) -> assertThat(segments.stream()
                            .filter(segment -> segment.name().equals(cause.displayName()))
                            .mapToLong(Seen::ns)
                            .sum())
                    .isEqualTo(ns));
            assertThat(segments.stream().map(Seen::flowIn).filter(flow -> flow != 0))
                    .hasSize(3)
                    .allMatch(begun::contains);
        }
        assertThat(recorder.timeline(RequestTimeline.NONE).tracks()).hasSize(names.size() - 3);
    }

    /** Segments are no bricks: a profile of the trace has the bricks alone. */
    @Spec("25.14")
    @Test
    void aTraceWithRequestsHasTheProfileOfItsBricks() throws Exception {
        serve(2);
        Timeline timeline = recorder.timeline(profiler.snapshot().requestTimeline());
        for (String name : List.of("requests.pftrace", "requests.json")) {
            Path file = folder.resolve(name);
            TraceFiles.write(timeline, file);

            assertThat(TraceReader.profile(file).snapshot().bricks())
                    .singleElement()
                    .matches(brick -> brick.name().equals("RmsNorm") && brick.count() == 6);
        }
    }

    @Spec("25.11")
    @Test
    void aReportKeepsTheScaleOfTheTimeline() throws Exception {
        serve(2);
        RequestTimeline requests = profiler.snapshot().requestTimeline();

        assertThat(JsonReport.fromJson(JsonReport.toJson(profiler.snapshot())).requestTimeline())
                .isEqualTo(requests);
    }
}
