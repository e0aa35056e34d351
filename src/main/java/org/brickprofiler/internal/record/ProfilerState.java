package org.brickprofiler.internal.record;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * Whether a profiler is on and which phases its steps have, as one {@code int}. Stateless; any thread.
 *
 * <pre>
 *   31                4      3       2     1  0
 *  +-------------------+-----------+--------+----+
 *  | number of resets  | replacing |  only  | on |
 *  +-------------------+-----------+--------+----+
 * </pre>
 *
 * <p><b>Only</b> is the phase of every step that is under way, or {@link PhaseKey#NO_PHASE} if none is under way or
 * they have different phases. A thread's {@link StatTable} keeps the state for which its phase was selected, so a
 * change of any part makes each thread look up its table and its phase again with its next sample.
 *
 * <p><b>Replacing</b> is set while a reset replaces the tables. The state thus changes before the replacement and after
 * it, and no phase is selected in between. A thread that has found its new table therefore never again reads the state
 * for which it selected a phase in the old one: from then on it writes to the new table alone.
 */
public final class ProfilerState {

    private static final int ON = 1;
    private static final int ONLY_SHIFT = 1;
    private static final int ONLY_MASK = (PhaseKey.PHASES - 1) << ONLY_SHIFT;
    private static final int REPLACING = 1 << 3;
    private static final int RESET = 1 << 4;

    private ProfilerState() {}

    /**
     * Returns whether the profiler is on.
     *
     * @param state a state
     * @return true if it records
     */
    public static boolean isOn(int state) {
        return (state & ON) != 0;
    }

    /**
     * Returns the only phase of which steps are under way.
     *
     * @param state a state
     * @return its number, or {@link PhaseKey#NO_PHASE}
     */
    public static int only(int state) {
        return (state & ONLY_MASK) >>> ONLY_SHIFT;
    }

    /**
     * Switches a profiler on or off.
     *
     * @param <T> the type of the profiler
     * @param field the field of its state
     * @param profiler the profiler
     * @param on whether it records from now on
     */
    public static <T> void setOn(AtomicIntegerFieldUpdater<T> field, T profiler, boolean on) {
        field.updateAndGet(profiler, state -> on ? state | ON : state & ~ON);
    }

    /**
     * Sets the only phase of which steps are under way.
     *
     * @param <T> the type of the profiler
     * @param field the field of its state
     * @param profiler the profiler
     * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
     */
    public static <T> void setOnly(AtomicIntegerFieldUpdater<T> field, T profiler, int phase) {
        int before;
        do {
            before = field.get(profiler);
        } while (!field.compareAndSet(profiler, before, (before & ~ONLY_MASK) | (phase << ONLY_SHIFT)));
    }

    /**
     * Returns whether a thread may keep the table and the phase that it finds in a state for its next samples.
     *
     * @param state a state
     * @return true if the profiler records, and no reset is replacing the tables
     */
    static boolean isLasting(int state) {
        return (state & (ON | REPLACING)) == ON;
    }

    /**
     * Makes each thread look up its table with each sample until {@link #renew}. Called before the tables are replaced.
     *
     * @param <T> the type of the profiler
     * @param field the field of its state
     * @param profiler the profiler
     */
    public static <T> void replace(AtomicIntegerFieldUpdater<T> field, T profiler) {
        field.updateAndGet(profiler, state -> state | REPLACING);
    }

    /**
     * Makes each thread look up its table again with its next sample, after all tables were replaced.
     *
     * @param <T> the type of the profiler
     * @param field the field of its state
     * @param profiler the profiler
     */
    public static <T> void renew(AtomicIntegerFieldUpdater<T> field, T profiler) {
        field.updateAndGet(profiler, state -> (state & ~REPLACING) + RESET);
    }

    /**
     * Forgets the steps of all threads.
     *
     * @param <T> the type of the profiler
     * @param field the field of its state
     * @param profiler the profiler
     */
    public static <T> void reset(AtomicIntegerFieldUpdater<T> field, T profiler) {
        field.updateAndGet(profiler, state -> (state & ~ONLY_MASK) + RESET);
    }
}
