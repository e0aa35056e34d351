package org.brickprofiler.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.brickprofiler.BrickId;
import org.brickprofiler.fleet.SimulatedFleet.Fault;
import org.brickprofiler.fleet.SimulatedFleet.Injected;
import org.brickprofiler.fleet.SimulatedFleet.Shape;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.PageTypes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@OneJdk
final class FleetReportTest {

    @TempDir
    Path folder;

    /** Returns the report of a simulated fleet, with a damaged file and a missing rank as its problems. */
    static FleetReport simulated(Shape shape, List<Injected> faults, Path folder) throws Exception {
        return simulated(new SimulatedFleet(shape, faults), folder.resolve(shape.run()));
    }

    private static FleetReport simulated(SimulatedFleet fleet, Path folder) throws Exception {
        Map<String, String> files = fleet.write(folder, true);
        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, FleetEngine.Options.defaults())) {
            for (Map.Entry<String, String> file : files.entrySet()) {
                engine.table(file.getKey(), List.of(file.getValue()));
            }
            engine.view(FleetPack.REQUESTS, FleetPack.NO_REQUESTS);
            engine.view(FleetPack.PHASES, FleetPack.NO_PHASES);
            return FleetReport.of(
                    engine,
                    List.of(
                            new PackProblem(
                                    PackProblem.Kind.DAMAGED, "one", 3, 7L, "window-7.json", "it ends in a text", 1),
                            new PackProblem(
                                    PackProblem.Kind.MISSING_RANK, "one", 64, null, null, "world_size is 65", 0)));
        }
    }

    /** Two ranks with names that a page or Markdown could misinterpret, without percentiles and steps. */
    static FleetReport hostile() throws IOException {
        return twoRanks("</script><img src=x>|*`\\\\u202e'".replace("'", "''"), "NULL");
    }

    /** One rank with one request that took no time. */
    private static final String ONE_REQUEST = FleetPack.NO_REQUESTS
            .replace(" WHERE 1 = 0", "")
            .replace("CAST(0 AS BIGINT) AS finished", "CAST(1 AS BIGINT) AS finished");

    /** The distribution of a sample of 4,000 ns and of one of 5,960. */
    private static final String TWO_BUCKETS = "[{'bucket': %d, 'n': 1}, {'bucket': %d, 'n': 1}]"
            .formatted(LatencyBuckets.indexOf(4_000), LatencyBuckets.indexOf(5_960));

    /** One sample of each rank and brick in a decode step: 4,000 ns on rank 0, and 4,100 ns on rank 1. */
    private static final String DECODE_OF_EACH = "SELECT run_id, rank, win, 'decode' AS phase, category, brick,"
            + " CAST(1 AS BIGINT) AS count, CAST(4000 + 100 * rank AS BIGINT) AS total_ns,"
            + " CAST(4000 + 100 * rank AS BIGINT) AS min_ns, CAST(4000 + 100 * rank AS BIGINT) AS max_ns, elements, unresolved,"
            + " device_samples, unmarked, standard_error_ns, degrees_of_freedom, list_slice(dist, 1, 1) AS dist"
            + " FROM brick_window";

    /** The same, as estimates. */
    private static final String ESTIMATES_OF_EACH = DECODE_OF_EACH.replace(
            " unmarked, standard_error_ns, degrees_of_freedom,",
            " CAST(1 AS BIGINT) AS unmarked, 1e1 AS standard_error_ns, 5e0 AS degrees_of_freedom,");

    /** Two ranks, each with two samples of one brick, of 4,000 and 5,960 ns. */
    private static FleetReport twoRanks(String name, String distribution) throws IOException {
        return twoRanks(name, distribution, DECODE_OF_EACH);
    }

    private static FleetReport twoRanks(String name, String distribution, String phases) throws IOException {
        return twoRanks(
                name,
                distribution,
                phases,
                "SELECT '' AS run_id, 0 AS rank, 0 AS win, '' AS phase, CAST(0 AS BIGINT) AS steps,"
                        + " CAST(0 AS BIGINT) AS total_ns, CAST(0 AS BIGINT) AS wall_ns, CAST(0 AS BIGINT) AS tokens, CAST(0 AS BIGINT) AS max_ns WHERE 1 = 0");
    }

    private static FleetReport twoRanks(String name, String distribution, String phases, String steps)
            throws IOException {
        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, FleetEngine.Options.defaults())) {
            engine.view(
                    "rank_window",
                    ("SELECT '%1$s' AS run_id, rank, win, 2 AS world_size, '%1$s' AS host, '%1$s' AS device,"
                                    + " '%1$s' AS model, NULL AS precision, NULL AS commit_id, NULL AS phase, CAST(0 AS BIGINT) AS start_ms,"
                                    + " CAST(1000 AS BIGINT) AS wall_ns, CAST(NULL AS BIGINT) AS first_step,"
                                    + " CAST(NULL AS BIGINT) AS last_step, CAST(0 AS BIGINT) AS dropped, CAST(0 AS BIGINT) AS pending FROM (VALUES (0, 0), (1, 0)) AS v (rank, win)")
                            .formatted(name));
            engine.view(
                    "brick_window",
                    ("SELECT '%1$s' AS run_id, rank, win, 'Other' AS category, '%1$s' AS brick,"
                                    + " CAST(2 AS BIGINT) AS count, CAST(9960 AS BIGINT) AS total_ns, CAST(4000 AS BIGINT) AS min_ns,"
                                    + " CAST(5960 AS BIGINT) AS max_ns, CAST(0 AS BIGINT) AS elements, CAST(0 AS BIGINT) AS unresolved,"
                                    + " CAST(0 AS BIGINT) AS device_samples, CAST(0 AS BIGINT) AS unmarked,"
                                    + " CAST(NULL AS DOUBLE) AS standard_error_ns,"
                                    + " CAST(NULL AS DOUBLE) AS degrees_of_freedom, CAST(%2$s AS STRUCT(bucket INTEGER, n BIGINT)[]) AS dist"
                                    + " FROM (VALUES (0, 0), (1, 0)) AS v (rank, win)")
                            .formatted(name, distribution));
            engine.view("step_window", steps);
            engine.view(FleetPack.REQUESTS, ONE_REQUEST);
            engine.view(FleetPack.PHASES, phases);
            engine.view(
                    "device_window",
                    "SELECT '' AS run_id, 0 AS rank, 0 AS win, '' AS device, '' AS stream,"
                            + " CAST(0 AS BIGINT) AS bricks, CAST(0 AS BIGINT) AS busy_ns, CAST(0 AS BIGINT) AS idle_ns WHERE 1 = 0");
            return FleetReport.of(
                    engine,
                    List.of(new PackProblem(PackProblem.Kind.DAMAGED, "<b>", null, null, "<i>.json", "<script>", 1)));
        }
    }

    /** The declarations that type-check the script of the page agree with the data that Java writes. */
    @Test
    void itsPageHasTheDeclaredData() throws Exception {
        List<Injected> faults = List.of(
                new Injected(Fault.BRICK, 17, BrickId.LM_HEAD, 0.2, 0, 20),
                new Injected(Fault.SOME_WINDOWS, 5, BrickId.RMS_NORM, 0.2, 7, 14));
        PageTypes types = PageTypes.of("fleet");
        types.check(simulated(new Shape("typed", 64, 20, 11), faults, folder).toHtml());
        types.check(simulated(lacking(), folder.resolve("lacking")).toHtml());
        types.check(simulated(sampled(), folder.resolve("sampled")).toHtml());
        types.check(hostile().toHtml());
        types.check(twoRanks("b", TWO_BUCKETS).toHtml());
        types.check(twoRanks("b", TWO_BUCKETS, ESTIMATES_OF_EACH).toHtml());

        types.assertAgree();
    }

    /** A bucket has longer samples than the longest that was recorded, and windows may lack their distribution. */
    @Test
    void percentilesLieWithinTheExtremesAndAreThoseOfAllSamples() throws Exception {
        assertThat(LatencyBuckets.valueNs(LatencyBuckets.indexOf(5_960))).isGreaterThan(5_960);

        JsonNode known = new ObjectMapper().readTree(twoRanks("b", TWO_BUCKETS).toJson());
        JsonNode part = new ObjectMapper()
                .readTree(twoRanks("b", "CASE WHEN rank = 0 THEN " + TWO_BUCKETS + " END")
                        .toJson());
        assertThat(known.at("/bricks/0/p99_ns").asLong()).isEqualTo(5_960);
        assertThat(part.at("/bricks/0/p99_ns").isMissingNode()
                        || part.at("/bricks/0/p99_ns").isNull())
                .isTrue();
    }

    @Test
    void bricksOfAPhaseStandBesideThoseOfAllSamples() throws Exception {
        FleetReport report = twoRanks("b", "NULL");

        JsonNode bricks = new ObjectMapper().readTree(report.toJson());
        assertThat(bricks.at("/bricks")).hasSize(1);
        assertThat(bricks.at("/bricks/0/count").asLong()).isEqualTo(4);
        assertThat(bricks.at("/bricks/0").has("phase")).isFalse();
        assertThat(bricks.at("/bricks_by_phase")).hasSize(1);
        assertThat(bricks.at("/bricks_by_phase/0/phase").asText()).isEqualTo("decode");
        assertThat(bricks.at("/bricks_by_phase/0/total_ns").asLong()).isEqualTo(8_100);
        assertThat(bricks.at("/bricks_by_phase/0/slowest_rank").asLong()).isEqualTo(1);
        assertThat(bricks.at("/spread")).hasSize(1);
        assertThat(report.toText())
                .containsSubsequence(
                        "Bricks as recorded, of all ranks",
                        "4.980 us",
                        "Bricks by phase",
                        "decode",
                        "4.050 us",
                        "+2.5");
    }

    @Test
    void onePhaseOfAllSamplesIsNamedOnce() throws Exception {
        String text = twoRanks("b", "NULL", "SELECT *, 'mixed' AS phase FROM brick_window")
                .toText();

        assertThat(text)
                .contains("Bricks as recorded, of all ranks and windows: all samples belong to mixed steps\n")
                .doesNotContain("Bricks by phase");
    }

    /** Returns a fleet in which half of the 5,120 samples of a brick on rank 3 have no time. */
    static SimulatedFleet lacking() {
        assertThat(10 * SimulatedFleet.count(BrickId.LM_HEAD)).isEqualTo(5_120);
        return new SimulatedFleet(new Shape("lacking", 8, 10, 7), List.of())
                .withUnresolved(Set.of(3), Set.of(BrickId.LM_HEAD), 0.5);
    }

    /** Returns a fleet in which two of eight ranks mark one brick in 16. */
    private static SimulatedFleet sampled() {
        return new SimulatedFleet(new Shape("sampled", 8, 10, 7), List.of()).withSampling(Set.of(2, 3));
    }

    @Test
    void estimatesHaveTheErrorOfTheirSumAndAreMarkedInEveryForm() throws Exception {
        FleetReport report = simulated(sampled(), folder);

        JsonNode json = new ObjectMapper().readTree(report.toJson());
        JsonNode brick = json.at("/bricks/0");
        assertThat(brick.get("estimated").asBoolean()).isTrue();
        // 20 of 80 windows of about the same time have an error of 1 % each, with 30 degrees of freedom.
        assertThat(brick.get("standard_error_ns").asDouble()
                        / brick.get("total_ns").asDouble())
                .isCloseTo(0.01 * Math.sqrt(20) / 80, within(3e-5));
        assertThat(brick.get("degrees_of_freedom").asDouble()).isBetween(590.0, 600.1);
        assertThat(brick.get("half_interval_ns").asDouble())
                .isCloseTo(1.964 * brick.get("standard_error_ns").asDouble(), within(1e6));
        assertThat(brick.has("p50_ns")).isFalse();
        assertThat(json.at("/shares")).allSatisfy(rank -> assertThat(rank.has("estimated"))
                .isEqualTo(Set.of(2L, 3L).contains(rank.get("rank").asLong())));
        String remark = "Windows of deviceSampling have estimated times, which ~ precedes. They are not tested for"
                + " stragglers, and " + json.at("/bricks").size() + " bricks have no percentiles: rank 2 has 10 of 10,"
                + " rank 3 has 10 of 10.";
        assertThat(report.toText())
                .contains("\n! " + remark + "\n")
                .containsPattern("\ncompute ~[0-9.]+ %, communication ~[0-9.]+ %, idle ~[0-9.]+ %\n")
                .containsPattern("\nbrick .* total +\\+-% +% of brick time +avg +p50 +p99 +max\n")
                .containsPattern("\nAttentionScore .* ~[0-9.]+ ms +0\\.1[0-9]+ +~[0-9.]+ +~[0-9.]+ us +- +- ")
                .containsPattern("\n2 +node-0000 +Simulated A +~[0-9.]+ +~[0-9.]+ +~[0-9.]+\n")
                .containsPattern("\n4 +node-0000 +Simulated A +[0-9.]+ +[0-9.]+ +[0-9.]+\n");
        assertThat(report.toMarkdown()).contains("rank 2 has 10 of 10", "| &#126;");
        assertThat(json.at("/remarks/0").asText()).isEqualTo(remark);
    }

    @ParameterizedTest
    @ValueSource(ints = {60, 80, 100, 120})
    void tablesFitTheTerminalAndTheColumnsLeftOutAreNamed(int width) throws Exception {
        FleetReport report = simulated(lacking(), folder);

        String text = report.toText(width);

        assertThat(text.substring(0, text.indexOf("\nFindings\n")).lines().filter(line -> line.contains("  ")))
                .hasSizeGreaterThan(20)
                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(width));
        String remark = "\nTables of " + width + " characters leave out columns: ";
        assertThat(text.contains(remark)).isEqualTo(width < 120);
        if (width < 120) {
            assertThat(text).containsOnlyOnce(remark).contains(". --markdown and --html have all of them.\n");
        }
        assertThat(report.toText(1_000)).isEqualTo(report.toText());
    }

    @Test
    void aRankThatLacksMeasurementsIsNamedAndMarkedInEveryForm() throws Exception {
        FleetReport report = simulated(lacking(), folder);

        assertThat(report.toText())
                .containsPattern(
                        "\n! Measurements without a known time are missing from the counts, times and shares of"
                                + " the ranks that ! marks: rank 3 lacks 2,560 of [0-9,]+ \\([0-9.]+ %\\)\\.\n")
                .contains("are not tested for stragglers: rank 3 has 10 of 10.\n")
                .containsPattern(
                        "\nrank +samples +unresolved +dropped +pending +missing % .*\n.*\n3 +[0-9,]+ +2,560 +0 +0 ")
                .containsPattern("\n3! +node-0000 +Simulated A ");
        assertThat(report.toMarkdown()).contains("rank 3 lacks 2,560 of ", "| 3&#33; |");
        JsonNode json = new ObjectMapper().readTree(report.toJson());
        assertThat(json.at("/losses")).singleElement().satisfies(rank -> {
            assertThat(rank.get("rank").asLong()).isEqualTo(3);
            assertThat(rank.get("unresolved").asLong()).isEqualTo(2_560);
            assertThat(rank.get("untested").asLong()).isEqualTo(10);
        });
        assertThat(json.at("/bricks"))
                .filteredOn(brick -> brick.get("unresolved").asLong() > 0)
                .singleElement()
                .satisfies(brick -> {
                    assertThat(brick.get("brick").asText()).isEqualTo("LmHead");
                    assertThat(brick.get("unresolved").asLong()).isEqualTo(2_560);
                });
        assertThat(json.at("/remarks/0").asText()).contains("rank 3 lacks");
    }

    @Test
    void everyFormNamesProblemsAndStragglers() throws Exception {
        Injected slow = new Injected(Fault.BRICK, 17, BrickId.LM_HEAD, 0.2, 0, 20);
        FleetReport report = simulated(new Shape("one", 64, 20, 11), List.of(slow), folder);

        assertThat(report.toText())
                .startsWith("""
                        64 ranks in 1 run, 20 windows: 1 straggler
                        ! damaged: 1 (1 window left out), such as window-7.json: it ends in a text
                        ! missing rank: 1 (0 windows left out), such as world_size is 65
                        """)
                .contains("rank 17 (node-0002)  slow in LmHead by ", "\n(44 more)\n", "Drift: ")
                .contains("\nShown from: the least slowness of a rank that is found in four of five such fleets\n")
                .matches("\\p{ASCII}*");
        assertThat(report.toMarkdown())
                .startsWith(
                        "**64 ranks in 1 run, 20 windows: 1 straggler**\n\n1. The numbers are without 1 window with")
                .contains("\n\n> :warning: damaged: 1 ")
                .contains("| rank 17 &#40;node-0002&#41; | slow in LmHead by ", "<details>");
        JsonNode json = new ObjectMapper().readTree(report.toJson());
        assertThat(json.at("/findings"))
                .extracting(each -> each.path("kind").asText())
                .contains("disturbed");
        assertThat(json.at("/stragglers/0/rank").asInt()).isEqualTo(17);
        assertThat(json.at("/stragglers/0/bricks/0").asText()).isEqualTo("LmHead");
        assertThat(json.at("/shown")).hasSize(1);
        assertThat(json.at("/shown/0/throughout_pct").asDouble()).isBetween(2.0, 10.0);
        assertThat(json.at("/problem_kinds/0/kind").asText()).isEqualTo("damaged");
        assertThat(json.at("/problems/1/reason").asText()).isEqualTo("world_size is 65");
        assertThat(json.at("/rank_bricks/ranks")).hasSize(64);
        assertThat(json.at("/windows/0/median_ns")).hasSize(20);
    }

    @Test
    void findsTheStragglerFirstAndStatesItsCostInAStep() throws Exception {
        Injected slow = new Injected(Fault.THROTTLED, 17, BrickId.LM_HEAD, 0.3, 0, 20);
        FleetReport report = simulated(new Shape("slow", 64, 20, 11), List.of(slow), folder);

        JsonNode json = new ObjectMapper().readTree(report.toJson());
        JsonNode first = json.at("/findings/1");
        JsonNode steps = json.at("/phases/0");
        double stepNs = steps.path("total_ns").asDouble() / steps.path("steps").asDouble();
        assertThat(first.path("kind").asText()).isEqualTo("straggler");
        assertThat(first.path("share").asDouble())
                .isCloseTo(json.at("/stragglers/0/cost_ns").asDouble() / stepNs, within(1e-9));
        assertThat(first.path("sentence").asText())
                .matches(
                        "Rank 17 \\(node-0002\\): slow throughout by [0-9.]+ %; each step waits up to .* for it, .* % of a step\\.");
    }

    @Test
    void saysThatNoRankCouldBeTested() throws Exception {
        assertThat(twoRanks("b", TWO_BUCKETS).toText()).endsWith("""

                        Findings
                         1  No rank could be tested for being slower than its peers. Run b, b: 2 ranks cannot show an
                            outlier; the test needs 4.
                         2  The numbers are without 1 window with a problem; the list of problems names each.
                         3  b is the largest brick that computes, 100 % of brick time.
                        Next: record more ranks or windows.
                        """);
    }

    @Test
    void aFleetWithoutAStragglerNamesItsCollectives() throws Exception {
        FleetReport report = simulated(new Shape("quiet", 64, 20, 11), List.of(), folder);

        assertThat(new ObjectMapper().readTree(report.toJson()).at("/findings"))
                .extracting(each -> each.path("kind").asText())
                .containsExactly("disturbed", "communication");
    }

    /** A rank with two faults is one straggler with two lines. */
    @Test
    void aRankWithTwoFindingsIsOneStraggler() throws Exception {
        List<Injected> faults = List.of(
                new Injected(Fault.BRICK, 17, BrickId.LM_HEAD, 0.2, 0, 20),
                new Injected(Fault.SOME_WINDOWS, 17, BrickId.RMS_NORM, 0.3, 3, 10));

        FleetReport report = simulated(new Shape("one", 64, 20, 11), faults, folder);

        assertThat(report.toText()).startsWith("64 ranks in 1 run, 20 windows: 1 straggler\n");
        assertThat(new ObjectMapper().readTree(report.toJson()).at("/stragglers"))
                .hasSize(2);
    }

    /** The map contains the sums of the table, and the shares are those of the recorded time. */
    @Test
    void theNumbersOfTheMapAreThoseOfTheTables() throws Exception {
        FleetReport report = simulated(new Shape("one", 16, 6, 5), List.of(), folder);

        JsonNode json = new ObjectMapper().readTree(report.toJson());
        JsonNode first = json.at("/rank_bricks/bricks/0");
        double mean = StreamSupport.stream(json.at("/rank_bricks/ranks").spliterator(), false)
                .mapToLong(rank -> rank.at("/mean_ns/0").asLong())
                .average()
                .orElseThrow();
        JsonNode brick = json.at("/bricks/0");
        assertThat(brick.get("brick")).isEqualTo(first.get("brick"));
        assertThat(mean)
                .isCloseTo(brick.get("total_ns").asDouble() / brick.get("count").asDouble(), offset(1.0));
        long bricksNs = StreamSupport.stream(json.get("bricks").spliterator(), false)
                .mapToLong(each -> each.get("total_ns").asLong())
                .sum();
        assertThat(json.at("/totals/compute_ns").asLong()
                        + json.at("/totals/communication_ns").asLong())
                .isEqualTo(bricksNs);
    }

    /** The idle time of one of two ranks is no part of the time of both. */
    @Test
    void idleTimeOfSomeRanksIsNotThatOfAll() throws Exception {
        FleetReport report = twoRanks(
                "b",
                "NULL",
                DECODE_OF_EACH,
                "SELECT 'b' AS run_id, 0 AS rank, 0 AS win, 'decode' AS phase, CAST(1 AS BIGINT) AS steps,"
                        + " CAST(19920 AS BIGINT) AS total_ns, CAST(9960 AS BIGINT) AS wall_ns, CAST(1 AS BIGINT) AS tokens, CAST(19920 AS BIGINT) AS max_ns");

        assertThat(report.toText()).contains("\ncompute 100.0 %, communication 0.0 %, idle not known of 1 rank of 2\n");
        assertThat(new ObjectMapper()
                        .readTree(report.toJson())
                        .at("/totals/idle_ns")
                        .isMissingNode())
                .isTrue();
    }

    /** Two steps ran at the same time on two threads, and took 10 us each. */
    @Test
    void theTokensOfARankAreThoseOfAllItsThreads() throws Exception {
        FleetReport report = twoRanks(
                "b",
                "NULL",
                DECODE_OF_EACH,
                "SELECT 'b' AS run_id, 0 AS rank, 0 AS win, 'decode' AS phase, CAST(2 AS BIGINT) AS steps,"
                        + " CAST(20000 AS BIGINT) AS total_ns, CAST(10000 AS BIGINT) AS wall_ns, CAST(2 AS BIGINT) AS tokens,"
                        + " CAST(10000 AS BIGINT) AS max_ns");

        assertThat(report.toText()).containsPattern("\ndecode +2 +10.00 us +10.00 us +200,000\n");
    }

    @Test
    void namesStayText() throws Exception {
        FleetReport report = hostile();

        assertThat(report.toMarkdown()).doesNotContain("<img", "<i>", "<b>", "<script");
        assertThat(report.toText()).contains("no rank could be tested", "idle not known");
        assertThat(new ObjectMapper()
                        .readTree(report.toJson())
                        .at("/bricks/0/brick")
                        .asText())
                .startsWith("</script><img src=x>|*`");
    }
}
