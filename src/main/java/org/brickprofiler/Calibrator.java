package org.brickprofiler;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.brickprofiler.Calibration.Cost;
import org.brickprofiler.Calibration.Mode;
import org.brickprofiler.Calibration.Spread;
import org.brickprofiler.graph.GraphRecorder;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanStore;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * Measures the cost of timing a brick, with its own profilers, which record as others do. Each figure is the median of
 * many turns. Each turn measures with and without bricks, so a change of the machine's speed affects both. Not
 * thread-safe.
 *
 * <h2>How the cost is found</h2>
 *
 * <ul>
 *   <li><b>An empty brick is the wrong measure.</b> A clock read waits for earlier instructions; later instructions,
 *       including those that record the sample, run in parallel with the work of the next brick. A brick with work
 *       therefore costs less than an empty one. The cost is therefore measured around a chain of dependent operations,
 *       minus the time of that chain alone, with the two measured in turns.
 *   <li><b>A brick contains only a part of its cost</b>, from within one clock read to within the next. The rest lies
 *       between bricks, and only surrounding bricks contain it. The correction therefore subtracts from a brick its own
 *       part, and for each nested brick the whole cost.
 *   <li><b>Nesting</b> is known to the graph alone: sums do not show it, and a count at each start would cost as much
 *       as the correction. The graph also knows the bricks that a {@code lap} began: such a brick starts at the reading
 *       at which the previous brick ended. One graphed pass is enough. Without it, the correction subtracts nothing
 *       that depends on nesting.
 * </ul>
 */
final class Calibrator {

    private static final int TURNS = 500;

    /**
     * Warm-up turns: the compiler compiles a method only after hundreds of calls, however long the method's loop is.
     */
    private static final int UNCOUNTED_TURNS = 1_500;

    private static final int BRICKS_A_TURN = 100;
    private static final int CLOCK_READS_A_TURN = 200;

    /** The number of bricks that are nested in one outer brick. */
    private static final int HELD = 10;

    /**
     * The numbers of dependent operations, about 1 ns each, in a brick; the turns use them in rotation. All chains are
     * longer than a processor's reorder buffer.
     */
    private static final int[] CHAINS = {100, 200, 300};

    private static final BrickId STARTED = BrickId.RMS_NORM;
    private static final BrickId LAPPED = BrickId.LAYER_NORM;
    private static final BrickId HOLDING = BrickId.GATE_PROJECTION;

    private final NanoClock clock;

    /** The end of the chain so far, which keeps the compiler from removing the chain. */
    private long state = 1;

    private Calibrator(NanoClock clock) {
        this.clock = clock;
    }

    /**
     * How the profiler to be calibrated records.
     *
     * @param clock its clock
     * @param percentiles whether it has percentiles
     * @param traced whether it has a timeline
     * @param graph whether it has a graph, and whether the graph is on
     */
    record Way(NanoClock clock, boolean percentiles, boolean traced, Graph graph) {}

    /** A graph that is off still has to be checked at each stop. */
    enum Graph {
        NONE,
        OFF,
        ON;

        static Graph of(@Nullable GraphRecorder recorder) {
            if (recorder == null) {
                return NONE;
            }
            return recorder.isEnabled() ? ON : OFF;
        }
    }

    /** Keeps a few spans, as a timeline does. */
    private static final class FewSpans implements SpanSink {
        private static final int KEPT = 1_024;

        @Override
        public SpanStore bricks(Names names) {
            return new SpanStore(KEPT, true, new AtomicLong(KEPT));
        }

        @Override
        public @Nullable SpanStore tiles(Names names) {
            return null;
        }

        @Override
        public @Nullable Stream stream(Place place, Names names, Object owner, BooleanSupplier catchUp) {
            return null;
        }
    }

    /** Measures the cost of a way of recording, and of all others beside it. */
    static Calibration measure(Way way) {
        Calibrator calibrator = new Calibrator(way.clock());
        Map<Mode, Cost> costs = new EnumMap<>(Mode.class);
        // This mode comes first: the compiler does not inline code into it that other modes made hot before.
        costs.put(Mode.OWN, calibrator.cost(way));
        costs.put(Mode.PLAIN, calibrator.cost(new Way(way.clock(), false, false, Graph.NONE)));
        costs.put(Mode.PERCENTILES, calibrator.cost(new Way(way.clock(), true, false, Graph.NONE)));
        costs.put(Mode.TIMELINE, calibrator.cost(new Way(way.clock(), false, true, Graph.NONE)));
        costs.put(Mode.GRAPH, calibrator.cost(new Way(way.clock(), false, false, Graph.ON)));
        return calibrator.withClock(costs);
    }

    private static BrickProfiler profiler(Way way) {
        BrickProfiler profiler = BrickProfiler.builder()
                .clock(way.clock())
                .percentiles(way.percentiles())
                .nvtx(false)
                .sink(way.traced() ? new FewSpans() : null)
                .build();
        if (way.graph() != Graph.NONE) {
            GraphRecorder recorder = profiler.graph();
            if (way.graph() == Graph.ON) {
                recorder.enable();
            }
        }
        profiler.switchOn();
        return profiler;
    }

    // ---- bricks that the host times ----

    private Cost cost(Way way) {
        BrickProfiler profiler = profiler(way);
        double[] empty = new double[TURNS];
        double[] sample = new double[TURNS];
        double[] inside = new double[TURNS];
        double[] lap = new double[TURNS];
        for (int turn = -UNCOUNTED_TURNS; turn < TURNS; turn++) {
            int at = Math.max(0, turn);
            int operations = CHAINS[Math.floorMod(turn, CHAINS.length)];
            double bareNs = bare(operations);
            // No reset: the first sample after a reset takes another path than all others.
            long before = recordedNs(profiler, STARTED);
            started(profiler, operations);
            inside[at] = perBrick(recordedNs(profiler, STARTED) - before) - bareNs;
            before = recordedNs(profiler, HOLDING);
            held(profiler, operations);
            sample[at] = perBrick(recordedNs(profiler, HOLDING) - before) - inside[at] / HELD - bareNs;
            before = recordedNs(profiler, LAPPED);
            lapped(profiler, operations);
            lap[at] = perBrick(recordedNs(profiler, LAPPED) - before) - bareNs;
            empty[at] = empty(profiler);
        }
        return new Cost(spread(empty), spread(sample), spread(inside), spread(lap));
    }

    /**
     * Returns the recorded time of a brick. The loops do not call this themselves: the more code a method contains, the
     * fewer values stay in registers.
     */
    private static long recordedNs(BrickProfiler profiler, BrickId brick) {
        return profiler.brickStats(brick).totalNs();
    }

    private static double perBrick(long ns) {
        return (double) ns / BRICKS_A_TURN;
    }

    private static long chain(long start, int operations) {
        long x = start;
        for (int i = 0; i < operations; i++) {
            // The generator of Knuth's MMIX.
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }

    private double bare(int operations) {
        long x = state;
        long startNs = clock.nanoTime();
        for (int i = 0; i < BRICKS_A_TURN; i++) {
            x = chain(x, operations);
        }
        long elapsedNs = clock.nanoTime() - startNs;
        state = x;
        return perBrick(elapsedNs);
    }

    private void started(BrickProfiler profiler, int operations) {
        long x = state;
        for (int i = 0; i < BRICKS_A_TURN; i++) {
            long timer = profiler.startBrick(STARTED);
            x = chain(x, operations);
            profiler.stopBrick(timer, 1);
        }
        state = x;
    }

    private void held(BrickProfiler profiler, int operations) {
        long x = state;
        for (int i = 0; i < BRICKS_A_TURN; i += HELD) {
            long holding = profiler.startBrick(HOLDING);
            for (int held = 0; held < HELD; held++) {
                long timer = profiler.startBrick(STARTED);
                x = chain(x, operations);
                profiler.stopBrick(timer, 1);
            }
            profiler.stopBrick(holding, 1);
        }
        state = x;
    }

    private void lapped(BrickProfiler profiler, int operations) {
        long x = state;
        long timer = profiler.lap(0, 0, LAPPED);
        for (int i = 0; i < BRICKS_A_TURN; i++) {
            x = chain(x, operations);
            timer = profiler.lap(timer, 1, LAPPED);
        }
        state = x;
    }

    private double empty(BrickProfiler profiler) {
        long startNs = clock.nanoTime();
        for (int i = 0; i < BRICKS_A_TURN; i++) {
            long timer = profiler.startBrick(STARTED);
            profiler.stopBrick(timer, 1);
        }
        return perBrick(clock.nanoTime() - startNs);
    }

    // ---- the clock ----

    private Calibration withClock(Map<Mode, Cost> costs) {
        double[] steps = new double[TURNS];
        double[] reads = new double[TURNS];
        long back = 0;
        for (int turn = -UNCOUNTED_TURNS; turn < TURNS; turn++) {
            long first = clock.nanoTime();
            long before = first;
            long smallest = Long.MAX_VALUE;
            for (int read = 0; read < CLOCK_READS_A_TURN; read++) {
                long now = clock.nanoTime();
                long step = now - before;
                back += step < 0 ? 1 : 0;
                smallest = step > 0 ? Math.min(smallest, step) : smallest;
                before = now;
            }
            int at = Math.max(0, turn);
            // A clock whose step is longer than the turn shows no time.
            steps[at] = smallest == Long.MAX_VALUE ? 0 : smallest;
            reads[at] = (double) (before - first) / CLOCK_READS_A_TURN;
        }
        return new Calibration(Environment.current(), spread(steps), spread(reads), back, costs);
    }

    /**
     * Returns the median and both outer deciles. An interrupted turn is an outlier, which they ignore; a negative
     * difference counts as 0.
     */
    private static Spread spread(double[] values) {
        double[] sorted =
                Arrays.stream(values).map(value -> Math.max(0, value)).sorted().toArray();
        return new Spread(
                sorted[sorted.length / 2], sorted[sorted.length / 10], sorted[sorted.length - 1 - sorted.length / 10]);
    }
}
