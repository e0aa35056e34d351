package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.report.Finding.Kind;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestIdentity;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.request.Wait;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.Spec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Profiles with a planted answer, and the findings that state it. */
class FindingsTest {

    private static final long SECOND = 1_000_000_000L;
    private static final long MS = 1_000_000L;

    /** A profile of one thread in which a brick takes 40 % and another one 35 % of the time in bricks. */
    private static ProfileSnapshot.Builder profile(long wallNs, long brickNs) {
        return ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH.plusNanos(wallNs), wallNs)
                .threads(1, false)
                .bricks(List.of(
                        brick("LmHead", BrickCategory.OTHER, brickNs * 40 / 100),
                        brick("UpProjection", BrickCategory.FFN, brickNs * 35 / 100),
                        brick("RmsNorm", BrickCategory.NORM, brickNs * 25 / 100)));
    }

    private static BrickStats brick(String name, BrickCategory category, long totalNs) {
        return BrickStats.builder(name, category)
                .samples(100, totalNs, totalNs / 100, totalNs / 100)
                .build();
    }

    /** Decode steps of 10 ms, some of which take longer, and a share of whose time bricks cover. */
    private static Steps steps(long number, long slow, long slowNs, double covered) {
        return steps(number, slow, slowNs, covered, StepStats.CpuTime.NONE);
    }

    private static Steps steps(long number, long slow, long slowNs, double covered, StepStats.CpuTime cpu) {
        long[] counts = new long[LatencyBuckets.COUNT];
        counts[LatencyBuckets.indexOf(10 * MS)] += number - slow;
        counts[LatencyBuckets.indexOf(slowNs)] += slow;
        long totalNs = slow * slowNs + (number - slow) * 10 * MS;
        StepStats decode = StepStats.builder(StepInfo.Phase.DECODE)
                .steps(number, totalNs)
                .durations(totalNs, 10 * MS, Math.max(slowNs, 10 * MS), LatencyDistribution.ofCounts(counts))
                .sequences(number)
                .tokens(0, number, 0, 0)
                .cpu(cpu)
                .categories(number, Map.of(BrickCategory.FFN, (long) (covered * totalNs)))
                .build();
        return new Steps(List.of(decode), LatencyDistribution.EMPTY, 0, LatencyDistribution.EMPTY, 0, List.of());
    }

    private static RequestStats requests(Map<Cause, Long> causes, long arrived, long finished) {
        long[] counts = new long[LatencyBuckets.COUNT];
        counts[LatencyBuckets.indexOf(10_800 * MS)] = finished;
        LatencyDistribution queue = LatencyDistribution.ofCounts(counts);
        return new RequestStats(
                new RequestStats.Counts(arrived, arrived - finished, 0, Map.of(Outcome.COMPLETED, finished), 0, 0),
                new RequestStats.Tokens(1, 0, 1),
                new RequestStats.Latencies(
                        queue,
                        LatencyDistribution.EMPTY,
                        LatencyDistribution.EMPTY,
                        LatencyDistribution.EMPTY,
                        LatencyDistribution.EMPTY),
                causes,
                new TreeMap<>(),
                List.of(),
                List.of());
    }

    private static List<Kind> kinds(ProfileSnapshot snapshot, FindingSource... sources) {
        return Findings.of(snapshot, sources).stream().map(Finding::kind).toList();
    }

    private static String sentence(ProfileSnapshot snapshot, Kind kind) {
        return Findings.of(snapshot).stream()
                .filter(finding -> finding.kind() == kind)
                .findFirst()
                .map(Finding::sentence)
                .orElse("");
    }

    private static String next(ProfileSnapshot snapshot, Kind kind) {
        return Findings.of(snapshot).stream()
                .filter(finding -> finding.kind() == kind)
                .findFirst()
                .map(Finding::next)
                .orElseThrow();
    }

    @Spec("8.10")
    @Test
    void requestsThatQueueComeBeforeTheLargestBrick() {
        Map<Cause, Long> causes = Map.of(
                Cause.QUEUED_BEHIND_PROMPTS, 60 * SECOND,
                Cause.QUEUED_BEHIND_DECODING, 31 * SECOND,
                Cause.DECODE, 3 * SECOND,
                Cause.STALLED_BEHIND_PROMPTS, 6 * SECOND);
        ProfileSnapshot served = profile(42 * SECOND, 40 * SECOND)
                .requests(requests(causes, 504, 197))
                .build();

        assertThat(kinds(served)).containsExactly(Kind.REQUESTS_QUEUE, Kind.REQUESTS_STALL, Kind.LARGEST_BRICK);
        assertThat(sentence(served, Kind.REQUESTS_QUEUE))
                .isEqualTo(
                        "Requests wait for a place: 91 % of their time is spent in the queue (p50 10.8 s); the largest part,"
                                + " 60 % of their time, behind others' prompts.");
        assertThat(sentence(served, Kind.REQUESTS_STALL))
                .as("the only part needs no share of its own")
                .startsWith("Requests wait between their tokens for 6.0 % of their time, behind others' prompts");
        assertThat(Findings.of(served).get(0).next()).isEqualTo("process prompts in chunks, or have more slots");
        assertThat(sentence(served, Kind.LARGEST_BRICK))
                .isEqualTo("LmHead is the largest brick, 40 % of brick time and 38 % of wall time.");
    }

    /** The largest of the stated waits is first; what nobody saw, and a wait below five percent, is no finding. */
    @Spec("8.10")
    @Test
    void waitsThatTheVirtualMachineStatesAreNamedWithTheLock() {
        Map<Wait, Long> waits = Map.of(
                Wait.GC, 12 * SECOND,
                Wait.BLOCKED, 34 * SECOND,
                Wait.NO_PROCESSOR, 4 * SECOND,
                Wait.UNKNOWN, 30 * SECOND);

        assertThat(Findings.of(served(waits, "jfr")))
                .filteredOn(finding -> finding.kind() == Kind.REQUESTS_WAIT)
                .extracting(Finding::place, Finding::share, Finding::sentence)
                .containsExactly(
                        tuple(
                                "blocked by a lock",
                                0.34,
                                "For 34 % of their time, requests were queued or stalled while a lock blocked the thread"
                                        + " that they waited for; of the slowest ones, one waited 3 s, longest for"
                                        + " monitor of app.Log, held by flusher."),
                        tuple(
                                "garbage collection",
                                0.12,
                                "For 12 % of their time, requests were queued or stalled while a garbage collection had"
                                        + " stopped all threads."));
    }

    @Spec("8.10")
    @Test
    void aMissingProcessorMayBeAQuotaThatNoSourceRead() {
        Map<Wait, Long> waits = Map.of(Wait.NO_PROCESSOR, 20 * SECOND);
        String sentence =
                "For 20 % of their time, requests were queued or stalled while the thread that they waited for had"
                        + " no processor";
        assertThat(sentence(served(waits, "jfr"), Kind.REQUESTS_WAIT)).isEqualTo(sentence + ".");
        assertThat(sentence(served(waits, "jfr (throttled by a CPU quota: unknown)"), Kind.REQUESTS_WAIT))
                .isEqualTo(sentence + ", or was throttled by a CPU quota, which is unknown.");
    }

    private static ProfileSnapshot served(Map<Wait, Long> waits, String source) {
        RequestStats queued = requests(Map.of(Cause.QUEUED_IDLE, 80 * SECOND, Cause.DECODE, 20 * SECOND), 10, 10);
        RequestRecord slow = record(3 * SECOND, "monitor of app.Log, held by flusher");
        RequestStats stats = new RequestStats(
                queued.counts(),
                queued.tokens(),
                queued.latencies(),
                queued.causeNs(),
                new TreeMap<>(),
                List.of(record(2 * SECOND, "monitor of app.Cache"), record(9 * SECOND, null)),
                List.of(slow),
                List.of(),
                Map.of(),
                List.of(),
                new TreeMap<>(),
                new RequestStats.Waits(waits, List.of(source)));
        return profile(42 * SECOND, 40 * SECOND).requests(stats).build();
    }

    private static RequestRecord record(long blockedNs, @Nullable String lock) {
        return new RequestRecord(
                0,
                10 * SECOND,
                10 * SECOND,
                1,
                0,
                1,
                Outcome.COMPLETED,
                Map.of(Cause.QUEUED_IDLE, 10 * SECOND),
                0,
                0,
                RequestIdentity.NONE,
                Map.of(Wait.BLOCKED, blockedNs),
                Optional.ofNullable(lock));
    }

    /** None of three parts is half of the wait. */
    @Spec("8.10")
    @Test
    void theLargestPartOfAStallIsNamed() {
        Map<Cause, Long> causes = Map.of(
                Cause.STALLED_BEHIND_PROMPTS, 18 * SECOND,
                Cause.STALLED_IDLE, 16 * SECOND,
                Cause.STALLED_BEHIND_DECODING, 6 * SECOND,
                Cause.DECODE, 60 * SECOND);
        ProfileSnapshot served = profile(42 * SECOND, 40 * SECOND)
                .requests(requests(causes, 10, 10))
                .build();

        assertThat(sentence(served, Kind.REQUESTS_STALL))
                .startsWith("Requests wait between their tokens for 40 % of their time; the largest part, 18 % of their"
                        + " time, behind others' prompts");
    }

    @Spec("8.10")
    @Test
    void requestsThatWaitWhileNothingRunsAreNotBlamedOnOthers() {
        Map<Cause, Long> causes = Map.of(
                Cause.QUEUED_IDLE,
                50 * SECOND,
                Cause.OWN_WORK,
                30 * SECOND,
                Cause.DELIVERY,
                4 * SECOND,
                Cause.DECODE,
                16 * SECOND);
        ProfileSnapshot served = profile(42 * SECOND, 40 * SECOND)
                .requests(requests(causes, 10, 10))
                .build();

        assertThat(kinds(served)).containsExactly(Kind.REQUESTS_QUEUE, Kind.OWN_WORK, Kind.LARGEST_BRICK);
        assertThat(sentence(served, Kind.REQUESTS_QUEUE))
                .contains("50 % of their time is spent in the queue", ", while no step ran.")
                .doesNotContain("others'");
        assertThat(sentence(served, Kind.OWN_WORK)).endsWith(" 30 % of the requests' time.");
    }

    @Spec("8.10")
    @Test
    void timeOutsideOfStepsAndOfBricksIsStatedWithItsWhole() {
        ProfileSnapshot gaps =
                profile(20 * SECOND, 3 * SECOND).steps(steps(1_000, 0, 0, 0.3)).build();

        assertThat(kinds(gaps)).containsExactly(Kind.IDLE, Kind.BETWEEN_BRICKS, Kind.LARGEST_BRICK);
        assertThat(sentence(gaps, Kind.IDLE)).startsWith("50 % of wall time (10 s of 20 s) lies outside of steps");
        assertThat(sentence(gaps, Kind.BETWEEN_BRICKS))
                .isEqualTo("Bricks cover 30 % of the time in steps; 7 s are not marked.");
        assertThat(kinds(profile(20 * SECOND, 3 * SECOND)
                        .threads(2, false)
                        .steps(steps(1_000, 0, 0, 0.3))
                        .build()))
                .as("bricks of two threads overlap")
                .doesNotContain(Kind.BETWEEN_BRICKS);
        assertThat(kinds(profile(20 * SECOND, 3 * SECOND)
                        .deferred(0, 3, 0)
                        .steps(steps(1_000, 0, 0, 0.3))
                        .build()))
                .as("samples without a time")
                .doesNotContain(Kind.BETWEEN_BRICKS);
        assertThat(sentence(profile(20 * SECOND, 3 * SECOND).build(), Kind.IDLE))
                .isEqualTo("At least 85 % of wall time (17 s of 20 s) lies outside of all bricks.");
    }

    @Spec("8.10")
    @Test
    void theNextStepIsThatOfWhatThereIsToWin() {
        Finding disturbed = new Finding(Kind.DISTURBED, "", 0, "The machine was disturbed.", "measure again");
        Finding queue = new Finding(Kind.REQUESTS_QUEUE, "", 0.9, "Requests wait.", "have more slots");
        Finding largest = new Finding(Kind.LARGEST_BRICK, "LmHead", 0.4, "LmHead is the largest.", "look at it");

        assertThat(Findings.text(List.of(disturbed, queue, largest))).endsWith("\nNext: have more slots.\n");
        assertThat(Findings.text(List.of(disturbed, largest))).endsWith("\nNext: measure again.\n");
        assertThat(Findings.text(List.of(largest))).endsWith("\nNext: look at it.\n");
    }

    @Spec("8.10")
    @Test
    void aStreamThatRunsNothingWithinItsPassesIsAFindingBesideTheTimeOfMarks() {
        StreamTotals waiting = StreamTotals.builder("decode", "GPU 0", 0)
                .bricks(100, 4 * SECOND, 4 * SECOND)
                .gaps(1_000, MS)
                .build();
        StreamTotals marks = StreamTotals.builder("copy", "GPU 0", 0)
                .bricks(100, 4 * SECOND, 4 * SECOND)
                .gaps(4_000, MS)
                .build();

        ProfileSnapshot device = profile(10 * SECOND, 10 * SECOND)
                .streams(List.of(waiting, marks))
                .build();
        assertThat(kinds(device)).containsExactly(Kind.DEVICE_IDLE, Kind.LARGEST_BRICK);
        assertThat(sentence(device, Kind.DEVICE_IDLE))
                .isEqualTo("Stream decode of GPU 0 ran no brick for 38 % of the time of its passes (3 s of 8 s), beside"
                        + " what marks may take.");
    }

    @Spec("8.10")
    @Test
    void aProfileThatCompilersWorkedInIsDoubtful() {
        assertThat(sentence(compiled(10, 9, 6), Kind.DISTURBED))
                .as("three compilers may have worked for the second before the profile")
                .isEqualTo(
                        "Part of the profile is warm-up: the compilers of the virtual machine worked for at least 3 s"
                                + " of its 9 s.");
        assertThat(kinds(compiled(10, 8, 6)))
                .as("they may have done all before")
                .doesNotContain(Kind.DISTURBED);
        assertThat(kinds(compiled(10, 10, 1))).as("a tenth").doesNotContain(Kind.DISTURBED);
        assertThat(kinds(compiled(10, 9, 6).toBuilder().environments(List.of()).build()))
                .as("processors that are not known")
                .doesNotContain(Kind.DISTURBED);
    }

    private static ProfileSnapshot compiled(long upSeconds, long wallSeconds, long jitSeconds) {
        return profile(wallSeconds * SECOND, wallSeconds * SECOND)
                .environments(List.of(new Environment("17", "VM", "Linux", "amd64", "CPU", 2, 20)))
                .facts(compiling(upSeconds * SECOND, jitSeconds * SECOND))
                .build();
    }

    private static RunFacts compiling(long upNs, long jitNs) {
        return new RunFacts(
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                Map.of(),
                List.of(),
                List.of(new RunFacts.VirtualMachine(1, Instant.EPOCH, upNs, 0, jitNs)),
                List.of(),
                Map.of());
    }

    @Spec("8.10")
    @Test
    void timeBeforeTheFirstAndAfterTheLastStepIsNamed() {
        assertThat(outside(step(0, 4 * SECOND), step(4 * SECOND, 8 * SECOND)))
                .isEqualTo("40 % of wall time (8 s of 20 s) lies outside of steps, 8 s of it after the last step.");
        assertThat(outside(step(7 * SECOND, 12 * SECOND), step(19 * SECOND, SECOND)))
                .isEqualTo("35 % of wall time (7 s of 20 s) lies outside of steps, 7 s of it before the first step.");
        assertThat(outside(step(0, SECOND), step(18 * SECOND, 2 * SECOND)))
                .isEqualTo("85 % of wall time (17 s of 20 s) lies outside of steps.");
    }

    /** Of 100 steps that took 10 s, one is kept: others may lie behind it. */
    @Test
    void ofASampleOfStepsTheTimeAfterTheLastOneIsALimit() {
        Step kept = step(9 * SECOND, SECOND);
        Steps steps = new Steps(
                steps(1_000, 0, 0, 1).phases(),
                LatencyDistribution.EMPTY,
                0,
                LatencyDistribution.EMPTY,
                0,
                List.of(kept));
        assertThat(sentence(profile(12 * SECOND, 10 * SECOND).steps(steps).build(), Kind.IDLE))
                .isEqualTo(
                        "17 % of wall time (2 s of 12 s) lies outside of steps, at most 2 s of it after the last step.");
        ProfileSnapshot twoRuns = ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH.plusSeconds(3_600), 12 * SECOND)
                .threads(1, false)
                .bricks(profile(12 * SECOND, 10 * SECOND).build().bricks())
                .steps(steps)
                .build();
        assertThat(sentence(twoRuns, Kind.IDLE))
                .endsWith("lies outside of steps, which includes the time before the first and after the last one.");
    }

    private static Step step(long startNs, long durationNs) {
        return new Step(startNs, startNs, durationNs, StepInfo.decode(100), 0, Map.of());
    }

    private static String outside(Step... steps) {
        long allNs = Arrays.stream(steps).mapToLong(Step::durationNs).sum();
        StepStats decode = StepStats.builder(StepInfo.Phase.DECODE)
                .steps(steps.length, allNs)
                .durations(allNs, SECOND, 12 * SECOND, LatencyDistribution.EMPTY)
                .sequences(steps.length)
                .tokens(0, steps.length, 0, 0)
                .build();
        Steps all =
                new Steps(List.of(decode), LatencyDistribution.EMPTY, 0, LatencyDistribution.EMPTY, 0, List.of(steps));
        return sentence(profile(20 * SECOND, allNs).steps(all).build(), Kind.IDLE);
    }

    @Spec("8.10")
    @Test
    void slowStepsAreAFindingByTheirExcess() {
        ProfileSnapshot uneven = profile(14 * SECOND, 14 * SECOND)
                .steps(steps(1_000, 50, 90 * MS, 1))
                .build();

        assertThat(kinds(uneven)).containsExactly(Kind.SLOW_STEPS, Kind.LARGEST_BRICK);
        assertThat(sentence(uneven, Kind.SLOW_STEPS))
                .matches(
                        "1 decode step in 20 takes (89|90)\\S* ms on average instead of 10\\S* ms, the median: 2[89] % of"
                                + " wall time\\. The profile does not state why\\.");
        assertThat(kinds(profile(SECOND, SECOND).steps(steps(90, 5, 90 * MS, 1)).build()))
                .as("too few steps")
                .doesNotContain(Kind.SLOW_STEPS);
    }

    @Spec("8.10")
    @Test
    void theMachineIsNamedIfThreadsHadNoProcessorAndIfCollectorsWereActive() {
        StepStats.CpuTime cpu = new StepStats.CpuTime(1_000, 10 * SECOND, 7 * SECOND, OptionalLong.of(2 * SECOND));
        RunFacts facts = new RunFacts(
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                Map.of(),
                List.of(),
                List.of(new RunFacts.VirtualMachine(1, Instant.EPOCH, 10 * SECOND, 3 * SECOND, 0)),
                List.of(),
                Map.of());
        ProfileSnapshot busy = profile(10 * SECOND, 10 * SECOND)
                .steps(steps(1_000, 0, 0, 1, cpu))
                .facts(facts)
                .build();

        assertThat(kinds(busy)).containsExactly(Kind.GARBAGE_COLLECTION, Kind.NO_PROCESSOR, Kind.LARGEST_BRICK);
        assertThat(sentence(busy, Kind.NO_PROCESSOR)).contains(" for 20 % of the steps' time");
        assertThat(sentence(busy, Kind.GARBAGE_COLLECTION))
                .startsWith("Garbage collectors were active for 3 s, 30 % of the time since the start of the");
    }

    @Spec("8.10")
    @Test
    void doubtsComeFirstAndAHealthyRunSaysThatNothingStandsOut() {
        ProfileSnapshot healthy =
                profile(10 * SECOND, 10 * SECOND).steps(steps(1_000, 0, 0, 1)).build();
        RunFacts disturbed =
                RunFacts.NONE.withMachine(Map.of("x", 1.0), List.of("other processes took 53 % of the processors"));
        RunFacts killed = RunFacts.NONE.withMachine(Map.of(), List.of("the process had not ended"));

        assertThat(kinds(healthy)).containsExactly(Kind.NOTHING);
        assertThat(sentence(healthy, Kind.NOTHING)).startsWith("Nothing stands out: LmHead is the largest brick, 40 %");
        assertThat(kinds(healthy.withFacts(disturbed))).containsExactly(Kind.DISTURBED, Kind.NOTHING);
        assertThat(sentence(healthy.withFacts(disturbed), Kind.DISTURBED))
                .isEqualTo("The run is in doubt: other processes took 53 % of the processors.");
        assertThat(next(healthy.withFacts(disturbed), Kind.DISTURBED)).contains("when the machine is quiet");
        assertThat(next(healthy.withFacts(killed), Kind.DISTURBED)).contains("what the remark names");
        assertThat(kinds(profile(SECOND, SECOND).steps(steps(20, 0, 0, 1)).build()))
                .startsWith(Kind.TOO_SHORT);
        assertThat(Findings.of(Profiles.empty())).isEmpty();
    }

    @Spec("8.10")
    @Test
    void whatAProfileDoesNotProveIsNoFinding() {
        ProfileSnapshot gaps = profile(20 * SECOND, 3 * SECOND).build();
        List<BrickStats> small = IntStream.range(0, 30)
                .mapToObj(i -> brick("brick " + i, BrickCategory.FFN, SECOND / 3))
                .toList();
        ProfileSnapshot many = profile(10 * SECOND, 0)
                .bricks(small)
                .steps(steps(1_000, 0, 0, 1))
                .build();

        assertThat(kinds(gaps)).contains(Kind.IDLE);
        assertThat(kinds(gaps.toBuilder().deferred(0, 3, 0).build()))
                .as("samples without a time may have filled the gaps")
                .doesNotContain(Kind.IDLE);
        assertThat(kinds(many)).as("the largest brick has 3.3 %").containsExactly(Kind.NOTHING);
        assertThat(kinds(many.toBuilder().threads(0, false).build()))
                .as("a trace without its idle time may have gaps")
                .doesNotContain(Kind.NOTHING);
    }

    @Spec("8.10")
    @Test
    void sourcesAddCandidatesThatAreRankedWithTheOthers() {
        ProfileSnapshot gaps =
                profile(20 * SECOND, 10 * SECOND).steps(steps(1_000, 0, 0, 1)).build();
        FindingSource roof = snapshot -> List.of(
                new Finding(Kind.BELOW_ROOF, "UpProjection", 0.6, "UpProjection is at 40 % of its roof.", ""),
                new Finding(Kind.BELOW_ROOF, "RmsNorm", 0.04, "RmsNorm is at 90 % of its roof.", ""),
                new Finding(Kind.IDLE, "", 0.1, "The same time, less exactly.", ""));

        assertThat(kinds(gaps, roof)).containsExactly(Kind.BELOW_ROOF, Kind.IDLE, Kind.LARGEST_BRICK);
        assertThat(Findings.text(Findings.of(gaps, roof)))
                .startsWith("\nFindings\n 1  UpProjection is at 40 % of its roof.\n 2  50 % of wall time ")
                .endsWith(
                        "\nNext: take the snapshot right after the last step, or mark what the engine does between steps.\n");
        assertThat(Findings.values(Findings.of(gaps, roof)).get(0))
                .isEqualTo(Map.of(
                        "kind", "below_roof",
                        "place", "UpProjection",
                        "share", 0.6,
                        "of", "brick_time",
                        "sentence", "UpProjection is at 40 % of its roof."));
        assertThatThrownBy(() -> new Finding(Kind.IDLE, "", 1.5, "too much", ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1.5");
    }
}
