package org.brickprofiler.internal.record;

/** Receives measurements whose end was not known when they were queued. */
@FunctionalInterface
public interface PendingConsumer {
    /**
     * Takes one measurement.
     *
     * @param key what was queued as its row
     * @param startNs what was queued as its start
     * @param elements elements it processed
     */
    void accept(int key, long startNs, long elements);

    /**
     * Whose the measurements are that are handed over from now on. Only {@link TableRegistry#drainPending} calls this.
     *
     * @param owner as {@link TableRegistry#caller()} answered the thread that queued them
     */
    default void from(long owner) {}
}
