package org.brickprofiler.roofline;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.function.IntUnaryOperator;
import org.brickprofiler.Environment;
import org.brickprofiler.roofline.MachineRoof.Bandwidth;
import org.brickprofiler.roofline.MachineRoof.Rate;

/**
 * Measures the limits of a machine. The loops are written so that C2 vectorises them: all arrays of a loop have one
 * index, and no value is carried from one iteration to the next, unlike in a reduction. Their results are stored, so
 * that the compiler cannot omit the computation. One thread; the threads that a measurement starts end before it
 * returns.
 */
final class RoofProbe {

    /** Floats of a row: 4 KiB, so that a few rows fit the smallest cache. */
    private static final int ROW = 1_024;

    private static final int ROW_BYTES = ROW * Float.BYTES;

    /** The number of rows that one step of a loop processes: of reading, of a triad, and of a copy. */
    private static final int READ_ROWS = 4;

    private static final int TRIAD_ROWS = 3;
    private static final int COPIED_ROWS = 2;

    /** The smallest working set, and the smallest part for a thread: the rows of one step of each loop. */
    private static final int SMALLEST_BYTES = READ_ROWS * ROW_BYTES;

    /** The size that is assumed to exceed the caches if the system does not describe them. */
    private static final long BEYOND_CACHES_BYTES = 256L << 20;

    private static final long LEAST_BYTES = 1L << 20;

    /** A working set that is this many times as large as the last cache finds almost nothing there. */
    private static final int BEYOND = 4;

    private static final int ROUNDS = 9;
    private static final long ROUND_NS = 10_000_000;

    /** Calls of a loop before it is timed: enough for the second compiler. */
    private static final int WARMUP_CALLS = 30_000;

    private static final float FACTOR = 0.999f;
    private static final float ADDEND = 0.001f;

    /** The lengths, in floats, of the arrays on which operations are measured; all fit the smallest cache. */
    private static final int[] FLOP_FLOATS = {1_024, 2_048, 4_096};

    /** The working set of a brief measurement: larger than the private caches of a core. */
    static final long BRIEF_BYTES = 16L << 20;

    /** The names in a profile of the figures of a brief measurement. */
    static final String BRIEF_READ = "roof_read_gbps";

    static final String BRIEF_FLOPS = "roof_gflops";

    private static final Path CACHES = Path.of("/sys/devices/system/cpu/cpu0/cache");

    /** The latest result. */
    @SuppressWarnings("unused") // written so that the computation is not eliminated
    private static volatile float kept;

    private final long maxBytes;
    private final int processors = Runtime.getRuntime().availableProcessors();

    RoofProbe(long maxBytes) {
        this.maxBytes = Math.max(LEAST_BYTES, maxBytes);
    }

    MachineRoof measure() {
        Map<Long, String> caches = caches();
        float[][] rows = rows(caches);
        warmUp(rows);
        List<Bandwidth> bandwidths = new ArrayList<>();
        long largest = (long) rows.length * ROW_BYTES;
        for (long bytes = SMALLEST_BYTES; bytes <= largest; bytes *= 2) {
            bandwidths.add(bandwidth(rows, bytes, level(caches, bytes)));
        }
        return new MachineRoof(Environment.current(), Instant.now(), bandwidths, flops(1), flops(processors));
    }

    /** Measures the rates of one thread, in about a second, with memory that a process can spare. */
    static Map<String, Double> measureBriefly() {
        float[][] rows = new float[(int) (BRIEF_BYTES / ROW_BYTES)][ROW];
        warmUp(rows);
        double readGBps = rate(1, part -> new Reading(rows, 0, rows.length)).high();
        return Map.of(BRIEF_READ, readGBps, BRIEF_FLOPS, flops(1).high());
    }

    /** Returns the data caches of the first processor, by size; empty if the system does not describe them. */
    private static Map<Long, String> caches() {
        Map<Long, String> caches = new TreeMap<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(CACHES, "index*")) {
            for (Path cache : all) {
                if (!read(cache, "type").equals("Instruction")) {
                    long kibibytes = Long.parseLong(read(cache, "size").replace("K", ""));
                    caches.put(kibibytes << 10, "L" + read(cache, "level"));
                }
            }
        } catch (IOException | DirectoryIteratorException | NumberFormatException notDescribed) {
            caches.clear();
        }
        return caches;
    }

    private static String read(Path cache, String file) throws IOException {
        return Files.readString(cache.resolve(file)).strip();
    }

    private static String level(Map<Long, String> caches, long bytes) {
        return caches.entrySet().stream()
                .filter(cache -> bytes <= cache.getKey())
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(caches.isEmpty() ? "" : Bandwidth.MEMORY);
    }

    /**
     * Allocates the rows of the largest working set. The rows are contiguous, as no other code allocates at the same
     * time.
     */
    private float[][] rows(Map<Long, String> caches) {
        long last = caches.keySet().stream().mapToLong(Long::longValue).max().orElse(BEYOND_CACHES_BYTES / BEYOND);
        long bytes = SMALLEST_BYTES;
        while (bytes < BEYOND * last && 2 * bytes <= maxBytes) {
            bytes *= 2;
        }
        float[][] rows = new float[(int) (bytes / ROW_BYTES)][ROW];
        for (float[] row : rows) {
            Arrays.fill(row, ADDEND);
        }
        return rows;
    }

    private static void warmUp(float[][] rows) {
        float[] sums = new float[ROW];
        float[] values = new float[ROW];
        for (int i = 0; i < WARMUP_CALLS; i++) {
            addRows(sums, rows[0], rows[1], rows[2], rows[3]);
            triad(rows[0], rows[1], rows[2]);
            System.arraycopy(rows[1], 0, rows[0], 0, ROW);
            shortChains(values);
            longChains(values);
        }
        kept = sums[0] + values[0];
    }

    // ---- bandwidth ----

    private Bandwidth bandwidth(float[][] rows, long bytes, String level) {
        int count = (int) (bytes / ROW_BYTES);
        return new Bandwidth(
                level,
                bytes,
                rate(1, part -> new Reading(rows, 0, count)),
                rate(processors, part -> new Reading(rows, first(part, count, rows), perThread(count, rows))),
                written(1, part -> 0, rows, count),
                written(processors, part -> first(part, count, rows), rows, perThread(count, rows)));
    }

    /**
     * Returns the rate of the faster of two loops that read and write, a triad and a copy. A copy has fewer streams
     * than a triad, and may move more bytes.
     */
    private static Rate written(int threads, IntUnaryOperator first, float[][] rows, int count) {
        Rate triad = rate(threads, part -> new Triad(rows, first.applyAsInt(part), count));
        Rate copy = rate(threads, part -> new Copying(rows, first.applyAsInt(part), count));
        return copy.high() > triad.high() ? copy : triad;
    }

    /** Returns the number of rows of a thread's part: its share, but at least those of the smallest working set. */
    private int perThread(int count, float[][] rows) {
        int share = Math.max(READ_ROWS, count / processors);
        return Math.max(READ_ROWS, Math.min(share, rows.length / processors));
    }

    private int first(int part, int count, float[][] rows) {
        int size = perThread(count, rows);
        return Math.min(part * size, rows.length - size);
    }

    /** A loop over memory or numbers, which one thread repeats. */
    private interface Loop {
        /** Processes everything once, and returns a value that depends on the results. */
        float pass();

        /** Returns the bytes or operations of a pass. */
        long amount();
    }

    /** Creates the loop of each thread. */
    private interface Loops {
        Loop of(int part);
    }

    /** Reads rows, and adds them to one row that stays in the first-level cache. */
    private static final class Reading implements Loop {
        private final float[][] rows;
        private final int from;
        private final int to;
        private final float[] sums = new float[ROW];

        Reading(float[][] rows, int from, int count) {
            this.rows = rows;
            this.from = from;
            this.to = from + count / READ_ROWS * READ_ROWS;
        }

        @Override
        public float pass() {
            for (int i = from; i < to; i += READ_ROWS) {
                addRows(sums, rows[i], rows[i + 1], rows[i + 2], rows[i + 3]);
            }
            return sums[0];
        }

        @Override
        public long amount() {
            return (long) (to - from) * ROW_BYTES;
        }
    }

    private static void addRows(float[] sums, float[] a, float[] b, float[] c, float[] d) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] = FACTOR * sums[i] + ((a[i] + b[i]) + (c[i] + d[i]));
        }
    }

    /** The triad of McCalpin's STREAM benchmark, row by row. */
    private static final class Triad implements Loop {
        private final float[][] rows;
        private final int from;
        private final int to;

        Triad(float[][] rows, int from, int count) {
            this.rows = rows;
            this.from = from;
            this.to = from + count / TRIAD_ROWS * TRIAD_ROWS;
        }

        @Override
        public float pass() {
            for (int i = from; i < to; i += TRIAD_ROWS) {
                triad(rows[i], rows[i + 1], rows[i + 2]);
            }
            return rows[from][0];
        }

        @Override
        public long amount() {
            return (long) (to - from) * ROW_BYTES;
        }
    }

    /** Copies each second row into the one before it, as {@code System.arraycopy} does. */
    private static final class Copying implements Loop {
        private final float[][] rows;
        private final int from;
        private final int to;

        Copying(float[][] rows, int from, int count) {
            this.rows = rows;
            this.from = from;
            this.to = from + count / COPIED_ROWS * COPIED_ROWS;
        }

        @Override
        public float pass() {
            for (int i = from; i < to; i += COPIED_ROWS) {
                System.arraycopy(rows[i + 1], 0, rows[i], 0, ROW);
            }
            return rows[from][0];
        }

        @Override
        public long amount() {
            return (long) (to - from) * ROW_BYTES;
        }
    }

    private static void triad(float[] a, float[] b, float[] c) {
        for (int i = 0; i < a.length; i++) {
            a[i] = Math.fma(FACTOR, c[i], b[i]);
        }
    }

    // ---- operations ----

    /** Returns the best of several loops: compilers differ in the loop that they optimise best. */
    private static Rate flops(int threads) {
        List<Rate> rates = new ArrayList<>();
        for (int floats : FLOP_FLOATS) {
            rates.add(rate(threads, part -> new Chains(floats, false)));
            rates.add(rate(threads, part -> new Chains(floats, true)));
        }
        return Collections.max(rates, Comparator.comparingDouble(Rate::high));
    }

    /** Chains of fused multiply-adds, one for each float, which execute in parallel. */
    private static final class Chains implements Loop {
        private final float[] values;
        private final boolean isLong;

        Chains(int floats, boolean isLong) {
            this.values = new float[floats];
            this.isLong = isLong;
        }

        @Override
        public float pass() {
            if (isLong) {
                longChains(values);
            } else {
                shortChains(values);
            }
            return values[0];
        }

        @Override
        public long amount() {
            return (isLong ? 32L : 16L) * values.length;
        }
    }

    private static void shortChains(float[] values) {
        for (int i = 0; i < values.length; i++) {
            float v = values[i];
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            values[i] = Math.fma(v, FACTOR, ADDEND);
        }
    }

    private static void longChains(float[] values) {
        for (int i = 0; i < values.length; i++) {
            float v = values[i];
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            v = Math.fma(v, FACTOR, ADDEND);
            values[i] = Math.fma(v, FACTOR, ADDEND);
        }
    }

    // ---- rounds ----

    /**
     * Returns the lowest, median and highest rate of {@link #ROUNDS} rounds, in amounts per ns: GB/s for bytes, GFLOP/s
     * for operations.
     */
    private static Rate rate(int threads, Loops loops) {
        List<Loop> parts = new ArrayList<>();
        for (int part = 0; part < threads; part++) {
            parts.add(loops.of(part));
        }
        long passes = passes(parts.get(0));
        double amount = (double) passes * parts.stream().mapToLong(Loop::amount).sum();
        double[] rates = new double[ROUNDS];
        if (threads == 1) {
            for (int round = 0; round < ROUNDS; round++) {
                long startNs = System.nanoTime();
                run(parts.get(0), passes);
                rates[round] = amount / (System.nanoTime() - startNs);
            }
        } else {
            long[] roundNs = together(parts, passes);
            for (int round = 0; round < ROUNDS; round++) {
                rates[round] = amount / roundNs[round];
            }
        }
        Arrays.sort(rates);
        return new Rate(rates[0], rates[ROUNDS / 2], rates[ROUNDS - 1]);
    }

    private static void run(Loop loop, long passes) {
        float last = 0;
        for (long pass = 0; pass < passes; pass++) {
            last = loop.pass();
        }
        kept = last;
    }

    /** Returns the number of passes in a round; the first passes load the working set into its cache level. */
    private static long passes(Loop loop) {
        long passes = 1;
        while (true) {
            long startNs = System.nanoTime();
            run(loop, passes);
            long elapsedNs = System.nanoTime() - startNs;
            if (elapsedNs >= ROUND_NS / 2) {
                return Math.max(1, Math.round((double) passes * ROUND_NS / elapsedNs));
            }
            passes *= 2;
        }
    }

    /** Returns each round's time, from the beginning of the first thread to the end of the last, ns. */
    private static long[] together(List<Loop> parts, long passes) {
        CyclicBarrier barrier = new CyclicBarrier(parts.size());
        long[][] starts = new long[parts.size()][ROUNDS];
        long[][] ends = new long[parts.size()][ROUNDS];
        List<Thread> threads = new ArrayList<>();
        for (int part = 0; part < parts.size(); part++) {
            int own = part;
            Thread thread = new Thread(
                    () -> {
                        Loop loop = parts.get(own);
                        run(loop, 1);
                        for (int round = 0; round < ROUNDS; round++) {
                            await(barrier);
                            starts[own][round] = System.nanoTime();
                            run(loop, passes);
                            ends[own][round] = System.nanoTime();
                        }
                    },
                    "brick-roof-" + part);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        }
        threads.forEach(RoofProbe::join);
        long[] roundNs = new long[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            long first = Long.MAX_VALUE;
            long last = Long.MIN_VALUE;
            for (int part = 0; part < parts.size(); part++) {
                first = Math.min(first, starts[part][round]);
                last = Math.max(last, ends[part][round]);
            }
            roundNs[round] = last - first;
        }
        return roundNs;
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException broken) {
            throw new IllegalStateException("a thread that measures was interrupted", broken);
        }
    }

    private static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException later) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
