package org.brickprofiler.gpucheck;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.demo.Floats;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.demo.SpinKernels;

/**
 * Checks bricks against kernels that measure their own duration by the device's clock.
 *
 * <p>Two events time a brick. The device's activity between the first event and the kernel's first instruction, and
 * between its last instruction and the second event, belongs to the brick, which is no defect. An empty kernel shows
 * the size of this activity. It takes turns with the other kernels, and its median is subtracted from their times.
 */
final class SpinCheck extends Check.OnDevice {

    private static final long[] SPINS_NS = {
        2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000
    };

    private static final int ROUNDS = 31;
    private static final double SMALLEST_BOUND_NS = 1_000;
    private static final double BOUND = 0.02;

    /** The deviation, or the multiple of a bound, from which a time is wrong, not only inexact. */
    private static final double WRONG_NS = 50_000;

    private static final double WRONG_BOUNDS = 10;

    /**
     * Keeps the device busy until the host has enqueued everything; otherwise the host's delay would be part of the
     * time.
     */
    private static final long HEAD_START_NS = 500_000;

    private final BrickProfiler profiler;
    private final Floats stamps;
    private final ByteBuffer read;
    private final SpinKernels kernels;
    private final Work headStart;

    SpinCheck(Gpu gpu) {
        super("spin", gpu);
        profiler = profiler();
        int floats = SpinKernels.STAMP_FLOATS;
        stamps = gpu.allocate(floats);
        read = gpu.allocateHost(stamps.bytes());
        kernels = new SpinKernels(gpu);
        headStart = kernels.spin(HEAD_START_NS, gpu.allocate(floats));
    }

    /** The kernels of one length, and the results of each round. */
    private final class Length {
        final long spinNs;
        final int brick;
        final Work spin;
        final Samples samples;
        final long[] insideNs = new long[ROUNDS];
        final long[] measuredNs = new long[ROUNDS];

        Length(long spinNs) {
            this.spinNs = spinNs;
            String name = "spin " + spinNs + " ns";
            brick = profiler.brickKey(name);
            spin = kernels.spin(spinNs, stamps);
            samples = new Samples(profiler, name);
        }

        void measure(int round) {
            headStart.enqueue();
            long timer = profiler.startBrick(brick);
            spin.enqueue();
            profiler.stopBrick(timer, 1);
            profiler.endPass();
            gpu.copyToHost(stamps, read);
            gpu.synchronize();
            insideNs[round] = read.getLong(Long.BYTES) - read.getLong(0);
            measuredNs[round] = samples.nextNs();
        }

        Spread excess(double floorNs) {
            double[] excess = new double[ROUNDS];
            Arrays.setAll(excess, round -> measuredNs[round] - insideNs[round] - floorNs);
            return Spread.of(excess);
        }
    }

    /**
     * The times of kernels of one length.
     *
     * @param spinNs their nominal duration, ns
     * @param inside the durations that they measured, ns
     * @param measured the durations of their bricks, ns
     * @param error the difference, without that of an empty kernel, ns
     * @param shortestNs the least difference between brick and kernel, ns; a value below 0 is impossible
     */
    record Row(long spinNs, Spread inside, Spread measured, Spread error, double shortestNs) {

        Outcome.Status status() {
            double bound = Math.max(SMALLEST_BOUND_NS, BOUND * inside.median());
            boolean wrong = Math.abs(error.median()) > Math.max(WRONG_NS, WRONG_BOUNDS * bound);
            return wrong || shortestNs < -bound ? Outcome.Status.BROKEN : error.within(bound);
        }

        Map<String, Object> figures() {
            Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("spin_ns", spinNs);
            figures.put("inside_ns", inside.median());
            figures.put("measured_ns", measured.median());
            figures.put("error_ns", error.figures());
            figures.put("shortest_ns", shortestNs);
            figures.put("status", status().name().toLowerCase(Locale.ROOT));
            return figures;
        }
    }

    @Override
    List<Outcome> run() {
        Length empty = new Length(0);
        List<Length> lengths = Arrays.stream(SPINS_NS).mapToObj(Length::new).toList();
        // The first one includes lazy loading.
        empty.measure(0);
        for (int round = 0; round < ROUNDS; round++) {
            empty.measure(round);
            for (Length length : lengths) {
                length.measure(round);
            }
        }
        Spread floor = empty.excess(0);
        return List.of(outcome(
                floor,
                lengths.stream().map(length -> row(length, floor.median())).toList()));
    }

    private static Row row(Length length, double floorNs) {
        return new Row(
                length.spinNs,
                Spread.of(length.insideNs),
                Spread.of(length.measuredNs),
                length.excess(floorNs),
                length.excess(0).median());
    }

    private Outcome outcome(Spread floor, List<Row> rows) {
        Outcome.Status worst = rows.stream().map(Row::status).reduce(Outcome.Status.HELD, Outcome.Status::or);
        List<Row> outside =
                rows.stream().filter(row -> row.status() != Outcome.Status.HELD).toList();
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("rounds", ROUNDS);
        figures.put("floor_ns", floor.figures());
        figures.put("rows", rows.stream().map(Row::figures).toList());
        double worstNs = rows.stream()
                .mapToDouble(row -> Math.abs(row.error().median()))
                .max()
                .orElse(0);
        String errors = outside.stream()
                .map(row -> String.format(
                        Locale.ROOT,
                        ", %,d us by %+.2f to %+.2f us (%s)",
                        row.spinNs() / 1_000,
                        row.error().low() / 1e3,
                        row.error().high() / 1e3,
                        row.status().name().toLowerCase(Locale.ROOT)))
                .collect(Collectors.joining());
        String found = String.format(
                Locale.ROOT,
                "%d of %d within, off by %.2f us at most%s; an empty kernel takes %.2f us more than it lasts",
                rows.size() - outside.size(),
                rows.size(),
                worstNs / 1e3,
                errors,
                floor.median() / 1e3);
        return new Outcome(
                name,
                worst,
                "kernels of 2 us to 10 ms are measured within 1 us or 2 % of %globaltimer, an empty one's time apart",
                found,
                figures);
    }
}
