package org.brickprofiler.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.internal.record.Crew;
import org.brickprofiler.internal.record.FakeClock;
import org.junit.jupiter.api.Test;

/** Marks are found by the readings they were put with, as long as they are kept, and given up once each. */
class StartMarksTest {

    private static final int MARKS = 1_024;
    private static final int KEPT = 64;

    private final SimulatedStream stream = new SimulatedStream("stream", new FakeClock(0), MARKS);
    private final Marks marks = new Marks(stream);
    private final StartMarks starts = new StartMarks(marks);

    private long put(long reading) {
        int mark = stream.mark();
        marks.setReading(mark, reading);
        long handle = marks.set(mark, 1, reading);
        starts.put(reading, handle);
        return handle;
    }

    private boolean isFound(long reading) {
        long handle = starts.find(reading);
        if (handle == Marks.NONE) {
            return false;
        }
        assertThat(marks.reading(Marks.mark(handle))).isEqualTo(reading);
        assertThat(marks.isCurrent(handle)).isTrue();
        marks.letGo(handle);
        return true;
    }

    @Test
    void aMarkIsFoundByItsReadingAlone() {
        assertThat(isFound(1_000)).isFalse();
        long mark = put(1_000);
        long other = put(1_001);
        assertThat(starts.find(1_000)).isEqualTo(mark);
        assertThat(starts.find(1_001)).isEqualTo(other);
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
        long mark = put(5);
        assertThat(starts.find(5)).isEqualTo(mark);
        for (int i = 0; i < 10 * KEPT; i++) {
            put(100 + i);
        }
        assertThat(isFound(5)).isFalse();
        assertThat(marks.isCurrent(mark)).isTrue();
        assertThat(marks.reading(Marks.mark(mark))).isEqualTo(5);
        marks.letGo(mark);
        assertThat(marks.isCurrent(mark)).isFalse();
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
                    long mark = put(value);
                    long found = starts.find(value);
                    // Between the two others may have put as many as are kept, if this thread was held up.
                    if (found != Marks.NONE) {
                        assertThat(found).isEqualTo(mark);
                        marks.letGo(found);
                    }
                }
            });
        }
        crew.join();
        assertThat(stream.marksHeld()).isLessThanOrEqualTo(2 * KEPT);
        assertThat(isFound(values.get())).isTrue();
    }
}
