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
 * for (int token : prompt) {
 *     decode(token);
 *     run.step();
 * }
 * }</pre>
 *
 * <p>While it runs, the profiler's switch belongs to it: a profiler that was on is not recorded in the steps that do
 * not count. Tiles follow the same steps where they were on at the start. A timer that is stopped in another step
 * than it was started in counts where it is stopped; let other threads finish their bricks before {@link #step}.
 *
 * <p>{@link #step} is for one thread at a time, the one that drives the passes; the other methods are for any thread.
 */
public final class ScheduledRun {

    private final BrickProfiler profiler;
    private final Schedule schedule;
    private final Consumer<ProfileSnapshot> onCycle;
    private final boolean withTiles;

    private volatile long step;

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
     * cycle hands the snapshot over, and begins the next step even where the receiver throws.
     */
    public void step() {
        profiler.endPass();
        long ended = step;
        Phase before = phase();
        step = ended + 1;
        Phase after = phase();
        try {
            if (schedule.endsCycle(ended)) {
                onCycle.accept(profiler.snapshotAndReset());
            } else if (before == Phase.WARMUP && after == Phase.ACTIVE) {
                profiler.reset();
            }
        } finally {
            if (after != before) {
                enter(after);
            }
        }
    }

    private void enter(Phase phase) {
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
     * @return its phase
     */
    public Phase phase() {
        return schedule.phase(step);
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
