package org.brickprofiler.fleet;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.compare.Run;
import org.brickprofiler.stats.LatencyDistribution;

/**
 * The runs of a fleet in comparable form: each run is one observation, regardless of its number of ranks and windows,
 * and its figures are those of all of them together. A step of eight ranks therefore counts eight times, and its bricks
 * with it, so the comparison is of a step of one rank. No state; any thread.
 */
public final class FleetRuns {

    private FleetRuns() {}

    /**
     * Returns the runs of a fleet.
     *
     * @param engine the engine with the tables of the fleet
     * @param name the name of the fleet in reports, such as its folder; the names of the runs begin with it
     * @return the runs, by name
     * @throws IOException when the engine fails
     */
    public static List<Run> of(FleetEngine engine, String name) throws IOException {
        Objects.requireNonNull(name, "name");
        Map<String, List<BrickStats>> bricks = new HashMap<>();
        for (FleetQuestion.Row row : FleetQuestion.RUN_BRICKS.ask(engine)) {
            bricks.computeIfAbsent(row.text("run_id"), none -> new ArrayList<>())
                    .add(brick(row));
        }
        Map<String, List<StepStats>> steps = new HashMap<>();
        for (FleetQuestion.Row row : FleetQuestion.RUN_STEPS.ask(engine)) {
            phase(row.ifText("phase").orElse(""))
                    .ifPresent(phase -> steps.computeIfAbsent(row.text("run_id"), none -> new ArrayList<>())
                            .add(steps(phase, row)));
        }
        List<Run> runs = new ArrayList<>();
        for (FleetQuestion.Row row : FleetQuestion.RUNS.ask(engine)) {
            String run = row.text("run_id");
            runs.add(Run.of(
                    name + ", " + run,
                    snapshot(row, bricks.getOrDefault(run, List.of()), steps.getOrDefault(run, List.of()))));
        }
        return List.copyOf(runs);
    }

    private static BrickStats brick(FleetQuestion.Row row) {
        String category = row.text("category");
        return BrickStats.builder(
                        row.text("brick"),
                        Stream.of(BrickCategory.values())
                                .filter(each -> each.displayName().equals(category))
                                .findFirst()
                                .orElse(BrickCategory.OTHER))
                .samples(row.number("count"), row.number("total_ns"), row.number("min_ns"), row.number("max_ns"))
                .last(row.number("max_ns"), 0)
                .elements(row.number("elements"))
                .device(device(row))
                .build();
    }

    /** Returns what the tables have of the samples of a brick that devices timed. */
    static DeviceTime device(FleetQuestion.Row brick) {
        return new DeviceTime(
                brick.ifNumber("device_samples").orElse(0),
                0,
                0,
                0,
                0,
                brick.ifNumber("unresolved").orElse(0),
                0,
                brick.ifNumber("unmarked").orElse(0),
                brick.ifReal("standard_error_ns").orElse(0),
                brick.ifReal("degrees_of_freedom").orElse(0),
                0,
                0,
                DeviceTime.MarkTime.NONE);
    }

    private static Optional<StepInfo.Phase> phase(String name) {
        return Stream.of(StepInfo.Phase.values())
                .filter(phase -> phase.displayName().equalsIgnoreCase(name))
                .findFirst();
    }

    /** Returns the steps of a phase. Values that the tables lack are 0, which is the same for all compared runs. */
    private static StepStats steps(StepInfo.Phase phase, FleetQuestion.Row row) {
        long count = row.number("steps");
        long totalNs = row.number("total_ns");
        return StepStats.builder(phase)
                .steps(count, row.ifNumber("wall_ns").orElse(0))
                .durations(totalNs, 0, row.number("max_ns"), LatencyDistribution.EMPTY)
                .sequences(count)
                .tokens(0, row.number("tokens"), 0, 0)
                .build();
    }

    private static ProfileSnapshot snapshot(FleetQuestion.Row row, List<BrickStats> bricks, List<StepStats> steps) {
        RunIdentity.Builder identity =
                RunIdentity.builder().runId(row.text("run_id")).worldSize((int) row.number("ranks"));
        row.ifText("model").ifPresent(identity::model);
        row.ifText("precision").ifPresent(identity::precision);
        row.ifText("device").ifPresent(identity::device);
        return ProfileSnapshot.builder(
                        Instant.ofEpochMilli(row.number("start_ms")),
                        Instant.ofEpochMilli(row.number("end_ms")),
                        row.number("wall_ns"))
                .threads(1, false)
                .deferred(row.ifNumber("dropped").orElse(0), 0, 0)
                .tilesOff(true)
                .bricks(bricks)
                .steps(new Steps(steps, LatencyDistribution.EMPTY, 0, LatencyDistribution.EMPTY, 0, List.of()))
                .identity(identity.build())
                .build();
    }
}
