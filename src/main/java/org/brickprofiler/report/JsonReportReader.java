package org.brickprofiler.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadFeature;
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
import org.brickprofiler.Bottleneck;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Calibration;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.Environment;
import org.brickprofiler.LatencyDistribution;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.Work;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;
import org.jspecify.annotations.Nullable;

/** Reads one report. One thread. */
final class JsonReportReader {

    private static final int HIGHEST_MAJOR_VERSION = 1;
    private static final double NS_PER_S = 1e9;
    private static final Calibration.Spread NO_SPREAD = new Calibration.Spread(0, 0, 0);

    /** A key that stands twice in an object is a fault: which of its values counts would depend on the parser. */
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private final JsonInput input;
    private final JsonInput.Numbers numbers;
    private final List<Environment> environments = new ArrayList<>();
    private final List<TileStats> tiles = new ArrayList<>();
    private final List<StreamTotals> streams = new ArrayList<>();
    private Steps steps = Steps.NONE;

    private @Nullable List<BrickStats> bricks;
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
        this.numbers = input.numbers();
    }

    /**
     * Reads a report.
     *
     * @param json the text, as UTF-8, UTF-16 or UTF-32; left open
     * @return the profile
     * @throws IOException when the text is no report that this version understands
     */
    static ProfileSnapshot read(InputStream json) throws IOException {
        try (JsonParser parser = parser(json)) {
            JsonReportReader reader = new JsonReportReader(new JsonInput(parser));
            reader.input.document(reader::field);
            return reader.snapshot();
        }
    }

    /**
     * A parser as strict as our readers want it.
     *
     * @param json the text
     * @return a parser before its first token; the caller closes it, and the text with it
     * @throws IOException when the text cannot be read
     */
    static JsonParser parser(InputStream json) throws IOException {
        return FACTORY.createParser(json);
    }

    private void field(String key) throws IOException {
        switch (key) {
            case "schema_version" -> input.version(key, HIGHEST_MAJOR_VERSION);
            case "started_at" -> startedAt = input.moment(key);
            case "ended_at" -> endedAt = input.moment(key);
            case "wall_ns", "overhead_ns", "dropped_pending", "pending", "literal_overlaps" -> numbers.readWhole(key);
            case "threads" -> threads = (int) input.whole(key, 0, Integer.MAX_VALUE);
            case "virtual_threads" -> virtualThreads = input.flag(key);
            case "l2_cache_hit_rate" -> l2CacheHitRate = OptionalDouble.of(input.real(key, 1.0));
            case "zero_copy" -> zeroCopy = input.flag(key);
            case "tile_profiling_enabled" -> tilesOff = !input.flag(key);
            case "environments" ->
                input.array(
                        key,
                        () -> environments.add(
                                read("environment", new EnvironmentFields()).environment()));
            case "bricks" -> bricks = bricks(key);
            case "tiles" ->
                input.array(key, () -> tiles.add(read("tile", new TileFields()).tile()));
            case "streams" ->
                input.array(
                        key,
                        () -> streams.add(read("stream", new StreamFields()).totals()));
            case "steps" -> steps = read(key, new StepsFields()).steps();
            case "identity" -> identity = read(key, new IdentityFields()).identity();
            case "run" -> facts = read(key, new FactsFields()).facts();
            default -> input.skip();
        }
    }

    private List<BrickStats> bricks(String key) throws IOException {
        List<BrickStats> read = new ArrayList<>();
        input.array(key, () -> read.add(read("brick", new BrickFields()).brick()));
        return read;
    }

    private ProfileSnapshot snapshot() throws IOException {
        if (bricks == null) {
            throw input.error("there are no bricks: this is no report of Brick Profiler");
        }
        return new ProfileSnapshot(
                startedAt,
                endedAt,
                numbers.whole("wall_ns"),
                threads,
                virtualThreads,
                numbers.whole("overhead_ns"),
                numbers.whole("dropped_pending"),
                numbers.whole("pending"),
                numbers.whole("literal_overlaps"),
                l2CacheHitRate,
                zeroCopy,
                tilesOff,
                environments,
                bricks,
                tiles,
                streams,
                steps,
                facts,
                identity);
    }

    /** Where something was measured: what {@link JsonReportWriter#environment} wrote. */
    static Environment environment(JsonInput input) throws IOException {
        JsonReportReader reader = new JsonReportReader(input);
        return reader.read("environment", reader.new EnvironmentFields()).environment();
    }

    // ---- the objects within a report, each while it is read ----

    private <T extends JsonInput.KeyReader> T read(String what, T fields) throws IOException {
        input.object(what, fields);
        return fields;
    }

    private @Nullable LatencyDistribution distribution(String what) throws IOException {
        long[] counts = new long[LatencyBuckets.COUNT];
        boolean[] found = new boolean[1];
        input.object(what, key -> {
            switch (key) {
                case "relative_error" -> requireSameBuckets(key);
                case "buckets" -> {
                    found[0] = true;
                    input.array(key, () -> bucket(counts));
                }
                default -> input.skip();
            }
        });
        return found[0] ? LatencyDistribution.ofCounts(counts) : null;
    }

    private void requireSameBuckets(String key) throws IOException {
        if (input.real(key, 1.0) != LatencyDistribution.RELATIVE_ERROR) {
            throw input.wrong(key, "is that of other buckets; here it is " + LatencyDistribution.RELATIVE_ERROR);
        }
    }

    private void bucket(long[] counts) throws IOException {
        long[] pair = {-1, -1};
        int[] length = {0};
        input.array("bucket", () -> {
            boolean isIndex = length[0] == 0;
            if (length[0] < pair.length) {
                pair[length[0]] = isIndex
                        ? input.whole("bucket number", 0, counts.length - 1L)
                        : input.whole("bucket count", 0, Long.MAX_VALUE);
            }
            length[0]++;
        });
        if (length[0] != pair.length) {
            throw input.error("a bucket has " + length[0] + " numbers instead of its own number and its count");
        }
        counts[(int) pair[0]] = pair[1];
    }

    /** One brick. */
    private final class BrickFields implements JsonInput.KeyReader {
        private final JsonInput.Numbers numbers = input.numbers();
        private @Nullable String name;
        private @Nullable BrickCategory category;
        private Bottleneck bottleneck = Bottleneck.UNKNOWN;
        private @Nullable LatencyDistribution latency;
        private DeviceTime device = DeviceTime.NONE;
        private Work work = Work.NONE;

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "name" -> name = input.text(key);
                case "category" -> category = input.oneOf(key, BrickCategory.values(), BrickCategory::displayName);
                case "bottleneck" -> bottleneck = input.oneOf(key, Bottleneck.values(), Bottleneck::name);
                case "count",
                        "total_ns",
                        "min_ns",
                        "max_ns",
                        "last_ns",
                        "last_at_unix_ns",
                        "total_elements",
                        "total_bytes",
                        "total_compressed_bytes",
                        "total_cycles",
                        "min_cycles",
                        "max_cycles" -> numbers.readWhole(key);
                case "min_us", "max_us", "throughput", "compression_ratio" -> numbers.readReal(key);
                case "latency" -> latency = distribution(key);
                case "device" ->
                    device = JsonReportReader.this.read(key, new DeviceFields()).time();
                case "work" ->
                    work = JsonReportReader.this.read(key, new WorkFields()).work();
                default -> input.skip();
            }
        }

        BrickStats brick() throws IOException {
            if (name == null) {
                throw input.error("a brick has no name");
            }
            return new BrickStats(
                    name,
                    category == null ? usualCategory(name) : category,
                    bottleneck,
                    numbers.whole("count"),
                    numbers.whole("total_ns"),
                    numbers.durationNs("min_ns", "min_us"),
                    numbers.durationNs("max_ns", "max_us"),
                    numbers.whole("last_ns"),
                    numbers.whole("last_at_unix_ns"),
                    elements(),
                    numbers.whole("total_bytes"),
                    compressedBytes(),
                    numbers.whole("total_cycles"),
                    numbers.whole("min_cycles"),
                    numbers.whole("max_cycles"),
                    Optional.ofNullable(latency),
                    device,
                    work);
        }

        private static BrickCategory usualCategory(String name) {
            return BrickId.parse(name).map(BrickId::category).orElse(BrickCategory.OTHER);
        }

        private long elements() {
            return numbers.has("total_elements")
                    ? numbers.whole("total_elements")
                    : Math.round(numbers.real("throughput", 0.0) * numbers.whole("total_ns") / NS_PER_S);
        }

        private long compressedBytes() {
            // A ratio of 1 is also what is written where nothing was compressed.
            double ratio = numbers.real("compression_ratio", 1.0);
            return numbers.has("total_compressed_bytes") || ratio == 1.0 || ratio == 0.0
                    ? numbers.whole("total_compressed_bytes")
                    : Math.round(numbers.whole("total_bytes") / ratio);
        }
    }

    /** The device's part of one brick. */
    private final class DeviceFields implements JsonInput.KeyReader {
        private final JsonInput.Numbers numbers = input.numbers();

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "device_samples",
                        "launches",
                        "launch_ns",
                        "min_launch_ns",
                        "max_launch_ns",
                        "unresolved",
                        "without_start" -> numbers.readWhole(key);
                default -> input.skip();
            }
        }

        DeviceTime time() {
            return new DeviceTime(
                    numbers.whole("device_samples"),
                    numbers.whole("launches"),
                    numbers.whole("launch_ns"),
                    numbers.whole("min_launch_ns"),
                    numbers.whole("max_launch_ns"),
                    numbers.whole("unresolved"),
                    numbers.whole("without_start"));
        }
    }

    /** What one brick had to do. */
    private final class WorkFields implements JsonInput.KeyReader {
        private final JsonInput.Numbers numbers = input.numbers();

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "flops", "bytes", "working_set_bytes" -> numbers.readWhole(key);
                default -> input.skip();
            }
        }

        Work work() {
            return new Work(numbers.whole("flops"), numbers.whole("bytes"), numbers.whole("working_set_bytes"));
        }
    }

    /** One environment. */
    private final class EnvironmentFields implements JsonInput.KeyReader {
        private String javaVersion = "unknown";
        private String jvm = "unknown";
        private String os = "unknown";
        private String arch = "unknown";
        private String cpu = "unknown";
        private int processors;
        private long clockResolutionNs;

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "java_version" -> javaVersion = input.text(key);
                case "jvm" -> jvm = input.text(key);
                case "os" -> os = input.text(key);
                case "arch" -> arch = input.text(key);
                case "cpu" -> cpu = input.text(key);
                case "processors" -> processors = (int) input.whole(key, 0, Integer.MAX_VALUE);
                case "clock_resolution_ns" -> clockResolutionNs = input.whole(key, 0, Long.MAX_VALUE);
                default -> input.skip();
            }
        }

        Environment environment() {
            return new Environment(javaVersion, jvm, os, arch, cpu, processors, clockResolutionNs);
        }
    }

    /** One level of tiles. */
    private final class TileFields implements JsonInput.KeyReader {
        private final JsonInput.Numbers numbers = input.numbers();
        private @Nullable TileLevel level;
        private int slowestRow = TileStats.UNKNOWN;
        private int slowestCol = TileStats.UNKNOWN;

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "level" -> level = input.oneOf(key, TileLevel.values(), TileLevel::displayName);
                case "count", "total_ns", "min_ns", "max_ns", "total_elements", "total_flops" -> numbers.readWhole(key);
                case "min_us", "max_us" -> numbers.readReal(key);
                case "slowest_row" -> slowestRow = place(key);
                case "slowest_col" -> slowestCol = place(key);
                default -> input.skip();
            }
        }

        private int place(String key) throws IOException {
            return (int) input.whole(key, TileStats.UNKNOWN, Integer.MAX_VALUE);
        }

        TileStats tile() throws IOException {
            if (level == null) {
                throw input.error("an entry of tiles has no level");
            }
            return new TileStats(
                    level,
                    numbers.whole("count"),
                    numbers.whole("total_ns"),
                    numbers.durationNs("min_ns", "min_us"),
                    numbers.durationNs("max_ns", "max_us"),
                    numbers.whole("total_elements"),
                    numbers.whole("total_flops"),
                    slowestRow,
                    slowestCol);
        }
    }

    /** One device stream. */
    private final class StreamFields implements JsonInput.KeyReader {
        private final JsonInput.Numbers numbers = input.numbers();
        private String stream = "unknown";
        private String device = "unknown";
        private int deviceIndex;
        private @Nullable String deviceUuid;
        private @Nullable String pciAddress;
        private @Nullable String failure;

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "stream" -> stream = input.text(key);
                case "device" -> device = input.text(key);
                case "device_index" -> deviceIndex = (int) input.whole(key, 0, Integer.MAX_VALUE);
                case "device_uuid" -> deviceUuid = input.text(key);
                case "pci_address" -> pciAddress = input.text(key);
                case "failure" -> failure = input.text(key);
                case "samples", "busy_ns", "idle_ns", "waits", "clock_error_ns" -> numbers.readWhole(key);
                default -> input.skip();
            }
        }

        StreamTotals totals() throws IOException {
            return new StreamTotals(
                    stream,
                    device,
                    deviceIndex,
                    Optional.ofNullable(deviceUuid),
                    Optional.ofNullable(pciAddress),
                    numbers.whole("samples"),
                    numbers.whole("busy_ns"),
                    numbers.whole("idle_ns"),
                    numbers.whole("waits"),
                    numbers.whole("clock_error_ns"),
                    Optional.ofNullable(failure));
        }
    }

    /** The steps. */
    private final class StepsFields implements JsonInput.KeyReader {
        private final List<StepStats> phases = new ArrayList<>();
        private final List<String> columns = new ArrayList<>();
        private final List<Step> kept = new ArrayList<>();
        private LatencyDistribution timeToFirstToken = LatencyDistribution.EMPTY;
        private long timeToFirstTokenNs;
        private LatencyDistribution timePerOutputToken = LatencyDistribution.EMPTY;
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
                            () -> phases.add(JsonReportReader.this
                                    .read("phase", new PhaseFields())
                                    .stats()));
                case "kept_columns" -> input.array(key, () -> columns.add(input.text("column")));
                case "kept" -> input.array(key, () -> kept.add(step()));
                default -> input.skip();
            }
        }

        private Step step() throws IOException {
            StepInfo.Phase[] phase = {StepInfo.Phase.DECODE};
            Map<String, Long> numbers = new HashMap<>();
            int[] length = {0};
            input.array("step", () -> {
                String column = length[0] < columns.size() ? columns.get(length[0]) : "";
                if (column.equals(StepRow.PHASE)) {
                    phase[0] = phase(column);
                } else if (!column.isEmpty()) {
                    numbers.put(column, input.whole(column, Long.MIN_VALUE, Long.MAX_VALUE));
                }
                length[0]++;
            });
            if (length[0] != columns.size()) {
                throw input.error("a step has " + length[0] + " values, but kept_columns has " + columns.size());
            }
            try {
                return StepRow.step(phase[0], numbers);
            } catch (IllegalArgumentException | ArithmeticException wrong) {
                throw input.error("a step is wrong: " + wrong.getMessage());
            }
        }

        Steps steps() {
            return new Steps(phases, timeToFirstToken, timeToFirstTokenNs, timePerOutputToken, abandoned, kept);
        }
    }

    private StepInfo.Phase phase(String key) throws IOException {
        return input.oneOf(key, StepInfo.Phase.values(), StepInfo.Phase::name);
    }

    private LatencyDistribution knownDistribution(String key) throws IOException {
        LatencyDistribution read = distribution(key);
        return read == null ? LatencyDistribution.EMPTY : read;
    }

    /** The sums of the steps of one phase. */
    private final class PhaseFields implements JsonInput.KeyReader {
        private final JsonInput.Numbers numbers = input.numbers();
        private final Map<BrickCategory, Long> categoryNs = new EnumMap<>(BrickCategory.class);
        private StepInfo.@Nullable Phase phase;
        private LatencyDistribution durations = LatencyDistribution.EMPTY;

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "phase" -> phase = phase(key);
                case "count",
                        "wall_ns",
                        "total_ns",
                        "min_ns",
                        "max_ns",
                        "sequences",
                        "prefill_tokens",
                        "output_tokens",
                        "drafted_tokens",
                        "accepted_tokens",
                        "kv_length",
                        "attributed" -> numbers.readWhole(key);
                case "category_ns" -> input.object(key, this::category);
                case "durations" -> durations = knownDistribution(key);
                default -> input.skip();
            }
        }

        private void category(String key) throws IOException {
            for (BrickCategory category : BrickCategory.values()) {
                if (category.displayName().equals(key)) {
                    categoryNs.put(category, input.whole(key, 0, Long.MAX_VALUE));
                }
            }
        }

        StepStats stats() throws IOException {
            if (phase == null) {
                throw input.error("an entry of phases has no phase");
            }
            return new StepStats(
                    phase,
                    numbers.whole("count"),
                    numbers.whole("wall_ns"),
                    numbers.whole("total_ns"),
                    numbers.whole("min_ns"),
                    numbers.whole("max_ns"),
                    durations,
                    numbers.whole("sequences"),
                    numbers.whole("prefill_tokens"),
                    numbers.whole("output_tokens"),
                    numbers.whole("drafted_tokens"),
                    numbers.whole("accepted_tokens"),
                    numbers.whole("kv_length"),
                    numbers.whole("attributed"),
                    categoryNs);
        }
    }

    /** Which run it is. */
    private final class IdentityFields implements JsonInput.KeyReader {
        private final RunIdentity.Builder known = RunIdentity.builder();
        private final JsonInput.Numbers numbers = input.numbers();

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "run_id" -> known.runId(input.text(key));
                case "rank" -> known.rank(number(key));
                case "world_size" -> known.worldSize(number(key));
                case "local_rank" -> known.localRank(number(key));
                case "host" -> known.host(input.text(key));
                case "device" -> known.device(input.text(key));
                case "model" -> known.model(input.text(key));
                case "precision" -> known.precision(input.text(key));
                case "commit" -> known.commit(input.text(key));
                case "phase" -> known.phase(input.text(key));
                case "first_step", "last_step" -> numbers.readWhole(key);
                case "window" -> known.window(input.whole(key, 0, Long.MAX_VALUE));
                default -> input.skip();
            }
        }

        private int number(String key) throws IOException {
            return (int) input.whole(key, 0, Integer.MAX_VALUE);
        }

        RunIdentity identity() throws IOException {
            try {
                if (numbers.has("first_step") && numbers.has("last_step")) {
                    known.steps(numbers.whole("first_step"), numbers.whole("last_step"));
                }
                return known.build();
            } catch (IllegalArgumentException wrong) {
                throw input.error("the identity is wrong: " + wrong.getMessage());
            }
        }
    }

    /** What is known of the run. */
    private final class FactsFields implements JsonInput.KeyReader {
        private final Map<String, Double> machine = new TreeMap<>();
        private final List<String> disturbances = new ArrayList<>();
        private final List<RunFacts.VirtualMachine> virtualMachines = new ArrayList<>();
        private final List<Calibration> calibrations = new ArrayList<>();
        private final Map<String, ExecutionGraph.Nesting> nesting = new TreeMap<>();
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
                            () -> virtualMachines.add(JsonReportReader.this
                                    .read("virtual machine", new VirtualMachineFields())
                                    .machine()));
                case "calibrations" ->
                    input.array(
                            key,
                            () -> calibrations.add(JsonReportReader.this
                                    .read("calibration", new CalibrationFields())
                                    .calibration()));
                case "nesting" ->
                    input.array(key, () -> JsonReportReader.this
                            .read("entry of nesting", new NestingFields())
                            .addTo(nesting));
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
                throw input.error("something of the run has an empty name");
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

    /** What timing a brick costs. */
    private final class CalibrationFields implements JsonInput.KeyReader {
        private final Map<Calibration.Mode, Calibration.Cost> costs = new EnumMap<>(Calibration.Mode.class);
        private Environment environment = new EnvironmentFields().environment();
        private Calibration.Spread clockStepNs = NO_SPREAD;
        private Calibration.Spread clockReadNs = NO_SPREAD;
        private long clockWentBack;

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "environment" ->
                    environment = JsonReportReader.this
                            .read(key, new EnvironmentFields())
                            .environment();
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
            JsonInput.Numbers numbers = input.numbers();
            input.object(what, key -> {
                switch (key) {
                    case "median", "low", "high" -> numbers.readReal(key);
                    default -> input.skip();
                }
            });
            return new Calibration.Spread(numbers.real("median", 0), numbers.real("low", 0), numbers.real("high", 0));
        }

        Calibration calibration() throws IOException {
            if (!costs.containsKey(Calibration.Mode.OWN)) {
                throw input.error("a calibration has no cost of its own way of recording");
            }
            return new Calibration(environment, clockStepNs, clockReadNs, clockWentBack, costs);
        }
    }

    /** How the bricks of one name lie inside and beside each other. */
    private final class NestingFields implements JsonInput.KeyReader {
        private final JsonInput.Numbers numbers = input.numbers();
        private String name = "";

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "name" -> name = input.text(key);
                case "samples", "lapped", "within", "lapped_within" -> numbers.readWhole(key);
                default -> input.skip();
            }
        }

        void addTo(Map<String, ExecutionGraph.Nesting> nesting) throws IOException {
            try {
                nesting.put(
                        name,
                        new ExecutionGraph.Nesting(
                                numbers.whole("samples"),
                                numbers.whole("lapped"),
                                numbers.whole("within"),
                                numbers.whole("lapped_within")));
            } catch (IllegalArgumentException wrong) {
                throw input.error("an entry of nesting is wrong: " + wrong.getMessage());
            }
        }
    }

    /** One virtual machine. */
    private final class VirtualMachineFields implements JsonInput.KeyReader {
        private final JsonInput.Numbers numbers = input.numbers();
        private Instant startedAt = Instant.EPOCH;

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "started_at" -> startedAt = input.moment(key);
                case "pid", "up_ns", "gc_ns", "jit_ns" -> numbers.readWhole(key);
                default -> input.skip();
            }
        }

        RunFacts.VirtualMachine machine() {
            return new RunFacts.VirtualMachine(
                    numbers.whole("pid"),
                    startedAt,
                    numbers.whole("up_ns"),
                    numbers.whole("gc_ns"),
                    numbers.whole("jit_ns"));
        }
    }
}
