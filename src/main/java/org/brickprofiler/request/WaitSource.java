package org.brickprofiler.request;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Knows why the threads of a process waited: see {@link RequestRecorder#setWaitSource}. */
public interface WaitSource {

    /**
     * Returns the name of the source in reports, with {@link Wait#unknown()} of each wait that it does not know and
     * does not count as unknown.
     *
     * @return for example <i>a flight recording</i>, without a semicolon
     */
    String name();

    /**
     * Splits the time in which a request was queued or stalled. Called by the thread that calls
     * {@link RequestRecorder#splitWaits}.
     *
     * @param times the times between the steps of the request, in their order
     * @return the times by wait
     */
    Split split(List<Waiting> times);

    /**
     * A time in which no step worked on a request, and the request was queued or stalled. Immutable.
     *
     * @param fromNs its beginning, on the clock of the recorder
     * @param toNs its end
     * @param waitedNs how long the request was queued or stalled in this time, ns; the rest is {@link Cause#OWN_WORK},
     *     whose place in the time is not known
     * @param threadId the thread of the step that ends this time, by {@link Thread#getId()}; -1 if no step does
     */
    record Waiting(long fromNs, long toNs, long waitedNs, long threadId) {

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException when the request waited for less than nothing, or longer than the time
         */
        public Waiting {
            requireNotNegative("waitedNs", waitedNs);
            if (waitedNs > toNs - fromNs) {
                throw new IllegalArgumentException(
                        "a wait of " + waitedNs + " ns does not fit between " + fromNs + " and " + toNs);
            }
        }
    }

    /**
     * The waits of a request. Immutable.
     *
     * @param waitNs ns by wait; the rest of the request's waiting time is {@link Wait#UNKNOWN}
     * @param lock the lock that blocked its thread longest, with its holder where it is stated; empty if none is known
     */
    record Split(Map<Wait, Long> waitNs, Optional<String> lock) {

        /** Copies the times. */
        public Split {
            waitNs = Map.copyOf(Objects.requireNonNull(waitNs, "waitNs"));
            Objects.requireNonNull(lock, "lock");
        }
    }
}
