package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class StepsTest {

    private static final int RANDOM_STEPS = 200;

    private final FakeClock clock = new FakeClock();
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();

    StepsTest() {
        profiler.enable();
    }

    private void brick(BrickId id, long ns) {
        long timer = profiler.startBrick(id);
        clock.advance(ns);
        profiler.stopBrick(timer, 1);
    }

    private void step(StepInfo info, long ns) {
        profiler.beginStep(info);
        clock.advance(ns);
        profiler.endPass();
    }

    private Steps steps() {
        return profiler.snapshot().steps();
    }

    private StepStats stats(Phase phase) {
        return steps().phase(phase).orElseThrow();
    }

    private static void onAnotherThread(Runnable work) {
        Thread thread = new Thread(work);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // ---- counts of a step ----

    @Test
    void eachPhaseHasANumberOfItsOwn() {
        assertThat(Phase.values())
                .allSatisfy(phase -> assertThat(Phase.of(phase.number())).contains(phase));
    }

    @Spec("17.1")
    @Test
    void aStepLastsUntilItsPassEnds() {
        step(StepInfo.prefill(100), 5_000);
        step(StepInfo.decode(100), 1_000);
        profiler.beginStep(StepInfo.decode(101));
        clock.advance(3_000);
        profiler.endPassAsync();

        assertThat(stats(Phase.PREFILL).count()).isEqualTo(1);
        assertThat(stats(Phase.PREFILL).prefillTokens()).isEqualTo(100);
        assertThat(stats(Phase.PREFILL).prefillTokensPerSecond()).isCloseTo(100 / 5e-6, within(1e-3));
        StepStats decode = stats(Phase.DECODE);
        assertThat(decode.count()).isEqualTo(2);
        assertThat(decode.totalNs()).isEqualTo(4_000);
        assertThat(decode.minNs()).isEqualTo(1_000);
        assertThat(decode.maxNs()).isEqualTo(3_000);
        assertThat(decode.percentileNs(50)).isCloseTo(1_000L, within(8L));
        assertThat(decode.percentileNs(100)).isCloseTo(3_000L, within(24L));
        assertThat(decode.avgNs()).isEqualTo(2_000);
        assertThat(decode.avgKvLength()).isEqualTo(100.5);
        assertThat(decode.outputTokens()).isEqualTo(2);
        assertThat(decode.outputTokensPerSecond()).isCloseTo(2 / 4e-6, within(1e-3));
        assertThat(steps().phase(Phase.MIXED)).isEmpty();
        assertThat(steps().count()).isEqualTo(3);
    }

    @Spec("17.1")
    @Test
    void passesThatWereNotAnnouncedAreNoSteps() {
        brick(BrickId.RMS_NORM, 10);
        profiler.endPass();
        assertThat(steps()).isEqualTo(Steps.NONE);
        step(StepInfo.decode(1), 10);
        brick(BrickId.RMS_NORM, 10);
        profiler.endPass();
        assertThat(steps().count()).isEqualTo(1);
    }

    /** Steps are counted in batches, and earlier if somebody reads or listens; this has no visible effect. */
    @Spec({"17.1", "17.2"})
    @Test
    void stepsAreTheSameWhenSomebodyReadsAfterEachOrListens() {
        List<Step> heard = new ArrayList<>();
        Steps atTheEnd = randomSteps(profiler -> {}, profiler -> {});
        Steps readOften = randomSteps(profiler -> {}, BrickProfiler::snapshot);
        Steps listened = randomSteps(profiler -> profiler.addListener(new StepListener(heard)), profiler -> {});

        assertThat(withoutCalendar(readOften)).isEqualTo(withoutCalendar(atTheEnd));
        assertThat(withoutCalendar(listened)).isEqualTo(withoutCalendar(atTheEnd));
        assertThat(heard).hasSize(RANDOM_STEPS).containsAll(listened.kept());
        for (StepStats phase : atTheEnd.phases()) {
            List<Step> ofPhase = heard.stream()
                    .filter(step -> step.info().phase() == phase.phase())
                    .toList();
            assertThat(phase.count()).isEqualTo(ofPhase.size()).isPositive();
            assertThat(phase.totalNs())
                    .isEqualTo(ofPhase.stream().mapToLong(Step::durationNs).sum());
            assertThat(sum(phase.categoryNs()))
                    .isEqualTo(ofPhase.stream()
                            .mapToLong(step -> sum(step.categoryNs()))
                            .sum())
                    .isPositive();
        }
    }

    private record StepListener(List<Step> heard) implements ProfilerListener {
        @Override
        public boolean wantsBricks() {
            return false;
        }

        @Override
        public void brickRecorded(
                String brick,
                BrickCategory category,
                Optional<StepInfo.Phase> phase,
                long endNs,
                long elapsedNs,
                long elements) {}

        @Override
        public void stepBegan(StepInfo info) {}

        @Override
        public void stepEnded(Step step) {
            heard.add(step);
        }
    }

    private static long sum(Map<BrickCategory, Long> categoryNs) {
        return categoryNs.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns everything but the calendar time, which differs from one profiler to the next. */
    private static List<Object> withoutCalendar(Steps steps) {
        List<Object> all = new ArrayList<>(List.of(
                steps.phases(), steps.timeToFirstToken(), steps.timeToFirstTokenNs(), steps.timePerOutputToken()));
        for (Step step : steps.kept()) {
            all.add(List.of(step.index(), step.durationNs(), step.info(), step.acceptedTokens(), step.categoryNs()));
        }
        return all;
    }

    private static Steps randomSteps(Consumer<BrickProfiler> before, Consumer<BrickProfiler> afterStep) {
        Random random = new Random(7);
        FakeClock time = new FakeClock();
        BrickProfiler profiler = BrickProfiler.builder().clock(time).build();
        profiler.enable();
        before.accept(profiler);
        for (int i = 0; i < RANDOM_STEPS; i++) {
            Phase phase = List.of(Phase.values()).get(random.nextInt(3));
            profiler.beginStep(new StepInfo(phase, 1 + random.nextInt(3), random.nextInt(9), i, random.nextInt(3), 2));
            profiler.recordAcceptedTokens(random.nextInt(3));
            for (int brick = random.nextInt(3); brick > 0; brick--) {
                profiler.record(List.of(BrickId.values()).get(random.nextInt(20)), random.nextInt(1_000), 1);
            }
            time.advance(random.nextInt(1_000_000));
            profiler.endPass();
            afterStep.accept(profiler);
        }
        return profiler.snapshot().steps();
    }

    @Spec("17.2")
    @Test
    void theBrickTimeOfAStepIsThatOfAllThreads() {
        brick(BrickId.LM_HEAD, 7);
        profiler.beginStep(StepInfo.decode(5));
        brick(BrickId.RMS_NORM, 10);
        onAnotherThread(() -> brick(BrickId.GATE_PROJECTION, 30));
        brick(BrickId.RMS_NORM, 1);
        profiler.endPass();
        brick(BrickId.RMS_NORM, 1_000);

        Step kept = steps().kept().get(0);
        assertThat(kept.categoryNs()).isEqualTo(Map.of(BrickCategory.NORM, 11L, BrickCategory.FFN, 30L));
        assertThat(kept.durationNs()).isEqualTo(41);
        assertThat(kept.info()).isEqualTo(StepInfo.decode(5));
        assertThat(stats(Phase.DECODE).attributed()).isEqualTo(1);
        assertThat(stats(Phase.DECODE).categoryNs()).isEqualTo(kept.categoryNs());
    }

    @Spec("17.2")
    @Test
    void deferredBricksThatTheEndOfThePassResolvesAreInTheStep() {
        profiler.beginStep(StepInfo.decode(5));
        profiler.recordDeferred(BrickId.LM_HEAD, profiler.elapsedNs(), 1);
        clock.advance(50);
        profiler.endPass();
        assertThat(stats(Phase.DECODE).categoryNs()).isEqualTo(Map.of(BrickCategory.OTHER, 50L));
    }

    @Spec("17.2")
    @Test
    void theBrickTimeIsUnknownIfMeasurementsArePending() {
        profiler.beginStep(StepInfo.decode(5));
        profiler.recordDeferred(BrickId.LM_HEAD, profiler.elapsedNs(), 1);
        clock.advance(50);
        profiler.endPassAsync();
        profiler.beginStep(StepInfo.decode(6));
        brick(BrickId.RMS_NORM, 10);
        profiler.endPass();
        assertThat(stats(Phase.DECODE).count()).isEqualTo(2);
        assertThat(stats(Phase.DECODE).attributed()).isZero();
        assertThat(steps().kept()).allMatch(step -> step.categoryNs().isEmpty());

        profiler.beginStep(StepInfo.decode(7));
        brick(BrickId.RMS_NORM, 10);
        profiler.endPass();
        assertThat(stats(Phase.DECODE).categoryNs()).isEqualTo(Map.of(BrickCategory.NORM, 10L));
    }

    @Spec("17.2")
    @Test
    void theBrickTimeIsNotKnownOfStepsAtTheSameTime() {
        profiler.beginStep(StepInfo.decode(5));
        brick(BrickId.RMS_NORM, 10);
        onAnotherThread(() -> step(StepInfo.prefill(8), 100));
        profiler.endPass();
        assertThat(stats(Phase.DECODE).attributed()).isZero();
        assertThat(stats(Phase.PREFILL).attributed()).isZero();
        step(StepInfo.decode(6), 10);
        assertThat(stats(Phase.DECODE).attributed()).isEqualTo(1);
    }

    @Spec("17.3")
    @Test
    void timeOfStepsAtTheSameTimeCountsOnceInRates() {
        profiler.beginStep(StepInfo.decode(5));
        clock.advance(100);
        onAnotherThread(() -> step(StepInfo.decode(9), 200));
        clock.advance(700);
        profiler.endPass();
        StepStats decode = stats(Phase.DECODE);
        assertThat(decode.wallNs()).isEqualTo(1_000);
        assertThat(decode.totalNs()).isEqualTo(1_200);
        assertThat(decode.outputTokensPerSecond()).isCloseTo(2 / 1e-6, within(1e-3));
    }

    // ---- the times that users wait for ----

    @Spec("17.4")
    @Test
    void theTimeToFirstTokenIsThatOfAllPartsOfThePrompt() {
        step(StepInfo.prefill(512).partOfPrompt(), 60);
        clock.advance(5);
        step(StepInfo.prefill(512).withKvLength(512).partOfPrompt(), 30);
        step(StepInfo.prefill(88).withKvLength(1_024), 20);
        step(StepInfo.decode(1_112), 9);
        step(StepInfo.prefill(3), 7);
        LatencyDistribution first = steps().timeToFirstToken();
        assertThat(first.count()).isEqualTo(2);
        assertThat(first.percentileNs(50)).isEqualTo(7);
        assertThat(first.percentileNs(100)).isEqualTo(115);
        assertThat(steps().timeToFirstTokenNs()).isEqualTo(122);
        assertThat(steps().merge(steps()).timeToFirstTokenNs()).isEqualTo(244);
        Steps ofAnOldFile = new Steps(List.of(), first, 0, LatencyDistribution.EMPTY, 0, List.of());
        assertThat(steps().merge(ofAnOldFile).timeToFirstTokenNs())
                .as("known of a part only")
                .isZero();
        assertThat(steps().merge(Steps.NONE)).isEqualTo(steps());
        assertThat(stats(Phase.PREFILL).outputTokens()).isEqualTo(2);
    }

    @Spec("17.4")
    @Test
    void stepsOfOtherSequencesBetweenThePartsOfAPromptDoNotEndIt() {
        step(StepInfo.prefill(512).partOfPrompt(), 60);
        step(StepInfo.decode(100).withBatch(3), 10);
        step(new StepInfo(Phase.MIXED, 4, 512, 615, 3, 0), 70);
        step(StepInfo.prefill(88).withKvLength(1_024), 20);
        assertThat(steps().timeToFirstTokenNs()).isEqualTo(160);

        step(StepInfo.prefill(512).partOfPrompt(), 60);
        step(new StepInfo(Phase.MIXED, 4, 88, 815, 4, 0), 30);
        step(StepInfo.prefill(5), 8);
        assertThat(steps().timeToFirstTokenNs())
                .as("the mixed step gave each sequence a token, so the second prompt began after it")
                .isEqualTo(168);
    }

    @Spec("17.4")
    @Test
    void aStepThatDecodesAndGivesNoTokenBeginsNoPrompt() {
        step(new StepInfo(Phase.DECODE, 1, 0, 100, 0, 0), 40);
        step(StepInfo.prefill(5), 8);
        assertThat(steps().timeToFirstTokenNs()).isEqualTo(8);
    }

    @Spec("17.4")
    @Test
    void theTimePerOutputTokenIsFromTokenToToken() {
        step(StepInfo.prefill(3), 50);
        clock.advance(4);
        step(StepInfo.decode(3), 20);
        assertThat(steps().timePerOutputToken().percentileNs(100)).isEqualTo(24);
    }

    @Spec("17.4")
    @Test
    void acceptedTokensShortenTheTimePerOutputToken() {
        step(StepInfo.prefill(3), 50);
        profiler.beginStep(StepInfo.decode(40).withBatch(2).withDraftedTokens(8));
        clock.advance(80);
        profiler.recordAcceptedTokens(5);
        profiler.recordAcceptedTokens(1);
        profiler.endPass();
        // Two sequences got eight tokens within 80 ns: each one every 20 ns.
        assertThat(steps().timePerOutputToken().percentileNs(100)).isEqualTo(20);
        StepStats decode = stats(Phase.DECODE);
        assertThat(decode.outputTokens()).isEqualTo(8);
        assertThat(decode.acceptedTokens()).isEqualTo(6);
        assertThat(decode.acceptanceRate()).isEqualTo(0.75);
        assertThat(decode.avgBatch()).isEqualTo(2);
    }

    @Spec("17.4")
    @Test
    void unrecordedTimeIsInNoTimePerOutputToken() {
        step(StepInfo.decode(3), 20);
        profiler.disable();
        step(StepInfo.decode(4), 1_000);
        profiler.enable();
        step(StepInfo.decode(5), 30);
        assertThat(steps().timePerOutputToken().count()).isEqualTo(2);
        assertThat(steps().timePerOutputToken().percentileNs(100)).isEqualTo(30);
        assertThat(stats(Phase.DECODE).count()).isEqualTo(2);
    }

    @Test
    void tokensThatWereNotDraftedAreRefused() {
        profiler.recordAcceptedTokens(3);
        profiler.beginStep(StepInfo.decode(40).withDraftedTokens(4));
        profiler.recordAcceptedTokens(3);
        assertThatThrownBy(() -> profiler.recordAcceptedTokens(2))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("accepted tokens 2 are more than the 1 drafted ones that were left");
        assertThatThrownBy(() -> profiler.recordAcceptedTokens(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-1");
        profiler.endPass();
        assertThat(stats(Phase.DECODE).acceptedTokens()).isEqualTo(3);
    }

    @Test
    void wrongNumbersAreRefused() {
        assertThatThrownBy(() -> StepInfo.decode(3).withBatch(0)).hasMessage("batch 0 is less than 1");
        assertThatThrownBy(() -> StepInfo.prefill(-1)).hasMessage("prefillTokens -1 is negative");
        assertThatThrownBy(() -> StepInfo.decode(-2)).hasMessage("kvLength -2 is negative");
    }

    // ---- ways out ----

    @Spec("17.5")
    @Test
    void aStepThatDidNotEndIsAbandoned() {
        profiler.beginStep(StepInfo.decode(3));
        profiler.startLayer();
        clock.advance(10);
        step(StepInfo.decode(4), 20);
        assertThat(profiler.currentLayer()).isEqualTo(-1);
        assertThat(steps().abandoned()).isEqualTo(1);
        assertThat(stats(Phase.DECODE).count()).isEqualTo(1);
        assertThat(stats(Phase.DECODE).totalNs()).isEqualTo(20);
        assertThat(stats(Phase.DECODE).attributed()).isEqualTo(1);
    }

    @Spec("17.5")
    @Test
    void aStepOfAThreadThatEndedIsAbandoned() {
        onAnotherThread(() -> profiler.beginStep(StepInfo.decode(3)));
        step(StepInfo.decode(4), 20);
        assertThat(steps().abandoned()).isEqualTo(1);
        assertThat(stats(Phase.DECODE).attributed()).isEqualTo(1);
    }

    @Spec("17.5")
    @Test
    void aStepDuringWhichTheProfilerIsSwitchedOffIsAbandoned() {
        profiler.beginStep(StepInfo.decode(3));
        profiler.disable();
        profiler.endPass();
        assertThat(steps().abandoned()).isEqualTo(1);
        assertThat(steps().count()).isZero();
    }

    @Spec("17.5")
    @Test
    void aStepWithTimeThatWasNotRecordedIsAbandoned() {
        profiler.enable();
        step(StepInfo.decode(2), 20);
        profiler.beginStep(StepInfo.decode(3));
        clock.advance(100);
        profiler.disable();
        clock.advance(700);
        profiler.enable();
        clock.advance(200);
        profiler.endPass();
        step(StepInfo.decode(3), 30);

        assertThat(steps().abandoned()).isEqualTo(1);
        assertThat(stats(Phase.DECODE).totalNs()).isEqualTo(50);
        assertThat(stats(Phase.DECODE).wallNs()).isEqualTo(20 + 100 + 30);
        assertThat(stats(Phase.DECODE).attributed()).isEqualTo(2);
        assertThat(steps().timePerOutputToken().percentileNs(100)).isCloseTo(30L, within(1L));
    }

    /** Another thread may switch the profiler off while a step begins. */
    @Spec("17.5")
    @Test
    void aStepThatBeginsWhileTheProfilerIsSwitchedOffIsNotCounted() {
        profiler.addListener(new ProfilerListener() {
            @Override
            public boolean wantsBricks() {
                return false;
            }

            @Override
            public void brickRecorded(
                    String brick,
                    BrickCategory category,
                    Optional<Phase> phase,
                    long endNs,
                    long elapsedNs,
                    long elements) {
                throw new AssertionError(brick);
            }

            @Override
            public void stepBegan(StepInfo info) {
                profiler.disable();
            }

            @Override
            public void stepEnded(Step step) {
                throw new AssertionError(step);
            }
        });
        profiler.beginStep(StepInfo.decode(3));
        clock.advance(700);
        profiler.enable();
        clock.advance(200);
        profiler.endPass();

        assertThat(steps().count()).isZero();
    }

    @Spec("17.5")
    @Test
    void aStepOfAPassThatIsGivenUpIsAbandoned() {
        step(StepInfo.decode(2), 20);
        profiler.beginStep(StepInfo.decode(3));
        profiler.startLayer();
        clock.advance(10);
        profiler.abandonPass();
        assertThat(profiler.currentLayer()).isEqualTo(-1);
        profiler.endPass();
        profiler.abandonPass();
        step(StepInfo.decode(3), 30);
        assertThat(steps().abandoned()).isEqualTo(1);
        assertThat(stats(Phase.DECODE).outputTokens()).isEqualTo(2);
        assertThat(stats(Phase.DECODE).totalNs()).isEqualTo(50);
    }

    // ---- resets and memory ----

    @Spec("17.6")
    @Test
    void aStepCountsInThePartInWhichItEnds() {
        step(StepInfo.decode(1), 10);
        profiler.beginStep(StepInfo.decode(2));
        brick(BrickId.RMS_NORM, 30);
        Steps before = profiler.snapshotAndReset().steps();
        brick(BrickId.RMS_NORM, 40);
        profiler.endPass();
        assertThat(before.count()).isEqualTo(1);
        assertThat(stats(Phase.DECODE).count()).isEqualTo(1);
        // The brick time is also that of the whole step, although the earlier snapshot has a part of it.
        assertThat(stats(Phase.DECODE).categoryNs()).isEqualTo(Map.of(BrickCategory.NORM, 70L));
        assertThat(steps().kept().get(0).index()).isEqualTo(1);
        assertThat(before.merge(steps()).count()).isEqualTo(2);
    }

    @Spec("17.6")
    @Test
    void resetAlsoDiscardsTheOpenStep() {
        step(StepInfo.decode(1), 10);
        profiler.beginStep(StepInfo.decode(2));
        profiler.reset();
        profiler.endPass();
        assertThat(steps()).isEqualTo(Steps.NONE);
        step(StepInfo.decode(3), 10);
        assertThat(stats(Phase.DECODE).attributed()).isEqualTo(1);
        assertThat(steps().abandoned()).isZero();
    }

    @Spec("17.6")
    @Test
    void theMemoryDoesNotGrowWithTheSteps() {
        for (int i = 0; i < 10_000; i++) {
            step(StepInfo.decode(i), 10_000 + (i % 100));
        }
        step(StepInfo.decode(10_000), 77_777);
        Steps steps = steps();
        assertThat(steps.count()).isEqualTo(10_001);
        assertThat(steps.kept()).hasSizeBetween(Steps.SAMPLED, Steps.SAMPLED + Steps.SLOWEST);
        assertThat(steps.slowest(Phase.DECODE).orElseThrow().info().kvLength()).isEqualTo(10_000);
        assertThat(steps.median(Phase.DECODE).orElseThrow().durationNs()).isCloseTo(10_050L, within(90L));
        assertThat(steps.slowest(Phase.PREFILL)).isEmpty();
        // Uniform over the run: the mean place of 256 of 10,000 lies within four of its standard deviations, 180 each.
        double mean = steps.kept().stream().mapToLong(Step::index).average().orElseThrow();
        assertThat(mean).isCloseTo(5_000, within(720.0));
    }

    /**
     * The recorder creates no object for most steps, but keeps those that a selection from all steps would keep, even
     * among equal durations.
     */
    @Spec("17.6")
    @Test
    void keepsTheStepsThatWouldBeKeptOfAll() {
        Random random = new Random(17);
        List<Step> all = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            StepInfo info = i % 7 == 0 ? StepInfo.prefill(5) : StepInfo.decode(i);
            long durationNs = random.nextLong(1_000, 1_100);
            step(info, durationNs);
            all.add(new Step(i, i, durationNs, info, 0, Map.of()));
        }
        Steps ofAll = new Steps(List.of(), LatencyDistribution.EMPTY, 0, LatencyDistribution.EMPTY, 0, all);
        assertThat(steps().kept())
                .extracting(Step::index)
                .isEqualTo(ofAll.kept().stream().map(Step::index).toList());
    }

    @Spec("17.2")
    @Test
    void noBrickTimeIsLostOrCountedTwiceByResets() throws InterruptedException {
        BrickProfiler real = BrickProfiler.enabled();
        AtomicBoolean stop = new AtomicBoolean();
        AtomicReference<ProfileSnapshot> parts = new AtomicReference<>(real.snapshot());
        Thread resets = new Thread(() -> {
            while (!stop.get()) {
                parts.set(parts.get().merge(real.snapshotAndReset()));
            }
        });
        resets.start();
        for (int i = 0; i < 2_000; i++) {
            real.beginStep(StepInfo.decode(i));
            for (int brick = 0; brick < 20; brick++) {
                real.record(BrickId.RMS_NORM, 3, 1);
            }
            real.endPass();
        }
        stop.set(true);
        resets.join();
        ProfileSnapshot all = parts.get().merge(real.snapshot());
        assertThat(all.totalNs()).isEqualTo(2_000 * 60);
        StepStats decode = all.steps().phase(Phase.DECODE).orElseThrow();
        assertThat(decode.attributed()).isEqualTo(2_000);
        assertThat(decode.categoryNs()).isEqualTo(Map.of(BrickCategory.NORM, 2_000 * 60L));
        assertThat(all.steps().kept()).allMatch(step -> step.categoryNs().equals(Map.of(BrickCategory.NORM, 60L)));
    }
}
