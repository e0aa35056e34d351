package org.brickprofiler;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.RunningProcess;

/**
 * Studies whether net times equal the times of the same code without a profiler. It times short bricks on one thread,
 * in pairs of processes, of which one has a profiler. The two processes of a pair take turns of some milliseconds and
 * never run at the same time, so changes of the machine's clock affect both. The arguments are the number of pairs for
 * each way (default 21), the approximate duration of a brick in ns (default 200), and the ways to try (default all).
 * With {@code INLINED}, the work is compiled into the method that times it. Otherwise the work is a method of its own,
 * with the same code in every process.
 *
 * <p>A process without a profiler prints the time of a piece of work by the clock around all pieces. A process with one
 * prints the net time and the recorded time of a piece, and the time that a piece takes without bricks, measured in
 * steps between those with bricks. A graph of the first pieces shows the nesting of the bricks. Each brick does the
 * same work, a chain of dependent operations; the study does not cover optimisations of other code.
 */
public final class NetStudy {

    private static final int PIECES_A_STEP = 200;
    private static final int STEPS_A_TURN = 100;
    private static final int TURNS = 50;

    /** The untimed steps at the beginning of a turn: a processor that has waited is slow at first. */
    private static final int WAKING_STEPS = 50;

    private static final int GRAPHED_STEPS = 2;

    /** The JIT compiler compiles a method only after hundreds of calls, however long its loop is. */
    private static final int WARMUP_STEPS = 2_000;

    private static final int HELD = 10;

    private static final int GO = 1;
    private static final int END = 2;
    private static final String INLINED = "INLINED";

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
    private long bareNs;

    private NetStudy() {}

    /**
     * Runs the study, or one process of it.
     *
     * @param args see the class; a way, a chain's length and a port for a process
     * @throws IOException when a process fails
     */
    public static void main(String[] args) throws IOException {
        List<String> named = List.of(args).subList(Math.min(2, args.length), args.length);
        if (args.length > 0 && isWay(args[0])) {
            new NetStudy().process(Way.valueOf(args[0]), Integer.parseInt(args[1]), Integer.parseInt(args[2]));
            return;
        }
        int pairs = args.length > 0 ? Integer.parseInt(args[0]) : 21;
        // An operation of the chain takes about 1 ns on processors of today.
        int chain = args.length > 1 ? Integer.parseInt(args[1]) : 200;
        List<Way> ways = Arrays.stream(Way.values())
                .filter(way -> way != Way.PLAIN)
                .filter(way -> named.contains(way.name()) || named.stream().noneMatch(NetStudy::isWay))
                .toList();
        study(pairs, chain, ways, named.contains(INLINED));
    }

    private static boolean isWay(String name) {
        return Arrays.stream(Way.values()).anyMatch(way -> way.name().equals(name));
    }

    /** The output of one pair of processes, in ns per piece of work. */
    private record Pair(double plainNs, double netNs, double recordedNs, double sameProcessNs) {

        double percentOfPair() {
            return 100 * (netNs / plainNs - 1);
        }

        double percentOfProcess() {
            return 100 * (netNs / sameProcessNs - 1);
        }
    }

    private static void study(int pairs, int chain, List<Way> ways, boolean inlined) throws IOException {
        List<String> options = List.of(
                "-XX:CompileCommand=quiet",
                "-XX:CompileCommand=" + (inlined ? "inline," : "dontinline,") + NetStudy.class.getName() + "::piece");
        Map<Way, List<Pair>> figures = new TreeMap<>();
        for (int round = 0; round < pairs; round++) {
            List<Way> order = new ArrayList<>(ways);
            Collections.shuffle(order);
            for (Way way : order) {
                figures.computeIfAbsent(way, none -> new ArrayList<>()).add(pair(way, chain, options));
            }
        }
        System.out.println(
                "| bricks by | pairs | no profiler, ns | as recorded | net | net to no profiler, median of pairs "
                        + "| middle half of pairs | all pairs | the same process without one, median |");
        System.out.println("|---|---|---|---|---|---|---|---|---|");
        figures.forEach((way, all) -> System.out.printf(
                Locale.ROOT,
                "| %s | %d | %.1f | %.1f | %.1f | %+.2f %% | %+.2f..%+.2f %% | %+.2f..%+.2f %% | %+.2f %% |%n",
                way.words,
                all.size(),
                at(0.5, all, Pair::plainNs),
                at(0.5, all, Pair::recordedNs),
                at(0.5, all, Pair::netNs),
                at(0.5, all, Pair::percentOfPair),
                at(0.25, all, Pair::percentOfPair),
                at(0.75, all, Pair::percentOfPair),
                at(0, all, Pair::percentOfPair),
                at(1, all, Pair::percentOfPair),
                at(0.5, all, Pair::percentOfProcess)));
    }

    private static double at(double share, List<Pair> pairs, ToDoubleFunction<Pair> figure) {
        double[] sorted = pairs.stream().mapToDouble(figure).sorted().toArray();
        return sorted[(int) Math.round(share * (sorted.length - 1))];
    }

    private static Pair pair(Way way, int chain, List<String> options) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 2, InetAddress.getLoopbackAddress())) {
            server.setSoTimeout(60_000);
            RunningProcess plain = start(Way.PLAIN, chain, server, options);
            RunningProcess profiled = start(way, chain, server, options);
            try (Socket one = server.accept();
                    Socket other = server.accept()) {
                for (int turn = 0; turn < TURNS; turn++) {
                    answer(one, GO);
                    answer(other, GO);
                }
                answer(one, END);
                answer(other, END);
            }
            double[] without = figures(plain);
            double[] with = figures(profiled);
            return new Pair(without[0], with[0], with[1], with[2]);
        }
    }

    private static RunningProcess start(Way way, int chain, ServerSocket server, List<String> options)
            throws IOException {
        return ChildProcess.java(NetStudy.class)
                .jvmOptions(options)
                .arguments(List.of(way.name(), Integer.toString(chain), Integer.toString(server.getLocalPort())))
                .start();
    }

    /** Sends a command to a process, and waits until the process has carried it out. */
    private static void answer(Socket process, int what) throws IOException {
        process.getOutputStream().write(what);
        if (process.getInputStream().read() != what) {
            throw new IOException("a process of the study has ended early");
        }
    }

    private static double[] figures(RunningProcess process) {
        String printed = process.result().assertSucceeded().out();
        return Arrays.stream(printed.strip().split(" ", -1))
                .mapToDouble(Double::parseDouble)
                .toArray();
    }

    // ---- one process ----

    /** Something that is done in turns with another process. */
    private interface Step {
        void run();
    }

    private void process(Way way, int chain, int port) throws IOException {
        if (way == Way.PLAIN) {
            plain(chain, port);
            return;
        }
        BrickProfiler profiler =
                BrickProfiler.builder().percentiles(way == Way.PERCENTILES).build();
        profiler.enable();
        repeat(WARMUP_STEPS, () -> step(profiler, way, chain));
        profiler.graph().enable();
        repeat(GRAPHED_STEPS, () -> step(profiler, way, chain));
        profiler.graph().disable();
        // The compiler recompiles when the graph's branch is first taken.
        Step both = () -> {
            step(profiler, way, chain);
            bareNs += timeBare(chain);
        };
        repeat(WARMUP_STEPS, both);
        profiler.snapshotAndReset();
        bareNs = 0;
        inTurns(port, chain, both);
        profiler.calibrate();
        ProfileSnapshot snapshot = profiler.snapshot();
        BrickId whole = way == Way.NESTED ? BrickId.GATE_PROJECTION : BrickId.RMS_NORM;
        BrickStats brick = snapshot.brick(whole.displayName()).orElseThrow();
        print(snapshot.facts().netNs(brick).orElseThrow(), brick.totalNs(), bareNs);
    }

    private void plain(int chain, int port) throws IOException {
        // A turn has as much work as one of the other process.
        Step both = () -> {
            state = bare(state, chain);
            bareNs += timeBare(chain);
        };
        repeat(2 * WARMUP_STEPS, both);
        bareNs = 0;
        inTurns(port, chain, both);
        print(bareNs);
    }

    private static void repeat(int times, Step step) {
        for (int i = 0; i < times; i++) {
            step.run();
        }
    }

    private void inTurns(int port, int chain, Step step) throws IOException {
        try (Socket study = new Socket(InetAddress.getLoopbackAddress(), port)) {
            int asked = study.getInputStream().read();
            while (asked == GO) {
                repeat(WAKING_STEPS, () -> state = bare(state, chain));
                repeat(STEPS_A_TURN, step);
                study.getOutputStream().write(GO);
                asked = study.getInputStream().read();
            }
            study.getOutputStream().write(END);
        }
    }

    private long timeBare(int chain) {
        long startNs = System.nanoTime();
        state = bare(state, chain);
        return System.nanoTime() - startNs;
    }

    private void print(long... sumsNs) {
        System.out.println(Arrays.stream(sumsNs)
                .mapToObj(ns -> Double.toString((double) ns / PIECES_A_STEP / STEPS_A_TURN / TURNS))
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
