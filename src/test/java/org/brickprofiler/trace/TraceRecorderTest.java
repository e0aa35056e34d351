package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.brickprofiler.Attribution;
import org.brickprofiler.Backend;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.record.Crew;
import org.brickprofiler.record.FakeClock;
import org.brickprofiler.tile.TileLevel;
import org.junit.jupiter.api.Test;

final class TraceRecorderTest {

    private static final DeviceInfo GPU = new DeviceInfo(0, "a GPU", Backend.CUDA, OptionalLong.empty());

    private final FakeClock clock = new FakeClock();
    private final TraceRecorder recorder =
            TraceRecorder.builder().clock(clock).tiles(true).build();
    private final BrickProfiler profiler = profiler(recorder);
    private final String thread = Thread.currentThread().getName();

    private BrickProfiler profiler(TraceRecorder sink) {
        BrickProfiler made = BrickProfiler.builder()
                .clock(clock)
                .attribution(Attribution.SEQUENTIAL)
                .tracing(sink)
                .build();
        made.enable();
        return made;
    }

    private long startAt(long ns, BrickId id) {
        clock.set(ns);
        return profiler.startBrick(id);
    }

    private void stopAt(long ns, long timer, long elements) {
        clock.set(ns);
        profiler.stopBrick(timer, elements);
    }

    private void brick(BrickId id, long startNs, long endNs) {
        stopAt(endNs, startAt(startNs, id), 1);
    }

    private List<String> events(String track) {
        return Replay.of(recorder.timeline(), track);
    }

    // ---- bricks ----

    @Test
    void aBrickIsASpanOnTheLineOfItsThread() {
        brick(BrickId.RMS_NORM, 100, 150);

        Timeline timeline = recorder.timeline();
        assertThat(timeline.tracks())
                .containsExactly(new Track(
                        Track.Kind.HOST_THREAD,
                        thread,
                        Track.PROCESS,
                        Thread.currentThread().getId()));
        assertThat(Replay.of(timeline, 0)).containsExactly("RmsNorm 100..150 x1");
        assertThat(timeline.names()).contains(new SpanName("RmsNorm", BrickCategory.NORM.displayName()));
        assertThat(timeline.earliestNs()).isEqualTo(100);
    }

    @Test
    void anOuterBrickComesBeforeTheOnesInsideIt() {
        long outer = startAt(100, BrickId.FUSED_ATTENTION);
        brick(BrickId.ATTENTION_SCORE, 100, 120);
        brick(BrickId.ATTENTION_SOFTMAX, 120, 150);
        stopAt(150, outer, 2);
        brick(BrickId.OUTPUT_PROJECTION, 150, 150);

        assertThat(events(thread))
                .containsExactly(
                        "FusedAttention 100..150 x2",
                        "AttentionScore 100..120 x1",
                        "AttentionSoftmax 120..150 x1",
                        "OutputProjection 150..150 x1");
    }

    @Test
    void dynamicBricksHaveTheirNamesAndCategories() {
        int key = profiler.brickKey("my kernel", BrickCategory.FFN);
        profiler.record(key, 30, 4);

        assertThat(events(thread)).containsExactly("my kernel -30..0 x4");
        assertThat(recorder.timeline().names()).contains(new SpanName("my kernel", "FFN"));
    }

    @Test
    void lapsFollowEachOther() {
        long timer = startAt(10, BrickId.RMS_NORM);
        clock.set(30);
        timer = profiler.lap(timer, 1, BrickId.QKV_PROJECTION);
        stopAt(70, timer, 1);

        assertThat(events(thread)).containsExactly("RmsNorm 10..30 x1", "QkvProjection 30..70 x1");
    }

    @Test
    void nothingIsRecordedWhileTheProfilerIsOff() {
        profiler.disable();
        brick(BrickId.RMS_NORM, 100, 150);
        profiler.endLayer();
        profiler.endPass();

        assertThat(recorder.timeline().tracks()).isEmpty();
        assertThat(recorder.timeline().earliestNs()).isEqualTo(150);
    }

    // ---- layers and steps ----

    @Test
    void layersAndStepsLieAroundTheirBricks() {
        for (int pass = 0; pass < 2; pass++) {
            long begin = 1_000L * pass;
            brick(BrickId.EMBEDDING, begin, begin + 10);
            for (long layer = 0; layer < 2; layer++) {
                clock.set(begin + 20 + 100 * layer);
                profiler.startLayer();
                brick(BrickId.RMS_NORM, begin + 30 + 100 * layer, begin + 40 + 100 * layer);
                clock.set(begin + 50 + 100 * layer);
                profiler.endLayer();
            }
            brick(BrickId.LM_HEAD, begin + 300, begin + 310);
            clock.set(begin + 320);
            profiler.endPass();
        }

        List<String> events = events(thread);
        assertThat(events.subList(0, 7))
                .containsExactly(
                        "step 0..320",
                        "Embedding 0..10 x1",
                        "Layer 0 20..50 layer 0",
                        "RmsNorm 30..40 x1 layer 0",
                        "Layer 1 120..150 layer 1",
                        "RmsNorm 130..140 x1 layer 1",
                        "LmHead 300..310 x1");
        assertThat(events.get(7)).isEqualTo("step 1000..1320");
        assertThat(events).hasSize(14);
        assertThat(recorder.timeline().names()).contains(new SpanName("step", SpanName.STEP));
    }

    @Test
    void aLayerWithoutAnnouncedBeginningBeginsWithItsFirstBrick() {
        brick(BrickId.RMS_NORM, 10, 20);
        clock.set(25);
        profiler.endLayer();
        brick(BrickId.RMS_NORM, 40, 50);
        clock.set(55);
        profiler.endLayer();

        assertThat(events(thread))
                .containsExactly(
                        "Layer 0 10..25 layer 0",
                        "RmsNorm 10..20 x1 layer 0",
                        "Layer 1 40..55 layer 1",
                        "RmsNorm 40..50 x1 layer 1");
    }

    @Test
    void boundariesWithNothingBetweenThemMakeNothing() {
        profiler.endLayer();
        profiler.endPass();
        profiler.endPass();

        assertThat(recorder.timeline().tracks()).isEmpty();
    }

    // ---- deferred measurements ----

    @Test
    void deferredMeasurementsHaveALineOfTheirOwn() {
        profiler.recordDeferred(BrickId.RMS_NORM, 10, 3);
        profiler.recordDeferred(BrickId.ROPE_EMBEDDING, 25, 4);
        profiler.finalize(60);

        assertThat(Replay.trackNames(recorder.timeline())).containsExactly("deferred measurements");
        assertThat(events("deferred measurements")).containsExactly("RmsNorm 10..25 x3", "RopeEmbedding 25..60 x4");
    }

    // ---- threads, tiles ----

    @Test
    void eachThreadHasALineThatOutlivesIt() throws Exception {
        brick(BrickId.RMS_NORM, 10, 20);
        Crew.runOnNewThread(() -> brick(BrickId.LM_HEAD, 30, 40));

        assertThat(Replay.trackNames(recorder.timeline())).containsExactly(thread, "crew-0");
        assertThat(events("crew-0")).containsExactly("LmHead 30..40 x1");

        recorder.clear();
        assertThat(recorder.timeline().tracks()).isEmpty();
        brick(BrickId.RMS_NORM, 50, 60);
        assertThat(events(thread)).containsExactly("RmsNorm 50..60 x1");
    }

    @Test
    void tilesAndBricksOfAThreadShareItsLine() {
        profiler.tiles().enable();
        long timer = startAt(10, BrickId.QKV_PROJECTION);
        clock.set(12);
        long tile = profiler.tiles().start(TileLevel.MACRO, 0, 0);
        clock.set(18);
        profiler.tiles().stop(tile, 64, 128);
        stopAt(20, timer, 1);

        assertThat(events(thread)).containsExactly("QkvProjection 10..20 x1", "macro tile 12..18 x64");
        assertThat(recorder.timeline().names()).contains(new SpanName("macro tile", "Tile"));
    }

    @Test
    void tilesStayOutUnlessWanted() {
        TraceRecorder plain = new TraceRecorder();
        BrickProfiler other = profiler(plain);
        other.tiles().enable();
        other.tiles().record(TileLevel.MICRO, 0, 0, 5, 1, 1);

        assertThat(plain.timeline().tracks()).isEmpty();
    }

    @Test
    void twoProfilersMayShareARecorder() {
        BrickProfiler second = profiler(recorder);
        brick(BrickId.RMS_NORM, 10, 20);
        int key = second.brickKey("of the second");
        second.record(key, 5, 1);

        assertThat(events(thread)).containsExactly("RmsNorm 10..20 x1", "of the second 15..20 x1");
    }

    // ---- what an application adds ----

    @Test
    void instantsAndSpansOfTheApplicationLieOnTheThreadsLine() {
        brick(BrickId.RMS_NORM, 10, 20);
        clock.set(15);
        recorder.instant("token chosen");
        recorder.span("request", "Server", 5, 30);

        assertThat(events(thread))
                .containsExactly("request 5..35", "RmsNorm 10..20 x1", "token chosen at 15");
        assertThat(recorder.timeline().names())
                .contains(new SpanName("request", "Server"), new SpanName("token chosen", "Application"));
    }

    @Test
    void aSpanMayBeAddedToTheLineOfAnotherThread() throws Exception {
        brick(BrickId.RMS_NORM, 10, 20);
        long here = Thread.currentThread().getId();
        Crew.runOnNewThread(() -> recorder.span("elsewhere", "Server", 5, 7, here));
        recorder.span("gone", "Server", 1, 2, 1L << 40);

        assertThat(events(thread)).containsExactly("elsewhere 5..12", "RmsNorm 10..20 x1");
        assertThat(events("thread " + (1L << 40))).containsExactly("gone 1..3");
    }

    @Test
    void aCounterHasATrackWithItsUnit() throws Exception {
        TraceCounter counter = recorder.counter("memory", "bytes");
        clock.set(20);
        counter.set(2.5);
        clock.set(10);
        Crew.runOnNewThread(() -> recorder.counter("memory", "other").set(-1));

        Timeline timeline = recorder.timeline();
        assertThat(timeline.tracks()).hasSize(1);
        assertThat(timeline.tracks().get(0).kind()).isEqualTo(Track.Kind.COUNTER);
        assertThat(timeline.tracks().get(0).unit()).isEqualTo("bytes");
        assertThat(Replay.of(timeline, "memory")).containsExactly("-1.0 at 10", "2.5 at 20");
        assertThat(timeline.earliestNs()).isEqualTo(10);
    }

    @Test
    void aTimerClosedByHandIsBackDatedAndLiesOnTheLineOfItsNumber() {
        clock.set(100);
        recorder.push("gemm", "probe", 30, 7);
        recorder.push("norm", "probe", 10, 3);

        assertThat(Replay.trackNames(recorder.timeline())).containsExactly("timers 3", "timers 7");
        assertThat(events("timers 7")).containsExactly("gemm 70..100");
    }

    @Test
    void badInputIsRefusedAndNamed() {
        assertThatIllegalArgumentException().isThrownBy(() -> recorder.instant("")).withMessageContaining("''");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> recorder.push("a", "b", -5, 1))
                .withMessageContaining("-5");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> recorder.push("a", "b", 5, -1))
                .withMessageContaining("-1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> recorder.span("a", "b", 5, -2))
                .withMessageContaining("-2");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TraceRecorder.builder().threadCapacity(0))
                .withMessageContaining("0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TraceRecorder.builder().totalCapacity(-3))
                .withMessageContaining("-3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TraceRecorder.builder().rank(4, 4))
                .withMessageContaining("rank 4 of 4");
        assertThat(recorder.timeline().tracks()).isEmpty();
    }

    // ---- devices ----

    @Test
    void aDeviceSpanIsTiedToTheHostSpanThatLaunchedIt() {
        DeviceTrack stream = recorder.stream(GPU, "stream 7", 7);
        brick(BrickId.RMS_NORM, 10, 12);
        brick(BrickId.LM_HEAD, 12, 15);
        long host = Thread.currentThread().getId();
        stream.launchedSpan("RmsNorm", "Norm", 20, 30, 1, host, 10);
        stream.launchedSpan("LmHead", "Other", 50, 40, 1, host, 12);
        stream.launchedSpan("LmHead", "Other", 95, 1, 1, host, 11);
        stream.span("memset", "Transfer", 100, 5, 0);
        stream.clockErrorNs(300);
        stream.clockErrorNs(200);

        Timeline timeline = recorder.timeline();
        assertThat(Replay.trackNames(timeline)).containsExactly(thread, "a GPU", "stream 7");
        assertThat(timeline.tracks().get(2)).isEqualTo(new Track(Track.Kind.STREAM, "stream 7", 1, 7));
        assertThat(Replay.of(timeline, thread))
                .containsExactly("RmsNorm 10..12 x1 device 30 out 1", "LmHead 12..15 x1 device 40 out 2");
        assertThat(Replay.of(timeline, "stream 7"))
                .containsExactly(
                        "RmsNorm 20..50 x1 in 1", "LmHead 50..90 x1 in 2", "LmHead 95..96 x1", "memset 100..105 x0");
        assertThat(timeline.info().clockErrorNs()).hasValue(300);
        assertThat(timeline.info().devices()).containsExactly(GPU);
    }

    @Test
    void aBatchOfDurationsIsLaidEndToEndFromTheSubmissionAndMarkedSo() {
        DeviceTrack stream = recorder.stream(GPU, "queue", 1);

        stream.endToEnd(5_000, List.of("relu", "matmul"), "FFN", 100, 500);

        assertThat(events("queue (laid end to end)")).containsExactly("relu 5000..5100", "matmul 5100..5600");
        assertThat(recorder.stream(GPU, "another name", 1)).isSameAs(stream);
    }

    @Test
    void aBatchThatMakesNoSenseAddsNothing() {
        DeviceTrack stream = recorder.stream(GPU, "queue", 1);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> stream.endToEnd(0, List.of("a"), "FFN", 1, 2))
                .withMessageContaining("1 names for 2");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> stream.endToEnd(0, List.of("a", "b"), "FFN", 1, -2))
                .withMessageContaining("-2");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> stream.span("a", "b", 0, 1, -9))
                .withMessageContaining("-9");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> stream.clockErrorNs(-1))
                .withMessageContaining("-1");
        assertThat(Replay.trackNames(recorder.timeline())).containsExactly("a GPU");
    }

    // ---- bounds ----

    @Test
    void theNewestEventsStayAndTheLossIsCounted() {
        TraceRecorder small =
                TraceRecorder.builder().clock(clock).threadCapacity(3).build();
        BrickProfiler watched = profiler(small);
        for (int i = 0; i < 10; i++) {
            watched.record(BrickId.RMS_NORM, i, 1);
        }

        assertThat(small.timeline().info().droppedSpans()).isEqualTo(7);
        assertThat(Replay.of(small.timeline(), 0)).hasSize(3).last().isEqualTo("RmsNorm -7..0 x1");
    }

    @Test
    void theFirstEventsStayWhereThatIsWanted() {
        TraceRecorder small = TraceRecorder.builder()
                .clock(clock)
                .threadCapacity(3)
                .keepNewest(false)
                .build();
        BrickProfiler watched = profiler(small);
        for (int i = 0; i < 10; i++) {
            watched.record(BrickId.RMS_NORM, i, 1);
        }

        assertThat(small.timeline().info().droppedSpans()).isEqualTo(7);
        assertThat(Replay.of(small.timeline(), 0)).hasSize(3).first().isEqualTo("RmsNorm -2..0 x1");
    }

    /** Timers pushed later may have begun earlier, however many there are. */
    @Test
    void manyEventsInDescendingOrderArePutInOrder() {
        int count = 200_000;
        TraceCounter counter = recorder.counter("memory", "B");
        for (int i = 0; i < count; i++) {
            clock.set(count - i);
            recorder.span("work", "Application", count - i, 1);
            counter.set((double) i);
            profiler.stopBrick(profiler.startBrick(BrickId.RMS_NORM), 1);
            profiler.endPass();
        }

        Timeline timeline = recorder.timeline();
        List<Long> starts = startsOf(timeline, thread);
        assertThat(starts).isSorted().hasSizeGreaterThan(count);
        assertThat(Replay.of(timeline, "memory")).first().isEqualTo(count - 1 + ".0 at 1");
    }

    private static List<Long> startsOf(Timeline timeline, String track) {
        List<Long> starts = new ArrayList<>();
        timeline.replay(Replay.indexOf(timeline, track), new TimelineVisitor() {
            @Override
            public void span(Span span) {
                starts.add(span.startNs());
            }

            @Override
            public void instant(long atNs, int name) {}

            @Override
            public void counter(long atNs, double value) {}
        });
        return starts;
    }

    @Test
    void aTimelineSaysWhoseItIsAndHowItsClockRelatesToTheCalendar() {
        clock.set(12_345);
        long before = System.currentTimeMillis();
        TraceInfo info = TraceRecorder.builder()
                .clock(clock)
                .processName("engine")
                .rank(3, 8)
                .build()
                .timeline()
                .info();

        assertThat(info.processName()).isEqualTo("engine");
        assertThat(info.rank()).isEqualTo(OptionalInt.of(3));
        assertThat(info.worldSize()).isEqualTo(8);
        assertThat(info.pid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(info.monotonicNs()).isEqualTo(12_345);
        assertThat(info.unixNs() / 1_000_000).isBetween(before, System.currentTimeMillis());
        assertThat(info.clockErrorNs()).isEmpty();
    }
}
