package org.brickprofiler.trace.jfr;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.brickprofiler.trace.SlowSteps.Kind;
import org.brickprofiler.trace.SlowSteps.Part;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.api.Test;

/** The stops of this virtual machine itself; the flight recorder hands its events over each second. */
final class VirtualMachineStopsIT {

    private static final long HELD_NS = 300_000_000;

    private final TraceRecorder recorder =
            TraceRecorder.builder().keepSlowSteps(3).build();
    private final BrickProfiler profiler =
            BrickProfiler.builder().tracing(recorder).build();

    private void step(Runnable body) {
        profiler.beginStep(StepInfo.decode(100));
        long timer = profiler.startBrick(BrickId.LM_HEAD);
        body.run();
        profiler.stopBrick(timer, 1);
        profiler.endPass();
    }

    private static void dumpThreads() {
        for (int i = 0; i < 300; i++) {
            ManagementFactory.getThreadMXBean().dumpAllThreads(false, false);
        }
    }

    @Spec("13.17")
    @Test
    void dumpsOfThreadsAreStopsOfASlowStepAndCollectionsAreNot() {
        profiler.enable();
        step(VirtualMachineStopsIT::dumpThreads);
        try (VirtualMachineStops stops = VirtualMachineStops.of(recorder)) {
            for (int i = 0; i < 40; i++) {
                step(() -> {});
            }
            step(VirtualMachineStopsIT::dumpThreads);
            step(System::gc);
            assertThat(Thread.getAllStackTraces().keySet())
                    .filteredOn(thread -> thread.getName().matches("brick-stops|JFR Event Stream.*"))
                    .as("threads that would keep a process alive after its application has ended")
                    .isNotEmpty()
                    .allMatch(Thread::isDaemon);
            stops.close();
        }

        Map<Long, Explained> slowest = recorder.timeline().info().slowSteps().orElseThrow().slowest().stream()
                .collect(Collectors.toMap(Explained::index, step -> step));
        assertThat(slowest).containsOnlyKeys(0L, 41L, 42L);
        assertThat(unknown(slowest, 0)).contains(Kind.OTHER_STOP);
        assertThat(unknown(slowest, 41)).doesNotContain(Kind.OTHER_STOP);
        assertThat(stopsNs(slowest, 41)).isPositive();
        assertThat(stopsNs(slowest, 42))
                .isLessThan(Objects.requireNonNull(slowest.get(42L)).durationNs() / 2);
    }

    @Spec("13.17")
    @Test
    void aLockInsideAStepIsNamedThoughOtherThreadsWork() throws InterruptedException {
        profiler.enable();
        ReentrantLock turn = new ReentrantLock();
        try (VirtualMachineStops stops = VirtualMachineStops.of(recorder)) {
            for (int i = 0; i < 40; i++) {
                step(() -> {});
            }
            Thread worker = new Thread(this::work, "worker");
            worker.start();
            heldWhile(
                    step -> {
                        synchronized (this) {
                            hold(step);
                        }
                    },
                    () -> step(() -> {
                        synchronized (this) {
                            turn.getHoldCount();
                        }
                    }));
            heldWhile(
                    step -> {
                        turn.lock();
                        try {
                            hold(step);
                        } finally {
                            turn.unlock();
                        }
                    },
                    () -> step(() -> {
                        turn.lock();
                        try {
                            turn.getHoldCount();
                        } finally {
                            turn.unlock();
                        }
                    }));
            worker.join();
            stops.close();
        }

        Map<Long, Explained> slowest = recorder.timeline().info().slowSteps().orElseThrow().slowest().stream()
                .collect(Collectors.toMap(Explained::index, step -> step));
        assertThat(lockNs(slowest, 40, "blocked by monitor of " + getClass().getName() + ", held by holder"))
                .isBetween(HELD_NS * 9 / 10, HELD_NS * 12 / 10);
        assertThat(lockNs(slowest, 41, "blocked by java.util.concurrent.locks.ReentrantLock"))
                .isBetween(HELD_NS * 9 / 10, HELD_NS * 12 / 10);
    }

    /** A brick of another thread, during both steps: what the step's thread waits for is no longer what is left. */
    private void work() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        LockSupport.parkNanos(4 * HELD_NS);
        profiler.stopBrick(timer, 1);
    }

    /** Has a thread hold a lock from before a step until some time after the step has begun. */
    private static void heldWhile(Consumer<CountDownLatch> holder, Runnable step) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        Thread thread = new Thread(() -> holder.accept(held), "holder");
        thread.start();
        held.await();
        step.run();
        thread.join();
    }

    private static void hold(CountDownLatch held) {
        held.countDown();
        long endNs = System.nanoTime() + HELD_NS;
        while (System.nanoTime() < endNs) {
            LockSupport.parkNanos(endNs - System.nanoTime());
        }
    }

    private static long lockNs(Map<Long, Explained> slowest, long step, String name) {
        return Objects.requireNonNull(slowest.get(step)).parts().stream()
                .filter(part -> part.kind() == Kind.BLOCKED && part.name().equals(name))
                .mapToLong(Part::excessNs)
                .sum();
    }

    private static Set<Kind> unknown(Map<Long, Explained> slowest, long step) {
        return Objects.requireNonNull(slowest.get(step)).unknown();
    }

    private static long stopsNs(Map<Long, Explained> slowest, long step) {
        return Objects.requireNonNull(slowest.get(step)).parts().stream()
                .filter(part -> part.kind() == Kind.OTHER_STOP)
                .mapToLong(Part::excessNs)
                .sum();
    }
}
