package org.brickprofiler.trace.read;

import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.trace.FrameBricks;

/**
 * The options for reading a trace. Immutable; each {@code with} method returns a changed copy. Rules, steps and warm-up
 * apply to profiles only; a timeline holds everything.
 *
 * @param rules the rules that map kernels to bricks
 * @param skipSteps the number of steps to leave out at the beginning. Steps are the slices {@code ProfilerStep#N} of
 *     PyTorch, the annotations with a {@code step_num} of JAX, or the runs of ONNX Runtime. Work of a device belongs to
 *     the step that launched it. If the launch is unknown, or if the event is not work of a device, the event belongs
 *     to the step in which it begins. Everything before the first kept step is left out
 * @param keepWarmup whether to count warm-up too. Otherwise the first executions of a kernel are left out while they
 *     last more than {@value Warmup#TIMES_MEDIAN} times the median of all its executions and more than
 *     {@value Warmup#TIMES_LONGEST} times the longest execution after the first {@value Warmup#FIRST_EXECUTIONS}. A
 *     kernel with fewer than {@value Warmup#LATER_EXECUTIONS} further executions has no warm-up, and neither have
 *     copies and fills. In a profile of ONNX Runtime, the first run is left out instead, if a later one has as many
 *     rows in its first node. In a trace of this library, only the events that ended in the warm-up of a
 *     {@link org.brickprofiler.Schedule} are left out
 * @param salvage whether to read a damaged trace up to the damage, which the result then lists as
 *     {@link Omission.Reason#DAMAGE}. Otherwise a damaged trace is refused, except an array of events that ends after
 *     one of them. A trace without an event before the damage is always refused
 * @param limits the limits of memory
 * @param progress is called while the trace is read
 * @param frames names the methods that are bricks, for a flight recording without bricks or without the relation of
 *     their clock to that of samples; empty if frames tell no bricks
 */
public record ReadOptions(
        TraceRules rules,
        int skipSteps,
        boolean keepWarmup,
        boolean salvage,
        Limits limits,
        Progress progress,
        Optional<FrameBricks> frames) {

    /** Receives the progress of a reading, on the reading thread. */
    @FunctionalInterface
    public interface Progress {

        /** The value of an unknown total. */
        long UNKNOWN = -1;

        /**
         * Reports that more of the file was read.
         *
         * @param bytesRead bytes of the file so far, still packed
         * @param totalBytes bytes of the whole file, or {@link #UNKNOWN} for a stream
         */
        void at(long bytesRead, long totalBytes);
    }

    /**
     * Bounds the memory of a reading. A trace beyond a limit is refused; only names beyond their limit share one sum
     * instead. Immutable.
     *
     * @param nestingDepth the depth of nested arrays and objects
     * @param stringLength characters of a relevant string: name, category, phase, row; longer other strings are skipped
     * @param distinctNames kernels of a profile with a sum of their own; further kernels that no rule matches share the
     *     sum {@code (other names)}
     * @param rows pairs of process and thread
     * @param openSlices slices of one row that are open at the same time
     */
    public record Limits(int nestingDepth, int stringLength, int distinctNames, int rows, int openSlices) {

        /** The default limits: above real traces, and small enough for a heap of 64 MB. */
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
        Objects.requireNonNull(frames, "frames");
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
        return new ReadOptions(
                TraceRules.builtIn(), 0, false, false, Limits.DEFAULT, (bytesRead, totalBytes) -> {}, Optional.empty());
    }

    /**
     * Returns a copy with other rules.
     *
     * @param other the rules
     * @return a changed copy
     */
    public ReadOptions withRules(TraceRules other) {
        Objects.requireNonNull(other, "other");
        return new ReadOptions(other, skipSteps, keepWarmup, salvage, limits, progress, frames);
    }

    /**
     * Returns a copy that skips the first steps.
     *
     * @param steps the number of steps to leave out, 0 or more
     * @return a changed copy
     * @throws IllegalArgumentException when it is negative
     */
    public ReadOptions withSkipSteps(int steps) {
        return new ReadOptions(rules, steps, keepWarmup, salvage, limits, progress, frames);
    }

    /**
     * Returns a copy that keeps warm-up or leaves it out.
     *
     * @param keep whether to count it
     * @return a changed copy
     */
    public ReadOptions withKeepWarmup(boolean keep) {
        return new ReadOptions(rules, skipSteps, keep, salvage, limits, progress, frames);
    }

    /**
     * Returns a copy that reads damaged traces up to the damage or refuses them.
     *
     * @param salvage whether to read a damaged trace up to the damage
     * @return a changed copy
     */
    public ReadOptions withSalvage(boolean salvage) {
        return new ReadOptions(rules, skipSteps, keepWarmup, salvage, limits, progress, frames);
    }

    /**
     * Returns a copy with other limits.
     *
     * @param other the limits
     * @return a changed copy
     */
    public ReadOptions withLimits(Limits other) {
        Objects.requireNonNull(other, "other");
        return new ReadOptions(rules, skipSteps, keepWarmup, salvage, other, progress, frames);
    }

    /**
     * Returns a copy that reports its progress.
     *
     * @param other the receiver of the progress
     * @return a changed copy
     */
    public ReadOptions withProgress(Progress other) {
        Objects.requireNonNull(other, "other");
        return new ReadOptions(rules, skipSteps, keepWarmup, salvage, limits, other, frames);
    }

    /**
     * Returns a copy that tells bricks by the frames of samples if a flight recording has no bricks.
     *
     * @param other names the methods that are bricks
     * @return a changed copy
     */
    public ReadOptions withFrames(FrameBricks other) {
        Objects.requireNonNull(other, "other");
        return new ReadOptions(rules, skipSteps, keepWarmup, salvage, limits, progress, Optional.of(other));
    }
}
