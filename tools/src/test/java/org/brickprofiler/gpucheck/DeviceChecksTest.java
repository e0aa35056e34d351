package org.brickprofiler.gpucheck;

import static jcuda.driver.CUresult.CUDA_ERROR_CAPTURED_EVENT;
import static jcuda.driver.CUresult.CUDA_ERROR_INVALID_VALUE;
import static jcuda.driver.CUresult.CUDA_ERROR_LAUNCH_FAILED;
import static jcuda.driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
import static jcuda.driver.CUresult.CUDA_SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.demo.DeviceFailure;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.device.cuda.SimulatedCuda;
import org.brickprofiler.gpucheck.Outcome.Status;
import org.brickprofiler.spi.NanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The checks over the simulated driver, whose times are exact: claims about times hold to the nanosecond. */
class DeviceChecksTest {

    private Gpu gpu;

    @BeforeEach
    void open() {
        SimulatedCuda.start();
        assertThat(JCudaDriver.cuInit(0)).isEqualTo(CUDA_SUCCESS);
        gpu = Gpu.open(0);
    }

    @AfterEach
    void close() {
        gpu.close();
    }

    private static final Spread ZERO = new Spread(31, 0, 0, 0);

    @Test
    void spinsAreTimedAsTheirKernelsTimeThemselves() {
        Outcome outcome = new SpinCheck(gpu).run().get(0);

        assertThat(outcome.status()).isEqualTo(Status.HELD);
        assertThat(outcome.found()).startsWith("12 of 12 within");
        assertThat((List<?>) outcome.figures().get("rows"))
                .hasSize(12)
                .first()
                .isEqualTo(Map.of(
                        "spin_ns",
                        2_000L,
                        "inside_ns",
                        2_000.0,
                        "measured_ns",
                        2_000.0,
                        "error_ns",
                        ZERO.figures(),
                        "shortest_ns",
                        0.0,
                        "status",
                        "held"));
    }

    @Test
    void netTimesAreThoseOfTheKernels() {
        SimulatedCuda.setCosts(1_400, 1_500);
        Outcome outcome = new NetCheck(gpu).run().get(0);

        assertThat(outcome.status()).isEqualTo(Status.HELD);
        assertThat(outcome.found())
                .startsWith("marks add 2.90 us to a brick, and 1.40 for each further mark, +-0.00; net times are off by"
                        + " +0.00 us of 2, +0.00 us of 5,");
        List<NetCheck.Row> rows = List.of(new NetCheck.Row(2_000, 2_010, 2_700));
        MarkCost cost = new MarkCost(2_900, 1_400, 300, "");
        assertThat(NetCheck.outcome(cost, rows, 32).status()).isEqualTo(Status.MISSED);
        assertThat(NetCheck.outcome(cost, rows, 1_000).status()).as("one step").isEqualTo(Status.HELD);
        assertThat(NetCheck.step(new long[] {2_048, 5_024, 2_080, 2_048})).isEqualTo(32);
    }

    @Test
    void withoutACompilerNetTimesAreNotChecked() {
        SimulatedCuda.failAlways("cuModuleLoadData", 221);
        assertThat(new NetCheck(gpu).run().get(0))
                .extracting(Outcome::status, Outcome::found)
                .containsExactly(
                        Status.NOT_MADE,
                        "what marks add is unknown: cuModuleLoadData returned CUDA_ERROR_JIT_COMPILER_NOT_FOUND (221)");
    }

    @ParameterizedTest
    @CsvSource({
        // inside, error: low, median, high; the brick less its kernel
        "2000, 900, 950, 1000, 3000, HELD",
        "2000, -1000, -950, -900, 2000, HELD",
        "2000, 900, 990, 1001, 3000, UNCLEAR",
        "2000, 1001, 2000, 3000, 3000, MISSED",
        "2000, 900, 950, 1000, -1001, BROKEN",
        "2000, 50001, 50001, 50001, 50001, BROKEN",
        "10000000, 100000, 150000, 200000, 150000, HELD",
        "10000000, 200001, 200002, 200003, 200002, MISSED",
        "10000000, 2000001, 2000001, 2000001, 2000001, BROKEN"
    })
    void aSpinIsJudgedByItsSpread(
            double insideNs, double low, double median, double high, double shortest, Status expected) {
        Spread inside = new Spread(31, insideNs, insideNs, insideNs);
        assertThat(new SpinCheck.Row((long) insideNs, inside, inside, new Spread(31, low, median, high), shortest)
                        .status())
                .isEqualTo(expected);
    }

    @Test
    void thePartsAddUpToTheWhole() {
        Outcome outcome = new SpanCheck(gpu).run().get(0);

        assertThat(outcome.status()).isEqualTo(Status.HELD);
        double spanNs = 32.0 * 12 * 10_000;
        assertThat(outcome.figures())
                .containsEntry("bricks_ns", new Spread(20, spanNs, spanNs, spanNs).figures())
                .containsEntry("idle_ns", new Spread(20, 0, 0, 0).figures())
                .containsEntry("span_ns", new Spread(20, spanNs, spanNs, spanNs).figures());
    }

    @Test
    void bothBindingsMeasureTheSame() {
        Outcome outcome = new BindingCheck(gpu, SimulatedCuda::now).run().get(0);

        assertThat(outcome.status()).as(outcome.found()).isEqualTo(Status.HELD);
        assertThat(outcome.found()).startsWith("+0.00 % (+0.00 to +0.00)");
        double passNs = 32.0 * 12 * 10_000;
        assertThat(outcome.figures().get("jna"))
                .isEqualTo(Map.of(
                        "device_ns", new Spread(41, passNs, passNs, passNs).figures(),
                        "empty_brick_ns", new Spread(41, 0, 0, 0).figures(),
                        "empty_brick_host_ns", new Spread(41, 0, 0, 0).figures()));
    }

    @Test
    void theCostOfEveryWayIsShown() {
        List<Outcome> outcomes = new CostCheck(gpu, 20, SimulatedCuda::now).run();

        assertThat(outcomes).hasSize(5);
        assertThat(outcomes.subList(0, 2)).allMatch(claim -> claim.figures().containsKey("bound"));
        assertThat(outcomes.get(0).claim())
                .isEqualTo("DEFERRED adds to 384 kernels of 10 us at most 1.25 x the time of two bare events, read");
        assertThat(outcomes.get(1).claim())
                .isEqualTo(
                        "DEFERRED, lap adds to 384 kernels of 10 us at most 1.25 x the time of one bare event, read");
        assertThat(outcomes.subList(0, 2)).extracting(Outcome::status).containsOnly(Status.HELD);
        for (Outcome shown : outcomes.subList(2, 5)) {
            assertThat(shown.status()).isEqualTo(Status.SHOWN);
            assertThat((List<?>) shown.figures().get("ways")).hasSize(10);
        }
    }

    /** By the machine's clock, the passes of the simulated device take no time, so no outcome can be right. */
    @Test
    void aPassThatIsShorterThanItsKernelsIsNoMeasurement() {
        List<Outcome> outcomes = new CostCheck(gpu, 2, NanoClock.SYSTEM).run();

        assertThat(outcomes).extracting(Outcome::status).containsOnly(Status.BROKEN);
        assertThat(outcomes.get(0).found()).contains("a pass takes").contains("and its kernels 3840 us");
    }

    @Test
    void aPassThatIsFasterForBeingWatchedIsNoMeasurement() {
        // A pass without a profiler seems to last 10 ms longer.
        long[] offsetNs = new long[1];
        long[] reads = new long[1];
        NanoClock clock = () -> {
            // 22 rounds of ten ways of two reads each; in round r the way (r + turn) modulo 10 has its turn.
            long read = reads[0]++ % (22 * 20);
            long round = read / 20 - 2;
            long way = Math.floorMod(round + read / 2 % 10, 10);
            offsetNs[0] += way == 0 && read % 2 == 1 ? 10_000_000 : 0;
            return SimulatedCuda.now() + offsetNs[0];
        };
        List<Outcome> outcomes = new CostCheck(gpu, 20, clock).run();

        assertThat(outcomes.get(0).status()).isEqualTo(Status.BROKEN);
        assertThat(outcomes.get(0).found()).contains("is faster by").contains("than no profiler at all");
    }

    @Test
    void bricksWithoutTimesAreNoMeasurementOfTheirCost() {
        SimulatedCuda.failAlways("cuEventElapsedTime", CUDA_ERROR_INVALID_VALUE);

        List<Outcome> outcomes = new CostCheck(gpu, 2, SimulatedCuda::now).run();

        assertThat(outcomes).extracting(Outcome::status).containsOnly(Status.BROKEN);
        assertThat(outcomes.get(0).found()).contains("the device timed 0 of 4,608 bricks, and 4,608 are unresolved");
    }

    @Test
    void theFlowThatWaitsByItselfIsTimedByTheDevice() {
        Outcome outcome = new DeferredCheck(gpu, SimulatedCuda::now).run().get(0);

        assertThat(outcome.found()).contains("5 us: +0.00 us", "2,000 us: +0.00 us");
        assertThat(outcome.status()).isEqualTo(Status.HELD);
    }

    @Test
    void threadsWithStreamsOfTheirOwnAreTimed() {
        // The virtual clock does not let the host of one thread wait for the work of another.
        SimulatedCuda.useRealClock(1);
        Outcome outcome = new StreamsCheck(gpu).run().get(0);

        assertThat(outcome.found()).startsWith("800 bricks");
        assertThat(outcome.status()).isEqualTo(Status.HELD);
        assertThat((List<?>) outcome.figures().get("streams")).hasSize(4);
    }

    @Test
    void aStreamWhoseBricksHaveNoTimesIsNamed() {
        SimulatedCuda.useRealClock(1);
        SimulatedCuda.failAlways("cuEventElapsedTime", CUDA_ERROR_INVALID_VALUE);
        Outcome outcome = new StreamsCheck(gpu).run().get(0);

        assertThat(outcome.status()).isEqualTo(Status.BROKEN);
        assertThat(outcome.found()).contains("0 of 200 bricks timed in worker 3");
    }

    @ParameterizedTest
    @ValueSource(ints = {CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_CAPTURED_EVENT})
    void aCaptureAndItsReplayAreAsClaimed(int code) {
        gpu.close();
        SimulatedCuda.setCapturedCode(code);
        gpu = Gpu.open(0);
        Outcome outcome = new CaptureCheck(gpu).run().get(0);

        assertThat(outcome.found()).startsWith("8 kernels of 100 us take 800.0 us (800.0 to 800.0) as a graph");
        assertThat(outcome.found()).contains("captured into a graph");
        assertThat(outcome.status()).isEqualTo(Status.HELD);
    }

    @Test
    void aCaptureThatIsSpoiltIsBroken() {
        SimulatedCuda.failOnce("cuStreamEndCapture", 1, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

        assertThatThrownBy(() -> new CaptureCheck(gpu).run())
                .isInstanceOf(DeviceFailure.class)
                .hasMessageContaining("cuStreamEndCapture with bricks in the capture");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void theBricksOfAGraphHaveTheTimesThatTheyHaveWithoutOne(int keepsUntilReached) {
        SimulatedCuda.setKeepsUntilReached(keepsUntilReached);
        List<Outcome> outcomes = new GraphCheck(gpu, SimulatedCuda::now).run();
        Outcome outcome = outcomes.get(0);

        assertThat(outcome.found())
                .startsWith("42 launches of 64 bricks, 0.00 us from those without a graph at most; the 64 bricks of"
                        + " launch 45 of captured graph 1 are unresolved");
        assertThat(outcome.status()).isEqualTo(Status.HELD);
        assertThat(outcomes.get(1).found())
                .isEqualTo("3520 us, with the events of its bricks 3520 us, 0.00 us a brick more");
    }

    @Test
    void aDriverWithoutExternalEventsIsBroken() {
        SimulatedCuda.setIgnoresExternal(1);
        Outcome outcome = new GraphCheck(gpu, SimulatedCuda::now).run().get(0);

        assertThat(outcome.status()).isEqualTo(Status.BROKEN);
        assertThat(outcome.found()).contains("a launch timed 0 of 16 bricks 'spin 20000 ns of a step'");
    }

    @Test
    void aDriverThatRecordsTheEventsOfAGraphOnceIsBroken() {
        SimulatedCuda.setRecordsOnce(1);
        Outcome outcome = new GraphCheck(gpu, SimulatedCuda::now).run().get(0);

        assertThat(outcome.status()).isEqualTo(Status.BROKEN);
        assertThat(outcome.found()).contains("a launch timed 0 of 16 bricks 'spin 20000 ns of a step'");
    }

    @Test
    void refusalsOfTheDriverAreListed() {
        Outcome outcome = new ErrorsCheck(gpu).run().get(0);

        assertThat(outcome.status()).isEqualTo(Status.HELD);
        assertThat(outcome.figures().get("answers"))
                .isEqualTo(Map.of(
                        "a launch of no blocks", 1,
                        "a launch of 4096 threads a block", 1,
                        "a kernel that is not there", 500,
                        "the time of an event never recorded", 400,
                        "waiting for an event of a capture", 907,
                        "asking for an event of a capture", 907,
                        "the time of an event of a capture", 907));
        assertThat(SimulatedCuda.spoiltCaptures()).isZero();
    }

    @Test
    void aDriverThatDoesNotRefuseIsBroken() {
        SimulatedCuda.setCapturedCode(CUDA_SUCCESS);
        Outcome outcome = new ErrorsCheck(gpu).run().get(0);

        assertThat(outcome.status()).isEqualTo(Status.BROKEN);
        assertThat(outcome.found()).contains("not refused: the time of an event of a capture");
    }

    @Test
    void bricksLieBetweenLaunchAndWaitInTheHostsTime() {
        Outcome outcome = new ClockCheck(gpu, SimulatedCuda::now).run().get(0);

        assertThat(outcome.found()).isEqualTo("25 of 25 passes do, within 0.00 us (0.00 to 0.00)");
        assertThat(outcome.status()).isEqualTo(Status.HELD);
    }

    @Test
    void aHostClockThatIsNotTheDevicesIsNoticed() {
        long[] reads = new long[1];
        // Runs at a third of the speed of the device's clock.
        Outcome outcome = new ClockCheck(gpu, () -> SimulatedCuda.now() / 3 + reads[0]++)
                .run()
                .get(0);

        assertThat(outcome.status()).isNotEqualTo(Status.HELD);
    }

    @Test
    void aDeviceThatIsLostEndsMarking() {
        Outcome outcome = new LossCheck(gpu).run().get(0);

        assertThat(outcome.found()).startsWith("the device is lost: ").contains("CUDA_ERROR_LAUNCH_FAILED (719)");
        assertThat(outcome.status()).isEqualTo(Status.HELD);
    }

    @Test
    void marksLeaveNothingBehind() {
        // Grows the pool of marks to the size that it needs.
        new MarksCheck(gpu, 2_000).run();
        int eventsBefore = SimulatedCuda.liveEvents();

        Outcome outcome = new MarksCheck(gpu, 20_000).run().get(0);

        assertThat(outcome.status()).isEqualTo(Status.HELD);
        assertThat(outcome.figures()).containsEntry("samples", 10_000L).containsEntry("unresolved", 0L);
        assertThat(SimulatedCuda.liveEvents()).isEqualTo(eventsBefore);
    }

    @Test
    void aMarkThatIsNotSetFails() {
        SimulatedCuda.failOnce("cuEventRecord", 5_000, CUDA_ERROR_LAUNCH_FAILED);

        assertThat(new MarksCheck(gpu, 20_000).run().get(0).status()).isEqualTo(Status.BROKEN);
    }

    @Test
    void aLostDeviceIsReported() {
        SpinCheck spin = new SpinCheck(gpu);
        SimulatedCuda.loseContexts(CUDA_ERROR_LAUNCH_FAILED);

        assertThatThrownBy(spin::run).isInstanceOf(DeviceFailure.class).hasMessageContaining("LAUNCH_FAILED");
    }
}
