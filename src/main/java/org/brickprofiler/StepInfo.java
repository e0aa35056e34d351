package org.brickprofiler;

import static org.brickprofiler.internal.io.Checks.requireNotNegative;

import java.util.Objects;

/**
 * What a step, one forward pass, works on, as the engine knows it when the step begins: see
 * {@link BrickProfiler#beginStep}. Immutable.
 *
 * <pre>{@code
 * StepInfo.prefill(prompt.length)                  // a prompt of one sequence, in one step
 * StepInfo.prefill(512).partOfPrompt()             // a part of it that gives no token yet
 * StepInfo.decode(kvLength)                        // one token of one sequence
 * StepInfo.decode(sumOfLengths).withBatch(8)       // one token of each of eight
 * StepInfo.decode(kvLength).withDraftedTokens(4)   // which checks four drafted tokens besides
 * }</pre>
 *
 * @param phase what kind of step it is
 * @param batch sequences that are in it, 1 or more
 * @param prefillTokens tokens of prompts that it processes, 0 or more
 * @param kvLength positions that the key-value cache holds when it begins, summed over its sequences, 0 or more
 * @param outputTokens tokens that it gives besides drafted ones that are accepted, 0 or more
 * @param draftedTokens tokens of speculative decoding that it checks, 0 or more
 */
public record StepInfo(
        Phase phase, int batch, long prefillTokens, long kvLength, long outputTokens, long draftedTokens) {

    /** The kinds of steps, which are counted apart: what they cost has nothing in common. */
    public enum Phase {
        /** Prompts, or parts of them, are processed. */
        PREFILL,
        /** Every sequence goes on by its next tokens. */
        DECODE,
        /** Some sequences are in their prompt, others go on: continuous batching. */
        MIXED;

        /** The number of this phase; the only reader of the ordinal. */
        @SuppressWarnings("EnumOrdinal") // this method is where it is wrapped
        int index() {
            return ordinal();
        }
    }

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when a number is negative, or the batch is empty
     */
    public StepInfo {
        Objects.requireNonNull(phase, "phase");
        if (batch < 1) {
            throw new IllegalArgumentException("batch " + batch + " is less than 1");
        }
        requireNotNegative("prefillTokens", prefillTokens);
        requireNotNegative("kvLength", kvLength);
        requireNotNegative("outputTokens", outputTokens);
        requireNotNegative("draftedTokens", draftedTokens);
    }

    /**
     * The whole prompt of one sequence, which gives the first token.
     *
     * @param tokens tokens of the prompt
     * @return the step
     * @throws IllegalArgumentException when the number is negative
     */
    public static StepInfo prefill(long tokens) {
        return new StepInfo(Phase.PREFILL, 1, tokens, 0, 1, 0);
    }

    /**
     * One more token of one sequence.
     *
     * @param kvLength positions that the key-value cache holds when the step begins
     * @return the step
     * @throws IllegalArgumentException when the number is negative
     */
    public static StepInfo decode(long kvLength) {
        return new StepInfo(Phase.DECODE, 1, 0, kvLength, 1, 0);
    }

    /**
     * The same step with several sequences, each of which gives a token if this one's do.
     *
     * @param sequences sequences that are in it, 1 or more
     * @return the step
     * @throws IllegalArgumentException when the number is less than 1
     */
    public StepInfo withBatch(int sequences) {
        return new StepInfo(
                phase, sequences, prefillTokens, kvLength, outputTokens == 0 ? 0 : sequences, draftedTokens);
    }

    /**
     * The same step with something in the key-value cache: what another step or another request has left there.
     *
     * @param positions positions when it begins, summed over its sequences
     * @return the step
     * @throws IllegalArgumentException when the number is negative
     */
    public StepInfo withKvLength(long positions) {
        return new StepInfo(phase, batch, prefillTokens, positions, outputTokens, draftedTokens);
    }

    /**
     * The same step as a part of its prompts that gives no token yet: another one will.
     *
     * @return the step
     */
    public StepInfo partOfPrompt() {
        return new StepInfo(phase, batch, prefillTokens, kvLength, 0, draftedTokens);
    }

    /**
     * The same step, which checks drafted tokens too; {@link BrickProfiler#recordAcceptedTokens} says how many of them
     * were right.
     *
     * @param tokens drafted tokens
     * @return the step
     * @throws IllegalArgumentException when the number is negative
     */
    public StepInfo withDraftedTokens(long tokens) {
        return new StepInfo(phase, batch, prefillTokens, kvLength, outputTokens, tokens);
    }
}
