package org.brickprofiler.bench;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.checksum.ChecksumOptions;
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
 * Measures one checksum of an output of 4096 floats, including its entry in the log. The floor reads and sums the same
 * floats. Each invocation begins with an empty log, so that no log fills up.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
@OperationsPerInvocation(ChecksumBenchmark.RECORDS)
public class ChecksumBenchmark {

    static final int RECORDS = 1024;
    private static final int FLOATS = 4096;
    private static final int COVERED = 64;
    private static final int SAMPLES = 16;

    private final float[] output = new float[FLOATS];
    private final ByteBuffer direct =
            ByteBuffer.allocateDirect(FLOATS * Float.BYTES).order(ByteOrder.nativeOrder());
    private final ChecksumLog first64 = new ChecksumLog();
    private final ChecksumLog sampled = new ChecksumLog(ChecksumOptions.DEFAULT.withSamples(SAMPLES));
    private final ChecksumLog whole = new ChecksumLog(ChecksumOptions.DEFAULT.withScope(ChecksumOptions.Scope.WHOLE));

    @Setup
    public void fill() {
        for (int i = 0; i < FLOATS; i++) {
            output[i] = (float) Math.sin(i);
        }
        direct.asFloatBuffer().put(output);
    }

    // ---- floors ----

    @Benchmark
    public float floorSumOf64() {
        return sums(COVERED);
    }

    @Benchmark
    public float floorSumOfAll() {
        return sums(FLOATS);
    }

    private float sums(int floats) {
        float sum = 0;
        for (int record = 0; record < RECORDS; record++) {
            for (int i = 0; i < floats; i++) {
                sum += output[i];
            }
        }
        return sum;
    }

    // ---- checksums ----

    @Benchmark
    public void first64() {
        record(first64);
    }

    @Benchmark
    public void first64WithSamples() {
        record(sampled);
    }

    @Benchmark
    public void first64OfBytes() {
        first64.reset();
        for (int i = 0; i < RECORDS; i++) {
            first64.record("RmsNorm", 0, i, direct);
        }
    }

    @Benchmark
    public void whole() {
        record(whole);
    }

    private void record(ChecksumLog log) {
        log.reset();
        for (int i = 0; i < RECORDS; i++) {
            log.record("RmsNorm", 0, i, output);
        }
    }
}
