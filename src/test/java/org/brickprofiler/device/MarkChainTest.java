package org.brickprofiler.device;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.internal.record.FakeClock;
import org.junit.jupiter.api.Test;

/** The order of a batch of marks, the times between them, their place in the host's time, and busy and idle time. */
class MarkChainTest {

    private static final int NO_MARK = DeviceStream.NO_MARK;

    private final FakeClock clock = new FakeClock(1_000);
    private final SimulatedStream stream = new SimulatedStream("stream", clock);
    private final Marks marks = new Marks(stream);
    private final MarkChain chain = new MarkChain(stream, marks);

    private int mark() {
        int mark = stream.mark();
        marks.set(mark, 1, clock.now());
        return mark;
    }

    private int markWithoutTheClock() {
        int mark = stream.mark();
        marks.set(mark, 1, Marks.NOT_READ);
        return mark;
    }

    /** A mark behind so much more work. */
    private int markAfter(long ns) {
        stream.work(ns);
        return mark();
    }

    private int badMark() {
        stream.capture(true);
        int mark = mark();
        stream.capture(false);
        return mark;
    }

    private void add(int... batch) {
        chain.begin();
        for (int mark : batch) {
            chain.add(mark);
        }
    }

    private void measure() {
        chain.measure(clock.now(), NO_MARK, NO_MARK);
    }

    // ---- order and times ----

    @Test
    void marksAreInTheOrderOfTheirTurns() {
        int first = mark();
        int second = markAfter(300);
        int third = markAfter(40);
        clock.advance(1_000);
        add(third, first, second, third, first);
        measure();
        assertThat(chain.isUnbroken()).isTrue();
        assertThat(chain.isEarly()).isFalse();
        assertThat(chain.last()).isEqualTo(third);
        assertThat(chain.elapsedNs(first, third)).isEqualTo(340);
        assertThat(chain.elapsedNs(first, second)).isEqualTo(300);
        assertThat(chain.elapsedNs(third, second)).isEqualTo(-40);
        add();
        measure();
        assertThat(chain.last()).isEqualTo(NO_MARK);
    }

    /** Two threads may set their marks in one order and take their turns in the other. */
    @Test
    void marksThatWereReachedInAnotherOrderAreInThatOrder() {
        int early = stream.mark();
        stream.work(100);
        int late = stream.mark();
        marks.set(late, 1, clock.now());
        marks.set(early, 1, clock.now());
        int end = markAfter(10);
        clock.advance(1_000);
        chain.begin();
        chain.addSample(early, late);
        chain.addSample(late, end);
        measure();
        assertThat(chain.isUnbroken()).isTrue();
        assertThat(chain.last()).isEqualTo(end);
        assertThat(chain.elapsedNs(early, end)).isEqualTo(110);
        chain.addUp(NO_MARK);
        assertThat(chain.busyNs()).isEqualTo(110);
        assertThat(chain.idleNs()).isZero();
    }

    @Test
    void aMarkWithoutATimeBreaksTheChainAndLeavesTheOthersTheirs() {
        int first = mark();
        int bad = badMark();
        int second = markAfter(70);
        int third = markAfter(5);
        clock.advance(1_000);
        add(first, bad, second, third);
        measure();
        assertThat(chain.isUnbroken()).isFalse();
        assertThat(chain.isEarly()).isFalse();
        assertThat(chain.elapsedNs(first, bad)).isNegative();
        assertThat(chain.elapsedNs(bad, third)).isNegative();
        assertThat(chain.elapsedNs(first, third)).isEqualTo(75);
        assertThat(chain.elapsedNs(second, third)).isEqualTo(5);
        assertThat(chain.last()).isEqualTo(third);
    }

    @Test
    void aBatchOfMarksWithoutTimesHasNoLast() {
        int bad = badMark();
        clock.advance(1_000);
        add(bad);
        measure();
        assertThat(chain.last()).isEqualTo(NO_MARK);
        assertThat(chain.isUnbroken()).isFalse();
        int worse = badMark();
        add(bad, worse);
        measure();
        assertThat(chain.last()).isEqualTo(NO_MARK);
        int good = mark();
        add(bad, good);
        measure();
        assertThat(chain.last()).isEqualTo(good);
        add(good);
        measure();
        assertThat(chain.last()).isEqualTo(good);
        assertThat(chain.isUnbroken()).isTrue();
    }

    @Test
    void aMarkThatIsNotReachedMakesTheBatchEarly() {
        int first = mark();
        int second = markAfter(500);
        add(first, second);
        measure();
        assertThat(chain.isEarly()).isTrue();
        add(second);
        measure();
        assertThat(chain.isEarly()).isTrue();
        clock.advance(500);
        add(first, second);
        measure();
        assertThat(chain.isEarly()).isFalse();
        assertThat(chain.elapsedNs(first, second)).isEqualTo(500);
    }

    @Test
    void aLaterBatchKnowsNothingOfAnEarlierOne() {
        int first = mark();
        int second = markAfter(10);
        clock.advance(1_000);
        chain.begin();
        chain.addSample(first, second);
        measure();
        chain.leaveOut(first, second);
        chain.begin();
        chain.addSample(first, second);
        measure();
        chain.addUp(NO_MARK);
        assertThat(chain.busyNs()).isEqualTo(10);
    }

    @Test
    void thousandsOfMarksAreInOrder() {
        int[] set = new int[1_500];
        for (int i = 0; i < set.length; i++) {
            set[i] = markAfter(i);
        }
        clock.advance(10_000_000);
        chain.begin();
        for (int i = set.length - 1; i > 0; i--) {
            chain.addSample(set[i - 1], set[i]);
        }
        measure();
        assertThat(chain.last()).isEqualTo(set[set.length - 1]);
        assertThat(chain.elapsedNs(set[0], set[1_000])).isEqualTo(500_500);
        chain.addUp(NO_MARK);
        assertThat(chain.busyNs()).isEqualTo(1_499 * 1_500 / 2);
    }

    // ---- the host's time ----

    @Test
    void onAnIdleDeviceTheFirstMarkIsReachedAsItIsSet() {
        int first = mark();
        int second = markAfter(500);
        clock.set(1_500);
        add(first, second);
        measure();
        assertThat(chain.hostNs(first)).isEqualTo(1_000);
        assertThat(chain.hostNs(second)).isEqualTo(1_500);
        assertThat(chain.hostErrorNs()).isZero();
    }

    @Test
    void withoutAWaitTheMiddleIsTakenAndTheErrorIsHalf() {
        stream.work(300);
        int first = mark();
        int second = markAfter(500);
        clock.set(2_001);
        add(first, second);
        measure();
        // Set at 1,000; 500 before the host looked at the latest.
        assertThat(chain.hostErrorNs()).isEqualTo(251);
        assertThat(chain.hostNs(first)).isEqualTo(1_501 - 251);
    }

    @Test
    void afterAWaitTheLatestIsTaken() {
        stream.work(300);
        int first = mark();
        int second = markAfter(500);
        clock.set(1_805);
        add(first, second);
        chain.measure(1_805, second, NO_MARK);
        assertThat(chain.hostNs(second)).isEqualTo(1_805);
        assertThat(chain.hostErrorNs()).isEqualTo(305);
        // Another mark was waited for: that says nothing.
        chain.measure(1_805, first, NO_MARK);
        assertThat(chain.hostErrorNs()).isEqualTo(153);
    }

    @Test
    void aFenceBoundsFromBothSides() {
        stream.work(300);
        int first = mark();
        int second = markAfter(500);
        clock.set(5_000);
        int fence = mark();
        add(first, second);
        chain.measure(5_004, NO_MARK, fence);
        assertThat(chain.hostErrorNs()).isEqualTo(2);
        assertThat(chain.hostNs(second)).isEqualTo(1_802);
        chain.measure(5_004, NO_MARK, badMark());
        assertThat(chain.hostErrorNs()).isGreaterThan(1_000);
    }

    @Test
    void withoutAReadingThereIsNoError() {
        int first = markWithoutTheClock();
        stream.work(100);
        int second = markWithoutTheClock();
        clock.set(1_400);
        add(first, second);
        measure();
        assertThat(chain.hostErrorNs()).isEqualTo(MarkChain.NO_ERROR);
        assertThat(chain.hostNs(second)).isEqualTo(1_400);
        assertThat(chain.elapsedSinceNs(1_000, second)).isNegative();
    }

    @Test
    void clocksThatDriftApartHaveNoNegativeError() {
        int first = mark();
        int second = markAfter(500);
        clock.set(1_500);
        add(first, second);
        chain.measure(1_490, NO_MARK, NO_MARK);
        assertThat(chain.hostErrorNs()).isZero();
        assertThat(chain.hostNs(second)).isEqualTo(1_490);
    }

    // ---- samples without a mark at their start ----

    @Test
    void aSampleWithoutAStartBeginsWithTheHostOrAtTheMarkBefore() {
        int before = mark();
        int busy = markAfter(500);
        clock.set(1_500);
        add(before, busy);
        chain.measure(1_500, busy, NO_MARK);
        assertThat(chain.elapsedSinceNs(1_200, busy)).isEqualTo(300);
        assertThat(chain.elapsedSinceNs(900, busy)).isEqualTo(500);
        assertThat(chain.elapsedSinceNs(900, before)).isEqualTo(100);
        assertThat(chain.elapsedSinceNs(9_000, busy)).isZero();
    }

    @Test
    void aStartWhosePlaceIsNotExactIsNotKnown() {
        stream.work(3_000);
        int first = mark();
        int second = markAfter(500);
        int end = markAfter(40_000);
        clock.set(50_000);
        add(first, second, end);
        measure();
        assertThat(chain.hostErrorNs()).isGreaterThan(1_000);
        assertThat(chain.elapsedSinceNs(30_000, end)).isNegative();
        // From the mark before, wherever that lies.
        assertThat(chain.elapsedSinceNs(1_000, end)).isEqualTo(40_000);
        chain.measure(44_500, end, NO_MARK);
        assertThat(chain.elapsedSinceNs(30_000, end)).isEqualTo(14_500);
    }

    @Test
    void aBrokenChainHasNoPlace() {
        int first = mark();
        int bad = badMark();
        int end = markAfter(100);
        clock.set(1_100);
        add(first, bad, end);
        measure();
        assertThat(chain.elapsedSinceNs(1_000, end)).isNegative();
    }

    // ---- busy and idle ----

    @Test
    void busyIsTheUnionOfSamplesAndIdleWhatLiesBetween() {
        int a = mark();
        int b = markAfter(100);
        int c = markAfter(50);
        int d = markAfter(20);
        int e = markAfter(7);
        int f = markAfter(3);
        clock.advance(1_000);
        chain.begin();
        chain.addSample(a, d);
        chain.addSample(b, c);
        chain.addSample(e, f);
        measure();
        chain.addUp(NO_MARK);
        assertThat(chain.busyNs()).isEqualTo(173);
        assertThat(chain.idleNs()).isEqualTo(7);
        chain.addUp(d);
        assertThat(chain.busyNs()).isEqualTo(3);
        assertThat(chain.idleNs()).isEqualTo(7);
        chain.addUp(f);
        assertThat(chain.busyNs()).isZero();
    }

    @Test
    void whatLiesBetweenTwoPassesOrBehindAGapIsNotIdle() {
        int a = mark();
        int b = markAfter(100);
        marks.endPass();
        int c = markAfter(50);
        int d = markAfter(20);
        marks.miss();
        int e = markAfter(7);
        int f = markAfter(3);
        clock.advance(1_000);
        chain.begin();
        chain.addSample(a, b);
        chain.addSample(c, d);
        chain.addSample(e, f);
        measure();
        chain.addUp(NO_MARK);
        assertThat(chain.busyNs()).isEqualTo(123);
        assertThat(chain.idleNs()).isZero();
    }

    @Test
    void whatLiesInASampleWithoutATimeIsNeitherBusyNorIdle() {
        int outer = mark();
        int a = markAfter(10);
        int b = markAfter(100);
        int c = markAfter(5);
        int d = markAfter(30);
        int bad = badMark();
        clock.advance(1_000);
        chain.begin();
        chain.addSample(outer, bad);
        chain.addSample(a, b);
        chain.addSample(c, d);
        measure();
        chain.leaveOut(outer, bad);
        chain.addUp(NO_MARK);
        assertThat(chain.busyNs()).isEqualTo(130);
        assertThat(chain.idleNs()).isZero();
    }

    @Test
    void aSampleWithoutAStartIsBusyAsLongAsItTook() {
        int before = mark();
        clock.set(1_400);
        stream.work(100);
        int end = mark();
        clock.set(1_500);
        add(before, end);
        chain.measure(1_500, end, NO_MARK);
        assertThat(chain.elapsedSinceNs(1_450, end)).isEqualTo(50);
        chain.addUp(before);
        assertThat(chain.busyNs()).isEqualTo(50);
        assertThat(chain.idleNs()).isEqualTo(450);
        chain.addUp(NO_MARK);
        assertThat(chain.busyNs()).isEqualTo(50);
    }

    @Test
    void aSampleWithoutAStartThatIsNotKnownLeavesNoIdleTime() {
        int before = markWithoutTheClock();
        stream.work(100);
        int end = markWithoutTheClock();
        clock.set(1_500);
        add(before, end);
        measure();
        assertThat(chain.elapsedSinceNs(1_000, end)).isNegative();
        chain.addUp(before);
        assertThat(chain.busyNs()).isZero();
        assertThat(chain.idleNs()).isZero();
    }
}
