package org.brickprofiler.gpucheck;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickProfilerBuilder;
import org.brickprofiler.BrickStats;
import org.brickprofiler.BrickStream;
import org.brickprofiler.demo.DeviceFailure;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.demo.SpinKernels;
import org.brickprofiler.device.cuda.CudaStream;

/** Checks several threads, each with its own stream in one context: every brick is timed, and on its own stream. */
final class StreamsCheck extends Check.OnDevice {

    private static final int STREAMS = 4;
    private static final int PASSES = 25;
    private static final int BRICKS = 8;
    private static final long SHORTEST_NS = 20_000;

    StreamsCheck(Gpu gpu) {
        super("streams", gpu);
    }

    /** A thread's stream, and its kernel, whose length differs from those of the others. */
    private record Worker(CudaStream stream, long spinNs, Work spin) {

        String brick() {
            return "spin in " + stream.name();
        }

        void work(BrickProfiler profiler) {
            BrickStream own = profiler.stream(stream.name());
            int brick = profiler.brickKey(brick());
            for (int pass = 0; pass < PASSES; pass++) {
                for (int i = 0; i < BRICKS; i++) {
                    long timer = own.startBrick(brick);
                    spin.enqueue();
                    profiler.stopBrick(timer, 1);
                }
                profiler.endPass();
            }
        }
    }

    @Override
    List<Outcome> run() {
        List<Worker> workers =
                IntStream.range(0, STREAMS).mapToObj(number -> worker(number)).toList();
        BrickProfilerBuilder options = BrickProfiler.builder();
        workers.forEach(worker -> options.deviceStream(worker.stream()));
        BrickProfiler profiler = options.build();
        profiler.enable();
        ExecutorService threads = Executors.newFixedThreadPool(STREAMS);
        try {
            List<Future<?>> ends = new ArrayList<>();
            for (Worker worker : workers) {
                ends.add(threads.submit(() -> gpu.onThisThread(() -> worker.work(profiler))));
            }
            ends.forEach(StreamsCheck::await);
        } finally {
            threads.shutdown();
        }
        return List.of(outcome(profiler, workers));
    }

    private Worker worker(int number) {
        CudaStream stream = gpu.openStream("worker " + number);
        long spinNs = SHORTEST_NS * (number + 1);
        Work spin = new SpinKernels(gpu, stream.stream()).spin(spinNs, gpu.allocate(SpinKernels.STAMP_FLOATS));
        return new Worker(stream, spinNs, spin);
    }

    private static void await(Future<?> end) {
        try {
            end.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DeviceFailure("interrupted");
        } catch (ExecutionException e) {
            throw new DeviceFailure(String.valueOf(e.getCause()));
        }
    }

    private Outcome outcome(BrickProfiler profiler, List<Worker> workers) {
        List<String> wrong = new ArrayList<>();
        List<Map<String, Object>> rows = new ArrayList<>();
        double worstNs = 0;
        for (Worker worker : workers) {
            BrickStats stats = profiler.stats(worker.brick()).orElse(null);
            long samples = stats == null ? 0 : stats.device().measured();
            double aboveNs = stats == null || samples == 0 ? 0 : (double) stats.totalNs() / samples - worker.spinNs();
            worstNs = Math.max(worstNs, aboveNs);
            if (samples != PASSES * BRICKS) {
                wrong.add(samples + " of " + PASSES * BRICKS + " bricks timed in "
                        + worker.stream().name()
                        + worker.stream()
                                .failure()
                                .map(reason -> " (" + reason + ")")
                                .orElse(""));
            } else if (stats != null && stats.minNs() < (1 - SHORTER_BOUND) * worker.spinNs()) {
                wrong.add("a brick of " + stats.minNs() + " ns in "
                        + worker.stream().name() + ", whose kernel lasts " + worker.spinNs());
            }
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("stream", worker.stream().name());
            row.put("spin_ns", worker.spinNs());
            row.put("samples", samples);
            row.put("above_kernel_ns", aboveNs);
            rows.add(row);
        }
        profiler.snapshot().streams().forEach(totals -> {
            if (totals.samples() != PASSES * BRICKS) {
                wrong.add(totals.stream() + " has " + totals.samples() + " samples");
            }
        });
        if (profiler.pendingCount() != 0) {
            wrong.add(profiler.pendingCount() + " bricks are pending");
        }
        return Outcome.of(
                name,
                wrong.isEmpty(),
                String.format(
                        Locale.ROOT,
                        "%d threads with a stream each: every brick is timed on its own, none shorter than its kernel",
                        STREAMS),
                wrong.isEmpty()
                        ? String.format(
                                Locale.ROOT,
                                "%,d bricks, on average up to %.2f us longer than their kernels",
                                STREAMS * PASSES * BRICKS,
                                worstNs / 1e3)
                        : String.join("; ", wrong),
                Map.of("streams", rows));
    }
}
