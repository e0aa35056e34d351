package org.brickprofiler.request;

/**
 * Two sums over the steps of all threads: the time in which at least one step that processes prompts was under way, and
 * the time in which only steps that decode were. Guarded by the recorder.
 *
 * <p>Both sums are piecewise linear in time: their slopes change only where a step begins or ends. The difference of
 * two readings is therefore the time that a waiting request spent behind prompts, or behind decoding; the rest of the
 * time between the readings was idle. A ring of the latest boundaries gives the sums at a moment in the past.
 */
final class StepTimes {

    /** The boundaries that are remembered. */
    static final int BOUNDARIES = 4_096;

    private static final int AT = 0;
    private static final int PROMPTS = 1;
    private static final int DECODING = 2;
    private static final int STRIDE = 4;

    private final long[] ring = new long[BOUNDARIES * STRIDE];

    /** The number of boundaries so far, and one for the beginning. */
    private long boundaries;

    /** The latest boundary. */
    private long latestNs;

    /** The latest event, which need not be a boundary. */
    private long seenNs;

    private long promptsNs;
    private long decodingNs;
    private int promptSteps;
    private int decodingSteps;

    /** Creates sums of 0, with no step under way. */
    StepTimes(long nowNs) {
        latestNs = nowNs;
        seenNs = nowNs;
        remember();
    }

    /**
     * Returns a moment that is not before the latest one that was given. Threads read the clock before they reach the
     * recorder, so an event may arrive after a later one, and then counts as of the later one's time.
     */
    long inOrder(long atNs) {
        seenNs = Math.max(seenNs, atNs);
        return seenNs;
    }

    /** Records that a step begins, at a moment that {@link #inOrder} returned. */
    void begin(boolean prompts, long atNs) {
        advance(atNs);
        if (prompts) {
            promptSteps++;
        } else {
            decodingSteps++;
        }
        remember();
    }

    /** Records that a step ends, at a moment that {@link #inOrder} returned. */
    void end(boolean prompts, long atNs) {
        advance(atNs);
        if (prompts) {
            promptSteps--;
        } else {
            decodingSteps--;
        }
        remember();
    }

    private void advance(long atNs) {
        long promptsThen = promptsNs(atNs);
        long decodingThen = decodingNs(atNs);
        promptsNs = promptsThen;
        decodingNs = decodingThen;
        latestNs = atNs;
    }

    private void remember() {
        int at = (int) (boundaries++ % BOUNDARIES) * STRIDE;
        ring[at + AT] = latestNs;
        ring[at + PROMPTS] = promptsNs;
        ring[at + DECODING] = decodingNs;
    }

    /** Returns the earliest moment whose sums are known. */
    long oldestNs() {
        return ring[(int) (Math.max(0, boundaries - BOUNDARIES) % BOUNDARIES) * STRIDE + AT];
    }

    /** Returns the time with a step under way that processes prompts, from the beginning to a moment. */
    long promptsNs(long atNs) {
        if (atNs >= latestNs) {
            return promptsNs + (promptSteps > 0 ? atNs - latestNs : 0);
        }
        return atBoundary(atNs, PROMPTS);
    }

    /** Returns the time with steps under way that only decode, from the beginning to a moment. */
    long decodingNs(long atNs) {
        if (atNs >= latestNs) {
            return decodingNs + (promptSteps == 0 && decodingSteps > 0 ? atNs - latestNs : 0);
        }
        return atBoundary(atNs, DECODING);
    }

    /** Returns a sum at a moment between the oldest boundary and the latest one. */
    private long atBoundary(long atNs, int sum) {
        long from = Math.max(0, boundaries - BOUNDARIES);
        long to = boundaries - 1;
        while (to - from > 1) {
            long middle = (from + to) >>> 1;
            if (ring[(int) (middle % BOUNDARIES) * STRIDE + AT] <= atNs) {
                from = middle;
            } else {
                to = middle;
            }
        }
        int before = (int) (from % BOUNDARIES) * STRIDE;
        int after = (int) (to % BOUNDARIES) * STRIDE;
        boolean grows = ring[after + sum] > ring[before + sum];
        return ring[before + sum] + (grows ? atNs - ring[before + AT] : 0);
    }
}
