package org.brickprofiler.internal.record;

/**
 * The boundaries between the layers of one thread, and the side of a boundary to which a brick belongs. The graph and
 * the timeline of a run both use this class, so that they agree. One thread.
 *
 * <p>With {@code lap} a brick is nearly always open, so a boundary lies within a brick. Such a brick belongs as a whole
 * to one side: to the layer, or the time outside of layers, in which it ran longest; of two equal sides, to the one in
 * which it began. A brick that contains a whole layer is in no layer. The boundary moves to the brick's beginning or
 * end.
 *
 * <p>A layer that was not announced begins at the end of the previous one. The beginning of a layer that follows the
 * end of a pass is unknown: the layer begins with its first brick, or never.
 *
 * <p>Times are nanoseconds of one clock, compared by their difference.
 */
public final class LayerBoundaries {

    // The open layer and brick.

    /** Whether there was a boundary at all. */
    private boolean hasBoundary;

    /** The last boundary. */
    private long boundaryNs;

    /** Whether that was one of a layer, not of a pass: then the layer under way begins there. */
    private boolean ofLayer;

    /** Whether it was moved to the end of a brick that lay across it. */
    private boolean afterBrick;

    /** Whether something belongs to the layer under way, and when the first of that began. */
    private boolean filled;

    private long firstNs;

    /** The layer that ended last, as long as a brick may be found to belong to it. */
    private final Closed closed = new Closed();

    private static final class Closed {
        boolean exists;

        /** Whether something belongs to it. */
        boolean filled;

        /** Whether the beginning is known; it is not if the layer began with the pass and no brick belongs to it. */
        boolean beganKnown;

        long beganNs;

        /** Whether the layer begins at the end of a brick. */
        boolean afterBrick;

        long endedNs;
    }

    /** The side of a boundary that a brick belongs to. */
    public enum Side {
        /** There is no boundary within it: the layer, or the time outside of layers, that is under way. */
        WITHIN,
        /** The layer that ended while it ran. */
        LAYER_BEFORE,
        /** The layer that began while it ran. */
        LAYER_NOW,
        /** Neither. */
        OUTSIDE
    }

    /** The boundaries of a thread, or of a scope, in which nothing has happened yet. */
    public LayerBoundaries() {}

    // ---- bricks ----

    /**
     * Returns the side of a brick that ends now.
     *
     * @param beganNs when it began
     * @param endedNs when it ended
     * @return its side; {@link #end} is to be called with it
     */
    public Side side(long beganNs, long endedNs) {
        boolean inClosed = isInClosed(beganNs, endedNs);
        boolean beforeNow = isBeforeBoundary(beganNs);
        if (!inClosed && !beforeNow) {
            return Side.WITHIN;
        }
        long now = Math.max(0, beforeNow ? endedNs - boundaryNs : 0);
        long before = inClosed ? closed.endedNs - beganNs : 0;
        long outsideSinceNs = inClosed ? closed.endedNs : beganNs;
        long outside = Math.max(0, boundaryNs - outsideSinceNs);
        // After a pass there may be no layer yet.
        if (inClosed && before >= (ofLayer ? Math.max(outside, now) : outside + now)) {
            return Side.LAYER_BEFORE;
        }
        // Also around a layer that was forgotten because one in a scope ended after it.
        boolean aroundClosed = !inClosed && closed.beganKnown && beganNs - closed.beganNs <= 0;
        return now > outside && !aroundClosed ? Side.LAYER_NOW : Side.OUTSIDE;
    }

    /**
     * Returns whether a brick began in the layer that ended last.
     *
     * @param beganNs when it began
     * @param endedNs when it ended
     * @return whether the layer was open then; false if the brick surrounds it
     */
    public boolean isInClosed(long beganNs, long endedNs) {
        if (!closed.exists || beganNs - closed.endedNs >= 0) {
            return false;
        }
        long sinceNs = beganNs - closed.beganNs;
        // If both began at the same reading, the brick surrounds the layer, unless the layer is empty.
        boolean equal = sinceNs == 0 && (!closed.filled || closed.afterBrick || endedNs - closed.endedNs <= 0);
        return !closed.beganKnown || sinceNs > 0 || equal;
    }

    /**
     * Returns whether something that began at a time did so before the last boundary.
     *
     * @param beganNs when it began
     * @return whether there is a boundary after that
     */
    public boolean isBeforeBoundary(long beganNs) {
        return hasBoundary && beganNs - boundaryNs < 0;
    }

    /**
     * Ends a brick: moves the boundaries inside it.
     *
     * @param beganNs when it began
     * @param endedNs when it ended
     * @param side the result of {@link #side}
     */
    public void end(long beganNs, long endedNs, Side side) {
        switch (side) {
            case WITHIN -> add(beganNs);
            case LAYER_NOW -> {
                endClosed(beganNs);
                boundaryNs = earlier(boundaryNs, beganNs);
                add(beganNs);
            }
            case OUTSIDE -> {
                endClosed(beganNs);
                beginAfter(endedNs);
                filled = false;
            }
            case LAYER_BEFORE -> {
                closed.endedNs = later(closed.endedNs, endedNs);
                if (!closed.beganKnown) {
                    closed.beganNs = beganNs;
                    closed.beganKnown = true;
                }
                closed.filled = true;
                beginAfter(endedNs);
                filled = false;
            }
        }
        if (side != Side.LAYER_BEFORE && closed.filled && beganNs - closed.beganNs <= 0) {
            closed.exists = false;
        }
    }

    private void endClosed(long atNs) {
        closed.endedNs = earlier(closed.endedNs, atNs);
    }

    private void beginAfter(long endedNs) {
        if (endedNs - boundaryNs >= 0) {
            boundaryNs = endedNs;
            afterBrick = true;
        }
    }

    /**
     * Something belongs to the layer under way.
     *
     * @param beganNs when it began
     */
    public void add(long beganNs) {
        firstNs = filled ? earlier(firstNs, beganNs) : beganNs;
        filled = true;
    }

    // ---- layers and passes ----

    /**
     * A layer is announced.
     *
     * @param nowNs when it begins
     */
    public void startLayer(long nowNs) {
        hasBoundary = true;
        boundaryNs = nowNs;
        ofLayer = true;
        afterBrick = false;
        filled = false;
    }

    /**
     * The layer under way ends, announced or not.
     *
     * @param nowNs when it ends
     */
    public void endLayer(long nowNs) {
        closed.exists = true;
        closed.filled = filled;
        closed.beganKnown = filled || ofLayer;
        closed.beganNs = filled ? beganNs() : boundaryNs;
        closed.afterBrick = afterBrick && closed.beganNs == boundaryNs;
        closed.endedNs = nowNs;
        startLayer(nowNs);
    }

    /**
     * Returns when the layer under way began: at its boundary, as long as nothing belongs to it.
     *
     * @return its beginning
     */
    public long beganNs() {
        if (!filled) {
            return boundaryNs;
        }
        return ofLayer ? earlier(firstNs, boundaryNs) : firstNs;
    }

    /**
     * A pass ends. A brick that runs then may still belong to the layer that ended last.
     *
     * @param nowNs when it ends
     */
    public void endPass(long nowNs) {
        hasBoundary = true;
        boundaryNs = nowNs;
        ofLayer = false;
        afterBrick = false;
        filled = false;
    }

    // ---- the layer that ended last ----

    /**
     * Returns whether a brick may still be found to belong to the layer that ended last.
     *
     * @return whether there is one
     */
    public boolean hasClosed() {
        return closed.exists;
    }

    /** From now on no brick belongs to the layer that ended last. */
    public void forgetClosed() {
        closed.exists = false;
    }

    /**
     * When the layer that ended last began.
     *
     * @return its beginning; has no meaning before something belongs to it or it is known otherwise
     */
    public long closedBeganNs() {
        return closed.beganNs;
    }

    /**
     * When the layer that ended last ended.
     *
     * @return its end, which bricks across it have moved
     */
    public long closedEndedNs() {
        return closed.endedNs;
    }

    private static long earlier(long oneNs, long otherNs) {
        return oneNs - otherNs < 0 ? oneNs : otherNs;
    }

    private static long later(long oneNs, long otherNs) {
        return oneNs - otherNs > 0 ? oneNs : otherNs;
    }
}
