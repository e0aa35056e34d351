package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.trace.read.Omission.Reason;
import org.junit.jupiter.api.Test;

/**
 * The tables of real traces. A program that shares no code with the library computed the totals of three of them:
 *
 * <pre>{@code
 * import gzip, json, sys, collections
 * d = json.load(gzip.open(sys.argv[1]))
 * ev = d if isinstance(d, list) else d['traceEvents']
 * dev = [e for e in ev if e.get('cat') in ('kernel', 'gpu_memcpy', 'gpu_memset')] or [e for e in ev if e['ph'] == 'X']
 * sums = collections.Counter(); count = collections.Counter()
 * for e in dev: sums[e['name'][:40]] += e['dur']; count[e['name'][:40]] += 1
 * for n in sums: print(count[n], sums[n], n)
 * busy, until = 0, float('-inf')
 * for a, b in sorted((e['ts'], e['ts'] + e['dur']) for e in dev):
 *     busy += max(0, b - max(a, until)); until = max(until, b)
 * print(len(ev), len(dev), sum(sums.values()), busy, until - min(e['ts'] for e in dev))
 * }</pre>
 *
 * It prints, in microseconds, for the mixture of experts
 *
 * <pre>{@code
 * 31056 1161389 attn
 * 31056 4391443 moe
 * 643 8981 embed
 * 643 3453 final_norm
 * 643 414118 lm_head
 * 64041 64041 5979384 5971915 13616201
 * }</pre>
 *
 * for the small run {@code 1348 98 49816 49758 16025575} with {@code 16 39080 Memcpy HtoD} (244,403,360 bytes) and
 * {@code 3 8 Memset}, and for the training step {@code 109123 9450 501567 388587 464594} with {@code 42 130655
 * ncclKernel_SendRecv}, {@code 18 32880 ncclKernel_AllReduce} and {@code 150 50656 Memcpy HtoD}.
 */
@OneJdk
final class RealTracesTest {

    private static final long US = 1_000;

    private static String table(ProfileSnapshot snapshot) {
        return snapshot.bricks().stream()
                .map(brick -> String.format(
                        Locale.ROOT,
                        "%s | %s | %d | %d",
                        TraceFigures.plain(brick.name()),
                        brick.category().displayName(),
                        brick.count(),
                        brick.totalNs()))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private static void assertGolden(TraceProfile reading, String name) throws IOException {
        Golden.assertSame(reading.summary() + "\n" + table(reading.snapshot()), RealTracesTest.class, name);
    }

    @Test
    void mixtureOfExpertsWithWarmup() throws IOException {
        TraceProfile reading = Traces.read(Traces.MOE, ReadOptions.defaults().withKeepWarmup(true));

        assertBrick(reading, "moe", 31_056, 4_391_443 * US);
        assertBrick(reading, "attn", 31_056, 1_161_389 * US);
        assertBrick(reading, "LmHead", 643, 414_118 * US);
        assertBrick(reading, "Embedding", 643, 8_981 * US);
        assertBrick(reading, "RmsNorm", 643, 3_453 * US);
        assertThat(reading.snapshot().totalNs()).isEqualTo(5_979_384 * US);
        assertThat(reading.busyNs()).isEqualTo(5_971_915 * US);
        assertThat(reading.wallNs()).isEqualTo(13_616_201 * US);
        assertThat(Omissions.leftOut(reading)).isEmpty();
        assertThat(reading.counting()).isEqualTo(TraceProfile.Counting.ALL_SLICES);
        assertThat(reading.rows()).isEqualTo(48);
        assertThat(Omissions.faults(reading.omissions())).containsExactly(new Omission(Reason.OVERLAP, "", 1, 0, 78));
        assertGolden(reading, "moe-with-warmup.txt");
    }

    @Test
    void mixtureOfExpertsLeavesTheFirstLayersWarmupOut() throws IOException {
        TraceProfile kept = Traces.read(Traces.MOE, ReadOptions.defaults().withKeepWarmup(true));

        TraceProfile reading = Traces.read(Traces.MOE, ReadOptions.defaults());

        assertThat(Omissions.leftOut(reading))
                .containsExactly(
                        new Omission(Reason.WARM_UP, "moe", 1, 170_219 * US, Omission.NO_OFFSET),
                        new Omission(Reason.WARM_UP, "attn", 1, 7_631 * US, Omission.NO_OFFSET));
        for (Omission part : Omissions.leftOut(reading)) {
            BrickStats with = kept.snapshot().brick(part.name()).orElseThrow();
            assertBrick(reading, part.name(), with.count() - part.count(), with.totalNs() - part.elapsedNs());
        }
        assertBrick(reading, "LmHead", 643, 414_118 * US);
        assertThat(Omissions.faults(reading.omissions())).isEmpty();
        assertThat(reading.wallNs()).isEqualTo((13_616_201 - 170_392) * US);
        assertGolden(reading, "moe.txt");
    }

    @Test
    void smallKinetoRun() throws IOException {
        TraceProfile reading = Traces.read(Traces.SIMPLE_ADD, ReadOptions.defaults());

        assertThat(reading.eventsRead()).isEqualTo(1_348);
        assertThat(reading.eventsCounted()).isEqualTo(98);
        assertThat(reading.snapshot().totalNs()).isEqualTo(49_816 * US);
        assertThat(reading.busyNs()).isEqualTo(49_758 * US);
        assertThat(reading.wallNs()).isEqualTo(16_025_575 * US);
        assertBrick(reading, "HostToDevice", 16, 39_080 * US);
        assertBrick(reading, "Memset", 3, 8 * US);
        assertThat(reading.snapshot().brick("HostToDevice").orElseThrow().totalBytes())
                .isEqualTo(244_403_360);
        assertThat(Omissions.ignored(reading))
                .isEqualTo(Map.of(
                        Reason.HOST, 690L,
                        Reason.ANNOTATION, 8L,
                        Reason.WRAPPER, 1L,
                        Reason.DEVICE_WAIT, 41L,
                        Reason.FLOW, 470L,
                        Reason.METADATA, 38L,
                        Reason.INSTANT, 2L));
        assertThat(Omissions.leftOut(reading)).isEmpty();
        assertThat(Omissions.faults(reading.omissions())).isEmpty();
        assertThat(reading.snapshot().startedAt()).hasToString("2023-09-06T22:39:54.071305Z");
        assertThat(reading.snapshot().environments()).hasSize(1);
        assertGolden(reading, "simple-add.txt");
    }

    /** A query like that of {@link NsightExport#kernelsByRange} computed the sums by range from the database. */
    @Test
    void exportOfNsightSystems() throws IOException {
        TraceProfile reading = Traces.read(Traces.NSIGHT, ReadOptions.defaults());

        assertThat(reading.eventsRead()).isEqualTo(164 + 36 + 200 + 823);
        assertThat(reading.eventsCounted()).isEqualTo(164 + 36);
        assertThat(reading.ranges()).hasSize(24).allMatch(TraceProfile.Range::isRange);
        assertThat(reading.ranges().subList(0, 6))
                .containsExactly(
                        new TraceProfile.Range("aten::copy_", 51, 62_974_909),
                        new TraceProfile.Range("aten::mm", 24, 1_507_116),
                        new TraceProfile.Range("aten::mul", 26, 49_120),
                        new TraceProfile.Range("aten::mean", 5, 45_472),
                        new TraceProfile.Range("aten::add", 20, 31_969),
                        new TraceProfile.Range("aten::bmm", 6, 28_129));
        assertThat(Omissions.faults(reading.omissions())).isEmpty();
        assertGolden(reading, "nsight.txt");
    }

    /** A separate program computed the sums from the XSpace, over the events of all lines of the planes of devices. */
    @Test
    void traceOfXlaWithDevicesByName() throws IOException {
        TraceProfile reading = Traces.read(Traces.XLA, ReadOptions.defaults().withKeepWarmup(true));

        assertThat(reading.eventsCounted()).isEqualTo(235);
        assertThat(reading.snapshot().totalNs()).isEqualTo(28_137_077);
        assertThat(reading.rows()).isEqualTo(11);
        assertThat(Omissions.ignored(reading)).isEqualTo(Map.of(Reason.HOST, 3_415L, Reason.METADATA, 54L));
    }

    /** The sums are those of the view {@code busy} of the database. */
    @Test
    void traceOfRocmProfileDataWithItsDeviceByName() throws IOException {
        TraceProfile reading = Traces.read(Traces.RPD, ReadOptions.defaults());

        assertThat(reading.eventsCounted()).isEqualTo(85);
        assertThat(reading.snapshot().totalNs()).isEqualTo(183_918_056);
        assertThat(Omissions.ignored(reading))
                .isEqualTo(Map.of(Reason.HOST, 125L, Reason.METADATA, 1L, Reason.EMPTY, 1L));
    }

    @Test
    void logOfTornadoVm() throws IOException {
        TraceProfile reading = Traces.read(Traces.TORNADO, ReadOptions.defaults());

        assertThat(reading.eventsRead()).isEqualTo(40);
        assertThat(reading.eventsCounted()).isEqualTo(22);
        assertBrick(reading, "FusedAttention", 4, 2 * (18_400 + 18_401));
        assertBrick(reading, "RmsNorm", 4, 4 * 2_900);
        assertBrick(reading, "Embedding", 2, 2 * 3_100);
        assertBrick(reading, "KernelDispatch", 4, 4 * 9_000);
        assertBrick(reading, "DeviceToHost", 2, 2 * 40_960);
        assertThat(reading.wallNs()).isEqualTo(2 * (310_000 + 260_000 + 260_001));
        assertThat(reading.leftOutNs()).isEqualTo(5 * 21_000_000L + 5 * 9_000_000L + 2 * 5_000_000L);
        assertThat(Omissions.faults(reading.omissions())).isEmpty();
        assertGolden(reading, "tornadovm.txt");
    }

    @Test
    void kinetoTrainingStep() throws IOException {
        TraceProfile reading = Traces.read(Traces.TRAINING, ReadOptions.defaults());

        assertThat(reading.eventsRead()).isEqualTo(109_123);
        assertThat(reading.eventsCounted()).isEqualTo(9_450);
        assertThat(reading.snapshot().totalNs()).isEqualTo(501_567 * US);
        assertThat(reading.busyNs()).isEqualTo(388_587 * US);
        assertThat(reading.wallNs()).isEqualTo(464_594 * US);
        assertBrick(reading, "SendRecv", 42, 130_655 * US);
        assertBrick(reading, "AllReduce", 18, 32_880 * US);
        assertBrick(reading, "HostToDevice", 150, 50_656 * US);
        assertThat(Omissions.leftOut(reading)).isEmpty();
        assertThat(Omissions.faults(reading.omissions())).isEmpty();
        assertThat(reading.steps()).isEqualTo(6);
        assertThat(reading.rows()).isEqualTo(4);
        assertThat(reading.unmatched()).isEqualTo(new TraceProfile.Unmatched(5, 42, 9_342 * US));
        assertGolden(reading, "training-step.txt");
    }

    /**
     * The program above, with {@code dev = [e for e in dev if e['ts'] >= 1661203462751272]}, prints {@code 109123 6300
     * 354692 268212 312138}.
     */
    @Test
    void kinetoTrainingStepWithoutItsFirstTwoSteps() throws IOException {
        TraceProfile all = Traces.read(Traces.TRAINING, ReadOptions.defaults());

        TraceProfile reading =
                Traces.read(Traces.TRAINING, ReadOptions.defaults().withSkipSteps(2));

        assertThat(Omissions.leftOut(reading)).allMatch(part -> part.reason() == Reason.SKIPPED_STEP);
        assertThat(reading.eventsCounted()).isEqualTo(6_300);
        assertThat(reading.snapshot().totalNs()).isEqualTo(354_692 * US);
        assertThat(reading.busyNs()).isEqualTo(268_212 * US);
        assertThat(reading.wallNs()).isEqualTo(312_138 * US);
        assertThat(reading.snapshot().totalNs() + reading.leftOutNs())
                .isEqualTo(all.snapshot().totalNs());
        assertThat(reading.snapshot().startedAt()).hasToString("2022-08-22T21:24:22.751781Z");
        assertGolden(reading, "training-step-skip-2.txt");
    }

    @Test
    void everyShareOfTheSummaryNamesItsBase() throws IOException {
        List<String> shares = TraceReader.profile(Traces.TRAINING)
                .summary()
                .lines()
                .filter(line -> line.contains("%"))
                .toList();

        assertThat(shares).hasSize(3).allSatisfy(line -> assertThat(line).containsPattern("% of (wall|brick) time"));
    }

    /** The table of {@code docs/traces.md} has the shares in the profiles. */
    @Test
    void theTableOfTheDocumentHasTheSharesOfTheProfiles() throws IOException {
        List<String> rows = Files.readAllLines(SourceTree.path("docs", "traces.md")).stream()
                .filter(line -> line.matches("\\| `[\\w-]+` \\| [0-9]+\\.[0-9] \\| [0-9]+\\.[0-9] \\|.*"))
                .toList();

        assertThat(rows).hasSize(8);
        for (String row : rows) {
            List<String> cells = Pattern.compile("[\\s|`]+").splitAsStream(row).toList();
            Path trace = Traces.MOE.resolveSibling(cells.get(1) + ".json.gz");
            TraceProfile reading = Traces.read(trace, ReadOptions.defaults());

            assertThat(cells.subList(2, 4))
                    .as("%s: Other, and products of which the projection is not known", trace)
                    .isEqualTo(List.of(
                            percent(reading, BrickCategory.OTHER), percent(reading, BrickCategory.MATRIX_PRODUCT)));
        }
    }

    private static String percent(TraceProfile reading, BrickCategory category) {
        ProfileSnapshot snapshot = reading.snapshot();
        long totalNs = snapshot.bricks().stream()
                .filter(brick -> brick.category() == category)
                .mapToLong(BrickStats::totalNs)
                .sum();
        return String.format(Locale.ROOT, "%.1f", 100.0 * totalNs / snapshot.totalNs());
    }

    /** PyTorch's own sum of the kernels is 927.358 us, too. */
    @Test
    void launchesOfACudaGraph() throws IOException {
        TraceProfile reading = Traces.read(
                Path.of("src", "test", "resources", "traces", "torch-h200-graph.json.gz"), ReadOptions.defaults());

        assertThat(reading.eventsCounted()).isEqualTo(320);
        assertThat(reading.snapshot().totalNs()).isEqualTo(927_358);
        assertBrick(reading, "Gemm", 80, 571_167);
        assertThat(Omissions.faults(reading.omissions())).isEmpty();
    }

    private static void assertBrick(TraceProfile reading, String name, long count, long totalNs) {
        BrickStats brick = reading.snapshot().brick(name).orElseThrow();
        assertThat(brick.count()).as("count of %s", name).isEqualTo(count);
        assertThat(brick.totalNs()).as("total of %s", name).isEqualTo(totalNs);
    }
}
