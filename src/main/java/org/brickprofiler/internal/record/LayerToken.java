package org.brickprofiler.internal.record;

/**
 * A layer of one forward pass as one {@code long}, so that it can be passed to the threads that work for the layer.
 * Stateless; any thread.
 *
 * <pre>
 *   63  62           48 47   45 44           20 19            0
 *  +---+---------------+-------+---------------+---------------+
 *  | 0 | hand-off, or 0| step  | number of pass| layer + 1     |
 *  +---+---------------+-------+---------------+---------------+
 * </pre>
 *
 * <p>The step is the phase of the step to which the layer belongs, as {@link Layers} encodes it. Passes are numbered
 * over all threads. Two layers share a token only if 2<sup>25</sup> passes lie between them, and two hand-offs only if
 * they belong to one layer and 32,767 other hand-offs lie between them; readers treat a token that two layers or two
 * hand-offs share as belonging to neither.
 */
public final class LayerToken {

    /** In place of the token of a layer: there is no layer. */
    public static final long VOID = 0L;

    /** In place of a layer: the layer that the thread itself is in. */
    public static final long OWN = -1L;

    /** In place of a layer's number: there is no layer. */
    public static final int NO_LAYER = -1;

    /** In place of a layer's number: the number by the thread's own boundaries. */
    public static final int OWN_LAYER = -2;

    /** In place of the number of a pass: the thread works for no layer of another thread. */
    public static final int NO_PASS = -1;

    private static final int LAYER_BITS = 20;
    private static final long LAYER_MASK = (1L << LAYER_BITS) - 1;

    /** The largest number of a layer; it also stands for all larger numbers. */
    public static final int LAST_LAYER = (int) LAYER_MASK - 1;

    private static final int PASS_BITS = 25;
    private static final long PASS_MASK = (1L << PASS_BITS) - 1;

    /** The bits of a pass in an entry. */
    private static final int ENTRY_PASS_BITS = 22;

    /** The bits of the number of a layer in an entry, which may be negative. */
    private static final int NUMBER_BITS = LAYER_BITS + 1;

    private static final int STEP_SHIFT = LAYER_BITS + PASS_BITS;
    private static final int STEP_BITS = 3;
    private static final int STEP_MASK = (1 << STEP_BITS) - 1;
    private static final int HAND_OFF_SHIFT = STEP_SHIFT + STEP_BITS;
    private static final long HAND_OFF_MASK = (1L << (Long.SIZE - 1 - HAND_OFF_SHIFT)) - 1;

    private LayerToken() {}

    /**
     * Packs a layer.
     *
     * @param pass the number of the pass, 1 or more; its lowest 25 bits are kept
     * @param step the phase of the layer's step, as {@link Layers} encodes it, 0 to 7
     * @param layer the number of the layer, 0 or more; numbers above 1,048,574 become 1,048,574
     * @return the token
     */
    public static long of(long pass, int step, int layer) {
        return ((long) step << STEP_SHIFT) | ((pass & PASS_MASK) << LAYER_BITS) | Math.min(LAYER_MASK, layer + 1L);
    }

    /**
     * Returns the phase of the step of a token's layer, as {@link Layers} encodes it.
     *
     * @param token the token of a layer
     * @return 0 to 7
     */
    static int step(long token) {
        return (int) (token >>> STEP_SHIFT) & STEP_MASK;
    }

    /**
     * Adds a hand-off to a layer: the place in the layer at which its work was given to other threads.
     *
     * @param token the token of a layer, with or without a hand-off
     * @param number the number of the hand-off, 0 or more; kept modulo 32,767
     * @return the token of the same layer with that hand-off
     */
    public static long withHandOff(long token, int number) {
        return layerOf(token) | ((number % HAND_OFF_MASK + 1) << HAND_OFF_SHIFT);
    }

    /**
     * Removes the hand-off from a token.
     *
     * @param token any token
     * @return the token of the layer alone; {@link #OWN} for {@link #OWN}
     */
    public static long layerOf(long token) {
        return token == OWN ? OWN : token & ~(HAND_OFF_MASK << HAND_OFF_SHIFT);
    }

    /**
     * Returns the number of a layer.
     *
     * @param token any token
     * @return 0 or more; {@link #NO_LAYER} for {@link #VOID} and {@link #OWN}
     */
    public static int layer(long token) {
        return token == OWN ? NO_LAYER : (int) (token & LAYER_MASK) - 1;
    }

    /**
     * Returns the pass of a layer.
     *
     * @param token the token of a layer
     * @return the lowest 22 bits of its number
     */
    private static int passIn(long token) {
        return (int) (token >>> LAYER_BITS) & ((1 << ENTRY_PASS_BITS) - 1);
    }

    /**
     * Packs the beginning of a layer into the value of an entry.
     *
     * @param token the token of the layer
     * @param isGiven whether the caller gave its number
     * @return the value, for {@link #announced} and {@link #passOf}
     */
    public static long start(long token, boolean isGiven) {
        int number = layer(token);
        return ((long) passIn(token) << Integer.SIZE) | Integer.toUnsignedLong(isGiven ? ~number : number);
    }

    /**
     * Returns the layer of a beginning.
     *
     * @param start the value that {@link #start} returned
     * @return its number, or the complement of that number if the caller gave it
     */
    public static int announced(long start) {
        return (int) start;
    }

    /**
     * Returns the pass of a beginning.
     *
     * @param start the value that {@link #start} returned
     * @return the lowest 22 bits of its number
     */
    public static int passOf(long start) {
        return (int) (start >>> Integer.SIZE);
    }

    /**
     * Packs a change of the layer that a thread works for into the value of an entry. The value holds both layers,
     * because the entry of the previous change may be overwritten.
     *
     * @param before the token until then
     * @param after the token from then on
     * @return the value, for {@link #layerBefore}, {@link #layerAfter} and {@link #passAfter}
     */
    public static long change(long before, long after) {
        int number = numberIn(after);
        long pass = number < 0 ? 0 : passIn(after);
        return pass << (2 * NUMBER_BITS) | bits(numberIn(before)) << NUMBER_BITS | bits(number);
    }

    private static int numberIn(long token) {
        return token == OWN ? OWN_LAYER : layer(token);
    }

    private static long bits(int number) {
        return number & ((1L << NUMBER_BITS) - 1);
    }

    /**
     * Returns the layer until a change.
     *
     * @param change the value that {@link #change} returned
     * @return its number, {@link #NO_LAYER} or {@link #OWN_LAYER}
     */
    public static int layerBefore(long change) {
        return layerAfter(change >> NUMBER_BITS);
    }

    /**
     * Returns the layer from a change on.
     *
     * @param change the value that {@link #change} returned
     * @return its number, {@link #NO_LAYER} or {@link #OWN_LAYER}
     */
    public static int layerAfter(long change) {
        return (int) (change << (Long.SIZE - NUMBER_BITS) >> (Long.SIZE - NUMBER_BITS));
    }

    /**
     * Returns the pass from a change on.
     *
     * @param change the value that {@link #change} returned
     * @return the lowest 22 bits of the number of the layer's pass; {@link #NO_PASS} without a layer of another thread
     */
    public static int passAfter(long change) {
        return layerAfter(change) < 0 ? NO_PASS : (int) (change >>> (2 * NUMBER_BITS));
    }
}
