package org.brickprofiler.internal.device;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.device.HostStream;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.junit.jupiter.api.Test;

/** The holders of a mark, its release to the stream, and the data that is known of it until then. */
class MarksTest {

    private static final int BOUND = 600;

    private final SimulatedStream stream = new SimulatedStream("stream", new FakeClock(0), BOUND);
    private final Marks marks = new Marks(stream);

    private long set(int holders) {
        return marks.set(stream.mark(), holders, Marks.NOT_READ);
    }

    private long set() {
        return set(1);
    }

    // ---- who holds it ----

    @Test
    void whoeverLetsGoLastGivesTheMarkBack() {
        long mark = set(2);
        marks.hold(Marks.mark(mark));
        for (int holder = 0; holder < 2; holder++) {
            marks.letGo(mark);
            assertThat(marks.isCurrent(mark)).isTrue();
            assertThat(marks.isHeld(Marks.mark(mark))).isTrue();
            assertThat(stream.marksHeld()).isEqualTo(1);
        }
        marks.letGo(Marks.mark(mark));
        assertThat(stream.marksHeld()).isZero();
        assertThat(marks.isCurrent(mark)).isFalse();
        assertThat(marks.isHeld(Marks.mark(mark))).isFalse();
    }

    @Test
    void aMarkThatWasGivenBackCannotBeLetGo() {
        long first = set();
        marks.letGo(first);
        long second = set();
        assertThat(Marks.mark(second)).isEqualTo(Marks.mark(first));
        assertThat(second).isNotEqualTo(first);
        assertThat(marks.handle(Marks.mark(second))).isEqualTo(second);
        marks.letGo(first);
        assertThat(marks.isCurrent(first)).isFalse();
        assertThat(marks.isCurrent(second)).isTrue();
        assertThat(stream.marksHeld()).isEqualTo(1);
        marks.giveUp(Marks.mark(second));
        assertThat(marks.isCurrent(second)).isFalse();
        assertThat(stream.marksHeld()).isZero();
    }

    @Test
    void noOtherHandleIsCurrent() {
        long mark = set();
        assertThat(marks.isCurrent(Marks.NONE)).isFalse();
        assertThat(new Marks(stream).isCurrent(mark)).isFalse();
        assertThat(marks.isCurrent(mark + 1)).isFalse();
        assertThat(marks.isCurrent((mark & ~0xF_FFFFL) | BOUND)).isFalse();
        assertThat(marks.isCurrent((mark & ~0xF_FFFFL) | 0xF_FFFFL)).isFalse();
        // A number that was never set has the generation of no mark.
        assertThat(marks.isCurrent(Marks.mark(mark) + 1)).isFalse();
    }

    @Test
    void generationsGoRoundWithoutTheOneOfNoMark() {
        HostStream host = new HostStream();
        Marks many = new Marks(host);
        long first = many.set(host.mark(), 1, Marks.NOT_READ);
        many.letGo(first);
        long handle = Marks.NONE;
        // The generation of a number increases when the number is set and when it is given back, and skips 0 once.
        for (int i = 0; i < (1 << 22) - 1; i++) {
            handle = many.set(host.mark(), 1, Marks.NOT_READ);
            assertThat(Marks.mark(handle)).isEqualTo(Marks.mark(first));
            many.letGo(handle);
        }
        assertThat(handle >>> 20).isEqualTo((1 << 23) - 1);
        handle = many.set(host.mark(), 1, Marks.NOT_READ);
        assertThat(handle >>> 20).isEqualTo(2);
    }

    @Test
    void theHoldOfATimerIsClaimedOnce() {
        long first = set();
        assertThat(marks.claim(Marks.mark(first))).isTrue();
        assertThat(marks.claim(Marks.mark(first))).isFalse();
        marks.letGo(first);
        long second = set();
        assertThat(marks.claim(Marks.mark(second))).isTrue();
        assertThat(marks.isCurrent(second)).isTrue();
    }

    // ---- what is known of it ----

    @Test
    void theHostsClockIsKnownWhereItWasRead() {
        long read = marks.set(stream.mark(), 1, -7);
        assertThat(marks.setNs(Marks.mark(read))).isEqualTo(-7);
        marks.letGo(read);
        long notRead = set();
        assertThat(Marks.mark(notRead)).isEqualTo(Marks.mark(read));
        assertThat(marks.setNs(Marks.mark(notRead))).isEqualTo(Marks.NOT_READ);
    }

    @Test
    void readingsAndLinesAreThoseThatWereNoted() {
        for (int i = 0; i < BOUND; i++) {
            int mark = stream.mark();
            marks.setReading(mark, 1_000 + i);
            marks.set(mark, 1, Marks.NOT_READ);
            marks.setLine(mark, -i);
            assertThat(marks.reading(mark)).isEqualTo(1_000 + i);
            assertThat(marks.line(mark)).isEqualTo(-i);
        }
        assertThat(marks.reading(5)).isNotEqualTo(marks.reading(6));
        assertThat(marks.line(BOUND - 1)).isNotEqualTo(marks.line(BOUND - 2));
    }

    @Test
    void turnsAreInTheOrderOfSetting() {
        int first = Marks.mark(set());
        int second = Marks.mark(set());
        marks.letGo(first);
        int third = Marks.mark(set());
        assertThat(third).isEqualTo(first);
        assertThat(marks.turn(third)).isGreaterThan(marks.turn(second));
    }

    @Test
    void marksAreOfThePassInWhichTheyWereSet() {
        int one = Marks.mark(set());
        int same = Marks.mark(set());
        assertThat(marks.areOfOnePass(one, same)).isTrue();
        assertThat(marks.isOfPassNow(one)).isTrue();
        marks.endPass();
        int next = Marks.mark(set());
        assertThat(marks.areOfOnePass(one, next)).isFalse();
        assertThat(marks.isOfPassNow(one)).isFalse();
        assertThat(marks.isOfPassNow(next)).isTrue();
        marks.endPass();
        int third = Marks.mark(set());
        assertThat(marks.areOfOnePass(next, third)).isFalse();
        assertThat(marks.isOfPassNow(third)).isTrue();
        assertThat(marks.followsGap(third)).isFalse();
    }

    @Test
    void theFirstMarkAfterABrickWithoutOneFollowsAGap() {
        int before = Marks.mark(set());
        marks.miss();
        marks.endPass();
        int after = Marks.mark(set());
        int later = Marks.mark(set());
        assertThat(marks.followsGap(before)).isFalse();
        assertThat(marks.followsGap(after)).isTrue();
        assertThat(marks.followsGap(later)).isFalse();
        assertThat(marks.isOfPassNow(after)).isTrue();
        assertThat(marks.areOfOnePass(after, later)).isTrue();
    }

    // ---- what was abandoned ----

    @Test
    void marksOfTwoBoundariesAgoAreTakenBackUnlessTheyAreKept() {
        long kept = marks.setBeginning(stream.mark(), 1, Marks.NOT_READ);
        long released = set();
        long abandoned = marks.setBeginning(stream.mark(), 1, Marks.NOT_READ);
        marks.letGo(released);
        marks.reachBoundary();
        long later = marks.setBeginning(stream.mark(), 1, Marks.NOT_READ);
        assertThat(marks.mayHaveAbandoned()).isTrue();
        marks.takeBackAbandoned(new boolean[marks.room()]);
        assertThat(marks.mayHaveAbandoned()).isFalse();
        assertThat(stream.marksHeld()).isEqualTo(3);
        marks.reachBoundary();
        assertThat(marks.mayHaveAbandoned()).isTrue();
        boolean[] keep = new boolean[marks.room()];
        keep[Marks.mark(kept)] = true;
        marks.takeBackAbandoned(keep);
        assertThat(marks.isCurrent(kept)).isTrue();
        assertThat(marks.isCurrent(abandoned)).isFalse();
        assertThat(marks.isCurrent(later)).isTrue();
        assertThat(stream.marksHeld()).isEqualTo(2);
        marks.letGo(abandoned);
        assertThat(stream.marksHeld()).isEqualTo(2);
    }

    @Test
    void theMarksOfWhatBeganAndDidNotEndAreTakenBack() {
        long running = marks.setBeginning(stream.mark(), 1, 5);
        long lapped = marks.setBeginning(stream.mark(), 2, Marks.NOT_READ);
        long kept = marks.setBeginning(stream.mark(), 1, 7);
        long end = set();
        boolean[] keep = new boolean[marks.room()];
        keep[Marks.mark(kept)] = true;
        marks.takeBackBeginnings(keep);
        assertThat(marks.isCurrent(running)).isFalse();
        // The sample that the lap ended is on its way, and so is the one that ends at the last mark.
        assertThat(marks.isCurrent(lapped)).isTrue();
        assertThat(marks.isCurrent(end)).isTrue();
        assertThat(marks.isCurrent(kept)).isTrue();
        assertThat(marks.setNs(Marks.mark(kept))).isEqualTo(7);
        marks.letGo(lapped);
        marks.takeBackBeginnings(keep);
        assertThat(marks.isCurrent(lapped)).isFalse();
        assertThat(stream.marksHeld()).isEqualTo(2);
        marks.takeBackAll();
        assertThat(stream.marksHeld()).isZero();
        assertThat(marks.isCurrent(kept)).isFalse();
    }

    @Test
    void thereIsRoomForTheMarksThatWereSet() {
        assertThat(marks.bound()).isEqualTo(BOUND);
        assertThat(marks.room()).isZero();
        SimulatedStream wide = new SimulatedStream("wide", new FakeClock(0), 2_500);
        Marks many = new Marks(wide);
        for (int i = 0; i < 1_024; i++) {
            many.set(wide.mark(), 1, Marks.NOT_READ);
        }
        assertThat(many.room()).isBetween(1_024, 2_499);
        for (int i = 1_024; i < 2_500; i++) {
            many.set(wide.mark(), 1, Marks.NOT_READ);
        }
        assertThat(many.room()).isEqualTo(2_500);
        set();
        assertThat(marks.room()).isEqualTo(BOUND);
    }
}
