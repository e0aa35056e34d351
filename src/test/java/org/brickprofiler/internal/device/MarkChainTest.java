package org.brickprofiler.internal.device;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The order of a batch of marks, the times between them, their place in the host's time, and busy and idle time. */
class MarkChainTest {

    private static final int NO_MARK = DeviceStream.NO_MARK;

    private final FakeClock clock = new FakeClock(1_000);
    private final SimulatedStream stream = new SimulatedStream("stream", clock);
    private final Marks marks = new Marks(stream);
    private final MarkChain chain = new MarkChain(stream, marks, clock);

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

    /** Sets a mark behind {@code ns} of further work. */
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

    private void measureAdded() {
        chain.measure(clock.now(), NO_MARK);
    }

    private void measure(int... batch) {
        add(batch);
        measureAdded();
    }

    /** Measures samples, each of which is two marks. */
    private void measureSamples(int... ends) {
        chain.begin();
        for (int i = 0; i < ends.length; i += 2) {
            chain.addSample(ends[i], ends[i + 1]);
        }
        measureAdded();
    }

    private void assertBusyAndIdle(long busyNs, long idleNs) {
        chain.addUp(NO_MARK, NO_MARK, 0);
        assertThat(chain.busyNs()).isEqualTo(busyNs);
        assertThat(chain.idleNs()).isEqualTo(idleNs);
    }

    // ---- order and times ----

    @Test
    void marksAreInTheOrderOfTheirTurns() {
        int first = mark();
        int second = markAfter(300);
        int third = markAfter(40);
        clock.advance(1_000);
        measure(third, first, second, third, first);
        assertThat(chain.isUnbroken()).isTrue();
        assertThat(chain.isEarly()).isFalse();
        assertThat(chain.last()).isEqualTo(third);
        assertThat(chain.elapsedNs(first, third)).isEqualTo(340);
        assertThat(chain.elapsedNs(first, second)).isEqualTo(300);
        assertThat(chain.elapsedNs(third, second)).isEqualTo(-40);
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
        measureSamples(early, late, late, end);
        assertThat(chain.isUnbroken()).isTrue();
        assertThat(chain.last()).isEqualTo(end);
        assertThat(chain.elapsedNs(early, end)).isEqualTo(110);
        assertBusyAndIdle(110, 0);
    }

    @Test
    void aMarkWithoutATimeBreaksTheChainAndLeavesTheOthersTheirs() {
        int first = mark();
        int bad = badMark();
        int second = markAfter(70);
        int third = markAfter(5);
        clock.advance(1_000);
        measure(first, bad, second, third);
        assertThat(chain.isUnbroken()).isFalse();
        assertThat(chain.isEarly()).isFalse();
        assertThat(chain.elapsedNs(first, bad)).isNegative();
        assertThat(chain.elapsedNs(bad, third)).isNegative();
        assertThat(chain.elapsedNs(first, third)).isEqualTo(75);
        assertThat(chain.elapsedNs(second, third)).isEqualTo(5);
        assertThat(chain.last()).isEqualTo(third);
    }

    @Test
    void whatLiesOnEitherSideOfABreakIsKnownAndWhatLiesAcrossIsNot() {
        int a = mark();
        int b = markAfter(100);
        stream.work(1_000);
        stream.breakOff();
        int c = mark();
        int d = markAfter(30);
        int e = markAfter(4);
        int f = markAfter(2);
        clock.advance(10_000);
        measureSamples(a, b, c, d, e, f);
        assertThat(chain.isUnbroken()).isFalse();
        assertThat(chain.isEarly()).isFalse();
        assertThat(chain.last()).isEqualTo(f);
        assertThat(chain.elapsedNs(a, b)).isEqualTo(100);
        assertThat(chain.elapsedNs(c, d)).isEqualTo(30);
        assertThat(chain.elapsedNs(a, c)).isNegative();
        assertThat(chain.elapsedNs(b, d)).isNegative();
        assertBusyAndIdle(132, 4);
        chain.addUp(c, NO_MARK, 0);
        assertThat(chain.busyNs()).isEqualTo(32);
    }

    @Test
    void aBatchOfMarksWithoutTimesHasNoLast() {
        int bad = badMark();
        clock.advance(1_000);
        measure(bad);
        assertThat(chain.last()).isEqualTo(NO_MARK);
        assertThat(chain.isUnbroken()).isFalse();
        int worse = badMark();
        measure(bad, worse);
        assertThat(chain.last()).isEqualTo(NO_MARK);
        int good = mark();
        measure(bad, good);
        assertThat(chain.last()).isEqualTo(good);
        measure(good);
        assertThat(chain.last()).isEqualTo(good);
        assertThat(chain.isUnbroken()).isTrue();
    }

    @Test
    void aMarkThatIsNotReachedMakesTheBatchEarly() {
        int first = mark();
        int second = markAfter(500);
        measure(first, second);
        assertThat(chain.isEarly()).isTrue();
        measure(second);
        assertThat(chain.isEarly()).isTrue();
        clock.advance(500);
        measure(first, second);
        assertThat(chain.isEarly()).isFalse();
        assertThat(chain.elapsedNs(first, second)).isEqualTo(500);
    }

    @Test
    void aLaterBatchKnowsNothingOfAnEarlierOne() {
        int first = mark();
        int second = markAfter(10);
        clock.advance(1_000);
        measureSamples(first, second);
        chain.leaveOut(first, second);
        measureSamples(first, second);
        chain.addUp(NO_MARK, NO_MARK, 0);
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
        measureAdded();
        assertThat(chain.last()).isEqualTo(set[set.length - 1]);
        assertThat(chain.elapsedNs(set[0], set[1_000])).isEqualTo(500_500);
        chain.addUp(NO_MARK, NO_MARK, 0);
        assertThat(chain.busyNs()).isEqualTo(1_499 * 1_500 / 2);
    }

    // ---- the host's time ----

    @Test
    void onAnIdleDeviceTheFirstMarkIsReachedAsItIsSet() {
        int first = mark();
        int second = markAfter(500);
        clock.set(1_500);
        measure(first, second);
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
        measure(first, second);
        // The first mark was set at 1,000, and was reached 500 before the host looked at the latest.
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
        chain.measure(1_805, second);
        assertThat(chain.hostNs(second)).isEqualTo(1_805);
        assertThat(chain.hostErrorNs()).isEqualTo(305);
        // A wait for another mark is no bound.
        chain.measure(1_805, first);
        assertThat(chain.hostErrorNs()).isEqualTo(153);
    }

    @Test
    void withoutAReadingThereIsNoError() {
        int first = markWithoutTheClock();
        stream.work(100);
        int second = markWithoutTheClock();
        clock.set(1_400);
        measure(first, second);
        assertThat(chain.hostErrorNs()).isEqualTo(MarkChain.NO_ERROR);
        assertThat(chain.hostNs(second)).isEqualTo(1_400);
    }

    @Test
    void clocksThatDriftApartHaveNoNegativeError() {
        int first = mark();
        int second = markAfter(500);
        clock.set(1_500);
        add(first, second);
        chain.measure(1_490, NO_MARK);
        assertThat(chain.hostErrorNs()).isZero();
        assertThat(chain.hostNs(second)).isEqualTo(1_490);
    }

    @Test
    void aReadingOfTheDevicesClockBoundsTheErrorOfABusyDevice() {
        stream.readsClock(40, 0);
        stream.work(300);
        int first = mark();
        int second = markAfter(500);
        clock.set(900_000);
        measure(first, second);
        assertThat(chain.hostErrorNs()).isEqualTo(20);
        assertThat(chain.hostNs(first)).isEqualTo(1_300);
        assertThat(chain.hostNs(second)).isEqualTo(1_800);
    }

    /**
     * Without it, nothing shows whether the driver's clock agrees with the host's: a reading that is 2 h off looks the
     * same.
     */
    @Spec("12.42")
    @Test
    void aReadingWithoutTheClockOfTheHostAtAMarkHasNoKnownError() {
        stream.readsClock(40, 0);
        int second = markedWithoutTheClock(900_000);
        assertThat(chain.isUnchecked()).isTrue();
        assertThat(chain.hostErrorNs()).isEqualTo(MarkChain.NO_ERROR);
        assertThat(chain.hostNs(second)).isEqualTo(1_100);
    }

    @Spec("12.42")
    @ParameterizedTest
    @CsvSource({"0, true", "-1000, false"})
    void aReadingThatCannotBeComparedIsUsedIfTheOneBeforeAgreed(long offNs, boolean isUsed) {
        stream.readsClock(40, offNs);
        int first = mark();
        int second = markAfter(500);
        clock.set(2_001);
        measure(first, second);

        int later = markedWithoutTheClock(900_000);
        assertThat(chain.isUnchecked()).isFalse();
        assertThat(chain.hostErrorNs()).isEqualTo(isUsed ? 20 : MarkChain.NO_ERROR);
        assertThat(chain.hostNs(later)).isEqualTo(isUsed ? 2_181 : 900_000);
    }

    /** Measures a batch of two marks 100 ns apart, for which the host's clock was not read. */
    private int markedWithoutTheClock(long lookedNs) {
        int first = markWithoutTheClock();
        stream.work(100);
        int second = markWithoutTheClock();
        clock.set(lookedNs);
        measure(first, second);
        return second;
    }

    /** Too early, the first mark would be reached before it was set; too late, the last one after it was looked at. */
    @ParameterizedTest
    @ValueSource(longs = {1_000, -2_000})
    void aReadingThatContradictsTheMarksIsNotUsed(long offNs) {
        stream.readsClock(40, offNs);
        stream.work(300);
        int first = mark();
        int second = markAfter(500);
        clock.set(2_001);
        measure(first, second);
        assertThat(chain.hostErrorNs()).isEqualTo(251);
        assertThat(chain.hostNs(first)).isEqualTo(1_501 - 251);
    }

    // ---- the stream's own timeline ----

    @Test
    void aBatchGoesOnWithTheTimelineOfTheOneBefore() {
        int first = mark();
        int second = markAfter(500);
        int third = markAfter(70);
        clock.advance(1_000);
        measure(first, second);
        assertThat(chain.continueFrom(NO_MARK, 0)).isTrue();
        assertThat(chain.deviceNs(second) - chain.deviceNs(first)).isEqualTo(500);
        measure(second, third);
        assertThat(chain.continueFrom(second, 7_500)).isTrue();
        assertThat(chain.deviceNs(third)).isEqualTo(7_570);
        assertThat(chain.elapsedSinceNs(7_000, third)).isEqualTo(570);
        assertThat(chain.has(second)).isTrue();
        assertThat(chain.has(first)).isFalse();
        assertThat(chain.has(4_000)).isFalse();
    }

    @Test
    void aMarkWithoutATimeDoesNotEndTheTimeline() {
        int first = mark();
        int bad = badMark();
        int second = markAfter(500);
        clock.advance(1_000);
        measure(first, bad, second);
        assertThat(chain.continueFrom(first, 100)).isTrue();
        assertThat(chain.deviceNs(second)).isEqualTo(600);
        assertThat(chain.isKnown(bad)).isFalse();
        assertThat(chain.elapsedSinceNs(100, bad)).isNegative();
        assertThat(chain.continueFrom(bad, 100)).isFalse();
    }

    @Test
    void aBreakBetweenTwoTimesEndsTheTimeline() {
        int first = mark();
        stream.work(70);
        stream.breakOff();
        int second = markAfter(500);
        clock.advance(1_000);
        measure(first, second);
        assertThat(chain.isKnown(first)).isTrue();
        assertThat(chain.isKnown(second)).isTrue();
        assertThat(chain.continueFrom(first, 0)).isFalse();
        assertThat(chain.continueFrom(NO_MARK, 0)).isFalse();
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
        measureSamples(a, d, b, c, e, f);
        assertBusyAndIdle(173, 7);
        chain.addUp(d, NO_MARK, 0);
        assertThat(chain.busyNs()).isEqualTo(3);
        assertThat(chain.idleNs()).isEqualTo(7);
        chain.addUp(f, NO_MARK, 0);
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
        measureSamples(a, b, c, d, e, f);
        assertBusyAndIdle(123, 0);
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
        measureSamples(outer, bad, a, b, c, d);
        chain.leaveOut(outer, bad);
        assertBusyAndIdle(130, 0);
    }

    @Test
    void aSampleThatBeganBeforeTheBatchIsBusyFromTheAnchorOn() {
        int counted = mark();
        int anchor = markAfter(40);
        int a = markAfter(500);
        int b = markAfter(20);
        int end = markAfter(3);
        int after = markAfter(6);
        int last = markAfter(1);
        clock.advance(1_000);
        chain.begin();
        chain.add(counted);
        chain.add(anchor);
        chain.addSample(a, b);
        chain.addSampleSince(end);
        chain.addSample(after, last);
        measureAdded();
        assertThat(chain.continueFrom(anchor, 1_000)).isTrue();
        assertThat(chain.elapsedSinceNs(800, end)).isEqualTo(723);
        chain.addUp(counted, anchor, 0);
        assertThat(chain.busyNs()).isEqualTo(524);
        assertThat(chain.idleNs()).isEqualTo(46);
        assertThat(chain.lastCounted()).isEqualTo(last);
        chain.addUp(NO_MARK, anchor, 0);
        assertThat(chain.busyNs()).isEqualTo(524);
        chain.leaveOutSince(end);
        chain.addUp(counted, anchor, 0);
        assertThat(chain.busyNs()).isEqualTo(21);
        // The sample without a time may have begun before all of these marks.
        assertThat(chain.idleNs()).isEqualTo(6);
    }

    @Test
    void behindAMarkOfAnEarlierTurnThanTheLastThatWasCountedNothingIsCounted() {
        int outer = mark();
        int counted = markAfter(100);
        int a = markAfter(30);
        int b = markAfter(4);
        int end = markAfter(5);
        clock.advance(1_000);
        measureSamples(a, b, outer, end);
        chain.addUp(NO_MARK, NO_MARK, marks.turn(counted));
        assertThat(chain.busyNs()).isEqualTo(9);
        assertThat(chain.idleNs()).isZero();
        chain.begin();
        chain.add(counted);
        chain.addSample(a, b);
        chain.addSample(outer, end);
        measureAdded();
        chain.addUp(counted, NO_MARK, marks.turn(counted));
        assertThat(chain.busyNs()).isEqualTo(39);
    }

    @Test
    void aMarkThatIsInNoSampleDelimitsNothing() {
        int a = mark();
        int b = markAfter(100);
        int start = markAfter(30);
        clock.advance(1_000);
        chain.begin();
        chain.addSample(a, b);
        chain.add(start);
        measureAdded();
        assertBusyAndIdle(100, 0);
        assertThat(chain.last()).isEqualTo(start);
        assertThat(chain.lastCounted()).isEqualTo(b);
    }
}
