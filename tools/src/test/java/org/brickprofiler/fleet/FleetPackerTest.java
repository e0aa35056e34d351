package org.brickprofiler.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.fleet.PackProblem.Kind;
import org.brickprofiler.internal.io.ExportLoss;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.RequestSamples;
import org.brickprofiler.testing.RunningProcess;
import org.brickprofiler.testing.Spec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@OneJdk
final class FleetPackerTest {

    private static final FleetEngine.Options OPTIONS = new FleetEngine.Options(256L << 20, 2, null, null);

    @TempDir
    Path folder;

    private Path pack;
    private WindowFiles windows;

    @BeforeEach
    void setUp() {
        pack = folder.resolve("pack");
        windows = new WindowFiles(folder.resolve("windows"));
    }

    private FleetPacker.Result pack(@Nullable String model) throws IOException {
        try (Stream<Path> files = Files.walk(folder.resolve("windows"))) {
            return new FleetPacker(pack, model, OPTIONS, (bytes, total) -> {})
                    .pack(files.filter(Files::isRegularFile).toList());
        }
    }

    private FleetPacker.Result pack() throws IOException {
        return pack(null);
    }

    private List<List<@Nullable Object>> ask(String sql) throws IOException {
        return ask(sql, false);
    }

    /** NullAway does not see annotations within type arguments of a class that is compiled already. */
    @SuppressWarnings("NullAway")
    private List<List<@Nullable Object>> ask(String sql, boolean salvage) throws IOException {
        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, OPTIONS)) {
            FleetPack.open(engine, pack.toString(), salvage).mount(engine);
            return engine.query(sql).rows();
        }
    }

    private FleetPack open(boolean salvage) throws IOException {
        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, OPTIONS)) {
            return FleetPack.open(engine, pack.toString(), salvage);
        }
    }

    private void twoRanksOfThreeWindows() throws IOException {
        for (int rank = 0; rank < 2; rank++) {
            for (int window = 0; window < 3; window++) {
                windows.write(WindowFiles.of("r1", rank, 2, window).build(), 100 + rank);
            }
        }
    }

    private List<List<@Nullable Object>> bricks() throws IOException {
        return ask("SELECT category, brick, count, total_ns, min_ns, max_ns, elements FROM brick_window");
    }

    private static List<List<@Nullable Object>> bricks(ProfileSnapshot snapshot) {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (BrickStats brick : snapshot.bricks()) {
            rows.add(List.of(
                    brick.category().displayName(),
                    brick.name(),
                    brick.count(),
                    brick.totalNs(),
                    brick.minNs(),
                    brick.maxNs(),
                    brick.totalElements()));
        }
        return rows;
    }

    @Test
    void everyTableHasWhatTheFilesHave() throws IOException {
        Path file = windows.write(
                WindowFiles.of("007", 3, 4, 12)
                        .device("d")
                        .precision("fp16")
                        .commit("abc")
                        .phase("decode")
                        .steps(120, 129)
                        .build(),
                1000);
        ProfileSnapshot snapshot = JsonReport.read(file);

        FleetPacker.Result result = pack();

        assertThat(result.windows()).isEqualTo(1);
        assertThat(ask("SELECT * FROM rank_window"))
                .containsExactly(List.of(
                        "007",
                        3L,
                        12L,
                        4L,
                        "host-0",
                        "d",
                        "llama",
                        "fp16",
                        "abc",
                        "decode",
                        WindowFiles.START.plusSeconds(720).toEpochMilli(),
                        snapshot.wallNs(),
                        120L,
                        129L,
                        0L,
                        0L));
        assertThat(bricks()).containsExactlyInAnyOrderElementsOf(bricks(snapshot));
        assertThat(ask("SELECT phase, steps, total_ns, tokens, max_ns, wall_ns FROM step_window"))
                .containsExactlyElementsOf(snapshot.steps().phases().stream()
                        .map(phase -> List.<Object>of(
                                "decode",
                                phase.count(),
                                phase.totalNs(),
                                phase.prefillTokens() + phase.outputTokens(),
                                phase.maxNs(),
                                phase.wallNs()))
                        .toList());
        assertThat(ask("SELECT * FROM device_window")).isEmpty();
        BrickStats norm = snapshot.brick("RmsNorm").orElseThrow();
        long[] counts = new long[norm.latency().orElseThrow().counts().length];
        ask("SELECT u.bucket, u.n FROM (SELECT explode(dist) AS u FROM brick_window WHERE brick = 'RmsNorm') AS e")
                .forEach(row -> counts[((Long) row.get(0)).intValue()] = (Long) row.get(1));
        assertThat(LatencyDistribution.ofCounts(counts))
                .isEqualTo(norm.latency().orElseThrow());
    }

    @Test
    void theRankWhoseRequestsWaitLongestIsFirst() throws IOException {
        List<RequestStats> ofRanks = List.of(RequestSamples.served(20).stats(), RequestSamples.twoOfThemSlow());
        for (int rank = 0; rank < 2; rank++) {
            Path file = windows.write(WindowFiles.of("r1", rank, 2, 0).build(), 100);
            ProfileSnapshot window = JsonReport.read(file);
            JsonReport.write(window.toBuilder().requests(ofRanks.get(rank)).build(), file);
        }

        pack();

        assertThat(ask("SELECT rank, arrived, finished, output_tokens, queued_behind_prompts_ns, decode_ns"
                        + " FROM request_window ORDER BY rank"))
                .containsExactly(row(0, ofRanks.get(0)), row(1, ofRanks.get(1)));
        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, OPTIONS)) {
            FleetPack.open(engine, pack.toString(), false).mount(engine);
            String report = FleetReport.of(engine, List.of()).toText();
            assertThat(report).contains("Requests by rank, those that waited longest first");
            assertThat(report).containsSubsequence("wait of one", "\n0 ", " 20 ", "\n1 ", " 199 ");
        }
    }

    private static List<Object> row(long rank, RequestStats stats) {
        return List.of(
                rank,
                stats.counts().arrived(),
                stats.counts().allFinished(),
                stats.tokens().output(),
                stats.causeNs(Cause.QUEUED_BEHIND_PROMPTS),
                stats.causeNs(Cause.DECODE));
    }

    /** Packs of earlier versions have no tables of requests and of bricks by phase. */
    @ParameterizedTest
    @CsvSource({
        "request_window, 'SELECT rank, finished, delivery_ns FROM request_window'",
        "brick_phase_window, 'SELECT phase, elements, explode(dist) FROM brick_phase_window'"
    })
    void aTableThatAPackLacksIsEmpty(String table, String sql) throws IOException {
        windows.write(WindowFiles.of("r1", 0, 1, 0).build(), 100);
        pack();
        Path manifest = pack.resolve("manifest.json");
        Files.writeString(
                manifest,
                Files.readString(manifest)
                        .replaceFirst("(?s)\\{[^{}]*\"table\"\\s*:\\s*\"" + table + "\"[^{}]*\\},?\\s*", "")
                        .replaceFirst(",(\\s*\\])", "$1"));
        assertThat(Files.readString(manifest)).doesNotContain(table);

        assertThat(ask(sql)).isEmpty();
    }

    /** Writes a window of a rank that lacks the times of some measurements. */
    private void rankThatLacksMeasurements(int rank, long unresolved, long dropped, long pending) throws IOException {
        Path file = windows.write(WindowFiles.of("r1", rank, 2, 0).build(), 100);
        ProfileSnapshot window = JsonReport.read(file);
        List<BrickStats> bricks = window.bricks().stream()
                .map(brick -> brick.name().equals("RmsNorm")
                        ? brick.toBuilder()
                                .device(new DeviceTime(0, 0, 0, 0, 0, unresolved))
                                .build()
                        : brick)
                .toList();
        JsonReport.write(
                window.toBuilder().bricks(bricks).deferred(dropped, pending, 0).build(), file);
    }

    @Test
    void measurementsWithoutATimeAreInTheTables() throws IOException {
        rankThatLacksMeasurements(0, 0, 0, 0);
        rankThatLacksMeasurements(1, 2, 3, 5);

        pack();

        assertThat(ask("SELECT rank, dropped, pending FROM rank_window ORDER BY rank"))
                .containsExactly(List.of(0L, 0L, 0L), List.of(1L, 3L, 5L));
        assertThat(ask("SELECT rank, count, unresolved FROM brick_window WHERE brick = 'RmsNorm' ORDER BY rank"))
                .containsExactly(List.of(0L, 2L, 0L), List.of(1L, 2L, 2L));
        assertThat(ask("SELECT sum(unresolved) FROM brick_phase_window")).containsExactly(List.of(0L));
        assertThat(report())
                .contains(" the ranks that ! marks: rank 1 lacks 10 of 14 (71.4 %).\n")
                .doesNotContain("rank 0 lacks");
    }

    /** The device gave no time in the whole window: something was recorded all the same. */
    @Test
    void aWindowOfUnresolvedMeasurementsAloneIsNoEmptyOne() throws IOException {
        for (int rank = 0; rank < 2; rank++) {
            Path file = windows.write(WindowFiles.of("r1", rank, 2, 0).build(), 100);
            ProfileSnapshot window = JsonReport.read(file);
            JsonReport.write(
                    ProfileSnapshot.builder(window.startedAt(), window.endedAt(), window.wallNs())
                            .identity(window.identity())
                            .bricks(List.of(BrickStats.builder("RmsNorm", BrickCategory.NORM)
                                    .device(new DeviceTime(0, 0, 0, 0, 0, 7))
                                    .build()))
                            .build(),
                    file);
        }

        assertThat(pack().manifest().problems()).isEmpty();
        assertThat(ask("SELECT count, unresolved FROM brick_window WHERE rank = 1"))
                .containsExactly(List.of(0L, 7L));
        assertThat(report()).contains("rank 0 lacks 7 of 7 (100.0 %), rank 1 lacks 7 of 7 (100.0 %).\n");
    }

    /** The tables of a pack of an earlier version lack the columns, and its manifest has no revision. */
    @Test
    void whatAPackOfAnEarlierVersionLacksIsNotKnown() throws IOException {
        rankThatLacksMeasurements(0, 0, 0, 0);
        rankThatLacksMeasurements(1, 2, 3, 5);
        Manifest manifest = pack().manifest();
        List<Manifest.PackFile> earlier = new ArrayList<>();
        try (DuckEngine engine = DuckEngine.open(OPTIONS)) {
            for (Manifest.PackFile file : manifest.files()) {
                Path path = pack.resolve(file.path());
                Path copy = folder.resolve("copy.parquet");
                Files.move(path, copy);
                engine.execute("COPY (SELECT COLUMNS(lambda c: c NOT IN ('unresolved', 'dropped', 'pending',"
                        + " 'device_samples', 'unmarked', 'standard_error_ns', 'degrees_of_freedom') AND (c <>"
                        + " 'wall_ns' OR '"
                        + file.table() + "' <> 'step_window')) FROM read_parquet('" + copy + "')) TO '" + path
                        + "' (FORMAT parquet)");
                Files.delete(copy);
                earlier.add(FleetPack.entry(pack, file.table(), path, file.rows()));
            }
        }
        new Manifest(0, 2, 0, earlier, List.of()).write(pack);
        Path written = pack.resolve("manifest.json");
        Files.writeString(written, Files.readString(written).replaceFirst("\"revision\" : 0,\\s*", ""));
        assertThat(written).content().doesNotContain("revision");

        assertThat(ask("SELECT rank, dropped, pending FROM rank_window ORDER BY rank"))
                .containsExactly(Arrays.asList(0L, null, null), Arrays.asList(1L, null, null));
        assertThat(ask("SELECT DISTINCT unresolved FROM brick_window")).containsExactly(Arrays.asList((Object) null));
        assertThat(ask("SELECT kind FROM pack_problem")).containsExactly(List.of("earlier_pack"));
        assertThat(report())
                .contains("! earlier pack: 1 (0 windows left out), such as an earlier version made the pack")
                .doesNotContain("rank 1 lacks");
    }

    /** The table of requests of an earlier version does not distinguish own work, and its other columns are whole. */
    @Test
    void theOwnWorkOfRequestsInAPackOfAnEarlierVersionIsNotKnown() throws IOException {
        Path file = windows.write(WindowFiles.of("r1", 0, 1, 0).build(), 100);
        ProfileSnapshot window = JsonReport.read(file);
        RequestStats requests = RequestSamples.served(20).stats();
        JsonReport.write(window.toBuilder().requests(requests).build(), file);
        List<Manifest.PackFile> earlier = new ArrayList<>();
        try (DuckEngine engine = DuckEngine.open(OPTIONS)) {
            for (Manifest.PackFile packed : pack().manifest().files()) {
                Path path = pack.resolve(packed.path());
                Path copy = folder.resolve("copy.parquet");
                Files.move(path, copy);
                engine.execute("COPY (SELECT COLUMNS(lambda c: c NOT IN ('own_work_ns', 'device_samples', 'unmarked',"
                        + " 'standard_error_ns', 'degrees_of_freedom')) FROM read_parquet('" + copy + "')) TO '" + path
                        + "' (FORMAT parquet)");
                Files.delete(copy);
                earlier.add(FleetPack.entry(pack, packed.table(), path, packed.rows()));
            }
        }
        new Manifest(1, 1, 0, earlier, List.of()).write(pack);

        assertThat(ask("SELECT finished, own_work_ns FROM request_window"))
                .containsExactly(Arrays.asList(requests.counts().allFinished(), null));
        assertThat(ask("SELECT unresolved FROM brick_window WHERE unresolved IS NULL"))
                .isEmpty();
        assertThat(ask("SELECT DISTINCT unmarked, standard_error_ns FROM brick_window"))
                .containsExactly(Arrays.asList(null, null));
        assertThat(ask("SELECT kind FROM pack_problem")).isEmpty();
        assertThat(report()).contains("Requests by rank, those that waited longest first");
    }

    private String report() throws IOException {
        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, OPTIONS)) {
            FleetPack opened = FleetPack.open(engine, pack.toString(), false);
            opened.mount(engine);
            return FleetReport.of(engine, opened.problems()).toText();
        }
    }

    /** The window has a sample of RmsNorm outside of any step, too. */
    @Test
    void bricksByPhaseHaveATableOfTheirOwn() throws IOException {
        Path file = windows.write(WindowFiles.of("r1", 0, 1, 0).build(), 100);
        BrickProfiler profiler = BrickProfiler.builder().percentiles(true).build();
        profiler.enable();
        profiler.record(BrickId.RMS_NORM, 5_000, 1);
        ProfileSnapshot both = JsonReport.read(file).merge(profiler.snapshot());
        JsonReport.write(both.withIdentity(WindowFiles.of("r1", 0, 1, 0).build()), file);

        pack();

        assertThat(ask("SELECT sum(total_ns), sum(count) FROM brick_window")).containsExactly(List.of(8_300L, 5L));
        assertThat(ask("SELECT rank, phase, category, brick, count, total_ns, min_ns, max_ns, elements"
                        + " FROM brick_phase_window ORDER BY brick"))
                .containsExactly(
                        List.of(0L, "decode", "Attention", "FusedAttention", 2L, 3_000L, 1_000L, 2_000L, 128L),
                        List.of(0L, "decode", "Norm", "RmsNorm", 2L, 300L, 100L, 200L, 128L));
        assertThat(ask("SELECT sum(u.n) FROM (SELECT explode(dist) AS u FROM brick_phase_window) AS e"))
                .containsExactly(List.of(4L));
    }

    /** The second stream has neither a UUID nor a PCI address, as in files of earlier versions. */
    @Spec("12.33")
    @Test
    void streamsHaveTheIdentityOfTheirDevice() throws IOException {
        Path file = windows.write(WindowFiles.of("r1", 0, 2, 0).build(), 100);
        Files.writeString(file, Files.readString(file).replaceFirst("\\}\\s*$", """
            , "streams": [
              {"stream": "copies", "device": "GPU", "device_index": 0, "device_uuid": "GPU-1",
               "pci_address": "0000:17:00.0", "samples": 3, "busy_ns": 20, "idle_ns": 4},
              {"stream": "decode", "device": "GPU", "device_index": 0, "samples": 1, "busy_ns": 2, "idle_ns": 0}]}
            """));

        pack();

        assertThat(ask("SELECT stream, device_uuid, pci_address, bricks, busy_ns, idle_ns FROM device_window"
                        + " ORDER BY 1"))
                .containsExactly(
                        List.of("copies", "GPU-1", "0000:17:00.0", 3L, 20L, 4L),
                        Arrays.asList("decode", null, null, 1L, 2L, 0L));
    }

    @Test
    void aProfileThatSaysNothingOfItsRunIsARunOfItsOwn() throws IOException {
        Files.createDirectories(folder.resolve("windows"));
        Path file = folder.resolve("windows").resolve("a.json");
        Files.writeString(
                file, JsonReport.toJson(WindowFiles.snapshot(5)).replaceFirst("(?s)\"identity\": \\{.*?\\},", ""));

        pack();

        assertThat(ask("SELECT run_id, rank, win, world_size FROM rank_window"))
                .containsExactly(Arrays.asList(file.toString().replace(".json", ""), 0L, 0L, null));
    }

    @Test
    void whatContradictsTheOthersIsNamedAndLeftOut() throws IOException {
        for (int rank = 0; rank < 8; rank++) {
            for (int window = 0; window < 3; window++) {
                if (rank != 5 && !(rank == 6 && window == 1)) {
                    windows.write(
                            WindowFiles.of("r1", rank, 8, window).build(),
                            100,
                            WindowFiles.START.plusSeconds(60L * window + (rank == 2 ? 7200 : rank)));
                }
            }
        }
        Path twin = windows.write(WindowFiles.of("r1", 3, 8, 0).build(), 100);
        Files.copy(twin, twin.resolveSibling("copy.json"));
        Path differs = windows.write(WindowFiles.of("r1", 4, 8, 0).build(), 100);
        Files.writeString(
                differs.resolveSibling("differs.json"),
                Files.readString(differs).replace("\"total_elements\": 128", "\"total_elements\": 129"));
        Path cut = windows.write(WindowFiles.of("r1", 0, 8, 0).build(), 100);
        Files.writeString(cut, Files.readString(cut).substring(0, 2500));
        Path model = windows.write(WindowFiles.of("r1", 1, 8, 0).model("gpt").build(), 100);
        Path size = windows.write(WindowFiles.of("r1", 1, 9, 1).build(), 100);
        Path version = windows.write(WindowFiles.of("r1", 1, 8, 2).build(), 100);
        Files.writeString(version, Files.readString(version).replace("\"1.1\"", "\"2.0\""));
        Path none = Files.createFile(folder.resolve("windows").resolve("none.json"));
        Path empty = windows.write(WindowFiles.of("r1", 7, 8, 3).build(), 100);
        Files.writeString(
                empty,
                Files.readString(empty)
                        .replaceFirst("(?s)\"bricks\": \\[.*\\],\\s*\"categories\"", "\"bricks\": [], \"categories\"")
                        .replaceFirst("(?s)\"steps\": \\{.*\\},\\s*\"run\"", "\"run\"")
                        .replaceFirst("(?s),\\s*\"steps\": \\{.*", "}")
                        .replaceFirst("\"total_ns\": \\d+", "\"total_ns\": 0"));

        FleetPacker.Result result = pack();

        assertThat(result.manifest().problems())
                .extracting(PackProblem::kind, PackProblem::rank, PackProblem::window, PackProblem::leftOut)
                .containsExactlyInAnyOrder(
                        tuple(Kind.DAMAGED, 0, 0L, 1L),
                        tuple(Kind.DAMAGED, null, null, 1L),
                        tuple(Kind.OTHER_VERSION, null, null, 1L),
                        tuple(Kind.EMPTY_WINDOW, 7, 3L, 1L),
                        tuple(Kind.DUPLICATE, 4, 0L, 1L),
                        tuple(Kind.DUPLICATE, 4, 0L, 1L),
                        tuple(Kind.OTHER_MODEL, 1, 0L, 1L),
                        tuple(Kind.OTHER_WORLD_SIZE, 1, 1L, 1L),
                        tuple(Kind.CLOCK_APART, 2, 0L, 1L),
                        tuple(Kind.CLOCK_APART, 2, 1L, 1L),
                        tuple(Kind.CLOCK_APART, 2, 2L, 1L),
                        tuple(Kind.MISSING_RANK, 1, null, 0L),
                        tuple(Kind.MISSING_RANK, 5, null, 0L),
                        tuple(Kind.MISSING_WINDOWS, 0, null, 0L),
                        tuple(Kind.MISSING_WINDOWS, 4, null, 0L),
                        tuple(Kind.MISSING_WINDOWS, 6, null, 0L));
        assertThat(result.manifest().problems())
                .filteredOn(problem -> problem.file() != null)
                .extracting(PackProblem::file)
                .contains(cut.toString(), model.toString(), size.toString(), version.toString(), none.toString());
        assertThat(result.manifest().identical()).isEqualTo(1);
        assertThat(ask("SELECT rank, count(*) AS n FROM rank_window GROUP BY rank ORDER BY rank"))
                .containsExactly(List.of(0L, 2L), List.of(3L, 3L), List.of(4L, 2L), List.of(6L, 2L), List.of(7L, 3L));
        assertThat(ask("SELECT count(*), sum(left_out) FROM pack_problem")).containsExactly(List.of(16L, 11L));
        assertThat(result.windows() + result.manifest().identical() + 11)
                .isEqualTo(result.manifest().profiles());
    }

    /**
     * If only two ranks have a window, and their clocks differ, the other windows tell which of the clocks is apart.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 24 * 60})
    void aWindowOfTwoRanksSaysNothingAgainstTheOneWithTheClockOfMost(int minutesOfARun) throws IOException {
        for (int rank = 0; rank < 3; rank++) {
            for (int window : new int[] {0, 1, 2, 2 + minutesOfARun}) {
                if (rank != 0 || window != 1) {
                    windows.write(
                            WindowFiles.of("r1", rank, 3, window).build(),
                            100,
                            WindowFiles.START.plusSeconds(60L * window + (rank == 2 ? 3 * 3_600 : 0)));
                }
            }
        }

        assertThat(pack().manifest().problems())
                .filteredOn(problem -> problem.kind() == Kind.CLOCK_APART)
                .extracting(PackProblem::rank)
                .containsOnly(2);
    }

    /** If the clocks of two ranks contradict each other, neither rank counts, but the other run stays. */
    @Test
    void aRunWithoutAnyWindowLeavesTheOthers() throws IOException {
        twoRanksOfThreeWindows();
        for (int rank = 0; rank < 2; rank++) {
            windows.write(
                    WindowFiles.of("r2", rank, 2, 0).build(), 100, WindowFiles.START.plusSeconds(3L * 3_600 * rank));
        }

        assertThat(pack().manifest().problems())
                .extracting(PackProblem::kind, PackProblem::runId)
                .containsOnly(tuple(Kind.CLOCK_APART, "r2"));
        assertThat(ask("SELECT DISTINCT run_id FROM rank_window")).containsExactly(List.of("r1"));
    }

    /** One of two ranks was idle for a night: its window begins in the evening, and both end at the same time. */
    @Test
    void aRankThatWasIdleHasNoOtherClock() throws IOException {
        Instant morning = WindowFiles.START;
        for (int rank = 0; rank < 2; rank++) {
            windows.write(WindowFiles.of("r1", rank, 2, 0).build(), 100, morning.minus(Duration.ofHours(9)));
            Duration idle = Duration.ofHours(8L * rank);
            windows.write(WindowFiles.of("r1", rank, 2, 700).build(), 100, morning.minus(idle), idle.plusMinutes(1));
        }

        assertThat(pack().manifest().problems()).isEmpty();
    }

    /** The numbers of the ranks show a gap, whether or not the files state how many ranks there are. */
    @Test
    void aGapInTheRanksIsNamedWithoutTheirNumber() throws IOException {
        for (int rank : new int[] {1, 2, 5, Integer.MAX_VALUE}) {
            RunIdentity.Builder identity =
                    RunIdentity.builder().runId("r1").rank(rank).window(0);
            windows.write(identity.build(), 100);
        }

        assertThat(pack().manifest().problems())
                .extracting(PackProblem::kind, PackProblem::rank, PackProblem::reason)
                .containsExactly(
                        tuple(Kind.MISSING_RANK, 0, "rank 0 is missing; no file states the world_size"),
                        tuple(Kind.MISSING_RANK, 3, "the ranks 3 to 4 are missing; no file states the world_size"),
                        tuple(
                                Kind.MISSING_RANK,
                                6,
                                "the ranks 6 to 2147483646 are missing; no file states the world_size"));
    }

    /**
     * The run takes 36 minutes. Its windows are numbered by steps or by the host's own clock, and one rank may begin
     * late.
     */
    @ParameterizedTest
    @CsvSource({
        "false, 7200, '2.0 h ahead of', 0", "false, -7200, '2.0 h behind', 0", "true, 7200, '2.0 h ahead of', 0",
        "true, -7200, '2.0 h behind', 0", "false, 7200, '2.0 h ahead of', 10", "false, -7200, '2.0 h behind', 10"
    })
    void howFarAClockIsApartIsItsDistanceFromTheOthersAtTheSameTime(
            boolean numberedByClock, int apartSeconds, String words, int firstMinute) throws IOException {
        for (int rank = 0; rank < 4; rank++) {
            for (int minute = rank == 2 ? firstMinute : 0; minute < 36; minute += 2) {
                int seconds = 60 * minute + (rank == 2 ? apartSeconds : 0);
                windows.write(
                        WindowFiles.of("r1", rank, 4, 10_000 + (numberedByClock ? seconds / 60 : minute))
                                .build(),
                        100,
                        WindowFiles.START.plusSeconds(seconds));
            }
        }

        assertThat(pack().manifest().problems())
                .filteredOn(problem -> problem.kind() == Kind.CLOCK_APART)
                .hasSize((36 - firstMinute) / 2)
                .allSatisfy(problem ->
                        assertThat(problem.reason()).isEqualTo("its clock is " + words + " those of most ranks"));
    }

    /**
     * A copy of a file, which is damaged or of another version, takes no window from the file, whichever is read first.
     */
    @ParameterizedTest
    @CsvSource({
        "cut, a, damaged",
        "cut, z, damaged",
        "wrong, a, damaged",
        "older, a, copy",
        "newer, z, copy",
        "major, a, other_version",
        "size, a, other_world_size",
        "size, z, other_world_size",
        "nothing, a, empty_window",
        "formatted, z, copy",
        "model, a, other_model",
        "twice, a, copy"
    })
    void aCopyTakesNoWindowFromTheOriginal(String what, String name, String problem) throws IOException {
        twoRanksOfThreeWindows();
        Path original = windows.write(WindowFiles.of("r1", 1, 2, 2).device("d").build(), 101);
        String text = Files.readString(original);
        Path copy = original.resolveSibling(name + ".json");
        Files.writeString(
                copy,
                switch (what) {
                    case "cut" -> text.substring(0, 2500);
                    case "wrong" -> text.replaceFirst("(\"count\": 2,\\s*\"total_ns\": )\\d+", "$112");
                    case "older" -> text.replace("\"1.1\"", "\"1.0\"").replaceFirst("\"device\": \"d\",", "");
                    case "newer" ->
                        text.replace("\"1.1\"", "\"1.9\"").replaceFirst("\"schema_version\"", "\"more\": [1], $0");
                    case "major" -> text.replace("\"1.1\"", "\"2.0\"");
                    case "size" -> text.replace("\"world_size\": 2", "\"world_size\": 3");
                    case "nothing" ->
                        text.replaceFirst(
                                        "(?s)\"bricks\": \\[.*\\],\\s*\"categories\"", "\"bricks\": [], \"categories\"")
                                .replaceFirst("(?s),\\s*\"steps\": \\{.*", "}")
                                .replaceFirst("\"total_ns\": \\d+", "\"total_ns\": 0");
                    case "formatted" -> text.replaceAll("\\s*\\n\\s*", " ");
                    case "model" -> text.replace("\"llama\"", "\"other\"");
                    default -> text;
                });
        assertThat(Files.readString(copy).equals(text)).isEqualTo(what.equals("twice"));

        Manifest manifest = pack().manifest();

        assertThat(manifest.identical()).isEqualTo(problem.equals("copy") ? 1 : 0);
        if (problem.equals("copy")) {
            assertThat(manifest.problems()).isEmpty();
        } else {
            assertThat(manifest.problems())
                    .extracting(each -> each.kind().key(), PackProblem::file)
                    .containsExactly(tuple(problem, copy.toString()));
        }
        assertThat(ask("SELECT count(*) FROM rank_window")).containsExactly(List.of(6L));
        assertThat(ask("SELECT device, world_size FROM rank_window WHERE rank = 1 AND win = 2"))
                .containsExactly(List.of("d", 2L));
    }

    @Test
    void windowsThatTheirRankCouldNotWriteAreNamed() throws IOException {
        twoRanksOfThreeWindows();
        Path rank0 = folder.resolve("windows").resolve("r1").resolve("rank-00000");
        Path rank1 = rank0.resolveSibling("rank-00001");
        ExportLoss.none("r1", OptionalInt.of(0)).write(rank0);
        new ExportLoss("r1", OptionalInt.of(1), 2, 120, 5000, "no space left").write(rank1);
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder.resolve("windows"))) {
            files = all.filter(file -> file.toString().endsWith(".json")).toList();
        }

        Manifest manifest = new FleetPacker(pack, null, OPTIONS, (bytes, total) -> {})
                .pack(files)
                .manifest();

        assertThat(manifest.problems()).singleElement().satisfies(problem -> {
            assertThat(problem.kind()).isEqualTo(Kind.UNWRITTEN_WINDOWS);
            assertThat(problem.runId()).isEqualTo("r1");
            assertThat(problem.rank()).isEqualTo(1);
            assertThat(problem.leftOut()).isEqualTo(2);
            assertThat(problem.reason())
                    .isEqualTo("2 windows of the rank, of which 120 samples of 5000 ns are known, are in no file: no"
                            + " space left");
        });
        Files.writeString(rank1.resolve(ExportLoss.FILE), "windows=-2\n");
        assertThat(new FleetPacker(pack, null, OPTIONS, (bytes, total) -> {})
                        .pack(files)
                        .manifest()
                        .problems())
                .singleElement()
                .satisfies(problem -> assertThat(problem.reason()).contains("windows.state", "-2"));
    }

    /** The samples of a process that writes its whole profile beside its windows count once. */
    @Test
    void aWholeProfileBesideItsWindowsIsLeftOut() throws IOException {
        for (int window = 4_000; window < 4_003; window++) {
            windows.write(WindowFiles.of("r1", 0, 1, window).build(), 100);
        }
        Path whole = windows.write(
                RunIdentity.builder()
                        .runId("r1")
                        .rank(0)
                        .worldSize(1)
                        .model("llama")
                        .build(),
                300);

        Manifest manifest = pack().manifest();

        assertThat(manifest.problems())
                .extracting(PackProblem::kind, PackProblem::file, PackProblem::leftOut)
                .containsExactly(tuple(Kind.DUPLICATE, whole.toString(), 1L));
        assertThat(ask("SELECT sum(total_ns) FROM brick_window")).containsExactly(List.of(3 * 33 * 100L));
    }

    /** Two exports of one profiler, by steps and by time, hold the same samples under different numbers. */
    @Test
    void windowsOfTheSameStepsAtTheSameTimeAreLeftOut() throws IOException {
        for (int window = 0; window < 4; window++) {
            minute(WindowFiles.of("r1", 0, 2, window).steps(10L * window, 10L * window + 9), 1, window);
            minute(WindowFiles.of("r1", 1, 2, window).steps(10L * window, 10L * window + 9), 1, window);
        }
        minute(WindowFiles.of("r1", 1, 2, 100).steps(0, 19), 2, 0);

        assertThat(pack().manifest().problems())
                .extracting(PackProblem::kind, PackProblem::rank, PackProblem::window)
                .containsExactly(
                        tuple(Kind.DUPLICATE, 1, 0L),
                        tuple(Kind.DUPLICATE, 1, 1L),
                        tuple(Kind.DUPLICATE, 1, 100L),
                        tuple(Kind.MISSING_WINDOWS, 1, null));
    }

    /** A process that begins anew repeats the numbers of its steps, at a later time. */
    @Test
    void theStepsOfARestartedRankAreNoCopies() throws IOException {
        for (int window = 0; window < 4; window++) {
            int step = window % 2 * 10;
            minute(WindowFiles.of("r1", 0, 1, window).steps(step, step + 9), 1, window);
        }

        assertThat(pack().manifest().problems()).isEmpty();
    }

    /** Writes a window that is {@code minutes} minutes long. */
    private void minute(RunIdentity.Builder identity, int minutes, int fromMinute) throws IOException {
        windows.write(
                identity.build(), 100, WindowFiles.START.plusSeconds(60L * fromMinute), Duration.ofMinutes(minutes));
    }

    /**
     * A brick whose samples a device did not report has no shortest sample; one that only has a sum has no extremes.
     */
    @ParameterizedTest
    @CsvSource({"false, 1000, 3000", "true, 0, 0"})
    void extremesAreThoseOfTheMergedProfiles(boolean hasSumOnly, long minNs, long maxNs) throws IOException {
        BrickStats.Builder other = BrickStats.builder("b", BrickCategory.OTHER);
        List<BrickStats> bricks = List.of(
                BrickStats.builder("b", BrickCategory.OTHER)
                        .samples(2, 4000, 1000, 3000)
                        .build(),
                hasSumOnly
                        ? other.samples(2, 4000, 0, 0).build()
                        : other.device(new DeviceTime(0, 0, 0, 0, 0, 2, 0)).build());
        ProfileSnapshot whole = ProfileSnapshot.builder(WindowFiles.START, WindowFiles.START, 0)
                .bricks(bricks)
                .build();
        Files.createDirectories(folder.resolve("windows"));
        for (int window = 0; window < 2; window++) {
            Files.writeString(
                    folder.resolve("windows").resolve(window + ".json"),
                    JsonReport.toJson(ProfileSnapshot.builder(WindowFiles.START, WindowFiles.START, 0)
                            .bricks(bricks.subList(window, window + 1))
                            .identity(WindowFiles.of("r1", 0, 1, window).build())
                            .build()));
        }

        pack();

        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, OPTIONS)) {
            FleetPack.open(engine, pack.toString(), false).mount(engine);
            for (FleetQuestion question : List.of(FleetQuestion.BRICKS, FleetQuestion.RUN_BRICKS)) {
                assertThat(question.ask(engine)).singleElement().satisfies(row -> {
                    assertThat(row.number("min_ns")).isEqualTo(minNs);
                    assertThat(row.number("max_ns")).isEqualTo(maxNs);
                });
            }
        }
        assertThat(whole.bricks()).singleElement().satisfies(brick -> {
            assertThat(brick.minNs()).isEqualTo(minNs);
            assertThat(brick.maxNs()).isEqualTo(maxNs);
        });
    }

    /** An export that deletes the oldest windows of all ranks leaves no gap between the others. */
    @Test
    void windowsThatTheExportDeletedAreNamed() throws IOException {
        long[][] deletedBefore = {{3, 4, 5, 0, 2}, {0, 0, 0, 0, 0}};
        for (int rank = 0; rank < 2; rank++) {
            for (int window = 0; window < 5; window++) {
                Path file = windows.write(WindowFiles.of("r1", rank, 2, window).build(), 100);
                Files.writeString(
                        file,
                        Files.readString(file)
                                .replaceFirst(
                                        "\\}\\s*$",
                                        ", \"export\": {\"every\": \"1 steps\", \"windows_deleted\": "
                                                + deletedBefore[rank][window] + ", \"windows_failed\": 0}}"));
            }
        }

        assertThat(pack().manifest().problems()).singleElement().satisfies(problem -> {
            assertThat(problem.kind()).isEqualTo(Kind.UNWRITTEN_WINDOWS);
            assertThat(problem.rank()).isEqualTo(0);
            assertThat(problem.leftOut()).isEqualTo(7);
            assertThat(problem.reason())
                    .isEqualTo("the export of rank 0 deleted at least 7 windows to stay within its bound");
        });
    }

    /** Of two files with equal bricks, one must be wrong about its host. */
    @Test
    void equalBricksOfTwoHostsAreNoCopies() throws IOException {
        twoRanksOfThreeWindows();
        Path original = windows.write(WindowFiles.of("r1", 1, 2, 2).build(), 101);
        Files.writeString(
                original.resolveSibling("other.json"),
                Files.readString(original).replace("\"host-0\"", "\"host-9\""));

        assertThat(pack().manifest().problems())
                .extracting(PackProblem::kind)
                .containsExactly(Kind.DUPLICATE, Kind.DUPLICATE, Kind.MISSING_WINDOWS);
    }

    @Test
    void aWrongDigitIsFoundByTheSum() throws IOException {
        twoRanksOfThreeWindows();
        Path file = windows.write(WindowFiles.of("r1", 1, 2, 2).build(), 100);
        Files.writeString(file, Files.readString(file).replaceFirst("(\"count\": 2,\\s*\"total_ns\": )\\d+", "$112"));

        assertThat(pack().manifest().problems())
                .filteredOn(problem -> problem.kind() == Kind.DAMAGED)
                .singleElement()
                .satisfies(problem -> assertThat(problem.reason()).contains("total_ns"));
    }

    @Test
    void moreSamplesInABucketThanCanBeAreRefused() throws IOException {
        twoRanksOfThreeWindows();
        Path file = windows.write(WindowFiles.of("r1", 1, 2, 2).build(), 100);
        Files.writeString(
                file,
                Files.readString(file)
                        .replaceFirst("(\"buckets\":\\s*\\[\\s*\\[\\s*\\d+,\\s*)\\d+", "$19000000000000000000"));

        assertThat(pack().manifest().problems())
                .filteredOn(problem -> problem.kind() == Kind.DAMAGED)
                .singleElement()
                .satisfies(problem -> assertThat(problem.reason()).contains("9000000000000000000"));
    }

    @ParameterizedTest
    @CsvSource({
        "no exact extremes,     '\"m(in|ax)_ns\": \\d+,',           ''",
        "no elements,           '\"total_elements\": \\d+,',        ''",
        "no category,           '\"category\": \"[A-Za-z]+\",',     ''",
        "an exponent,           '(\"count\": \\d),',                '$1e0,'",
        "another case,          '\"Norm\"',                         '\"NORM\"'",
        "a host of null,        '\"host\": \"[^\"]*\"',            '\"host\": null'",
        "steps without an end,  '\"rank\": 1,',                     '\"rank\": 1, \"first_step\": 7,'",
    })
    void aWindowIsReadAsReportsAre(String what, String text, String replacement) throws IOException {
        Path file = windows.write(WindowFiles.of("r1", 1, 2, 2).build(), 2_000_000);
        String before = Files.readString(file);
        Files.writeString(file, before.replaceAll(text, replacement));
        assertThat(Files.readString(file)).isNotEqualTo(before);
        ProfileSnapshot snapshot = JsonReport.read(file);

        assertThat(pack().windows()).isOne();

        assertThat(bricks()).containsExactlyInAnyOrderElementsOf(bricks(snapshot));
        assertThat(ask("SELECT host, first_step FROM rank_window"))
                .containsExactly(Arrays.asList(snapshot.identity().host().orElse(null), null));
    }

    @ParameterizedTest
    @CsvSource({
        "a key twice,        '\"count\": 2,',                    '\"count\": 2, \"count\": 3,',  'count'",
        "a head's key twice, '\"rank\": 1,',                     '\"rank\": 1, \"rank\": 0,',    'rank'",
        "other buckets,      '(\"relative_error\": )[0-9.]+',    '$10.5',                         'other buckets'",
        "a bucket twice,     '(\"buckets\": \\[ *)(\\[[^]]+\\])', '$1$2, $2',                'occurs twice'",
        "a late identity,    '(?s)(\"identity\": \\{.*?\\},)(.*)\\}', '$2, $1 \"end\": 0}',  'follows the bricks'",
        "no bricks,          '\"bricks\"',                       '\"brick\"',                    'no bricks'",
    })
    void aWindowThatReportsRefuseIsLeftOut(String what, String text, String replacement, String reason)
            throws IOException {
        windows.write(WindowFiles.of("r1", 0, 2, 2).build(), 2_000_000);
        Path file = windows.write(WindowFiles.of("r1", 1, 2, 2).build(), 2_000_000);
        String before = Files.readString(file);
        Files.writeString(file, before.replaceAll(text, replacement));
        assertThat(Files.readString(file)).isNotEqualTo(before);

        Manifest manifest = pack().manifest();

        assertThat(manifest.problems())
                .filteredOn(problem -> problem.kind() == Kind.DAMAGED)
                .singleElement()
                .satisfies(problem -> assertThat(problem.reason()).contains(reason));
        assertThat(ask("SELECT rank FROM rank_window")).containsExactly(List.of(0L));
    }

    @Test
    void ofTwoModelsWithEquallyManyFilesOneMustBeSelected() throws IOException {
        windows.write(WindowFiles.of("a", 0, 1, 0).model("m1").build(), 100);
        windows.write(WindowFiles.of("b", 0, 1, 0).model("m2").build(), 100);

        assertThatIllegalArgumentException()
                .isThrownBy(this::pack)
                .withMessage("no model is that of most files; --model selects one: m1 (1 file), m2 (1 file)");
        assertThat(pack("m2").manifest().problems())
                .extracting(PackProblem::kind)
                .containsExactly(Kind.OTHER_MODEL);
        assertThat(ask("SELECT run_id FROM rank_window")).containsExactly(List.of("b"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"flipped", "cut", "empty", "missing"})
    void aDamagedFileOfThePackIsRefusedOrLeftOut(String damage) throws IOException {
        twoRanksOfThreeWindows();
        windows.write(WindowFiles.of("r2", 0, 1, 0).build(), 100);
        Manifest manifest = pack().manifest();
        String path = manifest.files().stream()
                .map(Manifest.PackFile::path)
                .filter(each -> each.contains("brick_window/run=r1"))
                .findFirst()
                .orElseThrow();
        Path file = pack.resolve(path);
        byte[] bytes = Files.readAllBytes(file);
        switch (damage) {
            case "flipped" -> {
                for (int i = 0; i < 8; i++) {
                    bytes[bytes.length / 2 + i] ^= 0x55;
                }
                Files.write(file, bytes);
            }
            case "cut" -> Files.write(file, Arrays.copyOf(bytes, bytes.length / 2));
            case "empty" -> Files.write(file, new byte[0]);
            default -> Files.delete(file);
        }

        assertThatIOException()
                .isThrownBy(() -> open(false))
                .withMessageStartingWith(file.toString())
                .withMessageContaining("--salvage");
        assertThat(ask("SELECT DISTINCT run_id FROM rank_window", true)).containsExactly(List.of("r2"));
        assertThat(ask("SELECT kind, file, left_out FROM pack_problem", true))
                .containsExactly(List.of("damaged_pack", path, 6L));
    }

    @Test
    void aDamagedManifestIsRefused() throws IOException {
        twoRanksOfThreeWindows();
        pack();
        Path manifest = pack.resolve("manifest.json");
        String whole = Files.readString(manifest);

        Files.writeString(manifest, whole.substring(0, whole.length() / 2));
        assertThatIOException().isThrownBy(() -> open(true)).withMessageContaining("is damaged");
        Files.writeString(manifest, whole.replaceFirst("\"schema_version\" ?: ?1", "\"schema_version\":2"));
        assertThatIOException()
                .isThrownBy(() -> open(true))
                .withMessageContaining("is of schema version 2; this program knows 1");
        Files.writeString(manifest, whole.replaceFirst("tables-[^/]*", "../.."));
        assertThatIOException().isThrownBy(() -> open(true)).withMessageContaining("leads out");
        Files.delete(manifest);
        assertThatIOException().isThrownBy(() -> open(true)).withMessageContaining("is no pack");
    }

    /** Each value is one that no packer writes. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            "brick-fleet-pack" | "brick-fleet-pack-of-another" | kind is brick-fleet-pack-of-another instead of
            "problems" : [     | "problems" : [ {"kind" : "damaged", "rank" : 3000000000, "reason" : "", "left_out" : 0} | rank is 3000000000
            "problems" : [     | "problems" : [ {"kind" : "damaged", "rank" : -1, "reason" : "", "left_out" : 0}         | rank is -1
            "problems" : [     | "problems" : [ {"kind" : "damaged", "window" : -1, "reason" : "", "left_out" : 0}       | window is -1
            "problems" : [     | "problems" : [ {"kind" : "damaged", "window" : "a", "reason" : "", "left_out" : 0}      | window is a
            "problems" : [     | "problems" : [ {"kind" : "Damaged", "reason" : "", "left_out" : 0}                      | the kind of a problem is Damaged
            "problems" : [     | "problems" : [ {"kind" : "damaged", "reason" : "", "left_out" : 9223372036854775807}    | left_out is 9223372036854775807
            "problems" : [     | "problems" : [ 7                                       | 7 is no object
            /brick_window/     | /brick_window/./                                       | is not the shortest path
            /brick_window/     | /brick_window//                                        | is not the shortest path
            /brick_window/     | /brick_window/\\u0000                                | is not the shortest path
            """)
    void aManifestThatNoPackerWritesIsRefused(String written, String other, String fault) throws IOException {
        twoRanksOfThreeWindows();
        pack();
        Path manifest = pack.resolve("manifest.json");
        String whole = Files.readString(manifest);
        assertThat(whole).contains(written);
        Files.writeString(manifest, whole.replace(written, other));

        for (boolean salvage : new boolean[] {false, true}) {
            assertThatIOException()
                    .isThrownBy(() -> open(salvage))
                    .withMessageStartingWith(pack + "/manifest.json is damaged: ")
                    .withMessageContaining(fault);
        }
    }

    /** Otherwise its windows would count twice. */
    @Test
    void aManifestThatListsAFileTwiceIsRefused() throws IOException {
        twoRanksOfThreeWindows();
        pack();
        Path manifest = pack.resolve("manifest.json");
        String whole = Files.readString(manifest);
        Files.writeString(manifest, whole.replaceFirst("(?s)(\"files\"\\s*:\\s*\\[\\s*)(\\{[^}]*\\})", "$1$2, $2"));

        assertThatIOException().isThrownBy(() -> open(true)).withMessageEndingWith(" is listed twice");
    }

    @Test
    void packingAgainReplacesThePackAndNothingElse() throws IOException {
        twoRanksOfThreeWindows();
        pack();
        windows.write(WindowFiles.of("r1", 0, 2, 3).build(), 100);
        windows.write(WindowFiles.of("r1", 1, 2, 3).build(), 100);

        assertThat(pack().windows()).isEqualTo(8);
        assertThat(ask("SELECT count(*) FROM rank_window")).containsExactly(List.of(8L));
        try (Stream<Path> there = Files.list(pack)) {
            assertThat(there.map(file -> file.getFileName().toString().replaceFirst("-.*", "")))
                    .containsExactlyInAnyOrder(".lock", "manifest.json", "tables");
        }
        Path other = Files.createDirectories(folder.resolve("other"));
        Files.createFile(other.resolve("mine.txt"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new FleetPacker(other, null, OPTIONS, (bytes, total) -> {}).pack(List.of()))
                .withMessageContaining("it holds something other than a pack");
    }

    /** Packs, and after three quarters of the bytes writes a marker file and blocks until the process is killed. */
    static final class HalfWay {
        private HalfWay() {}

        public static void main(String[] args) throws IOException {
            Path marker = Path.of(args[2]);
            try (Stream<Path> files = Files.walk(Path.of(args[0]))) {
                new FleetPacker(Path.of(args[1]), null, OPTIONS, (bytes, total) -> {
                            if (4 * bytes > 3 * total) {
                                touch(marker);
                                LockSupport.park();
                            }
                        })
                        .pack(files.filter(Files::isRegularFile).toList());
            }
        }

        private static void touch(Path marker) {
            try {
                Files.writeString(marker, "half");
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
    }

    @Test
    void aKilledPackLeavesTheFormerOneWhole() throws IOException, InterruptedException {
        twoRanksOfThreeWindows();
        pack();
        for (int run = 0; run < 40; run++) {
            windows.write(WindowFiles.of("new" + run, 0, 1, 0).build(), 100);
        }
        Path marker = folder.resolve("marker");
        Path temporary = Files.createDirectory(folder.resolve("temporary"));

        try (RunningProcess packing = ChildProcess.java(HalfWay.class)
                .jvmOptions(List.of("-Djava.io.tmpdir=" + temporary))
                .arguments(List.of(folder.resolve("windows").toString(), pack.toString(), marker.toString()))
                .start()) {
            for (int i = 0; i < 600 && Files.notExists(marker); i++) {
                Thread.sleep(100);
            }
            assertThat(marker).exists();
            assertThatIOException().isThrownBy(this::pack).withMessageContaining("another process is packing into it");
            packing.close();
            packing.result();
        }

        try (Stream<Path> left = Files.list(temporary)) {
            assertThat(left.filter(Files::isDirectory)).isEmpty();
        }
        assertThat(tablesFolders()).hasSize(2);
        assertThat(ask("SELECT count(*), count(DISTINCT run_id) FROM rank_window"))
                .containsExactly(List.of(6L, 1L));
        assertThat(pack().windows()).isEqualTo(46);
        assertThat(tablesFolders()).hasSize(1);
    }

    private List<Path> tablesFolders() throws IOException {
        try (Stream<Path> there = Files.list(pack)) {
            return there.filter(file -> file.getFileName().toString().startsWith("tables-"))
                    .toList();
        }
    }

    @Test
    void whereNoWindowIsLeftTheFormerPackStays() throws IOException {
        twoRanksOfThreeWindows();
        pack();
        Path bad = Files.writeString(folder.resolve("bad.json"), "{");

        FleetPacker.Result result = new FleetPacker(pack, null, OPTIONS, (bytes, total) -> {}).pack(List.of(bad));

        assertThat(result.windows()).isZero();
        assertThat(ask("SELECT count(*) FROM rank_window")).containsExactly(List.of(6L));
    }
}
