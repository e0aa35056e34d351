package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanSinks;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/**
 * Samples that the timeline lacks because a device returns no time or room runs out: they are left out, counted, never
 * invented.
 */
final class DeviceTimelineLossTest extends TracedDevice {

    @Test
    void aSampleThatFailedLeavesItsLaunch() {
        stream.capture(true);
        brick(BrickId.RMS_NORM, 50);
        stream.capture(false);
        profiler.endPass();

        assertThat(profiler.brickStats(BrickId.RMS_NORM).device().unresolved()).isEqualTo(1);
        assertThat(events(thread)).containsExactly("step 1000..1005", "RmsNorm 1000..1005");
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
        assertThat(events(thread)).containsExactly("step 1000..1030", "LmHead 1000..1005", "RmsNorm 1005..1010");
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
    void clearingDiscardsPendingSamples() {
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
        TraceRecorder small =
                TraceRecorder.builder().clock(clock).threadCapacity(8).build();
        BrickProfiler made = BrickProfiler.builder()
                .clock(clock)
                .deviceStream(stream)
                .tracing(small)
                .build();
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

    /** If the clock error of one sample is unknown, that of the timeline is unknown, too. */
    @Spec("12.42")
    @Test
    void anUnknownErrorIsNoErrorOfZero() {
        SpanSink.Names names = new SpanSink.Names() {
            @Override
            public int size() {
                return 1;
            }

            @Override
            public String name(int key) {
                return "brick";
            }

            @Override
            public String category(int key) {
                return "Other";
            }
        };
        SpanSink.Place place = new SpanSink.Place("OPENCL", 0, "a GPU", "queue", 0);
        SpanSink.Stream device = Objects.requireNonNull(SpanSinks.of(recorder).stream(place, names, this, () -> false));
        device.clockErrorNs(40);
        device.sample(0, 1_000, 10, 1, -1, 1_000);
        assertThat(recorder.timeline().info().clockErrorNs()).hasValue(40);

        device.clockErrorNs(-1);
        device.sample(0, 1_020, 10, 1, -1, 1_020);
        assertThat(recorder.timeline().info().clockErrorNs()).isEmpty();
    }
}
