package org.brickprofiler.bench;

import java.util.concurrent.TimeUnit;
import org.brickprofiler.Backend;
import org.brickprofiler.device.ClockConversion;
import org.brickprofiler.kernel.KernelTimings;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures one kernel timing: recorded, with the object switched off, and with all timings switched off by property, 23
 * kernels in rotation. The floors are one clock read, and the same loop without the call.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
@OperationsPerInvocation(KernelTimingsBenchmark.KERNELS)
public class KernelTimingsBenchmark {

    static final int KERNELS = 23;

    private static final String SWITCHED_OFF = "-Dbrick.profiler.kernels=false";

    private final KernelTimings on = KernelTimings.global();
    private final KernelTimings off = new KernelTimings();
    private final ClockConversion clock = ClockConversion.between(
            new ClockConversion.Pair(1_000, 300), new ClockConversion.Pair(3_600_000_001_003L, 86_400_000_301L));
    private final String[] names = new String[KERNELS];
    private long ticks;

    @Setup
    public void prepare() {
        off.disable();
        for (int i = 0; i < KERNELS; i++) {
            names[i] = "kernel-" + i;
        }
    }

    // ---- floors ----

    @Benchmark
    public long floorOneClockRead() {
        long sum = 0;
        for (int i = 0; i < KERNELS; i++) {
            sum += System.nanoTime();
        }
        return sum;
    }

    /** The loop of the two disabled paths: each name is checked, so that the loop is not eliminated. */
    @Benchmark
    public long floorEmptyLoop() {
        long sum = 0;
        for (String name : names) {
            sum += name.length();
        }
        return sum;
    }

    // ---- kernels ----

    @Benchmark
    public void record() {
        long elapsedNs = 1_000;
        for (String name : names) {
            on.record(name, Backend.CUDA, elapsedNs++);
        }
    }

    @Benchmark
    public long recordOff() {
        long sum = 0;
        for (String name : names) {
            off.record(name, Backend.CUDA, sum);
            sum += name.length();
        }
        return sum;
    }

    @Benchmark
    @Fork(value = 3, jvmArgsAppend = SWITCHED_OFF)
    public long recordSwitchedOff() {
        long sum = 0;
        for (String name : names) {
            on.record(name, Backend.CUDA, sum);
            sum += name.length();
        }
        return sum;
    }

    // ---- conversion ----

    /** Pairs an hour apart whose numbers have no common divisor. */
    @Benchmark
    public long convertTicks() {
        long sum = 0;
        for (int i = 0; i < KERNELS; i++) {
            ticks += 24_001;
            sum += clock.toHostNs(ticks & 0xffff_ffffffL);
        }
        return sum;
    }
}
