package org.brickprofiler.report;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Calibration;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.report.internal.JsonInput;
import org.brickprofiler.report.internal.PhaseCheck;
import org.brickprofiler.report.internal.ProfileFields;
import org.brickprofiler.report.internal.RequestFields;
import org.brickprofiler.report.internal.Row;
import org.brickprofiler.report.internal.RowChecks;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.request.RequestTimeline;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.tile.TileStats;
import org.jspecify.annotations.Nullable;

/** Reads one report. One thread. */
final class JsonReportReader {

    private static final int HIGHEST_MAJOR_VERSION = 1;
    private static final Calibration.Spread NO_SPREAD = new Calibration.Spread(0, 0, 0);

    private final JsonInput input;
    /** The whole numbers of the report itself, by their keys; 0 for a key that the file lacks. */
    private final Map<String, Long> numbers = new HashMap<>();

    private final List<Environment> environments = new ArrayList<>();
    private final List<TileStats> tiles = new ArrayList<>();
    private final List<StreamTotals> streams = new ArrayList<>();
    private final Row environment = new Row(ProfileFields.ENVIRONMENT);
    private final Row brick = new Row(ProfileFields.BRICK);
    private final Row tile = new Row(ProfileFields.TILE);
    private final Row stream = new Row(ProfileFields.STREAM);
    private final Row phase = new Row(ProfileFields.PHASE);
    private final Row distribution = new Row(ProfileFields.DISTRIBUTION);
    private Steps steps = Steps.NONE;
    private RequestStats requests = RequestStats.NONE;
    private RequestTimeline requestTimeline = RequestTimeline.NONE;

    private @Nullable List<BrickStats> bricks;

    /** The bricks that were read, those of phases included. */
    private int brickRows;

    private final List<PhaseFields> phases = new ArrayList<>();
    private final List<CategoryFields> categories = new ArrayList<>();
    private Instant startedAt = Instant.EPOCH;
    private Instant endedAt = Instant.EPOCH;
    private int threads;
    private boolean virtualThreads;
    private boolean zeroCopy;
    private boolean tilesOff;
    private RunFacts facts = RunFacts.NONE;
    private RunIdentity identity = RunIdentity.NONE;
    private OptionalDouble l2CacheHitRate = OptionalDouble.empty();

    private JsonReportReader(JsonInput input) {
        this.input = input;
    }

    /**
     * Reads a report.
     *
     * @param json the text, as UTF-8, UTF-16 or UTF-32; closed
     * @return the profile
     * @throws IOException when the text is no report of a version that this reader supports
     */
    static ProfileSnapshot read(InputStream json) throws IOException {
        try (JsonParser parser = JsonInput.parser(json)) {
            JsonReportReader reader = new JsonReportReader(new JsonInput(parser));
            reader.input.document(reader::field);
            return reader.snapshot();
        }
    }

    private void field(String key) throws IOException {
        switch (key) {
            case "schema_version" -> input.version(key, HIGHEST_MAJOR_VERSION);
            case "started_at" -> startedAt = input.moment(key);
            case "ended_at" -> endedAt = input.moment(key);
            case "wall_ns", "overhead_ns", "dropped_pending", "pending", "literal_overlaps", "total_ns" ->
                numbers.put(key, input.whole(key, 0, Long.MAX_VALUE));
            case "threads" -> threads = (int) input.whole(key, 0, Integer.MAX_VALUE);
            case "virtual_threads" -> virtualThreads = input.flag(key);
            case "l2_cache_hit_rate" -> l2CacheHitRate = OptionalDouble.of(input.real(key, 1.0));
            case "zero_copy" -> zeroCopy = input.flag(key);
            case "tile_profiling_enabled" -> tilesOff = !input.flag(key);
            case "environments" -> input.array(key, () -> environments.add(environment()));
            case "bricks" -> bricks = bricks(key);
            case "phases" -> input.array(key, () -> phases.add(read("phase", new PhaseFields())));
            case "categories" -> input.array(key, () -> categories.add(read("category", new CategoryFields())));
            case "tiles" -> input.array(key, () -> tiles.add(ProfileFields.tile(input, tile.read(input, "tile"))));
            case "streams" ->
                input.array(key, () -> streams.add(ProfileFields.stream(input, stream.read(input, "stream"))));
            case "steps" -> steps = read(key, new StepsFields()).steps();
            case "requests" ->
                requests = RequestFields.requests(input, new Row(RequestFields.REQUESTS).read(input, key));
            case "request_timeline" ->
                requestTimeline = read(key, new TimelineJson(input)).timeline();
            case "identity" ->
                identity = ProfileFields.identity(input, new Row(ProfileFields.IDENTITY).read(input, key));
            case "run" -> facts = read(key, new FactsFields()).facts();
            case JsonReport.SLOW_STEPS ->
                throw input.error("the sums are those of chosen steps, not of a run: give the timeline itself");
            default -> input.skip();
        }
    }

    /** The bricks of a phase. */
    private final class PhaseFields implements JsonInput.KeyReader {
        private StepInfo.@Nullable Phase phase;
        private List<BrickStats> bricks = List.of();

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "phase" -> phase = ProfileFields.phase(input, key);
                case "bricks" -> bricks = JsonReportReader.this.bricks(key);
                default -> input.skip();
            }
        }
    }

    /** Returns the bricks by phase. */
    private Map<StepInfo.Phase, List<BrickStats>> phases() throws IOException {
        Map<StepInfo.Phase, List<BrickStats>> byPhase = new EnumMap<>(StepInfo.Phase.class);
        for (PhaseFields read : phases) {
            if (read.phase == null) {
                throw input.error("bricks of a phase have no phase");
            }
            if (byPhase.put(read.phase, read.bricks) != null) {
                throw input.error("the phase " + read.phase.displayName() + " occurs twice");
            }
        }
        requireParts(byPhase);
        return byPhase;
    }

    /** The sums of a category, which the bricks determine; empty for a name that this version does not know. */
    private final class CategoryFields implements JsonInput.KeyReader {
        private final Map<String, Long> sums = new HashMap<>();
        private Optional<BrickCategory> category = Optional.empty();

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "name" -> {
                    String name = input.text(key);
                    category = Stream.of(BrickCategory.values())
                            .filter(each -> each.displayName().equals(name))
                            .findFirst();
                }
                case "count", "total_ns" -> sums.put(key, input.whole(key, 0, Long.MAX_VALUE));
                default -> input.skip();
            }
        }
    }

    /** Refuses sums that the bricks do not have. They are not used, but other programs read them. */
    private void requireSums(List<BrickStats> bricks) throws IOException {
        long count = bricks.stream().mapToLong(BrickStats::count).reduce(0, Sums::limited);
        if (count > RowChecks.MOST_SAMPLES) {
            throw input.error("the counts of the bricks sum to " + (count == Long.MAX_VALUE ? "2^63 or more" : count)
                    + ", more than " + RowChecks.MOST_SAMPLES);
        }
        requireSum("total_ns", numbers, "total_ns", bricks.stream().mapToLong(BrickStats::totalNs));
        for (CategoryFields each : categories) {
            if (each.category.isPresent()) {
                BrickCategory category = each.category.get();
                List<BrickStats> of = bricks.stream()
                        .filter(brick -> brick.category() == category)
                        .toList();
                String what = " of the category " + category.displayName();
                requireSum("count" + what, each.sums, "count", of.stream().mapToLong(BrickStats::count));
                requireSum("total_ns" + what, each.sums, "total_ns", of.stream().mapToLong(BrickStats::totalNs));
            }
        }
    }

    private void requireSum(String what, Map<String, Long> given, String key, LongStream parts) throws IOException {
        long sum = parts.reduce(0, Sums::limited);
        Long inFile = given.get(key);
        if (inFile != null && inFile != sum) {
            throw input.error(what + " is " + inFile + ", and its bricks sum to " + sum);
        }
    }

    private void requireParts(Map<StepInfo.Phase, List<BrickStats>> byPhase) throws IOException {
        if (byPhase.isEmpty()) {
            return;
        }
        PhaseCheck check = new PhaseCheck();
        for (BrickStats brick : bricks == null ? List.<BrickStats>of() : bricks) {
            check.add(brick.category().displayName(), brick.name(), brick.count(), brick.totalNs());
        }
        for (List<BrickStats> ofPhase : byPhase.values()) {
            for (BrickStats brick : ofPhase) {
                check.addInPhase(brick.category().displayName(), brick.name(), brick.count(), brick.totalNs());
            }
        }
        Optional<String> fault = check.fault();
        if (fault.isPresent()) {
            throw input.error(fault.get());
        }
    }

    private List<BrickStats> bricks(String key) throws IOException {
        List<BrickStats> read = new ArrayList<>();
        input.array(key, () -> {
            if (++brickRows > RowChecks.MOST_BRICKS) {
                throw input.error("there are more than " + RowChecks.MOST_BRICKS
                        + " bricks, those of phases included: give fewer bricks names of their own");
            }
            read.add(ProfileFields.brick(input, brick.read(input, "brick")));
        });
        return read;
    }

    private ProfileSnapshot snapshot() throws IOException {
        if (bricks == null) {
            throw input.error("there are no bricks: this is no report of Brick Profiler");
        }
        requireSums(bricks);
        return ProfileSnapshot.builder(startedAt, endedAt, numbers.getOrDefault("wall_ns", 0L))
                .threads(threads, virtualThreads)
                .overheadNs(numbers.getOrDefault("overhead_ns", 0L))
                .deferred(
                        numbers.getOrDefault("dropped_pending", 0L),
                        numbers.getOrDefault("pending", 0L),
                        numbers.getOrDefault("literal_overlaps", 0L))
                .l2CacheHitRate(l2CacheHitRate)
                .zeroCopy(zeroCopy)
                .tilesOff(tilesOff)
                .environments(environments)
                .bricks(bricks)
                .phases(phases())
                .tiles(tiles)
                .streams(streams)
                .steps(steps)
                .requests(requests)
                .requestTimeline(requestTimeline)
                .facts(facts)
                .identity(identity)
                .build();
    }

    private Environment environment() throws IOException {
        return ProfileFields.environment(environment.read(input, "environment"));
    }

    // ---- the objects within a report, while they are read ----

    private <T extends JsonInput.KeyReader> T read(String what, T fields) throws IOException {
        input.object(what, fields);
        return fields;
    }

    /** The steps. */
    private final class StepsFields implements JsonInput.KeyReader {
        private final List<StepStats> phases = new ArrayList<>();
        private final List<String> columns = new ArrayList<>();
        private final List<Step> kept = new ArrayList<>();
        private LatencyDistribution timeToFirstToken = LatencyDistribution.EMPTY;
        private long timeToFirstTokenNs;
        private LatencyDistribution timePerOutputToken = LatencyDistribution.EMPTY;
        private final Row step = new Row(ProfileFields.STEP);
        private long abandoned;

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "abandoned" -> abandoned = input.whole(key, 0, Long.MAX_VALUE);
                case "time_to_first_token" -> timeToFirstToken = knownDistribution(key);
                case "time_to_first_token_ns" -> timeToFirstTokenNs = input.whole(key, 0, Long.MAX_VALUE);
                case "time_per_output_token" -> timePerOutputToken = knownDistribution(key);
                case "phases" ->
                    input.array(
                            key,
                            () -> phases.add(
                                    ProfileFields.steps(input, JsonReportReader.this.phase.read(input, "phase"))));
                case "kept_columns" -> input.array(key, () -> columns.add(input.text("column")));
                case "kept" ->
                    input.array(key, () -> kept.add(ProfileFields.step(input, step.readCells(input, "step", columns))));
                default -> input.skip();
            }
        }

        Steps steps() {
            return new Steps(phases, timeToFirstToken, timeToFirstTokenNs, timePerOutputToken, abandoned, kept);
        }
    }

    private LatencyDistribution knownDistribution(String key) throws IOException {
        LatencyDistribution read = ProfileFields.distribution(distribution.read(input, key));
        return read == null ? LatencyDistribution.EMPTY : read;
    }

    /** The facts of the run. */
    private final class FactsFields implements JsonInput.KeyReader {
        private final Map<String, Double> machine = new TreeMap<>();
        private final List<String> disturbances = new ArrayList<>();
        private final List<RunFacts.VirtualMachine> virtualMachines = new ArrayList<>();
        private final List<Calibration> calibrations = new ArrayList<>();
        private final Map<String, ExecutionGraph.Nesting> nesting = new TreeMap<>();
        private final Row machineRow = new Row(ProfileFields.VIRTUAL_MACHINE);
        private final Row nestingRow = new Row(ProfileFields.NESTING);
        private OptionalDouble tokensPerSec = OptionalDouble.empty();
        private OptionalDouble unprofiledTokensPerSec = OptionalDouble.empty();

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "tokens_per_sec" -> tokensPerSec = rate(key);
                case "unprofiled_tokens_per_sec" -> unprofiledTokensPerSec = rate(key);
                case "machine" ->
                    input.object(key, name -> machine.put(named(name), input.real(name, Double.MAX_VALUE)));
                case "disturbances" -> input.array(key, () -> disturbances.add(named(input.text(key))));
                case "virtual_machines" ->
                    input.array(
                            key,
                            () -> virtualMachines.add(
                                    ProfileFields.virtualMachine(machineRow.read(input, "virtual machine"))));
                case "calibrations" ->
                    input.array(
                            key,
                            () -> calibrations.add(JsonReportReader.this
                                    .read("calibration", new CalibrationFields())
                                    .calibration()));
                case "nesting" ->
                    input.array(key, () -> {
                        Row read = nestingRow.read(input, "entry of nesting");
                        nesting.put(read.get("name", ""), ProfileFields.nesting(input, read));
                    });
                default -> input.skip();
            }
        }

        private OptionalDouble rate(String key) throws IOException {
            double rate = input.real(key, Double.MAX_VALUE);
            if (rate == 0) {
                throw input.wrong(key, "is not above 0");
            }
            return OptionalDouble.of(rate);
        }

        private String named(String name) throws IOException {
            if (name.isEmpty()) {
                throw input.error("a machine figure or disturbance has an empty name");
            }
            return name;
        }

        RunFacts facts() {
            return new RunFacts(
                    tokensPerSec,
                    unprofiledTokensPerSec,
                    machine,
                    disturbances,
                    virtualMachines,
                    calibrations,
                    nesting);
        }
    }

    /** The cost of timing a brick. */
    private final class CalibrationFields implements JsonInput.KeyReader {
        private final Map<Calibration.Mode, Calibration.Cost> costs = new EnumMap<>(Calibration.Mode.class);
        private Environment measuredOn = ProfileFields.environment(new Row(ProfileFields.ENVIRONMENT));
        private final Row spread = new Row(ProfileFields.SPREAD);
        private Calibration.Spread clockStepNs = NO_SPREAD;
        private Calibration.Spread clockReadNs = NO_SPREAD;
        private long clockWentBack;

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "environment" -> measuredOn = environment();
                case "clock_step_ns" -> clockStepNs = spread(key);
                case "clock_read_ns" -> clockReadNs = spread(key);
                case "clock_went_back" -> clockWentBack = input.whole(key, 0, Long.MAX_VALUE);
                case "costs" -> input.object(key, this::cost);
                default -> input.skip();
            }
        }

        private void cost(String name) throws IOException {
            for (Calibration.Mode mode : Calibration.Mode.values()) {
                if (mode.name().equalsIgnoreCase(name)) {
                    Map<String, Calibration.Spread> parts = new HashMap<>();
                    input.object(name, part -> parts.put(part, spread(part)));
                    costs.put(
                            mode,
                            new Calibration.Cost(
                                    parts.getOrDefault("empty_ns", NO_SPREAD),
                                    parts.getOrDefault("sample_ns", NO_SPREAD),
                                    parts.getOrDefault("inside_ns", NO_SPREAD),
                                    parts.getOrDefault("lap_ns", NO_SPREAD)));
                    return;
                }
            }
            input.skip();
        }

        private Calibration.Spread spread(String what) throws IOException {
            return ProfileFields.spread(input, spread.read(input, what));
        }

        Calibration calibration() throws IOException {
            if (!costs.containsKey(Calibration.Mode.OWN)) {
                throw input.error("a calibration has no cost of mode own");
            }
            return new Calibration(measuredOn, clockStepNs, clockReadNs, clockWentBack, costs);
        }
    }
}
