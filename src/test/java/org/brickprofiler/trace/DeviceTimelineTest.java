package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.Backend;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickProfilerBuilder;
import org.brickprofiler.SyncMode;
import org.brickprofiler.device.SimulatedStream;
import org.brickprofiler.record.Crew;
import org.brickprofiler.record.FakeClock;
import org.brickprofiler.record.StreamPlace;
import org.brickprofiler.record.VirtualThreadStarter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bricks that a device timed, on the timeline: the launch on its thread, the work on its stream. */
final class DeviceTimelineTest {

    private static final long LAUNCH_NS = 5;

    private final FakeClock clock = new FakeClock(1_000);
    private final TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
    private final SimulatedStream stream = new SimulatedStream("decode", clock);
    private final BrickProfiler profiler = profiler(stream);
    private final String thread = Thread.currentThread().getName();

    private BrickProfiler profiler(SimulatedStream... streams) {
        BrickProfilerBuilder options = BrickProfiler.builder().clock(clock).tracing(recorder);
        Arrays.stream(streams).forEach(options::deviceStream);
        BrickProfiler made = options.build();
        made.enable();
        return made;
    }

    private SimulatedStream on(String backend, int index, String device, String name) {
        return new SimulatedStream(new StreamPlace(backend, index, device, name, 0), clock, 64);
    }

    /** A brick that the host launches in 5 ns and the device does in the given time. */
    private void brick(BrickId id, long deviceNs) {
        long timer = profiler.startBrick(id);
        launch(deviceNs);
        profiler.stopBrick(timer, 2);
    }

    private void launch(long deviceNs) {
        stream.work(deviceNs);
        clock.advance(LAUNCH_NS);
    }

    /** A brick of 10 ns on the first stream of a profiler. */
    private void brickOf(BrickProfiler made, SimulatedStream itsStream) {
        long timer = made.startBrick(BrickId.RMS_NORM);
        itsStream.work(10);
        clock.advance(1);
        made.stopBrick(timer, 1);
        made.endPass();
    }

    private List<String> events(String track) {
        return Replay.of(recorder.timeline(), track);
    }

    // ---- places and ties ----

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
                        new Track(Track.Kind.STREAM, "decode", 1, 0));
        assertThat(Replay.of(timeline, thread))
                .containsExactly(
                        "step 1000..91700",
                        "RmsNorm 1000..1005 device 700 out 1",
                        "LmHead 1005..1010 device 90000 out 2");
        assertThat(Replay.of(timeline, "decode"))
                .containsExactly("RmsNorm 1000..1700 x2 sample in 1", "LmHead 1700..91700 x2 sample in 2");
        assertThat(timeline.info().devices())
                .containsExactly(new DeviceInfo(0, "simulated", Backend.CPU, OptionalLong.empty()));
        assertThat(timeline.info().clockErrorNs()).hasValue(0);
        assertThat(timeline.info().droppedSpans()).isZero();
    }

    @Test
    void whatWasWaitedForIsThereThoughNobodyAskedTheProfiler() {
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
    void anEndWithoutAStartIsPlacedWhereItsTimeLies() {
        brick(BrickId.RMS_NORM, 100);
        clock.advance(1);
        profiler.recordDeferred(BrickId.LM_HEAD, 2, 7);
        profiler.endPass();

        assertThat(events(thread))
                .containsExactly(
                        "step 1000..1100", "RmsNorm 1000..1005 device 100 out 1", "LmHead 1002..1006 device 0 out 2");
        assertThat(events("decode"))
                .containsExactly("RmsNorm 1000..1100 x2 sample in 1", "LmHead 1100..1100 x7 sample in 2");
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
            // The device is idle where a brick begins, whatever was waited for before.
            clock.advance(1_000);
            expected.add("RmsNorm " + clock.now() + ".." + (clock.now() + 70) + " x2 sample in " + (layer + 1));
            brick(BrickId.RMS_NORM, 70);
            profiler.endLayer();
        }
        profiler.endPass();

        assertThat(events("decode")).containsExactlyElementsOf(expected);
        assertThat(events(thread)).filteredOn(event -> event.contains("device 70")).hasSize(3);
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
        profiler.endPass();

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
        VirtualThreadStarter starter = VirtualThreadStarter.find().orElse(null);
        if (starter == null) {
            return; // Before JDK 21 there are none.
        }
        starter.start(() -> brick(BrickId.RMS_NORM, 20)).join();
        profiler.endPass();

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
        assertThat(Replay.of(timeline, "decode").size() + Replay.of(timeline, "copies").size())
                .isEqualTo(4 * each);
        assertThat(Replay.of(timeline, "decode")).allMatch(event -> event.contains(" in "));
        assertThat(timeline.info().droppedSpans()).isZero();
        assertThat(resolved).hasValue(4 * each / 100);
    }

    // ---- streams and devices ----

    /** The tracks of devices and streams, a stream with the place of its device. */
    private List<String> deviceTracks() {
        return recorder.timeline().tracks().stream()
                .filter(track -> track.kind() != Track.Kind.HOST_THREAD)
                .map(track -> (track.parent() < 0 ? "" : track.parent() + "/") + track.name() + " " + track.id())
                .toList();
    }

    @Test
    void aDeviceHasItsStreamsBelowIt() {
        SimulatedStream decode = on("CUDA", 0, "a GPU", "decode");
        SimulatedStream copies = on("CUDA", 0, "a GPU", "copies");
        SimulatedStream second = on("CUDA", 1, "a GPU", "decode on the second");
        BrickProfiler made = profiler(decode, copies, second);
        for (String name : List.of("decode", "copies", "decode on the second")) {
            clock.advance(10);
            made.stopBrick(made.stream(name).startBrick(BrickId.LM_HEAD), 1);
            made.endPass();
        }

        assertThat(deviceTracks())
                .containsExactly("a GPU 0", "1/decode 0", "1/copies 1", "a GPU 1", "4/decode on the second 2");
        assertThat(events("copies")).containsExactly("LmHead 1020..1020 x1 sample in 2");
        assertThat(recorder.timeline().info().devices())
                .extracting(DeviceInfo::id, DeviceInfo::name, DeviceInfo::backend)
                .containsExactly(tuple(0, "a GPU", Backend.CUDA), tuple(1, "a GPU", Backend.CUDA));
    }

    @Test
    void profilersShareTheLineOfAStreamAndNoOther() {
        SimulatedStream decode = on("CUDA", 0, "a GPU", "decode");
        SimulatedStream copies = on("CUDA", 0, "a GPU", "copies");
        profiler.brickKey("keys differ");
        brickOf(profiler(decode), decode);
        clock.advance(100);
        brickOf(profiler(copies), copies);
        clock.advance(100);
        BrickProfiler again = profiler(decode);
        again.stopBrick(again.startBrick(again.brickKey("again")), 1);
        clock.advance(100);
        again.endPass();

        assertThat(deviceTracks()).containsExactly("a GPU 0", "1/decode 0", "1/copies 1");
        assertThat(events("decode")).hasSize(2).element(1).asString().startsWith("again ");
        assertThat(events("copies")).hasSize(1);
    }

    @Test
    void devicesOfOtherKindsGetAFreeNumber() {
        SimulatedStream gpu = on("CUDA", 0, "a GPU", "decode");
        SimulatedStream apple = on("METAL", 0, "an M2", "decode");
        SimulatedStream own = on("FPGA", 1, "a board", "decode");
        for (SimulatedStream each : List.of(gpu, apple, own, gpu)) {
            brickOf(profiler(each), each);
            clock.advance(100);
        }

        assertThat(deviceTracks())
                .containsExactly("a GPU 0", "1/decode 0", "an M2 1", "3/decode 0", "a board 2", "5/decode 0");
        assertThat(events("decode")).hasSize(2);
        assertThat(recorder.timeline().info().devices())
                .extracting(DeviceInfo::backend)
                .containsExactly(Backend.CUDA, Backend.METAL, Backend.CPU);
    }

    @Test
    void whatIsToldByHandKeepsItsNumber() {
        DeviceInfo told = new DeviceInfo(0, "a GPU", Backend.CUDA, OptionalLong.of(80L << 30));
        SimulatedStream decode = on("CUDA", 0, "a GPU", "decode");
        SimulatedStream stream7 = on("CUDA", 0, "a GPU", "stream 7");
        SimulatedStream board = on("CPU", 0, "a board", "decode");
        List<SimulatedStream> streams = List.of(decode, stream7, board);
        for (SimulatedStream each : streams) {
            BrickProfiler made = profiler(each);
            made.stopBrick(made.startBrick(BrickId.LM_HEAD), 1);
            made.endPass();
        }
        recorder.stream(told, "stream 7", 7).span("memset", "Transfer", 900, 5, 0);
        recorder.stream(told, "default", 0).span("memset", "Transfer", 900, 5, 0);

        assertThat(deviceTracks())
                .containsExactly("a GPU 0", "1/stream 7 7", "1/default 0", "1/decode 1", "a board 1", "5/decode 0");
        assertThat(recorder.timeline().info().devices())
                .containsExactly(told, new DeviceInfo(1, "a board", Backend.CPU, OptionalLong.empty()));
        assertThat(events("stream 7"))
                .containsExactly("memset 900..905 x0", "LmHead 1000..1000 x1 sample in 1");
    }

    @Test
    void aSpanToldByHandIsNotTiedToALaunchOfTheProfiler() {
        long host = Thread.currentThread().getId();
        recorder.stream(new DeviceInfo(0, "a GPU", Backend.CUDA, OptionalLong.empty()), "hand", 3)
                .launchedSpan("RmsNorm", "Norm", 1_100, 30, 1, host, 1_000);
        brick(BrickId.RMS_NORM, 50);
        profiler.endPass();

        assertThat(events("hand")).containsExactly("RmsNorm 1100..1130 x1");
        assertThat(events("decode")).containsExactly("RmsNorm 1000..1050 x2 sample in 1");
    }

    // ---- what is missing ----

    @Test
    void aSampleThatFailedLeavesItsLaunch() {
        stream.capture(true);
        brick(BrickId.RMS_NORM, 50);
        stream.capture(false);
        profiler.endPass();

        assertThat(profiler.brickStats(BrickId.RMS_NORM).device().unresolved()).isEqualTo(1);
        assertThat(events(thread)).containsExactly("step 1000..1050", "RmsNorm 1000..1005");
        assertThat(Replay.trackNames(recorder.timeline())).containsExactly(thread);
    }

    @Test
    void aDeviceThatIsLostLeavesTheLaunchUpToNow() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        launch(50);
        stream.lose();
        profiler.stopBrick(timer, 1);
        profiler.recordDeferred(BrickId.LM_HEAD, 1, 1);
        profiler.stopBrick(profiler.startBrick(BrickId.EMBEDDING), 1);
        profiler.endPass();

        assertThat(events(thread)).containsExactly("step 1000..1005", "RmsNorm 1000..1005", "LmHead 1001..1005");
        assertThat(Replay.trackNames(recorder.timeline())).containsExactly(thread);
    }

    @Test
    void aSampleWhosePlaceNobodyKnowsIsMissingAndCounted() {
        brick(BrickId.LM_HEAD, 30);
        stream.capture(true);
        brick(BrickId.RMS_NORM, 50);
        stream.capture(false);
        profiler.endPass();

        assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(30);
        assertThat(events(thread))
                .containsExactly("step 1000..1080", "LmHead 1000..1005", "RmsNorm 1005..1010");
        assertThat(recorder.timeline().info().droppedSpans()).isEqualTo(1);
        recorder.clear();
        assertThat(recorder.timeline().info().droppedSpans()).isZero();
    }

    @Test
    void aTimerWhoseMarkWasGivenToAnotherLeavesNothing() {
        SimulatedStream narrow = new SimulatedStream("narrow", clock, 2);
        BrickProfiler made = profiler(narrow);
        long first = made.startBrick(BrickId.RMS_NORM);
        long second = made.startBrick(BrickId.RMS_NORM);
        made.endPass();
        made.endPass();
        clock.advance(10);
        made.stopBrick(first, 1);
        made.stopBrick(second, 1);
        made.endPass();

        assertThat(made.brickStats(BrickId.RMS_NORM).device().unresolved()).isEqualTo(2);
        assertThat(Replay.trackNames(recorder.timeline())).isEmpty();
    }

    @Test
    void aTimerThatWasStartedWithoutAMarkLeavesNothing() {
        SimulatedStream narrow = new SimulatedStream("narrow", clock, 1);
        BrickProfiler made = profiler(narrow);
        long first = made.startBrick(BrickId.RMS_NORM);
        long second = made.startBrick(BrickId.LM_HEAD);
        clock.advance(10);
        made.stopBrick(second, 1);
        made.stopBrick(first, 1);

        // The start of the first one is known, though no mark was left for its end.
        assertThat(events(thread)).containsExactly("RmsNorm 1000..1010");
    }

    @Test
    void aTimelineMayBeReadWhileProfilersAreMadeAndDevicesWaitedFor() throws Exception {
        Crew crew = new Crew();
        for (int i = 0; i < 2; i++) {
            crew.run(() -> {
                for (int pass = 0; pass < 200; pass++) {
                    SimulatedStream own = new SimulatedStream("own", clock, 64);
                    brickOf(profiler(own), own);
                }
            });
        }
        crew.run(() -> {
            for (int i = 0; i < 200; i++) {
                assertThat(recorder.timeline().info().droppedSpans()).isZero();
            }
        });
        crew.join();

        assertThat(events("own")).hasSize(400).allMatch(event -> event.contains(" in "));
    }

    @Test
    void clearingForgetsWhatWasWaitedFor() {
        brick(BrickId.RMS_NORM, 50);
        profiler.endPass();
        recorder.clear();
        assertThat(Replay.trackNames(recorder.timeline())).isEmpty();

        clock.advance(100);
        brick(BrickId.LM_HEAD, 50);
        profiler.endPass();
        assertThat(events("decode")).containsExactly("LmHead 1150..1200 x2 sample in 1");
    }

    @Test
    void theNewestWorkStaysAndTheLossIsCounted() {
        TraceRecorder small = TraceRecorder.builder().clock(clock).threadCapacity(8).build();
        BrickProfiler made =
                BrickProfiler.builder().clock(clock).deviceStream(stream).tracing(small).build();
        made.enable();
        for (int i = 0; i < 10; i++) {
            long timer = made.startBrick(BrickId.RMS_NORM);
            stream.work(10);
            made.stopBrick(timer, i);
        }
        made.endPass();

        // Each sample takes two entries of a stream, and one of a thread, which also has the end of the pass.
        assertThat(Replay.of(small.timeline(), "decode"))
                .containsExactly(
                        "RmsNorm 1060..1070 x6 sample in 1",
                        "RmsNorm 1070..1080 x7 sample in 2",
                        "RmsNorm 1080..1090 x8 sample in 3",
                        "RmsNorm 1090..1100 x9 sample in 4");
        assertThat(small.timeline().info().droppedSpans()).isEqualTo(12 + 3);
    }
}
