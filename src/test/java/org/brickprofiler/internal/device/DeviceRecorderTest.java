package org.brickprofiler.internal.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Collections;
import java.util.List;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.internal.record.StatRow;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.junit.jupiter.api.Test;

/** The queries of a recorder at boundaries, the values that it returns, and samples without a time. */
class DeviceRecorderTest {

    private final FakeClock clock = new FakeClock(1_000);
    private final SimulatedStream one = new SimulatedStream("one", clock);
    private final SimulatedStream two = new SimulatedStream("two", clock);
    private final TableRegistry bricks = new TableRegistry(4, false);
    private final DeviceRecorder recorder = recorder(1, one, two);

    private DeviceRecorder recorder(int launchesEvery, SimulatedStream... streams) {
        return new DeviceRecorder(clock, bricks, List.of(streams), launchesEvery, DeviceRecorder.Tracing.NONE);
    }

    private void brick(int stream, int key, long ns) {
        long timer = recorder.start(key, stream);
        (stream == 0 ? one : two).work(ns);
        recorder.stop(timer, 1);
    }

    private StatRow row(int key) {
        return bricks.read().row(key);
    }

    private long unresolved(int key) {
        return recorder.figures(key, key + 1).unresolved(key);
    }

    @Test
    void thereAreOneTo64Streams() {
        assertThatIllegalArgumentException().isThrownBy(() -> recorder(1)).withMessageContaining("0 device streams");
        recorder(1, Collections.nCopies(64, one).toArray(SimulatedStream[]::new));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> recorder(1, Collections.nCopies(65, one).toArray(SimulatedStream[]::new)))
                .withMessageContaining("65 device streams");
    }

    // ---- what it answers ----

    @Test
    void theHostsTimeIsReturnedIfItWasRead() {
        long timer = recorder.start(0, 0);
        assertThat(recorder.startedNs(timer)).isEqualTo(1_000);
        clock.advance(70);
        assertThat(recorder.stop(timer, 1)).isEqualTo(1_070);
        long next = recorder.start(0, 1);
        clock.advance(5);
        next = recorder.lap(next, 1, 1);
        assertThat(recorder.startedNs(next)).isEqualTo(1_075);
        assertThat(recorder.stream(next)).isOne();
        recorder.endPass(true);
        recorder.endPass(true);
        assertThat(recorder.startedNs(timer)).isEqualTo(DeviceRecorder.NO_TIME);
        assertThat(recorder.stop(timer, 1)).isEqualTo(DeviceRecorder.NO_TIME);
        assertThat(unresolved(0)).isOne();
    }

    @Test
    void withoutAReadingNoTimeIsReturned() {
        DeviceRecorder few = recorder(Integer.MAX_VALUE, one);
        few.stop(few.start(0, 0), 1);
        long timer = few.start(0, 0);
        assertThat(few.startedNs(timer)).isEqualTo(DeviceRecorder.NO_TIME);
        assertThat(few.stop(timer, 1)).isEqualTo(DeviceRecorder.NO_TIME);
        few.timeEveryLaunch();
        assertThat(few.startedNs(few.start(0, 0))).isEqualTo(1_000);
    }

    @Test
    void aTimerOfAStreamThatIsNotThereCountsAsTheFirstOnes() {
        assertThat(recorder.stream(MarkToken.device(0, 1, Marks.NONE, false))).isOne();
        assertThat(recorder.stream(MarkToken.device(0, 2, Marks.NONE, false))).isZero();
        assertThat(recorder.stream(MarkToken.device(0, 63, Marks.NONE, false))).isZero();
    }

    // ---- boundaries ----

    @Test
    void aPassEndsOnTheStreamsThatTheThreadMarked() throws Exception {
        brick(1, 0, 100);
        Crew.runOnNewThread(() -> recorder.endPass(true));
        assertThat(one.passesEnded() + two.passesEnded()).isZero();
        recorder.endPass(true);
        assertThat(one.passesEnded()).isZero();
        assertThat(two.passesEnded()).isOne();
        recorder.endPass(0, true);
        assertThat(one.passesEnded()).isOne();
        recorder.endPass(1, false);
        assertThat(two.passesEnded()).isEqualTo(2);
        brick(0, 0, 100);
        recorder.poll(DeviceRecorder.NO_TIME);
        assertThat(one.passesEnded()).isEqualTo(2);
        assertThat(two.passesEnded()).isEqualTo(2);
        recorder.poll(recorder.markStart(1));
        assertThat(two.passesEnded()).isEqualTo(3);
    }

    @Test
    void aThreadThatMayNotAskAStreamAsksNothing() throws Exception {
        two.answersElsewhere(true);
        Crew.runOnNewThread(() -> {
            brick(0, 0, 100);
            brick(1, 1, 100);
        });
        clock.advance(1_000);
        brick(0, 2, 100);
        int asked = two.asked();
        recorder.endPass(false);
        recorder.poll(DeviceRecorder.NO_TIME);
        assertThat(two.asked()).isEqualTo(asked);
        assertThat(row(0).count()).isOne();
        assertThat(recorder.pendingCount()).isEqualTo(2);
        two.answersElsewhere(false);
        clock.advance(1_000);
        recorder.poll(DeviceRecorder.NO_TIME);
        assertThat(row(1).count()).isOne();
        assertThat(recorder.pendingCount()).isZero();
    }

    @Test
    void theThreadThatMarkedMayAskWhereOthersMayNot() {
        two.answersElsewhere(true);
        brick(1, 0, 100);
        clock.advance(100);
        recorder.endPass(false);
        assertThat(row(0).totalNs()).isEqualTo(100);
        brick(1, 1, 70);
        clock.advance(100);
        recorder.poll(DeviceRecorder.NO_TIME);
        assertThat(row(1).totalNs()).isEqualTo(70);
    }

    @Test
    void whatIsDoneIsResolvedBeforeItsStreamCloses() throws Exception {
        brick(0, 0, 100);
        brick(1, 1, 100);
        clock.advance(100);
        brick(0, 2, 100);
        one.close();
        assertThat(row(0).totalNs()).isEqualTo(100);
        assertThat(row(1).count()).isZero();
        two.answersElsewhere(true);
        Crew.runOnNewThread(two::close);
        assertThat(row(1).count()).isZero();
        recorder.endPass(true);
        assertThat(unresolved(1)).isOne();
        assertThat(unresolved(2)).isOne();
        assertThat(recorder.pendingCount()).isZero();
    }

    @Test
    void aPassThatIsNotWaitedForResolvesWhatIsDone() {
        brick(0, 0, 100);
        recorder.endPass(0, false);
        assertThat(row(0).count()).isZero();
        clock.advance(100);
        recorder.endPass(0, false);
        assertThat(row(0).count()).isOne();
        assertThat(one.waits()).isZero();
    }

    @Test
    void aWaitThatFailsLeavesWhatIsNotReached() {
        brick(0, 0, 100);
        one.beforeWait(() -> one.capture(true));
        recorder.await();
        assertThat(recorder.pendingCount()).isOne();
        one.beforeWait(() -> {});
        one.capture(false);
        recorder.await();
        assertThat(row(0).totalNs()).isEqualTo(100);
        recorder.endPass(false);
        assertThat(one.marksHeld()).isZero();
    }

    @Test
    void whatIsDiscardedHasNoTimeAndIsNotUnresolved() {
        brick(0, 0, 100);
        recorder.discard();
        assertThat(recorder.pendingCount()).isZero();
        recorder.endPass(true);
        assertThat(row(0).count()).isZero();
        assertThat(unresolved(0)).isZero();
        assertThat(one.marksHeld()).isZero();
    }

    @Test
    void aPassThatEndedOnItsStreamIsNotEndedAgain() {
        brick(0, 0, 100);
        recorder.endPass(0, true);
        assertThat(one.passesEnded()).isOne();
        recorder.endPass(true);
        assertThat(one.passesEnded()).isOne();
    }

    @Test
    void theFirstBrickAfterABoundaryIsTimedOnTheHostToo() {
        DeviceRecorder few = recorder(Integer.MAX_VALUE, one);
        few.start(0, 0);
        assertThat(few.startedNs(few.start(0, 0))).isEqualTo(DeviceRecorder.NO_TIME);
        few.poll(DeviceRecorder.NO_TIME);
        assertThat(few.startedNs(few.start(0, 0))).isEqualTo(1_000);
        assertThat(few.startedNs(few.start(0, 0))).isEqualTo(DeviceRecorder.NO_TIME);
    }

    // ---- what is added up ----

    private StreamTotals totals() {
        return recorder.figures(0, 1).streams().get(0);
    }

    @Test
    void theGapsOfAPassCountThoughItEndedBeforeItWasDone() {
        brick(0, 0, 100);
        one.work(50);
        brick(0, 0, 1_000);
        clock.advance(120);
        recorder.endPass(false);
        assertThat(recorder.pendingCount()).isOne();
        assertThat(totals().busyNs()).isEqualTo(100);
        one.work(9_000);
        brick(0, 0, 10);
        recorder.endPass(true);
        assertThat(totals().busyNs()).isEqualTo(1_110);
        assertThat(totals().idleNs()).isEqualTo(50);
    }

    @Test
    void theErrorOfTheClocksIsTheLatestThatIsKnown() {
        one.work(500);
        brick(0, 0, 100);
        clock.advance(1_000);
        recorder.poll(DeviceRecorder.NO_TIME);
        // The first mark was set at 1,000, and was reached 100 before 2,000 at the latest.
        assertThat(totals().clockErrorNs()).isEqualTo(450);
        one.capture(true);
        brick(0, 0, 100);
        one.capture(false);
        brick(0, 0, 100);
        clock.advance(5_000);
        recorder.endPass(true);
        assertThat(totals().clockErrorNs()).isEqualTo(450);
        recorder.figuresAndReset();
        assertThat(totals().clockErrorNs()).isEqualTo(450);
        brick(0, 0, 100);
        recorder.endPass(true);
        assertThat(totals().clockErrorNs()).isZero();
    }

    @Test
    void aBrickWithoutWorkIsUnresolved() {
        one.withoutWork(true);
        brick(0, 0, 0);
        recorder.endPass(true);
        assertThat(unresolved(0)).isOne();
        assertThat(totals().samples()).isZero();
        assertThat(totals().idleNs()).isZero();
    }

    @Test
    void discardingLetsGoOfAllMarks() {
        brick(0, 0, 100);
        recorder.await();
        // The mark up to which time was added up is kept.
        assertThat(one.marksHeld()).isOne();
        recorder.endSince(0, 0, 5, 1);
        clock.advance(10);
        recorder.poll(DeviceRecorder.NO_TIME);
        assertThat(one.marksHeld()).isOne();
        recorder.discard();
        assertThat(one.marksHeld()).isZero();
    }

    // ---- marks that are missing ----

    @Test
    void bricksWithoutMarksAreUnresolvedAndLeaveTheOthersAlone() {
        SimulatedStream small = new SimulatedStream("small", clock, 2);
        DeviceRecorder tight = recorder(1, small);
        long running = tight.start(0, 0);
        long without = tight.lap(tight.start(1, 0), 1, 2);
        assertThat(without).isNotZero();
        assertThat(tight.startedNs(without)).isEqualTo(DeviceRecorder.NO_TIME);
        assertThat(tight.stop(without, 1)).isEqualTo(DeviceRecorder.NO_TIME);
        small.work(40);
        tight.stop(running, 1);
        clock.advance(100);
        tight.endPass(0, true);
        DeviceFigures figures = tight.figures(0, 4);
        assertThat(figures.unresolved(1)).isOne();
        assertThat(figures.unresolved(2)).isOne();
        assertThat(figures.unresolved(0) + bricks.read().row(0).count()).isOne();
        assertThat(small.marksHeld()).isZero();
        long timer = tight.start(0, 0);
        small.work(7);
        tight.stop(timer, 1);
        tight.endPass(0, true);
        assertThat(bricks.read().row(0).lastNs()).isEqualTo(7);
    }

    @Test
    void marksOfForgottenTimersAreTakenBackAfterBoundariesOfEveryKind() {
        for (int kind = 0; kind < 3; kind++) {
            SimulatedStream small = new SimulatedStream("small", clock, 2);
            DeviceRecorder tight = recorder(1, small);
            long forgotten = tight.start(0, 0);
            tight.start(0, 0);
            for (int boundary = 0; boundary < 2; boundary++) {
                assertThat(tight.startedNs(tight.start(1, 0))).isEqualTo(DeviceRecorder.NO_TIME);
                switch (kind) {
                    case 0 -> tight.endPass(true);
                    case 1 -> tight.endPass(0, true);
                    default -> tight.poll(DeviceRecorder.NO_TIME);
                }
            }
            assertThat(tight.startedNs(tight.start(1, 0))).isEqualTo(1_000);
            assertThat(tight.startedNs(forgotten)).isEqualTo(DeviceRecorder.NO_TIME);
        }
    }

    @Test
    void deferredMeasurementsWithoutMarksAreUnresolved() {
        SimulatedStream small = new SimulatedStream("small", clock, 2);
        DeviceRecorder tight = recorder(1, small);
        tight.start(0, 0);
        tight.start(0, 0);
        long start = tight.markStart(0);
        tight.endSince(3, 0, start, 1);
        assertThat(start).isEqualTo(1_000);
        assertThat(tight.figures(0, 4).unresolved(3)).isOne();
        assertThat(tight.pendingCount()).isZero();
    }

    @Test
    void figuresAreThoseOfTheRowsThatAreAskedFor() {
        int far = 4_000;
        brick(0, 0, 100);
        brick(0, far, 30);
        recorder.stop(MarkToken.device(far, 0, Marks.NONE, false), 1);
        recorder.endPass(true);
        DeviceFigures some = recorder.figures(far, far + 1);
        assertThat(some.samples(far)).isOne();
        assertThat(some.unresolved(far)).isOne();
        assertThat(some.launches(far).count()).isOne();
        assertThat(recorder.figures(1, 4_095).samples(4_094)).isZero();
        DeviceFigures all = recorder.figuresAndReset();
        assertThat(all.samples(0)).isOne();
        assertThat(all.unresolved(far)).isOne();
        assertThat(all.threads()).isOne();
        assertThat(all.virtualThreads()).isFalse();
        DeviceFigures none = recorder.figures(0, far + 1);
        assertThat(none.samples(0) + none.samples(far) + none.unresolved(far)).isZero();
        assertThat(none.streams().get(0).samples()).isZero();
    }
}
