package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickProfilerBuilder;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.testing.Collected;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/**
 * The objects that a profiler created for itself become unreachable with it, although its stream is still open, unless
 * its timeline can be read.
 */
@Spec("12.19")
final class ForgottenProfilerTest {

    private final FakeClock clock = new FakeClock(1_000);
    private final SimulatedStream stream = new SimulatedStream("decode", clock);

    /**
     * Makes a profiler that uses the stream, leaves a brick unresolved, and is forgotten. Returns its clock, which it
     * and all of its parts share.
     */
    private WeakReference<NanoClock> forgotten(BrickProfilerBuilder options) {
        NanoClock own = clock::now;
        BrickProfiler profiler = options.clock(own).deviceStream(stream).build();
        profiler.enable();
        brick(profiler);
        profiler.endPass();
        brick(profiler);
        return new WeakReference<>(own);
    }

    private void brick(BrickProfiler profiler) {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        stream.work(10);
        clock.advance(1);
        profiler.stopBrick(timer, 1);
    }

    @Test
    void isNotKeptByItsStream() {
        Collected.until(forgotten(BrickProfiler.builder()));
        stream.close();
    }

    @Test
    void tellsItsTimelineWhenTheStreamCloses() {
        TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
        WeakReference<NanoClock> traced = forgotten(BrickProfiler.builder().tracing(recorder));
        // A profiler that is not traced: once it is collected, the collector has also visited the traced one.
        Collected.until(forgotten(BrickProfiler.builder()));
        assertThat(traced.get()).isNotNull();

        clock.advance(100);
        stream.close();

        assertThat(Replay.of(recorder.timeline(), "decode")).hasSize(2);
    }

    @Test
    void isReadBeforeTheStreamClosesAsLongAsSomebodyHasIt() {
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).deviceStream(stream).build();
        profiler.enable();
        brick(profiler);
        System.gc();
        clock.advance(100);
        stream.close();

        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(10);
    }
}
