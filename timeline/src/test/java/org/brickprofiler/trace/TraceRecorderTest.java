package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.LongStream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.junit.jupiter.api.Test;

/** The events of a profiler in a recorder, and the bounds of the recorder. */
final class TraceRecorderTest extends TracedBricks {

    // ---- bricks ----

    @Spec("13.1")
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

    @Spec("17.7")
    @Test
    void aStepThatWasAnnouncedHasItsPhaseAndItsTokens() {
        clock.set(0);
        profiler.beginStep(StepInfo.prefill(12));
        brick(BrickId.RMS_NORM, 10, 30);
        clock.set(40);
        profiler.endPass();
        brick(BrickId.SAMPLING, 45, 48);
        clock.set(50);
        profiler.beginStep(StepInfo.decode(12));
        brick(BrickId.RMS_NORM, 60, 70);
        clock.set(80);
        profiler.endPass();
        brick(BrickId.RMS_NORM, 90, 95);
        profiler.endPass();

        assertThat(events(thread))
                .containsExactly(
                        "prefill 0..40 x13",
                        "RmsNorm 10..30 x1",
                        "Sampling 45..48 x1",
                        "decode 50..80 x1",
                        "RmsNorm 60..70 x1",
                        "step 90..95",
                        "RmsNorm 90..95 x1");
    }

    @Spec("17.7")
    @Test
    void aStepThatDidNotEndIsShownToItsLastBrick() {
        clock.set(0);
        profiler.beginStep(StepInfo.decode(1));
        profiler.startLayer();
        brick(BrickId.RMS_NORM, 10, 30);
        clock.set(50);
        profiler.beginStep(StepInfo.decode(2));
        clock.set(70);
        profiler.endPass();

        assertThat(events(thread))
                .containsExactly(
                        "decode 0..30 x1", "Layer 0 0..30 layer 0", "RmsNorm 10..30 x1 layer 0", "decode 50..70 x1");
    }

    @Spec({"3.8", "13.1"})
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

    @Spec("13.4")
    @Test
    void deferredMeasurementsHaveALineOfTheirOwn() {
        profiler.recordDeferred(BrickId.RMS_NORM, 10, 3);
        profiler.recordDeferred(BrickId.ROPE_EMBEDDING, 25, 4);
        profiler.finalize(60);

        assertThat(Replay.trackNames(recorder.timeline())).containsExactly("deferred measurements");
        assertThat(events("deferred measurements")).containsExactly("RmsNorm 10..25 x3", "RopeEmbedding 25..60 x4");
    }

    // ---- threads, tiles ----

    @Spec("13.3")
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

    // ---- bounds ----

    @Spec("13.2")
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

    @Spec("13.2")
    @Test
    void theFirstEventsStayIfRequested() {
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
        TraceRecorder.Counter counter = recorder.counter("memory", "B");
        for (int i = 0; i < count; i++) {
            clock.set(count - i);
            recorder.span("work", "Application", count - i, 1);
            counter.set((double) i);
            profiler.stopBrick(profiler.startBrick(BrickId.RMS_NORM), 1);
            if (i % 1_000 == 0) {
                profiler.endPass();
            }
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

    /** A resolution of 1 ms would shift a trace by up to 1 ms against those of other programs. */
    @Test
    void theWallClockHasTheResolutionOfTheSystems() {
        TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();

        assertThat(LongStream.generate(() -> recorder.timeline().info().unixNs())
                        .limit(50))
                .anyMatch(unixNs -> unixNs % 1_000_000 != 0);
    }
}
