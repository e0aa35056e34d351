package org.brickprofiler.device.metal;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Pointer;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.device.StreamTotals;
import org.junit.jupiter.api.AfterEach;

/**
 * The profiler over the simulated Metal, for tests to extend. Its virtual clock is also the host's: times must be exact
 * to the nanosecond, and the simulation counts the waits.
 */
abstract class ProfiledMetal {

    final MetalApp app = started();

    private static MetalApp started() {
        SimulatedMetal.start();
        return new MetalApp(1 << 12);
    }

    @AfterEach
    final void close() {
        app.close();
    }

    final BrickProfiler profiler() {
        return profiler(app.stream());
    }

    static BrickProfiler profiler(MetalStream... streams) {
        var options = BrickProfiler.builder().clock(SimulatedMetal::nowNs).launchTimes(1);
        for (MetalStream stream : streams) {
            options.deviceStream(stream);
        }
        BrickProfiler profiler = options.build();
        profiler.enable();
        return profiler;
    }

    static StreamTotals totals(BrickProfiler profiler) {
        return profiler.snapshot().streams().get(0);
    }

    /** Runs a brick of one command buffer, which is committed as the brick begins. */
    final void brick(BrickProfiler profiler, BrickId id, long ns) {
        long timer = profiler.startBrick(id);
        app.submit(id.displayName(), ns);
        SimulatedMetal.advance(10);
        profiler.stopBrick(timer, 1);
        SimulatedMetal.advance(10);
    }

    final void brokenBrick(BrickProfiler profiler, BrickId id, int errorCode) {
        long timer = profiler.startBrick(id);
        submitBroken(5_000, errorCode);
        profiler.stopBrick(timer, 1);
    }

    final void submitBroken(long ns, int errorCode) {
        MetalApp.Buffer broken = app.begin("broken");
        SimulatedMetal.work(broken.pointer(), ns);
        SimulatedMetal.breakBuffer(broken.pointer(), errorCode);
        broken.commit();
    }

    static void submitTo(MetalStream stream, long ns) {
        Pointer buffer = SimulatedMetal.bufferNew(new Pointer(stream.queue()), "work");
        assertThat(stream.watch(Pointer.nativeValue(buffer), null)).isPositive();
        SimulatedMetal.work(buffer, ns);
        SimulatedMetal.commit(buffer);
        SimulatedMetal.release(buffer);
    }

    static long unresolved(BrickProfiler profiler, BrickId id) {
        return profiler.brickStats(id).device().unresolved();
    }
}
