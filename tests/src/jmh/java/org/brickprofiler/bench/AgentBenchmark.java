package org.brickprofiler.bench;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures a brick that the agent has woven, and the same work between two calls by hand, in turns; and, while the
 * profiler is off, a woven brick and the same work without any call. The virtual machine needs the agent:
 * {@code -Djmh.args='-jvmArgsAppend -javaagent:../agent/target/brick-profiler-agent.jar=rules=FILE'} with
 * {@code src/jmh/rules/agent.yaml} as the file. The counters are the times of each side, with the side that is not
 * woven as the floor, or the medians of shots after the caches were filled with {@link Weights}; the score means
 * nothing.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 400, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class AgentBenchmark {

    private static final int CALLS = 1_000;

    /** The number of calls of each side before its first shot, enough for it to be compiled. */
    private static final int WARMUP_CALLS = 30_000;

    /** The number of numbers that a brick sums: nearly no work, or about a microsecond. */
    @Param({"8", "1000"})
    public int size;

    private final BrickProfiler profiler = BrickProfiler.enabled();
    private float[] numbers = {};

    /** Creates the numbers, and refuses to measure if the agent is missing. */
    @Setup(Level.Trial)
    public void prepare() {
        numbers = new float[size];
        try {
            Class.forName("org.brickprofiler.agent.bridge.Bridge", false, ClassLoader.getPlatformClassLoader());
        } catch (ClassNotFoundException missing) {
            throw new IllegalStateException("the agent is missing; see the class", missing);
        }
    }

    private static float sum(float[] numbers) {
        float sum = 0;
        for (float each : numbers) {
            sum += each;
        }
        return sum;
    }

    /** The rules name this method. */
    private float woven(float[] values) {
        return sum(values);
    }

    private float byHand(float[] values) {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        float sum = sum(values);
        profiler.stopBrick(timer, values.length);
        return sum;
    }

    private float bare(float[] values) {
        return sum(values);
    }

    /** Takes a turn of each, with a profiler that is off. */
    @Benchmark
    @Fork(value = 3, jvmArgsPrepend = "-Dbrick.profiler=off")
    public float turnsOff(PairedBenchmark.Turns turns) {
        float result = 0;
        long beganNs = System.nanoTime();
        for (int i = 0; i < CALLS; i++) {
            result += bare(numbers);
        }
        return result + wovenTurn(turns, System.nanoTime() - beganNs);
    }

    /** Takes a turn of each. */
    @Benchmark
    public float turns(PairedBenchmark.Turns turns) {
        float result = 0;
        long beganNs = System.nanoTime();
        for (int i = 0; i < CALLS; i++) {
            result += byHand(numbers);
        }
        return result + wovenTurn(turns, System.nanoTime() - beganNs);
    }

    /** The medians of shots, ns, each with the time of two clock reads. */
    @AuxCounters(AuxCounters.Type.EVENTS)
    @State(Scope.Thread)
    public static class Shots {
        public double bareNs;
        public double byHandNs;
        public double wovenNs;
    }

    /** Takes one shot of each after each reading of the weights, in random order. */
    @Benchmark
    @BenchmarkMode(Mode.SingleShotTime)
    @OutputTimeUnit(TimeUnit.MILLISECONDS)
    @Warmup(iterations = 0)
    @Measurement(iterations = 1)
    @Fork(
            value = 5,
            jvmArgsPrepend = {"-Xms1g", "-Xmx1g", "-Xmn32m", "-Xbatch"})
    public void cold(Shots shots, Weights weights) {
        for (int i = 0; i < WARMUP_CALLS; i++) {
            bareShot();
            byHandShot();
            wovenShot();
        }
        weights.load();
        long[] bareNs = new long[weights.shots()];
        long[] byHandNs = new long[weights.shots()];
        long[] wovenNs = new long[weights.shots()];
        List<IntConsumer> shoot = Arrays.asList(
                shot -> bareNs[shot] = bareShot(),
                shot -> byHandNs[shot] = byHandShot(),
                shot -> wovenNs[shot] = wovenShot());
        Random random = new Random(weights.megabytes);
        for (int shot = 0; shot < weights.shots(); shot++) {
            Collections.shuffle(shoot, random);
            for (IntConsumer each : shoot) {
                weights.read();
                each.accept(shot);
            }
        }
        shots.bareNs = Weights.median(bareNs);
        shots.byHandNs = Weights.median(byHandNs);
        shots.wovenNs = Weights.median(wovenNs);
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private long bareShot() {
        float[] values = numbers;
        long beganNs = System.nanoTime();
        float sum = bare(values);
        return System.nanoTime() - beganNs + (sum < 0 ? 1 : 0);
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private long byHandShot() {
        float[] values = numbers;
        long beganNs = System.nanoTime();
        float sum = byHand(values);
        return System.nanoTime() - beganNs + (sum < 0 ? 1 : 0);
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private long wovenShot() {
        float[] values = numbers;
        long beganNs = System.nanoTime();
        float sum = woven(values);
        return System.nanoTime() - beganNs + (sum < 0 ? 1 : 0);
    }

    private float wovenTurn(PairedBenchmark.Turns turns, long floorNs) {
        float result = 0;
        long beganNs = System.nanoTime();
        for (int i = 0; i < CALLS; i++) {
            result += woven(numbers);
        }
        turns.add(floorNs, System.nanoTime() - beganNs);
        return result;
    }
}
