package org.brickprofiler.bench;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.perfmark.PerfMark;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import org.HdrHistogram.Recorder;
import org.HdrHistogram.SingleWriterRecorder;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the timing of one step with tools that a Java user would choose, each in the idiom of its own manual and
 * with one instrument per step, 23 steps in rotation.
 *
 * <p>The tools differ in their results: PerfMark, JFR and OpenTelemetry keep each event, Micrometer and Dropwizard a
 * few sums and a distribution, HdrHistogram the distribution alone.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
@OperationsPerInvocation(RecordingBenchmark.BRICKS)
public class CompetitorBenchmark {

    private static final int STEPS = RecordingBenchmark.BRICKS;
    private static final long HIGHEST_NS = TimeUnit.MINUTES.toNanos(18);
    private static final BrickId[] IDS = Arrays.copyOf(BrickId.values(), STEPS);

    // Not a constant for the compiler, as in an application.
    private final BrickId[] ids = IDS.clone();

    // ---- the floor and ours ----

    /** The profiler measured here. */
    @State(Scope.Benchmark)
    public static class Ours {
        final BrickProfiler profiler = BrickProfiler.enabled();
    }

    @Benchmark
    public long floorTwoClockReads() {
        long sum = 0;
        for (int i = 0; i < STEPS; i++) {
            long start = System.nanoTime();
            sum += System.nanoTime() - start;
        }
        return sum;
    }

    @Benchmark
    public void brickProfiler(Ours ours) {
        for (BrickId id : ids) {
            ours.profiler.stopBrick(ours.profiler.startBrick(id), 1);
        }
    }

    // ---- PerfMark ----

    /** PerfMark, switched on. */
    @State(Scope.Benchmark)
    public static class PerfMarkOn {
        @Setup
        public void enable() {
            PerfMark.setEnabled(true);
        }
    }

    @Benchmark
    public void perfMark(PerfMarkOn on) {
        for (BrickId id : ids) {
            PerfMark.startTask(id.name());
            PerfMark.stopTask(id.name());
        }
    }

    @Benchmark
    public void perfMarkOff() {
        for (BrickId id : ids) {
            PerfMark.startTask(id.name());
            PerfMark.stopTask(id.name());
        }
    }

    // ---- Micrometer ----

    /** A Micrometer timer for each step. */
    @State(Scope.Benchmark)
    public static class Micrometer {
        final MeterRegistry registry = new SimpleMeterRegistry();
        final io.micrometer.core.instrument.Timer[] timers = new io.micrometer.core.instrument.Timer[STEPS];

        @Setup
        public void register() {
            Arrays.setAll(timers, i -> registry.timer("step", "brick", IDS[i].name()));
        }
    }

    @Benchmark
    public void micrometerRecord(Micrometer micrometer) {
        for (io.micrometer.core.instrument.Timer timer : micrometer.timers) {
            long start = System.nanoTime();
            timer.record(System.nanoTime() - start, TimeUnit.NANOSECONDS);
        }
    }

    @Benchmark
    public void micrometerSample(Micrometer micrometer) {
        for (io.micrometer.core.instrument.Timer timer : micrometer.timers) {
            io.micrometer.core.instrument.Timer.start(micrometer.registry).stop(timer);
        }
    }

    // ---- Dropwizard ----

    /** A Dropwizard timer for each step. */
    @State(Scope.Benchmark)
    public static class Dropwizard {
        final com.codahale.metrics.Timer[] timers = new com.codahale.metrics.Timer[STEPS];

        @Setup
        public void register() {
            var registry = new com.codahale.metrics.MetricRegistry();
            Arrays.setAll(timers, i -> registry.timer(IDS[i].name()));
        }
    }

    @Benchmark
    public void dropwizard(Dropwizard dropwizard) {
        for (com.codahale.metrics.Timer timer : dropwizard.timers) {
            timer.time().stop();
        }
    }

    // ---- HdrHistogram ----

    /** Recorders of two digits, the precision nearest to ours. */
    @State(Scope.Benchmark)
    public static class Hdr {
        final Recorder[] shared = new Recorder[STEPS];
        final SingleWriterRecorder[] own = new SingleWriterRecorder[STEPS];

        @Setup
        public void make() {
            Arrays.setAll(shared, i -> new Recorder(HIGHEST_NS, 2));
            Arrays.setAll(own, i -> new SingleWriterRecorder(HIGHEST_NS, 2));
        }
    }

    @Benchmark
    public void hdrRecorder(Hdr hdr) {
        for (Recorder recorder : hdr.shared) {
            long start = System.nanoTime();
            recorder.recordValue(System.nanoTime() - start);
        }
    }

    @Benchmark
    public void hdrSingleWriter(Hdr hdr) {
        for (SingleWriterRecorder recorder : hdr.own) {
            long start = System.nanoTime();
            recorder.recordValue(System.nanoTime() - start);
        }
    }

    // ---- JFR ----

    /** One timed step. */
    @Name("org.brickprofiler.bench.Step")
    public static final class StepEvent extends Event {
        String step = "";
        long elements;
    }

    /** A recording of the event in memory, without stack traces. */
    @State(Scope.Benchmark)
    public static class FlightRecording {
        private final Recording recording = new Recording();

        @Setup
        public void start() {
            recording.enable(StepEvent.class).withoutThreshold().withoutStackTrace();
            recording.setToDisk(false);
            recording.start();
        }

        @TearDown
        public void stop() {
            recording.close();
        }
    }

    @Benchmark
    public void jfrEvent(FlightRecording running) {
        commitEvents();
    }

    @Benchmark
    public void jfrEventOff() {
        commitEvents();
    }

    private void commitEvents() {
        for (BrickId id : ids) {
            StepEvent event = new StepEvent();
            event.begin();
            event.end();
            if (event.shouldCommit()) {
                event.step = id.name();
                event.elements = 1;
                event.commit();
            }
        }
    }

    // ---- OpenTelemetry ----

    /** Tracers whose spans are discarded. */
    @State(Scope.Benchmark)
    public static class OpenTelemetry {
        final Tracer always = tracer(Sampler.alwaysOn());
        final Tracer never = tracer(Sampler.alwaysOff());

        private static Tracer tracer(Sampler sampler) {
            return SdkTracerProvider.builder()
                    .setSampler(sampler)
                    .addSpanProcessor(new Nowhere())
                    .build()
                    .get("bench");
        }
    }

    /** Receives each span and discards it. */
    private static final class Nowhere implements SpanProcessor {
        @Override
        public void onStart(Context parent, ReadWriteSpan span) {}

        @Override
        public boolean isStartRequired() {
            return true;
        }

        @Override
        public void onEnd(ReadableSpan span) {}

        @Override
        public boolean isEndRequired() {
            return true;
        }
    }

    @Benchmark
    public void openTelemetry(OpenTelemetry otel) {
        spans(otel.always);
    }

    @Benchmark
    public void openTelemetryNotSampled(OpenTelemetry otel) {
        spans(otel.never);
    }

    private void spans(Tracer tracer) {
        for (BrickId id : ids) {
            Span span = tracer.spanBuilder(id.name()).startSpan();
            span.end();
        }
    }
}
