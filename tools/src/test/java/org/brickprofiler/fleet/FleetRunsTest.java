package org.brickprofiler.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.brickprofiler.BrickId;
import org.brickprofiler.compare.Run;
import org.brickprofiler.compare.RunComparison;
import org.brickprofiler.compare.RunComparison.Kind;
import org.brickprofiler.compare.RunComparison.Verdict;
import org.brickprofiler.fleet.SimulatedFleet.Fault;
import org.brickprofiler.fleet.SimulatedFleet.Injected;
import org.brickprofiler.fleet.SimulatedFleet.Shape;
import org.brickprofiler.testing.OneJdk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@OneJdk
final class FleetRunsTest {

    private static final int RUNS = 5;

    @TempDir
    Path folder;

    @Test
    void oneBrickThatIsSlowerOnAllRanksIsFoundAndNothingElse() throws Exception {
        List<Run> before = runs("before", 1, 4, 0);
        List<Run> after = runs("after", 101, 4, 0.1);

        RunComparison comparison = RunComparison.of(before, after, RunComparison.Options.defaults());

        assertThat(before).hasSize(RUNS).extracting(Run::name).startsWith("before, run 1");
        assertThat(comparison.lines())
                .filteredOn(line -> line.kind() == Kind.BRICK)
                .filteredOn(line -> line.verdict() == Verdict.SLOWER || line.verdict() == Verdict.FASTER)
                .extracting(RunComparison.Line::name)
                .containsExactly("LmHead");
    }

    @Test
    void aRunIsOneObservationHoweverManyRanksItHas() throws Exception {
        RunComparison comparison = RunComparison.of(
                runs("before", 1, 8, 0).subList(0, 1),
                runs("after", 101, 8, 0.1).subList(0, 1),
                RunComparison.Options.defaults());

        assertThat(comparison.lines())
                .filteredOn(line -> line.verdict() != Verdict.NOT_COMPARABLE)
                .isNotEmpty()
                .allSatisfy(line -> assertThat(line.verdict()).isEqualTo(Verdict.TOO_FEW_RUNS));
    }

    @Test
    void otherNumbersOfRanksAreNotCompared() throws Exception {
        RunComparison comparison =
                RunComparison.of(runs("before", 1, 4, 0), runs("after", 101, 8, 0), RunComparison.Options.defaults());

        assertThat(comparison.remarks().get(0)).contains("different number of ranks: 4 before, 8 after");
    }

    /** A brick that lacks half of its samples lacks half of its time in a step. */
    @Test
    void whatLacksMeasurementsIsNotCompared() throws Exception {
        RunComparison comparison = RunComparison.of(
                runs("before", 1, 4, 0), runs("after", 101, 4, 0, 0.5), RunComparison.Options.defaults());

        assertThat(comparison.lines())
                .filteredOn(line -> line.verdict() == Verdict.NOT_COMPARABLE)
                .extracting(RunComparison.Line::name)
                .containsExactly("brick time of a step", "Other", "LmHead");
        assertThat(comparison.lines())
                .noneMatch(line -> line.verdict() == Verdict.FASTER || line.verdict() == Verdict.SLOWER);
        assertThat(comparison.lines())
                .filteredOn(line -> line.name().equals("brick time of a step"))
                .extracting(RunComparison.Line::note)
                .containsExactly("measurements missing in 0 runs before, 5 after");
        assertThat(comparison.remarks())
                .contains(
                        "Measurements without a known time are missing, in 0 runs before, 5 after: up to 12.5 % of LmHead."
                                + " Quantities that lack them are not compared.");
    }

    /**
     * Simulates the runs of one side. All runs begin at the same time, so that their start does not tell their side.
     */
    private List<Run> runs(String side, long seed, int ranks, double slower) throws Exception {
        return runs(side, seed, ranks, slower, 0);
    }

    private List<Run> runs(String side, long seed, int ranks, double slower, double lost) throws Exception {
        Map<String, List<String>> tables = new TreeMap<>();
        for (int run = 1; run <= RUNS; run++) {
            List<Injected> faults = new ArrayList<>();
            for (int rank = 0; rank < ranks && slower > 0; rank++) {
                faults.add(new Injected(Fault.BRICK, rank, BrickId.LM_HEAD, slower, 0, 5));
            }
            new SimulatedFleet(new Shape("run " + run, ranks, 5, seed + run), faults)
                    .withUnresolved(Set.of(0), Set.of(BrickId.LM_HEAD), lost)
                    .write(folder.resolve(side + run), false)
                    .forEach((table, file) -> tables.computeIfAbsent(table, none -> new ArrayList<>())
                            .add(file));
        }
        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, FleetEngine.Options.defaults())) {
            for (Map.Entry<String, List<String>> table : tables.entrySet()) {
                engine.table(table.getKey(), table.getValue());
            }
            engine.view(FleetPack.PHASES, FleetPack.NO_PHASES);
            return FleetRuns.of(engine, side);
        }
    }
}
