package org.brickprofiler.agent;

import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A value that a daemon thread prepares while another thread goes on until it needs it: the agent starts sooner where a
 * processor is idle. The initialisers of the classes that both threads use must not need one another. Any thread.
 *
 * @param <T> the type of the value
 */
final class Ahead<T> {

    private final Thread thread;

    // Written by the thread before it ends.
    private @Nullable T value;
    private @Nullable Throwable failure;

    /** Prepares a value. */
    @FunctionalInterface
    interface Task<T> {
        /**
         * Returns the value.
         *
         * @throws IOException when it cannot be read
         */
        T run() throws IOException;
    }

    private Ahead(String name, Task<T> task) {
        thread = new Thread(() -> run(task), name);
        thread.setDaemon(true);
    }

    /** Begins a task on a thread of that name. */
    static <T> Ahead<T> begin(String name, Task<T> task) {
        Ahead<T> ahead = new Ahead<>(name, task);
        ahead.thread.start();
        return ahead;
    }

    private void run(Task<T> task) {
        try {
            value = task.run();
        } catch (Throwable failed) {
            failure = failed;
        }
    }

    /**
     * Returns the value once the task has ended, also to an interrupted thread.
     *
     * @throws IOException if the task threw it; all other exceptions are passed on, too
     */
    T get() throws IOException {
        boolean isInterrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException interrupted) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
        if (failure instanceof IOException unreadable) {
            throw unreadable;
        } else if (failure instanceof RuntimeException failed) {
            throw failed;
        } else if (failure instanceof Error failed) {
            throw failed;
        }
        return Objects.requireNonNull(value);
    }
}
