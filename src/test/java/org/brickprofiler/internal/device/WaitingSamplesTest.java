package org.brickprofiler.internal.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.junit.jupiter.api.Test;

/**
 * Samples that wait: the mark to wait for, the samples that are done, and the release of their marks when they are
 * dropped.
 */
class WaitingSamplesTest {

    private static final long ONE = 11;
    private static final long OTHER = 22;

    private final FakeClock clock = new FakeClock(0);
    private final SimulatedStream stream = new SimulatedStream("stream", clock);
    private final Marks marks = new Marks(stream);
    private final WaitingSamples waiting = new WaitingSamples(stream, marks);

    private int mark() {
        int mark = stream.mark();
        marks.set(mark, 1, Marks.NOT_READ);
        return mark;
    }

    /** A sample of 100 ns; returns the mark at its end. */
    private int add(int key, long owner) {
        int start = mark();
        stream.work(100);
        int end = mark();
        waiting.add(key, start, end, 10L * key, owner);
        return end;
    }

    private List<Integer> keys(int count) {
        List<Integer> keys = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            assertThat(waiting.elements(i)).isEqualTo(10L * waiting.row(i));
            keys.add(waiting.row(i));
        }
        return keys;
    }

    @Test
    void samplesAreWhatWasAdded() {
        int start = mark();
        int end = mark();
        waiting.add(4_094, start, end, Long.MAX_VALUE, ONE);
        waiting.addSince(0, -77, end, 0, ONE);
        assertThat(waiting.startNs(1)).isEqualTo(-77);
        assertThat(waiting.hasTimes()).isTrue();
        waiting.forgetStarts();
        assertThat(waiting.startNs(1)).isEqualTo(WaitingSamples.NO_START);
        assertThat(waiting.size()).isEqualTo(2);
        assertThat(waiting.row(0)).isEqualTo(4_094);
        assertThat(waiting.start(0)).isEqualTo(start);
        assertThat(waiting.end(0)).isEqualTo(end);
        assertThat(waiting.elements(0)).isEqualTo(Long.MAX_VALUE);
        assertThat(waiting.hasStart(0)).isTrue();
        assertThat(waiting.row(1)).isZero();
        assertThat(waiting.end(1)).isEqualTo(end);
        assertThat(waiting.hasStart(1)).isFalse();
    }

    @Test
    void aThreadWaitsForItsOwnLastMarkAndEverybodyForTheNewest() {
        assertThat(waiting.endToAwait(ONE)).isEqualTo(DeviceStream.NO_MARK);
        assertThat(waiting.endToAwait(DeviceRecorder.EVERYBODY)).isEqualTo(DeviceStream.NO_MARK);
        add(1, ONE);
        int early = mark();
        int last = add(2, ONE);
        int others = add(3, OTHER);
        // This sample is taken from another queue later than its mark was set.
        int start = mark();
        waiting.add(4, start, early, 0, OTHER);
        assertThat(waiting.endToAwait(ONE)).isEqualTo(last);
        assertThat(waiting.endToAwait(OTHER)).isEqualTo(early);
        assertThat(waiting.endToAwait(DeviceRecorder.EVERYBODY)).isEqualTo(others);
        assertThat(waiting.endToAwait(33)).isEqualTo(DeviceStream.NO_MARK);
    }

    @Test
    void theLastUnreachedEndIsThatOfTheThread() {
        int first = add(1, ONE);
        int second = add(2, ONE);
        int others = add(3, OTHER);
        assertThat(waiting.lastUnreachedEnd(ONE)).isEqualTo(second);
        clock.advance(200);
        assertThat(waiting.lastUnreachedEnd(ONE)).isEqualTo(DeviceStream.NO_MARK);
        assertThat(waiting.lastUnreachedEnd(DeviceRecorder.EVERYBODY)).isEqualTo(others);
        clock.set(150);
        assertThat(waiting.lastUnreachedEnd(ONE)).isEqualTo(second);
        assertThat(first).isNotEqualTo(second);
    }

    @Test
    void reachedSamplesComeFirstInTheirOrderAndTheOthersAfterThem() {
        for (int key = 1; key <= 6; key++) {
            add(key, key % 2 == 0 ? ONE : OTHER);
        }
        assertThat(waiting.moveReachedToFront()).isZero();
        clock.set(300);
        assertThat(waiting.moveReachedToFront()).isEqualTo(3);
        assertThat(keys(6)).containsExactly(1, 2, 3, 4, 5, 6);
        int asked = stream.asked();
        clock.set(10_000);
        assertThat(waiting.moveReachedToFront()).isEqualTo(6);
        assertThat(stream.asked()).isEqualTo(asked + 1);
    }

    /** Queues are emptied one after the other: samples of two threads do not lie in the order of their marks. */
    @Test
    void reachedSamplesAreFoundBehindThoseThatAreNot() {
        int[] starts = new int[4];
        int[] ends = new int[4];
        for (int i = 0; i < 4; i++) {
            starts[i] = mark();
            stream.work(100);
            ends[i] = mark();
        }
        for (int i : new int[] {1, 3, 0, 2}) {
            waiting.add(i, starts[i], ends[i], 10L * i, i % 2 == 1 ? ONE : OTHER);
        }
        clock.set(200);
        int asked = stream.asked();
        assertThat(waiting.moveReachedToFront()).isEqualTo(2);
        assertThat(keys(4)).containsExactly(1, 0, 3, 2);
        // Behind a mark that is not reached no later one is queried; the newest, 1, 3, 0 and 2 were.
        assertThat(stream.asked() - asked).isEqualTo(5);
        assertThat(waiting.start(1)).isEqualTo(starts[0]);
        assertThat(waiting.end(3)).isEqualTo(ends[2]);
        assertThat(waiting.endToAwait(OTHER)).isEqualTo(ends[2]);
        assertThat(waiting.endToAwait(ONE)).isEqualTo(ends[3]);
    }

    @Test
    void afterAnUnreachedMarkNoLaterOneIsAskedFor() {
        for (int key = 1; key <= 100; key++) {
            add(key, ONE);
        }
        clock.set(100);
        int asked = stream.asked();
        assertThat(waiting.moveReachedToFront()).isEqualTo(1);
        // The newest, the first, and the second, which is not reached.
        assertThat(stream.asked() - asked).isEqualTo(3);
    }

    @Test
    void samplesOfTheWaitingThreadAreDoneAndOthersOnceAllAreReached() {
        add(1, OTHER);
        add(2, ONE);
        add(3, OTHER);
        add(4, ONE);
        add(5, OTHER);
        clock.set(400);
        assertThat(waiting.moveDoneToFront(ONE)).isEqualTo(2);
        assertThat(keys(5)).containsExactly(2, 4, 1, 3, 5);
        assertThat(waiting.moveDoneToFront(33)).isZero();
        assertThat(waiting.moveDoneToFront(DeviceRecorder.EVERYBODY)).isEqualTo(4);
        assertThat(keys(5)).containsExactly(2, 4, 1, 3, 5);
        clock.set(500);
        assertThat(waiting.moveDoneToFront(ONE)).isEqualTo(5);
    }

    @Test
    void theOnlySampleOfAThreadIsFoundWhereverItIs() {
        int end = add(1, ONE);
        int others = add(2, OTHER);
        assertThat(waiting.endToAwait(ONE)).isEqualTo(end);
        assertThat(waiting.lastUnreachedEnd(ONE)).isEqualTo(end);
        assertThat(waiting.endToAwait(OTHER)).isEqualTo(others);
        assertThat(waiting.lastUnreachedEnd(33)).isEqualTo(DeviceStream.NO_MARK);
    }

    @Test
    void whatWasDroppedIsNotLookedAt() {
        add(1, ONE);
        add(2, ONE);
        clock.set(200);
        waiting.drop(2);
        add(3, OTHER);
        assertThat(waiting.moveDoneToFront(ONE)).isZero();
        assertThat(waiting.moveReachedToFront()).isZero();
        assertThat(keys(1)).containsExactly(3);
    }

    @Test
    void whereAllAreOfTheThreadNothingIsAsked() {
        add(1, ONE);
        add(2, ONE);
        assertThat(waiting.moveDoneToFront(ONE)).isEqualTo(2);
        assertThat(stream.asked()).isZero();
    }

    @Test
    void droppingLetsGoOfTheMarks() {
        add(1, ONE);
        int shared = add(2, OTHER);
        int end = mark();
        marks.hold(shared);
        waiting.add(3, shared, end, 30, ONE);
        int alone = mark();
        waiting.add(4, alone, alone, 40, ONE);
        assertThat(stream.marksHeld()).isEqualTo(6);
        waiting.drop(2);
        assertThat(keys(waiting.size())).containsExactly(3, 4);
        assertThat(stream.marksHeld()).isEqualTo(3);
        assertThat(marks.isHeld(shared)).isTrue();
        waiting.drop(2);
        assertThat(waiting.size()).isZero();
        assertThat(stream.marksHeld()).isZero();
    }

    @Test
    void thousandsMayWait() {
        for (int key = 0; key < 2_000; key++) {
            add(key, key % 3 == 0 ? ONE : OTHER);
        }
        clock.set(100L * 1_000);
        assertThat(waiting.moveDoneToFront(ONE)).isEqualTo(667);
        assertThat(keys(667)).allMatch(key -> key % 3 == 0);
        waiting.drop(667);
        assertThat(keys(waiting.size())).hasSize(1_333).isSorted().noneMatch(key -> key % 3 == 0);
        assertThat(stream.marksHeld()).isEqualTo(2 * 1_333);
    }
}
