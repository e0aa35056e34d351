package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.RequestSamples;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TextReportTest {

    @Spec("8.1")
    @Test
    void looksAsExpected() throws IOException {
        Golden.assertSame(TextReport.render(Profiles.full()), getClass(), "full.txt");
    }

    @Test
    void looksAsExpectedWithNothingOptional() throws IOException {
        Golden.assertSame(TextReport.render(Profiles.plain()), getClass(), "plain.txt");
    }

    @Test
    void looksAsExpectedWithDevices() throws IOException {
        Golden.assertSame(TextReport.render(Profiles.device()), getClass(), "device.txt");
    }

    @Test
    void looksAsExpectedWithSteps() throws IOException {
        Golden.assertSame(TextReport.render(Profiles.steps()), getClass(), "steps.txt");
    }

    @Spec("25.10")
    @Test
    void reportsWhyTheSlowestRequestsWaitedLongerThanTheMedian() throws IOException {
        Golden.assertSame(TextReport.render(Profiles.requests()), getClass(), "requests.txt");
    }

    @Test
    void anEmptyProfileIsSaidToBeEmpty() throws IOException {
        Golden.assertSame(TextReport.render(Profiles.empty()), getClass(), "empty.txt");
    }

    /** Two virtual machines of one merged profile, and one whose uptime is unknown. */
    @Test
    void theTimesOfCollectorsAndCompilersAreSummed() {
        RunFacts.VirtualMachine machine =
                new RunFacts.VirtualMachine(1, Instant.EPOCH, 4_000_000_000L, 50_000_000, 2_500_000_000L);
        assertThat(TextReport.render(in(machine, new RunFacts.VirtualMachine(2, Instant.EPOCH, 1_000_000_000, 0, 0))))
                .contains("""
                          meanwhile   garbage collection 50.00 ms, compilation 2.500 s by all compiler threads, of 5.000 s since the start
                        """);
        assertThat(TextReport.render(in(new RunFacts.VirtualMachine(3, Instant.EPOCH, 0, 0, 0))))
                .doesNotContain("meanwhile");
    }

    private static ProfileSnapshot in(RunFacts.VirtualMachine... machines) {
        RunFacts none = RunFacts.NONE;
        return Profiles.plain().toBuilder()
                .facts(new RunFacts(
                        none.tokensPerSec(),
                        none.unprofiledTokensPerSec(),
                        none.machine(),
                        none.disturbances(),
                        List.of(machines),
                        none.calibrations(),
                        none.nesting()))
                .build();
    }

    // ---- terminals ----

    @Spec("8.1")
    @ParameterizedTest
    @ValueSource(ints = {80, 99, 100, 120, 160, 200})
    void noTableIsWiderThanTheTerminal(int columns) {
        for (ProfileSnapshot profile : List.of(
                Profiles.full(), Profiles.device(), Profiles.steps(), Profiles.requests(), Profiles.withWork())) {
            List<String> lines =
                    TextReport.render(profile, columns, false).lines().toList();
            for (int i = 1; i < lines.size(); i++) {
                if (lines.get(i).matches("--[- ]+")) {
                    assertThat(lines.subList(i - 1, i + 2)).allMatch(line -> line.length() <= columns);
                }
            }
        }
    }

    @Spec("8.1")
    @Test
    void aNarrowTableHasTotalsSharesAndPercentilesOfBricks() {
        assertThat(TextReport.render(Profiles.full(), 80, false))
                .containsPattern("\nbrick +total +p50 +p99 +% of brick time\n")
                .contains("% of wall time");
        assertThat(TextReport.render(Profiles.plain(), 80, false))
                .containsPattern("\nbrick +total +avg +max +% of brick time\n");
        assertThat(TextReport.render(Profiles.full(), 100, false))
                .containsPattern("\nbrick +count +total +p50 +p99 +% of brick time\n");
    }

    /** A column that leaves room for a short name leaves it for the longest name, too. */
    @Test
    void namesAreShortenedBeforeImportantColumnsAreLeftOut() {
        BrickStats brick = Profiles.brick("m".repeat(30) + ".end", BrickCategory.OTHER, 3, 30, 10, 10, 5);

        assertThat(TextReport.render(Profiles.of(brick), 70, false)).containsPattern("\nm+\\.\\.\\.m*\\.end +30 ns ");
    }

    @Spec("8.1")
    @Test
    void theAccountIsForVerboseReportsAndDoubtsAreForAll() {
        String brief = TextReport.render(Profiles.full(), 200, false);

        assertThat(brief)
                .contains("machine ", "wall time", "brick time", "Deferred measurements lost", "add up to more than")
                .doesNotContain("Profiler's own cost", "  java  ", "  threads ", "  taken ", "L2 cache", "Zero copy");
        assertThat(TextReport.render(Profiles.deferred(), 80, false)).contains("Overlapping: 3", "Pending: 1,200");
        assertThat(TextReport.render(Profiles.device(), 80, false)).contains("did not report", "Launch-bound");
        assertThat(TextReport.render(Profiles.full(), Integer.MAX_VALUE, true)
                        + Findings.text(Findings.of(Profiles.full())))
                .isEqualTo(TextReport.render(Profiles.full()));
    }

    @Test
    void isTheSameInEveryLocale() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
            String arabic = TextReport.render(Profiles.full());
            Locale.setDefault(Locale.ROOT);
            assertThat(arabic).isEqualTo(TextReport.render(Profiles.full()));
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void isPrintableAsciiWithoutTrailingBlanks() {
        assertThat(TextReport.render(Profiles.full()).split("\n", -1))
                .allSatisfy(line -> assertThat(line).matches("|[ -~]*[!-~]"));
    }

    @Spec("8.1")
    @Test
    void columnsOfOptionalDataAppearOnlyWithSuchData() {
        assertThat(TextReport.render(Profiles.full()))
                .contains("p50", "p99", "GB/s", "GFLOP/s ", "in/out bytes", "cycles/element", "bottleneck", "Tiles");
        assertThat(TextReport.render(Profiles.plain()))
                .doesNotContain(
                        "p50", "p99", "GB/s", "GFLOP/s ", "in/out bytes", "cycles/element", "bottleneck", "Tiles");
    }

    @Spec("8.1")
    @Test
    void knownWorkGivesRates() {
        assertThat(TextReport.render(Profiles.withWork()))
                .containsPattern("elements/s +GFLOP/s +work GB/s *\n")
                .containsPattern("\nQkvProjection .* 74\\.29 +37\\.14\n")
                .containsPattern("\nAttentionSoftmax .* 966\\.7 +-\n")
                .containsPattern("\nSampling .* - +-\n");
    }

    @Spec("12.50")
    @Test
    void percentilesOfEstimatesHaveTheirIntervals() {
        String report = TextReport.render(Profiles.of(
                marked("many", 650, 9_350, 140_000),
                marked("fewer", 170, 2_430, 38_000),
                marked("few", 10, 150, 2_250),
                marked("unknown", 650, 9_350, 0),
                marked("all", 100, 0, 0)));

        assertThat(report)
                .containsPattern(" p50 +p50 95 % +p99 +p99 95 % ")
                .containsPattern(
                        "\nmany .* ~8.0\\d\\d us +8.0\\d\\d us to 8.0\\d\\d us +~8.0\\d\\d us +8.0\\d\\d us to 8")
                .containsPattern("\nfewer .* us to 8.0\\d\\d us +~8.0\\d\\d us +>= 8.0\\d\\d us ")
                .containsPattern("\nfew .* us to 8.0\\d\\d us +~8.0\\d\\d us +\\? ")
                .containsPattern("\nunknown .* ~8.0\\d\\d us +\\? +~8.0\\d\\d us +\\? ")
                .containsPattern("\nall .* 8.0\\d\\d us +exact +8.0\\d\\d us +exact ");
        assertThat(TextReport.render(Profiles.full())).contains(" p50 ").doesNotContain("95 %");
    }

    /** The page has the same words. */
    @Spec("12.50")
    @Test
    void anIntervalOfHardlyEnoughMarksSaysSoAndOneOfTooFewIsUnknown() {
        ProfileSnapshot profile = Profiles.of(
                withError("unknown", 0, 0),
                withError("hardly", 100, 2.9),
                withError("enough", 100, 3),
                Profiles.brick("exact", BrickCategory.NORM, 1, 8_000, 8_000, 8_000, 0));

        assertThat(TextReport.render(profile))
                .containsPattern("\nunknown .* ~80.00 us +\\? +~8.000 us ")
                .containsPattern("\nhardly .* ~80.00 us +0.[0-9]+ few +~8.000 us ")
                .containsPattern("\nenough .* ~80.00 us +0.[0-9]+ +~8.000 us ")
                .containsPattern("\nexact .* 8.000 us +exact +8.000 us ")
                .containsPattern("\nOther .* ~240.0 us +\\? ");
    }

    private static BrickStats withError(String name, double errorNs, double degrees) {
        return Profiles.brick(name, BrickCategory.OTHER, 10, 80_000, 8_000, 8_100, 0).toBuilder()
                .device(new DeviceTime(4, 0, 0, 0, 0, 0, 0, 6, errorNs, degrees, 0, 0, DeviceTime.MarkTime.NONE))
                .build();
    }

    /** Returns a brick whose samples all take some 8 us. */
    private static BrickStats marked(String name, long measured, long unmarked, double products) {
        long samples = measured + unmarked;
        return Profiles.brick(name, BrickCategory.OTHER, samples, 8_000 * samples, 8_000, 8_100, 0).toBuilder()
                .latency(Optional.of(LatencyDistribution.ofCounts(LatencyBuckets.indexOf(8_000), new long[] {samples})))
                .device(new DeviceTime(
                        measured, 0, 0, 0, 0, 0, 0, unmarked, 0, 0, 0, products, DeviceTime.MarkTime.NONE))
                .build();
    }

    @Spec("12.54")
    @Test
    void requestsAreAsRecordedBesideNetTimes() {
        BrickStats brick = Profiles.brick("a", BrickCategory.OTHER, 2, 20_000, 9_000, 11_000, 0);
        BrickStats net = brick.toBuilder()
                .device(new DeviceTime(2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, new DeviceTime.MarkTime(2, 5_000, 10)))
                .build();

        assertThat(withRequests(brick)).contains("\nRequests\n\n").doesNotContain("as recorded");
        assertThat(withRequests(net)).contains("\nRequests, times as recorded\n\n");
    }

    private static String withRequests(BrickStats brick) {
        return TextReport.render(Profiles.of(brick).toBuilder()
                .requests(RequestSamples.served(20).stats())
                .build());
    }

    @Spec("8.1")
    @Test
    void everyShareNamesItsBase() {
        assertThat(TextReport.render(Profiles.plain())).contains("% of brick time", "% of wall time");
    }

    @Test
    void explainsSharesOfWallTimeAboveTheWhole() {
        assertThat(TextReport.render(Profiles.full())).contains("add up to more than 100 %");
        assertThat(TextReport.render(Profiles.plain())).doesNotContain("add up to more than 100 %");
    }

    @Test
    void bricksWithoutDurationDoNotDivideByZero() {
        String report = TextReport.render(Profiles.of(Profiles.brick("zero", BrickCategory.OTHER, 3, 0, 0, 0, 5)));

        assertThat(report).doesNotContain("NaN", "Infinity").contains("Profiler's own cost: not known");
    }

    @Spec("8.1")
    @Test
    void theCostOfTheProfilerIsAShareOfBrickTime() {
        String report =
                TextReport.render(Profiles.of(Profiles.brick("a", BrickCategory.OTHER, 2, 20_000, 1, 19_999, 2)));

        assertThat(report)
                .contains("Profiler's own cost: about 100 ns, 0.500 % of brick time (50 ns a sample).\n"
                        + "This counts the clock reads of samples and their sums, in a tight loop. It does not count ");
    }

    /** A quarter is not more than a quarter, and one of four samples is expected to take about that. */
    @Spec("8.8")
    @Test
    void namesBricksOfWhichOneSampleIsMoreThanAQuarter() {
        String report = TextReport.render(Profiles.of(
                Profiles.brick("first loads", BrickCategory.OTHER, 65, 4_520_000_000L, 15_000_000, 3_300_000_000L, 1),
                Profiles.brick("quarter", BrickCategory.OTHER, 8, 400, 10, 100, 1),
                Profiles.brick("even", BrickCategory.OTHER, 100, 1_000, 10, 10, 1),
                Profiles.brick("few", BrickCategory.OTHER, 4, 500, 100, 200, 1)));

        assertThat(report)
                .contains("\n"
                        + "More than a quarter of a brick's time was one sample: first loads 3.300 s of 4.520 s,"
                        + " in 65 samples.\n"
                        + "First samples load classes; leave them out by a warm-up, or compare medians.\n");
        assertThat(TextReport.render(Profiles.of(Profiles.brick("even", BrickCategory.OTHER, 100, 1_000, 10, 10, 1))))
                .doesNotContain("one sample");
    }

    @Spec("8.8")
    @Test
    void remarksOnTheRunComeFirst() {
        ProfileSnapshot profile = Profiles.plain();
        RunFacts facts = profile.facts().withMachine(Map.of(), List.of("a remark", RunFacts.NO_STEP + ": none"));

        assertThat(TextReport.render(profile.withFacts(facts)))
                .startsWith("Brick profile\n! no step was reached: none.\n! a remark.\n  ");
        assertThat(facts.disturbances()).containsExactly("no step was reached: none", "a remark");
    }

    @Test
    void aFileWithoutTimesSaysSo() {
        ProfileSnapshot old = ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH, 0)
                .bricks(List.of(Profiles.brick("a", BrickCategory.OTHER, 1, 10, 10, 10, 1)))
                .build();

        assertThat(TextReport.render(old))
                .containsPattern("taken +not known\n")
                .containsPattern("threads +not known\n")
                .containsPattern("wall time +not known\n")
                .doesNotContain("1970", "% of wall time");
    }

    @Test
    void tilesAloneAreReported() {
        TileStats tile = TileStats.builder(TileLevel.MIDI)
                .samples(1, 10, 10, 10)
                .work(4, 32)
                .build();
        ProfileSnapshot tiles = ProfileSnapshot.builder(Profiles.STARTED, Profiles.ENDED, 1)
                .tiles(List.of(tile))
                .build();

        assertThat(TextReport.render(tiles))
                .contains("No bricks were recorded")
                .containsPattern("midi +1 .*10 ns +3.200 +2.000  -\n");
    }

    // ---- deferred measurements ----

    @Test
    void looksAsExpectedWithDeferredMeasurements() throws IOException {
        Golden.assertSame(TextReport.render(Profiles.deferred()), getClass(), "deferred.txt");
    }

    @Spec("3.3")
    @Test
    void overlapsAreSaidAboveTheTablesWithTheirRemedy() {
        String report = TextReport.render(Profiles.deferred());

        assertThat(report.indexOf("Attribution.SEQUENTIAL"))
                .isPositive()
                .isLessThan(report.indexOf("Bricks, largest first"));
        assertThat(report).contains("3 deferred measurements").doesNotContain("several threads at once");
        assertThat(TextReport.render(Profiles.full()))
                .doesNotContain("SEQUENTIAL")
                .contains("several threads at once");
    }

    @Spec("8.1")
    @Test
    void pendingMeasurementsAreReportedAboveTheTables() {
        String report = TextReport.render(Profiles.deferred());

        assertThat(report.indexOf("1,200 measurements had begun"))
                .isPositive()
                .isLessThan(report.indexOf("Bricks, largest first"));
        assertThat(TextReport.render(Profiles.full())).doesNotContain("Pending");
    }

    @Test
    void aForgottenFinalizeIsNotSaidToBeAForgottenSwitch() {
        BrickProfiler profiler = BrickProfiler.enabled();
        profiler.recordDeferred(BrickId.RMS_NORM, profiler.elapsedNs(), 1);

        assertThat(TextReport.render(profiler.snapshot()))
                .contains("1 measurement had begun and had no known end when the snapshot was taken")
                .contains("everything that was measured is pending")
                .doesNotContain("none was stopped while the profiler was on");
    }

    // ---- sums that are not printed ----
    /** A sum over windows is no number of measurements. */
    @Test
    void aMeasurementThatIsPendingInTwoWindowsCountsTwiceAndTheReportSaysThat() {
        BrickProfiler profiler = BrickProfiler.enabled();
        profiler.recordDeferred(BrickId.RMS_NORM, profiler.elapsedNs(), 1);
        ProfileSnapshot first = profiler.snapshotAndReset();
        ProfileSnapshot both = first.merge(profiler.snapshotAndReset());

        assertThat(both.pending()).isEqualTo(2);
        assertThat(TextReport.render(both).replace('\n', ' '))
                .contains("In merged snapshots, a measurement counts once for each snapshot in which it was pending.");
    }

    @Test
    void elementsOfDifferentUnitsAreNotAddedUp() {
        assertThat(TextReport.render(Profiles.plain())).containsPattern("all bricks +2,146 .*100\\.0\n");
    }

    @Test
    void theLargestOfOtherAreNamed() {
        assertThat(TextReport.render(Profiles.device()))
                .contains("Largest of Other, of brick time: LmHead 8.9 %, Sampling 0.3 %.\n");
        assertThat(TextReport.render(Profiles.of(Profiles.brick("RmsNorm", BrickCategory.NORM, 1, 9, 9, 9, 1))))
                .doesNotContain("Largest of");
    }

    // ---- tiles ----

    @Test
    void tilesWithTheirSwitchOffAreSaidToBeOff() {
        BrickProfiler profiler = BrickProfiler.enabled();
        profiler.tiles().stop(profiler.tiles().start(TileLevel.MACRO, 0, 0), 1, 1);
        assertThat(TextReport.render(profiler.snapshot())).contains("No tiles were recorded: their switch is off");
        profiler.tiles().enable();
        assertThat(TextReport.render(profiler.snapshot())).doesNotContain("switch is off");
        profiler.tiles().record(TileLevel.MACRO, 0, 0, 10, 1, 1);
        profiler.tiles().disable();
        assertThat(TextReport.render(profiler.snapshot())).contains("Tiles, whose switch is off by now");
    }

    @Test
    void theSizeOfAnElementIsTheCallersToSay() {
        assertThat(TextReport.render(Profiles.full()))
                .contains("FLOP/B at 4 B an element")
                .containsPattern("macro .* 0\\.500  row");
        assertThat(TextReport.render(Profiles.full(), 0.5))
                .contains("FLOP/B at 0.5 B an element")
                .containsPattern("macro .* 4\\.000  row");
        for (double none : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> TextReport.render(Profiles.full(), none))
                    .withMessageContaining("bytesPerElement " + none);
        }
    }

    // ---- categories ----

    @Test
    void categoriesCanBeHadAlone() {
        String whole = TextReport.render(Profiles.device());
        String alone = TextReport.renderCategories(Profiles.device());

        assertThat(alone).startsWith("Categories, largest first\n").doesNotContain("Bricks,", "Device streams");
        assertThat(whole).contains(alone);
        assertThat(TextReport.renderCategories(Profiles.empty())).isEmpty();
    }

    @Test
    void manyMachinesAreCounted() {
        List<Environment> environments = IntStream.range(0, 100)
                .mapToObj(i -> new Environment("17", "vm", "os", "arch", "cpu" + i, 1, 1))
                .toList();
        ProfileSnapshot merged = ProfileSnapshot.builder(Profiles.STARTED, Profiles.ENDED, 1)
                .threads(1, false)
                .environments(environments)
                .build();

        assertThat(TextReport.render(merged)).contains("and 96 more").doesNotContain("cpu9,");
    }

    @Test
    void namesCannotBreakTheTable() {
        BrickStats evil = Profiles.brick("a\nb\r\u001b[31m\u2028\ud83d", BrickCategory.OTHER, 1, 10, 10, 10, 1);
        BrickStats twin = Profiles.brick("a", BrickCategory.OTHER, 1, 10, 10, 10, 1);

        String broken = TextReport.render(Profiles.of(evil));

        assertThat(broken.lines())
                .hasSameSizeAs(TextReport.render(Profiles.of(twin)).lines().toList());
        assertThat(broken).contains("a\\nb\\r\\u001b[31m\\u2028\\ud83d");
    }

    @Test
    void thousandsOfBricksAreListed() {
        BrickStats[] bricks = IntStream.range(0, 4_000)
                .mapToObj(i -> Profiles.brick("x" + i, BrickCategory.OTHER, 1, 10, 10, 10, 1))
                .toArray(BrickStats[]::new);

        assertThat(TextReport.render(Profiles.of(bricks)).lines().filter(line -> line.startsWith("x")))
                .hasSize(4_000);
    }
}
