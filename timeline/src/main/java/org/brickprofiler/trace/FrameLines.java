package org.brickprofiler.trace;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Counts the samples of a recording without bricks in the methods that {@link FrameBricks} names. A sample belongs to
 * the innermost of these methods on its stack, on whatever thread. How often and how long bricks ran is unknown. Memory
 * has the bounds of {@link LineLog}. Not thread-safe.
 */
public final class FrameLines {

    private final LineJoin join = new LineJoin();
    private long inBricks;
    private long outside;
    private long otherThreads;
    private long cutStacks;

    /** Makes an empty count. */
    public FrameLines() {}

    /**
     * Counts a sample of a stack, or a batch of samples of one wait, which depend on each other: their precision is
     * that of one sample.
     *
     * @param brick the brick of its innermost frame that has one; empty without one
     * @param isNative whether the thread was in native code
     * @param stack its frames, the called one before its caller; not empty
     * @param count the number of samples
     * @throws IllegalArgumentException when there is no frame, or the number is negative
     */
    public void sample(Optional<String> brick, boolean isNative, List<Frame> stack, long count) {
        Objects.requireNonNull(brick, "brick");
        requireNotNegative("count", count);
        if (Objects.requireNonNull(stack, "stack").isEmpty()) {
            throw new IllegalArgumentException("a sample has a frame");
        }
        if (brick.isPresent()) {
            inBricks += count;
            join.row(brick.get(), Optional.empty()).add(isNative, stack, false, count);
        } else if (stack.get(stack.size() - 1).equals(Frame.CUT)) {
            cutStacks += count;
        } else {
            outside += count;
        }
    }

    /**
     * Counts a sample of a thread that is none of Java's, or that belongs to this library or the flight recorder.
     *
     * @param count for how many samples it stands
     * @throws IllegalArgumentException when the number is negative
     */
    public void sampleOfOtherThread(long count) {
        requireNotNegative("count", count);
        otherThreads += count;
    }

    /**
     * Counts memory that a thread allocated, or a time for which it waited.
     *
     * @param brick the brick of its innermost frame that has one; empty without one
     * @param event the memory or the wait
     */
    public void event(Optional<String> brick, LineEvent event) {
        Objects.requireNonNull(brick, "brick");
        Objects.requireNonNull(event, "event");
        if (brick.isPresent()) {
            join.row(brick.get(), Optional.empty()).add(event);
        } else {
            join.addElsewhere(event);
        }
    }

    /**
     * Returns the samples so far.
     *
     * @param bricks names the bricks
     * @param periodNs the time between two samples of a thread, ns; 0 if unknown
     * @param mode what the samples are of; empty if they are the virtual machine's
     * @param leastWaitNs the duration from which on all waits were recorded, ns; 0 if unknown
     * @return an immutable profile
     * @throws IllegalArgumentException when a time is negative
     */
    public LineProfile profile(FrameBricks bricks, long periodNs, Optional<String> mode, long leastWaitNs) {
        Objects.requireNonNull(bricks, "bricks");
        return new LineProfile(
                new LineProfile.Samples(inBricks, outside, otherThreads, 0, 0, 0, 0, cutStacks),
                periodNs,
                0,
                Optional.empty(),
                join.bricks(),
                join.elsewhere(leastWaitNs),
                mode,
                Optional.of(new LineProfile.ByFrames(bricks.methods(), bricks.leftOut())),
                Optional.empty());
    }
}
