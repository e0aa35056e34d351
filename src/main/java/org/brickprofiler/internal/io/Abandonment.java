package org.brickprofiler.internal.io;

import java.lang.ref.Cleaner;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/** Gives back what belongs to objects that were never closed and that nobody has any more. Any thread. */
public final class Abandonment {

    /** Its thread begins with the first object that is watched, and is a daemon. */
    private static final Cleaner CLEANER = Cleaner.create();

    private Abandonment() {}

    /**
     * Runs an action when none of some objects can be reached any more.
     *
     * @param action gives back what belongs to them, on a thread of this class; must not hold any of them, and must do
     *     no harm where that was given back before. Exceptions that it throws are ignored
     * @param owners the objects, one or more
     */
    public static void whenUnreachable(Runnable action, Object... owners) {
        Objects.requireNonNull(action, "action");
        AtomicInteger left = new AtomicInteger(owners.length);
        for (Object owner : owners) {
            CLEANER.register(owner, () -> {
                if (left.decrementAndGet() == 0) {
                    action.run();
                }
            });
        }
    }
}
