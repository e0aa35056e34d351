package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.Backend;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.SyncMode;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.brickprofiler.trace.TraceInfo.Device;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bricks that a device timed, on the timeline: the launch on its thread, the work on its stream. */
final class DeviceTimelineTest extends TracedDevice {

    // ---- places and ties ----

    @Spec("13.5")
    @Test
    void theLaunchLiesOnItsThreadAndTheWorkOnItsStream() {
        brick(BrickId.RMS_NORM, 700);
        brick(BrickId.LM_HEAD, 90_000);
        profiler.endPass();

        Timeline timeline = recorder.timeline();
        assertThat(timeline.tracks())
                .containsExactly(
                        new Track(
                                Track.Kind.HOST_THREAD,
                                thread,
                                Track.PROCESS,
                                Thread.currentThread().getId()),
                        new Track(Track.Kind.DEVICE, "simulated", Track.PROCESS, 0),
                        new Track(Track.Kind.STREAM, "decode", 1, 7));
        assertThat(Replay.of(timeline, thread))
                .containsExactly(
                        "step 1000..91700",
                        "RmsNorm 1000..1005 device 700 out 1",
                        "LmHead 1005..1010 device 90000 out 2");
        assertThat(Replay.of(timeline, "decode"))
                .containsExactly("RmsNorm 1000..1700 x2 sample in 1", "LmHead 1700..91700 x2 sample in 2");
        assertThat(timeline.info().devices())
                .containsExactly(new Device(0, "simulated", Backend.CPU, OptionalLong.empty()));
        assertThat(timeline.info().clockErrorNs()).hasValue(0);
        assertThat(timeline.info().droppedSpans()).isZero();
    }

    @Test
    void resolvedWorkIsOnTheTimelineWithoutAQueryOfTheProfiler() {
        for (int pass = 1; pass <= 3; pass++) {
            brick(BrickId.RMS_NORM, 10);
            profiler.endPass();
            assertThat(events("decode")).hasSize(pass);
        }
    }

    @Test
    void lapsFollowEachOtherOnBothSides() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        launch(40);
        timer = profiler.lap(timer, 1, BrickId.LM_HEAD);
        launch(60);
        profiler.stopBrick(timer, 1);
        profiler.endPass();

        assertThat(events(thread))
                .containsExactly(
                        "step 1000..1100", "RmsNorm 1000..1005 device 40 out 1", "LmHead 1005..1010 device 60 out 2");
        assertThat(events("decode"))
                .containsExactly("RmsNorm 1000..1040 x1 sample in 1", "LmHead 1040..1100 x1 sample in 2");
    }

    @Test
    void aBrickAroundOthersLiesAroundThemOnBothSides() {
        long outer = profiler.startBrick(BrickId.FUSED_ATTENTION);
        brick(BrickId.ATTENTION_SCORE, 40);
        brick(BrickId.ATTENTION_SCORE, 60);
        profiler.stopBrick(outer, 3);
        profiler.endPass();

        assertThat(events(thread))
                .containsExactly(
                        "step 1000..1100",
                        "FusedAttention 1000..1010 device 100 out 3",
                        "AttentionScore 1000..1005 device 40 out 1",
                        "AttentionScore 1005..1010 device 60 out 2");
        assertThat(events("decode"))
                .containsExactly(
                        "FusedAttention 1000..1100 x3 sample in 3",
                        "AttentionScore 1000..1040 x2 sample in 1",
                        "AttentionScore 1040..1100 x2 sample in 2");
    }

    @Test
    void aMeasurementWithoutAKnownStartIsALaunchAlone() {
        brick(BrickId.RMS_NORM, 100);
        clock.advance(1);
        profiler.recordDeferred(BrickId.LM_HEAD, 2, 7);
        profiler.endPass();

        assertThat(events(thread))
                .containsExactly("step 1000..1100", "RmsNorm 1000..1005 device 100 out 1", "LmHead 1002..1006");
        assertThat(events("decode")).containsExactly("RmsNorm 1000..1100 x2 sample in 1");
    }

    /** The passes in between returned the mark of its start, whose time they kept. */
    @Test
    void aMeasurementAroundPassesIsPlacedAtItsTime() {
        long start = profiler.elapsedNs();
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        brick(BrickId.RMS_NORM, 50);
        profiler.endPass();
        profiler.recordDeferred(BrickId.FUSED_ATTENTION, start, 7);
        profiler.endPass();

        assertThat(events("decode"))
                .containsExactlyInAnyOrder(
                        "RmsNorm 1000..1100 x2 sample in 1",
                        "RmsNorm 1100..1150 x2 sample in 2",
                        "FusedAttention 1000..1150 x7 sample in 3");
    }

    @Test
    void layersAreMadeOfLaunches() {
        profiler.setSyncMode(SyncMode.PER_LAYER);
        clock.advance(100);
        brick(BrickId.RMS_NORM, 50);
        profiler.endLayer();

        assertThat(events(thread))
                .containsExactly("Layer 0 1100..1150 layer 0", "RmsNorm 1100..1105 layer 0 device 50 out 1");
    }

    @ParameterizedTest
    @EnumSource(value = SyncMode.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void everyModeTellsTheSameWork(SyncMode mode) {
        profiler.setSyncMode(mode);
        List<String> expected = new ArrayList<>();
        for (int layer = 0; layer < 3; layer++) {
            // The device is idle when a brick begins, regardless of earlier waits.
            clock.advance(1_000);
            expected.add("RmsNorm " + clock.now() + ".." + (clock.now() + 70) + " x2 sample in " + (layer + 1));
            brick(BrickId.RMS_NORM, 70);
            profiler.endLayer();
        }
        profiler.endPass();

        assertThat(events("decode")).containsExactlyElementsOf(expected);
        assertThat(events(thread))
                .filteredOn(event -> event.contains("device 70"))
                .hasSize(3);
    }

    @Test
    void withoutMarksTheHostsSpanIsTheSample() {
        profiler.setSyncMode(SyncMode.NONE);
        brick(BrickId.RMS_NORM, 70);
        profiler.endPass();

        assertThat(events(thread)).containsExactly("step 1000..1005", "RmsNorm 1000..1005 x2");
        assertThat(Replay.trackNames(recorder.timeline())).containsExactly(thread);
        assertThat(recorder.timeline().info().clockErrorNs()).isEmpty();
        assertThat(recorder.timeline().info().devices()).isEmpty();
    }

    @Test
    void theErrorOfTheClocksIsTheLargestOfAnyResolution() {
        brick(BrickId.RMS_NORM, 100);
        clock.advance(1_095);
        profiler.endPassAsync();
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();

        assertThat(recorder.timeline().info().clockErrorNs()).hasValue(500);
        assertThat(events("decode"))
                .containsExactly("RmsNorm 1500..1600 x2 sample in 1", "RmsNorm 2100..2200 x2 sample in 2");
    }

    // ---- threads ----

    @Test
    void launchesLieOnTheThreadThatStoppedTheTimer() throws Exception {
        long started = profiler.startBrick(BrickId.EMBEDDING);
        launch(10);
        new Crew()
                .run(() -> {
                    profiler.stopBrick(started, 1);
                    brick(BrickId.RMS_NORM, 20);
                })
                .join();
        new Crew().run(() -> brick(BrickId.LM_HEAD, 30)).join();
        profiler.stream("decode").endPass();

        Timeline timeline = recorder.timeline();
        List<Track> tracks = timeline.tracks();
        assertThat(tracks).extracting(Track::name).containsExactly("crew-0", "crew-0", "simulated", "decode");
        assertThat(Replay.of(timeline, 0))
                .containsExactly("Embedding 1000..1005 device 10 out 1", "RmsNorm 1005..1010 device 20 out 2");
        assertThat(Replay.of(timeline, 1)).containsExactly("LmHead 1010..1015 device 30 out 3");
        assertThat(Replay.of(timeline, "decode"))
                .containsExactly(
                        "Embedding 1000..1010 x1 sample in 1",
                        "RmsNorm 1010..1030 x2 sample in 2",
                        "LmHead 1030..1060 x2 sample in 3");
    }

    @Test
    void launchesOfVirtualThreadsAreTiedToo() throws InterruptedException {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        starter.start(() -> brick(BrickId.RMS_NORM, 20)).join();
        profiler.stream("decode").endPass();

        assertThat(events("virtual threads 1")).containsExactly("RmsNorm 1000..1005 device 20 out 1");
    }

    @Test
    void manyThreadsOnManyStreamsLoseNothing() throws Exception {
        int each = 2_000;
        SimulatedStream other = new SimulatedStream("copies", clock);
        BrickProfiler both = profiler(stream, other);
        AtomicLong resolved = new AtomicLong();
        Crew crew = new Crew();
        for (String name : List.of("decode", "copies", "decode", "copies")) {
            crew.run(() -> {
                for (int i = 0; i < each; i++) {
                    long timer = both.stream(name).startBrick(BrickId.RMS_NORM);
                    clock.advance(1);
                    both.stopBrick(timer, 1);
                    if (i % 100 == 99) {
                        both.endPass();
                        resolved.incrementAndGet();
                    }
                }
            });
        }
        crew.join();
        both.endPass();

        Timeline timeline = recorder.timeline();
        long samples = both.brickStats(BrickId.RMS_NORM).count();
        assertThat(samples).isEqualTo(4L * each);
        assertThat(Replay.of(timeline, "decode").size()
                        + Replay.of(timeline, "copies").size())
                .isEqualTo(4 * each);
        assertThat(Replay.of(timeline, "decode")).allMatch(event -> event.contains(" in "));
        assertThat(timeline.info().droppedSpans()).isZero();
        assertThat(resolved).hasValue(4 * each / 100);
    }

    @Test
    void aTimelineMayBeReadWhileProfilersAreMadeAndDevicesWaitedFor() throws Exception {
        Crew crew = new Crew();
        for (int i = 0; i < 2; i++) {
            crew.run(() -> {
                for (int pass = 0; pass < 60; pass++) {
                    SimulatedStream own = new SimulatedStream("own", clock, 64);
                    brickOf(profiler(own), own);
                }
            });
        }
        crew.run(() -> {
            for (int i = 0; i < 60; i++) {
                assertThat(recorder.timeline().info().droppedSpans()).isZero();
            }
        });
        crew.join();

        assertThat(events("own")).hasSize(120).allMatch(event -> event.contains(" in "));
    }
}
