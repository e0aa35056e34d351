package org.brickprofiler.trace.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.request.Wait;
import org.brickprofiler.request.WaitSource.Split;
import org.brickprofiler.request.WaitSource.Waiting;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

@Spec("25.32")
final class StopLogTest {

    private static final long MINE = 7;
    private static final long OTHER = 8;

    private final Map<Long, Long> waitedNs = new HashMap<>();
    private final StopLog log = new StopLog();
    private final RequestWaits waits =
            new RequestWaits("a test", log, (thread, fromNs, toNs) -> waitedNs.getOrDefault(thread, 0L));

    private Map<Wait, Long> split(long fromNs, long toNs, long waited) {
        Split split = waits.split(List.of(new Waiting(fromNs, toNs, waited, MINE)));
        Map<Wait, Long> all = new HashMap<>(split.waitNs());
        all.values().removeIf(ns -> ns == 0);
        return all;
    }

    @Test
    void aCollectionStopsEveryThreadAndALockOnlyItsOwn() {
        log.add(new StopLog.Pause(10, 20));
        log.add(new StopLog.Block(OTHER, 0, 100, "a lock of another thread"));
        assertThat(split(0, 100, 100)).containsExactlyEntriesOf(Map.of(Wait.GC, 10L));
        assertThat(split(15, 100, 85)).containsExactlyEntriesOf(Map.of(Wait.GC, 5L));
        assertThat(split(20, 100, 80)).isEmpty();
        assertThat(waits.split(List.of(new Waiting(0, 12, 12, -1))).waitNs()).containsEntry(Wait.GC, 2L);
    }

    @Test
    void aMomentOfTwoKindsCountsForTheFirstOfThem() {
        log.add(new StopLog.Pause(10, 20));
        log.add(new StopLog.Pause(30, 35));
        log.add(new StopLog.Block(MINE, 15, 60, "a lock"));
        waitedNs.put(MINE, 25L);
        assertThat(split(0, 100, 100)).isEqualTo(Map.of(Wait.GC, 15L, Wait.BLOCKED, 35L, Wait.NO_PROCESSOR, 25L));
        // Of the 100 ns, the thread worked for 40, which may have been at any place.
        assertThat(split(0, 100, 60)).isEqualTo(Map.of(Wait.GC, 15L, Wait.BLOCKED, 35L, Wait.NO_PROCESSOR, 10L));
        assertThat(split(0, 100, 20)).isEqualTo(Map.of(Wait.GC, 15L, Wait.BLOCKED, 5L));
    }

    @Test
    void aQuotaExplainsWaitsForAProcessorOnly() {
        log.throttled(0, 1_000);
        log.throttled(50, 1_010);
        log.throttled(100, 1_012);
        assertThat(split(0, 100, 100)).isEmpty();
        waitedNs.put(MINE, 30L);
        assertThat(split(0, 100, 100)).isEqualTo(Map.of(Wait.THROTTLED, 12L, Wait.NO_PROCESSOR, 18L));
        assertThat(split(10, 40, 30)).isEqualTo(Map.of(Wait.THROTTLED, 10L, Wait.NO_PROCESSOR, 20L));
        assertThat(split(60, 200, 140)).isEqualTo(Map.of(Wait.THROTTLED, 2L, Wait.NO_PROCESSOR, 28L));
    }

    @Test
    void aSourceThatReadNoQuotaSaysThatThrottlingIsUnknown() {
        assertThat(waits.name()).isEqualTo("a test (throttled by a CPU quota: unknown)");
        assertThat(new RequestWaits("pauses alone", log, RequestWaits.Processors.UNKNOWN).name())
                .isEqualTo("pauses alone");
        log.throttled(0, 0);
        assertThat(waits.name()).isEqualTo("a test");
        assertThat(log.knowsThrottling(0, 0)).isTrue();
        assertThat(log.knowsThrottling(-1, 0)).isFalse();
        assertThat(log.knowsThrottling(0, 1)).isFalse();
    }

    /** A quota that is not used up gives the same sum ten times a second. */
    @Test
    void readingsWithTheSameSumPushOutNoOtherOnes() {
        log.throttled(0, 1_000);
        for (int i = 1; i <= 20_000; i++) {
            log.throttled(10L * i, i < 10_000 ? 1_007 : 1_010);
        }
        waitedNs.put(MINE, 30L);
        assertThat(split(0, 50, 50)).isEqualTo(Map.of(Wait.THROTTLED, 7L, Wait.NO_PROCESSOR, 23L));
        assertThat(split(50, 99_980, 50)).isEqualTo(Map.of(Wait.NO_PROCESSOR, 30L));
        assertThat(split(99_985, 99_995, 10)).isEqualTo(Map.of(Wait.THROTTLED, 3L, Wait.NO_PROCESSOR, 7L));
        assertThat(split(100_010, 300_000, 50)).isEqualTo(Map.of(Wait.NO_PROCESSOR, 30L));
    }

    @Test
    void theLockThatBlockedLongestIsNamed() {
        log.add(new StopLog.Block(MINE, 0, 10, "one"));
        log.add(new StopLog.Block(MINE, 20, 32, "two"));
        log.add(new StopLog.Block(MINE, 40, 45, "one"));
        assertThat(waits.split(List.of(new Waiting(0, 35, 35, MINE))).lock()).contains("two");
        assertThat(waits.split(List.of(new Waiting(0, 35, 35, MINE), new Waiting(36, 50, 14, MINE)))
                        .lock())
                .contains("one");
        assertThat(waits.split(List.of(new Waiting(10, 20, 10, MINE))).lock()).isEmpty();
    }

    @Test
    void theOldestTimesAreForgotten() {
        for (int i = 0; i <= 1 << 15; i++) {
            log.add(new StopLog.Pause(20L * i, 20L * i + 5));
            log.add(new StopLog.Block(MINE, 20L * i + 5, 20L * i + 15, "a lock"));
        }
        assertThat(split(0, 40, 40)).isEqualTo(Map.of(Wait.GC, 5L, Wait.BLOCKED, 10L));
    }
}
