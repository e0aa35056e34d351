package org.brickprofiler.agent;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.compare.RunComparison;
import org.brickprofiler.compare.RunComparison.Change;

/**
 * Measures the cost of recording by switching it on and off. Decoded tokens are grouped into pairs of blocks; recording
 * is on in one block of each pair, and a random draw decides whether in the first or the second. The time of a token is
 * the time from the beginning of its step to the beginning of the same thread's next step. The median of a block
 * represents it, so that prompts, pauses between requests and single stalls do not affect the result. Both kinds of
 * blocks include the cost of weaving itself. Any thread; allocates for a thread's first step, and some bytes for each
 * block.
 */
final class Alternation {

    /** The number of tokens in a block; small, so that the machine changes little within a pair. */
    static final int BLOCK = 8;

    /** The number of pairs after which no more are added. */
    private static final int MOST_PAIRS = 1 << 16;

    private static final int FEWEST_PAIRS = RunComparison.FEWEST_FOR_INTERVAL;
    private static final double NS_PER_S = 1e9;

    private final BrickProfiler profiler;
    private final long seed;
    private final SplittableRandom order;
    private final ThreadLocal<LastStep> lastSteps = ThreadLocal.withInitial(LastStep::new);

    // ---- guarded by this ----

    private final long[] blockNs = new long[BLOCK];
    private int tokens;

    /** The number of the current block, from 1; 0 before the first step. */
    private long block;

    /** Whether recording is on in this block. */
    private boolean on;

    /** Whether the profiler has always followed the switch; the setting BRICK_PROFILER may keep it off. */
    private boolean isObeyed = true;

    /** The medians of the pairs that are complete, ns a token. */
    private double[] onNs = new double[BLOCK];

    private double[] offNs = new double[BLOCK];
    private int pairs;

    /** The median of the first block of the current pair, ns per token. */
    private double firstNs;

    /** A thread's latest step. Used by this thread only. */
    private static final class LastStep {
        private long startNs;
        private long block;
        private boolean decodes;
    }

    /**
     * The result of an alternation.
     *
     * @param tokensPerSecOn decoded tokens per second of a thread with recording on, the geometric mean of the blocks
     * @param tokensPerSecOff the same with recording off
     * @param cost the change of the time per token due to recording
     * @param pairs the number of pairs of blocks that were compared
     * @param seed the seed of the random order
     */
    record Result(double tokensPerSecOn, double tokensPerSecOff, Change cost, int pairs, long seed) {
        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "recording on %.2f tokens/s, off %.2f: a token takes %+.2f %% (95 %% interval %+.2f to %+.2f), by %d pairs "
                            + "of blocks of %d tokens (ab=%d)",
                    tokensPerSecOn,
                    tokensPerSecOff,
                    cost.percent(),
                    cost.lowPercent(),
                    cost.highPercent(),
                    pairs,
                    BLOCK,
                    seed);
        }
    }

    /**
     * Creates an alternation that begins with the first step.
     *
     * @param profiler the profiler that is switched on and off
     * @param seed the seed of the random order
     */
    Alternation(BrickProfiler profiler, long seed) {
        this.profiler = profiler;
        this.seed = seed;
        order = new SplittableRandom(seed);
    }

    /** Records that a step of the calling thread begins; the step may begin a new block. */
    void stepBegins(boolean decodes, long nowNs) {
        LastStep last = lastSteps.get();
        synchronized (this) {
            if (block == 0) {
                beginBlock();
            }
            if (last.decodes && last.block == block) {
                blockNs[tokens++] = nowNs - last.startNs;
                if (tokens == BLOCK) {
                    endBlock();
                    beginBlock();
                }
            }
            last.block = block;
        }
        last.startNs = nowNs;
        last.decodes = decodes;
    }

    private void beginBlock() {
        tokens = 0;
        block++;
        boolean beginsPair = block % 2 == 1;
        on = beginsPair ? order.nextBoolean() : !on;
        if (on) {
            profiler.enable();
        } else {
            profiler.disable();
        }
        isObeyed &= profiler.isEnabled() == on;
    }

    private void endBlock() {
        Arrays.sort(blockNs);
        double medianNs = (blockNs[BLOCK / 2 - 1] + blockNs[BLOCK / 2]) / 2.0;
        if (block % 2 == 1) {
            firstNs = medianNs;
        } else if (pairs < MOST_PAIRS && medianNs > 0 && firstNs > 0) {
            if (pairs == onNs.length) {
                onNs = Arrays.copyOf(onNs, 2 * pairs);
                offNs = Arrays.copyOf(offNs, 2 * pairs);
            }
            onNs[pairs] = on ? medianNs : firstNs;
            offNs[pairs++] = on ? firstNs : medianNs;
        }
    }

    /**
     * Returns the result up to now; empty before three pairs of blocks are complete, and if the profiler did not follow
     * the switch.
     */
    synchronized Optional<Result> result() {
        if (pairs < FEWEST_PAIRS || !isObeyed) {
            return Optional.empty();
        }
        double[] on = Arrays.copyOf(onNs, pairs);
        double[] off = Arrays.copyOf(offNs, pairs);
        return Optional.of(new Result(rate(on), rate(off), Change.ofPairs(off, on), pairs, seed));
    }

    private static double rate(double[] tokenNs) {
        return NS_PER_S
                / Math.exp(Arrays.stream(tokenNs).map(Math::log).average().orElseThrow());
    }
}
