package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.brickprofiler.BrickStats;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanBrick;
import org.brickprofiler.trace.SpanBrick.Evidence;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.read.TraceProfile.Placement.Source;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The spans of a timeline have the bricks as which the profile of the same reading counts them. */
final class CountedSpansTest {

    /** A span of a timeline. */
    private record Drawn(int track, long startNs, long endNs, String name, int brick) {
        long elapsedNs() {
            return endNs - startNs;
        }
    }

    private static List<Drawn> spans(Timeline timeline) {
        List<Drawn> spans = new ArrayList<>();
        for (int i = 0; i < timeline.tracks().size(); i++) {
            int track = i;
            timeline.replay(track, new TimelineVisitor() {
                @Override
                public void span(Span span) {
                    String name = timeline.names().get(span.name()).name();
                    spans.add(new Drawn(track, span.startNs(), span.endNs(), name, span.brick()));
                }

                @Override
                public void instant(long atNs, int name) {
                    // A moment has no brick.
                }

                @Override
                public void counter(long atNs, double value) {
                    // A counter has no brick.
                }
            });
        }
        return spans;
    }

    private static Stream<Path> tracesOfOthers() throws IOException {
        // The flight recordings have samples, and no spans that count.
        return Traces.real().filter(file -> file.toString().matches(".*(?<!\\.jfr)\\.(gz|json)"));
    }

    /** Returns whether any two spans of one track that count overlap. */
    private static boolean overlaps(List<Drawn> counted) {
        Map<Integer, Long> ends = new HashMap<>();
        for (Drawn span : counted) {
            if (span.startNs < ends.getOrDefault(span.track, Long.MIN_VALUE)) {
                return true;
            }
            ends.merge(span.track, span.endNs, Math::max);
        }
        return false;
    }

    @ParameterizedTest
    @MethodSource("tracesOfOthers")
    void spansAddUpToTheRowsOfTheProfile(Path file) throws IOException {
        for (ReadOptions options :
                List.of(ReadOptions.defaults(), ReadOptions.defaults().withKeepWarmup(true))) {
            try (TraceReader.Contents contents = TraceReader.read(file, options)) {
                if (contents.timeline().isPresent()) {
                    assertSums(contents.profile(), contents.timeline().get().timeline());
                }
            }
        }
    }

    private static void assertSums(TraceProfile profile, Timeline timeline) {
        List<Drawn> counted = spans(timeline).stream()
                .filter(span -> span.brick != Span.NOT_COUNTED)
                .toList();
        Map<String, Long> counts = new TreeMap<>();
        Map<String, Long> times = new TreeMap<>();
        Map<Evidence, Long> byEvidence = new HashMap<>();
        for (Drawn span : counted) {
            SpanBrick brick = timeline.bricks().get(span.brick);
            String row = brick.name() + " of " + brick.category();
            counts.merge(row, 1L, Long::sum);
            times.merge(row, span.elapsedNs(), Long::sum);
            byEvidence.merge(brick.evidence(), 1L, Long::sum);
        }
        Map<String, Long> countsOfRows = new TreeMap<>();
        Map<String, Long> timesOfRows = new TreeMap<>();
        for (BrickStats brick : profile.snapshot().bricks()) {
            countsOfRows.put(brick.name() + " of " + brick.category(), brick.count());
            timesOfRows.put(brick.name() + " of " + brick.category(), brick.totalNs());
        }
        assertThat(counts).isEqualTo(countsOfRows).isNotEmpty();
        if (!overlaps(counted)) {
            assertThat(times).isEqualTo(timesOfRows);
        }
        assertThat(byEvidence.getOrDefault(Evidence.PLACE, 0L))
                .isEqualTo(profile.placements().stream()
                        .filter(placement -> placement.source() == Source.PLACE)
                        .mapToLong(TraceProfile.Placement::events)
                        .sum());
    }

    /** Kernels of a stream do not overlap, so that their durations are the times of the rows. */
    @Test
    void timesOfStreamsAddUp() throws IOException {
        try (TraceReader.Contents contents = TraceReader.read(Traces.TRAINING, ReadOptions.defaults())) {
            Timeline timeline = contents.timeline().orElseThrow().timeline();

            assertSums(contents.profile(), timeline);
            assertThat(overlaps(spans(timeline).stream()
                            .filter(span -> span.brick != Span.NOT_COUNTED)
                            .toList()))
                    .isFalse();
        }
    }

    private static String kernel(String name, long ts) {
        return Traces.slice(name, "kernel", 7, ts, 10);
    }

    /** The same product is the projection of queries, keys and values or of the output, by its place. */
    @Test
    void oneKernelCountsAsSeveralBricks() throws IOException {
        List<String> events = new ArrayList<>();
        events.add(Traces.slice("aten::mm", "cpu_op", 1, 0, 5));
        for (int layer = 0; layer < 4; layer++) {
            String[] kernels = {
                "flash_fwd_kernel",
                "product_gemm",
                "rms_norm",
                "product_gemm",
                "silu_and_mul",
                "product_gemm",
                "rms_norm",
                "product_gemm"
            };
            for (int i = 0; i < kernels.length; i++) {
                events.add(kernel(kernels[i], 1_000 + 100L * layer + 12L * i));
            }
        }
        events.add(kernel("flash_fwd_kernel", 2_000));
        events.add(kernel("nothing_known", 2_100));
        byte[] trace = Traces.object(events.toArray(String[]::new)).getBytes(StandardCharsets.UTF_8);

        try (TraceReader.Contents contents =
                TraceReader.read(new ByteArrayInputStream(trace), "t", ReadOptions.defaults())) {
            Timeline timeline = contents.timeline().orElseThrow().timeline();
            List<Drawn> spans = spans(timeline);

            assertThat(spans.stream()
                            .filter(span -> span.name.equals("product_gemm"))
                            .map(span -> timeline.bricks().get(span.brick))
                            .distinct())
                    .extracting(brick -> brick.name() + ", " + brick.category().displayName() + ", " + brick.evidence())
                    .contains("OutputProjection, Attention, PLACE", "DownProjection, FFN, PLACE");
            assertThat(spans.stream().filter(span -> span.name.equals("nothing_known")))
                    .extracting(span -> timeline.bricks().get(span.brick).evidence())
                    .containsExactly(Evidence.NONE);
            assertThat(spans.stream().filter(span -> span.name.equals("aten::mm")))
                    .extracting(Drawn::brick)
                    .containsExactly(Span.NOT_COUNTED);
            assertSums(contents.profile(), timeline);
        }
    }

    /** A timeline that is read without a profile has no bricks. */
    @Test
    void withoutAProfileNothingCounts() throws IOException {
        try (TraceTimeline trace = TraceReader.timeline(Traces.TRAINING, ReadOptions.defaults())) {
            assertThat(trace.timeline().bricks()).isEmpty();
            assertThat(spans(trace.timeline())).extracting(Drawn::brick).containsOnly(Span.NOT_COUNTED);
        }
    }
}
