package org.brickprofiler.trace.write;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TraceRecorder;

/**
 * A decoder's passes on a simulated CUDA device of two streams: one computes, the other copies. Nothing of it is a
 * measurement; its times are chosen, and the same in each run.
 */
final class SimulatedDeviceTrace {

    static final int PASSES = 4;
    static final int LAYERS = 3;

    /** The bytes of one copy to the device, and of one back. */
    static final long BYTES_IN = 4_096;

    static final long BYTES_OUT = 128_000;
    static final long NS_IN = 5_000;
    static final long NS_OUT = 9_000;

    private static final List<BrickId> LAYER = List.of(
            BrickId.RMS_NORM,
            BrickId.QKV_PROJECTION,
            BrickId.FUSED_ATTENTION,
            BrickId.OUTPUT_PROJECTION,
            BrickId.ALL_REDUCE,
            BrickId.GATE_PROJECTION,
            BrickId.ACTIVATION,
            BrickId.DOWN_PROJECTION);

    /** The work of a pass on the device. */
    static final int BRICKS_OF_A_PASS = 2 + LAYERS * LAYER.size();

    private final FakeClock clock = new FakeClock(1_000_000);
    private final TraceRecorder recorder =
            TraceRecorder.builder().processName("simulated device").clock(clock).build();
    private final SimulatedStream compute = stream("compute");
    private final SimulatedStream copies = stream("copies");
    private final BrickProfiler profiler = BrickProfiler.builder()
            .clock(clock)
            .tracing(recorder)
            .deviceStream(compute)
            .deviceStream(copies)
            .build();

    private SimulatedDeviceTrace() {
        profiler.enable();
    }

    private SimulatedStream stream(String name) {
        return new SimulatedStream(new SpanSink.Place("CUDA", 0, "simulated GPU", name, 0), clock, 4_096);
    }

    /** The passes as a timeline. */
    static Timeline timeline() {
        SimulatedDeviceTrace run = new SimulatedDeviceTrace();
        for (int pass = 0; pass < PASSES; pass++) {
            run.pass();
        }
        return run.recorder.timeline();
    }

    private void pass() {
        copy(BrickId.HOST_TO_DEVICE, BYTES_IN, NS_IN);
        for (int layer = 0; layer < LAYERS; layer++) {
            profiler.startLayer();
            for (BrickId brick : LAYER) {
                long timer = profiler.startBrick(brick);
                compute.work(20_000 + 3_000L * LAYER.indexOf(brick));
                clock.advance(7_000);
                profiler.stopBrick(timer, 1);
                clock.advance(500);
            }
            profiler.endLayer();
        }
        copy(BrickId.DEVICE_TO_HOST, BYTES_OUT, NS_OUT);
        profiler.endPass();
        clock.advance(10_000);
    }

    private void copy(BrickId brick, long bytes, long deviceNs) {
        long timer = profiler.stream("copies").startBrick(brick);
        copies.work(deviceNs);
        clock.advance(4_000);
        profiler.stopBrick(timer, bytes);
        clock.advance(500);
    }

    /** Writes it to a file, for programs that are no tests. */
    public static void main(String... file) throws IOException {
        TraceFiles.write(timeline(), Path.of(file[0]));
    }
}
