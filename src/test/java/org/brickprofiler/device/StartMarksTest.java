package org.brickprofiler.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.record.Crew;
import org.brickprofiler.record.FakeClock;
import org.junit.jupiter.api.Test;

/** Marks are found by the readings they were put with, as long as they are kept, and given up once each. */
class StartMarksTest {

    private static final int MARKS = 1_024;
    private static final int KEPT = 64;

    private final SimulatedStream stream = new SimulatedStream("stream", new FakeClock(0), MARKS);
    private final MarkStates states = new MarkStates(MARKS);
    private final StartMarks starts = new StartMarks(states, stream);

    private int put(long value) {
        int mark = stream.mark();
        states.setValue(mark, value);
        states.set(mark, 1, 0, false, value);
        starts.put(value, mark);
        return mark;
    }

    private boolean isFound(long value) {
        long entry = starts.find(value);
        if (entry == StartMarks.NONE) {
            return false;
        }
        assertThat(states.value(StartMarks.mark(entry))).isEqualTo(value);
        assertThat(states.generation(StartMarks.mark(entry))).isEqualTo(StartMarks.generation(entry));
        starts.letGo(entry);
        return true;
    }

    @Test
    void aMarkIsFoundByItsReadingAlone() {
        assertThat(isFound(1_000)).isFalse();
        int mark = put(1_000);
        int other = put(1_001);
        assertThat(StartMarks.mark(starts.find(1_000))).isEqualTo(mark);
        assertThat(StartMarks.mark(starts.find(1_001))).isEqualTo(other);
        assertThat(isFound(999)).isFalse();
        assertThat(isFound(1_002)).isFalse();
    }

    @Test
    void theLatestAreKeptAndOthersGivenUp() {
        for (int i = 0; i < 100 * KEPT; i++) {
            put(7_919L * i);
            for (int back = 0; back < KEPT / 2 && back <= i; back++) {
                assertThat(isFound(7_919L * (i - back))).as("%d before %d", back, i).isTrue();
            }
            assertThat(stream.marksHeld()).isLessThanOrEqualTo(2 * KEPT);
        }
        assertThat(isFound(0)).isFalse();
    }

    @Test
    void whoeverFoundAMarkHoldsItBeyondTheTable() {
        int mark = put(5);
        long entry = starts.find(5);
        for (int i = 0; i < 10 * KEPT; i++) {
            put(100 + i);
        }
        assertThat(isFound(5)).isFalse();
        assertThat(states.isHeld(mark)).isTrue();
        assertThat(states.value(mark)).isEqualTo(5);
        starts.letGo(entry);
        assertThat(states.isHeld(mark)).isFalse();
    }

    @Test
    void theOlderHalfIsGivenUpForOthers() {
        for (int i = 0; i < KEPT; i++) {
            put(i);
        }
        starts.giveUpOlder();
        assertThat(stream.marksHeld()).isEqualTo(KEPT / 2);
        assertThat(isFound(KEPT - 1)).isTrue();
        assertThat(isFound(0)).isFalse();
    }

    @Test
    void threadsFindTheirOwnMarksWhileOthersPut() throws Exception {
        AtomicLong values = new AtomicLong();
        Crew crew = new Crew();
        for (int thread = 0; thread < 4; thread++) {
            crew.run(() -> {
                for (int i = 0; i < 20_000; i++) {
                    long value = values.addAndGet(100);
                    int mark = put(value);
                    long entry = starts.find(value);
                    // Between the two others may have put as many as are kept, if this thread was held up.
                    if (entry != StartMarks.NONE) {
                        assertThat(StartMarks.mark(entry)).isEqualTo(mark);
                        starts.letGo(entry);
                    }
                }
            });
        }
        crew.join();
        assertThat(stream.marksHeld()).isLessThanOrEqualTo(2 * KEPT);
        assertThat(isFound(values.get())).isTrue();
    }
}
