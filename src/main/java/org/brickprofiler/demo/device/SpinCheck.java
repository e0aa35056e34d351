package org.brickprofiler.demo.device;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.brickprofiler.BrickProfiler;

/**
 * Kernels that know how long they last, by the device's clock: do their bricks tell the same?
 *
 * <p>A brick is timed by two events, and what the device does between the first and the kernel's first instruction, and
 * between its last and the second event, belongs to the brick. A kernel that ends at once shows how much that is; it is
 * told, and taken off nowhere.
 */
final class SpinCheck implements Check {

    private static final long[] SPINS_NS = {
        2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000
    };

    private static final int ROUNDS = 15;
    private static final long SMALLEST_BOUND_NS = 1_000;
    private static final double BOUND = 0.02;

    /** Keeps the device busy until the host has enqueued everything: otherwise its delay is in the time. */
    private static final long HEAD_START_NS = 500_000;

    private final Gpu gpu;
    private final BrickProfiler profiler;
    private final DeviceFloats stamps;
    private final Gpu.HostMemory read;
    private final Kernels kernels;
    private final Launch headStart;

    SpinCheck(Gpu gpu) {
        this.gpu = gpu;
        profiler = BrickProfiler.builder().deviceStream(gpu.stream()).build();
        profiler.enable();
        int floats = 2 * Long.BYTES / Float.BYTES;
        stamps = gpu.allocate(floats);
        read = gpu.allocateHost(stamps.bytes());
        kernels = new Kernels(gpu);
        headStart = kernels.spin(HEAD_START_NS, gpu.allocate(floats));
    }

    /**
     * The times of kernels of one length.
     *
     * @param spinNs how long they were told to last
     * @param insideNs what they told themselves, the median
     * @param measuredNs what their bricks told, the median
     * @param errorNs the median of the differences
     * @param worstNs the largest difference, with its sign
     */
    record Row(long spinNs, long insideNs, long measuredNs, long errorNs, long worstNs) {

        boolean holds() {
            return Math.abs(errorNs) <= Math.max(SMALLEST_BOUND_NS, BOUND * insideNs);
        }

        Map<String, Object> figures() {
            Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("spin_ns", spinNs);
            figures.put("inside_ns", insideNs);
            figures.put("measured_ns", measuredNs);
            figures.put("error_ns", errorNs);
            figures.put("worst_error_ns", worstNs);
            figures.put("holds", holds());
            return figures;
        }
    }

    @Override
    public String name() {
        return "spin";
    }

    @Override
    public List<Outcome> run() {
        // The first ones load what is loaded when it is needed.
        measure(0);
        Row floor = measure(0);
        List<Row> rows = Arrays.stream(SPINS_NS).mapToObj(this::measure).toList();
        List<Row> outside = rows.stream().filter(row -> !row.holds()).toList();
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("rounds", ROUNDS);
        figures.put("floor_ns", floor.errorNs());
        figures.put("rows", rows.stream().map(Row::figures).toList());
        long worstNs = rows.stream().mapToLong(row -> Math.abs(row.errorNs())).max().orElse(0);
        String errors = outside.stream()
                .map(row -> String.format(Locale.ROOT, ", %,d us by %+.2f us", row.spinNs() / 1_000, row.errorNs() / 1e3))
                .collect(Collectors.joining());
        String found = String.format(
                Locale.ROOT,
                "%d of %d within, off by %.2f us at most%s; an empty kernel by %+.2f us",
                rows.size() - outside.size(),
                rows.size(),
                worstNs / 1e3,
                errors,
                floor.errorNs() / 1e3);
        return List.of(Outcome.of(
                name(),
                outside.isEmpty(),
                "spin kernels of 2 us to 10 ms within 1 us or 2 % of %globaltimer",
                found,
                figures));
    }

    private Row measure(long spinNs) {
        int brick = profiler.brickKey("spin " + spinNs + " ns");
        Launch spin = kernels.spin(spinNs, stamps);
        long[] inside = new long[ROUNDS];
        long[] measured = new long[ROUNDS];
        long[] errors = new long[ROUNDS];
        long worst = 0;
        for (int round = 0; round < ROUNDS; round++) {
            headStart.enqueue();
            long timer = profiler.startBrick(brick);
            spin.enqueue();
            profiler.stopBrick(timer, 1);
            profiler.endPass();
            gpu.copyToHost(stamps, read);
            gpu.synchronize();
            inside[round] = read.bytes().getLong(Long.BYTES) - read.bytes().getLong(0);
            measured[round] = lastNs("spin " + spinNs + " ns");
            errors[round] = measured[round] - inside[round];
            if (Math.abs(errors[round]) > Math.abs(worst)) {
                worst = errors[round];
            }
        }
        return new Row(spinNs, median(inside), median(measured), median(errors), worst);
    }

    private long lastNs(String brick) {
        return profiler.stats(brick)
                .orElseThrow(() -> new DeviceFailure("the device does not tell the time of '" + brick + "': "
                        + gpu.stream().failure().orElse("no reason is known")))
                .lastNs();
    }

    private static long median(long[] values) {
        long[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
