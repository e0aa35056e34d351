package org.brickprofiler.internal.io;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is to be done before a stream of a device closes. Any thread. */
public final class CloseActions {

    private static final Logger LOG = LoggerFactory.getLogger(CloseActions.class);

    /** Guarded by itself. */
    private final List<Runnable> actions = new ArrayList<>();

    /** Nothing to do so far. */
    public CloseActions() {}

    /**
     * An action that does not keep what it is done to: nothing is done where nobody else has that any more.
     *
     * @param <T> the type of the object
     * @param object what it is done to
     * @param action what to do; must not hold the object
     * @return the action, for {@link #add}
     */
    public static <T> Runnable unlessForgotten(T object, Consumer<T> action) {
        Objects.requireNonNull(action, "action");
        return new UnlessForgotten<>(new WeakReference<>(Objects.requireNonNull(object, "object")), action);
    }

    /** Does nothing once nobody else has the object. */
    private record UnlessForgotten<T>(WeakReference<T> reference, Consumer<T> action) implements Runnable {
        @Override
        public void run() {
            T kept = reference.get();
            if (kept != null) {
                action.accept(kept);
            }
        }

        static boolean isForgotten(Runnable action) {
            return action instanceof UnlessForgotten<?> weak && weak.reference.get() == null;
        }
    }

    /**
     * Adds an action, and drops those whose object nobody else has any more: a stream may outlive any number of profilers.
     *
     * @param action what to do
     */
    public void add(Runnable action) {
        Objects.requireNonNull(action, "action");
        synchronized (actions) {
            actions.removeIf(UnlessForgotten::isForgotten);
            actions.add(action);
        }
    }

    /**
     * How many actions wait. For tests and diagnosis.
     *
     * @return 0 or more
     */
    public int size() {
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
