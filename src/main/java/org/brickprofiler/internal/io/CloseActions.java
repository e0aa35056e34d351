package org.brickprofiler.internal.io;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Actions to run before a device stream closes. Any thread. */
public final class CloseActions {

    private static final Logger LOG = LoggerFactory.getLogger(CloseActions.class);

    private static final int FEW = 16;

    /** An action on an object to which it has a weak reference. */
    private record Weak<T>(WeakReference<T> object, Consumer<T> action) implements Runnable {
        @Override
        public void run() {
            T kept = object.get();
            if (kept != null) {
                action.accept(kept);
            }
        }

        boolean isForgotten() {
            return object.get() == null;
        }
    }

    /** Guarded by itself. */
    private final List<Runnable> actions = new ArrayList<>();

    /** With so many actions, those of forgotten objects are looked for; guarded like them. */
    private int looksAt = FEW;

    /** Nothing to do so far. */
    public CloseActions() {}

    /**
     * Returns an action that does not keep what it is done to: nothing is done where nobody else has that any more.
     *
     * @param <T> the type of the object
     * @param object what it is done to
     * @param action what to do; must not hold the object
     * @return the action, for {@link #add}
     */
    public static <T> Runnable unlessForgotten(T object, Consumer<T> action) {
        Objects.requireNonNull(action, "action");
        return new Weak<>(new WeakReference<>(Objects.requireNonNull(object, "object")), action);
    }

    /**
     * Adds an action. Drops those of forgotten objects from time to time, so that a stream which many short-lived
     * objects use does not collect them.
     *
     * @param action what to do
     */
    public void add(Runnable action) {
        Objects.requireNonNull(action, "action");
        synchronized (actions) {
            if (actions.size() >= looksAt) {
                actions.removeIf(each -> each instanceof Weak<?> weak && weak.isForgotten());
                looksAt = Math.max(FEW, 2 * actions.size());
            }
            actions.add(action);
        }
    }

    /** Returns the number of actions, including those of collected objects that were not removed yet. */
    int size() {
        synchronized (actions) {
            return actions.size();
        }
    }

    /** Does everything that was added since the last call, whatever an action throws: that is logged. */
    public void run() {
        List<Runnable> due;
        synchronized (actions) {
            due = List.copyOf(actions);
            actions.clear();
        }
        for (Runnable action : due) {
            try {
                action.run();
            } catch (RuntimeException e) {
                LOG.warn("what was to be done before a stream closes failed", e);
            }
        }
    }
}
