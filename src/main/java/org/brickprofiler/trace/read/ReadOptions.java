package org.brickprofiler.trace.read;

import java.util.Objects;

/**
 * How to read a trace. Immutable; each {@code with} method returns a changed copy.
 *
 * @param rules which kernels are which bricks
 * @param skipSteps how many steps at the beginning to leave out. Steps are the slices {@code ProfilerStep#N} of
 *     PyTorch; an event belongs to them by the time it begins, so everything before the first step that is kept is left
 *     out
 * @param keepWarmup whether to count warm-up too. Otherwise the first executions of a kernel are left out while they
 *     last more than {@value WarmupDetector#TIMES_MEDIAN} times the median of all its executions and more than
 *     {@value WarmupDetector#TIMES_LONGEST} times the longest one after its first
 *     {@value WarmupDetector#FIRST_EXECUTIONS}; a kernel with fewer than {@value WarmupDetector#LATER_EXECUTIONS}
 *     further executions, and copies and fills, are never warm-up. In a trace of this library, what ended while a
 *     {@link org.brickprofiler.Schedule} was in its warm-up is left out, and nothing else
 * @param limits what bounds the memory
 * @param progress is told how far the reading has come
 */
public record ReadOptions(
        TraceRules rules, int skipSteps, boolean keepWarmup, ReadLimits limits, ReadProgress progress) {

    /**
     * Checks the options.
     *
     * @throws IllegalArgumentException when the number of steps is negative
     */
    public ReadOptions {
        Objects.requireNonNull(rules, "rules");
        Objects.requireNonNull(limits, "limits");
        Objects.requireNonNull(progress, "progress");
        if (skipSteps < 0) {
            throw new IllegalArgumentException("skipSteps " + skipSteps + " is negative");
        }
    }

    /**
     * The built-in rules, no step skipped, warm-up left out, nobody told.
     *
     * @return these options
     */
    public static ReadOptions defaults() {
        return new ReadOptions(TraceRules.builtIn(), 0, false, ReadLimits.DEFAULT, (bytesRead, totalBytes) -> {});
    }

    /**
     * With other rules.
     *
     * @param other the rules
     * @return a changed copy
     */
    public ReadOptions withRules(TraceRules other) {
        Objects.requireNonNull(other, "other");
        return new ReadOptions(other, skipSteps, keepWarmup, limits, progress);
    }

    /**
     * Without the first steps.
     *
     * @param steps how many to leave out, 0 or more
     * @return a changed copy
     * @throws IllegalArgumentException when it is negative
     */
    public ReadOptions withSkipSteps(int steps) {
        return new ReadOptions(rules, steps, keepWarmup, limits, progress);
    }

    /**
     * With or without warm-up.
     *
     * @param keep whether to count it
     * @return a changed copy
     */
    public ReadOptions withKeepWarmup(boolean keep) {
        return new ReadOptions(rules, skipSteps, keep, limits, progress);
    }

    /**
     * With other limits.
     *
     * @param other the limits
     * @return a changed copy
     */
    public ReadOptions withLimits(ReadLimits other) {
        Objects.requireNonNull(other, "other");
        return new ReadOptions(rules, skipSteps, keepWarmup, other, progress);
    }

    /**
     * With somebody who is told.
     *
     * @param other who
     * @return a changed copy
     */
    public ReadOptions withProgress(ReadProgress other) {
        Objects.requireNonNull(other, "other");
        return new ReadOptions(rules, skipSteps, keepWarmup, limits, other);
    }
}
