package org.brickprofiler.record;

import org.jspecify.annotations.Nullable;

/** What belongs to one thread, to be found through {@link ThreadSlots}. The owner never changes. */
public abstract class ThreadOwned {

    private final @Nullable Thread owner;

    /**
     * Something of a thread.
     *
     * @param owner the thread, or null where it belongs to none
     */
    protected ThreadOwned(@Nullable Thread owner) {
        this.owner = owner;
    }

    final @Nullable Thread owner() {
        return owner;
    }

    /**
     * Whether the owner may still come.
     *
     * @return false where it has ended or there is none
     */
    public final boolean isOwnerAlive() {
        Thread thread = owner;
        return thread != null && thread.isAlive();
    }
}
