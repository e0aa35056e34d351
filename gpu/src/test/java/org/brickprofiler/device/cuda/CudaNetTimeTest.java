package org.brickprofiler.device.cuda;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import jcuda.driver.CUgraph;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.CategoryStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.write.PerfettoWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Net times are right over the simulated driver, in which each event and each launch takes a known time of the device,
 * so that recorded times are wrong by a known amount.
 */
class CudaNetTimeTest {

    private static final long MARK_NS = 1_400;
    private static final long LAUNCH_NS = 1_500;
    private static final long BRICK_NS = MARK_NS + LAUNCH_NS;
    private static final MarkCost COST = new MarkCost(BRICK_NS, MARK_NS, 0, "");
    private static final int JIT_COMPILER_NOT_FOUND = 221;
    private static final int ILLEGAL_ADDRESS = 700;
    private static final int UNKNOWN = 999;
    private static final int BLOCKING = CUstream_flags.CU_STREAM_DEFAULT;

    private CudaEngine engine;

    @BeforeEach
    void start() {
        SimulatedCuda.start();
        SimulatedCuda.setCosts(MARK_NS, LAUNCH_NS);
        engine = new CudaEngine(0);
    }

    private CudaStream lent() {
        return CudaStream.on(engine.context(), engine.stream()).name("decode").open();
    }

    private static BrickProfiler profiler(CudaStream stream) {
        BrickProfiler profiler = BrickProfiler.builder()
                .clock(SimulatedCuda::now)
                .deviceStream(stream)
                .build();
        profiler.enable();
        return profiler;
    }

    private void brick(BrickProfiler profiler, BrickId id, long ns) {
        long timer = profiler.startBrick(id);
        engine.spin(ns);
        profiler.stopBrick(timer, 1);
    }

    private static void pass(CudaNetTimeTest test, BrickProfiler profiler) {
        test.brick(profiler, BrickId.RMS_NORM, 2_000);
        profiler.endPass();
    }

    // ---- the measurement ----

    @Spec("12.53")
    @Test
    void isMeasuredAtTheFirstEndOfAPassInAStreamOfItsOwn() throws IOException {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            assertThat(stream.markCost().unknown()).contains("neither endPass()");
            brick(profiler, BrickId.RMS_NORM, 2_000);
            profiler.endPassAsync();
            profiler.finalize(profiler.elapsedNs());
            assertThat(stream.markCost().isKnown())
                    .as("ends that must not wait")
                    .isFalse();
            profiler.reset();
            int streams = SimulatedCuda.liveStreams();
            int events = SimulatedCuda.liveEvents();
            pass(this, profiler);

            assertThat(stream.markCost()).isEqualTo(COST);
            assertThat(SimulatedCuda.liveStreams()).isEqualTo(streams);
            assertThat(SimulatedCuda.liveEvents()).isEqualTo(events);
            assertThat(SimulatedCuda.calls("cuModuleUnload")).isOne();
            assertThat(SimulatedCuda.staleHandles()).isZero();
            assertThat(SimulatedCuda.contextDepth()).isOne();
            assertThat(profiler.snapshot().streams().get(0).samples()).isOne();

            long launches = SimulatedCuda.launches();
            pass(this, profiler);
            profiler.reset();
            pass(this, profiler);
            assertThat(SimulatedCuda.launches()).as("the application's own").isEqualTo(launches + 2);
            StreamTotals totals = profiler.snapshot().streams().get(0);
            assertThat(totals.markCost()).as("after a reset").isEqualTo(COST);
            assertThat(JsonReport.fromJson(JsonReport.toJson(profiler.snapshot()))
                            .streams()
                            .get(0))
                    .isEqualTo(totals);
            assertThat(TextReport.render(profiler.snapshot()))
                    .contains("Marks on 'decode' add 2.900 us to a brick, and 1.400 us for each further mark in it;"
                            + " both +-0 ns.\n");
        }
    }

    @Spec("12.53")
    @Test
    void isMeasuredOnceInAContextAndAgainInAnother() {
        try (CudaStream first = lent();
                CudaStream second = CudaStream.onDevice(0).open()) {
            pass(this, profiler(first));
            assertThat(second.markCost()).isEqualTo(COST);
            SimulatedCuda.setCosts(2 * MARK_NS, LAUNCH_NS);
            second.measureMarks();
            assertThat(second.markCost()).as("measured once").isEqualTo(COST);
            CudaEngine other = new CudaEngine(0, true);
            try (CudaStream there =
                    CudaStream.on(other.context(), other.stream()).open()) {
                there.measureMarks();
                assertThat(there.markCost()).isEqualTo(new MarkCost(BRICK_NS + MARK_NS, 2 * MARK_NS, 0, ""));
                assertThat(first.markCost()).isEqualTo(COST);
            }
        }
    }

    @Spec("12.54")
    @Test
    void aTimelineSaysThatItsTimesAreAsRecordedOnceNetTimesAreKnown() throws IOException {
        TraceRecorder recorder = TraceRecorder.builder().build();
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = BrickProfiler.builder()
                    .clock(SimulatedCuda::now)
                    .deviceStream(stream)
                    .tracing(recorder)
                    .build();
            profiler.enable();
            brick(profiler, BrickId.RMS_NORM, 2_000);
            profiler.endPassAsync();
            profiler.finalize(profiler.elapsedNs());
            assertThat(recorder.timeline().info().hasNetTimes()).isFalse();

            pass(this, profiler);

            ByteArrayOutputStream out = new ByteArrayOutputStream();
            PerfettoWriter.write(recorder.timeline(), out);
            assertThat(out.toString(ISO_8859_1)).contains("times as recorded");
        }
    }

    @Spec("12.53")
    @Test
    void isMeasuredThroughJnaToo() {
        try (CudaStream stream = CudaStream.onAddresses(
                        SimulatedCuda.address(engine.context()), SimulatedCuda.address(engine.stream()))
                .open()) {
            stream.measureMarks();
            assertThat(stream.markCost()).isEqualTo(COST);
        }
    }

    @Spec("12.53")
    @Test
    void onTheRealClockAnIdleQueueIsTheUncertainty() {
        SimulatedCuda.useRealClock(1);
        SimulatedCuda.setCosts(20_000, 30_000);
        try (CudaStream stream = lent()) {
            Thread.currentThread().interrupt();
            stream.measureMarks();
            assertThat(Thread.interrupted()).isTrue();
            MarkCost cost = stream.markCost();
            assertThat(cost.unknown()).isEmpty();
            assertThat(cost.brickNs()).isEqualTo(50_000);
            assertThat(cost.markNs()).isEqualTo(20_000);
        }
    }

    // ---- reasons not to measure ----

    @Spec("12.53")
    @Test
    void isPutOffDuringACapture() {
        CUstream other = new CUstream();
        JCudaDriver.cuStreamCreate(other, BLOCKING);
        try (CudaStream stream = lent()) {
            for (CUstream captured : new CUstream[] {engine.stream(), other}) {
                JCudaDriver.cuStreamBeginCapture(captured, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL);
                stream.measureMarks();
                assertThat(JCudaDriver.cuStreamEndCapture(captured, new CUgraph()))
                        .isZero();
                assertThat(stream.markCost().isKnown()).isFalse();
            }
            try (CudaCapture scope = stream.capture()) {
                stream.measureMarks();
                assertThat(stream.markCost().isKnown()).isFalse();
                scope.release();
            }
            assertThat(SimulatedCuda.spoiltCaptures()).isZero();
            assertThat(SimulatedCuda.calls("cuLaunchKernel")).isZero();
            stream.measureMarks();
            assertThat(stream.markCost()).isEqualTo(COST);
        }
    }

    @Spec("12.53")
    @Test
    void doesNotSpoilACaptureThatBeginsElsewhereInTheMeantime() {
        CUstream other = new CUstream();
        JCudaDriver.cuStreamCreate(other, CUstream_flags.CU_STREAM_NON_BLOCKING);
        try (CudaStream stream = lent()) {
            JCudaDriver.cuStreamBeginCapture(other, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL);
            stream.measureMarks();
            assertThat(JCudaDriver.cuStreamEndCapture(other, new CUgraph())).isZero();
            assertThat(SimulatedCuda.spoiltCaptures()).isZero();
            assertThat(stream.markCost()).isEqualTo(COST);
        }
    }

    @Spec("12.53")
    @Test
    void withoutACompilerThereIsTheReasonAndTheProfile() throws IOException {
        SimulatedCuda.failAlways("cuModuleLoadData", JIT_COMPILER_NOT_FOUND);
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            pass(this, profiler);
            pass(this, profiler);

            assertThat(SimulatedCuda.calls("cuModuleLoadData")).as("tried once").isEqualTo(2);
            assertThat(stream.failure()).isEmpty();
            ProfileSnapshot snapshot = profiler.snapshot();
            assertThat(snapshot.bricks().get(0).count()).isEqualTo(2);
            assertThat(TextReport.render(snapshot))
                    .contains("No net times on 'decode': what marks add is unknown, since cuModuleLoadData returned"
                            + " CUDA_ERROR_JIT_COMPILER_NOT_FOUND (221).\n");
            assertThat(JsonReport.fromJson(JsonReport.toJson(snapshot)).streams())
                    .isEqualTo(snapshot.streams());
        }
    }

    @Spec("12.53")
    @Test
    void aDeviceThatHangsOrIsLostMeanwhileEndsTheMeasurementOnly() {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            brick(profiler, BrickId.RMS_NORM, 2_000);
            JCudaDriver.cuStreamSynchronize(engine.stream());
            SimulatedCuda.hang(1);
            profiler.endPass();
            assertThat(stream.markCost().unknown()).isEqualTo("the device did not finish empty kernels within 1000 ms");
            assertThat(profiler.snapshot().bricks().get(0).count()).isOne();
            assertThat(SimulatedCuda.calls("cuModuleUnload")).as("would wait").isZero();
            SimulatedCuda.hang(0);
            stream.measureMarks();
            assertThat(SimulatedCuda.calls("cuModuleLoadData"))
                    .as("not tried again")
                    .isEqualTo(2);
        }
        try (CudaStream stream = lent()) {
            SimulatedCuda.failOnce("cuLaunchKernel", 3, ILLEGAL_ADDRESS);
            stream.measureMarks();
            assertThat(stream.markCost().isKnown()).isFalse();
            assertThat(stream.isUsable()).isFalse();
            assertThat(stream.failure())
                    .hasValueSatisfying(why -> assertThat(why).contains("the device is lost"));
        }
    }

    @Spec("12.53")
    @Test
    void whateverFailsTheApplicationGoesOnAndNothingIsLeft() {
        Map<String, Long> calls = new TreeMap<>();
        try (CudaStream stream = lent()) {
            Map<String, Long> opening = SimulatedCuda.counts();
            stream.measureMarks();
            calls.putAll(SimulatedCuda.counts());
            opening.forEach((name, count) -> calls.merge(name, -count, Long::sum));
        }
        calls.values().removeIf(count -> count == 0);
        assertThat(calls).hasSizeGreaterThan(12);
        calls.forEach((name, count) -> {
            for (long nth :
                    LongStream.of(1, 2, count).filter(each -> each <= count).toArray()) {
                start();
                try (CudaStream stream = lent()) {
                    int events = SimulatedCuda.liveEvents();
                    int streams = SimulatedCuda.liveStreams();
                    SimulatedCuda.failOnce(name, nth, UNKNOWN);
                    stream.measureMarks();
                    stream.measureMarks();
                    assertThat(stream.isUsable()).as(name).isTrue();
                    MarkCost cost = stream.markCost();
                    assertThat(cost.isKnown() ? COST : cost)
                            .as("%s %d", name, nth)
                            .isEqualTo(cost);
                    assertThat(SimulatedCuda.liveEvents() - events)
                            .as("%s %d", name, nth)
                            .isEqualTo(name.equals("cuEventDestroy_v2") ? 1 : 0);
                    assertThat(SimulatedCuda.liveStreams() - streams)
                            .isEqualTo(name.equals("cuStreamDestroy_v2") ? 1 : 0);
                    // The driver refuses to restore these, so they stay.
                    if (!name.equals("cuCtxPopCurrent_v2") && !name.contains("Exchange")) {
                        assertThat(SimulatedCuda.contextDepth()).isOne();
                        assertThat(SimulatedCuda.captureMode()).isZero();
                    }
                }
            }
        });
    }

    // ---- net times ----

    @Spec("12.54")
    @Test
    void recordedTimesAreTooLongAndNetTimesAreRight() throws IOException {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            for (int pass = 0; pass < 10; pass++) {
                long outer = profiler.startBrick("layer");
                brick(profiler, BrickId.RMS_NORM, 2_000);
                long timer = profiler.startBrick(BrickId.QKV_PROJECTION);
                engine.spin(30_000);
                timer = profiler.lap(timer, 1, BrickId.DOWN_PROJECTION);
                engine.spin(40_000);
                profiler.stopBrick(timer, 1);
                profiler.stopBrick(outer, 1);
                profiler.endPass();
            }
            ProfileSnapshot snapshot = profiler.snapshot();
            // In its layer, a brick also takes its launch and what marks of a brick add to it.
            long insideNs = 2_000 + 30_000 + 40_000 + 2 * LAUNCH_NS;
            check(snapshot, "RmsNorm", 10 * (2_000 + BRICK_NS), 10 * 2_000);
            check(snapshot, "QkvProjection", 10 * (30_000 + BRICK_NS), 10 * 30_000);
            check(snapshot, "DownProjection", 10 * (40_000 + BRICK_NS), 10 * 40_000);
            check(snapshot, "layer", 10 * (insideNs + LAUNCH_NS + 6 * MARK_NS), 10 * insideNs);

            assertThat(snapshot.netOrTotalNs()).isEqualTo(10 * (72_000 + insideNs));
            assertThat(CategoryStats.of(snapshot.brick("RmsNorm").orElseThrow()).percentage(snapshot.netOrTotalNs()))
                    .isCloseTo(100.0 * 2_000 / (72_000 + insideNs), within(1e-9));
            assertThat(snapshot.brick("RmsNorm").orElseThrow().throughput()).isEqualTo(1e9 / 2_000);
            assertThat(TextReport.render(snapshot))
                    .contains(
                            "Shorter than twice what their marks add, so that their net times are uncertain: RmsNorm.\n")
                    .containsPattern("RmsNorm +Norm +10 +49\\.00 us +4\\.900 us +20\\.00 us +0 ns +2\\.000 us");
            String json = JsonReport.toJson(snapshot);
            assertThat(json).contains("\"net_ns\": 20000", "\"marks_ns\": 29000", "\"short\": true");
            assertThat(JsonReport.fromJson(json).bricks()).isEqualTo(snapshot.bricks());
            assertThat(snapshot.merge(snapshot).brick("layer").orElseThrow().netNs())
                    .hasValue(2 * 10 * insideNs);
        }
    }

    private static void check(ProfileSnapshot snapshot, String brick, long recordedNs, long netNs) {
        BrickStats stats = snapshot.brick(brick).orElseThrow();
        assertThat(stats.totalNs()).as(brick).isEqualTo(recordedNs);
        assertThat(stats.netNs()).as(brick).hasValue(netNs);
    }

    @Spec("12.54")
    @Test
    void sampledBricksAreNetToo() {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = BrickProfiler.builder()
                    .clock(SimulatedCuda::now)
                    .deviceStream(stream)
                    .deviceSampling(16)
                    .build();
            profiler.enable();
            for (int pass = 0; pass < 200; pass++) {
                for (int layer = 0; layer < 8; layer++) {
                    long outer = profiler.startBrick("layer");
                    brick(profiler, BrickId.RMS_NORM, 2_000);
                    brick(profiler, BrickId.LM_HEAD, 30_000);
                    profiler.stopBrick(outer, 1);
                }
                profiler.endPass();
            }
            ProfileSnapshot snapshot = profiler.snapshot();
            check(snapshot, "RmsNorm", 1_600 * (2_000 + BRICK_NS), 1_600 * 2_000);
            check(snapshot, "LmHead", 1_600 * (30_000 + BRICK_NS), 1_600 * 30_000);
            BrickStats layer = snapshot.brick("layer").orElseThrow();
            long netNs = 1_600 * (32_000 + LAUNCH_NS);
            assertThat(layer.device().unmarked()).isPositive();
            assertThat(layer.netNs().getAsLong() - netNs).as("%s", layer).isBetween(-32L * MARK_NS, 32L * MARK_NS);
        }
    }

    @Spec("12.47")
    @ParameterizedTest
    @ValueSource(ints = {1, 16})
    void theTimeBetweenBricksIsThePassLessTheBricks(int sampling) throws IOException {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = BrickProfiler.builder()
                    .clock(SimulatedCuda::now)
                    .deviceStream(stream)
                    .deviceSampling(sampling)
                    .build();
            profiler.enable();
            int passes = 200;
            for (int pass = 0; pass < passes; pass++) {
                for (int layer = 0; layer < 8; layer++) {
                    brick(profiler, BrickId.RMS_NORM, 2_000);
                    long timer = profiler.startBrick(BrickId.LM_HEAD);
                    engine.spin(30_000);
                    timer = profiler.lap(timer, 1, BrickId.SAMPLING);
                    engine.spin(4_000);
                    profiler.stopBrick(timer, 1);
                    // Work that is no brick.
                    engine.spin(1_000);
                }
                profiler.endPass();
            }
            ProfileSnapshot snapshot = profiler.snapshot();
            StreamTotals totals = snapshot.streams().get(0);
            StreamTotals.Net net = totals.net().orElseThrow();
            // Without a last one, since a pass that is marked in full ends with its last brick.
            long others = sampling == 1 ? 8 * passes - passes : 8 * passes;
            assertThat(net.bricksNs()).isEqualTo(8L * passes * 36_000);
            assertThat(net.betweenNs()).isEqualTo(8L * passes * 3 * LAUNCH_NS + others * (1_000 + LAUNCH_NS));
            assertThat(net.betweenErrorNs()).isZero();
            assertThat(JsonReport.fromJson(JsonReport.toJson(snapshot)).streams())
                    .containsExactly(totals);
            assertThat(TextReport.render(snapshot)).contains("net between bricks", "ms +-0 ns");
            assertThat(totals.plus(totals).net().orElseThrow().betweenNs()).isEqualTo(2 * net.betweenNs());
        }
    }

    @Spec("12.47")
    @Test
    void ofNestedBricksThereIsNoTimeBetween() {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            long outer = profiler.startBrick("layer");
            brick(profiler, BrickId.RMS_NORM, 2_000);
            profiler.stopBrick(outer, 1);
            profiler.endPass();
            assertThat(profiler.snapshot().streams().get(0).net()).isEmpty();
        }
    }

    @Spec("12.54")
    @Test
    void withoutACostOrOfAGraphNothingIsNetAndNothingChanges() {
        SimulatedCuda.failAlways("cuModuleLoadData", JIT_COMPILER_NOT_FOUND);
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            pass(this, profiler);
            ProfileSnapshot snapshot = profiler.snapshot();
            BrickStats brick = snapshot.bricks().get(0);
            assertThat(brick.netNs()).isEmpty();
            assertThat(brick.netOrTotalNs()).isEqualTo(2_000 + BRICK_NS);
            assertThat(TextReport.render(snapshot)).doesNotContain("net total");
            assertThat(JsonReport.toJson(snapshot)).doesNotContain("net_ns", "marks_ns");
        }
    }

    @Test
    void aStreamWithoutNetTimesAndAProfilerThatIsOffLaunchNothing() {
        try (CudaStream without = CudaStream.on(engine.context(), engine.stream())
                        .withoutNetTimes()
                        .open();
                CudaStream stream = lent()) {
            pass(this, profiler(without));
            without.measureMarks();
            assertThat(without.markCost().unknown()).isEqualTo("the stream was opened without net times");
            BrickProfiler off = profiler(stream);
            off.disable();
            pass(this, off);
            assertThat(SimulatedCuda.launches()).isEqualTo(2);
        }
    }
}
