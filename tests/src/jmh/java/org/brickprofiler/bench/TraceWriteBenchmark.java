package org.brickprofiler.bench;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.brickprofiler.trace.write.ChromeWriter;
import org.brickprofiler.trace.write.CodedPerfetto;
import org.brickprofiler.trace.write.CountingStream;
import org.brickprofiler.trace.write.ManySpans;
import org.brickprofiler.trace.write.PerfettoWriter;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the time to write a span, into a stream that discards it. {@code coded} writes the same packets as
 * {@code perfetto} with protobuf's own {@link com.google.protobuf.CodedOutputStream}; a test compares the bytes.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class TraceWriteBenchmark {

    private static final int SPANS = 100_000;

    /** Whether spans have elements and a layer. */
    @Param({"false", "true"})
    public boolean detailed;

    @Benchmark
    @OperationsPerInvocation(SPANS)
    public long perfetto() throws IOException {
        CountingStream out = new CountingStream();
        PerfettoWriter.write(new ManySpans(SPANS, detailed), out);
        return out.bytes();
    }

    @Benchmark
    @OperationsPerInvocation(SPANS)
    public long coded() throws IOException {
        CountingStream out = new CountingStream();
        CodedPerfetto.writeEvents(new ManySpans(SPANS, detailed), out);
        return out.bytes();
    }

    @Benchmark
    @OperationsPerInvocation(SPANS)
    public long chrome() throws IOException {
        CountingStream out = new CountingStream();
        ChromeWriter.write(new ManySpans(SPANS, detailed), out);
        return out.bytes();
    }
}
