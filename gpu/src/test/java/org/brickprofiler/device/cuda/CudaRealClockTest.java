package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Measurements over the simulated driver's real clock, on a machine whose processors are all busy: each of them has the
 * device's own time, however the application waits.
 *
 * <p>The expected times are computed from the kernels, which store when they began and ended, and from readings of the
 * host's clock, which is also the driver's, before and after each call that sets a mark. If the device is busy across
 * the call, only one time is possible. By default each flow runs for a fraction of a second; the full test runs with
 * {@code -Dbrick.stress.passes=10000}.
 */
@Spec("12.8")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class CudaRealClockTest {

    private static final int PASSES = Integer.getInteger("brick.stress.passes", 0);
    private static final Duration BUDGET = Duration.ofMillis(150);
    private static final int MOST_PENDING = 40;
    private static final List<BrickId> IDS =
            List.of(BrickId.RMS_NORM, BrickId.QKV_PROJECTION, BrickId.LM_HEAD, BrickId.SAMPLING);

    /** How an application measures. */
    enum Kind {
        DEFERRED,
        TIMER;

        private long begin(BrickProfiler profiler, BrickId id) {
            return this == DEFERRED ? profiler.elapsedNs() : profiler.startBrick(id);
        }

        private void end(BrickProfiler profiler, BrickId id, long begun) {
            if (this == DEFERRED) {
                profiler.recordDeferred(id, begun, 1);
            } else {
                profiler.stopBrick(begun, 1);
            }
        }
    }

    /** How an application ends its passes. */
    enum Flow {
        WAIT_AND_FINALIZE,
        END_PASS,
        WAIT_AND_END_PASS,
        END_PASS_ASYNC;

        private void end(BrickProfiler profiler, CudaEngine engine) {
            switch (this) {
                case WAIT_AND_FINALIZE -> {
                    JCudaDriver.cuStreamSynchronize(engine.stream());
                    profiler.finalize(profiler.elapsedNs());
                }
                case END_PASS -> profiler.endPass();
                case WAIT_AND_END_PASS -> {
                    JCudaDriver.cuStreamSynchronize(engine.stream());
                    profiler.endPass();
                }
                case END_PASS_ASYNC -> {
                    if (profiler.pendingCount() > MOST_PENDING) {
                        JCudaDriver.cuStreamSynchronize(engine.stream());
                    }
                    profiler.endPassAsync();
                }
            }
        }

        private boolean resolvesAtOnce() {
            return this != END_PASS_ASYNC;
        }
    }

    /** The lower and the upper bound of a brick's time: of the last sample, and of the sum of all samples. */
    private static final class Bounds {
        private long leastNs;
        private long mostNs;
        private long lastLeastNs;
        private long lastMostNs;

        void add(long least, long most) {
            // CUDA returns times as a float in ms.
            long roundingNs = 1 + (most >> 24);
            lastLeastNs = least - roundingNs;
            lastMostNs = most + roundingNs;
            leastNs += lastLeastNs;
            mostNs += lastMostNs;
        }
    }

    /** Returns how long each flow is tried. */
    Duration budget() {
        return BUDGET;
    }

    private final List<Thread> burners = new ArrayList<>();
    private volatile boolean burning = true;

    private CudaEngine engine;

    /** When the device reached the end of the latest kernel. */
    private long lastEndNs = Long.MIN_VALUE;

    @BeforeEach
    void start() {
        SimulatedCuda.start();
        SimulatedCuda.useRealClock(1);
        engine = new CudaEngine(0);
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            Thread burner = new Thread(this::burn, "burner " + i);
            burner.setDaemon(true);
            burner.start();
            burners.add(burner);
        }
    }

    private void burn() {
        while (burning) {
            Thread.onSpinWait();
        }
    }

    @AfterEach
    void stop() throws InterruptedException {
        burning = false;
        for (Thread burner : burners) {
            burner.join();
        }
    }

    static Stream<Arguments> flows() {
        Stream<Arguments> deferred = Stream.of(5_000L, 20_000L, 200_000L, 2_000_000L)
                .flatMap(ns -> Arrays.stream(Flow.values()).map(flow -> Arguments.of(Kind.DEFERRED, flow, ns)));
        Stream<Arguments> timers = Arrays.stream(Flow.values()).map(flow -> Arguments.of(Kind.TIMER, flow, 20_000L));
        return Stream.concat(deferred, timers);
    }

    @ParameterizedTest
    @MethodSource("flows")
    void everyMeasurementHasTheDevicesOwnTime(Kind kind, Flow flow, long kernelNs) {
        try (CudaStream stream =
                CudaStream.on(engine.context(), engine.stream()).name("decode").open()) {
            BrickProfiler profiler =
                    BrickProfiler.builder().deviceStream(stream).build();
            profiler.enable();
            List<Bounds> bounds = IDS.stream().map(id -> new Bounds()).toList();
            long untilNs = System.nanoTime() + budget().toNanos();
            int passes = 0;
            while (PASSES > 0 ? passes < PASSES : System.nanoTime() < untilNs) {
                pass(profiler, kind, flow, kernelNs, bounds);
                passes++;
            }
            profiler.endPass();
            check(profiler.snapshot(), passes, kernelNs, bounds);
            if (PASSES > 0) {
                System.out.printf("%s, %s, %d ns: %d passes, 0 unresolved%n", kind, flow, kernelNs, passes);
            }
        }
        assertThat(SimulatedCuda.staleHandles()).isZero();
    }

    private void pass(BrickProfiler profiler, Kind kind, Flow flow, long kernelNs, List<Bounds> bounds) {
        ByteBuffer stamps =
                ByteBuffer.allocateDirect(IDS.size() * 2 * Long.BYTES).order(ByteOrder.nativeOrder());
        long idleFromNs = lastEndNs;
        for (int brick = 0; brick < IDS.size(); brick++) {
            long beforeStartNs = System.nanoTime();
            long begun = kind.begin(profiler, IDS.get(brick));
            long afterStartNs = System.nanoTime();
            engine.spinStamped(kernelNs, stamps, 2 * brick);
            long beforeEndNs = System.nanoTime();
            kind.end(profiler, IDS.get(brick), begun);
            long afterEndNs = System.nanoTime();
            long endNs = stamps.getLong((2 * brick + 1) * Long.BYTES);
            bounds.get(brick)
                    .add(
                            Math.max(endNs, beforeEndNs) - Math.max(idleFromNs, afterStartNs),
                            Math.max(endNs, afterEndNs) - Math.max(idleFromNs, beforeStartNs));
            idleFromNs = endNs;
        }
        lastEndNs = idleFromNs;
        flow.end(profiler, engine);
        if (flow.resolvesAtOnce()) {
            assertThat(profiler.pendingCount()).isZero();
            for (int brick = 0; brick < IDS.size(); brick++) {
                Bounds expected = bounds.get(brick);
                assertThat(profiler.brickStats(IDS.get(brick)).lastNs())
                        .isBetween(expected.lastLeastNs, expected.lastMostNs);
            }
        }
    }

    private static void check(ProfileSnapshot snapshot, int passes, long kernelNs, List<Bounds> bounds) {
        assertThat(snapshot.unresolved()).as("unresolved of %d passes", passes).isZero();
        for (int brick = 0; brick < IDS.size(); brick++) {
            BrickStats stats = snapshot.brick(IDS.get(brick).displayName()).orElseThrow();
            assertThat(stats.count()).isEqualTo(passes);
            assertThat(stats.device().measured()).isEqualTo(passes);
            assertThat(stats.minNs()).isGreaterThanOrEqualTo(kernelNs);
            assertThat(stats.totalNs()).isBetween(bounds.get(brick).leastNs, bounds.get(brick).mostNs);
        }
    }
}
