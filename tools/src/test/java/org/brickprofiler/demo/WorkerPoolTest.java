package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class WorkerPoolTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7})
    void runsEveryPartOfEveryJobOnce(int threads) {
        int jobs = 5_000;
        try (WorkerPool pool = new WorkerPool(threads)) {
            for (int job = 0; job < jobs; job++) {
                int parts = job % 9;
                AtomicIntegerArray runs = new AtomicIntegerArray(9);
                pool.run(parts, runs::incrementAndGet);
                for (int part = 0; part < 9; part++) {
                    assertThat(runs.get(part)).isEqualTo(part < parts ? 1 : 0);
                }
            }
        }
    }

    @Test
    void threadsWorkAtTheSameTime() {
        CyclicBarrier allAreHere = new CyclicBarrier(3);
        Set<Thread> seen = ConcurrentHashMap.newKeySet();
        try (WorkerPool pool = new WorkerPool(3)) {
            pool.run(3, part -> {
                seen.add(Thread.currentThread());
                await(allAreHere);
            });
        }
        assertThat(seen).hasSize(3).contains(Thread.currentThread());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void anExceptionOfAPartIsThrownByRunAndThePoolContinues(int threads) {
        IllegalStateException failure = new IllegalStateException("part 2 failed");
        try (WorkerPool pool = new WorkerPool(threads)) {
            assertThatThrownBy(() -> pool.run(4, part -> {
                        if (part == 2) {
                            throw failure;
                        }
                    }))
                    .isSameAs(failure);

            AtomicIntegerArray runs = new AtomicIntegerArray(4);
            pool.run(4, runs::incrementAndGet);
            assertThat(runs).hasToString("[1, 1, 1, 1]");
        }
    }

    @Test
    void anErrorOnAnotherThreadIsThrownByRun() {
        CyclicBarrier bothAreHere = new CyclicBarrier(2);
        Thread caller = Thread.currentThread();
        try (WorkerPool pool = new WorkerPool(2)) {
            assertThatThrownBy(() -> pool.run(2, part -> {
                        await(bothAreHere);
                        if (Thread.currentThread() != caller) {
                            throw new AssertionError("not here");
                        }
                    }))
                    .isInstanceOf(AssertionError.class)
                    .hasMessage("not here");
        }
    }

    @Test
    void closeEndsTheThreads() {
        Set<Thread> seen = ConcurrentHashMap.newKeySet();
        CyclicBarrier bothAreHere = new CyclicBarrier(2);
        WorkerPool pool = new WorkerPool(2);
        pool.run(2, part -> {
            seen.add(Thread.currentThread());
            await(bothAreHere);
        });

        pool.close();
        pool.close();

        seen.remove(Thread.currentThread());
        assertThat(seen).singleElement().matches(thread -> !thread.isAlive());
        assertThatThrownBy(() -> pool.run(1, part -> {})).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void closeOnAnInterruptedThreadReturnsAndKeepsTheInterrupt() {
        WorkerPool pool = new WorkerPool(2);

        Thread.currentThread().interrupt();
        pool.close();

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void refusesLessThanOneThread() {
        assertThatThrownBy(() -> new WorkerPool(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("threads 0 is not 1 or more");
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(30, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
