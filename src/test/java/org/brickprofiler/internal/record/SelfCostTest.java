package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SelfCostTest {

    /** From the first reading of a turn to its last: two for each of 64 samples, and the last. */
    private static final int READINGS_A_TURN = 129;

    private static final double EACH_NS = READINGS_A_TURN / 64.0;

    private final List<Runnable> started = new ArrayList<>();

    /** A clock that moves on at each reading by a step that the number of the reading decides. */
    private static NanoClock clock(StepNs step) {
        AtomicInteger readings = new AtomicInteger();
        long[] now = new long[1];
        return () -> now[0] += step.after(readings.getAndIncrement());
    }

    @FunctionalInterface
    private interface StepNs {
        long after(int reading);
    }

    private SelfCost cost(StepNs step) {
        return new SelfCost(false, false, clock(step), started::add);
    }

    @Spec("4.8")
    @Test
    void isNotKnownUntilSomebodyElseHasMeasuredIt() {
        SelfCost cost = cost(reading -> 20);
        assertThat(cost.perSampleNs()).isZero();
        cost.start(() -> {});
        cost.start(() -> {});
        assertThat(cost.perSampleNs())
                .as("whoever starts it does not measure it")
                .isZero();
        assertThat(started).as("it is measured once").hasSize(1);
        started.get(0).run();
        assertThat(cost.perSampleNs()).isCloseTo(20 * EACH_NS, within(1e-9));
    }

    @Spec("4.8")
    @Test
    void isTheFloorOfAMachineUnderLoad() {
        // Nine turns of ten are interrupted for 3 ms.
        SelfCost cost = cost(reading -> reading % 1_300 < 1_170 && reading % 130 == 64 ? 3_000_000 : 25);
        cost.start(() -> {});
        started.get(0).run();
        assertThat(cost.perSampleNs()).isCloseTo(25 * EACH_NS, within(1e-9));
    }

    @Test
    void isNotTheCostOfCodeThatIsNotCompiledYet() {
        SelfCost cost = cost(reading -> reading < 1_900 * 130 ? 900 : 25);
        cost.start(() -> {});
        started.get(0).run();
        assertThat(cost.perSampleNs()).isCloseTo(25 * EACH_NS, within(1e-9));
    }

    @Spec("4.8")
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aDaemonMeasuresItForEachWayOfRecording(boolean percentiles) throws InterruptedException {
        for (boolean traced : new boolean[] {false, true}) {
            SelfCost cost = SelfCost.of(percentiles, traced);
            assertThat(cost).isSameAs(SelfCost.of(percentiles, traced));
            cost.start(() -> {});
            awaitMeasured(cost);
            assertThat(cost.perSampleNs()).isPositive().isLessThan(1e6);
        }
    }

    private static void awaitMeasured(SelfCost cost) {
        for (int i = 0; cost.perSampleNs() == 0 && i < 10_000; i++) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Test
    void aSnapshotTakesWhatIsKnown() {
        BrickProfiler profiler = BrickProfiler.enabled();
        int samples = 1_000;
        for (int i = 0; i < samples; i++) {
            profiler.record(BrickId.RMS_NORM, 1_000, 1);
        }
        SelfCost cost = SelfCost.of(false, false);
        awaitMeasured(cost);
        // The measurement may still be running; it only ever lowers the cost.
        double before = cost.perSampleNs();
        long overheadNs = profiler.snapshot().overheadNs();
        double after = cost.perSampleNs();
        assertThat(after).isPositive();
        assertThat((double) overheadNs).isBetween(samples * after - 0.5, samples * before + 0.5);
    }
}
