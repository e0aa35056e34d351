package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.ProfilerState;
import org.brickprofiler.internal.record.StatTable;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.junit.jupiter.api.Test;

/**
 * Phases of samples in the cases that {@link PhasesProperties} does not draw: devices, ended threads, resets, memory.
 */
class PhasesTest extends ProfiledDevice {

    private final BrickProfiler onHost = BrickProfiler.builder().clock(clock).build();

    PhasesTest() {
        onHost.enable();
    }

    private static long count(BrickProfiler of, Phase phase) {
        return of.brickStats(BrickId.RMS_NORM, phase).count();
    }

    private static void record(BrickProfiler into) {
        into.record(BrickId.RMS_NORM, 5, 1);
    }

    @Test
    void thereIsARowForEveryPhase() {
        assertThat(Phase.values()).hasSize(PhaseKey.PHASES - 1);
        for (Phase phase : Phase.values()) {
            assertThat(phase.number()).isBetween(1, PhaseKey.PHASES - 1);
        }
    }

    /**
     * The device's time arrives during the next step, which has another phase; the moment of the stop decides the
     * phase.
     */
    @Spec({"17.9", "17.10"})
    @Test
    void aDeviceSampleBelongsToTheStepInWhichItWasStopped() {
        profiler.beginStep(StepInfo.prefill(4));
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        launch(100);
        profiler.stopBrick(timer, 4);
        long startNs = profiler.elapsedNs();
        launch(40);
        profiler.recordDeferred(BrickId.RMS_NORM, startNs, 1);
        profiler.endPassAsync();
        profiler.beginStep(StepInfo.decode(4));
        timer = profiler.startBrick(BrickId.RMS_NORM);
        launch(7);
        profiler.stopBrick(timer, 1);
        profiler.endPass();

        BrickStats prefill = profiler.brickStats(BrickId.RMS_NORM, Phase.PREFILL);
        BrickStats decode = profiler.brickStats(BrickId.RMS_NORM, Phase.DECODE);
        assertThat(prefill.totalNs()).isEqualTo(140);
        assertThat(prefill.totalElements()).isEqualTo(5);
        assertThat(prefill.device().measured()).isEqualTo(2);
        assertThat(prefill.timeSource()).isEqualTo(DeviceTime.Source.DEVICE);
        assertThat(decode.totalNs()).isEqualTo(7);
        assertThat(decode.device().measured()).isEqualTo(1);
        assertThat(prefill.device().launches() + decode.device().launches())
                .isEqualTo(stats(BrickId.RMS_NORM).device().launches());
    }

    /**
     * One worker has a token of the first step, others have none, first while steps of two phases are under way, then
     * of one.
     */
    @Spec("17.9")
    @Test
    void aWorkerWithoutATokenHasThePhaseOfTheOnlySteps() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        onHost.beginStep(StepInfo.prefill(4));
        onHost.startLayer();
        long token = onHost.layerToken();
        Thread decoding = start(() -> {
            onHost.beginStep(StepInfo.decode(4));
            record(onHost);
            begun.countDown();
            await(end);
            onHost.endPass();
        });
        begun.await();
        join(start(() -> record(onHost)));
        join(start(() -> {
            long before = onHost.workFor(token);
            record(onHost);
            onHost.workFor(before);
            record(onHost);
        }));
        assertThat(count(onHost, Phase.PREFILL)).as("with a token").isEqualTo(1);
        assertThat(count(onHost, Phase.DECODE)).as("on its own thread").isEqualTo(1);
        assertThat(onHost.brickStats(BrickId.RMS_NORM).count()).isEqualTo(4);
        end.countDown();
        join(decoding);
        join(start(() -> record(onHost)));

        assertThat(count(onHost, Phase.PREFILL)).as("the only step left").isEqualTo(2);
    }

    /** The first sample of a dynamic brick lets the thread's table grow. Another thread's step has another phase. */
    @Spec("17.9")
    @Test
    void aTableThatGrowsDuringStepsOfSeveralPhasesKeepsNoPhase() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        record(onHost);
        Thread other = start(() -> {
            onHost.beginStep(new StepInfo(Phase.MIXED, 2, 4, 4, 1, 0));
            begun.countDown();
            await(end);
            onHost.endPass();
        });
        begun.await();
        onHost.beginStep(StepInfo.prefill(4));
        time(onHost.brickKey("dynamic"), 1_000);
        onHost.endPass();
        onHost.beginStep(StepInfo.decode(4));
        time(BrickId.RMS_NORM.index(), 1_000);
        onHost.endPass();
        end.countDown();
        join(other);

        assertThat(count(onHost, Phase.PREFILL)).isZero();
        assertThat(count(onHost, Phase.DECODE)).isEqualTo(1_000);
        assertThat(onHost.snapshot().bricks(Phase.PREFILL))
                .map(BrickStats::count)
                .containsExactly(1_000L);
    }

    private void time(int key, int samples) {
        for (int i = 0; i < samples; i++) {
            onHost.stopBrick(onHost.startBrick(key), 1);
        }
    }

    /** A reset reads the old table for the last time once its thread has written to the new one. */
    @Spec("5.2")
    @Test
    void aThreadThatHasFoundItsNewTableNeverWritesToTheOldOneAgain() {
        ThreadProfiler timers = onHost.forThisThread();
        time(BrickId.RMS_NORM.index(), 1);
        timers.stopBrick(timers.startBrick(BrickId.RMS_NORM), 1);
        StatTable old = Objects.requireNonNull(onHost.registry.ownTable());
        onHost.registry.readAndReset(() -> ProfilerState.replace(SampleTables.STATE, onHost), () -> {
            record(onHost);
            time(BrickId.RMS_NORM.index(), 1);
            timers.stopBrick(timers.startBrick(BrickId.RMS_NORM), 1);
            assertThat(old.count(BrickId.RMS_NORM.index())).isEqualTo(2);
            ProfilerState.renew(SampleTables.STATE, onHost);
        });

        assertThat(onHost.brickStats(BrickId.RMS_NORM).count()).isEqualTo(3);
        assertThat(old.count(BrickId.RMS_NORM.index())).isEqualTo(2);
    }

    /** The step of another thread ends between the moment of a sample and the call of the listener. */
    @Spec({"17.9", "21.1"})
    @Test
    void aListenerHearsThePhaseInWhichTheSampleWasAdded() throws Exception {
        AtomicReference<Runnable> whileReading = new AtomicReference<>(() -> {});
        List<String> heard = new ArrayList<>();
        BrickProfiler profiler = BrickProfiler.builder()
                .clock(() -> {
                    whileReading.getAndSet(() -> {}).run();
                    return clock.nanoTime();
                })
                .build();
        profiler.addListener(new PhaseListener(heard));
        profiler.enable();
        record(profiler);
        ExecutorService engine = Executors.newSingleThreadExecutor();
        ThreadProfiler timers = profiler.forThisThread();
        for (int way = 0; way < 5; way++) {
            engine.submit(() -> profiler.beginStep(StepInfo.decode(1))).get();
            long timer = profiler.startBrick(BrickId.RMS_NORM);
            profiler.stopBrick(timer, 1);
            Runnable once = () -> {
                try {
                    engine.submit(profiler::endPass).get();
                } catch (InterruptedException | ExecutionException e) {
                    throw new AssertionError(e);
                }
            };
            whileReading.set(once);
            switch (way) {
                case 0 -> profiler.stopBrick(timer, 1);
                case 1 -> timers.stopBrick(timer, 1);
                case 2 -> profiler.record(BrickId.RMS_NORM, 5, 1);
                case 3 -> profiler.recordBytes(BrickId.RMS_NORM, 5, 1, 1, 1);
                default -> profiler.recordCycles(BrickId.RMS_NORM, 5, 1, 1);
            }
        }
        engine.shutdown();

        assertThat(count(profiler, Phase.DECODE)).isEqualTo(10);
        assertThat(heard).hasSize(11).startsWith("none");
        assertThat(heard.subList(1, 11)).containsOnly("DECODE");
    }

    /** Notes the phase of each sample. */
    private record PhaseListener(List<String> heard) implements ProfilerListener {
        @Override
        public boolean wantsBricks() {
            return true;
        }

        @Override
        public void brickRecorded(
                String brick,
                BrickCategory category,
                Optional<Phase> phase,
                long endNs,
                long elapsedNs,
                long elements) {
            heard.add(phase.map(Phase::name).orElse("none"));
        }

        @Override
        public void stepBegan(StepInfo info) {
            // this listener is for bricks
        }

        @Override
        public void stepEnded(Step step) {
            // likewise
        }
    }

    @Spec("17.9")
    @Test
    void theStepOfAnEndedThreadIsUnderWayNoMore() throws InterruptedException {
        join(start(() -> {
            onHost.beginStep(StepInfo.prefill(4));
            record(onHost);
        }));
        onHost.snapshot();
        record(onHost);

        assertThat(count(onHost, Phase.PREFILL))
                .as("samples of the abandoned step")
                .isEqualTo(1);
        assertThat(onHost.brickStats(BrickId.RMS_NORM).count()).isEqualTo(2);
        assertThat(onHost.snapshot().steps().abandoned()).isEqualTo(1);
    }

    @Spec("17.9")
    @Test
    void aResetForgetsTheStepUnderWay() {
        onHost.beginStep(StepInfo.prefill(4));
        record(onHost);
        onHost.reset();
        record(onHost);
        onHost.endPass();
        record(onHost);

        assertThat(onHost.snapshot().phases()).isEmpty();
        assertThat(onHost.brickStats(BrickId.RMS_NORM).count()).isEqualTo(2);
    }

    /**
     * Samples that arrive after the end of their step count in the next step of the phase, so that the steps sum to the
     * phase.
     */
    @Spec("17.2")
    @Test
    void aLateSampleCountsInTheNextStepOfItsPhase() throws InterruptedException {
        onHost.beginStep(StepInfo.decode(1));
        onHost.startLayer();
        long token = onHost.layerToken();
        onHost.record(BrickId.RMS_NORM, 5, 1);
        onHost.endPass();
        join(start(() -> {
            onHost.workFor(token);
            onHost.record(BrickId.RMS_NORM, 30, 1);
        }));
        onHost.record(BrickId.RMS_NORM, 1_000, 1);
        onHost.beginStep(StepInfo.decode(2));
        onHost.record(BrickId.RMS_NORM, 200, 1);
        onHost.endPass();

        assertThat(onHost.snapshot().steps().kept())
                .extracting(step -> step.categoryNs().get(BrickCategory.NORM))
                .containsExactly(5L, 230L);
    }

    /** The table of a thread without steps has rows only for samples without a phase. */
    @Spec("17.11")
    @Test
    void phasesTakeMemoryWithTheirFirstSampleOnly() throws InterruptedException {
        long[] bytes = new long[2];
        // The classes that a first sample loads are loaded before.
        BrickProfiler other = BrickProfiler.enabled();
        join(start(() -> AllocatedBytes.of(() -> record(other))));
        join(start(() -> bytes[0] = AllocatedBytes.of(() -> record(onHost))));
        onHost.beginStep(StepInfo.decode(1));
        record(onHost);
        bytes[1] = AllocatedBytes.of(() -> {
            for (int i = 0; i < 100; i++) {
                record(onHost);
            }
        });

        assertThat(bytes[0]).as("a table, at its first sample").isLessThan(6_000);
        assertThat(bytes[1]).as("a phase that has its rows").isZero();
    }

    private static Thread start(Runnable action) {
        Thread thread = new Thread(action);
        thread.start();
        return thread;
    }

    private static void join(Thread thread) throws InterruptedException {
        thread.join();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // ---- virtual threads ----

    /** They share tables and carriers, and change carriers within a step and within a brick. */
    @Spec("17.9")
    @Test
    void stepsOfVirtualThreadsHaveTheirOwnPhases() throws Exception {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        BrickProfiler shared = BrickProfiler.enabled();
        List<FutureTask<Boolean>> tasks = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            StepInfo info = i % 2 == 0 ? StepInfo.prefill(3) : StepInfo.decode(3);
            tasks.add(new FutureTask<>(() -> {
                shared.beginStep(info);
                for (int brick = 0; brick < 5; brick++) {
                    long timer = shared.startBrick(BrickId.RMS_NORM);
                    Thread.sleep(1);
                    shared.stopBrick(timer, 1);
                    record(shared);
                }
                shared.endPass();
                return true;
            }));
        }

        tasks.forEach(starter::start);

        for (FutureTask<Boolean> task : tasks) {
            assertThat(Crew.result(task)).isTrue();
        }
        assertThat(count(shared, Phase.PREFILL)).isEqualTo(200);
        assertThat(count(shared, Phase.DECODE)).isEqualTo(200);
        assertThat(shared.brickStats(BrickId.RMS_NORM).count()).isEqualTo(400);
    }

    @Spec("17.9")
    @Test
    void aVirtualThreadThatWorksForALayerHasThePhaseOfItsStep() throws Exception {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        BrickProfiler shared = BrickProfiler.enabled();
        shared.beginStep(StepInfo.prefill(3));
        shared.startLayer();
        long layer = shared.layerToken();
        FutureTask<Boolean> other = new FutureTask<>(() -> {
            shared.beginStep(StepInfo.decode(3));
            return true;
        });
        starter.start(other);
        assertThat(Crew.result(other)).isTrue();
        List<FutureTask<Boolean>> tasks = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            boolean isGiven = i % 4 != 0;
            tasks.add(new FutureTask<>(() -> {
                long before = isGiven ? shared.workFor(layer) : 0;
                record(shared);
                if (isGiven) {
                    shared.workFor(before);
                    record(shared);
                }
                return true;
            }));
        }

        tasks.forEach(starter::start);

        for (FutureTask<Boolean> task : tasks) {
            assertThat(Crew.result(task)).isTrue();
        }
        assertThat(count(shared, Phase.PREFILL)).isEqualTo(30);
        assertThat(count(shared, Phase.DECODE)).isZero();
        assertThat(shared.brickStats(BrickId.RMS_NORM).count()).isEqualTo(70);
    }
}
