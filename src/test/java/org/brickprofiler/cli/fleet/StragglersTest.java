package org.brickprofiler.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.brickprofiler.BrickId;
import org.brickprofiler.cli.fleet.SimulatedFleet.Fault;
import org.brickprofiler.cli.fleet.SimulatedFleet.Injected;
import org.brickprofiler.cli.fleet.SimulatedFleet.Shape;
import org.brickprofiler.cli.fleet.Stragglers.Finding;
import org.brickprofiler.cli.fleet.Stragglers.Kind;
import org.brickprofiler.cli.fleet.Stragglers.Stretch;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** In simulated fleets. {@link FleetStudy} does it in more and larger ones. */
final class StragglersTest {

    private static final Shape SMALL = new Shape("r1", 64, 100, 100);

    private static final Injected THROTTLED = new Injected(Fault.THROTTLED, 5, BrickId.RMS_NORM, 0.12, 0, 100);

    @TempDir
    Path folder;

    @Test
    @Spec("24.10")
    void findsAndNamesWhatIsWrong() throws Exception {
        List<Injected> faults = new ArrayList<>(SimulatedFleet.studyFaults(SMALL));
        int free = IntStream.range(0, SMALL.ranks() / SimulatedFleet.RANKS_A_HOST)
                .filter(host -> faults.stream().noneMatch(fault -> fault.host() == host))
                .findFirst()
                .orElseThrow();
        int late = free * SimulatedFleet.RANKS_A_HOST;
        faults.add(new Injected(Fault.UNRECORDED, late, BrickId.RMS_NORM, 0.06, 0, 100));

        assertThat(FleetStudy.wrong(faults, FleetStudy.find(new SimulatedFleet(SMALL, faults), folder))).isEmpty();
    }

    @Test
    @Spec("24.10")
    void reportsNothingWhereNothingIsWrong() throws Exception {
        Stragglers stragglers = FleetStudy.find(new SimulatedFleet(SMALL, List.of()), folder);

        assertThat(stragglers).isEqualTo(new Stragglers(List.of(), List.of()));
    }

    /** Two bricks slow at the same time are one finding; a rank that is slow altogether only because of them is no other. */
    @Test
    @Spec("24.10")
    void bricksThatAreSlowInSomeWindowsAreNamedWithThese() throws Exception {
        List<Injected> faults = List.of(
                new Injected(Fault.BRICK_IN_WINDOWS, 5, BrickId.LM_HEAD, 0.5, 31, 49),
                new Injected(Fault.BRICK_IN_WINDOWS, 5, BrickId.ATTENTION_SOFTMAX, 0.8, 31, 49));

        List<Finding> findings = FleetStudy.find(new SimulatedFleet(SMALL, faults), folder).findings();

        assertThat(findings).singleElement().satisfies(finding -> {
            assertThat(finding.kind()).isEqualTo(Kind.SOME_WINDOWS);
            assertThat(finding.bricks()).containsExactly("AttentionSoftmax", "LmHead");
            assertThat(finding.windows()).containsExactly(new Stretch(31, 48));
            assertThat(finding.percent()).isCloseTo(80, within(6.0));
            assertThat(finding.what()).matches("slow in AttentionSoftmax, LmHead by .* % in 18 windows \\(31 to 48\\)");
            double ownNs = finding.ownNs();
            assertThat((double) finding.lateNs().orElseThrow()).isCloseTo(ownNs, within(0.2 * ownNs));
            assertThat(finding.costNs().orElseThrow()).isPositive();
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {30, 50, 65})
    @Spec("24.10")
    void aBrickThatIsSlowInManyWindowsIsNotCalledSlowInAll(int windows) throws Exception {
        Injected fault = new Injected(Fault.BRICK_IN_WINDOWS, 5, BrickId.LM_HEAD, 0.2, 20, 20 + windows);

        assertThat(FleetStudy.find(new SimulatedFleet(SMALL, List.of(fault)), folder).findings())
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.kind()).isEqualTo(Kind.SOME_WINDOWS);
                    assertThat(finding.bricks()).containsExactly("LmHead");
                    assertThat(finding.windowCount()).isBetween(windows - 2, windows + 2);
                    assertThat(finding.percent()).isCloseTo(20, within(3.0));
                });
    }

    /** The same fleet without the fault has the same chance in it: the difference of their steps is the cost. */
    @Test
    @Spec("24.11")
    void theCostIsAtLeastThatOfTheFleetWithoutTheStraggler() throws Exception {
        double trueNs = stepNs(List.of(THROTTLED)) - stepNs(List.of());

        List<Finding> findings = FleetStudy.find(new SimulatedFleet(SMALL, List.of(THROTTLED)), folder).findings();

        assertThat(findings).extracting(Finding::who).containsExactly("rank 5 (node-0000)");
        Finding finding = findings.get(0);
        assertThat(finding.costNs().orElseThrow()).isBetween(Math.round(trueNs), Math.round(1.4 * trueNs));
        assertThat(finding.lateNs().orElseThrow()).isGreaterThan(finding.costNs().orElseThrow());
        double ownNs = finding.ownNs();
        assertThat((double) finding.lateNs().orElseThrow()).isCloseTo(ownNs, within(0.1 * ownNs));
    }

    private static double stepNs(List<Injected> faults) {
        double[] sumNs = {0};
        new SimulatedFleet(SMALL, faults).run(window -> sumNs[0] += window.stepsNs);
        return sumNs[0] / SMALL.windows() / SimulatedFleet.STEPS;
    }

    /** Of two latest ranks, neither alone keeps the others waiting. */
    @Test
    @Spec("24.11")
    void costIsBesideTheLatestRankThatIsNotReported() throws Exception {
        Injected little = new Injected(Fault.BRICK, 9, BrickId.LAYER_NORM, 0.2, 0, 100);

        List<Finding> findings = FleetStudy.find(new SimulatedFleet(SMALL, List.of(THROTTLED, little)), folder).findings();

        assertThat(findings).extracting(finding -> finding.rank().orElseThrow()).containsExactly(5, 9);
        assertThat(findings.get(1).costNs()).hasValue(0);
        assertThat(findings.get(1).ownNs()).isPositive();
    }

    @Test
    @Spec("24.12")
    void fewRanksOrWindowsAreNamedAndNotTested() throws Exception {
        assertThat(FleetStudy.find(new SimulatedFleet(new Shape("r1", 1, 30, 1), List.of()), folder))
                .isEqualTo(new Stragglers(
                        List.of(), List.of("Run r1, Simulated A: 1 rank cannot show who is unusual; it takes 4.")));
        Injected slow = new Injected(Fault.THROTTLED, 1, BrickId.RMS_NORM, 0.5, 0, 30);
        assertThat(FleetStudy.find(new SimulatedFleet(new Shape("r1", 2, 30, 1), List.of(slow)), folder).findings())
                .isEmpty();
        assertThat(FleetStudy.find(new SimulatedFleet(new Shape("r1", 64, 2, 1), List.of(slow)), folder))
                .isEqualTo(new Stragglers(
                        List.of(), List.of("Run r1, Simulated A: 2 windows cannot show what lasts; it takes 6.")));
    }

    @Test
    @Spec("24.12")
    void oneHostOfEightRanksIsEnough() throws Exception {
        Shape host = new Shape("r1", 8, 60, 3);

        assertThat(FleetStudy.find(new SimulatedFleet(host, List.of()), folder).findings()).isEmpty();
        assertThat(FleetStudy.find(new SimulatedFleet(host, List.of(THROTTLED)), folder).findings())
                .extracting(Finding::who, Finding::kind)
                .containsExactly(tuple("rank 5 (node-0000)", Kind.THROUGHOUT));
    }

    @Test
    @Spec("24.12")
    void anotherKindOfDeviceIsNamedAndNoStraggler() throws Exception {
        Stragglers stragglers =
                FleetStudy.find(new SimulatedFleet(SMALL, List.of(THROTTLED)).withOtherDevices(40, 1.6), folder);

        assertThat(stragglers.findings()).extracting(Finding::who).containsExactly("rank 5 (node-0000)");
        assertThat(stragglers.findings().get(0).costNs()).as("all wait for the other devices").hasValue(0);
        assertThat(stragglers.remarks()).singleElement().asString().contains("40 ranks of Simulated A", "24 ranks of Simulated B");
    }

    @Test
    @Spec("24.12")
    void lackingWindowsAreNamed() throws Exception {
        Stragglers stragglers = search(List.of(THROTTLED), "SELECT * FROM stored WHERE rank <> 7 OR win % 4 = 1");

        assertThat(stragglers.findings()).extracting(Finding::who).containsExactly("rank 5 (node-0000)");
        assertThat(stragglers.remarks())
                .containsExactly("Run r1, Simulated A: 1 rank lacks windows, the most of them rank 7 with 25 of 100.");
    }

    @Test
    @Spec("24.11")
    void withoutCollectivesTheCostIsNotKnown() throws Exception {
        Stragglers stragglers = search(List.of(THROTTLED), "SELECT * FROM stored WHERE category <> 'Communication'");

        assertThat(stragglers.findings()).extracting(Finding::kind).containsExactly(Kind.THROUGHOUT);
        assertThat(stragglers.findings().get(0).costNs()).isEmpty();
        assertThat(stragglers.remarks()).singleElement().asString().contains("no collectives were recorded");
    }

    @Test
    @Spec("24.10")
    void whoHasMoreToDoIsNotCalledSlow() throws Exception {
        Stragglers stragglers = search(List.of(), "SELECT run_id, rank, win, category, brick, count, "
                + "CASE WHEN rank = 7 AND brick = 'LmHead' THEN total_ns * 12 // 10 ELSE total_ns END AS total_ns, "
                + "CASE WHEN rank = 7 AND brick = 'LmHead' THEN elements * 12 // 10 ELSE elements END AS elements FROM stored");

        assertThat(stragglers.findings()).extracting(Finding::kind).containsExactly(Kind.MORE_WORK);
        assertThat(stragglers.findings().get(0).bricks()).containsExactly("LmHead");
    }

    @Test
    @Spec("24.10")
    void whoHasMoreToDoInSomeWindowsIsNotCalledSlowInThem() throws Exception {
        String more = "CASE WHEN rank = 7 AND brick = 'LmHead' AND win BETWEEN 40 AND 59 THEN %1$s * 12 // 10 ELSE %1$s END AS %1$s";
        Stragglers stragglers = search(List.of(), "SELECT run_id, rank, win, category, brick, count, "
                + more.formatted("total_ns") + ", " + more.formatted("elements") + " FROM stored");

        assertThat(stragglers.findings()).singleElement().satisfies(finding -> {
            assertThat(finding.kind()).isEqualTo(Kind.MORE_WORK);
            assertThat(finding.what()).startsWith("more work in a sample: ").endsWith(" % in LmHead in 20 windows (40 to 59)");
        });
    }

    private Stragglers search(List<Injected> faults, String bricks) throws Exception {
        Map<String, String> files = new SimulatedFleet(SMALL, faults).write(folder, false);
        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, FleetEngine.Options.defaults())) {
            for (Map.Entry<String, String> file : files.entrySet()) {
                engine.table(file.getKey().replace("brick_window", "stored"), List.of(file.getValue()));
            }
            engine.view("brick_window", bricks);
            return Stragglers.of(engine);
        }
    }
}
