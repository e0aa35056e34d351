package org.brickprofiler.internal.base;

import java.lang.ref.Cleaner;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/** Releases the resources of objects that became unreachable without being closed. Any thread. */
public final class Abandonment {

    /** Its daemon thread starts when this class is first used. */
    private static final Cleaner CLEANER = Cleaner.create();

    private Abandonment() {}

    /**
     * Runs an action once all of the given objects are unreachable.
     *
     * @param action releases the resources, on a thread of this class; it must not refer to any of the objects, and
     *     must have no effect if the resources were released before. Exceptions that it throws are ignored
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
