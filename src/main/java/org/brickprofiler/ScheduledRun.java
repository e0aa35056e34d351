package org.brickprofiler;

import java.util.Objects;
import java.util.function.Consumer;
import org.brickprofiler.Schedule.Stage;

/**
 * Follows a {@link Schedule}: switches a profiler on and off, forgets the warm-up, and hands over a snapshot of each
 * finished cycle.
 *
 * <pre>{@code
 * ScheduledRun run = new ScheduledRun(profiler, Schedule.once(2, 10), s -> print(TextReport.render(s)));
 * try {
 *     for (int token : prompt) {
 *         decode(token);
 *         run.step();
 *     }
 * } finally {
 *     run.finish(); // also if the loop ended early
 * }
 * }</pre>
 *
 * <p>A timeline keeps the spans of the warm-up, and gets a mark at the beginning of each stage, on the line of the
 * thread that drives the passes; a profile of the timeline leaves out the warm-up by these marks.
 *
 * <p>While the run lasts, it owns the profiler's switch: even a profiler that was on records nothing in steps that do
 * not count. Tiles follow the same steps if they were on at the start. A timer counts in the step in which it is
 * stopped; let other threads finish their bricks before {@link #step}.
 *
 * <p>Only the thread that drives the passes may call {@link #step} and {@link #finish}; any thread may call the other
 * methods.
 */
public final class ScheduledRun {

    private final BrickProfiler profiler;
    private final Schedule schedule;
    private final Consumer<ProfileSnapshot> onCycle;
    private final boolean withTiles;

    private volatile long step;
    private volatile boolean finished;

    /**
     * Begins with step 0: forgets the samples and pending measurements of the profiler, and switches it on or off for
     * this step.
     *
     * @param profiler the profiler
     * @param schedule the steps that count
     * @param onCycle receives the snapshot of each finished cycle, and from {@link #finish} that of an unfinished one,
     *     on the calling thread
     */
    public ScheduledRun(BrickProfiler profiler, Schedule schedule, Consumer<ProfileSnapshot> onCycle) {
        Objects.requireNonNull(profiler, "profiler");
        Objects.requireNonNull(schedule, "schedule");
        Objects.requireNonNull(onCycle, "onCycle");
        this.profiler = profiler;
        this.schedule = schedule;
        this.onCycle = onCycle;
        this.withTiles = profiler.tiles().isEnabled();
        profiler.reset();
        enter(stage());
    }

    /**
     * Ends a step and begins the next. Resolves pending measurements, as {@link BrickProfiler#endPass} does. At the end
     * of a cycle the call passes the snapshot to the receiver, and begins the next step even if the receiver throws.
     * Does nothing after {@link #finish}.
     */
    public void step() {
        if (finished) {
            return;
        }
        profiler.endPass();
        long ended = step;
        Stage before = stage();
        step = ended + 1;
        Stage after = stage();
        try {
            if (schedule.endsCycle(ended)) {
                onCycle.accept(profiler.snapshotAndReset());
            } else if (before == Stage.WARMUP && after == Stage.ACTIVE) {
                profiler.forget();
            }
        } finally {
            if (after != before) {
                enter(after);
            }
        }
    }

    /**
     * Ends the run in any step. Resolves pending measurements, as {@link #step} does, and ends the passes of all
     * threads, including those that an exception broke off. In an active step, the call passes a snapshot of the
     * unfinished cycle to the receiver, including the step under way, unless no active step has ended and nothing was
     * recorded. Samples of a warm-up are forgotten. The profiler is off afterwards, even if the receiver throws. Does
     * nothing if all cycles are over, or if it was called before.
     */
    public void finish() {
        Stage before = stage();
        if (before == Stage.DONE) {
            finished = true;
            return;
        }
        profiler.endPass();
        profiler.layers.reset(false);
        boolean hasSteps = schedule.hasActiveBefore(step);
        finished = true;
        try {
            if (before == Stage.ACTIVE) {
                ProfileSnapshot snapshot = profiler.snapshotAndReset();
                if (hasSteps || hasSamples(snapshot)) {
                    onCycle.accept(snapshot);
                }
            } else {
                profiler.forget();
            }
        } finally {
            enter(Stage.DONE);
        }
    }

    private static boolean hasSamples(ProfileSnapshot snapshot) {
        return !snapshot.bricks().isEmpty() || snapshot.tiles().stream().anyMatch(tile -> tile.count() > 0);
    }

    private void enter(Stage stage) {
        profiler.registry.phase(stage.index(), profiler.nowNs());
        if (stage == Stage.WARMUP || stage == Stage.ACTIVE) {
            profiler.enable();
            if (withTiles) {
                profiler.tiles().enable();
            }
        } else {
            profiler.disable();
            profiler.tiles().disable();
        }
    }

    /**
     * Returns the stage of the step that is under way.
     *
     * @return its stage; {@link Stage#DONE} after the end of the run
     */
    public Stage stage() {
        return finished ? Stage.DONE : schedule.stage(step);
    }

    /**
     * Returns the number of the step that is under way.
     *
     * @return its number, counted from 0
     */
    public long stepNumber() {
        return step;
    }
}
