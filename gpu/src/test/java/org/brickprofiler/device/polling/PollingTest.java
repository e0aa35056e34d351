package org.brickprofiler.device.polling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.device.polling.Polling.Answer;
import org.junit.jupiter.api.Test;

/** Polling, on a clock that only pauses and questions advance. */
class PollingTest {

    private static final long ASKING_NS = 1_000;
    private static final long SECOND_NS = 1_000_000_000;

    private long nowNs = 5;
    private final List<Long> pauses = new ArrayList<>();
    private final Polling polling = new Polling(() -> nowNs, ns -> {
        pauses.add(ns);
        nowNs += ns;
    });

    private Answer await(long reachedNs, long timeoutNs, Answer before) {
        long begunNs = nowNs;
        return polling.await(
                number -> {
                    assertThat(number).isEqualTo(7);
                    nowNs += ASKING_NS;
                    return nowNs - begunNs >= reachedNs ? Answer.REACHED : before;
                },
                7,
                timeoutNs);
    }

    @Test
    void whatIsReachedIsAskedForOnce() {
        assertThat(await(0, 0, Answer.NOT_YET)).isEqualTo(Answer.REACHED);
        assertThat(nowNs).isEqualTo(5 + ASKING_NS);
        assertThat(pauses).isEmpty();
    }

    @Test
    void aShortWaitDoesNotPause() {
        assertThat(await(40_000, SECOND_NS, Answer.NOT_YET)).isEqualTo(Answer.REACHED);
        assertThat(pauses).isEmpty();
        assertThat(nowNs).isEqualTo(5 + 40_000);
    }

    @Test
    void aWaitEndsLateByAShortPauseAtMost() {
        for (long ns : new long[] {100_000, 1_000_000, 5_000_000, 30_000_000, 2 * SECOND_NS}) {
            pauses.clear();
            long begunNs = nowNs;
            assertThat(await(ns, 10 * SECOND_NS, Answer.NOT_YET)).isEqualTo(Answer.REACHED);
            assertThat(nowNs - begunNs - ns)
                    .as("late by ns, of %s", ns)
                    .isBetween(0L, ASKING_NS + Math.min(500_000, Math.max(20_000, ns / 4_096)));
            assertThat(pauses).isNotEmpty().allMatch(pause -> pause >= 20_000 && pause <= 500_000);
        }
        // If pauses did not grow, there would be a hundred thousand.
        assertThat(pauses).hasSizeLessThan(20_000);
    }

    @Test
    void aWaitEndsAtItsTimeout() {
        assertThat(await(Long.MAX_VALUE, 3_000_000, Answer.NOT_YET)).isEqualTo(Answer.NOT_YET);
        assertThat(nowNs - 5).isBetween(3_000_000L, 3_000_000 + 3 * ASKING_NS);
    }

    /** Between the answer and the next look at the clock, the device was done, and the timeout came. */
    @Test
    void aThreadThatLosesItsProcessorAsksOnceMoreAfterTheTimeout() {
        int[] asked = {0};
        Answer answer = polling.await(
                number -> {
                    asked[0]++;
                    nowNs += asked[0] == 2 ? 2 * SECOND_NS : ASKING_NS;
                    return asked[0] == 3 ? Answer.REACHED : Answer.NOT_YET;
                },
                0,
                SECOND_NS);
        assertThat(answer).isEqualTo(Answer.REACHED);
    }

    @Test
    void theLargestTimeoutDoesNotOverflow() {
        assertThat(await(SECOND_NS, Long.MAX_VALUE, Answer.NOT_YET)).isEqualTo(Answer.REACHED);
    }

    @Test
    void aRefusalEndsAWait() {
        assertThat(await(SECOND_NS, SECOND_NS, Answer.REFUSED)).isEqualTo(Answer.REFUSED);
        assertThat(pauses).isEmpty();
    }

    @Test
    void aWaitEndsWhenTheAnswerIsBusyForTooLong() {
        assertThat(await(50_000_000, SECOND_NS, Answer.BUSY)).isEqualTo(Answer.REACHED);
        long begunNs = nowNs;
        assertThat(await(Long.MAX_VALUE, SECOND_NS, Answer.BUSY)).isEqualTo(Answer.BUSY);
        assertThat(nowNs - begunNs).isBetween(Polling.MOST_BUSY_NS, Polling.MOST_BUSY_NS + 1_000_000);
    }

    @Test
    void onlyBusyAnswersInARowCount() {
        int[] asked = {0};
        Answer answer = polling.await(
                number -> {
                    nowNs += Polling.MOST_BUSY_NS / 2;
                    return asked[0]++ % 2 == 0 ? Answer.BUSY : Answer.NOT_YET;
                },
                0,
                SECOND_NS);
        assertThat(answer).isEqualTo(Answer.NOT_YET);
        assertThat(nowNs).isGreaterThan(SECOND_NS);
    }

    @Test
    void anInterruptEndsNoWaitAndIsKept() {
        Thread.currentThread().interrupt();
        assertThat(await(1_000_000, SECOND_NS, Answer.NOT_YET)).isEqualTo(Answer.REACHED);
        assertThat(Thread.interrupted()).isTrue();
        // A thread whose status stayed set would not be parked: the second pause onwards finds it cleared.
        boolean[] set = new boolean[1];
        Polling looking = new Polling(() -> nowNs, ns -> {
            nowNs += ns;
            set[0] = Thread.currentThread().isInterrupted();
        });
        Thread.currentThread().interrupt();
        long untilNs = nowNs + 1_000_000;
        looking.await(number -> nowNs >= untilNs ? Answer.REACHED : advance(), 0, SECOND_NS);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(set[0]).isFalse();
    }

    private Answer advance() {
        nowNs += ASKING_NS;
        return Answer.NOT_YET;
    }
}
