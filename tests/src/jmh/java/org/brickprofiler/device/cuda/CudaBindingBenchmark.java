package org.brickprofiler.device.cuda;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import jcuda.driver.CUevent;
import jcuda.driver.JCudaDriver;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures one call of the <b>simulated driver</b> through each binding: the calls that a brick needs on a CUDA stream.
 * The floor of {@code recordThroughJCuda} is JCuda's own method, called without the library's interface.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class CudaBindingBenchmark {

    /** The driver through one binding, with an event that the device has reached. */
    private static final class Bound {
        final CudaCalls calls;
        final CudaHandle stream;
        final CudaHandle event;
        final float[] ms = new float[1];

        Bound(CudaSupport support, CudaEngine engine) {
            calls = Objects.requireNonNull(support.calls(), support::toString);
            stream = JCudaCalls.handleOf(calls, engine.stream());
            event = calls.newEvent();
            check(calls.eventCreate(event, 0));
            check(calls.eventRecord(event, stream));
            check(calls.eventSynchronize(event));
            check(calls.eventElapsedTime(ms, event, event));
        }

        private static void check(int code) {
            if (code != 0) {
                throw new IllegalStateException("the driver returned " + code);
            }
        }
    }

    private CudaEngine engine;
    private Bound jcuda;
    private Bound jna;
    private CUevent bareEvent;

    /** One stream for all. */
    @Setup
    public void prepare() {
        SimulatedCuda.start();
        SimulatedCuda.useRealClock(1);
        engine = new CudaEngine(0);
        jcuda = new Bound(CudaSupport.probe(), engine);
        jna = new Bound(CudaSupport.ofAddresses(), engine);
        bareEvent = new CUevent();
        Bound.check(JCudaDriver.cuEventCreate(bareEvent, 0));
    }

    @Benchmark
    public int floorRecord() {
        return JCudaDriver.cuEventRecord(bareEvent, engine.stream());
    }

    @Benchmark
    public int recordThroughJCuda() {
        return jcuda.calls.eventRecord(jcuda.event, jcuda.stream);
    }

    @Benchmark
    public int recordThroughJna() {
        return jna.calls.eventRecord(jna.event, jna.stream);
    }

    @Benchmark
    public int queryThroughJCuda() {
        return jcuda.calls.eventQuery(jcuda.event);
    }

    @Benchmark
    public int queryThroughJna() {
        return jna.calls.eventQuery(jna.event);
    }

    @Benchmark
    public float elapsedTimeThroughJCuda() {
        jcuda.calls.eventElapsedTime(jcuda.ms, jcuda.event, jcuda.event);
        return jcuda.ms[0];
    }

    @Benchmark
    public float elapsedTimeThroughJna() {
        jna.calls.eventElapsedTime(jna.ms, jna.event, jna.event);
        return jna.ms[0];
    }
}
