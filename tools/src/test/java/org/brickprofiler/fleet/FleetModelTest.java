package org.brickprofiler.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
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
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.fleet.PackProblem.Kind;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.OneJdk;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares the figures of a report with those that a plain program computes from the same files. The fleets are small,
 * with random runs, ranks, windows and bricks. Some ranks, windows and bricks are missing, some windows are copied,
 * damaged or empty, and some ranks have a clock that is apart.
 */
@OneJdk
final class FleetModelTest {

    private static final FleetEngine.Options OPTIONS = new FleetEngine.Options(256L << 20, 1, null, null);
    private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
    private static final int WINDOW_S = 60;
    private static final StepInfo.Phase[] PHASES = {StepInfo.Phase.PREFILL, StepInfo.Phase.DECODE};

    /** The names and categories of the bricks; one name is in two categories. */
    private static final List<BrickStats> BRICKS = List.of(
            BrickStats.builder("A", BrickCategory.FFN).build(),
            BrickStats.builder("B", BrickCategory.ATTENTION).build(),
            BrickStats.builder("B", BrickCategory.OTHER).build(),
            BrickStats.builder("C", BrickCategory.COMMUNICATION).build(),
            BrickStats.builder("D", BrickCategory.NORM).build());

    @TempDir
    Path folder;

    /** A window that counts. */
    private record Window(String run, int rank, long number, ProfileSnapshot profile) {
        List<Object> rankKey() {
            return List.of(run, (long) rank);
        }
    }

    /** A brick in a window. */
    private record Sample(Window window, BrickStats brick) {
        List<Object> key() {
            return List.of(brick.category().displayName(), brick.name());
        }
    }

    private Random random = new Random(0);

    /** Whether bricks of the next window are marked by sampling. */
    private boolean areEstimated;

    private final List<Window> windows = new ArrayList<>();
    private final Map<Kind, Integer> problems = new EnumMap<>(Kind.class);
    private int files;
    private int copies;

    // ---- the fleet ----

    private boolean chance(double probability) {
        return random.nextDouble() < probability;
    }

    private void fleet() throws IOException {
        int runs = 1 + random.nextInt(3);
        boolean isSizeStated = chance(0.5);
        for (int run = 0; run < runs; run++) {
            int ranks = 4 + random.nextInt(4);
            int count = 3 + random.nextInt(8);
            int wrongClock = chance(0.3) ? random.nextInt(ranks) : -1;
            int absent = chance(0.3) ? random.nextInt(ranks - 1) : -1;
            boolean hasSteps = chance(0.7);
            boolean hasStreams = chance(0.5);
            boolean hasEstimates = chance(0.5);
            for (int rank = 0; rank < ranks; rank++) {
                if (rank == absent) {
                    continue;
                }
                boolean isApart = rank == wrongClock && absent < 0;
                for (int number = 0; number < count; number++) {
                    if (!chance(0.9)) {
                        continue;
                    }
                    RunIdentity.Builder identity = RunIdentity.builder()
                            .runId("run" + run)
                            .rank(rank)
                            .window(number)
                            .host("host-" + rank / 2)
                            .device(rank % 3 == 0 ? "X" : "Y")
                            .model("m");
                    if (isSizeStated) {
                        identity.worldSize(ranks);
                    }
                    Instant start = START.plusSeconds(WINDOW_S * (long) number + (isApart ? 3 * 3_600 : 0));
                    areEstimated = hasEstimates && chance(0.5);
                    window(identity.build(), start, hasSteps, hasStreams, isApart);
                }
            }
        }
    }

    private void add(Kind kind, int number) {
        problems.merge(kind, number, Integer::sum);
    }

    private void window(RunIdentity identity, Instant start, boolean hasSteps, boolean hasStreams, boolean isApart)
            throws IOException {
        boolean isEmpty = chance(0.04);
        ProfileSnapshot.Builder profile = ProfileSnapshot.builder(
                        start, start.plusSeconds(WINDOW_S), WINDOW_S * 1_000_000_000L - random.nextInt(1_000_000))
                .identity(identity);
        if (!isEmpty) {
            bricks(profile);
            profile.deferred(chance(0.05) ? random.nextInt(5) : 0, random.nextInt(3), 0);
            if (hasSteps && chance(0.9)) {
                profile.steps(steps());
            }
            if (hasStreams) {
                profile.streams(IntStream.range(0, 1 + random.nextInt(2))
                        .mapToObj(stream -> StreamTotals.builder("s" + stream, "gpu", 0)
                                .bricks(3, random.nextInt(1_000_000), areEstimated ? 0 : random.nextInt(1_000_000))
                                .passes(OptionalLong.empty(), areEstimated)
                                .build())
                        .toList());
            }
        }
        ProfileSnapshot made = profile.build();
        Path file = folder.resolve("windows")
                .resolve(identity.runId().orElseThrow())
                .resolve("rank-" + identity.rank().orElseThrow())
                .resolve("window-" + identity.window().orElseThrow() + ".json");
        Files.createDirectories(file.getParent());
        JsonReport.write(made, file);
        files++;
        if (chance(0.1)) {
            Files.copy(file, file.resolveSibling("copy-of-" + file.getFileName()));
            files++;
            copies++;
        }
        if (chance(0.03)) {
            byte[] whole = Files.readAllBytes(file);
            Files.write(file.resolveSibling("cut-" + file.getFileName()), Arrays.copyOf(whole, whole.length - 20));
            files++;
            add(Kind.DAMAGED, 1);
        }
        if (!isApart && !isEmpty && chance(0.04)) {
            ProfileSnapshot.Builder other = made.toBuilder();
            bricks(other);
            JsonReport.write(other.build(), file.resolveSibling("other-" + file.getFileName()));
            files++;
            add(Kind.DUPLICATE, 2);
            return;
        }
        if (isApart) {
            add(Kind.CLOCK_APART, 1);
        } else if (isEmpty) {
            add(Kind.EMPTY_WINDOW, 1);
        } else {
            windows.add(new Window(
                    identity.runId().orElseThrow(),
                    identity.rank().orElseThrow(),
                    identity.window().orElseThrow(),
                    JsonReport.read(file)));
        }
    }

    private void bricks(ProfileSnapshot.Builder profile) {
        boolean hasPercentiles = chance(0.9);
        boolean hasPhases = chance(0.6);
        List<BrickStats> all = new ArrayList<>();
        Map<StepInfo.Phase, List<BrickStats>> phases = new EnumMap<>(StepInfo.Phase.class);
        for (BrickStats brick : BRICKS) {
            if (chance(0.85)) {
                long[] ns = LongStream.generate(() -> 100 + (long) Math.exp(3 + 8 * random.nextDouble()))
                        .limit(chance(0.05) ? 0 : 1 + random.nextInt(20))
                        .toArray();
                long unresolved = chance(0.1) ? 1 + random.nextInt(5) : 0;
                if (ns.length + unresolved > 0) {
                    all.add(stats(brick, ns, hasPercentiles, unresolved));
                }
                if (hasPhases && ns.length > 0) {
                    int prefill = random.nextInt(ns.length + 1);
                    long[][] parts = {
                        LongStream.of(ns).limit(prefill).toArray(),
                        LongStream.of(ns).skip(prefill).skip(random.nextInt(2)).toArray()
                    };
                    for (int phase = 0; phase < PHASES.length; phase++) {
                        if (parts[phase].length > 0) {
                            phases.computeIfAbsent(PHASES[phase], none -> new ArrayList<>())
                                    .add(stats(brick, parts[phase], hasPercentiles, 0));
                        }
                    }
                }
            }
        }
        if (all.isEmpty()) {
            all.add(stats(BRICKS.get(0), new long[] {700}, hasPercentiles, 0));
        }
        profile.bricks(all).phases(phases);
    }

    private BrickStats stats(BrickStats brick, long[] ns, boolean hasPercentiles, long unresolved) {
        BrickStats.Builder stats = BrickStats.builder(brick.name(), brick.category());
        if (ns.length > 0) {
            long[] counts = new long[LatencyBuckets.COUNT];
            LongStream.of(ns).forEach(each -> counts[LatencyBuckets.indexOf(each)]++);
            long sum = LongStream.of(ns).sum();
            boolean areKnown = ns.length == 1 || !brick.name().equals("D") || chance(0.97);
            stats.samples(
                            ns.length,
                            sum,
                            areKnown ? LongStream.of(ns).min().orElseThrow() : 0,
                            areKnown ? LongStream.of(ns).max().orElseThrow() : 0)
                    .last(areKnown ? ns[ns.length - 1] : 0, 0)
                    .elements(random.nextInt(100))
                    .latency(
                            hasPercentiles && areKnown
                                    ? Optional.of(LatencyDistribution.ofCounts(counts))
                                    : Optional.empty());
        }
        return stats.device(device(ns.length, unresolved)).build();
    }

    private DeviceTime device(int samples, long unresolved) {
        if (!areEstimated || samples == 0 || chance(0.1)) {
            return new DeviceTime(random.nextInt(samples + 1), 0, 0, 0, 0, unresolved);
        }
        long unmarked = 1L + random.nextInt(samples);
        boolean hasError = chance(0.98);
        return new DeviceTime(
                samples - unmarked,
                0,
                0,
                0,
                0,
                unresolved,
                0,
                unmarked,
                hasError && chance(0.9) ? Math.exp(12 * random.nextDouble()) : 0,
                hasError ? 1 + 20 * random.nextDouble() : 0,
                0,
                0,
                DeviceTime.MarkTime.NONE);
    }

    private Steps steps() {
        List<StepStats> phases = new ArrayList<>();
        for (StepInfo.Phase phase : PHASES) {
            if (chance(0.8)) {
                long count = 1L + random.nextInt(5);
                long total = count * (1_000L + random.nextInt(1_000_000));
                phases.add(StepStats.builder(phase)
                        .steps(count, total / 2 + 1)
                        .durations(total, total / count, total / count, LatencyDistribution.EMPTY)
                        .sequences(count)
                        .tokens(random.nextInt(50), random.nextInt(50), 0, 0)
                        .build());
            }
        }
        return new Steps(phases, LatencyDistribution.EMPTY, 0, LatencyDistribution.EMPTY, 0, List.of());
    }

    // ---- the plain program ----

    private static long floor(double value) {
        return (long) Math.floor(value);
    }

    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    private List<Sample> samples(Function<ProfileSnapshot, List<BrickStats>> bricks) {
        return windows.stream()
                .flatMap(window -> bricks.apply(window.profile()).stream().map(brick -> new Sample(window, brick)))
                .toList();
    }

    private List<Sample> samples() {
        return samples(ProfileSnapshot::bricks);
    }

    private static <K> Map<K, List<Sample>> by(List<Sample> samples, Function<Sample, K> key) {
        return samples.stream().collect(Collectors.groupingBy(key));
    }

    private static long sum(List<Sample> samples, ToLongFunction<BrickStats> figure) {
        return samples.stream()
                .mapToLong(sample -> figure.applyAsLong(sample.brick()))
                .sum();
    }

    private static double mean(List<Sample> samples) {
        return (double) sum(samples, BrickStats::totalNs) / sum(samples, BrickStats::count);
    }

    private static OptionalLong whole(JsonNode row, String key) {
        return row.has(key) ? OptionalLong.of(row.get(key).asLong()) : OptionalLong.empty();
    }

    private static List<Object> keyOf(JsonNode row) {
        return List.of(row.get("category").asText(), row.get("brick").asText());
    }

    private static List<Object> rankOf(JsonNode row, String run, String rank) {
        return List.of(row.get(run).asText(), row.get(rank).asLong());
    }

    private static List<JsonNode> rows(JsonNode json, String key) {
        List<JsonNode> rows = new ArrayList<>();
        json.get(key).forEach(rows::add);
        return rows;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6})
    void theReportHasTheFiguresOfItsFiles(int seed) throws Exception {
        random = new Random(seed);
        fleet();
        Path pack = folder.resolve("pack");
        Manifest manifest;
        try (Stream<Path> found = Files.walk(folder.resolve("windows"))) {
            manifest = new FleetPacker(pack, null, OPTIONS, (bytes, total) -> {})
                    .pack(found.filter(Files::isRegularFile).toList())
                    .manifest();
        }
        assertThat(manifest.profiles()).isEqualTo(files);
        assertThat(manifest.identical()).isEqualTo(copies);
        checkProblems(manifest);
        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, OPTIONS)) {
            FleetPack opened = FleetPack.open(engine, pack.toString(), false);
            opened.mount(engine);
            JsonNode json = new ObjectMapper()
                    .readTree(FleetReport.of(engine, opened.problems()).toJson());
            checkRuns(json);
            checkPhases(json);
            checkBricks(rows(json, "bricks"), ProfileSnapshot::bricks, "");
            for (StepInfo.Phase phase : PHASES) {
                String name = phase.name().toLowerCase(Locale.ROOT);
                checkBricks(
                        rows(json, "bricks_by_phase").stream()
                                .filter(row -> row.get("phase").asText().equals(name))
                                .toList(),
                        profile -> profile.bricks(phase),
                        name);
            }
            checkSpread(json);
            checkShares(json);
            checkDrift(json);
            checkRankBricks(json);
            checkWindows(json);
            checkLosses(json);
            checkRunsOfComparison(FleetRuns.of(engine, "fleet"));
        }
    }

    private void checkProblems(Manifest manifest) {
        Map<String, Set<Long>> all = new TreeMap<>();
        windows.forEach(window ->
                all.computeIfAbsent(window.run(), none -> new TreeSet<>()).add(window.number()));
        Set<List<Object>> lacking =
                windows.stream()
                        .collect(Collectors.groupingBy(Window::rankKey, Collectors.counting()))
                        .entrySet()
                        .stream()
                        .filter(rank -> rank.getValue()
                                < Objects.requireNonNull(all.get(
                                                String.valueOf(rank.getKey().get(0))))
                                        .size())
                        .map(Map.Entry::getKey)
                        .collect(Collectors.toSet());
        Map<Kind, Long> found =
                manifest.problems().stream().collect(Collectors.groupingBy(PackProblem::kind, Collectors.counting()));
        assertThat(found.getOrDefault(Kind.MISSING_WINDOWS, 0L)).isEqualTo(lacking.size());
        for (Kind kind : List.of(Kind.CLOCK_APART, Kind.EMPTY_WINDOW, Kind.DAMAGED, Kind.DUPLICATE)) {
            assertThat(found.getOrDefault(kind, 0L))
                    .as(kind.key())
                    .isEqualTo(problems.getOrDefault(kind, 0).longValue());
        }
        assertThat(found.keySet())
                .isSubsetOf(
                        Kind.MISSING_WINDOWS,
                        Kind.MISSING_RANK,
                        Kind.CLOCK_APART,
                        Kind.EMPTY_WINDOW,
                        Kind.DAMAGED,
                        Kind.DUPLICATE);
    }

    private void checkRuns(JsonNode json) {
        Map<String, List<Window>> runs =
                windows.stream().collect(Collectors.groupingBy(Window::run, TreeMap::new, Collectors.toList()));
        List<JsonNode> rows = rows(json, "runs");
        assertThat(rows).extracting(row -> row.get("run_id").asText()).containsExactlyElementsOf(runs.keySet());
        for (JsonNode row : rows) {
            List<Window> run = Objects.requireNonNull(runs.get(row.get("run_id").asText()));
            assertThat(row.get("ranks").asLong())
                    .isEqualTo(run.stream().map(Window::rank).distinct().count());
            assertThat(row.get("windows").asLong())
                    .isEqualTo(run.stream().map(Window::number).distinct().count());
            assertThat(row.get("wall_ns").asLong())
                    .isEqualTo(run.stream()
                            .mapToLong(each -> each.profile().wallNs())
                            .sum());
            assertThat(row.get("dropped").asLong())
                    .isEqualTo(run.stream()
                            .mapToLong(each -> each.profile().droppedPending())
                            .sum());
            assertThat(row.get("start_ms").asLong())
                    .isEqualTo(run.stream()
                            .mapToLong(each -> each.profile().startedAt().toEpochMilli())
                            .min()
                            .orElseThrow());
            Set<String> devices = run.stream()
                    .map(each -> each.profile().identity().device().orElseThrow())
                    .collect(Collectors.toSet());
            assertThat(row.get("devices").asLong()).isEqualTo(devices.size());
            assertThat(row.has("device")).isEqualTo(devices.size() == 1);
        }
        assertThat(json.at("/totals/ranks").asLong())
                .isEqualTo(windows.stream().map(Window::rankKey).distinct().count());
    }

    private void checkPhases(JsonNode json) {
        List<StepStats> all = windows.stream()
                .flatMap(window -> window.profile().steps().phases().stream())
                .toList();
        List<JsonNode> rows = rows(json, "phases");
        assertThat(rows)
                .hasSize((int) all.stream().map(StepStats::phase).distinct().count());
        for (JsonNode row : rows) {
            List<StepStats> phase = all.stream()
                    .filter(each -> each.phase()
                            .name()
                            .equalsIgnoreCase(row.get("phase").asText()))
                    .toList();
            assertThat(row.get("steps").asLong())
                    .isEqualTo(phase.stream().mapToLong(StepStats::count).sum());
            assertThat(row.get("total_ns").asLong())
                    .isEqualTo(phase.stream().mapToLong(StepStats::totalNs).sum());
            assertThat(row.get("wall_ns").asLong())
                    .isEqualTo(phase.stream().mapToLong(StepStats::wallNs).sum());
            assertThat(row.get("tokens").asLong())
                    .isEqualTo(phase.stream()
                            .mapToLong(each -> each.prefillTokens() + each.outputTokens())
                            .sum());
            assertThat(row.get("max_ns").asLong())
                    .isEqualTo(phase.stream().mapToLong(StepStats::maxNs).max().orElseThrow());
        }
    }

    private static ProfileSnapshot merged(List<Window> some) {
        return some.stream().map(Window::profile).reduce(ProfileSnapshot::merge).orElseThrow();
    }

    private void checkBricks(List<JsonNode> rows, Function<ProfileSnapshot, List<BrickStats>> bricks, String phase) {
        List<BrickStats> expected = bricks.apply(merged(windows));
        Map<List<Object>, List<Sample>> samples = by(samples(bricks), Sample::key);
        assertThat(rows).as(phase).hasSize(expected.size());
        for (JsonNode row : rows) {
            BrickStats brick = expected.stream()
                    .filter(each -> List.<Object>of(each.category().displayName(), each.name())
                            .equals(keyOf(row)))
                    .findFirst()
                    .orElseThrow();
            assertThat(row.get("count").asLong()).isEqualTo(brick.count());
            assertThat(row.get("total_ns").asLong()).isEqualTo(brick.totalNs());
            boolean areExtremesKnown = areExtremesKnown(
                    Objects.requireNonNull(samples.get(keyOf(row))).stream().map(Sample::brick));
            assertThat(row.get("min_ns").asLong()).isEqualTo(areExtremesKnown ? brick.minNs() : 0);
            assertThat(row.get("max_ns").asLong()).isEqualTo(areExtremesKnown ? brick.maxNs() : 0);
            assertThat(row.get("elements").asLong()).isEqualTo(brick.totalElements());
            checkDevice(row, brick.device());
            boolean areKnown = Objects.requireNonNull(samples.get(keyOf(row))).stream()
                    .filter(sample -> sample.brick().count() > 0)
                    .allMatch(sample -> sample.brick().latency().isPresent()
                            && !sample.brick().device().isEstimated());
            assertThat(row.has("p50_ns")).as(keyOf(row) + phase).isEqualTo(areKnown && brick.count() > 0);
            if (row.has("p50_ns")) {
                assertThat(row.get("p50_ns").asLong()).isEqualTo(brick.percentileNs(50));
                assertThat(row.get("p90_ns").asLong()).isEqualTo(brick.percentileNs(90));
                assertThat(row.get("p99_ns").asLong()).isEqualTo(brick.percentileNs(99));
                assertThat(row.get("p999_ns").asLong()).isEqualTo(brick.percentileNs(99.9));
            }
            if (!phase.isEmpty() && row.has("slowest_rank_ns")) {
                Map<List<Object>, Long> means = meansOfRanks(Objects.requireNonNull(samples.get(keyOf(row))));
                assertThat(row.get("slowest_rank_ns").asLong())
                        .isEqualTo(means.values().stream()
                                .mapToLong(Long::longValue)
                                .max()
                                .orElseThrow());
                assertThat(row.get("median_rank_ns").asLong()).isEqualTo(lowerMedian(means));
                assertThat(means.get(rankOf(row, "slowest_run", "slowest_rank")))
                        .isEqualTo(row.get("slowest_rank_ns").asLong());
            }
        }
    }

    private static void checkDevice(JsonNode row, DeviceTime device) {
        assertThat(row.get("unresolved").asLong()).isEqualTo(device.unresolved());
        assertThat(row.get("device_samples").asLong()).isEqualTo(device.measured());
        assertThat(row.get("unmarked").asLong()).isEqualTo(device.unmarked());
        assertThat(row.has("estimated")).isEqualTo(device.isEstimated());
        boolean hasError = device.degreesOfFreedom() > 0;
        assertThat(row.has("half_interval_ns")).isEqualTo(hasError);
        if (hasError) {
            assertThat(row.get("standard_error_ns").asDouble())
                    .isCloseTo(device.standardErrorNs(), withinPercentage(1e-2));
            assertThat(row.get("degrees_of_freedom").asDouble())
                    .isCloseTo(device.degreesOfFreedom(), withinPercentage(1e-2));
            assertThat(row.get("half_interval_ns").asDouble())
                    .isCloseTo(device.halfIntervalNs().orElseThrow(), withinPercentage(1e-2));
        }
    }

    private static long lowerMedian(Map<?, Long> means) {
        return means.values().stream()
                .sorted()
                .skip((means.size() - 1) / 2)
                .findFirst()
                .orElseThrow();
    }

    /** Returns the samples of each brick that has a time. */
    private Map<List<Object>, List<Sample>> timedBricks() {
        Map<List<Object>, List<Sample>> bricks = by(samples(), Sample::key);
        bricks.values().removeIf(some -> sum(some, BrickStats::count) == 0);
        return bricks;
    }

    private static Map<List<Object>, Long> meansOfRanks(List<Sample> samples) {
        Map<List<Object>, Long> means = new HashMap<>();
        by(samples, sample -> sample.window().rankKey()).forEach((rank, some) -> {
            if (sum(some, BrickStats::count) > 0) {
                means.put(rank, floor(mean(some)));
            }
        });
        return means;
    }

    private void checkSpread(JsonNode json) {
        Map<List<Object>, List<Sample>> bricks = timedBricks();
        List<JsonNode> rows = rows(json, "spread");
        assertThat(rows).hasSize(bricks.size());
        for (JsonNode row : rows) {
            Map<List<Object>, Long> means = meansOfRanks(Objects.requireNonNull(bricks.get(keyOf(row))));
            assertThat(row.get("ranks").asInt()).isEqualTo(means.size());
            assertThat(row.get("min_ns").asLong())
                    .isEqualTo(means.values().stream()
                            .min(Comparator.naturalOrder())
                            .orElseThrow());
            assertThat(row.get("max_ns").asLong())
                    .isEqualTo(means.values().stream()
                            .max(Comparator.naturalOrder())
                            .orElseThrow());
            assertThat(row.get("median_ns").asLong()).isEqualTo(lowerMedian(means));
            assertThat(means.get(rankOf(row, "min_run", "min_rank")))
                    .isEqualTo(row.get("min_ns").asLong());
            assertThat(means.get(rankOf(row, "max_run", "max_rank")))
                    .isEqualTo(row.get("max_ns").asLong());
        }
    }

    private void checkShares(JsonNode json) {
        Map<List<Object>, List<Window>> ranks = windows.stream().collect(Collectors.groupingBy(Window::rankKey));
        List<JsonNode> rows = rows(json, "shares");
        assertThat(rows).hasSize(ranks.size());
        boolean isIdleKnown = true;
        long idleOfAll = 0;
        for (JsonNode row : rows) {
            List<Window> rank = Objects.requireNonNull(ranks.get(rankOf(row, "run_id", "rank")));
            ProfileSnapshot all = merged(rank);
            long communication = all.bricks().stream()
                    .filter(brick -> brick.category() == BrickCategory.COMMUNICATION)
                    .mapToLong(BrickStats::totalNs)
                    .sum();
            long compute = all.totalNs() - communication;
            assertThat(row.get("compute_ns").asLong()).isEqualTo(compute);
            assertThat(row.get("communication_ns").asLong()).isEqualTo(communication);
            OptionalLong idle =
                    !all.streams().isEmpty() && all.streams().stream().noneMatch(StreamTotals::isSampled)
                            ? OptionalLong.of(all.streams().stream()
                                    .mapToLong(StreamTotals::idleNs)
                                    .sum())
                            : all.steps().count() > 0
                                    ? OptionalLong.of(Math.max(
                                            0,
                                            all.steps().phases().stream()
                                                            .mapToLong(StepStats::totalNs)
                                                            .sum()
                                                    - compute
                                                    - communication))
                                    : OptionalLong.empty();
            assertThat(whole(row, "idle_ns")).isEqualTo(idle);
            isIdleKnown &= idle.isPresent();
            idleOfAll += idle.orElse(0);
        }
        assertThat(json.at("/totals").has("idle_ns")).isEqualTo(isIdleKnown);
        if (isIdleKnown) {
            assertThat(json.at("/totals/idle_ns").asLong()).isEqualTo(idleOfAll);
        }
    }

    /** Returns the place of a window in its run, from 1. */
    private int place(Window window) {
        return 1
                + new TreeSet<>(windowsOf(window.run()))
                        .headSet(window.number())
                        .size();
    }

    private Set<Long> windowsOf(String run) {
        return windows.stream()
                .filter(each -> each.run().equals(run))
                .map(Window::number)
                .collect(Collectors.toSet());
    }

    private int third(Window window) {
        int all = windowsOf(window.run()).size();
        int place = place(window);
        return all < 3 ? 0 : 3 * place <= all ? 1 : 3 * place > 2 * all ? 2 : 0;
    }

    private void checkDrift(JsonNode json) {
        record Change(double first, double last, long ppm) {}
        Map<List<Object>, Map<List<Object>, Change>> changes = new HashMap<>();
        by(samples(), Sample::key)
                .forEach((brick, some) -> by(some, sample -> sample.window().rankKey())
                        .forEach((rank, own) -> {
                            List<Sample> first = own.stream()
                                    .filter(each -> third(each.window()) == 1)
                                    .toList();
                            List<Sample> last = own.stream()
                                    .filter(each -> third(each.window()) == 2)
                                    .toList();
                            if (sum(first, BrickStats::count) > 0 && sum(last, BrickStats::count) > 0) {
                                double ppm = 1e6
                                        * sum(last, BrickStats::totalNs)
                                        / sum(last, BrickStats::count)
                                        * sum(first, BrickStats::count)
                                        / sum(first, BrickStats::totalNs);
                                changes.computeIfAbsent(brick, none -> new HashMap<>())
                                        .put(
                                                rank,
                                                new Change(
                                                        Math.floor(mean(first)),
                                                        Math.floor(mean(last)),
                                                        floor(ppm) - 1_000_000));
                            }
                        }));
        List<JsonNode> rows = rows(json, "drift");
        assertThat(rows).hasSize(changes.size());
        for (JsonNode row : rows) {
            Map<List<Object>, Change> ranks = Objects.requireNonNull(changes.get(keyOf(row)));
            List<Long> ppm = ranks.values().stream().map(Change::ppm).sorted().toList();
            assertThat(row.get("ranks").asInt()).isEqualTo(ranks.size());
            assertThat(row.get("first_ns").asLong())
                    .isEqualTo(floor(
                            median(ranks.values().stream().map(Change::first).toList())));
            assertThat(row.get("last_ns").asLong())
                    .isEqualTo(floor(
                            median(ranks.values().stream().map(Change::last).toList())));
            assertThat(row.get("change_ppm").asLong()).isEqualTo(ppm.get((ppm.size() - 1) / 2));
            assertThat(row.get("risen").asLong())
                    .isEqualTo(ppm.stream().filter(each -> each > 0).count());
            assertThat(row.get("fallen").asLong())
                    .isEqualTo(ppm.stream().filter(each -> each < 0).count());
            assertThat(row.get("most_ppm").asLong()).isEqualTo(ppm.get(ppm.size() - 1));
            assertThat(Objects.requireNonNull(ranks.get(rankOf(row, "most_run", "most_rank")))
                            .ppm())
                    .isEqualTo(row.get("most_ppm").asLong());
        }
    }

    private void checkRankBricks(JsonNode json) {
        List<JsonNode> bricks = rows(json.get("rank_bricks"), "bricks");
        List<JsonNode> ranks = rows(json.get("rank_bricks"), "ranks");
        Map<List<Object>, List<Sample>> samples = timedBricks();
        Set<List<Object>> timedRanks = samples.values().stream()
                .flatMap(some -> meansOfRanks(some).keySet().stream())
                .collect(Collectors.toSet());
        assertThat(bricks).extracting(FleetModelTest::keyOf).containsExactlyInAnyOrderElementsOf(samples.keySet());
        assertThat(ranks)
                .extracting(row -> rankOf(row, "run_id", "rank"))
                .containsExactlyInAnyOrderElementsOf(timedRanks);
        for (int i = 0; i < bricks.size(); i++) {
            Map<List<Object>, Long> means = meansOfRanks(Objects.requireNonNull(samples.get(keyOf(bricks.get(i)))));
            assertThat(bricks.get(i).get("median_ns").asLong())
                    .isEqualTo(floor(median(
                            means.values().stream().map(Long::doubleValue).toList())));
            for (JsonNode rank : ranks) {
                JsonNode mean = rank.get("mean_ns").get(i);
                assertThat(mean.isNull() ? null : (Long) mean.asLong())
                        .isEqualTo(means.get(rankOf(rank, "run_id", "rank")));
            }
        }
    }

    private void checkWindows(JsonNode json) {
        Map<List<Object>, List<Sample>> samples = timedBricks();
        int lastPlace = samples.values().stream()
                .flatMap(List::stream)
                .filter(sample -> sample.brick().count() > 0)
                .mapToInt(sample -> place(sample.window()))
                .max()
                .orElseThrow();
        List<JsonNode> rows = rows(json, "windows");
        assertThat(rows).extracting(FleetModelTest::keyOf).containsExactlyInAnyOrderElementsOf(samples.keySet());
        for (JsonNode row : rows) {
            assertThat(row.get("median_ns")).hasSize(lastPlace);
            Map<Long, List<Sample>> parts =
                    by(Objects.requireNonNull(samples.get(keyOf(row))), sample -> (long) place(sample.window()) - 1);
            for (int part = 0; part < row.get("median_ns").size(); part++) {
                List<Double> means = by(parts.getOrDefault((long) part, List.of()), sample -> sample.window()
                                .rankKey())
                        .values()
                        .stream()
                        .filter(some -> sum(some, BrickStats::count) > 0)
                        .map(FleetModelTest::mean)
                        .toList();
                JsonNode median = row.get("median_ns").get(part);
                assertThat(median.isNull() ? -1 : median.asLong())
                        .isEqualTo(means.isEmpty() ? -1 : floor(median(means)));
            }
        }
    }

    private void checkLosses(JsonNode json) {
        Map<List<Object>, JsonNode> rows = new HashMap<>();
        rows(json, "losses").forEach(row -> rows.put(rankOf(row, "run_id", "rank"), row));
        windows.stream().collect(Collectors.groupingBy(Window::rankKey)).forEach((rank, some) -> {
            ProfileSnapshot all = merged(some);
            long pending = some.stream()
                    .max(Comparator.comparingLong(Window::number))
                    .orElseThrow()
                    .profile()
                    .pending();
            boolean isPendingUsual = 99 * pending <= all.samples();
            long missing = all.unresolved() + all.droppedPending() + (isPendingUsual ? 0 : pending);
            JsonNode row = rows.remove(rank);
            assertThat(row == null).as(rank + " lacks " + missing).isEqualTo(missing == 0);
            if (row != null) {
                assertThat(row.get("samples").asLong()).isEqualTo(all.samples());
                assertThat(row.get("unresolved").asLong()).isEqualTo(all.unresolved());
                assertThat(row.get("dropped").asLong()).isEqualTo(all.droppedPending());
                assertThat(row.get("pending").asLong()).isEqualTo(pending);
                assertThat(row.get("windows").asLong()).isEqualTo(some.size());
                assertThat(row.get("untested").asLong())
                        .isEqualTo(some.stream()
                                .filter(window -> !isEstimated(window.profile())
                                        && (window.profile().droppedPending() > 0
                                                || window.profile().bricks().stream()
                                                        .anyMatch(brick -> 99
                                                                        * brick.device()
                                                                                .unresolved()
                                                                > brick.count())))
                                .count());
            }
        });
        assertThat(rows).isEmpty();
    }

    private static boolean isEstimated(ProfileSnapshot window) {
        return window.isEstimated() || window.streams().stream().anyMatch(StreamTotals::isSampled);
    }

    private void checkRunsOfComparison(List<Run> runs) {
        Map<String, List<Window>> expected = windows.stream().collect(Collectors.groupingBy(Window::run));
        assertThat(runs).hasSize(expected.size());
        for (Run run : runs) {
            ProfileSnapshot is = run.snapshot();
            List<Window> some =
                    Objects.requireNonNull(expected.get(is.identity().runId().orElseThrow()));
            ProfileSnapshot all = merged(some);
            assertThat(is.wallNs()).isEqualTo(all.wallNs());
            assertThat(is.droppedPending()).isEqualTo(all.droppedPending());
            assertThat(is.bricks()).hasSameSizeAs(all.bricks());
            for (BrickStats brick : all.bricks()) {
                BrickStats found = is.bricks().stream()
                        .filter(each -> each.name().equals(brick.name()) && each.category() == brick.category())
                        .findFirst()
                        .orElseThrow();
                boolean areExtremesKnown = areExtremesKnown(some.stream()
                        .flatMap(window -> window.profile().bricks().stream())
                        .filter(each -> each.name().equals(brick.name()) && each.category() == brick.category()));
                assertThat(List.of(found.count(), found.totalNs(), found.minNs(), found.maxNs(), found.totalElements()))
                        .isEqualTo(List.of(
                                brick.count(),
                                brick.totalNs(),
                                areExtremesKnown ? brick.minNs() : 0,
                                areExtremesKnown ? brick.maxNs() : 0,
                                brick.totalElements()));
                assertThat(found.device().unresolved()).isEqualTo(brick.device().unresolved());
                assertThat(found.device().measured()).isEqualTo(brick.device().measured());
                assertThat(found.device().unmarked()).isEqualTo(brick.device().unmarked());
                assertThat(found.device().standardErrorNs())
                        .isCloseTo(brick.device().standardErrorNs(), withinPercentage(1e-2));
            }
        }
    }

    /** Returns whether the tables have the extremes of a brick: a pack has both extremes of a window or neither. */
    private static boolean areExtremesKnown(Stream<BrickStats> ofWindows) {
        return ofWindows.allMatch(BrickStats::hasExtremes);
    }
}
