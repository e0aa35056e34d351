package org.brickprofiler;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.brickprofiler.testing.ChildProcess;

/**
 * Whether net times are those of the same code without a profiler: short bricks on one thread, in processes that take
 * turns, in random order. Arguments: processes a way (15), about how long a brick takes, ns (200), and {@code inlined} for
 * work that is compiled into the method that times it; otherwise it is a method of its own, the same code in every process.
 *
 * <p>A process prints how long a piece of work took: by the clock around all of them where there is no profiler, else the sum
 * of net times over the number of pieces; and, since a processor changes its clock from one process to the next, how long the
 * same takes in the same process without a profiler, in steps between those with one. What the bricks hold is learnt from a
 * graph of the first pieces. Each brick does the same work, a chain of operations that wait for each other; what a compiler
 * could do with other code is not in it.
 */
public final class NetStudy {

    private static final int PIECES_A_STEP = 200;
    private static final int STEPS = 5_000;
    private static final int GRAPHED_STEPS = 2;

    /** A compiler takes hundreds of calls of a method, however long its loop is. */
    private static final int WARMUP_STEPS = 2_000;
    private static final int HELD = 10;

    /** How the bricks are timed. */
    private enum Way {
        PLAIN("no profiler"),
        STARTED("start and stop"),
        LAPPED("lap"),
        NESTED("start and stop, ten inside another"),
        PERCENTILES("start and stop, with percentiles");

        private final String words;

        Way(String words) {
            this.words = words;
        }
    }

    private long state = 1;

    private NetStudy() {}

    /**
     * Runs the study, or one process of it.
     *
     * @param args see the class; a way and a chain's length for a process
     * @throws IOException when a process fails
     */
    public static void main(String[] args) throws IOException {
        if (args.length > 0 && Arrays.stream(Way.values()).anyMatch(way -> way.name().equals(args[0]))) {
            new NetStudy().process(Way.valueOf(args[0]), Integer.parseInt(args[1]));
            return;
        }
        int processes = args.length > 0 ? Integer.parseInt(args[0]) : 15;
        int brickNs = args.length > 1 ? Integer.parseInt(args[1]) : 200;
        boolean inlined = args.length > 2 && args[2].equals("inlined");
        // An operation of the chain takes about 1 ns on processors of today.
        study(processes, brickNs, inlined);
    }

    private static void study(int processes, int chain, boolean inlined) throws IOException {
        List<String> options = List.of(
                "-XX:CompileCommand=quiet",
                "-XX:CompileCommand=" + (inlined ? "inline," : "dontinline,") + NetStudy.class.getName() + "::piece");
        Map<Way, List<double[]>> figures = new TreeMap<>();
        for (int round = 0; round < processes; round++) {
            List<Way> ways = new ArrayList<>(List.of(Way.values()));
            Collections.shuffle(ways);
            for (Way way : ways) {
                String printed = ChildProcess.java(NetStudy.class)
                        .jvmOptions(options)
                        .arguments(List.of(way.name(), Integer.toString(chain)))
                        .run()
                        .assertSucceeded()
                        .out();
                String[] numbers = printed.strip().split(" ", -1);
                figures.computeIfAbsent(way, none -> new ArrayList<>())
                        .add(Arrays.stream(numbers).mapToDouble(Double::parseDouble).toArray());
            }
        }
        double plainNs = median(figures.getOrDefault(Way.PLAIN, List.of()), 0);
        System.out.println("| bricks by | as recorded, ns | net, ns | net to other processes without a profiler "
                + "| to the same process without one | of single processes |");
        System.out.println("|---|---|---|---|---|---|");
        figures.forEach((way, runs) -> {
            double[] ratios = runs.stream()
                    .mapToDouble(run -> 100 * (run[0] / run[2] - 1))
                    .sorted()
                    .toArray();
            System.out.printf(
                    Locale.ROOT,
                    "| %s | %.1f | %.1f | %+.2f %% | %+.2f %% | %+.2f..%+.2f %% |%n",
                    way.words,
                    median(runs, 1),
                    median(runs, 0),
                    100 * (median(runs, 0) / plainNs - 1),
                    ratios[ratios.length / 2],
                    ratios[0],
                    ratios[ratios.length - 1]);
        });
    }

    private static double median(List<double[]> runs, int figure) {
        double[] sorted = runs.stream().mapToDouble(run -> run[figure]).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    // ---- one process ----

    private void process(Way way, int chain) {
        if (way == Way.PLAIN) {
            plain(chain);
            return;
        }
        BrickProfiler profiler = BrickProfiler.builder().percentiles(way == Way.PERCENTILES).build();
        profiler.enable();
        for (int step = 0; step < WARMUP_STEPS; step++) {
            step(profiler, way, chain);
        }
        profiler.graph().enable();
        for (int step = 0; step < GRAPHED_STEPS; step++) {
            step(profiler, way, chain);
        }
        profiler.graph().disable();
        // The compiler begins anew where the graph's branch was first taken.
        profiler.snapshotAndReset();
        for (int step = 0; step < WARMUP_STEPS; step++) {
            step(profiler, way, chain);
            timeBare(chain);
        }
        profiler.snapshotAndReset();
        long bareNs = 0;
        for (int step = 0; step < STEPS; step++) {
            step(profiler, way, chain);
            bareNs += timeBare(chain);
        }
        profiler.calibrate();
        ProfileSnapshot snapshot = profiler.snapshot();
        BrickId whole = way == Way.NESTED ? BrickId.GATE_PROJECTION : BrickId.RMS_NORM;
        BrickStats brick = snapshot.brick(whole.displayName()).orElseThrow();
        print(snapshot.facts().netNs(brick).orElseThrow(), brick.totalNs(), bareNs);
    }

    private void plain(int chain) {
        long elapsedNs = 0;
        for (int step = -WARMUP_STEPS; step < STEPS; step++) {
            long stepNs = timeBare(chain);
            elapsedNs += step < 0 ? 0 : stepNs;
        }
        print(elapsedNs, elapsedNs, elapsedNs);
    }

    private long timeBare(int chain) {
        long startNs = System.nanoTime();
        state = bare(state, chain);
        return System.nanoTime() - startNs;
    }

    private void print(long... sumsNs) {
        System.out.println(Arrays.stream(sumsNs)
                .mapToObj(ns -> Double.toString((double) ns / PIECES_A_STEP / STEPS))
                .collect(Collectors.joining(" ")));
        if (state == 0) {
            System.out.println("never, but a compiler does not know");
        }
    }

    private void step(BrickProfiler profiler, Way way, int chain) {
        state = switch (way) {
            case PLAIN -> bare(state, chain);
            case STARTED, PERCENTILES -> started(profiler, state, chain);
            case LAPPED -> lapped(profiler, state, chain);
            case NESTED -> nested(profiler, state, chain);
        };
    }

    private static long piece(long start, int chain) {
        long x = start;
        for (int i = 0; i < chain; i++) {
            // The generator of Knuth's MMIX.
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }

    private static long bare(long start, int chain) {
        long x = start;
        for (int i = 0; i < PIECES_A_STEP; i++) {
            x = piece(x, chain);
        }
        return x;
    }

    private static long started(BrickProfiler profiler, long start, int chain) {
        long x = start;
        for (int i = 0; i < PIECES_A_STEP; i++) {
            long timer = profiler.startBrick(BrickId.RMS_NORM);
            x = piece(x, chain);
            profiler.stopBrick(timer, 1);
        }
        return x;
    }

    private static long lapped(BrickProfiler profiler, long start, int chain) {
        long x = start;
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        for (int i = 1; i < PIECES_A_STEP; i++) {
            x = piece(x, chain);
            timer = profiler.lap(timer, 1, BrickId.RMS_NORM);
        }
        x = piece(x, chain);
        profiler.stopBrick(timer, 1);
        return x;
    }

    private static long nested(BrickProfiler profiler, long start, int chain) {
        long x = start;
        for (int i = 0; i < PIECES_A_STEP; i += HELD) {
            long outer = profiler.startBrick(BrickId.GATE_PROJECTION);
            for (int held = 0; held < HELD; held++) {
                long timer = profiler.startBrick(BrickId.RMS_NORM);
                x = piece(x, chain);
                profiler.stopBrick(timer, 1);
            }
            profiler.stopBrick(outer, 1);
        }
        return x;
    }
}
