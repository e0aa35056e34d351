package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** One pass over a trace yields the same profile and the same timeline as two passes. */
@OneJdk
final class TraceContentsTest {

    private static boolean isWithoutTimes(Path file) {
        return Stream.of("tornadovm-", "trt-", "nsys-stats-", "unitrace-", "llama-vulkan-")
                .anyMatch(file.getFileName().toString()::startsWith);
    }

    /**
     * Rules on arguments change nothing in the timeline. They name arguments that timelines show, arguments that they
     * omit, and keys that no timeline lists.
     */
    @ParameterizedTest
    @MethodSource("org.brickprofiler.trace.read.Traces#real")
    void aRealTraceReadOnceEqualsTheTraceReadTwice(Path file) throws IOException {
        ReadOptions defaults = ReadOptions.defaults();
        ReadOptions ruled = ReadOptions.defaults().withRules(TraceRules.parse("""
                        ranged (Norm) <- args.range=/norm/
                        large (FFN) <- args.grid=/4096/ args.stream=/7/
                        mine <- args.METHOD=/add/ args.backend=/1/ elements=args.blocks
                        """));
        try (TraceReader.Contents plain = TraceReader.read(file, defaults);
                TraceReader.Contents contents = TraceReader.read(file, ruled)) {
            assertThat(plain.profile()).isEqualTo(Traces.read(file, defaults));
            assertThat(contents.profile()).isEqualTo(Traces.read(file, ruled));
            assertThat(plain.timeline().isPresent()).isEqualTo(!isWithoutTimes(file));
            assertThat(contents.timeline().isPresent())
                    .isEqualTo(plain.timeline().isPresent());
            if (plain.timeline().isPresent()) {
                try (TraceTimeline alone = TraceReader.timeline(file, defaults)) {
                    Written expected = Written.of(alone);
                    assertThat(Written.of(plain.timeline().get())).isEqualTo(expected);
                    assertThat(Written.of(contents.timeline().orElseThrow())).isEqualTo(expected);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aTraceOfThisLibraryReadOnceEqualsTheTraceReadTwice(RoundTrip.Format format) throws IOException {
        FakeClock clock = new FakeClock(5_000);
        TraceRecorder recorder =
                TraceRecorder.builder().clock(clock).threadCapacity(16).build();
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        profiler.enable();
        for (int i = 0; i < 40; i++) {
            clock.advance(10);
            profiler.record("mine", 5, i);
        }
        assertSame(format.written(recorder.timeline()), ReadOptions.defaults());
    }

    @Test
    void rulesSeeTheirArgumentsAndNoOthers() throws IOException {
        String args = Stream.iterate(0, i -> i + 1)
                .limit(2_000)
                .map(i -> "\"k" + i + "\": " + i)
                .reduce("\"layer\": 1", (all, next) -> all + ", " + next);
        String trace = Traces.array(
                "{\"ph\": \"X\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": 0, \"dur\": 5, \"args\": {" + args
                        + "}}",
                "{\"ph\": \"C\", \"name\": \"c\", \"pid\": 1, \"ts\": 1, \"args\": {\"k1999\": 3}}");
        ReadOptions options = ReadOptions.defaults().withRules(TraceRules.parse("last (Norm) <- args.k1999=/1999/"));

        try (TraceReader.Contents contents =
                TraceReader.read(new ByteArrayInputStream(trace.getBytes(UTF_8)), "a trace", options)) {
            assertThat(contents.profile()).isEqualTo(Traces.read(trace, options));
            assertThat(contents.profile().snapshot().brick("last").orElseThrow().category())
                    .isEqualTo(BrickCategory.NORM);
            try (TraceTimeline alone =
                    TraceReader.timeline(new ByteArrayInputStream(trace.getBytes(UTF_8)), ReadOptions.defaults())) {
                assertThat(Written.of(contents.timeline().orElseThrow())).isEqualTo(Written.of(alone));
            }
        }
    }

    @Test
    void aDamagedTraceEndsForBothAtTheDamage() throws IOException {
        String trace = "[" + Traces.slice("a", 0, 10) + "," + Traces.slice("b", 20, 10) + ",{\"ph\": \"X\", \"na";
        assertSame(trace.getBytes(UTF_8), ReadOptions.defaults().withSalvage(true));
    }

    private static void assertSame(byte[] trace, ReadOptions options) throws IOException {
        try (TraceReader.Contents contents = TraceReader.read(new ByteArrayInputStream(trace), "a trace", options);
                TraceTimeline alone = TraceReader.timeline(new ByteArrayInputStream(trace), options)) {
            assertThat(contents.profile()).isEqualTo(Traces.read(trace, options));
            assertThat(Written.of(contents.timeline().orElseThrow())).isEqualTo(Written.of(alone));
        }
    }

    /** The content of a timeline. */
    private record Written(List<String> lines, List<String> tracks, TraceInfo info, List<Omission> omissions) {
        static Written of(TraceTimeline reading) {
            return new Written(
                    TimelineLines.lines(reading),
                    TimelineLines.tracks(reading),
                    reading.timeline().info(),
                    reading.omissions());
        }
    }
}
