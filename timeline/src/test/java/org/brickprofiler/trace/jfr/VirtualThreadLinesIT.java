package org.brickprofiler.trace.jfr;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.brickprofiler.trace.CallTree;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;

/**
 * Virtual threads that take turns on carriers within their bricks, each of which has a planted hot method, and the
 * lines that a real flight recording states for the bricks.
 */
final class VirtualThreadLinesIT {

    private static final int THREADS = 8;
    private static final int ENOUGH = 60;
    private static final long LONGEST_NS = 30_000_000_000L;

    private final TraceRecorder recorder = TraceRecorder.builder().lines(true).build();
    private final BrickProfiler profiler =
            BrickProfiler.builder().tracing(recorder).build();
    private final float[] data = new float[4_096];
    private volatile boolean isOver;

    @Test
    @EnabledForJreRange(minVersion = 25, disabledReason = "samples of earlier JDKs need not name the virtual thread")
    void aSampleIsInTheBrickOfItsVirtualThreadThatWasUnderWay() throws InterruptedException {
        profiler.enable();
        AtomicReference<Float> result = new AtomicReference<>(0f);
        LineProfile profile;
        try (VirtualMachineStops stops = VirtualMachineStops.of(recorder)) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                threads.add(VirtualThreadStarter.orSkip().start(() -> result.set(run())));
            }
            long untilNs = System.nanoTime() + LONGEST_NS;
            while (!isEnough() && System.nanoTime() < untilNs) {
                Thread.sleep(200);
            }
            isOver = true;
            for (Thread thread : threads) {
                thread.join();
            }
            stops.close();
            profile = recorder.lines().orElseThrow();
        }
        assertThat(result.get()).as("what the engine computed").isNotNaN();
        requireOnly(profile, BrickId.QKV_PROJECTION, "hotOfProjection", "hotOfSoftmax");
        requireOnly(profile, BrickId.ATTENTION_SOFTMAX, "hotOfSoftmax", "hotOfProjection");
        assertThat(profile.samples().virtualThreads()).as(profile.text()).isZero();
        assertThat(profile.samples().inBricks())
                .isGreaterThan(9 * profile.samples().tooLate());
        assertThat(profile.bricks()).allMatch(brick -> brick.ofWorkers() == 0);
    }

    private boolean isEnough() {
        return recorder.lines().orElseThrow().bricks().stream()
                        .filter(brick -> brick.samples() >= ENOUGH)
                        .count()
                == 2;
    }

    private static void requireOnly(LineProfile profile, BrickId brick, String hot, String foreign) {
        List<String> methods = profile.bricks().stream()
                .filter(each -> each.brick().equals(brick.displayName()))
                .flatMap(each -> each.java().methods(100).stream())
                .map(CallTree.Share::place)
                .toList();
        assertThat(methods)
                .contains(VirtualThreadLinesIT.class.getName() + "." + hot)
                .noneMatch(method -> method.endsWith("." + foreign));
    }

    /** Runs bricks that give their carrier to other threads in the middle of their work. */
    private float run() {
        float sum = 0;
        for (int i = 0; !isOver; i++) {
            long timer = profiler.startBrick(BrickId.QKV_PROJECTION);
            sum += hotOfProjection();
            giveWay(i);
            sum += hotOfProjection();
            profiler.stopBrick(timer, 1);
            timer = profiler.startBrick(BrickId.ATTENTION_SOFTMAX);
            sum += hotOfSoftmax();
            giveWay(i + 1);
            sum += hotOfSoftmax();
            profiler.stopBrick(timer, 1);
        }
        return sum;
    }

    @SuppressWarnings("ThreadPriorityCheck") // yielding lets the thread go on with another carrier
    private static void giveWay(int turn) {
        if (turn % 3 == 0) {
            LockSupport.parkNanos(20_000);
        } else {
            Thread.yield();
        }
    }

    private float hotOfProjection() {
        float sum = 0;
        for (int round = 0; round < 20; round++) {
            for (float each : data) {
                sum += each * 0.5f + round;
            }
        }
        return sum;
    }

    private float hotOfSoftmax() {
        float sum = 0;
        for (int round = 0; round < 20; round++) {
            for (float each : data) {
                sum += each * 0.25f + round;
            }
        }
        return sum;
    }
}
