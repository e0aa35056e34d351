package org.brickprofiler.internal.record;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * The cost of one start and stop in this virtual machine, measured by a tight loop with both clock reads, on separate
 * tables that no reader uses. Any thread.
 *
 * <p>A daemon thread, which the first profiler starts when it is switched on, measures the cost once for each way of
 * recording; callers never measure. The thread takes many short turns with pauses, so that it leaves the processors to
 * the application: some milliseconds of work, spread over a quarter of a second, one second after the start. The figure
 * is the fastest turn so far. A turn is so short that other processes interrupt few of them, and there are so many that
 * the compiler finishes its work in the meantime. A program that ends earlier gets the cost so far, which is higher, or
 * nothing.
 *
 * <p>The loop records like the profilers of its kind, including spans if these are traced. The types that the compiler
 * sees on the path of a sample therefore stay the same.
 */
public final class SelfCost implements Runnable {

    /**
     * The application's loop must be compiled first: if this loop has made code hot before, the compiler does not
     * inline that code into the application's loop.
     */
    private static final long DELAY_NS = 1_000_000_000;

    private static final int SAMPLES_A_TURN = 64;

    /** The first turns include class loading. */
    private static final int UNCOUNTED_TURNS = 4;

    private static final int TURNS_BETWEEN_RESTS = 8;
    private static final long REST_NS = 1_000_000;
    private static final int FEWEST_TURNS = 2_000;
    private static final int TURNS_WITHOUT_GAIN = 1_000;
    private static final int MOST_TURNS = 20_000;

    private static final int SPANS_KEPT = 1_024;

    private final boolean percentiles;
    private final boolean traced;
    private final NanoClock clock;
    private final Consumer<Runnable> starter;
    private final AtomicBoolean started = new AtomicBoolean();

    private volatile double perSampleNs;
    private volatile @Nullable Runnable warmUp;

    private static final SelfCost PLAIN = new SelfCost(false, false);
    private static final SelfCost WITH_PERCENTILES = new SelfCost(true, false);
    private static final SelfCost TRACED = new SelfCost(false, true);
    private static final SelfCost TRACED_WITH_PERCENTILES = new SelfCost(true, true);

    /**
     * Starts a daemon thread. No lambda, here and in its thread: creating the first lambda of a virtual machine takes
     * long.
     */
    private static final class Starter implements Consumer<Runnable> {
        @Override
        public void accept(Runnable measurement) {
            Thread thread = new Thread(null, measurement, "brick-profiler-self-cost", 0, false) {
                @Override
                public void run() {
                    LockSupport.parkNanos(DELAY_NS);
                    super.run();
                }
            };
            thread.setDaemon(true);
            // The thread must not retain an application's class loader.
            thread.setContextClassLoader(null);
            thread.start();
        }
    }

    private SelfCost(boolean percentiles, boolean traced) {
        this(percentiles, traced, NanoClock.SYSTEM, new Starter());
    }

    /** Creates a cost that is not measured yet. The starter receives the action that measures it. */
    SelfCost(boolean percentiles, boolean traced, NanoClock clock, Consumer<Runnable> starter) {
        this.percentiles = percentiles;
        this.traced = traced;
        this.clock = clock;
        this.starter = starter;
    }

    /**
     * Returns the cost of a way of recording, the same object each time.
     *
     * @param percentiles whether samples count in percentiles
     * @param traced whether samples go into a timeline
     * @return the cost, which is perhaps not measured yet
     */
    public static SelfCost of(boolean percentiles, boolean traced) {
        if (traced) {
            return percentiles ? TRACED_WITH_PERCENTILES : TRACED;
        }
        return percentiles ? WITH_PERCENTILES : PLAIN;
    }

    /**
     * Starts the measurement unless it was started before. Does not wait for it.
     *
     * @param firstUses runs once between two turns of the measurement; it warms up the other parts of a first snapshot
     */
    public void start(Runnable firstUses) {
        if (!started.get() && started.compareAndSet(false, true)) {
            warmUp = firstUses;
            starter.accept(this);
        }
    }

    /**
     * Returns the cost of one start and stop. Never waits.
     *
     * @return ns, 0 while it is unknown
     */
    public double perSampleNs() {
        return perSampleNs;
    }

    /** Measures the cost. Only the starter's thread calls it. */
    @Override
    public void run() {
        SpanStore spans = traced ? new SpanStore(SPANS_KEPT, true, new AtomicLong(SPANS_KEPT)) : null;
        TableRegistry tables = new TableRegistry(1, percentiles, null, spans, null);
        long fastestNs = Long.MAX_VALUE;
        int withoutGain = 0;
        for (int turn = 1; turn <= MOST_TURNS; turn++) {
            long turnNs = turn(tables);
            if (turn > UNCOUNTED_TURNS) {
                withoutGain = turnNs < fastestNs ? 0 : withoutGain + 1;
                fastestNs = Math.min(fastestNs, turnNs);
                perSampleNs = (double) fastestNs / SAMPLES_A_TURN;
            }
            if (turn >= FEWEST_TURNS && withoutGain >= TURNS_WITHOUT_GAIN) {
                return;
            }
            if (turn == TURNS_BETWEEN_RESTS) {
                // The other parts of a snapshot that are slow at their first use.
                Runnable firstUses = warmUp;
                if (firstUses != null) {
                    firstUses.run();
                }
            }
            if (turn % TURNS_BETWEEN_RESTS == 0) {
                LockSupport.parkNanos(REST_NS);
            }
        }
    }

    private long turn(TableRegistry tables) {
        NanoClock read = clock;
        long before = read.nanoTime();
        for (int i = 0; i < SAMPLES_A_TURN; i++) {
            long timer = TimerToken.pack(0, read.nanoTime());
            long now = read.nanoTime();
            StatTable own = tables.ownTable();
            if (own == null || !own.addTimed(StatTable.NO_STATE, timer, now, 1)) {
                tables.add(TimerToken.key(timer), TimerToken.elapsedNs(timer, now), now, 1);
            }
        }
        return read.nanoTime() - before;
    }
}
