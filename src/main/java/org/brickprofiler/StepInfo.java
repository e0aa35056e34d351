package org.brickprofiler;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

/**
 * The phase, batch and lengths of a step, one forward pass, as the engine knows them when the step begins: see
 * {@link BrickProfiler#beginStep}. Immutable.
 *
 * <pre>{@code
 * StepInfo.prefill(prompt.length)                  // a prompt of one sequence, in one step
 * StepInfo.prefill(512).partOfPrompt()             // a part of it that gives no token yet
 * StepInfo.decode(kvLength)                        // one token of one sequence
 * StepInfo.decode(sumOfLengths).withBatch(8)       // one token of each of eight
 * StepInfo.decode(kvLength).withDraftedTokens(4)   // which also checks four drafted tokens
 * }</pre>
 *
 * @param phase the kind of step
 * @param batch number of sequences in the step, 1 or more
 * @param prefillTokens tokens of prompts that it processes, 0 or more
 * @param kvLength positions that the key-value cache holds when it begins, summed over its sequences, 0 or more
 * @param outputTokens tokens that it generates, without accepted drafted ones, 0 or more
 * @param draftedTokens tokens of speculative decoding that it checks, 0 or more
 */
public record StepInfo(
        Phase phase, int batch, long prefillTokens, long kvLength, long outputTokens, long draftedTokens) {

    /** The kinds of steps. They are counted separately, since their costs are not comparable. */
    public enum Phase {
        /** The step processes prompts, or parts of them. */
        PREFILL,
        /** The step generates the next tokens of every sequence. */
        DECODE,
        /** The step processes prompts of some sequences and generates tokens of others: continuous batching. */
        MIXED;

        private static final List<Phase> ALL = List.of(values());

        private final String displayName = name().toLowerCase(Locale.ROOT);

        /**
         * Returns the name in reports.
         *
         * @return for example {@code "decode"}
         */
        public String displayName() {
            return displayName;
        }

        /** Returns the number of this phase without loading a field of the constant, which may be in no cache. */
        int index() {
            return this == PREFILL ? 0 : this == DECODE ? 1 : 2;
        }

        /** Returns the number of this phase among rows of samples; 0 is the number for samples without a phase. */
        int number() {
            return index() + 1;
        }

        /** Returns the phase with a {@link #number}; empty for 0. */
        static Optional<Phase> of(int number) {
            return number == 0 ? Optional.empty() : Optional.of(ALL.get(number - 1));
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
     * Returns a step with the whole prompt of one sequence, which gives the first token.
     *
     * @param tokens tokens of the prompt
     * @return the step
     * @throws IllegalArgumentException when the number is negative
     */
    public static StepInfo prefill(long tokens) {
        return new StepInfo(Phase.PREFILL, 1, tokens, 0, 1, 0);
    }

    /**
     * Returns a step that generates one more token of one sequence.
     *
     * @param kvLength positions that the key-value cache holds when the step begins
     * @return the step
     * @throws IllegalArgumentException when the number is negative
     */
    public static StepInfo decode(long kvLength) {
        return new StepInfo(Phase.DECODE, 1, 0, kvLength, 1, 0);
    }

    /**
     * Returns this step with several sequences. Each sequence generates one token if this step generates tokens.
     *
     * @param sequences number of sequences, 1 or more
     * @return the step
     * @throws IllegalArgumentException when the number is less than 1
     */
    public StepInfo withBatch(int sequences) {
        return new StepInfo(
                phase, sequences, prefillTokens, kvLength, outputTokens == 0 ? 0 : sequences, draftedTokens);
    }

    /**
     * Returns this step with positions in the key-value cache that another step or another request has filled.
     *
     * @param positions positions at the beginning of the step, summed over its sequences
     * @return the step
     * @throws IllegalArgumentException when the number is negative
     */
    public StepInfo withKvLength(long positions) {
        return new StepInfo(phase, batch, prefillTokens, positions, outputTokens, draftedTokens);
    }

    /**
     * Returns this step as one that processes only a part of its prompts and gives no token; a later step gives it.
     *
     * @return the step
     */
    public StepInfo partOfPrompt() {
        return new StepInfo(phase, batch, prefillTokens, kvLength, 0, draftedTokens);
    }

    /**
     * Returns this step with drafted tokens to check; {@link BrickProfiler#recordAcceptedTokens} records how many of
     * them are accepted.
     *
     * @param tokens drafted tokens
     * @return the step
     * @throws IllegalArgumentException when the number is negative
     */
    public StepInfo withDraftedTokens(long tokens) {
        return new StepInfo(phase, batch, prefillTokens, kvLength, outputTokens, tokens);
    }
}
