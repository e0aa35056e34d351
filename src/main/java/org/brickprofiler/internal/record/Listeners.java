package org.brickprofiler.internal.record;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.brickprofiler.internal.base.Log;

/**
 * The listeners of a profiler. A listener that throws a runtime exception is removed, and the exception does not reach
 * the code that is timed. Any thread.
 *
 * @param <L> the type of a listener
 */
public final class Listeners<L> {

    private final List<Registration<L>> all = new CopyOnWriteArrayList<>();
    private final List<Registration<L>> ofBricks = new CopyOnWriteArrayList<>();

    /** A call of {@link #add}. Registrations are different even if they have the same listener. */
    private static final class Registration<L> {
        private final L listener;

        Registration(L listener) {
            this.listener = listener;
        }
    }

    /** Whether there is no listener. Each step reads this field instead of the lists. */
    private volatile boolean isEmpty = true;

    /** Creates an empty list. */
    public Listeners() {}

    /**
     * Adds a listener.
     *
     * @param listener the listener; if it is added twice, it is called twice
     * @param wantsBricks whether it is called for bricks, too
     */
    public synchronized void add(L listener, boolean wantsBricks) {
        Registration<L> added = new Registration<>(listener);
        all.add(added);
        isEmpty = false;
        if (wantsBricks) {
            ofBricks.add(added);
        }
    }

    /**
     * Removes the earliest registration of a listener.
     *
     * @param listener the listener; nothing happens if it was not added
     */
    public synchronized void remove(L listener) {
        all.stream().filter(each -> each.listener.equals(listener)).findFirst().ifPresent(this::remove);
    }

    private synchronized void remove(Registration<L> registration) {
        all.remove(registration);
        ofBricks.remove(registration);
        isEmpty = all.isEmpty();
    }

    /**
     * Returns whether there is no listener.
     *
     * @return true if there is none
     */
    public boolean isEmpty() {
        return isEmpty;
    }

    /**
     * Returns whether a listener is called for bricks.
     *
     * @return true if there is such a listener
     */
    public boolean wantBricks() {
        return !ofBricks.isEmpty();
    }

    /**
     * Calls the listeners of bricks.
     *
     * @param call the call
     */
    public void ofBrick(Consumer<L> call) {
        ofBricks.forEach(each -> call(each, call));
    }

    /**
     * Calls all listeners.
     *
     * @param call the call
     */
    public void ofStep(Consumer<L> call) {
        all.forEach(each -> call(each, call));
    }

    private void call(Registration<L> registration, Consumer<L> call) {
        try {
            call.accept(registration.listener);
        } catch (RuntimeException thrown) {
            remove(registration);
            Log.of(Listeners.class).warn("a listener has failed and is removed: {}", registration.listener, thrown);
        }
    }
}
