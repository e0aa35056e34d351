package org.brickprofiler.internal.record;

/**
 * The key of a brick and the number of a phase in one {@code int}, which identifies the row of that brick's samples in
 * that phase: bits 0 to 11 are the key, bits 12 and 13 the number of the phase. Without a phase the number is the key
 * itself. Stateless; any thread.
 */
public final class PhaseKey {

    /** In place of the number of a phase: the sample belongs to no phase. */
    public static final int NO_PHASE = 0;

    /** The count of phase numbers: {@link #NO_PHASE}, and 1 to 3 for the phases of steps. */
    public static final int PHASES = 4;

    /** The number of bits of a key. */
    public static final int KEY_BITS = 12;

    /** The number of bits of a packed number. */
    static final int BITS = KEY_BITS + 2;

    private static final int KEY_MASK = (1 << KEY_BITS) - 1;

    private PhaseKey() {}

    /**
     * Packs a key and a phase.
     *
     * @param phase the number of the phase, or {@link #NO_PHASE}
     * @param key the brick, 0 to {@link TimerToken#MAX_KEY}
     * @return the packed number
     */
    public static int of(int phase, int key) {
        return (phase << KEY_BITS) | key;
    }

    /**
     * Returns the key of a packed number.
     *
     * @param row a packed number
     * @return the key
     */
    public static int key(int row) {
        return row & KEY_MASK;
    }

    /**
     * Returns the phase of a packed number.
     *
     * @param row a packed number
     * @return its number, or {@link #NO_PHASE}
     */
    public static int phase(int row) {
        return row >>> KEY_BITS;
    }
}
