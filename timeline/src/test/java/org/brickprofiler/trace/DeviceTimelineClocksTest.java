package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.SyncMode;
import org.brickprofiler.testing.ClockKind;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The same work on the timeline, on a clock that stands still and on one that runs. The times of the device's spans
 * relative to each other are equal on both, to the nanosecond. No span lies outside the time between its launch and the
 * end of the wait.
 */
final class DeviceTimelineClocksTest {

    private static final long BACKLOG_NS = 250_000_000;
    private static final Pattern SPAN = Pattern.compile("(\\w+) (-?\\d+)\\.\\.(-?\\d+).*");

    /** A profiler of a stream that has other work to do first. */
    private static final class Bench {
        private final FakeClock clock;
        private final SimulatedStream stream;
        private final TraceRecorder recorder;
        private final BrickProfiler profiler;
        private final long beganNs;

        Bench(ClockKind kind) {
            clock = kind.clock(1_000);
            beganNs = clock.now();
            stream = new SimulatedStream("decode", clock);
            recorder = TraceRecorder.builder().clock(clock).build();
            profiler = BrickProfiler.builder()
                    .clock(clock)
                    .tracing(recorder)
                    .deviceStream(stream)
                    .build();
            profiler.enable();
            stream.work(BACKLOG_NS);
        }

        void brick(BrickId id, long ns) {
            long timer = profiler.startBrick(id);
            stream.work(ns);
            profiler.stopBrick(timer, 1);
        }

        /** Returns the spans of the stream, with times relative to the start of the first one. */
        List<String> work() {
            Timeline timeline = recorder.timeline();
            List<String> spans = new ArrayList<>();
            long firstNs = Long.MIN_VALUE;
            for (String event : Replay.of(timeline, "decode")) {
                Matcher matcher = SPAN.matcher(event);
                assertThat(matcher.matches()).as(event).isTrue();
                MatchResult span = matcher.toMatchResult();
                long startNs = Long.parseLong(span.group(2));
                long endNs = Long.parseLong(span.group(3));
                assertThat(startNs).isGreaterThanOrEqualTo(beganNs + BACKLOG_NS);
                assertThat(endNs).isLessThanOrEqualTo(clock.now());
                firstNs = firstNs == Long.MIN_VALUE ? startNs : firstNs;
                spans.add(span.group(1) + " " + (startNs - firstNs) + ".." + (endNs - firstNs));
            }
            return spans;
        }

        List<String> launches() {
            return Replay.of(recorder.timeline(), Thread.currentThread().getName()).stream()
                    .filter(event -> event.contains(" device "))
                    .map(event -> event.replaceAll(" -?\\d+\\.\\.-?\\d+", ""))
                    .toList();
        }
    }

    @ParameterizedTest
    @EnumSource
    void bricksLapsAndTheBricksAroundThemHaveTheSameRelativeTimes(ClockKind kind) {
        Bench bench = new Bench(kind);
        long outer = bench.profiler.startBrick(BrickId.FUSED_ATTENTION);
        bench.brick(BrickId.ATTENTION_SCORE, 40);
        bench.stream.work(7);
        long timer = bench.profiler.startBrick(BrickId.RMS_NORM);
        bench.stream.work(1_000);
        timer = bench.profiler.lap(timer, 1, BrickId.LM_HEAD);
        bench.stream.work(60_000);
        bench.profiler.stopBrick(timer, 1);
        bench.profiler.stopBrick(outer, 1);
        bench.profiler.endPass();
        assertThat(bench.work())
                .containsExactly(
                        "FusedAttention 0..61047", "AttentionScore 0..40", "RmsNorm 47..1047", "LmHead 1047..61047");
        // On a clock that stands still, launches that begin at the same moment may come in any order.
        assertThat(bench.launches())
                .containsExactlyInAnyOrder(
                        "FusedAttention device 61047 out 4",
                        "AttentionScore device 40 out 1",
                        "RmsNorm device 1000 out 2",
                        "LmHead device 60000 out 3");
    }

    @ParameterizedTest
    @EnumSource
    void layersAndDeferredMeasurementsHaveTheSameRelativeTimes(ClockKind kind) {
        Bench bench = new Bench(kind);
        bench.profiler.setSyncMode(SyncMode.PER_LAYER);
        bench.brick(BrickId.RMS_NORM, 50);
        long start = bench.profiler.elapsedNs();
        bench.stream.work(300);
        bench.profiler.recordDeferred(BrickId.LM_HEAD, start, 1);
        bench.profiler.endLayer();
        assertThat(bench.work()).containsExactly("RmsNorm 0..50", "LmHead 50..350");
        bench.stream.work(BACKLOG_NS);
        bench.brick(BrickId.RMS_NORM, 70);
        bench.profiler.endLayer();
        bench.profiler.endPass();
        List<String> work = bench.work();
        assertThat(work).hasSize(3);
        assertThat(bench.launches()).anyMatch(launch -> launch.contains("device 70"));
        assertThat(bench.recorder.timeline().info().droppedSpans()).isZero();
    }
}
