package org.brickprofiler.internal.io;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.brickprofiler.spi.NanoClock;

/**
 * Waits for a device by asking again and again: at first without a pause, then with pauses that grow with the time that
 * was waited. Between two questions a thread holds nothing, neither a monitor nor a context of a driver, and it is
 * parked: a virtual thread leaves its carrier. Any thread; allocates nothing on a platform thread.
 *
 * <p>A wait ends late by a pause at most: by 1/4,096 of the wait, and by at least 20 us and at most 500 us, to which
 * the operating system adds the time that it takes to wake a thread. In its first 50 us a wait does not pause. Pauses
 * are short since the end of a wait is a bound of the device's clock in the host's.
 *
 * <p>An interrupt does not end a wait. The thread's interrupt status is set again at its end.
 */
public final class Polling {

    /** The polling of the machine: its clock, and real pauses. */
    public static final Polling SYSTEM = new Polling(NanoClock.SYSTEM, LockSupport::parkNanos);

    /** The time within which an answer of {@link Answer#BUSY} is expected to change, ns. */
    public static final long MOST_BUSY_NS = 100_000_000;

    private static final long SPIN_NS = 50_000;
    private static final long SHORTEST_PAUSE_NS = 20_000;
    private static final long LONGEST_PAUSE_NS = 500_000;
    private static final long PAUSE_FRACTION = 4_096;

    /** The answer to a question. */
    public enum Answer {
        /** It has come. */
        REACHED,
        /** It may still come. */
        NOT_YET,
        /** The question cannot be asked at the moment, since another thread uses the necessary object. */
        BUSY,
        /** It cannot be waited for. */
        REFUSED
    }

    /** The condition of a wait. */
    @FunctionalInterface
    public interface Question {
        /**
         * Asks whether the result is available, without waiting.
         *
         * @param number the number of the queried item
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
     * Returns a timeout in ns.
     *
     * @param timeout how long to wait at most
     * @return ns; {@link Long#MAX_VALUE} if it is longer than that
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
     * Waits until something has come.
     *
     * @param question asks for it; at least once
     * @param number passed to the question
     * @param timeoutNs how long to wait at most, ns
     * @return {@link Answer#REACHED} or {@link Answer#REFUSED}; {@link Answer#BUSY} if that was the answer for
     *     {@link #MOST_BUSY_NS}, or when the timeout came; {@link Answer#NOT_YET} after the timeout otherwise
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
                    // With its status set a thread would not be parked any more.
                    interrupted |= Thread.interrupted();
                }
                // Read before the question: a thread that lost its processor asks once more after the timeout.
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
