package org.brickprofiler.bench;

import java.util.concurrent.TimeUnit;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecorder;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures a recorder of requests: a request in a step beside a store into an array, arrival and finish beside two
 * reads of the clock, and a whole step with 256 requests.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(2)
public class RequestBenchmark {

    /** The requests of a step. */
    static final int BATCH = 256;

    /**
     * A recorder, and requests that have arrived. An ignored call is an error, because it would cost next to nothing.
     */
    @State(Scope.Thread)
    public static class Recorded {
        final RequestRecorder recorder = new RequestRecorder(System::nanoTime, () -> 0);
        final long[] requests = new long[BATCH];

        @Setup
        public void arrive() {
            recorder.enable();
            for (int i = 0; i < BATCH; i++) {
                requests[i] = recorder.arrived(1);
            }
        }

        @TearDown
        public void check() {
            long ignored = recorder.stats().counts().ignoredCalls();
            if (ignored > 0) {
                throw new IllegalStateException(ignored + " calls did not fit");
            }
        }
    }

    /** The same in a step that has begun, with an array for the floor's stores. */
    @State(Scope.Thread)
    public static class Begun extends Recorded {
        private final long[] stored = new long[BATCH];
        private long step;

        @Setup(Level.Invocation)
        public void begin() {
            step = recorder.stepBegan(false, 0, System.nanoTime());
        }

        @TearDown(Level.Invocation)
        public void end() {
            recorder.stepEnded(step, System.nanoTime(), 0);
        }
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void inStep(Begun begun) {
        for (long request : begun.requests) {
            begun.recorder.inStep(request, 0);
        }
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long[] floorStores(Begun begun) {
        for (int i = 0; i < BATCH; i++) {
            begun.stored[i] = begun.requests[i];
        }
        return begun.stored;
    }

    @Benchmark
    public void stepOf256(Recorded recorded) {
        RequestRecorder recorder = recorded.recorder;
        long step = recorder.stepBegan(false, 0, System.nanoTime());
        for (long request : recorded.requests) {
            recorder.inStep(request, 0);
        }
        recorder.stepEnded(step, System.nanoTime(), 0);
    }

    @Benchmark
    public void arriveAndFinish(Recorded recorded) {
        recorded.recorder.finished(recorded.recorder.arrived(1), Outcome.CANCELLED);
    }

    @Benchmark
    public long floorTwoClockReads() {
        long startNs = System.nanoTime();
        return System.nanoTime() - startNs;
    }
}
