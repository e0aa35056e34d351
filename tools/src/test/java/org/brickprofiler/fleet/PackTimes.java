package org.brickprofiler.fleet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.ZigguratSampler;
import org.apache.commons.rng.simple.RandomSource;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.fleet.Manifest.PackFile;
import org.brickprofiler.fleet.SimulatedFleet.Shape;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.report.JsonReport;

/**
 * Measures how long packing takes, for docs/BENCHMARKS.md. {@code rows FOLDER RANKS WINDOWS} writes the rows of a
 * simulated fleet as packing does, on all processors. It prints how long that took without the simulation, the number
 * of rows and the size of all tables, and the peak memory of the process, MiB. {@code files FOLDER RANKS WINDOWS}
 * writes windows to be packed.
 */
public final class PackTimes {

    private static final int TEMPLATES = 64;
    private static final int BUCKETS = 14;
    private static final int WINDOWS_OF_A_PART = 8_000;

    /** The standard deviation of the logarithm of a brick's time. */
    private static final double SPREAD = 0.05;

    private PackTimes() {}

    /**
     * Runs the command that the first argument names.
     *
     * @param args see the class
     */
    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[1]);
        int ranks = Integer.parseInt(args[2]);
        int windows = Integer.parseInt(args[3]);
        if (args[0].equals("files")) {
            writeFiles(folder, ranks, windows);
        } else {
            writeRows(folder, new Shape("simulated", ranks, windows, 42));
        }
    }

    /**
     * Writes windows as a profiler exports them, with {@link #TEMPLATES} different contents, for each rank and number.
     */
    private static void writeFiles(Path folder, int ranks, int windows) throws IOException {
        UniformRandomProvider random = RandomSource.XO_RO_SHI_RO_128_PP.create(42);
        ZigguratSampler.NormalizedGaussian normal = ZigguratSampler.NormalizedGaussian.of(random);
        List<String> templates = new ArrayList<>();
        for (int i = 0; i < TEMPLATES; i++) {
            BrickProfiler profiler = BrickProfiler.builder().percentiles(true).build();
            profiler.enable();
            for (int step = 0; step < SimulatedFleet.STEPS; step++) {
                profiler.beginStep(StepInfo.decode(1));
                for (BrickId brick : BrickId.values()) {
                    for (long n = SimulatedFleet.count(brick) / SimulatedFleet.STEPS; n > 0; n--) {
                        profiler.record(brick, Math.round(50_000 * Math.exp(SPREAD * normal.sample())), 64);
                    }
                }
                profiler.endPass();
            }
            templates.add(JsonReport.toCompactJson(
                    profiler.snapshot()
                            .withIdentity(WindowFiles.of("simulated", 0, ranks, 0)
                                    .device("Simulated A")
                                    .build()),
                    Map.of("export", Map.of("every", SimulatedFleet.STEPS + " steps"))));
        }
        for (int rank = 0; rank < ranks; rank++) {
            Path own = folder.resolve(String.format("simulated/rank-%05d", rank));
            Files.createDirectories(own);
            for (int window = 0; window < windows; window++) {
                Files.writeString(
                        own.resolve(String.format("window-%06d.json", window)),
                        templates
                                .get((rank + window) % TEMPLATES)
                                .replace("\"rank\":0", "\"rank\":" + rank)
                                .replace("\"window\":0", "\"window\":" + window));
            }
        }
    }

    /** Writes rows that are in memory; each processor writes parts, as packing does. */
    private static void writeRows(Path folder, Shape shape) throws Exception {
        List<BrickId> bricks = List.of(BrickId.values());
        int[][][] totalUs = new int[shape.ranks()][shape.windows()][bricks.size()];
        new SimulatedFleet(shape, List.of()).run(window -> {
            for (int rank = 0; rank < shape.ranks(); rank++) {
                for (int brick = 0; brick < bricks.size(); brick++) {
                    totalUs[rank][window.number][brick] = (int) (window.totalNs[rank][brick] / 1_000);
                }
            }
        });
        int threads = Runtime.getRuntime().availableProcessors();
        AtomicInteger nextRank = new AtomicInteger();
        List<PackFile> files = Collections.synchronizedList(new ArrayList<>());
        ExecutorService workers = Executors.newFixedThreadPool(threads);
        long startedNs = System.nanoTime();
        List<Future<?>> running = new ArrayList<>();
        for (int worker = 0; worker < threads; worker++) {
            running.add(workers.submit(() -> {
                ProfileWindow row = new ProfileWindow();
                try (DuckEngine engine =
                        DuckEngine.open(new FleetEngine.Options((1L << 30) / threads, 1, null, null))) {
                    int ranks = Math.max(1, WINDOWS_OF_A_PART / shape.windows());
                    for (int from = nextRank.getAndAdd(ranks); from < shape.ranks(); from = nextRank.getAndAdd(ranks)) {
                        try (PartWriter part = new PartWriter(engine, folder, folder)) {
                            for (int rank = from; rank < Math.min(from + ranks, shape.ranks()); rank++) {
                                for (int window = 0; window < shape.windows(); window++) {
                                    fill(row, bricks, totalUs[rank][window]);
                                    part.add(head(shape, rank, window), row);
                                }
                            }
                            files.addAll(part.finish(String.format("%05d.parquet", from)));
                        }
                    }
                }
                return null;
            }));
        }
        for (Future<?> each : running) {
            each.get();
        }
        workers.shutdown();
        System.out.printf(
                "| %d ranks | %d ms | %d rows | %d KiB | %d |%n",
                shape.ranks(),
                (System.nanoTime() - startedNs) / 1_000_000,
                files.stream().mapToLong(PackFile::rows).sum(),
                files.stream().mapToLong(PackFile::bytes).sum() >> 10,
                FleetTimes.mostMemoryMb());
    }

    private static ProfileWindow.Head head(Shape shape, int rank, int window) {
        return new ProfileWindow.Head(
                Path.of("none"),
                new ProfileWindow.Head.Labels(
                        shape.run(),
                        shape.ranks(),
                        SimulatedFleet.host(rank),
                        "Simulated A",
                        "simulated",
                        "float16",
                        "c0ffee",
                        "decode"),
                rank,
                (long) window,
                new ProfileWindow.Head.Time(10_000L * window, 10_000L * (window + 1), 10_000_000_000L),
                (long) window * SimulatedFleet.STEPS,
                (window + 1L) * SimulatedFleet.STEPS - 1);
    }

    /**
     * Fills in the bricks of a window. Their distributions have 14 buckets around that of the mean, as in
     * {@link SimulatedFleet}.
     */
    private static void fill(ProfileWindow row, List<BrickId> bricks, int[] totalUs) {
        row.bricks.size = bricks.size();
        for (int brick = 0; brick < bricks.size(); brick++) {
            BrickId id = bricks.get(brick);
            long samples = SimulatedFleet.count(id);
            long totalNs = totalUs[brick] * 1_000L;
            long[] dist = new long[BUCKETS];
            for (int i = 0; i < BUCKETS; i++) {
                int bucket = Math.max(0, LatencyBuckets.indexOf(totalNs / samples) + i - BUCKETS / 2);
                dist[i] = ProfileWindow.inBucket(
                        bucket, 1 + samples * (i + 1) * (BUCKETS - i) / 560 + totalUs[brick] % (i + 2));
            }
            row.bricks.name[brick] = id.displayName();
            row.bricks.category[brick] = id.category().displayName();
            row.bricks.figures[brick] = new long[] {
                samples, totalNs, totalNs * 9 / 10 / samples, totalNs * 16 / 10 / samples, samples, 0, 0, 0
            };
            row.bricks.dist[brick] = dist;
        }
        row.phases = 1;
        row.phase[0] = "decode";
        row.steps[0] = new long[] {SimulatedFleet.STEPS, 160_000_000, SimulatedFleet.STEPS, 12_000_000, 160_000_000};
        row.streams = 1;
        row.device[0] = "Simulated A";
        row.stream[0] = "stream 0";
        row.times[0] = new long[] {1, 150_000_000, 10_000_000};
    }
}
