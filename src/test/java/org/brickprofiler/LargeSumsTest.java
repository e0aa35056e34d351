package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.kernel.KernelTimings;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Sums that no longer fit a {@code long} saturate. Without that, some numbers of samples would wrap to a negative sum,
 * others to a positive one.
 */
@Spec("2.15")
final class LargeSumsTest {

    private static final long LARGE = 1L << 62;

    /** A way to record an amount, and the sum to which the amount is added. */
    private record Way(String name, Consumer<BrickProfiler> record, ToLongFunction<ProfileSnapshot> sum) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static BrickStats only(ProfileSnapshot snapshot) {
        return snapshot.bricks().get(0);
    }

    private static TileStats macro(ProfileSnapshot snapshot) {
        return snapshot.tiles().get(0);
    }

    static Stream<Way> ways() {
        return Stream.of(
                new Way("ns", p -> p.record("x", LARGE, 1), s -> only(s).totalNs()),
                new Way("elements", p -> p.record("x", 1, LARGE), s -> only(s).totalElements()),
                new Way("elements of timers", p -> p.stopBrick(p.startBrick("x"), LARGE), s -> only(s).totalElements()),
                new Way("bytes", p -> p.recordBytes("x", 1, 1, LARGE, 1), s -> only(s).totalBytes()),
                new Way("compressed", p -> p.recordBytes("x", 1, 1, 1, LARGE), s -> only(s).totalCompressedBytes()),
                new Way("cycles", p -> p.recordCycles("x", 1, 1, LARGE), s -> only(s).totalCycles()),
                new Way(
                        "all bricks",
                        p -> p.record("x" + Thread.currentThread().getName(), 1, LARGE),
                        ProfileSnapshot::totalTokens),
                new Way("tile ns", p -> p.tiles().record(TileLevel.MACRO, 1, 1, LARGE, 1, 1), s -> macro(s).totalNs()),
                new Way("tile flops", p -> p.tiles().record(TileLevel.MACRO, 1, 1, 1, 1, LARGE), s -> macro(s)
                        .totalFlops()),
                new Way("keys and values", p -> step(p, StepInfo.decode(LARGE), 0), s -> decode(s)
                        .kvLength()),
                new Way("drafted tokens", p -> step(p, StepInfo.decode(1).withDraftedTokens(LARGE), 0), s -> decode(s)
                        .draftedTokens()),
                new Way(
                        "prompts",
                        p -> step(p, StepInfo.prefill(LARGE), 0),
                        s -> s.steps().phases().get(0).prefillTokens()),
                new Way("prompts of requests", p -> request(p, LARGE, 0, 1), s -> s.requests()
                        .tokens()
                        .prompt()),
                new Way("cached tokens of requests", p -> request(p, LARGE, LARGE, 1), s -> s.requests()
                        .tokens()
                        .cached()),
                new Way("tokens of requests", p -> request(p, 1, 0, LARGE), s -> s.requests()
                        .tokens()
                        .output()));
    }

    private static void request(BrickProfiler profiler, long prompt, long cached, long tokens) {
        RequestRecorder requests = profiler.requests();
        long request = requests.arrived(prompt);
        requests.cached(request, cached);
        profiler.beginStep(StepInfo.decode(1));
        requests.inStep(request, prompt - cached);
        requests.gives(request, tokens);
        profiler.endPass();
        requests.finished(request, Outcome.LENGTH);
    }

    private static void step(BrickProfiler profiler, StepInfo info, long accepted) {
        profiler.beginStep(info);
        profiler.recordAcceptedTokens(accepted);
        profiler.endPass();
    }

    private static StepStats decode(ProfileSnapshot snapshot) {
        return snapshot.steps().phase(StepInfo.Phase.DECODE).orElseThrow();
    }

    @ParameterizedTest
    @MethodSource("ways")
    void everySumStaysAtTheLargest(Way way) throws Exception {
        for (int times = 1; times <= 6; times++) {
            BrickProfiler profiler = BrickProfiler.enabled();
            profiler.tiles().enable();
            for (int time = 0; time < times; time++) {
                if (time % 2 == 0) {
                    way.record.accept(profiler);
                } else {
                    Crew.runOnNewThread(() -> way.record.accept(profiler));
                }
            }
            long expected = times == 1 ? LARGE : Long.MAX_VALUE;
            ProfileSnapshot taken = profiler.snapshot();
            assertThat(way.sum.applyAsLong(taken)).as("%d times", times).isEqualTo(expected);
            assertThat(way.sum.applyAsLong(taken.merge(taken))).isEqualTo(Long.MAX_VALUE);
            assertThat(JsonReport.fromJson(JsonReport.toJson(taken))).isEqualTo(taken);
        }
    }

    /** A step outputs its own token and those that were accepted. */
    @Test
    void theTokensOfAStepStayAtTheLargest() throws Exception {
        BrickProfiler profiler = BrickProfiler.enabled();
        for (int step = 0; step < 2; step++) {
            step(profiler, StepInfo.decode(1).withDraftedTokens(Long.MAX_VALUE), Long.MAX_VALUE);
        }

        ProfileSnapshot taken = profiler.snapshot();

        assertThat(taken.steps().kept()).extracting(Step::outputTokens).containsOnly(Long.MAX_VALUE);
        assertThat(decode(taken).outputTokens()).isEqualTo(Long.MAX_VALUE);
        assertThat(decode(taken).acceptedTokens()).isEqualTo(Long.MAX_VALUE);
        assertThat(decode(taken).acceptanceRate()).isEqualTo(1);
        assertThat(JsonReport.fromJson(JsonReport.toJson(taken))).isEqualTo(taken);
    }

    /** The other sums of snapshots, which files may hold in any size. */
    @Test
    void mergedSnapshotsStayAtTheLargest() {
        DeviceTime device = new DeviceTime(LARGE, LARGE, LARGE, 1, 1, LARGE, LARGE);
        BrickStats brick = BrickStats.builder("x", BrickCategory.OTHER)
                .samples(LARGE, LARGE, 1, 1)
                .last(1, 0)
                .device(device)
                .build();
        StreamTotals stream = StreamTotals.builder("s", "gpu", 0)
                .bricks(LARGE, LARGE, LARGE)
                .waits(LARGE)
                .build();
        ProfileSnapshot half = ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH, LARGE)
                .threads(1, false)
                .overheadNs(LARGE)
                .deferred(LARGE, LARGE, LARGE)
                .bricks(List.of(brick))
                .streams(List.of(stream))
                .build();

        ProfileSnapshot whole = half.merge(half);

        assertThat(List.of(
                        whole.wallNs(),
                        whole.overheadNs(),
                        whole.droppedPending(),
                        whole.literalOverlaps(),
                        whole.unresolved(),
                        whole.samples()))
                .containsOnly(Long.MAX_VALUE);
        DeviceTime both = only(whole).device();
        assertThat(List.of(both.measured(), both.launches(), both.launchNs(), both.withoutStart()))
                .containsOnly(Long.MAX_VALUE);
        StreamTotals twice = whole.streams().get(0);
        assertThat(List.of(twice.samples(), twice.busyNs(), twice.idleNs(), twice.waits()))
                .containsOnly(Long.MAX_VALUE);
    }

    /**
     * A file may hold any number of requests of each outcome and any time of each cause, so their sums saturate, too.
     */
    @Test
    void requestsOfAllOutcomesStayAtTheLargest() {
        RequestStats.Counts counts = new RequestStats.Counts(
                LARGE, LARGE, LARGE, Map.of(Outcome.COMPLETED, LARGE, Outcome.LENGTH, LARGE), LARGE, LARGE);
        RequestStats requests = new RequestStats(
                counts,
                RequestStats.NONE.tokens(),
                RequestStats.NONE.latencies(),
                Map.of(Cause.DECODE, LARGE, Cause.OWN_PROMPT, LARGE),
                Collections.emptySortedMap(),
                List.of(),
                List.of());

        assertThat(counts.allFinished()).isEqualTo(Long.MAX_VALUE);
        assertThat(requests.isRecorded()).isTrue();
        // The two times sum to 2^63, of which each is a half.
        assertThat(TextReport.render(ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH, 1)
                        .threads(1, false)
                        .requests(requests)
                        .build()))
                .containsPattern("decoding .* 50\\.0\n");
    }

    @Test
    void commandBuffersStayAtTheLargest() {
        KernelTimings timings = new KernelTimings();
        timings.enable();
        for (int time = 0; time < 5; time++) {
            timings.recordCommandBuffer("prefill", Backend.METAL, 0, LARGE);
        }

        assertThat(timings.commandBuffers().get(0).totalNs()).isEqualTo(Long.MAX_VALUE);
    }

    /** The fast path, which nearly all samples take, has no further check, even if the sum is saturated. */
    @Test
    void smallSamplesAfterLargeOnesDoNotChangeTheSum() {
        FakeClock clock = new FakeClock();
        BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
        profiler.enable();
        profiler.record(BrickId.LM_HEAD, Long.MAX_VALUE, 0);
        profiler.record(BrickId.LM_HEAD, 0, Long.MAX_VALUE);
        for (int sample = 0; sample < 3; sample++) {
            long timer = profiler.startBrick(BrickId.LM_HEAD);
            clock.advance(1_000);
            profiler.stopBrick(timer, 0xffffffffL);
            BrickStats stats = profiler.brickStats(BrickId.LM_HEAD);
            assertThat(stats.totalNs()).isEqualTo(Long.MAX_VALUE);
            assertThat(stats.totalElements()).isEqualTo(Long.MAX_VALUE);
        }
        profiler.record(BrickId.LM_HEAD, 1, 1);
        assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(Long.MAX_VALUE);
        assertThat(profiler.brickStats(BrickId.LM_HEAD).count()).isEqualTo(6);
    }

    /** Without a limit, the sum of 2^14 such samples is 0. */
    @Test
    void longTimersStayAtTheLargestSum() {
        FakeClock clock = new FakeClock();
        BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
        profiler.enable();
        long most = 1L << 50;
        for (int sample = 1; sample <= 1 << 15; sample++) {
            long timer = profiler.startBrick(BrickId.LM_HEAD);
            clock.advance(most);
            profiler.stopBrick(timer, 1);
            if (Integer.bitCount(sample) == 1) {
                assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs())
                        .as("%d samples", sample)
                        .isEqualTo(sample >= 1 << 13 ? Long.MAX_VALUE : sample * most);
            }
        }
    }

    /** Steps, and the time during which they were under way, may reach the largest sum. */
    @Test
    void longStepsStayAtTheLargestSums() throws IOException {
        FakeClock clock = new FakeClock();
        BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
        profiler.enable();
        for (int step = 1; step <= 6; step++) {
            boolean isPrompt = step % 2 == 0;
            profiler.beginStep(isPrompt ? StepInfo.prefill(1) : StepInfo.decode(1));
            profiler.record(BrickId.LM_HEAD, LARGE, 1);
            clock.advance(LARGE);
            profiler.endPass();
        }
        ProfileSnapshot taken = profiler.snapshot();

        assertThat(decode(taken).totalNs()).isEqualTo(Long.MAX_VALUE);
        assertThat(decode(taken).wallNs()).isEqualTo(Long.MAX_VALUE);
        assertThat(taken.steps().timeToFirstTokenNs()).isEqualTo(Long.MAX_VALUE);
        assertThat(decode(taken).attributed())
                .as("steps before the sum was at its limit")
                .isEqualTo(1);
        assertThat(decode(taken).categoryNs()).containsEntry(BrickCategory.OTHER, LARGE);
        assertThat(taken.wallNs()).isNotNegative();
        assertThat(JsonReport.fromJson(JsonReport.toJson(taken))).isEqualTo(taken);
        assertThat(profiler.snapshotAndReset()).isNotNull();
        assertThat(profiler.snapshot().steps().phases()).isEmpty();
    }

    @Test
    void elementsOfMoreThanThirtyTwoBitsAreCountedExactly() {
        BrickProfiler profiler = BrickProfiler.enabled();
        long elements = 0xffffffffL;
        for (long more = 0; more < 3; more++) {
            profiler.stopBrick(profiler.startBrick(BrickId.HOST_TO_DEVICE), elements + more);
        }
        BrickStats stats = profiler.brickStats(BrickId.HOST_TO_DEVICE);
        assertThat(stats.count()).isEqualTo(3);
        assertThat(stats.totalElements()).isEqualTo(3 * elements + 3);
    }
}
