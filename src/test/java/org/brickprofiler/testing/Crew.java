package org.brickprofiler.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Threads of a test: started together, joined with a timeout, and an exception in one of them fails the test. */
public final class Crew {

    private static final Duration LONGEST = Duration.ofSeconds(60);

    private final List<FutureTask<?>> tasks = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    /** An action of a thread without a result. */
    @FunctionalInterface
    public interface Body {
        /** Runs; an exception fails the test. */
        void run() throws Exception;
    }

    /** Starts a thread. */
    public Crew run(Body body) {
        FutureTask<Boolean> task = start(task(body));
        assert !task.isCancelled();
        return this;
    }

    /** Returns a task for a thread that the test has started itself; {@link #result} waits for it. */
    public static FutureTask<Boolean> task(Body body) {
        return new FutureTask<>(() -> {
            body.run();
            return true;
        });
    }

    /** Starts a thread that has a result. */
    public <T> FutureTask<T> start(Callable<T> body) {
        return start(new FutureTask<>(body));
    }

    private <T> FutureTask<T> start(FutureTask<T> task) {
        Thread thread = new Thread(task, "crew-" + threads.size());
        thread.setDaemon(true);
        tasks.add(task);
        threads.add(thread);
        thread.start();
        return task;
    }

    /** Waits until all threads have ended. */
    public void join() throws Exception {
        for (FutureTask<?> task : tasks) {
            result(task);
        }
        for (Thread thread : threads) {
            thread.join(LONGEST.toMillis());
            if (thread.isAlive()) {
                throw new AssertionError(thread + " did not end");
            }
        }
    }

    /** Waits for the result of a thread. */
    public static <T> T result(FutureTask<T> task) throws Exception {
        try {
            return task.get(LONGEST.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException late) {
            throw new AssertionError("a thread of the test did not end", late);
        } catch (ExecutionException failed) {
            throw new AssertionError("a thread of the test failed", failed.getCause());
        }
    }

    /** Runs a body on a new thread and waits until that thread has ended. */
    public static void runOnNewThread(Body body) throws Exception {
        new Crew().run(body).join();
    }

    /** Runs a body on a new thread and waits until that thread has ended. */
    public static <T> T onNewThread(Callable<T> body) throws Exception {
        Crew crew = new Crew();
        FutureTask<T> task = crew.start(body);
        crew.join();
        return result(task);
    }
}
