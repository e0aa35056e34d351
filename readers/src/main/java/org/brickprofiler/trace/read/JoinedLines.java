package org.brickprofiler.trace.read;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.brickprofiler.trace.LineProfile;

/**
 * The lines of a recording, which a thread of its own joins with the bricks while the profile of the bricks is summed.
 * One thread.
 */
final class JoinedLines {

    private final FutureTask<Optional<LineProfile>> task;

    /**
     * Prepares the lines of a recording whose events were all read.
     *
     * @param join joins them; called at most once, on another thread
     */
    JoinedLines(Supplier<Optional<LineProfile>> join) {
        task = new FutureTask<>(join::get);
    }

    /** Begins to join the lines. */
    void start() {
        Thread joining = new Thread(task, "brick-line-joining");
        joining.setDaemon(true);
        joining.start();
    }

    /**
     * Waits for the lines, after {@link #start}.
     *
     * @return the lines; empty if the recording has no samples
     * @throws IOException when the thread is interrupted
     */
    Optional<LineProfile> get() throws IOException {
        try {
            return task.get();
        } catch (ExecutionException failed) {
            ReadingThread.rethrow(failed.getCause());
            throw new IllegalStateException(failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the reading was interrupted");
        }
    }
}
