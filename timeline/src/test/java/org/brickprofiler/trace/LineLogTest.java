package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Phaser;
import org.assertj.core.groups.Tuple;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.LineProfile.OfBrick;
import org.brickprofiler.trace.LineProfile.Samples;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Where samples are that no single brick contains, and the bounds of what is kept. */
final class LineLogTest {

    private static final long SECOND_NS = 1_000_000_000;
    private static final List<Frame> STACK = List.of(new Frame("a.B.dot", 88, "JIT compiled"));

    private final FakeClock clock = new FakeClock();
    private final FakeTimes times = new FakeTimes();
    private final TraceRecorder recorder = recorder(1 << 10);
    private final LineLog log = recorder.lineLog().orElseThrow();
    private final BrickProfiler profiler = profiler(recorder);
    private final long mine = Thread.currentThread().getId();

    private TraceRecorder recorder(int capacity) {
        return TraceRecorder.builder()
                .clock(clock)
                .times(times)
                .lines(true)
                .threadCapacity(capacity)
                .build();
    }

    private BrickProfiler profiler(TraceRecorder sink) {
        BrickProfiler made = BrickProfiler.builder().clock(clock).tracing(sink).build();
        made.enable();
        return made;
    }

    private void brick(BrickProfiler of, BrickId id, long startNs, long endNs) {
        clock.set(startNs);
        long timer = of.startBrick(id);
        clock.set(endNs);
        of.stopBrick(timer, 1);
    }

    private Samples samples() {
        return log.profile().samples();
    }

    private OfBrick only() {
        assertThat(log.profile().bricks()).hasSize(1);
        return log.profile().bricks().get(0);
    }

    @Spec("13.18")
    @Test
    void aSampleAfterTheLastBrickWaitsAndIsThenSaidNotToBeInABrickThatHasEnded() {
        brick(profiler, BrickId.RMS_NORM, 0, 10);
        log.sample(mine, 12, false, STACK);
        log.reported(20, 20, 0);
        assertThat(samples()).isEqualTo(new Samples(0, 0, 0, 0, 0, 1, 0, 0));
        brick(profiler, BrickId.UP_PROJECTION, 11, 30);
        log.reported(40, 40, 0);
        assertThat(samples()).isEqualTo(new Samples(1, 0, 0, 0, 0, 0, 0, 0));
        assertThat(log.profile().bricks())
                .extracting(OfBrick::brick, OfBrick::samples)
                .contains(tuple("UpProjection", 1L));

        log.sample(mine, 50, false, STACK);
        log.reported(60, 60, 0);
        log.reported(62 * SECOND_NS, 62 * SECOND_NS, 0);
        brick(profiler, BrickId.UP_PROJECTION, 45, 63 * SECOND_NS);
        log.reported(64 * SECOND_NS, 64 * SECOND_NS, 0);
        assertThat(samples()).isEqualTo(new Samples(1, 0, 0, 0, 0, 1, 0, 0));
    }

    @Spec("13.18")
    @Test
    void theSamplesOfTheFirstBrickOfAThreadAreInItOnceItHasEnded() {
        SpanSink.Windows windows = log.windows();
        log.sample(mine, 5, false, STACK);
        log.sample(mine, 6, true, STACK);
        log.sample(mine + 1, 6, true, STACK);
        log.reported(7, 7, 0);
        assertThat(samples()).isEqualTo(new Samples(0, 0, 3, 0, 0, 0, 0, 0));
        assertThat(profile(windows).samples()).isEqualTo(Samples.NONE);
        windows.next();

        brick(profiler, BrickId.RMS_NORM, 0, 10);
        log.reported(20, 20, 0);
        assertThat(samples()).isEqualTo(new Samples(2, 0, 1, 0, 0, 0, 0, 0));
        assertThat(only().samples()).isEqualTo(2);
        assertThat(profile(windows).samples()).isEqualTo(new Samples(2, 0, 0, 0, 0, 0, 0, 0));
        windows.next();
        assertThat(profile(windows.read(true)).samples())
                .as("at the end")
                .isEqualTo(new Samples(0, 0, 1, 0, 0, 0, 0, 0));
    }

    @Spec("13.18")
    @Test
    void aResetForgetsTheSamplesOfWhatTheProfileLacks() {
        brick(profiler, BrickId.RMS_NORM, 0, 10);
        log.sample(mine, 5, false, STACK);
        log.reported(20, 20, 0);
        assertThat(samples().inBricks()).isEqualTo(1);
        clock.set(21);
        profiler.reset();
        assertThat(samples().total()).isZero();
        assertThat(log.profile().bricks()).isEmpty();

        brick(profiler, BrickId.UP_PROJECTION, 30, 40);
        log.sample(mine, 6, false, STACK);
        log.sample(mine, 35, false, STACK);
        log.reported(50, 50, 0);
        assertThat(only().brick()).isEqualTo("UpProjection");
        assertThat(samples().inBricks()).as("not the one that arrived late").isEqualTo(1);
        log.begin(1);
        BrickProfiler other = profiler(recorder);
        other.reset();
        assertThat(log.profile().missing()).contains("those before one of 2 profilers was reset, also of the others");
    }

    @Spec("13.18")
    @Test
    void samplesOfOverwrittenBricksAreTooLate() {
        for (boolean readsBefore : new boolean[] {true, false}) {
            TraceRecorder small = recorder(4);
            LineLog few = small.lineLog().orElseThrow();
            BrickProfiler brief = profiler(small);
            brick(brief, BrickId.RMS_NORM, 0, 10);
            if (readsBefore) {
                few.reported(11, 11, 0);
            }
            for (int i = 2; i < 12; i++) {
                brick(brief, BrickId.RMS_NORM, 10L * i, 10L * i + 10);
            }
            few.sample(mine, 25, false, STACK);
            few.sample(mine, 115, false, STACK);
            few.reported(130, 130, 0);
            assertThat(few.profile().samples())
                    .as("read before: %s", readsBefore)
                    .isEqualTo(new Samples(1, 0, 0, 0, 0, 0, 1, 0));
        }
    }

    @Spec("13.18")
    @Test
    void aThreadWithoutBricksWorksForTheOnlyStepOrForNone() throws Exception {
        long worker = mine + 1_000;
        Phaser turn = new Phaser(2);
        brick(profiler, BrickId.RMS_NORM, 0, 10);
        profiler.endPass();
        Crew crew = new Crew().run(() -> {
            turn.arriveAndAwaitAdvance();
            brick(profiler, BrickId.UP_PROJECTION, 5, 20);
            profiler.endPass();
            turn.arriveAndAwaitAdvance();
        });
        turn.arriveAndAwaitAdvance();
        turn.arriveAndAwaitAdvance();
        crew.join();
        log.sample(worker, 3, false, STACK);
        log.sample(worker, 3, true, STACK);
        log.sample(worker, 7, false, STACK);
        log.sample(worker, 15, false, STACK);
        log.sample(worker, 21, false, STACK);
        log.sampleOfVirtualThread(mine + 1, 15, false, STACK);
        log.sampleOfOtherThread();
        log.sampleWithoutTime();
        clock.set(30);
        brick(profiler, BrickId.RMS_NORM, 30, 31);
        profiler.endPass();
        log.reported(40, 40, 0);
        log.reported(62 * SECOND_NS, 62 * SECOND_NS, 0);
        assertThat(samples()).isEqualTo(new Samples(2, 0, 3, 1, 1, 0, 1, 0));
        assertThat(log.profile().bricks())
                .filteredOn(brick -> brick.samples() > 0)
                .extracting(OfBrick::brick, OfBrick::ofWorkers)
                .containsExactlyInAnyOrder(tuple("RmsNorm", 1L), tuple("UpProjection", 1L));
    }

    @Spec("13.18")
    @Test
    void aWorkerIsInItsOwnBrickAndOtherwiseWorksForTheStep() throws Exception {
        clock.set(0);
        long outer = profiler.startBrick(BrickId.FUSED_ATTENTION);
        long[] worker = new long[1];
        new Crew()
                .run(() -> {
                    worker[0] = Thread.currentThread().getId();
                    brick(profiler, BrickId.ATTENTION_SCORE, 10, 20);
                })
                .join();
        clock.set(40);
        profiler.stopBrick(outer, 1);
        clock.set(50);
        profiler.endPass();
        for (long atNs : new long[] {5, 15, 25, 45}) {
            log.sample(worker[0], atNs, false, STACK);
        }
        log.sample(worker[0], 26, true, STACK);
        log.reported(60, 60, 0);
        assertThat(samples()).isEqualTo(new Samples(3, 0, 0, 0, 0, 2, 0, 0));
        log.reported(62 * SECOND_NS, 62 * SECOND_NS, 0);
        assertThat(samples()).isEqualTo(new Samples(3, 0, 0, 0, 0, 2, 0, 0));
        assertThat(log.profile().bricks())
                .extracting(OfBrick::brick, OfBrick::samples, OfBrick::ofWorkers)
                .containsExactly(tuple("FusedAttention", 2L, 2L), tuple("AttentionScore", 1L, 0L));
    }

    /** Two steps at the same time, and a worker that has no bricks. */
    @Spec("13.18")
    @Test
    void aWorkerIsInTheBrickOfTheStepWhoseLayerItWasGiven() throws Exception {
        Phaser turn = new Phaser(2);
        long[] worker = new long[1];
        clock.set(0);
        profiler.startLayer();
        long token = profiler.layerToken();
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        Crew crew = new Crew()
                .run(() -> {
                    profiler.startLayer();
                    long other = profiler.startBrick(BrickId.UP_PROJECTION);
                    turn.arriveAndAwaitAdvance();
                    turn.arriveAndAwaitAdvance();
                    profiler.stopBrick(other, 1);
                    profiler.endLayer();
                    profiler.endPass();
                })
                .run(() -> {
                    worker[0] = Thread.currentThread().getId();
                    turn.arriveAndAwaitAdvance();
                    clock.set(10);
                    long before = profiler.workFor(token);
                    clock.set(20);
                    profiler.workFor(before);
                    clock.set(30);
                    turn.arriveAndAwaitAdvance();
                });
        crew.join();
        profiler.stopBrick(timer, 1);
        profiler.endLayer();
        profiler.endPass();
        log.sample(worker[0], 5, false, STACK);
        log.sample(worker[0], 15, false, STACK);
        log.sample(worker[0], 16, true, STACK);
        log.sample(worker[0], 25, false, STACK);
        log.sample(worker[0], 26, true, STACK);
        log.reported(40, 40, 0);
        assertThat(samples())
                .as("in native code without a layer, it works for no step")
                .isEqualTo(new Samples(2, 0, 1, 2, 0, 0, 0, 0));
        assertThat(log.profile().bricks())
                .extracting(OfBrick::brick, OfBrick::ofWorkers)
                .contains(tuple("RmsNorm", 2L));
    }

    @Test
    void theBricksOfAWorkerWhoseOwnMayBeLostAreNoneOfTheStep() throws Exception {
        TraceRecorder small = recorder(4);
        LineLog few = small.lineLog().orElseThrow();
        BrickProfiler brief = profiler(small);
        long[] worker = new long[1];
        new Crew()
                .run(() -> {
                    worker[0] = Thread.currentThread().getId();
                    for (int i = 0; i < 10; i++) {
                        brick(brief, BrickId.ATTENTION_SCORE, 10L * i, 10L * i + 5);
                    }
                })
                .join();
        brick(brief, BrickId.FUSED_ATTENTION, 0, 100);
        brief.endPass();
        few.sample(worker[0], 7, false, STACK);
        few.sample(worker[0], 87, false, STACK);
        few.reported(110, 110, 0);
        assertThat(few.profile().samples()).isEqualTo(new Samples(1, 0, 0, 0, 0, 0, 1, 0));
    }

    @Test
    void aSampleInBricksOfTwoProfilersIsInNeither() {
        BrickProfiler other = profiler(recorder);
        clock.set(0);
        long timer = other.startBrick(BrickId.FUSED_ATTENTION);
        brick(profiler, BrickId.RMS_NORM, 0, 10);
        clock.set(20);
        other.stopBrick(timer, 1);
        log.sample(mine, 5, false, STACK);
        profiler.endPass();
        other.endPass();
        log.reported(30, 30, 0);
        assertThat(samples()).isEqualTo(new Samples(0, 0, 0, 1, 0, 0, 0, 0));
    }

    @Test
    void theBricksOfAThreadThatIsForgottenAreTooLate() {
        brick(profiler, BrickId.RMS_NORM, 0, 10);
        log.reported(11, 11, 0);
        log.sample(mine, 12, false, STACK);
        log.reported(13, 13, 0);
        recorder.clear();
        assertThat(samples()).isEqualTo(Samples.NONE);
        log.sample(mine, 5, false, STACK);
        assertThat(samples()).as("a sample from before the reset").isEqualTo(Samples.NONE);
        clock.set(100);
        brick(profiler, BrickId.RMS_NORM, 100, 110);
        log.sample(mine, 105, false, STACK);
        profiler.endPass();
        log.reported(120, 120, 0);
        assertThat(samples()).isEqualTo(new Samples(1, 0, 0, 0, 0, 0, 0, 0));
        assertThat(only().java().samples()).isOne();
    }

    @Spec("13.18")
    @Test
    void aBrickWithFarFewerSamplesThanItsProcessorTimeAsksForIsDoubted() {
        times.ranNs = 0;
        for (int second = 1; second <= 4; second++) {
            long fromNs = second * SECOND_NS;
            clock.set(fromNs);
            long outer = profiler.startBrick(BrickId.FUSED_ATTENTION);
            brick(profiler, BrickId.ATTENTION_SCORE, fromNs + SECOND_NS / 10, fromNs + SECOND_NS * 6 / 10);
            clock.set(fromNs + SECOND_NS);
            profiler.stopBrick(outer, 1);
            for (int i = 0; i < 50; i++) {
                long atNs = fromNs + SECOND_NS * i / 50;
                boolean isInner = i >= 5 && i < 30;
                if (!isInner || i % 10 == 0) {
                    log.sample(mine, atNs, false, STACK);
                }
            }
            times.ranNs += SECOND_NS / 2;
            log.reported(fromNs + SECOND_NS, fromNs + SECOND_NS, 3);
        }
        LineProfile profile = log.profile();
        assertThat(profile.clockErrorNs()).isEqualTo(3);
        assertThat(profile.bricks())
                .extracting(OfBrick::brick, OfBrick::samples, OfBrick::isDoubted)
                .containsExactly(tuple("FusedAttention", 100L, false), tuple("AttentionScore", 8L, true));
        assertThat(profile.bricks().get(1).due().orElseThrow()).isBetween(53.9, 54.1);
    }

    @Test
    void treesAreBoundedAndLoseNoSample() {
        for (int i = 0; i < LineJoin.MOST_NODES + 100; i++) {
            brick(profiler, BrickId.RMS_NORM, 10L * i, 10L * i + 10);
            log.sample(
                    mine,
                    10L * i + 5,
                    i % 2 == 0,
                    List.of(new Frame("m" + i, 1, "Interpreted"), new Frame("root", 1, "Interpreted")));
            if (i % 100 == 0) {
                log.reported(10L * i + 10, 10L * i + 10, 0);
            }
        }
        profiler.endPass();
        log.reported(Long.MAX_VALUE, clock.now(), 0);
        OfBrick brick = only();
        assertThat(brick.samples()).isEqualTo(LineJoin.MOST_NODES + 100);
        assertThat(brick.java().nodes().size() + brick.natives().nodes().size()).isEqualTo(LineJoin.MOST_NODES + 2);
        assertThat(brick.java().methods(1)).first().satisfies(most -> assertThat(most.place())
                .isEqualTo(Frame.OTHER_PATHS.method()));
    }

    @Test
    void theProcessorTimeOfFirstBricksCountsFromTheBeginningOfTheSamples() {
        times.ranNs = 7 * SECOND_NS;
        log.sampledFrom(0);
        brick(profiler, BrickId.RMS_NORM, 0, SECOND_NS);
        log.sample(mine, 5, false, STACK);
        times.ranNs += SECOND_NS / 4;
        log.reported(SECOND_NS, SECOND_NS, 0);
        brick(profiler, BrickId.UP_PROJECTION, SECOND_NS, 2 * SECOND_NS);
        for (int i = 1; i <= 4; i++) {
            log.sample(mine, SECOND_NS + i, false, STACK);
        }
        times.ranNs += SECOND_NS;
        log.reported(2 * SECOND_NS, 2 * SECOND_NS, 0);
        assertThat(log.profile().bricks())
                .extracting(OfBrick::brick, each -> each.due().orElseThrow())
                .containsExactly(tuple("UpProjection", 4.0), tuple("RmsNorm", 1.0));
    }

    @Test
    void aWindowHasTheSamplesThatWereCountedInItAndInNoOther() {
        SpanSink.Windows windows = log.windows();
        brick(profiler, BrickId.RMS_NORM, 0, 10);
        log.sample(mine, 5, false, STACK);
        log.reported(20, 20, 0);
        assertThat(samplesOf(windows)).containsExactly(tuple("RmsNorm", 1L));
        assertThat(samplesOf(windows)).as("the window goes on").containsExactly(tuple("RmsNorm", 1L));
        windows.next();
        assertThat(samplesOf(windows)).isEmpty();

        brick(profiler, BrickId.RMS_NORM, 21, 30);
        brick(profiler, BrickId.UP_PROJECTION, 31, 40);
        log.sample(mine, 25, false, List.of(new Frame("a.B.sum", 7, "Interpreted")));
        log.sample(mine, 35, true, STACK);
        log.sample(mine, 36, true, STACK);
        log.reported(50, 50, 0);
        assertThat(samplesOf(windows)).containsExactly(tuple("UpProjection", 2L), tuple("RmsNorm", 1L));
        assertThat(profile(windows).bricks().get(1).java().lines(9))
                .singleElement()
                .satisfies(line -> assertThat(line.place().method()).isEqualTo("a.B.sum"));
        windows.next();
        recorder.clear();
        clock.set(60);
        brick(profiler, BrickId.RMS_NORM, 61, 70);
        log.sample(mine, 65, false, STACK);
        log.reported(80, 80, 0);
        assertThat(samplesOf(windows)).as("after the sums began anew").containsExactly(tuple("RmsNorm", 1L));
    }

    private static LineProfile profile(SpanSink.Windows windows) {
        return profile(windows.read(false));
    }

    private static LineProfile profile(Map<String, Object> window) {
        return LineProfile.fromJson(JsonTable.write(asValues(window.get(JsonReport.LINES))));
    }

    @SuppressWarnings("unchecked") // the values of a profile are a map
    private static Map<String, Object> asValues(@Nullable Object values) {
        return (Map<String, Object>) Objects.requireNonNull(values);
    }

    private static List<Tuple> samplesOf(SpanSink.Windows windows) {
        return profile(windows).bricks().stream()
                .filter(brick -> brick.samples() > 0)
                .map(brick -> tuple(brick.brick(), brick.samples()))
                .toList();
    }

    /** Two kinds of samples never share a table: the kind with more samples has it. */
    @Spec("13.18")
    @Test
    void samplesByProcessorTimeAreAKindOfTheirOwn() {
        SpanSink.Windows windows = log.windows();
        log.begin(20_000_000);
        brick(profiler, BrickId.RMS_NORM, 0, 100);
        LineLog timed = log.byProcessorTime();
        assertThat(log.profile().mode()).as("none so far").isEmpty();
        assertThat(log.profile().missing()).isEmpty();
        timed.begin(1_000_000);
        log.sample(mine, 5, false, STACK);
        log.sample(mine, 6, false, STACK);
        timed.sample(mine, 10, false, STACK);
        log.reported(110, 110, 0);
        assertThat(log.profile().mode()).isEmpty();
        assertThat(log.profile().missing()).contains("1 sample of processor time left out");
        assertThat(samples()).isEqualTo(new Samples(2, 0, 0, 0, 0, 0, 0, 0));
        assertThat(profile(windows).missing()).isEqualTo(log.profile().missing());
        windows.next();

        brick(profiler, BrickId.RMS_NORM, 120, 3_000);
        timed.sample(mine, 150, false, STACK);
        timed.sample(mine, 2_010, true, STACK);
        timed.lost(3);
        log.reported(3_100, 3_100, 0);
        LineProfile profile = log.profile();
        assertThat(profile.mode()).contains("processor time (within 2 us)");
        assertThat(profile.samples()).isEqualTo(new Samples(3, 0, 0, 0, 0, 0, 0, 0));
        assertThat(profile.periodNs()).isEqualTo(1_000_000);
        assertThat(profile.missing())
                .contains("2 samples of running threads left out; the virtual machine has lost 3 samples of processor"
                        + " time");
        assertThat(only().samples()).isEqualTo(3);
        assertThat(only().due()).as("the virtual machine states what it loses").isEmpty();
        assertThat(profile(windows).mode()).contains("processor time");
        assertThat(profile(windows).samples().inBricks()).isEqualTo(2);

        brick(profiler, BrickId.RMS_NORM, 3_100, 3_200);
        log.sample(mine, 3_110, false, STACK);
        log.sample(mine, 3_120, false, STACK);
        log.reported(3_300, 3_300, 0);
        assertThat(log.profile().mode()).isEmpty();
        assertThat(samples()).isEqualTo(new Samples(4, 0, 0, 0, 0, 0, 0, 0));
        recorder.clear();
        assertThat(log.profile().missing()).isEmpty();
        assertThat(samples()).isEqualTo(Samples.NONE);
    }

    @Test
    void bricksAfterTheLastSamplesAreStatedAtTheEnd() {
        log.begin(20);
        brick(profiler, BrickId.RMS_NORM, 0, 10);
        log.sample(mine, 5, false, STACK);
        log.reported(20, 20, 0);
        brick(profiler, BrickId.RMS_NORM, 21, 30);
        log.ended();
        assertThat(log.profile().missing()).as("less than a period").isEmpty();
        brick(profiler, BrickId.RMS_NORM, 30, 2 * SECOND_NS);
        log.ended();
        assertThat(log.profile().text())
                .contains(
                        ": 1 in bricks.\n  Samples are missing: the flight recorder did not hand over those of the last"
                                + " 2.00 s with bricks.\n");
    }

    @Test
    void aProfileWithoutSamplesSaysWhy() {
        assertThat(log.profile().missing()).contains("no flight recording has taken samples");
        log.begin(20_000_000);
        assertThat(log.profile().missing()).isEmpty();
        log.refuse("no room");
        assertThat(log.profile().missing()).isEqualTo(Optional.of("no room"));
        assertThat(new TraceRecorder().lines()).isEmpty();
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        TraceRecorder.builder().lines(true).keepNewest(false).build())
                .withMessageContaining("lines(true)");
        assertThatIllegalArgumentException().isThrownBy(() -> log.sample(mine, 0, false, List.of()));
    }
}
