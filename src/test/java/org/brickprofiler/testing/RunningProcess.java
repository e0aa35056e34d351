package org.brickprofiler.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A process that a test has started; {@link ChildProcess} makes it. Both of its outputs are read while it runs, each on
 * a thread of its own, so that it never waits for a full pipe. Not thread-safe.
 */
public final class RunningProcess implements AutoCloseable {

    private final String command;
    private final Duration limit;
    private final long startNs = System.nanoTime();
    private final Process process;
    private final Reader out;
    private final Reader err;

    private RunningProcess(Process process, String command, Duration limit) {
        this.command = command;
        this.limit = limit;
        this.process = process;
        out = new Reader(process.getInputStream());
        err = new Reader(process.getErrorStream());
    }

    static RunningProcess start(ProcessBuilder builder, Duration limit) throws IOException {
        Process process = builder.start();
        RunningProcess running = new RunningProcess(process, String.join(" ", builder.command()), limit);
        running.out.start();
        running.err.start();
        process.getOutputStream().close();
        return running;
    }

    /**
     * Waits for the end of the process and of its output. If this takes longer than the timeout, or the thread is
     * interrupted, the process is killed, and the test fails with the output so far.
     */
    public ProcessResult result() {
        try {
            if (process.waitFor(leftNs(), NANOSECONDS) && outputEndsWithin(leftNs())) {
                return new ProcessResult(process.exitValue(), out.all(), err.all());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(withOutput("interrupted while this was running"), e);
        } finally {
            close();
        }
        throw new AssertionError(withOutput("not at its end after " + limit.toMillis() + " ms"));
    }

    /** Returns the process ID. */
    public long pid() {
        return process.pid();
    }

    /** Asks the process to end, as SIGTERM does. */
    public void terminate() {
        // The method of Process does not work here: it closes the pipes, and unread output would be lost.
        process.toHandle().destroy();
    }

    /** Kills the process and its descendants, if it still runs. */
    @Override
    public void close() {
        // The parent comes first: if it outlived a child, it could start the next one.
        List<ProcessHandle> all = new ArrayList<>(List.of(process.toHandle()));
        process.descendants().forEach(all::add);
        // The method of Process does not work here: it closes the pipes, and unread output would be lost.
        all.forEach(ProcessHandle::destroyForcibly);
    }

    /**
     * Returns both outputs up to now.
     *
     * @return the standard output, and then the standard error
     */
    public String printed() {
        return out.soFar() + err.soFar();
    }

    /** Returns whether both outputs end within a time. Every process that writes to them has to close them. */
    boolean outputEndsWithin(long longestNs) throws InterruptedException {
        long fromNs = System.nanoTime();
        NANOSECONDS.timedJoin(out, longestNs);
        NANOSECONDS.timedJoin(err, longestNs - (System.nanoTime() - fromNs));
        return !out.isAlive() && !err.isAlive();
    }

    private long leftNs() {
        return limit.toNanos() - (System.nanoTime() - startNs);
    }

    private String withOutput(String what) {
        return what + ": " + command + "\nstandard output so far:\n" + out.soFar() + "\nstandard error so far:\n"
                + err.soFar();
    }

    /** Reads one output to its end. */
    private static final class Reader extends Thread {
        private final InputStream in;
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private volatile @Nullable IOException failure;

        Reader(InputStream in) {
            super("output of a process");
            setDaemon(true);
            this.in = in;
        }

        @Override
        public void run() {
            try (in) {
                in.transferTo(bytes);
            } catch (IOException e) {
                failure = e;
            }
        }

        String soFar() {
            return bytes.toString(UTF_8);
        }

        /** Returns the text that the thread, which has ended, has read. */
        String all() {
            IOException cause = failure;
            if (cause != null) {
                throw new UncheckedIOException(cause);
            }
            return soFar();
        }
    }
}
