package org.brickprofiler.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A fixed number of threads that share the parts of one job after another. The thread that calls {@link #run} is one of
 * them, so a pool of one thread starts none.
 *
 * <p>Jobs follow each other within microseconds, so an idle thread spins for a moment before it parks. One thread at a
 * time may call {@link #run}; {@link #close} ends the threads.
 */
final class WorkerPool implements AutoCloseable {

    /** The number of times that an idle thread polls for work before it parks: some tens of µs. */
    private static final int SPINS = 2_000;

    private final List<Worker> workers = new ArrayList<>();

    private volatile @Nullable Job current;
    private volatile boolean closed;

    /**
     * Starts the threads.
     *
     * @param threads how many work on a job, the caller included
     * @throws IllegalArgumentException when there are less than one
     */
    WorkerPool(int threads) {
        if (threads < 1) {
            throw new IllegalArgumentException("threads " + threads + " is not 1 or more");
        }
        for (int i = 1; i < threads; i++) {
            workers.add(new Worker("demo-worker-" + i));
        }
        workers.forEach(worker -> worker.thread.start());
    }

    /** Returns how many threads work on a job, the caller included. */
    int threads() {
        return workers.size() + 1;
    }

    /**
     * Runs all parts of a job and returns when they are done. Any thread may run a part; one thread runs a whole part.
     *
     * @param parts number of parts
     * @param work called with each number from 0 to {@code parts - 1}. An exception from it is thrown here, when all
     *     threads have left the job; parts not begun by then are left out
     * @throws IllegalStateException when the pool is closed
     */
    void run(int parts, IntConsumer work) {
        if (closed) {
            throw new IllegalStateException("the worker pool is closed");
        }
        Job job = new Job(parts, work, Thread.currentThread());
        if (parts > 1 && !workers.isEmpty()) {
            current = job;
            workers.forEach(Worker::wake);
        }
        job.help();
        job.await();
        job.throwFailure();
    }

    /** Ends the threads and waits for them. */
    @Override
    public void close() {
        closed = true;
        workers.forEach(Worker::wake);
        for (Worker worker : workers) {
            try {
                worker.thread.join();
            } catch (InterruptedException e) {
                // The threads end by themselves; only the waiting is cut short.
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** One call of {@link #run}. A late thread finds all parts claimed and touches nothing else. */
    private static final class Job {
        private final int parts;
        private final IntConsumer work;
        private final Thread caller;
        private final AtomicInteger claimed = new AtomicInteger();
        private final AtomicInteger finished = new AtomicInteger();
        private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        private volatile boolean callerParks;

        Job(int parts, IntConsumer work, Thread caller) {
            this.parts = parts;
            this.work = work;
            this.caller = caller;
        }

        void help() {
            int part = claimed.getAndIncrement();
            while (part < parts) {
                runPart(part);
                part = claimed.getAndIncrement();
            }
        }

        private void runPart(int part) {
            try {
                if (failure.get() == null) {
                    work.accept(part);
                }
            } catch (RuntimeException | Error e) {
                failure.compareAndSet(null, e);
            } finally {
                // The flag is read after the count is written, and the caller does the reverse: one of the two sees the
                // other's write.
                if (finished.incrementAndGet() == parts && callerParks) {
                    LockSupport.unpark(caller);
                }
            }
        }

        void await() {
            for (int i = 0; i < SPINS && finished.get() < parts; i++) {
                Thread.onSpinWait();
            }
            callerParks = true;
            while (finished.get() < parts) {
                LockSupport.park(this);
            }
        }

        void throwFailure() {
            Throwable thrown = failure.get();
            if (thrown instanceof Error error) {
                throw error;
            }
            if (thrown instanceof RuntimeException exception) {
                throw exception;
            }
        }
    }

    private final class Worker {
        private final Thread thread;
        private volatile boolean parked;

        Worker(String name) {
            thread = new Thread(this::work, name);
            thread.setDaemon(true);
        }

        void wake() {
            if (parked) {
                LockSupport.unpark(thread);
            }
        }

        private void work() {
            Job last = null;
            while (!closed) {
                Job job = current;
                if (job != null && job != last) {
                    job.help();
                    last = job;
                } else {
                    awaitOther(last);
                }
            }
        }

        private void awaitOther(@Nullable Job last) {
            for (int i = 0; i < SPINS; i++) {
                if (hasNews(last)) {
                    return;
                }
                Thread.onSpinWait();
            }
            parked = true;
            while (!hasNews(last)) {
                LockSupport.park(WorkerPool.this);
                // Nothing interrupts these threads on purpose, and park would not wait while the flag is set.
                Thread.interrupted();
            }
            parked = false;
        }

        private boolean hasNews(@Nullable Job last) {
            return closed || current != last;
        }
    }
}
