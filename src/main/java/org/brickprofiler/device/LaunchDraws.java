package org.brickprofiler.device;

/**
 * Of which bricks of a stream the host's side is timed: of the first after a boundary, so that the device's time has a
 * place in the host's, and of others by chance, since whatever is periodic in a pass would meet a period. Any thread,
 * without order: what gets lost draws a number twice. Allocates nothing.
 */
final class LaunchDraws {

    private static final int MOST_BETWEEN = 1 << 30;

    private int every;
    private int random = 1;

    /** So many bricks until one is drawn, that one with them; less than 0 where a boundary draws the next one besides. */
    private int left;

    /** One in so many is drawn. */
    LaunchDraws(int every) {
        this.every = Math.min(every, MOST_BETWEEN);
    }

    /** Whether the host's side of a brick that begins now is timed. */
    boolean next() {
        int until = left;
        if (until > 1) {
            left = until - 1;
            return false;
        }
        left = until < 0 ? -until : nextDistance();
        return true;
    }

    /** From 1 to twice the mean less one, all as likely. */
    private int nextDistance() {
        // Marsaglia's xorshift, 32 bits.
        int drawn = random;
        drawn ^= drawn << 13;
        drawn ^= drawn >>> 17;
        drawn ^= drawn << 5;
        random = drawn;
        return 1 + (int) ((Integer.toUnsignedLong(drawn) * (2L * every - 1)) >>> Integer.SIZE);
    }

    /** The next brick is drawn, besides the others. */
    void drawNext() {
        left = -Math.abs(left);
    }

    /** From now on every brick is drawn. */
    void drawAll() {
        every = 1;
        left = 0;
    }
}
