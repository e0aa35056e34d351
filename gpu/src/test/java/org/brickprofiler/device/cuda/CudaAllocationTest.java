package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import jcuda.driver.CUgraphExec;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.SyncMode;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Marking, waiting and resolving on a CUDA stream allocate nothing in their steady state, compiled or interpreted, on a
 * thread where the stream's context is current and on one that has none: one byte in every stretch of passes fails the
 * test.
 */
@Spec("12.12")
class CudaAllocationTest {

    private static final int PASSES = 20;
    private static final int WARM_UP_PASSES = 10;
    private static final int STRETCHES = 10;
    private static final int LAYERS = 4;
    private static final int MOST_STARTS = 9_000;
    private static final int MANY_CAPTURES = 200;
    private static final BrickId[] BRICKS = {BrickId.RMS_NORM, BrickId.QKV_PROJECTION, BrickId.LM_HEAD};

    /** Skips the test if there is no simulated driver. */
    @BeforeEach
    void start() {
        SimulatedCuda.start();
    }

    @Test
    void noPassAllocates() throws Exception {
        assertThat(allocatedBytes())
                .hasSize(12)
                .allSatisfy((path, bytes) -> assertThat(bytes).as(path).isZero());
    }

    @Test
    void noPassAllocatesInInterpretedCode() throws Exception {
        ProcessResult interpreted = ChildProcess.java(CudaAllocationTest.class)
                .jvmOptions(List.of(
                        "-Xint",
                        "-Djava.library.path=" + System.getProperty("java.library.path"),
                        "-D" + CudaSupport.PROPERTY + "=" + System.getProperty(CudaSupport.PROPERTY, ""),
                        "--enable-native-access=ALL-UNNAMED"))
                .run()
                .assertSucceeded();
        assertThat(interpreted.output()).contains("IMMEDIATE, no context=0");
    }

    /** Runs in the interpreted process: prints the bytes of each path, and fails if any number is not 0. */
    public static void main(String[] args) throws Exception {
        SimulatedCuda.start();
        Map<String, Long> bytes = allocatedBytes();
        System.out.println(bytes);
        System.exit(bytes.values().stream().allMatch(each -> each == 0) ? 0 : 1);
    }

    private static Map<String, Long> allocatedBytes() throws Exception {
        CudaEngine engine = new CudaEngine(0);
        Map<String, Long> bytes = new LinkedHashMap<>();
        addPaths(bytes, "current context", engine);
        assertThat(SimulatedCuda.currentContext()).isNotZero();
        Crew.runOnNewThread(() -> {
            addPaths(bytes, "no context", engine);
            assertThat(SimulatedCuda.currentContext()).isZero();
        });
        return bytes;
    }

    private static void addPaths(Map<String, Long> bytes, String context, CudaEngine engine) {
        for (SyncMode mode : new SyncMode[] {SyncMode.IMMEDIATE, SyncMode.PER_LAYER, SyncMode.DEFERRED}) {
            bytes.put(mode + ", " + context, bytesOfPasses(engine, mode, true));
        }
        bytes.put("no wait, " + context, bytesOfPasses(engine, SyncMode.DEFERRED, false));
        bytes.put("deferred, " + context, bytesOfDeferred(engine));
        bytes.put("launches, " + context, bytesOfLaunches(engine));
    }

    /** Returns the bytes of launches of a captured graph. Each launch is one sample of each brick of each layer. */
    private static long bytesOfLaunches(CudaEngine engine) {
        try (CudaStream stream =
                CudaStream.on(engine.context(), engine.stream()).open()) {
            BrickProfiler profiler =
                    BrickProfiler.builder().deviceStream(stream).build();
            profiler.enable();
            // The virtual machine caches boxed numbers of captures up to 127.
            for (int i = 0; i < MANY_CAPTURES; i++) {
                stream.capture().close();
            }
            CudaCapture capture = stream.capture();
            CUgraphExec[] exec = new CUgraphExec[1];
            engine.inContext(() -> {
                try (capture) {
                    exec[0] = engine.instantiate(engine.capture(() -> pass(profiler, () -> engine.spin(1_000), false)));
                }
            });
            Runnable launcher = engine.launcher(exec[0]);
            Runnable pass = () -> {
                launcher.run();
                capture.launched(exec[0]);
                profiler.endPass();
            };
            long bytes = AllocatedBytes.fewest(STRETCHES, () -> {
                AllocatedBytes.ofCalls(WARM_UP_PASSES, pass);
                return AllocatedBytes.ofCalls(PASSES, pass);
            });
            BrickStats stats = profiler.brickStats(BRICKS[0]);
            assertThat(stats.count()).isGreaterThanOrEqualTo((long) PASSES * LAYERS);
            assertThat(stats.device().unresolved()).isZero();
            capture.release();
            return bytes;
        }
    }

    private static long bytesOfPasses(CudaEngine engine, SyncMode mode, boolean waits) {
        try (CudaStream stream =
                CudaStream.on(engine.context(), engine.stream()).open()) {
            BrickProfiler profiler =
                    BrickProfiler.builder().deviceStream(stream).build();
            profiler.setSyncMode(mode);
            profiler.enable();
            long before = SimulatedCuda.synchronisations();
            // Something to wait for.
            Runnable work = waits ? engine.spinner(1_000) : () -> {};
            Runnable pass = () -> pass(profiler, work, waits);
            long bytes = AllocatedBytes.fewest(STRETCHES, () -> {
                AllocatedBytes.ofCalls(WARM_UP_PASSES, pass);
                return AllocatedBytes.ofCalls(PASSES, pass);
            });
            assertThat(SimulatedCuda.synchronisations() - before >= PASSES).isEqualTo(waits);
            assertThat(profiler.hasPending()).isFalse();
            BrickStats stats = profiler.brickStats(BRICKS[0]);
            assertThat(stats.count()).isGreaterThanOrEqualTo((long) PASSES * LAYERS);
            assertThat(stats.device().unresolved()).isZero();
            return bytes;
        }
    }

    private static long bytesOfDeferred(CudaEngine engine) {
        try (CudaStream stream =
                CudaStream.on(engine.context(), engine.stream()).open()) {
            BrickProfiler profiler =
                    BrickProfiler.builder().deviceStream(stream).build();
            profiler.enable();
            Runnable work = engine.spinner(1_000);
            Runnable pass = () -> {
                for (BrickId brick : BRICKS) {
                    long startNs = profiler.elapsedNs();
                    work.run();
                    profiler.recordDeferred(brick, startNs, 1);
                }
                SimulatedCuda.advance(10_000);
                profiler.finalize(profiler.elapsedNs());
            };
            // Warms up until the most starts are kept that ever will be.
            AllocatedBytes.ofCalls(MOST_STARTS / BRICKS.length, pass);
            long bytes = AllocatedBytes.fewest(STRETCHES, () -> AllocatedBytes.ofCalls(PASSES, pass));
            assertThat(profiler.hasPending()).isFalse();
            assertThat(profiler.snapshot().unresolved()).isZero();
            return bytes;
        }
    }

    private static void pass(BrickProfiler profiler, Runnable work, boolean waits) {
        for (int layer = 0; layer < LAYERS; layer++) {
            for (BrickId brick : BRICKS) {
                long timer = profiler.startBrick(brick);
                work.run();
                profiler.stopBrick(timer, 1);
            }
            profiler.endLayer();
        }
        if (waits) {
            profiler.endPass();
        } else {
            profiler.endPassAsync();
        }
    }
}
