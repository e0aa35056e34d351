package org.brickprofiler.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.brickprofiler.BrickId;
import org.brickprofiler.fleet.SimulatedFleet.Fault;
import org.brickprofiler.fleet.SimulatedFleet.Injected;
import org.brickprofiler.fleet.SimulatedFleet.Shape;
import org.brickprofiler.fleet.StragglerSearch.Peers;
import org.brickprofiler.fleet.StragglerSearch.Rank;
import org.brickprofiler.fleet.StragglerSearch.RankKey;
import org.brickprofiler.fleet.Stragglers.Finding;
import org.brickprofiler.fleet.Stragglers.Kind;
import org.brickprofiler.fleet.Stragglers.Stretch;
import org.brickprofiler.testing.OneJdk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Searches simulated fleets for stragglers. {@link FleetStudy} searches more and larger ones. */
@OneJdk
final class StragglersTest {

    private static final Shape SMALL = new Shape("r1", 64, 100, 100);

    /** Two hosts, which are enough for one fault. */
    private static final Shape TWO_HOSTS = new Shape("r1", 2 * SimulatedFleet.RANKS_A_HOST, 100, 100);

    private static final Injected THROTTLED = new Injected(Fault.THROTTLED, 5, BrickId.RMS_NORM, 0.12, 0, 100);

    private static final FleetEngine.Options ONE_THREAD = new FleetEngine.Options(640L << 20, 1, null, null);

    @Test
    void findsAndNamesWhatIsWrong() throws Exception {
        List<Injected> faults = new ArrayList<>(SimulatedFleet.studyFaults(SMALL));
        int free = IntStream.range(0, SMALL.ranks() / SimulatedFleet.RANKS_A_HOST)
                .filter(host -> faults.stream().noneMatch(fault -> fault.host() == host))
                .findFirst()
                .orElseThrow();
        int late = free * SimulatedFleet.RANKS_A_HOST;
        faults.add(new Injected(Fault.UNRECORDED, late, BrickId.RMS_NORM, 0.06, 0, 100));

        assertThat(FleetStudy.wrong(faults, find(new SimulatedFleet(SMALL, faults))))
                .isEmpty();
    }

    @Test
    void reportsNothingWhereNothingIsWrong() throws Exception {
        Stragglers stragglers = find(new SimulatedFleet(SMALL, List.of()));

        assertThat(stragglers.findings()).isEmpty();
        assertThat(stragglers.remarks()).isEmpty();
    }

    /**
     * Two bricks that are slow at the same time are one finding. The rank as a whole, which is slow only because of
     * them, is not a second one.
     */
    @Test
    void bricksThatAreSlowInSomeWindowsAreNamedWithThese() throws Exception {
        List<Injected> faults = List.of(
                new Injected(Fault.BRICK_IN_WINDOWS, 5, BrickId.LM_HEAD, 0.5, 31, 49),
                new Injected(Fault.BRICK_IN_WINDOWS, 5, BrickId.ATTENTION_SOFTMAX, 0.8, 31, 49));

        List<Finding> findings = find(new SimulatedFleet(TWO_HOSTS, faults)).findings();

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
    void aBrickThatIsSlowInManyWindowsIsNotCalledSlowInAll(int windows) throws Exception {
        Injected fault = new Injected(Fault.BRICK_IN_WINDOWS, 5, BrickId.LM_HEAD, 0.2, 20, 20 + windows);

        assertThat(find(new SimulatedFleet(TWO_HOSTS, List.of(fault))).findings())
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.kind()).isEqualTo(Kind.SOME_WINDOWS);
                    assertThat(finding.bricks()).containsExactly("LmHead");
                    assertThat(finding.windowCount()).isBetween(windows - 2, windows + 2);
                    assertThat(finding.percent()).isCloseTo(20, within(3.0));
                });
    }

    /**
     * The fleet without the fault draws the same random numbers, so the difference of the step times is the true cost.
     */
    @Test
    void theCostIsAtLeastTheDifferenceToTheFleetWithoutTheStraggler() throws Exception {
        double trueNs = stepNs(List.of(THROTTLED)) - stepNs(List.of());

        List<Finding> findings =
                find(new SimulatedFleet(TWO_HOSTS, List.of(THROTTLED))).findings();

        assertThat(findings).extracting(Finding::who).containsExactly("rank 5 (node-0000)");
        Finding finding = findings.get(0);
        assertThat(finding.costNs().orElseThrow()).isBetween(Math.round(trueNs), Math.round(1.4 * trueNs));
        assertThat(finding.lateNs().orElseThrow())
                .isGreaterThan(finding.costNs().orElseThrow());
        double ownNs = finding.ownNs();
        assertThat((double) finding.lateNs().orElseThrow()).isCloseTo(ownNs, within(0.1 * ownNs));
    }

    private static double stepNs(List<Injected> faults) {
        double[] sumNs = {0};
        new SimulatedFleet(TWO_HOSTS, faults).run(window -> sumNs[0] += window.stepsNs);
        return sumNs[0] / TWO_HOSTS.windows() / SimulatedFleet.STEPS;
    }

    /** Rank 9 takes longer in one brick, but enters collectives no later than some rank that is not reported. */
    @Test
    void theCostCountsFromTheLatestRankThatIsNotReported() throws Exception {
        Injected little = new Injected(Fault.BRICK, 9, BrickId.LAYER_NORM, 0.2, 0, 100);

        List<Finding> findings =
                find(new SimulatedFleet(SMALL, List.of(THROTTLED, little))).findings();

        assertThat(findings).extracting(finding -> finding.rank().orElseThrow()).containsExactly(5, 9);
        assertThat(findings.get(1).costNs()).hasValue(0);
        assertThat(findings.get(1).ownNs()).isPositive();
    }

    @Test
    void fewRanksOrWindowsAreNamedAndNotTested() throws Exception {
        assertThat(find(new SimulatedFleet(new Shape("r1", 1, 30, 1), List.of())))
                .isEqualTo(new Stragglers(
                        List.of(),
                        List.of(),
                        List.of("Run r1, Simulated A: 1 rank cannot show an outlier; the test needs 4.")));
        Injected slow = new Injected(Fault.THROTTLED, 1, BrickId.RMS_NORM, 0.5, 0, 30);
        assertThat(find(new SimulatedFleet(new Shape("r1", 2, 30, 1), List.of(slow)))
                        .findings())
                .isEmpty();
        assertThat(find(new SimulatedFleet(new Shape("r1", 64, 2, 1), List.of(slow))))
                .isEqualTo(new Stragglers(
                        List.of(),
                        List.of(),
                        List.of("Run r1, Simulated A: 2 windows cannot show a lasting difference; the test needs 6.")));
    }

    @Test
    void runsOfOneRankAreNamedTogether() {
        Map<Peers, List<Rank>> peers = new HashMap<>();
        for (String run : List.of("job-a", "job-b", "job-c")) {
            peers.put(new Peers(run, "A"), List.of(rank(run, 0)));
        }
        peers.put(new Peers("pair", "A"), List.of(rank("pair", 0), rank("pair", 1)));
        StragglerRemarks remarks = new StragglerRemarks();

        remarks.add(peers, Map.of());

        assertThat(remarks.all())
                .startsWith(
                        "3 runs have one rank each, so these ranks have no peers. If they belong to one run, give all of"
                                + " them the same BRICK_PROFILER_RUN_ID.",
                        "Run pair, A: 2 ranks cannot show an outlier; the test needs 4.")
                .noneMatch(remark -> remark.contains("job-"));
    }

    private static Rank rank(String run, int number) {
        return new Rank(new RankKey(run, number), "A", "", 30, 30, new Rank.Compute(1_000, 0, 1), OptionalLong.empty());
    }

    @Test
    void oneHostOfEightRanksIsEnough() throws Exception {
        Shape host = new Shape("r1", 8, 60, 3);

        assertThat(find(new SimulatedFleet(host, List.of())).findings()).isEmpty();
        assertThat(find(new SimulatedFleet(host, List.of(THROTTLED))).findings())
                .extracting(Finding::who, Finding::kind)
                .containsExactly(tuple("rank 5 (node-0000)", Kind.THROUGHOUT));
    }

    @Test
    void anotherKindOfDeviceIsNamedAndNoStraggler() throws Exception {
        Stragglers stragglers = find(new SimulatedFleet(SMALL, List.of(THROTTLED)).withOtherDevices(40, 1.6));

        assertThat(stragglers.findings()).extracting(Finding::who).containsExactly("rank 5 (node-0000)");
        assertThat(stragglers.findings().get(0).costNs())
                .as("all wait for the other devices")
                .hasValue(0);
        assertThat(stragglers.remarks())
                .singleElement()
                .asString()
                .contains("40 ranks of Simulated A", "24 ranks of Simulated B");
    }

    @Test
    void lackingWindowsAreNamed() throws Exception {
        Stragglers stragglers = search(List.of(THROTTLED), "SELECT * FROM stored WHERE rank <> 7 OR win % 4 = 1");

        assertThat(stragglers.findings()).extracting(Finding::who).containsExactly("rank 5 (node-0000)");
        assertThat(stragglers.remarks())
                .containsExactly(
                        "Run r1, Simulated A: 1 rank has fewer windows that can be tested, the fewest of them rank 7 with 25 of 100.");
    }

    /**
     * Two of eight processes are killed after three windows, while they warm up. Three windows show nothing of a rank,
     * however many windows the others have.
     */
    @Test
    void ranksThatWereKilledAfterAFewWindowsAreNamedAndNotTested() throws Exception {
        Stragglers stragglers = search(
                new SimulatedFleet(new Shape("r1", 8, 100, 3), List.of()),
                "SELECT * REPLACE (CASE WHEN rank IN (2, 5) AND category <> 'Communication' THEN total_ns * 159 ELSE total_ns"
                        + " END AS total_ns) FROM stored WHERE rank NOT IN (2, 5) OR win < 3",
                "rank NOT IN (2, 5) OR win < 3");

        assertThat(stragglers.findings()).isEmpty();
        assertThat(stragglers.remarks())
                .containsExactly(
                        "Run r1, Simulated A: 2 ranks with fewer than 6 windows in which it computed cannot be tested: rank 2"
                                + " has 3, rank 5 has 3.",
                        "Run r1, Simulated A: 2 ranks have fewer windows that can be tested, the fewest of them rank 2 with 3 of 100.");
    }

    /** Without steps, the time of a whole window of some ranks would be compared with the time of a step of others. */
    @ParameterizedTest
    @CsvSource({"rank = 3, 7", "rank <> 3, 1"})
    void ranksWithoutStepsAreNotTestedBesideRanksWithSteps(String withSteps, int without) throws Exception {
        Stragglers stragglers;
        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, ONE_THREAD)) {
            for (String table : new SimulatedFleet(new Shape("r1", 8, 20, 3), List.of()).load(engine, "every_")) {
                engine.view(
                        table,
                        "SELECT * FROM every_" + table + (table.equals("step_window") ? " WHERE " + withSteps : ""));
            }
            stragglers = Stragglers.of(engine);
        }

        assertThat(stragglers.findings()).isEmpty();
        assertThat(stragglers.remarks())
                .anyMatch(remark -> remark.startsWith("Run r1, Simulated A: " + without
                        + (without == 1 ? " rank" : " ranks") + " computed in no window, has windows without steps"));
    }

    /** Of eight ranks three are left: they cannot show an outlier, however slow one of them is. */
    @Test
    void ranksWithFewWindowsAreNoPeers() throws Exception {
        Stragglers stragglers = search(
                new SimulatedFleet(new Shape("r1", 8, 40, 3), List.of(THROTTLED)),
                "SELECT * FROM stored WHERE rank >= 5 OR win < 5",
                "rank >= 5 OR win < 5");

        assertThat(stragglers.findings()).isEmpty();
        assertThat(stragglers.remarks().get(0)).endsWith("The other 3 ranks cannot show an outlier; the test needs 4.");
    }

    /**
     * A brick that ran in only three windows of a rank shows nothing about the rank, regardless of the rank's other
     * bricks.
     */
    @Test
    void aBrickThatRanInAFewWindowsIsNotTestedThere() throws Exception {
        Stragglers stragglers = search(
                List.of(),
                "SELECT * REPLACE (CASE WHEN rank = 7 AND brick = 'LmHead' THEN total_ns * 3 ELSE total_ns END AS total_ns)"
                        + " FROM stored WHERE category <> 'Communication' AND (rank <> 7 OR brick <> 'LmHead' OR win < 3)");

        assertThat(stragglers.findings()).isEmpty();
    }

    /** The rank is reported neither as slow throughout nor as slow in some windows. */
    @ParameterizedTest
    @ValueSource(ints = {8, 24})
    void aRankThatDriftsIsOneFindingOfItsOwn(int ranks) throws Exception {
        Injected drift = new Injected(Fault.DRIFT, 5, BrickId.RMS_NORM, 0.15, 0, 100);

        Stragglers stragglers = find(new SimulatedFleet(new Shape("r1", ranks, 100, 3), List.of(drift)));

        assertThat(stragglers.findings()).singleElement().satisfies(finding -> {
            assertThat(finding.kind()).isEqualTo(Kind.DRIFT);
            assertThat(finding.who()).isEqualTo("rank 5 (node-0000)");
            assertThat(finding.bricks()).isEmpty();
            assertThat(finding.percent()).isCloseTo(10, within(1.5));
            assertThat(finding.what())
                    .matches("slower over time by .* % from the first third of its windows to the last");
            double ownNs = finding.ownNs();
            assertThat((double) finding.lateNs().orElseThrow()).isCloseTo(ownNs, within(0.2 * ownNs));
        });
    }

    /** A rank that takes several times as long has noise that is larger in the same proportion, which is no finding. */
    @ParameterizedTest
    @CsvSource({
        "DRIFT, 30, 3, 2, DRIFT",
        "DRIFT, 60, 1, 5, DRIFT",
        "THROTTLED, 30, 3, 5, THROUGHOUT",
        "BRICK, 30, 3, 5, BRICKS"
    })
    void aRankThatTakesSeveralTimesAsLongIsOneFinding(Fault fault, int windows, long seed, double by, Kind kind)
            throws Exception {
        Injected slow = new Injected(fault, 5, BrickId.RMS_NORM, by, 0, windows);

        assertThat(find(new SimulatedFleet(new Shape("r1", 8, windows, seed), List.of(slow)))
                        .findings())
                .extracting(Finding::rank, Finding::kind)
                .containsExactly(tuple(OptionalInt.of(5), kind));
    }

    @Test
    void aBrickThatDriftsIsOneFindingOfItsOwn() throws Exception {
        Injected drift = new Injected(Fault.BRICK_DRIFT, 5, BrickId.LM_HEAD, 0.3, 0, 100);

        assertThat(find(new SimulatedFleet(TWO_HOSTS, List.of(drift))).findings())
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.kind()).isEqualTo(Kind.DRIFT);
                    assertThat(finding.bricks()).containsExactly("LmHead");
                    assertThat(finding.percent()).isCloseTo(20, within(3.0));
                });
    }

    @Test
    void aRankThatIsSlowAtFirstAndRecoversDrifts() throws Exception {
        Stragglers stragglers = search(
                List.of(),
                "SELECT * REPLACE (CASE WHEN rank = 7 AND category <> 'Communication'"
                        + " THEN CAST(total_ns * (1 + 0.15 * (99 - win) / 99) AS BIGINT) ELSE total_ns END AS total_ns) FROM stored");

        assertThat(stragglers.findings()).singleElement().satisfies(finding -> {
            assertThat(finding.kind()).isEqualTo(Kind.DRIFT);
            assertThat(finding.what()).startsWith("slow at first, faster over time by ");
        });
    }

    /** A rank that becomes slower because its work grows does not drift. */
    @Test
    void aRankThatHasMoreAndMoreToDoDoesNotDrift() throws Exception {
        String more =
                "CASE WHEN rank = 7 AND category <> 'Communication' THEN CAST(%1$s * (1 + 0.3 * win / 99) AS BIGINT)"
                        + " ELSE %1$s END AS %1$s";
        Stragglers stragglers = search(
                List.of(),
                "SELECT * REPLACE (" + more.formatted("total_ns") + ", " + more.formatted("elements")
                        + ") FROM stored");

        assertThat(stragglers.findings())
                .extracting(Finding::kind)
                .contains(Kind.MORE_WORK)
                .doesNotContain(Kind.DRIFT);
    }

    @Test
    void aRankThatIsSlowFromAWindowOnDoesNotDrift() throws Exception {
        Injected slow = new Injected(Fault.SOME_WINDOWS, 5, BrickId.RMS_NORM, 0.15, 70, 100);

        assertThat(find(new SimulatedFleet(TWO_HOSTS, List.of(slow))).findings())
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.kind()).isEqualTo(Kind.SOME_WINDOWS);
                    assertThat(finding.windows()).containsExactly(new Stretch(70, 99));
                });
    }

    @Test
    void aRankThatIsSlowThroughoutAndMoreSoInSomeWindowsIsOneFinding() throws Exception {
        List<Injected> faults = List.of(THROTTLED, new Injected(Fault.SOME_WINDOWS, 5, BrickId.RMS_NORM, 0.15, 40, 60));

        assertThat(find(new SimulatedFleet(TWO_HOSTS, faults)).findings())
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.kind()).isEqualTo(Kind.THROUGHOUT);
                    assertThat(finding.windowCount()).isEqualTo(100);
                    assertThat(finding.what())
                            .matches("slow throughout by 1.* %, and more so in 20 windows \\(40 to 59\\)");
                });
    }

    /** In a fifth of the windows of each rank, or of each of its bricks, something takes up to half as long again. */
    @ParameterizedTest
    @CsvSource({"8, 40, false", "8, 40, true", "64, 60, false", "64, 60, true", "32, 110, false", "16, 90, true"})
    void heavyStallsOfAllRanksRaiseNoAlarm(int ranks, int windows, boolean eachBrick) throws Exception {
        for (long seed = 31; seed <= 62; seed += 31) {
            SimulatedFleet fleet = new SimulatedFleet(new Shape("r1", ranks, windows, seed), List.of());
            Stragglers stragglers = find(eachBrick ? fleet.withStallsOfBricks(0.2, 0.5) : fleet.withStalls(0.2, 0.5));

            assertThat(stragglers.findings()).as("seed %d", seed).isEmpty();
            assertThat(stragglers.shown()).hasSize(1);
        }
    }

    /** With few windows, the median window of some rank or brick is a disturbed one in nearly every fleet. */
    @ParameterizedTest
    @CsvSource({
        "4, 6, false, 1",
        "4, 9, true, 2",
        "8, 12, true, 2",
        "8, 30, true, 2",
        "16, 6, true, 2",
        "8, 6, false, 3",
        "4, 20, false, 2"
    })
    void heavyStallsRaiseNoAlarmInFewWindows(int ranks, int windows, boolean eachBrick, long seed) throws Exception {
        SimulatedFleet fleet = FleetStudy.stalled(new Shape("r1", ranks, windows, seed), List.of(), eachBrick, 20);

        assertThat(find(fleet).findings()).isEmpty();
    }

    /** Six windows, the fewest that are tested, show a slow rank among stalls, and a slow brick without stalls. */
    @ParameterizedTest
    @ValueSource(ints = {8, 16})
    void sixWindowsShowWhatIsSlowInEachOfThem(int ranks) throws Exception {
        Shape shape = new Shape("r1", ranks, 6, 1);
        Injected slowRank = new Injected(Fault.THROTTLED, 2, BrickId.RMS_NORM, 0.2, 0, 6);
        Injected slowBrick = new Injected(Fault.BRICK, 2, BrickId.RMS_NORM, 0.1, 0, 6);

        Stragglers amongStalls = find(FleetStudy.stalled(shape, List.of(slowRank), false, 20));
        assertThat(amongStalls.findings()).extracting(Finding::rank).containsExactly(OptionalInt.of(2));
        assertThat(amongStalls.remarks())
                .containsExactly("Run r1, Simulated A: 6 windows cannot show a drift; the test needs 12.");
        assertThat(find(new SimulatedFleet(shape, List.of(slowBrick))).findings())
                .extracting(Finding::rank, Finding::bricks)
                .containsExactly(tuple(OptionalInt.of(2), List.of("RmsNorm")));
    }

    /** If more than a third of all windows stall, the median window does not show how fast a rank usually is. */
    @ParameterizedTest
    @CsvSource({"8, 40, true, 62", "64, 60, false, 124", "8, 40, true, 124"})
    void whereStallsAreTooManyTheTestDoesNotApply(int ranks, int windows, boolean eachBrick, long seed)
            throws Exception {
        SimulatedFleet fleet = new SimulatedFleet(new Shape("r1", ranks, windows, seed), List.of());
        Stragglers stragglers = find(eachBrick ? fleet.withStallsOfBricks(0.35, 0.5) : fleet.withStalls(0.35, 0.5));

        assertThat(stragglers.findings()).isEmpty();
        assertThat(stragglers.shown()).isEmpty();
        assertThat(stragglers.remarks())
                .singleElement()
                .asString()
                .startsWith("Run r1, Simulated A: a quarter or more of the windows of its ranks are disturbed in ")
                .endsWith("the test for stragglers does not apply: none was looked for.");
    }

    @Test
    void aSlowRankIsFoundAmongHeavyStalls() throws Exception {
        Injected slow = new Injected(Fault.THROTTLED, 5, BrickId.RMS_NORM, 0.1, 0, 60);
        SimulatedFleet fleet = new SimulatedFleet(new Shape("r1", 64, 60, 7), List.of(slow)).withStalls(0.2, 0.5);

        assertThat(find(fleet).findings())
                .extracting(Finding::who, Finding::kind)
                .containsExactly(tuple("rank 5 (node-0000)", Kind.THROUGHOUT));
    }

    /** The test still applies here: it has no finding without a straggler, and finds the straggler. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSlowRankIsFoundAmongStallsInAQuarterOfTheWindows(boolean eachBrick) throws Exception {
        Shape shape = new Shape("r1", 8, 60, 9_005);
        Injected slow = new Injected(Fault.THROTTLED, 5, BrickId.RMS_NORM, 0.2, 0, 60);

        Stragglers without = find(FleetStudy.stalled(shape, List.of(), eachBrick, 25));
        Stragglers with = find(FleetStudy.stalled(shape, List.of(slow), eachBrick, 25));

        assertThat(without.findings()).isEmpty();
        assertThat(without.shown()).as("the test applies").hasSize(1);
        assertThat(with.findings())
                .extracting(Finding::who, Finding::kind)
                .containsExactly(tuple("rank 5 (node-0000)", Kind.THROUGHOUT));
    }

    /**
     * The report states the least slowness that would be found. A rank that is slow by so much is found in about four
     * of five fleets, and a rank that is slow by a third of it in hardly any.
     */
    @Test
    void theReportSaysWhichSlownessItWouldHaveFound() throws Exception {
        int found = 0;
        int foundLess = 0;
        int fleets = 10;
        for (int seed = 1; seed <= fleets; seed++) {
            Shape shape = new Shape("r1", 8, 30, 100 + seed);
            double by =
                    find(new SimulatedFleet(shape, List.of())).shown().get(0).throughoutPercent() / 100;
            found += finds(shape, by) ? 1 : 0;
            foundLess += seed % 2 == 0 && finds(shape, by / 3) ? 1 : 0;
        }

        assertThat(found).isBetween(6, fleets);
        assertThat(foundLess).isLessThanOrEqualTo(1);
    }

    private static boolean finds(Shape shape, double by) throws Exception {
        Injected slow = new Injected(Fault.THROTTLED, 5, BrickId.RMS_NORM, by, 0, shape.windows());
        return find(new SimulatedFleet(shape, List.of(slow))).findings().stream()
                .anyMatch(finding -> finding.rank().equals(OptionalInt.of(5))
                        && finding.bricks().isEmpty());
    }

    @Test
    void withoutCollectivesTheCostIsNotKnown() throws Exception {
        Stragglers stragglers = search(List.of(THROTTLED), "SELECT * FROM stored WHERE category <> 'Communication'");

        assertThat(stragglers.findings()).extracting(Finding::kind).containsExactly(Kind.THROUGHOUT);
        assertThat(stragglers.findings().get(0).costNs()).isEmpty();
        assertThat(stragglers.remarks()).singleElement().asString().contains("no collectives were recorded");
    }

    @Test
    void whoHasMoreToDoIsNotCalledSlow() throws Exception {
        Stragglers stragglers = search(
                List.of(),
                "SELECT run_id, rank, win, category, brick, count, unresolved, unmarked, "
                        + "CASE WHEN rank = 7 AND brick = 'LmHead' THEN total_ns * 12 // 10 ELSE total_ns END AS total_ns, "
                        + "CASE WHEN rank = 7 AND brick = 'LmHead' THEN elements * 12 // 10 ELSE elements END AS elements FROM stored");

        assertThat(stragglers.findings()).extracting(Finding::kind).containsExactly(Kind.MORE_WORK);
        assertThat(stragglers.findings().get(0).bricks()).containsExactly("LmHead");
    }

    @Test
    void whoHasMoreToDoInSomeWindowsIsNotCalledSlowInThem() throws Exception {
        String more =
                "CASE WHEN rank = 7 AND brick = 'LmHead' AND win BETWEEN 40 AND 59 THEN %1$s * 12 // 10 ELSE %1$s END AS %1$s";
        Stragglers stragglers = search(
                List.of(),
                "SELECT run_id, rank, win, category, brick, count, unresolved, unmarked, " + more.formatted("total_ns")
                        + ", " + more.formatted("elements") + " FROM stored");

        assertThat(stragglers.findings()).singleElement().satisfies(finding -> {
            assertThat(finding.kind()).isEqualTo(Kind.MORE_WORK);
            assertThat(finding.what())
                    .startsWith("more work in a sample: ")
                    .endsWith(" % in LmHead in 20 windows (40 to 59)");
        });
    }

    private static Stragglers search(List<Injected> faults, String bricks) throws Exception {
        return search(new SimulatedFleet(TWO_HOSTS, faults), bricks, "1 = 1");
    }

    /**
     * Searches a fleet in the windows that meet a condition. Its table of bricks is the result of a query over the
     * table {@code stored}.
     */
    private static Stragglers search(SimulatedFleet fleet, String bricks, String windows) throws Exception {
        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, ONE_THREAD)) {
            for (String table : fleet.load(engine, "every_")) {
                engine.view(
                        table.replace("brick_window", "stored"), "SELECT * FROM every_" + table + " WHERE " + windows);
            }
            engine.view("brick_window", bricks);
            return Stragglers.of(engine);
        }
    }

    /**
     * A brick that lacks half of its samples lacks half of its time, and a collective without samples shows no wait.
     */
    @ParameterizedTest
    @CsvSource({"false, 0.5", "false, 1", "true, 0.5", "true, 1"})
    void aRankThatLacksMeasurementsIsNoStragglerAndHidesNone(boolean isCollective, double share) throws Exception {
        BrickId brick = isCollective ? BrickId.ALL_REDUCE : BrickId.LM_HEAD;
        Set<Integer> most = IntStream.range(6, 16).boxed().collect(Collectors.toSet());

        Stragglers of =
                find(new SimulatedFleet(TWO_HOSTS, List.of(THROTTLED)).withUnresolved(Set.of(9), Set.of(brick), share));
        Stragglers ofMost = find(new SimulatedFleet(TWO_HOSTS, List.of()).withUnresolved(most, Set.of(brick), share));

        assertThat(of.findings()).extracting(Finding::who).containsExactly("rank 5 (node-0000)");
        assertThat(of.findings()).extracting(Finding::kind).containsExactly(Kind.THROUGHOUT);
        assertThat(of.remarks()).anyMatch(remark -> remark.contains("rank 9 has 0"));
        assertThat(ofMost.findings()).isEmpty();
    }

    /** A window that waits for the marks of a brick lacks it, and a later one has it twice. */
    @Test
    void ranksWithEstimatesAreNotTestedAndHideNone() throws Exception {
        Stragglers ofOther = find(new SimulatedFleet(TWO_HOSTS, List.of(THROTTLED)).withSampling(Set.of(9)));
        Stragglers ofItself = find(new SimulatedFleet(TWO_HOSTS, List.of(THROTTLED)).withSampling(Set.of(5)));

        assertThat(ofOther.findings()).extracting(Finding::who).containsExactly("rank 5 (node-0000)");
        assertThat(ofOther.remarks())
                .anyMatch(remark -> remark.contains("rank 9 has 0"))
                .anyMatch(remark -> remark.contains("has estimated times in all windows"));
        assertThat(ofItself.findings()).isEmpty();
    }

    /** A loss that is too small to change a verdict withholds none. */
    @Test
    void aRankThatLacksFewMeasurementsIsTested() throws Exception {
        Stragglers found = find(new SimulatedFleet(TWO_HOSTS, List.of(THROTTLED))
                .withUnresolved(Set.of(5), Set.of(BrickId.RMS_NORM), 0.005));

        assertThat(found.findings()).extracting(Finding::who).containsExactly("rank 5 (node-0000)");
    }

    private static Stragglers find(SimulatedFleet fleet) throws Exception {
        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, ONE_THREAD)) {
            fleet.load(engine, "");
            return Stragglers.of(engine);
        }
    }
}
