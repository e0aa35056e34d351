package org.brickprofiler.demo.device;

import static jcuda.driver.CUresult.CUDA_ERROR_LAUNCH_FAILED;
import static jcuda.driver.CUresult.CUDA_SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.demo.device.Outcome.Status;
import org.brickprofiler.device.cuda.SimulatedCuda;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The checks over the simulated driver, whose times are exact: what is claimed of times holds, to the nanosecond. */
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

    @Test
    void spinsAreMeasuredAsTheyTellThemselves() {
        Outcome outcome = new SpinCheck(gpu).run().get(0);

        assertThat(outcome.status()).isEqualTo(Status.HELD);
        assertThat(outcome.found()).startsWith("12 of 12 within");
        assertThat((List<?>) outcome.figures().get("rows")).hasSize(12).first().isEqualTo(Map.of(
                "spin_ns", 2_000L,
                "inside_ns", 2_000L,
                "measured_ns", 2_000L,
                "error_ns", 0L,
                "worst_error_ns", 0L,
                "holds", true));
    }

    @ParameterizedTest
    @CsvSource({
        "2000, 1000, true", "2000, -1000, true", "2000, 1001, false", "2000, -1001, false",
        "10000000, 200000, true", "10000000, 200001, false"
    })
    void aSpinMayBeOffByAMicrosecondOrTwoPerCent(long insideNs, long errorNs, boolean expected) {
        assertThat(new SpinCheck.Row(insideNs, insideNs, insideNs + errorNs, errorNs, errorNs).holds())
                .isEqualTo(expected);
    }

    @Test
    void thePartsAddUpToTheWhole() {
        Outcome outcome = new SpanCheck(gpu).run().get(0);

        assertThat(outcome.status()).isEqualTo(Status.HELD);
        long spanNs = 20L * 32 * 12 * 10_000;
        assertThat(outcome.figures())
                .containsEntry("bricks_ns", spanNs)
                .containsEntry("idle_ns", 0L)
                .containsEntry("span_ns", spanNs);
    }

    @Test
    void theCostOfEveryWayIsTold() {
        List<Outcome> outcomes = new CostCheck(gpu, 2).run();

        assertThat(outcomes).hasSize(5);
        assertThat(outcomes.subList(0, 2)).allMatch(claim -> claim.figures().containsKey("bound"));
        assertThat(outcomes.get(0).claim()).isEqualTo("DEFERRED adds at most 2 % to 384 kernels of 10 us");
        assertThat(outcomes.get(1).claim()).isEqualTo("DEFERRED, lap adds at most 1 % to 384 kernels of 10 us");
        for (Outcome told : outcomes.subList(2, 5)) {
            assertThat(told.status()).isEqualTo(Status.TOLD);
            assertThat((List<?>) told.figures().get("ways")).hasSize(6);
        }
    }

    @Test
    void marksLeaveNothingBehind() {
        // The pool of marks takes the size that it needs.
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

        assertThat(new MarksCheck(gpu, 20_000).run().get(0).status()).isEqualTo(Status.FAILED);
    }

    @Test
    void aLostDeviceIsTold() {
        SpinCheck spin = new SpinCheck(gpu);
        SimulatedCuda.loseContexts(CUDA_ERROR_LAUNCH_FAILED);

        assertThatThrownBy(spin::run).isInstanceOf(DeviceFailure.class).hasMessageContaining("LAUNCH_FAILED");
    }
}
