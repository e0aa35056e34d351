package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.record.HostThreadTimes;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.brickprofiler.trace.SlowSteps.Kind;
import org.brickprofiler.trace.SlowSteps.Part;
import org.brickprofiler.trace.SlowSteps.PhaseSteps;
import org.brickprofiler.trace.SlowSteps.Verdict;
import org.brickprofiler.trace.internal.StopLog;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A timeline that keeps the slowest steps, and their explanation. Times are us of a fake clock. */
final class SlowStepsTest {

    private static final long US = 1_000;

    private final FakeClock clock = new FakeClock();
    private final FakeTimes times = new FakeTimes();
    private TraceRecorder recorder = recorder(TraceRecorder.builder().keepSlowSteps(2));
    private BrickProfiler profiler = profiler();

    private TraceRecorder recorder(TraceRecorder.Builder options) {
        return options.clock(clock).times(times).build();
    }

    private BrickProfiler profiler() {
        BrickProfiler made =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        made.enable();
        return made;
    }

    /** Work of the step's thread, which runs. */
    private void work(long us) {
        clock.advance(us * US);
        times.ranNs += us * US;
    }

    private void brick(BrickId id, long us) {
        long timer = profiler.startBrick(id);
        work(us);
        profiler.stopBrick(timer, 1);
    }

    private void step(StepInfo info, Runnable body) {
        profiler.beginStep(info);
        body.run();
        profiler.endPass();
        work(5);
    }

    private void ordinary(int count) {
        for (int i = 0; i < count; i++) {
            step(StepInfo.decode(100 + i), () -> {
                brick(BrickId.FUSED_ATTENTION, 60);
                work(10);
                brick(BrickId.LM_HEAD, 30);
            });
        }
    }

    private SlowSteps steps() {
        return recorder.timeline().info().slowSteps().orElseThrow();
    }

    private Explained slowest() {
        return steps().slowest().get(0);
    }

    private static Map<String, Long> partsUs(Explained step) {
        return step.parts().stream().collect(Collectors.toMap(Part::name, part -> part.excessNs() / US));
    }

    private List<String> spans() {
        return Replay.of(recorder.timeline(), Thread.currentThread().getName());
    }

    // ---- what is kept ----

    @Spec("13.13")
    @Test
    void theSpansOfTheSlowestStepsAndOfAMedianOneStay() {
        ordinary(20);
        step(StepInfo.decode(120), () -> brick(BrickId.SAMPLING, 500));
        step(StepInfo.prefill(8), () -> brick(BrickId.RMS_NORM, 40));
        ordinary(20);
        step(StepInfo.decode(140), () -> brick(BrickId.SAMPLING, 300));

        SlowSteps steps = steps();
        assertThat(steps.phases())
                .containsExactly(
                        new PhaseSteps(StepInfo.Phase.PREFILL, 1, 1, 21),
                        new PhaseSteps(StepInfo.Phase.DECODE, 42, 3, 0));
        assertThat(steps.slowest()).extracting(Explained::index).containsExactly(20L, 42L, 21L);
        assertThat(spans())
                .containsExactly(
                        "decode 0..100000 x1",
                        "FusedAttention 0..60000 x1",
                        "LmHead 70000..100000 x1",
                        "decode 2100000..2600000 x1",
                        "Sampling 2100000..2600000 x1",
                        "prefill 2605000..2645000 x9",
                        "RmsNorm 2605000..2645000 x1",
                        "decode 4750000..5050000 x1",
                        "Sampling 4750000..5050000 x1");
        // Two marks for each step, and a brick or two; three kept decode steps and the prompt.
        assertThat(steps.spansKept()).isEqualTo(4 + 3 + 3 + 3);
        assertThat(steps.spansKept() + steps.spansLeftOut()).isEqualTo(40 * 4 + 3 * 3);
        assertThat(recorder.timeline().info().droppedSpans()).isZero();
    }

    @Spec("13.13")
    @Test
    void theMemoryOfALongRunIsBounded() {
        recorder = recorder(
                TraceRecorder.builder().keepSlowSteps(2).threadCapacity(512).totalCapacity(2_048));
        profiler = profiler();
        ordinary(100);
        step(StepInfo.decode(150), () -> brick(BrickId.SAMPLING, 500));
        ordinary(5_000);

        assertThat(recorder.eventCount()).isLessThanOrEqualTo(1_024);
        assertThat(steps().slowest().get(0).index()).isEqualTo(100);
        assertThat(spans()).contains("Sampling 10500000..11000000 x1");
        assertThat(steps().spansLeftOut()).isGreaterThan(20_000);
    }

    @Spec("13.13")
    @Test
    void threadsMayComeAndGoForEver() throws Exception {
        recorder = recorder(TraceRecorder.builder().keepSlowSteps(2).totalCapacity(1 << 20));
        profiler = profiler();
        ordinary(10);
        for (int round = 1; round <= 4; round++) {
            for (int worker = 0; worker < 20; worker++) {
                new Crew().run(() -> profiler.record(BrickId.MOE_EXPERT, 1, 1)).join();
            }
            ordinary(1_024);
            assertThat(recorder.eventCount()).isEqualTo(4L * (10 + round * 1_024));
        }
        assertThat(written()).isEqualTo(4 * (10 + 4 * 1_024) + 4 * 20);
    }

    private long written() {
        return steps().spansKept() + steps().spansLeftOut();
    }

    /** An engine may make a profiler for each model, or for each request, and drop it. */
    @Spec("13.13")
    @Test
    void profilersMayComeAndGoForEver() {
        recorder = recorder(TraceRecorder.builder().keepSlowSteps(2));
        for (int round = 0; round < 100; round++) {
            profiler = profiler();
            ordinary(20);
            step(StepInfo.decode(120), () -> brick(BrickId.SAMPLING, 500));
            if (round == 40) {
                step(StepInfo.decode(120), () -> brick(BrickId.MOE_EXPERT, 900));
            }
            if (round % 20 == 19) {
                System.gc();
            }
        }
        profiler = profiler();
        awaitEnd();

        assertThat(steps().phases()).containsExactly(new PhaseSteps(StepInfo.Phase.DECODE, 2_101, 3, 0));
        assertThat(steps().slowest()).hasSize(2);
        assertThat(partsUs(slowest()))
                .isEqualTo(Map.of("MoeExpert", 900L, "FusedAttention", -60L, "LmHead", -30L, "between bricks", -10L));
        assertThat(recorder.eventCount()).isZero();
        assertThat(written()).isEqualTo(100 * (20 * 4 + 3) + 3);
    }

    /** Waits until forgotten profilers are released: each new profiler releases those that the collector has found. */
    private void awaitEnd() {
        for (int attempt = 0; attempt < 100 && recorder.eventCount() > 0; attempt++) {
            System.gc();
            profiler = profiler();
        }
    }

    @Test
    void spansThatEndAfterTheStepAreWhole() throws Exception {
        ordinary(10);
        long token = profiler.startBrick(BrickId.MOE_EXPERT);
        profiler.beginStep(StepInfo.decode(110));
        work(500);
        profiler.endPass();
        work(7);
        new Crew().run(() -> profiler.stopBrick(token, 1)).join();
        ordinary(3);

        assertThat(Replay.of(recorder.timeline(), "crew-0")).containsExactly("MoeExpert 1050000..1557000 x1");
    }

    @Test
    void aStepThatWasAbandonedOrLostIsNoStep() {
        ordinary(10);
        profiler.beginStep(StepInfo.decode(110));
        work(900);
        ordinary(1);
        profiler.beginStep(StepInfo.decode(110));
        work(900);
        profiler.disable();
        profiler.endPass();
        profiler.enable();
        profiler.endPass();
        profiler.beginStep(StepInfo.decode(110));
        work(900);
        profiler.reset();
        profiler.endPass();
        profiler.beginStep(StepInfo.decode(110));
        work(450);
        profiler.disable();
        profiler.enable();
        work(450);
        profiler.endPass();

        assertThat(steps().phases()).extracting(PhaseSteps::steps).containsExactly(11L);
        assertThat(slowest().durationNs()).isEqualTo(100 * US);
    }

    @Test
    void clearForgetsTheSteps() {
        ordinary(10);
        recorder.clear();
        assertThat(steps()).isEqualTo(new SlowSteps(List.of(), List.of(), 0, 0));
        ordinary(3);
        assertThat(steps().phases()).extracting(PhaseSteps::steps).containsExactly(3L);
    }

    @Spec("13.13")
    @Test
    void aStepWhoseSpansWereClearedHasNoVerdict() {
        step(StepInfo.decode(99), () -> {
            brick(BrickId.FUSED_ATTENTION, 490);
            recorder.clear();
            brick(BrickId.LM_HEAD, 30);
        });
        ordinary(30);

        assertThat(slowest().sentence()).isEqualTo("Step 0: 520.0 us; no verdict: spans of it are missing.");
        assertThat(steps().slowest().get(1).typical().sampled()).isEqualTo(29);
    }

    @Test
    void aStepLongerThanItsBufferHasNoVerdict() {
        recorder = recorder(TraceRecorder.builder().keepSlowSteps(2).threadCapacity(64));
        profiler = profiler();
        ordinary(20);
        step(StepInfo.decode(120), () -> {
            for (int i = 0; i < 100; i++) {
                brick(BrickId.RMS_NORM, 10);
            }
        });

        assertThat(slowest().verdict()).isEqualTo(Verdict.SPANS_MISSING);
        assertThat(slowest().sentence()).isEqualTo("Step 20: 1.00 ms; no verdict: spans of it are missing.");
    }

    @Spec("13.13")
    @Test
    void aStepWithPendingMeasurementsHasNoVerdictUntilTheyAreResolved() {
        for (int i = 0; i < 15; i++) {
            deferredStep(60);
            profiler.finalize(profiler.elapsedNs());
        }
        deferredStep(400); // The sixteenth step takes the spans of those that wait.
        assertThat(slowest().sentence()).isEqualTo("Step 15: 400.0 us; no verdict: spans of it are missing.");

        profiler.finalize(profiler.elapsedNs());
        ordinary(1);
        assertThat(partsUs(slowest())).isEqualTo(Map.of("LmHead", 340L));
    }

    private void deferredStep(long us) {
        profiler.beginStep(StepInfo.decode(100));
        profiler.recordDeferred(BrickId.LM_HEAD, profiler.elapsedNs(), 1);
        work(us);
        profiler.endPassAsync();
    }

    @Test
    void theFirstEventsAndTheSlowestStepsExcludeEachOther() {
        TraceRecorder.Builder builder = TraceRecorder.builder().keepSlowSteps(8).keepNewest(false);
        assertThatThrownBy(builder::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("keepSlowSteps(8)");
        assertThatThrownBy(() -> TraceRecorder.builder().keepSlowSteps(0)).hasMessageContaining("not 0");
    }

    // ---- several threads ----

    @Spec("13.15")
    @Test
    void stepsOfSeveralThreadsAtOnceKeepTheirOwnSpans() throws Exception {
        ordinary(10);
        profiler.beginStep(StepInfo.decode(110));
        new Crew()
                .run(() -> {
                    profiler.beginStep(StepInfo.decode(110));
                    brick(BrickId.SAMPLING, 300);
                    profiler.endPass();
                })
                .join();
        brick(BrickId.RMS_NORM, 50);
        profiler.endPass();

        assertThat(steps().slowest()).extracting(Explained::index).containsExactly(11L, 10L);
        assertThat(slowest().verdict()).isEqualTo(Verdict.BESIDE_OTHER_STEPS);
        assertThat(partsUs(slowest())).containsEntry("RmsNorm", 50L).doesNotContainKey("Sampling");
        assertThat(Replay.of(recorder.timeline(), "crew-0"))
                .containsExactly("decode 1050000..1350000 x1", "Sampling 1050000..1350000 x1");
    }

    @Spec("13.15")
    @Test
    void workersCountWhileTheStepsThreadIsInNoBrick() throws Exception {
        ordinary(10);
        step(StepInfo.decode(110), () -> {
            brick(BrickId.FUSED_ATTENTION, 60);
            try {
                new Crew().run(() -> brick(BrickId.MOE_EXPERT, 400)).join();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            brick(BrickId.LM_HEAD, 30);
        });

        assertThat(partsUs(slowest())).isEqualTo(Map.of("MoeExpert", 400L, "between bricks", -10L));
        assertThat(slowest().unknown()).containsExactly(Kind.OTHER_STOP, Kind.BLOCKED);
    }

    /** Bricks of other threads are unknown while several steps are under way, so they are compared with none. */
    @Spec("13.15")
    @Test
    void aStepThatRanAloneIsComparedWithoutWorkersWithStepsThatDidNot() throws Exception {
        ExecutorService other = Executors.newSingleThreadExecutor();
        other.submit(() -> profiler.beginStep(StepInfo.prefill(8))).get();
        for (int i = 0; i < 30; i++) {
            stepOfAWorker(100);
        }
        other.submit(() -> profiler.endPass()).get();
        other.shutdown();
        stepOfAWorker(400);

        Explained slow = steps().slowest().stream()
                .filter(step -> step.durationNs() == 400 * US)
                .findFirst()
                .orElseThrow();
        assertThat(partsUs(slow)).isEqualTo(Map.of("between bricks", 300L));
        assertThat(slow.verdict()).isEqualTo(Verdict.BESIDE_OTHER_STEPS);
        assertThat(slow.sentence()).contains("bricks of further threads count as time between bricks");
    }

    private void stepOfAWorker(long us) {
        step(StepInfo.decode(110), () -> {
            try {
                new Crew().run(() -> brick(BrickId.MOE_EXPERT, us)).join();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
    }

    // ---- explanations ----

    @Spec("13.14")
    @Test
    void partsSumToTheExcess() {
        ordinary(30);
        step(StepInfo.decode(120), () -> {
            long timer = profiler.startBrick(BrickId.FUSED_ATTENTION);
            work(40);
            times.collectedNs += 200 * US;
            clock.advance(200 * US);
            work(22);
            profiler.stopBrick(timer, 1);
            work(10);
            timer = profiler.startBrick(BrickId.LM_HEAD);
            work(30);
            times.waitedNs += 100 * US;
            clock.advance(100 * US);
            profiler.stopBrick(timer, 1);
        });

        assertThat(partsUs(slowest())).containsEntry("garbage collection", 200L).containsEntry("no processor", 100L);
        assertThat(slowest().excessNs())
                .isEqualTo(302 * US)
                .isEqualTo(slowest().parts().stream().mapToLong(Part::excessNs).sum());
        assertThat(slowest().sentence())
                .startsWith("Step 30: 402.0 us, typical for its size 100.0: +200.0 us garbage collection, +100.0 us no"
                        + " processor");
    }

    /** Waits for a processor in a step of 100 us of work. */
    private void waitingStep(long us) {
        step(StepInfo.decode(120), () -> {
            brick(BrickId.FUSED_ATTENTION, 60);
            times.waitedNs += us * US;
            clock.advance(us * US);
            work(10);
            brick(BrickId.LM_HEAD, 30);
        });
    }

    @Spec("13.14")
    @Test
    void aQuotaThatIsUsedUpIsNoMissingProcessor() {
        recorder.quotaRead(clock.now(), 7_000 * US);
        ordinary(30);
        recorder.quotaRead(clock.now(), 7_000 * US);
        waitingStep(300);
        assertThat(partsUs(slowest())).isEqualTo(Map.of("no processor", 300L));
        assertThat(slowest().unknown()).containsExactly(Kind.OTHER_STOP, Kind.THROTTLED);
        assertThat(steps().text()).contains(" Unknown: throttled by a CPU quota.");

        recorder.quotaRead(clock.now(), 7_200 * US);
        assertThat(partsUs(slowest())).isEqualTo(Map.of("throttled by a CPU quota", 200L, "no processor", 100L));
        assertThat(slowest().unknown()).containsExactly(Kind.OTHER_STOP);
        assertThat(slowest().sentence())
                .isEqualTo(
                        "Step 30: 400.0 us, typical for its size 100.0: +200.0 us throttled by a CPU quota, +100.0 us"
                                + " no processor.");
        assertThat(SlowSteps.fromJson(steps().toJson())).isEqualTo(steps());

        // A longer step that was throttled for as long as it waited.
        waitingStep(400);
        recorder.quotaRead(clock.now(), 8_000 * US);
        assertThat(partsUs(slowest())).isEqualTo(Map.of("throttled by a CPU quota", 400L));
    }

    @Spec("13.14")
    @Test
    void onlyMoreThrottlingThanInTypicalStepsExplainsAStep() {
        recorder.quotaRead(clock.now(), 0);
        for (int i = 1; i <= 30; i++) {
            waitingStep(100);
            recorder.quotaRead(clock.now(), 100L * i * US);
        }
        waitingStep(250);
        recorder.quotaRead(clock.now(), 3_120 * US);
        recorder.virtualMachineStopsReported(0, clock.now());
        // These readings displace the ones above.
        for (int i = 1; i < 5_000; i++) {
            recorder.quotaRead(clock.now() + i, 4_000 * US + i);
        }
        assertThat(partsUs(slowest())).isEqualTo(Map.of("throttled by a CPU quota", 20L, "no processor", 130L));
    }

    /** It is unknown in which brick the step waited. */
    @Test
    void waitingOfAStepThatIsNotSlowIsTakenFromNoPlace() {
        recorder = recorder(TraceRecorder.builder().keepSlowSteps(40));
        profiler = profiler();
        ordinary(30);
        step(StepInfo.decode(120), () -> {
            long timer = profiler.startBrick(BrickId.FUSED_ATTENTION);
            work(10);
            times.waitedNs += 50 * US;
            clock.advance(50 * US);
            profiler.stopBrick(timer, 1);
            work(5);
            brick(BrickId.LM_HEAD, 30);
        });

        List<Explained> slowest = steps().slowest();
        assertThat(partsUs(slowest.get(slowest.size() - 1))).isEqualTo(Map.of("between bricks", -5L));
    }

    /** The beans of the JDK report whole milliseconds. */
    @Spec("13.14")
    @Test
    void aCollectionTakesNoLongerThanTheStep() {
        times.known.remove(Kind.BLOCKED);
        ordinary(30);
        step(StepInfo.decode(120), () -> {
            times.collectedNs += 1_000 * US;
            brick(BrickId.FUSED_ATTENTION, 160);
            brick(BrickId.LM_HEAD, 30);
        });

        assertThat(partsUs(slowest())).isEqualTo(Map.of("garbage collection", 100L, "between bricks", -10L));
    }

    @Test
    void waitingTakesNoLongerThanTheStep() {
        times.known.remove(Kind.BLOCKED);
        ordinary(30);
        step(StepInfo.decode(120), () -> {
            times.waitedNs += 500 * US;
            brick(BrickId.FUSED_ATTENTION, 400);
        });

        assertThat(partsUs(slowest())).containsEntry("no processor", 400L);
    }

    @Spec("13.14")
    @Test
    void aStoppedProcessIsNoSlowBrick() {
        ordinary(30);
        step(StepInfo.decode(120), () -> {
            long timer = profiler.startBrick(BrickId.FUSED_ATTENTION);
            work(60);
            clock.advance(5_000 * US);
            profiler.stopBrick(timer, 1);
            work(10);
            brick(BrickId.LM_HEAD, 30);
        });

        assertThat(partsUs(slowest())).isEqualTo(Map.of("blocked or stopped", 5_000L));
    }

    @Spec("13.14")
    @Test
    void aSlowBrickIsNamed() {
        ordinary(30);
        step(StepInfo.decode(120), () -> {
            brick(BrickId.FUSED_ATTENTION, 60);
            work(10);
            brick(BrickId.LM_HEAD, 230);
        });

        assertThat(slowest().sentence()).isEqualTo("Step 30: 300.0 us, typical for its size 100.0: +200.0 us LmHead.");
    }

    @Spec("13.14")
    @Test
    void aLongerContextHasNoVerdictWithoutStepsOfItsSize() {
        ordinary(30);
        step(StepInfo.decode(10_000), () -> brick(BrickId.FUSED_ATTENTION, 900));

        assertThat(slowest().verdict()).isEqualTo(Verdict.FEW_COMPARABLE_STEPS);
        assertThat(slowest().parts()).isEmpty();
        assertThat(slowest().sentence())
                .isEqualTo("Step 30: 900.0 us; no verdict: 0 of 30 sampled steps have its size, and 5 are needed."
                        + " Its KV length of 10,000 is 87.7 times the median of its phase.");
    }

    @Spec("13.14")
    @Test
    void aLongerContextIsTypicalAmongStepsOfItsSize() {
        ordinary(30);
        for (int i = 0; i < 8; i++) {
            step(StepInfo.decode(10_000 + i), () -> brick(BrickId.FUSED_ATTENTION, 900));
        }

        assertThat(slowest().excessNs()).isZero();
        assertThat(slowest().sentence()).contains("typical for its size 900.0").contains("It is no outlier");
    }

    /** Nine steps are nearer in the sum over all sizes, but each of them differs too much in one size. */
    @Spec("13.14")
    @Test
    void stepsOfAnotherSizeDoNotTakeThePlaceOfComparableOnes() {
        for (int i = 0; i < 9; i++) {
            step(StepInfo.decode(1_300).withBatch(14), () -> brick(BrickId.FUSED_ATTENTION, 300));
        }
        for (int i = 0; i < 30; i++) {
            step(StepInfo.decode(1_200).withBatch(17), () -> brick(BrickId.FUSED_ATTENTION, 200));
        }
        step(StepInfo.decode(1_000).withBatch(14), () -> brick(BrickId.FUSED_ATTENTION, 900));

        assertThat(slowest().sentence()).contains("typical for its size 200.0: +700.0 us FusedAttention.");
    }

    /** The first steps of a run are slow until its code is compiled. */
    @Spec("13.14")
    @Test
    void ofStepsThatAreEquallyNearTheOldestDoNotCountAlone() {
        for (int i = 0; i < 40; i++) {
            long us = i < 9 ? 500 : 100;
            step(StepInfo.prefill(128), () -> brick(BrickId.FUSED_ATTENTION, us));
        }
        step(StepInfo.prefill(128), () -> brick(BrickId.FUSED_ATTENTION, 600));

        assertThat(slowest().typical().compared()).isEqualTo(40);
        assertThat(slowest().sentence())
                .isEqualTo("Step 40: 600.0 us, typical for its size 100.0: +500.0 us FusedAttention.");
    }

    @Spec("13.14")
    @Test
    void unknownStopsAreSaidToBeUnknown() {
        times.known.clear();
        ordinary(30);
        step(StepInfo.decode(120), () -> brick(BrickId.FUSED_ATTENTION, 900));

        assertThat(slowest().unknown())
                .containsExactly(
                        Kind.GARBAGE_COLLECTION, Kind.OTHER_STOP, Kind.THROTTLED, Kind.NO_PROCESSOR, Kind.BLOCKED);
        assertThat(slowest().excessNs()).isEqualTo(800 * US);
    }

    @Spec("13.14")
    @Test
    void whatTypicalStepsDoNotKnowIsSaidToBeUnknown() {
        times.known.clear();
        ordinary(30);
        times.known.addAll(List.of(Kind.values()));
        step(StepInfo.decode(120), () -> {
            long timer = profiler.startBrick(BrickId.FUSED_ATTENTION);
            times.waitedNs += 200 * US;
            times.collectedNs += 300 * US;
            clock.advance(900 * US);
            profiler.stopBrick(timer, 1);
        });

        assertThat(partsUs(slowest()))
                .isEqualTo(Map.of("FusedAttention", 840L, "LmHead", -30L, "between bricks", -10L));
        assertThat(slowest().unknown())
                .containsExactly(
                        Kind.GARBAGE_COLLECTION, Kind.OTHER_STOP, Kind.THROTTLED, Kind.NO_PROCESSOR, Kind.BLOCKED);
    }

    @Test
    void aThreadInNativeCodeRunsOnDuringAStop() {
        ordinary(30);
        step(StepInfo.decode(120), () -> {
            recorder.virtualMachineStopped(clock.now(), 300 * US);
            times.collectedNs += 100 * US;
            brick(BrickId.FUSED_ATTENTION, 300);
        });

        assertThat(partsUs(slowest())).containsEntry("FusedAttention", 240L).doesNotContainKey("other stops");
        assertThat(slowest().parts()).extracting(Part::kind).doesNotContain(Kind.OTHER_STOP, Kind.GARBAGE_COLLECTION);
    }

    @Spec("13.14")
    @Test
    void aStopThatARecordingReportsIsTakenFromTheBrickThatItHit() {
        ordinary(30);
        step(StepInfo.decode(120), () -> {
            brick(BrickId.FUSED_ATTENTION, 60);
            work(10);
            long timer = profiler.startBrick(BrickId.LM_HEAD);
            work(30);
            recorder.virtualMachineStopped(clock.now(), 300 * US);
            clock.advance(300 * US);
            profiler.stopBrick(timer, 1);
        });

        assertThat(partsUs(slowest())).isEqualTo(Map.of("other stops of the virtual machine", 300L));
    }

    /** A flight recording reports stops a second or two later. */
    @Spec("13.14")
    @Test
    void stopsAreUnknownOutsideOfTheTimeOfWhichAllWereReported() {
        recorder = recorder(TraceRecorder.builder().keepSlowSteps(3));
        profiler = profiler();
        long slowUs = 400;
        step(StepInfo.decode(99), () -> brick(BrickId.FUSED_ATTENTION, slowUs + 2));
        long fromNs = clock.now();
        ordinary(30);
        step(StepInfo.decode(120), () -> brick(BrickId.FUSED_ATTENTION, slowUs + 1));
        long untilNs = clock.now();
        step(StepInfo.decode(120), () -> brick(BrickId.FUSED_ATTENTION, slowUs));
        recorder.virtualMachineStopsReported(fromNs, untilNs);

        assertThat(steps().slowest())
                .extracting(step -> step.unknown().contains(Kind.OTHER_STOP))
                .containsExactly(true, false, true);

        // More stops than are kept make those of the last step unknown. The stops of earlier steps stay known.
        recorder.virtualMachineStopsReported(untilNs, clock.now());
        long restNs = clock.now();
        for (int i = 0; i <= StopLog.MOST; i++) {
            recorder.virtualMachineStopped(restNs + 10L * i, 1);
        }
        step(StepInfo.decode(120), () -> brick(BrickId.FUSED_ATTENTION, slowUs + 3));
        recorder.virtualMachineStopsReported(untilNs, clock.now());

        assertThat(steps().slowest())
                .extracting(step -> step.unknown().contains(Kind.OTHER_STOP))
                .containsExactly(true, true, false);
    }

    @Spec("13.14")
    @Test
    void waitingThatHitsAnotherBrickInEachStepIsNoneOfTheTypicalStep() {
        for (int i = 0; i < 30; i++) {
            int hit = i % 3;
            step(StepInfo.decode(100 + i), () -> {
                for (int brick = 0; brick < 3; brick++) {
                    long timer = profiler.startBrick("brick " + brick);
                    work(20);
                    if (brick == hit) {
                        times.waitedNs += 40 * US;
                        clock.advance(40 * US);
                    }
                    profiler.stopBrick(timer, 1);
                }
            });
        }
        step(StepInfo.decode(115), () -> {
            for (int brick = 0; brick < 3; brick++) {
                long timer = profiler.startBrick("brick " + brick);
                work(brick == 1 ? 120 : 20);
                profiler.stopBrick(timer, 1);
            }
        });

        assertThat(slowest().typical().elapsedNs()).isEqualTo(60 * US);
        assertThat(partsUs(slowest())).isEqualTo(Map.of("brick 1", 100L));
    }

    @ParameterizedTest
    @CsvSource({"12 34 5, 34", "'12 34 5\n', 34", "0 0 0, -1", "12, -1", "'', -1", "12 x, -1", "7 0 1, 0"})
    void theSecondNumberOfAScheduleIsTheWaiting(String line, long waitedNs) {
        byte[] text = line.getBytes(StandardCharsets.US_ASCII);
        assertThat(HostThreadTimes.secondNumber(text, text.length)).isEqualTo(waitedNs);
    }

    @Test
    void thisProcessKnowsItsTimes() {
        SystemTimes times = new HostTimes();
        long before = times.collectedNs();
        System.gc();
        assertThat(before).isNotNegative();
        assertThat(times.collectedNs()).isGreaterThanOrEqualTo(before);
        assertThat(times.ofThisThread().ranNs()).isPositive();
    }

    // ---- the form in files ----

    @Test
    void theJsonIsReadAsItWasWritten() {
        ordinary(30);
        step(StepInfo.decode(120).withBatch(3), () -> {
            long timer = profiler.startBrick("Gemm \"é\u0001");
            work(500);
            profiler.stopBrick(timer, 1);
        });
        step(StepInfo.decode(120), () -> brick(BrickId.SAMPLING, 500));

        SlowSteps steps = steps();
        assertThat(SlowSteps.fromJson(steps.toJson())).isEqualTo(steps);
        assertThat(steps.toJson()).isASCII();
    }

    @Test
    void otherTextIsRefused() {
        for (String text : List.of("", "[]", "{}", "{\"phases\": 1}", "{\"spans_kept\": -1}", "{\"phases\":[1]}")) {
            assertThatThrownBy(() -> SlowSteps.fromJson(text))
                    .as(text)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("slow steps");
        }
        String valid = new SlowSteps(List.of(), List.of(), 1, 2).toJson();
        assertThatThrownBy(() -> SlowSteps.fromJson(valid.replace(":1", ":-1"))).hasMessageContaining("-1");
    }

    @Spec("25.22")
    @Test
    void aSlowStepHasItsTimeOfDay() throws InterruptedException {
        TraceRecorder recorder = TraceRecorder.builder().keepSlowSteps(1).build();
        BrickProfiler profiler = BrickProfiler.builder().tracing(recorder).build();
        profiler.enable();
        for (int i = 0; i < 8; i++) {
            profiler.beginStep(StepInfo.decode(1));
            profiler.endPass();
        }
        long beforeMs = System.currentTimeMillis();
        profiler.beginStep(StepInfo.decode(1));
        long afterMs = System.currentTimeMillis();
        Thread.sleep(50);
        profiler.endPass();

        SlowSteps steps = recorder.slowSteps().orElseThrow();
        SlowSteps.Explained slowest = steps.slowest().get(0);
        assertThat(slowest.startedAt().orElseThrow().toEpochMilli()).isBetween(beforeMs - 2, afterMs + 2);
        assertThat(slowest.sentence())
                .startsWith("Step 8 at "
                        + slowest.startedAt().orElseThrow().toString().substring(0, 19));
        assertThat(SlowSteps.fromJson(steps.toJson())).isEqualTo(steps);
        assertThatThrownBy(() -> SlowSteps.fromJson(
                        steps.toJson().replaceFirst("\"started_at\": ?\"[^\"]*\"", "\"started_at\":\"noon\"")))
                .hasMessage("started_at of slow steps is no time of day: noon");
    }
}
