package org.brickprofiler.internal.device;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.HostStream;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.junit.jupiter.api.Test;

/** Starts are found by their readings, first as marks and then as times, as long as they are known. */
class StartMarksTest {

    private static final int MARKS = 1 << 17;

    private final FakeClock clock = new FakeClock(0);
    private final SimulatedStream stream = new SimulatedStream("stream", clock, MARKS);
    private final Marks marks = new Marks(stream);
    private final StartMarks starts = new StartMarks(stream, marks);
    private final MarkChain chain = new MarkChain(stream, marks, clock);

    private int put(long reading) {
        int mark = stream.mark();
        marks.setBeginning(mark, 1, reading);
        starts.put(reading, mark);
        return mark;
    }

    private boolean isKnown(long reading) {
        return starts.find(reading) != StartMarks.UNKNOWN;
    }

    /** Measures the starts that are reached; the first batch begins the timeline. */
    private void settle() {
        chain.begin();
        starts.addReached(chain);
        chain.measure(clock.now(), DeviceStream.NO_MARK);
        starts.settle(chain, chain.continueFrom(DeviceStream.NO_MARK, 0));
    }

    @Test
    void aStartIsFoundByItsReadingAlone() {
        assertThat(isKnown(1_000)).isFalse();
        int mark = put(1_000);
        int other = put(1_001);
        assertThat(isKnown(999)).isFalse();
        assertThat(isKnown(1_002)).isFalse();
        assertThat(starts.lend(starts.find(1_001))).isEqualTo(other);
        assertThat(starts.lend(starts.find(1_000))).isEqualTo(mark);
    }

    @Test
    void startsAreFoundInEveryOrder() {
        for (int i = 0; i < 5_000; i++) {
            put(7_919L * i);
        }
        for (int i = 0; i < 5_000; i++) {
            int at = i % 2 == 0 ? i : 4_999 - i;
            assertThat(starts.find(7_919L * at)).as("%d", at).isEqualTo(at);
        }
    }

    @Test
    void theFirstMeasurementTakesOverTheHoldAndOthersHoldOnceMore() {
        int mark = put(5);
        assertThat(starts.lend(starts.find(5))).isEqualTo(mark);
        marks.letGo(mark);
        assertThat(stream.marksHeld()).isZero();
        int second = put(6);
        assertThat(starts.lend(starts.find(6))).isEqualTo(second);
        assertThat(starts.lend(starts.find(6))).isEqualTo(second);
        marks.letGo(second);
        assertThat(stream.marksHeld()).isEqualTo(1);
        marks.letGo(second);
        assertThat(stream.marksHeld()).isZero();
    }

    @Test
    void aStartThatIsReachedIsATimeAndHoldsNoMark() {
        put(1);
        stream.work(500);
        put(2);
        stream.work(1_000);
        put(3);
        clock.advance(500);
        assertThat(starts.hasReached()).isTrue();
        settle();
        assertThat(stream.marksHeld()).isEqualTo(1);
        assertThat(starts.hasReached()).isFalse();
        assertThat(starts.hasTimes()).isTrue();
        assertThat(starts.isTime(starts.find(3))).isFalse();
        assertThat(starts.isTime(starts.find(1))).isTrue();
        long first = starts.useTime(starts.find(1));
        assertThat(starts.useTime(starts.find(2))).isEqualTo(first + 500);
        assertThat(starts.useTime(starts.find(2))).isEqualTo(first + 500);
        starts.forgetTimes();
        assertThat(starts.hasTimes()).isFalse();
        assertThat(isKnown(1)).isFalse();
        assertThat(isKnown(3)).isTrue();
    }

    @Test
    void aStartWithoutATimeIsNotKnownAnyMore() {
        stream.capture(true);
        put(1);
        stream.capture(false);
        settle();
        assertThat(isKnown(1)).isFalse();
        assertThat(starts.hasTimes()).isFalse();
        assertThat(stream.marksHeld()).isZero();
    }

    @Test
    void aMeasurementWithoutAnEndGivesTheMarkOfItsStartBack() {
        put(1);
        starts.withdraw(1);
        assertThat(isKnown(1)).isFalse();
        assertThat(stream.marksHeld()).isZero();
        int lent = put(2);
        starts.lend(starts.find(2));
        starts.withdraw(2);
        starts.withdraw(3);
        assertThat(isKnown(2)).isTrue();
        starts.forgetLent();
        assertThat(isKnown(2)).isFalse();
        assertThat(marks.isHeld(lent)).isTrue();
    }

    @Test
    void startsThatAreClearedHoldNoMarks() {
        put(1);
        put(2);
        clock.advance(1);
        settle();
        put(3);
        starts.clear();
        assertThat(isKnown(1) || isKnown(2) || isKnown(3)).isFalse();
        assertThat(starts.hasTimes()).isFalse();
        assertThat(stream.marksHeld()).isZero();
    }

    /** A start around a generation stays known behind many passes with starts of their own. */
    @Test
    void aStartAtWhichNoMeasurementBeganOutlivesThoseThatWereUsed() {
        put(-1);
        int used = 300_000;
        for (int i = 0; i < used; i++) {
            put(i);
            settle();
            starts.useTime(starts.find(i));
        }
        assertThat(isKnown(-1)).isTrue();
        for (int i = used - StartMarks.USED_KEPT; i < used; i++) {
            assertThat(isKnown(i)).as("%d", i).isTrue();
        }
        assertThat(isKnown(0)).isFalse();
        assertThat(stream.marksHeld()).isZero();
    }

    @Test
    void ofTooManyStartsTheLatestAreKnown() {
        int many = MARKS - 1;
        for (int i = 0; i < many; i++) {
            put(i);
        }
        for (int i = many - StartMarks.MOST_KNOWN / 2; i < many; i++) {
            assertThat(isKnown(i)).as("%d", i).isTrue();
        }
        assertThat(isKnown(0)).isFalse();
        assertThat(stream.marksHeld()).isLessThanOrEqualTo(StartMarks.MOST_KNOWN);
    }

    @Test
    void startsOfSamplesThatWaitMakeRoomToo() {
        for (int i = 0; i < MARKS - 1; i++) {
            put(i);
            starts.lend(starts.find(i));
        }
        assertThat(isKnown(MARKS - 2)).isTrue();
        assertThat(isKnown(0)).isFalse();
    }

    @Test
    void nothingIsAllocatedOnceItHasItsSize() {
        HostStream host = new HostStream();
        Marks set = new Marks(host);
        StartMarks found = new StartMarks(host, set);
        long[] next = {0};
        Runnable pass = () -> {
            for (int i = 0; i < 10_000; i++) {
                int mark = host.mark();
                set.setBeginning(mark, 1, 0);
                found.put(next[0], mark);
                set.letGo(found.lend(found.find(next[0]++)));
            }
            found.find(-1);
        };
        pass.run();
        pass.run();
        assertThat(AllocatedBytes.fewest(5, () -> AllocatedBytes.of(pass))).isZero();
    }
}
