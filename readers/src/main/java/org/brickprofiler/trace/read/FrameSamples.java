package org.brickprofiler.trace.read;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.trace.Frame;
import org.brickprofiler.trace.FrameLines;
import org.jspecify.annotations.Nullable;

/**
 * Counts samples in the methods that are bricks. Consecutive samples of a thread that waits in one stack are one batch:
 * they depend on each other, so shares are as precise as if there was one of them. One thread.
 */
final class FrameSamples {

    private final FrameLines lines = new FrameLines();

    /** The wait of each thread that has perhaps not ended, by the number of the thread. */
    private final Map<Long, Wait> waits = new HashMap<>();

    /** The samples of a wait. */
    private static final class Wait {
        private final Optional<String> brick;
        private final boolean isNative;
        private final List<Frame> stack;
        private long samples;

        Wait(Optional<String> brick, boolean isNative, List<Frame> stack) {
            this.brick = brick;
            this.isNative = isNative;
            this.stack = stack;
        }
    }

    /** Counts samples of a thread that is none of Java's, or that works for no step. */
    void ofOtherThread(long count) {
        lines.sampleOfOtherThread(count);
    }

    /** Counts samples of a thread that runs, all in one stack. */
    void running(long threadId, Optional<String> brick, boolean isNative, List<Frame> stack, long count) {
        end(waits.remove(threadId));
        lines.sample(brick, isNative, stack, count);
    }

    /** Counts samples of a thread that waits. */
    void waiting(long threadId, Optional<String> brick, boolean isNative, List<Frame> stack, long count) {
        Wait wait = waits.get(threadId);
        if (wait == null || !wait.stack.equals(stack)) {
            end(wait);
            wait = new Wait(brick, isNative, stack);
            waits.put(threadId, wait);
        }
        wait.samples += count;
    }

    private void end(@Nullable Wait wait) {
        if (wait != null) {
            lines.sample(wait.brick, wait.isNative, wait.stack, wait.samples);
        }
    }

    /** Returns all samples; no further call is allowed. */
    FrameLines ended() {
        waits.values().forEach(this::end);
        return lines;
    }
}
