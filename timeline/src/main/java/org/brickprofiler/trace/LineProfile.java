package org.brickprofiler.trace;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.StepInfo;

/**
 * The methods and lines in which bricks spend their time: samples that the virtual machine took of the stacks of
 * threads, joined with the bricks by thread and time. Immutable.
 *
 * <p>A sample belongs to the innermost brick that its thread timed at that moment. Shares are those of the samples of a
 * brick, never of several: the virtual machine loses samples in code whose stack it cannot walk, so their numbers do
 * not compare bricks. Samples in native code are a tree of their own, because the virtual machine samples one thread in
 * native code at a time, and several in Java code.
 *
 * @param samples where the samples are
 * @param periodNs the time between two samples of a thread that the recording asked for, ns; 0 if unknown
 * @param clockErrorNs the error of the times of samples beside those of bricks, ns; 0 if there are no samples
 * @param missing why there are no samples; empty if they were taken
 * @param bricks the bricks with samples or processor time, most samples first
 */
public record LineProfile(
        Samples samples, long periodNs, long clockErrorNs, Optional<String> missing, List<OfBrick> bricks) {

    /** The number of missing samples up to which a brick is not doubted. */
    public static final int FEW_MISSING = 20;

    /**
     * Copies the list.
     *
     * @throws IllegalArgumentException when a time is negative
     */
    public LineProfile {
        Objects.requireNonNull(samples, "samples");
        requireNotNegative("periodNs", periodNs);
        requireNotNegative("clockErrorNs", clockErrorNs);
        Objects.requireNonNull(missing, "missing");
        bricks = List.copyOf(Objects.requireNonNull(bricks, "bricks"));
    }

    /**
     * Returns a profile without samples.
     *
     * @param reason why there are none
     * @return the profile
     */
    public static LineProfile without(String reason) {
        return new LineProfile(Samples.NONE, 0, 0, Optional.of(Objects.requireNonNull(reason, "reason")), List.of());
    }

    /**
     * Where the samples of a run are. Each sample is in one of these numbers.
     *
     * @param inBricks in a brick of their thread; or, of threads without bricks in Java code, in the brick of the only
     *     step that had one under way
     * @param outside on a thread with bricks, in none of them
     * @param otherThreads on a thread without bricks that was in native code, that belongs to this library or to the
     *     flight recorder, or while no step had a brick under way
     * @param severalSteps on a thread without bricks, while several steps had a brick under way; or in bricks of
     *     several profilers
     * @param virtualThreads on a virtual thread, whose bricks are not known by thread
     * @param notEnded at a time after which their thread has ended no brick: perhaps in a brick that had not ended
     * @param tooLate at a time whose bricks were overwritten before the sample arrived
     */
    public record Samples(
            long inBricks,
            long outside,
            long otherThreads,
            long severalSteps,
            long virtualThreads,
            long notEnded,
            long tooLate) {

        /** No samples. */
        public static final Samples NONE = new Samples(0, 0, 0, 0, 0, 0, 0);

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException when a number is negative
         */
        public Samples {
            requireNotNegative("inBricks", inBricks);
            requireNotNegative("outside", outside);
            requireNotNegative("otherThreads", otherThreads);
            requireNotNegative("severalSteps", severalSteps);
            requireNotNegative("virtualThreads", virtualThreads);
            requireNotNegative("notEnded", notEnded);
            requireNotNegative("tooLate", tooLate);
        }

        /**
         * Returns the number of all samples.
         *
         * @return 0 or more
         */
        public long total() {
            return inBricks + outside + otherThreads + severalSteps + virtualThreads + notEnded + tooLate;
        }
    }

    /**
     * The samples of a brick in a phase.
     *
     * @param brick the name of the brick
     * @param phase the phase of its steps; empty outside of steps
     * @param ofWorkers how many of the samples are of threads without bricks, taken while its step was the only one
     *     with a brick under way: they are assumed to work for it
     * @param due how many samples its own threads would have if all bricks had samples in proportion to their processor
     *     time; empty if that is unknown
     * @param java the samples in Java code
     * @param natives the samples in native code
     */
    public record OfBrick(
            String brick,
            Optional<StepInfo.Phase> phase,
            long ofWorkers,
            OptionalDouble due,
            CallTree java,
            CallTree natives) {

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException when the number of workers' samples is negative or exceeds all
         */
        public OfBrick {
            Objects.requireNonNull(brick, "brick");
            Objects.requireNonNull(phase, "phase");
            requireNotNegative("ofWorkers", ofWorkers);
            Objects.requireNonNull(due, "due");
            Objects.requireNonNull(java, "java");
            Objects.requireNonNull(natives, "natives");
            if (ofWorkers > java.samples() + natives.samples()) {
                throw new IllegalArgumentException("brick " + brick + " has " + ofWorkers + " samples of workers, of "
                        + (java.samples() + natives.samples()));
            }
        }

        /**
         * Returns the number of samples.
         *
         * @return 0 or more
         */
        public long samples() {
            return java.samples() + natives.samples();
        }

        /**
         * Returns whether the virtual machine has lost samples of the brick: there are fewer than half of those that
         * are due, and more than {@value LineProfile#FEW_MISSING} are missing. Its lines may then be those of a part of
         * its time alone.
         *
         * @return false also if the number that is due is unknown
         */
        public boolean isDoubted() {
            double own = samples() - ofWorkers;
            return due.isPresent() && own < due.getAsDouble() / 2 && due.getAsDouble() - own > FEW_MISSING;
        }
    }
}
