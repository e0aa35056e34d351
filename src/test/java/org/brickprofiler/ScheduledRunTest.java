package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.junit.jupiter.api.Test;

final class ScheduledRunTest {

    private final FakeClock clock = new FakeClock();
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
    private final List<ProfileSnapshot> cycles = new ArrayList<>();

    private ScheduledRun run(Schedule schedule) {
        return new ScheduledRun(profiler, schedule, cycles::add);
    }

    /**
     * Runs one step of the application, with a timed brick, a deferred one and a tile, which each take 100 ns plus the
     * step's number.
     */
    private void pass(ScheduledRun run) {
        long ns = 100 + run.stepNumber();
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        long tile = profiler.tiles().start(TileLevel.MIDI, 1, 1);
        profiler.recordDeferred(BrickId.LM_HEAD, profiler.elapsedNs(), 1);
        clock.advance(ns);
        profiler.tiles().stop(tile, 1, 1);
        profiler.stopBrick(timer, 1);
    }

    private void passes(ScheduledRun run, int steps) {
        for (int i = 0; i < steps; i++) {
            pass(run);
            run.step();
        }
    }

    private static void requireSteps(ProfileSnapshot snapshot, long... steps) {
        long totalNs = 0;
        for (long step : steps) {
            totalNs += 100 + step;
        }
        assertThat(snapshot.brick("RmsNorm").orElseThrow().count()).isEqualTo(steps.length);
        assertThat(snapshot.brick("RmsNorm").orElseThrow().totalNs()).isEqualTo(totalNs);
        assertThat(snapshot.brick("LmHead").orElseThrow().count()).isEqualTo(steps.length);
        assertThat(snapshot.brick("LmHead").orElseThrow().totalNs()).isEqualTo(totalNs);
        assertThat(snapshot.tiles().get(1).count()).isEqualTo(steps.length);
        assertThat(snapshot.tiles().get(1).totalNs()).isEqualTo(totalNs);
        assertThat(snapshot.wallNs()).isEqualTo(totalNs);
    }

    @Spec("6.2")
    @Test
    void keepsTheWarmUpOutOfEverything() {
        profiler.tiles().enable();
        passes(run(Schedule.once(3, 2)), 10);

        assertThat(cycles).hasSize(1);
        requireSteps(cycles.get(0), 3, 4);
    }

    @Spec("6.2")
    @Test
    void followsEveryPhaseOfEveryCycle() {
        profiler.tiles().enable();
        ScheduledRun run = run(new Schedule(2, 1, 1, 2, 2));
        passes(run, 14);

        assertThat(cycles).hasSize(2);
        requireSteps(cycles.get(0), 4, 5);
        requireSteps(cycles.get(1), 8, 9);
        assertThat(run.stepNumber()).isEqualTo(14);
        assertThat(run.stage()).isSameAs(Schedule.Stage.DONE);
    }

    @Test
    void cyclesWithoutWaitOrWarmUpFollowEachOther() {
        profiler.tiles().enable();
        passes(run(new Schedule(0, 0, 0, 1, 3)), 5);

        assertThat(cycles).hasSize(3);
        requireSteps(cycles.get(0), 0);
        requireSteps(cycles.get(1), 1);
        requireSteps(cycles.get(2), 2);
    }

    @Test
    void cyclesOfWarmUpsFollowEachOther() {
        profiler.tiles().enable();
        passes(run(new Schedule(0, 0, 1, 1, 0)), 6);

        assertThat(cycles).hasSize(3);
        requireSteps(cycles.get(0), 1);
        requireSteps(cycles.get(1), 3);
        requireSteps(cycles.get(2), 5);
    }

    @Spec("6.2")
    @Test
    void theSwitchFollowsThePhase() {
        ScheduledRun run = run(new Schedule(1, 1, 1, 1, 1));
        List<Boolean> on = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            on.add(profiler.isEnabled());
            run.step();
        }

        assertThat(on).containsExactly(false, false, true, true, false, false);
    }

    @Spec("6.2")
    @Test
    void whatWasRecordedAndPendingBeforeIsForgotten() {
        profiler.enable();
        profiler.record(BrickId.RMS_NORM, 5, 1);
        profiler.recordDeferred(BrickId.RMS_NORM, 0, 1);
        passes(run(Schedule.once(0, 1)), 1);

        assertThat(cycles.get(0).brick("RmsNorm").orElseThrow().totalNs()).isEqualTo(100);
    }

    @Test
    void aProfilerThatWasOnIsNotRecordedInStepsThatDoNotCount() {
        profiler.enable();
        profiler.tiles().enable();
        ScheduledRun run = run(new Schedule(1, 0, 0, 1, 1));
        passes(run, 3);

        requireSteps(cycles.get(0), 1);
        assertThat(profiler.allBrickStats()).isEmpty();
    }

    @Test
    void tilesThatWereOffStayOff() {
        passes(run(Schedule.once(1, 1)), 2);

        assertThat(cycles.get(0).tiles().get(1).count()).isZero();
        assertThat(cycles.get(0).brick("RmsNorm")).isPresent();
    }

    @Spec("6.3")
    @Test
    void theNextStepBeginsEvenWhereTheReceiverThrows() {
        IllegalStateException thrown = new IllegalStateException("from the receiver");
        List<Long> received = new ArrayList<>();
        ScheduledRun run = new ScheduledRun(profiler, new Schedule(0, 1, 0, 1, 2), snapshot -> {
            received.add(snapshot.brick("RmsNorm").orElseThrow().totalNs());
            throw thrown;
        });
        passes(run, 1);
        pass(run);
        assertThatThrownBy(run::step).isSameAs(thrown);

        assertThat(run.stepNumber()).isEqualTo(2);
        assertThat(run.stage()).isSameAs(Schedule.Stage.WAIT);
        assertThat(profiler.isEnabled()).isFalse();
        passes(run, 1);
        pass(run);
        assertThatThrownBy(run::step).isSameAs(thrown);
        assertThat(received).as("each cycle has its own step only").containsExactly(101L, 103L);
        assertThat(run.stage()).isSameAs(Schedule.Stage.DONE);
        assertThat(profiler.isEnabled()).isFalse();
    }

    @Test
    void theReceiverMayAskTheRun() {
        List<Long> steps = new ArrayList<>();
        ScheduledRun[] run = new ScheduledRun[1];
        run[0] = new ScheduledRun(profiler, Schedule.once(0, 2), snapshot -> steps.add(run[0].stepNumber()));
        passes(run[0], 2);

        assertThat(steps).containsExactly(2L);
    }

    // ---- ending early ----

    @Spec("6.4")
    @Test
    void aRunThatEndsEarlyReportsTheStepsThatCounted() {
        profiler.tiles().enable();
        ScheduledRun run = run(Schedule.once(1, 10));
        passes(run, 4);
        run.finish();

        assertThat(cycles).hasSize(1);
        requireSteps(cycles.get(0), 1, 2, 3);
        assertThat(run.stage()).isSameAs(Schedule.Stage.DONE);
        assertThat(profiler.isEnabled()).isFalse();
        assertThat(profiler.tiles().isEnabled()).isFalse();

        run.finish();
        run.step();
        assertThat(cycles).hasSize(1);
        assertThat(run.stepNumber()).isEqualTo(4);
    }

    @Test
    void whatTheStepUnderWayHasRecordedIsReportedWithIt() {
        profiler.tiles().enable();
        ScheduledRun run = run(Schedule.once(0, 5));
        passes(run, 1);
        pass(run);
        run.finish();

        requireSteps(cycles.get(0), 0, 1);
    }

    @Spec("6.4")
    @Test
    void whereNothingCountedNothingIsReported() {
        ScheduledRun waiting = run(new Schedule(1, 1, 1, 1, 1));
        waiting.finish();
        ScheduledRun warming = run(Schedule.once(2, 2));
        passes(warming, 1);
        warming.finish();
        assertThat(profiler.allBrickStats()).isEmpty();
        ScheduledRun between = run(new Schedule(0, 0, 0, 2, 0));
        passes(between, 2);
        assertThat(cycles).hasSize(1);
        between.finish();
        ScheduledRun over = run(Schedule.once(0, 1));
        passes(over, 3);
        over.finish();

        assertThat(cycles).hasSize(2);
    }

    @Test
    void stepsWithoutSamplesAreReportedToo() {
        ScheduledRun run = run(Schedule.once(0, 5));
        run.step();
        run.finish();

        assertThat(cycles).hasSize(1);
        assertThat(cycles.get(0).samples()).isZero();
    }

    @Test
    void theProfilerIsOffEvenWhereTheReceiverOfAnEarlyEndThrows() {
        IllegalStateException thrown = new IllegalStateException("from the receiver");
        ScheduledRun run = new ScheduledRun(profiler, Schedule.once(0, 5), snapshot -> {
            throw thrown;
        });
        passes(run, 1);
        assertThatThrownBy(run::finish).isSameAs(thrown);

        assertThat(run.stage()).isSameAs(Schedule.Stage.DONE);
        assertThat(profiler.isEnabled()).isFalse();
    }

    /** An exception between two layers, or inside one, ends a generation; the next one begins anew. */
    @Spec("6.4")
    @Test
    void aPassThatBrokeOffDoesNotNumberTheNextOne() {
        for (int layers = 1; layers <= 3; layers++) {
            ScheduledRun run = run(Schedule.once(0, 5));
            for (int layer = 0; layer < layers; layer++) {
                profiler.startLayer();
                assertThat(profiler.currentLayer()).isEqualTo(layer);
                if (layer < 2) {
                    profiler.endLayer();
                }
            }
            run.finish();
            assertThat(profiler.currentLayer()).isEqualTo(-1);
        }
        profiler.startLayer();
        profiler.endLayer();
        ScheduledRun next = run(Schedule.once(0, 5));
        profiler.startLayer();
        assertThat(profiler.currentLayer())
                .as("a run begins with a pass of its own")
                .isZero();
        next.step();
        profiler.startLayer();
        assertThat(profiler.currentLayer()).isZero();
    }
}
