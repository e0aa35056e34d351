package org.brickprofiler.device.polling;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.brickprofiler.spi.NanoClock;

/**
 * Waits for a device by polling: at first without a pause, then with pauses that grow with the time waited so far.
 * During a pause the thread holds neither a monitor nor a driver context, and is parked, so a virtual thread unmounts
 * from its carrier. Any thread; allocates nothing on a platform thread.
 *
 * <p>A wait spins for its first 50 us. After that it ends late by at most one pause and the time that the operating
 * system takes to wake the thread. A pause is 1/4,096 of the time waited so far, but at least 20 us and at most 500 us.
 * Pauses are short because the end of a wait serves as a bound when device times are converted to host times.
 *
 * <p>An interrupt does not end a wait. The wait restores the thread's interrupt status when it ends.
 */
public final class Polling {

    /** Polls with the clock of the virtual machine and real pauses. */
    public static final Polling SYSTEM = new Polling(NanoClock.SYSTEM, LockSupport::parkNanos);

    /** The time within which an answer of {@link Answer#BUSY} is expected to change, ns. */
    public static final long MOST_BUSY_NS = 100_000_000;

    private static final long SPIN_NS = 50_000;
    private static final long SHORTEST_PAUSE_NS = 20_000;
    private static final long LONGEST_PAUSE_NS = 500_000;
    private static final long PAUSE_FRACTION = 4_096;

    /** The answer to a question. */
    public enum Answer {
        /** The awaited event has happened. */
        REACHED,
        /** The event may still happen. */
        NOT_YET,
        /** The device cannot be queried at the moment, because another thread uses the necessary object. */
        BUSY,
        /** The event cannot be waited for. */
        REFUSED
    }

    /** The condition of a wait. */
    @FunctionalInterface
    public interface Question {
        /**
         * Asks whether the result is available, without waiting.
         *
         * @param number the number of the event
         * @return the answer
         */
        Answer ask(int number);
    }

    private final NanoClock clock;
    private final LongConsumer pause;

    /**
     * Creates a polling with a clock.
     *
     * @param clock measures the wait
     * @param pause lets the calling thread rest for about the given number of ns
     */
    Polling(NanoClock clock, LongConsumer pause) {
        this.clock = clock;
        this.pause = pause;
    }

    /**
     * Converts a timeout to ns.
     *
     * @param timeout the longest time to wait
     * @return ns; {@link Long#MAX_VALUE} for a longer timeout
     * @throws IllegalArgumentException when the timeout is zero or negative
     */
    public static long timeoutNs(Duration timeout) {
        if (timeout.isZero() || timeout.isNegative()) {
            throw new IllegalArgumentException("wait timeout " + timeout + ": expected more than zero");
        }
        try {
            return timeout.toNanos();
        } catch (ArithmeticException longerThanCanBeWaited) {
            return Long.MAX_VALUE;
        }
    }

    /**
     * Waits until an event has happened.
     *
     * @param question asks whether the event has happened; called at least once
     * @param number passed to the question
     * @param timeoutNs the timeout, ns
     * @return {@link Answer#REACHED} or {@link Answer#REFUSED}; {@link Answer#BUSY} if this was the answer for
     *     {@link #MOST_BUSY_NS}, or the last answer before the timeout; otherwise {@link Answer#NOT_YET} after the
     *     timeout
     */
    public Answer await(Question question, int number, long timeoutNs) {
        Objects.requireNonNull(question, "question");
        Answer answer = question.ask(number);
        return isFinal(answer) ? answer : awaitLonger(question, number, timeoutNs, answer);
    }

    private static boolean isFinal(Answer answer) {
        return answer == Answer.REACHED || answer == Answer.REFUSED;
    }

    private Answer awaitLonger(Question question, int number, long timeoutNs, Answer first) {
        Answer answer = first;
        long begunNs = clock.nanoTime();
        long waitedNs = 0;
        long busySinceNs = 0;
        boolean interrupted = false;
        try {
            while (waitedNs < timeoutNs) {
                if (answer == Answer.BUSY && waitedNs - busySinceNs >= MOST_BUSY_NS) {
                    return answer;
                }
                if (waitedNs < SPIN_NS) {
                    Thread.onSpinWait();
                } else {
                    pause.accept(Math.min(pauseNs(waitedNs), timeoutNs - waitedNs));
                    // While the interrupt status is set, the thread would not park.
                    interrupted |= Thread.interrupted();
                }
                // Read before the question: a thread that was preempted asks once more after the timeout.
                waitedNs = clock.nanoTime() - begunNs;
                answer = question.ask(number);
                if (isFinal(answer)) {
                    return answer;
                }
                busySinceNs = answer == Answer.BUSY ? busySinceNs : waitedNs;
            }
            return answer;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static long pauseNs(long waitedNs) {
        return Math.min(LONGEST_PAUSE_NS, Math.max(SHORTEST_PAUSE_NS, waitedNs / PAUSE_FRACTION));
    }
}
