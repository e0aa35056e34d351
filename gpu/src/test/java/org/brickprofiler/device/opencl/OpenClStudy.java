package org.brickprofiler.device.opencl;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.SyncMode;

/**
 * Measures on a real driver: how far the times of bricks are from START and END of the kernels' own events, the cost of
 * a mark beside a bare marker, that of a pass in every mode beside one without a profiler, and that of marks by
 * sampling. Prints Markdown. One argument: how many rounds; with 20 it takes two minutes.
 */
public final class OpenClStudy {

    private static final int BRICKS = 256;
    private static final int LAYERS = 16;
    private static final long PASS_NS = 10_000_000;
    private static final int IN_A_ROW = 16;
    private static final int MARKS = 100;

    private static final int SAMPLING = 16;
    private static final List<BrickId> SAMPLED_BRICKS =
            List.of(BrickId.values()).subList(0, 10);
    private static final int LAYERS_SAMPLED = 20;
    private static final long SAMPLED_NS = 50_000;
    private static final int PASSES_OF_PAIR = 100;
    private static final int PAIRS = 12;

    /** The 0.975 quantile of Student's t with 11 degrees of freedom. */
    private static final double T_95 = 2.201;

    private static final String SOURCE = "__kernel void turn(__global float* x, uint n) { float v = x[0];"
            + " for (uint i = 0; i < n; i++) { v = v * 0.999f + 0.5f; } x[0] = v; }";

    private static final String WITHOUT = "without a profiler";
    private static final String BARE = "two bare markers for each brick, no profiler";
    private static final String BARE_LAP = "one bare marker for each brick, no profiler";
    private static final String LAP = "DEFERRED, each brick begun by `lap`";

    private final RealOpenCl opencl;
    private final long queue;
    private final long kernel;
    private final double turnsPerNs;
    private final int rounds;

    private OpenClStudy(RealOpenCl opencl, int rounds) {
        this.opencl = opencl;
        this.rounds = rounds;
        queue = opencl.queue(RealOpenCl.IN_ORDER);
        kernel = kernel();
        turns(1_000_000);
        double best = 0;
        for (int i = 0; i < 5; i++) {
            long event = enqueue(1_000_000);
            opencl.finish(queue);
            best = Math.max(best, 1e6 / ns(event));
            release(event);
        }
        turnsPerNs = best;
    }

    /** Kernels of OpenCL C. */
    private static final class Kernels {
        static {
            Native.register(Kernels.class, NativeLibrary.getInstance("OpenCL"));
        }

        static native long clCreateProgramWithSource(long context, int count, Pointer texts, long sizes, long code);

        static native int clBuildProgram(long program, int count, long devices, long options, long done, long data);

        static native long clCreateKernel(long program, String name, long code);

        static native int clSetKernelArg(long kernel, int index, long size, Pointer value);

        static native int clEnqueueNDRangeKernel(
                long queue,
                long kernel,
                int dimensions,
                long offset,
                Pointer global,
                Pointer local,
                int events,
                long waits,
                long event);

        private Kernels() {}
    }

    /**
     * Runs all of it.
     *
     * @param arguments the number of rounds
     */
    public static void main(String[] arguments) {
        try (RealOpenCl opencl = new RealOpenCl()) {
            System.out.println(RealOpenCl.support());
            OpenClStudy study = new OpenClStudy(opencl, arguments.length == 0 ? 20 : Integer.parseInt(arguments[0]));
            study.errors();
            study.mark();
            study.passes();
            study.sampled();
        }
    }

    private long kernel() {
        byte[] bytes = SOURCE.getBytes(StandardCharsets.US_ASCII);
        Memory text = new Memory(bytes.length + 1L);
        text.setString(0, SOURCE);
        Memory texts = new Memory(Long.BYTES);
        texts.setPointer(0, text);
        long program = Kernels.clCreateProgramWithSource(opencl.context, 1, texts, 0, 0);
        RealOpenCl.check(Kernels.clBuildProgram(program, 0, 0, 0, 0, 0));
        long made = Kernels.clCreateKernel(program, "turn", 0);
        Memory buffer = new Memory(Long.BYTES);
        buffer.setLong(0, opencl.driver.clCreateBuffer(opencl.context, 1, Long.BYTES, 0, 0));
        RealOpenCl.check(Kernels.clSetKernelArg(made, 0, Long.BYTES, buffer));
        return made;
    }

    private final long[] events = new long[2 * BRICKS];
    private final Memory one = new Memory(Long.BYTES);
    private final Memory argument = new Memory(Integer.BYTES);
    private final Memory out = new Memory(Long.BYTES);

    private void turns(int count) {
        one.setLong(0, 1);
        argument.setInt(0, count);
        RealOpenCl.check(Kernels.clSetKernelArg(kernel, 1, Integer.BYTES, argument));
        RealOpenCl.check(Kernels.clEnqueueNDRangeKernel(queue, kernel, 1, 0, one, one, 0, 0, 0));
    }

    /** Enqueues the kernel like {@link #turns}, and returns its event. */
    private long enqueue(int count) {
        argument.setInt(0, count);
        RealOpenCl.check(Kernels.clSetKernelArg(kernel, 1, Integer.BYTES, argument));
        RealOpenCl.check(Kernels.clEnqueueNDRangeKernel(queue, kernel, 1, 0, one, one, 0, 0, Pointer.nativeValue(out)));
        return out.getLong(0);
    }

    private int turnsOf(long ns) {
        return (int) Math.max(1, Math.round(ns * turnsPerNs));
    }

    private long ns(long event) {
        return opencl.profile(event, OpenCl.COMMAND_END) - opencl.profile(event, OpenCl.COMMAND_START);
    }

    private void release(long event) {
        RealOpenCl.check(opencl.driver.clReleaseEvent(event));
    }

    // ---- the error ----

    private void errors() {
        System.out.println("\n| kernel | queue | kernels | their own time, median us | error, median us | worst us |"
                + " median % | worst % |\n|---|---|---|---|---|---|---|---|");
        for (long us : new long[] {5, 20, 50, 200, 1_000, 5_000, 50_000}) {
            for (boolean full : new boolean[] {true, false}) {
                List<Double> own = new ArrayList<>();
                List<Double> errors = new ArrayList<>();
                List<Double> shares = new ArrayList<>();
                int batches = us >= 5_000 ? Math.max(1, rounds / 10) : 2 * rounds;
                try (OpenClStream stream = OpenClStream.on(queue).open()) {
                    for (int batch = 0; batch < batches; batch++) {
                        batch(stream, turnsOf(us * 1_000), full, own, errors, shares);
                    }
                }
                System.out.printf(
                        Locale.ROOT,
                        "| %,d us | %s | %d | %.1f | %.2f | %.1f | %.2f | %.1f |%n",
                        us,
                        full ? "full" : "idle",
                        own.size(),
                        median(own),
                        median(errors),
                        Collections.max(errors),
                        median(shares),
                        Collections.max(shares));
            }
        }
    }

    private void batch(
            OpenClStream stream, int turns, boolean full, List<Double> own, List<Double> errors, List<Double> shares) {
        long gate = full ? opencl.gate(queue) : 0;
        int[] marks = new int[2 * IN_A_ROW];
        long[] events = new long[IN_A_ROW];
        for (int i = 0; i < IN_A_ROW; i++) {
            marks[2 * i] = stream.mark();
            events[i] = enqueue(turns);
            marks[2 * i + 1] = stream.mark();
            if (!full) {
                stream.waitFor(marks[2 * i + 1]);
            }
        }
        if (full) {
            opencl.open(gate);
        }
        stream.waitFor(marks[marks.length - 1]);
        opencl.finish(queue);
        for (int i = 0; i < IN_A_ROW; i++) {
            double kernelUs = ns(events[i]) / 1e3;
            double errorUs = stream.elapsedNs(marks[2 * i], marks[2 * i + 1]) / 1e3 - kernelUs;
            own.add(kernelUs);
            errors.add(errorUs);
            shares.add(100 * errorUs / kernelUs);
            release(events[i]);
        }
        for (int mark : marks) {
            stream.release(mark);
        }
    }

    // ---- the cost of a mark ----

    private void mark() {
        List<Double> bare = new ArrayList<>();
        List<Double> ours = new ArrayList<>();
        long[] events = new long[MARKS];
        int[] marks = new int[MARKS];
        try (OpenClStream stream = OpenClStream.on(queue).open()) {
            for (int round = 0; round < 30 * rounds; round++) {
                long gate = opencl.gate(queue);
                long begunNs = System.nanoTime();
                for (int i = 0; i < MARKS; i++) {
                    opencl.driver.clEnqueueMarkerWithWaitList(queue, 0, 0, Pointer.nativeValue(out));
                    events[i] = out.getLong(0);
                }
                double enqueuedNs = System.nanoTime() - begunNs;
                opencl.open(gate);
                opencl.finish(queue);
                begunNs = System.nanoTime();
                for (int i = 0; i < MARKS; i++) {
                    opencl.driver.clReleaseEvent(events[i]);
                }
                bare.add((enqueuedNs + System.nanoTime() - begunNs) / MARKS);

                gate = opencl.gate(queue);
                begunNs = System.nanoTime();
                for (int i = 0; i < MARKS; i++) {
                    marks[i] = stream.mark();
                }
                enqueuedNs = System.nanoTime() - begunNs;
                opencl.open(gate);
                opencl.finish(queue);
                begunNs = System.nanoTime();
                for (int i = 0; i < MARKS; i++) {
                    stream.release(marks[i]);
                }
                ours.add((enqueuedNs + System.nanoTime() - begunNs) / MARKS);
            }
        }
        List<Double> late = bare.subList(bare.size() / 3, bare.size());
        List<Double> lateOurs = ours.subList(ours.size() / 3, ours.size());
        System.out.printf(
                Locale.ROOT,
                "%n| a mark and its release | a bare marker and its release | ratio |%n|---|---|---|%n| %.0f ns | %.0f ns"
                        + " | %.2f x |%n",
                median(lateOurs),
                median(late),
                median(lateOurs) / median(late));
    }

    // ---- the cost of a pass ----

    private void passes() {
        Map<String, List<Double>> times = new LinkedHashMap<>();
        try (OpenClStream stream = OpenClStream.on(queue).open()) {
            Map<String, BrickProfiler> profilers = new LinkedHashMap<>();
            profilers.put(WITHOUT, new BrickProfiler());
            profilers.put(BARE, new BrickProfiler());
            profilers.put(BARE_LAP, new BrickProfiler());
            for (SyncMode mode : List.of(SyncMode.NONE, SyncMode.DEFERRED, SyncMode.PER_LAYER, SyncMode.IMMEDIATE)) {
                BrickProfiler profiler =
                        BrickProfiler.builder().deviceStream(stream).build();
                profiler.enable();
                profiler.setSyncMode(mode);
                profilers.put(mode.name(), profiler);
            }
            BrickProfiler byLap = BrickProfiler.builder().deviceStream(stream).build();
            byLap.enable();
            byLap.setSyncMode(SyncMode.DEFERRED);
            profilers.put(LAP, byLap);
            int turns = turnsOf(PASS_NS / BRICKS);
            List<String> order = new ArrayList<>(profilers.keySet());
            Random random = new Random(1);
            for (int round = 0; round < 10 * rounds; round++) {
                Collections.shuffle(order, random);
                for (String each : order) {
                    double ms = pass(each, Objects.requireNonNull(profilers.get(each)), turns) / 1e6;
                    if (round >= rounds) {
                        times.computeIfAbsent(each, any -> new ArrayList<>()).add(ms);
                    }
                }
            }
            System.out.println("\n| a pass of 256 bricks | passes | median ms | to the one without, median of rounds |"
                    + " lower quartile ms |\n|---|---|---|---|---|");
            List<Double> without = Objects.requireNonNull(times.get(WITHOUT));
            for (String each : profilers.keySet()) {
                List<Double> own = Objects.requireNonNull(times.get(each));
                List<Double> ratios = new ArrayList<>();
                for (int i = 0; i < own.size(); i++) {
                    ratios.add(own.get(i) / without.get(i));
                }
                double[] sorted =
                        own.stream().mapToDouble(Double::doubleValue).sorted().toArray();
                System.out.printf(
                        Locale.ROOT,
                        "| %s | %d | %.2f | %.3f | %.2f |%n",
                        each,
                        own.size(),
                        median(own),
                        median(ratios),
                        sorted[sorted.length / 4]);
            }
        }
    }

    private long pass(String variant, BrickProfiler profiler, int turns) {
        int bareMarkers = variant.equals(BARE) ? 2 : variant.equals(BARE_LAP) ? 1 : 0;
        boolean laps = variant.equals(LAP);
        int marked = 0;
        long begunNs = System.nanoTime();
        for (int layer = 0; layer < LAYERS; layer++) {
            profiler.startLayer();
            long timer = profiler.startBrick(BrickId.DOWN_PROJECTION);
            for (int brick = 0; brick < BRICKS / LAYERS; brick++) {
                if (brick > 0) {
                    timer = laps
                            ? profiler.lap(timer, 1, BrickId.DOWN_PROJECTION)
                            : profiler.startBrick(BrickId.DOWN_PROJECTION);
                }
                for (int i = 1; i < bareMarkers; i++) {
                    events[marked++] = bareMarker();
                }
                turns(turns);
                for (int i = 0; i < Math.min(1, bareMarkers); i++) {
                    events[marked++] = bareMarker();
                }
                if (!laps || brick == BRICKS / LAYERS - 1) {
                    profiler.stopBrick(timer, 1);
                }
            }
            profiler.endLayer();
        }
        profiler.endPass();
        opencl.finish(queue);
        for (int i = 0; i < marked; i++) {
            release(events[i]);
        }
        return System.nanoTime() - begunNs;
    }

    // ---- the cost of marks by sampling ----

    /** Prints the time of passes with drawn marks, by the time without, as the mean of pairs with its 95 % interval. */
    private void sampled() {
        int turns = turnsOf(SAMPLED_NS);
        BrickProfiler none = new BrickProfiler();
        try (OpenClStream stream = OpenClStream.on(queue).open()) {
            BrickProfiler profiler = BrickProfiler.builder()
                    .deviceStream(stream)
                    .deviceSampling(SAMPLING)
                    .build();
            profiler.enable();
            double[] ratios = new double[PAIRS];
            sampledPasses(profiler, turns);
            for (int pair = 0; pair < PAIRS; pair++) {
                boolean isFirst = pair % 2 == 0;
                double first = sampledPasses(isFirst ? profiler : none, turns);
                double second = sampledPasses(isFirst ? none : profiler, turns);
                ratios[pair] = isFirst ? first / second : second / first;
            }
            double mean = Arrays.stream(ratios).average().orElseThrow();
            double variance = Arrays.stream(ratios)
                            .map(ratio -> (ratio - mean) * (ratio - mean))
                            .sum()
                    / (PAIRS - 1);
            double error = T_95 * Math.sqrt(variance / PAIRS);
            long marked = profiler.brickStats(SAMPLED_BRICKS.get(0)).device().measured();
            System.out.printf(
                    Locale.ROOT,
                    "%n| deviceSampling(%d): passes of %d kernels of %d us | pairs | with, by without | 95 %% | marked |%n"
                            + "|---|---|---|---|---|%n| %d each | %d | %.4f | %.4f..%.4f | %.1f %% |%n",
                    SAMPLING,
                    LAYERS_SAMPLED * SAMPLED_BRICKS.size(),
                    SAMPLED_NS / 1_000,
                    PASSES_OF_PAIR,
                    PAIRS,
                    mean,
                    mean - error,
                    mean + error,
                    100.0 * marked / (LAYERS_SAMPLED * PASSES_OF_PAIR * (PAIRS + 1)));
        }
    }

    /** Returns the time of some passes, ns. */
    private double sampledPasses(BrickProfiler profiler, int turns) {
        long begunNs = System.nanoTime();
        for (int pass = 0; pass < PASSES_OF_PAIR; pass++) {
            for (int layer = 0; layer < LAYERS_SAMPLED; layer++) {
                profiler.startLayer();
                for (BrickId brick : SAMPLED_BRICKS) {
                    long timer = profiler.startBrick(brick);
                    turns(turns);
                    profiler.stopBrick(timer, 1);
                }
                profiler.endLayer();
            }
            profiler.endPass();
            opencl.finish(queue);
        }
        return System.nanoTime() - begunNs;
    }

    private long bareMarker() {
        RealOpenCl.check(opencl.driver.clEnqueueMarkerWithWaitList(queue, 0, 0, Pointer.nativeValue(out)));
        return out.getLong(0);
    }

    private static double median(List<Double> values) {
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
