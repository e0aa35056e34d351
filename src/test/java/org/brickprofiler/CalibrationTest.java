package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.Calibration.Cost;
import org.brickprofiler.Calibration.Mode;
import org.brickprofiler.Calibration.Spread;
import org.brickprofiler.device.HostStream;
import org.brickprofiler.graph.ExecutionGraph.Nesting;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

class CalibrationTest {

    private static final Spread NO_SPREAD = new Spread(0, 0, 0);

    /** A clock that advances by a constant at each read, so that the cost of a brick is that of its reads. */
    private static final class ReadingClock implements NanoClock {
        private final long stepNs;
        private long nowNs;

        ReadingClock(long stepNs) {
            this.stepNs = stepNs;
        }

        @Override
        public long nanoTime() {
            nowNs += stepNs;
            return nowNs;
        }
    }

    static Calibration calibration(Environment where, double ownNs, double plainNs) {
        return new Calibration(
                where, NO_SPREAD, NO_SPREAD, 0, Map.of(Mode.OWN, cost(ownNs), Mode.PLAIN, cost(plainNs)));
    }

    /**
     * A started brick costs five parts, of which its own duration includes two; a lap costs three, and the duration
     * includes all.
     */
    private static Cost cost(double partNs) {
        return new Cost(NO_SPREAD, spread(5 * partNs), spread(2 * partNs), spread(3 * partNs));
    }

    private static Spread spread(double ns) {
        return new Spread(ns, ns, ns);
    }

    private static RunFacts facts(List<Calibration> calibrations, Map<String, Nesting> nesting) {
        return RunFacts.NONE.plus(new RunFacts(
                RunFacts.NONE.tokensPerSec(),
                RunFacts.NONE.tokensPerSec(),
                Map.of(),
                List.of(),
                List.of(),
                calibrations,
                nesting));
    }

    @Spec("4.13")
    @Test
    void measuresEveryWayOfRecording() {
        BrickProfiler profiler = BrickProfiler.builder()
                .clock(new ReadingClock(10))
                .deviceStream(new HostStream(new ReadingClock(7)))
                .build();
        profiler.enable();
        Mode[] measuredModes = {Mode.OWN, Mode.PLAIN, Mode.PERCENTILES, Mode.TIMELINE, Mode.GRAPH};
        assertThat(profiler.snapshot().facts().calibrations()).isEmpty();
        profiler.calibrate();

        Calibration measured = profiler.snapshot().facts().calibrations().get(0);
        assertThat(measured.costs()).containsOnlyKeys(measuredModes);
        assertThat(measured.environment()).isEqualTo(Environment.current());
        assertThat(measured.clockStepNs()).isEqualTo(spread(10));
        assertThat(measured.clockReadNs()).isEqualTo(spread(10));
        assertThat(measured.clockWentBack()).isZero();
        for (Mode mode : measuredModes) {
            Cost cost = Objects.requireNonNull(measured.costs().get(mode));
            assertThat(cost.emptyNs().medianNs()).as(mode + ", two reads").isCloseTo(20, within(0.5));
            assertThat(cost.sampleNs().medianNs()).isCloseTo(20, within(0.5));
            assertThat(cost.insideNs().medianNs()).as("one read").isCloseTo(10, within(0.5));
            assertThat(cost.lapNs().medianNs()).isCloseTo(10, within(0.5));
        }
        assertThat(profiler.snapshot().streams().get(0).samples())
                .as("nothing in the application's stream")
                .isZero();
    }

    @Spec("4.13")
    @Test
    void measuresWithTheSystemsClock() {
        Calibration measured = calibratedNow();
        // Other load may slow one measurement and not the other.
        for (int more = 0; more < 4 && !isDearerThanReadingTheClock(measured); more++) {
            measured = calibratedNow();
        }
        assertThat(measured.costs()).doesNotContainKey(Mode.DEVICE);
        Cost own = measured.own();
        assertThat(own.insideNs().medianNs()).isBetween(0.5, own.sampleNs().medianNs());
        assertThat(isDearerThanReadingTheClock(measured)).as("%s", measured).isTrue();
        assertThat(own.sampleNs().lowNs()).isLessThanOrEqualTo(own.sampleNs().medianNs());
        assertThat(own.sampleNs().highNs())
                .isGreaterThanOrEqualTo(own.sampleNs().medianNs());
    }

    private static Calibration calibratedNow() {
        BrickProfiler profiler = BrickProfiler.builder().percentiles(true).build();
        profiler.calibrate();
        assertThat(profiler.isEnabled()).isFalse();
        return profiler.snapshot().facts().calibrations().get(0);
    }

    private static boolean isDearerThanReadingTheClock(Calibration measured) {
        return measured.own().emptyNs().medianNs() > measured.clockReadNs().medianNs();
    }

    @Spec("4.13")
    @Test
    void isNoPartOfTheRecording() {
        FakeClock clock = new FakeClock();
        ReadingClock reading = new ReadingClock(1);
        BrickProfiler profiler = BrickProfiler.builder()
                .clock(() -> clock.nanoTime() + reading.nanoTime())
                .build();
        profiler.enable();
        long timer = profiler.startBrick(BrickId.LM_HEAD);
        profiler.stopBrick(timer, 1);
        ProfileSnapshot before = profiler.snapshot();
        profiler.calibrate();
        ProfileSnapshot after = profiler.snapshot();

        assertThat(profiler.isEnabled()).isTrue();
        assertThat(after.bricks()).isEqualTo(before.bricks());
        assertThat(after.wallNs() - before.wallNs()).as("reads around it").isLessThan(10);
    }

    @Spec("4.14")
    @Test
    void learnsTheNestingFromTheGraph() {
        FakeClock clock = new FakeClock();
        BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
        profiler.enable();
        profiler.graph().enable();
        for (int pass = 0; pass < 2; pass++) {
            long outer = profiler.startBrick("block");
            clock.advance(5);
            long inner = profiler.startBrick(BrickId.RMS_NORM);
            clock.advance(5);
            inner = profiler.lap(inner, 1, BrickId.QKV_PROJECTION);
            clock.advance(5);
            inner = profiler.lap(inner, 1, BrickId.RMS_NORM);
            clock.advance(5);
            profiler.stopBrick(inner, 1);
            clock.advance(5);
            profiler.stopBrick(outer, 1);
            clock.advance(5);
        }
        assertThat(profiler.snapshot().facts().nesting())
                .as("before a calibration")
                .isEmpty();
        profiler.calibrate();
        assertThat(profiler.snapshot().facts().nesting())
                .containsExactly(
                        Map.entry("QkvProjection", new Nesting(2, 2, 0, 0)),
                        Map.entry("RmsNorm", new Nesting(4, 2, 0, 0)),
                        Map.entry("block", new Nesting(2, 0, 6, 4)));
    }

    @Spec("4.14")
    @Test
    void subtractsTheCostOfTiming() {
        BrickStats brick = Samples.brick("block", BrickCategory.OTHER, 1_000, 3_000);
        List<Calibration> calibrations = List.of(calibration(Samples.MACHINE, 10, 1));

        // Of four graphed samples, two were begun by a lap; on average, each held one started brick and one of a lap.
        RunFacts known = facts(calibrations, Map.of("block", new Nesting(4, 2, 8, 4)));
        assertThat(known.netNs(brick)).hasValue(4_000 - (20 + 30) - 2 * (50 + 30));
        assertThat(facts(calibrations, Map.of()).netNs(brick))
                .as("no nesting known")
                .hasValue(4_000 - 2 * 20);
        assertThat(facts(List.of(calibration(Samples.MACHINE, 1e6, 1)), Map.of())
                        .netNs(brick))
                .hasValue(0);
        assertThat(RunFacts.NONE.netNs(brick)).isEmpty();
        Environment other = new Environment("25", "VM 1", "OS 2", "arch", "cpu", 4, 10);
        assertThat(facts(List.of(calibrations.get(0), calibration(other, 1, 1)), Map.of())
                        .netNs(brick))
                .isEmpty();
    }

    @Spec("4.14")
    @Test
    void theReportShowsBothTimes() {
        ProfileSnapshot plain = Samples.snapshot(
                Samples.brick("block", BrickCategory.OTHER, 10_000, 30_000),
                Samples.brick("Up", BrickCategory.FFN, 5_000));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TextReport.renderNet(plain))
                .withMessage("the profile holds no calibration: BrickProfiler.calibrate() makes one");
        ProfileSnapshot calibrated = plain.withFacts(
                facts(List.of(calibration(Samples.MACHINE, 10, 1)), Map.of("block", new Nesting(1, 0, 2, 0))));

        String report = TextReport.renderNet(calibrated);
        assertThat(report)
                .containsPattern("\n *brick +category +count +total +avg +net total +net avg ")
                .containsPattern("\nblock +Other +2 +40\\.00 us +20\\.00 us +39\\.76 us +19\\.88 us ")
                .containsPattern("\nUp +FFN +1 +5\\.000 us +5\\.000 us +4\\.980 us +4\\.980 us ")
                .contains("20.0 ns (20.0..20.0) of a brick between start and stop", "above all inlining")
                .contains("without nested bricks: Up.\n");
        assertThat(TextReport.render(calibrated)).doesNotContain("net total");
        assertThat(TextReport.renderNet(calibrated, 80))
                .containsPattern("\nbrick +total +net total +p50 +p99 +% of brick time\n");
    }

    @Test
    void ofTheCalibrationsOfOneEnvironmentTheCheapestIsKept() {
        Calibration cheap = calibration(Samples.MACHINE, 1, 9);
        Calibration dear = calibration(Samples.MACHINE, 2, 1);
        assertThat(facts(List.of(dear), Map.of())
                        .plus(facts(List.of(cheap), Map.of()))
                        .calibrations())
                .containsExactly(cheap);
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> new Calibration(Samples.MACHINE, NO_SPREAD, NO_SPREAD, 0, Map.of(Mode.PLAIN, cost(1))))
                .withMessage("costs lack OWN: found [PLAIN]");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Nesting(1, 2, 0, 0))
                .withMessage("lapped 2 of 1 samples, and 0 of 0 within them");
    }
}
