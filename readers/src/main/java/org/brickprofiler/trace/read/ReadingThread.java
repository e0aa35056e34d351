package org.brickprofiler.trace.read;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The end of a thread that reads ahead. Any thread. */
final class ReadingThread {

    private ReadingThread() {}

    /** Throws a failure of another thread, if there is one. */
    static void rethrow(@Nullable Throwable failure) throws IOException {
        if (failure instanceof IOException fault) {
            throw fault;
        }
        if (failure instanceof RuntimeException fault) {
            throw fault;
        }
        if (failure instanceof Error fault) {
            throw fault;
        }
    }

    /** Ends a thread, and waits for it even if the calling thread is interrupted. */
    static void end(Thread reader) {
        reader.interrupt();
        boolean isInterrupted = false;
        while (reader.isAlive()) {
            try {
                reader.join();
            } catch (InterruptedException again) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
