package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import java.util.OptionalLong;
import org.brickprofiler.Backend;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.TraceInfo.Device;
import org.junit.jupiter.api.Test;

/** The tracks that devices and their streams get on the timeline. */
final class DeviceTracksTest extends TracedDevice {

    private SimulatedStream on(String backend, int index, String device, String name) {
        return new SimulatedStream(new SpanSink.Place(backend, index, device, name, 0), clock, 64);
    }

    /** Returns the tracks of devices and streams, those of streams with the index of their device's track. */
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
                .containsExactly("a GPU 0", "1/decode 7", "1/copies 8", "a GPU 1", "4/decode on the second 9");
        assertThat(events("copies")).containsExactly("LmHead 1020..1020 x1 sample in 2");
        assertThat(recorder.timeline().info().devices())
                .extracting(Device::id, Device::name, Device::backend)
                .containsExactly(tuple(0, "a GPU", Backend.CUDA), tuple(1, "a GPU", Backend.CUDA));
    }

    @Spec("13.5")
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

        assertThat(deviceTracks()).containsExactly("a GPU 0", "1/decode 7", "1/copies 8");
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
                .containsExactly("a GPU 0", "1/decode 7", "an M2 1", "3/decode 7", "a board 2", "5/decode 7");
        assertThat(events("decode")).hasSize(2);
        assertThat(recorder.timeline().info().devices())
                .extracting(Device::backend)
                .containsExactly(Backend.CUDA, Backend.METAL, Backend.CPU);
    }

    @Test
    void aStreamAddedByHandKeepsItsNumber() {
        Device added = new Device(0, "a GPU", Backend.CUDA, OptionalLong.of(80L << 30));
        SimulatedStream decode = on("CUDA", 0, "a GPU", "decode");
        SimulatedStream stream7 = on("CUDA", 0, "a GPU", "stream 7");
        SimulatedStream board = on("CPU", 0, "a board", "decode");
        List<SimulatedStream> streams = List.of(decode, stream7, board);
        for (SimulatedStream each : streams) {
            BrickProfiler made = profiler(each);
            made.stopBrick(made.startBrick(BrickId.LM_HEAD), 1);
            made.endPass();
        }
        recorder.stream(added, "stream 7", 7).span("memset", "Transfer", 900, 5, 0);
        recorder.stream(added, "default", 0).span("memset", "Transfer", 900, 5, 0);

        assertThat(deviceTracks())
                .containsExactly("a GPU 0", "1/stream 7 7", "1/default 0", "1/decode 8", "a board 1", "5/decode 7");
        assertThat(recorder.timeline().info().devices())
                .containsExactly(added, new Device(1, "a board", Backend.CPU, OptionalLong.empty()));
        assertThat(events("stream 7")).containsExactly("memset 900..905 x0", "LmHead 1000..1000 x1 sample in 1");
    }

    @Test
    void aSpanToldByHandIsNotTiedToALaunchOfTheProfiler() {
        long host = Thread.currentThread().getId();
        recorder.stream(new Device(0, "a GPU", Backend.CUDA, OptionalLong.empty()), "hand", 3)
                .launchedSpan("RmsNorm", "Norm", 1_100, 30, 1, host, 1_000);
        brick(BrickId.RMS_NORM, 50);
        profiler.endPass();

        assertThat(events("hand")).containsExactly("RmsNorm 1100..1130 x1");
        assertThat(events("decode")).containsExactly("RmsNorm 1000..1050 x2 sample in 1");
    }
}
