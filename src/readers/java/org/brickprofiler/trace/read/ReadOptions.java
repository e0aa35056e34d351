package org.brickprofiler.trace.read;

import java.util.Objects;

/**
 * The options for reading a trace. Immutable; each {@code with} method returns a changed copy. The rules, the steps and
 * the warm-up are for profiles; a timeline holds everything.
 *
 * @param rules which kernels are which bricks
 * @param skipSteps how many steps at the beginning to leave out. Steps are the slices {@code ProfilerStep#N} of
 *     PyTorch; an event belongs to them by the time it begins, so everything before the first step that is kept is left
 *     out
 * @param keepWarmup whether to count warm-up too. Otherwise the first executions of a kernel are left out while they
 *     last more than {@value Warmup#TIMES_MEDIAN} times the median of all its executions and more than
 *     {@value Warmup#TIMES_LONGEST} times the longest one after its first {@value Warmup#FIRST_EXECUTIONS}; a kernel
 *     with fewer than {@value Warmup#LATER_EXECUTIONS} further executions, and copies and fills, are never warm-up. In
 *     a trace of this library, what ended while a {@link org.brickprofiler.Schedule} was in its warm-up is left out,
 *     and nothing else
 * @param salvage whether to read a damaged trace up to the damage, which is then an {@link Omission.Reason#DAMAGE} of
 *     the result; otherwise it is refused, but for an array of events that ends after one of them. A trace without an
 *     event before the damage is refused in either case
 * @param limits what bounds the memory
 * @param progress is called as the reading goes on
 */
public record ReadOptions(
        TraceRules rules, int skipSteps, boolean keepWarmup, boolean salvage, Limits limits, Progress progress) {

    /** Receives the progress of a reading, on the reading thread. */
    @FunctionalInterface
    public interface Progress {

        /** The total if it is not known. */
        long UNKNOWN = -1;

        /**
         * Reports that more was read.
         *
         * @param bytesRead bytes of the file so far, still packed
         * @param totalBytes bytes of the whole file, or {@link #UNKNOWN} of a stream
         */
        void at(long bytesRead, long totalBytes);
    }

    /**
     * Bounds the memory of a reading. A trace beyond a limit is refused, but names beyond theirs share one sum.
     * Immutable.
     *
     * @param nestingDepth arrays and objects inside one another
     * @param stringLength characters of a string that matters: name, category, phase, row; others are passed over
     * @param distinctNames kernels of a profile with a sum of their own; further ones that no rule matches all feed
     *     {@code (other names)}
     * @param rows pairs of process and thread
     * @param openSlices slices of one row that are open at the same time
     */
    public record Limits(int nestingDepth, int stringLength, int distinctNames, int rows, int openSlices) {

        /** The default limits: above those of real traces, and small enough for a heap of 64 MB. */
        public static final Limits DEFAULT = new Limits(200, 1 << 20, 4_058, 16_384, 1_024);

        /**
         * Checks the limits.
         *
         * @throws IllegalArgumentException when one is not positive
         */
        public Limits {
            requirePositive("nestingDepth", nestingDepth);
            requirePositive("stringLength", stringLength);
            requirePositive("distinctNames", distinctNames);
            requirePositive("rows", rows);
            requirePositive("openSlices", openSlices);
        }

        private static void requirePositive(String what, int value) {
            if (value <= 0) {
                throw new IllegalArgumentException(what + " " + value + " is not positive");
            }
        }
    }

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
     * Returns the defaults: the built-in rules, no step skipped, warm-up left out, damaged traces refused, no progress
     * reported.
     *
     * @return these options
     */
    public static ReadOptions defaults() {
        return new ReadOptions(TraceRules.builtIn(), 0, false, false, Limits.DEFAULT, (bytesRead, totalBytes) -> {});
    }

    /**
     * Returns a copy with other rules.
     *
     * @param other the rules
     * @return a changed copy
     */
    public ReadOptions withRules(TraceRules other) {
        Objects.requireNonNull(other, "other");
        return new ReadOptions(other, skipSteps, keepWarmup, salvage, limits, progress);
    }

    /**
     * Returns a copy that skips the first steps.
     *
     * @param steps how many to leave out, 0 or more
     * @return a changed copy
     * @throws IllegalArgumentException when it is negative
     */
    public ReadOptions withSkipSteps(int steps) {
        return new ReadOptions(rules, steps, keepWarmup, salvage, limits, progress);
    }

    /**
     * Returns a copy that keeps warm-up or leaves it out.
     *
     * @param keep whether to count it
     * @return a changed copy
     */
    public ReadOptions withKeepWarmup(boolean keep) {
        return new ReadOptions(rules, skipSteps, keep, salvage, limits, progress);
    }

    /**
     * Returns a copy that reads damaged traces up to the damage or refuses them.
     *
     * @param salvage whether to read a damaged trace up to the damage
     * @return a changed copy
     */
    public ReadOptions withSalvage(boolean salvage) {
        return new ReadOptions(rules, skipSteps, keepWarmup, salvage, limits, progress);
    }

    /**
     * Returns a copy with other limits.
     *
     * @param other the limits
     * @return a changed copy
     */
    public ReadOptions withLimits(Limits other) {
        Objects.requireNonNull(other, "other");
        return new ReadOptions(rules, skipSteps, keepWarmup, salvage, other, progress);
    }

    /**
     * Returns a copy that reports its progress.
     *
     * @param other what to call
     * @return a changed copy
     */
    public ReadOptions withProgress(Progress other) {
        Objects.requireNonNull(other, "other");
        return new ReadOptions(rules, skipSteps, keepWarmup, salvage, limits, other);
    }
}
