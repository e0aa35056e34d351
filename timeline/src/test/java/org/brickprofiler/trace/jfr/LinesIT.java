package org.brickprofiler.trace.jfr;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.trace.CallTree;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.SlowSteps.SamplesOfStep;
import org.brickprofiler.trace.SlowSteps.SamplesOfStep.State;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.api.Test;

/** An engine whose hot methods are planted, and the lines that a real flight recording states for its bricks. */
final class LinesIT {

    /** The engine runs until each brick should have this many samples, at most for {@link #LONGEST_NS}. */
    private static final int ENOUGH = 60;

    private static final long LONGEST_NS = 40_000_000_000L;

    /** So many of the slowest steps have samples, although a step takes less than the time between two samples. */
    private static final int SLOW_STEPS = 64;

    /** The deviation, in standard errors, that a share has by chance in one of 16,000 tests. */
    private static final double MOST_ERRORS = 4;

    private final TraceRecorder recorder =
            TraceRecorder.builder().lines(true).keepSlowSteps(SLOW_STEPS).build();
    private final BrickProfiler profiler =
            BrickProfiler.builder().tracing(recorder).build();
    private final float[] data = new float[4_096];
    private float result;

    /** The time that each method of a brick took by a stopwatch around its calls, ns. */
    private final Map<String, Long> truth = new TreeMap<>();

    @Test
    void statesTheMethodsOfEachBrickWithTheirShares() throws InterruptedException {
        profiler.enable();
        LineProfile profile;
        try (VirtualMachineStops stops = VirtualMachineStops.of(recorder)) {
            Thread idle = new Thread(() -> profiler.stopBrick(profiler.startBrick(BrickId.SAMPLING), 1));
            idle.start();
            idle.join();
            Thread client = new Thread(LinesIT::ofClient, "RMI TCP Connection(1)-127.0.0.1");
            client.start();
            long untilNs = System.nanoTime() + LONGEST_NS;
            while (!isEnough() && System.nanoTime() < untilNs) {
                for (int i = 0; i < 50; i++) {
                    step();
                }
            }
            client.join();
            stops.close();
            profile = recorder.lines().orElseThrow();
        }
        assertThat(result).as("what the engine computed").isPositive();
        assertThat(profile.missing()).isEmpty();
        assertThat(profile.clockErrorNs()).isBetween(1L, 5_000_000L);
        assertThat(profile.text()).as("a client of JMX works for no step").doesNotContain("ofClient");
        assertThat(profile.samples().otherThreads()).isPositive();
        requireTruth(profile, BrickId.QKV_PROJECTION, "firstOfProjection", "secondOfProjection");
        requireTruth(profile, BrickId.ATTENTION_SOFTMAX, "firstOfSoftmax", "secondOfSoftmax");
        LineProfile.OfBrick sines = lines(profile, BrickId.ROPE_EMBEDDING);
        assertThat(sines.isDoubted())
                .as("%s samples of %s that are due", sines.samples(), sines.due())
                .isEqualTo(Runtime.version().feature() == 17);
        requireSamplesOfSteps(recorder.slowSteps().orElseThrow().slowest());
    }

    private static void requireSamplesOfSteps(List<SlowSteps.Explained> slowest) {
        List<SamplesOfStep> samples =
                slowest.stream().map(step -> step.samples().orElseThrow()).toList();
        assertThat(samples.stream().mapToLong(SamplesOfStep::inBricks).sum()).isPositive();
        assertThat(samples).filteredOn(each -> each.state() == State.COMPLETE).hasSizeGreaterThan(SLOW_STEPS / 2);
        assertThat(samples.stream().flatMap(each -> each.hottest().stream()))
                .filteredOn(each -> each.method().contains("OfProjection"))
                .isNotEmpty()
                .allMatch(each -> each.brick().equals(BrickId.QKV_PROJECTION.displayName()));
    }

    private boolean isEnough() {
        return recorder.lines().orElseThrow().bricks().stream()
                        .filter(brick ->
                                brick.samples() >= ENOUGH || brick.due().orElse(0) >= ENOUGH)
                        .count()
                == 3;
    }

    private static LineProfile.OfBrick lines(LineProfile profile, BrickId brick) {
        return profile.bricks().stream()
                .filter(each -> each.brick().equals(brick.displayName()))
                .findFirst()
                .orElseThrow();
    }

    private void requireTruth(LineProfile profile, BrickId brick, String first, String second) {
        LineProfile.OfBrick lines = lines(profile, brick);
        assertThat(lines.phase()).isEqualTo(Optional.of(StepInfo.Phase.DECODE));
        assertThat(lines.isDoubted()).isFalse();
        String type = LinesIT.class.getName() + ".";
        Set<String> foreign = lines.java().methods(100).stream()
                .map(CallTree.Share::place)
                .filter(method -> method.endsWith("OfProjection") || method.endsWith("OfSoftmax"))
                .filter(method -> !Set.of(type + first, type + second).contains(method))
                .collect(Collectors.toSet());
        assertThat(foreign).isEmpty();
        long firsts = samples(lines, type + first);
        long all = firsts + samples(lines, type + second);
        assertThat(all).isGreaterThan(ENOUGH / 3);
        double share = (double) timeNs(first) / (timeNs(first) + timeNs(second));
        double error = Math.sqrt(share * (1 - share) / all);
        assertThat((double) firsts / all).isBetween(share - MOST_ERRORS * error, share + MOST_ERRORS * error);
    }

    private long timeNs(String method) {
        return Objects.requireNonNull(truth.get(method));
    }

    private static long samples(LineProfile.OfBrick lines, String method) {
        return lines.java().methods(100).stream()
                .filter(each -> each.place().equals(method))
                .mapToLong(CallTree.Share::samples)
                .sum();
    }

    private void step() {
        profiler.beginStep(StepInfo.decode(1));
        for (int i = 0; i < 10; i++) {
            long timer = profiler.startBrick(BrickId.QKV_PROJECTION);
            time("firstOfProjection", this::firstOfProjection);
            time("secondOfProjection", this::secondOfProjection);
            timer = profiler.lap(timer, 1, BrickId.ATTENTION_SOFTMAX);
            time("firstOfSoftmax", this::firstOfSoftmax);
            time("secondOfSoftmax", this::secondOfSoftmax);
            // JDK 17 cannot walk the stack of its code for sines, and loses the samples.
            timer = profiler.lap(timer, 1, BrickId.ROPE_EMBEDDING);
            sines();
            profiler.stopBrick(timer, 1);
        }
        profiler.endPass();
    }

    private static void ofClient() {
        long untilNs = System.nanoTime() + 1_000_000_000;
        while (System.nanoTime() < untilNs) {
            Thread.onSpinWait();
        }
    }

    private void sines() {
        for (int i = 0; i < 15_000; i++) {
            result += (float) Math.abs(Math.sin(i));
        }
    }

    private void time(String name, Runnable part) {
        long startNs = System.nanoTime();
        part.run();
        truth.merge(name, System.nanoTime() - startNs, Long::sum);
    }

    private void firstOfProjection() {
        for (int round = 0; round < 30; round++) {
            for (float each : data) {
                result += each * 0.5f + round;
            }
        }
    }

    private void secondOfProjection() {
        for (int round = 0; round < 10; round++) {
            for (float each : data) {
                result += each * 0.5f + round;
            }
        }
    }

    private void firstOfSoftmax() {
        for (int round = 0; round < 10; round++) {
            for (float each : data) {
                result += each * 0.5f + round;
            }
        }
    }

    private void secondOfSoftmax() {
        for (int round = 0; round < 30; round++) {
            for (float each : data) {
                result += each * 0.5f + round;
            }
        }
    }
}
