package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.OptionalLong;
import org.brickprofiler.Backend;
import org.brickprofiler.BrickId;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.trace.TraceInfo.Device;
import org.junit.jupiter.api.Test;

/** Events that a program adds to the recorder: about its threads, its counters and its devices. */
final class ApplicationEventsTest extends TracedBricks {

    private static final Device GPU = new Device(0, "a GPU", Backend.CUDA, OptionalLong.empty());

    // ---- threads and counters ----

    @Spec("13.1")
    @Test
    void instantsAndSpansOfTheApplicationLieOnTheThreadsLine() {
        brick(BrickId.RMS_NORM, 10, 20);
        clock.set(15);
        recorder.instant("token chosen");
        recorder.span("request", "Server", 5, 30);

        assertThat(events(thread)).containsExactly("request 5..35", "RmsNorm 10..20 x1", "token chosen at 15");
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
    void anInstantMayBeAddedForAnotherMomentAndThread() throws Exception {
        brick(BrickId.RMS_NORM, 10, 20);
        long here = Thread.currentThread().getId();
        recorder.instant("prefill done", "Server", 12);
        Crew.runOnNewThread(() -> recorder.instant("cancelled", "Server", 30, here));
        Crew.runOnNewThread(() -> recorder.instant("woken", "Server", 31, 1L << 40));

        assertThat(events(thread)).containsExactly("RmsNorm 10..20 x1", "prefill done at 12", "cancelled at 30");
        assertThat(events("thread " + (1L << 40))).containsExactly("woken at 31");
        assertThat(recorder.timeline().names()).contains(new SpanName("cancelled", "Server"));
    }

    /** The times of spans that an application adds can be those of this clock. */
    @Test
    void theRecordersClockCanBeRead() {
        clock.set(70);
        long startNs = recorder.nowNs();
        clock.set(95);
        recorder.span("request", "Server", startNs, recorder.nowNs() - startNs);

        assertThat(events(thread)).containsExactly("request 70..95");
    }

    @Test
    void theEventsThatAreKeptAreCounted() {
        assertThat(recorder.eventCount()).isZero();
        brick(BrickId.RMS_NORM, 10, 20);
        profiler.endLayer();
        profiler.endPass();
        profiler.tiles().enable();
        profiler.tiles().record(TileLevel.MICRO, 0, 0, 5, 1, 1);
        assertThat(recorder.eventCount()).as("bricks, boundaries and tiles").isEqualTo(4);

        recorder.instant("token chosen");
        recorder.span("request", "Server", 5, 30);
        recorder.span("elsewhere", "Server", 5, 7, 1L << 40);
        recorder.push("gemm", "probe", 3, 7);
        recorder.counter("memory", "bytes").set(2);
        assertThat(recorder.eventCount()).as("and what the application adds").isEqualTo(9);

        DeviceTrack stream = recorder.stream(GPU, "stream 7", 7);
        stream.span("memset", "Transfer", 100, 5, 0);
        stream.endToEnd(200, List.of("relu", "matmul"), "FFN", 100, 500);
        stream.launchedSpan("RmsNorm", "Norm", 20, 30, 1, Thread.currentThread().getId(), 10);
        assertThat(recorder.eventCount()).as("and what devices did").isEqualTo(14);

        recorder.clear();
        assertThat(recorder.eventCount()).isZero();
    }

    @Test
    void eventsThatWereLostAreNotCounted() {
        TraceRecorder small =
                TraceRecorder.builder().clock(clock).threadCapacity(10).build();
        for (int i = 0; i < 25; i++) {
            small.instant("token");
        }

        assertThat(small.eventCount()).isEqualTo(10);
        assertThat(small.timeline().info().droppedSpans()).isEqualTo(15);
    }

    @Spec("13.1")
    @Test
    void aCounterHasATrackWithItsUnit() throws Exception {
        TraceRecorder.Counter counter = recorder.counter("memory", "bytes");
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
        assertThatIllegalArgumentException()
                .isThrownBy(() -> recorder.instant(""))
                .withMessageContaining("''");
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
    void eachPassOfABatchBeginsAtTheEndOfThePreviousOne() {
        DeviceTrack stream = recorder.stream(GPU, "queue", 1);

        stream.endToEnd(-50, List.of("norm", "qkv", "softmax", "norm"), "Norm", 70, 300, 5, 11);
        stream.endToEnd(1_000, List.of("norm"), "Norm", 4);

        assertThat(events("queue (laid end to end)"))
                .containsExactly("norm -50..20", "qkv 20..320", "softmax 320..325", "norm 325..336", "norm 1000..1004");
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
}
