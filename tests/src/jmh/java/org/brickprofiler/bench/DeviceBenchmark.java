package org.brickprofiler.bench;

import java.util.concurrent.TimeUnit;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUevent;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.device.cuda.CudaStream;
import org.brickprofiler.device.cuda.SimulatedCuda;
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
 * Measures the host's cost of a brick on a CUDA stream, over the <b>simulated driver</b>, beside the two bare driver
 * calls that it needs. The result is the cost of the profiler and of JCuda, without a real driver and a GPU. An
 * invocation is a pass of 32 layers of 12 bricks. The end of the pass is measured in {@code markedToTheEnd} and
 * {@code deferredToTheEnd} alone.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
@OperationsPerInvocation(DeviceBenchmark.BRICKS)
public class DeviceBenchmark {

    static final int BRICKS = 32 * 12;
    private static final BrickId[] IDS = BrickId.values();

    private final CUcontext context = new CUcontext();
    private final CUstream stream = new CUstream();
    private final CUevent[] events = new CUevent[2 * BRICKS];

    private final int every;

    private CudaStream marked;
    private BrickProfiler profiler;

    /** Creates a benchmark whose bricks are all marked. */
    public DeviceBenchmark() {
        this(1);
    }

    /** Creates a benchmark in which one brick in some is marked. */
    DeviceBenchmark(int every) {
        this.every = every;
    }

    /** Creates one device, one stream, and all events beforehand. */
    @Setup
    public void prepare() {
        SimulatedCuda.start();
        SimulatedCuda.useRealClock(1);
        JCudaDriver.cuInit(0);
        CUdevice device = new CUdevice();
        JCudaDriver.cuDeviceGet(device, 0);
        JCudaDriver.cuDevicePrimaryCtxRetain(context, device);
        JCudaDriver.cuCtxSetCurrent(context);
        JCudaDriver.cuStreamCreate(stream, 0);
        for (int i = 0; i < events.length; i++) {
            events[i] = new CUevent();
            JCudaDriver.cuEventCreate(events[i], 0);
        }
        marked = CudaStream.on(context, stream).marks(8 * BRICKS, 8 * BRICKS).open();
        profiler = BrickProfiler.builder()
                .deviceStream(marked)
                .deviceSampling(every)
                .build();
        profiler.enable();
    }

    BrickProfiler profiler() {
        return profiler;
    }

    /** Leaves the queue empty, and no measurement pending. */
    @TearDown(Level.Invocation)
    public void endPass() {
        profiler.endPass();
        JCudaDriver.cuStreamSynchronize(stream);
    }

    /** Releases all resources. */
    @TearDown
    public void close() {
        marked.close();
    }

    // ---- floor ----

    @Benchmark
    public void floorTwoEventRecords() {
        for (int i = 0; i < events.length; i++) {
            JCudaDriver.cuEventRecord(events[i], stream);
        }
    }

    // ---- marked bricks ----

    @Benchmark
    public void marked() {
        for (int i = 0; i < BRICKS; i++) {
            profiler.stopBrick(profiler.startBrick(IDS[i % 12]), 1);
        }
    }

    @Benchmark
    public void markedByLap() {
        long timer = profiler.startBrick(IDS[0]);
        for (int i = 1; i < BRICKS; i++) {
            timer = profiler.lap(timer, 1, IDS[i % 12]);
        }
        profiler.stopBrick(timer, 1);
    }

    @Benchmark
    public void deferred() {
        for (int i = 0; i < BRICKS; i++) {
            long startNs = profiler.elapsedNs();
            profiler.recordDeferred(IDS[i % 12], startNs, 1);
        }
    }

    @Benchmark
    public void deferredToTheEnd() {
        deferred();
        profiler.endPass();
        profiler.totalNs();
    }

    @Benchmark
    public void markedToTheEnd() {
        marked();
        profiler.endPass();
        profiler.totalNs();
    }
}
