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
 * <p>The step is what {@link Layers} knows of the step to which the layer belongs. Passes are numbered over all
 * threads. Two layers share a token only if 2<sup>25</sup> passes lie between them, and two hand-offs only if they
 * belong to one layer and 32,767 other hand-offs lie between them; readers treat a token that two layers or two
 * hand-offs share as belonging to neither.
 */
public final class LayerToken {

    /** Instead of a layer: none. */
    public static final long VOID = 0L;

    /** In place of a layer: the layer that the thread itself is in. */
    public static final long OWN = -1L;

    /** Instead of a layer's number: none. */
    public static final int NO_LAYER = -1;

    /** In place of a layer's number: the number by the thread's own boundaries. */
    public static final int OWN_LAYER = -2;

    private static final int LAYER_BITS = 20;
    private static final long LAYER_MASK = (1L << LAYER_BITS) - 1;

    /** The largest number of a layer; larger ones count as that. */
    public static final int LAST_LAYER = (int) LAYER_MASK - 1;

    private static final int PASS_BITS = 25;
    private static final long PASS_MASK = (1L << PASS_BITS) - 1;
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
     * @param step 0 to 7: what the token tells of its step
     * @param layer the number of the layer, 0 or more; from 1,048,574 on all are that one
     * @return the token
     */
    public static long of(long pass, int step, int layer) {
        return ((long) step << STEP_SHIFT) | ((pass & PASS_MASK) << LAYER_BITS) | Math.min(LAYER_MASK, layer + 1L);
    }

    /**
     * Returns what a token tells of its step.
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
     * @return 0 or more; {@link #NO_LAYER} for one that is no layer's
     */
    public static int layer(long token) {
        return token == OWN ? NO_LAYER : (int) (token & LAYER_MASK) - 1;
    }

    /**
     * Packs a change of the layer that a thread works for into the value of an entry. It holds both sides, since the
     * entry of the change before may be overwritten.
     *
     * @param before the token until then
     * @param after the token from then on
     * @return the value, for {@link #layerBefore} and {@link #layerAfter}
     */
    public static long change(long before, long after) {
        return ((long) numberIn(before) << Integer.SIZE) | Integer.toUnsignedLong(numberIn(after));
    }

    private static int numberIn(long token) {
        return token == OWN ? OWN_LAYER : layer(token);
    }

    /**
     * Returns the layer until a change.
     *
     * @param change the value that {@link #change} returned
     * @return its number, {@link #NO_LAYER} or {@link #OWN_LAYER}
     */
    public static int layerBefore(long change) {
        return (int) (change >> Integer.SIZE);
    }

    /**
     * Returns the layer from a change on.
     *
     * @param change the value that {@link #change} returned
     * @return its number, {@link #NO_LAYER} or {@link #OWN_LAYER}
     */
    public static int layerAfter(long change) {
        return (int) change;
    }
}
