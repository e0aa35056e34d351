package org.brickprofiler.request;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.Objects;

/**
 * A request that has not finished, at the moment of a reading. Immutable.
 *
 * @param ageNs the time since its arrival, ns
 * @param isRunning whether a step has worked on it, or is working on it
 * @param promptTokens tokens of its prompt, as far as they are known
 * @param outputTokens tokens that it has got
 * @param identity what finds it in the logs of its application
 */
public record LiveRequest(
        long ageNs, boolean isRunning, long promptTokens, long outputTokens, RequestIdentity identity) {

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when a number is negative
     */
    public LiveRequest {
        requireNotNegative("ageNs", ageNs);
        requireNotNegative("promptTokens", promptTokens);
        requireNotNegative("outputTokens", outputTokens);
        Objects.requireNonNull(identity, "identity");
    }
}
