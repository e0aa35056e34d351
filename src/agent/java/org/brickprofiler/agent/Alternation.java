package org.brickprofiler.agent;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.compare.Comparison;
import org.brickprofiler.compare.Comparison.Change;

/**
 * Switches recording on and off, and compares how fast tokens follow each other. It goes by blocks of decoded tokens,
 * two and two, one of them with recording on; which of the two is the first is drawn for each pair. A token takes from
 * the beginning of its step to the beginning of the next step of the same thread, and the median of a block stands for
 * it, so that prompts, pauses between requests and single stalls count on neither side. What weaving itself changes is
 * on both sides. Any thread; allocates for a thread's first step, and some bytes for each block.
 */
final class Alternation {

    /** As many tokens make a block: short, so that little else changes within a pair. */
    static final int BLOCK = 8;

    /** After so many pairs no more are added. */
    private static final int MOST_PAIRS = 1 << 16;

    private static final int FEWEST_PAIRS = Comparison.FEWEST_FOR_INTERVAL;
    private static final double NS_PER_S = 1e9;

    private final BrickProfiler profiler;
    private final long seed;
    private final SplittableRandom order;
    private final ThreadLocal<LastStep> lastSteps = ThreadLocal.withInitial(LastStep::new);

    // ---- guarded by this ----

    private final long[] blockNs = new long[BLOCK];
    private int tokens;

    /** From 1; 0 before the first step. */
    private long block;

    /** Whether recording is on in this block. */
    private boolean on;

    /** Whether it has always been what this asked for; BRICK_PROFILER may keep it off. */
    private boolean isObeyed = true;

    /** The medians of the pairs that are complete, ns a token. */
    private double[] onNs = new double[BLOCK];

    private double[] offNs = new double[BLOCK];
    private int pairs;

    /** Of the block that began the pair. */
    private double firstNs;

    /** The step that a thread began last. That thread alone. */
    private static final class LastStep {
        private long startNs;
        private long block;
        private boolean decodes;
    }

    /**
     * What came of it.
     *
     * @param tokensPerSecOn decoded tokens per second of a thread with recording on, the geometric mean of the blocks
     * @param tokensPerSecOff the same with recording off
     * @param cost what recording adds to the time of a token
     * @param pairs how many pairs of blocks were compared
     * @param seed what the order was drawn from
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
     * An alternation that begins with the first step.
     *
     * @param profiler what is switched
     * @param seed from what the order is drawn
     */
    Alternation(BrickProfiler profiler, long seed) {
        this.profiler = profiler;
        this.seed = seed;
        order = new SplittableRandom(seed);
    }

    /** A step of the calling thread begins, and may begin a block. */
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

    /** Returns the result up to now; empty before three pairs of blocks, and if nothing is ever recorded. */
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
