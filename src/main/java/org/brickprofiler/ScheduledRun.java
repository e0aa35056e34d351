package org.brickprofiler;

import java.util.Objects;
import java.util.function.Consumer;
import org.brickprofiler.Schedule.Phase;

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
 *     run.finish(); // also where it ended early
 * }
 * }</pre>
 *
 * <p>A timeline keeps what was recorded in the warm-up, and gets a mark where each phase begins, on the line of the
 * thread that drives the passes; who makes a profile of it leaves the warm-up out by these.
 *
 * <p>While it runs, the profiler's switch belongs to it: a profiler that was on is not recorded in the steps that do
 * not count. Tiles follow the same steps where they were on at the start. A timer that is stopped in another step than
 * it was started in counts where it is stopped; let other threads finish their bricks before {@link #step}.
 *
 * <p>{@link #step} and {@link #finish} are for one thread at a time, the one that drives the passes; the other methods
 * are for any thread.
 */
public final class ScheduledRun {

    private final BrickProfiler profiler;
    private final Schedule schedule;
    private final Consumer<ProfileSnapshot> onCycle;
    private final boolean withTiles;

    private volatile long step;
    private volatile boolean finished;

    /**
     * Begins with step 0: forgets what the profiler has recorded and pending, and switches it on or off for that step.
     *
     * @param profiler the profiler
     * @param schedule which steps count
     * @param onCycle receives the snapshot of each finished cycle, on the thread that calls {@link #step}
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
        enter(phase());
    }

    /**
     * Ends a step and begins the next. Resolves what is pending, as {@link BrickProfiler#endPass} does; at the end of a
     * cycle hands the snapshot over, and begins the next step even where the receiver throws. Does nothing after
     * {@link #finish}.
     */
    public void step() {
        if (finished) {
            return;
        }
        profiler.endPass();
        long ended = step;
        Phase before = phase();
        step = ended + 1;
        Phase after = phase();
        try {
            if (schedule.endsCycle(ended)) {
                onCycle.accept(profiler.snapshotAndReset());
            } else if (before == Phase.WARMUP && after == Phase.ACTIVE) {
                profiler.forget();
            }
        } finally {
            if (after != before) {
                enter(after);
            }
        }
    }

    /**
     * Ends the run, wherever it is: resolves what is pending, as {@link #step} does, and ends the passes of all
     * threads, also those that an exception broke off. Of a cycle with active steps that is not finished, it hands the
     * snapshot over, with what was recorded in the step under way; nothing where none has ended and nothing was
     * recorded. What was recorded in a warm-up is forgotten. The profiler is off from then on, even where the receiver
     * throws. Does nothing where all cycles are over or it was called before.
     */
    public void finish() {
        Phase before = phase();
        if (before == Phase.DONE) {
            finished = true;
            return;
        }
        profiler.endPass();
        profiler.layers.reset();
        boolean hasSteps = schedule.hasActiveBefore(step);
        finished = true;
        try {
            if (before == Phase.ACTIVE) {
                ProfileSnapshot snapshot = profiler.snapshotAndReset();
                if (hasSteps || hasSamples(snapshot)) {
                    onCycle.accept(snapshot);
                }
            } else {
                profiler.forget();
            }
        } finally {
            enter(Phase.DONE);
        }
    }

    private static boolean hasSamples(ProfileSnapshot snapshot) {
        return !snapshot.bricks().isEmpty() || snapshot.tiles().stream().anyMatch(tile -> tile.count() > 0);
    }

    private void enter(Phase phase) {
        profiler.beginPhase(phase);
        if (phase == Phase.WARMUP || phase == Phase.ACTIVE) {
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
     * What happens to the step that is under way.
     *
     * @return its phase; {@link Phase#DONE} once the run was finished
     */
    public Phase phase() {
        return finished ? Phase.DONE : schedule.phase(step);
    }

    /**
     * The step that is under way.
     *
     * @return its number, counted from 0
     */
    public long stepNumber() {
        return step;
    }
}
