package org.brickprofiler.internal.base;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/** Actions to run before a device stream closes. Any thread. */
public final class CloseActions {

    private static final Log LOG = Log.of(CloseActions.class);

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

    /**
     * When {@link #add} finds this many actions, it removes those of unreachable objects. Guarded by {@code actions}.
     */
    private int looksAt = FEW;

    /** Creates an empty list of actions. */
    public CloseActions() {}

    /**
     * Returns an action that does not keep its object alive, and does nothing if the object is unreachable.
     *
     * @param <T> the type of the object
     * @param object the object
     * @param action the action; it must not refer to the object
     * @return the action, for {@link #add}
     */
    public static <T> Runnable unlessForgotten(T object, Consumer<T> action) {
        Objects.requireNonNull(action, "action");
        return new Weak<>(new WeakReference<>(Objects.requireNonNull(object, "object")), action);
    }

    /**
     * Adds an action. From time to time, removes the actions of unreachable objects, so that a stream used by many
     * short-lived objects does not accumulate them.
     *
     * @param action the action
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

    /** Returns the number of actions, including those of unreachable objects that were not removed yet. */
    int size() {
        synchronized (actions) {
            return actions.size();
        }
    }

    /**
     * Runs all actions added since the last call, and logs the runtime exceptions that they throw. An error does not
     * keep the further actions from running, and is thrown afterwards.
     */
    public void run() {
        List<Runnable> due;
        synchronized (actions) {
            due = List.copyOf(actions);
            actions.clear();
        }
        Error first = null;
        for (Runnable action : due) {
            try {
                action.run();
            } catch (RuntimeException e) {
                LOG.warn("an action before the closing of a stream failed", e);
            } catch (Error e) {
                if (first == null) {
                    first = e;
                } else if (first != e) {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
